"""Play what is missing of a notebook's plan, label by label, without the notebook."""

import math
import shutil
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import joblib

from kbrepro import checks, paths
from kbrepro.batch.plans import with_data
from kbrepro.batch.profiles import Run
from kbrepro.trials import store
from kbrepro.trials.simulation import n_workers
from kbrepro.trials.store import PLAYED, Job, Store
from kbrepro.trials.store.settings import differences


class RunFailed(RuntimeError):
    """A notebook did not run to its end; its previous results are unchanged."""


@contextmanager
def locked(r: Run) -> Iterator[None]:
    """Keep others from playing or writing the same results; RunFailed if another does.

    What a kill left of replacing them is brought to its end first.
    """
    import fcntl  # not on Windows

    where = r.folder.relative_to(r.root).as_posix()
    lock = r.root / ".cache/locks" / where.replace("/", "-")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process
        except BlockingIOError:
            raise RunFailed(f"another run is writing {where}: wait until it ends") from None
        settle(r.folder)
        yield


def replace(folder: Path) -> None:
    """Replace the results in a folder by the whole new ones in `paths.partial_of(folder)`; what was
    played is taken along.

    A kill loses nothing at any moment: folders are renamed, and from the first renaming on the new
    results count.
    """
    folder.mkdir(exist_ok=True)
    folder.rename(_set_aside(folder))
    settle(folder)


def settle(folder: Path) -> None:
    """Go on where results were replaced, from the moment when the old ones were set aside."""
    old, new = _set_aside(folder), paths.partial_of(folder)
    if not old.is_dir():
        return
    if (old / PLAYED).is_dir():
        (old / PLAYED).rename(new / PLAYED)
    if new.is_dir():
        new.rename(folder)
    shutil.rmtree(old)


def _set_aside(folder: Path) -> Path:
    """Where the old results of a folder are until the new ones are there."""
    return folder.with_name(f".{folder.name}.old.partial")


def replaceable(runs: Sequence[Run], labels: Sequence[str]) -> list[str]:
    """Return labels that are to be played anew (`*`: all), as plans spell them; ValueError on one
    that no store has.
    """
    named = _normal(labels)
    for label in named:
        if label != "*" and not any(store.can_replace(r.played, label) for r in runs):
            kept = ["*"]
            for r in runs:
                kept += store.labels(r.played)
            checks.one_of(kept, **{"--fresh": label})
    return named


def play_missing(
    r: Run, labels: Sequence[str] = (), fresh: Sequence[str] = (), end: float = math.inf
) -> bool:
    """Play what its store lacks of a run's plan, or of these labels; return whether all is there.

    Labels in `fresh` (`*`: all) are played anew. In another profile than the full scale, what that
    has with the same settings is there. Each label is kept as it ends, and one that was interrupted
    goes on where it stopped. None is begun that is not expected to end before `end` of
    `time.monotonic`, by the CPU seconds that the same job took before. Raises ValueError on an
    unknown label, OtherSettings, and NotKept where data is not here, before anything is played.
    """
    at_full_scale = r.folder.parent.name in (paths.FULL_SCALE, paths.NEXT)
    where = r.root / f"results/{paths.FULL_SCALE}/{r.notebook}/{PLAYED}"
    own = Store(r.played, fresh)
    full = own if at_full_scale else Store(where, read_only=True)
    plan, _ = with_data(r.notebook, r.parameters, full, not at_full_scale, r.edition)
    labels = _normal(labels)
    for label in labels:
        checks.one_of(plan, label=label)
    kept, n_cores = store.labels(where), joblib.effective_n_jobs(n_workers())
    missing, n_left = {}, 0
    for label in labels or plan:
        job = plan[label].job(label)
        if not at_full_scale and isinstance(full.find(job, settings_alone=True), store.Played):
            continue
        found = own.find(job, settings_alone=True)
        if isinstance(found, store.OtherSettings):
            if at_full_scale and r.way_back:
                raise store.OtherSettings(r.way_back)
            raise found
        if found is None:
            own.require_playable(job)
            missing[label] = _seconds(job, kept.get(label)) / n_cores
    for place, (label, seconds) in enumerate(missing.items()):
        if time.monotonic() + seconds > end:
            n_left += 1
            continue
        count, rest = f"{place + 1} of {len(missing)}", [*missing.values()][place:]
        if all(rest):
            count += f", about {sum(rest) / 60:.0f} min left"
        click.echo(f"{r.notebook}: playing {label} ({count})", err=True)
        plan[label].play(label, own)
    if n_left:
        click.echo(
            f"{r.notebook}: --minutes is too short for {n_left} of {len(missing)} labels", err=True
        )
    return not n_left


def _normal(labels: Sequence[str]) -> list[str]:
    """Labels with their letters as in plans, whatever form a terminal gave them."""
    return [unicodedata.normalize("NFC", label) for label in labels]


def _seconds(job: Job, about: Mapping[str, Any] | None) -> float:
    """The CPU seconds that a job is expected to take, by what is kept of its label; 0 if that is of
    another job.
    """
    if not about or differences(about["settings"].get("job"), job.settings["job"]):
        return 0.0
    return float(about["seconds"] / about["trials"] * job.trials)
