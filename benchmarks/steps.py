"""Seconds a step against rounds t and arms A, with fitted exponents: both posterior forms, and every paper's policy.

A step is what a policy does from one pull to the next: it takes in the last observation and picks an arm. Setting up
(kernel matrices, prior factors, covers) is not timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmarks.harness import Aim, Question, row, timed
from benchmarks.peers import policy_on
from kbrepro import figures
from kbrepro.confidence import Bayes, Improved, Tighter
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
    "GP-TS": Job(partial(ThompsonSampling, width=Bayes(0.1)), line),
    "BKB": Job(partial(BKB, width=Bayes(0.1), qbar=4.0), line),
    "lattice, width of 2017": Job(partial(policy_on, LatticePosterior, width=Improved(0.1)), square),
    "lattice, narrow width": Job(partial(policy_on, LatticePosterior, width=Tighter(0.1)), partial(square, grows=True)),
    "π-GP-UCB": Job(partial(PartitionedUCB, delta=0.1, nu=1.5), square),
    "GPN-UCB": Job(GPNUCB, network),
    "cEI, 1000 samples": Job(partial(SampledCascadeEI, samples=1000), network),
    "cEI, exact": Job(ExactCascadeEI, network),
}
#: Whose look in the papers' figures a job has.
LIKE = {
    "rows": "exact",
    "covariance": "mini-GP-UCB",
    "GP-TS": "GP-TS",
    "BKB": "BKB",
    "lattice, width of 2017": "IGP-UCB",
    "lattice, narrow width": "IGP-UCB, both",
    "π-GP-UCB": "π-GP-UCB",
    "GPN-UCB": "GPN-UCB",
    "cEI, 1000 samples": "cEI",
    "cEI, exact": "cEI, exact",
}
LINE, SQUARE = ((250, 500, 1000, 2000), 1000), ((900, 2025, 4900, 10_000), 1000)
NETWORK = ((100, 225, 625, 1600), 64)
#: Arms and rounds of every job.
FULL = dict(zip(JOBS, [LINE] * 4 + [SQUARE] * 3 + [NETWORK] * 3, strict=True))


def measure(sizes: Mapping[str, tuple[Sequence[int], int]], repeats: int) -> pd.DataFrame:
    """Return a row for every job, number of arms and window of rounds: mean seconds a step up to round `t`."""
    rows = []
    for name, (arms, horizon) in sizes.items():
        for n_arms in arms:
            rows += _windows(name, n_arms, horizon, repeats)
    return pd.DataFrame(rows)


def _windows(name: str, n_arms: int, horizon: int, repeats: int) -> list[dict[str, Any]]:
    policy, source = JOBS[name]
    problem = source(n_arms, horizon)(Trial(7, 0))

    def begin():
        return rounds(policy(problem.model, horizon), problem, horizon, np.random.default_rng(3))

    run, found = timed(begin, repeats, STOP_AFTER), []
    for k in reversed(range(WINDOWS)):
        first, last = horizon >> (k + 1), horizon >> k
        seconds = [float(steps[first:last].mean()) for steps in run.steps if len(steps) >= last]
        found.append(row(name, seconds, run.note, arms=problem.model.n_arms, t=last))
    return found


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Return per job its median seconds a step at the largest size, and the exponents of t (there) and A (last t).

    Each is the least-squares slope in logarithms over the windows, or over the numbers of arms.
    """
    found = []
    for name, its in table.dropna(subset="median_s").groupby("job", sort=False):
        last, most = its[its["t"] == its["t"].max()], its[its["arms"] == its["arms"].max()]
        fits = [_exponent(most["t"], most["median_s"]), _exponent(last["arms"], last["median_s"])]
        step = most["median_s"].iloc[-1]
        found.append((name, most["arms"].iloc[-1], most["t"].iloc[-1], f"{1e3 * step:.3g}", *fits))
    return pd.DataFrame(found, columns=["job", "A", "t", "ms a step", "exponent of t", "exponent of A"])


def _exponent(x: pd.Series, y: pd.Series) -> str:
    """Slope of log y on log x with its 95 % interval, in words; a dash where fewer than three points were measured."""
    if len(x) < 3:
        return "–"
    value, low, high = slope(np.log(x.to_numpy(float)), np.log(y.to_numpy()))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def draw(table: pd.DataFrame) -> Figure:
    """Return the milliseconds a step over t at the most arms, and over A in the last window."""
    figure, (over_t, over_a) = plt.subplots(1, 2, figsize=(figures.WIDTH, 4.4), sharey=True)
    table, markers = table.dropna(subset="median_s"), "osD^v<>PX*"
    for marker, (name, its) in zip(markers, table.groupby("job", sort=False), strict=False):
        last, most = its[its["t"] == its["t"].max()], its[its["arms"] == its["arms"].max()]
        look = figures.look(LIKE[name]) | {"label": name, "marker": marker, "markersize": 4}
        over_t.plot(most["t"], 1e3 * most["median_s"], **look)
        over_a.plot(last["arms"], 1e3 * last["median_s"], **look)
    over_t.set(xscale="log", yscale="log", xlabel="round t (at the most arms)", ylabel="milliseconds a step (median)")
    over_a.set(xscale="log", xlabel="arms A (second half of the rounds)")
    for ax in (over_t, over_a):
        ax.xaxis.set_minor_formatter(NullFormatter())
    figures.label_ends(over_a)
    step = 1e3 * table.groupby("job", sort=False)["median_s"].last()
    span = f"{step.min():.2g} ms ({step.idxmin()}) to {step.max():.3g} ms ({step.idxmax()})"
    figure.suptitle(f"At the largest sizes a step takes {span}")
    return figure


def aims(table: pd.DataFrame) -> list[Aim]:
    """No aim was set: how seconds grow is only measured."""
    return []


QUESTION = Question(
    "steps",
    "How do seconds a step grow with rounds t and arms A? Mean over a window of rounds that ends at t, median over "
    "repeats; lattice, π-GP-UCB: Matérn 3/2, d = 2; networks: chains of three layers; all others: squared "
    "exponential, d = 1. Exponents with 95 % intervals of the fit; all rows are in the CSV.",
    measure,
    {"sizes": FULL, "repeats": 3},
    {"sizes": {name: ((16, 25, 36), 16) for name in JOBS}, "repeats": 1},
    draw,
    exponents,
    aims,
)
