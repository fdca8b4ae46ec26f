"""Lipschitz envelopes on a grid, and the largest value over a box of grid points."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.kernels import Array, grid

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
