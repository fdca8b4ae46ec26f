"""Layers of a network: finite kernel expansions, whose norms are exact and whose Lipschitz constants are certified."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel, Matern, SquaredExponential

#: -k''(0) of a kernel of unit variance and lengthscale: 2 (k(0) - k(r)) <= -k''(0) r^2 (Bochner, 1 - cos a <= a^2/2).
MATERN_CURVATURE = {1.5: 3.0, 2.5: 5 / 3}


@dataclass(frozen=True, eq=False)
class OperatorKernel:
    """Gamma(x, z) = sum_q k_q(x, z) A_q: a kernel with n x n values, A_q symmetric positive semidefinite.

    Used as a scalar kernel over pairs (point, output): points carry the number of the output, 0 .. n - 1, in their last
    column (`with_output`). One A_q = I and one k_q give the paper's k I. Raises ValueError unless there is one such
    matrix per kernel.
    """

    kernels: tuple[Kernel, ...]
    mixings: tuple[Array, ...]

    def __post_init__(self) -> None:
        shapes = {np.shape(A) for A in self.mixings}
        if len(self.kernels) != len(self.mixings) or len(shapes) != 1 or len(set(*shapes)) != 1:
            raise ValueError(f"mixings have shapes {shapes}: there must be one n x n matrix a kernel")
        for A in self.mixings:
            if not np.allclose(A, A.T) or np.linalg.eigvalsh(A)[0] < -1e-10:
                raise ValueError("mixings must be symmetric and positive semidefinite")

    def __call__(self, X: Array, Z: Array) -> Array:
        pairs = np.ix_(X[:, -1].astype(int), Z[:, -1].astype(int))
        return sum(k(X[:, :-1], Z[:, :-1]) * A[pairs] for k, A in zip(self.kernels, self.mixings, strict=True))

    def diag(self, X: Array) -> Array:
        own = X[:, -1].astype(int)
        return self.blocks(X[:, :-1])[np.arange(len(X)), own, own]

    def blocks(self, points: Array) -> Array:
        """Return Gamma(x, x) of points (P, d) without numbers of outputs, (P, n, n)."""
        pairs = zip(self.kernels, self.mixings, strict=True)
        return np.sum([np.multiply.outer(k.diag(points), A) for k, A in pairs], axis=0)


AnyKernel = Kernel | OperatorKernel


def with_output(points: Array, n_outputs: int) -> Array:
    """Return the (n points * n_outputs, d + 1) pairs of every point (n, d) and output number, outputs fastest."""
    return np.column_stack([np.repeat(points, n_outputs, axis=0), np.tile(np.arange(float(n_outputs)), len(points))])


def lipschitz(kernel: AnyKernel, norm: float) -> float:
    """Return a Lipschitz constant of every function of RKHS norm at most `norm` (Euclidean norms on both sides).

    |f(x) - f(z)| <= norm sqrt(2 (k(0) - k(r))) <= norm sqrt(-k''(0)) r; for the squared exponential norm / lengthscale.
    For an operator-valued kernel -k''(0) is the spectral norm of sum_q -k_q''(0) A_q. Raises ValueError for a kernel
    without such a constant (Matérn 1/2).
    """
    checks.positive(norm=norm)
    return norm * float(np.sqrt(_size(kernel, _curvature)))


def largest_value(kernel: AnyKernel, norm: float) -> float:
    """Return norm sqrt(k(x, x)), which no |f(x)| exceeds (Euclidean norm): how far the next layer's grid must reach."""
    return norm * float(np.sqrt(_size(kernel, lambda k: k.diag(np.zeros((1, 1)))[0])))


def _size(kernel: AnyKernel, number: Callable[[Kernel], float]) -> float:
    """A number of a scalar kernel k; of an operator-valued one the spectral norm of sum_q number(k_q) A_q."""
    if not isinstance(kernel, OperatorKernel):
        return number(kernel)
    return float(np.linalg.norm(sum(number(k) * A for k, A in zip(kernel.kernels, kernel.mixings, strict=True)), 2))


def _curvature(kernel: Kernel) -> float:
    if isinstance(kernel, SquaredExponential):
        return kernel.variance / kernel.lengthscale**2
    if isinstance(kernel, Matern) and kernel.nu in MATERN_CURVATURE:
        return MATERN_CURVATURE[kernel.nu] * kernel.variance / kernel.lengthscale**2
    raise ValueError(f"kernel = {kernel!r} is not allowed: its functions need not be Lipschitz continuous")


@dataclass(frozen=True, eq=False)
class Layer:
    """f(z) = sum_i k(z, c_i) w_i, several outputs: z (n, d) -> (n, n_outputs).

    With a scalar kernel `weights` is (n_centres, n_outputs) and every output is a function of its own; with an
    operator-valued kernel the outputs are one function, f(z) = sum_i Gamma(z, c_i) w_i.
    """

    kernel: AnyKernel
    centres: Array
    weights: Array

    def __call__(self, Z: Array) -> Array:
        n = self.weights.shape[1]
        Z, centres = (_points(self.kernel, points, n) for points in (Z, self.centres))
        return (self.kernel(Z, centres) @ self.weights.reshape(len(centres), -1)).reshape(-1, n)


def draw_layer(rng: np.random.Generator, kernel: AnyKernel, centres: Array, n: int, norm: float | None) -> Layer:
    """Return the interpolant, n outputs, of a GP draw at the centres, scaled to RKHS norm `norm` (None: as drawn).

    With K = L L^T and standard normal e the draw is L e and the weights of its interpolant L^-T e: its squared norm is
    |e|^2, chi-squared with as many degrees of freedom as e has entries. Scaled output by output with a scalar kernel,
    as a whole otherwise.
    """
    points = _points(kernel, centres, n)
    K = kernel(points, points)
    drawn = rng.standard_normal((len(points), n * len(centres) // len(points)))
    weights = solve_triangular(cholesky(K + 1e-12 * np.eye(len(K)), lower=True), drawn, lower=True, trans="T")
    if norm is not None:
        weights *= norm / np.sqrt(np.einsum("in,ij,jn->n", weights, K, weights))
    return Layer(kernel, centres, weights.reshape(len(centres), n))


def _points(kernel: AnyKernel, points: Array, n_outputs: int) -> Array:
    """What the kernel is called with: points, or pairs of point and output."""
    return with_output(points, n_outputs) if isinstance(kernel, OperatorKernel) else points
