"""Confidence sets of multi-output chains: intersections of balls (Li & Scarlett, eqs. 12-16), on grids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.sets import ROUNDING, NetworkSets, largest_inside, lower_envelope


class BallSets(NetworkSets):
    """Sets of multi-output chains; a set is a row of booleans over the grid of a layer's outputs.

    The set of f(z) is the intersection over neighbours z' of balls around mean(z') with radius
    B ||Gamma(z', z')||^(1/2) + L |z - z'|. (The paper's eq. 13 has Gamma(z, z); z' is meant.) `paper`: a grid point
    belongs to a set if it lies in the union over the grid points of the layer before; an empty set becomes the grid
    point nearest to belonging. `outward`: a grid point speaks for its cell, so radii grow by half a diagonal of a cell
    of the outputs, and by L times half a diagonal of a cell of the inputs.
    """

    def regions(self) -> list[NDArray[np.bool_]]:
        """Return for every layer but the last which grid points its output may be, (A, P)."""
        cell = self.half_diagonals if self.outward else [0.0] * len(self.half_diagonals)
        found = [_union(np.eye(self.told.n_arms, dtype=bool), self._excess(0), cell[0])]
        for i in range(1, self.told.depth - 1):
            excess = -lower_envelope(-self._excess(i), self._slopes[i - 1])  # largest over the neighbours z'
            found.append(_union(found[-1], excess, self.told.lipschitz * cell[i - 1] + cell[i]))
        return found

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,) (eq. 15)."""
        last = self.posteriors[-1]
        slack = self.told.lipschitz * self.half_diagonals[-1] if self.outward else 0.0
        both = lower_envelope(self.band(last.mean, last.sd), self._slopes[-1]) + slack
        upper, negative = largest_inside(both, self.regions()[-1]).T
        return -negative, upper

    def covers(self, outputs: Sequence[Array]) -> Array:
        """Return for every arm (A,) whether the cells of its sets hold the true outputs, and the bounds the reward."""
        (lower, upper), reward = self.bounds(), outputs[-1][:, 0]
        inside = (lower - ROUNDING <= reward) & (reward <= upper + ROUNDING)
        for region, later, output in zip(self.regions(), self.posteriors[1:], outputs[:-1], strict=True):
            inside &= region[np.arange(len(region)), cdist(output, later.points).argmin(axis=1)]
        return inside

    def _excess(self, i: int) -> Array:
        """Return |w - mean(z)| - B ||Gamma(z, z)||^(1/2) for all fixed points z of layer i and outputs w, (Q, P)."""
        posterior, outputs = self.posteriors[i], self.posteriors[i + 1].points
        return cdist(posterior.mean, outputs) - self.told.norm_bound * posterior.sd[:, None]


def _union(regions: NDArray[np.bool_], excess: Array, slack: float) -> NDArray[np.bool_]:
    """Return which outputs w lie in the set of some z of each region: regions (A, P), excess (P, Q) -> (A, Q).

    Where that is none, the output nearest to lying there.
    """
    inside = (regions.astype(float) @ (excess <= slack)) > 0
    for arm in np.flatnonzero(~inside.any(axis=1)):
        inside[arm, excess[regions[arm]].min(axis=0).argmin()] = True
    return inside
