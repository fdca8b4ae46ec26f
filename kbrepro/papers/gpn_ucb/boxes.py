"""Confidence sets of chains and feed-forward networks: an interval an output, carried through the layers on grids."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.network import NetworkTold
from kbrepro.papers.gpn_ucb.sets import ROUNDING, CubeGrid, NetworkSets, lower_envelope, neighbour_slopes

#: Slack, in cells, when a box is turned into grid indices: more points only widen a set.
INDEX_SLACK = 1e-9


def box_maxima(values: Array) -> Array:
    """Return the maxima over all boxes of grid points: values (n,) * d + (k,) -> (n, n) * d + (k,).

    Entry [a_1, b_1, ..., a_d, b_d, j] is the maximum of values[..., j] over a_i <= index_i <= b_i, -inf if a_i > b_i.
    """
    for axis in range(values.ndim - 1):
        place = 2 * axis
        ends = np.moveaxis(values, place, -1)
        n = ends.shape[-1]
        from_each = np.where(np.triu(np.ones((n, n), dtype=bool)), ends[..., None, :], -np.inf)
        values = np.moveaxis(np.maximum.accumulate(from_each, axis=-1), (-2, -1), (place, place + 1))
    return values


def box_indices(cube: CubeGrid, low: Array, high: Array, dilate: float) -> tuple[Array, Array]:
    """Return first and last grid index inside boxes [low - dilate, high + dilate], each (A, d), clipped to the grid.

    First exceeds last along an axis where no grid point lies inside.
    """
    first = np.ceil((low - dilate + cube.half_width) / cube.step - INDEX_SLACK)
    last = np.floor((high + dilate + cube.half_width) / cube.step + INDEX_SLACK)
    clip = cube.n - 1
    return np.clip(first, 0, clip + 1).astype(int), np.clip(last, -1, clip).astype(int)


def corners(low: Array, high: Array) -> Array:
    """Return the 2^d corners of boxes (A, d), as (A, 2^d, d)."""
    sides = itertools.product((False, True), repeat=low.shape[1])
    return np.stack([np.where(side, high, low) for side in sides], axis=1)


class BoxSets(NetworkSets):
    """Sets of chains and feed-forward networks: one interval an output (eqs. 11, 19-20).

    Without `envelope` the bounds are mean +- B sd alone. Other settings as `NetworkSets`.
    """

    def __init__(self, told: NetworkTold, *, envelope: bool = True, **settings: Any) -> None:
        super().__init__(told, **settings)
        self.envelope = envelope

    def regions(self) -> list[tuple[Array, Array]]:
        """Return for every layer lower and upper bounds on its outputs, each (A, n_i); the last is the reward."""
        found = [_low_and_high(self.band(self.posteriors[0].mean, self.posteriors[0].sd))]
        for i in range(1, self.told.depth):
            found.append(self._through(i, *found[-1]))
        return found

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = self.regions()[-1]
        return lower[:, 0], upper[:, 0]

    def covers(self, outputs: Sequence[Array]) -> Array:
        inside = np.ones(self.told.n_arms, dtype=bool)
        for (lower, upper), output in zip(self.regions(), outputs, strict=True):
            inside &= ((lower - ROUNDING <= output) & (output <= upper + ROUNDING)).all(axis=1)
        return inside

    def _through(self, i: int, low: Array, high: Array) -> tuple[Array, Array]:
        """Carry boxes (A, d_i) of inputs through layer i."""
        posterior, cube, L = self.posteriors[i], self.cubes[i - 1], self.told.lipschitz
        both = self.band(posterior.mean, posterior.sd)
        on_grid = lower_envelope(both, self._slopes[i - 1]) if self.envelope else both
        if self.outward:
            on_grid = on_grid + L * cube.half_diagonal
            low, high = np.clip([low, high], -cube.half_width, cube.half_width)
        first, last = box_indices(cube, low, high, cube.step / 2 if self.outward else 0.0)
        largest = self._largest_in_boxes(i, on_grid, first, last)
        empty = (first > last).any(axis=1)
        if empty.any():
            largest[empty] = self._largest_at_corners(i, both, low[empty], high[empty], np.flatnonzero(empty))
        return _low_and_high(largest)

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
        extras = np.repeat(self.told.own_inputs(i)[arms][:, None, :], at.shape[1], axis=1)
        Z = np.concatenate([at, extras], axis=2).reshape(len(arms) * at.shape[1], -1)
        if self.envelope:
            slopes = neighbour_slopes(Z, self.posteriors[i].points, self.told.lipschitz, self.radius)
            bounds = lower_envelope(values, slopes)
        else:
            bounds = self.band(*self.posteriors[i].at(Z))
        return bounds.reshape(*at.shape[:2], -1).max(axis=1)


def _low_and_high(band: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds (A, n) from a band as `NetworkSets.band` returns it."""
    n = band.shape[1] // 2
    return -band[:, n:], band[:, :n]
