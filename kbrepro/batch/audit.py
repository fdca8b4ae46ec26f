"""Audits: trials drawn from a store are played again with today's code and compared."""

import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import joblib
import numpy as np

from kbrepro.batch.profiles import Run
from kbrepro.trials import store
from kbrepro.trials.replay import allowed, experiment_of, replayed
from kbrepro.trials.simulation import workers
from kbrepro.trials.store import Job
from kbrepro.trials.store.flat import Leaves


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one
    policy of that trial.
    """

    label: str
    number: int
    policy: object
    seconds: float


class Audit(NamedTuple):
    """The audit of one notebook: how many units there are, the labels of those that were equal,
    what differs, and remarks.

    What differs by no more than another stack may (`replay.allowed`) is `told`.
    """

    notebook: str
    units: int
    equal: list[str]
    differ: list[str]
    told: list[str]
    notes: list[str]

    def __str__(self) -> str:
        """What was replayed, and every trial that differs."""
        n = len(self.equal) + len(self.differ) + len(self.told)
        first = f"{self.notebook}: {n} of {self.units} replayed, {len(self.equal)} equal"
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
    deadline = time.monotonic() + 60 * minutes
    plan, known = r.plan, store.labels(r.played)
    jobs = {label: planned.job(label) for label, planned in plan.items()}
    units: list[Unit] = []
    without = []
    for label, job in jobs.items():
        if job.without_data:
            without.append(label)
        else:
            units += _units(job, known[label]["seconds"] if label in known else 0.0)
    most, others = allowed(r.facts)
    notes = [f"{each}: another one rounds in another way" for each in others]
    if without:
        notes.append(f"not audited, their data is not here: {'; '.join(without)}")
    done = Audit(r.notebook, len(units), [], [], [], notes)
    kept = cache(lambda label: plan[label].trials_of(label, r.kept_in))
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to
    # play it
    calls = (
        joblib.delayed(_replayed)(
            unit, jobs[unit.label], kept(unit.label).trial(unit.number - plan[unit.label].first)
        )
        for unit in _order(units, np.random.default_rng(seed))
        if time.monotonic() + unit.seconds < deadline
    )
    for unit, (differ, share) in workers(pre_dispatch="n_jobs", batch_size=1)(calls):
        if differ:
            said = done.differ if share > most else done.told
            said.append(f"{unit.label}, trial {unit.number}: {differ}")
        else:
            done.equal.append(unit.label)
    return done


def _replayed(unit: Unit, job: Job, before: Leaves) -> tuple[Unit, tuple[str, float]]:
    return unit, replayed(job, unit.number, before, unit.policy)


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
