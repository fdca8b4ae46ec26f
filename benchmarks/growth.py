"""How seconds grow with rounds, arms, dimension, arms at once and layers.

GP-UCB on the problem of `peers`, on lattices, and GPN-UCB on chains, each with one size that grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import row, timed
from benchmarks.many_arms import MATERN, TRIAL
from benchmarks.peers import THEOREM_1, policy_on
from kbrepro.confidence import Chowdhury2017
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.posterior import LatticePosterior
from kbrepro.problems import GPDraw, Problem, RKHSFunction, Trial
from kbrepro.simulation import rounds

#: A job is stopped after so many seconds.
A_JOB = 60.0
#: Points a side of the arms of a chain.
SIDE = 30
COLUMNS = ["job", "size", "min_s", "median_s", "max_s", "exponent", "repeats", "note"]


def plain(n_arms: int) -> Problem:
    """Return the problem of `peers` with so many arms."""
    return GPDraw(SquaredExponential(0.2), grid(n_arms), noise_variance=0.025)(Trial(1, 0))


def ucb(problem: Problem, horizon: int) -> Iterable[Any]:
    """Return the rounds of GP-UCB."""
    policy = policy_on(None, problem.model, horizon, THEOREM_1)
    return rounds(policy, problem, horizon, TRIAL.rng("noise"))


def lattice(side: int, d: int, horizon: int) -> Iterable[Any]:
    """Return the rounds of GP-UCB on a lattice."""
    problem = RKHSFunction(MATERN, grid(side, d), 1.0, norm=2.0, n_centres=5)(TRIAL)
    width = Chowdhury2017(delta=0.1)
    policy = policy_on(LatticePosterior, problem.model, horizon, width)
    return rounds(policy, problem, horizon, TRIAL.rng("noise"))


def batches(problem: Problem, n: int, arms: int) -> Iterable[Any]:
    """Yield `n` arms at once, until there were so many `arms`."""
    policy, rng = policy_on(None, problem.model, arms, THEOREM_1), TRIAL.rng("noise")
    for _ in range(arms // n):
        asked = policy.ask(n)
        asked = asked if n > 1 else [asked]
        policy.tell(asked, [problem.pull(arm, rng) for arm in asked])
        yield asked


def chain(layers: int, horizon: int) -> Iterable[Any]:
    """Return the rounds of GPN-UCB on a chain."""
    source = replace(exact_chain(SIDE), widths=(1,) * layers)
    problem = source(TRIAL)
    policy = GPNUCB(problem.model, horizon)
    return rounds(policy, problem, horizon, TRIAL.rng("noise"))


def grown(
    job: str, begin: Callable[[int], Iterable[Any]], sizes: Sequence[int], repeats: int
) -> list[dict[str, Any]]:
    """Return a row for every size: seconds of the whole job, and the power of the size by which
    they grew since the size before.
    """
    rows: list[dict[str, Any]] = []
    before = np.nan
    for place, size in enumerate(sizes):
        list(begin(size))  # what is done once is not timed
        run = timed(partial(begin, size), repeats, A_JOB)
        totals = [float(steps.sum()) for steps in run.steps] if not run.note else []
        seconds = float(np.median(totals)) if totals else np.nan
        exponent = np.nan
        if place:
            exponent = np.log(seconds / before) / np.log(size / sizes[place - 1])
        rows.append(row(job, totals, run.note, size=size, exponent=exponent))
        before = seconds
    return rows


def measure(
    horizons: Sequence[int],
    arms: Sequence[int],
    sides: Sequence[int],
    dimensions: Sequence[int],
    batch: Sequence[int],
    layers: Sequence[int],
    short: int,
    repeats: int,
) -> pd.DataFrame:
    """Return a row for every job and size; `short` rounds where these do not grow."""
    problems = {n: plain(n) for n in arms}
    middle = arms[1]
    problem = problems[middle]
    n_arms = sides[-1] ** 3
    jobs: dict[str, tuple[Callable[[int], Iterable[Any]], Sequence[int]]] = {
        f"rounds, {middle} arms": (lambda T: ucb(problem, T), horizons),
        f"arms, {short} rounds": (lambda n: ucb(problems[n], short), arms),
        "side of a lattice, d = 3": (lambda side: lattice(side, 3, short), sides),
        f"dimension of a lattice, about {n_arms} arms": (
            lambda d: lattice(round(n_arms ** (1 / d)), d, short),
            dimensions,
        ),
        f"arms at once, {short} pulls": (lambda n: batches(problem, n, short), batch),
        f"layers, {short} rounds": (lambda m: chain(m, short), layers),
    }
    rows: list[dict[str, Any]] = []
    for job, (begin, sizes) in jobs.items():
        rows += grown(job, begin, sizes, repeats)
    return pd.DataFrame(rows)[COLUMNS]


ASKS = (
    "How do the seconds of a whole job grow? `exponent`: the power of the size by which they grew"
    f" since the size before. A job is stopped after {A_JOB:g} s."
)
FULL = {
    "horizons": (250, 500, 1000, 2000, 4000),
    "arms": (500, 1000, 2000, 4000),
    "sides": (12, 24, 34),
    "dimensions": (1, 2, 3, 4),
    "batch": (1, 4, 16, 32),
    "layers": (2, 3, 4, 6),
    "short": 64,
    "repeats": 3,
}
TOY = {
    "horizons": (4, 8),
    "arms": (20, 30),
    "sides": (3, 4),
    "dimensions": (1, 2),
    "batch": (1, 2),
    "layers": (2, 3),
    "short": 4,
    "repeats": 1,
}
