"""Played trials are kept, one file per label, and read instead of played again while their settings
are the same.

A *label* names one call of `run_trials` or `map_trials` of a notebook. Its file `<label>.npz` holds
plain arrays (see `flat`) and, as text, the settings (see `settings`), which are also in
`<label>.json` for readers; `SHA256SUMS` has the checksums of all. While a label is played its
finished trials are kept in `<label>.part/`, so an interrupted run goes on with the missing ones.
"""

import io
import json
import os
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

import numpy as np

from kbrepro import paths
from kbrepro.trials import sums
from kbrepro.trials.store import edition_0_3
from kbrepro.trials.store.flat import Leaves, flat, nested, path_text, stacked
from kbrepro.trials.store.settings import differences, settings, unknown
from kbrepro.typing import Array

if TYPE_CHECKING:  # it loads pandas
    from kbrepro.data import SensorData

PLAYED = "played"
#: What a file is about: label, settings, first, trials.
About = dict[str, Any]
#: Columns of a file that are not of the results: what it is about, and the seconds of every trial.
ABOUT, SECONDS = "about the label", "seconds of a trial"
#: Added to the name of a column of arrays that are cut where they end.
LENGTHS = " (lengths)"
#: Bytes of a label as the name of a file.
LONGEST = 200
#: The form of the files that are written; one that says no `version` has it, or that of edition
#: 0.3.0.
VERSION = 1


class OtherSettings(ValueError):
    """A label was played with settings other than those asked for."""


class NotKept(RuntimeError):
    """A label is missing in a store from which everything must be read."""


class NewerForm(ValueError):
    """A file was written by a later version of kbrepro."""


class Job(NamedTuple):
    """What one label plays: `function(Trial(seed, n))` for n = first .. first + trials - 1,
    described by `settings`.
    """

    label: str
    function: Callable[..., object]
    settings: Any
    seed: int
    first: int
    trials: int

    @property
    def without_data(self) -> bool:
        """Whether it cannot be played, since it is computed from readings that are not here."""
        return unknown(self.settings)


