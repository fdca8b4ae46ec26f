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


def compact_arms(
    t: int, *, d: int, side: float, a: float, b: float, delta: float, divide_beta_by: float = 1.0
) -> float:
    """Return sqrt(beta_t / divide_beta_by) for arms in [0, side]^d.

    Srinivas et al., Theorem 2: beta_t = 2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b side sqrt(log(4 d a / delta)))
    where P(sup |df/dx_j| > L) <= a exp(-(L / b)^2). Raises ValueError where 4 d a <= delta (the root is undefined).
    """
    checks.positive_int(t=t, d=d)
    checks.positive(side=side, a=a, b=b, divide_beta_by=divide_beta_by)
    checks.probability(delta=delta)
    if 4 * d * a <= delta:
        raise ValueError(f"a = {a!r} is not allowed: a must exceed delta / (4 d) = {delta / (4 * d):.3g}")
    grid_term = math.log(t**2 * d * b * side * math.sqrt(math.log(4 * d * a / delta)))
    beta = 2 * math.log(2 * t**2 * math.pi**2 / (3 * delta)) + 2 * d * grid_term
    return math.sqrt(beta / divide_beta_by)


def rkhs(t: int, *, squared_norm: float, max_gains: Array, delta: float, divide_beta_by: float = 1.0) -> float:
    """Return sqrt(beta_t / divide_beta_by), beta_t = 2 squared_norm + 300 gamma_t log^3(t / delta).

    Srinivas et al., Theorem 3: `squared_norm` bounds the squared RKHS norm, `max_gains` (T,) holds gamma_1 .. gamma_T
    (nats), the noise is bounded by its standard deviation. Raises ValueError if t exceeds T.
    """
    checks.positive_int(t=t)
    checks.positive(squared_norm=squared_norm, divide_beta_by=divide_beta_by)
    checks.probability(delta=delta)
    if t > len(max_gains):
        raise ValueError(f"t = {t} is not allowed: max_gains holds {len(max_gains)} rounds")
    return math.sqrt((2 * squared_norm + 300 * max_gains[t - 1] * math.log(t / delta) ** 3) / divide_beta_by)


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


def regret_bound(widths: Array, max_gains: Array, noise_variance: float) -> Array:
    """Return sqrt(C T beta_T gamma_T), C = 8 / log(1 + 1 / noise_variance), for T = 1 .. len(widths).

    Srinivas et al., Theorems 1 and 3: bounds the cumulative regret of all T at once with probability 1 - delta;
    `widths` (T,) are sqrt(beta_t), `max_gains` (T,) upper bounds on gamma_t (nats). The prior variance is at most 1.
    """
    checks.positive(noise_variance=noise_variance)
    rounds = np.arange(1, len(widths) + 1)
    return widths * np.sqrt(8 / math.log1p(1 / noise_variance) * rounds * max_gains)


def budgeted(
    summed_variance: float,
    pulls: int,
    *,
    norm: float,
    noise_scale: float,
    noise_variance: float,
    delta: float,
    accuracy: float = 0.5,
    squared_kappa: float = 1.0,
    corrected: bool = False,
) -> float:
    """Return beta~ / sqrt(noise_variance), beta~ of Calandriello et al., Theorem 2:

    2 noise_scale sqrt(alpha log(squared_kappa pulls) S + log(1 / delta)) + (1 + 1 / sqrt(1 - eps)) sqrt(lambda) norm.

    lambda is `noise_variance`, eps the `accuracy`, alpha = (1 + eps) / (1 - eps), S the `summed_variance` over the
    pulls so far, divided by lambda; the logarithm is that of at least 2 pulls. The paper's sigma~ is divided by
    sqrt(lambda), a standard deviation here is not: hence the width is. `corrected` has squared_kappa / lambda in the
    logarithm, as eq. 6 gives: the printed chain loses its 1 / lambda. Raises ValueError if the logarithm is negative.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance, squared_kappa=squared_kappa)
    checks.non_negative(summed_variance=summed_variance)
    checks.non_negative_int(pulls=pulls)
    checks.probability(delta=delta, accuracy=accuracy)
    inside = squared_kappa * max(pulls, 2) / (noise_variance if corrected else 1.0)
    if inside < 1:
        raise ValueError(f"squared_kappa = {squared_kappa!r} is not allowed: its product with the pulls must exceed 1")
    alpha = (1 + accuracy) / (1 - accuracy)
    noise = 2 * noise_scale * math.sqrt(alpha * math.log(inside) * summed_variance + math.log(1 / delta))
    return noise / math.sqrt(noise_variance) + (1 + 1 / math.sqrt(1 - accuracy)) * norm


def budgeted_authors(
    summed_variance: float, pulls: int, *, norm: float, noise_scale: float, noise_variance: float, delta: float
) -> float:
    """Return norm + noise_scale / sqrt(noise_variance) sqrt(log(pulls) S + log(1 / delta)); S as in `budgeted`.

    The radius in the code of the authors of BKB: without the factor 2, alpha, and the terms in epsilon and kappa. The
    logarithm is that of at least 2 pulls.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance)
    checks.non_negative(summed_variance=summed_variance)
    checks.non_negative_int(pulls=pulls)
    checks.probability(delta=delta)
    noise = noise_scale * math.sqrt(math.log(max(pulls, 2)) * summed_variance + math.log(1 / delta))
    return norm + noise / math.sqrt(noise_variance)


def budgeted_regret_bound(
    effective_dimension: float,
    horizon: int,
    *,
    norm: float,
    noise_scale: float,
    noise_variance: float,
    delta: float,
    accuracy: float = 0.5,
    squared_kappa: float = 1.0,
) -> float:
    """Return the bound of Calandriello et al., Theorem 2, on the regret of `horizon` rounds.

    2 (2 alpha)^(3/2) sqrt(T) (noise_scale d log(squared_kappa T) + sqrt(lambda norm^2 d log(squared_kappa T)) +
    noise_scale log(1 / delta)), d the `effective_dimension` of the pulls. Holds with probability 1 - delta.
    """
    checks.positive(norm=norm, noise_scale=noise_scale, noise_variance=noise_variance, squared_kappa=squared_kappa)
    checks.non_negative(effective_dimension=effective_dimension)
    checks.at_least(2, horizon=horizon)
    checks.probability(delta=delta, accuracy=accuracy)
    alpha = (1 + accuracy) / (1 - accuracy)
    growth = effective_dimension * math.log(squared_kappa * horizon)
    terms = noise_scale * growth + norm * math.sqrt(noise_variance * growth) + noise_scale * math.log(1 / delta)
    return 2 * (2 * alpha) ** 1.5 * math.sqrt(horizon) * terms


def smallest_qbar(horizon: int, *, delta: float, accuracy: float = 0.5) -> float:
    """Return 6 alpha log(4 T / delta) / eps^2, from which on Calandriello et al., Theorem 1, holds for T rounds."""
    checks.positive_int(horizon=horizon)
    checks.probability(delta=delta, accuracy=accuracy)
    return 6 * (1 + accuracy) / (1 - accuracy) * math.log(4 * horizon / delta) / accuracy**2
