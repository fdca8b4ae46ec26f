"""Problems on regular grids: sums of kernel bumps, and common test functions for optimisation.

The test functions have the forms and domains of Surjanovic and Bingham's virtual library (Janz et
al., footnote 5), all written for minimisation; the reward is minus the function.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Model, Problem, Trial, Uniform
from kbrepro.typing import Array, Integers

#: The kernels whose values depend on the distance alone.
Smooth = Matern | SquaredExponential
#: Coordinates may be off the grid by this share of its spacing: rounding.
OFF_GRID = 1e-6


def grid_indices(points: Array, n: int) -> Integers:
    """Return integers (A, d) with points (A, d) = integers / (n - 1); n points are on a side.

    Raises ValueError if a point is not on that grid of [0, 1]^d.
    """
    scaled = np.asarray(points, dtype=float) * (n - 1)
    integers = np.rint(scaled)
    off = (np.abs(scaled - integers) > OFF_GRID) | (integers < 0) | (integers > n - 1)
    if off.any():
        row, axis = np.argwhere(off)[0]
        where = f"points[{row}, {axis}] = {points[row, axis]}"
        raise ValueError(
            f"{where} is not allowed: points must lie on the grid of {n} points a side"
        )
    return integers.astype(np.int64)


@dataclass(frozen=True)
class LatticeKernel:
    """An isotropic kernel on the points of `kernels.grid(n, d)`, any d; ValueError off the grid."""

    kernel: Smooth
    n: int
    stationary = positive_semidefinite = True

    def __call__(self, X: Array, Z: Array) -> Array:
        # squared distances of integers are integers, in floating point too
        squared = cdist(grid_indices(X, self.n), grid_indices(Z, self.n), "sqeuclidean")
        return _table(self.kernel, self.n, X.shape[1])[squared.astype(np.intp)]

    def diag(self, X: Array) -> Array:
        return self.kernel.diag(X)


@lru_cache(maxsize=8)
def _table(kernel: Smooth, n: int, d: int) -> Array:
    """The covariance at every integer squared distance 0 .. d (n - 1)^2."""
    distances = np.sqrt(np.arange(d * (n - 1) ** 2 + 1)) / (n - 1)
    return kernel(np.zeros((1, 1)), distances[:, None])[0]


@dataclass(frozen=True)
class Bumps:
    """Source of f = sum_i a_i k(c_i, .) on the grid of `side` points per side.

    Janz et al., Section 5: 30 d centres are uniform on [0, 1]^d, weights uniform on [-1, 1], and
    noise on +- noise_bound. The policies are given `noise_variance` (alpha), the exact norm, the
    root of a^T K a, and `noise_scale` (L), by default the noise bound (Hoeffding's lemma).
    """

    kernel: Smooth
    d: int
    side: int
    noise_variance: float
    noise_bound: float
    noise_scale: float | None = None

    def __call__(self, trial: Trial) -> Problem:
        rng = trial.rng("function")
        n = 30 * self.d
        centres = rng.uniform(size=(n, self.d))
        weights = rng.uniform(-1, 1, size=n)
        norm = float(np.sqrt(weights @ self.kernel(centres, centres) @ weights))
        points = grid(self.side, self.d)
        return _on_grid(self, points, self.kernel(points, centres) @ weights, norm)


def _branin(x: Array, y: Array) -> Array:
    """Three equal minima of 0.397887; x in [-5, 10], y in [0, 15]."""
    bowl = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def _six_hump_camel(x: Array, y: Array) -> Array:
    """Two equal minima of -1.0316 among six; x in [-3, 3], y in [-2, 2]."""
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2


def _goldstein_price(x: Array, y: Array) -> Array:
    """Minimum 3 at (0, -1), values up to a million; [-2, 2]^2."""
    one = 19 - 14 * x + 3 * x**2 - 14 * y + 6 * x * y + 3 * y**2
    other = 18 - 32 * x + 12 * x**2 + 48 * y - 36 * x * y + 27 * y**2
    return (1 + (x + y + 1) ** 2 * one) * (30 + (2 * x - 3 * y) ** 2 * other)


def _rosenbrock(x: Array, y: Array) -> Array:
    """Minimum 0 at (1, 1) in a long flat valley; [-5, 10]^2."""
    return 100 * (y - x**2) ** 2 + (x - 1) ** 2


def _ackley(x: Array, y: Array) -> Array:
    """Minimum 0 at the origin, a narrow funnel in a nearly flat plain; [-32.768, 32.768]^2."""
    radius = np.sqrt((x**2 + y**2) / 2)
    waves = (np.cos(2 * np.pi * x) + np.cos(2 * np.pi * y)) / 2
    return -20 * np.exp(-0.2 * radius) - np.exp(waves) + 20 + math.e


def _rastrigin(x: Array, y: Array) -> Array:
    """Minimum 0 at the origin among a hundred local ones; [-5.12, 5.12]^2."""
    return 20 + x**2 - 10 * np.cos(2 * np.pi * x) + y**2 - 10 * np.cos(2 * np.pi * y)


def _levy(x: Array, y: Array) -> Array:
    """Minimum 0 at (1, 1), rippled; [-10, 10]^2."""
    v = 1 + (x - 1) / 4
    w = 1 + (y - 1) / 4
    middle = (v - 1) ** 2 * (1 + 10 * np.sin(np.pi * v + 1) ** 2)
    last = (w - 1) ** 2 * (1 + np.sin(2 * np.pi * w) ** 2)
    return np.sin(np.pi * v) ** 2 + middle + last


def _beale(x: Array, y: Array) -> Array:
    """Minimum 0 at (3, 0.5), peaks in the corners; [-4.5, 4.5]^2."""
    first = (1.5 - x + x * y) ** 2
    second = (2.25 - x + x * y**2) ** 2
    return first + second + (2.625 - x + x * y**3) ** 2


#: A function and its domain (low x, high x, low y, high y).
OnPlane = tuple[Callable[[Array, Array], Array], tuple[float, float, float, float]]
SURFACES: dict[str, OnPlane] = {
    "Branin": (_branin, (-5, 10, 0, 15)),
    "six-hump camel": (_six_hump_camel, (-3, 3, -2, 2)),
    "Goldstein-Price": (_goldstein_price, (-2, 2, -2, 2)),
    "Rosenbrock": (_rosenbrock, (-5, 10, -5, 10)),
    "Ackley": (_ackley, (-32.768, 32.768, -32.768, 32.768)),
    "Rastrigin": (_rastrigin, (-5.12, 5.12, -5.12, 5.12)),
    "Levy": (_levy, (-10, 10, -10, 10)),
    "Beale": (_beale, (-4.5, 4.5, -4.5, 4.5)),
}


@dataclass(frozen=True)
class Surface:
    """Source of a surface, upside down and scaled to [-1, 1], on a grid of `side` points a side.

    Nothing is drawn: all trials have the same function, and noise uniform on +- noise_bound, which
    is the noise scale that policies get unless another is given. They are given `norm` although
    nobody knows the function's own (Janz et al., Section 5), and `noise_variance`.
    """

    name: str
    kernel: Smooth
    side: int
    noise_variance: float
    noise_bound: float
    norm: float
    noise_scale: float | None = None

    def __call__(self, trial: Trial) -> Problem:
        points = grid(self.side, 2)
        function, (low_x, high_x, low_y, high_y) = SURFACES[self.name]
        x = low_x + (high_x - low_x) * points[:, 0]
        y = low_y + (high_y - low_y) * points[:, 1]
        values = -function(x, y)
        reward = 2 * (values - values.min()) / np.ptp(values) - 1
        return _on_grid(self, points, reward, self.norm)


def _on_grid(source: Bumps | Surface, points: Array, reward: Array, norm: float) -> Problem:
    """Return the problem of a source, from the reward (A,) of its points (A, d) and what policies
    are given as norm.
    """
    kernel = LatticeKernel(source.kernel, source.side)
    scale = source.noise_scale or source.noise_bound
    model = Model(points, kernel, source.noise_variance, scale, norm)
    return Problem(model, reward, Uniform(source.noise_bound))
