"""Sensor data: find, download, verify, clean; a labelled simulated substitute if there is none.

If `KBREPRO_DATA` is set, only that directory is searched; otherwise the project's `data/` is. `data/README.md` says
what the files are, whose they are, and what is wrong with them.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import requests

from kbrepro.data import DamagedFile as DamagedFile
from kbrepro.data import SensorData, cmu_light, intel_lab, traffic
from kbrepro.data.intel_lab import CALENDAR, EXTRACT, LOCATIONS, MOTES, OWNERS, OWNERS_GZ
from kbrepro.paths import ProjectNotFound, project_root

URLS = {
    "temperature": "http://db.csail.mit.edu/labdata/",
    "light": "http://www.cs.cmu.edu/~guestrin/Class/10708-F08/projects/lightsensor.zip",
}
TIMEOUTS = (5, 30)  # seconds: to connect, between two bytes
DAYS = ("2004-03-04", "2004-03-05", "2004-03-06", "2004-03-07", "2004-03-08")
RECORDED = {  # sha256; those of the owner's data.txt and data.txt.gz come from other projects, unverified
    EXTRACT: "b56b799360c580b35d6c83b884c8c37eac6dc76715fe76292f282c614341cf45",
    OWNERS_GZ: "d99288c8f406ca6604d359ceaa0d8adfffa79e7095061a1e27dc4399f48c7225",
    OWNERS: "21d156880db48eb140390beffc18b017282777cdc41e30e665072544ecf0913e",
    cmu_light.MAT: "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    LOCATIONS: "3865c0263110c24c40e3377690cecaa552e0575cf56cdb9f5f8bd17130b6bf04",
    traffic.USC: "fd39b44fa54164ce61830d89cd160f7fab466ea790704b96ea984af6895ae0a1",
    traffic.METR_LA: "cd62cbd55e1c4580e9fef78b64e699e25a83fd011b786a94b67e174952341e07",
    traffic.DENSE: "cff972b139e97e6251811f265698d595738105f5420974d07e203cbc9ced968a",
    traffic.SPARSE: "1e7aefbf954811c972ba15c6c1ee056bdf5f4f7941240d1ae95c28bc8c3c8260",
    traffic.WEEK: "7b732d86ae32b2930595becba28aff39dacbfb2197e250fc0332e1744ce2cbf4",
}
#: Folder, files of readings in order of preference, reader, substitute.
_SETS: dict[str, tuple[str, tuple[str, ...], Callable[..., SensorData], Callable[..., SensorData]]] = {
    "temperature": ("intel-lab", (EXTRACT, OWNERS_GZ, OWNERS), intel_lab.read, intel_lab.simulated),
    "light": ("cmu-light", (cmu_light.MAT,), cmu_light.read, cmu_light.simulated),
    "traffic_usc": ("traffic", (traffic.USC, traffic.DENSE), traffic.read_usc, traffic.simulated),
    "traffic_metr_la": ("traffic", (traffic.METR_LA, traffic.WEEK), traffic.read_metr_la, traffic.simulated),
}


class DownloadFailed(RuntimeError):
    """The owner's files did not arrive, or not intact."""


def load(name: str, days: Sequence[str] = DAYS, motes: Sequence[int] = MOTES) -> SensorData:
    """Return sensor data by name, cleaned; a simulated substitute (`is_real` False) if no file is found.

    `name` is "temperature": one column for each of `motes` (numbers from 1 to 54, by default the 46 best covered;
    `intel_lab.REPORTING` for all 51 that work), one row per minute of `days` ("YYYY-MM-DD"; calendar order), deg C;
    "light": 41 sensors, 601 rows to learn from, then 192 to test on, Lux; or "traffic_usc" (108 detectors) or
    "traffic_metr_la" (207), five-minute slots of working mornings, mph.
    The arrays are shared between calls, hence read-only. Raises ValueError for an unknown name or mote, or a day
    that is malformed or not in the file, DamagedFile (a ValueError) for a file that is not what it should be.
    """
    if name not in _SETS:
        raise ValueError(f"name={name!r}: no such dataset; allowed: {', '.join(_SETS)}")
    if name != "temperature":
        return _load(name, _file(name))
    days = _distinct("days", days, CALENDAR, "days 'YYYY-MM-DD'")
    motes = _distinct("motes", motes, range(1, 55), "numbers")
    return _load(name, _file(name, days), days, motes)


