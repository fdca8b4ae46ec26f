"""Srinivas et al. (2010), GP-UCB: widths of Theorems 2 and 3, regret bound, bounds on the information gain."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro import checks
from kbrepro.confidence import Asking
from kbrepro.information import allocated_gain
from kbrepro.kernels import Array, Kernel

#: The factor of eq. 8: greedy pulls reach 1 - 1/e of the largest gain.
HALF_OVER_GREEDY = 0.5 / (1 - math.exp(-1))


@dataclass(frozen=True)
class CompactArms:
    """sqrt(beta_t / divide_beta_by) for arms in [0, side]^d.

    Theorem 2: beta_t = 2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b side sqrt(log(4 d a / delta))) where
    P(sup |df/dx_j| > L) <= a exp(-(L / b)^2). Raises ValueError where 4 d a <= delta (the root is undefined).
    """

    delta: float
    d: int
    side: float
    a: float
    b: float
    divide_beta_by: float = 1.0

    def __post_init__(self) -> None:
        checks.positive_int(d=self.d)
        checks.positive(side=self.side, a=self.a, b=self.b, divide_beta_by=self.divide_beta_by)
        checks.probability(delta=self.delta)
        if 4 * self.d * self.a <= self.delta:
            least = self.delta / (4 * self.d)
            raise ValueError(f"a = {self.a!r} is not allowed: a must exceed delta / (4 d) = {least:.3g}")

    def at(self, t: int) -> float:
        """Return the width of round t; ValueError unless t is at least 1."""
        checks.positive_int(t=t)
        d, root = self.d, math.sqrt(math.log(4 * self.d * self.a / self.delta))
        grid_term = math.log(t**2 * d * self.b * self.side * root)
        beta = 2 * math.log(2 * t**2 * math.pi**2 / (3 * self.delta)) + 2 * d * grid_term
        return math.sqrt(beta / self.divide_beta_by)

    def __call__(self, policy: Asking) -> float:
        return self.at(policy.t)


@dataclass(frozen=True, eq=False)
class KnownNorm:
    """sqrt(2 norm^2 + 300 gamma_t log^3(t / delta)).

    Theorem 3: `norm` bounds the RKHS norm, `max_gains` (T,) holds gamma_1 .. gamma_T (nats), the noise is bounded by
    its scale. Raises ValueError if t exceeds T or the norm is not known.
    """

    delta: float
    max_gains: Array = field(repr=False)

    def __post_init__(self) -> None:
        checks.probability(delta=self.delta)

    def at(self, t: int, norm: float) -> float:
        """Return the width of round t; ValueError unless t is from 1 to T and the norm above 0."""
        checks.positive_int(t=t)
        checks.positive(norm=norm)
        if t > len(self.max_gains):
            raise ValueError(f"t = {t} is not allowed: max_gains holds {len(self.max_gains)} rounds")
        return math.sqrt(2 * norm**2 + 300 * self.max_gains[t - 1] * math.log(t / self.delta) ** 3)

    def __call__(self, policy: Asking) -> float:
        return self.at(policy.t, policy.told.norm)


def regret_bound(widths: Array, max_gains: Array, noise_variance: float) -> Array:
    """Return sqrt(C T beta_T gamma_T), C = 8 / log(1 + 1 / noise_variance), for T = 1 .. len(widths).

    Srinivas et al., Theorems 1 and 3: bounds the cumulative regret of all T at once with probability 1 - delta;
    `widths` (T,) are sqrt(beta_t), `max_gains` (T,) upper bounds on gamma_t (nats). The prior variance is at most 1.
    """
    checks.positive(noise_variance=noise_variance)
    rounds = np.arange(1, len(widths) + 1)
    return widths * np.sqrt(8 / math.log1p(1 / noise_variance) * rounds * max_gains)


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
