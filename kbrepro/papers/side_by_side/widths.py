"""Widths for the rules side by side: those of designs blind to observations, and one tuned scale for any width."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kbrepro import checks
from kbrepro.confidence import Flynn2024, Gain, Probable
from kbrepro.problems import Model


@dataclass(frozen=True)
class FixedDesign(Probable):
    """scale (norm + R / sqrt(lambda) sqrt(2 log(1 / share))), share = delta / (2 events): two sides per band.

    For one arm and pulls that do not depend on their observations (Vakili et al. 2021): the error of the mean is a
    part that is at most norm times sd, and a weighted sum of noise that is sub-Gaussian with scale R / sqrt(lambda) sd.
    With `scale` other than 1 nothing is proved.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive(scale=self.scale)

    def of(self, model: Model, events: int) -> float:
        """Return the width by which all of `events` >= 1 bands hold with probability 1 - delta."""
        return self.scale * (model.known_norm + math.sqrt(self._noise(model, events)))

    def _noise(self, model: Model, events: int) -> float:
        checks.positive_int(events=events)
        return 2 * model.noise_scale**2 / model.noise_variance * math.log(2 * events / self.delta)


@dataclass(frozen=True)
class FixedDesignTighter(FixedDesign):
    """scale sqrt(norm^2 + 2 R^2 / lambda log(1 / share)): the same by Cauchy-Schwarz, never wider.

    The two parts of the error have squares that add up: at a fixed design the bias is at most norm b and the noise has
    scale R / sqrt(lambda) s with b^2 + s^2 <= sd^2.
    """

    def of(self, model: Model, events: int) -> float:
        """Return the width by which all of `events` >= 1 bands hold with probability 1 - delta."""
        return self.scale * math.sqrt(model.known_norm**2 + self._noise(model, events))


@dataclass(frozen=True)
class ScaledTighter(Flynn2024):
    """`scale` times `confidence.Flynn2024`, where a rule makes a width for each of its cells; not proved below 1."""

    scale: float = 1.0

    def at(self, gain: Gain, *, norm: float, noise_scale: float, noise_variance: float) -> Gain:
        """Return the width at a gain, or at each of an array of gains; ValueError on a value out of range."""
        return self.scale * super().at(gain, norm=norm, noise_scale=noise_scale, noise_variance=noise_variance)


@dataclass(frozen=True)
class Scaled:
    """`scale` > 0 times another width of an upper confidence bound: tuned, and with `scale` other than 1 not proved."""

    width: Callable[[Any], float]
    scale: float

    def __post_init__(self) -> None:
        checks.positive(scale=self.scale)

    def __call__(self, policy: Any) -> float:
        return self.scale * self.width(policy)