def train_test(data: SensorData, fraction: float = 2 / 3) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `fraction` of the readings in time, and the rest: two arrays (rows, n_sensors)."""
    cut = round(fraction * len(data.readings)) if 0 < fraction < 1 else 0
    if not 0 < cut < len(data.readings):
        raise ValueError(f"fraction={fraction!r}: allowed: between 0 and 1, with a row on either side")
    return data.readings[:cut], data.readings[cut:]


def checksums() -> dict[str, str]:
    """Return path in the data directory -> sha256 of the files that `load` reads by default; {} if there are none."""
    directory, files = _directory() or Path(), [path for path in map(_file, _SETS) if path]
    beside = [path.with_name({traffic.DENSE: traffic.SPARSE}.get(path.name, LOCATIONS)) for path in files]
    files += [path for path in beside if path.is_file()]
    return {path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def status() -> str:
    """Return, for people, where data is searched, which files are used, and whether they are the recorded ones."""
    lines = [f"data directory: {_directory() or 'none'}"]
    for name, sha256 in checksums().items():
        match = "as recorded" if sha256 == RECORDED[Path(name).name] else "DIFFERS from the recorded one"
        lines.append(f"{name}, sha256 {sha256} ({match})")
    for name in _SETS:
        if not _file(name):
            lines.append(f"{name}: not found; a simulated substitute is used (data/README.md says how to get it)")
    return "\n".join(lines)


def fetch(if_missing: bool = False) -> str:
    """Download temperature and light from their owners into data/ and check their content.

    With `if_missing` only missing files are fetched, and none if KBREPRO_DATA is set. A file is replaced only after
    every check has passed. Files that arrived are kept; if one did not, one line says why: it is raised as
    DownloadFailed, or returned with `if_missing`.
    """
    own = os.environ.get("KBREPRO_DATA")
    if own and not if_missing:
        raise DownloadFailed(f"KBREPRO_DATA={own} is set; nothing is written there: unset it to fetch")
    failures = []
    for name, url in URLS.items():
        if own or (if_missing and _file(name)):
            continue
        try:
            _download(name, url, project_root() / "data" / _SETS[name][0])
        except (requests.RequestException, ValueError, OSError, ProjectNotFound) as error:
            failures.append(f"no data from {url}: {' '.join(str(error).split())}")
    if failures and not if_missing:
        raise DownloadFailed("; ".join(failures))
    return "; ".join(failures)


def _download(name: str, url: str, target: Path) -> None:
    """Fetch into a folder next to the final place, check, then move."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix="fetch-") as folder:
        if name == "temperature":
            arrived = [_retrieve(url + file, file, folder) for file in (LOCATIONS, OWNERS_GZ)]
            intel_lab.read(arrived[1], DAYS, MOTES)
        else:
            arrived = [cmu_light.unzip(_retrieve(url, "light.zip", folder))]
        for path in arrived:
            path.replace(target / path.name)
    _load.cache_clear()


def _retrieve(url: str, name: str, folder: str) -> Path:
    import pooch  # here: in a notebook its import warns of absent progress widgets

    pooch.get_logger().setLevel("WARNING")  # no advice on hashes: content decides, status() tells the sums
    downloader = pooch.HTTPDownloader(timeout=TIMEOUTS, progressbar=True)
    return Path(pooch.retrieve(url, None, name, folder, downloader=downloader))


def _directory() -> Path | None:
    """The only directory to search; None outside a checkout."""
    if own := os.environ.get("KBREPRO_DATA"):
        if not Path(own).is_dir():
            raise ValueError(f"KBREPRO_DATA={own!r}: no such directory; allowed: an existing one, or unset")
        return Path(own).absolute()
    try:
        return project_root() / "data"
    except ProjectNotFound:
        return None


def _file(name: str, days: Sequence[str] = DAYS) -> Path | None:
    """The file with the readings of a set; None if there is none."""
    directory, (folder, files, _, _) = _directory(), _SETS[name]
    if not set(days) <= set(DAYS):
        files = files[1:] + files[:1]  # the extract has the default days only
    paths = [directory / folder / file for file in files] if directory else []
    return next((path for path in paths if path.is_file()), None)


def _distinct(name: str, chosen: Sequence[Any], allowed: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return the chosen values in order; ValueError unless they are distinct, and some of the allowed ones."""
    if isinstance(chosen, str) or not len(chosen) or sorted(chosen) != sorted(set(chosen) & set(allowed)):
        raise ValueError(f"{name}={chosen!r}: allowed: a list of distinct {what} from {allowed[0]} to {allowed[-1]}")
    return tuple(sorted(chosen))


@lru_cache(maxsize=8)
def _load(name: str, path: Path | None, *choice: tuple[Any, ...]) -> SensorData:
    _, _, read, simulated = _SETS[name]
    if path is None:
        return simulated(*choice)
    data = read(path, *choice)
    return replace(data, checksum=hashlib.sha256(data.readings.round(6).tobytes()).hexdigest())
