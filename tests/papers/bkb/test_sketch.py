"""Finite-feature posteriors against the textbook's dense formulas, the exact posterior and each other."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.kernels import Empirical, Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers.bkb.sketch import (
    BudgetedPosterior,
    FeaturePosterior,
    NystromPosterior,
    StreamingPosterior,
    nystrom_features,
    quadrature_features,
    random_features,
)
from kbrepro.posterior import RowPosterior

NOISE = 0.025
POINTS = np.random.default_rng(1).uniform(size=(14, 2))
KERNELS = [Matern(0.4, nu=1.5, variance=1.7), SquaredExponential(0.3), Linear(), Independent()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
few = settings(max_examples=40, deadline=None, derandomize=True)
pulls = st.lists(st.tuples(st.integers(0, 13), st.floats(-5, 5, width=32)), min_size=1, max_size=30)


def told(posterior, history):
    for arm, observation in history:
        posterior.update(arm, observation)
    return posterior


def sketch(kernel, members, history, points=POINTS):
    posterior = NystromPosterior(kernel, points, NOISE)
    posterior.use_dictionary(np.array(members))
    return told(posterior, history)


def regressors(kernel, members, history, points=POINTS):
    inducing = np.unique(members)
    features = nystrom_features(kernel(points[inducing], points), inducing)
    return told(FeaturePosterior(features, NOISE), history)


def dense(kernel, members, history, points=POINTS):
    """Mean, SoR and DTC variance from Q = K_AS K_S^+ K_SA over all pulls, one row a pull (Quinonero & Rasmussen)."""
    K, S = kernel(points, points), list(members)
    Q = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    X, y = [arm for arm, _ in history], np.array([observation for _, observation in history])
    solved = np.linalg.solve(Q[np.ix_(X, X)] + NOISE * np.eye(len(X)), Q[X])
    taken = np.einsum("ij,ji->i", Q[:, X], solved)
    return solved.T @ y, np.diag(Q) - taken, np.diag(K) - taken


HISTORY = [(int(a), float(y)) for a, y in zip(*np.random.default_rng(2).normal(5, 3, (2, 60)).clip(0, 13), strict=True)]


# Nyström posteriors


@every_kernel
@pytest.mark.parametrize("members", [[4], [3, 3, 9, 1], [0, 2, 5, 7, 11, 13]])
def test_dense_formulas(kernel, members):
    mean, sor, dtc = dense(kernel, members, HISTORY)
    for posterior, variance in ((regressors(kernel, members, HISTORY), sor), (sketch(kernel, members, HISTORY), dtc)):
        np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.variance, variance, rtol=0, atol=1e-9)
        np.testing.assert_allclose(posterior.sd**2, posterior.variance)
        np.testing.assert_array_equal(posterior.counts, np.bincount([a for a, _ in HISTORY], minlength=14))


@few
@given(history=pulls)
def test_dtc_is_exact_when_the_dictionary_holds_all_pulls(history):
    for kernel in KERNELS:
        exact = told(RowPosterior(kernel, POINTS, NOISE), history)
        ours = sketch(kernel, [arm for arm, _ in history], history)
        np.testing.assert_allclose(ours.mean, exact.mean, rtol=0, atol=1e-7)
        np.testing.assert_allclose(ours.variance, exact.variance, rtol=0, atol=1e-8)
        assert ours.gain == pytest.approx(exact.gain, rel=1e-8)


def test_a_numerically_singular_dictionary():
    kernel, points = SquaredExponential(0.2), grid(300)
    history = [(int(arm), 0.5) for arm in np.random.default_rng(3).integers(0, 200, 600)]
    exact, ours = told(RowPosterior(kernel, points, NOISE), history), sketch(kernel, range(200), history, points)
    assert ours.n_features < 30
    np.testing.assert_allclose(ours.variance, exact.variance, rtol=0, atol=1e-7)
    np.testing.assert_allclose(ours.mean, exact.mean, rtol=0, atol=1e-6)


def test_before_the_first_pull_it_is_the_prior():
    posterior = NystromPosterior(KERNELS[0], POINTS, NOISE)
    np.testing.assert_array_equal(posterior.mean, np.zeros(14))
    np.testing.assert_allclose(posterior.variance, 1.7)
    np.testing.assert_allclose(posterior.prior_variance, 1.7)
    assert (posterior.gain, posterior.summed_variance, posterior.n_features) == (0.0, 0.0, 0)


def test_a_dictionary_that_spans_nothing():
    """The arm at the origin has variance 0 under the linear kernel."""
    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    posterior = sketch(Linear(), [0], [(0, 1.0), (1, 1.0)], points)
    np.testing.assert_allclose(posterior.variance, [0.0, 1.0])
    assert posterior.n_features == 0


def test_a_changed_dictionary_leaves_nothing_of_the_old_one():
    kernel = KERNELS[0]
    posterior = sketch(kernel, [0, 1, 2, 7], HISTORY)
    stale = posterior.variance
    for members in ([5], [5, 7, 11], [2, 5, 5, 11, 13]):
        posterior.use_dictionary(np.array(members))
        fresh = sketch(kernel, members, HISTORY)
        np.testing.assert_allclose(posterior.variance, fresh.variance, rtol=0, atol=1e-12)
        np.testing.assert_allclose(posterior.mean, fresh.mean, rtol=0, atol=1e-10)
        assert np.abs(posterior.variance - stale).max() > 1e-3
        np.testing.assert_array_equal(posterior.dictionary, members)


# The dictionaries of BKB


def before_the_next_pull(form, qbar, seed):
    posterior = form(KERNELS[0], POINTS, 0.5, qbar, np.random.default_rng(seed))
    return told(posterior, HISTORY[:30])


def test_the_inclusion_frequencies_match_the_probabilities():
    """3000 draws; binomial deviations beyond 5 standard errors on 14 arms: error level 1e-5."""
    posterior = BudgetedPosterior(KERNELS[0], POINTS, 0.5, 2.0, np.random.default_rng(4))
    posterior.inclusion = lambda: np.ones(14)  # every pull stays: the variance is the exact one
    told(posterior, HISTORY[:30])
    del posterior.inclusion
    exact = told(RowPosterior(KERNELS[0], POINTS, 0.5), HISTORY[:30])
    probability = np.minimum(1.0, 2.0 * exact.variance / 0.5)  # before the newest observation, which is of arm 7
    assert 0.05 < probability.min() < 0.6 and np.ptp(probability) > 0.2
    counts = exact.counts + (np.arange(14) == 7)
    members = np.zeros(14)
    for _ in range(3000):
        drawn = copy.deepcopy(posterior)
        drawn.rng = posterior.rng.spawn(1)[0]
        drawn.update(7, 0.3)
        members += np.bincount(drawn.dictionary, minlength=14)
    error = np.sqrt(3000 * counts * probability * (1 - probability))
    assert (np.abs(members - 3000 * counts * probability) <= 5 * error + 1e-6).all()


class Scheduled(StreamingPosterior):
    """Inclusion probabilities by a given schedule instead of the variance."""

    def inclusion(self):
        return np.full(self.n_arms, [0.9, 0.5, 0.7, 0.3][self.counts.sum()])


def test_streaming_keeps_a_pull_with_the_smallest_probability_so_far():
    """Pull i is there with min of p_i .. p_4: 0.3 for all four; 4000 runs, 5 standard errors (error level 3e-6)."""
    rng, there = np.random.default_rng(5), np.zeros(4)
    for _ in range(4000):
        posterior = told(Scheduled(Independent(), grid(4), 0.5, 2.0, rng), [(i, 0.0) for i in range(4)])
        there += np.bincount(posterior._members, minlength=4)
    assert (np.abs(there - 4000 * 0.3) <= 5 * np.sqrt(4000 * 0.3 * 0.7)).all()


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
def test_an_empty_dictionary_keeps_the_newest_pull(form):
    posterior = form(Independent(), grid(5), 1e6, 1.0, np.random.default_rng(7))
    for arm in (3, 1, 4):
        posterior.update(arm, 0.0)
        assert posterior.dictionary.tolist() == [arm]


# Fourier features


@pytest.mark.parametrize("m", [200, 20_000])
def test_random_features_converge(m):
    """An entry is a mean of m / 2 cosines: 5 standard errors of at most variance / sqrt(m); 105 pairs, level 1e-4."""
    kernel = SquaredExponential(0.4, variance=2.0)
    Z = random_features(kernel, POINTS, m, np.random.default_rng(11))
    assert Z.shape == (14, m)
    assert np.abs(Z @ Z.T - kernel(POINTS, POINTS)).max() <= 5 * kernel.variance / np.sqrt(m)
    np.testing.assert_allclose(np.diag(Z @ Z.T), kernel.variance)


@pytest.mark.parametrize("m", [30, 31])
def test_quadrature_features_are_exact_with_enough_nodes(m):
    kernel, points = SquaredExponential(0.3, variance=1.3), np.random.default_rng(12).uniform(size=(40, 1))
    Z = quadrature_features(kernel, points, m)
    assert Z.shape == (40, 30)
    np.testing.assert_allclose(Z @ Z.T, kernel(points, points), rtol=0, atol=1e-9)
    exact, ours = RowPosterior(kernel, points, NOISE), FeaturePosterior(Z, NOISE)
    for posterior in (exact, ours):
        told(posterior, [(int(arm) % 20, 0.2 * arm) for arm in range(100)])
    np.testing.assert_allclose(ours.variance / exact.variance, 1, atol=1e-3)


# Errors


@pytest.mark.parametrize("kernel", [Linear(), Independent(), Empirical(np.eye(14)), Matern(0.2, nu=2.5)])
def test_kernels_of_another_spectral_density_are_named(kernel):
    told = r"kernel = .* is not allowed: these features fit the spectral density of the SquaredExponential kernel only"
    with pytest.raises(ValueError, match=told):
        random_features(kernel, POINTS, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match=told):
        quadrature_features(kernel, POINTS, 16)


def test_bad_numbers_of_features():
    for m in (0, 7):
        with pytest.raises(ValueError, match=f"n_features = {m} is not allowed: n_features must be even"):
            random_features(SquaredExponential(0.2), POINTS, m, np.random.default_rng(0))
    for m in (1, 201):
        with pytest.raises(ValueError, match=f"n_features = {m} is not allowed: n_features must be from 2 to 200"):
            quadrature_features(SquaredExponential(0.2), grid(20), m)


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
@pytest.mark.parametrize(
    ("points", "qbar", "message"),
    [
        (POINTS, 0.99, "qbar = 0.99 is not allowed: qbar must be at least 1"),
        (POINTS, float("nan"), "qbar = nan is not allowed"),
        (np.empty((0, 2)), 2.0, r"features has shape \(0, 0\): it must be \(A, m\) with at least one arm"),
    ],
)
def test_bad_settings_are_named(form, points, qbar, message):
    with pytest.raises(ValueError, match=message):
        form(KERNELS[0], points, NOISE, qbar, np.random.default_rng(0))


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
@pytest.mark.parametrize(
    ("arm", "observation", "error"), [(14, 0.0, IndexError), (2.0, 0.0, IndexError), (2, float("nan"), ValueError)]
)
def test_a_bad_pull_is_named_and_changes_nothing(form, arm, observation, error):
    posterior = before_the_next_pull(form, 2.0, seed=13)
    mean, members = posterior.mean.copy(), posterior.dictionary.copy()
    with pytest.raises(error, match="is not allowed"):
        posterior.update(arm, observation)
    np.testing.assert_array_equal(posterior.mean, mean)
    np.testing.assert_array_equal(posterior.dictionary, members)
