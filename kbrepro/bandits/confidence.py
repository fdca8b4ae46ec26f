"""Widths of confidence bands that two or more papers use. A width multiplies the posterior standard
deviation.

A *width* is a function of the policy that asks, whose `t`, `model` and `posterior.gain` it reads.
Those of a theorem are small frozen values. Rounds t count from 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from kbrepro import checks
from kbrepro.bandits.problems import Model
from kbrepro.typing import Array, Posterior

#: One gain, or an array of them.
Gain = TypeVar("Gain", float, Array)


class Asking(Protocol):
    """What a width reads of the policy that asks."""

    t: int

    @property
    def model(self) -> Model: ...
    @property
    def posterior(self) -> Posterior: ...


@dataclass(frozen=True)
class Constant(checks.Checked):
    """The same number of standard deviations in every round."""

    width: float
    checked = {"width": checks.non_negative}

    def __call__(self, policy: object) -> float:
        return self.width


@dataclass(frozen=True, eq=False)
class Probable(checks.Checked):
    """A width whose band holds with probability 1 - `delta`; ValueError unless 0 < delta < 1."""

    delta: float
    checked = {"delta": checks.probability}


@dataclass(frozen=True)
class Srinivas2010(Probable):
    """sqrt(beta_scale beta_t), beta_t = 2 log(n_arms t^2 pi^2 / (6 delta)).

    Srinivas et al., Theorem 1: f drawn from the GP, finitely many arms. With `beta_scale` 1 the
    band holds with probability 1 - delta; 0.2 is what they play, GP-UCB/5, whose width is smaller
    by sqrt(5).
    """

    beta_scale: float = 1.0
    checked = Probable.checked | {"beta_scale": checks.positive}
    stored_as = "Bayes"

    def stored_settings(self) -> dict[str, float]:
        """Return the settings under the names that they had when trials were first kept."""
        return {"delta": self.delta, "divide_beta_by": 1 / self.beta_scale}

    def __call__(self, policy: Asking) -> float:
        beta = 2 * math.log(policy.model.n_arms * policy.t**2 * math.pi**2 / (6 * self.delta))
        # 1 / 0.2 is 5 to the last digit, as in the kept trials
        return math.sqrt(beta / (1 / self.beta_scale))


@dataclass(frozen=True)
class Chowdhury2017(Probable):
    """norm + R sqrt(2 (gain + 1 + log(1 / delta))), R the noise scale.

    Chowdhury & Gopalan, Theorem 2 and IGP-UCB (GP-TS has delta / 2 instead of delta); Janz et al.,
    Section 2. Proved for a posterior with noise variance 1 + 2 / T, in units of reward in which the
    prior variance is at most 1: R counts as it is, so another unit changes the arms. `gain(t - 1)`
    is the information gain (nats) that round t uses; by default that of the pulls so far.
    """

    gain: Callable[[int], float] | None = None
    checked = Probable.checked | {"gain": checks.function}
    stored_as = "Improved"

    def of(self, model: Model, gain: Gain) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError if the model has
        no norm.
        """
        return model.known_norm + model.noise_scale * np.sqrt(
            2 * (gain + 1 + math.log(1 / self.delta))
        )

    def __call__(self, policy: Asking) -> float:
        return self.of(
            policy.model, policy.posterior.gain if self.gain is None else self.gain(policy.t - 1)
        )


@dataclass(frozen=True)
class AbbasiYadkori2011(Probable):
    """norm + R / sqrt(lambda) sqrt(2 (gain + log(1 / delta))), lambda the noise variance of the
    posterior.

    Holds for any lambda, by the self-normalised inequality of Abbasi-Yadkori, Pal & Szepesvari
    (2011), on which Chowdhury & Gopalan's Theorem 1 rests; the gain (nats) is that of the pulls so
    far.
    """

    stored_as = "SelfNormalised"

    def of(self, model: Model, gain: Gain) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError if the model has
        no norm.
        """
        scale = model.noise_scale / np.sqrt(model.noise_variance)
        return model.known_norm + scale * np.sqrt(2 * (gain + math.log(1 / self.delta)))

    def __call__(self, policy: Asking) -> float:
        return self.of(policy.model, policy.posterior.gain)


@dataclass(frozen=True)
class Flynn2024(AbbasiYadkori2011):
    """sqrt(norm^2 + 2 R^2 / lambda (gain + log(1 / delta))), lambda the noise variance of the
    posterior.

    Flynn & Reeb (2024), derived in docs/tighter_width.md: holds wherever `AbbasiYadkori2011` does,
    for any lambda; it is never wider, and narrower by a factor of up to sqrt(2). The gain (nats) is
    that of the pulls so far.
    """

    stored_as = "Tighter"

    def of(self, model: Model, gain: Gain) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError if the model has
        no norm.
        """
        ridged = 2 * model.noise_scale**2 / model.noise_variance * (gain + math.log(1 / self.delta))
        return np.sqrt(model.known_norm**2 + ridged)
