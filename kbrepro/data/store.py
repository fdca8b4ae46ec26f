"""Sensor data: find, download, verify, clean; a labelled simulated stand-in where there is none.

Files are looked for in the directory `KBREPRO_DATA` when that is set, and nowhere else; otherwise in the
project's `data/`. `data/README.md` says what they are, whose, and what is wrong with them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import requests

from kbrepro.data import DamagedFile as DamagedFile
from kbrepro.data import SensorData, cmu_light, intel_lab, traffic
from kbrepro.data.intel_lab import CALENDAR, EXTRACT, LOCATIONS, MOTES, OWNERS, OWNERS_GZ
from kbrepro.paths import ProjectNotFound, project_root

BASE_URL, TIMEOUTS = "http://db.csail.mit.edu/labdata/", (5, 30)  # seconds: to connect, between two bytes
DAYS = ("2004-03-04", "2004-03-05", "2004-03-06", "2004-03-07", "2004-03-08")
RECORDED = {  # sha256; those of the owner's data.txt and data.txt.gz come from other projects, unverified
    EXTRACT: "b56b799360c580b35d6c83b884c8c37eac6dc76715fe76292f282c614341cf45",
    OWNERS_GZ: "d99288c8f406ca6604d359ceaa0d8adfffa79e7095061a1e27dc4399f48c7225",
    OWNERS: "21d156880db48eb140390beffc18b017282777cdc41e30e665072544ecf0913e",
    cmu_light.MAT: "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    cmu_light.NPZ: "9cb90edf898ebba4ff9b48473e0c53b6c8e6c8b9a92f7d1eb1225b6817fa85d2",
    LOCATIONS: "3865c0263110c24c40e3377690cecaa552e0575cf56cdb9f5f8bd17130b6bf04",
    traffic.USC: "fd39b44fa54164ce61830d89cd160f7fab466ea790704b96ea984af6895ae0a1",
    traffic.METR_LA: "cd62cbd55e1c4580e9fef78b64e699e25a83fd011b786a94b67e174952341e07",
}


class DownloadFailed(RuntimeError):
    """The owner's files did not arrive, or not intact."""


def load(name: str, days: Sequence[str] = DAYS, motes: Sequence[int] = MOTES) -> SensorData:
    """Sensor data by name, cleaned; a simulated stand-in (`is_real` False) when no file is found.

    `name` is "temperature": one column for each of `motes` (numbers from 1 to 54, by default the 46 best covered;
    `intel_lab.REPORTING` for all 51 that work), one row a minute of `days` ("YYYY-MM-DD"; calendar order), deg C;
    "light": 41 sensors, 601 rows to learn from, then 192 to test on, Lux; or "traffic_usc" (108 detectors) or
    "traffic_metr_la" (207), five-minute slots of working mornings, mph.
    The arrays are shared between calls, hence read-only. Raises ValueError for an unknown name or mote, or a day
    that is malformed or not in the file, DamagedFile (a ValueError) for a file that is not what it should be.
    """
    if name not in _LOADERS:
        raise ValueError(f"name={name!r}: no such dataset; allowed: {', '.join(_LOADERS)}")
    return _LOADERS[name](_checked_days(days), _checked_motes(motes))


def train_test(data: SensorData, fraction: float = 2 / 3) -> tuple[np.ndarray, np.ndarray]:
    """The first `fraction` of the readings in time, and the rest: two arrays (rows, n_sensors)."""
    cut = round(fraction * len(data.readings)) if 0 < fraction < 1 else 0
    if not 0 < cut < len(data.readings):
        raise ValueError(f"fraction={fraction!r}: allowed: between 0 and 1, with a row on either side")
    return data.readings[:cut], data.readings[cut:]


def checksums() -> dict[str, str]:
    """Path in the data directory -> sha256, of the files `load` reads by default; {} when there are none."""
    files = _files(_directory()) + [path for path in map(_other_file, _OTHERS) if path]
    import pooch  # here: in a notebook its import warns of absent progress widgets

    return {path.relative_to(_directory()).as_posix(): pooch.file_hash(str(path)) for path in files}


def status() -> str:
    """For people: where data is looked for, which files are used, whether they are the recorded ones."""
    found = []
    for name, sha256 in checksums().items():
        match = "as recorded" if sha256 == RECORDED[Path(name).name] else "DIFFERS from the recorded one"
        found.append(f"{name}, sha256 {sha256} ({match})")
    missing = ["temperature"] if not _files(_directory()) else []
    missing += [name for name in _OTHERS if not _other_file(name)]
    absent = [
        f"{name}: not found; a simulated stand-in is used (data/README.md says how to get it)" for name in missing
    ]
    return "\n".join([f"data directory: {_directory() or 'none'}", *found, *absent])


