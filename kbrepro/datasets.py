"""Sensor data: find, download, verify, clean; a labelled simulated stand-in where there is none.

Files are looked for in the directory `KBREPRO_DATA` when that is set, and nowhere else; otherwise in the
project's `data/`. `data/README.md` says what they are, whose, and what is wrong with them.
"""

import os
import tempfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import requests
from scipy.signal import lfilter
from scipy.spatial.distance import cdist

from kbrepro import traffic
from kbrepro.paths import ProjectNotFound, project_root
from kbrepro.sensors import DamagedFile, SensorData

BASE_URL, TIMEOUTS = "http://db.csail.mit.edu/labdata/", (5, 30)  # seconds: to connect, between two bytes
DAYS = ("2004-03-04", "2004-03-05", "2004-03-06", "2004-03-07", "2004-03-08")
CALENDAR = [str(day.date()) for day in pd.date_range("2004-02-28", "2004-04-05")]  # the deployment
EXTRACT, OWNERS_GZ, OWNERS = "readings_2004-03-04_to_08.csv.gz", "data.txt.gz", "data.txt"
LOCATIONS, SIMULATED = "mote_locs.txt", "simulated stand-in"
RECORDED = {  # sha256; those of the owner's data.txt and data.txt.gz come from other projects, unverified
    EXTRACT: "b56b799360c580b35d6c83b884c8c37eac6dc76715fe76292f282c614341cf45",
    OWNERS_GZ: "d99288c8f406ca6604d359ceaa0d8adfffa79e7095061a1e27dc4399f48c7225",
    OWNERS: "21d156880db48eb140390beffc18b017282777cdc41e30e665072544ecf0913e",
    LOCATIONS: "3865c0263110c24c40e3377690cecaa552e0575cf56cdb9f5f8bd17130b6bf04",
    traffic.USC: "fd39b44fa54164ce61830d89cd160f7fab466ea790704b96ea984af6895ae0a1",
    traffic.METR_LA: "cd62cbd55e1c4580e9fef78b64e699e25a83fd011b786a94b67e174952341e07",
}
COLUMNS = ("date", "time", "epoch", "moteid", "temperature", "humidity", "light", "voltage")
TYPES = {"date": str, "time": str, "moteid": float, "temperature": float}
# 5 and 15 are silent, 18 fails, the others miss the most minutes
MOTES = [mote for mote in range(1, 55) if mote not in {5, 8, 12, 15, 18, 30, 33, 39}]
PLAUSIBLE = (0.0, 60.0)  # deg C: a mote whose battery dies reports 100 and more
MIN_COVERAGE = 0.5  # share of mote-minutes with a reading, for each day (0.85 on the default days)


class DownloadFailed(RuntimeError):
    """The owner's files did not arrive, or not intact."""


def load(name: str, days: Sequence[str] = DAYS) -> SensorData:
    """Sensor data by name, cleaned; a simulated stand-in (`is_real` False) when no file is found.

    `name` is "temperature": 46 sensors, one row a minute of `days` ("YYYY-MM-DD"; calendar order), deg C; or
    "traffic_usc" (108 detectors) or "traffic_metr_la" (207), five-minute slots of working mornings, mph.
    The arrays are shared between calls, hence read-only. Raises ValueError for an unknown name or a day that
    is malformed or not in the file, DamagedFile (a ValueError) for a file that is not what it should be.
    """
    if name not in _LOADERS:
        raise ValueError(f"name={name!r}: no such dataset; allowed: {', '.join(_LOADERS)}")
    return _LOADERS[name](_checked_days(days))


def train_test(data: SensorData, fraction: float = 2 / 3) -> tuple[np.ndarray, np.ndarray]:
    """The first `fraction` of the readings in time, and the rest: two arrays (rows, n_sensors)."""
    cut = round(fraction * len(data.readings)) if 0 < fraction < 1 else 0
    if not 0 < cut < len(data.readings):
        raise ValueError(f"fraction={fraction!r}: allowed: between 0 and 1, with a row on either side")
    return data.readings[:cut], data.readings[cut:]


def checksums() -> dict[str, str]:
    """Path in the data directory -> sha256, of the files `load` reads by default; {} when there are none."""
    files = _files(_directory()) + [path for path in map(_traffic_file, _TRAFFIC) if path]
    import pooch  # here: in a notebook its import warns of absent progress widgets

    return {path.relative_to(_directory()).as_posix(): pooch.file_hash(str(path)) for path in files}


