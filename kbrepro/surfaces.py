"""Common two-dimensional test functions for optimisation, turned upside down and scaled to [-1, 1] on a grid.

Forms and domains as in Surjanovic and Bingham's virtual library (Janz et al., footnote 5). All are written for
minimisation there; the reward here is minus the function.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Matern, SquaredExponential, grid
from kbrepro.lattice import LatticeKernel
from kbrepro.problems import BoundedNoiseProblem


def branin(x: Array, y: Array) -> Array:
    """Three equal minima of 0.397887; x in [-5, 10], y in [0, 15]."""
    bowl = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def six_hump_camel(x: Array, y: Array) -> Array:
    """Two equal minima of -1.0316 among six; x in [-3, 3], y in [-2, 2]."""
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (4 * y**2 - 4) * y**2


def goldstein_price(x: Array, y: Array) -> Array:
    """Minimum 3 at (0, -1), values up to a million; [-2, 2]^2."""
    first = 1 + (x + y + 1) ** 2 * (19 - 14 * x + 3 * x**2 - 14 * y + 6 * x * y + 3 * y**2)
    return first * (30 + (2 * x - 3 * y) ** 2 * (18 - 32 * x + 12 * x**2 + 48 * y - 36 * x * y + 27 * y**2))


def rosenbrock(x: Array, y: Array) -> Array:
    """Minimum 0 at (1, 1) in a long flat valley; [-5, 10]^2."""
    return 100 * (y - x**2) ** 2 + (x - 1) ** 2


def ackley(x: Array, y: Array) -> Array:
    """Minimum 0 at the origin, a narrow funnel in a nearly flat plain; [-32.768, 32.768]^2."""
    radius = np.sqrt((x**2 + y**2) / 2)
    waves = (np.cos(2 * np.pi * x) + np.cos(2 * np.pi * y)) / 2
    return -20 * np.exp(-0.2 * radius) - np.exp(waves) + 20 + np.e


def rastrigin(x: Array, y: Array) -> Array:
    """Minimum 0 at the origin among a hundred local ones; [-5.12, 5.12]^2."""
    return 20 + x**2 - 10 * np.cos(2 * np.pi * x) + y**2 - 10 * np.cos(2 * np.pi * y)


def levy(x: Array, y: Array) -> Array:
    """Minimum 0 at (1, 1), rippled; [-10, 10]^2."""
    v, w = 1 + (x - 1) / 4, 1 + (y - 1) / 4
    middle = (v - 1) ** 2 * (1 + 10 * np.sin(np.pi * v + 1) ** 2)
    return np.sin(np.pi * v) ** 2 + middle + (w - 1) ** 2 * (1 + np.sin(2 * np.pi * w) ** 2)


def beale(x: Array, y: Array) -> Array:
    """Minimum 0 at (3, 0.5), peaks in the corners; [-4.5, 4.5]^2."""
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


#: Function and domain (low x, high x, low y, high y) by name.
SURFACES: dict[str, tuple[Callable[[Array, Array], Array], tuple[float, float, float, float]]] = {
    "Branin": (branin, (-5, 10, 0, 15)),
    "six-hump camel": (six_hump_camel, (-3, 3, -2, 2)),
    "Goldstein-Price": (goldstein_price, (-2, 2, -2, 2)),
    "Rosenbrock": (rosenbrock, (-5, 10, -5, 10)),
    "Ackley": (ackley, (-32.768, 32.768, -32.768, 32.768)),
    "Rastrigin": (rastrigin, (-5.12, 5.12, -5.12, 5.12)),
    "Levy": (levy, (-10, 10, -10, 10)),
    "Beale": (beale, (-4.5, 4.5, -4.5, 4.5)),
}


def scaled_surface(name: str, points: Array) -> Array:
    """Return minus the named function at points (A, 2) of the unit square, scaled to [-1, 1] over these points."""
    checks.one_of(tuple(SURFACES), name=name)
    function, (low_x, high_x, low_y, high_y) = SURFACES[name]
    values = -function(low_x + (high_x - low_x) * points[:, 0], low_y + (high_y - low_y) * points[:, 1])
    return 2 * (values - values.min()) / np.ptp(values) - 1


def surface(
    rng: np.random.Generator,
    trial: int,
    name: str,
    kernel: Matern | SquaredExponential,
    side: int,
    noise_variance: float,
    noise_bound: float,
    norm: float,
) -> BoundedNoiseProblem:
    """Return the named surface on a grid of `side` points a side; nothing is drawn, any `trial`.

    Policies are told `norm` although nobody knows the function's own (Janz et al., Section 5), and `noise_variance`;
    the noise is uniform on [-noise_bound, noise_bound]. Raises ValueError on an unknown name.
    """
    arms = grid(side, 2)
    f = scaled_surface(name, arms)
    return BoundedNoiseProblem(arms, f, noise_variance, LatticeKernel(kernel, side), noise_bound, norm)
