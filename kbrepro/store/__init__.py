"""Played trials are kept, one file per label, and read instead of played again while their settings are the same.

A *label* names one call of `run_trials` or `map_trials` of a notebook. Its file `<label>.npz` holds plain arrays (see
`plain`) and, as text, the settings (see `settings`), which are also in `<label>.json` for readers. While a label
is played its finished jobs are kept in `<label>.part/`, so an interrupted run goes on with the missing ones.
"""

import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kbrepro import paths
from kbrepro.kernels import Array
from kbrepro.store import plain
from kbrepro.store.plain import ABOUT, SECONDS
from kbrepro.store.settings import differences, settings, unknown

#: Where the environment names the folder, and labels that are to be played anew (one a line, * for all).
FOLDER, FRESH = "KBREPRO_STORE", "KBREPRO_FRESH"
PLAYED, TIMES = "played", "trials.csv"  # beside it: what was computed, and how long it took
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
    """Results of trials, in order, and the seconds that each took, (trials,)."""

    results: list[Any]
    seconds: Array


class Store:
    """A folder of labels; `fresh` ones are played anew, and with `read_only` nothing is played.

    Without `keeps` other settings are played, and nothing is written. `on_read` meets every job that is read.
    """

    def __init__(
        self,
        folder: Path,
        fresh: Sequence[str] = (),
        read_only: bool = False,
        keeps: bool = True,
        on_read: Callable[[Job, Kept], None] | None = None,
    ) -> None:
        self.folder, self.fresh, self.read_only, self.keeps = folder, set(fresh), read_only, keeps
        self.on_read = on_read
        self._seen: dict[str, Any] = {}

    def read(self, job: Job) -> Kept | None:
        """Return what is kept of a job, or None if it must be played.

        Raises OtherSettings, which names both settings, if they are not the same, and NotKept if nothing may be played.
        """
        if job.label in self._seen and (found := differences(self._seen[job.label], job.settings)):
            raise OtherSettings(f"label {job.label!r} is used twice in this notebook: {'; '.join(found)}")
        path = path_of(self.folder, job.label)
        fresh = job.label not in self._seen and bool({job.label, "*"} & self.fresh)
        self._seen[job.label] = job.settings
        about, kept = _opened(path)
        if about and about["label"] != job.label:
            raise OtherSettings(f"label {job.label!r} would replace {about['label']!r}: give it another name")
        if fresh:
            shutil.rmtree(_parts(self.folder, job.label), ignore_errors=True)
        elif about and (self.read_only or self.keeps or not differences(about["settings"], job.settings)):
            if found := differences(about["settings"], job.settings):
                again = f'To play it again: kbrepro reproduce ... --fresh "{job.label}"'
                raise OtherSettings(f"label {job.label!r} was played with other settings: {'; '.join(found)}. {again}")
            if not self.read_only and self.keeps:
                self._finish(about)
            if self.on_read:
                self.on_read(job, kept)
            return kept
        if unknown(job.settings):
            raise NotKept(f"label {job.label!r} is not kept, and its data is not here: see data/README.md")
        if self.read_only:
            raise NotKept(f"label {job.label!r} is not kept{self._cost(job.label)}")
        return None

    def _cost(self, label: str) -> str:
        """What playing a label took before, and how to play it."""
        rows = {row["label"]: float(row["seconds"]) for row in paths.read_rows(self.folder.parent / TIMES)}
        took = f" (it took {rows[label] / 60:.1f} minutes of one core)" if label in rows else ""
        return f"; to play it{took}: kbrepro reproduce {self.folder.parent.name[:2]} --profile {self.folder.parts[-3]}"

    def pieces(self, job: Job) -> dict[int, Kept]:
        """Return finished pieces of an interrupted job, by their first trial."""
        found = {}
        for path in sorted(_parts(self.folder, job.label).glob("*.npz")):
            with suppress(ValueError):  # a damaged piece is played again
                about, kept = _opened(path)
                if about and not differences(about["settings"], job.settings):
                    found[about["first"]] = kept
        return found

    def keep_piece(self, job: Job, first: int, kept: Kept) -> None:
        """Keep the results of a job's trials from `first` on until all are there."""
        if not self.keeps:
            return
        path = _parts(self.folder, job.label) / f"{first}.npz"
        about = {"settings": job.settings, "first": first, "trials": len(kept.results)}
        paths.write_bytes(path, _packed(about, kept, zipfile.ZIP_STORED))

    def keep(self, job: Job, kept: Kept) -> None:
        """Keep a whole job and the text of its settings, which replace what was there completely or not at all."""
        if not self.keeps:
            return
        path = path_of(self.folder, job.label)
        about = {"label": job.label, "settings": job.settings, "first": job.first, "trials": job.trials}
        paths.write_bytes(path, _packed(about, kept, zipfile.ZIP_LZMA))
        self._finish(about)

    def _finish(self, about: dict[str, Any]) -> None:
        """Write next to a label's file, as text, what it is about, unless that is there; remove its pieces."""
        told = {name: value for name, value in about.items() if name != "form"}
        path = path_of(self.folder, told["label"]).with_suffix(".json")
        text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            paths.write_text(path, text)
        shutil.rmtree(_parts(self.folder, told["label"]), ignore_errors=True)


