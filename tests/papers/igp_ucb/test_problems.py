"""Functions with known RKHS norm, sensor rows with theirs, and words about bad input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.linalg import eigh

from kbrepro.confidence import SelfNormalised
from kbrepro.kernels import Linear, Matern, SquaredExponential
from kbrepro.papers.igp_ucb import problems
from kbrepro.papers.igp_ucb.problems import OnRandomArms, PosteriorMean, PriorDraw, rkhs_norm
from kbrepro.policies import UCB
from kbrepro.problems import Rows, Trial
from kbrepro.simulation import Experiment, run_trials

KERNELS = [SquaredExponential(0.2), Matern(0.2, nu=2.5), Linear(0.5)]
SMOOTH = PosteriorMean(SquaredExponential(0.2), n_arms=30)
COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]])
REWARDS = np.array([[1.0, -2.0, 0.5], [0.3, 0.2, 0.1]])
TRIAL = Trial(61, 0)


def least_norm(problem):
    """The least norm of any function through the expected rewards, by eigenvectors."""
    values, vectors = eigh(problem.told.kernel(problem.told.points, problem.told.points))
    kept = values > 1e-9 * values[-1]
    return np.sqrt(((vectors[:, kept].T @ problem.expected_reward) ** 2 / values[kept]).sum())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_posterior_mean_has_the_norm_it_says(kernel):
    problem = PosteriorMean(kernel, n_arms=40, d=2)(TRIAL)
    assert problem.told.norm == pytest.approx(least_norm(problem), rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_prior_draw_has_the_norm_it_says(kernel):
    problem = PriorDraw(kernel, n_arms=12, d=2)(TRIAL)
    assert problem.told.norm == pytest.approx(least_norm(problem), rel=1e-3)


def test_smoothing_shrinks_the_norm_of_a_draw():
    sources = [make(SquaredExponential(0.2), n_arms=100) for make in (PosteriorMean, PriorDraw)]
    smooth, rough, smoother = (source(TRIAL) for source in (*sources, replace(sources[0], ridge=1.0)))
    np.testing.assert_array_equal(smooth.told.points, rough.told.points)
    assert smoother.told.norm < smooth.told.norm < rough.told.norm


def test_the_posterior_mean_is_that_of_the_draw():
    """By dense algebra: y is the draw of PriorDraw in the same trial, the ridge 1 % of its range."""
    smooth, rough = SMOOTH(TRIAL), PriorDraw(SquaredExponential(0.2), n_arms=30)(TRIAL)
    K, y = smooth.told.kernel(smooth.told.points, smooth.told.points), rough.expected_reward
    f = K @ np.linalg.inv(K + 0.01 * np.ptp(y) * np.eye(30)) @ y
    np.testing.assert_allclose(smooth.expected_reward, f, atol=1e-9)


@pytest.mark.parametrize("source", [SMOOTH, PriorDraw(Matern(0.2, nu=2.5), n_arms=30)])
def test_noise_is_one_percent_of_the_range(source):
    problem = source(TRIAL)
    assert problem.told.noise_variance == pytest.approx(0.01 * np.ptp(problem.expected_reward))
    assert problem.told.noise_scale == pytest.approx(np.sqrt(problem.told.noise_variance))


def test_the_told_variance_does_not_change_the_noise():
    plain, other = SMOOTH(TRIAL), replace(SMOOTH, told_variance=1.02)(TRIAL)
    assert other.told.noise_variance == 1.02
    assert other.told.noise_scale == plain.told.noise_scale < 1
    assert other.pull(3, np.random.default_rng(5)) == plain.pull(3, np.random.default_rng(5))
    np.testing.assert_array_equal(other.expected_reward, plain.expected_reward)


def test_trials_differ_and_are_their_own():
    problem = SMOOTH(Trial(61, 1))
    assert not np.allclose(problem.told.points, SMOOTH(TRIAL).told.points)
    np.testing.assert_array_equal(problem.expected_reward, SMOOTH(Trial(61, 1)).expected_reward)


@pytest.mark.parametrize("bad", [{"n_arms": 0}, {"n_arms": 10.0}, {"d": 0}])
def test_numbers_of_arms_and_dimensions_are_checked(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} = {bad[name]}"):
        replace(SMOOTH, **bad)(TRIAL)


def test_norms_of_every_kind_by_hand():
    K, f = np.diag([4.0, 1.0, 1e-4]), np.array([2.0, 3.0, 1.0])
    assert rkhs_norm(f, K, "printed") == pytest.approx(np.sqrt(16 + 9 + 1e-4))
    assert rkhs_norm(f, K, "cut-off") == pytest.approx(np.sqrt(4 / 4 + 9))
    assert rkhs_norm(f, K, "smoothed", ridge=1.0) == pytest.approx(np.sqrt(4 * 0.4**2 + 1.5**2 + 1e-4 / 1.0001**2))
    assert rkhs_norm(f, K, "smoothed") == pytest.approx(np.sqrt(1 + 9 + 1e4), rel=1e-2)  # JITTER is 1 % of 1e-4
    assert rkhs_norm(f, K, "one") == 1.0
    with pytest.raises(ValueError, match="kind = 'exact'"):
        rkhs_norm(f, K, "exact")
    with pytest.raises(ValueError, match="ridge = 0"):
        rkhs_norm(f, K, "smoothed", ridge=0.0)


def test_printed_norm_is_larger_than_the_norm_on_many_arms():
    source = replace(SMOOTH, n_arms=100)
    printed = replace(source, norm_of=partial(rkhs_norm, kind="printed"))(TRIAL)
    assert printed.told.norm > 3 * source(TRIAL).told.norm
    np.testing.assert_array_equal(printed.expected_reward, source(TRIAL).expected_reward)


@pytest.mark.parametrize(("function", "d"), [(problems.rosenbrock, 2), (problems.hartmann3, 3)])
def test_functions_on_random_arms(function, d):
    source = OnRandomArms(
        SquaredExponential(0.2), 50, d, norm_of=partial(rkhs_norm, kind="smoothed"), function=function
    )
    raw, standardised = source(TRIAL), replace(source, standardise=True)(TRIAL)
    points = raw.told.points
    np.testing.assert_array_equal(raw.expected_reward, function(points))
    assert points.shape == (50, d) and points.min() >= 0 and points.max() <= 1
    assert standardised.expected_reward.mean() == pytest.approx(0, abs=1e-12)
    assert standardised.expected_reward.std() == pytest.approx(1)
    K = raw.told.kernel(points, points)
    a = np.linalg.solve(K + problems.JITTER * np.eye(50), raw.expected_reward)
    assert raw.told.norm == pytest.approx(np.sqrt(a @ K @ a), rel=1e-6)


# Sensors


def sensor_rows(covariance=COVARIANCE, noise_variance=0.5, kind="smoothed"):
    norm_of = partial(rkhs_norm, kind=kind, ridge=noise_variance)
    return Rows(covariance, REWARDS, noise_variance, norm_of=norm_of)


def test_sensor_rows_tell_their_norm():
    told = sensor_rows()(Trial(61, 1)).told
    a = np.linalg.solve(COVARIANCE + 0.5 * np.eye(3), REWARDS[1])
    assert told.norm == pytest.approx(np.sqrt(a @ COVARIANCE @ a))
    assert sensor_rows(kind="one")(Trial(61, 1)).told.norm == 1.0


def test_a_covariance_that_is_not_positive_semidefinite_is_refused_before_its_norm():
    bad = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="eigenvalue -1"):
        sensor_rows(bad)(TRIAL)


@pytest.mark.parametrize("noise_variance", [0.0, -1.0, np.nan])
def test_a_noise_variance_that_is_not_positive_is_named(noise_variance):
    with pytest.raises(ValueError, match="ridge = "):
        sensor_rows(noise_variance=noise_variance)(TRIAL)
    with pytest.raises(ValueError, match="noise_variance = "):
        sensor_rows(noise_variance=noise_variance, kind="one")(TRIAL)


def test_covariance_is_learned_from_rows():
    train = np.random.default_rng(61).standard_normal((50, 3)) + np.arange(3)
    mean, covariance = problems.learn_covariance(train)
    np.testing.assert_allclose(mean, train.mean(axis=0))
    np.testing.assert_allclose(covariance, (train - mean).T @ (train - mean) / 49)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3,)])
def test_empty_training_data_is_refused(shape):
    with pytest.raises(ValueError, match="train has shape"):
        problems.learn_covariance(np.ones(shape))


def test_missing_training_data_is_named():
    with pytest.raises(ValueError, match=r"train\[1, 0\] = nan"):
        problems.learn_covariance(np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 1.0]]))


def test_the_consistent_band_covers():
    """60 runs on 30 arms: 1 - delta = 0.9 promised; fewer than 46 would have probability below 1e-3 at 0.9."""
    experiment = Experiment(SMOOTH, {"IGP-UCB": partial(UCB, width=SelfNormalised(0.1))}, 100, record_band=True)
    trace = run_trials(experiment, 60, 62)["IGP-UCB"]
    assert (trace.band_ratio <= 1).all(axis=1).sum() >= 46
    assert trace.band_ratio.max() > 0.1  # and is a band, not everything
