"""Information gain I(y; f) in nats: of given pulls, of the greedy rule, and its spectral upper bounds."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.posterior import exact_posterior
from kbrepro.ties import best_arm

HALF_OVER_GREEDY = 0.5 / (1 - math.exp(-1))  # the factor of eq. 8: greedy reaches 1 - 1/e of the best


def gain(kernel: Kernel, points: Array, noise_variance: float) -> float:
    """Return 1/2 log det(I + K / noise_variance) of pulls at `points` (n, d), repeats allowed.

    Srinivas et al., Section 2.2. Raises ValueError if noise_variance is not positive.
    """
    checks.positive(noise_variance=noise_variance)
    factor = cholesky(np.eye(len(points)) + kernel(points, points) / noise_variance, lower=True)
    return float(np.log(np.diag(factor)).sum())


def greedy_gain(kernel: Kernel, arms: Array, noise_variance: float, horizon: int) -> tuple[Array, NDArray[np.int64]]:
    """Return the gain (horizon,) after each pull of the arm of largest variance, and the arms pulled (horizon,).

    The experimental-design rule of Srinivas et al., eq. 4; its gain is at least (1 - 1/e) of the best (eq. 5).
    Ties go to the lowest arm number.
    """
    posterior = exact_posterior(kernel, arms, noise_variance, horizon)
    gains, pulled = np.empty(horizon), np.empty(horizon, dtype=int)
    for t in range(horizon):
        pulled[t] = best_arm(posterior.variance)
        posterior.update(pulled[t], 0.0)  # the variance does not depend on what is observed
        gains[t] = posterior.gain
    return gains, pulled


def allocated_gain(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return 1/2 max sum_s log(1 + m_s eigenvalue_s / noise_variance) over integers sum_s m_s = T, T = 1..horizon.

    The maximum in Srinivas et al., eq. 8 (Lemma 7.6). The objective is concave and separable, so handing out the
    pulls one by one to the largest increment is exact. It bounds the gain of any T pulls (Horn's inequality).
    """
    checks.positive(noise_variance=noise_variance)
    checks.positive_int(horizon=horizon)
    ratio = np.maximum(np.asarray(eigenvalues, dtype=float), 0.0) / noise_variance
    heap = [(-math.log1p(r), i, 0) for i, r in enumerate(ratio)]
    heapq.heapify(heap)
    increments = np.empty(horizon)
    for t in range(horizon):
        negative, i, m = heap[0]
        increments[t] = -negative
        m += 1
        heapq.heapreplace(heap, (-math.log1p(ratio[i] / (1 + m * ratio[i])), i, m))
    return 0.5 * np.cumsum(increments)


def spectral_bound(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return the bound of Srinivas et al., eq. 8, on the maximal gain gamma_T for T = 1..horizon, (horizon,).

    `eigenvalues` (A,) are those of the kernel matrix of all arms.
    """
    return 2 * HALF_OVER_GREEDY * allocated_gain(eigenvalues, noise_variance, horizon)


def split_bound(eigenvalues: Array, noise_variance: float, T: int) -> float:
    """Return the bound of Srinivas et al., Lemma 7.8, on the gain of T pulls, at its best split T_*.

    (1/2) / (1 - 1/e) min over T_* of max over r of T_* log(r n / s2) + (T - r) / s2 sum of the eigenvalues after T_*,
    n the number of arms, kernel diagonal 1.
    """
    eigenvalues = np.sort(np.maximum(eigenvalues, 0.0))[::-1]
    n = len(eigenvalues)
    splits = np.arange(1, min(T, n) + 1)
    tails = eigenvalues.sum() - np.cumsum(eigenvalues)[: len(splits)]
    head = splits * math.log(n / noise_variance)
    return HALF_OVER_GREEDY * float(_worst_split(splits, head, np.maximum(tails, 0.0) / noise_variance, T).min())


def operator_bound(operator_eigenvalues: Array, noise_variance: float, T: int, tau: float) -> float:
    """Return the explicit part of Srinivas et al., Theorem 8, on [0, 1], at its best split; the O(T^(1 - tau)) term
    is left out.

    `operator_eigenvalues` as from `operator_spectrum`; n_T = C T^tau log T points with C = 2 (2 tau + 1).
    """
    C = 2 * (2 * tau + 1)
    n = C * T**tau * math.log(T)
    splits = np.arange(1, min(len(operator_eigenvalues), int(n)) + 1)
    tails = np.maximum(operator_eigenvalues.sum() - np.cumsum(operator_eigenvalues), 0.0)[: len(splits)]
    head = splits * math.log(n / noise_variance)
    rest = C / noise_variance * math.log(T) * (T ** (tau + 1) * tails + 1) / T
    return HALF_OVER_GREEDY * float(_worst_split(splits, head, rest, T).min())


def _worst_split(splits: Array, head: Array, per_pull: Array, T: int) -> Array:
    """Return max over integers r = 1..T of splits log r + head + (T - r) per_pull, for every split; concave in r."""
    with np.errstate(divide="ignore"):
        best = np.clip(splits / per_pull, 1, T)
    values = [splits * np.log(r) + head + (T - r) * per_pull for r in (np.floor(best), np.ceil(best))]
    return np.maximum(*values)


def operator_spectrum(kernel: Kernel, n_nodes: int = 1000) -> Array:
    """Return the leading eigenvalues (n_nodes,) of a kernel's operator on [0, 1] with uniform weight, descending.

    Gauss-Legendre quadrature; the eigenvalues of a kernel with k(x, x) = 1 sum to 1.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    x, root = (nodes[:, None] + 1) / 2, np.sqrt(weights / 2)
    return np.maximum(eigvalsh(root[:, None] * kernel(x, x) * root), 0.0)[::-1]


def gain_rate(kernel: str, T: Array, d: int, nu: float = 2.5) -> Array:
    """Return the rate of gamma_T without its constant, Srinivas et al., Theorem 5, same shape as T.

    d log T for `linear`, (log T)^(d + 1) for `squared exponential`, T^(d (d + 1) / (2 nu + d (d + 1))) log T for
    `matern`.
    """
    checks.one_of(("linear", "squared exponential", "matern"), kernel=kernel)
    if kernel == "linear":
        return d * np.log(T)
    if kernel == "squared exponential":
        return np.log(T) ** (d + 1)
    return T ** matern_exponent(d, nu) * np.log(T)


def matern_exponent(d: int, nu: float) -> float:
    """Return d (d + 1) / (2 nu + d (d + 1)), the exponent of T in gamma_T (Srinivas et al., Theorem 5, nu > 1)."""
    return d * (d + 1) / (2 * nu + d * (d + 1))


def effective_dimension(kernel: Kernel, points: Array, noise_variance: float) -> float:
    """Return tr K (K + noise_variance I)^-1 of pulls at `points` (n, d), repeats allowed: at most n and the rank of K.

    Calandriello et al., eq. 5. Raises ValueError if noise_variance is not positive.
    """
    checks.positive(noise_variance=noise_variance)
    eigenvalues = np.maximum(eigvalsh(kernel(points, points)), 0.0)
    return float((eigenvalues / (eigenvalues + noise_variance)).sum())
