"""GP posterior of one layer: fixed points known at every step, any other point on request.

The inputs of a layer are outputs of the one before it, so they are no arms: the Cholesky factor
grows by one row per pull (never an inverse: at noise variance 1e-7 its error would be as large as
the smallest variances).
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from kbrepro import checks
from kbrepro.bandits.posterior import Stack, Uncertain, check_reward
from kbrepro.papers.gpn_ucb.network import NOISE_VARIANCE, NetworkModel
from kbrepro.typing import Array, Integers, Kernel


class LayerPosterior(Uncertain):
    """Posterior of functions that share one scalar kernel and their inputs; prior mean 0.

    Attributes: `mean` (P, n_outputs) and `variance` (P,) at the fixed points (P, d). The variance
    is the same for every output (Li & Scarlett, eqs. 1-2). With the operator-valued kernel k I the
    posterior of one vector-valued function is the same, and the spectral norm of its covariance is
    that variance (eqs. 3-4, Lemma 4).
    """

    def __init__(
        self,
        kernel: Kernel,
        points: Array,
        n_outputs: int = 1,
        noise_variance: float = NOISE_VARIANCE,
    ) -> None:
        self.kernel = kernel
        self.points = checks.read_only(points)
        self.noise_variance = noise_variance
        self.mean = checks.read_only(np.zeros((len(points), n_outputs)))
        self._variance = kernel.diag(points).astype(float).copy()
        self._inputs = Stack(points.shape[1])
        self._rows = Stack(len(points))
        self._residuals = Stack(n_outputs)
        self._factor = np.zeros((16, 16))

    def at(self, Z: Array) -> tuple[Array, Array]:
        """Return mean (n, n_outputs) and standard deviation (n,) at any points Z (n, d)."""
        mean, V = self.solved(Z)
        return mean, np.sqrt(np.maximum(self.kernel.diag(Z) - np.einsum("tn,tn->n", V, V), 0.0))

    def solved(self, Z: Array) -> tuple[Array, Array]:
        """Return the mean (n, n_outputs) at any points Z (n, d), and V = L^-1 k(inputs, Z), (pulls,
        n).
        """
        K = self.kernel(self._inputs(), Z)
        t = len(self._inputs)
        V = solve_triangular(self._factor[:t, :t], K, lower=True, check_finite=False) if t else K
        return V.T @ self._residuals(), V

    def update(self, z: Array, y: Array) -> None:
        """Condition on the output y (n_outputs,) at z (d,).

        Raises ValueError on what is not finite; shapes are checked by `NetworkModel.steps`.
        """
        checks.finite_array(z=z, y=y)
        check_reward(float(np.abs(y).max()), 1.0)
        z = z[None, :]
        mean, V = self.solved(z)
        t = len(V)
        new = V[:, 0]
        scale = np.sqrt(
            max(float(self.kernel.diag(z)[0]) - float(new @ new), 0.0) + self.noise_variance
        )
        if t == len(self._factor):
            self._factor = np.pad(self._factor, (0, t))
        self._factor[t, :t] = new
        self._factor[t, t] = scale
        row = (self.kernel(z, self.points)[0] - new @ self._rows()) / scale
        residual = (y - mean[0]) / scale
        self._inputs.append(z[0])
        self._rows.append(row)
        self._residuals.append(residual)
        self.mean = checks.read_only(self.mean + row[:, None] * residual)
        self._variance -= row**2


class NetworkPosterior(checks.Changing):
    """The posteriors of all layers, each with its own fixed points: what a pull shows is given to
    each of them.
    """

    def __init__(self, model: NetworkModel, points: Sequence[Array]) -> None:
        self.model = model
        layers = zip(points, model.widths, strict=True)
        self.posteriors = tuple(
            LayerPosterior(model.structure.kernel, fixed, n) for fixed, n in layers
        )

    def update(self, arm: int, observation: Sequence[float | Array]) -> None:
        """Take in the outputs of all layers at `arm`; raises as `NetworkModel.steps`."""
        for posterior, (z, y) in zip(
            self.posteriors, self.model.steps(arm, observation), strict=True
        ):
            posterior.update(z, y)


#: Tables span [-HALF_WIDTH, HALF_WIDTH]; outside, where no data is near and the posterior is the
#: prior, the end counts.
HALF_WIDTH = 8.0
STEP = 0.01
TABLE_POINTS = np.linspace(-HALF_WIDTH, HALF_WIDTH, round(2 * HALF_WIDTH / STEP) + 1)[:, None]


def stencil(z: Array) -> tuple[Integers, Array]:
    """Return the first of the four entries of a table that are nearest to z, and their weights in a
    cubic, (4, ...).
    """
    position = (np.clip(z, -HALF_WIDTH, HALF_WIDTH) + HALF_WIDTH) / STEP
    left = np.clip(position.astype(np.int64), 1, len(TABLE_POINTS) - 3)
    u = position - left
    outer = (u - 1) * (u - 2)
    inner = (u + 1) * u
    return left - 1, np.stack(
        [-u * outer / 6, (u + 1) * outer / 2, -inner * (u - 2) / 2, inner * (u - 1) / 6]
    )


def interpolate(column: Array, at: tuple[Integers, Array]) -> Array:
    """Return the cubic through the four nearest entries of a table's column (n,) at z: `at` is
    stencil(z).
    """
    first, weights = at
    return sum(weight * column.take(first + j) for j, weight in enumerate(weights))


class ChainPosterior(NetworkPosterior):
    """Posteriors of all layers of a chain: the first at the arms, the others in tables.

    Raises ValueError for networks other than chains.
    """

    def __init__(self, model: NetworkModel) -> None:
        if set(model.widths) != {1}:
            raise ValueError(f"{model} is not allowed: every layer must have one output")
        super().__init__(model, [model.points, *[TABLE_POINTS] * (len(model.widths) - 1)])

    def first(self) -> tuple[Array, Array]:
        """Return mean and sd of the first layer at the arms, each (A,)."""
        return self.posteriors[0].mean[:, 0], self.posteriors[0].sd

    def at(self, layer: int, z: Array) -> tuple[Array, Array]:
        """Return mean and sd of a later layer at z, each of the shape of z."""
        where = stencil(z)
        posterior = self.posteriors[layer]
        mean, variance = (
            interpolate(column, where) for column in (posterior.mean[:, 0], posterior.variance)
        )
        return mean, np.sqrt(np.maximum(variance, 0.0))
