"""Widths of Theorems 2 and 3, and the regret bounds of Theorems 1 to 3 (Srinivas et al., Section 4)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.confidence import Probable
from kbrepro.kernels import Array
from kbrepro.problems import Model


@dataclass(frozen=True)
class CompactArms(Probable):
    """sqrt(beta_t / divide_beta_by) for arms in [0, side]^d.

    Theorem 2: beta_t = 2 log(2 t^2 pi^2 / (3 delta)) + 2 d log(t^2 d b side sqrt(log(4 d a / delta))) where
    P(sup |df/dx_j| > L) <= a exp(-(L / b)^2). Raises ValueError where 4 d a <= delta (the root is undefined).
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

    def __call__(self, policy: Any) -> float:
        return self.at(policy.t)


@dataclass(frozen=True, eq=False)
class KnownNorm(Probable):
    """sqrt(2 norm^2 + 300 gamma_t log^3(t / delta)).

    Theorem 3: `norm` bounds the RKHS norm, `max_gains` (T,) holds gamma_1 .. gamma_T (nats), the noise is bounded by
    its scale. Raises ValueError if t exceeds T or the norm is not known.
    """

    max_gains: Array = field(repr=False)

    def at(self, t: int, norm: float) -> float:
        """Return the width of round t; ValueError unless t is from 1 to T and the norm above 0."""
        checks.positive_int(t=t)
        checks.positive(norm=norm)
        if t > len(self.max_gains):
            raise ValueError(f"t = {t} is not allowed: max_gains holds {len(self.max_gains)} rounds")
        return math.sqrt(2 * norm**2 + 300 * self.max_gains[t - 1] * math.log(t / self.delta) ** 3)

    def __call__(self, policy: Any) -> float:
        return self.at(policy.t, policy.model.known_norm)


def regret_bound(widths: Array, max_gains: Array, noise_variance: float) -> Array:
    """Return sqrt(C T beta_T gamma_T), C = 8 / log(1 + 1 / noise_variance), for T = 1 .. len(widths).

    Srinivas et al., Theorems 1 and 3: bounds the cumulative regret of all T at once with probability 1 - delta;
    `widths` (T,) are sqrt(beta_t), `max_gains` (T,) upper bounds on gamma_t (nats). The prior variance is at most 1.
    """
    checks.positive(noise_variance=noise_variance)
    rounds = np.arange(1, len(widths) + 1)
    return widths * np.sqrt(8 / math.log1p(1 / noise_variance) * rounds * max_gains)


def over_rounds(width: Callable[[Any], float], model: Model, horizon: int) -> Array:
    """Return the widths (horizon,) of all rounds, for a width that uses only the round and the model."""
    return np.array([width(SimpleNamespace(t=t, model=model)) for t in range(1, horizon + 1)])


def slope_tail(lengthscale: float) -> dict[str, float]:
    """Return a and b with P(sup |f'| > L) <= a exp(-(L / b)^2) for a draw of the SE kernel (variance 1) on [0, 1].

    f' is stationary with variance 1 / l^2, and by Rice's formula crosses the level L upwards sqrt(3) / (2 pi l)
    exp(-L^2 l^2 / 2) times on average; |f'| starts above L or crosses +L or -L outwards, so a = 1 + sqrt(3) / (pi l),
    b = sqrt(2) / l.
    """
    checks.positive(lengthscale=lengthscale)
    return {"a": 1 + math.sqrt(3) / (math.pi * lengthscale), "b": math.sqrt(2) / lengthscale}