def status() -> str:
    """For people: where data is looked for, which files are used, whether they are the recorded ones."""
    found = []
    for name, sha256 in checksums().items():
        match = "as recorded" if sha256 == RECORDED[Path(name).name] else "DIFFERS from the recorded one"
        found.append(f"{name}, sha256 {sha256} ({match})")
    missing = ["temperature"] if not _files(_directory()) else []
    missing += [name for name in _TRAFFIC if not _traffic_file(name)]
    absent = [
        f"{name}: not found; a simulated stand-in is used (data/README.md says how to get it)" for name in missing
    ]
    return "\n".join([f"data directory: {_directory() or 'none'}", *found, *absent])


def fetch(if_missing: bool = False) -> None:
    """Download the owner's readings and locations into data/intel-lab and check their content.

    With `if_missing` nothing happens when KBREPRO_DATA is set or the data is there. Nothing is replaced
    before every check has passed. Raises DownloadFailed with one line that says why.
    """
    own = os.environ.get("KBREPRO_DATA")
    if if_missing and (own or _files(_directory())):
        return
    if own:
        raise DownloadFailed(f"KBREPRO_DATA={own} is set; nothing is written there: unset it to fetch")
    try:
        _download(project_root() / "data" / "intel-lab")
    except (requests.RequestException, ValueError, OSError, ProjectNotFound) as error:
        raise DownloadFailed(f"no data from {BASE_URL}: {' '.join(str(error).split())}") from error


def _download(target: Path) -> None:
    """Fetch into a folder beside the final place, check, then move."""
    import pooch

    target.mkdir(parents=True, exist_ok=True)
    downloader = pooch.HTTPDownloader(timeout=TIMEOUTS, progressbar=True)
    pooch.get_logger().setLevel("WARNING")  # no advice on hashes: content decides, status() tells the sums
    with tempfile.TemporaryDirectory(dir=target, prefix="fetch-") as folder:
        for name in (LOCATIONS, OWNERS_GZ):
            pooch.retrieve(BASE_URL + name, None, name, folder, downloader=downloader)
        _read_locations(Path(folder, LOCATIONS))
        _read_readings(Path(folder, OWNERS_GZ), DAYS)
        for name in (LOCATIONS, OWNERS_GZ):
            os.replace(Path(folder, name), target / name)
    _temperature_from_file.cache_clear()


def _directory() -> Path | None:
    """The one directory to look in; None outside a checkout."""
    if own := os.environ.get("KBREPRO_DATA"):
        if not Path(own).is_dir():
            raise ValueError(f"KBREPRO_DATA={own!r}: no such directory; allowed: an existing one, or unset")
        return Path(own).absolute()
    try:
        return project_root() / "data"
    except ProjectNotFound:
        return None


def _files(directory: Path | None, days: Sequence[str] = DAYS) -> list[Path]:
    """The files that hold the temperature: readings, then locations if there are any; [] without readings."""
    order = (EXTRACT, OWNERS_GZ, OWNERS) if set(days) <= set(DAYS) else (OWNERS_GZ, OWNERS, EXTRACT)
    paths = [directory / "intel-lab" / name for name in (*order, LOCATIONS)] if directory else []
    readings = [path for path in paths[:-1] if path.is_file()][:1]
    return readings + [path for path in paths[-1:] if readings and path.is_file()]


def _checked_days(days: Sequence[str]) -> tuple[str, ...]:
    if isinstance(days, str) or not len(days) or sorted(days) != sorted(set(days) & set(CALENDAR)):
        allowed = f"a list of distinct days 'YYYY-MM-DD' from {CALENDAR[0]} to {CALENDAR[-1]}"
        raise ValueError(f"days={days!r}: allowed: {allowed}")
    return tuple(sorted(days))


def _temperature(days: tuple[str, ...]) -> SensorData:
    files = _files(_directory(), days)
    return _temperature_from_file(days, *files) if files else _temperature_stand_in(days)


@lru_cache(maxsize=8)
def _temperature_from_file(days: tuple[str, ...], readings: Path, *locations: Path) -> SensorData:
    minutes = _read_readings(readings, days)
    places = _read_locations(*locations) if locations else None
    return SensorData(minutes.to_numpy(), minutes.index, MOTES, "°C", readings.name, True, places)


