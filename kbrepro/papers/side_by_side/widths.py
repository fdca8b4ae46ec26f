"""Widths of designs that are blind to observations, for rules that are near-optimal on paper."""

import math
from dataclasses import dataclass

from kbrepro.bandits.confidence import Probable
from kbrepro.bandits.problems import Model


@dataclass(frozen=True)
class FixedDesign(Probable):
    """scale (norm + R / sqrt(lambda) sqrt(2 log(1 / share))), share = delta / (2 events).

    For one arm and pulls that do not depend on their observations (Vakili et al. 2021): the error
    of the mean is a part that is at most norm times sd, and a weighted sum of noise that is
    sub-Gaussian with scale R / sqrt(lambda) sd, on two sides. Nothing is proved unless `scale` is
    1, as it is unless a rule is tuned.
    """

    scale: float = 1.0

    def of(self, model: Model, events: int) -> float:
        """Return the width by which all of `events` >= 1 bands hold with probability 1 - delta."""
        return self.scale * (model.known_norm + math.sqrt(self._noise(model, events)))

    def _noise(self, model: Model, events: int) -> float:
        return 2 * model.noise_scale**2 / model.noise_variance * math.log(2 * events / self.delta)


@dataclass(frozen=True)
class FixedDesignTighter(FixedDesign):
    """scale sqrt(norm^2 + 2 R^2 / lambda log(1 / share)): the same by Cauchy-Schwarz, never wider.

    The two parts of the error have squares that add up: at a fixed design the bias is at most norm
    b and the noise has scale R / sqrt(lambda) s with b^2 + s^2 <= sd^2.
    """

    def of(self, model: Model, events: int) -> float:
        """Return the width by which all of `events` >= 1 bands hold with probability 1 - delta."""
        return self.scale * math.sqrt(model.known_norm**2 + self._noise(model, events))
