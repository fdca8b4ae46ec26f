"""Widths of confidence bands, one function per theorem. A width multiplies the posterior standard deviation.

Srinivas et al. write sqrt(beta_t) sigma, so their width is sqrt(beta_t); dividing beta_t by a factor divides the
width by its root. Rounds t count from 1.
"""

from __future__ import annotations

import math

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array


def finite_arms(t: int, *, n_arms: int, delta: float, divide_beta_by: float = 1.0) -> float:
    """Return sqrt(beta_t / divide_beta_by), beta_t = 2 log(n_arms t^2 pi^2 / (6 delta)).

    Srinivas et al., Theorem 1: f drawn from the GP, finitely many arms, band holds with probability 1 - delta.
    """
    checks.positive_int(t=t, n_arms=n_arms)
    checks.probability(delta=delta)
    checks.positive(divide_beta_by=divide_beta_by)
    return math.sqrt(2 * math.log(n_arms * t**2 * math.pi**2 / (6 * delta)) / divide_beta_by)


def improved_rkhs(gain: float | Array, *, norm: float, noise_scale: float, delta: float) -> float | Array:
    """Return norm + noise_scale sqrt(2 (gain + 1 + log(1 / delta))).

    Chowdhury & Gopalan, Theorem 2 and IGP-UCB (GP-TS has delta / 2 in the place of delta); Janz et al., Section 2.
    `norm` bounds the RKHS norm, the noise is sub-Gaussian with scale `noise_scale`, `gain` (nats) is that of the pulls
    so far or a bound on it; of an array of gains, the width of each. Proved for a posterior with noise variance
    1 + 2 / T.
    """
    checks.positive(norm=norm)
    checks.non_negative(gain=gain if np.ndim(gain) == 0 else gain.min(), noise_scale=noise_scale)
    checks.probability(delta=delta)
    return norm + noise_scale * np.sqrt(2 * (gain + 1 + math.log(1 / delta)))


def self_normalised(gain: float, *, norm: float, noise_scale: float, noise_variance: float, delta: float) -> float:
    """Return norm + noise_scale / sqrt(noise_variance) sqrt(2 (gain + log(1 / delta))).

    The width that holds for a posterior with any `noise_variance`, by the self-normalised inequality that stands behind
    Chowdhury & Gopalan's Theorem 1; `gain` (nats) is that of the pulls so far.
    """
    checks.positive(norm=norm, noise_variance=noise_variance)
    checks.non_negative(gain=gain, noise_scale=noise_scale)
    checks.probability(delta=delta)
    return norm + noise_scale / math.sqrt(noise_variance) * math.sqrt(2 * (gain + math.log(1 / delta)))
