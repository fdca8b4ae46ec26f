"""The hard functions of the lower bound (Li & Scarlett, Appendix H): needles that layers raise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

from kbrepro.bandits.kernels import grid
from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem, compose
from kbrepro.papers.gpn_ucb.sets import FeedForward
from kbrepro.typing import Array

# The constants of Fig. 6: B, u and u~.
NORM = 5.0
PLACE = 0.5
REACH = 0.3


def matern_profile(distance: Array | float, nu: float) -> Array:
    """Return the Matérn kernel of any nu > 0, lengthscale 1, at distances >= 0, same shape."""
    s = np.sqrt(2 * nu) * np.abs(np.asarray(distance, dtype=float))
    with np.errstate(invalid="ignore"):
        value = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    return np.where(s == 0, 1.0, value)


@dataclass(frozen=True)
class AnyMatern:
    """The Matérn kernel of any smoothness nu > 0, lengthscale and variance 1."""

    nu: float
    stationary = positive_semidefinite = True

    def __call__(self, X: Array, Z: Array) -> Array:
        return matern_profile(cdist(X, Z), self.nu)

    def diag(self, X: Array) -> Array:
        return np.ones(len(X))


def amplifier(z: Array, nu: float) -> Array:
    """Return g~(z) = L~ / 2 (k(z - u) - k(z + u)), same shape as z (eq. 217).

    With L~ = sqrt(2) B / sqrt(k(0) - k(2 u)) its norm is exactly B (eq. 221).
    """
    scale = float(np.sqrt(2) * NORM / np.sqrt(1 - matern_profile(2 * PLACE, nu)))
    odd = matern_profile(z - PLACE, nu) - matern_profile(z + PLACE, nu)
    return scale / 2 * odd


def slope_range(nu: float) -> tuple[float, float]:
    """Return the least and the largest g~(z) / z for z in (0, u~]: L~ r_min, L~ r_max (eq. 267)."""
    z = np.linspace(0, REACH, 20001)[1:]
    slopes = amplifier(z, nu) / z
    return float(slopes.min()), float(slopes.max())


def steepest(function: Callable[[Array], Array], end: float, n: int) -> float:
    """Return the largest slope of a function between neighbours of n points of [0, end]."""
    z = np.linspace(0, end, n)
    slopes = np.diff(function(z)) / np.diff(z)
    return float(np.abs(slopes).max())


def bump(r: Array) -> Array:
    """Return exp(1 - 1 / (1 - r^2)) for |r| < 1, else 0, same shape (eq. 216 over its height)."""
    inside = np.abs(r) < 1
    left = np.where(inside, 1 - np.square(r), 1.0)
    return np.where(inside, np.exp(1 - 1 / left), 0.0)


@dataclass(frozen=True)
class Needles:
    """Source of M = per_side^2 chains on [0, 1]^2: height 2 epsilon in one cell, 0 elsewhere.

    Trial n has its needle in cell n. Arms are 3 x 3 points per cell, the middle one its centre; the
    needle's radius w is half a cell. The policies are given the Matérn kernel, B, and L = max(L',
    r_max L~), L' the slope of the needle, or the largest slope of g~ or 1 if that is larger. `low`
    raises ValueError if the later layers cannot raise anything up to u~ to 2 epsilon.
    """

    per_side: int
    epsilon: float
    depth: int
    nu: float

    @property
    def radius(self) -> float:
        """Radius w of the needle, half a cell."""
        return 1 / (2 * self.per_side)

    @property
    def low(self) -> float:
        """Height 2 epsilon_1 of the needle, which the later layers raise to 2 epsilon (eq. 224)."""
        height = 2 * self.epsilon
        for _ in range(self.depth - 1):  # g~ rises on [0, u~], so undo it layer by layer
            height = brentq(lambda z, h=height: float(self.raised(z)) - h, 0.0, REACH, xtol=1e-14)
        return float(height)

    def raised(self, z: Array) -> Array:
        """Return the output of a later layer, g~(z), same shape as z."""
        return amplifier(z, self.nu)

    def __call__(self, trial: Trial) -> NetworkProblem:
        edge = 1 / (6 * self.per_side)
        points = grid(3 * self.per_side, 2, edge, 1 - edge)
        centre = (np.array(divmod(trial.number, self.per_side)) + 0.5) / self.per_side
        distance = np.linalg.norm(points - centre, axis=1)
        needle = self.low * bump(distance / self.radius)[:, None]
        of_needle = self.low / self.radius * steepest(bump, 1.0, 4001)
        of_layers = max(steepest(self.raised, REACH, 20001), slope_range(self.nu)[1])
        structure = FeedForward(AnyMatern(self.nu))
        constant = max(of_needle, of_layers, 1.0)
        model = NetworkModel(points, structure, (1,) * self.depth, NORM, constant)
        return compose(model, [lambda _: needle, *[self.raised] * (self.depth - 1)])
