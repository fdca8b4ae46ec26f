"""UCB over many arms: the arms of the plain rule, pulled many times faster (docs/exact_igp_ucb.md).

The posterior of all A arms is brought up to date once a block of pulls, in one matrix product. Inside a block only
the *members* are followed at every pull, the arms of largest index at its start. Of any other arm x the rule needs no
more than a bound: with m_s, sd_s its posterior after s pulls, w_t the width of round t > s and z_j the whitened
innovation of pull j,

    mean_t(x) + w_t sd_t(x) <= m_s(x) + sqrt(w_t^2 + sum_{s < j < t} z_j^2) sd_s(x).

An arm whose bound reaches the best member is renewed: brought up to date by itself, so that its bound starts afresh. If
it can win all the same it becomes a member. The block ends when a new one is cheaper than so many renewals.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kbrepro import checks, posterior
from kbrepro.kernels import Array, Kernel
from kbrepro.policies import UCB
from kbrepro.policies.base import TOLERANCE, best_arm

Arms = NDArray[np.int64]

#: Pulls of a block at most, its members at the start, and how many more it may take in at once.
BLOCK, MEMBERS, TAKEN_IN = 64, 384, 64
#: Renewals of a block at most, as a share of all arms: more of them cost as much as a new block.
RENEWED = 1 / 4
#: An arm counts as within reach if its bound comes this close, relatively: for rounding in the bound and its sum.
BOUND_SLACK = 1e-12


class Block:
    """Posterior of some arms over the pulls of one block, exact: `posterior.RowPosterior` with a given prior.

    `mean`, `variance` (m,) and `covariance` (m, m) are those of the members at the block's start. Attributes: `pulled`,
    indices into the members; `innovations`, every observation minus its mean over its standard deviation, one pull at a
    time, and `energy`, the sum of their squares; `rows()` (b, m), the changes that the b pulls brought: mean +=
    innovation row, variance -= row^2.
    """

    def __init__(self, mean: Array, variance: Array, covariance: Array, noise_variance: float) -> None:
        self.mean, self.variance, self._covariance = mean.copy(), variance.copy(), covariance
        self._noise_variance = noise_variance
        self.rows = posterior.Rows(len(mean))
        self.pulled: list[int] = []
        self.innovations: list[float] = []
        self.energy = 0.0
        self._scales: list[float] = []

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of every member, (m,)."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    def add(self, mean: Array, variance: Array, covariance: Array, rows: Array) -> None:
        """Add k members: their mean and variance now (k,), covariance (k, m + k) at the start with all, rows (b, k)."""
        k, old = len(mean), self.rows()
        self.mean, self.variance = np.append(self.mean, mean), np.append(self.variance, variance)
        self._covariance = np.block([[self._covariance, covariance[:, :-k].T], [covariance]])
        self.rows = posterior.Rows(len(self.mean))
        for row in np.hstack([old, rows]):
            self.rows.append(row)

    @property
    def factor(self) -> Array:
        """Lower Cholesky factor (b, b) of the covariance of the block's observations at its start."""
        return np.tril(self.rows()[:, self.pulled].T, -1) + np.diag(self._scales)

    def update(self, member: int, observation: float) -> float:
        """Condition on one observation of `member` (an index into the members); return the information gained."""
        rows = self.rows()
        scale = np.sqrt(max(self.variance[member], 0.0) + self._noise_variance)
        row = (self._covariance[member] - rows[:, member] @ rows) / scale
        innovation = (observation - self.mean[member]) / scale
        self.rows.append(row)
        self.mean += row * innovation
        self.variance -= row * row
        self.pulled.append(member)
        self.innovations.append(innovation)
        self.energy += innovation**2
        self._scales.append(scale)
        return float(np.log(scale / np.sqrt(self._noise_variance)))


class KeptCovariance:
    """For few arms: the posterior covariance of all, and every arm a member."""

    def __init__(self, kernel: Kernel, points: Array) -> None:
        self._matrix = kernel(points, points)

    def among(self, members: Arms, some: Arms | None = None) -> Array:
        """Return the posterior covariance of some arms with the members; these are all arms."""
        return self._matrix if some is None else self._matrix[some]

    def rows(self, block: Block, pulled: Arms, arms: Arms | slice) -> Array:
        """Return the rows (b, m) of a block, for m arms."""
        return block.rows()[:, arms]

    def absorb(self, block: Block, pulled: Arms) -> Array:
        """Take in a finished block; return its rows for all arms (b, A)."""
        rows = block.rows()
        self._matrix -= rows.T @ rows
        return rows


