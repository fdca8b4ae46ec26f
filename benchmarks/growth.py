"""How seconds grow with rounds, arms, dimension, arms at once and layers.

GP-UCB on the problem of `peers`, on lattices, and GPN-UCB on chains, each with one size that grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import Play, Row, row, timed
from benchmarks.many_arms import MATERN, TRIAL
from benchmarks.peers import THEOREM_1, on_line
from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.kernels import grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import LatticePosterior
from kbrepro.bandits.problems import Problem, RKHSFunction
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.trials.simulation import rounds

#: A job is stopped after so many seconds.
A_JOB = 60.0
#: Points a side of the arms of a chain.
SIDE = 30


def ucb(problem: Problem, horizon: int) -> Iterable[Any]:
    """Return the rounds of GP-UCB."""
    policy = UCB(problem.model, horizon, width=THEOREM_1)
    return rounds(policy, problem, horizon, TRIAL.rng("noise"))


def lattice(side: int, d: int, horizon: int) -> Iterable[Any]:
    """Return the rounds of GP-UCB on a lattice."""
    problem = RKHSFunction(MATERN, grid(side, d), 1.0, norm=2.0, n_centres=5)(TRIAL)
    policy = UCB(problem.model, horizon, width=Chowdhury2017(delta=0.1), form=LatticePosterior)
    return rounds(policy, problem, horizon, TRIAL.rng("noise"))


def batches(problem: Problem, n: int, arms: int) -> Iterable[Any]:
    """Yield `n` arms at once, until there were so many `arms`."""
    policy = UCB(problem.model, arms, width=THEOREM_1)
    rng = TRIAL.rng("noise")
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


def grown(job: str, begin: Play, sizes: Sequence[int], repeats: int) -> pd.DataFrame:
    """Return a row for every size: seconds of the whole job, and the power of the size by which
    they grew since the size before.
    """
    rows: list[Row] = []
    for size in sizes:
        list(begin(size))  # what is done once is not timed
        run = timed(partial(begin, size), repeats, A_JOB)
        totals = [] if run.note else run.totals(len(run.items))
        rows.append(row(job, totals, run.note, size=size))
    table = pd.DataFrame(rows)
    logs = np.log(table[["median_s", "size"]]).diff()
    return table.assign(exponent=logs["median_s"] / logs["size"])


def measure(short: int, repeats: int, **sizes: Sequence[int]) -> pd.DataFrame:
    """Return a row for every job and size; `short` rounds where these do not grow."""
    problems = {n: on_line(n) for n in sizes["arms"]}
    middle = sizes["arms"][1]
    problem = problems[middle]
    n_arms = sizes["sides"][-1] ** 3
    jobs: dict[str, tuple[str, Play]] = {
        "horizons": (f"rounds, {middle} arms", partial(ucb, problem)),
        "arms": (f"arms, {short} rounds", lambda n: ucb(problems[n], short)),
        "sides": ("side of a lattice, d = 3", lambda side: lattice(side, 3, short)),
        "dimensions": (
            f"dimension of a lattice, about {n_arms} arms",
            lambda d: lattice(round(n_arms ** (1 / d)), d, short),
        ),
        "batch": (f"arms at once, {short} pulls", lambda n: batches(problem, n, short)),
        "layers": (f"layers, {short} rounds", lambda m: chain(m, short)),
    }
    return pd.concat(grown(*jobs[name], grow, repeats) for name, grow in sizes.items())


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
