"""Confidence sets for the outputs of every layer, on grids: boxes for chains and feed-forward
networks, else balls.

A layer holds |f - mean| <= B sd (Li & Scarlett, Lemma 1), with certainty. Knowing that it is
Lipschitz continuous, each bound can be replaced by its envelope (eqs. 9-10, 17), and the sets are
carried from layer to layer (eqs. 11, 20).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.network import NetworkModel
from kbrepro.papers.gpn_ucb.posterior import NetworkPosterior
from kbrepro.typing import Array, Bools, Integers, Kernel

#: The kernel of every layer (L.1).
KERNEL = SquaredExponential(1.0)
#: Rounding that is not a violation, in units of the outputs.
ROUNDING = 1e-10


def lower_envelope(values: Array, slopes: Array) -> Array:
    """Return min over j of values[j] + slopes[i, j] for every i: values (P, k), slopes (Q, P) ->
    (Q, k).

    With values mean + B sd at the grid points and slopes L |z_i - z_j|, infinite where the two are
    not neighbours, it is the upper bound of Li & Scarlett, eq. 9; the lower bound, eq. 10, is
    `-lower_envelope(-values, slopes)`.
    """
    return np.stack([(slopes + column).min(axis=1) for column in values.T], axis=1)


def neighbour_slopes(Z: Array, points: Array, lipschitz: float, radius: float) -> Array:
    """Return L |z - p|, infinite where the distance exceeds `radius`: Z (Q, d), points (P, d) ->
    (Q, P).
    """
    distance = cdist(Z, points)
    return np.where(distance <= radius * (1 + 1e-12), lipschitz * distance, np.inf)


def arm_neighbours(points: Array, lipschitz: float, radius: float) -> tuple[Integers, Array]:
    """Return for each point (P, d) the numbers of those within `radius`, and their L |z - p|,
    (most, P) each.

    Slopes are infinite where a point has fewer neighbours than the `most`: with 2,500 arms 80.
    """
    tree = cKDTree(points)
    reach = radius * (1 + 1e-12)
    most = tree.query_ball_point(points, reach, return_length=True).max()
    distance, near = tree.query(points, np.arange(1, most + 1), distance_upper_bound=reach)
    return near.T % len(points), lipschitz * distance.T


def largest_inside(values: Array, inside: Bools) -> Array:
    """Return the maxima over sets of points: values (P, k), inside (A, P) -> (A, k), -inf for a set
    without points.
    """
    return np.stack([np.where(inside, column, -np.inf).max(axis=1) for column in values.T], axis=1)


def inside_boxes(points: Array, low: Array, high: Array) -> Bools:
    """Return which points (P, d) lie in boxes [low, high], each (A, d), up to rounding, (A, P)."""
    above = points >= low[:, None] - ROUNDING
    below = points <= high[:, None] + ROUNDING
    inside: Bools = np.all(above & below, axis=2)
    return inside


class NetworkSets(NetworkPosterior):
    """Posteriors of all layers, the first at the arms, the others on grids; subclasses carry sets
    through the layers.

    Grids have `n_grid` points per side on [-half_width, half_width]^d, and envelopes reach over
    neighbours within `radius` (the defaults are those of L.2). Raises ValueError if a grid does not
    hold all that a layer returns.
    """

    def __init__(
        self,
        model: NetworkModel,
        *,
        n_grid: int = 100,
        half_width: float = 5.0,
        radius: float = 1.0,
    ) -> None:
        checks.positive(half_width=half_width, radius=radius)
        checks.at_least(2, n_grid=n_grid)
        if (
            reach := model.norm_bound * np.sqrt(model.structure.kernel.diag(np.zeros((1, 1)))[0])
        ) > half_width:
            raise ValueError(
                f"half_width = {half_width} is not allowed: half_width must be at least {reach:g},"
                " the largest output of a layer"
            )
        self.half_width = half_width
        self.radius = radius
        self.step = 2 * half_width / (n_grid - 1)
        grids = [grid(n_grid, d, -half_width, half_width) for d in model.widths[:-1]]
        self._slopes = [
            neighbour_slopes(points, points, model.lipschitz, radius) for points in grids
        ]
        super().__init__(model, [model.points, *grids])

    def band(self, mean: Array, sd: Array) -> Array:
        """Return [mean + B sd, -(mean - B sd)] for means (P, n) and sds (P,), (P, 2 n): larger is
        wider.
        """
        half = self.model.norm_bound * sd[:, None]
        return np.concatenate([mean + half, half - mean], axis=1)


class BoxSets(NetworkSets):
    """Sets of chains and feed-forward networks: one interval an output (eqs. 11, 19-20).

    Without `envelope` the bounds are mean +- B sd alone. Eqs. 9-10 hold for every layer, and what
    L.2 leaves out it leaves out of the later ones: with `all_arms` the first layer has its envelope
    over all arms, with `first` over those within `radius`, else none. L.2 leaves open whether the
    envelope at a corner takes in the corner `itself`, as eq. 9 would. As L.2 says, the set of a
    later layer's input is replaced by the grid points inside it, or by its corners if there are
    none: fast and tight, but what lies between grid points is not looked at. Rounded `outward` the
    set is widened by half a cell, and L times half a diagonal of a cell is added to the bounds:
    every point of the set then has a grid point that speaks for it, and the sets are valid. Other
    settings as `NetworkSets`.
    """

    def __init__(
        self,
        model: NetworkModel,
        *,
        envelope: bool = True,
        first: bool = False,
        all_arms: bool = False,
        outward: bool = False,
        itself: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model, **settings)
        self.envelope = envelope
        self.outward = outward
        self.itself = itself
        self.all_arms = all_arms
        self._first = None
        # over all arms: those up to here are looked at first
        self._nearest = 1.0 if all_arms else self.radius
        if first or all_arms:
            self._first = arm_neighbours(model.points, model.lipschitz, self._nearest)
        # of every layer's inputs, which sides of a box a corner has, one row a corner
        self._upper_ends = [grid(2, d) > 0 for d in model.widths[:-1]]

    def regions(self) -> list[tuple[Array, Array]]:
        """Return for every layer lower and upper bounds on its outputs, each (A, n_i); the last is
        the reward.
        """
        first = self.band(self.posteriors[0].mean, self.posteriors[0].sd)
        if self._first:
            envelopes = [self._over_arms(column, *self._first) for column in first.T]
            first = np.stack(envelopes, axis=1)
        regions = [_low_and_high(first)]
        for i in range(1, len(self.model.widths)):
            regions.append(_low_and_high(self._through(i, *regions[-1])))
        return regions

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,)."""
        lower, upper = self.regions()[-1]
        return lower[:, 0], upper[:, 0]

    def _over_arms(self, column: Array, near: Integers, slopes: Array) -> Array:
        """Return the envelope (A,) over arms of a column (A,) of the first layer's band."""
        enveloped: Array = (column[near] + slopes).min(axis=0)
        if self.all_arms:
            # an arm that a neighbour undercuts undercuts nothing that the neighbour does not
            undercut = enveloped < column
            L = self.model.lipschitz
            points = self.model.points
            reaching = np.flatnonzero(~undercut)
            reaching = reaching[column[reaching].argsort()]
            values = column[reaching] + L * self._nearest
            # from afar an arm lowers only what exceeds its value by L times `_nearest`
            for targets in np.array_split(enveloped.argsort(), 16):
                lower = reaching[: values.searchsorted(enveloped[targets].max())]
                farther = column[lower] + L * cdist(points[targets], points[lower])
                least = farther.min(axis=1, initial=np.inf)
                enveloped[targets] = np.minimum(enveloped[targets], least)
        return enveloped

    def _through(self, i: int, low: Array, high: Array) -> Array:
        """Carry boxes (A, d_i) of inputs through layer i; return a band as `band` does."""
        posterior = self.posteriors[i]
        dilate = 0.0
        L = self.model.lipschitz
        both = self.band(posterior.mean, posterior.sd)
        on_grid = lower_envelope(both, self._slopes[i - 1]) if self.envelope else both
        if self.outward:
            dilate = self.step / 2
            on_grid = on_grid + L * dilate * np.sqrt(low.shape[1])
            low, high = np.clip([low, high], -self.half_width, self.half_width)
        inside = inside_boxes(posterior.points, low - dilate, high + dilate)
        largest = largest_inside(on_grid, inside)
        empty = ~inside.any(axis=1)
        if empty.any():  # the corners, also of inverted boxes
            upper_ends = self._upper_ends[i - 1]
            Z = np.where(upper_ends, high[empty, None], low[empty, None]).reshape(-1, low.shape[1])
            at_corners: Array = np.array(np.inf)
            if self.envelope:
                at_corners = lower_envelope(
                    both, neighbour_slopes(Z, posterior.points, L, self.radius)
                )
            if self.itself or not self.envelope:
                at_corners = np.minimum(at_corners, self.band(*posterior.at(Z)))
            largest[empty] = at_corners.reshape(-1, len(upper_ends), both.shape[1]).max(axis=1)
        return largest


