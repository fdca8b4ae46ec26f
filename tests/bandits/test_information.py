"""Information gain: greedy, allocated and by formula, against brute force on tiny sets; the
effective dimension.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses

from kbrepro.bandits import information
from kbrepro.bandits.information import GainByFormula
from kbrepro.bandits.kernels import Empirical, Independent, Linear, SquaredExponential

few = settings(max_examples=20, deadline=None, derandomize=True)


def gain(kernel, points, noise_variance):
    """1/2 log det(I + K / noise_variance), the gain of pulls at `points` (n, d), repeats
    allowed.
    """
    return 0.5 * np.linalg.slogdet(np.eye(len(points)) + kernel(points, points) / noise_variance)[1]


@few
@given(
    seed=st.integers(0, 10**6),
    rank=st.integers(1, 5),
    noise_variance=st.sampled_from([0.025, 0.3, 2.0]),
)
def test_greedy_and_allocated_against_brute_force(seed, rank, noise_variance):
    """On random covariances of rank at most `rank`, with unequal variances; the optimum by all
    multisets of pulls.
    """
    V = np.random.default_rng(seed).standard_normal((5, rank)) * 10.0 ** np.linspace(0, -1, rank)
    kernel, horizons = Empirical(V @ V.T), range(1, 5)
    gains, pulled = information.greedy_gain(kernel, kernel.points, noise_variance, 4)
    own = [gain(kernel, kernel.points[pulled[:T]], noise_variance) for T in horizons]

    def largest(T):
        multisets = combinations_with_replacement(kernel.points, T)
        return max(gain(kernel, np.array(pulls), noise_variance) for pulls in multisets)

    optimum = np.array([largest(T) for T in horizons])
    assert kernel.diag(kernel.points)[pulled[0]] == kernel.diag(kernel.points).max()
    assert gains[0] == pytest.approx(optimum[0], rel=1e-9)
    assert (gains >= (1 - np.exp(-1)) * optimum * (1 - 1e-12)).all()
    assert (gains <= optimum * (1 + 1e-9)).all()
    np.testing.assert_allclose(gains, own, rtol=1e-9)
    allocated = information.allocated_gain(np.linalg.eigvalsh(kernel.covariance), noise_variance, 4)
    assert (optimum <= allocated * (1 + 1e-9)).all()


def test_greedy_pulls_the_arm_of_largest_variance():
    """Three independent arms of variance 4, 1, 2 and noise 1: variances 4/(1 + 4 n), 1/(1 + n),
    2/(1 + 2 n).
    """
    kernel = Empirical(np.diag([4.0, 1.0, 2.0]))
    assert information.greedy_gain(kernel, kernel.points, 1.0, 6)[1].tolist() == [0, 2, 1, 0, 2, 1]
    kernel = Empirical(np.eye(3))
    # ties: lowest number
    assert information.greedy_gain(kernel, kernel.points, 1.0, 3)[1].tolist() == [0, 1, 2]


@few
@given(
    eigenvalues=st.lists(st.floats(0, 10, width=32), min_size=1, max_size=4),
    noise_variance=st.sampled_from([0.025, 0.5, 4.0]),
    horizon=st.integers(1, 6),
)
def test_the_allocation_is_the_best_of_all(eigenvalues, noise_variance, horizon):
    ratios, best = np.array(eigenvalues) / noise_variance, []
    for T in range(1, horizon + 1):
        pulls = [
            np.bincount(arms, minlength=len(ratios))
            for arms in combinations_with_replacement(range(len(ratios)), T)
        ]
        best.append(0.5 * np.log1p(pulls * ratios).sum(axis=1).max())
    allocated = information.allocated_gain(np.array(eigenvalues), noise_variance, horizon)
    np.testing.assert_allclose(allocated, best, rtol=1e-12, atol=1e-300)


def test_the_rates_of_theorem_5_and_gains_by_formula():
    """The rate at t, from 0 on; a constant is not multiplied by one."""
    T = np.array([10.0, 100.0])
    np.testing.assert_allclose(information.gain_rate("linear", T, 3), 3 * np.log(T))
    np.testing.assert_allclose(
        information.gain_rate("matern", T, 2, nu=1.5), T ** (6 / 9) * np.log(T)
    )
    assert information.matern_exponent(1, 2.5) == pytest.approx(2 / 7)
    assert GainByFormula("squared exponential", d=3)(100) == pytest.approx(math.log(100) ** 4)
    assert GainByFormula("matern", nu=1.5, factor=0.1)(100) == pytest.approx(
        0.1 * 100 ** (2 / 5) * math.log(100)
    )
    linear, constant = GainByFormula("linear"), GainByFormula("constant", factor=3.0)
    assert (linear(0), linear(1), constant(0), constant(9)) == (0.0, 0.0, 3.0, 3.0)


def test_what_is_not_allowed_is_named():
    refuses(
        (lambda: information.allocated_gain(np.ones(3), -1, 2), "noise_variance = -1"),
        (lambda: GainByFormula("cubic"), r"kernel = 'cubic'.*'constant', 'linear'"),
    )


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Linear(2.0), Independent(3.0)])
def test_the_effective_dimension(kernel):
    """tr K (K + s2)^-1 by an inverse; repeats count, and it is at most the gain's log
    determinant.
    """
    X = np.random.default_rng(31).uniform(size=(12, 3))[
        [0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10, 11]
    ]
    K = kernel(X, X)
    ours = information.effective_dimension(kernel, X, 0.1)
    assert ours == pytest.approx(np.trace(K @ np.linalg.inv(K + 0.1 * np.eye(15))), rel=1e-9)
    assert ours <= 2 * gain(kernel, X, 0.1)
    assert ours <= np.linalg.matrix_rank(K)
