"""Temperatures of the Intel Berkeley Research Lab, as minute means of the owner's rows; a simulated substitute."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from scipy.spatial.distance import cdist

from kbrepro.data import DamagedFile, SensorData, reading

CALENDAR = [str(day.date()) for day in pd.date_range("2004-02-28", "2004-04-05")]  # the deployment
EXTRACT, OWNERS_GZ, OWNERS = "readings_2004-03-04_to_08.csv.gz", "data.txt.gz", "data.txt"
LOCATIONS = "mote_locs.txt"
COLUMNS = ("date", "time", "epoch", "moteid", "temperature", "humidity", "light", "voltage")
TYPES = {"date": str, "time": str, "moteid": float, "temperature": float}
# 5 and 15 are silent, 18 fails, the others miss the most minutes
MOTES = [mote for mote in range(1, 55) if mote not in {5, 8, 12, 15, 18, 30, 33, 39}]
REPORTING = [mote for mote in range(1, 55) if mote not in {5, 15, 18}]  # all that work on 4 to 8 March
PLAUSIBLE = (0.0, 60.0)  # deg C: a mote whose battery dies reports 100 and more
MIN_COVERAGE = 0.5  # share of mote-minutes with a reading, for each day (0.85 on the default days)


def read(path: Path, days: Sequence[str], motes: Sequence[int]) -> SensorData:
    """Return minute means of the motes, gaps interpolated linearly in time, ends filled with the nearest reading.

    The places of the motes come from the file next to it, if there is one. Raises ValueError for a day that is not in
    the file, DamagedFile for a file that is not what it should be.
    """
    with reading(path, "Intel lab readings"):
        rows, days_seen = _rows(path, days, motes)
        minute = pd.to_datetime(rows["date"] + " " + rows["time"].str[:5], format="%Y-%m-%d %H:%M")
    if absent := [day for day in days if day not in days_seen]:
        error = ValueError if days_seen else DamagedFile
        raise error(f"days: {absent} not in {path}; allowed: {', '.join(days_seen) or 'none: no dated row'}")
    means = rows.groupby([minute.rename("minute"), rows["moteid"].astype(int)])["temperature"].mean()
    table = means.unstack().reindex(index=_minutes(days), columns=list(motes))
    if silent := table.columns[table.isna().all()].tolist():
        raise DamagedFile(f"{path}: no reading of motes {silent} on the days asked for")
    share = table.notna().mean(axis=1).resample("D").mean().dropna()
    if share.min() < MIN_COVERAGE:
        short = f"{share.min():.0%} of the mote-minutes of {share.idxmin():%Y-%m-%d} have a reading"
        raise DamagedFile(f"{path}: {short}; allowed: at least {MIN_COVERAGE:.0%}")
    table = table.interpolate("time", limit_direction="both")
    places = _locations(path.with_name(LOCATIONS), motes)
    return SensorData(table.to_numpy(), table.index, list(motes), "°C", path.name, True, places)


def _rows(path: Path, days: Sequence[str], motes: Sequence[int]) -> tuple[pd.DataFrame, list[str]]:
    """The usable rows of those days, and every day that the file has."""
    owners = {"sep": r"\s+", "header": None, "names": COLUMNS, "on_bad_lines": "skip"}
    layout = {"sep": ","} if path.name == EXTRACT else owners
    with path.open("rb") as file:  # by content: a web server may unpack data.txt.gz on its way
        compression = "gzip" if file.read(2) == b"\x1f\x8b" else None
    options = {"usecols": list(TYPES), "dtype": TYPES, "compression": compression, "chunksize": 500_000}
    kept, seen = [], set()
    with pd.read_csv(path, **layout, **options) as chunks:
        for chunk in chunks:
            seen.update(chunk["date"].dropna().unique())
            usable = chunk["moteid"].isin(motes) & chunk["temperature"].between(*PLAUSIBLE)
            kept.append(chunk[usable & chunk["date"].isin(days)])
    return pd.concat(kept), [day for day in CALENDAR if day in seen]


def _locations(path: Path, motes: Sequence[int]) -> np.ndarray | None:
    """Where the motes are: (n, 2), metres from the upper right corner of the lab; None without the file."""
    if not path.is_file():
        return None
    with reading(path, "'mote x y' of every mote"):
        table = pd.read_csv(path, sep=r"\s+", header=None, names=["mote", "x", "y"], dtype=float)
        return table.dropna().set_index("mote").loc[list(motes)].to_numpy().reshape(len(motes), 2)


def _minutes(days: Sequence[str]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(np.concatenate([pd.date_range(day, periods=1440, freq="min") for day in days]))


def simulated(days: tuple[str, ...], motes: tuple[int, ...]) -> SensorData:
    """Return a daily cycle that varies smoothly over the lab, slow correlated weather, a little noise; 22 deg C."""
    rng = np.random.default_rng(20040304)
    places = rng.uniform((0, 0), (40, 31), size=(len(motes), 2))
    covariance = np.exp(-0.5 * (cdist(places, places) / 12) ** 2) + 0.01 * np.eye(len(motes))
    factor = np.linalg.cholesky(covariance)
    level, strength, delay = (factor @ rng.standard_normal((len(motes), 3))).T
    hours = np.arange(1440 * len(days))[:, None] / 60
    cycle = (3.6 + 0.7 * strength) * np.sin(2 * np.pi * (hours - 9 - delay) / 24)
    keep = np.exp(-1 / 180)  # correlation from one minute to the next: weather lasts three hours
    shocks = rng.standard_normal((len(hours), len(motes)))
    shocks[1:] *= np.sqrt(1 - keep**2)  # the first row starts in the stationary law
    weather = 1.5 * lfilter([1.0], [1.0, -keep], shocks, axis=0) @ factor.T
    table = 22 + level + cycle + weather + 0.1 * rng.standard_normal(weather.shape)
    # four decimals, as the real readings have, hide the last bits in which BLAS libraries differ
    return SensorData(table.round(4), _minutes(days), list(motes), "°C", "simulated substitute", False, places.round(4))
