"""Problems whose policies are told a bound on the RKHS norm of the expected reward: functions and sensor readings.

The norm differs from trial to trial, so each problem carries its own. The noise variance R^2 is 1 % of the range of the
function (Chowdhury & Gopalan, Section 6), and unless another is told it is also that of the policies' posterior.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, solve

from kbrepro import checks
from kbrepro.kernels import Array, Empirical, Kernel
from kbrepro.problems import Problem, covariance_factor

_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_SCALES = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
_HARTMANN_CENTRES = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.03815, 0.5743, 0.8828]]
)


def rosenbrock(X: Array, offset: float = 10.0) -> Array:
    """Return offset - 100 (y - x^2)^2 - (1 - x)^2; largest at (1, 1), where it is `offset`.

    The form, with offset 10, that Azimi et al. (2012) use as far as known; Chowdhury & Gopalan refer to them.
    """
    x, y = _columns(X, 2)
    return offset - 100 * (y - x**2) ** 2 - (1 - x) ** 2


def hartmann3(X: Array) -> Array:
    """Return Hartmann's function in three dimensions, a sum of four bumps; largest 3.8628 at (0.115, 0.556, 0.853)."""
    points = np.stack(_columns(X, 3), axis=1)
    distance = (_HARTMANN_SCALES * (points[:, None, :] - _HARTMANN_CENTRES) ** 2).sum(axis=-1)
    return np.exp(-distance) @ _HARTMANN_WEIGHTS


def _columns(X: Array, d: int) -> list[Array]:
    if np.ndim(X) != 2 or np.shape(X)[1] != d:
        raise ValueError(f"X has shape {np.shape(X)}: it must be (n, {d})")
    return list(np.asarray(X, dtype=float).T)


#: R^2, and the ridge that smooths a draw, as a share of the range.
SHARE_OF_RANGE = 0.01
#: Added to the diagonal where the norm of a function outside the RKHS's numerical range is measured.
JITTER = 1e-6
#: Eigenvalues below this share of the largest are left out of the norm of kind `cut-off`.
CUT_OFF = 1e-3

NORMS = ("smoothed", "cut-off", "printed", "one")


def rkhs_norm(f: Array, K: Array, kind: str, ridge: float) -> float:
    """Return what stands for the RKHS norm of f (A,) under the kernel matrix K (A, A).

    - `smoothed`: sqrt(a^T K a), a = (K + ridge I)^-1 f: the norm of f smoothed once, not a bound on that of f.
    - `cut-off`: sqrt(f^T K^-1 f) in the eigenvectors whose eigenvalue is at least CUT_OFF of the largest.
    - `printed`: sqrt(f^T K f), as Chowdhury & Gopalan print it, which is no RKHS norm.
    - `one`: 1.
    """
    checks.one_of(NORMS, kind=kind)
    if kind == "one":
        return 1.0
    if kind == "printed":
        return float(np.sqrt(f @ K @ f))
    if kind == "cut-off":
        values, vectors = eigh(K)
        kept = values >= CUT_OFF * values[-1]
        return float(np.sqrt(((vectors[:, kept].T @ f) ** 2 / values[kept]).sum()))
    checks.positive(ridge=ridge)
    a = solve(K + ridge * np.eye(len(K)), f, assume_a="pos")
    return float(np.sqrt(a @ K @ a))


def posterior_mean(
    rng: np.random.Generator,
    trial: int,
    kernel: Kernel,
    n_arms: int,
    d: int = 1,
    ridge: float | None = None,
    printed_norm: bool = False,
    told_variance: float | None = None,
) -> Problem:
    """Return a problem whose expected reward lies in the RKHS, with its exact norm (any `trial`).

    n_arms uniform on [0, 1]^d, y ~ N(0, K), a = (K + ridge I)^-1 y, f = K a, norm sqrt(a^T K a) (Chowdhury & Gopalan,
    Section 6, Fig. 1). `ridge` is by default 1 % of the range of y. With `printed_norm` the norm is sqrt(f^T K f).
    `told_variance` is the noise variance of the policies' posterior where it is not that of the noise.
    """
    arms, K = _random_arms(rng, kernel, n_arms, d)
    y = covariance_factor(K)
    y = y @ rng.standard_normal(n_arms)[: y.shape[1]]
    a = solve(K + (SHARE_OF_RANGE * np.ptp(y) if ridge is None else ridge) * np.eye(n_arms), y, assume_a="pos")
    f = K @ a
    norm = rkhs_norm(f, K, "printed", 0.0) if printed_norm else float(np.sqrt(a @ f))
    return _with_noise(arms, f, kernel, norm, told_variance)


