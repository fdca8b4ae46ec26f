"""GP-UCB on lattices of more and more arms: seconds a round and memory of every form of the
posterior, and of peers.

Arms: `grid(n, 3)`, Matérn 3/2 or for peers squared exponential of lengthscale 0.2, the width of
Chowdhury and Gopalan. Then the runs of Table 1 of Janz et al. in three dimensions, T = 10000,
beside the least that they must do: a pair of transforms for every pull, and products with the
inverse among the pulled arms.
"""

import timeit
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import kbrepro as kb
from benchmarks.harness import Job, Question
from benchmarks.peers import LENGTHSCALE, PLAYERS, ucb
from kbrepro.bandits.posterior import CovariancePosterior, DistinctPosterior, RowPosterior
from kbrepro.bandits.posterior.lattice import PENDING, PriorCovariance
from kbrepro.papers.pi_gp_ucb.measures import growing_variance
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps

#: A form is stopped after so many seconds, a run of Table 1 after so many.
A_FORM = 60.0
A_RUN = 600.0
TRIAL = kb.Trial(2020, 0)
MATERN = kb.Matern(0.2, nu=1.5)
WIDE = kb.Chowdhury2017(delta=0.1)
ROUNDS = 128
#: Points a side of Table 1, d = 3.
SIDE = 30
OWN = {
    "lattice, by FFT": kb.LatticePosterior,
    "rows": RowPosterior,
    "one row a distinct arm": DistinctPosterior,
    "covariance": CovariancePosterior,
}
#: Whose memory `tracemalloc` does not see.
TORCH = ("GPyTorch", "BoTorch")


def traced(kernel, player, side):
    """Return the rounds on a lattice, d = 3, whose memory is counted."""
    source = kb.RKHSFunction(kernel, kb.grid(side, 3), 1.0, norm=2.0, n_centres=5)
    problem = source(TRIAL)
    tracemalloc.start()
    return player(problem, ROUNDS)


def problem_of(noise_variance: float = 1.0) -> kb.Problem:
    """Return the problem of Table 1, d = 3."""
    return Bumps(MATERN, 3, SIDE, noise_variance, noise_bound=1.0)(TRIAL)


def table_1(rule, grows, horizon):
    """Return the rounds of a policy in Table 1; lambda may grow by the power of T that theory
    wants.
    """
    problem = problem_of(growing_variance(horizon, 3, 1.5) if grows else 1.0)
    return kb.rounds(rule(problem.model, horizon), problem, horizon, TRIAL.rng("noise"))


def floor(rounds: list[tuple[int, int, float]]) -> dict[str, float]:
    """Return the least that a run must do: its `distinct` arms, and seconds of a product with K for
    every pull, of the products with the inverse, and of reading it.

    Of the inverse among m arms a half is kept, 4 m^2 bytes. A new arm needs its product with a
    vector, 2 m^2 flops, and every pull adds a square, m^2 flops: by the flops of a second of a
    matrix product. As PENDING pulls share one pass over it, and the vectors between two passes
    another, it is read twice and written once in PENDING pulls: by the bytes that a sum over 400 MB
    reads in a second.
    """
    model = problem_of().model
    K = PriorCovariance(model.kernel, model.points)
    arms = [arm for _, arm, _ in rounds]
    v = np.ones(model.n_arms)
    big = np.ones(50_000_000)
    tall = np.ones((2000, PENDING))
    new = np.zeros(len(arms))
    new[np.unique(arms, return_index=True)[1]] = 1.0
    squares = new.cumsum() ** 2
    flops = squares @ (1 + 2 * new)
    read = 4 * squares.sum() * 3 / PENDING
    return {
        "distinct": new.sum(),
        "transforms_s": len(arms) * _median(lambda: K(v), 20),
        "products_s": flops * _median(lambda: tall @ tall.T, 5) / (2 * PENDING * len(tall) ** 2),
        "reading_s": read * _median(big.sum, 5) / big.nbytes,
    }


def _median(function: Callable[[], Any], times: int) -> float:
    return float(np.median(timeit.repeat(function, number=1, repeat=times)))


def beside_floor(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with arms, rounds, and the least that exact runs of Table 1 must do."""
    exact = table["job"].str.contains("width")
    table = table.join(table["items"][exact].map(floor).apply(pd.Series))
    # the inverse is read while products are made
    beside = table[["products_s", "reading_s"]].max(axis=1)
    table["of_floor"] = table["median_s"] / (table["transforms_s"] + beside)
    whole = table["job"].str.startswith("Table 1")
    table["size"] = table["size"].mask(whole, SIDE) ** 3
    table.insert(2, "t", table["items"].map(len))
    table["peak_MB"] = table["peak_MB"].mask(table["job"].isin(TORCH))
    return table.rename(columns={"size": "arms"})


GAUSSIAN = kb.SquaredExponential(LENGTHSCALE)
#: Kernel and player of every form.
FORMS = {name: (MATERN, partial(ucb, width=WIDE, form=form)) for name, form in OWN.items()}
FORMS |= {name: (GAUSSIAN, PLAYERS[name]) for name in ("scikit-learn", *TORCH)}
EXACT = partial(kb.UCB, form=kb.LatticePosterior)
#: Policies of Table 1, and whether lambda grows.
WHOLE = {
    "width of 2017": (partial(EXACT, width=WIDE), False),
    "narrow width": (partial(EXACT, width=kb.Flynn2024(delta=0.1)), True),
    "π-GP-UCB": (partial(PartitionedUCB, delta=0.1, nu=1.5), False),
}
JOBS = [
    Job(name, partial(traced, *form), (10, 20, 50, 100), 1, A_FORM, late=True)
    for name, form in FORMS.items()
]
JOBS += [
    Job(f"Table 1, d = 3, {name}", partial(table_1, *rule), (10_000,), 1, A_RUN)
    for name, rule in WHOLE.items()
]
MANY_ARMS = Question(
    "How long does a round take on a lattice of A arms, and how much memory? The last quarter of"
    f" the rounds up to t, d = 3. A job is stopped after {A_FORM:g} s, and not played on more arms."
    " Memory of torch is not counted. Table 1: whole runs; `of_floor`: seconds over the least: its"
    " transforms, and the products with the inverse at the speed of a matrix product, or reading it"
    " at the measured bandwidth, whichever is more.",
    JOBS,
    beside_floor,
)
