"""Functions with known RKHS norm, sensor rows, and words about bad input."""

from functools import partial

import numpy as np
import pytest
from scipy.linalg import eigh

from kbrepro.confidence import self_normalised
from kbrepro.kernels import Linear, Matern, SquaredExponential
from kbrepro.papers.igp_ucb import problems
from kbrepro.policies import UCB
from kbrepro.policies.makers import told_norm
from kbrepro.simulation import Experiment, run_trials

KERNELS = [SquaredExponential(0.2), Matern(0.2, nu=2.5), Linear(0.5)]
COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]])
FIELDS = np.array([[1.0, -2.0, 0.5], [0.3, 0.2, 0.1]])


def generator(seed=61):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_posterior_mean_has_the_norm_it_says(kernel):
    """The least norm of any function through these values, by eigenvectors, is at most the norm of f, and is it."""
    problem = problems.posterior_mean(generator(), 0, kernel, n_arms=40, d=2)
    values, vectors = eigh(kernel(problem.arms, problem.arms))
    kept = values > 1e-9 * values[-1]
    least = np.sqrt(((vectors[:, kept].T @ problem.expected_reward) ** 2 / values[kept]).sum())
    assert problem.norm == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_prior_draw_has_the_norm_it_says(kernel):
    problem = problems.prior_draw(generator(), 0, kernel, n_arms=12, d=2)
    values, vectors = eigh(kernel(problem.arms, problem.arms))
    kept = values > 1e-9 * values[-1]
    least = np.sqrt(((vectors[:, kept].T @ problem.expected_reward) ** 2 / values[kept]).sum())
    assert problem.norm == pytest.approx(least, rel=1e-3)


def test_smoothing_shrinks_the_norm_of_a_draw():
    smooth, rough = (
        make(generator(), 0, SquaredExponential(0.2), n_arms=100)
        for make in (problems.posterior_mean, problems.prior_draw)
    )
    np.testing.assert_array_equal(smooth.arms, rough.arms)
    assert smooth.norm < rough.norm
    less = problems.posterior_mean(generator(), 0, SquaredExponential(0.2), n_arms=100, ridge=1.0)
    assert less.norm < smooth.norm


def test_noise_is_one_percent_of_the_range():
    problem = problems.posterior_mean(generator(), 0, SquaredExponential(0.2), n_arms=30)
    assert problem.noise_variance == pytest.approx(0.01 * np.ptp(problem.expected_reward))
    assert problem.noise_sd == pytest.approx(np.sqrt(problem.noise_variance))


def test_the_told_variance_does_not_change_the_noise():
    plain = problems.posterior_mean(generator(), 0, SquaredExponential(0.2), n_arms=30)
    told = problems.posterior_mean(generator(), 0, SquaredExponential(0.2), n_arms=30, told_variance=1.02)
    assert told.noise_variance == 1.02 and told.noise_sd == plain.noise_sd
    np.testing.assert_array_equal(told.expected_reward, plain.expected_reward)


def test_norms_of_every_kind_by_hand():
    K, f = np.diag([4.0, 1.0, 1e-4]), np.array([2.0, 3.0, 1.0])
    assert problems.rkhs_norm(f, K, "printed", 1.0) == pytest.approx(np.sqrt(16 + 9 + 1e-4))
    assert problems.rkhs_norm(f, K, "cut-off", 1.0) == pytest.approx(np.sqrt(4 / 4 + 9))
    assert problems.rkhs_norm(f, K, "smoothed", 1.0) == pytest.approx(np.sqrt(4 * 0.4**2 + 1.5**2 + 1e-4 / 1.0001**2))
    assert problems.rkhs_norm(f, K, "one", 1.0) == 1.0
    with pytest.raises(ValueError, match="kind = 'exact'"):
        problems.rkhs_norm(f, K, "exact", 1.0)
    with pytest.raises(ValueError, match="ridge = 0"):
        problems.rkhs_norm(f, K, "smoothed", 0.0)


def test_printed_norm_is_larger_than_the_norm_on_many_arms():
    make = partial(problems.posterior_mean, kernel=SquaredExponential(0.2), n_arms=100)
    assert make(generator(), 0, printed_norm=True).norm > 3 * make(generator(), 0).norm


@pytest.mark.parametrize(("function", "d"), [(problems.rosenbrock, 2), (problems.hartmann3, 3)])
def test_functions_on_random_arms(function, d):
    make = partial(problems.on_random_arms, function=function, kernel=SquaredExponential(0.2), n_arms=50, d=d)
    raw, standardised = make(generator(), 0), make(generator(), 0, standardise=True)
    np.testing.assert_array_equal(raw.expected_reward, function(raw.arms))
    assert raw.arms.shape == (50, d) and raw.arms.min() >= 0 and raw.arms.max() <= 1
    assert standardised.expected_reward.mean() == pytest.approx(0, abs=1e-12)
    assert standardised.expected_reward.std() == pytest.approx(1)
    K = raw.kernel(raw.arms, raw.arms)
    a = np.linalg.solve(K + problems.JITTER * np.eye(50), raw.expected_reward)
    assert raw.norm == pytest.approx(np.sqrt(a @ K @ a), rel=1e-6)


def test_sensor_rows():
    problem = problems.sensor_row(generator(), 1, COVARIANCE, FIELDS, 0.5)
    np.testing.assert_array_equal(problem.expected_reward, FIELDS[1])
    np.testing.assert_array_equal(problem.kernel(problem.arms, problem.arms), COVARIANCE)
    a = np.linalg.solve(COVARIANCE + 0.5 * np.eye(3), FIELDS[1])
    assert problem.norm == pytest.approx(np.sqrt(a @ COVARIANCE @ a))
    assert problem.noise_variance == 0.5
    with pytest.raises(IndexError, match="0 to 1"):
        problems.sensor_row(generator(), 2, COVARIANCE, FIELDS, 0.5)


def test_a_test_row_with_a_missing_value_is_named():
    fields = FIELDS.copy()
    fields[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"fields\[1, 2\] = nan"):
        problems.sensor_row(generator(), 0, COVARIANCE, fields, 0.5)


def test_a_covariance_that_is_not_positive_semidefinite_says_its_eigenvalue():
    bad = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="eigenvalue -1"):
        problems.sensor_row(generator(), 0, bad, FIELDS, 0.5)


@pytest.mark.parametrize("noise_variance", [0.0, -1.0, np.nan])
def test_a_noise_variance_that_is_not_positive_is_named(noise_variance):
    with pytest.raises(ValueError, match=r"(ridge|noise_variance) = "):
        problems.sensor_row(generator(), 0, COVARIANCE, FIELDS, noise_variance)
    with pytest.raises(ValueError, match="noise_variance = "):
        problems.sensor_row(generator(), 0, COVARIANCE, FIELDS, noise_variance, "one")


def test_covariance_is_learned_from_rows():
    train = generator().standard_normal((50, 3)) + np.arange(3)
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
    problem = partial(problems.posterior_mean, kernel=SquaredExponential(0.2), n_arms=30)
    rule = told_norm(UCB, partial(self_normalised, delta=0.1), of_gain=True)
    trace = run_trials(Experiment(problem, {"IGP-UCB": rule}, 100, record_band=True), 60, 62)["IGP-UCB"]
    assert (trace.band_ratio <= 1).all(axis=1).sum() >= 46
    assert trace.band_ratio.max() > 0.1  # and is a band, not everything
