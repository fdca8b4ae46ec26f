"""Standard test functions on the unit cube, to be maximised: points are rows of X (n, d), values (n,)."""

from __future__ import annotations

import numpy as np

from kbrepro.kernels import Array

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
