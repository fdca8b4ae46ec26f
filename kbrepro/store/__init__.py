"""Played trials are kept, one file per label, and read instead of played again while their settings are the same.

A *label* names one call of `run_trials` or `map_trials` of a notebook. Its file `<label>.npz` holds plain arrays (see
`flat`) and, as text, the settings (see `settings`), which are also in `<label>.json` for readers. While a label
is played its finished trials are kept in `<label>.part/`, so an interrupted run goes on with the missing ones.
"""

import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kbrepro import paths
from kbrepro.kernels import Array
from kbrepro.store import edition_0_3
from kbrepro.store.flat import Leaves, flat, nested, stacked, text
from kbrepro.store.settings import differences, settings, unknown

#: Where the environment names the folder, and labels that are to be played anew (one a line, * for all).
FOLDER, FRESH = "KBREPRO_STORE", "KBREPRO_FRESH"
PLAYED = "played"
#: Columns of a file that are not of the results: what it is about, and the seconds of every trial.
ABOUT, SECONDS = "about the label", "seconds of a trial"
#: Added to the name of a column of arrays that are cut where they end.
LENGTHS = " (lengths)"
#: Bytes of a label as the name of a file.
LONGEST = 200


class OtherSettings(ValueError):
    """A label was played with settings other than those asked for."""


class NotKept(RuntimeError):
    """A label is missing in a store from which everything must be read."""


class Job(NamedTuple):
    """What one label plays: `function(Trial(seed, n))` for n = first .. first + trials - 1, described by `settings`."""

    label: str
    function: Callable[..., Any]
    settings: Any
    seed: int
    first: int
    trials: int


class Kept(NamedTuple):
    """What is kept of n trials in order: columns by path (see `flat`), and the seconds that each took, (n,).

    They are CPU seconds; those of edition 0.3.0 are wall time, on two busy cores.
    """

    columns: Leaves
    seconds: Array

    def trial(self, place: int) -> Leaves:
        """Return the leaves of the trial at a place."""
        return {path: column[place] for path, column in self.columns.items()}

    @property
    def results(self) -> list[Any]:
        """What the job returned of every trial, in mappings and lists."""
        return [nested(self.trial(place)) for place in range(len(self.seconds))]


@dataclass
class Store:
    """A folder of labels; `fresh` ones are played anew, and with `read_only` nothing is played.

    Without `keeps` other settings are played, and nothing is written. `on_read` meets every job that is read.
    """

    folder: Path
    fresh: Sequence[str] = ()
    read_only: bool = False
    keeps: bool = True
    on_read: Callable[[Job, Kept], None] | None = None
    _asked: set[str] = field(default_factory=set)

    def read(self, job: Job) -> Kept | None:
        """Return what is kept of a job, or None if it must be played.

        Raises OtherSettings, which names both settings, if they are not the same, and NotKept if nothing may be played.
        """
        fresh = job.label not in self._asked and bool({job.label, "*"} & {*self.fresh})
        self._asked.add(job.label)
        about, kept = _opened(path_of(self.folder, job.label))
        if about and about["label"] != job.label:
            raise OtherSettings(f"label {job.label!r} would replace {about['label']!r}: give it another name")
        others = differences(about["settings"], job.settings) if about else []
        if fresh:
            shutil.rmtree(_parts(self.folder, job.label), ignore_errors=True)
        elif about and not others:
            return kept
        elif about and (self.read_only or self.keeps):
            again = f'To play it again: kbrepro reproduce ... --fresh "{job.label}"'
            raise OtherSettings(f"label {job.label!r} was played with other settings: {'; '.join(others)}. {again}")
        if unknown(job.settings):
            raise NotKept(f"label {job.label!r} is not kept, and its data is not here: see data/README.md")
        if self.read_only:
            run = f"kbrepro reproduce {self.folder.parent.name[:2]} --profile {self.folder.parts[-3]}"
            raise NotKept(f"label {job.label!r} is not kept; to play it: {run}")
        return None

    def pieces(self, job: Job) -> dict[int, tuple[Leaves, float]]:
        """Return the leaves and seconds of finished trials of an interrupted job, by number."""
        pieces = {}
        for path in _parts(self.folder, job.label).glob("*.npz"):
            with suppress(ValueError):  # a damaged piece is played again
                about, kept = _opened(path)
                if about and not differences(about["settings"], job.settings):
                    pieces[about["first"]] = kept.trial(0), float(kept.seconds[0])
        return pieces

    def keep_piece(self, job: Job, number: int, leaves: Leaves, seconds: float) -> None:
        """Keep one trial of a job until all are played."""
        if self.keeps:
            about, kept = {"settings": job.settings, "first": number}, Kept(stacked([leaves]), np.array([seconds]))
            path = _parts(self.folder, job.label) / f"{number}.npz"
            paths.write_bytes(path, _packed(about, kept, zipfile.ZIP_STORED))

    def keep(self, job: Job, kept: Kept) -> None:
        """Keep a whole job, which replaces what was there completely or not at all."""
        if self.keeps:
            path = path_of(self.folder, job.label)
            about = {"label": job.label, "settings": job.settings, "first": job.first, "trials": job.trials}
            beside = about | {"seconds": round(float(kept.seconds.sum()), 3)}
            paths.write_text(path.with_suffix(".json"), json.dumps(beside, indent=1, ensure_ascii=False) + "\n")
            paths.write_bytes(path, _packed(about, kept, zipfile.ZIP_LZMA))
            shutil.rmtree(_parts(self.folder, job.label), ignore_errors=True)


_in_use: list[Store | None] = []


