"""Bounds on the regret in function networks: with their constants (Theorems 1-3), and as rates (Tables 1 and 2).

Symbols of Li & Scarlett: m layers, norm bound B, Lipschitz constant L >= 1, Matérn smoothness nu, d inputs, widths
d_2 .. d_m of the layers between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array

FAMILIES = ("chain", "multi-output", "feed-forward")


def _family(structure: str) -> str:
    family = structure.split(",")[0]
    checks.one_of(FAMILIES, structure=family)
    return family


def step_weights(structure: str, widths: Sequence[int], norm: float, lipschitz: float) -> Array:
    """Return weights (m,): r_t is at most their product with the layers' sds at the true inputs of the arm pulled.

    Eq. 49 for chains, eq. 67 for multi-output chains (sd: root of the spectral norm), eq. 94 for feed-forward networks;
    `widths` (m,) are the numbers of outputs of the layers.
    """
    checks.positive(norm=norm, lipschitz=lipschitz)
    family, m = _family(structure), len(widths)
    if family == "multi-output":
        before = [8 * norm * lipschitz * (5 * lipschitz) ** (m - 1 - i) for i in range(1, m)]
        return np.array([*before, 2 * norm])
    later = [math.sqrt(math.prod(widths[i:-1])) if family == "feed-forward" else 1.0 for i in range(m)]
    return np.array([2 * norm * (2 * lipschitz) ** (m - 1 - i) * later[i] for i in range(m)])


def rounding_term(structure: str, widths: Sequence[int], lipschitz: float, half_diagonals: Sequence[float]) -> float:
    """Return what outward rounding adds to eqs. 49, 67 and 94, from half a cell's diagonal h_i of every later layer.

    A grid point of a dilated box lies within its diameter + 2 h of the one next to the true input; moving a bound there
    costs L h for the mean and L h for B sd, and the rounding itself adds L h, on both sides: 10 L h_i, carried on like
    2 B sd. Raises ValueError for multi-output chains of other than two layers.
    """
    if _family(structure) == "multi-output" and len(widths) != 2:
        raise ValueError(f"widths = {tuple(widths)} is not allowed: a multi-output chain must have two layers here")
    carried = step_weights("feed-forward", widths, 1.0, lipschitz)[1:] / 2
    return float(10 * lipschitz * carried @ np.asarray(half_diagonals))


def cumulative_factor(structure: str, widths: Sequence[int], norm: float, lipschitz: float) -> float:
    """Return the factor of Sigma_T in Theorems 1-3: 2^(m+1) B L^(m-1), 5^m B L^(m-1), or 2^(m+1) sqrt(D) B L^(m-1).

    D is the product of the widths of all layers but the last.
    """
    checks.positive(norm=norm, lipschitz=lipschitz)
    family, m = _family(structure), len(widths)
    if family == "multi-output":
        return 5**m * norm * lipschitz ** (m - 1)
    product = math.prod(widths[:-1]) if family == "feed-forward" else 1
    return 2 ** (m + 1) * math.sqrt(product) * norm * lipschitz ** (m - 1)


def cumulative_lower_rate(T: Array, *, m: int, norm: float, lipschitz: float, nu: float, d: int) -> Array:
    """Return the rate of the lower bound on R_T, same shape as T (Table 2, constants 1 and c = 1), nu >= 1."""
    scale = norm * lipschitz ** (m - 1)
    return np.minimum(T, scale * np.power(T, 1 - nu / d) if d > nu else scale ** (d / nu) * np.ones_like(T))


def cumulative_upper_rate(
    T: Array, *, m: int, norm: float, lipschitz: float, nu: float, d: int, structure: str = "chain", width: int = 1
) -> Array:
    """Return the rate of GPN-UCB's bound on R_T if the conjecture of Vakili (2022) holds (Table 2, logarithms dropped).

    `width` is d_2 = ... = d_m; d_max is the larger of it and d.
    """
    family = _family(structure)
    largest = max(d, width)
    factor = (5 if family == "multi-output" else 2) ** m * norm * lipschitz ** (m - 1)
    if family == "feed-forward":
        factor *= math.sqrt(width ** (m - 1))
    return factor * np.power(T, max(1 - nu / largest, 0.0))


def simple_lower_rate(T: Array, *, m: int, norm: float, lipschitz: float, nu: float, d: int) -> Array:
    """Return the rate of the lower bound on the simple regret, same shape as T (Table 2), nu >= 1."""
    return norm * lipschitz ** (m - 1) * np.power(T, -nu / d)


def simple_upper_rate(
    T: Array, *, m: int, norm: float, lipschitz: float, nu: float, d: int, restricted: bool = False
) -> Array:
    """Return the rate of non-adaptive sampling's bound on the simple regret of chains (Table 2, logarithms dropped).

    nu <= 1: B L^(m-1) T^(-nu^m / d); nu > 1: B^(1 + nu + ... + nu^(m-2)) L^(nu^(m-1)) T^(-nu / d). `restricted` is for
    means that stay in the layers' domains: T^(-nu / d), with L^((m-1) max(nu, 1)). (Table 2 omits dots in the
    exponent.)
    """
    T = np.asarray(T, dtype=float)
    if restricted:
        return norm * lipschitz ** ((m - 1) * max(nu, 1.0)) * np.power(T, -nu / d)
    if nu <= 1:
        return norm * lipschitz ** (m - 1) * np.power(T, -(nu**m) / d)
    exponent = sum(nu**i for i in range(max(m - 1, 1)))
    return norm**exponent * lipschitz ** (nu ** (m - 1)) * np.power(T, -nu / d)
