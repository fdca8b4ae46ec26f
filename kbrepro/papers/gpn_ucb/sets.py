"""Confidence sets for the outputs of every layer, on grids: boxes for chains and feed-forward networks, else balls.

A layer holds |f - mean| <= B sd (Li & Scarlett, Lemma 1), with certainty. Knowing that it is Lipschitz continuous, each
bound can be replaced by its envelope (eqs. 9-10, 17), and the sets are carried from layer to layer (eqs. 11, 20). Two
ways to do this on a grid:

- `paper`: the set of a layer's input is replaced by the grid points inside it, or by its corners if there are none
  (appendix L.2). Fast and tight, but what lies between grid points is not looked at.
- `outward`: the set is widened by half a cell, and L times half a diagonal of a cell is added to the bounds. Every
  point of the set then has a grid point that speaks for it, and the sets are valid.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.kernels import Array, Kernel, grid
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, largest_value
from kbrepro.papers.gpn_ucb.network import NetworkModel
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


def inside_boxes(points: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    """Return which points (P, d) lie in boxes [low, high], each (A, d), up to rounding, (A, P)."""
    above, below = points >= low[:, None] - ROUNDING, points <= high[:, None] + ROUNDING
    inside: NDArray[np.bool_] = np.all(above & below, axis=2)
    return inside


class NetworkSets(NetworkPosterior):
    """Posteriors of all layers, the first at the arms, the others on grids; subclasses carry sets through the layers.

    Grids have `n_grid` points per side on [-half_width, half_width]^d, and envelopes reach over neighbours within
    `radius` (the defaults are those of L.2). `mode` is `paper` or `outward`. Raises ValueError if a grid does not hold
    all that the layer before returns.

    Attributes: `step` between grid points, and half a diagonal of a cell for every layer but the last: no output is
    farther from its nearest grid point than `half_diagonals[i]`.
    """

    def __init__(
        self,
        model: NetworkModel,
        *,
        n_grid: int = 100,
        half_width: float = 5.0,
        radius: float = 1.0,
        mode: str = "paper",
    ) -> None:
        checks.positive(half_width=half_width, radius=radius)
        checks.at_least(2, n_grid=n_grid)
        checks.one_of(MODES, mode=mode)
        self.half_width, self.radius, self.outward = half_width, radius, mode == "outward"
        self.step = 2 * half_width / (n_grid - 1)
        self.half_diagonals = [self.step * np.sqrt(d) / 2 for d in model.widths[:-1]]
        points = [model.points]
        for i, d in enumerate(model.widths[:-1]):
            if (reach := largest_value(model.kernels[i], model.norm_bound)) > half_width:
                raise ValueError(f"half_width = {half_width} is not allowed: layer {i} returns up to {reach:g}")
            points.append(grid(n_grid, d, -half_width, half_width))
        self._slopes = [neighbour_slopes(p, p, model.lipschitz, radius) for p in points[1:]]
        super().__init__(model, points)

    def band(self, mean: Array, sd: Array) -> Array:
        """Return [mean + B sd, -(mean - B sd)] for means (P, n) and sds (P,), (P, 2 n): larger is wider."""
        half = self.model.norm_bound * sd[:, None]
        return np.concatenate([mean + half, half - mean], axis=1)


class BoxSets(NetworkSets):
    """Sets of chains and feed-forward networks: one interval an output (eqs. 11, 19-20).

    Without `envelope` the bounds are mean +- B sd alone. Choices that L.2 leaves open, its own words first: the
    envelope at a corner leaves out the corner `itself`, which eq. 9 would take in, or has it; the `first` layer has no
    envelope, or one over the arms. Other settings as `NetworkSets`.
    """

    def __init__(
        self, model: NetworkModel, *, envelope: bool = True, first: bool = False, itself: bool = False, **settings: Any
    ) -> None:
        super().__init__(model, **settings)
        self.envelope, self.itself = envelope, itself
        arms = model.points
        self._first_slopes = neighbour_slopes(arms, arms, model.lipschitz, self.radius) if first else None

    def regions(self) -> list[tuple[Array, Array]]:
        """Return for every layer lower and upper bounds on its outputs, each (A, n_i); the last is the reward."""
        first = self.band(self.posteriors[0].mean, self.posteriors[0].sd)
        if self._first_slopes is not None:
            first = lower_envelope(first, self._first_slopes)
        regions = [_low_and_high(first)]
        for i in range(1, self.model.depth):
            regions.append(_low_and_high(self._through(i, *regions[-1])))
        return regions

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,)."""
        lower, upper = self.regions()[-1]
        return lower[:, 0], upper[:, 0]

    def covers(self, outputs: Sequence[Array]) -> NDArray[np.bool_]:
        """Return for every arm (A,) whether its sets hold the true outputs (A, n_i) of all layers, the reward last."""
        inside = np.ones(self.model.n_arms, dtype=bool)
        for (lower, upper), output in zip(self.regions(), outputs, strict=True):
            inside &= ((lower - ROUNDING <= output) & (output <= upper + ROUNDING)).all(axis=1)
        return inside

    def _through(self, i: int, low: Array, high: Array) -> Array:
        """Carry boxes (A, d_i) of inputs through layer i; return a band as `band` does."""
        posterior, dilate = self.posteriors[i], 0.0
        both = self.band(posterior.mean, posterior.sd)
        on_grid = lower_envelope(both, self._slopes[i - 1]) if self.envelope else both
        if self.outward:
            on_grid, dilate = on_grid + self.model.lipschitz * self.half_diagonals[i - 1], self.step / 2
            low, high = np.clip([low, high], -self.half_width, self.half_width)
        inside = inside_boxes(posterior.points, low - dilate, high + dilate)
        largest, empty = largest_inside(on_grid, inside), np.flatnonzero(~inside.any(axis=1))
        if len(empty):
            largest[empty] = self._largest_at_corners(i, both, low[empty], high[empty])
        return largest

    def _largest_at_corners(self, i: int, values: Array, low: Array, high: Array) -> Array:
        """Return the largest bounds over the corners of boxes that hold no grid point (L.2), inverted ones included."""
        upper_ends = grid(2, low.shape[1]) > 0  # of which sides, one row a corner
        at = np.where(upper_ends, high[:, None], low[:, None])
        Z = at.reshape(-1, low.shape[1])
        bounds: Array = np.array(np.inf)
        if self.envelope:
            slopes = neighbour_slopes(Z, self.posteriors[i].points, self.model.lipschitz, self.radius)
            bounds = lower_envelope(values, slopes)
        if self.itself or not self.envelope:
            bounds = np.minimum(bounds, self.band(*self.posteriors[i].at(Z)))
        return bounds.reshape(*at.shape[:2], -1).max(axis=1)


