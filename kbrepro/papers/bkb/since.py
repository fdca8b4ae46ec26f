"""mini-GP-UCB: exact GP-UCB that stays with an arm, so that it chooses a few times only.

Calandriello, Carratino, Lazaric, Valko & Rosasco (2022), arXiv 2201.12909.
"""

from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.bandits.problems import Model


class CountedPosterior(RowPosterior):
    """The exact posterior of all arms with one row for a whole sequence of pulls of one arm."""

    def repeat(self, arm: int, observations: list[float]) -> None:
        """Condition on n observations of `arm` at the cost of one."""
        n = len(observations)
        mean = float(np.mean(observations))
        self.update(arm, mean, self.noise_variance / n)
        self._counts[arm] += n - 1


class MiniUCB(UCB):
    """GP-UCB that stays with the arm x that it chose while nothing much can change.

    That is for max(1, floor((C^2 - 1) lambda / variance(x))) rounds: n pulls of x divide its
    variance by 1 + n variance / lambda, and that of any other arm by no more (Cauchy-Schwarz on the
    covariance): as long as it stays, no standard deviation falls by more than the factor C.
    `squared_c` is C^2 > 1; with C near 1 it is GP-UCB. `choices` counts how often it chose. To go
    on later it must be saved. Raises ValueError unless squared_c > 1.
    """

    takes: tuple[str, ...] = ()
    posterior: CountedPosterior

    def __init__(
        self, model: Model, horizon: int | None = None, *, squared_c: float, **settings: Any
    ) -> None:
        if not squared_c > 1:
            raise ValueError(f"squared_c = {squared_c!r} is not allowed: squared_c must be above 1")
        super().__init__(model, horizon, form=CountedPosterior, **settings)
        self.squared_c = squared_c
        self.choices = 0
        self._arm = -1
        self._stays = 0
        self._observed: list[float] = []

    def choose(self) -> int:
        if not self._stays:
            self._arm = super().choose()
            scaled = self.posterior.variance[self._arm] / self.model.noise_variance
            self._stays = max(1, int((self.squared_c - 1) / max(scaled, 1e-12)))
            self.choices += 1
        return self._arm

    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Take in what a pull gave, after its batch; ValueError unless it was asked for."""
        if arm != self._arm or not self._stays:
            raise ValueError(f"arm = {arm} is not allowed: arm must be what `ask` returned last")
        checks.finite_number(observation=observation)
        observed = [*self._observed, observation]
        if self._stays == 1:
            self.posterior.repeat(arm, observed)
            observed = []
        self._observed = observed
        self._stays -= 1
        self.t += 1
