"""The light set: both files give one table, wrong content is refused, the archive is checked before it is kept."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from kbrepro.data import DamagedFile, cmu_light, store

REAL = Path(os.environ.get("KBREPRO_DATA") or "nowhere", "cmu-light")


def tables(rows=(601, 192), sensors=41):
    """Made-up counts and Lux of both parts, and coordinates."""
    rng = np.random.default_rng(31)
    counts = [rng.integers(70, 1450, size=(n, sensors)).astype(np.uint16) for n in rows]
    return counts, [cmu_light.LUX_PER_COUNT * part for part in counts], rng.uniform(0, 30, size=(sensors, 2))


def write_mat(path, counts, lux, coordinates):
    parts = [{"sensordata": c, "sensordataLux": x} for c, x in zip(counts, lux, strict=True)]
    data = {"coords": coordinates, "train": parts[0], "test": parts[1], "note": "made up"}
    savemat(path, {"data": data})
    return path


def write_npz(path, counts, lux, coordinates):
    arrays = dict(zip(("train", "test", "train_lux", "test_lux"), (*counts, *lux), strict=True))
    np.savez(path, coords=coordinates, **arrays)
    return path


def write_zip(path):
    """An archive as the owner's, with made-up readings."""
    mat = write_mat(path.with_suffix(".made_up"), *tables())
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("lightsensor/readme.txt", "made up")
        file.write(mat, "lightsensor/data.mat")
    mat.unlink()


WRITE = {cmu_light.MAT: write_mat, cmu_light.NPZ: write_npz}


def test_both_files_give_the_same_table(tmp_path):
    counts, lux, coordinates = tables()
    first, second = (cmu_light.read(write(tmp_path / name, counts, lux, coordinates)) for name, write in WRITE.items())
    np.testing.assert_array_equal(first.readings, second.readings)
    np.testing.assert_array_equal(first.locations, second.locations)
    assert first.times.equals(second.times) and first.sensors == second.sensors == list(range(1, 42))
    assert first.is_real and first.unit == "Lux" and first.source == cmu_light.MAT


def test_the_split_is_that_of_the_file(tmp_path):
    counts, lux, coordinates = tables()
    data = cmu_light.read(write_mat(tmp_path / cmu_light.MAT, counts, lux, coordinates))
    train, test = store.train_test(data, 601 / 793)
    np.testing.assert_array_equal(train, lux[0])
    np.testing.assert_array_equal(test, lux[1])


def with_gap(lux):
    lux[1][5, 7] = np.nan
    return lux


BAD = {
    "fewer rows": lambda: tables(rows=(600, 192)),
    "parts swapped": lambda: tables(rows=(192, 601)),
    "fewer sensors": lambda: tables(sensors=40),
    "other unit": lambda: (tables()[0], [2 * part for part in tables()[1]], tables()[2]),
    "missing reading": lambda: (tables()[0], with_gap(tables()[1]), tables()[2]),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", WRITE)
def test_wrong_content_is_refused_by_name(tmp_path, name, kind):
    path = WRITE[name](tmp_path / name, *BAD[kind]())
    with pytest.raises(DamagedFile, match=name):
        cmu_light.read(path)


@pytest.mark.parametrize("content", [b"", b"<html>", b"MATLAB 5.0 MAT-file" + bytes(109) + b"\x00\x01IM" + bytes(40)])
@pytest.mark.parametrize("name", WRITE)
def test_a_damaged_file_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DamagedFile, match=name):
        cmu_light.read(tmp_path / name)


@pytest.mark.parametrize("name", WRITE)
def test_a_truncated_file_is_named(tmp_path, name):
    path = WRITE[name](tmp_path / name, *tables())
    path.write_bytes(path.read_bytes()[:100_000])
    with pytest.raises(DamagedFile, match=name):
        cmu_light.read(path)


def test_the_mat_file_is_preferred_and_damage_is_no_reason_for_the_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    folder = tmp_path / "cmu-light"
    folder.mkdir()
    write_npz(folder / cmu_light.NPZ, *tables())
    assert store.load("light").source == cmu_light.NPZ
    assert list(store.checksums()) == [f"cmu-light/{cmu_light.NPZ}"]
    assert "DIFFERS" in store.status()
    (folder / cmu_light.MAT).write_bytes(b"damaged")
    with pytest.raises(DamagedFile, match=cmu_light.MAT):
        store.load("light")


def test_without_files_a_labelled_stand_in(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    data = store.load("light")
    assert not data.is_real and data.source == "simulated stand-in" and data.unit == "Lux"
    assert data.readings.shape == (793, 41)
    np.testing.assert_array_equal(data.readings, store.load("light").readings)
    assert data.readings.min() >= 5 and len(set(data.readings[601:].argmax(axis=1))) > 2
    assert "light: not found" in store.status()


def test_the_real_set_has_the_numbers_of_its_readme():
    if not REAL.is_dir():
        pytest.skip("real light data: KBREPRO_DATA names no directory with cmu-light/")
    first, second = (cmu_light.read(REAL / name) for name in (cmu_light.MAT, cmu_light.NPZ))
    np.testing.assert_array_equal(first.readings, second.readings)
    train, test = store.train_test(first, 601 / 793)
    assert (train.shape, test.shape) == ((601, 41), (192, 41))
    assert train.var(axis=0, ddof=1).mean() / 20 == pytest.approx(424.8, abs=0.05)
    assert len(set(test.argmax(axis=1))) == 7
