"""Audits: trials drawn from a store are played again with today's code and compared."""

import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import joblib
import numpy as np

from kbrepro.batch.profiles import Run
from kbrepro.trials import store
from kbrepro.trials.replay import Verified, allowed, experiment_of, verify
from kbrepro.trials.simulation import workers
from kbrepro.trials.store import Job


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a job; in an experiment one policy
    of that trial.
    """

    job: Job
    number: int
    policy: object
    seconds: float


class Audit(NamedTuple):
    """The audit of one notebook: how many units there are, which were replayed, and remarks."""

    notebook: str
    units: int
    done: list[Verified]
    notes: list[str]

    @property
    def is_green(self) -> bool:
        """Whether something was replayed and nothing of it is red."""
        return bool(self.done) and not any(trial.is_red for trial in self.done)

    def __str__(self) -> str:
        """What was replayed, and every trial that differs."""
        differ = [trial for trial in self.done if trial.differ]
        n, n_equal = len(self.done), len(self.done) - len(differ)
        first = f"{self.notebook}: {n} of {self.units} replayed, {n_equal} equal"
        if not n:
            first += ": no trial was replayed" + "; raise --minutes" * bool(self.units)
        lines = [first]
        for trial in sorted(differ, key=lambda trial: not trial.is_red):
            cause = "" if trial.is_red else ", as another numpy, scipy or processor may cause"
            lines.append(f"differs{cause}: {trial}")
        return "\n  ".join([*lines, *self.notes])


def audit_run(r: Run, minutes: float, seed: int) -> Audit:
    """Replay trials of a run's store for `minutes` > 0: one of each label first, then uniformly at
    random.

    The minutes are wall time from the call; no unit is begun whose kept seconds do not fit in what
    is left. In an experiment one policy of a trial is replayed: it has its own random streams. Arms
    and texts must be equal, other numbers to 1e-9, or to what `replay.allowed` says of this stack;
    seconds do not count. Raises NotKept on a label that the store has not.
    """
    deadline = time.monotonic() + 60 * minutes
    plan, labels, facts = r.plan, store.labels(r.played), r.facts
    units: list[Unit] = []
    without = []
    for label, planned in plan.items():
        job = planned.job(label)
        if job.without_data:
            without.append(label)
        else:
            units += _units(job, labels[label]["seconds"] if label in labels else 0.0)
    _, others = allowed(facts)
    notes = [f"{other}: last digits may differ" for other in others]
    if without:
        notes.append(f"not replayed, their sensor data is missing: {'; '.join(without)}")
    kept = cache(lambda label: plan[label].trials_of(label, r.kept_in))
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to
    # play it
    calls = (
        joblib.delayed(verify)(
            job, number, kept(job.label).trial(number - job.first), facts, policy
        )
        for job, number, policy, seconds in _order(units, np.random.default_rng(seed))
        if time.monotonic() + seconds < deadline
    )
    done = [*workers(pre_dispatch="n_jobs", batch_size=1)(calls)]
    return Audit(r.notebook, len(units), done, notes)


def _units(job: Job, seconds: float) -> Iterator[Unit]:
    """The units of a label, which took so many seconds in all."""
    experiment = experiment_of(job)
    policies = [*experiment.policies] if experiment else [None]
    share = seconds / job.trials / len(policies)
    for number in range(job.first, job.first + job.trials):
        yield from (Unit(job, number, policy, share) for policy in policies)


def _order(units: list[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.job.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.job.label])
