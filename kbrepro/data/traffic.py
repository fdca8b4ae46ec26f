"""Highway speeds: substitutes for the I-880 South set of Srinivas et al., which was never published.

Rows are five-minute slots from 6 to 11 am of working days, columns detectors, in miles per hour.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

from kbrepro.data import DamagedFile, SensorData, reading

#: One set in two files, and another; METR_LA is WEEK, packed.
DENSE, SPARSE = "dense_highway_april.mat", "sparse_highway_april.mat"
METR_LA, WEEK = "metr_la_week_los_speed.csv.gz", "los_speed.csv"
SLOTS = 60  # five-minute slots from 6 to 11 am


def slots(days: int) -> pd.DatetimeIndex:
    """Return the slots of that many working days; the dates only keep the order."""
    mornings = pd.bdate_range("2000-04-03", periods=days)
    return pd.DatetimeIndex(
        [day + pd.Timedelta(hours=6, minutes=5 * slot) for day in mornings for slot in range(SLOTS)]
    )


def read_usc(path: Path) -> SensorData:
    """Return the 108 usable detectors, 79 of them along one corridor, on 23 working days of an April, year not stated.

    A speed of 0 is a gap. Slots with more than half of the detectors silent are dropped (network outages), then
    detectors silent in more than 5 % of the remaining slots; gaps that remain are interpolated in time. Raises
    DamagedFile.
    """
    with reading(path, "USC highway speeds"):
        files = (path, path.with_name(SPARSE))
        speed = np.concatenate([loadmat(io.BytesIO(file.read_bytes()))["series"] for file in files])
        mornings = np.moveaxis(speed[:, :SLOTS, :], 2, 1).reshape(len(speed), -1).T
    table = pd.DataFrame(np.where(mornings > 0, mornings, np.nan), index=slots(speed.shape[2]))
    table = table[table.isna().mean(axis=1) <= 0.5]
    table = table.loc[:, table.isna().mean() <= 0.05].interpolate(limit_direction="both")
    return SensorData(table.to_numpy(), table.index, list(table.columns), "mph", path.name, True)


def read_metr_la(path: Path) -> SensorData:
    """Return the 207 detectors of METR-LA on the five working days of one week of March 2012; raises DamagedFile."""
    with reading(path, "METR-LA speeds"):
        table = pd.read_csv(path)
        table.index = pd.date_range("2012-03-01", periods=len(table), freq="5min")
        table = table[(table.index.hour >= 6) & (table.index.hour < 11) & (table.index.day_of_week < 5)]
        sensors = [int(name) for name in table.columns]
        readings = table.to_numpy(dtype=float)
    if readings.shape != (5 * SLOTS, 207) or np.isnan(readings).any():
        raise DamagedFile(f"{path}: {readings.shape} readings, some may be missing; expected (300, 207), none missing")
    return SensorData(readings, table.index, sensors, "mph", path.name, True)
