"""GP-UCB on lattices of more and more arms: seconds a round and memory of every form of the
posterior, and of peers.

Arms: `grid(n, 3)`, Matérn 3/2 or squared exponential of lengthscale 0.2, the width of Chowdhury and
Gopalan. Then the runs of Table 1 of Janz et al. in three dimensions, T = 10000, beside the least
that they must do: a pair of transforms for every pull, and products with the inverse among the
pulled arms.
"""

from __future__ import annotations

import timeit
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.harness import Row, row, timed
from benchmarks.peers import botorch, gpytorch, scikit_learn
from kbrepro.bandits.confidence import Chowdhury2017, Flynn2024
from kbrepro.bandits.kernels import Kernel, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import (
    CovariancePosterior,
    DistinctPosterior,
    ExactPosterior,
    LatticePosterior,
    RowPosterior,
)
from kbrepro.bandits.posterior.lattice import PENDING, PriorCovariance
from kbrepro.bandits.problems import Model, Problem, RKHSFunction, Trial
from kbrepro.papers.pi_gp_ucb.measures import growing_variance
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.trials.simulation import rounds

#: A form is stopped after so many seconds, a run of Table 1 after so many.
A_FORM = 60.0
A_RUN = 600.0
TRIAL = Trial(2020, 0)
MATERN = Matern(0.2, nu=1.5)
GAUSSIAN = SquaredExponential(0.2)
#: Kernel of every job, and how its form of the posterior is loaded.
FORMS: dict[str, tuple[Kernel, Callable[[], type[ExactPosterior]]]] = {
    "lattice, by FFT": (MATERN, lambda: LatticePosterior),
    "rows": (MATERN, lambda: RowPosterior),
    "one row a distinct arm": (MATERN, lambda: DistinctPosterior),
    "covariance": (MATERN, lambda: CovariancePosterior),
    "scikit-learn": (GAUSSIAN, scikit_learn),
    "GPyTorch": (GAUSSIAN, gpytorch),
    "BoTorch": (GAUSSIAN, botorch),
}
#: Whose memory `tracemalloc` does not see.
TORCH = ("GPyTorch", "BoTorch")
#: The widths of exact IGP-UCB, each with whether lambda grows with T.
WIDTHS: dict[str, tuple[Callable[[Any], float], bool]] = {
    "width of 2017": (Chowdhury2017(delta=0.1), False),
    "narrow width": (Flynn2024(delta=0.1), True),
}
COLUMNS = ["job", "arms", "t", "min_s", "median_s", "max_s", "peak_MB"]
COLUMNS += ["distinct", "transforms_s", "products_s", "reading_s", "of_floor", "repeats", "note"]


def measure(sides: Sequence[int], horizon: int, table_1: tuple[int, int]) -> pd.DataFrame:
    """Return a row for every job and number of arms: seconds of its last quarter's rounds, its peak
    of memory (MB).

    Sizes: sides of the lattices, rounds of each; side and rounds of Table 1, d = 3.
    """
    rows: list[Row] = []
    for side in sides:
        late = {each["job"] for each in rows if "stopped" in each["note"]}
        for name in FORMS:
            size = {"arms": side**3, "t": horizon}
            rows.append(
                row(name, [], "was stopped on fewer arms", **size)
                if name in late
                else _round(name, side, horizon)
            )
    return pd.DataFrame([*rows, *three_dimensions(*table_1)], columns=COLUMNS)


def _round(name: str, side: int, horizon: int) -> Row:
    kernel, load = FORMS[name]
    size = {"arms": side**3, "t": horizon}
    tracemalloc.start()
    try:
        problem = RKHSFunction(kernel, grid(side, 3), 1.0, norm=2.0, n_centres=5)(TRIAL)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        width = Chowdhury2017(delta=0.1)
        policy = UCB(problem.model, horizon, width=width, form=load())
        run = timed(partial(rounds, policy, problem, horizon, TRIAL.rng("noise")), 1, A_FORM)
        peak = (tracemalloc.get_traced_memory()[1] - before) / 1e6
    except (ImportError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and name not in TORCH:  # which ends so without memory
            raise
        return row(name, [], f"not measured: {error}", **size)
    finally:
        tracemalloc.stop()
    steps = run.steps[0]
    size = {"arms": side**3, "t": len(steps), "peak_MB": np.nan if name in TORCH else peak}
    return row(name, steps[3 * len(steps) // 4 :], run.note, **size)


def problem_of(side: int, noise_variance: float = 1.0) -> Problem:
    """Return the problem of Table 1, d = 3."""
    return Bumps(MATERN, 3, side, noise_variance, noise_bound=1.0)(TRIAL)


def three_dimensions(side: int, horizon: int) -> Iterator[Row]:
    """Yield the rows of Table 1, d = 3: exact IGP-UCB at both widths, π-GP-UCB."""
    size = {"arms": side**3, "t": horizon}
    for name, (width, grows) in WIDTHS.items():
        # the power of T that theory wants
        problem = problem_of(side, growing_variance(horizon, 3, 1.5) if grows else 1.0)
        policy = UCB(problem.model, horizon, width=width, form=LatticePosterior)
        run = timed(partial(rounds, policy, problem, horizon, TRIAL.rng("noise")), 1, A_RUN)
        least = floor(problem.model, np.array([arm for _, arm, _ in run.items]))
        # the inverse is read while products are made
        beside = max(least["products_s"], least["reading_s"])
        of_floor = run.steps[0].sum() / (least["transforms_s"] + beside)
        facts = size | least | {"of_floor": of_floor}
        yield row(f"Table 1, d = 3, {name}", run.totals(horizon), run.note, **facts)
    problem = problem_of(side)
    cells = PartitionedUCB(problem.model, horizon, delta=0.1, nu=1.5)
    run = timed(partial(rounds, cells, problem, horizon, TRIAL.rng("noise")), 1, A_RUN)
    yield row("Table 1, d = 3, π-GP-UCB", run.totals(horizon), run.note, **size)


def floor(model: Model, arms: NDArray[np.int64]) -> dict[str, float]:
    """Return the least that a run must do: its `distinct` arms, and seconds of a product with K for
    every pull, of the products with the inverse, and of reading it.

    Of the inverse among m arms a half is kept, 4 m^2 bytes. A new arm needs its product with a
    vector, 2 m^2 flops, and every pull adds a square, m^2 flops: by the flops of a second of a
    matrix product. As PENDING pulls share one pass over it, and the vectors between two passes
    another, it is read twice and written once in PENDING pulls: by the bytes that a sum over 400 MB
    reads in a second.
    """
    K = PriorCovariance(model.kernel, model.points)
    v = np.zeros(model.n_arms)
    v[:: max(len(v) // 100, 1)] = 1.0
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


ASKS = (
    "How long does a round take on a lattice of A arms, and how much memory? The last quarter of"
    f" the rounds up to t, d = 3. A job is stopped after {A_FORM:g} s, and not played on more arms."
    " Memory of torch is not counted. Table 1: whole runs; `of_floor`: seconds over the least: its"
    " transforms, and the products with the inverse at the speed of a matrix product, or reading it"
    " at the measured bandwidth, whichever is more."
)
FULL = {"sides": (10, 20, 50, 100), "horizon": 128, "table_1": (30, 10_000)}
TOY = {"sides": (4, 6), "horizon": 8, "table_1": (8, 40)}
