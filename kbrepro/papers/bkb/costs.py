"""The cost of a step of BKB and of its opponents, which are all exact: counted operations, and seconds.

Operations are the printed leading terms of an algorithm, with constant 1 for all: n arms, t pulls, D distinct arms
pulled, m features (the rank of the dictionary; Calandriello et al., Section 3.2, footnote 3: at most t). Measure
seconds with nothing else running.
"""

import time
import timeit
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, solve_triangular

from kbrepro.kernels import Array, Kernel
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.bkb.starvation import Pulls
from kbrepro.policies.base import Player, best_arm
from kbrepro.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.problems import Model, Problem, Trial
from kbrepro.simulation import rounds, run

Source = Callable[[Trial], Problem]
Maker = Callable[[Model, int], Player]

#: Beyond this many arms an A x A covariance is not timed.
MOST_ARMS_OF_A_COVARIANCE = 2500
SIZES = ["members", "features", "distinct", "d_eff"]


def cost_of_steps(
    source: Source, bkb: Callable[[Model, int], BKB], horizon: int, at: list[int], trial: Trial
) -> dict[str, pd.DataFrame]:
    """Return `seconds` of every step of `bkb` and of exact GP-UCB on its pulls, and `sizes` of its dictionary.

    Both tables have a row for every t = 1 .. horizon. Seconds: `BKB`, `exact, rows` and, for few arms, `exact,
    covariance`; `exact, refit` and `exact, counts` (refit on the distinct arms) after `at` pulls only, otherwise NaN.
    Sizes after t pulls: `members`, `features`, `distinct` arms pulled, and BKB's estimate of `d_eff`.
    """
    problem = source(trial)
    given = problem.model.kernel, problem.model.points, problem.model.noise_variance
    sizes, own, pulls, observations = _followed(problem, bkb(problem.model, horizon), horizon, trial)
    seconds = {"BKB": own, "exact, rows": _seconds_of_following(RowPosterior(*given), pulls, observations)}
    if problem.model.n_arms <= MOST_ARMS_OF_A_COVARIANCE:
        covariance = CovariancePosterior(*given)
        seconds["exact, covariance"] = _seconds_of_following(covariance, pulls, observations)
    for name, counted in (("exact, refit", False), ("exact, counts", True)):
        seconds[name] = np.full(horizon, np.nan)
        for t in at:
            refit = partial(refitted, *given, pulls[:t], observations[:t], counted)
            seconds[name][t - 1] = np.median(timeit.repeat(refit, number=1, repeat=3))
    return {"seconds": pd.DataFrame(seconds, sizes.index), "sizes": sizes}


def sizes_of_steps(source: Source, bkb: Callable[[Model, int], BKB], horizon: int, trial: Trial) -> pd.DataFrame:
    """Return the `sizes` of `cost_of_steps` (horizon rows) without opponents."""
    problem = source(trial)
    return _followed(problem, bkb(problem.model, horizon), horizon, trial)[0]


def _followed(problem: Problem, policy: BKB, horizon: int, trial: Trial) -> tuple[pd.DataFrame, Array, Pulls, Array]:
    """The sizes of `cost_of_steps`, and the seconds of every step, the arms and what they gave, (horizon,) each."""
    rows, played, clock = [], [], [time.perf_counter()]
    for _, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        clock.append(time.perf_counter())
        played.append((arm, observation))
        rows.append(_sizes(policy))
    rows = [*rows[1:], _sizes(policy)]  # round t + 1 begins with what is known after t pulls
    table = pd.DataFrame(rows, pd.RangeIndex(1, horizon + 1, name="t"), columns=SIZES)
    return table, np.diff(clock), *map(np.array, zip(*played, strict=True))


def _sizes(policy: BKB) -> tuple[int, int, int, float]:
    sketch = policy.posterior
    return len(sketch.dictionary), sketch.n_features, int(np.count_nonzero(sketch.counts)), sketch.summed_variance


def _seconds_of_following(posterior: ExactPosterior, pulls: Pulls, observations: Array) -> Array:
    """Seconds of every choice and update; a width of 1 stands for any."""
    clock = [time.perf_counter()]
    for arm, observation in zip(pulls.tolist(), observations.tolist(), strict=True):
        best_arm(posterior.mean + posterior.sd)
        posterior.update(arm, observation)
        clock.append(time.perf_counter())
    return np.diff(clock)


def by_step(kept: Any) -> pd.DataFrame:
    """Return a kept table with a row for every step t."""
    return pd.DataFrame(kept).set_index("t")


def operations(sizes: pd.DataFrame, n_arms: int) -> pd.DataFrame:
    """Return the operations of every step of BKB and its opponents, one row per step, from the `sizes` of one run.

    BKB (n + D) m^2 (Section 3.2); refit t^3 + n t^2 (the paper's opponent, Section 3.2); counts D^3 + n D^2, a refit on
    distinct arms; rows n t, the factor updated by one row per pull; covariance n^2, that of all arms kept.
    """
    t, m, D = sizes.index.to_numpy(float), sizes["features"], sizes["distinct"]
    columns = {"BKB": (n_arms + D) * m**2, "exact, rows": n_arms * t, "exact, covariance": float(n_arms**2)}
    columns |= {"exact, refit": t**3 + n_arms * t**2, "exact, counts": D**3 + n_arms * D**2}
    return pd.DataFrame(columns, sizes.index, dtype=float)


def refitted(
    kernel: Kernel, points: Array, noise_variance: float, pulls: Pulls, observations: Array, counted: bool
) -> tuple[Array, Array]:
    """Return exact mean and variance of all arms, each (A,), from scratch; `counted`: an arm's repeats as one point.

    Points are (A, d), pulls and observations (t,).
    """
    rows, counts = np.unique(pulls, return_counts=True) if counted else (pulls, np.ones(len(pulls)))
    means = np.bincount(pulls, observations, len(points))[rows] / counts if counted else observations
    K = kernel(points[rows], points[rows]) + np.diag(noise_variance / counts)
    L = cholesky(K, lower=True, check_finite=False)
    V = solve_triangular(L, kernel(points[rows], points), lower=True, check_finite=False)
    mean = solve_triangular(L, means, lower=True, check_finite=False) @ V
    return mean, kernel.diag(points) - np.einsum("ij,ij->j", V, V)


def cost_of_runs(source: Source, policies: Mapping[str, Maker], horizon: int, trial: Trial) -> dict[str, Any]:
    """Return `seconds` and `operations` of a whole run of every policy, each on its own pulls.

    Operations: for BKB the sum of `operations`; the others keep the row form, to which mini-GP-UCB adds a row only when
    it chooses (Calandriello et al. 2022).
    """
    problem = source(trial)
    seconds, spent, n_arms = {}, {}, problem.model.n_arms
    for name, make in policies.items():
        policy, begin = make(problem.model, horizon), time.perf_counter()
        if isinstance(policy, BKB):
            sizes = _followed(problem, policy, horizon, trial)[0]
            spent[name] = float(operations(sizes, n_arms)["BKB"].sum())
        else:
            run(policy, problem, horizon, trial.rng("run"))
            n_rows = policy.choices if isinstance(policy, MiniUCB) else horizon
            spent[name] = n_arms * n_rows * (n_rows + 1) / 2
        seconds[name] = time.perf_counter() - begin
    return {"seconds": seconds, "operations": spent}
