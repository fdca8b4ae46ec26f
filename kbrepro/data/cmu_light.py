"""Light in the CMU Intelligent Workplace: the very set of Chowdhury & Gopalan (2017), in Lux.

41 sensors; 601 training rows, then 192 test rows, in time order. The time between rows is not stated.
"""

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat
from scipy.signal import lfilter
from scipy.spatial.distance import cdist

from kbrepro.data import DamagedFile, SensorData, reading

MAT = "iw_data_all.mat"
N_TRAIN, N_TEST, N_SENSORS = 601, 192, 41
LUX_PER_COUNT = 0.366211  # of the file's own two tables
TIMES = pd.date_range("2005-11-01", periods=N_TRAIN + N_TEST, freq="min")  # the dates only keep the order
SENSORS = list(range(1, N_SENSORS + 1))


def read(path: Path) -> SensorData:
    """Return the 793 rows of the owner's MATLAB file.

    Raises DamagedFile unless there are 601 and 192 rows of 41 sensors, none missing, in Lux and in counts that agree.
    """
    with reading(path, "light readings"):
        data = loadmat(io.BytesIO(path.read_bytes()))["data"][0, 0]
        parts = [data[name][0, 0] for name in ("train", "test")]
        lux, counts = ([part[unit] for part in parts] for unit in ("sensordataLux", "sensordata"))
        coordinates = data["coords"]
    shapes = [np.shape(part) for part in (*lux, coordinates)]
    if shapes != [(N_TRAIN, N_SENSORS), (N_TEST, N_SENSORS), (N_SENSORS, 2)]:
        raise DamagedFile(f"{path}: shapes {shapes}; expected {N_TRAIN} and {N_TEST} rows of {N_SENSORS} sensors")
    readings, counted = np.concatenate(lux).astype(float), np.concatenate(counts).astype(float)
    if not np.allclose(readings, LUX_PER_COUNT * counted, rtol=1e-4, atol=1e-4):  # a NaN is close to nothing
        raise DamagedFile(f"{path}: readings in Lux are missing or do not fit the counts")
    return SensorData(readings, TIMES, SENSORS, "Lux", path.name, True, np.array(coordinates, dtype=float))


def unzip(archive: Path) -> Path:
    """Return the MATLAB file of the owner's archive, unpacked next to it and checked; raises DamagedFile."""
    path = archive.with_name(MAT)
    with reading(archive, "an archive with a .mat file"), zipfile.ZipFile(archive) as file:
        name, *_ = [name for name in file.namelist() if name.endswith(".mat")]
        path.write_bytes(file.read(name))
    read(path)
    return path


def simulated() -> SensorData:
    """Return simulated light of 41 sensors: a sun that wanders over the room, clouds that neighbours share."""
    rng = np.random.default_rng(2005)
    places = rng.uniform((0, 0), (30, 12), size=(N_SENSORS, 2))
    covariance = np.exp(-0.5 * (cdist(places, places) / 5) ** 2) + 0.01 * np.eye(N_SENSORS)
    factor = np.linalg.cholesky(covariance)
    hour = (np.arange(N_TRAIN + N_TEST) / 25)[:, None]  # 25 rows an hour
    sun = np.maximum(np.sin(2 * np.pi * (hour - 7 - 0.1 * places[:, 0]) / 24), 0)
    clouds = lfilter([1.0], [1.0, -0.97], 0.24 * rng.standard_normal((len(hour), N_SENSORS)), axis=0) @ factor.T
    lux = 60 + 90 * sun * (1.2 + 0.4 * factor @ rng.standard_normal(N_SENSORS)) + 25 * clouds
    return SensorData(lux.clip(5, 600).round(3), TIMES, SENSORS, "Lux", "simulated substitute", False, places)
