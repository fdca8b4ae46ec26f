"""Confidence sets of chains and feed-forward networks: an interval an output, carried through the layers on grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbrepro.kernels import Array, grid
from kbrepro.papers.gpn_ucb.network import NetworkTold
from kbrepro.papers.gpn_ucb.sets import ROUNDING, NetworkSets, largest_inside, lower_envelope, neighbour_slopes


def inside_boxes(points: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    """Return which points (P, d) lie in boxes [low, high], each (A, d), up to rounding, (A, P)."""
    above, below = points >= low[:, None] - ROUNDING, points <= high[:, None] + ROUNDING
    return (above & below).all(axis=2)


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
            found.append(_low_and_high(self._through(i, *found[-1])))
        return found

    def bounds(self) -> tuple[Array, Array]:
        lower, upper = self.regions()[-1]
        return lower[:, 0], upper[:, 0]

    def covers(self, outputs: Sequence[Array]) -> Array:
        inside = np.ones(self.told.n_arms, dtype=bool)
        for (lower, upper), output in zip(self.regions(), outputs, strict=True):
            inside &= ((lower - ROUNDING <= output) & (output <= upper + ROUNDING)).all(axis=1)
        return inside

    def _through(self, i: int, low: Array, high: Array) -> Array:
        """Carry boxes (A, d_i) of inputs through layer i; return a band as `band` does."""
        posterior, own, dilate = self.posteriors[i], self.told.own_inputs(i), 0.0
        both = self.band(posterior.mean, posterior.sd)
        on_grid = lower_envelope(both, self._slopes[i - 1]) if self.envelope else both
        if self.outward:
            on_grid, dilate = on_grid + self.told.lipschitz * self.half_diagonals[i - 1], self.step / 2
            low, high = np.clip([low, high], -self.half_width, self.half_width)
        boxes = np.column_stack([low - dilate, own]), np.column_stack([high + dilate, own])
        inside = inside_boxes(posterior.points, *boxes)
        largest, empty = largest_inside(on_grid, inside), np.flatnonzero(~inside.any(axis=1))
        if len(empty):
            largest[empty] = self._largest_at_corners(i, both, low[empty], high[empty], own[empty])
        return largest

    def _largest_at_corners(self, i: int, values: Array, low: Array, high: Array, own: Array) -> Array:
        """Return the largest bounds over the corners of boxes that hold no grid point (L.2), inverted ones included."""
        upper_ends = grid(2, low.shape[1]) > 0  # of which sides, one row a corner
        at = np.where(upper_ends, high[:, None], low[:, None])
        own = np.repeat(own[:, None, :], at.shape[1], axis=1)
        Z = np.concatenate([at, own], axis=2).reshape(at.shape[0] * at.shape[1], -1)
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
