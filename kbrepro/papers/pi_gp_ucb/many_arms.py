"""UCB over many arms: the arms of the plain rule, pulled many times faster (docs/exact_igp_ucb.md).

The posterior of all A arms is brought up to date once a block of pulls, in one matrix product. Inside a block only
the *members* are followed, the arms of largest index at its start. The rule needs no more: with m_s, sd_s the
posterior at the block's start, w_t the width of round t and z_j the whitened innovations of the block's pulls,

    mean_t(x) + w_t sd_t(x) <= m_s(x) + sqrt(w_t^2 + sum_j z_j^2) sd_s(x)        for every arm x,

so the block goes on while no arm outside can reach the best member, and ends otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kbrepro import checks
from kbrepro.confidence import improved_rkhs
from kbrepro.kernels import Array, Kernel
from kbrepro.policies.base import TOLERANCE, best_arm
from kbrepro.problems import Problem

#: Pulls of a block at most, and its members.
BLOCK, MEMBERS = 64, 640
#: An arm counts as within reach if its bound comes this close, relatively: for rounding in the bound itself.
BOUND_SLACK = 1e-12


class Block:
    """Posterior of some arms over the pulls of one block, exact: `RowPosterior` with a given prior.

    `mean`, `variance` (m,) and `covariance` (m, m) are those of the members at the block's start.
    """

    def __init__(self, mean: Array, variance: Array, covariance: Array, noise_variance: float) -> None:
        self.mean, self.variance, self._covariance = mean.copy(), variance.copy(), covariance
        self._noise_variance = noise_variance
        self._rows = np.empty((BLOCK, len(mean)))
        self._pulled: list[int] = []
        self._scales: list[float] = []
        self._innovations: list[float] = []

    def __len__(self) -> int:
        return len(self._pulled)

    @property
    def rows(self) -> Array:
        """The changes (b, m) that the b pulls brought: mean += z rows, variance -= rows^2 summed."""
        return self._rows[: len(self)]

    @property
    def factor(self) -> Array:
        """Lower Cholesky factor (b, b) of the covariance of the block's observations at its start."""
        return np.tril(self.rows[:, self._pulled].T, -1) + np.diag(self._scales)

    @property
    def innovations(self) -> Array:
        """Whitened innovations z (b,): observation minus its mean, over its standard deviation, one pull at a time."""
        return np.array(self._innovations)

    def update(self, member: int, observation: float) -> float:
        """Condition on one observation of `member` (an index into the members); return the information gained."""
        scale = np.sqrt(max(self.variance[member], 0.0) + self._noise_variance)
        row = (self._covariance[member] - self.rows[:, member] @ self.rows) / scale
        z = (observation - self.mean[member]) / scale
        self._rows[len(self)] = row
        self.mean += row * z
        self.variance -= row * row
        self._pulled.append(member)
        self._scales.append(scale)
        self._innovations.append(z)
        return float(np.log(scale / np.sqrt(self._noise_variance)))


class Covariance:
    """For few arms: the posterior covariance of all, and every arm a member."""

    def __init__(self, kernel: Kernel, arms: Array) -> None:
        self._matrix = kernel(arms, arms)

    def among(self, members: NDArray[np.int64]) -> Array:
        """Return the posterior covariance of the members; they are all arms."""
        return self._matrix

    def absorb(self, block: Block, pulled: NDArray[np.int64]) -> Array:
        """Take in a finished block; return its rows for all arms (b, A)."""
        self._matrix -= block.rows.T @ block.rows
        return block.rows


class Rows:
    """For many arms: V = L^-1 K(pulled, arms), one row a pull, filled a block at a time."""

    def __init__(self, kernel: Kernel, arms: Array, horizon: int) -> None:
        self._kernel, self._arms = kernel, arms
        self._rows = np.empty((horizon, len(arms)))
        self._n = 0

    def among(self, members: NDArray[np.int64]) -> Array:
        """Return the posterior covariance (m, m) of the members."""
        V = self._rows[: self._n].take(members, axis=1)
        return self._kernel(self._arms[members], self._arms[members]) - V.T @ V

    def absorb(self, block: Block, pulled: NDArray[np.int64]) -> Array:
        """Take in a finished block with its pulled arms (b,); return its rows for all arms (b, A)."""
        V, new = self._rows[: self._n], self._rows[self._n : self._n + len(block)]
        new[:] = self._kernel(self._arms[pulled], self._arms)
        if self._n:
            new -= V.take(pulled, axis=1).T @ V
        new[:] = solve_triangular(block.factor, new, lower=True)
        self._n += len(block)
        return new