@contextmanager
def using(store: Store | None) -> Iterator[None]:
    """Read all trials of this process from a store, and keep them there; None: use no store."""
    _in_use.append(store)
    try:
        yield
    finally:
        _in_use.pop()


def use(store: Store) -> None:
    """Read all trials of this process from a store from now on: what a notebook does first."""
    _in_use.append(store)


def current() -> Store | None:
    """Return the store in use: that of `using`, else the folder that the environment names, else None."""
    if _in_use:
        return _in_use[-1]
    folder = os.environ.get(FOLDER)
    return _of_environment(folder, os.environ.get(FRESH, "")) if folder else None


@cache
def _of_environment(folder: str, fresh: str) -> Store:
    return Store(Path(folder), [label for label in fresh.splitlines() if label])


def remembered(name: str, data: Any) -> Any:
    """Return sensor data (`data.SensorData`) as loaded; the store in use remembers all of it but the readings.

    If the data was not found but was there when the store was filled, return what is remembered, with NaN for the
    readings, so that trials played on it can be judged and shown. Its labels match by the checksum of the readings.
    """
    if (kept_in := current()) is None:
        return data
    label = f"data, {name}"
    if not data.is_real:
        about, kept = _opened(path_of(kept_in.folder, label))
        if about is None:
            return data
        (known,) = kept.results
        known = {name: known[name] for name in ("unit", "checksum", "shape", "times", "sensors")}
        known |= {"readings": np.full(known.pop("shape"), np.nan), "sensors": known["sensors"].tolist()}
        known["times"] = type(data.times)(known["times"].astype("datetime64[ns]"))
        return replace(data, **known)
    known = {"shape": np.array(data.readings.shape), "sensors": np.array(data.sensors)}
    known["times"] = data.times.to_numpy().astype("datetime64[ns]").astype(int)
    told = {"data": data.checksum} | settings({name: known[name] for name in ("times", "sensors")})
    known |= {"unit": data.unit, "checksum": data.checksum}
    job = Job(label, remembered, told, 0, 0, 1)
    with suppress(NotKept):
        if kept_in.read(job) is None:
            kept_in.keep(job, Kept(stacked([flat(known)]), np.zeros(1)))
    return data


def labels(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what every file in a folder is about (label, settings, first, trials, seconds), by label."""
    abouts = map(_about, sorted(folder.glob("*.npz")))
    return {about["label"]: about for about in abouts if about}


def _about(path: Path) -> dict[str, Any]:
    """The text beside a label's file; empty if there is none."""
    text = path.with_suffix(".json")
    return json.loads(text.read_text(encoding="utf-8")) if text.is_file() else {}


def opened(folder: Path, label: str) -> tuple[Any, Kept]:
    """Return the settings of a label and what is kept of it; FileNotFoundError lists the kept labels."""
    about, kept = _opened(path_of(folder, label))
    if about is None:
        raise FileNotFoundError(f"label {label!r} is not kept; kept are: {', '.join(labels(folder)) or 'none'}")
    return about["settings"], kept


def path_of(folder: Path, label: str) -> Path:
    """Return the file of a label."""
    name = re.sub(r"[^\w=.,()-]+", "_", label).strip("_")
    if not 0 < len(name.encode()) <= LONGEST:
        raise ValueError(f"label {label!r} is not allowed: as a file's name it must have 1 to {LONGEST} bytes")
    return folder / f"{name}.npz"


def _parts(folder: Path, label: str) -> Path:
    return path_of(folder, label).with_suffix(".part")


def _packed(about: dict[str, Any], kept: Kept, compression: int) -> bytes:
    """The bytes of an .npz file: numpy reads it, whatever the compression."""
    names = {text(path): path for path in kept.columns}
    if len(names) < len(kept.columns) or names.keys() & {ABOUT, SECONDS}:
        raise ValueError(f"a job returned two things of one name, or one named {SECONDS!r}: {', '.join(names)}")
    members = {SECONDS: np.asarray(kept.seconds, dtype=np.float32)}
    for name, path in names.items():
        column = kept.columns[path]
        if isinstance(column, list):
            members[name + LENGTHS], column = np.array([len(part) for part in column]), np.concatenate(column)
        members[name] = column
    told = json.dumps(about | {"columns": names}, ensure_ascii=False)
    members[ABOUT] = np.frombuffer(told.encode(), np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, values in members.items():
            with archive.open(f"{name}.npy", "w") as file:  # without the time of writing: same content, same bytes
                np.lib.format.write_array(file, np.asarray(values), allow_pickle=False)
    return buffer.getvalue()


def _opened(path: Path) -> tuple[dict[str, Any] | None, Kept]:
    """What a file is about, and what is in it; None without a file, ValueError if it is damaged."""
    if not path.is_file():
        return None, Kept({}, np.empty(0))
    try:
        with path.open("rb") as bytes_of, np.load(bytes_of, allow_pickle=False) as file:
            about = json.loads(file[ABOUT].tobytes())
            if "form" in about:
                names = edition_0_3.names(about["form"])
            else:
                names = {name: _tuple(where) for name, where in about["columns"].items()}
            columns: Leaves = {where: file[name] for name, where in names.items()}
            for name, where in names.items():
                if name + LENGTHS in file.files:
                    columns[where] = np.split(columns[where], np.cumsum(file[name + LENGTHS])[:-1])
            return about, Kept(columns, file[SECONDS].astype(float))
    except PermissionError:
        raise
    except Exception as error:  # whatever reading damaged bytes raises
        place = "/".join(path.parts[-3:])
        raise ValueError(f"{place} cannot be read ({error}): restore it, or delete it to play it again") from None


def _tuple(key: Any) -> Any:
    return tuple(map(_tuple, key)) if isinstance(key, list) else key
