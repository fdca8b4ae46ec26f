"""GP-UCB on lattices of more and more arms: seconds a round and memory of every form of the
posterior, and of peers.

Arms: `grid(n, 3)`, Matérn 3/2 or squared exponential of lengthscale 0.2, the width of Chowdhury and
Gopalan. Then the runs of Table 1 of Janz et al. in three dimensions, T = 10000, beside the least
that they must do: a pair of transforms for every pull, and reading the inverse among the pulled
arms for every new one.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.harness import again, row, timed
from benchmarks.peers import botorch, gpytorch, policy_on, scikit_learn
from kbrepro.confidence import Chowdhury2017, Flynn2024
from kbrepro.kernels import Kernel, Matern, SquaredExponential, grid
from kbrepro.papers.pi_gp_ucb.measures import growing_variance
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, ExactPosterior, LatticePosterior, RowPosterior
from kbrepro.posterior.lattice import PENDING, PriorCovariance
from kbrepro.problems import Model, Problem, RKHSFunction, Trial
from kbrepro.simulation import rounds

#: A form is stopped after so many seconds, a run of Table 1 after so many.
A_FORM, A_RUN = 60.0, 600.0
TRIAL, MATERN, GAUSSIAN = Trial(2020, 0), Matern(0.2, nu=1.5), SquaredExponential(0.2)
#: Kernel of every job, and how its form of the posterior is loaded.
FORMS: dict[str, tuple[Kernel, Callable[[], type[ExactPosterior]]]] = {
    "lattice, by FFT": (MATERN, lambda: LatticePosterior),
    "rows": (MATERN, lambda: RowPosterior),
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
COLUMNS += ["distinct", "transforms_s", "reading_s", "of_floor", "repeats", "note"]


def measure(sides: Sequence[int], horizon: int, table_1: tuple[int, int]) -> pd.DataFrame:
    """Return a row for every job and number of arms: seconds of its last quarter's rounds, its peak
    of memory (MB).

    Sizes: sides of the lattices, rounds of each; side and rounds of Table 1, d = 3.
    """
    rows: list[dict[str, Any]] = []
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


def _round(name: str, side: int, horizon: int) -> dict[str, Any]:
    kernel, load = FORMS[name]
    size = {"arms": side**3, "t": horizon}
    tracemalloc.start()
    try:
        problem = RKHSFunction(kernel, grid(side, 3), 1.0, norm=2.0, n_centres=5)(TRIAL)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        policy = policy_on(load(), problem.model, horizon, Chowdhury2017(delta=0.1))
        run = timed(lambda: rounds(policy, problem, horizon, TRIAL.rng("noise")), 1, A_FORM)
        peak = (tracemalloc.get_traced_memory()[1] - before) / 1e6
    except (ImportError, MemoryError) as error:
        return row(name, [], f"not measured: {error}", **size)
    finally:
        tracemalloc.stop()
    steps, peak = run.steps[0], np.nan if name in TORCH else peak
    return row(
        name, steps[3 * len(steps) // 4 :], run.note, peak_MB=peak, **size | {"t": len(steps)}
    )


def problem_of(side: int, horizon: int, grows: bool = False) -> Problem:
    """Return the problem of Table 1, d = 3; with `grows` lambda is the power of T that theory
    wants.
    """
    variance = growing_variance(horizon, 3, 1.5) if grows else 1.0
    return Bumps(MATERN, 3, side, noise_variance=variance, noise_bound=1.0)(TRIAL)


def three_dimensions(side: int, horizon: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of Table 1, d = 3: exact IGP-UCB at both widths, π-GP-UCB."""
    for name, (width, grows) in WIDTHS.items():
        problem = problem_of(side, horizon, grows)
        policy = UCB(problem.model, horizon, width=width, form=LatticePosterior)
        run = timed(
            lambda p=policy, on=problem: rounds(p, on, horizon, TRIAL.rng("noise")), 1, A_RUN
        )
        transforms, reading, distinct = floor(
            problem.model, np.array([arm for _, arm, _ in run.items])
        )
        of_floor = run.steps[0].sum() / (transforms + reading)
        size = {
            "arms": side**3,
            "t": horizon,
            "distinct": distinct,
            "transforms_s": transforms,
            "reading_s": reading,
        }
        yield row(
            f"Table 1, d = 3, {name}", run.totals(horizon), run.note, **size, of_floor=of_floor
        )
    problem = problem_of(side, horizon)
    cells = PartitionedUCB(problem.model, horizon, delta=0.1, nu=1.5)
    run = timed(lambda: rounds(cells, problem, horizon, TRIAL.rng("noise")), 1, A_RUN)
    yield row("Table 1, d = 3, π-GP-UCB", run.totals(horizon), run.note, arms=side**3, t=horizon)


def floor(model: Model, arms: NDArray[np.int64]) -> tuple[float, float, int]:
    """Return the seconds of a product with K for every pull, those of reading the inverse, and the
    distinct arms.

    Of the inverse among m arms a half is kept, 4 m^2 bytes: a new arm reads them once, and every
    PENDING-th pull reads and writes them. Divided by the bytes that a sum over 400 MB reads in a
    second.
    """
    K, v, big = (
        PriorCovariance(model.kernel, model.points),
        np.zeros(model.n_arms),
        np.ones(50_000_000),
    )
    v[:: max(len(v) // 100, 1)] = 1.0
    transform = np.median(timed(lambda: again(lambda: K(v), 20), 1).steps[0])
    a_byte = np.median(timed(lambda: again(big.sum, 5), 1).steps[0]) / big.nbytes
    new = np.zeros(len(arms))
    new[np.unique(arms, return_index=True)[1]] = 1.0
    read = 4 * new.cumsum() ** 2 @ (new + 2 / PENDING)
    return float(len(arms) * transform), float(read * a_byte), int(new.sum())


ASKS = (
    "How long does a round take on a lattice of A arms, and how much memory? The last quarter of"
    f" the rounds up to t, d = 3. A job is stopped after {A_FORM:g} s, and not played on more arms."
    " Memory of torch is not counted. Table 1: whole runs; `of_floor`: seconds over the least, its"
    " transforms and the bytes of the inverse that it must read, over the measured bandwidth."
)
FULL = {"sides": (10, 20, 50, 100), "horizon": 128, "table_1": (30, 10_000)}
TOY = {"sides": (4, 6), "horizon": 8, "table_1": (8, 40)}
