"""Finite-feature posteriors against dense formulas, the authors' own code, and the statistics of
their draws.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import recorded
from refusing import refuses

from kbrepro.bandits.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Model
from kbrepro.papers.bkb import sketch
from kbrepro.papers.bkb.policy import Authors
from kbrepro.papers.bkb.sketch import (
    ArmwisePosterior,
    BudgetedPosterior,
    FeaturePosterior,
    NystromPosterior,
    StreamingPosterior,
)

NOISE = 0.025
POINTS = np.random.default_rng(1).uniform(size=(14, 2))
KERNELS = [Matern(0.4, nu=1.5, variance=1.7), SquaredExponential(0.3), Linear(), Independent()]
few = settings(max_examples=60, deadline=None, derandomize=True)
arms = st.integers(0, 13)
pulls = st.lists(st.tuples(arms, st.floats(-5, 5, width=32)), min_size=1, max_size=30)


def updated(posterior, history):
    for arm, observation in history:
        posterior.update(arm, observation)
    return posterior


def dense(kernel, members, history):
    """Mean, SoR and DTC variance, gain: Q = K_AS K_S^+ K_SA over all pulls, a row a pull (Quinonero
    & Rasmussen).
    """
    K, S = kernel(POINTS, POINTS), list(members)
    Q = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
    X, y = zip(*history, strict=True)
    noisy = Q[np.ix_(X, X)] + NOISE * np.eye(len(X))
    solved = np.linalg.solve(noisy, Q[[*X]])
    lost = np.einsum("ij,ji->i", Q[:, X], solved)
    gain = np.linalg.slogdet(noisy / NOISE)[1] / 2
    return solved.T @ y, np.diag(Q) - lost, np.diag(K) - lost, gain


@few
@given(
    st.sampled_from(KERNELS),
    st.lists(arms, min_size=1, max_size=9),
    st.lists(arms, min_size=1),
    pulls,
)
def test_dense_formulas_whatever_the_dictionary_was_before(kernel, members, before, history):
    mean, sor, dtc, gain = dense(kernel, members, history)
    ours = NystromPosterior(kernel, POINTS, NOISE)
    ours.use_dictionary(np.array(before))
    updated(ours, history)
    assert ours.variance.shape == (14,)  # computed, and now stale
    ours.use_dictionary(np.array(members))
    inducing = np.unique(members)
    features = sketch.nystrom_features(kernel(POINTS[inducing], POINTS), inducing)
    regressors = updated(FeaturePosterior(features, NOISE), history)
    counts = np.bincount([arm for arm, _ in history], minlength=14)
    for posterior, variance in ((ours, dtc), (regressors, sor)):
        np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.variance, variance, rtol=0, atol=1e-9)
        np.testing.assert_allclose(posterior.sd**2, posterior.variance)
        np.testing.assert_array_equal(posterior.counts, counts)
        assert posterior.gain == pytest.approx(gain, abs=1e-8)
        assert posterior.summed_variance == pytest.approx(counts @ variance / NOISE, abs=1e-6)
    assert ours.dictionary.tolist() == members and ours.inducing.tolist() == inducing.tolist()


RECORDED = recorded("bkb")


@pytest.mark.parametrize("run", RECORDED)
def test_the_code_of_the_authors_has_the_same_mean_variance_and_width(run):
    """Three of its runs of 100 pulls, recorded with their last dictionary, which is of distinct
    arms.
    """
    given = np.array(run["points"]), SquaredExponential(run["lengthscale"]), run["noise_variance"]
    model = Model(*given, norm=run["norm"])  # R^2 = lambda
    ours = NystromPosterior(model.kernel, model.points, model.noise_variance)
    updated(ours, zip(run["arms"], run["rewards"], strict=True))
    ours.use_dictionary(np.array(run["dictionary"]))
    np.testing.assert_allclose(ours.mean, run["mean"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.variance, run["variance"], rtol=1e-9)
    policy = SimpleNamespace(model=model, posterior=ours, t=len(run["arms"]) + 1)
    assert Authors(run["delta"])(policy) == pytest.approx(run["width"], rel=1e-9)


def test_a_dictionary_that_spans_nothing():
    origin = NystromPosterior(Linear(), np.array([[0.0, 0.0], [1.0, 0.0]]), NOISE)
    updated(origin, [(0, 1.0), (1, 1.0)])
    origin.use_dictionary(np.array([0]))  # the linear kernel's variance is 0
    np.testing.assert_allclose(origin.variance, [0.0, 1.0])
    assert origin.n_features == 0


# The dictionaries of BKB


def test_streaming_keeps_a_pull_with_the_smallest_probability_so_far():
    """Pull i is kept with min of p_i .. p_4: 0.3 for all four; 1000 runs, 5 standard errors (error
    level 3e-6).
    """
    posterior = StreamingPosterior(Independent(), grid(4), 0.5, 2.0, np.random.default_rng(5))
    members = np.zeros(4)
    for _ in range(1000):
        posterior._members, posterior._probabilities = np.empty(0, dtype=int), np.empty(0)
        for arm, inclusion in enumerate([0.9, 0.5, 0.7, 0.3]):
            kept = posterior._draw(np.full(4, inclusion), arm)
        members += np.bincount(kept, minlength=4)
    assert (np.abs(members - 1000 * 0.3) <= 5 * np.sqrt(1000 * 0.3 * 0.7)).all()


def test_armwise_a_coin_decides_on_all_pulls_of_an_arm():
    """1, 3 and 12 pulls, each kept with 0.1: arms with 0.1, 0.3 and 1; 5 standard errors."""
    posterior = ArmwisePosterior(Independent(), grid(4), 0.5, 2.0, np.random.default_rng(6))
    posterior._counts[:3] = pulls = np.array([1, 3, 12])
    drawn = [posterior._draw(np.full(4, 0.1), 2) for _ in range(1000)]
    chances = np.append(np.minimum(1.0, 0.1 * pulls), 0.0)
    kept = np.bincount(np.concatenate(drawn), minlength=4)
    errors = np.sqrt(1000 * chances * (1 - chances))
    assert (np.abs(kept - 1000 * chances) <= 5 * errors).all()


@pytest.mark.parametrize("form", [ArmwisePosterior, BudgetedPosterior, StreamingPosterior])
def test_an_empty_dictionary_keeps_the_newest_pull_and_a_bad_pull_changes_nothing(form):
    posterior = form(Independent(), grid(5), 1e6, 2.0, np.random.default_rng(7))
    # qbar times the variance over that of the noise
    assert posterior.inclusion() == pytest.approx(np.full(5, 2e-6))
    for arm in (3, 1, 4):
        posterior.update(arm, 0.0)
        assert posterior.dictionary.tolist() == [arm]
    mean = posterior.mean
    refuses((lambda: posterior.update(2, float("nan")), "observation = nan is not allowed"))
    np.testing.assert_array_equal(posterior.mean, mean)
    assert posterior.dictionary.tolist() == [4] and posterior.counts.sum() == 3


# Fourier features


def test_random_features_converge():
    """An entry is a mean of m / 2 cosines: 5 standard errors of at most variance / sqrt(m); 105
    pairs, level 1e-4.
    """
    kernel = SquaredExponential(0.4, variance=2.0)
    Z = sketch.random_features(kernel, POINTS, 20_000, np.random.default_rng(11))
    assert Z.shape == (14, 20_000)
    assert np.abs(Z @ Z.T - kernel(POINTS, POINTS)).max() <= 5 * kernel.variance / np.sqrt(20_000)
    np.testing.assert_allclose(np.diag(Z @ Z.T), kernel.variance)


def test_quadrature_features_are_exact_with_enough_nodes():
    kernel = SquaredExponential(0.3, variance=1.3)
    points = np.random.default_rng(12).uniform(size=(40, 1))
    Z = sketch.quadrature_features(kernel, points, 31)
    assert Z.shape == (40, 30)
    np.testing.assert_allclose(Z @ Z.T, kernel(points, points), rtol=0, atol=1e-9)


def test_bad_settings_are_named():
    rng, given = np.random.default_rng(0), (KERNELS[0], POINTS, NOISE)
    refuses(
        (lambda: BudgetedPosterior(*given, 0.99, rng), "qbar = 0.99 .*: qbar must be at least 1"),
        (lambda: BudgetedPosterior(*given, np.nan, rng), "qbar = nan is not allowed"),
        (
            lambda: sketch.random_features(*given[:2], 10, rng),
            "kernel = .*: kernel must be SquaredExponential, whose",
        ),
    )
