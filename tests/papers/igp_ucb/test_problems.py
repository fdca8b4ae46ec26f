"""Functions with known RKHS norm, sensor rows with theirs, and words about bad input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.linalg import eigh

from kbrepro.confidence import SelfNormalised
from kbrepro.kernels import Linear, Matern, SquaredExponential
from kbrepro.papers.igp_ucb import problems
from kbrepro.papers.igp_ucb.problems import OnRandomArms, OtherModel, PosteriorMean, PriorDraw, rkhs_norm, sensor_rows
from kbrepro.policies import UCB
from kbrepro.problems import Rows, Trial
from kbrepro.simulation import Experiment, run_trials

KERNELS = [SquaredExponential(0.2), Matern(0.2, nu=2.5), Linear(0.5)]
SMOOTH = PosteriorMean(SquaredExponential(0.2), n_arms=30)
TRIAL = Trial(61, 0)


def least_norm(problem):
    """The least norm of any function through the expected rewards, by eigenvectors."""
    values, vectors = eigh(problem.model.kernel(problem.model.points, problem.model.points))
    kept = values > 1e-9 * values[-1]
    return np.sqrt(((vectors[:, kept].T @ problem.expected_reward) ** 2 / values[kept]).sum())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_posterior_mean_has_the_norm_it_says(kernel):
    problem = PosteriorMean(kernel, n_arms=40, d=2)(TRIAL)
    assert problem.model.norm == pytest.approx(least_norm(problem), rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_prior_draw_has_the_norm_it_says(kernel):
    problem = PriorDraw(kernel, n_arms=12, d=2)(TRIAL)
    assert problem.model.norm == pytest.approx(least_norm(problem), rel=1e-3)


def test_smoothing_shrinks_the_norm_of_a_draw():
    sources = [make(SquaredExponential(0.2), n_arms=100) for make in (PosteriorMean, PriorDraw)]
    smooth, rough, smoother = (source(TRIAL) for source in (*sources, replace(sources[0], ridge=1.0)))
    np.testing.assert_array_equal(smooth.model.points, rough.model.points)
    assert smoother.model.norm < smooth.model.norm < rough.model.norm


def test_the_posterior_mean_is_that_of_the_draw():
    """By dense algebra: y is the draw of PriorDraw in the same trial, the ridge 1 % of its range."""
    smooth, rough = SMOOTH(TRIAL), PriorDraw(SquaredExponential(0.2), n_arms=30)(TRIAL)
    K, y = smooth.model.kernel(smooth.model.points, smooth.model.points), rough.expected_reward
    f = K @ np.linalg.inv(K + 0.01 * np.ptp(y) * np.eye(30)) @ y
    np.testing.assert_allclose(smooth.expected_reward, f, atol=1e-9)


@pytest.mark.parametrize("source", [SMOOTH, PriorDraw(Matern(0.2, nu=2.5), n_arms=30)])
def test_noise_is_one_percent_of_the_range(source):
    problem = source(TRIAL)
    assert problem.model.noise_variance == pytest.approx(0.01 * np.ptp(problem.expected_reward))
    assert problem.model.noise_scale == pytest.approx(np.sqrt(problem.model.noise_variance))


def test_trials_differ_and_are_their_own():
    problem = SMOOTH(Trial(61, 1))
    assert not np.allclose(problem.model.points, SMOOTH(TRIAL).model.points)
    np.testing.assert_array_equal(problem.expected_reward, SMOOTH(Trial(61, 1)).expected_reward)


@pytest.mark.parametrize("bad", [{"n_arms": 0}, {"n_arms": 10.0}, {"d": 0}])
def test_numbers_of_arms_and_dimensions_are_checked(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} = {bad[name]}"):
        replace(SMOOTH, **bad)(TRIAL)


def test_norms_of_every_kind_by_hand():
    K, f = np.diag([4.0, 1.0, 1e-4]), np.array([2.0, 3.0, 1.0])
    beyond = np.diag([4.0, 1.0, 1e-11])
    assert rkhs_norm(f, K, "printed") == pytest.approx(np.sqrt(16 + 9 + 1e-4))
    assert rkhs_norm(f, K, "cut-off 1e-3") == pytest.approx(np.sqrt(4 / 4 + 9))
    assert rkhs_norm(f, K, "cut-off 1e-10") == pytest.approx(np.sqrt(4 / 4 + 9 + 1e4))
    assert rkhs_norm(f, beyond, "cut-off 1e-10") == pytest.approx(np.sqrt(4 / 4 + 9))
    assert rkhs_norm(f, K, "smoothed", ridge=1.0) == pytest.approx(np.sqrt(4 * 0.4**2 + 1.5**2 + 1e-4 / 1.0001**2))
    assert rkhs_norm(f, K, "smoothed") == pytest.approx(np.sqrt(1 + 9 + 1e4), rel=1e-2)  # JITTER is 1 % of 1e-4
    assert rkhs_norm(f, K, "one") == 1.0
    with pytest.raises(ValueError, match="kind = 'exact'"):
        rkhs_norm(f, K, "exact")
    with pytest.raises(ValueError, match="ridge = 0"):
        rkhs_norm(f, K, "smoothed", ridge=0.0)


@pytest.mark.parametrize(("function", "d"), [(problems.rosenbrock, 2), (problems.hartmann3, 3)])
def test_functions_on_random_arms(function, d):
    source = OnRandomArms(SquaredExponential(0.2), 50, d, function=function)
    raw, standardised = source(TRIAL), replace(source, standardise=True)(TRIAL)
    points = raw.model.points
    np.testing.assert_array_equal(raw.expected_reward, function(points))
    assert points.shape == (50, d) and points.min() >= 0 and points.max() <= 1
    assert standardised.expected_reward.mean() == pytest.approx(0, abs=1e-12)
    assert standardised.expected_reward.std() == pytest.approx(1)
    assert raw.model.norm is None  # the kernel knows nothing of these functions
    K = raw.model.kernel(points, points)
    a = np.linalg.solve(K + problems.JITTER * np.eye(50), raw.expected_reward)
    model = OtherModel(source, norm_of=partial(rkhs_norm, kind="smoothed"))(TRIAL).model
    assert model.norm == pytest.approx(np.sqrt(a @ K @ a), rel=1e-6)


# What policies are told instead

OTHER = {"kernel": Matern(0.3, nu=1.5), "noise_variance": 1.02, "norm_of": partial(rkhs_norm, kind="printed")}


@pytest.mark.parametrize("given", [(), ("kernel",), ("noise_variance",), ("norm_of",), tuple(OTHER)], ids=str)
@pytest.mark.parametrize("source", [SMOOTH, OnRandomArms(SquaredExponential(0.2), 30, 2, function=problems.rosenbrock)])
def test_other_model_changes_what_it_is_given_and_nothing_else(source, given):
    plain, its = source(TRIAL), OtherModel(source, **{name: OTHER[name] for name in given})(TRIAL)
    np.testing.assert_array_equal(its.expected_reward, plain.expected_reward)
    np.testing.assert_array_equal(its.model.points, plain.model.points)
    assert its.model.noise_scale == plain.model.noise_scale
    assert its.pull(3, np.random.default_rng(5)) == plain.pull(3, np.random.default_rng(5))
    assert its.model.kernel == (OTHER["kernel"] if "kernel" in given else plain.model.kernel)
    assert its.model.noise_variance == (1.02 if "noise_variance" in given else plain.model.noise_variance)
    if "norm_of" not in given:
        assert its.model.norm == plain.model.norm


def test_other_model_keeps_a_noise_that_is_not_gaussian():
    problem = replace(SMOOTH(TRIAL), noise=lambda rng: 7.0)
    told = OtherModel(lambda trial: problem, noise_variance=1.02)(TRIAL)
    assert told.pull(3, np.random.default_rng(5)) == problem.expected_reward[3] + 7


def test_the_norm_is_that_under_the_kernel_that_is_told():
    told = OtherModel(SMOOTH, kernel=OTHER["kernel"], norm_of=OTHER["norm_of"])(TRIAL)
    f, points = told.expected_reward, told.model.points
    under = {kernel: np.sqrt(f @ kernel(points, points) @ f) for kernel in (SMOOTH.kernel, OTHER["kernel"])}
    assert told.model.norm == pytest.approx(under[OTHER["kernel"]])
    assert abs(told.model.norm / under[SMOOTH.kernel] - 1) > 0.01  # the test can tell them apart


def test_printed_norm_is_larger_than_the_norm_on_many_arms():
    source = replace(SMOOTH, n_arms=100)
    assert OtherModel(source, norm_of=OTHER["norm_of"])(TRIAL).model.norm > 3 * source(TRIAL).model.norm


def test_a_told_variance_that_is_not_positive_is_named():
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0"):
        OtherModel(SMOOTH, noise_variance=0.0)(TRIAL)


# Sensors

TRAIN = np.array([[0.0, 10.0, 1.0], [2.0, 14.0, 0.0], [4.0, 12.0, -1.0]])  # means 2, 12, 0; sd 2, 2, 1
TEST = np.array([[3.0, 10.0, 0.5], [2.3, 12.2, 0.1]])
COVARIANCE = np.array([[4.0, 2.0, -2.0], [2.0, 4.0, -1.0], [-2.0, -1.0, 1.0]])
CORRELATION = np.array([[1.0, 0.5, -1.0], [0.5, 1.0, -0.5], [-1.0, -0.5, 1.0]])
SENSORS = {  # standardised -> covariance, rewards of the test rows, R^2 by hand
    False: (COVARIANCE, np.array([[1.0, -2.0, 0.5], [0.3, 0.2, 0.1]]), 0.05 * 3),
    True: (CORRELATION, np.array([[0.5, -1.0, 0.5], [0.15, 0.1, 0.1]]), 0.05),
}


@pytest.mark.parametrize("standardised", SENSORS)
def test_sensor_rows_by_hand(standardised):
    K, rewards, noise_variance = SENSORS[standardised]
    source = sensor_rows(TRAIN, TEST, standardised=standardised)
    for number in range(2):
        problem = source(Trial(61, number))
        model = problem.model
        np.testing.assert_allclose(problem.expected_reward, rewards[number], atol=1e-12)
        np.testing.assert_allclose(model.kernel(model.points, model.points), K, atol=1e-12)
        assert model.noise_variance == pytest.approx(noise_variance)
        assert model.noise_scale == pytest.approx(np.sqrt(noise_variance))
        a = np.linalg.solve(K + noise_variance * np.eye(3), rewards[number])
        assert model.norm == pytest.approx(np.sqrt(a @ K @ a))
    with pytest.raises(IndexError, match="there are 2 rows"):
        source(Trial(61, 2))


@pytest.mark.parametrize("kind", problems.NORMS)
def test_the_norm_of_sensor_rows_is_of_the_kind_asked_for(kind):
    K, rewards, noise_variance = SENSORS[False]
    norm = sensor_rows(TRAIN, TEST, kind)(TRIAL).model.norm
    assert norm == pytest.approx(rkhs_norm(rewards[0], K, kind, ridge=noise_variance))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (3,)])
def test_empty_training_data_is_refused(shape):
    with pytest.raises(ValueError, match="train has shape"):
        sensor_rows(np.ones(shape), TEST)


def test_missing_readings_are_named():
    gap = TRAIN.copy()
    gap[1, 0] = np.nan
    with pytest.raises(ValueError, match=r"train\[1, 0\] = nan"):
        sensor_rows(gap, TEST)
    with pytest.raises(ValueError, match=r"rewards\[1, 0\] = nan"):
        sensor_rows(TRAIN, gap)(TRIAL)


def rows_that_tell_a_norm(covariance, noise_variance=0.5, kind="smoothed"):
    norm_of = partial(rkhs_norm, kind=kind, ridge=noise_variance)
    return Rows(covariance, SENSORS[False][1], noise_variance, norm_of=norm_of)


def test_a_covariance_that_is_not_positive_semidefinite_is_refused_before_its_norm():
    bad = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="eigenvalue -1"):
        rows_that_tell_a_norm(bad)(TRIAL)


@pytest.mark.parametrize("noise_variance", [0.0, -1.0, np.nan])
def test_a_noise_variance_that_is_not_positive_is_named(noise_variance):
    with pytest.raises(ValueError, match="ridge = "):
        rows_that_tell_a_norm(COVARIANCE, noise_variance)(TRIAL)
    with pytest.raises(ValueError, match="noise_variance = "):
        rows_that_tell_a_norm(COVARIANCE, noise_variance, kind="one")(TRIAL)


def test_the_consistent_band_covers():
    """60 runs on 30 arms: 1 - delta = 0.9 promised; fewer than 46 would have probability below 1e-3 at 0.9."""
    experiment = Experiment(SMOOTH, {"IGP-UCB": partial(UCB, width=SelfNormalised(0.1))}, 100, record_band=True)
    trace = run_trials(experiment, 60, 62)["IGP-UCB"]
    assert (trace.band_ratio <= 1).all(axis=1).sum() >= 46
    assert trace.band_ratio.max() > 0.1  # and is a band, not everything
