"""Light in the CMU Intelligent Workplace: the very set of Chowdhury & Gopalan (2017), in Lux.

41 sensors; 601 training rows, then 192 test rows, in time order. The time between rows is not stated.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

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
