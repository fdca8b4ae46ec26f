"""Bandit policies as ask/tell objects: `arm = policy.ask(rng)`, then `policy.tell(arm, observation)`."""

from kbrepro.policies.budgeted import BKB, bkb
from kbrepro.policies.improvement import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.policies.ucb import UCB, MeanOnly, VarianceOnly

__all__ = ["BKB", "UCB", "ExpectedImprovement", "MeanOnly", "ProbabilityOfImprovement", "VarianceOnly", "bkb"]
