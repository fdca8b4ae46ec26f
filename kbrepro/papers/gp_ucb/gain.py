"""Bounds on the largest information gain, by spectrum and by formula (Srinivas et al., Section 5 and Appendix C)."""

import math

import numpy as np

from kbrepro.information import allocated_gain, gain_rate
from kbrepro.kernels import Array

#: The factor of eq. 8: greedy pulls reach 1 - 1/e of the largest gain.
HALF_OVER_GREEDY = 0.5 / (1 - math.exp(-1))


def spectral_bound(eigenvalues: Array, noise_variance: float, horizon: int) -> Array:
    """Return the bound of Srinivas et al., eq. 8, on the maximal gain gamma_T for T = 1..horizon, (horizon,).

    `eigenvalues` (A,) are those of the kernel matrix of all arms.
    """
    return 2 * HALF_OVER_GREEDY * allocated_gain(eigenvalues, noise_variance, horizon)


def split_bound(eigenvalues: Array, noise_variance: float, T: int) -> float:
    """Return the bound of Srinivas et al., Lemma 7.8, on the gain of T pulls, at its best split T_*.

    (1/2) / (1 - 1/e) min over T_* of max over r of T_* log(r n / s2) + (T - r) / s2 sum of the eigenvalues after T_*,
    n the number of arms, kernel diagonal 1; concave in r. As printed: false where n / s2 is small
    (docs/found_on_the_way.md).
    """
    eigenvalues, n = np.sort(np.maximum(eigenvalues, 0.0))[::-1], len(eigenvalues)
    s = np.arange(1, min(T, n) + 1)
    tails = np.maximum(eigenvalues.sum() - eigenvalues.cumsum(), 0.0)[: len(s)] / noise_variance
    with np.errstate(divide="ignore"):
        best = np.clip(s / tails, 1, T)
    worst = [s * np.log(r * n / noise_variance) + (T - r) * tails for r in (np.floor(best), np.ceil(best))]
    return HALF_OVER_GREEDY * float(np.maximum(*worst).min())


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
