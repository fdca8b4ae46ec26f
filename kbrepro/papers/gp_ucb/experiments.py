"""What the notebook on GP-UCB measures, as functions that workers run; sizes and settings are passed in."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from kbrepro import checks
from kbrepro.information import greedy_gain
from kbrepro.kernels import Array, Kernel, grid
from kbrepro.problems import Rows, Trial
from kbrepro.regret import Curve, Estimate, growth, intervals

# Sensors: days tested in turn


def rotations(readings: Array) -> list[tuple[Array, Array]]:
    """Return (train, test) with each third of the readings (rows, n_sensors), consecutive rows, as test.

    The other two thirds are for training. The paper learns from the first two thirds and tests on the last. Rows beyond
    equal thirds are left out; ValueError unless each third has at least two rows.
    """
    length = len(readings) // 3
    checks.at_least(2, rows_per_part=length)
    blocks = np.reshape(readings[: 3 * length], (3, length, -1))
    return [(np.concatenate(np.delete(blocks, i, axis=0)), blocks[i]) for i in range(3)]


def sensor_problems(train: Array, test: Array, noise_variance: float) -> tuple[Rows, float]:
    """Return a source with one problem per row of `test`, and the root of the mean prior variance.

    The kernel matrix is the covariance of `train` (rows, n_sensors), whose means are removed from the rewards, as a
    prior of mean zero asks.
    """
    covariance = np.cov(train, rowvar=False)
    return Rows(covariance, test - train.mean(axis=0), noise_variance), math.sqrt(covariance.diagonal().mean())


# Trials that are stuck


def settled_at(trace: Curve) -> NDArray[np.int64]:
    """Return the one arm (trials,) that a trial pulls throughout its last tenth of rounds; -1 if there are several."""
    last = trace.arms[:, -max(1, trace.horizon // 10) :]
    return np.where(np.ptp(last, axis=1) == 0, last[:, -1], -1)


def summits(f: Array) -> NDArray[np.int64]:
    """Return, for each arm on a line, the arm (A,) where a walk uphill from it ends."""
    padded, up = np.pad(f, 1, constant_values=-np.inf), np.arange(len(f))
    up += np.where(padded[2:] > np.maximum(f, padded[:-2]), 1, np.where(padded[:-2] > f, -1, 0))
    while not np.array_equal(up, further := up[up]):
        up = further
    return up


def stuck_trials(
    traces: Mapping[str, Curve], draw: Callable[[np.random.Generator], Array], seed: int
) -> dict[str, Array]:
    """Return by rule 1.0 for trials (n,) that settled on a slope of a peak lower than the best one, else 0.0.

    `draw(rng)` draws the expected reward (A,) of a trial, as `problems.prior_draws` does.
    """
    settled = {rule: settled_at(trace) for rule, trace in traces.items()}
    stuck: dict[str, Array] = {rule: np.zeros(len(arms)) for rule, arms in settled.items()}
    for number in range(min(map(len, settled.values()))):
        f = draw(Trial(seed, number).rng("function"))
        height = f[summits(f)]
        for rule, arms in settled.items():
            stuck[rule][number] = arms[number] >= 0 and height[arms[number]] < f.max()
    return stuck


# Regret


def growth_exponent(trace: Curve, seed: int) -> Estimate:
    """Return the exponent of T in the regret over the last decade, with its interval over runs (`regret.growth`).

    Raises ValueError if T is below 10.
    """
    checks.at_least(10, horizon=trace.horizon)
    at = np.unique(np.geomspace(trace.horizon / 10, trace.horizon, 10).astype(int))
    return growth(at, trace.cumulative_regret[:, at - 1], intervals(seed))


def allowed_exponent(rate: Callable[[str, Array, int], Array], kernel: str, T: int, d: int) -> float:
    """Return the exponent of T in sqrt(T gamma_T) over the decade that ends at T, gamma by `rate` (`gain_rate`)."""
    late, early = rate(kernel, np.array([T, T / 10]), d)
    return 0.5 + 0.5 * math.log10(late / early)


# Information gain and norms


def unit_vectors(n: int, d: int, seed: int) -> Array:
    """Return n random points of norm 1 in d dimensions, (n, d)."""
    directions = np.random.default_rng([seed, d]).standard_normal((n, d))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def grid_of(n: int, d: int) -> Array:
    """Return the smallest equispaced grid on [0, 1]^d with at least n points."""
    side = round(n ** (1 / d))
    return grid(side + (side**d < n), d)


def gain_of_case(cases: Sequence[tuple[Kernel, Array, float, int]], trial: Trial) -> Array:
    """Return the greedy gain (T,) of case number `trial.number`: (kernel, points, noise variance, T)."""
    return greedy_gain(*cases[trial.number])[0]


def interpolant_norms(kernel: Kernel, sizes: Sequence[int], trial: Trial) -> Array:
    """Return, for each size n, the squared RKHS norm of the interpolant of one draw at n points of [0, 1], over n.

    The draw is made at as many points as the largest size, by the eigenvectors of K; every n must divide that size, and
    its points are evenly spaced among these. The norm of the interpolant is f^T K^-1 f.
    """
    points = grid(max(sizes))
    eigenvalues, vectors = eigh(kernel(points, points))
    f = vectors @ (np.sqrt(np.maximum(eigenvalues, 0.0)) * trial.rng("function").standard_normal(len(points)))
    norms = []
    for n in sizes:
        at = slice(None, None, len(points) // n)
        factor = cholesky(kernel(points[at], points[at]), lower=True)
        norms.append(np.sum(solve_triangular(factor, f[at], lower=True) ** 2) / n)
    return np.array(norms)