def prior_draw(
    rng: np.random.Generator, trial: int, kernel: Kernel, n_arms: int, d: int = 1, printed_norm: bool = False
) -> Problem:
    """Return a problem whose expected reward is a draw from the GP prior (any `trial`).

    f = F w with F F^T = K and w standard normal, so its norm in the RKHS of the arms is that of w (Chowdhury & Gopalan,
    Section 6, Fig. 2). The rest as in `posterior_mean`.
    """
    arms, K = _random_arms(rng, kernel, n_arms, d)
    factor = covariance_factor(K)
    w = rng.standard_normal(n_arms)[: factor.shape[1]]
    f = factor @ w
    norm = rkhs_norm(f, K, "printed", 0.0) if printed_norm else float(np.linalg.norm(w))
    return _with_noise(arms, f, kernel, norm)


def on_random_arms(
    rng: np.random.Generator,
    trial: int,
    function: Callable[[Array], Array],
    kernel: Kernel,
    n_arms: int,
    d: int,
    kind: str = "smoothed",
    standardise: bool = False,
) -> Problem:
    """Return a problem with `function` (n, d) -> (n,) at n_arms arms uniform on [0, 1]^d (any `trial`).

    The kernel knows nothing of the function; the norm is of this `kind` (see `rkhs_norm`) with ridge JITTER. With
    `standardise` the values at the arms get mean 0 and standard deviation 1 (Chowdhury & Gopalan, Section 6, Fig. 3).
    """
    arms, K = _random_arms(rng, kernel, n_arms, d)
    f = function(arms)
    if standardise:
        f = (f - f.mean()) / f.std()
    return _with_noise(arms, f, kernel, rkhs_norm(f, K, kind, JITTER))


def sensor_row(
    rng: np.random.Generator,
    trial: int,
    covariance: Array,
    fields: Array,
    noise_variance: float,
    kind: str = "smoothed",
) -> Problem:
    """Return the problem of trial number `trial`: row `trial` of fields (n, A) is the expected reward.

    `covariance` (A, A) is the kernel matrix; the norm is of this `kind` (see `rkhs_norm`), the ridge of a smoothed one
    is `noise_variance`. Nothing is drawn from `rng`. Raises IndexError past the last row, ValueError on a missing
    reading or a covariance that is not positive semidefinite.
    """
    checks.finite_array(fields=fields)
    if not 0 <= trial < len(fields):
        raise IndexError(f"trial = {trial} is not allowed: there are {len(fields)} fields, 0 to {len(fields) - 1}")
    kernel = Empirical(covariance)
    norm = rkhs_norm(fields[trial], kernel.covariance, kind, noise_variance)
    return Problem(kernel.points, fields[trial], noise_variance, kernel, norm=norm)


def learn_covariance(train: Array) -> tuple[Array, Array]:
    """Return mean (A,) and covariance (A, A) of the rows of train (n, A).

    Raises ValueError if there are fewer than two rows or a reading is missing.
    """
    if np.ndim(train) != 2 or len(train) < 2:
        raise ValueError(f"train has shape {np.shape(train)}: it must have at least two rows, (n, A)")
    checks.finite_array(train=train)
    return train.mean(axis=0), np.cov(train, rowvar=False)


def _random_arms(rng: np.random.Generator, kernel: Kernel, n_arms: int, d: int) -> tuple[Array, Array]:
    checks.positive_int(n_arms=n_arms, d=d)
    arms = rng.uniform(size=(n_arms, d))
    return arms, kernel(arms, arms)


def _with_noise(arms: Array, f: Array, kernel: Kernel, norm: float, told_variance: float | None = None) -> Problem:
    noise_variance = SHARE_OF_RANGE * float(np.ptp(f))
    told = noise_variance if told_variance is None else told_variance
    return Problem(arms, f, told, kernel, float(np.sqrt(noise_variance)), norm=norm)
