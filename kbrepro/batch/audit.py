"""Audits: trials drawn from a store are played again with today's code and compared."""

import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import joblib
import numpy as np

from kbrepro import checks, store
from kbrepro.batch.profiles import Run
from kbrepro.plans import plan_of, remembering
from kbrepro.replay import allowed, experiment_of, replayed
from kbrepro.simulation import workers
from kbrepro.store import Job, Played, Store
from kbrepro.store.flat import Leaves


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one
    policy of that trial.
    """

    label: str
    number: int
    policy: object
    seconds: float


class Audit(NamedTuple):
    """The audit of one notebook: how many units each label has, how many were equal, what differs,
    and remarks.

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


def audit_run(r: Run, minutes: float, seed: int) -> Audit:
    """Replay trials of a run's store for `minutes` > 0: one of each label first, then uniformly at
    random.

    The minutes are wall time from the call; no unit is begun whose kept seconds do not fit in what
    is left. In an experiment one policy of a trial is replayed: it has its own random streams. Arms
    and texts must be equal, other numbers to 1e-9, or to what `replay.allowed` says of this stack;
    seconds do not count. Raises NotKept on a label that the store has not.
    """
    checks.positive(minutes=minutes)
    deadline = time.monotonic() + 60 * minutes
    kept_in = Store(r.played, read_only=True)
    plan = plan_of(r.notebook, r.parameters, remembering(kept_in))
    all_jobs = {label: planned.job(label) for label, planned in plan.items()}
    jobs = {label: job for label, job in all_jobs.items() if not job.without_data}
    notes = []
    if without := sorted(all_jobs.keys() - jobs.keys()):
        notes.append(f"not audited, their data is not here: {'; '.join(without)}")
    most, others = allowed(r.facts)
    notes += [f"{each}: another one rounds in another way" for each in others]
    seconds = {label: about["seconds"] for label, about in store.labels(r.played).items()}
    units: list[Unit] = []
    for label, job in jobs.items():
        units += _units(job, seconds.get(label, 0.0))
    kept = cache(lambda label: kept_in.read(jobs[label]))
    done = Audit(r.notebook, Counter(unit.label for unit in units), Counter(), [], [], notes)
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to
    # play it
    calls = (
        joblib.delayed(_replayed)(
            unit, jobs[unit.label], _trial(kept(unit.label), jobs[unit.label], unit)
        )
        for unit in _order(units, np.random.default_rng(seed))
        if time.monotonic() + unit.seconds < deadline
    )
    for unit, (differ, share) in workers(pre_dispatch="n_jobs", batch_size=1)(calls):
        if differ:
            said = done.differ if share > most else done.told
            said.append(f"{unit.label}, trial {unit.number}: {'; '.join(differ)}")
        else:
            done.equal[unit.label] += 1
    return done


def _replayed(unit: Unit, job: Job, before: Leaves) -> tuple[Unit, tuple[list[str], float]]:
    return unit, replayed(job, unit.number, before, unit.policy)


def _trial(kept: Played | None, job: Job, unit: Unit) -> Leaves:
    assert kept is not None  # a store that may only be read
    return kept.trial(unit.number - job.first)


def _units(job: Job, seconds: float) -> Iterator[Unit]:
    """The units of a label, which took so many seconds in all."""
    experiment = experiment_of(job)
    policies = [*experiment.policies] if experiment else [None]
    each = seconds / job.trials / len(policies)
    for number in range(job.first, job.first + job.trials):
        yield from (Unit(job.label, number, name, each) for name in policies)


def _order(units: list[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.label])
