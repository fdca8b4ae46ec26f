"""The two rules of Fig. 5 whose index is the same for all arms before the first pull.

By default a random arm begins, which the paper does not say; these begin with the arm of the
largest prior variance.
"""

import numpy as np

from kbrepro.bandits.policies import MeanOnly, ProbabilityOfImprovement
from kbrepro.bandits.policies.base import Policy
from kbrepro.typing import Integers


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
