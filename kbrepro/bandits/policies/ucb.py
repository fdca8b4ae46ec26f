"""Upper confidence bounds as acquisition rules, and the two rules that use only the mean or only
the variance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.bandits.policies.base import EVERYTHING, Policy
from kbrepro.bandits.posterior import ExactPosterior
from kbrepro.bandits.problems import Model
from kbrepro.typing import Array


class UCB(Policy):
    """GP-UCB: mean + width sd (Srinivas et al., Algorithm 1; Chowdhury & Gopalan, Algorithm 1).

    The index is less `level`, as the indices of all rules in units of reward.

    `width` is one of `confidence`, or any function of the policy that returns how many standard
    deviations to add.
    """

    takes = EVERYTHING

    def __init__(
        self,
        model: Model,
        horizon: int | None = None,
        *,
        width: Callable[[UCB], float],
        **settings: Any,
    ) -> None:
        checks.width(width=width)
        super().__init__(model, horizon, **settings)
        self.width = width

    def index(self) -> Array:
        return self.centred() + self.checked_width() * self.posterior.sd

    def checked_width(self) -> float:
        """Return the width of this round; ValueError unless that is a finite number of at least
        0.
        """
        width = self.width(self)
        checks.non_negative(**{"width(policy)": width})
        return width

    def band_ratio(self, expected_reward: Array) -> float:
        """Return the largest |f - mean| / (width sd) over all arms before the next pull: the band
        holds if <= 1.
        """
        error = np.abs(expected_reward - self.level - self.centred())
        return float((error / (self.checked_width() * self.posterior.sd)).max())


class MeanOnly(Policy):
    """The arm with the largest posterior mean: pure exploitation (Srinivas et al., Section 6)."""

    def index(self) -> Array:
        return self.centred()


class VarianceOnly(Policy):
    """The arm with the largest posterior variance: the experimental-design rule (Srinivas et al.,
    eq. 4).
    """

    takes = EVERYTHING
    posterior: ExactPosterior

    @property
    def unit(self) -> float:  # type: ignore[override]
        return self.prior_sd**2

    def index(self) -> Array:
        return self.posterior.variance
