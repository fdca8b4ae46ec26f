"""Draws from the posterior of a finite set of arms, without a factorisation per round, and Thompson sampling."""

from typing import Any

import numpy as np

from kbrepro.kernels import Array
from kbrepro.policies.base import Policy
from kbrepro.policies.ucb import UCB
from kbrepro.posterior import CovariancePosterior
from kbrepro.problems import Model, covariance_factor


class Sampling(Policy):
    """A policy that draws functions from its posterior; subclasses give the index."""

    posterior: CovariancePosterior

    def __init__(self, model: Model, horizon: int, **settings: Any) -> None:
        super().__init__(model, horizon, **settings)
        self._factor = covariance_factor(model.kernel(model.points, model.points))

    def prior(self, horizon: int) -> CovariancePosterior:
        return CovariancePosterior(self.model.kernel, self.model.points, self.model.noise_variance)

    def deviation(self, rng: np.random.Generator) -> Array:
        """Return one draw (A,) of f - mean from the posterior.

        Let C0 = F F^T be the prior covariance, n the pulls of each arm and s2 the noise variance, so that
        C = (C0^-1 + diag(n) / s2)^-1. With w and z standard normal,

            F w - C (n F w / s2 + sqrt(n / s2) z) = C C0^-1 F w - C sqrt(n / s2) z

        has the covariance C C0^-1 C + C diag(n) / s2 C = C (C0^-1 + diag(n) / s2) C = C. It is f less the mean that the
        posterior would have after noisy observations of f = F w, so C0 need not be invertible. One round costs
        O(A^2), and no A x A array is made.
        """
        n_arms, rank = len(self._factor), self._factor.shape[1]
        w, z = rng.standard_normal(n_arms)[:rank], rng.standard_normal(n_arms)
        prior, precision = self._factor @ w, self.posterior.counts / self.posterior.noise_variance
        return prior - self.posterior.covariance_times(precision * prior + np.sqrt(precision) * z)


class ThompsonSampling(Sampling, UCB):
    """GP-TS: the best arm of one draw from N(mean, width^2 covariance) (Chowdhury & Gopalan, Algorithm 2)."""

    def index(self, rng: np.random.Generator) -> Array:
        return self.posterior.mean + self.width(self) * self.deviation(rng)
