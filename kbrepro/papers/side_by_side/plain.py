"""Rules without a band, to compare with: epsilon-greedy on the posterior mean, and uniform play."""

from typing import Any

from kbrepro import checks
from kbrepro.policies import MeanOnly
from kbrepro.problems import Model


class EpsilonGreedy(MeanOnly):
    """The arm with the largest posterior mean, or with probability min(1, first t^(-1/3)) one drawn uniformly.

    The exponent is our choice: for finitely many arms without structure, exploring in t^(2/3) of t rounds balances the
    cost of exploring with what is learned. No proof is claimed. Raises ValueError unless first > 0.
    """

    def __init__(self, model: Model, horizon: int | None = None, *, first: float = 1.0, **settings: Any) -> None:
        super().__init__(model, horizon, **settings)
        checks.positive(first=first)
        self.first = first

    def choose(self) -> int:
        """Return the arm to pull."""
        greedy = super().choose()  # first, so that the order of ties is what is drawn first, as in every policy
        explores = self.rng.random() < self.first * self.t ** (-1 / 3)
        return self.any_arm() if explores else greedy


class UniformPlay(MeanOnly):
    """An arm drawn uniformly in every round."""

    def choose(self) -> int:
        """Return the arm to pull."""
        return self.any_arm()

    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        """Count the round; nothing is learned. Raises IndexError or ValueError as every policy."""
        checks.arm_index(arm, self.model.n_arms)
        checks.finite_number(observation=observation)
        self.t += 1
