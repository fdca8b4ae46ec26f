"""Arms whose pull shows two layers, and the policy that uses both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kbrepro.kernels import Array, Matern, grid
from kbrepro.policies.base import Policy
from kbrepro.posterior import Posterior
from kbrepro.problems import Model, Problem, Trial


@dataclass(frozen=True, eq=False)
class TwoLayers(Problem):
    """A pull shows (half, reward): the reward is twice what the first layer gives, each with noise of its own."""

    def pull(self, arm: int, rng: np.random.Generator) -> tuple[float, float]:
        return super().pull(arm, rng) / 2, super().pull(arm, rng)


@dataclass(frozen=True)
class Hills:
    """Source of problems on n arms of [0, 1] with a hill at a random place."""

    n: int

    def __call__(self, trial: Trial) -> TwoLayers:
        points = grid(self.n)
        reward = np.exp(-20 * (points[:, 0] - trial.rng("function").random()) ** 2)
        return TwoLayers(Model(points, Matern(0.2, 2.5), noise_variance=0.01), reward)


class Both(Policy):
    """The largest mean + `width` sd after both layers are told: twice the first is an observation of the reward."""

    def __init__(self, model: Model, horizon: int, *, width: float = 2.0) -> None:
        self.width = width
        super().__init__(model, horizon)

    def prior(self, horizon: int) -> Posterior:
        return super().prior(2 * horizon)

    def index(self) -> Array:
        return self.posterior.mean + self.width * self.posterior.sd

    def tell(self, arm: int, observation: Any) -> None:
        half, reward = observation
        self.posterior.update(arm, 2 * half)
        super().tell(arm, reward)
