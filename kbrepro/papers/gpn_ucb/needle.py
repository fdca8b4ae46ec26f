"""The hard functions of the lower bound (Li & Scarlett, Appendix H): a low, narrow needle that later layers raise."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.special import gamma, kv

from kbrepro import checks
from kbrepro.kernels import Array, Matern, grid
from kbrepro.papers.gpn_ucb.network import NetworkProblem, compose

#: The constants of Fig. 6.
NORM, PLACE, REACH = 5.0, 0.5, 0.3


def matern_profile(distance: Array, nu: float) -> Array:
    """Return the Matérn kernel of any smoothness nu > 0 and lengthscale 1 at distances >= 0, same shape."""
    checks.positive(nu=nu)
    s = np.sqrt(2 * nu) * np.abs(np.asarray(distance, dtype=float))
    with np.errstate(invalid="ignore"):
        value = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    return np.where(s == 0, 1.0, value)


def slopes(z: Array, nu: float, place: float = PLACE) -> Array:
    """Return (k(u - z) - k(u + z)) / (2 z) for z > 0, u = `place`: the slope of g~ at scale 1 (H.1, condition 3)."""
    return (matern_profile(place - z, nu) - matern_profile(place + z, nu)) / (2 * z)


def slope_ratio(nu: float, place: float = PLACE, reach: float = REACH, n: int = 20001) -> float:
    """Return r_min / r_max, smallest over largest slope for z in (0, reach] (eq. 267)."""
    r = slopes(np.linspace(0, reach, n)[1:], nu, place)
    return float(r.min() / r.max())


def amplifier_scale(nu: float, norm: float = NORM, place: float = PLACE) -> float:
    """Return L~ = sqrt(2) B / sqrt(k(0) - k(2 u)), with which g~ has norm exactly B (eqs. 217, 221)."""
    checks.positive(norm=norm, place=place)
    return float(np.sqrt(2) * norm / np.sqrt(1 - matern_profile(2 * place, nu)))


def amplifier(z: Array, nu: float, norm: float = NORM, place: float = PLACE) -> Array:
    """Return g~(z) = L~ / 2 (k(z - u) - k(z + u)), same shape as z (eq. 217)."""
    difference = matern_profile(z - place, nu) - matern_profile(z + place, nu)
    return amplifier_scale(nu, norm, place) / 2 * difference


def amplified(z: Array, times: int, nu: float, norm: float = NORM) -> Array:
    """Return g~ applied `times` times."""
    for _ in range(times):
        z = amplifier(z, nu, norm)
    return z


def first_height(height: float, depth: int, nu: float, norm: float = NORM) -> float:
    """Return 2 epsilon_1: what depth - 1 amplifiers raise to `height` = 2 epsilon (eq. 224).

    Raises ValueError if the height is out of reach of inputs up to u~ = 0.3.
    """
    top = float(amplified(np.array(REACH), depth - 1, nu, norm)) if depth == 2 else amplifier(np.array(REACH), nu, norm)
    if height > top:
        raise ValueError(f"height = {height} is not allowed: height must be at most {top:.3g}")
    for _ in range(depth - 1):  # g~ rises on [0, u~], so undo it layer by layer
        height = brentq(lambda z, h=height: float(amplifier(np.array(z), nu, norm)) - h, 0.0, REACH, xtol=1e-14)
    return float(height)


def bump(r: Array) -> Array:
    """Return exp(1 - 1 / (1 - r^2)) for |r| < 1, else 0: height 1, same shape (eq. 216 over its height)."""
    inside = np.abs(r) < 1
    return np.where(inside, np.exp(1 - 1 / np.where(inside, 1 - np.square(r), 1.0)), 0.0)


def bump_norm(width: float, kernel: Matern, n: int = 33) -> float:
    """Return the RKHS norm of the two-dimensional bump of width w, interpolated at n x n points of [-2 w, 2 w]^2.

    Interpolants have the smallest norm, so this rises to the norm from below.
    """
    points = grid(n, 2, -2 * width, 2 * width)
    y = bump(np.linalg.norm(points, axis=1) / width)
    factor = cho_factor(kernel(points, points) + 1e-10 * np.eye(len(points)), lower=True)
    return float(np.sqrt(y @ cho_solve(factor, y)))


def needle_problem(
    index: int, per_side: int, epsilon: float, *, depth: int = 3, nu: float = 1.5, norm: float = NORM
) -> NetworkProblem:
    """Return needle number `index` of M = per_side^2: a chain on [0, 1]^2 of height 2 epsilon in one cell, 0 elsewhere.

    Arms are 3 x 3 points a cell, the middle one its centre; the needle's radius w is half a cell. The policies are told
    the kernel, B = `norm`, and L = max(L', r_max L~), L' the slope of the needle.
    """
    checks.at_least(2, per_side=per_side, depth=depth)
    checks.positive(epsilon=epsilon)
    if not 0 <= index < per_side**2:
        raise ValueError(f"index = {index} is not allowed: index must be from 0 to {per_side**2 - 1}")
    width = 1 / (2 * per_side)
    low = first_height(2 * epsilon, depth, nu, norm)
    edge = 1 / (6 * per_side)
    arms = grid(3 * per_side, 2, edge, 1 - edge)
    centre = (np.array(divmod(index, per_side)) + 0.5) / per_side
    needle = low * bump(np.linalg.norm(arms - centre, axis=1) / width)[:, None]
    r = np.linspace(0, 1, 4001)
    steepest = low / width * np.abs(np.diff(bump(r)) / np.diff(r)).max()
    largest = amplifier_scale(nu, norm) * slopes(np.linspace(0, REACH, 2001)[1:], nu).max()
    layers = [lambda x: needle, *[lambda z: amplifier(z, nu, norm)] * (depth - 1)]
    return compose(arms, layers, [Matern(1.0, nu)] * depth, norm, float(max(steepest, largest, 1.0)))
