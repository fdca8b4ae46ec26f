"""Bounds on the largest information gain, by spectrum and by formula (Srinivas et al., Section 5 and Appendix C)."""

import math
from itertools import combinations_with_replacement

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro.information import allocated_gain, gain_rate
from kbrepro.kernels import Array, Kernel

#: The factor of eq. 8: greedy pulls reach 1 - 1/e of the largest gain.
HALF_OVER_GREEDY = 0.5 / (1 - math.exp(-1))


def spectral_bound(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return the bound of Srinivas et al., eq. 8, on the maximal gain gamma_T for T = 1..horizon, (horizon,).

    `eigenvalues` (A,) are those of the kernel matrix of all arms.
    """
    return 2 * HALF_OVER_GREEDY * allocated_gain(eigenvalues, noise_variance, horizon)


def best_gain(kernel: Kernel, points: Array, noise_variance: float, T: int) -> float:
    """Return the largest gain of T pulls of points (n, d), repeats allowed, by trying all: for small n and T."""
    K = kernel(points, points)
    multisets = np.array([*combinations_with_replacement(range(len(points)), T)])
    inside = np.eye(T) + K[multisets[:, :, None], multisets[:, None]] / noise_variance
    return float(0.5 * np.linalg.slogdet(inside)[1].max())


def split_bound(eigenvalues: Array, noise_variance: float, T: int) -> float:
    """Return the bound of Srinivas et al., Lemma 7.8, on the gain of T pulls, at its best split T_*.

    (1/2) / (1 - 1/e) min over T_* of max over r of T_* log(r n / s2) + (T - r) / s2 sum of the eigenvalues after T_*,
    n the number of arms, kernel diagonal 1.
    """
    eigenvalues, n = np.sort(np.maximum(eigenvalues, 0.0))[::-1], len(eigenvalues)
    return _best_split(eigenvalues, min(T, n), n / noise_variance, 1 / noise_variance, 0.0, T)


def operator_bound(operator_eigenvalues: Array, noise_variance: float, T: int, tau: float) -> float:
    """Return the explicit part of Srinivas et al., Theorem 8, on [0, 1], at its best split.

    The O(T^(1 - tau)) term is left out. `operator_eigenvalues` as from `operator_spectrum`; n_T = C T^tau log T points
    with C = 2 (2 tau + 1).
    """
    C = 2 * (2 * tau + 1)
    n = C * T**tau * math.log(T)
    weight = C / noise_variance * math.log(T)
    return _best_split(operator_eigenvalues, int(n), n / noise_variance, weight * T**tau, weight / T, T)


def _best_split(eigenvalues: Array, most: int, scale: float, per_tail: float, more: float, T: int) -> float:
    """Return HALF_OVER_GREEDY min over s of max over r of s log(r scale) + (T - r) (per_tail tail + more).

    r = 1..T, s = 1..most, at most as many as there are eigenvalues; tail: their sum after the s largest. Concave in r.
    """
    s = np.arange(1, min(len(eigenvalues), most) + 1)
    tails = np.maximum(eigenvalues.sum() - np.cumsum(eigenvalues), 0.0)[: len(s)]
    per_pull = per_tail * tails + more
    with np.errstate(divide="ignore"):
        best = np.clip(s / per_pull, 1, T)
    worst = [s * np.log(r * scale) + (T - r) * per_pull for r in (np.floor(best), np.ceil(best))]
    return HALF_OVER_GREEDY * float(np.maximum(*worst).min())


def operator_spectrum(kernel: Kernel, n_nodes: int = 1000) -> Array:
    """Return the leading eigenvalues (n_nodes,) of a kernel's operator on [0, 1] with uniform weight, descending.

    Gauss-Legendre quadrature; the eigenvalues of a kernel with k(x, x) = 1 sum to 1.
    """
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    x, root = (nodes[:, None] + 1) / 2, np.sqrt(weights / 2)
    return np.maximum(eigvalsh(root[:, None] * kernel(x, x) * root), 0.0)[::-1]


def linear_bound(d: int, noise_variance: float, T: Array) -> Array:
    """Return (d / 2) log(1 + T / noise_variance) (nats), same shape as T.

    Bounds the gain of T pulls with the linear kernel at points of norm at most 1 in d dimensions: Srinivas et al.,
    Appendix C.3, where the largest eigenvalue of K is at most T.
    """
    return d / 2 * np.log1p(T / noise_variance)


def rate_since(kernel: str, T: Array, d: int, nu: float = 2.5) -> Array:
    """Return the rate of gamma_T known since the paper, without its constant, same shape as T; `kernel` as `gain_rate`.

    Vakili, Khezeli and Picheny (2021), arXiv 2009.06966: T^(d / (2 nu + d)) (log T)^(2 nu / (2 nu + d)) for Matérn;
    for the others Theorem 5 stands.
    """
    if kernel != "matern":
        return gain_rate(kernel, T, d)
    return T ** (d / (2 * nu + d)) * np.log(T) ** (2 * nu / (2 * nu + d))
