"""GP posterior of one layer: fixed points known at every step, any other point on request.

The inputs of a layer are outputs of the one before it, so they are no arms: the Cholesky factor grows by one row per
pull (never an inverse: at noise variance 1e-7 its error would be as large as the smallest variances).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, with_output
from kbrepro.papers.gpn_ucb.network import NOISE_VARIANCE, NetworkModel
from kbrepro.posterior import Rows, Uncertain


class LayerPosterior(Uncertain):
    """Posterior of functions that share one scalar kernel and their inputs; prior mean 0.

    Attributes: `mean` (P, n_outputs) and `variance` (P,) at the fixed points (P, d). The variance is the same for every
    output (Li & Scarlett, eqs. 1-2).
    """

    def __init__(self, kernel: Kernel | OperatorKernel, points: Array, noise_variance: float, n_outputs: int) -> None:
        checks.positive(noise_variance=noise_variance)
        self.kernel, self.points, self.noise_variance = kernel, points, noise_variance
        self._mean = np.zeros((len(points), n_outputs))
        self._variance = kernel.diag(points).astype(float).copy()
        self._inputs, self._rows, self._residuals = Rows(points.shape[1]), Rows(len(points)), Rows(n_outputs)
        self._factor = np.zeros((16, 16))

    @property
    def mean(self) -> Array:
        """Posterior mean at the fixed points, a copy (P, n_outputs)."""
        return self._mean.copy()

    def at(self, Z: Array) -> tuple[Array, Array]:
        """Return mean (n, n_outputs) and standard deviation (n,) at any points Z (n, d)."""
        mean, V = self.solved(Z)
        return mean, np.sqrt(np.maximum(self.kernel.diag(Z) - np.einsum("tn,tn->n", V, V), 0.0))

    def solved(self, Z: Array) -> tuple[Array, Array]:
        """Return the mean (n, n_outputs) at any points Z (n, d), and V = L^-1 k(inputs, Z), (pulls, n)."""
        K, t = self.kernel(self._inputs(), Z), len(self._inputs)
        V = solve_triangular(self._factor[:t, :t], K, lower=True, check_finite=False) if t else K
        return V.T @ self._residuals(), V

    def update(self, z: Array, y: Array) -> None:
        """Condition on the output y (n_outputs,) at z (d,).

        Raises ValueError on what is not finite; shapes are checked by `NetworkModel.steps`.
        """
        checks.finite_array(z=z, y=y)
        z = z[None, :]
        mean, V = self.solved(z)
        t, new = len(V), V[:, 0]
        scale = np.sqrt(max(float(self.kernel.diag(z)[0]) - float(new @ new), 0.0) + self.noise_variance)
        if t == len(self._factor):
            self._factor = np.pad(self._factor, (0, t))
        self._factor[t, :t], self._factor[t, t] = new, scale
        row = (self.kernel(z, self.points)[0] - new @ self._rows()) / scale
        residual = (y - mean[0]) / scale
        self._inputs.append(z[0])
        self._rows.append(row)
        self._residuals.append(residual)
        self._mean += row[:, None] * residual
        self._variance -= row**2


class OperatorPosterior:
    """Posterior of one vector-valued function with an operator-valued kernel (Li & Scarlett, eqs. 3-4).

    Attributes: `points` (P, d), the fixed ones. A pull is n pulls of the scalar posterior over pairs (point, output).
    """

    def __init__(self, kernel: OperatorKernel, points: Array, noise_variance: float) -> None:
        self.points, self.kernel, self._n = points, kernel, kernel.n_outputs
        self._pairs = LayerPosterior(kernel, with_output(points, self._n), noise_variance, n_outputs=1)

    @property
    def mean(self) -> Array:
        """Posterior mean at the fixed points, (P, n)."""
        return self._pairs.mean.reshape(-1, self._n)

    @property
    def sd(self) -> Array:
        """Root of the spectral norm of the posterior covariance at the fixed points, (P,)."""
        return self.at(self.points)[1]

    def at(self, Z: Array) -> tuple[Array, Array]:
        """Return mean (m, n) and `sd` (m,) at any points Z (m, d)."""
        mean, V = self._pairs.solved(with_output(Z, self._n))
        blocks = V.reshape(-1, len(Z), self._n)
        prior = np.multiply.outer(self.kernel.scalar.diag(Z), np.eye(self._n))
        covariance = prior - np.einsum("tmi,tmj->mij", blocks, blocks)
        largest = np.linalg.eigvalsh(covariance)[:, -1]
        return mean.reshape(len(Z), self._n), np.sqrt(np.maximum(largest, 0.0))

    def update(self, z: Array, y: Array) -> None:
        """Condition on the output y (n,) at z (d,); raises as `LayerPosterior.update`."""
        for pair, value in zip(with_output(z[None, :], self._n), y, strict=True):
            self._pairs.update(pair, np.array([value]))


AnyPosterior = LayerPosterior | OperatorPosterior


def layer_posterior(model: NetworkModel, layer: int, points: Array) -> AnyPosterior:
    """Return the posterior of a layer before the first pull, with these fixed points (P, d)."""
    kernel = model.kernels[layer]
    if isinstance(kernel, OperatorKernel):
        return OperatorPosterior(kernel, points, NOISE_VARIANCE)
    return LayerPosterior(kernel, points, NOISE_VARIANCE, model.widths[layer])


class NetworkPosterior:
    """The posteriors of all layers, each with its own fixed points: what a pull shows is given to each of them."""

    posteriors: Sequence[AnyPosterior]

    def __init__(self, model: NetworkModel, points: Sequence[Array]) -> None:
        self.model = model
        self.posteriors = [layer_posterior(model, i, fixed) for i, fixed in enumerate(points)]

    def update(self, arm: int, observation: Sequence[Any]) -> None:
        """Take in the outputs of all layers at `arm`; raises as `NetworkModel.steps`."""
        for posterior, (z, y) in zip(self.posteriors, self.model.steps(arm, observation), strict=True):
            posterior.update(z, y)


#: Tables span [-HALF_WIDTH, HALF_WIDTH]; outside, where no data is near and the posterior is the prior, the end counts.
HALF_WIDTH, STEP = 8.0, 0.01
TABLE_POINTS = np.linspace(-HALF_WIDTH, HALF_WIDTH, round(2 * HALF_WIDTH / STEP) + 1)[:, None]


def stencil(z: Array) -> tuple[NDArray[np.int64], Array]:
    """Return the first of the four entries of a table that are nearest to z, and their weights in a cubic, (4, ...)."""
    position = (np.clip(z, -HALF_WIDTH, HALF_WIDTH) + HALF_WIDTH) / STEP
    left = np.clip(position.astype(np.int64), 1, len(TABLE_POINTS) - 3)
    u = position - left
    outer, inner = (u - 1) * (u - 2), (u + 1) * u
    return left - 1, np.stack([-u * outer / 6, (u + 1) * outer / 2, -inner * (u - 2) / 2, inner * (u - 1) / 6])


def interpolate(column: Array, at: tuple[NDArray[np.int64], Array]) -> Array:
    """Return the cubic through the four nearest entries of a table's column (n,) at z: `at` is stencil(z)."""
    first, weights = at
    return sum(weight * column.take(first + j) for j, weight in enumerate(weights))


