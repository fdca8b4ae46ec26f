"""Information gain I(y; f) in nats: of greedy pulls, its spectral bound and its rates; the
effective dimension.
"""

import heapq
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro import checks
from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.posterior import check_noise, exact_posterior
from kbrepro.typing import Array, Integers, Kernel

#: Kernels whose rate of gamma_T is known by formula.
RATES = ("constant", "linear", "squared exponential", "matern")


def greedy_gain(
    kernel: Kernel, points: Array, noise_variance: float, horizon: int
) -> tuple[Array, Integers]:
    """Return the gain (horizon,) after each pull of the arm of largest variance, and the arms
    pulled (horizon,).

    The experimental-design rule of Srinivas et al., eq. 4, at points (A, d); its gain is at least
    (1 - 1/e) of the best (eq. 5). Ties go to the lowest arm number.
    """
    posterior = exact_posterior(kernel, points, noise_variance, horizon)
    gains, pulled = np.empty(horizon), np.empty(horizon, dtype=int)
    unit = float(kernel.diag(points).max())
    for t in range(horizon):
        pulled[t] = best_arm(posterior.variance, unit=unit)
        posterior.update(pulled[t], 0.0)  # the variance does not depend on what is observed
        gains[t] = posterior.gain
    return gains, pulled


def allocated_gain(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return 1/2 max sum_s log(1 + m_s eigenvalue_s / noise_variance), integer m_s of sum T =
    1..horizon, (horizon,).

    The maximum in Srinivas et al., eq. 8 (Lemma 7.6). The objective is concave and separable, so
    handing out the pulls one by one to the largest increment is exact. It bounds the gain of any T
    pulls (Horn's inequality). Raises ValueError unless noise variance and horizon are positive.
    """
    checks.positive(noise_variance=noise_variance)
    checks.positive_int(horizon=horizon)
    ratio = np.maximum(eigenvalues, 0.0) / noise_variance
    heap = [(-math.log1p(r), i, 0) for i, r in enumerate(ratio)]
    heapq.heapify(heap)
    increments = np.empty(horizon)
    for t in range(horizon):
        negative, i, m = heap[0]
        increments[t] = -negative
        m += 1
        heapq.heapreplace(heap, (-math.log1p(ratio[i] / (1 + m * ratio[i])), i, m))
    return 0.5 * np.cumsum(increments)


def gain_rate(kernel: str, T: float | Array, d: int, nu: float = 2.5) -> Array:
    """Return the rate of gamma_T without its constant, Srinivas et al., Theorem 5, same shape as T.

    d log T for `linear`, (log T)^(d + 1) for `squared exponential`, T^(d (d + 1) / (2 nu + d (d +
    1))) log T for `matern`, 1 for `constant`; ValueError on another kernel.
    """
    checks.one_of(RATES, kernel=kernel)
    log = np.log(T)
    rates = {"constant": 0.0 * log + 1.0, "linear": d * log, "squared exponential": log ** (d + 1)}
    return rates.get(kernel, T ** matern_exponent(d, nu) * log)


@dataclass(frozen=True)
class GainByFormula(checks.Checked):
    """factor times the rate of gamma_t (nats) without its constant, which experiments use instead
    of the gain.

    Theorems bound gamma_T only up to a constant. `kernel` as in `gain_rate`; Chowdhury & Gopalan's
    sensors have a constant. Logarithms are 0 at t = 1, whose value is used for t = 0 too.
    """

    kernel: str
    d: int = 1
    nu: float = 2.5
    factor: float = 1.0
    checked = {"kernel": partial(checks.one_of, RATES), "factor": checks.non_negative}

    def __call__(self, t: int) -> float:
        return self.factor * float(gain_rate(self.kernel, max(t, 1), self.d, self.nu))


def matern_exponent(d: int, nu: float) -> float:
    """Return d (d + 1) / (2 nu + d (d + 1)), the exponent of T in gamma_T (Srinivas et al., Theorem
    5, nu > 1).
    """
    return d * (d + 1) / (2 * nu + d * (d + 1))


def effective_dimension(kernel: Kernel, points: Array, noise_variance: float) -> float:
    """Return tr K (K + noise_variance I)^-1 of pulls at `points` (n, d), repeats allowed; at most n
    and the rank of K.

    Calandriello et al., eq. 5. Raises ValueError if noise_variance is below 1e-10 of the largest
    eigenvalue.
    """
    eigenvalues = np.maximum(eigvalsh(kernel(points, points)), 0.0)
    check_noise(noise_variance, float(eigenvalues[-1]), "an effective dimension")
    return float((eigenvalues / (eigenvalues + noise_variance)).sum())
