"""Audits: trials drawn from a store are played again with today's code and compared."""

import contextlib
import io
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import joblib
import numpy as np

from kbrepro import checks, store
from kbrepro.batch.run import Run
from kbrepro.replay import allowed, replayed
from kbrepro.simulation import n_workers
from kbrepro.store import Job, Kept
from kbrepro.store.settings import unknown


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one policy of that trial."""

    label: str
    number: int
    policy: Any
    seconds: float


class Audit(NamedTuple):
    """The audit of one notebook: how many units each label has, how many were equal, what differs, and remarks.

    What differs by no more than another stack may (`replay.allowed`) is `told`.
    """

    notebook: str
    units: Counter[str]
    equal: Counter[str]
    differ: list[str]
    told: list[str]
    notes: list[str]

    def __str__(self) -> str:
        """What was replayed, and every trial that differs."""
        n = self.equal.total() + len(self.differ) + len(self.told)
        first = f"{self.notebook}: {n} of {self.units.total()} replayed, {self.equal.total()} equal"
        if not n:
            first += ": nothing was audited" + "; give it more --minutes" * bool(self.units)
        differ = [f"differs: {each}" for each in self.differ]
        told = [f"differs as another stack may: {each}" for each in self.told]
        return "\n  ".join([first, *differ, *told, *self.notes])


def audit(r: Run, minutes: float, seed: int) -> Audit:
    """Replay trials of a run's store for `minutes` > 0: one of each label first, then uniformly at random.

    The minutes are wall time from the call, in which the notebook's cells ask for their labels, too; no unit is begun
    whose kept seconds do not fit in what is left. In an experiment one policy of a trial is replayed: it has its own
    random streams. Arms and texts must be equal, other numbers to 1e-9, or to what `replay.allowed` says of this
    stack; seconds do not count. Raises NotKept on a label that the store has not.
    """
    checks.positive(minutes=minutes)
    deadline, all_jobs = time.monotonic() + 60 * minutes, asked(r)
    jobs = {label: pair for label, pair in all_jobs.items() if not unknown(pair[0].settings)}
    notes = []
    if without := sorted(all_jobs.keys() - jobs.keys()):
        notes.append(f"not audited, their data is not here: {'; '.join(without)}")
    most, others = allowed(r.facts)
    notes += [f"{each}: another one rounds in another way" for each in others]
    units = [unit for pair in jobs.values() for unit in _units(*pair)]
    done = Audit(r.notebook, Counter(unit.label for unit in units), Counter(), [], [], notes)
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to play it
    calls = (
        joblib.delayed(_replayed)(unit, job, kept.trial(unit.number - job.first))
        for unit in _order(units, np.random.default_rng(seed))
        for job, kept in [jobs[unit.label]]
        if time.monotonic() + unit.seconds < deadline
    )
    parallel = joblib.Parallel(n_workers(), return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    for unit, (differ, share) in parallel(calls):
        if differ:
            said = done.differ if share > most else done.told
            said.append(f"{unit.label}, trial {unit.number}: {'; '.join(differ)}")
        else:
            done.equal[unit.label] += 1
    return done


def _replayed(unit: Unit, job: Job, before: Any) -> tuple[Unit, tuple[list[str], float]]:
    return unit, replayed(job, unit.number, before, unit.policy)


def asked(r: Run, until: str = "") -> dict[str, tuple[Job, Kept]]:
    """Run a notebook's cells, up to the one that asks for label `until`, and return what they ask of its store."""
    import jupytext
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": "__main__"}
    jobs: dict[str, tuple[Job, Kept]] = {}
    listener = store.Store(r.played, read_only=True, on_read=lambda job, kept: jobs.update({job.label: (job, kept)}))
    with store.using(listener), contextlib.chdir(r.root), contextlib.redirect_stdout(io.StringIO()):
        plt.switch_backend("agg")
        for cell in jupytext.read(r.root / "notebooks" / f"{r.notebook}.py").cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{r.notebook}.py", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= r.parameters
            plt.close("all")
            if until in jobs:
                break
    return jobs


def _units(job: Job, kept: Kept) -> Iterator[Unit]:
    policies = [*dict.fromkeys(path[1] for path in kept.columns if path[:1] == ("policies",))] or [None]
    for place, seconds in enumerate(kept.seconds):
        yield from (Unit(job.label, job.first + place, name, seconds / len(policies)) for name in policies)


def _order(units: list[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.label])
