"""The files of three sets of readings: what is in them, and how it is cleaned.

Readers raise whatever comes of a damaged file: `store.load` says which it was.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

from kbrepro.data import SensorData

# Intel Berkeley Research Lab

CALENDAR = [str(day.date()) for day in pd.date_range("2004-02-28", "2004-04-05")]  # the deployment
EXTRACT, OWNERS = "readings_2004-03-04_to_08.csv.gz", "data.txt.gz"
COLUMNS = ("date", "time", "epoch", "moteid", "temperature", "humidity", "light", "voltage")
TYPES = {"date": str, "time": str, "moteid": float, "temperature": float}
# 5 and 15 are silent, 18 fails, the others miss the most minutes
MOTES = [mote for mote in range(1, 55) if mote not in {5, 8, 12, 15, 18, 30, 33, 39}]
# all that work on 4 to 8 March
REPORTING = [mote for mote in range(1, 55) if mote not in {5, 15, 18}]
PLAUSIBLE = (0.0, 60.0)  # deg C: a mote whose battery dies reports 100 and more
MIN_COVERAGE = 0.5  # share of mote-minutes with a reading, for each day (0.85 on the default days)
# half-hour means of 28 February to 1 April
MEANS = "temperature_halfhour_2004-02-28_to_04-01_42motes.csv.gz"
MIN_MEANS = 0.3  # share of half hours with a reading, for each day: its network was often out
# all in that file but 18
HALF_HOURLY = [mote for mote in REPORTING if mote not in {8, 12, 13, 14, 20, 28, 39, 50, 53, 54}]
# in each five days from 28 February on at least half of the half hours have a reading
COVERED = [mote for mote in HALF_HOURLY if mote not in {16, 17, 19, 26, 30, 49}]


def temperature(path: Path, days: Sequence[str], motes: Sequence[int]) -> SensorData:
    """Return minute means of the motes, gaps interpolated linearly in time, ends filled with the
    nearest reading.

    Raises ValueError for a day or a mote of which the file has too little.
    """
    owners = {"sep": r"\s+", "header": None, "names": COLUMNS, "on_bad_lines": "skip"}
    layout = {} if path.name == EXTRACT else owners
    with pd.read_csv(path, usecols=list(TYPES), dtype=TYPES, chunksize=500_000, **layout) as chunks:
        rows = pd.concat(
            chunk[chunk["date"].isin(days) & chunk["moteid"].isin(motes)] for chunk in chunks
        )
    minute = pd.to_datetime(rows["date"] + " " + rows["time"].str[:5], format="%Y-%m-%d %H:%M")
    usable = rows["temperature"].where(rows["temperature"].between(*PLAUSIBLE))
    means = usable.groupby([minute.rename("minute"), rows["moteid"].astype(int)]).mean()
    table = means.unstack().reindex(index=minutes(days), columns=motes)
    return _filled(table, MIN_COVERAGE, "minutes")


def half_hours(path: Path, days: Sequence[str], motes: Sequence[int]) -> SensorData:
    """Return half-hour means of the motes, gaps as in `temperature`.

    Raises ValueError for a day or a mote of which the file has too little.
    """
    table = pd.read_csv(path, index_col="timestamp", parse_dates=True)
    table.columns = table.columns.str.removeprefix("mote_").astype(int)
    asked = table.reindex(index=minutes(days)[::30], columns=motes)
    return _filled(asked, MIN_MEANS, "half-hours")


def _filled(table: pd.DataFrame, least: float, unit: str) -> SensorData:
    """Fill the gaps of a table of motes; ValueError on a day with less than that share of readings,
    or a mote without any.
    """
    share = table.notna().mean(axis=1).resample("D").mean().dropna()
    if share.min() < least:
        raise ValueError(
            f"{share.min():.0%} of the mote-{unit} of {share.idxmin():%Y-%m-%d} have a reading:"
            f" it must be at least {least:.0%}"
        )
    if silent := table.columns[table.isna().all()].tolist():
        raise ValueError(f"motes {silent} have no reading on these days: they must have one")
    filled = table.interpolate("time", limit_direction="both")
    return SensorData(filled.to_numpy(), table.index, table.columns.tolist(), "°C")


def minutes(days: Sequence[str]) -> pd.DatetimeIndex:
    """Return every minute of the days, "YYYY-MM-DD"."""
    return pd.DatetimeIndex(
        np.concatenate([pd.date_range(day, periods=1440, freq="min") for day in days])
    )


# CMU Intelligent Workplace: the very set of Chowdhury & Gopalan (2017)

MAT = "iw_data_all.mat"
# the dates only keep the order
LIGHT_TIMES = pd.date_range("2005-11-01", periods=601 + 192, freq="min")
LIGHT_SENSORS = list(range(1, 42))


def light(path: Path) -> SensorData:
    """Return the 601 rows to learn from, then the 192 to test on, of the owner's file, in Lux."""
    data = loadmat(path)["data"][0, 0]
    lux = [data[part][0, 0]["sensordataLux"].astype(float) for part in ("train", "test")]
    return SensorData(np.concatenate(lux), LIGHT_TIMES, LIGHT_SENSORS, "Lux")


# Los Angeles: highway speeds instead of the I-880 South set of Srinivas et al., which was never
# published

DENSE, SPARSE = "dense_highway_april.mat", "sparse_highway_april.mat"  # one set in two files
SLOTS = 60  # five-minute slots from 6 to 11 am


def slots(days: int) -> pd.DatetimeIndex:
    """Return the slots of that many working days; the dates only keep the order."""
    mornings = pd.bdate_range("2000-04-03", periods=days)
    in_a_day = pd.timedelta_range("6h", periods=SLOTS, freq="5min")
    return pd.DatetimeIndex(np.add.outer(mornings.to_numpy(), in_a_day.to_numpy()).ravel())


def traffic(path: Path) -> SensorData:
    """Return the 108 usable detectors, 79 of them along one corridor, on 23 working days of an
    April, year not stated.

    A speed of 0 is a gap. Slots with more than half of the detectors silent are dropped (network
    outages), then detectors silent in more than 5 % of the remaining slots; gaps that remain are
    interpolated in time.
    """
    files = (path, path.with_name(SPARSE))
    speed = np.concatenate([loadmat(file)["series"] for file in files])
    mornings = np.moveaxis(speed[:, :SLOTS, :], 2, 1).reshape(len(speed), -1).T
    table = pd.DataFrame(np.where(mornings > 0, mornings, np.nan), index=slots(speed.shape[2]))
    table = table[table.isna().mean(axis=1) <= 0.5]
    table = table.loc[:, table.isna().mean() <= 0.05].interpolate(limit_direction="both")
    return SensorData(table.to_numpy(), table.index, list(table.columns), "mph")
