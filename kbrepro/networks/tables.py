"""Posteriors of one-dimensional layers, tabulated: mean and variance at any point by cubic interpolation.

Between four neighbours of an equispaced table the error of cubic interpolation is at most 3/128 h^4 max |f''''|. For
the squared exponential with lengthscale 1 the mean has |f''''| <= B sqrt(105) and the variance at most 69.5
(Cauchy-Schwarz on derivatives of the kernel), so with h = 0.01 and B = 2 the errors are below 5e-9 and 2e-8, that of
the sd below 3e-5 (the variance is at least the noise variance, 1e-7, up to rounding). Tabulating the sd instead would
lose this: it has kinks where the variance vanishes.
"""

from __future__ import annotations

import numpy as np

from kbrepro.kernels import Array
from kbrepro.networks.layer_posterior import LayerPosterior
from kbrepro.networks.problem import NetworkProblem

#: Tables span [-HALF_WIDTH, HALF_WIDTH]; outside, where no data is near and the posterior is the prior, the end counts.
HALF_WIDTH, STEP = 8.0, 0.01


def table_points() -> Array:
    """Return the (n, 1) points of a table."""
    n = round(2 * HALF_WIDTH / STEP) + 1
    return np.linspace(-HALF_WIDTH, HALF_WIDTH, n)[:, None]


def cubic_weights(u: Array) -> tuple[Array, Array, Array, Array]:
    """Return the weights of the values at -1, 0, 1, 2 in the cubic through them at u, each of the shape of u."""
    return (
        -u * (u - 1) * (u - 2) / 6,
        (u + 1) * (u - 1) * (u - 2) / 2,
        -(u + 1) * u * (u - 2) / 2,
        (u + 1) * u * (u - 1) / 6,
    )


def interpolate(table: Array, z: Array) -> Array:
    """Return the cubic through the four nearest entries of a table (n, k) at z, any shape, as z.shape + (k,)."""
    position = (np.clip(z, -HALF_WIDTH, HALF_WIDTH) + HALF_WIDTH) / STEP
    left = np.clip(position.astype(np.int64), 1, len(table) - 3)
    u = position - left
    return sum(w[..., None] * table[left + shift] for shift, w in zip((-1, 0, 1, 2), cubic_weights(u), strict=True))


class ChainPosterior:
    """Posteriors of all layers of a chain: the first at the arms, the others in tables.

    Raises ValueError for networks other than chains and for additional inputs.
    """

    def __init__(self, problem: NetworkProblem) -> None:
        if problem.structure != "chain" or sum(problem.extra_dims):
            raise ValueError(f"structure = {problem.structure!r} is not allowed: the rivals take plain chains only")
        inputs = [problem.arms, *[table_points()] * (problem.depth - 1)]
        self.problem = problem
        self.layers = [
            LayerPosterior(kernel, points, problem.noise_variance)
            for kernel, points in zip(problem.kernels, inputs, strict=True)
        ]

    def update(self, arm: int, observation: Array) -> None:
        """Take in the outputs of all layers at `arm`."""
        z = self.problem.arms[arm]
        for posterior, y in zip(self.layers, self.problem.split(observation), strict=True):
            posterior.update(z, y)
            z = y

    def first(self) -> tuple[Array, Array]:
        """Return mean and sd of the first layer at the arms, each (A,)."""
        return self.layers[0].mean[:, 0], self.layers[0].sd

    def table(self, layer: int) -> Array:
        """Return mean and variance of a later layer at `table_points`, (n, 2)."""
        posterior = self.layers[layer]
        return np.column_stack([posterior.mean[:, 0], posterior.variance])

    def at(self, layer: int, z: Array) -> tuple[Array, Array]:
        """Return mean and sd of a later layer at z, each of the shape of z."""
        mean, variance = np.moveaxis(interpolate(self.table(layer), z), -1, 0)
        return mean, np.sqrt(np.maximum(variance, 0.0))
