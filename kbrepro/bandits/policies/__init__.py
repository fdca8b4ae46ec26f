"""Policies (acquisition rules) as ask/tell objects: `arm = policy.ask()`, then `policy.tell(arm,
observation)`.
"""

from kbrepro.bandits.policies.improvement import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.bandits.policies.thompson import PIMS, ThompsonSampling
from kbrepro.bandits.policies.ucb import UCB, MeanOnly, VarianceOnly
