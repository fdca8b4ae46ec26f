"""Bounds on the largest information gain (Srinivas et al., Section 5 and Appendix C)."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro.bandits.information import allocated_gain, gain_rate, greedy_gain, matern_exponent
from kbrepro.bandits.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Trial
from kbrepro.typing import Array, Kernel

#: Kernel, points (A, d), noise variance and number of pulls.
Case = tuple[Kernel, Array, float, int]
#: The factor of eq. 8: greedy pulls reach 1 - 1/e of the largest gain.
HALF_OVER_GREEDY = 0.5 / (1 - math.exp(-1))


def spectral_bound(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return the bound of Srinivas et al., eq. 8, on gamma_T for T = 1 .. horizon, (horizon,).

    gamma_T is the largest gain of T pulls; `eigenvalues` (A,) are those of all arms' kernel matrix.
    """
    return 2 * HALF_OVER_GREEDY * allocated_gain(eigenvalues, noise_variance, horizon)


def split_bound(eigenvalues: Array, noise_variance: float, T: int) -> float:
    """Return the bound of Srinivas et al., Lemma 7.8, on the gain of T pulls, at its best T_*.

    (1/2) / (1 - 1/e) min over T_* of max over r of T_* log(r n / s2) + (T - r) / s2 sum of the
    eigenvalues after T_*, n the number of arms, kernel diagonal 1. As printed: false
    where n / s2 is small (docs/errors.md).
    """
    falling = np.sort(np.maximum(eigenvalues, 0.0))[::-1]
    n = len(falling)
    splits = np.arange(1, min(T, n) + 1)
    left = np.maximum(falling.sum() - falling.cumsum(), 0.0)
    tails = left[: len(splits)] / noise_variance
    r = np.arange(1, T + 1)[:, None]
    gains = splits * np.log(r * n / noise_variance) + (T - r) * tails
    return HALF_OVER_GREEDY * float(gains.max(axis=0).min())


def unit_vectors(n: int, d: int, seed: int) -> Array:
    """Return n random points of norm 1 in d dimensions, (n, d)."""
    directions = np.random.default_rng([seed, d]).standard_normal((n, d))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def four_gains(
    n_arms: int, noise_variance: float, horizon: int, seed: int
) -> dict[str, tuple[Array, Array]]:
    """Return greedy gain (horizon,) and spectrum (n_arms,) of each kernel of Fig. 3.

    The kernel whose eigenvalues decay most slowly is the first.
    """
    line = grid(n_arms)
    kernels: dict[str, tuple[Kernel, Array]] = {
        "independent": (Independent(), line),
        "Matérn 2.5": (Matern(0.2, nu=2.5), line),
        "squared exponential": (SquaredExponential(0.2), line),
        "linear": (Linear(), unit_vectors(n_arms, 4, seed)),
    }
    gains: dict[str, tuple[Array, Array]] = {}
    for name, (kernel, points) in kernels.items():
        greedy, _ = greedy_gain(kernel, points, noise_variance, horizon)
        gains[name] = greedy, eigvalsh(kernel(points, points))[::-1]
    return gains


def grid_of(n: int, d: int) -> Array:
    """Return the smallest equispaced grid on [0, 1]^d with at least n points."""
    side = round(n ** (1 / d))
    return grid(side + (side**d < n), d)


def gain_of_case(cases: Sequence[Case], trial: Trial) -> Array:
    """Return the greedy gain (T,) of case number `trial.number`."""
    return greedy_gain(*cases[trial.number])[0]


def allowed_exponent(kernel: str, T: int, d: int) -> float:
    """Return the exponent of T in sqrt(T gamma_T) over the decade that ends at T (`gain_rate`)."""
    late, early = gain_rate(kernel, np.array([T, T / 10]), d)
    return 0.5 + 0.5 * math.log10(late / early)


def matern_regret_exponents(d: int, nu: float) -> dict[str, float]:
    """Return the exponent of T in the regret of GP-UCB, Matérn kernel: Srinivas et al., Fig. 1, and
    since Vakili et al. (2021).
    """
    return {"the paper": (1 + matern_exponent(d, nu)) / 2, "since": (nu + d) / (2 * nu + d)}
