"""Upper confidence bounds, and the two rules that use only one half of them."""

from __future__ import annotations

from kbrepro.kernels import Array
from kbrepro.policies.base import BandPolicy, IndexPolicy


class UCB(BandPolicy):
    """GP-UCB: mean + width * sd (Srinivas et al., Algorithm 1; Chowdhury & Gopalan, Algorithm 1)."""

    def index(self, t: int) -> Array:
        return self.posterior.mean + self.width_in(t) * self.posterior.sd


class MeanOnly(IndexPolicy):
    """The arm of largest posterior mean: exploitation alone (Srinivas et al., Section 6)."""

    def index(self, t: int) -> Array:
        return self.posterior.mean


class VarianceOnly(IndexPolicy):
    """The arm of largest posterior variance: the experimental-design rule (Srinivas et al., eq. 4)."""

    def index(self, t: int) -> Array:
        return self.posterior.variance
