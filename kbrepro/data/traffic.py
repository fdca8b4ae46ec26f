"""Highway speeds that stand in for the I-880 South set of Srinivas et al., which was never published.

Rows are five-minute slots from 6 to 11 am of working days, columns detectors, in miles per hour.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat
from scipy.signal import lfilter

from kbrepro.data import DamagedFile, SensorData, reading
from kbrepro.paths import write_bytes

USC, METR_LA = "usc_highway_april.npz", "metr_la_week_los_speed.csv.gz"
UPSTREAM = {USC: ("dense_highway_april.mat", "sparse_highway_april.mat"), METR_LA: ("los_speed.csv",)}
SLOTS = 60  # five-minute slots from 6 to 11 am


def read_usc(path: Path) -> SensorData:
    """Return the 108 usable detectors, 79 of them along one corridor, of 23 working days of an April, year not stated.

    A speed of 0 is a gap. Slots with more than half of the detectors silent are dropped (network outages), then
    detectors silent in more than 5 % of what is left; remaining gaps are interpolated in time. Raises DamagedFile.
    """
    with reading(path, "USC highway speeds"), np.load(path) as file:
        speed = np.concatenate([file["dense_speed"], file["sparse_speed"]])
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


def make(upstream: Path, target: Path) -> list[Path]:
    """Make our files from those upstream files that are in a folder, and return them; data/README.md says whose.

    Raises ValueError if there are none, and DamagedFile, before anything is written, if one is not what it should be.
    """
    makers, readers = {USC: _archive, METR_LA: _packed}, {USC: read_usc, METR_LA: read_metr_la}
    there = {ours: [upstream / name for name in names] for ours, names in UPSTREAM.items()}
    made = {ours: makers[ours](*files) for ours, files in there.items() if all(path.is_file() for path in files)}
    if not made:
        needed = " or ".join(" and ".join(names) for names in UPSTREAM.values())
        raise ValueError(f"upstream={str(upstream)!r} is not allowed: it must be a folder with {needed}")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in made.items():
            write_bytes(Path(folder, name), content)
            readers[name](Path(folder, name))
    for name, content in made.items():
        write_bytes(target / name, content)
    return [target / name for name in made]


def _archive(dense: Path, sparse: Path) -> bytes:
    speeds = {}
    for name, path in (("dense_speed", dense), ("sparse_speed", sparse)):
        with reading(path, "USC highway speeds"):
            speeds[name] = loadmat(path)["series"]
    file = io.BytesIO()
    np.savez_compressed(file, **speeds)
    return file.getvalue()


def _packed(week: Path) -> bytes:
    return gzip.compress(week.read_bytes(), mtime=0)


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
    return SensorData(speed.clip(3, 75).round(4), times, list(range(40)), "mph", "simulated stand-in", False)