def fetch(if_missing: bool = False) -> None:
    """Download temperature and light from their owners into data/ and check their content.

    With `if_missing` only what is not there; nothing when KBREPRO_DATA is set. Nothing is replaced before every check
    on it has passed. Raises DownloadFailed with one line that says why; what did arrive is kept.
    """
    own = os.environ.get("KBREPRO_DATA")
    if own and not if_missing:
        raise DownloadFailed(f"KBREPRO_DATA={own} is set; nothing is written there: unset it to fetch")
    failures = []
    for source, present, download in (
        (BASE_URL, lambda: bool(_files(_directory())), _download_temperature),
        (cmu_light.URL, lambda: bool(_other_file("light")), _download_light),
    ):
        if not own and not (if_missing and present()):
            failures += _failure(source, download)
    if failures:
        raise DownloadFailed("; ".join(failures))


def _failure(source: str, download: Callable[[Path], None]) -> list[str]:
    try:
        download(project_root() / "data")
    except (requests.RequestException, ValueError, OSError, ProjectNotFound) as error:
        return [f"no data from {source}: {' '.join(str(error).split())}"]
    return []


def _download_temperature(data: Path) -> None:
    """Fetch into a folder beside the final place, check, then move."""
    target = data / "intel-lab"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix="fetch-") as folder:
        for name in (LOCATIONS, OWNERS_GZ):
            _retrieve(BASE_URL + name, name, folder)
        intel_lab.read_locations(Path(folder, LOCATIONS), MOTES)
        intel_lab.read_readings(Path(folder, OWNERS_GZ), DAYS, MOTES)
        for name in (LOCATIONS, OWNERS_GZ):
            os.replace(Path(folder, name), target / name)
    _temperature_from_file.cache_clear()


def _download_light(data: Path) -> None:
    target = data / "cmu-light"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix="fetch-") as folder:
        _retrieve(cmu_light.URL, "light.zip", folder)
        cmu_light.unzip(Path(folder, "light.zip"), target / cmu_light.MAT)


def _retrieve(url: str, name: str, folder: str) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")  # no advice on hashes: content decides, status() tells the sums
    pooch.retrieve(url, None, name, folder, downloader=pooch.HTTPDownloader(timeout=TIMEOUTS, progressbar=True))


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


def _checked_motes(motes: Sequence[int]) -> tuple[int, ...]:
    if not len(motes) or sorted(motes) != sorted(set(motes) & set(range(1, 55))):
        raise ValueError(f"motes={motes!r}: allowed: a list of distinct numbers from 1 to 54")
    return tuple(sorted(motes))


def _temperature(days: tuple[str, ...], motes: tuple[int, ...]) -> SensorData:
    files = _files(_directory(), days)
    return _temperature_from_file(days, motes, *files) if files else intel_lab.simulated(days, motes)


@lru_cache(maxsize=8)
def _temperature_from_file(
    days: tuple[str, ...], motes: tuple[int, ...], readings: Path, *locations: Path
) -> SensorData:
    minutes = intel_lab.read_readings(readings, days, motes)
    places = intel_lab.read_locations(*locations, motes) if locations else None
    return SensorData(minutes.to_numpy(), minutes.index, list(motes), "°C", readings.name, True, places)


#: Sets of one file each: folder, names of the file in order of preference, reader, stand-in.
_OTHERS = {
    "light": ("cmu-light", (cmu_light.MAT, cmu_light.NPZ), cmu_light.read, cmu_light.simulated),
    "traffic_usc": ("traffic", (traffic.USC,), traffic.read_usc, traffic.simulated),
    "traffic_metr_la": ("traffic", (traffic.METR_LA,), traffic.read_metr_la, traffic.simulated),
}


def _other_file(name: str) -> Path | None:
    directory, (folder, names, _, _) = _directory(), _OTHERS[name]
    paths = [directory / folder / file for file in names] if directory else []
    return next((path for path in paths if path.is_file()), None)


def _other(name: str) -> SensorData:
    path, (_, _, read, simulated) = _other_file(name), _OTHERS[name]
    return read(path) if path else simulated()


_LOADERS = {"temperature": _temperature} | {name: lambda *_, name=name: _other(name) for name in _OTHERS}
