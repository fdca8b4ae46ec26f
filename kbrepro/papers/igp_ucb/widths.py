"""The width that IGP-UCB is compared with; its own is `confidence.Chowdhury2017`."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kbrepro.bandits.confidence import Probable
from kbrepro.bandits.policies import UCB


@dataclass(frozen=True)
class Original(Probable):
    """sqrt(2 norm^2 + 300 gain(t - 1) log^3(t / delta)).

    The GP-UCB of Chowdhury & Gopalan, Section 3: Theorem 3 of Srinivas et al. with gamma_{t-1} for
    gamma_t. `gain` gives the information gain (nats) of the pulls before a round.
    """

    gain: Callable[[int], float]

    def __call__(self, policy: UCB) -> float:
        cubed = math.log(policy.t / self.delta) ** 3
        grown = 300 * self.gain(policy.t - 1) * cubed
        return np.sqrt(2 * policy.model.known_norm**2 + grown)
