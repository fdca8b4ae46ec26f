"""The width that IGP-UCB is compared with, and one published since; its own is `confidence.Improved`.

`Tighter` is derived in docs/tighter_width.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kbrepro import checks
from kbrepro.confidence import Asking


@dataclass(frozen=True)
class Original:
    """sqrt(2 norm^2 + 300 gain(t - 1) log^3(t / delta)).

    The GP-UCB of Chowdhury & Gopalan, Section 3: Theorem 3 of Srinivas et al. with gamma_{t-1} for gamma_t. `gain`
    gives the information gain (nats) of the pulls before a round.
    """

    delta: float
    gain: Callable[[int], float]

    def __post_init__(self) -> None:
        checks.probability(delta=self.delta)

    def at(self, t: int, norm: float) -> float:
        """Return the width of round t; ValueError unless t is at least 1 and the norm above 0."""
        checks.positive_int(t=t)
        checks.positive(norm=norm)
        return math.sqrt(2 * norm**2 + 300 * self.gain(t - 1) * math.log(t / self.delta) ** 3)

    def __call__(self, policy: Asking) -> float:
        return self.at(policy.t, policy.told.norm)


@dataclass(frozen=True)
class Tighter:
    """sqrt(norm^2 + 2 R^2 / lambda (gain + log(1 / delta))), lambda the noise variance of the posterior.

    Flynn & Reeb (2024): holds wherever `confidence.SelfNormalised` does, for any lambda, and is never wider, narrower
    by up to the root of 2. The gain (nats) is that of the pulls so far.
    """

    delta: float

    def __post_init__(self) -> None:
        checks.probability(delta=self.delta)

    def at(self, gain: float, *, norm: float, noise_scale: float, noise_variance: float) -> float:
        """Return the width at a gain; ValueError on a value out of range."""
        checks.positive(norm=norm, noise_variance=noise_variance)
        checks.non_negative(gain=gain, noise_scale=noise_scale)
        return math.sqrt(norm**2 + 2 * noise_scale**2 / noise_variance * (gain + math.log(1 / self.delta)))

    def __call__(self, policy: Asking) -> float:
        told = policy.told
        given = {"norm": told.norm, "noise_scale": told.noise_scale, "noise_variance": told.noise_variance}
        return self.at(policy.posterior.gain, **given)
