"""Sensor data: find, download, verify, clean; a labelled simulated substitute if there is none.

If `KBREPRO_DATA` is set, only that directory is searched; otherwise the project's `data/` is.
`data/README.md` says what the files are, whose they are, and what is wrong with them.
"""

import hashlib
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import numpy as np

from kbrepro import checks, paths
from kbrepro.data import DamagedFile, SensorData, sets, substitute

DAYS = ("2004-03-04", "2004-03-05", "2004-03-06", "2004-03-07", "2004-03-08")
#: Files below the data directory: the sha256 without which they are refused.
RECORDED = {
    f"intel-lab/{sets.EXTRACT}": "b56b799360c580b35d6c83b884c8c37eac6dc76715fe76292f282c614341cf45",
    f"intel-lab/{sets.OWNERS}": "d99288c8f406ca6604d359ceaa0d8adfffa79e7095061a1e27dc4399f48c7225",
    f"intel-lab/{sets.MEANS}": "064aa4f54968285f78084aa09d2948b30d5a28864c2f8753605cde56666b9076",
    f"cmu-light/{sets.MAT}": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    f"traffic/{sets.DENSE}": "cff972b139e97e6251811f265698d595738105f5420974d07e203cbc9ced968a",
    f"traffic/{sets.SPARSE}": "1e7aefbf954811c972ba15c6c1ee056bdf5f4f7941240d1ae95c28bc8c3c8260",
}
COPY = "https://raw.githubusercontent.com/sayakrc/Bayesian-Optimization-under-Heavy-tailed-Payoffs"
#: Set -> the file that is downloaded, and from where.
URLS = {
    "temperature": (f"intel-lab/{sets.OWNERS}", "http://db.csail.mit.edu/labdata/data.txt.gz"),
    "light": (
        f"cmu-light/{sets.MAT}",
        f"{COPY}/30196d5c9eca766ca87afec517be98cf76c961a5/{sets.MAT}",
    ),
}
#: Seconds: until downloads begin (looking the name up counts), between two parts (requests looks),
#: and in all.
BEGINS, SILENT, IN_ALL = 5, 30, 600
PART = 1024  # bytes
Parts = queue.SimpleQueue[bytes | str]
#: The sets of which days and motes are asked for.
OF_MOTES = ("temperature", "half hours")
#: Set -> its files of readings in order of preference, reader.
T = TypeVar("T", str, int)
_SETS: dict[str, tuple[tuple[str, ...], Callable[..., SensorData]]] = {
    "temperature": ((f"intel-lab/{sets.EXTRACT}", f"intel-lab/{sets.OWNERS}"), sets.temperature),
    "half hours": ((f"intel-lab/{sets.MEANS}",), sets.half_hours),
    "light": ((f"cmu-light/{sets.MAT}",), sets.light),
    "traffic_usc": ((f"traffic/{sets.DENSE}",), sets.traffic),
}


class DownloadFailed(RuntimeError):
    """The owner's files did not arrive, or not intact."""


def load(name: str, days: Sequence[str] = DAYS, motes: Sequence[int] = sets.MOTES) -> SensorData:
    """Return sensor data by name, cleaned; a simulated substitute (`is_real` False) if no file is
    found.

    `name` is "temperature": one column for each of `motes` (numbers from 1 to 54, by default the 46
    best covered; `sets.REPORTING` for all 51 that work), one row per minute of `days`
    ("YYYY-MM-DD"; calendar order), deg C; "half hours": the same from half-hour means, 48 rows a
    day (its 41 motes are `sets.HALF_HOURLY`); "light": 41 sensors, 601 rows to learn from, then 192
    to test on, Lux; or "traffic_usc": 108 detectors, five-minute slots of working mornings, mph.
    Raises ValueError for an unknown name or mote, or a day that is malformed or not in the file,
    DamagedFile (a ValueError) for a file that is not the recorded one.
    """
    checks.one_of(_SETS, name=name)
    days = _distinct("days", days, sets.CALENDAR, "days 'YYYY-MM-DD'")
    motes = _distinct("motes", motes, range(1, 55), "numbers")
    if not (path := file_of(name, days)):
        return simulated(name, days, motes)
    files = (path, path.with_name(sets.SPARSE)) if name == "traffic_usc" else (path,)
    try:
        for file in files:
            _require_recorded(file)
        data = _SETS[name][1](path, *((days, motes) if name in OF_MOTES else ()))
    except DamagedFile:
        raise
    except Exception as error:  # who records another file's sum may have one that raises anything
        raise DamagedFile(
            f"{path}: cannot be read as {name} ({' '.join(str(error).split())})"
        ) from error
    return replace(data, checksum=hashlib.sha256(data.readings.round(6).tobytes()).hexdigest())


def file_of(name: str, days: Sequence[str] = DAYS) -> Path | None:
    """Return the file with the readings of a set; None if there is none.

    The extract has the default days only.
    """
    files, _ = _SETS[name]
    preferred = files if set(days) <= set(DAYS) else files[::-1]
    return next((path for file in preferred if (path := _directory() / file).is_file()), None)