class LazyUCB:
    """mean + width(gain) sd over A arms, the arm of largest index and the tie rule as `UCB` of an exact posterior.

    `width(gain)`: gain (nats) is that of the pulls so far. At most `horizon` pulls; memory 8 horizon A bytes, or
    8 A^2 where A is at most `horizon` / 2.
    """

    def __init__(
        self, kernel: Kernel, arms: Array, noise_variance: float, width: Callable[[float], float], horizon: int
    ) -> None:
        checks.positive(noise_variance=noise_variance)
        checks.positive_int(horizon=horizon)
        self.width, self.horizon, self.t, self.gain = width, horizon, 1, 0.0
        self._noise_variance = noise_variance
        self._mean, self._variance = np.zeros(len(arms)), kernel.diag(arms).astype(float)
        few = len(arms) <= max(MEMBERS, horizon / 2)
        self._store = Covariance(kernel, arms) if few else Rows(kernel, arms, horizon)
        self._n_members = len(arms) if few else MEMBERS
        self._rank: NDArray[np.int64] | None = None
        self._block: Block | None = None

    @property
    def mean(self) -> Array:
        """Posterior mean of every arm, (A,)."""
        self._end_block()
        return self._mean

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of every arm, (A,)."""
        self._end_block()
        return np.sqrt(np.maximum(self._variance, 0.0))

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull; ties fall by one permutation, the first thing drawn from `rng`."""
        if self._rank is None:
            self._rank = rng.permutation(len(self._mean))
        width = self.width(self.gain)
        if self._block is not None and len(self._block) < BLOCK:
            index = self._block.mean + width * np.sqrt(np.maximum(self._block.variance, 0.0))
            if not self._outside_in_reach(index.max(), width):
                return int(self._members[best_arm(index, self._rank[self._members])])
        return best_arm(self.mean + width * self.sd, self._rank)

    def tell(self, arm: int, observation: float) -> None:
        """Take in the observed reward of `arm`; IndexError on a bad arm, ValueError on a NaN or past the horizon."""
        checks.arm_index(arm, len(self._mean))
        checks.finite_number(observation=observation)
        if self.t > self.horizon:
            raise ValueError(f"pull {self.t} is not allowed: the horizon is {self.horizon}")
        if self._block is None or len(self._block) == BLOCK or self._place[arm] < 0:
            self._begin_block(arm)
        self._pulled.append(arm)
        self.gain += self._block.update(int(self._place[arm]), observation)
        self.t += 1

    def _outside_in_reach(self, best: float, width: float) -> bool:
        """Whether the bound of an arm that is no member reaches the best member's index, or a tie with it."""
        if len(self._members) == len(self._mean):
            return False
        inflated = np.sqrt(width**2 + np.sum(self._block.innovations**2))
        bound = (self._outside_mean + inflated * self._outside_sd).max()
        return bound >= best - (TOLERANCE + BOUND_SLACK) * (1 + abs(best))

    def _begin_block(self, arm: int) -> None:
        """Start a block with `arm` and the arms of largest index as members."""
        mean, sd = self.mean, self.sd
        if self._n_members == len(mean):
            self._members = np.arange(len(mean))
        else:
            index = mean + self.width(self.gain) * sd
            index[arm] = np.inf
            self._members = np.sort(np.argpartition(index, -self._n_members)[-self._n_members :])
        self._place = np.full(len(mean), -1)
        self._place[self._members] = np.arange(len(self._members))
        outside = self._place < 0
        self._outside_mean, self._outside_sd = mean[outside], sd[outside]
        covariance = self._store.among(self._members)
        self._block = Block(mean[self._members], self._variance[self._members], covariance, self._noise_variance)
        self._pulled: list[int] = []

    def _end_block(self) -> None:
        """Bring all arms up to date."""
        if self._block is not None:
            rows = self._store.absorb(self._block, np.array(self._pulled))
            self._mean = self._mean + self._block.innovations @ rows
            self._variance = self._variance - np.einsum("ja,ja->a", rows, rows)
            self._block = None


def igp_ucb(problem: Problem, horizon: int, *, noise_scale: float, delta: float) -> LazyUCB:
    """Return IGP-UCB with the exact information gain, for a problem that tells its `norm`.

    Chowdhury and Gopalan, Algorithm 1; Janz et al., eq. 3, with the gain of the pulls so far in round t.
    """
    checks.positive(norm=problem.norm)
    width = partial(improved_rkhs, norm=problem.norm, noise_scale=noise_scale, delta=delta)
    return LazyUCB(problem.kernel, problem.arms, problem.noise_variance, width, horizon)