def _low_and_high(band: Array) -> tuple[Array, Array]:
    """Return lower and upper bounds (A, n) from a band as `NetworkSets.band` returns it."""
    n = band.shape[1] // 2
    return -band[:, n:], band[:, :n]


class BallSets(NetworkSets):
    """Sets of multi-output chains (eqs. 12-16); a set is a row of booleans over the grid of a
    layer's outputs.

    The set of f(z) is the intersection over neighbours z' of balls around mean(z') with radius B
    ||Gamma(z', z')||^(1/2) + L |z - z'|. (The paper's eq. 13 has Gamma(z, z); z' is meant.) A grid
    point belongs to a set if it lies in the union over the grid points of the layer before; an
    empty set becomes the grid point nearest to belonging.
    """

    def regions(self) -> list[Bools]:
        """Return for every layer but the last which grid points its output may be, (A, P)."""
        regions = [_union(np.eye(self.model.n_arms, dtype=bool), self._excess(0))]
        for i in range(1, len(self.model.widths) - 1):
            # largest over the neighbours z'
            excess = -lower_envelope(-self._excess(i), self._slopes[i - 1])
            regions.append(_union(regions[-1], excess))
        return regions

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper confidence bound of every arm's reward, each (A,) (eq. 15)."""
        last = self.posteriors[-1]
        both = lower_envelope(self.band(last.mean, last.sd), self._slopes[-1])
        upper, negative = largest_inside(both, self.regions()[-1]).T
        return -negative, upper

    def _excess(self, i: int) -> Array:
        """Return |w - mean(z)| - B sd(z) for all fixed points z of layer i and outputs w, (Q,
        P).
        """
        posterior = self.posteriors[i]
        outputs = self.posteriors[i + 1].points
        return cdist(posterior.mean, outputs) - self.model.norm_bound * posterior.sd[:, None]


def _union(regions: Bools, excess: Array) -> Bools:
    """Return which outputs w lie in the set of some z of each region: regions (A, P), excess (P, Q)
    -> (A, Q).

    Where that is none, the output nearest to lying there.
    """
    inside = (regions.astype(float) @ (excess <= 0)) > 0
    for arm in np.flatnonzero(~inside.any(axis=1)):
        inside[arm, excess[regions[arm]].min(axis=0).argmin()] = True
    return inside


@dataclass(frozen=True)
class FeedForward:
    """Every output of every layer is a function of its own, of one scalar kernel; a chain where all
    widths are 1.
    """

    kernel: Kernel
    sets = BoxSets  # the confidence sets of such a network: `structure.sets(model, **settings)`


@dataclass(frozen=True)
class MultiOutput:
    """A chain of vector-valued functions, with the operator-valued kernel k I."""

    kernel: Kernel
    sets = BallSets

    def stored_settings(self) -> dict[str, object]:
        """Return the settings as when trials were first kept: the kernel of the paper was a
        function of ours.
        """
        return {"kernel_of": "independent_outputs"} if self.kernel == KERNEL else vars(self)