class KeptRows:
    """For many arms: the columns of V = L^-1 K(pulled, arms), each in one piece, filled a block at a time."""

    def __init__(self, kernel: Kernel, points: Array, horizon: int) -> None:
        self._kernel, self._points = kernel, points
        self._columns = np.empty((len(points), horizon))
        self._n = 0

    def among(self, members: Arms, some: Arms | None = None) -> Array:
        """Return the posterior covariance of some arms (k,) with the members (m,), (k, m); by default the members'."""
        V = self._columns[members, : self._n]
        W = V if some is None else self._columns[some, : self._n]
        return self._kernel(self._points[members if some is None else some], self._points[members]) - W @ V.T

    def rows(self, block: Block, pulled: Arms, arms: Arms | slice) -> Array:
        """Return the rows (b, m) of a block with its pulled arms (b,), for m arms."""
        covariance = self._kernel(self._points[pulled], self._points[arms])
        covariance -= self._columns[pulled, : self._n] @ self._columns[arms, : self._n].T
        return solve_triangular(block.factor, covariance, lower=True)

    def absorb(self, block: Block, pulled: Arms) -> Array:
        """Take in a finished block with its pulled arms (b,); return its rows for all arms (b, A)."""
        rows = self.rows(block, pulled, slice(None))
        self._columns[:, self._n : self._n + len(pulled)] = rows.T
        self._n += len(pulled)
        return rows


Kept = KeptCovariance | KeptRows


class Outside(NamedTuple):
    """The arms that are no members: numbers, mean, sd, and the block's energy when each was renewed, (n,) each."""

    arms: Arms
    mean: Array
    sd: Array
    energy: Array


