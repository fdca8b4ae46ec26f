"""Widths of round t that follow a formula for the maximum information gain, as experiments use them.

Theorems bound gamma_T up to a constant only; the formulas leave the constant out. Rounds t count from 1, and the width
of round t follows the gain of the t - 1 pulls before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kbrepro import checks, information
from kbrepro.confidence import improved_rkhs

FORMULAS = ("constant", "linear", "squared exponential", "matern")


def gain_by_formula(t: int, *, kernel: str, d: int = 1, nu: float = 2.5, factor: float = 1.0) -> float:
    """Return factor times the rate of gamma_t (nats) without its constant, at least at t = 1, where logarithms are 0.

    1 for `constant` (Chowdhury & Gopalan's sensors), else as `information.gain_rate` (Srinivas et al., Theorem 5).
    """
    checks.one_of(FORMULAS, kernel=kernel)
    checks.non_negative(factor=factor)
    return factor if kernel == "constant" else factor * float(information.gain_rate(kernel, max(t, 1), d, nu))


def improved(t: int, *, gain: Callable[[int], float], norm: float, noise_scale: float, delta: float) -> float:
    """Return norm + noise_scale sqrt(2 (gain(t - 1) + 1 + log(1 / delta))).

    Chowdhury & Gopalan, Algorithm 1 (IGP-UCB); GP-TS, Algorithm 2, has delta / 2 in the place of delta.
    """
    checks.positive_int(t=t)
    return improved_rkhs(gain(t - 1), norm=norm, noise_scale=noise_scale, delta=delta)


def original(t: int, *, gain: Callable[[int], float], norm: float, delta: float) -> float:
    """Return sqrt(2 norm^2 + 300 gain(t - 1) log^3(t / delta)).

    The GP-UCB of Chowdhury & Gopalan, Section 3: Theorem 3 of Srinivas et al. with gamma_{t-1} for gamma_t.
    """
    checks.positive_int(t=t)
    checks.positive(norm=norm)
    checks.probability(delta=delta)
    return math.sqrt(2 * norm**2 + 300 * gain(t - 1) * math.log(t / delta) ** 3)
