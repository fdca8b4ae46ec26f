"""Information gain: greedy and spectral bounds against brute force on tiny sets."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro import information
from kbrepro.kernels import Empirical, Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers import gp_ucb

few = settings(max_examples=40, deadline=None, derandomize=True)
E = 1 - np.exp(-1)


def covariance(seed, n, rank):
    """A random (n, n) covariance of rank at most `rank`, with unequal variances."""
    V = np.random.default_rng(seed).standard_normal((n, rank)) * 10.0 ** np.linspace(0, -1, rank)
    return V @ V.T


def best_gain(kernel, arms, noise_variance, horizon):
    """The largest gain of any multiset of `horizon` pulls, by log determinants of all of them."""
    K = kernel(arms, arms)
    return max(
        0.5 * np.linalg.slogdet(np.eye(horizon) + K[np.ix_(pulls, pulls)] / noise_variance)[1]
        for pulls in combinations_with_replacement(range(len(arms)), horizon)
    )


def compositions(total, parts):
    """Every way to write `total` as an ordered sum of `parts` integers of at least 0."""
    if parts == 1:
        yield (total,)
        return
    for head in range(total + 1):
        for tail in compositions(total - head, parts - 1):
            yield (head, *tail)


def test_gain_of_repeated_pulls():
    """n pulls of one arm of variance 2 with noise 0.5: 1/2 log(1 + 2 n / 0.5); independent arms add up."""
    arms = grid(3)
    one = information.gain(Independent(2.0), arms[[1] * 7], 0.5)
    assert one == pytest.approx(0.5 * np.log(29), rel=1e-13)
    two = information.gain(Independent(2.0), arms[[1] * 7 + [2] * 3], 0.5)
    assert two == pytest.approx(0.5 * np.log(29) + 0.5 * np.log(13), rel=1e-13)


def test_gain_is_half_the_log_determinant():
    rng = np.random.default_rng(11)
    X = rng.uniform(size=(20, 2))
    K = Matern(0.3, nu=1.5)(X, X)
    eigenvalues = np.linalg.eigvalsh(K)
    assert information.gain(Matern(0.3, nu=1.5), X, 0.1) == pytest.approx(0.5 * np.log1p(eigenvalues / 0.1).sum())


def test_bad_noise():
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0"):
        information.gain(Linear(), grid(3), 0.0)
    with pytest.raises(ValueError, match=r"noise_variance = -1"):
        information.allocated_gain(np.ones(3), -1, 2)
    with pytest.raises(ValueError, match="horizon = 0"):
        information.allocated_gain(np.ones(3), 1.0, 0)
    with pytest.raises(ValueError, match="horizon = 0"):
        information.greedy_gain(Linear(), grid(3), 1.0, 0)


@few
@given(seed=st.integers(0, 10**6), rank=st.integers(1, 5), noise_variance=st.sampled_from([0.025, 0.3, 2.0]))
def test_greedy_against_brute_force_and_the_spectral_bounds(seed, rank, noise_variance):
    kernel = Empirical(covariance(seed, 5, rank))
    arms, horizon = kernel.points, 4
    gains, pulled = information.greedy_gain(kernel, arms, noise_variance, horizon)
    eigenvalues = np.linalg.eigvalsh(kernel.covariance)
    allocated = information.allocated_gain(eigenvalues, noise_variance, horizon)
    bound = gp_ucb.spectral_bound(eigenvalues, noise_variance, horizon)
    optimum = np.array([best_gain(kernel, arms, noise_variance, T) for T in range(1, horizon + 1)])
    assert kernel.diag(arms)[pulled[0]] == kernel.diag(arms).max()
    assert gains[0] == pytest.approx(optimum[0], rel=1e-9)
    assert (gains >= E * optimum * (1 - 1e-12)).all() and (gains <= optimum * (1 + 1e-9)).all()
    assert (optimum <= allocated * (1 + 1e-9)).all()
    np.testing.assert_allclose(bound, allocated / E, rtol=1e-12)
    own = [information.gain(kernel, arms[pulled[:T]], noise_variance) for T in range(1, horizon + 1)]
    np.testing.assert_allclose(gains, own, rtol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "arms"),
    [
        (SquaredExponential(0.2), grid(30)),
        (Matern(0.2, nu=2.5), grid(6, 2)),
        (Linear(), np.random.default_rng(12).standard_normal((25, 4))),
        (Independent(), grid(30)),
    ],
    ids=["squared exponential", "matern", "linear", "independent"],
)
def test_greedy_allocated_and_bound_are_ordered_at_every_horizon(kernel, arms):
    greedy, _ = information.greedy_gain(kernel, arms, 0.025, 200)
    eigenvalues = np.linalg.eigvalsh(kernel(arms, arms))
    allocated = information.allocated_gain(eigenvalues, 0.025, 200)
    bound = gp_ucb.spectral_bound(eigenvalues, 0.025, 200)
    assert (greedy <= allocated * (1 + 1e-10)).all() and (allocated < bound).all()
    assert (np.diff(greedy) > 0).all() and (np.diff(greedy, 2) <= 1e-9).all()


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


@pytest.mark.parametrize("T", [1, 3, 25, 60])
@pytest.mark.parametrize("noise_variance", [0.025, 0.5])
def test_lemma_7_8_by_exhaustion(T, noise_variance):
    """Every split and every number r of pulls; and it is no smaller than the bound of eq. 8 that it relaxes."""
    kernel, arms = SquaredExponential(0.2), grid(30)
    eigenvalues = np.linalg.eigvalsh(kernel(arms, arms))[::-1].clip(0)
    r = np.arange(1, T + 1)
    worst = [
        (s * np.log(r * 30 / noise_variance) + (T - r) * eigenvalues[s:].sum() / noise_variance).max()
        for s in range(1, min(T, 30) + 1)
    ]
    bound = gp_ucb.split_bound(eigenvalues, noise_variance, T)
    assert bound == pytest.approx(0.5 / E * min(worst), rel=1e-9)
    assert bound >= gp_ucb.spectral_bound(eigenvalues, noise_variance, T)[-1] * (1 - 1e-12)


@pytest.mark.parametrize(("kernel", "tau"), [(SquaredExponential(0.2), 1.0), (Matern(0.2, nu=2.5), 5 / 7)])
@pytest.mark.parametrize("T", [5, 40])
def test_theorem_8_by_exhaustion(kernel, tau, T):
    spectrum = gp_ucb.operator_spectrum(kernel, 60)
    C = 2 * (2 * tau + 1)
    n, r = C * T**tau * np.log(T), np.arange(1, T + 1)
    worst = [
        (s * np.log(r * n / 0.1) + C / 0.1 * (1 - r / T) * np.log(T) * (T ** (tau + 1) * spectrum[s:].sum() + 1)).max()
        for s in range(1, min(60, int(n)) + 1)
    ]
    assert gp_ucb.operator_bound(spectrum, 0.1, T, tau) == pytest.approx(0.5 / E * min(worst), rel=1e-6)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Matern(0.2, nu=2.5)])
def test_the_operator_spectrum(kernel):
    """Sums to 1, falls, and is the limit of the spectrum of K / n on a fine regular grid (midpoints)."""
    spectrum = gp_ucb.operator_spectrum(kernel, 200)
    assert spectrum.sum() == pytest.approx(1, rel=1e-9) and (np.diff(spectrum) <= 0).all()
    midpoints = (grid(800, high=799.0) + 0.5) / 800
    fine = np.linalg.eigvalsh(kernel(midpoints, midpoints) / 800)[::-1]
    np.testing.assert_allclose(spectrum[:8], fine[:8], rtol=1e-3, atol=1e-6)


def test_the_rates_of_theorem_5():
    T = np.array([10.0, 100.0])
    np.testing.assert_allclose(information.gain_rate("linear", T, 3), 3 * np.log(T))
    np.testing.assert_allclose(information.gain_rate("squared exponential", T, 3), np.log(T) ** 4)
    np.testing.assert_allclose(information.gain_rate("matern", T, 2, nu=1.5), T ** (6 / 9) * np.log(T))
    assert information.matern_exponent(1, 2.5) == pytest.approx(2 / 7)
    with pytest.raises(ValueError, match="kernel = 'cubic'"):
        information.gain_rate("cubic", T, 1)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Linear(2.0), Independent(3.0)])
def test_the_effective_dimension(kernel):
    """tr K (K + s2)^-1 by an inverse; repeats count, and it is at most the gain's log determinant."""
    X = np.random.default_rng(31).uniform(size=(12, 3))[[0, 1, 1, 2, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10, 11]]
    K = kernel(X, X)
    ours = information.effective_dimension(kernel, X, 0.1)
    assert ours == pytest.approx(np.trace(K @ np.linalg.inv(K + 0.1 * np.eye(15))), rel=1e-9)
    assert ours <= 2 * information.gain(kernel, X, 0.1)
    assert ours <= np.linalg.matrix_rank(K)
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0"):
        information.effective_dimension(kernel, X, 0.0)