class Played(NamedTuple):
    """What is kept of n trials in order: columns by path (see `flat`), and the seconds that each
    took, (n,).

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


NOTHING = Played({}, np.empty(0))


@dataclass
class Store:
    """A folder of labels; `fresh` ones are played anew, and with `read_only` nothing is played.

    `on_read` meets every job that is read.
    """

    folder: Path
    fresh: Sequence[str] = ()
    read_only: bool = False
    on_read: Callable[[Job, Played], None] | None = None

    def read(self, job: Job) -> Played | None:
        """Return what is kept of a job, or None if it must be played.

        Raises OtherSettings, which names both settings, if they are not the same, and NotKept if
        nothing may be played. Raises ValueError or FileNotFoundError if its file is damaged or
        missing, unless it is fresh, and OSError, before anything is played, if it could not be
        kept.
        """
        kept, parts = self._known(job), _parts(path_of(self.folder, job.label))
        if kept is None:
            if self._is_fresh(job.label):
                shutil.rmtree(parts, ignore_errors=True)
            parts.mkdir(parents=True, exist_ok=True)
        return kept

    def lacks(self, job: Job) -> bool:
        """Return whether a job must be played; raises what `read` does."""
        return self._known(job, settings_alone=True) is None

    def has(self, job: Job) -> bool:
        """Return whether a job is kept with these settings; ValueError if its file is damaged."""
        return self.others(job) == []

    def others(self, job: Job, most: int = 1) -> list[str] | None:
        """Return where a job's settings differ from those that are kept; None if its label is not
        kept.
        """
        about, _ = _opened(self.folder, job.label, settings_alone=True)
        return None if about is None else differences(about["settings"], job.settings, most)

    def _is_fresh(self, label: str) -> bool:
        return bool({label, "*"} & {*self.fresh})

    def _known(self, job: Job, settings_alone: bool = False) -> Played | None:
        """What `read` returns; nothing is changed."""
        fresh = self._is_fresh(job.label)
        try:
            about, kept = _opened(self.folder, job.label, settings_alone)
        except (ValueError, FileNotFoundError):
            if not fresh:
                raise
            about, kept = None, NOTHING
        if about and about["label"] != job.label:
            raise OtherSettings(
                f"label {job.label!r} would replace {about['label']!r}: give it another name"
            )
        if about and not fresh:
            if others := differences(about["settings"], job.settings):
                raise OtherSettings(
                    f"label {job.label!r} was played with other settings: {'; '.join(others)}. To"
                    f" play it again: {_again(job.label)}"
                )
            return kept
        if job.without_data:
            raise NotKept(
                f"label {job.label!r} is not kept, and its data is not here: see data/README.md"
            )
        if self.read_only:
            raise NotKept(
                f"label {job.label!r} is not kept; to play it: kbrepro play"
                f" {self.folder.parent.name[:2]} --profile {self.folder.parts[-3]}"
            )
        return None

    def pieces(self, job: Job) -> dict[int, tuple[Leaves, float]]:
        """Return the leaves and seconds of finished trials of an interrupted job, by number."""
        pieces = {}
        for path in _parts(path_of(self.folder, job.label)).glob("*.npz"):
            with suppress(ValueError):  # a damaged piece is played again
                about, kept = _read(path, job.label)
                if not differences(about["settings"], job.settings):
                    pieces[about["first"]] = kept.trial(0), float(kept.seconds[0])
        return pieces

    def keep_piece(self, job: Job, number: int, leaves: Leaves, seconds: float) -> None:
        """Keep one trial of a job until all are played."""
        about = {"version": VERSION, "settings": job.settings, "first": number}
        kept = Played(stacked([leaves]), np.array([seconds]))
        path = _parts(path_of(self.folder, job.label)) / f"{number}.npz"
        paths.write_bytes(path, _packed(about, kept, zipfile.ZIP_STORED))

    def keep(self, job: Job, kept: Played) -> None:
        """Keep a whole job, which replaces what was there completely or not at all."""
        path = path_of(self.folder, job.label)
        about = {"version": VERSION, "label": job.label, "settings": job.settings}
        about |= {"first": job.first, "trials": job.trials}
        beside = json.dumps(about | {"seconds": _total(kept.seconds)}, indent=1, ensure_ascii=False)
        files = {
            path.with_suffix(".json"): f"{beside}\n".encode(),
            path: _packed(about, kept, zipfile.ZIP_LZMA),
        }
        with _keeping:
            known = sums.listed(self.folder) | {
                each.name: sums.checksum(data) for each, data in files.items()
            }
            # the label's file last: if it is not there its pieces are, and the run goes on with
            # them
            paths.write_all({self.folder / sums.NAME: sums.text(known).encode()} | files)
        shutil.rmtree(_parts(path), ignore_errors=True)


#: Held while labels are kept: two may end at once.
_keeping = threading.Lock()


def remembered(kept_in: Store, name: str, data: "SensorData") -> "SensorData":
    """Return sensor data (`data.SensorData`) as loaded; a store remembers all of it but the
    readings.

    If the data was not found but was there when the store was filled, return what is remembered,
    with NaN for the readings, so that trials played on it can be judged and shown. Its labels match
    by the checksum of the readings.
    """
    label = f"data, {name}"
    if not data.is_real:
        about, kept = _opened(kept_in.folder, label)
        if about is None:
            return data
        (known,) = kept.results
        return replace(
            data,
            readings=np.full(known.shape, np.nan),
            times=type(data.times)(known.times.astype("datetime64[ns]")),
            sensors=known.sensors.tolist(),
            unit=known.unit,
            checksum=known.checksum,
        )
    times = data.times.to_numpy().astype("datetime64[ns]").astype(int)
    axes = {"sensors": np.array(data.sensors), "times": times}
    job = Job(label, remembered, {"data": data.checksum} | settings(axes), 0, 0, 1)
    if not kept_in.read_only and kept_in.read(job) is None:
        shape = np.array(data.readings.shape)
        known = axes | {"shape": shape, "unit": data.unit, "checksum": data.checksum}
        kept_in.keep(job, Played(stacked([flat(known)]), np.zeros(1)))
    return data


def labels(folder: Path) -> dict[str, About]:
    """Return what every file in a folder is about (label, settings, first, trials, seconds), by
    label.

    A damaged or newer file is left out: whoever opens it is told.
    """
    told = {}
    for path in sorted(folder.glob("*.npz")):
        with suppress(ValueError):
            about, kept = _read(path, path.stem, settings_alone=True)
            told[about["label"]] = about | {"seconds": _total(kept.seconds)}
    return told


def can_replace(folder: Path, label: str) -> bool:
    """Return whether a label is kept, or was and is damaged or missing."""
    path = path_of(folder, label)
    try:
        about, _ = _read(path, label, settings_alone=True)
        return bool(about["label"] == label)
    except ValueError:
        return _was_kept(path)


def _was_kept(path: Path) -> bool:
    """Whether a label's file is there or, without it, what is beside it or its checksum."""
    return (
        path.is_file()
        or path.with_suffix(".json").is_file()
        or path.name in sums.listed(path.parent)
    )


