"""Thompson sampling on a finite set of arms, without a factorisation per round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbrepro.kernels import Array
from kbrepro.policies.base import BandPolicy, best_arm
from kbrepro.posterior import CovariancePosterior
from kbrepro.problems import covariance_factor


class ThompsonSampling(BandPolicy):
    """GP-TS: the best arm of one draw from N(mean, width^2 covariance) (Chowdhury & Gopalan, Algorithm 2).

    `width` and `of_gain` as in BandPolicy. Raises TypeError unless the posterior keeps its covariance.
    """

    def __init__(self, posterior: CovariancePosterior, width: Callable[[float], float], of_gain: bool = False) -> None:
        super().__init__(posterior, width, of_gain)
        if not isinstance(posterior, CovariancePosterior):
            kind = type(posterior).__name__
            raise TypeError(f"posterior is a {kind}: Thompson sampling needs a CovariancePosterior")
        columns = [posterior.covariance_times(unit) for unit in np.eye(posterior.n_arms)]
        self._factor = covariance_factor(np.array(columns))
        self._counts_before = posterior.counts.copy()

    def deviation(self, rng: np.random.Generator) -> Array:
        """Return one draw (A,) of f - mean from the posterior.

        Let C0 = F F^T be the covariance when the policy was made, n the pulls of each arm since and s2 the noise
        variance, so that C = (C0^-1 + diag(n) / s2)^-1. With w and z standard normal,

            F w - C (n F w / s2 + sqrt(n / s2) z) = C C0^-1 F w - C sqrt(n / s2) z

        has the covariance C C0^-1 C + C diag(n) / s2 C = C (C0^-1 + diag(n) / s2) C = C. It is f less the mean that the
        posterior would have after noisy observations of f = F w, so C0 need not be invertible. One round costs
        O(A^2), and no A x A array is made.
        """
        n_arms, rank = self._factor.shape
        w, z = rng.standard_normal(n_arms)[:rank], rng.standard_normal(n_arms)
        prior = self._factor @ w
        precision = (self.posterior.counts - self._counts_before) / self.posterior.noise_variance
        return prior - self.posterior.covariance_times(precision * prior + np.sqrt(precision) * z)

    def ask(self, rng: np.random.Generator) -> int:
        """Return the best arm of one draw; ties as for every policy, by a permutation drawn first from `rng`."""
        if self._rank is None:
            self._rank = rng.permutation(self.posterior.n_arms)
        return best_arm(self.posterior.mean + self.width_in(self.t) * self.deviation(rng), self._rank)
