"""Sources of random networks: drawn from the prior, or with layers of an exact norm."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Trial, covariance_factor, factor_draw
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem, compose
from kbrepro.papers.gpn_ucb.sets import KERNEL, FeedForward, MultiOutput
from kbrepro.typing import Array, Kernel

#: Half a side of the domain [-5, 5]^2 (Li & Scarlett, L.1).
HALF_WIDTH = 5.0


def lipschitz(kernel: Kernel, norm: float) -> float:
    """Return a Lipschitz constant of all functions of RKHS norm at most `norm` (Euclidean norms).

    |f(x) - f(z)| <= norm sqrt(2 (k(0) - k(r))) <= norm sqrt(-k''(0)) r; for the squared
    exponential norm / lengthscale. 2 (k(0) - k(r)) <= -k''(0) r^2 (Bochner,
    1 - cos a <= a^2 / 2); it is nu / (nu - 1) over the squared lengthscale for Matérn kernels.
    Raises ValueError for a kernel without such a constant (Matérn 1/2).
    """
    if isinstance(kernel, SquaredExponential):
        curvature = kernel.variance / kernel.lengthscale**2
    elif isinstance(kernel, Matern) and kernel.nu > 1:
        curvature = kernel.nu / (kernel.nu - 1) * kernel.variance / kernel.lengthscale**2
    else:
        raise ValueError(
            f"kernel = {kernel!r} is not allowed: its functions need not be Lipschitz continuous"
        )
    return norm * float(np.sqrt(curvature))


def draw_layer(
    rng: np.random.Generator,
    kernel: Kernel,
    centres: Array,
    n: int,
    norm: float | None = None,
    whole: bool = False,
) -> Callable[[Array], Array]:
    """Return the interpolant, (m, d) -> (m, n), of a GP draw at the centres, scaled to a norm.

    With None it stays as drawn. Outputs are scaled one by one, or as a `whole`, one function with
    values in R^n. With K = L L^T and standard normal e the draw is L e and the weights of its
    interpolant L^-T e: its squared norm is |e|^2, chi-squared.
    """
    K = kernel(centres, centres)
    drawn = rng.standard_normal((len(centres), n))
    factor = cholesky(K + 1e-12 * np.eye(len(K)), lower=True)
    weights = solve_triangular(factor, drawn, lower=True, trans="T")
    if norm is not None:
        squared = np.einsum("in,ij,jn->n", weights, K, weights)
        weights *= norm / np.sqrt(squared.sum() if whole else squared)
    return lambda Z: kernel(Z, centres) @ weights


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """Source of networks whose layers have RKHS norm exactly `norm`, at any points (A, d).

    Each layer interpolates a GP draw at uniform centres and is scaled to its norm: `first_centres`
    points of the arms' box, then 4 points of [-norm, norm]^d, which holds what a layer can return
    (kernels of size at most 1). L is certified: `lipschitz`, and at least 1. B is the norm.
    """

    structure: FeedForward | MultiOutput
    points: Array = field(repr=False)
    widths: tuple[int, ...]
    norm: float = 1.0
    first_centres: int = 4

    def stored_settings(self) -> dict[str, object]:
        """Return the settings as when trials were first kept, with two that are gone."""
        return vars(self) | {"extra_dims": (), "norm_bound": None}

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng = trial.rng("function")
        norm = self.norm
        kernel = self.structure.kernel
        bound = max(1.0, lipschitz(kernel, norm))
        model = NetworkModel(self.points, self.structure, self.widths, norm, bound)
        whole = isinstance(self.structure, MultiOutput)
        low = self.points.min(axis=0)
        high = self.points.max(axis=0)
        n_centres = self.first_centres
        layers = []
        for n in self.widths:
            centres = rng.uniform(low, high, (n_centres, len(low)))
            layers.append(draw_layer(rng, kernel, centres, n, norm, whole))
            high = norm * np.ones(n)
            low = -high
            n_centres = 4
        return compose(model, layers)


def exact_chain(side: int) -> RandomNetwork:
    """Return the source of chains of three layers of norm B = 2 on side^2 points of [-5, 5]^2.

    L = 2 then holds. A GP draw at n points has squared norm n on average, so with n = 4 = B^2
    scaling changes little.
    """
    points = grid(side, 2, -HALF_WIDTH, HALF_WIDTH)
    return RandomNetwork(FeedForward(KERNEL), points, (1, 1, 1), norm=2.0, first_centres=12)


@lru_cache(maxsize=4)
def _shared(side: int) -> tuple[Array, Array, Array]:
    """What all chains of a size share: the arms, a factor of the prior's covariance there, and the
    points of the other layers.
    """
    points = grid(side, 2, -HALF_WIDTH, HALF_WIDTH)
    line = grid(21, 1, -HALF_WIDTH, HALF_WIDTH)
    return points, covariance_factor(KERNEL(points, points)), line


@dataclass(frozen=True)
class DrawnChain:
    """Source of chains of three layers drawn from the GP prior (L.1); the bounds do not hold.

    The first layer is drawn at the arms, the others at points half a lengthscale apart on [-5, 5]
    and interpolated between.
    """

    side: int
    norm_bound: float = 2.0
    lipschitz: float = 2.0

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng = trial.rng("function")
        points, factor, line = _shared(self.side)
        first = factor_draw(factor, rng)[:, None]
        second = draw_layer(rng, KERNEL, line, 1)
        third = draw_layer(rng, KERNEL, line, 1)
        bounds = self.norm_bound, self.lipschitz
        model = NetworkModel(points, FeedForward(KERNEL), (1, 1, 1), *bounds)
        return compose(model, [lambda _: first, second, third])


@dataclass(frozen=True)
class Repeated:
    """Source that gives each problem of `source` `times` in a row: trials `numbers`, or all."""

    source: Callable[[Trial], NetworkProblem]
    times: int
    numbers: tuple[int, ...] = ()

    def __call__(self, trial: Trial) -> NetworkProblem:
        place = trial.number // self.times
        number = self.numbers[place] if self.numbers else place
        return self.source(Trial(trial.seed, number))


_LINE = grid(100, 1, -2, 2)
_SCALAR = FeedForward(KERNEL)

#: Small networks of three layers on [-2, 2], norm 1, and the points a side of the layers' grids.
SMALL: dict[str, tuple[RandomNetwork, int]] = {
    "chain": (RandomNetwork(_SCALAR, _LINE, (1, 1, 1)), 60),
    "multi-output": (RandomNetwork(MultiOutput(KERNEL), _LINE, (2, 2, 1)), 11),
    "feed-forward": (RandomNetwork(_SCALAR, grid(10, 2, -2, 2), (2, 2, 1)), 15),
}

#: Chains of two layers, for the bound of Theorem 1, and the points of their fine grid.
FINE = RandomNetwork(_SCALAR, _LINE, (1, 1)), 2001
