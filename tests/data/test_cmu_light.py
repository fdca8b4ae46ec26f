"""The light set: the owner's file, wrong content refused, a substitute without it."""

import io
import os
import re
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


def mat_of(counts, lux, coordinates):
    """The bytes of a file as the owner's."""
    parts = [{"sensordata": c, "sensordataLux": x} for c, x in zip(counts, lux, strict=True)]
    data = {"coords": coordinates, "train": parts[0], "test": parts[1], "note": "made up"}
    savemat(file := io.BytesIO(), {"data": data})
    return file.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the light set in an empty data directory."""
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    folder = tmp_path / "cmu-light"
    folder.mkdir()
    return folder


def test_the_file_is_found_with_its_table_and_split_and_told_from_the_recorded_one(folder):
    counts, lux, coordinates = tables()
    (folder / cmu_light.MAT).write_bytes(mat_of(counts, lux, coordinates))
    data = store.load("light")
    assert data.is_real and data.unit == "Lux" and data.source == cmu_light.MAT
    assert data.sensors == list(range(1, 42)) and len(data.times) == 793
    np.testing.assert_array_equal(data.locations, coordinates)
    train, test = store.train_test(data, 601 / 793)
    np.testing.assert_array_equal(train, lux[0])
    np.testing.assert_array_equal(test, lux[1])
    assert re.search(rf"^cmu-light/{cmu_light.MAT}, sha256 \w+ \(DIFFERS", store.status(), flags=re.M)


def with_gap(lux):
    lux[1][5, 7] = np.nan
    return lux


BAD = {
    "fewer rows": lambda: tables(rows=(600, 192)),
    "fewer sensors": lambda: tables(sensors=40),
    "other unit": lambda: (tables()[0], [2 * part for part in tables()[1]], tables()[2]),
    "missing reading": lambda: (tables()[0], with_gap(tables()[1]), tables()[2]),
    "truncated": lambda: mat_of(*tables())[:100_000],
    "nothing but a head": lambda: b"MATLAB 5.0 MAT-file" + bytes(109) + b"\x00\x01IM" + bytes(40),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_damaged_file_is_named_and_no_reason_for_the_substitute(folder, kind):
    content = BAD[kind]()
    (folder / cmu_light.MAT).write_bytes(content if isinstance(content, bytes) else mat_of(*content))
    with pytest.raises(DamagedFile, match=cmu_light.MAT):
        store.load("light")


def test_the_real_set_has_the_numbers_of_its_readme():
    if not REAL.is_dir():
        pytest.skip("real light data: KBREPRO_DATA names no directory with cmu-light/")
    train, test = store.train_test(cmu_light.read(REAL / cmu_light.MAT), 601 / 793)
    assert (train.shape, test.shape) == ((601, 41), (192, 41))
    assert train.var(axis=0, ddof=1).mean() / 20 == pytest.approx(424.8, abs=0.05)
    assert len(set(test.argmax(axis=1))) == 7
