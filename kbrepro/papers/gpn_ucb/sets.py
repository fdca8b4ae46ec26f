"""What confidence sets for the outputs of every layer share: grids, envelopes, and two ways of rounding.

A layer holds |f - mean| <= B sd (Li & Scarlett, Lemma 1), with certainty. Knowing that it is Lipschitz continuous, each
bound can be replaced by its envelope (eqs. 9-10, 17), and the sets are carried from layer to layer (eqs. 11, 20). Two
ways to do this on a grid:

- `paper`: the set of a layer's input is replaced by the grid points inside it, or by its corners if there are none
  (appendix L.2). Fast and tight, but what lies between grid points is not looked at.
- `outward`: the set is widened by half a cell, and L times half a diagonal of a cell is added to the bounds. Every
  point of the set then has a grid point that speaks for it, and the sets are valid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.kernels import Array, grid
from kbrepro.papers.gpn_ucb.layers import largest_value
from kbrepro.papers.gpn_ucb.network import NetworkTold
from kbrepro.papers.gpn_ucb.posterior import NetworkPosterior

MODES = ("paper", "outward")
#: Rounding that is not a violation, in units of the outputs.
ROUNDING = 1e-10


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


def largest_inside(values: Array, inside: NDArray[np.bool_]) -> Array:
    """Return the maxima over sets of points: values (P, k), inside (A, P) -> (A, k), -inf for a set without points."""
    return np.stack([np.where(inside, column, -np.inf).max(axis=1) for column in values.T], axis=1)


class NetworkSets(NetworkPosterior):
    """Posteriors of all layers, the first at the arms, the others on grids; subclasses carry sets through the layers.

    Grids have `n_grid` points a side on [-half_width, half_width]^d, repeated for each value of the additional inputs
    of their layer (K.1, eqs. 269-272), and envelopes reach over neighbours within `radius` (the defaults are those of
    L.2). `mode` is `paper` or `outward`. Raises ValueError if a grid does not hold all that the layer before returns.

    Attributes: `step` between grid points, and half a diagonal of a cell for every layer but the last: no output is
    farther from its nearest grid point than `half_diagonals[i]`.
    """

    def __init__(
        self, told: NetworkTold, *, n_grid: int = 100, half_width: float = 5.0, radius: float = 1.0, mode: str = "paper"
    ) -> None:
        checks.positive(half_width=half_width, radius=radius)
        checks.at_least(2, n_grid=n_grid)
        checks.one_of(MODES, mode=mode)
        self.half_width, self.radius, self.outward = half_width, radius, mode == "outward"
        self.step = 2 * half_width / (n_grid - 1)
        self.half_diagonals = [self.step * np.sqrt(d) / 2 for d in told.widths[:-1]]
        points = [told.own_inputs(0)]
        for i, d in enumerate(told.widths[:-1]):
            if (reach := largest_value(told.kernels[i], told.norm_bound)) > half_width:
                raise ValueError(f"half_width = {half_width} is not allowed: layer {i} returns up to {reach:g}")
            cube, own = grid(n_grid, d, -half_width, half_width), np.unique(told.own_inputs(i + 1), axis=0)
            points.append(np.column_stack([np.tile(cube, (len(own), 1)), np.repeat(own, len(cube), axis=0)]))
        self._slopes = [neighbour_slopes(p, p, told.lipschitz, radius) for p in points[1:]]
        super().__init__(told, points)

    def band(self, mean: Array, sd: Array) -> Array:
        """Return [mean + B sd, -(mean - B sd)] for means (P, n) and sds (P,), (P, 2 n): larger is wider."""
        half = self.told.norm_bound * sd[:, None]
        return np.concatenate([mean + half, half - mean], axis=1)

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,)."""
        raise NotImplementedError

    def covers(self, outputs: Sequence[Array]) -> Array:
        """Return for every arm (A,) whether its sets hold the true outputs (A, n_i) of all layers, the reward last."""
        raise NotImplementedError
