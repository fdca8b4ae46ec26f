"""Stationary kernels on a regular grid, evaluated on integer squared distances.

Pairs of grid points at the same distance then have bitwise the same covariance, whatever their coordinates: arms that
are symmetric to each other tie exactly until the data tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.kernels import Array, Matern, SquaredExponential

#: Coordinates may be off the grid by this share of its spacing: rounding.
OFF_GRID = 1e-6


def grid_indices(points: Array, n: int) -> NDArray[np.int64]:
    """Return integers (A, d) with points = integers / (n - 1), for points (A, d) of the grid with n points a side.

    Raises ValueError if a point is not on that grid of [0, 1]^d.
    """
    checks.at_least(2, n=n)
    scaled = np.asarray(points, dtype=float) * (n - 1)
    integers = np.rint(scaled)
    off = (np.abs(scaled - integers) > OFF_GRID) | (integers < 0) | (integers > n - 1)
    if off.any():
        row, axis = np.argwhere(off)[0]
        raise ValueError(f"points[{row}, {axis}] = {points[row, axis]} is not on the grid of {n} points a side")
    return integers.astype(np.int64)


@dataclass(frozen=True)
class LatticeKernel:
    """A stationary isotropic kernel on the points of `kernels.grid(n, d)`, any d; ValueError off the grid."""

    kernel: Matern | SquaredExponential
    n: int

    def __post_init__(self) -> None:
        checks.at_least(2, n=self.n)

    def __call__(self, X: Array, Z: Array) -> Array:
        # distances of integers are integers, exactly, in floating point too
        squared = cdist(grid_indices(X, self.n), grid_indices(Z, self.n), "sqeuclidean").astype(np.intp)
        return _table(self.kernel, self.n, X.shape[1])[squared]

    def diag(self, X: Array) -> Array:
        return self.kernel.diag(X)


@lru_cache(maxsize=8)
def _table(kernel: Matern | SquaredExponential, n: int, d: int) -> Array:
    """The covariance at every integer squared distance 0 .. d (n - 1)^2."""
    distances = np.sqrt(np.arange(d * (n - 1) ** 2 + 1)) / (n - 1)
    return kernel(np.zeros((1, 1)), distances[:, None])[0]
