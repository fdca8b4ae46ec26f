"""Functions in a kernel's RKHS with exactly known norm, on a grid: sums of kernel bumps at random places."""

from __future__ import annotations

import numpy as np

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.lattice import LatticeKernel
from kbrepro.problems import BoundedNoiseProblem


def bumps(
    rng: np.random.Generator,
    trial: int,
    kernel: Matern | SquaredExponential,
    d: int,
    side: int,
    noise_variance: float,
    noise_bound: float,
) -> BoundedNoiseProblem:
    """Return f = sum_i a_i k(c_i, .), 30 d centres uniform on [0, 1]^d, weights uniform on [-1, 1] (any `trial`).

    Janz et al., Section 5. Arms: the grid of `side` points a side. The policies are told `noise_variance` (alpha) and
    the exact norm, the root of a^T K a; the noise is uniform on [-noise_bound, noise_bound].
    """
    arms = grid(side, d)
    centres, weights = rng.uniform(size=(30 * d, d)), rng.uniform(-1, 1, size=30 * d)
    norm = float(np.sqrt(weights @ kernel(centres, centres) @ weights))
    f = kernel(arms, centres) @ weights
    return BoundedNoiseProblem(arms, f, noise_variance, LatticeKernel(kernel, side), noise_bound, norm)
