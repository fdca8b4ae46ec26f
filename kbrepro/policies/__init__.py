"""Policies (acquisition rules) as ask/tell objects: `arm = policy.ask()`, then `policy.tell(arm,
observation)`.
"""

from kbrepro.policies.improvement import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.policies.thompson import PIMS, ThompsonSampling
from kbrepro.policies.ucb import UCB, MeanOnly, VarianceOnly
