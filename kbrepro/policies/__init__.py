"""Policies (acquisition rules) as ask/tell objects: `arm = policy.ask()`, then `policy.tell(arm,
observation)`.
"""

from kbrepro.policies.improvement import ExpectedImprovement as ExpectedImprovement
from kbrepro.policies.improvement import ProbabilityOfImprovement as ProbabilityOfImprovement
from kbrepro.policies.thompson import PIMS as PIMS
from kbrepro.policies.thompson import ThompsonSampling as ThompsonSampling
from kbrepro.policies.ucb import UCB as UCB
from kbrepro.policies.ucb import MeanOnly as MeanOnly
from kbrepro.policies.ucb import VarianceOnly as VarianceOnly
