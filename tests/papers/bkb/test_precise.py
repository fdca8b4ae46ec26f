"""Features of 32 digits against 60 digits (mpmath): of the same matrix of doubles, and of the
kernel itself.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import precise
from kbrepro.papers.bkb.precise import twice
from kbrepro.papers.bkb.sketch import BudgetedPosterior, FeaturePosterior

KERNEL, POINTS, NOISE = SquaredExponential(0.0707), grid(40), 0.01
numbers = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-6)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


def exactly(number):
    return mpf(float(number.high)) + mpf(float(number.low))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(numbers, numbers, numbers)
def test_arithmetic_has_32_digits(a, b, c):
    x, y = twice(a) + twice(b * 1e-16), twice(b) + twice(c * 1e-16)
    p, q = exactly(x), exactly(y)
    for ours, exact, size in (
        (x + y, p + q, abs(p) + abs(q)),
        (x - y, p - q, abs(p) + abs(q)),
        (x * y, p * q, abs(p * q)),
        (x / y, p / q, abs(p / q)),
    ):
        assert abs(exactly(ours) - exact) <= mpf(10) ** -30 * size


def variances(columns, inducing, counts, least):
    """The DTC variance of every arm by 60 digits, from rows k(S, points) of mpf: pivoted Cholesky,
    as ours.
    """
    rows, at, features = [list(row) for row in columns], [int(i) for i in inducing], []
    left = set(range(len(rows)))
    most = least * max(rows[i][at[i]] for i in left)
    while left and rows[pivot := max(left, key=lambda i: rows[i][at[i]])][at[pivot]] > most:
        left.remove(pivot)
        root = mp.sqrt(rows[pivot][at[pivot]])
        features.append([value / root for value in rows[pivot]])
        for i in left:
            factor = rows[i][at[pivot]] / root
            rows[i] = [value - factor * z for value, z in zip(rows[i], features[-1], strict=True)]
    pulled = [(int(arm), int(counts[arm])) for arm in np.flatnonzero(counts)]
    V = mp.matrix([[sum(n * z[a] * w[a] for a, n in pulled) for w in features] for z in features])
    inverse = (V + mpf(NOISE) * mp.eye(len(features))) ** -1
    exact = []
    for arm in range(len(counts)):
        z = mp.matrix([row[arm] for row in features])
        exact.append(float(1 - (z.T * z)[0] + mpf(NOISE) * (z.T * inverse * z)[0]))
    return np.array(exact)


def sketched(seed, qbar):
    """A dictionary of BKB after 50 pulls of the left half, as in Fig. 1."""
    rng = np.random.default_rng(seed)
    posterior = BudgetedPosterior(KERNEL, POINTS, NOISE, qbar, rng.spawn(1)[0])
    for arm in rng.integers(20, size=50):
        posterior.update(arm, 0.0)
    return posterior


@pytest.mark.parametrize("qbar", [1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_variance_is_right_to_1e_6_against_60_digits(seed, qbar):
    bkb = sketched(seed, qbar)
    members, counts = bkb.inducing, bkb.counts
    doubles = KERNEL(POINTS[members], POINTS)
    as_kept = [[mpf(float(value)) for value in row] for row in doubles]
    apart = POINTS[members, 0][:, None], POINTS[:, 0]
    kernel = [
        [mp.exp(-((mpf(x) - mpf(z)) ** 2) / (2 * mpf(0.0707) ** 2)) for z in apart[1]]
        for (x,) in apart[0]
    ]
    for columns, least, exact in (
        (twice(doubles), precise.LEAST_OF_DOUBLES, as_kept),
        (precise.squared_exponential(KERNEL, POINTS[members], POINTS), precise.LEAST, kernel),
    ):
        features = precise.precise_features(columns, members, least)
        ours = FeaturePosterior(features, NOISE, KERNEL.diag(POINTS))
        ours._counts[:] = counts
        np.testing.assert_allclose(
            ours.variance, variances(exact, members, counts, least), rtol=1e-6
        )
