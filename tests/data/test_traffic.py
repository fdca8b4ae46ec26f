"""Traffic substitutes: gaps, dead detectors and outages out, mornings in, and clear words about damaged files."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from kbrepro.data import DamagedFile, store, traffic


@pytest.fixture
def usc(tmp_path):
    """Two networks of 4 and 2 detectors, 3 days of 180 slots; speeds tell detector, day and slot."""
    detector, slot, day = np.ogrid[0:6, 0:180, 0:3]
    speed = 10.0 * (detector + 1) + day + slot / 1000
    speed[:, 10, 1] = 0  # the network is out
    speed[3] = 0  # a dead detector
    speed[1, 20, 0] = 0  # one gap
    for name, part in ((traffic.DENSE, speed[:4]), (traffic.SPARSE, speed[4:])):
        savemat(tmp_path / name, {"series": part, "latlng": np.zeros((len(part), 2))})
    return tmp_path / traffic.DENSE


def test_usc_is_cleaned_as_described(usc):
    data = traffic.read_usc(usc)
    assert data.sensors == [0, 1, 2, 4, 5]
    assert data.readings.shape == (3 * 60 - 1, 5)
    assert data.readings[0] == pytest.approx([10, 20, 30, 50, 60])
    assert data.readings[20, 1] == pytest.approx(20.020)  # interpolated between its neighbours in time
    assert data.readings[60, 0] == pytest.approx(11.0)  # the second morning follows the first
    assert data.times.is_monotonic_increasing
    assert set(data.times.hour) == set(range(6, 11))


@pytest.mark.parametrize("name", [traffic.WEEK, traffic.METR_LA])  # the second is packed
def test_metr_la_keeps_the_mornings_of_five_working_days(tmp_path, name):
    pd.DataFrame({str(7000 + k): np.arange(7 * 288) + k for k in range(207)}).to_csv(tmp_path / name, index=False)
    data = traffic.read_metr_la(tmp_path / name)
    assert data.readings.shape == (300, 207) and sorted(set(data.times.day)) == [1, 2, 5, 6, 7]
    assert data.sensors[:2] == [7000, 7001] and data.readings[:2, 3].tolist() == [6 * 12 + 3, 6 * 12 + 4]


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


def test_half_of_the_upstream_files_is_named(tmp_path):
    savemat(tmp_path / traffic.DENSE, {"series": np.ones((4, 180, 3))})
    with pytest.raises(DamagedFile, match=r"dense_highway_april\.mat: cannot be read.*sparse_highway_april"):
        traffic.read_usc(tmp_path / traffic.DENSE)


@pytest.mark.skipif("KBREPRO_DATA" not in os.environ, reason="KBREPRO_DATA is not set: no real traffic data")
def test_the_real_sets_have_the_documented_shapes():
    assert store.load("traffic_usc").readings.shape == (1244, 108)
    assert store.load("traffic_metr_la").readings.shape == (300, 207)
