"""Layers of a network: finite kernel expansions, whose norms are exact and whose Lipschitz constants are certified."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel, Matern, SquaredExponential


@dataclass(frozen=True, eq=False)
class OperatorKernel:
    """Gamma(x, z) = k(x, z) I, n x n: the kernel of one function with n outputs.

    Used as a scalar kernel over pairs (point, output): points carry the number of the output, 0 .. n - 1, in their last
    column (`with_output`).
    """

    scalar: Kernel
    n_outputs: int

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.scalar(X[:, :-1], Z[:, :-1]) * (X[:, -1:] == Z[:, -1])

    def diag(self, X: Array) -> Array:
        return self.scalar.diag(X[:, :-1])


AnyKernel = Kernel | OperatorKernel


def with_output(points: Array, n_outputs: int) -> Array:
    """Return the (n points * n_outputs, d + 1) pairs of every point (n, d) and output number, outputs fastest."""
    return np.column_stack([np.repeat(points, n_outputs, axis=0), np.tile(np.arange(float(n_outputs)), len(points))])


def lipschitz(kernel: AnyKernel, norm: float) -> float:
    """Return a Lipschitz constant of every function of RKHS norm at most `norm` (Euclidean norms on both sides).

    |f(x) - f(z)| <= norm sqrt(2 (k(0) - k(r))) <= norm sqrt(-k''(0)) r; for the squared exponential norm / lengthscale.
    2 (k(0) - k(r)) <= -k''(0) r^2 (Bochner, 1 - cos a <= a^2 / 2); it is nu / (nu - 1) over the squared lengthscale for
    Matérn kernels. Raises ValueError for a kernel without such a constant (Matérn 1/2).
    """
    checks.positive(norm=norm)
    k = _scalar(kernel)
    if isinstance(k, SquaredExponential):
        return norm * float(np.sqrt(k.variance / k.lengthscale**2))
    if isinstance(k, Matern) and k.nu > 1:
        return norm * float(np.sqrt(k.nu / (k.nu - 1) * k.variance / k.lengthscale**2))
    raise ValueError(f"kernel = {k!r} is not allowed: its functions need not be Lipschitz continuous")


def largest_value(kernel: AnyKernel, norm: float) -> float:
    """Return norm sqrt(k(x, x)), which no |f(x)| exceeds (Euclidean norm): how far the next layer's grid must reach."""
    return norm * float(np.sqrt(_scalar(kernel).diag(np.zeros((1, 1)))[0]))


def _scalar(kernel: AnyKernel) -> Kernel:
    return kernel.scalar if isinstance(kernel, OperatorKernel) else kernel


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
