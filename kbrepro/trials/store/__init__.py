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
#: Places of other settings that a message names.
SHOWN = 5
#: The form of the files that are written; one that says no `version` has it, or that of edition
#: 0.3.0.
VERSION = 1


class OtherSettings(ValueError):
    """A label was played with settings other than those asked for: they differ at `places`."""

    def __init__(self, message: str, places: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.places = places


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
        """Whether it cannot be played, since it is computed from readings that are not here: its
        settings lack them, or the source of its problems says so.
        """
        parts = getattr(self.function, "args", ())
        sources = [getattr(part, "problem", None) for part in parts]
        missing = any(getattr(source, "without_data", False) for source in sources)
        return missing or unknown(self.settings)


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


@dataclass
class Store:
    """A folder of labels; `fresh` ones are played anew, and with `read_only` nothing is played.

    `on_read` meets every job that is read.
    """

    folder: Path
    fresh: Sequence[str] = ()
    read_only: bool = False
    on_read: Callable[[Job, Played], None] | None = None

    def find(self, job: Job, settings_alone: bool = False) -> Played | OtherSettings | None:
        """Return what is kept of a job, or None if it is to be played, or, not raised, what says
        that its label was played with other settings.

        With `settings_alone` what is kept has no columns. Raises ValueError or FileNotFoundError if
        its file is damaged or missing, unless it is fresh, and OtherSettings if keeping it would
        replace another label.
        """
        fresh = self._is_fresh(job.label)
        path = path_of(self.folder, job.label)
        try:
            found = _opened(path, job.label, settings_alone)
        except (ValueError, FileNotFoundError):
            if not fresh:
                raise
            return None
        if found is None:
            return None
        about, kept = found
        if about["label"] != job.label:
            raise OtherSettings(
                f"label {job.label!r} would replace label {about['label']!r}: give it another name"
            )
        if fresh:
            return None
        if places := differences(about["settings"], job.settings):
            return OtherSettings(
                f"label {job.label!r} was played with other settings:"
                f" {'; '.join(places[:SHOWN])}. To play the label again:"
                f" {again(path.parent.parent, job.label)}",
                places,
            )
        return kept

    def read_or_play(self, job: Job, play: Callable[[], Played]) -> Played:
        """Return what is kept of a job, or what `play()` returns, and keep that."""
        found = self.find(job)
        if isinstance(found, OtherSettings):
            raise found
        if found is None:
            found = play()
            self.keep(job, found)
        elif self.on_read:
            self.on_read(job, found)
        return found

    def _is_fresh(self, label: str) -> bool:
        return bool({label, "*"} & {*self.fresh})

    def require_playable(self, job: Job) -> None:
        """Raise NotKept if a job that is not kept may not or cannot be played."""
        if job.without_data:
            raise NotKept(
                f"label {job.label!r} is not stored and cannot be played: its sensor data is"
                " missing (see data/README.md)"
            )
        if self.read_only:
            raise NotKept(
                f"label {job.label!r} is not stored. To play the label: `kbrepro play"
                f" {self.folder.parent.name[:2]} --profile {self.folder.parts[-3]}`"
            )

    def pieces(self, job: Job) -> dict[int, tuple[Leaves, float]]:
        """Return the leaves and seconds of finished trials of an interrupted job, by number, and
        make room for the others.

        Pieces of other settings are not taken, nor is any if the job is fresh. NotKept if it may
        not be played, OSError if nothing can be kept.
        """
        self.require_playable(job)
        parts = _parts(path_of(self.folder, job.label))
        if self._is_fresh(job.label):
            shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir(parents=True, exist_ok=True)
        pieces = {}
        for path in parts.glob("*.npz"):
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
        listed = sums.listed(self.folder)
        listed |= {file.name: sums.checksum(data) for file, data in files.items()}
        # the label's file last: if it is not there its pieces are, and the run goes on with them
        paths.write_all({self.folder / sums.NAME: sums.text(listed).encode()} | files)
        shutil.rmtree(_parts(path), ignore_errors=True)


def remembered(kept_in: Store, name: str, data: "SensorData") -> "SensorData":
    """Return sensor data (`data.SensorData`) as loaded; a store remembers all of it but the
    readings.

    If the data was not found but was there when the store was filled, return what is remembered,
    with NaN for the readings, so that trials played on it can be judged and shown. Its labels match
    by the checksum of the readings.
    """
    label = f"data, {name}"
    if not data.is_real:
        found = _opened(path_of(kept_in.folder, label), label)
        if found is None:
            return data
        (row,) = found[1].results
        return replace(
            data,
            readings=np.full(row.shape, np.nan),
            times=type(data.times)(row.times.astype("datetime64[ns]")),
            sensors=row.sensors.tolist(),
            unit=row.unit,
            checksum=row.checksum,
        )
    if kept_in.read_only:
        return data
    times = data.times.to_numpy().astype("datetime64[ns]").astype(int)
    axes = {"sensors": np.array(data.sensors), "times": times}
    job = Job(label, remembered, {"data": data.checksum} | settings(axes), 0, 0, 1)
    shape = np.array(data.readings.shape)
    row = axes | {"shape": shape, "unit": data.unit, "checksum": data.checksum}
    kept_in.read_or_play(job, lambda: Played(stacked([flat(row)]), np.zeros(1)))
    return data


def labels(folder: Path) -> dict[str, About]:
    """Return what every file in a folder is about (label, settings, first, trials, seconds), by
    label.

    A damaged or newer file is left out: whoever opens it is told.
    """
    about_labels = {}
    for path in sorted(folder.glob("*.npz")):
        with suppress(ValueError):
            about, kept = _read(path, path.stem, settings_alone=True)
            about_labels[about["label"]] = about | {"seconds": _total(kept.seconds)}
    return about_labels


def can_replace(folder: Path, label: str) -> bool:
    """Return whether a label is kept, or was and is damaged or missing."""
    path = path_of(folder, label)
    try:
        found = _opened(path, label, settings_alone=True)
    except (ValueError, FileNotFoundError):
        return True
    return found is not None and bool(found[0]["label"] == label)


def opened(folder: Path, label: str) -> tuple[Any, Played]:
    """Return the settings of a label and what is kept of it.

    FileNotFoundError lists the kept labels; ValueError if the file is damaged.
    """
    found = _opened(path_of(folder, label), label)
    if found is None:
        raise FileNotFoundError(
            f"label {label!r} is not stored; stored labels: {', '.join(labels(folder)) or 'none'}"
        )
    about, kept = found
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
    for other in folder.glob("*.npz"):
        if normalize("NFC", other.name) == path.name:
            return other
    return path


def _parts(path: Path) -> Path:
    """Where the finished trials are of a label that is being played, by its file."""
    return path.with_suffix(".part")


def again(results: Path, label: str) -> str:
    """Return the command that plays a label again, by the folder of results/PROFILE/NOTEBOOK."""
    profile, names = results.parent.name, results.name[:2]
    if not re.match("[0-9]{2}_", results.name):  # a store of a user
        names = "..."
    elif profile != paths.FULL_SCALE:
        names += f" --profile {profile}"
    command = "play" if profile == paths.NEXT else "reproduce"
    return f'`kbrepro {command} {names} --fresh "{label}"`'


def _restore(path: Path, label: str) -> str:
    return f"restore it, or play the label again: {again(path.parent.parent, label)}"


def _total(seconds: Array) -> float:
    return round(float(seconds.sum(dtype=float)), 3)


def _packed(about: About, kept: Played, compression: int) -> bytes:
    """The bytes of an .npz file: numpy reads it, whatever the compression."""
    names = {path_text(path): path for path in kept.columns}
    if len(names) < len(kept.columns) or names.keys() & {ABOUT, SECONDS}:
        raise ValueError(
            f"a job returned two values of one name, or one named {SECONDS!r}: {', '.join(names)}"
        )
    members = {SECONDS: kept.seconds.astype(np.float32)}
    for name, path in names.items():
        column = kept.columns[path]
        if isinstance(column, list):
            members[name + LENGTHS] = np.array([*map(len, column)])
            column = np.concatenate(column)
        members[name] = column
    text = json.dumps(about | {"columns": names}, ensure_ascii=False)
    members[ABOUT] = np.frombuffer(text.encode(), np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, values in members.items():
            # without the time of writing: same content, same bytes
            with archive.open(f"{name}.npy", "w") as file:
                np.save(file, values, allow_pickle=False)
    return buffer.getvalue()


def _opened(path: Path, label: str, settings_alone: bool = False) -> tuple[About, Played] | None:
    """What `_read` returns; None if a label is not kept, FileNotFoundError if it was and no run
    is replacing it.
    """
    if path.exists():
        return _read(path, label, settings_alone)
    if path.name in sums.listed(path.parent) and not _parts(path).is_dir():
        raise FileNotFoundError(
            f"{_place(path)} is missing, although SHA256SUMS lists it: {_restore(path, label)}"
        )
    return None


def _read(path: Path, label: str, settings_alone: bool = False) -> tuple[About, Played]:
    """What a file is about, and what is in it, or its seconds alone; ValueError if it is damaged
    or newer.
    """
    try:
        with path.open("rb") as opened_file, np.load(opened_file, allow_pickle=False) as file:
            about = json.loads(file[ABOUT].tobytes())
            if (version := about.get("version", VERSION)) > VERSION:
                raise NewerForm(
                    f"{_place(path)} has format {version}, and this version of kbrepro reads"
                    f" formats up to {VERSION}: update kbrepro"
                )
            columns = {} if settings_alone else _columns(about, file)
            return about, Played(columns, file[SECONDS].astype(float))
    except (PermissionError, NewerForm):
        raise
    except Exception as error:  # whatever reading damaged bytes raises
        raise ValueError(
            f"{_place(path)} cannot be read ({error}): {_restore(path, label)}"
        ) from None


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
