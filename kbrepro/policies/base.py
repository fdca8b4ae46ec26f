"""What all index policies share: pull the arm of largest index, then update the posterior."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kbrepro.kernels import Array
from kbrepro.posterior import Posterior

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


class IndexPolicy:
    """A policy that pulls the arm of largest `index(t)`; subclasses give the index."""

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior
        self.t = 1
        self._rank: NDArray[np.int64] | None = None

    def index(self, t: int) -> Array:
        """Return the index of every arm in round t, (A,)."""
        raise NotImplementedError

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull; ties fall by one permutation, the first thing drawn from `rng`."""
        if self._rank is None:
            self._rank = rng.permutation(self.posterior.n_arms)
        return best_arm(self.index(self.t), self._rank)

    def tell(self, arm: int, observation: float) -> None:
        """Take in the observed reward of `arm`; IndexError on a bad arm, ValueError on a NaN."""
        self.posterior.update(arm, observation)
        self.t += 1


class BandPolicy(IndexPolicy):
    """A policy with a confidence band mean +- width * sd.

    `width(t)` gives the width in round t = 1, 2, ...; with `of_gain` it is `width(gain)` instead, gain (nats) the
    information gain of the pulls so far.
    """

    def __init__(self, posterior: Posterior, width: Callable[[float], float], of_gain: bool = False) -> None:
        super().__init__(posterior)
        self.width, self.of_gain = width, of_gain

    def width_in(self, t: int) -> float:
        """Return the width in round t, the gain being that of the pulls so far."""
        return self.width(self.posterior.gain if self.of_gain else t)

    def band_ratio(self, expected_reward: Array) -> float:
        """Return the largest |f - mean| / (width sd) over all arms before the next pull: the band holds if <= 1."""
        error = np.abs(expected_reward - self.posterior.mean)
        return float((error / (self.width_in(self.t) * self.posterior.sd)).max())
