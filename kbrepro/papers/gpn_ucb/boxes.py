"""Confidence sets for the outputs of every layer: intervals for chains, boxes for feed-forward networks.

A layer holds |f - mean| <= B sd (Li & Scarlett, Lemma 1), with certainty. Knowing that it is Lipschitz continuous, each
bound can be replaced by its envelope (eqs. 9-10, 17), and the sets are carried from layer to layer (eqs. 11, 20). Two
ways to do this on a grid:

- `paper`: the set of a layer's input is replaced by the grid points inside it, or by its corners if there are none
  (appendix L.2). Fast and tight, but what lies between grid points is not looked at.
- `outward`: the set is widened by half a cell, and L times half a diagonal of a cell is added to the bounds. Every
  point of the set then has a grid point that speaks for it, and the sets are valid.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.kernels import Array, grid
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior

#: Slack, in cells, when a box is turned into grid indices: more points only widen a set.
INDEX_SLACK = 1e-9


@dataclass(frozen=True)
class CubeGrid:
    """n points a side on [low, high]^d; row-major, as `kernels.grid`. Raises ValueError unless low < high, n >= 2."""

    low: float
    high: float
    n: int
    d: int = 1

    def __post_init__(self) -> None:
        checks.finite_number(low=self.low, high=self.high)
        checks.at_least(2, n=self.n)
        checks.positive_int(d=self.d)
        if self.low >= self.high:
            raise ValueError(f"low = {self.low} is not allowed: low must be below high = {self.high}")

    @property
    def points(self) -> Array:
        """The (n**d, d) points."""
        return grid(self.n, self.d, self.low, self.high)

    @property
    def step(self) -> float:
        """Distance of neighbours along an axis."""
        return (self.high - self.low) / (self.n - 1)

    @property
    def half_diagonal(self) -> float:
        """Half a diagonal of a cell: no point of the cube is farther from its nearest grid point."""
        return self.step * np.sqrt(self.d) / 2

    def must_cover(self, reach: float) -> None:
        """Raise ValueError unless [-reach, reach] lies in [low, high]."""
        if self.low > -reach or self.high < reach:
            raise ValueError(
                f"the grid [{self.low}, {self.high}] misses outputs of the layer: it must hold [-{reach:g}, {reach:g}]"
            )


def lower_envelope(values: Array, slopes: Array) -> Array:
    """Return min over j of values[j] + slopes[i, j] for every i: values (P, k), slopes (Q, P) -> (Q, k).

    With values mean + B sd at the grid points and slopes L |z_i - z_j|, infinite where the two are not neighbours, it
    is the upper bound of Li & Scarlett, eq. 9; the lower bound, eq. 10, is `-lower_envelope(-values, slopes)`.
    """
    return np.stack([(slopes + column).min(axis=1) for column in values.T], axis=1)


def neighbour_slopes(Z: Array, points: Array, lipschitz: float, radius: float) -> Array:
    """Return L |z - p|, infinite where the distance exceeds `radius`: Z (Q, d), points (P, d) -> (Q, P)."""
    distance = cdist(Z, points)
    return np.where(distance <= radius * (1 + 1e-12), lipschitz * distance, np.inf)


def box_maxima(values: Array) -> Array:
    """Return the maxima over all boxes of grid points: values (n,) * d + (k,) -> (n, n) * d + (k,).

    Entry [a_1, b_1, ..., a_d, b_d, j] is the maximum of values[..., j] over a_i <= index_i <= b_i, -inf if a_i > b_i.
    """
    d = values.ndim - 1
    for axis in range(d):
        place = 2 * axis
        n = values.shape[place]
        spread = np.repeat(np.expand_dims(values, place), n, axis=place)  # [.., a, b, ..] holds values[.., b, ..]
        shape = [1] * spread.ndim
        shape[place], shape[place + 1] = n, n
        allowed = np.triu(np.ones((n, n), dtype=bool)).reshape(shape)
        values = np.maximum.accumulate(np.where(allowed, spread, -np.inf), axis=place + 1)
    return values


def box_indices(cube: CubeGrid, low: Array, high: Array, dilate: float) -> tuple[Array, Array]:
    """Return first and last grid index inside boxes [low - dilate, high + dilate], each (A, d), clipped to the grid.

    First exceeds last along an axis where no grid point lies inside.
    """
    first = np.ceil((low - dilate - cube.low) / cube.step - INDEX_SLACK)
    last = np.floor((high + dilate - cube.low) / cube.step + INDEX_SLACK)
    clip = cube.n - 1
    return np.clip(first, 0, clip + 1).astype(int), np.clip(last, -1, clip).astype(int)


def corners(low: Array, high: Array) -> Array:
    """Return the 2^d corners of boxes (A, d), as (A, 2^d, d)."""
    ends = np.stack([low, high])
    axes = range(low.shape[1])
    return np.stack(
        [
            np.stack([ends[side, :, axis] for axis, side in zip(axes, sides, strict=True)], axis=-1)
            for sides in itertools.product((0, 1), repeat=low.shape[1])
        ],
        axis=1,
    )


MODES = ("paper", "outward")
#: Rounding that is not a violation, in units of the outputs.
ROUNDING = 1e-10


class NetworkSets:
    """Posteriors of all layers on the arms and on grids; subclasses carry the sets through the layers.

    `n_grid` points a side on [-half_width, half_width]^d for the input of every layer but the first, envelopes over
    neighbours within `radius` (L.2 has 100 points, 5 and 1). `mode` is `paper` or `outward`. Raises ValueError if a
    grid does not hold all that the layer before it can return.
    """

    def __init__(self, problem: NetworkProblem, n_grid: int, half_width: float, radius: float, mode: str) -> None:
        checks.positive(half_width=half_width, radius=radius)
        checks.one_of(MODES, mode=mode)
        self.problem, self.radius, self.outward = problem, radius, mode == "outward"
        widths = [output.shape[1] for output in problem.outputs]
        self.cubes = [CubeGrid(-half_width, half_width, n_grid, d) for d in widths[:-1]]
        for i, cube in enumerate(self.cubes):
            cube.must_cover(problem.reach(i))

    def update(self, arm: int, observation: Array) -> None:
        """Take in the outputs of all layers at `arm` (as `NetworkProblem.pull` returns them)."""
        checks.arm_index(arm, len(self.problem.arms))
        z = self.problem.first_inputs[arm]
        for i, (posterior, y) in enumerate(zip(self.posteriors, self.problem.split(observation), strict=True)):
            posterior.update(np.concatenate([z, self.problem.extras(i)[arm]]), y)
            z = y

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,)."""
        raise NotImplementedError

    def covers(self) -> Array:
        """Return for every arm (A,) whether its sets hold the true outputs of all layers and the true reward."""
        raise NotImplementedError

    def realised_sd(self, arm: int) -> Array:
        """Return the posterior sd of every layer at its true input under `arm`, (m,); no policy may look at it."""
        z, sds = self.problem.first_inputs[arm], []
        for i, posterior in enumerate(self.posteriors):
            at = np.concatenate([z, self.problem.extras(i)[arm]])[None, :]
            sds.append(np.sqrt(posterior.at(at)[1][0]))
            z = self.problem.outputs[i][arm]
        return np.array(sds)

    def _reward_inside(self) -> Array:
        lower, upper = self.bounds()
        g = self.problem.expected_reward
        return (lower - ROUNDING <= g) & (g <= upper + ROUNDING)


