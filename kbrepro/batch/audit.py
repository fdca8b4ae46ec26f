"""Audits: trials drawn from a store are played again with today's code and compared."""

import contextlib
import io
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import joblib
import numpy as np
from joblib.externals.loky import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from kbrepro import checks, store
from kbrepro.batch.run import Run
from kbrepro.replay import blas_kernel, policies_of, replayed
from kbrepro.simulation import jobs_of_environment
from kbrepro.store import Job, Kept
from kbrepro.store.settings import unknown

#: Trials of a label below which its share cannot be bounded by anything worth saying.
FEWEST = 3


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one policy of that trial."""

    label: str
    number: int
    policy: Any
    seconds: float


@dataclass
class Audit:
    """The audit of one notebook: how many units each label has, how many were equal, what differs, and remarks."""

    notebook: str
    units: dict[str, int]
    equal: Counter[str] = field(default_factory=Counter)
    differ: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    def __str__(self) -> str:
        """What was replayed, what that proves, and every trial that differs."""
        n = self.equal.total() + len(self.differ)
        lines = [f"{self.notebook}: {n} of {sum(self.units.values())} replayed, {self.equal.total()} equal"]
        lines += [f"differs: {each}" for each in self.differ]
        drawn = {label: k for label, k in self.equal.items() if FEWEST <= k < self.units[label]}
        if drawn and not self.differ:
            k, label = min((k, label) for label, k in drawn.items())
            bound = f"at 95 % confidence fewer than {1 - 0.05 ** (1 / k):.0%} of its trials differ"
            lines.append(f"{label!r}, all {k} drawn are equal: {bound}; labels with more replays have lower limits")
        return "\n  ".join([*lines, *self.notes, *["it was interrupted"] * self.interrupted])


def audit(r: Run, minutes: float, seed: int) -> Audit:
    """Replay trials of a run's store for at most `minutes` > 0: one of each label first, then uniformly at random.

    The minutes are wall time from the call. At most half of them go to the cells of the notebook, which ask for labels;
    no unit is begun whose kept seconds do not fit in what is left, and one that runs past the end is left out. In an
    experiment one policy of a trial is replayed: it has its own random streams. Arms and texts must be equal, other
    numbers to 1e-9; seconds do not count. Ctrl-C ends it, too. Raises FileNotFoundError if there is no store.
    """
    checks.positive(minutes=minutes)
    half, deadline = (time.monotonic() + 60 * part * minutes for part in (0.5, 1))
    if not store.labels(r.played):
        where = r.played.relative_to(r.root).as_posix()
        raise FileNotFoundError(f"nothing is kept in {where}: first `kbrepro reproduce {r.notebook[:2]}`")
    here, notes = _here(r, half)
    units = [unit for pair in here.values() for unit in _units(*pair)]
    done = Audit(r.notebook, dict(Counter(unit.label for unit in units)), notes=notes)
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to play it
    calls = (
        (unit, job, kept.trial(unit.number - job.first))
        for unit in _order(units, np.random.default_rng(seed))
        for job, kept in [here[unit.label]]
        if time.monotonic() + unit.seconds < deadline
    )
    try:
        for unit, differences in _in_processes(calls, deadline):
            if differences:
                who = f" ({unit.policy})" if unit.policy is not None else ""
                done.differ.append(f"{unit.label}, trial {unit.number}{who}: {'; '.join(differences)}")
            else:
                done.equal[unit.label] += 1
    except KeyboardInterrupt:
        done.interrupted = True
    return done


def _here(r: Run, half: float) -> tuple[dict[str, tuple[Job, Kept]], list[str]]:
    """What a notebook asks for and can be played here, and why something was left out or may differ."""
    asked_for, missing = asked(r, deadline=half)
    here = {label: pair for label, pair in asked_for.items() if not unknown(pair[0].settings)}
    notes = [f"not everything is kept: {missing}; cells that need it were skipped"] if missing else []
    if time.monotonic() > half:
        notes.append("half of the time was over before the notebook had asked for all labels")
    if without := sorted(asked_for.keys() - here.keys()):
        notes.append(f"not audited, their data is not here: {'; '.join(without)}")
    if blas_kernel() not in (kernels := r.facts.get("blas_kernels", [])):
        played = ", ".join(kernels) or "one that is not recorded"
        notes.append(f"BLAS kernel {blas_kernel()} here, {played} when played: another one rounds in another way")
    return here, notes


def _in_processes(calls: Iterator[Any], deadline: float) -> Iterator[tuple[Unit, list[str]]]:
    """Yield what `_replayed` returns of calls, in the order in which they end; at the deadline all are stopped.

    A call is taken when a worker is free, so that the clock decides.
    """
    n = jobs_of_environment() or joblib.cpu_count()
    pool, running = ProcessPoolExecutor(n), set[Future[Any]]()
    try:
        while True:
            running |= {pool.submit(_replayed, *call) for call in islice(calls, n - len(running))}
            ended, running = wait(running, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED)
            if not ended:  # nothing is left, or no time
                return
            for future in ended:
                yield future.result()
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _replayed(unit: Unit, job: Job, before: Any) -> tuple[Unit, list[str]]:
    return unit, replayed(job, unit.number, before, unit.policy)


def asked(r: Run, until: str = "", deadline: float = np.inf) -> tuple[dict[str, tuple[Job, Kept]], str]:
    """Run a notebook's cells and return what it asks of its store, and the first label that is missing there.

    Cells that need what is not kept are skipped, and so are those after the one that asks for label `until`, and those
    that would begin after the deadline.
    """
    import jupytext
    import matplotlib.pyplot as plt

    notebook = jupytext.read(r.root / "notebooks" / f"{r.notebook}.py")
    names: dict[str, Any] = {"__name__": "__main__"}
    missing, quiet, jobs = "", contextlib.redirect_stdout(io.StringIO()), dict[str, tuple[Job, Kept]]()

    def listen(job: Job, kept: Kept) -> None:
        jobs[job.label] = job, kept

    listener = store.Store(r.played, read_only=True, on_read=listen)
    with store.using(listener), contextlib.chdir(r.root), quiet:
        plt.switch_backend("agg")
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            try:
                exec(compile(cell.source, f"{r.notebook}.py", "exec"), names)
            except store.NotKept as error:
                missing = missing or str(error)
            except Exception:
                if not missing:
                    raise
            if "parameters" in cell.metadata.get("tags", []):
                names |= r.parameters
            plt.close("all")
            if until in jobs or time.monotonic() > deadline:
                break
    return jobs, missing


def _units(job: Job, kept: Kept) -> Iterator[Unit]:
    policies = policies_of(kept)
    for place, seconds in enumerate(kept.seconds):
        yield from (Unit(job.label, job.first + place, name, seconds / len(policies)) for name in policies)


def _order(units: Sequence[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.label])
