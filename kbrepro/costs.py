"""What one step costs: BKB against exact GP-UCB, incremental or refitted, on the same pulls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.policies import UCB, bkb
from kbrepro.posterior import CovariancePosterior, Posterior, RowPosterior
from kbrepro.problems import Problem
from kbrepro.simulation import stream

#: Beyond this many arms an A x A covariance is not timed.
MOST_ARMS_OF_A_COVARIANCE = 2500


class StepSeconds(NamedTuple):
    """Seconds per step {method: (horizon,) or NaN where not timed}, and BKB's members, features, distinct arms."""

    seconds: dict[str, Array]
    members: NDArray[np.int64]
    features: NDArray[np.int64]
    distinct: NDArray[np.int64]


def step_seconds(
    seed: int,
    trial: int,
    *,
    problem: Callable[[np.random.Generator, int], Problem],
    horizon: int,
    at: list[int],
    qbar: float,
    norm: float,
    delta: float,
) -> StepSeconds:
    """Return the seconds of every step of BKB, and those of exact GP-UCB on BKB's own pulls.

    `BKB`, `exact, rows` and, for few arms, `exact, covariance` are timed at every step; `exact, refit` and
    `exact, counts` (refit on the distinct arms) after `at` pulls only. Measure it with nothing else running.
    """
    checks.positive_ints(at=at)
    instance, rng = problem(stream(seed, trial, "function"), trial), stream(seed, trial, "run")
    policy = bkb(instance, horizon, qbar=qbar, norm=norm, delta=delta)
    pulls, observations, sizes = np.empty(horizon, dtype=int), np.empty(horizon), np.empty((3, horizon), dtype=int)
    seconds = {"BKB": np.empty(horizon)}
    for t in range(horizon):
        start = time.perf_counter()
        pulls[t] = policy.ask(rng)
        asked = time.perf_counter()
        observations[t] = instance.pull(pulls[t], rng)
        told = time.perf_counter()
        policy.tell(pulls[t], observations[t])
        seconds["BKB"][t] = time.perf_counter() - told + asked - start
        sketch = policy.posterior
        sizes[:, t] = len(sketch.dictionary), sketch.n_features, np.count_nonzero(sketch.counts)
    given = instance.kernel, instance.arms, instance.noise_variance
    seconds["exact, rows"] = _exact_seconds(RowPosterior(*given), pulls, observations)
    if len(instance.arms) <= MOST_ARMS_OF_A_COVARIANCE:
        seconds["exact, covariance"] = _exact_seconds(CovariancePosterior(*given), pulls, observations)
    for name, counted in (("exact, refit", False), ("exact, counts", True)):
        seconds[name] = np.full(horizon, np.nan)
        for t in at:
            seconds[name][t - 1] = _refit_seconds(*given, pulls[:t], observations[:t], counted)
    return StepSeconds(seconds, *sizes)


def _exact_seconds(posterior: Posterior, pulls: NDArray[np.int64], observations: Array) -> Array:
    """Seconds of every update and choice; a width of 1 stands for any."""
    policy, rng, seconds = UCB(posterior, lambda t: 1.0), np.random.default_rng(0), np.empty(len(pulls))
    for t, (arm, observation) in enumerate(zip(pulls, observations, strict=True)):
        start = time.perf_counter()
        policy.ask(rng)
        policy.tell(arm, observation)
        seconds[t] = time.perf_counter() - start
    return seconds


def _refit_seconds(*job) -> float:
    """Median seconds of three refits."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        refitted(*job)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def refitted(
    kernel: Kernel,
    arms: Array,
    noise_variance: float,
    pulls: NDArray[np.int64],
    observations: Array,
    counted: bool,
) -> tuple[Array, Array]:
    """Return exact mean and variance of all arms, each (A,), from scratch; `counted`: an arm's repeats as one point."""
    points, counts = np.unique(pulls, return_counts=True) if counted else (pulls, np.ones(len(pulls)))
    means = np.bincount(pulls, observations, len(arms))[points] / counts if counted else observations
    K = kernel(arms[points], arms[points]) + np.diag(noise_variance / counts)
    L = cholesky(K, lower=True, check_finite=False)
    V = solve_triangular(L, kernel(arms[points], arms), lower=True, check_finite=False)
    mean = solve_triangular(L, means, lower=True, check_finite=False) @ V
    return mean, kernel.diag(arms) - np.einsum("ij,ij->j", V, V)
