"""Covariance functions (kernels) over points: `kernel(X, Z) -> (n, m)` and `kernel.diag(X) ->
(n,)`.

Points are the rows of X (n, d) and Z (m, d). Every kernel is a small frozen value: it can be
compared, printed and sent to a worker. Kernels with parameters raise ValueError unless all of them
are positive.

A class of kernels may *declare*, beside the `__call__` for which it holds:

- `positive_semidefinite = True`: no check looks at its matrix.
- `stationary = True`: k(x, z) depends only on the distances of x and z along the axes, as lattices
  need.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.lapack import dpotrf
from scipy.spatial.distance import cdist

from kbrepro import checks
from kbrepro.typing import Array, Integers, Kernel

#: A covariance may have eigenvalues down to minus this share of the largest one: rounding, not a
#: mistake.
NEGATIVE_EIGENVALUE = 1e-10
#: Arms at which `check_kernel` looks at most.
LOOKED_AT = 3000
#: exp(-s) is 0 from here on, and Matérn's polynomial in s, which would be infinite for points far
#: apart, is not.
FAR = 1000.0
#: What is too small for float64 becomes 0, and a distance that is too large infinite, whatever
#: `numpy.seterr` says.
quiet = np.errstate(under="ignore", over="ignore")


@quiet
def grid(
    n: int, d: int = 1, low: float = 0.0, high: float = 1.0, *, bounds: object = None
) -> Array:
    """Return the (n**d, d) points of an equispaced grid on [low, high]^d with n >= 1 points per
    side.

    With `bounds`, pairs (low, high), there is one axis for each. Raises ValueError on a value out
    of range, MemoryError if the points do not fit.
    """
    checks.positive_int(n=n, d=d)
    checks.finite_number(low=low, high=high)
    pairs = checks.array("bounds", [(low, high)] if bounds is None else bounds, 2, least=1)
    if bounds is not None:
        if pairs.shape[1] != 2 or (d, low, high) != (1, 0.0, 1.0):
            raise checks.refused(
                "bounds", bounds, "one (low, high) per axis, without d, low and high"
            )
        d = len(pairs)
    checks.finite_array(**{"high - low": np.diff(pairs)})
    needed = d * (24 * np.float64(n) ** d + 1000)
    checks.memory(needed, f"n = {n}: a grid of {n}**{d} points")
    return points_of(
        [np.linspace(low, high, n) for low, high in np.broadcast_to(pairs, (d, 2)).tolist()]
    )


def points_of(axes: list[Array]) -> Array:
    """Return the points (n, d) of a lattice with these places along its d axes; the last axis
    varies fastest.
    """
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _points(name: str, value: object) -> Array:
    """Points as float64 (n, d), without a copy if they are: a kernel is called once per pull."""
    return checks.array(name, value, 2, copy=False, finite=False)


def declares(kernel: Kernel, what: str) -> bool:
    """Return whether the class that defines the kernel's `__call__` declares `what = True`; a
    subclass must anew.
    """
    owner = next((base for base in type(kernel).__mro__ if "__call__" in vars(base)), object)
    return what in vars(owner) and getattr(kernel, what) is True


def check_kernel(kernel: Kernel, points: Array) -> None:
    """Raise ValueError unless the kernel is a covariance on points (A, d), and `diag` its diagonal.

    The matrix (A, A) must be finite, symmetric and positive semidefinite, all up to rounding; of
    more than LOOKED_AT arms that of so many, evenly spread. Trusted are kernels that declare it.
    """
    kernel(points[:1], points[:1])  # refuses lengthscales of other axes
    if declares(kernel, "positive_semidefinite"):
        return
    points = points[np.linspace(0, len(points) - 1, min(len(points), LOOKED_AT)).astype(int)]
    K = checks.array("kernel(X, X)", kernel(points, points), copy=False)
    diagonal = checks.array("kernel.diag(X)", kernel.diag(points), copy=False)
    refusal = f"kernel = {type(kernel).__name__} is not allowed"
    n = len(points)
    if K.shape != (n, n) or diagonal.shape != (n,):
        raise ValueError(
            f"{refusal}: of n = {n} points kernel(X, X) must have shape (n, n) and kernel.diag(X)"
            f" shape (n,); their shapes are {K.shape} and {diagonal.shape}"
        )
    near = _check_covariance(refusal, K)
    if (off := np.abs(diagonal - K.diagonal())).max() > near:
        arm = off.argmax()
        raise ValueError(
            f"{refusal}: kernel.diag(X) must be the diagonal of kernel(X, X); they are"
            f" {diagonal[arm]:.3g} and {K[arm, arm]:.3g} at arm {arm}"
        )


def _check_covariance(refusal: str, K: Array) -> float:
    """Return how far rounding may reach; ValueError unless K (A, A) is symmetric, positive
    semidefinite and not 0.
    """
    # at least this share of the largest eigenvalue
    near = NEGATIVE_EIGENVALUE * np.abs(K).sum(axis=1).max()
    gap = np.abs(K - K.T)
    if gap.max() > near:
        i, j = np.unravel_index(gap.argmax(), K.shape)
        raise ValueError(
            f"{refusal}: it must be symmetric, but [{i}, {j}] = {K[i, j]} and"
            f" [{j}, {i}] = {K[j, i]}"
        )
    if dpotrf(K + near * np.eye(len(K)), overwrite_a=1)[1]:
        raise ValueError(
            f"{refusal}: its matrix must be positive semidefinite, but has the eigenvalue"
            f" {eigvalsh(K)[0]:.3g}"
        )
    return near


class _WithVariance(checks.Checked):
    """A kernel with positive parameters, whose variance is by default the same everywhere."""

    variance: float
    checked = {"variance": checks.positive}

    def diag(self, X: Array) -> Array:
        return np.full(len(X), self.variance)


class _WithLengthscale(_WithVariance):
    """A kernel of the distance over a lengthscale, which is one number, or one for each axis (a
    tuple).
    """

    lengthscale: Any  # a number, or a tuple of them

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.ndim(self.lengthscale):
            axes = checks.array("lengthscale", self.lengthscale, 1)
            object.__setattr__(self, "lengthscale", tuple(axes.tolist()))
        for lengthscale in np.ravel(self.lengthscale).tolist():
            checks.positive(lengthscale=lengthscale)
            checks.positive(**{"lengthscale**2": lengthscale * lengthscale})

    def _distances(self, X: object, Z: object, metric: str) -> tuple[Array, float]:
        """Distances (n, m), and the lengthscale over which they are still to be taken: points are,
        if by axis.
        """
        X, Z, scale = _points("X", X), _points("Z", Z), self.lengthscale
        if not isinstance(scale, tuple):
            return cdist(X, Z, metric), scale
        if X.shape[1] != len(scale):
            raise checks.refused(
                "lengthscale", scale, f"one number, or one for each of {X.shape[1]} axes"
            )
        # differences first: far from 0 a quotient loses digits
        origin = np.concatenate([X[:1], Z[:1]])[:1]
        return cdist((X - origin) / scale, (Z - origin) / scale, metric), 1.0


@dataclass(frozen=True)
class SquaredExponential(_WithLengthscale):
    """variance * exp(-r^2 / (2 lengthscale^2)), r the Euclidean distance.

    With one lengthscale for each axis, as a tuple, every axis is divided by its own.

    Srinivas et al. print exp(-r^2 / (2 l)); that form is `SquaredExponential(sqrt(l))`.
    """

    lengthscale: Any  # a number, or a tuple of them
    variance: float = 1.0
    stationary = positive_semidefinite = True

    @quiet
    def __call__(self, X: Array, Z: Array) -> Array:
        squared, unit = self._distances(X, Z, "sqeuclidean")
        return self.variance * np.exp(-0.5 * squared / unit**2)


@dataclass(frozen=True)
class Matern(_WithLengthscale):
    """Matérn kernel of smoothness nu = 1/2, 3/2 or 5/2 (Srinivas et al., Section 5.2); ValueError
    on another nu.

    With one lengthscale for each axis, as a tuple, every axis is divided by its own.
    """

    lengthscale: Any  # a number, or a tuple of them
    nu: float
    variance: float = 1.0
    stationary = positive_semidefinite = True
    checked = _WithLengthscale.checked | {"nu": partial(checks.one_of, (0.5, 1.5, 2.5))}

    @quiet
    def __call__(self, X: Array, Z: Array) -> Array:
        r, unit = self._distances(X, Z, "euclidean")
        s = np.minimum(np.sqrt(2 * self.nu) * r / unit, FAR)
        polynomial = 1 + s if self.nu > 0.5 else 1.0
        if self.nu > 1.5:
            polynomial += s**2 / 3
        return self.variance * polynomial * np.exp(-s)


@dataclass(frozen=True)
class Linear(_WithVariance):
    """variance * <x, z>: Bayesian linear regression."""

    variance: float = 1.0
    positive_semidefinite = True

    @quiet
    def __call__(self, X: Array, Z: Array) -> Array:
        return self.variance * (_points("X", X) @ _points("Z", Z).T)

    @quiet
    def diag(self, X: Array) -> Array:
        X = _points("X", X)
        return self.variance * np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class Independent(_WithVariance):
    """variance where two points are equal, 0 elsewhere: arms that carry no information about each
    other.
    """

    variance: float = 1.0
    stationary = positive_semidefinite = True

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.variance * (cdist(_points("X", X), _points("Z", Z), "chebyshev") == 0)


@dataclass(frozen=True, eq=False)
class Empirical(checks.Checked):
    """A given (A, A) covariance; points are arm indices, rows of an (n, 1) array.

    Raises ValueError unless the matrix is square, finite, symmetric, positive semidefinite and not
    0; a call raises IndexError on an arm out of range, ValueError on one that is no integer.
    """

    covariance: Array = field(repr=False)
    checked = {"covariance": 2}
    positive_semidefinite = True

    def __post_init__(self) -> None:
        super().__post_init__()
        n, m = self.covariance.shape
        if n != m:
            raise ValueError(f"covariance has shape {(n, m)}: it must be square, (A, A)")
        _check_covariance("covariance is not allowed", self.covariance)

    @property
    def points(self) -> Array:
        """The (A, 1) arm indices at which this kernel is defined."""
        return np.arange(len(self.covariance), dtype=float)[:, None]

    def __call__(self, X: Array, Z: Array) -> Array:
        return self.covariance[np.ix_(self._index(X), self._index(Z))]

    def diag(self, X: Array) -> Array:
        index = self._index(X)
        return self.covariance[index, index]

    def _index(self, X: Array) -> Integers:
        points = checks.array("X", X, 2, copy=False)
        if points.shape[1] != 1 or (points % 1).any():
            raise checks.refused("X", X, "integers of shape (n, 1): arms of the covariance")
        for arm in (points.min(initial=0), points.max(initial=0)):
            checks.arm_index(int(arm), len(self.covariance))
        return points[:, 0].astype(int)