def _read_readings(path: Path, days: Sequence[str]) -> pd.DataFrame:
    """Minute means of MOTES, gaps interpolated linearly in time, the ends filled with the nearest reading."""
    try:
        rows, days_seen = _rows(path, days)
        minute = pd.to_datetime(rows["date"] + " " + rows["time"].str[:5], format="%Y-%m-%d %H:%M")
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DamagedFile(f"{path}: cannot be read as Intel lab readings ({error})") from error
    if absent := [day for day in days if day not in days_seen]:
        error = ValueError if days_seen else DamagedFile
        raise error(f"days: {absent} not in {path}; allowed: {', '.join(days_seen) or 'none: no dated row'}")
    means = rows.groupby([minute.rename("minute"), rows["moteid"].astype(int)])["temperature"].mean()
    table = means.unstack().reindex(index=_minutes(days), columns=MOTES)
    _check_coverage(path, table)
    return table.interpolate("time", limit_direction="both")


def _rows(path: Path, days: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
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
            usable = chunk["moteid"].isin(MOTES) & chunk["temperature"].between(*PLAUSIBLE)
            kept.append(chunk[usable & chunk["date"].isin(days)])
    return pd.concat(kept), [day for day in CALENDAR if day in seen]


def _check_coverage(path: Path, table: pd.DataFrame) -> None:
    if silent := table.columns[table.isna().all()].tolist():
        raise DamagedFile(f"{path}: no reading of motes {silent} on the days asked for")
    share = table.notna().mean(axis=1).resample("D").mean().dropna()
    if share.min() < MIN_COVERAGE:
        short = f"{share.min():.0%} of the mote-minutes of {share.idxmin():%Y-%m-%d} have a reading"
        raise DamagedFile(f"{path}: {short}; allowed: at least {MIN_COVERAGE:.0%}")


def _read_locations(path: Path) -> np.ndarray:
    """Where MOTES are: (46, 2), metres from the upper right corner of the lab."""
    try:
        table = pd.read_csv(path, sep=r"\s+", header=None, names=["mote", "x", "y"], dtype=float)
        return table.dropna().set_index("mote").loc[MOTES].to_numpy().reshape(len(MOTES), 2)
    except (OSError, ValueError, KeyError) as error:
        raise DamagedFile(f"{path}: cannot be read as 'mote x y' of every mote ({error})") from error


def _minutes(days: Sequence[str]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(np.concatenate([pd.date_range(day, periods=1440, freq="min") for day in days]))


@lru_cache(maxsize=8)
def _temperature_stand_in(days: tuple[str, ...]) -> SensorData:
    """A daily cycle that varies smoothly over the lab, slow correlated weather, a little noise; 22 deg C."""
    rng = np.random.default_rng(20040304)
    places = rng.uniform((0, 0), (40, 31), size=(len(MOTES), 2))
    covariance = np.exp(-0.5 * (cdist(places, places) / 12) ** 2) + 0.01 * np.eye(len(MOTES))
    factor = np.linalg.cholesky(covariance)
    level, strength, delay = (factor @ rng.standard_normal((len(MOTES), 3))).T
    hours = np.arange(1440 * len(days))[:, None] / 60
    cycle = (3.6 + 0.7 * strength) * np.sin(2 * np.pi * (hours - 9 - delay) / 24)
    keep = np.exp(-1 / 180)  # correlation from one minute to the next: weather lasts three hours
    shocks = rng.standard_normal((len(hours), len(MOTES)))
    shocks[1:] *= np.sqrt(1 - keep**2)  # the first row starts in the stationary law
    weather = 1.5 * lfilter([1.0], [1.0, -keep], shocks, axis=0) @ factor.T
    table = 22 + level + cycle + weather + 0.1 * rng.standard_normal(weather.shape)
    # four decimals, as the real readings have, hide the last bits in which BLAS libraries differ
    return SensorData(table.round(4), _minutes(days), MOTES, "°C", SIMULATED, False, places.round(4))


_TRAFFIC = {
    "traffic_usc": (traffic.USC, traffic.read_usc),
    "traffic_metr_la": (traffic.METR_LA, traffic.read_metr_la),
}


def _traffic_file(name: str) -> Path | None:
    directory = _directory()
    path = directory / "traffic" / _TRAFFIC[name][0] if directory else None
    return path if path and path.is_file() else None


def _traffic(name: str) -> SensorData:
    path = _traffic_file(name)
    return _TRAFFIC[name][1](path) if path else traffic.simulated()


_LOADERS = {"temperature": _temperature} | {name: lambda _, name=name: _traffic(name) for name in _TRAFFIC}
