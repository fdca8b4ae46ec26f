"""What a step of BKB costs, and of its opponents, all of them exact. Measure with nothing else running."""

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
from kbrepro.papers.bkb.starvation import Pulls
from kbrepro.policies.base import Player, best_arm
from kbrepro.posterior import CovariancePosterior, ExactPosterior, RowPosterior
from kbrepro.problems import Model, Problem, Trial
from kbrepro.simulation import rounds, run

Source = Callable[[Trial], Problem]
Maker = Callable[[Model, int], Player]

#: Beyond this many arms an A x A covariance is not timed.
MOST_ARMS_OF_A_COVARIANCE = 2500


def cost_of_steps(
    source: Source, bkb: Callable[[Model, int], BKB], horizon: int, at: list[int], trial: Trial
) -> dict[str, pd.DataFrame]:
    """Return `seconds` of every step of `bkb` and of exact GP-UCB on its pulls, and `sizes` of its dictionary.

    Both tables have a row for every t = 1 .. horizon. Seconds: `BKB`, `exact, rows` and, for few arms, `exact,
    covariance`; `exact, refit` and `exact, counts` (refit on the distinct arms) after `at` pulls only, otherwise NaN.
    Sizes after t pulls: `members`, `features`, `distinct` arms pulled, and BKB's estimate of `d_eff`.
    """
    problem = source(trial)
    model, policy = problem.model, bkb(problem.model, horizon)
    given = model.kernel, model.points, model.noise_variance
    played, sizes, clock = [], [], [time.perf_counter()]
    for _, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        clock.append(time.perf_counter())
        played.append((arm, observation))
        sizes.append(_sizes(policy))
    sizes = [*sizes[1:], _sizes(policy)]
    seconds = {"BKB": np.diff(clock), "exact, rows": _seconds_of_following(RowPosterior(*given), played)}
    if model.n_arms <= MOST_ARMS_OF_A_COVARIANCE:
        seconds["exact, covariance"] = _seconds_of_following(CovariancePosterior(*given), played)
    pulls, observations = (np.array(part) for part in zip(*played, strict=True))
    for name, counted in (("exact, refit", False), ("exact, counts", True)):
        seconds[name] = np.full(horizon, np.nan)
        for t in at:
            refit = partial(refitted, *given, pulls[:t], observations[:t], counted)
            seconds[name][t - 1] = np.median(timeit.repeat(refit, number=1, repeat=3))
    rows = pd.RangeIndex(1, horizon + 1, name="t")
    columns = ["members", "features", "distinct", "d_eff"]
    return {"seconds": pd.DataFrame(seconds, rows), "sizes": pd.DataFrame(sizes, rows, columns=columns)}


def _sizes(policy: BKB) -> tuple[int, int, int, float]:
    sketch = policy.posterior
    return len(sketch.dictionary), sketch.n_features, int(np.count_nonzero(sketch.counts)), sketch.summed_variance


def _seconds_of_following(posterior: ExactPosterior, played: list[tuple[int, float]]) -> Array:
    """Seconds of every choice and update; a width of 1 stands for any."""
    clock = [time.perf_counter()]
    for arm, observation in played:
        best_arm(posterior.mean + posterior.sd)
        posterior.update(arm, observation)
        clock.append(time.perf_counter())
    return np.diff(clock)


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


def seconds_of_runs(source: Source, policies: Mapping[str, Maker], horizon: int, trial: Trial) -> dict[str, Any]:
    """Return the `seconds` of a whole run of every policy, each on its own pulls."""
    problem, made = source(trial), policies.items()
    traces = {name: run(make(problem.model, horizon), problem, horizon, trial.rng("run")) for name, make in made}
    return {"seconds": {name: float(trace.seconds.sum()) for name, trace in traces.items()}}