class ChainPosterior(NetworkPosterior):
    """Posteriors of all layers of a chain: the first at the arms, the others in tables.

    Raises ValueError for networks other than chains.
    """

    posteriors: Sequence[LayerPosterior]

    def __init__(self, model: NetworkModel) -> None:
        if set(model.widths) != {1} or isinstance(model.kernels[0], OperatorKernel):
            raise ValueError(f"{model} is not allowed: the rivals take plain chains only")
        super().__init__(model, [model.points, *[TABLE_POINTS] * (model.depth - 1)])

    def first(self) -> tuple[Array, Array]:
        """Return mean and sd of the first layer at the arms, each (A,)."""
        return self.posteriors[0].mean[:, 0], self.posteriors[0].sd

    def table(self, layer: int) -> tuple[Array, Array]:
        """Return mean and variance of a later layer at `TABLE_POINTS`, each (n,)."""
        posterior = self.posteriors[layer]
        return posterior.mean[:, 0], posterior.variance

    def at(self, layer: int, z: Array) -> tuple[Array, Array]:
        """Return mean and sd of a later layer at z, each of the shape of z."""
        where = stencil(z)
        mean, variance = (interpolate(column, where) for column in self.table(layer))
        return mean, np.sqrt(np.maximum(variance, 0.0))
