"""Temperatures of the Intel Berkeley Research Lab, as minute means of the owner's rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from kbrepro.data import DamagedFile, SensorData, reading

CALENDAR = [str(day.date()) for day in pd.date_range("2004-02-28", "2004-04-05")]  # the deployment
EXTRACT, OWNERS = "readings_2004-03-04_to_08.csv.gz", "data.txt.gz"
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

    The places of the motes come from the file next to it, if there is one. Raises DamagedFile for a file that is not
    what it should be, and for a day or a mote of which it has too little.
    """
    owners = {"sep": r"\s+", "header": None, "names": COLUMNS, "on_bad_lines": "skip"}
    layout = {"sep": ","} if path.name == EXTRACT else owners
    with reading(path, "Intel lab readings"):
        with path.open("rb") as file:  # by content: a web server may unpack data.txt.gz on its way
            compression = "gzip" if file.read(2) == b"\x1f\x8b" else None
        options = {"usecols": list(TYPES), "dtype": TYPES, "compression": compression, "chunksize": 500_000}
        with pd.read_csv(path, **layout, **options) as chunks:
            rows = pd.concat(chunk[chunk["date"].isin(days) & chunk["moteid"].isin(motes)] for chunk in chunks)
        minute = pd.to_datetime(rows["date"] + " " + rows["time"].str[:5], format="%Y-%m-%d %H:%M")
    usable = rows["temperature"].where(rows["temperature"].between(*PLAUSIBLE))
    means = usable.groupby([minute.rename("minute"), rows["moteid"].astype(int)]).mean()
    table = means.unstack().reindex(index=minutes(days), columns=list(motes))
    share = table.notna().mean(axis=1).resample("D").mean().dropna()
    if share.min() < MIN_COVERAGE:
        short = f"{share.min():.0%} of the mote-minutes of {share.idxmin():%Y-%m-%d} have a reading"
        raise DamagedFile(f"{path}: {short}; allowed: at least {MIN_COVERAGE:.0%}")
    if silent := table.columns[table.isna().all()].tolist():
        raise DamagedFile(f"{path}: no reading of motes {silent} on the days asked for")
    table = table.interpolate("time", limit_direction="both")
    places = _locations(path.with_name(LOCATIONS), motes)
    return SensorData(table.to_numpy(), table.index, list(motes), "°C", path.name, True, places)


def minutes(days: Sequence[str]) -> pd.DatetimeIndex:
    """Return every minute of the days, "YYYY-MM-DD"."""
    return pd.DatetimeIndex(np.concatenate([pd.date_range(day, periods=1440, freq="min") for day in days]))


def _locations(path: Path, motes: Sequence[int]) -> np.ndarray | None:
    """Where the motes are: (n, 2), metres from the upper right corner of the lab; None without the file."""
    if not path.is_file():
        return None
    with reading(path, "'mote x y' of every mote"):
        table = pd.read_csv(path, sep=r"\s+", header=None, names=["mote", "x", "y"], dtype=float)
        return table.dropna().set_index("mote").loc[list(motes)].to_numpy().reshape(len(motes), 2)