class BoxSets(NetworkSets):
    """Sets of chains and feed-forward networks: one interval an output (eqs. 11, 19-20).

    Additional inputs of a layer (K.1, eqs. 269-272) are known: its grid is repeated for each of their values. Without
    `envelope` the bounds are mean +- B sd alone.
    """

    def __init__(
        self,
        problem: NetworkProblem,
        n_grid: int = 100,
        half_width: float = 5.0,
        radius: float = 1.0,
        mode: str = "paper",
        envelope: bool = True,
    ) -> None:
        super().__init__(problem, n_grid, half_width, radius, mode)
        self.envelope = envelope
        widths = [output.shape[1] for output in problem.outputs]
        self.posteriors = [LayerPosterior(problem.kernels[0], problem.first_inputs, problem.noise_variance, widths[0])]
        self._which, self._slopes = [], []
        for i, cube in enumerate(self.cubes, start=1):
            values, which = np.unique(problem.extras(i), axis=0, return_inverse=True)
            points = cube.points
            repeated = np.column_stack([np.tile(points, (len(values), 1)), np.repeat(values, len(points), axis=0)])
            self.posteriors.append(LayerPosterior(problem.kernels[i], repeated, problem.noise_variance, widths[i]))
            self._which.append(which.ravel())
            self._slopes.append(neighbour_slopes(repeated, repeated, problem.lipschitz, radius))

    def regions(self) -> list[tuple[Array, Array]]:
        """Return for every layer lower and upper bounds on its outputs, each (A, n_i); the last is the reward."""
        first = self.posteriors[0]
        half = self.problem.norm_bound * first.sd[:, None]
        found = [(first.mean - half, first.mean + half)]
        for i in range(1, self.problem.depth):
            found.append(self._through(i, *found[-1]))
        return found

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = self.regions()[-1]
        return lower[:, 0], upper[:, 0]

    def covers(self) -> Array:
        inside = np.ones(len(self.problem.arms), dtype=bool)
        for (lower, upper), output in zip(self.regions(), self.problem.outputs, strict=True):
            inside &= ((lower - ROUNDING <= output) & (output <= upper + ROUNDING)).all(axis=1)
        return inside

    def _through(self, i: int, low: Array, high: Array) -> tuple[Array, Array]:
        """Carry boxes (A, d_i) of inputs through layer i."""
        posterior, cube, L = self.posteriors[i], self.cubes[i - 1], self.problem.lipschitz
        half = self.problem.norm_bound * posterior.sd[:, None]
        # upper bounds, and lower bounds with their sign changed: the largest of both is wanted
        both = np.concatenate([posterior.mean + half, half - posterior.mean], axis=1)
        on_grid = lower_envelope(both, self._slopes[i - 1]) if self.envelope else both
        if self.outward:
            on_grid = on_grid + L * cube.half_diagonal
            low, high = np.clip(low, cube.low, cube.high), np.clip(high, cube.low, cube.high)
        first, last = box_indices(cube, low, high, cube.step / 2 if self.outward else 0.0)
        largest = self._largest_in_boxes(i, on_grid, first, last)
        empty = (first > last).any(axis=1)
        if empty.any():
            largest[empty] = self._largest_at_corners(i, both, low[empty], high[empty], np.flatnonzero(empty))
        n = both.shape[1] // 2
        return -largest[:, n:], largest[:, :n]

    def _largest_in_boxes(self, i: int, values: Array, first: Array, last: Array) -> Array:
        cube, which = self.cubes[i - 1], self._which[i - 1]
        largest = np.empty((len(first), values.shape[1]))
        for part, block in enumerate(values.reshape(-1, cube.n**cube.d, values.shape[1])):
            rows = which == part
            maxima = box_maxima(block.reshape(*(cube.n,) * cube.d, -1))
            ends = np.stack([np.minimum(first[rows], cube.n - 1), np.maximum(last[rows], 0)], axis=2)
            largest[rows] = maxima[tuple(ends.reshape(len(ends), -1).T)]
        return largest

    def _largest_at_corners(self, i: int, values: Array, low: Array, high: Array, arms: Array) -> Array:
        """Return the largest bounds over the corners of boxes that hold no grid point (L.2), inverted ones included."""
        at = corners(low, high)
        extras = np.repeat(self.problem.extras(i)[arms][:, None, :], at.shape[1], axis=1)
        Z = np.concatenate([at, extras], axis=2).reshape(len(arms) * at.shape[1], -1)
        if self.envelope:
            bounds = self._envelope_near(i, values, Z)
        else:
            mean, variance = self.posteriors[i].at(Z)
            half = self.problem.norm_bound * np.sqrt(variance)[:, None]
            bounds = np.concatenate([mean + half, half - mean], axis=1)
        return bounds.reshape(*at.shape[:2], -1).max(axis=1)

    def _envelope_near(self, i: int, values: Array, Z: Array) -> Array:
        """Return the envelopes of grid values at any points Z."""
        cube, points, L = self.cubes[i - 1], self.posteriors[i].points, self.problem.lipschitz
        if points.shape[1] > 1:
            return lower_envelope(values, neighbour_slopes(Z, points, L, self.radius))
        n_near = int(np.ceil(self.radius / cube.step)) + 1
        near = np.floor((Z - cube.low) / cube.step).astype(int) + np.arange(1 - n_near, n_near + 1)
        distance = np.abs(cube.low + near * cube.step - Z)
        outside = (near < 0) | (near >= cube.n) | (distance > self.radius * (1 + 1e-12))
        slopes = np.where(outside, np.inf, L * distance)
        near = np.clip(near, 0, cube.n - 1)
        return np.stack([(column[near] + slopes).min(axis=1) for column in values.T], axis=1)
