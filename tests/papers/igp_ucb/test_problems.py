"""Functions with known RKHS norm, test functions with published maxima, sensor rows, and words about bad input."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize

from kbrepro.kernels import Linear, Matern, SquaredExponential
from kbrepro.papers.igp_ucb import problems
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean, PriorDraw, rkhs_norm, sensor_rows
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.problems import Rows, Trial

SE = SquaredExponential(0.2)
SMOOTH = PosteriorMean(SE, n_arms=30)
TRIAL = Trial(61, 0)
SMOOTHED = partial(rkhs_norm, kind="smoothed")

# Functions of the RKHS and of the prior


@pytest.mark.parametrize("kernel", [SE, Matern(0.2, nu=2.5), Linear(0.5)], ids=str)
@pytest.mark.parametrize(("source", "arms", "off"), [(PosteriorMean, 40, 1e-4), (PriorDraw, 12, 1e-3)])
def test_a_function_has_the_norm_it_says(source, arms, off, kernel):
    """The least norm of any function through the expected rewards, by eigenvectors."""
    problem = source(kernel, n_arms=arms, d=2)(TRIAL)
    values, vectors = eigh(problem.model.kernel(problem.model.points, problem.model.points))
    kept = values > 1e-9 * values[-1]
    least = np.sqrt(((vectors[:, kept].T @ problem.expected_reward) ** 2 / values[kept]).sum())
    assert problem.model.norm == pytest.approx(least, rel=off)


def test_the_posterior_mean_is_that_of_the_draw():
    """By dense algebra: y is the draw of PriorDraw in the same trial, the ridge 1 % of its range."""
    smooth, rough = SMOOTH(TRIAL), PriorDraw(SE, n_arms=30)(TRIAL)
    K, y = smooth.model.kernel(smooth.model.points, smooth.model.points), rough.expected_reward
    f = K @ np.linalg.inv(K + 0.01 * np.ptp(y) * np.eye(30)) @ y
    np.testing.assert_allclose(smooth.expected_reward, f, atol=1e-9)
    assert replace(SMOOTH, ridge=1.0)(TRIAL).model.norm < smooth.model.norm < rough.model.norm


@pytest.mark.parametrize("source", [SMOOTH, PriorDraw(Matern(0.2, nu=2.5), n_arms=30)])
def test_noise_is_one_percent_of_the_range_and_trials_differ(source):
    problem, other = source(TRIAL), source(Trial(61, 1))
    assert problem.model.noise_variance == pytest.approx(0.01 * np.ptp(problem.expected_reward))
    assert problem.model.noise_scale == pytest.approx(np.sqrt(problem.model.noise_variance))
    assert not np.allclose(problem.model.points, other.model.points)
    np.testing.assert_array_equal(other.expected_reward, source(Trial(61, 1)).expected_reward)


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


# Test functions


def test_hartmann_has_its_published_maximum_and_rosenbrock_its_corner():
    """x* = (0.114614, 0.555649, 0.852547), value 3.86278, found by an optimiser from many starts."""

    def best(start):
        found = minimize(lambda x: -problems.hartmann3(x[None])[0], start, bounds=[(0, 1)] * 3, tol=1e-12)
        return found.x, -found.fun

    rng = np.random.default_rng(71)
    x, value = max(map(best, rng.uniform(size=(20, 3))), key=lambda pair: pair[1])
    assert value == pytest.approx(3.86278, abs=1e-5)
    assert x == pytest.approx([0.114614, 0.555649, 0.852547], abs=1e-3)
    assert (
        problems.rosenbrock(np.array([[1.0, 1.0]]))[0] == 10.0 > problems.rosenbrock(rng.uniform(size=(1000, 2))).max()
    )
    assert problems.rosenbrock(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.25]])) == pytest.approx([-91.0, -90.0, 9.75])


@pytest.mark.parametrize(("function", "d"), [(problems.rosenbrock, 2), (problems.hartmann3, 3)])
def test_functions_on_random_arms(function, d):
    source = problems.OnRandomArms(SE, 50, d, function=function)
    raw, standardised = source(TRIAL), replace(source, standardise=True)(TRIAL)
    points = raw.model.points
    np.testing.assert_array_equal(raw.expected_reward, function(points))
    assert points.shape == (50, d) and points.min() >= 0 and points.max() <= 1
    assert standardised.expected_reward.mean() == pytest.approx(0, abs=1e-12)
    assert standardised.expected_reward.std() == pytest.approx(1)
    assert raw.model.norm is None  # the kernel knows nothing of these functions
    K = raw.model.kernel(points, points)
    a = np.linalg.solve(K + problems.JITTER * np.eye(50), raw.expected_reward)
    model = OtherModel(source, norm_of=SMOOTHED)(TRIAL).model
    assert model.norm == pytest.approx(np.sqrt(a @ K @ a), rel=1e-6)


# What policies are told instead

OTHER = {"kernel": Matern(0.3, nu=1.5), "noise_variance": 1.02, "norm_of": partial(rkhs_norm, kind="printed")}


@pytest.mark.parametrize("given", [(), ("kernel",), ("noise_variance",), ("norm_of",), tuple(OTHER)], ids=str)
@pytest.mark.parametrize("source", [SMOOTH, problems.OnRandomArms(SE, 30, 2, function=problems.rosenbrock)])
def test_other_model_changes_what_it_is_given_and_nothing_else(source, given):
    plain, its = source(TRIAL), OtherModel(source, **{name: OTHER[name] for name in given})(TRIAL)
    np.testing.assert_array_equal(its.expected_reward, plain.expected_reward)
    np.testing.assert_array_equal(its.model.points, plain.model.points)
    assert its.model.noise_scale == plain.model.noise_scale
    assert its.pull(3, np.random.default_rng(5)) == plain.pull(3, np.random.default_rng(5))
    assert its.model.kernel == (OTHER["kernel"] if "kernel" in given else plain.model.kernel)
    assert its.model.noise_variance == (1.02 if "noise_variance" in given else plain.model.noise_variance)
    assert its.model.norm == plain.model.norm or "norm_of" in given
    noisy = OtherModel(lambda trial: replace(plain, noise=lambda rng: 7.0), noise_variance=1.02)(TRIAL)
    assert noisy.pull(3, np.random.default_rng(5)) == plain.expected_reward[3] + 7


def test_the_norm_is_that_under_the_kernel_that_is_told():
    told = OtherModel(SMOOTH, kernel=OTHER["kernel"], norm_of=OTHER["norm_of"])(TRIAL)
    f, points = told.expected_reward, told.model.points
    under = {kernel: np.sqrt(f @ kernel(points, points) @ f) for kernel in (SE, OTHER["kernel"])}
    assert told.model.norm == pytest.approx(under[OTHER["kernel"]])
    assert abs(told.model.norm / under[SE] - 1) > 0.01  # the test can tell them apart


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
        assert (model.noise_variance, model.noise_scale) == pytest.approx((noise_variance, np.sqrt(noise_variance)))
        a = np.linalg.solve(K + noise_variance * np.eye(3), rewards[number])
        assert model.norm == pytest.approx(np.sqrt(a @ K @ a))
    for kind in problems.NORMS:
        norm = sensor_rows(TRAIN, TEST, kind, standardised=standardised)(TRIAL).model.norm
        assert norm == pytest.approx(rkhs_norm(rewards[0], K, kind, ridge=noise_variance))


GAP = np.where(np.arange(9).reshape(3, 3) == 3, np.nan, TRAIN)
INDEFINITE = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
BAD = {
    "n_arms = 10.0": lambda: replace(SMOOTH, n_arms=10.0)(TRIAL),
    "kind = 'exact'": lambda: rkhs_norm(TEST[0], COVARIANCE, "exact"),
    "ridge = 0": lambda: rkhs_norm(TEST[0], COVARIANCE, "smoothed", ridge=0.0),
    "X has shape (5, 4): it must be (n, 2)": lambda: problems.rosenbrock(np.zeros((5, 4))),
    "X has shape (5, 4): it must be (n, 3)": lambda: problems.hartmann3(np.zeros((5, 4))),
    "noise_variance = 0.0": lambda: OtherModel(SMOOTH, noise_variance=0.0)(TRIAL),
    "train has shape (1, 3)": lambda: sensor_rows(np.ones((1, 3)), TEST),
    "train[1, 0] = nan": lambda: sensor_rows(GAP, TEST),
    "rewards[1, 0] = nan": lambda: sensor_rows(TRAIN, GAP)(TRIAL),
    "eigenvalue -1": lambda: Rows(INDEFINITE, TEST, 0.5, norm_of=SMOOTHED)(TRIAL),  # refused before its norm
    "norm = None": lambda: Original(0.1, float).at(1, None),
    "t = 0": lambda: Original(0.1, float).at(0, 1.0),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_named(words):
    with pytest.raises(ValueError) as raised:
        BAD[words]()
    assert words in str(raised.value)
