"""Nyström features with 32 digits: what rounding makes of BKB's variance far from its dictionary.

Arms that are far live on directions in which the members hardly differ: their share of the kernel
matrix is below the rounding of doubles, in the features and in the matrix itself. Fig. 1, seed 246,
qbar = 3, BKB's variance over the exact one at the worst arm: 8.58 on `sketch.nystrom_features`,
1.65 if the doubles of the matrix are taken as they are, 1.12 here and in 60 digits. Numbers are
sums of two doubles (Dekker 1971), the kernel, too. Nothing that is played uses it yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kbrepro.bandits.kernels import SquaredExponential
from kbrepro.typing import Array, Integers

#: Variances of a member given the others below this share of the largest are rounding, of doubles.
LEAST_OF_DOUBLES = 2.0**-53
#: The same of 32 digits.
LEAST = 1e-28


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and what rounding lost, exactly (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _halves(a: Array) -> tuple[Array, Array]:
    """Two numbers of 26 bits whose sum is a (Veltkamp)."""
    high = 134217729.0 * a
    high = high - (high - a)
    return high, a - high


@dataclass(frozen=True)
class Twice:
    """Numbers with 32 digits: `high` + `low`, of one shape."""

    high: Array
    low: Array

    def __getitem__(self, at: Any) -> Twice:
        return Twice(self.high[at], self.low[at])

    def __add__(self, other: Twice) -> Twice:
        total, lost = _sum(self.high, other.high)
        return Twice(*_sum(total, lost + (self.low + other.low)))

    def __neg__(self) -> Twice:
        return Twice(-self.high, -self.low)

    def __sub__(self, other: Twice) -> Twice:
        return self + -other

    def __mul__(self, other: Twice) -> Twice:
        product = self.high * other.high
        a, b = _halves(self.high)
        c, d = _halves(other.high)
        lost = ((a * c - product) + a * d + b * c) + b * d
        crossed = self.high * other.low + self.low * other.high
        return Twice(*_sum(product, lost + crossed))

    def __truediv__(self, other: Twice) -> Twice:
        first = twice(self.high / other.high)
        return first + twice((self - first * other).high / other.high)


def twice(numbers: Array | float) -> Twice:
    """Return doubles as numbers of 32 digits."""
    return Twice(np.asarray(numbers, dtype=float), np.zeros(np.shape(numbers)))


def squared_exponential(kernel: SquaredExponential, X: Array, Z: Array) -> Twice:
    """Return k(X, Z) of points (n, d) and (m, d), (n, m), to 1e-29 of the variance."""
    exponent = twice(np.zeros((len(X), len(Z))))
    for x, z in zip(X.T, Z.T, strict=True):
        apart = Twice(*_sum(x[:, None], -z[None, :]))
        exponent = exponent - apart * apart
    # of 2^-10 the exponent
    lengthscale = twice(kernel.lengthscale)
    small = exponent / (twice(2.0**11) * lengthscale * lengthscale)
    grown = term = small
    for n in range(2, 22):
        term = term * small / twice(float(n))
        grown = grown + term
    for _ in range(10):  # e^2x - 1 = (e^x - 1) (e^x - 1 + 2)
        grown = grown * (grown + twice(2.0))
    return (grown + twice(1.0)) * twice(kernel.variance)


def precise_features(columns: Twice, inducing: Integers, least: float = LEAST) -> Array:
    """Return features (A, r) with z_i^T z_j = k_i^T K_S^+ k_j; `columns` (m, A) is K(S, points).

    Pivoted Cholesky: a member joins while its variance given those before is above `least` times
    the largest one.
    """
    rows = columns
    members = inducing
    features: list[Array] = []
    smallest = 0.0
    while len(members):
        variances = rows.high[np.arange(len(members)), members]
        pivot = int(variances.argmax())
        smallest = smallest or least * variances[pivot]
        if variances[pivot] <= smallest:
            break
        own = rows[pivot]
        features.append(own.high / np.sqrt(variances[pivot]))
        left = np.arange(len(members)) != pivot
        factors = rows[left, members[pivot]] / own[members[pivot]]
        rows = rows[left] - factors[:, None] * own[None]
        members = members[left]
    return np.stack(features, axis=1)
