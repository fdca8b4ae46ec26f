"""Seconds a step against rounds t and arms A, with fitted exponents: both posterior forms, and every paper's policy.

A step is what a policy does from one pull to the next: it takes in the last observation and picks an arm. Setting up
(kernel matrices, prior factors, covers) is not timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.harness import timed
from benchmarks.peers import policy_on
from kbrepro.confidence import Chowdhury2017, Flynn2024, Srinivas2010
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import exact_chain
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.papers.pi_gp_ucb.since import growing_variance
from kbrepro.policies import ThompsonSampling
from kbrepro.posterior import CovariancePosterior, LatticePosterior, RowPosterior
from kbrepro.problems import GPDraw, Trial
from kbrepro.regret import slope
from kbrepro.simulation import rounds

#: Windows of rounds, each twice as long as the one before it: the last is the second half of the run.
WINDOWS = 4
#: Seconds for all repeats of one job.
STOP_AFTER = 20.0


def line(n_arms: int, horizon: int) -> GPDraw:
    """Return the source of draws from the prior on [0, 1], squared exponential kernel of lengthscale 0.2."""
    return GPDraw(SquaredExponential(0.2), grid(n_arms), noise_variance=0.025)


def square(n_arms: int, horizon: int, grows: bool = False) -> Bumps:
    """Return the problems of Janz et al., Table 1, d = 2; with `grows` lambda is the power of T that theory wants."""
    variance = growing_variance(horizon, 2, 1.5) if grows else 1.0
    return Bumps(Matern(0.2, nu=1.5), 2, math.isqrt(n_arms), noise_variance=variance, noise_bound=1.0)


def network(n_arms: int, horizon: int) -> Callable[[Trial], Any]:
    """Return the source of chains of three layers of norm 2."""
    return exact_chain(math.isqrt(n_arms))


class Job(NamedTuple):
    """A policy, and the source of its problems by arms and rounds."""

    policy: Callable[[Any, int], Any]
    source: Callable[[int, int], Callable[[Trial], Any]]


JOBS: dict[str, Job] = {
    "rows": Job(partial(policy_on, RowPosterior), line),
    "covariance": Job(partial(policy_on, CovariancePosterior), line),
    "GP-TS": Job(partial(ThompsonSampling, width=Srinivas2010(0.1)), line),
    "BKB": Job(partial(BKB, width=Srinivas2010(0.1), qbar=4.0), line),
    "lattice, width of 2017": Job(partial(policy_on, LatticePosterior, width=Chowdhury2017(0.1)), square),
    "lattice, narrow width": Job(
        partial(policy_on, LatticePosterior, width=Flynn2024(0.1)), partial(square, grows=True)
    ),
    "π-GP-UCB": Job(partial(PartitionedUCB, delta=0.1, nu=1.5), square),
    "GPN-UCB": Job(GPNUCB, network),
    "cEI, 1000 samples": Job(partial(SampledCascadeEI, samples=1000), network),
    "cEI, exact": Job(ExactCascadeEI, network),
}
LINE, SQUARE = ((250, 500, 1000, 2000), 1000), ((900, 2025, 4900, 10_000), 1000)
NETWORK = ((100, 225, 625, 1600), 64)


def measure(sizes: Mapping[str, tuple[Sequence[int], int]], repeats: int) -> pd.DataFrame:
    """Return a row a job {name: (arms, rounds)}: its milliseconds a step at the most arms, exponents of t and of A.

    Exponents are least-squares slopes in logarithms: of t over windows of rounds at the most arms, of A in the last
    window.
    """
    rows = []
    for name, (arms, horizon) in sizes.items():
        windows, by_size = {}, {}
        for n_arms in arms:
            windows = _windows(name, n_arms, horizon, repeats)
            if horizon in windows:
                by_size[n_arms] = windows[horizon]
        step = 1e3 * by_size[max(by_size)] if by_size else np.nan
        rows.append((name, max(arms), horizon, step, _exponent(windows), _exponent(by_size)))
    return pd.DataFrame(rows, columns=["job", "A", "t", "ms a step", "exponent of t", "exponent of A"])


def _windows(name: str, n_arms: int, horizon: int, repeats: int) -> dict[int, float]:
    """The median over repeats of the mean seconds a step, in windows of rounds by their last round."""
    policy, source = JOBS[name]
    problem = source(n_arms, horizon)(Trial(7, 0))

    def begin() -> Iterator[tuple[int, int, Any]]:
        return rounds(policy(problem.model, horizon), problem, horizon, np.random.default_rng(3))

    run = timed(begin, repeats, STOP_AFTER)
    ends = [horizon >> k for k in reversed(range(WINDOWS)) if len(run.steps[0]) >= horizon >> k]
    return {end: float(np.median([steps[end // 2 : end].mean() for steps in run.steps])) for end in ends}


def _exponent(seconds: Mapping[int, float]) -> str:
    """Slope of log seconds with its 95 % interval, in words; a dash where fewer than three points were measured."""
    if len(seconds) < 3:
        return "–"
    value, low, high = slope(np.log([*seconds]), np.log([*seconds.values()]))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


ASKS = (
    "How do seconds a step grow with rounds t and arms A? Median over repeats of the mean of the second half of the "
    "rounds; lattice, π-GP-UCB: Matérn 3/2, d = 2; networks: chains of three layers; all others: squared exponential, "
    "d = 1. Exponents with 95 % intervals of the fit."
)
#: Arms and rounds of every job.
FULL = {"sizes": dict(zip(JOBS, [LINE] * 4 + [SQUARE] * 3 + [NETWORK] * 3, strict=True)), "repeats": 3}
TOY = {"sizes": {name: ((16, 25, 36), 16) for name in JOBS}, "repeats": 1}
