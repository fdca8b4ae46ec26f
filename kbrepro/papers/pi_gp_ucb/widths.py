"""The width of GP-UCB, of which the paper says that IGP-UCB improves on it."""

import math
from dataclasses import dataclass

from kbrepro.bandits.confidence import Asking, Probable


@dataclass(frozen=True)
class Srinivas2010Norm(Probable):
    """sqrt(2 norm^2 + 300 gain log^3(t / delta)), the gain (nats) that of the pulls so far.

    Srinivas et al., Theorem 3, for a function of known norm. They use the largest gain of t rounds.
    """

    def __call__(self, policy: Asking) -> float:
        cubed = math.log(policy.t / self.delta) ** 3
        return math.sqrt(2 * policy.model.known_norm**2 + 300 * policy.posterior.gain * cubed)
