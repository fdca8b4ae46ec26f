"""Sources of random networks: chains drawn from the prior, and networks whose layers have an exact norm."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from kbrepro.kernels import Array, SquaredExponential, grid
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, lipschitz
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem, compose
from kbrepro.papers.gpn_ucb.sets import FeedForward, MultiOutput, Structure
from kbrepro.problems import Trial, covariance_factor

#: The kernel of every layer, and half a side of the domain [-5, 5]^2 (Li & Scarlett, L.1).
KERNEL, HALF_WIDTH = SquaredExponential(1.0), 5.0


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """Source of networks whose layers have RKHS norm exactly `norm`, at any points (A, d), with these widths.

    Each layer interpolates a GP draw at uniform centres and is scaled to its norm: `first_centres` points of the arms'
    box, then 4 points of [-norm, norm]^d, which holds what a layer can return (kernels of size at most 1). L is
    certified: the largest `layers.lipschitz`, and at least 1. The B that is given is `norm_bound`, by default the norm.
    """

    structure: Structure
    points: Array = field(repr=False)
    widths: tuple[int, ...]
    norm: float = 1.0
    first_centres: int = 4
    norm_bound: float | None = None

    def stored_settings(self) -> dict[str, Any]:
        """Return the settings as when trials were first kept: layers could have inputs of their own."""
        return vars(self) | {"extra_dims": ()}

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng, kernels, norm = trial.rng("function"), self.structure.kernels(self.widths), self.norm
        bound = norm if self.norm_bound is None else self.norm_bound
        constant = max(1.0, *(lipschitz(kernel, norm) for kernel in kernels))
        model = NetworkModel(self.points, self.structure, self.widths, bound, constant)
        layers, points = [], self.points
        for i, (kernel, width, n) in enumerate(zip(kernels, (0, *self.widths[:-1]), self.widths, strict=True)):
            low, high = (np.full(width, -norm), np.full(width, norm)) if i else (points.min(axis=0), points.max(axis=0))
            centres = rng.uniform(low, high, (4 if i else self.first_centres, len(low)))
            layers.append(draw_layer(rng, kernel, centres, n, norm))
        return compose(model, layers)


def exact_chain(side: int) -> RandomNetwork:
    """Return the source of chains of three layers of norm B = 2 on side x side points of [-5, 5]^2; L = 2 then holds.

    A GP draw at n points has squared norm n on average, so with n = 4 = B^2 scaling changes little.
    """
    points = grid(side, 2, -HALF_WIDTH, HALF_WIDTH)
    return RandomNetwork(FeedForward(KERNEL), points, (1, 1, 1), norm=2.0, first_centres=12)


@lru_cache(maxsize=4)
def _first(side: int) -> tuple[Array, Array]:
    """The arms, and the factor of the prior's covariance there, which every drawn chain of a size shares."""
    points = grid(side, 2, -HALF_WIDTH, HALF_WIDTH)
    return points, covariance_factor(KERNEL(points, points))


@dataclass(frozen=True)
class DrawnChain:
    """Source of chains of three layers drawn from the GP prior, as L.1 says; the bounds that are given do not hold.

    The first layer is drawn at the arms, the others at points half a lengthscale apart on [-5, 5] and interpolated
    between.
    """

    side: int
    norm_bound: float = 2.0
    lipschitz: float = 2.0

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng, (points, factor) = trial.rng("function"), _first(self.side)
        first = (factor @ rng.standard_normal(len(points))[: factor.shape[1]])[:, None]
        later = [draw_layer(rng, KERNEL, grid(21, 1, -HALF_WIDTH, HALF_WIDTH), 1, None) for _ in range(2)]
        model = NetworkModel(points, FeedForward(KERNEL), (1, 1, 1), self.norm_bound, self.lipschitz)
        return compose(model, [lambda _: first, *later])


@dataclass(frozen=True)
class Repeated:
    """Source that gives each problem of `source` `times` in a row: those of trials `numbers`, or 0, 1, 2, ..."""

    source: Callable[[Trial], NetworkProblem]
    times: int
    numbers: tuple[int, ...] = ()

    def __call__(self, trial: Trial) -> NetworkProblem:
        place = trial.number // self.times
        return self.source(Trial(trial.seed, self.numbers[place] if self.numbers else place))


def maximum_gap(problem: NetworkProblem) -> float:
    """Return by how much the maximum exceeds every value farther than 2 from its place, as a share of the range.

    How obvious the maximiser is: near 1 a single peak, near 0 several places equally good.
    """
    g, points = problem.expected_reward, problem.model.points
    far = np.linalg.norm(points - points[g.argmax()], axis=1) > 2.0
    return float((g.max() - g[far].max()) / problem.reward_range)


def independent_outputs(n: int) -> OperatorKernel:
    """Return the paper's k I, n x n."""
    return OperatorKernel(KERNEL, n)


_LINE, _SQUARE = grid(100, 1, -2, 2), grid(10, 2, -2, 2)
_SCALAR, _VECTOR = FeedForward(KERNEL), MultiOutput(independent_outputs)

#: Small networks of three layers on [-2, 2] with norm 1, and the points a side of the layers' grids.
SMALL: dict[str, tuple[RandomNetwork, int]] = {
    "chain": (RandomNetwork(_SCALAR, _LINE, (1, 1, 1)), 60),
    "multi-output": (RandomNetwork(_VECTOR, _LINE, (2, 2, 1)), 11),
    "feed-forward": (RandomNetwork(_SCALAR, _SQUARE, (2, 2, 1)), 15),
}

#: Chains of two layers, for the bound of Theorem 1, and the points of their fine grid.
FINE = RandomNetwork(_SCALAR, _LINE, (1, 1)), 2001
