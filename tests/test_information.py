"""Information gain: greedy, allocated and by formula, against brute force on tiny sets; the effective dimension."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro import information
from kbrepro.information import GainByFormula
from kbrepro.kernels import Empirical, Independent, Linear, SquaredExponential, grid

few = settings(max_examples=40, deadline=None, derandomize=True)


def gain(kernel, points, noise_variance):
    """1/2 log det(I + K / noise_variance), the gain of pulls at `points` (n, d), repeats allowed."""
    return 0.5 * np.linalg.slogdet(np.eye(len(points)) + kernel(points, points) / noise_variance)[1]


def compositions(total, parts):
    """Every way to write `total` as an ordered sum of `parts` integers of at least 0."""
    if parts == 1:
        yield (total,)
        return
    for head in range(total + 1):
        for tail in compositions(total - head, parts - 1):
            yield (head, *tail)


def test_bad_noise():
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0"):
        information.greedy_gain(Linear(), grid(3), 0.0, 2)
    with pytest.raises(ValueError, match=r"noise_variance = -1"):
        information.allocated_gain(np.ones(3), -1, 2)
    with pytest.raises(ValueError, match="horizon = 0"):
        information.allocated_gain(np.ones(3), 1.0, 0)
    with pytest.raises(ValueError, match="horizon = 0"):
        information.greedy_gain(Linear(), grid(3), 1.0, 0)


@few
@given(seed=st.integers(0, 10**6), rank=st.integers(1, 5), noise_variance=st.sampled_from([0.025, 0.3, 2.0]))
def test_greedy_and_allocated_against_brute_force(seed, rank, noise_variance):
    """On random covariances of rank at most `rank`, with unequal variances; the optimum by all multisets of pulls."""
    V = np.random.default_rng(seed).standard_normal((5, rank)) * 10.0 ** np.linspace(0, -1, rank)
    kernel, horizons = Empirical(V @ V.T), range(1, 5)
    gains, pulled = information.greedy_gain(kernel, kernel.points, noise_variance, 4)
    own = [gain(kernel, kernel.points[pulled[:T]], noise_variance) for T in horizons]
    every = [[np.array(pulls) for pulls in combinations_with_replacement(kernel.points, T)] for T in horizons]
    optimum = np.array([max(gain(kernel, pulls, noise_variance) for pulls in multisets) for multisets in every])
    assert kernel.diag(kernel.points)[pulled[0]] == kernel.diag(kernel.points).max()
    assert gains[0] == pytest.approx(optimum[0], rel=1e-9)
    assert (gains >= (1 - np.exp(-1)) * optimum * (1 - 1e-12)).all() and (gains <= optimum * (1 + 1e-9)).all()
    np.testing.assert_allclose(gains, own, rtol=1e-9)
    allocated = information.allocated_gain(np.linalg.eigvalsh(kernel.covariance), noise_variance, 4)
    assert (optimum <= allocated * (1 + 1e-9)).all()


def test_the_gain_of_one_arm_by_hand():
    """n pulls of the only arm, of variance 2 with noise 0.5: 1/2 log(1 + 2 n / 0.5)."""
    gains, _ = information.greedy_gain(Independent(2.0), grid(1), 0.5, 7)
    np.testing.assert_allclose(gains, 0.5 * np.log1p(4 * np.arange(1, 8)), rtol=1e-13)


def test_greedy_pulls_the_arm_of_largest_variance():
    """Three independent arms of variance 4, 1, 2 and noise 1: variances 4/(1 + 4 n), 1/(1 + n), 2/(1 + 2 n)."""
    kernel = Empirical(np.diag([4.0, 1.0, 2.0]))
    _, pulled = information.greedy_gain(kernel, kernel.points, 1.0, 6)
    assert pulled[:3].tolist() == [0, 2, 1]  # then 4/5, 1/2, 2/3
    assert pulled[3:].tolist() == [0, 2, 1]  # ends at 4/9, 1/3, 2/5
    kernel = Empirical(np.diag([1.0, 1.0, 1.0]))
    assert information.greedy_gain(kernel, kernel.points, 1.0, 3)[1].tolist() == [0, 1, 2]  # ties: lowest number


@few
@given(
    eigenvalues=st.lists(st.floats(0, 10, width=32), min_size=1, max_size=4),
    noise_variance=st.sampled_from([0.025, 0.5, 4.0]),
    horizon=st.integers(1, 6),
)
def test_the_allocation_is_the_best_of_all_compositions(eigenvalues, noise_variance, horizon):
    best = [
        max(
            0.5 * sum(np.log1p(m * x / noise_variance) for m, x in zip(c, eigenvalues, strict=True))
            for c in compositions(T, len(eigenvalues))
        )
        for T in range(1, horizon + 1)
    ]
    allocated = information.allocated_gain(np.array(eigenvalues), noise_variance, horizon)
    np.testing.assert_allclose(allocated, best, rtol=1e-12, atol=1e-300)


def test_independent_arms_in_closed_form():
    """The pulls spread evenly: T = q A + r gives r arms q + 1 pulls and the others q."""
    n, variance, noise_variance, horizon = 7, 1.5, 0.3, 40
    q, r = np.divmod(np.arange(1, horizon + 1), n)
    closed = 0.5 * (
        r * np.log1p((q + 1) * variance / noise_variance) + (n - r) * np.log1p(q * variance / noise_variance)
    )
    greedy, _ = information.greedy_gain(Independent(variance), grid(n), noise_variance, horizon)
    np.testing.assert_allclose(greedy, closed, rtol=1e-12)
    np.testing.assert_allclose(
        information.allocated_gain(np.full(n, variance), noise_variance, horizon), closed, rtol=1e-12
    )


def test_eigenvalues_below_zero_count_as_zero():
    np.testing.assert_array_equal(
        information.allocated_gain(np.array([1.0, -1e-15]), 0.1, 5), information.allocated_gain(np.ones(1), 0.1, 5)
    )


def test_the_rates_of_theorem_5():
    T = np.array([10.0, 100.0])
    np.testing.assert_allclose(information.gain_rate("linear", T, 3), 3 * np.log(T))
    np.testing.assert_allclose(information.gain_rate("squared exponential", T, 3), np.log(T) ** 4)
    np.testing.assert_allclose(information.gain_rate("matern", T, 2, nu=1.5), T ** (6 / 9) * np.log(T))
    assert information.matern_exponent(1, 2.5) == pytest.approx(2 / 7)
    with pytest.raises(ValueError, match="kernel = 'cubic'"):
        information.gain_rate("cubic", T, 1)


def test_gain_by_formula():
    assert GainByFormula("squared exponential", d=1)(100) == pytest.approx(math.log(100) ** 2)
    assert GainByFormula("squared exponential", d=3)(100) == pytest.approx(math.log(100) ** 4)
    assert GainByFormula("matern", d=1)(100) == pytest.approx(100 ** (2 / 7) * math.log(100))
    assert GainByFormula("matern", d=1, nu=1.5)(100) == pytest.approx(100 ** (2 / 5) * math.log(100))
    assert GainByFormula("linear", d=3)(100) == pytest.approx(3 * math.log(100))
    assert GainByFormula("constant")(0) == GainByFormula("constant")(9) == 1.0
    assert GainByFormula("constant", factor=3.0)(9) == 3.0
    assert GainByFormula("matern", factor=0.1)(100) == pytest.approx(10 ** (4 / 7 - 1) * math.log(100))


def test_logarithms_start_at_zero_not_below():
    by_formula = GainByFormula("squared exponential")
    assert by_formula(0) == by_formula(1) == 0.0 < by_formula(2)


def test_bad_formulas_are_named():
    with pytest.raises(ValueError, match=r"kernel = 'cubic'.*'constant', 'linear'"):
        GainByFormula("cubic")
    with pytest.raises(ValueError, match=r"factor = -1\.0"):
        GainByFormula("linear", factor=-1.0)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Linear(2.0), Independent(3.0)])
def test_the_effective_dimension(kernel):
    """tr K (K + s2)^-1 by an inverse; repeats count, and it is at most the gain's log determinant."""
    X = np.random.default_rng(31).uniform(size=(12, 3))[[0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10, 11]]
    K = kernel(X, X)
    ours = information.effective_dimension(kernel, X, 0.1)
    assert ours == pytest.approx(np.trace(K @ np.linalg.inv(K + 0.1 * np.eye(15))), rel=1e-9)
    assert ours <= 2 * gain(kernel, X, 0.1)
    assert ours <= np.linalg.matrix_rank(K)
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0"):
        information.effective_dimension(kernel, X, 0.0)