def opened(folder: Path, label: str) -> tuple[Any, Played]:
    """Return the settings of a label and what is kept of it.

    FileNotFoundError lists the kept labels; ValueError if the file is damaged.
    """
    about, kept = _opened(folder, label)
    if about is None:
        raise FileNotFoundError(
            f"label {label!r} is not kept; kept are: {', '.join(labels(folder)) or 'none'}"
        )
    return about["settings"], kept


def path_of(folder: Path, label: str) -> Path:
    """Return the file of a label; an archive may have brought its name in another Unicode form."""
    name = re.sub(r"[^\w=.,()-]+", "_", normalize("NFC", label)).strip("_")
    if not 0 < len(name.encode()) <= LONGEST:
        raise ValueError(
            f"label {label!r} is not allowed: as a file's name it must have 1 to {LONGEST} bytes"
        )
    path = folder / f"{name}.npz"
    if path.is_file():
        return path
    return next(
        (each for each in folder.glob("*.npz") if normalize("NFC", each.name) == path.name), path
    )


def _parts(path: Path) -> Path:
    """Where the finished trials are of a label that is being played, by its file."""
    return path.with_suffix(".part")


def _again(label: str) -> str:
    return f'kbrepro reproduce ... --fresh "{label}"'


def _restore(label: str) -> str:
    return f"restore it, or play it again: {_again(label)}"


def _total(seconds: Array) -> float:
    return round(float(seconds.sum(dtype=float)), 3)


def _packed(about: About, kept: Played, compression: int) -> bytes:
    """The bytes of an .npz file: numpy reads it, whatever the compression."""
    names = {path_text(path): path for path in kept.columns}
    if len(names) < len(kept.columns) or names.keys() & {ABOUT, SECONDS}:
        raise ValueError(
            f"a job returned two things of one name, or one named {SECONDS!r}: {', '.join(names)}"
        )
    members = {SECONDS: kept.seconds.astype(np.float32)}
    for name, path in names.items():
        column = kept.columns[path]
        if isinstance(column, list):
            members[name + LENGTHS] = np.array([*map(len, column)])
            column = np.concatenate(column)
        members[name] = column
    told = json.dumps(about | {"columns": names}, ensure_ascii=False)
    members[ABOUT] = np.frombuffer(told.encode(), np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, values in members.items():
            # without the time of writing: same content, same bytes
            with archive.open(f"{name}.npy", "w") as file:
                np.save(file, values, allow_pickle=False)
    return buffer.getvalue()


def _opened(folder: Path, label: str, settings_alone: bool = False) -> tuple[About | None, Played]:
    """What the file of a label is about, and what is in it; None if it never was there.

    ValueError if it is damaged or newer, FileNotFoundError if it should be there,
    IsADirectoryError.
    """
    path = path_of(folder, label)
    for each in (path, path.with_suffix(".json"), path.with_name(sums.NAME)):
        if each.is_dir():
            raise IsADirectoryError(
                f"{_place(each)} is a folder, in the place of a file: move it away"
            )
    if not path.is_file():
        if _was_kept(path) and not _parts(path).is_dir():
            raise FileNotFoundError(
                f"{_place(path)} is missing, although it was kept: {_restore(label)}"
            )
        return None, NOTHING
    return _read(path, label, settings_alone)


def _read(path: Path, label: str, settings_alone: bool = False) -> tuple[About, Played]:
    """What a file is about, and what is in it, or its seconds alone; ValueError if it is damaged
    or newer.
    """
    try:
        with path.open("rb") as opened_file, np.load(opened_file, allow_pickle=False) as file:
            about = json.loads(file[ABOUT].tobytes())
            if (version := about.get("version", VERSION)) > VERSION:
                raise NewerForm(
                    f"{_place(path)} has form {version}, and this version of kbrepro reads forms up"
                    f" to {VERSION}: update kbrepro"
                )
            columns = {} if settings_alone else _columns(about, file)
            return about, Played(columns, file[SECONDS].astype(float))
    except (PermissionError, NewerForm):
        raise
    except Exception as error:  # whatever reading damaged bytes raises
        raise ValueError(f"{_place(path)} cannot be read ({error}): {_restore(label)}") from None


def _columns(about: About, file: np.lib.npyio.NpzFile) -> Leaves:
    if "form" in about:
        names = edition_0_3.names(about["form"])
    else:
        names = {name: _tuple(where) for name, where in about["columns"].items()}
    columns: Leaves = {}
    for name, where in names.items():
        columns[where] = file[name]
        if name + LENGTHS in file:
            columns[where] = np.split(columns[where], np.cumsum(file[name + LENGTHS])[:-1])
    return columns


def _place(path: Path) -> str:
    return "/".join(path.parts[-3:])


def _tuple(key: object) -> Any:
    return tuple(map(_tuple, key)) if isinstance(key, list) else key
