"""Rules of Takeno, Inatsu, Karasuyama and others: no parameter, and a bound on the expected regret for draws of the GP.

They are given what GP-UCB is given, without its confidence parameter.
"""

import math
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.policies.base import Policy
from kbrepro.policies.improvement import log_expected_improvement, z_score
from kbrepro.policies.thompson import Sampling
from kbrepro.problems import Model


class IRGPUCB(Policy):
    """IRGP-UCB: mean + sqrt(zeta) sd, zeta = 2 log(n_arms / 2) + an exponential variable of mean 2, fresh each round.

    Takeno et al. (2023), arXiv 2302.01511. In round t the best arm exceeds its mean + sqrt(2 log(n_arms / (2 u))) sd
    with probability at most u; zeta is the number under the root for u uniform on (0, 1), so that E[f(best)] is at
    most the expected largest index, for any t. Raises ValueError if there is only one arm.
    """

    def __init__(self, model: Model, horizon: int, **settings: Any) -> None:
        checks.at_least(2, n_arms=model.n_arms)
        super().__init__(model, horizon, **settings)

    def index(self, rng: np.random.Generator) -> Array:
        zeta = 2 * math.log(self.model.n_arms / 2) + rng.exponential(2.0)
        return self.posterior.mean + math.sqrt(zeta) * self.posterior.sd


class SampledMaximum(Sampling):
    """A policy that improves on the largest value of one draw from the posterior."""

    unit = 1.0  # of a logarithm and of a z score

    def target(self, rng: np.random.Generator) -> float:
        """Return the largest value of one draw."""
        return float((self.posterior.mean + self.deviation(rng)).max())


class PIMS(SampledMaximum):
    """PIMS: the arm most likely to exceed the maximum g of one draw, by (mean - g) / sd.

    Takeno et al. (2024), arXiv 2311.03760.
    """

    def index(self, rng: np.random.Generator) -> Array:
        return z_score(self.posterior, self.target(rng))


class GPEIMS(SampledMaximum):
    """GP-EIMS: the arm with the largest E[max(f - g, 0)], g the maximum of one draw; ranked by its logarithm.

    Takeno, Inatsu, Karasuyama and Takeuchi (2025), arXiv 2507.09828.
    """

    def index(self, rng: np.random.Generator) -> Array:
        return log_expected_improvement(self.posterior, self.target(rng), self.prior_sd)
