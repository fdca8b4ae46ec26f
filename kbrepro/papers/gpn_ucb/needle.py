"""The hard functions of the lower bound (Li & Scarlett, Appendix H): a low, narrow needle that later layers raise."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

from kbrepro import checks
from kbrepro.kernels import Array, grid
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem, compose
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial

#: The constants of Fig. 6: B, u and u~.
NORM, PLACE, REACH = 5.0, 0.5, 0.3


def matern_profile(distance: Array | float, nu: float) -> Array:
    """Return the Matérn kernel of any smoothness nu > 0 and lengthscale 1 at distances >= 0, same shape."""
    checks.positive(nu=nu)
    s = np.sqrt(2 * nu) * np.abs(np.asarray(distance, dtype=float))
    with np.errstate(invalid="ignore"):
        value = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    return np.where(s == 0, 1.0, value)


@dataclass(frozen=True)
class AnyMatern:
    """The Matérn kernel of any smoothness nu > 0, lengthscale and variance 1, by Bessel functions."""

    nu: float

    def __call__(self, X: Array, Z: Array) -> Array:
        return matern_profile(cdist(X, Z), self.nu)

    def diag(self, X: Array) -> Array:
        return np.ones(len(X))


def amplifier_scale(nu: float, shrink: float = 1.0) -> float:
    """Return L~ = sqrt(2) B / sqrt(k(0) - k(2 u)), with which g~ has norm exactly B (eqs. 217, 221).

    Here and below `shrink` multiplies u and u~ of Fig. 6 (Remark 3 lets both go to 0).
    """
    return float(np.sqrt(2) * NORM / np.sqrt(1 - matern_profile(2 * shrink * PLACE, nu)))


def amplifier(z: Array, nu: float, shrink: float = 1.0) -> Array:
    """Return g~(z) = L~ / 2 (k(z - u) - k(z + u)), same shape as z (eq. 217)."""
    u = shrink * PLACE
    return amplifier_scale(nu, shrink) / 2 * (matern_profile(z - u, nu) - matern_profile(z + u, nu))


def slope_range(nu: float, shrink: float = 1.0) -> tuple[float, float]:
    """Return the smallest and the largest g~(z) / z for z in (0, u~], L~ r_min and L~ r_max (H.1; eq. 267)."""
    z = np.linspace(0, shrink * REACH, 20001)[1:]
    slopes = amplifier(z, nu, shrink) / z
    return float(slopes.min()), float(slopes.max())


def steepest(nu: float) -> float:
    """Return the largest slope of g~ between neighbours of 20001 points of [0, u~]."""
    z = np.linspace(0, REACH, 20001)
    return float(np.abs(np.diff(amplifier(z, nu)) / np.diff(z)).max())


def bump(r: Array) -> Array:
    """Return exp(1 - 1 / (1 - r^2)) for |r| < 1, else 0: height 1, same shape (eq. 216 over its height)."""
    inside = np.abs(r) < 1
    return np.where(inside, np.exp(1 - 1 / np.where(inside, 1 - np.square(r), 1.0)), 0.0)


@dataclass(frozen=True)
class Needles:
    """Source of M = per_side^2 chains on [0, 1]^2, one a trial: height 2 epsilon in one cell, 0 elsewhere.

    Arms are 3 x 3 points a cell, the middle one its centre; the needle's radius w is half a cell. The policies are
    given the Matérn kernel, B, and L = max(L', r_max L~), L' the slope of the needle. Raises IndexError past the last
    cell, `low` ValueError if the later layers cannot raise anything up to u~ to 2 epsilon.
    """

    per_side: int
    epsilon: float
    depth: int
    nu: float

    def __post_init__(self) -> None:
        checks.at_least(2, per_side=self.per_side, depth=self.depth)

    @property
    def radius(self) -> float:
        """Radius w of the needle, half a cell."""
        return 1 / (2 * self.per_side)

    @property
    def low(self) -> float:
        """Height 2 epsilon_1 of the needle, which the later layers raise to 2 epsilon (eq. 224)."""
        height = 2 * self.epsilon
        for _ in range(self.depth - 1):  # g~ rises on [0, u~], so undo it layer by layer
            height = brentq(lambda z, h=height: float(amplifier(np.array(z), self.nu)) - h, 0.0, REACH, xtol=1e-14)
        return float(height)

    def first_norm(self) -> float:
        """Return the RKHS norm of the needle, interpolated at 33 x 33 points of [-2 w, 2 w]^2.

        Interpolants have the smallest norm, so with more points this rises to the norm from below.
        """
        points = grid(33, 2, -2 * self.radius, 2 * self.radius)
        y = bump(np.linalg.norm(points, axis=1) / self.radius)
        factor = cho_factor(AnyMatern(self.nu)(points, points) + 1e-10 * np.eye(len(points)), lower=True)
        return self.low * float(np.sqrt(y @ cho_solve(factor, y)))

    def needle_slope(self) -> float:
        """Return the largest slope of the needle."""
        r = np.linspace(0, 1, 4001)
        return float(self.low / self.radius * np.abs(np.diff(bump(r)) / np.diff(r)).max())

    def outside(self, trial: Trial) -> int:
        """Return how many arms of a trial at least a radius from the needle have a reward other than 0 (Theorem 9)."""
        points, g = (problem := self(trial)).model.points, problem.expected_reward
        return int((g[np.linalg.norm(points - points[g.argmax()], axis=1) >= self.radius] != 0).sum())

    def __call__(self, trial: Trial) -> NetworkProblem:
        cells = self.per_side**2
        if trial.number >= cells:
            raise IndexError(f"trial = {trial.number} is not allowed: there are {cells} needles, 0 to {cells - 1}")
        points = grid(3 * self.per_side, 2, edge := 1 / (6 * self.per_side), 1 - edge)
        centre = (np.array(divmod(trial.number, self.per_side)) + 0.5) / self.per_side
        needle = self.low * bump(np.linalg.norm(points - centre, axis=1) / self.radius)[:, None]
        constant = max(self.needle_slope(), slope_range(self.nu)[1], steepest(self.nu), 1.0)
        model = NetworkModel(points, FeedForward(AnyMatern(self.nu)), (1,) * self.depth, NORM, constant)
        return compose(model, [lambda _: needle, *[lambda z: amplifier(z, self.nu)] * (self.depth - 1)])
