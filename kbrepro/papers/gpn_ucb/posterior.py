"""GP posterior of one layer: fixed points known at every step, any other point on request.

The inputs of a layer are outputs of the one before it, so they are no arms: the Cholesky factor grows by one row a pull
(never an inverse: at noise variance 1e-7 its error would be as large as the smallest variances).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, with_output
from kbrepro.papers.gpn_ucb.network import NetworkProblem

#: Without noise a pull whose posterior variance is below this share of the prior variance counts as repeated.
REPEATED = 1e-12


class LayerPosterior:
    """Posterior of functions that share one scalar kernel and their inputs; prior mean 0.

    Attributes: `mean` (P, n_outputs) and `variance` (P,) at the fixed points (P, d), n_pulls. The variance is the same
    for every output (Li & Scarlett, eqs. 1-2).
    """

    def __init__(self, kernel: Kernel, points: Array, noise_variance: float, n_outputs: int = 1) -> None:
        checks.non_negative(noise_variance=noise_variance)
        checks.positive_int(n_outputs=n_outputs)
        self.kernel, self.points, self.noise_variance = kernel, points, noise_variance
        self.mean = np.zeros((len(points), n_outputs))
        self._variance = kernel.diag(points).astype(float).copy()
        self.n_pulls = 0
        self._inputs = np.empty((16, points.shape[1]))
        self._factor = np.zeros((16, 16))
        self._rows = np.empty((16, len(points)))
        self._residuals = np.empty((16, n_outputs))

    @property
    def variance(self) -> Array:
        """Posterior variance at the fixed points (P,); rounding below zero is cut off here."""
        return np.maximum(self._variance, 0.0)

    @property
    def sd(self) -> Array:
        """Posterior standard deviation at the fixed points, (P,)."""
        return np.sqrt(self.variance)

    def at(self, Z: Array) -> tuple[Array, Array]:
        """Return mean (n, n_outputs) and variance (n,) at any points Z (n, d)."""
        t = self.n_pulls
        V = self._solve(self.kernel(self._inputs[:t], Z))
        return V.T @ self._residuals[:t], np.maximum(self.kernel.diag(Z) - np.einsum("tn,tn->n", V, V), 0.0)

    def update(self, z: Array, y: Array) -> None:
        """Condition on the output y (n_outputs,) at z (d,).

        Raises ValueError on other shapes, on what is not finite, and on a repeated point if there is no noise.
        """
        z, y = np.atleast_2d(z), np.asarray(y, dtype=float)
        if z.shape != (1, self.points.shape[1]) or y.shape != (self.mean.shape[1],):
            wanted = f"z ({self.points.shape[1]},) and y ({self.mean.shape[1]},)"
            raise ValueError(f"the shapes disagree: z {z.shape[1:]}, y {y.shape}; they must be {wanted}")
        checks.finite_array(z=z, y=y)
        t = self.n_pulls
        new = self._solve(self.kernel(self._inputs[:t], z))[:, 0]
        scale = np.sqrt(self._pivot(float(self.kernel.diag(z)[0]), float(new @ new)))
        self._grow()
        self._inputs[t], self._factor[t, :t], self._factor[t, t] = z[0], new, scale
        self._rows[t] = (self.kernel(z, self.points)[0] - new @ self._rows[:t]) / scale
        self._residuals[t] = (y - new @ self._residuals[:t]) / scale
        self.mean += self._rows[t][:, None] * self._residuals[t]
        self._variance -= self._rows[t] ** 2
        self.n_pulls += 1

    def _pivot(self, prior: float, explained: float) -> float:
        left = prior - explained
        if self.noise_variance == 0 and left <= REPEATED * prior:
            raise ValueError("noise_variance = 0 is not allowed with repeated points: noise_variance must be above 0")
        return max(left, 0.0) + self.noise_variance

    def _solve(self, K: Array) -> Array:
        t = self.n_pulls
        return solve_triangular(self._factor[:t, :t], K, lower=True, check_finite=False) if t else K

    def _grow(self) -> None:
        t = self.n_pulls
        if t < len(self._rows):
            return
        for name in ("_inputs", "_rows", "_residuals"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.empty_like(old)]))
        factor = np.zeros((2 * t, 2 * t))
        factor[:t, :t] = self._factor
        self._factor = factor


class OperatorPosterior:
    """Posterior of one vector-valued function with an operator-valued kernel (Li & Scarlett, eqs. 3-4).

    Attributes: `mean` (P, n) and `covariance` (P, n, n) at the fixed points (P, d). A pull is n pulls of the scalar
    posterior over pairs (point, output).
    """

    def __init__(self, kernel: OperatorKernel, points: Array, noise_variance: float) -> None:
        n = kernel.n_outputs
        self.points, self._n = points, n
        self._pairs = LayerPosterior(kernel, with_output(points, n), noise_variance)
        self.covariance = _blocks(kernel, points)

    @property
    def mean(self) -> Array:
        """Posterior mean at the fixed points, (P, n)."""
        return self._pairs.mean.reshape(-1, self._n)

    @property
    def sd(self) -> Array:
        """Root of the spectral norm of the posterior covariance at the fixed points, (P,)."""
        return _spread(self.covariance)

    def at(self, Z: Array) -> tuple[Array, Array]:
        """Return the mean (m, n) and the squared `sd` (m,) at any points Z (m, d)."""
        pairs = with_output(Z, self._n)
        posterior, t = self._pairs, self._pairs.n_pulls
        V = posterior._solve(posterior.kernel(posterior._inputs[:t], pairs))
        blocks = V.reshape(t, len(Z), self._n)
        left = _blocks(posterior.kernel, Z) - np.einsum("tmi,tmj->mij", blocks, blocks)
        return (V.T @ posterior._residuals[:t]).reshape(len(Z), self._n), _spread(left) ** 2

    def update(self, z: Array, y: Array) -> None:
        """Condition on the output y (n,) at z (d,); raises as `LayerPosterior.update`."""
        if np.shape(y) != (self._n,):
            raise ValueError(f"the shapes disagree: y {np.shape(y)}; it must be ({self._n},)")
        for pair, value in zip(with_output(np.atleast_2d(z), self._n), y, strict=True):
            self._pairs.update(pair, np.array([value]))
            row = self._pairs._rows[self._pairs.n_pulls - 1].reshape(-1, self._n)
            self.covariance -= row[:, :, None] * row[:, None, :]


def _blocks(kernel: OperatorKernel, points: Array) -> Array:
    """Return Gamma(x, x) of every point, (P, n, n)."""
    diagonals = [k.diag(points) for k in kernel.kernels]
    return sum(d[:, None, None] * A for d, A in zip(diagonals, kernel.mixings, strict=True))


def _spread(covariance: Array) -> Array:
    return np.sqrt(np.maximum(np.linalg.eigvalsh(covariance)[:, -1], 0.0))


def layer_posterior(
    kernel: Kernel | OperatorKernel, points: Array, noise_variance: float, n_outputs: int
) -> LayerPosterior | OperatorPosterior:
    """Return the posterior that fits the kernel."""
    if isinstance(kernel, OperatorKernel):
        return OperatorPosterior(kernel, points, noise_variance)
    return LayerPosterior(kernel, points, noise_variance, n_outputs)


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
