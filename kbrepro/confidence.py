"""Widths of confidence bands that two or more papers use. A width multiplies the posterior standard deviation.

A *width* is a function of the policy that asks. Those of a theorem are small frozen values: `at` is the formula;
calling one takes the formula's arguments from the policy (`t`, `model`, `posterior.gain`). Rounds t count from 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.problems import Model

Gain = TypeVar("Gain", float, Array)


@dataclass(frozen=True)
class Constant:
    """The same number of standard deviations in every round."""

    width: float

    def __post_init__(self) -> None:
        checks.non_negative(width=self.width)
        checks.python_numbers(self)

    def __call__(self, policy: Any) -> float:
        return self.width


@dataclass(frozen=True, eq=False)
class Probable:
    """A width whose band holds with probability 1 - `delta`; ValueError unless 0 < delta < 1."""

    delta: float

    def __post_init__(self) -> None:
        checks.probability(delta=self.delta)
        checks.python_numbers(self)


@dataclass(frozen=True)
class Srinivas2010(Probable):
    """sqrt(beta_scale beta_t), beta_t = 2 log(n_arms t^2 pi^2 / (6 delta)).

    Srinivas et al., Theorem 1: f drawn from the GP, finitely many arms. With `beta_scale` 1 the band holds with
    probability 1 - delta; 0.2 is what they play, GP-UCB/5, whose width is smaller by sqrt(5).
    """

    beta_scale: float = 1.0
    stored_as = "Bayes"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive(beta_scale=self.beta_scale)

    def stored_settings(self) -> dict[str, float]:
        """Return the settings under the names that they had when trials were first kept."""
        return {"delta": self.delta, "divide_beta_by": 1 / self.beta_scale}

    def at(self, t: int, n_arms: int) -> float:
        """Return the width of round t; ValueError unless t and n_arms are at least 1."""
        checks.positive_int(t=t, n_arms=n_arms)
        t, n_arms = int(t), int(n_arms)
        beta = 2 * math.log(n_arms * t**2 * math.pi**2 / (6 * self.delta))
        return math.sqrt(beta / (1 / self.beta_scale))  # 1 / 0.2 is 5 to the last digit, as in the kept trials

    def __call__(self, policy: Any) -> float:
        return self.at(policy.t, policy.model.n_arms)


@dataclass(frozen=True)
class Chowdhury2017(Probable):
    """norm + R sqrt(2 (gain + 1 + log(1 / delta))), R the noise scale.

    Chowdhury & Gopalan, Theorem 2 and IGP-UCB (GP-TS has delta / 2 instead of delta); Janz et al., Section 2.
    Proved for a posterior with noise variance 1 + 2 / T, in units of reward in which the prior variance is at most 1:
    R counts as it is, so another unit changes the arms. `gain(t - 1)` is the information gain (nats) that round t
    uses; by default that of the pulls so far.
    """

    gain: Callable[[int], float] | None = None
    stored_as = "Improved"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain is not None:
            checks.function(gain=self.gain)

    def at(self, gain: Gain, *, norm: float, noise_scale: float) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError on a value out of range."""
        _check(gain, norm, noise_scale)
        return norm + noise_scale * np.sqrt(2 * (gain + 1 + math.log(1 / self.delta)))

    def of(self, model: Model, gain: Gain) -> Gain:
        """Return the width at a gain, for the model of a policy; ValueError if the model has no norm."""
        return self.at(gain, norm=model.known_norm, noise_scale=model.noise_scale)

    def __call__(self, policy: Any) -> float:
        return self.of(policy.model, policy.posterior.gain if self.gain is None else self.gain(policy.t - 1))


@dataclass(frozen=True)
class AbbasiYadkori2011(Probable):
    """norm + R / sqrt(lambda) sqrt(2 (gain + log(1 / delta))), lambda the noise variance of the posterior.

    Holds for any lambda, by the self-normalised inequality of Abbasi-Yadkori, Pal & Szepesvari (2011), on which
    Chowdhury & Gopalan's Theorem 1 rests; the gain (nats) is that of the pulls so far.
    """

    stored_as = "SelfNormalised"

    def at(self, gain: Gain, *, norm: float, noise_scale: float, noise_variance: float) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError on a value out of range."""
        _check(gain, norm, noise_scale, noise_variance)
        return norm + noise_scale / math.sqrt(noise_variance) * np.sqrt(2 * (gain + math.log(1 / self.delta)))

    def of(self, model: Model, gain: Gain) -> Gain:
        """Return the width at a gain, for the model of a policy; ValueError if the model has no norm."""
        return self.at(gain, norm=model.known_norm, noise_scale=model.noise_scale, noise_variance=model.noise_variance)

    def __call__(self, policy: Any) -> float:
        return self.of(policy.model, policy.posterior.gain)


@dataclass(frozen=True)
class Flynn2024(AbbasiYadkori2011):
    """sqrt(norm^2 + 2 R^2 / lambda (gain + log(1 / delta))), lambda the noise variance of the posterior.

    Flynn & Reeb (2024), derived in docs/tighter_width.md: holds wherever `AbbasiYadkori2011` does, for any lambda; it
    is never wider, and narrower by a factor of up to sqrt(2). The gain (nats) is that of the pulls so far.
    """

    stored_as = "Tighter"

    def at(self, gain: Gain, *, norm: float, noise_scale: float, noise_variance: float) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError on a value out of range."""
        _check(gain, norm, noise_scale, noise_variance)
        return np.sqrt(norm**2 + 2 * noise_scale**2 / noise_variance * (gain + math.log(1 / self.delta)))


def _check(gain: float | Array, norm: float, noise_scale: float, noise_variance: float = 1.0) -> None:
    checks.positive(norm=norm, noise_variance=noise_variance)
    checks.non_negative(gain=gain.min() if isinstance(gain, np.ndarray) else gain, noise_scale=noise_scale)
