"""Highway speeds: substitutes for the I-880 South set of Srinivas et al., which was never published.

Rows are five-minute slots from 6 to 11 am of working days, columns detectors, in miles per hour.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat
from scipy.signal import lfilter

from kbrepro.data import DamagedFile, SensorData, reading

USC, METR_LA = "usc_highway_april.npz", "metr_la_week_los_speed.csv.gz"
#: The same as two projects publish it, the first in two files.
DENSE, SPARSE, WEEK = "dense_highway_april.mat", "sparse_highway_april.mat", "los_speed.csv"
SLOTS = 60  # five-minute slots from 6 to 11 am


def read_usc(path: Path) -> SensorData:
    """Return the 108 usable detectors, 79 of them along one corridor, on 23 working days of an April, year not stated.

    A speed of 0 is a gap. Slots with more than half of the detectors silent are dropped (network outages), then
    detectors silent in more than 5 % of the remaining slots; gaps that remain are interpolated in time. Raises
    DamagedFile.
    """
    with reading(path, "USC highway speeds"):
        if path.name == DENSE:
            parts = [loadmat(io.BytesIO(path.with_name(name).read_bytes()))["series"] for name in (DENSE, SPARSE)]
        else:
            with np.load(path) as file:
                parts = [file["dense_speed"], file["sparse_speed"]]
        speed = np.concatenate(parts)
        mornings = np.moveaxis(speed[:, :SLOTS, :], 2, 1).reshape(len(speed), -1).T
    days = pd.bdate_range("2000-04-03", periods=speed.shape[2])  # the dates only keep the order
    times = pd.DatetimeIndex([day + pd.Timedelta(hours=6, minutes=5 * slot) for day in days for slot in range(SLOTS)])
    table = pd.DataFrame(np.where(mornings > 0, mornings, np.nan), index=times)
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


def simulated() -> SensorData:
    """Return simulated speeds of 40 detectors along a road on 10 mornings: a jam that grows, moves and dissolves."""
    rng = np.random.default_rng(880)
    place, hour = np.linspace(0, 1, 40), np.tile(np.arange(SLOTS) / 12, 10)[:, None]
    head = 0.3 + 0.08 * hour + np.repeat(0.1 * rng.standard_normal(10), SLOTS)[:, None]
    depth = np.repeat(25 + 8 * rng.standard_normal(10), SLOTS)[:, None] * np.exp(-(((hour - 2.2) / 1.2) ** 2))
    covariance = np.exp(-np.abs(place[:, None] - place) / 0.1)
    noise = lfilter([1.0], [1.0, -0.9], rng.standard_normal((len(hour), 40)), axis=0) @ np.linalg.cholesky(covariance).T
    speed = 64 - depth * np.exp(-(((place - head) / 0.12) ** 2)) + 1.5 * noise
    times = pd.date_range("2000-04-03", periods=len(hour), freq="5min")
    return SensorData(speed.clip(3, 75).round(4), times, list(range(40)), "mph", "simulated substitute", False)