class BlockPosterior:
    """Exact posterior of A arms of which only some, the members of a block, are brought up to date at every pull.

    Attributes: `gain` (nats) of the pulls so far; `n_blocks` ended so far; `block`, the posterior of the `members`
    (m,), arm numbers, or None between two blocks. At most `horizon` pulls; memory 8 horizon A
    bytes, or 8 A^2 where A is at most `horizon` / 2.
    """

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float, horizon: int) -> None:
        checks.positive(noise_variance=noise_variance)
        checks.positive_int(horizon=horizon)
        self.noise_variance, self.horizon, self.gain = noise_variance, horizon, 0.0
        self.n_blocks = self._n_pulls = 0
        self._mean: Array = np.zeros(len(points))
        self._variance = kernel.diag(points).astype(float)
        few = len(points) <= max(MEMBERS, horizon / 2)
        self._store: Kept = KeptCovariance(kernel, points) if few else KeptRows(kernel, points, horizon)
        self._n_members = len(points) if few else MEMBERS
        self.block: Block | None = None
        self.members: Arms = np.empty(0, dtype=int)
        self._place: Arms = np.full(len(points), -1)  # of every arm among the members, -1 outside
        self._outside, self._n_renewed = Outside(self.members, *[np.empty(0)] * 3), 0

    @property
    def mean(self) -> Array:
        """Posterior mean of every arm, (A,); ends the block if there were pulls in it."""
        self._catch_up()
        return self._mean

    @property
    def sd(self) -> Array:
        """Posterior standard deviation of every arm, (A,); ends the block if there were pulls in it."""
        self._catch_up()
        return np.sqrt(np.maximum(self._variance, 0.0))

    def follow(self, index: Array, arm: int) -> Block:
        """Begin a block whose members are `arm` and the arms of largest `index` (A,)."""
        mean, sd = self.mean, self.sd
        index = np.where(np.arange(len(mean)) == arm, np.inf, index)
        self.members = np.sort(np.argpartition(index, -self._n_members)[-self._n_members :])
        self._place = np.full(len(mean), -1)
        self._place[self.members] = np.arange(len(self.members))
        outside = np.flatnonzero(self._place < 0)
        self._outside = Outside(outside, mean[outside], sd[outside], np.zeros(len(outside)))
        self._n_renewed = 0
        covariance = self._store.among(self.members)
        self.block = Block(mean[self.members], self._variance[self.members], covariance, self.noise_variance)
        return self.block

    def stays_below(self, level: float, width: float) -> bool:
        """Return True if mean + width sd is below `level` at every arm that is no member, False if it may not be.

        False between two blocks, too. Renews the arms whose bound is not below it, and takes in as members those that
        are not; few of both.
        """
        block, outside = self.block, self._outside
        if block is None:
            return False
        since = (1 + BOUND_SLACK) * block.energy - outside.energy
        bound = outside.mean + np.sqrt(width**2 + since) * outside.sd
        reach = np.flatnonzero(~(bound < level))
        self._n_renewed += len(reach)
        if not len(reach):
            return True
        if self._n_renewed > RENEWED * len(self._mean) or np.any(outside.energy[reach] == block.energy):
            return False
        arms = outside.arms[reach]
        rows = self._store.rows(block, self.members[block.pulled], arms)
        mean, variance = self._after(block, rows, arms)
        outside.mean[reach], outside.sd[reach] = mean, np.sqrt(np.maximum(variance, 0.0))
        outside.energy[reach] = block.energy
        can_win = np.flatnonzero(~(mean + width * outside.sd[reach] < level))
        if len(can_win) > TAKEN_IN:
            return False
        if len(can_win):
            new = arms[can_win]
            self.members = np.append(self.members, new)
            self._place[new] = np.arange(len(self.members) - len(new), len(self.members))
            block.add(mean[can_win], variance[can_win], self._store.among(self.members, new), rows[:, can_win])
            self._outside = Outside._make(np.delete(part, reach[can_win]) for part in outside)
        return True

    def update(self, arm: int, observation: float) -> None:
        """Condition on one observation of `arm`; IndexError on a bad arm, ValueError on a NaN or past the horizon.

        An arm that is not followed begins a block of its own, with the arms of largest standard deviation.
        """
        checks.arm_index(arm, len(self._mean))
        checks.finite_number(observation=observation)
        if self._n_pulls == self.horizon:
            raise ValueError(f"pull {self._n_pulls + 1} is not allowed: the horizon is {self.horizon}")
        block = self.block
        if block is None or self._place[arm] < 0:
            block = self.follow(self.sd, arm)
        self.gain += block.update(int(self._place[arm]), observation)
        self._n_pulls += 1
        if len(block.pulled) == BLOCK:
            self._catch_up()

    def _catch_up(self) -> None:
        """End the block if there were pulls in it: bring all arms up to date."""
        if self.block is not None and self.block.pulled:
            rows = self._store.absorb(self.block, self.members[self.block.pulled])
            self._mean, self._variance = self._after(self.block, rows, slice(None))
            self.block, self.n_blocks = None, self.n_blocks + 1

    def _after(self, block: Block, rows: Array, arms: Arms | slice) -> tuple[Array, Array]:
        """Return mean and variance of some arms after the pulls of the block, from its rows for them."""
        mean: Array = self._mean[arms] + np.array(block.innovations) @ rows
        return mean, self._variance[arms] - np.einsum("ja,ja->a", rows, rows)


class LazyUCB(UCB):
    """The arms of `UCB`, from a posterior that looks at all arms only where one of them could be the best.

    With `width=Improved(delta)` this is IGP-UCB with the exact information gain (Chowdhury and Gopalan, Algorithm 1;
    Janz et al., eq. 3).
    """

    posterior: BlockPosterior

    def prior(self, horizon: int) -> BlockPosterior:
        return BlockPosterior(self.model.kernel, self.model.points, self.model.noise_variance, horizon)

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull; draws and ties as in `UCB`."""
        block, members = self.posterior.block, self.posterior.members
        if block is not None and self._rank is not None:
            width = self.width(self)
            index = block.mean + width * block.sd
            best = index.max()
            # otherwise an arm that is no member might win, or tie
            if self.posterior.stays_below(best - (TOLERANCE + BOUND_SLACK) * (1 + abs(best)), width):
                index, members = block.mean + width * block.sd, self.posterior.members
                return int(members[best_arm(index, self._rank[members])])
        arm = super().ask(rng)
        self.posterior.follow(self.index(rng), arm)
        return arm
