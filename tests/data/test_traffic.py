"""Traffic stand-ins: gaps, dead detectors and outages out, mornings in, and clear words about damaged files."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.io import savemat

from kbrepro.__main__ import main
from kbrepro.data import DamagedFile, store, traffic


@pytest.fixture
def usc(tmp_path):
    """Two networks of 4 and 2 detectors, 3 days of 180 slots; speeds tell detector, day and slot."""
    detector, slot, day = np.ogrid[0:6, 0:180, 0:3]
    speed = 10.0 * (detector + 1) + day + slot / 1000
    speed[:, 10, 1] = 0  # the network is out
    speed[3] = 0  # a dead detector
    speed[1, 20, 0] = 0  # one gap
    path = tmp_path / traffic.USC
    np.savez(path, dense_speed=speed[:4], sparse_speed=speed[4:])
    return path


def test_usc_is_cleaned_as_described(usc):
    data = traffic.read_usc(usc)
    assert data.sensors == [0, 1, 2, 4, 5]
    assert data.readings.shape == (3 * 60 - 1, 5)
    assert data.readings[0] == pytest.approx([10, 20, 30, 50, 60])
    assert data.readings[20, 1] == pytest.approx(20.020)  # interpolated between its neighbours in time
    assert data.readings[60, 0] == pytest.approx(11.0)  # the second morning follows the first
    assert data.times.is_monotonic_increasing
    assert set(data.times.hour) == set(range(6, 11))


def test_metr_la_keeps_the_mornings_of_five_working_days(tmp_path):
    path = tmp_path / traffic.METR_LA
    slots = np.arange(7 * 288)
    pd.DataFrame({str(k): slots + k for k in range(207)}).to_csv(path, index=False)
    data = traffic.read_metr_la(path)
    assert data.readings.shape == (300, 207)
    days = sorted(set(data.times.day))
    assert days == [1, 2, 5, 6, 7]
    assert data.readings[0, 0] == 6 * 12


def test_a_week_with_a_missing_reading_is_refused(tmp_path):
    path = tmp_path / traffic.METR_LA
    table = pd.DataFrame({str(k): np.ones(7 * 288) for k in range(207)})
    table.iloc[80, 3] = np.nan
    table.to_csv(path, index=False)
    with pytest.raises(DamagedFile, match=r"expected \(300, 207\)"):
        traffic.read_metr_la(path)


@pytest.mark.parametrize("read", [traffic.read_usc, traffic.read_metr_la])
def test_a_damaged_file_is_named(tmp_path, read):
    path = tmp_path / "damaged"
    path.write_bytes(b"\x1f\x8bnot what it should be")
    with pytest.raises(DamagedFile, match="damaged"):
        read(path)


@pytest.mark.parametrize("name", ["traffic_usc", "traffic_metr_la"])
def test_without_files_a_labelled_stand_in(name, tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    data = store.load(name)
    assert not data.is_real
    assert data.source == "simulated stand-in"
    np.testing.assert_array_equal(data.readings, traffic.simulated().readings)
    assert f"{name}: not found" in store.status()


def test_files_in_the_data_directory_are_found(usc, tmp_path, monkeypatch):
    (tmp_path / "traffic").mkdir()
    usc.rename(tmp_path / "traffic" / traffic.USC)
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    assert store.load("traffic_usc").is_real
    assert list(store.checksums()) == [f"traffic/{traffic.USC}"]
    assert "DIFFERS" in store.status()


@pytest.fixture
def upstream(tmp_path):
    """Small files in the form of the two upstream projects; speeds tell detector and slot."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    detector, slot, _ = np.ogrid[0:6, 0:180, 0:3]
    speed = 10.0 * (detector + 1) + slot / 1000 + np.zeros((6, 180, 3))
    for name, its in zip(traffic.UPSTREAM[traffic.USC], (speed[:4], speed[4:]), strict=True):
        savemat(folder / name, {"series": its, "latlng": np.zeros((len(its), 2))})
    slots = np.arange(7 * 288)
    pd.DataFrame({str(7000 + k): slots + k for k in range(207)}).to_csv(folder / "los_speed.csv", index=False)
    return folder


def test_our_files_are_made_from_the_upstream_ones(upstream, tmp_path):
    made = traffic.make(upstream, tmp_path / "traffic")
    assert [path.name for path in made] == [traffic.USC, traffic.METR_LA]
    usc, week = traffic.read_usc(made[0]), traffic.read_metr_la(made[1])
    assert usc.readings.shape == (180, 6) and usc.readings[0] == pytest.approx([10, 20, 30, 40, 50, 60])
    assert usc.readings[61, 5] == pytest.approx(60.001)
    assert week.sensors[:2] == [7000, 7001] and week.readings[1, 3] == 6 * 12 + 4
    assert gzip.decompress(made[1].read_bytes()) == (upstream / "los_speed.csv").read_bytes()


def test_half_of_the_upstream_files_make_what_they_can(upstream, tmp_path):
    (upstream / "sparse_highway_april.mat").unlink()
    assert [path.name for path in traffic.make(upstream, tmp_path / "traffic")] == [traffic.METR_LA]
    (upstream / "los_speed.csv").unlink()
    with pytest.raises(ValueError, match=r"upstream=.*must be a folder with dense_.* and sparse_.* or los_speed"):
        traffic.make(upstream, tmp_path / "traffic")


@pytest.mark.parametrize("name", ["dense_highway_april.mat", "los_speed.csv"])
def test_nothing_is_made_of_a_damaged_upstream_file(upstream, tmp_path, name):
    (upstream / name).write_bytes(b"1,2\n3,4\n")
    with pytest.raises(DamagedFile):
        traffic.make(upstream, tmp_path / "traffic")
    assert not (tmp_path / "traffic").exists()


def test_the_command_writes_to_the_project(upstream, tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "kbrepro").mkdir()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["data", "traffic", str(upstream)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "data" / "traffic").iterdir()} == set(traffic.UPSTREAM)


@pytest.mark.skipif("KBREPRO_DATA" not in os.environ, reason="KBREPRO_DATA is not set: no real traffic data")
def test_the_real_sets_have_the_documented_shapes():
    assert Path(os.environ["KBREPRO_DATA"], "traffic").is_dir()
    assert store.load("traffic_usc").readings.shape == (1244, 108)
    assert store.load("traffic_metr_la").readings.shape == (300, 207)
