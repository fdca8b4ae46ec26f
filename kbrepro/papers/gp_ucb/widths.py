"""Widths of Theorems 2 and 3, and the regret bounds of Theorems 1 to 3 (Srinivas et al., Section
4).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro import checks
from kbrepro.confidence import Probable, Srinivas2010
from kbrepro.information import allocated_gain
from kbrepro.kernels import Array, SquaredExponential, grid
from kbrepro.problems import GPDraw, Model, RKHSFunction


@dataclass(frozen=True)
class CompactArms(Probable):
    """sqrt(beta_t / divide_beta_by) for arms in [0, side]^d.

    Theorem 2: beta_t = 2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b side sqrt(log(4 d a /
    delta))) where P(sup |df/dx_j| > L) <= a exp(-(L / b)^2). Raises ValueError where 4 d a <= delta
    (the root is undefined).
    """

    d: int
    side: float
    a: float
    b: float
    divide_beta_by: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive_int(d=self.d)
        checks.positive(side=self.side, a=self.a, b=self.b, divide_beta_by=self.divide_beta_by)

    def __call__(self, policy: Any) -> float:
        t, d, root = policy.t, self.d, math.sqrt(math.log(4 * self.d * self.a / self.delta))
        grid_term = math.log(t**2 * d * self.b * self.side * root)
        beta = 2 * math.log(2 * t**2 * math.pi**2 / (3 * self.delta)) + 2 * d * grid_term
        return math.sqrt(beta / self.divide_beta_by)


@dataclass(frozen=True, eq=False)
class KnownNorm(Probable):
    """sqrt(2 norm^2 + 300 gamma_t log^3(t / delta)).

    Theorem 3: `norm` bounds the RKHS norm, `max_gains` (T,) holds gamma_1 .. gamma_T (nats), the
    noise is bounded by its scale. Raises ValueError if the norm is not known, IndexError after
    round T.
    """

    max_gains: Array = field(repr=False)

    def __call__(self, policy: Any) -> float:
        norm, t = policy.model.known_norm, policy.t
        return math.sqrt(2 * norm**2 + 300 * self.max_gains[t - 1] * math.log(t / self.delta) ** 3)


def regret_bound(widths: Array, max_gains: Array, noise_variance: float) -> Array:
    """Return sqrt(C T beta_T gamma_T), C = 8 / log(1 + 1 / noise_variance), for T = 1 ..
    len(widths).

    Srinivas et al., Theorems 1 and 3: bounds the cumulative regret of all T at once with
    probability 1 - delta; `widths` (T,) are sqrt(beta_t), `max_gains` (T,) upper bounds on gamma_t
    (nats). The prior variance is at most 1.
    """
    rounds = np.arange(1, len(widths) + 1)
    return widths * np.sqrt(8 / math.log1p(1 / noise_variance) * rounds * max_gains)


def over_rounds(width: Callable[[Any], float], model: Model, horizon: int) -> Array:
    """Return the widths (horizon,) of all rounds, for a width that uses only the round and the
    model.
    """
    return np.array([width(SimpleNamespace(t=t, model=model)) for t in range(1, horizon + 1)])


def slope_tail(lengthscale: float) -> dict[str, float]:
    """Return a and b with P(sup |f'| > L) <= a exp(-(L / b)^2) for a draw of the SE kernel
    (variance 1) on [0, 1].

    f' is stationary with variance 1 / l^2, and by Rice's formula crosses the level L upwards
    sqrt(3) / (2 pi l) exp(-L^2 l^2 / 2) times on average; |f'| starts above L or crosses +L or -L
    outwards, so a = 1 + sqrt(3) / (pi l), b = sqrt(2) / l.
    """
    return {"a": 1 + math.sqrt(3) / (math.pi * lengthscale), "b": math.sqrt(2) / lengthscale}


@cache
def theorems(
    delta: float, noise_variance: float, n_arms: int, horizon: int
) -> dict[str, tuple[Any, Any, Array]]:
    """Return by theorem a source of functions, a width, and the bound on R_1 .. R_T (horizon,), T =
    `horizon`.

    SE kernel, lengthscale 0.2, arms on [0, 1]. Theorems 1 and 2 are about draws, and the bound of
    Theorem 2 is larger by 2; Theorem 3 is about functions of norm 1 and bounded noise, with gamma_T
    by the spectral bound.
    """
    kernel, points = SquaredExponential(0.2), grid(n_arms)
    gains = allocated_gain(eigvalsh(kernel(points, points)), noise_variance, horizon)
    draws = GPDraw(kernel, points, noise_variance)
    norm_1, model = (
        RKHSFunction(kernel, points, noise_variance, 1.0),
        Model(points, kernel, noise_variance, norm=1.0),
    )
    cases: dict[str, tuple[Any, Any, float]] = {
        "Theorem 1": (draws, Srinivas2010(delta), 0),
        "Theorem 2": (draws, CompactArms(delta, d=1, side=1.0, **slope_tail(0.2)), 2),
        "Theorem 3": (norm_1, KnownNorm(delta, gains), 0),
    }
    return {
        name: (
            source,
            width,
            regret_bound(over_rounds(width, model, horizon), gains, noise_variance) + more,
        )
        for name, (source, width, more) in cases.items()
    }