def _low_and_high(band: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds (A, n) from a band as `NetworkSets.band` returns it."""
    n = band.shape[1] // 2
    return -band[:, n:], band[:, :n]


class BallSets(NetworkSets):
    """Sets of multi-output chains (eqs. 12-16); a set is a row of booleans over the grid of a layer's outputs.

    The set of f(z) is the intersection over neighbours z' of balls around mean(z') with radius
    B ||Gamma(z', z')||^(1/2) + L |z - z'|. (The paper's eq. 13 has Gamma(z, z); z' is meant.) `paper`: a grid point
    belongs to a set if it lies in the union over the grid points of the layer before; an empty set becomes the grid
    point nearest to belonging. `outward`: a grid point speaks for its cell, so radii grow by half a diagonal of a cell
    of the outputs, and by L times half a diagonal of a cell of the inputs.
    """

    def regions(self) -> list[NDArray[np.bool_]]:
        """Return for every layer but the last which grid points its output may be, (A, P)."""
        cell = self.half_diagonals if self.outward else [0.0] * len(self.half_diagonals)
        regions = [_union(np.eye(self.model.n_arms, dtype=bool), self._excess(0), cell[0])]
        for i in range(1, self.model.depth - 1):
            excess = -lower_envelope(-self._excess(i), self._slopes[i - 1])  # largest over the neighbours z'
            regions.append(_union(regions[-1], excess, self.model.lipschitz * cell[i - 1] + cell[i]))
        return regions

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,) (eq. 15)."""
        last = self.posteriors[-1]
        slack = self.model.lipschitz * self.half_diagonals[-1] if self.outward else 0.0
        both = lower_envelope(self.band(last.mean, last.sd), self._slopes[-1]) + slack
        upper, negative = largest_inside(both, self.regions()[-1]).T
        return -negative, upper

    def covers(self, outputs: Sequence[Array]) -> NDArray[np.bool_]:
        """Return for every arm (A,) whether the cells of its sets hold the true outputs, and the bounds the reward."""
        (lower, upper), reward = self.bounds(), outputs[-1][:, 0]
        inside = (lower - ROUNDING <= reward) & (reward <= upper + ROUNDING)
        for region, later, output in zip(self.regions(), self.posteriors[1:], outputs[:-1], strict=True):
            inside &= region[np.arange(len(region)), cdist(output, later.points).argmin(axis=1)]
        return inside

    def _excess(self, i: int) -> Array:
        """Return |w - mean(z)| - B ||Gamma(z, z)||^(1/2) for all fixed points z of layer i and outputs w, (Q, P)."""
        posterior, outputs = self.posteriors[i], self.posteriors[i + 1].points
        return cdist(posterior.mean, outputs) - self.model.norm_bound * posterior.sd[:, None]


def _union(regions: NDArray[np.bool_], excess: Array, slack: float) -> NDArray[np.bool_]:
    """Return which outputs w lie in the set of some z of each region: regions (A, P), excess (P, Q) -> (A, Q).

    Where that is none, the output nearest to lying there.
    """
    inside = (regions.astype(float) @ (excess <= slack)) > 0
    for arm in np.flatnonzero(~inside.any(axis=1)):
        inside[arm, excess[regions[arm]].min(axis=0).argmin()] = True
    return inside


# The structures: the kernels of their layers, and the sets that are carried through them


@dataclass(frozen=True)
class FeedForward:
    """Every output of every layer is a function of its own, of one scalar kernel; a chain where all widths are 1."""

    kernel: Kernel
    sets = BoxSets  # the confidence sets of such a network: `structure.sets(model, **settings)`

    def kernels(self, widths: Sequence[int]) -> tuple[Kernel, ...]:
        """Return the kernels of layers with these numbers of outputs."""
        return (self.kernel,) * len(widths)


@dataclass(frozen=True)
class MultiOutput:
    """A chain of vector-valued functions; `kernel_of(n)` is the operator-valued kernel of a layer with n outputs."""

    kernel_of: Callable[[int], OperatorKernel]
    sets = BallSets

    def kernels(self, widths: Sequence[int]) -> tuple[OperatorKernel, ...]:
        """Return the kernels of layers with these numbers of outputs."""
        return tuple(self.kernel_of(n) for n in widths)


Structure = FeedForward | MultiOutput
