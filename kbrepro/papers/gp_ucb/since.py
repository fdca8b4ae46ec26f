"""Rules of Takeno, Inatsu, Karasuyama and others for draws of the GP, with a proof.

They are given what GP-UCB is given, and have no parameter. PIMS is `kbrepro.PIMS`.
"""

import math
from typing import Any

from kbrepro import checks
from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.policies.improvement import log_expected_improvement
from kbrepro.bandits.policies.thompson import SampledMaximum
from kbrepro.bandits.problems import Model
from kbrepro.typing import Array


class IRGPUCB(Policy):
    """IRGP-UCB: mean + sqrt(zeta) sd, with a new zeta in each round.

    Takeno et al. (2023), arXiv 2302.01511: zeta = 2 log(n_arms / 2) + an exponential variable of
    mean 2. In round t the best arm exceeds its mean + sqrt(2
    log(n_arms / (2 u))) sd with probability at most u; zeta is the number under the root for u
    uniform on (0, 1), so that E[f(best)] is at most the expected largest index, for any t. Raises
    ValueError if there is only one arm.
    """

    def __init__(self, model: Model, horizon: int | None = None, **settings: Any) -> None:
        checks.at_least(2, n_arms=model.n_arms)
        super().__init__(model, horizon, **settings)

    def index(self) -> Array:
        zeta = 2 * math.log(self.model.n_arms / 2) + self.rng.exponential(2.0)
        return self.centred() + math.sqrt(zeta) * self.posterior.sd


class GPEIMS(SampledMaximum):
    """GP-EIMS: the arm with the largest E[max(f - g, 0)], g the maximum of one draw.

    Takeno, Inatsu, Karasuyama and Takeuchi (2025), arXiv 2507.09828. The index is its logarithm.
    """

    def index(self) -> Array:
        return log_expected_improvement(
            self.centred(), self.posterior.sd, self.target(), self.prior_sd
        )
