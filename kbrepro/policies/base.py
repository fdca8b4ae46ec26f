"""What all policies share: ask for an arm, tell what it gave, and one rule for ties.

Arms within 1e-10 (1 + |max|) of the maximum are tied, and a given order decides: exact float ties do not survive a
change of BLAS, so equality is never asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbrepro.kernels import Array
from kbrepro.posterior import Posterior, exact_posterior
from kbrepro.problems import Told

TOLERANCE = 1e-10


def best_arm(index: Array, rank: NDArray[np.int64] | None = None) -> int:
    """Return the arm of largest index (A,); among tied arms the one of lowest `rank` (A,), else of lowest number.

    Raises ValueError if an index is NaN.
    """
    top = index.max()
    if np.isnan(top):
        raise ValueError(f"index[{int(np.isnan(index).argmax())}] = nan is not allowed: index must not be NaN")
    slack = 0.0 if np.isinf(top) else TOLERANCE * (1 + abs(top))
    tied = np.flatnonzero(index >= top - slack)
    return int(tied[0] if rank is None else tied[rank[tied].argmin()])


class Policy:
    """Pulls the arm of largest `index`; ties fall by one permutation, the first thing drawn from `rng`.

    Made from what it is `told` and the horizon. With `random_opening` the first arm is uniformly at random instead. A
    subclass gives the index and, where it wants another than the exact posterior of all arms, its `prior`.
    """

    def __init__(self, told: Told, horizon: int, *, random_opening: bool = False) -> None:
        self.told, self.t, self.random_opening = told, 1, random_opening
        self.posterior = self.prior(horizon)
        self._rank: NDArray[np.int64] | None = None

    def prior(self, horizon: int) -> Posterior:
        """Return the posterior as it is before the first pull."""
        return exact_posterior(self.told.kernel, self.told.points, self.told.noise_variance, horizon)

    def index(self, rng: np.random.Generator) -> Array:
        """Return the index of every arm in this round, (A,)."""
        raise NotImplementedError

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull."""
        if self.random_opening and self.t == 1:
            return int(rng.integers(self.told.n_arms))
        if self._rank is None:
            self._rank = rng.permutation(self.told.n_arms)
        return best_arm(self.index(rng), self._rank)

    def tell(self, arm: int, observation: Any) -> None:
        """Take in what a pull of `arm` gave; IndexError on a bad arm, ValueError on a NaN."""
        self.posterior.update(arm, observation)
        self.t += 1
