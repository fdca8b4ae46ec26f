"""Upper confidence bounds, and the two rules that use only one half of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbrepro.kernels import Array
from kbrepro.policies.index import IndexPolicy
from kbrepro.posterior import Posterior


class UCB(IndexPolicy):
    """GP-UCB: mean + width(t) * sd (Srinivas et al., Algorithm 1, with width(t) = sqrt(beta_t))."""

    def __init__(self, posterior: Posterior, width: Callable[[int], float]) -> None:
        super().__init__(posterior)
        self.width = width

    def index(self, t: int) -> Array:
        return self.posterior.mean + self.width(t) * self.posterior.sd

    def band_ratio(self, expected_reward: Array) -> float:
        """Return the largest |f - mean| / (width sd) over all arms before the next pull: the band holds if <= 1."""
        error = np.abs(expected_reward - self.posterior.mean)
        return float((error / (self.width(self.t) * self.posterior.sd)).max())


class MeanOnly(IndexPolicy):
    """The arm of largest posterior mean: exploitation alone (Srinivas et al., Section 6)."""

    def index(self, t: int) -> Array:
        return self.posterior.mean


class VarianceOnly(IndexPolicy):
    """The arm of largest posterior variance: the experimental-design rule (Srinivas et al., eq. 4)."""

    def index(self, t: int) -> Array:
        return self.posterior.variance