def train_test(data: SensorData, fraction: float = 2 / 3) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `fraction` of the readings in time, and the rest: two arrays (rows,
    n_sensors).
    """
    checks.probability(fraction=fraction)
    cut = round(fraction * len(data.readings))
    return data.readings[:cut], data.readings[cut:]


def on_days(data: SensorData, days: Sequence[str], hour: int | None = None) -> SensorData:
    """Return the readings of these days ("YYYY-MM-DD"), or of one hour of them (8: from 8 to 9 am).

    The checksum stays that of all readings.
    """
    chosen = data.times.strftime("%Y-%m-%d").isin(days)
    if hour is not None:
        chosen &= data.times.hour == hour
    return replace(data, readings=data.readings[chosen], times=data.times[chosen])


def status() -> str:
    """Return, for people, where data is searched, which files are there, and whether they are the
    recorded ones.
    """
    lines = [f"data directory: {_directory()}"]
    for name, recorded in RECORDED.items():
        if (path := _directory() / name).is_file():
            other = _other_sum(name, path.read_bytes())
            lines.append(f"{name}, {other or f'sha256 {recorded}, as recorded'}")
    lines += [
        f"{name}: not found; a simulated substitute is used (data/README.md says more)"
        for name in _SETS
        if not file_of(name)
    ]
    return "\n".join(lines)


def download_missing() -> None:
    """Download temperature and light into data/, each unless a file is there, and check their sums.

    It gives up after BEGINS seconds without a byte, and after IN_ALL seconds. A set that arrived is
    kept; if one did not, DownloadFailed says why, and what that means. Nothing is written to
    KBREPRO_DATA. DamagedFile on a file that is there and not the recorded one.
    """
    if own := os.environ.get("KBREPRO_DATA"):
        raise DownloadFailed(
            f"KBREPRO_DATA = {own!r} is set, and fetch writes to data/ only: unset KBREPRO_DATA"
        )
    for name in URLS:
        if path := file_of(name):
            _require_recorded(path)
    begun = time.monotonic()
    arriving = {name: _download(url) for name, (_, url) in URLS.items() if not file_of(name)}
    failures = []
    for name, parts in arriving.items():
        file, url = URLS[name]
        try:
            content = _received(name, parts, begun)
            if other := _other_sum(file, content):
                raise OSError(other)
        except OSError as error:
            failures.append(f"{name} ({urlsplit(url).netloc}: {error})")
        else:
            paths.write_bytes(_directory() / file, content)
    if failures:
        raise DownloadFailed(
            f"download failed: {', '.join(failures)}; stored results are shown all the same, and"
            " quick runs play simulated data"
        )


def _download(url: str) -> Parts:
    """Parts of a file as they arrive, b"" at its end, a text if it fails.

    In a thread that is not waited for: what looks names up knows no time limit.
    """
    import requests  # here: only a download needs it

    parts = Parts()

    def run() -> None:
        try:
            with requests.get(url, stream=True, timeout=SILENT) as answer:
                answer.raise_for_status()
                # as the file is: some servers call it packed, so that it would be unpacked
                for part in answer.raw.stream(PART, decode_content=False):
                    parts.put(part)
            parts.put(b"")
        except Exception as error:  # of any library; the first cause says it shortest
            cause: BaseException = error
            while cause.__context__:
                cause = cause.__context__
            parts.put(str(cause) or repr(cause))

    threading.Thread(target=run, daemon=True).start()
    return parts


def _received(name: str, parts: Parts, begun: float) -> bytes:
    """The content of a download that was begun at a time; OSError if it fails or takes too long."""
    from tqdm import tqdm

    content, until = bytearray(), begun + BEGINS
    with tqdm(desc=name, unit="B", unit_scale=True, disable=None) as bar:
        while True:
            try:
                part = parts.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                seconds = time.monotonic() - begun
                raise OSError(f"{len(content)} bytes in {seconds:.0f} seconds") from None
            if isinstance(part, str):
                raise OSError(part)
            if not part:
                return bytes(content)
            content += part
            bar.update(len(part))
            until = begun + IN_ALL


def _require_recorded(path: Path) -> None:
    """DamagedFile unless a file below the data directory is the recorded one."""
    if other := _other_sum(path.relative_to(_directory()).as_posix(), path.read_bytes()):
        raise DamagedFile(
            f"{path} is not allowed, its {other}: remove it, or, if you know that it is right,"
            " record its sum in RECORDED of kbrepro/data/store.py"
        )


def _other_sum(file: str, content: bytes) -> str:
    """Both sums, if this content of a file below the data directory is not the recorded one."""
    found = hashlib.sha256(content).hexdigest()
    return "" if found == RECORDED[file] else f"sha256 is {found}, recorded is {RECORDED[file]}"


def _directory() -> Path:
    """The only directory to search; ProjectNotFound where this package lies in no checkout."""
    own = os.environ.get("KBREPRO_DATA")
    if own and not Path(own).is_dir():
        raise ValueError(
            f"KBREPRO_DATA = {own!r} is not allowed: it must be an existing directory, or unset"
        )
    return Path(own).absolute() if own else paths.checkout() / "data"


def _distinct(name: str, chosen: Sequence[T], allowed: Sequence[T], what: str) -> tuple[T, ...]:
    """Return the chosen values in order; ValueError unless they are distinct, and some of the
    allowed ones.
    """
    if (
        isinstance(chosen, str)
        or not len(chosen)
        or sorted(chosen) != sorted(set(chosen) & set(allowed))
    ):
        raise checks.refused(
            name, chosen, f"a list of distinct {what} from {allowed[0]} to {allowed[-1]}"
        )
    return tuple(sorted(chosen))


def simulated(name: str, days: Sequence[str], motes: Sequence[int]) -> SensorData:
    """Return the simulated substitute for a set, whether its file is there or not."""
    if name in OF_MOTES:
        step = 30 if name == "half hours" else 1
        return substitute(sets.minutes(days)[::step], list(motes), "°C", mean=22, scale=3)
    if name == "light":
        return substitute(sets.LIGHT_TIMES, sets.LIGHT_SENSORS, "Lux", mean=150, scale=40)
    return substitute(sets.slots(10), list(range(40)), "mph", mean=55, scale=8)
