"""The two rules of Fig. 5 whose index is the same for all arms before the first pull, and margins
in units of the prior.

By default a random arm begins, which the paper does not say; these begin with the arm of the
largest prior variance.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kbrepro.bandits.policies import MeanOnly, ProbabilityOfImprovement
from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.problems import Model
from kbrepro.typing import Integers


def in_prior_sds(
    model: Model, horizon: int, *, rule: Callable[..., Policy], margin: float, **settings: Any
) -> Policy:
    """Return a policy of a `rule` whose margin is this share of the root of the mean prior
    variance.
    """
    sd = math.sqrt(model.kernel.diag(model.points).mean())
    return rule(model, horizon, margin=margin * sd, **settings)


class LargestVarianceFirst(Policy):
    """Arms that tie are pulled from the largest prior variance on; in random order if that ties."""

    def ties(self) -> Integers:
        permutation = super().ties()
        variance = self.model.kernel.diag(self.model.points)
        return np.lexsort((permutation, -variance)).argsort()


class MeanOnlyVaried(LargestVarianceFirst, MeanOnly):
    """`MeanOnly`, from the largest prior variance on."""


class MPIVaried(LargestVarianceFirst, ProbabilityOfImprovement):
    """`ProbabilityOfImprovement`, from the largest prior variance on: it ties with margin 0."""