class Listener(Store):
    """A read-only store that remembers every job that was asked for, with what is kept of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, read_only=True)
        self.jobs: dict[str, tuple[Job, Kept]] = {}

    def read(self, job: Job) -> Kept | None:
        if kept := super().read(job):  # nothing is played: what is not kept has raised
            self.jobs[job.label] = job, kept
        return kept


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
        (its,) = kept.results
        readings, times = np.full(its.pop("shape"), np.nan), its.pop("times").astype("datetime64[ns]")
        known = its | {"readings": readings, "times": type(data.times)(times), "sensors": its["sensors"].tolist()}
        return replace(data, is_real=True, **known)
    times = data.times.to_numpy().astype("datetime64[ns]").astype(int)
    its = {"shape": np.array(data.readings.shape), "times": times, "sensors": np.array(data.sensors)}
    its |= {name: getattr(data, name) for name in ("unit", "source", "locations", "checksum")}
    told = {"data": data.checksum} | settings({name: its[name] for name in ("times", "sensors")})
    job = Job(label, remembered, told, 0, 0, 1)
    with suppress(NotKept):
        if Store.read(kept_in, job) is None:  # no listener: there is nothing to replay
            kept_in.keep(job, Kept([its], np.zeros(1)))
    return data


def labels(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what every file in a folder is about (label, settings, first, trials), by label."""
    abouts = [_opened(path, about_alone=True)[0] for path in sorted(folder.glob("*.npz"))]
    return {about["label"]: about for about in abouts if about}


def opened(folder: Path, label: str) -> tuple[Any, list[Any]]:
    """Return settings and results of a label; FileNotFoundError lists the kept labels."""
    about, kept = _opened(path_of(folder, label))
    if about is None:
        raise FileNotFoundError(f"label {label!r} is not kept; kept are: {', '.join(labels(folder)) or 'none'}")
    return about["settings"], kept.results


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
    form, columns = plain.columns_of(kept.results)
    text = json.dumps(about | {"form": form}, ensure_ascii=False)
    members = columns | {SECONDS: np.asarray(kept.seconds, dtype=np.float32)}
    members |= {ABOUT: np.frombuffer(text.encode(), np.uint8)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, values in members.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # without the time of writing: same content, same bytes
            entry.compress_type = compression
            with archive.open(entry, "w") as file:
                np.lib.format.write_array(file, np.asarray(values), allow_pickle=False)
    return buffer.getvalue()


def _opened(path: Path, about_alone: bool = False) -> tuple[dict[str, Any] | None, Kept]:
    """What a file is about and, unless `about_alone`, what is in it; None without a file, ValueError if damaged."""
    if not path.is_file():
        return None, Kept([], np.empty(0))
    try:
        with path.open("rb") as bytes_of, np.load(bytes_of, allow_pickle=False) as file:
            about = json.loads(file[ABOUT].tobytes())
            if about_alone:
                return about, Kept([], np.empty(0))
            columns = {name: file[name] for name in file.files if name != ABOUT}
            seconds = columns.pop(SECONDS).astype(float)
            return about, Kept(plain.results_of(about["form"], columns, len(seconds)), seconds)
    except PermissionError:
        raise
    except Exception as error:  # whatever reading damaged bytes raises
        where = "/".join(path.parts[-3:])
        raise ValueError(f"{where} cannot be read ({error}): restore it, or delete it to play it again") from None
