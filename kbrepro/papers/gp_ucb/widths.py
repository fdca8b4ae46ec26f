"""Widths of Theorems 2 and 3, and regret bounds of Theorems 1 to 3 (Srinivas et al., Section 4)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro.bandits.confidence import Probable, Srinivas2010
from kbrepro.bandits.information import allocated_gain
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import GPDraw, Model, RKHSFunction
from kbrepro.typing import Array

#: What a theorem adds, in standard deviations, by what it asks of a policy.
Width = Callable[[Any], float]


@dataclass(frozen=True)
class CompactArms(Probable):
    """sqrt(beta_t / divide_beta_by) for arms in [0, side]^d.

    Theorem 2: beta_t = 2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b side sqrt(log(4 d a /
    delta))) where P(sup |df/dx_j| > L) <= a exp(-(L / b)^2).
    """

    d: int
    side: float
    a: float
    b: float
    divide_beta_by: float = 1.0

    def __call__(self, policy: UCB) -> float:
        squared_t = policy.t**2
        root = math.sqrt(math.log(4 * self.d * self.a / self.delta))
        slopes = math.log(squared_t * self.d * self.b * self.side * root)
        beta = 2 * math.log(2 * squared_t * math.pi**2 / (3 * self.delta)) + 2 * self.d * slopes
        return math.sqrt(beta / self.divide_beta_by)


@dataclass(frozen=True, eq=False)
class KnownNorm(Probable):
    """sqrt(2 norm^2 + 300 gamma_t log^3(t / delta)).

    Theorem 3: `norm` bounds the RKHS norm, `max_gains` (T,) holds gamma_1 .. gamma_T (nats), the
    noise is bounded by its scale. ValueError if the norm is not known, IndexError after round T.
    """

    max_gains: Array = field(repr=False)

    def __call__(self, policy: UCB) -> float:
        cubed = math.log(policy.t / self.delta) ** 3
        grown = 300 * self.max_gains[policy.t - 1] * cubed
        return math.sqrt(2 * policy.model.known_norm**2 + grown)


def regret_bound(widths: Array, max_gains: Array, noise_variance: float) -> Array:
    """Return sqrt(C T beta_T gamma_T) for T = 1 .. len(widths), C = 8 / log(1 + 1 / lambda).

    Srinivas et al., Theorems 1 and 3; lambda is the noise variance. It bounds the cumulative regret
    of all T at once with probability 1 - delta; `widths` (T,) are sqrt(beta_t), `max_gains` (T,)
    upper bounds on gamma_t (nats). The prior variance is at most 1.
    """
    rounds = np.arange(1, len(widths) + 1)
    return widths * np.sqrt(8 / math.log1p(1 / noise_variance) * rounds * max_gains)


def over_rounds(width: Width, model: Model, horizon: int) -> Array:
    """Return the widths (horizon,) of all rounds, of a width that uses only round and model."""
    policies = [SimpleNamespace(t=t, model=model) for t in range(1, horizon + 1)]
    return np.array([*map(width, policies)])


def slope_tail(lengthscale: float) -> dict[str, float]:
    """Return a and b with P(sup |f'| > L) <= a exp(-(L / b)^2) for a draw on [0, 1].

    The kernel is the squared exponential of variance 1. f' is stationary with variance 1 / l^2, and
    by Rice's formula crosses the level L upwards sqrt(3) / (2 pi l) exp(-L^2 l^2 / 2) times on
    average; |f'| starts above L or crosses +L or -L outwards. So a is 1 + sqrt(3) / (pi l), and b
    is sqrt(2) / l.
    """
    return {"a": 1 + math.sqrt(3) / (math.pi * lengthscale), "b": math.sqrt(2) / lengthscale}


class Asked(NamedTuple):
    """What a theorem is about: functions, a width, and its bound on R_1 .. R_T, (horizon,)."""

    source: GPDraw | RKHSFunction
    width: Width
    bound: Array


@cache
def theorems(delta: float, noise_variance: float, n_arms: int, horizon: int) -> dict[str, Asked]:
    """Return what each theorem is about, for T = `horizon`.

    SE kernel, lengthscale 0.2, arms on [0, 1]. Theorems 1 and 2 are about draws, and the bound of
    Theorem 2 is larger by 2; Theorem 3 is about functions of norm 1 and bounded noise, with gamma_T
    by the spectral bound.
    """
    kernel = SquaredExponential(0.2)
    points = grid(n_arms)
    gains = allocated_gain(eigvalsh(kernel(points, points)), noise_variance, horizon)
    draws = GPDraw(kernel, points, noise_variance)
    norm_1 = RKHSFunction(kernel, points, noise_variance, 1.0)
    model = Model(points, kernel, noise_variance, norm=1.0)

    def asked(source: GPDraw | RKHSFunction, width: Width, more: float = 0.0) -> Asked:
        widths = over_rounds(width, model, horizon)
        return Asked(source, width, regret_bound(widths, gains, noise_variance) + more)

    return {
        "Theorem 1": asked(draws, Srinivas2010(delta)),
        "Theorem 2": asked(draws, CompactArms(delta, d=1, side=1.0, **slope_tail(0.2)), 2.0),
        "Theorem 3": asked(norm_1, KnownNorm(delta, gains)),
    }
