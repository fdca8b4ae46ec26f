"""Play what is missing of a notebook's plan, label by label, without the notebook."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import joblib

from kbrepro import checks, paths, store
from kbrepro.batch.profiles import Run
from kbrepro.plans import with_data
from kbrepro.simulation import n_workers
from kbrepro.store import PLAYED, Store


class RunFailed(RuntimeError):
    """A notebook did not run to its end; its previous results are unchanged."""


@contextmanager
def locked(r: Run) -> Iterator[None]:
    """Keep others from playing or writing the same results; RunFailed if another does."""
    import fcntl  # not on Windows

    where = r.folder.relative_to(r.root).as_posix()
    lock = r.root / ".cache" / "locks" / where.replace("/", "-")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process
        except BlockingIOError:
            raise RunFailed(f"another run is writing {where}") from None
        yield


def play(r: Run, labels: Sequence[str] = (), fresh: Sequence[str] = (), minutes: float = math.inf) -> bool:
    """Play what its store lacks of a run's plan, or of these labels; return whether all is there.

    Labels in `fresh` (`*`: all) are played anew. No label is begun that is not expected to end within the
    minutes. Each label is kept as it ends, and one that was interrupted goes on where it stopped.
    ValueError on an unknown label.
    """
    at_full_scale = r.folder.parent.name == paths.FULL_SCALE
    full = Store(r.root / "results" / paths.FULL_SCALE / r.notebook / PLAYED, read_only=not at_full_scale)
    own = full if at_full_scale else Store(r.played)
    plan, _ = with_data(r.notebook, r.parameters, full, short=not at_full_scale)
    for label in labels:
        checks.one_of(tuple(plan), label=label)
    own.fresh = fresh
    wanted = {label: plan[label] for label in labels or plan}
    missing = {}
    for label, planned in wanted.items():
        job = planned.job(label)
        elsewhere = own is not full and not fresh and full.has(job)
        if not elsewhere and not own.has(job):
            missing[label] = planned
    known = {label: about["seconds"] for label, about in store.labels(full.folder).items()}
    start, left = time.monotonic(), sum(known.get(label, 0.0) for label in missing)
    for place, (label, planned) in enumerate(missing.items()):
        expected = known.get(label, 0.0) / n_cores()
        if time.monotonic() - start + expected > 60 * minutes:
            print(f"{r.notebook}: {len(missing) - place} labels left", file=sys.stderr, flush=True)
            return False
        told = f"{place + 1} of {len(missing)}, about {left / 60 / n_cores():.0f} minutes left"
        print(f"{r.notebook}: {label} ({told})", file=sys.stderr, flush=True)
        planned.play(label, own)
        left -= known.get(label, 0.0)
    return True


def n_cores() -> int:
    """Return how many trials are played at once."""
    return joblib.effective_n_jobs(n_workers())
