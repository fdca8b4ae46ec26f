"""Draws from the prior, sensor fields, noise and regret of the problems."""

import numpy as np
import pytest
from scipy.stats import chi2

from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.problems import (
    FACTOR_TOLERANCE,
    BoundedNoiseProblem,
    Problem,
    covariance_factor,
    draw_from_prior,
    gp_draw,
    rkhs_function,
    sensor_field,
)

REWARD = np.array([0.3, -1.0, 0.8, 0.79])
COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]])
FIELDS = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def problem():
    return Problem(grid(4), REWARD, 0.5, SquaredExponential(0.2))


@pytest.mark.parametrize(
    ("kernel", "arms", "rank"),
    [
        (SquaredExponential(0.2), grid(1000), 19),
        (SquaredExponential(0.2, variance=7.0), grid(50), None),
        (Matern(0.2, nu=2.5), grid(15, 2), None),
        (Linear(), np.random.default_rng(13).standard_normal((60, 4)), 4),
        (Independent(3.0), grid(20), 20),
    ],
)
def test_the_factor_gives_the_covariance_back(kernel, arms, rank):
    K = kernel(arms, arms)
    before = K.copy()
    F = covariance_factor(K)
    residual = K - F @ F.T
    assert np.abs(residual).max() <= 10 * FACTOR_TOLERANCE * K.diagonal().max()
    assert F.shape[1] == rank or rank is None
    np.testing.assert_array_equal(K, before)


def test_draws_have_the_covariance_of_the_prior():
    """Second moments of 20000 draws on 5 arms within 4.5 standard errors: 15 entries, error level 1e-4 in all."""
    kernel, arms, n = SquaredExponential(0.3, variance=2.0), grid(5), 20_000
    rng = np.random.default_rng(14)
    draws = np.array([draw_from_prior(kernel, arms, rng) for _ in range(n)])
    K = kernel(arms, arms)
    error = np.sqrt((np.outer(K.diagonal(), K.diagonal()) + K**2) / n)
    assert (np.abs(draws.T @ draws / n - K) < 4.5 * error).all()
    assert (np.abs(draws.mean(axis=0)) < 4.5 * np.sqrt(K.diagonal() / n)).all()


def test_gp_draw_is_what_the_policies_are_told():
    kernel, arms = Matern(0.2, nu=2.5), grid(30)
    problem = gp_draw(np.random.default_rng(15), 3, kernel, arms, 0.1)
    np.testing.assert_array_equal(problem.expected_reward, draw_from_prior(kernel, arms, np.random.default_rng(15)))
    assert (problem.kernel, problem.noise_variance) == (kernel, 0.1)
    other = gp_draw(np.random.default_rng(16), 3, kernel, arms, 0.1)
    assert not np.allclose(problem.expected_reward, other.expected_reward)


def test_the_noise_has_its_variance_and_mean(problem):
    """Chi-square interval and z-test for 20000 pulls of one arm, error level 1e-4 each."""
    rng, n = np.random.default_rng(17), 20_000
    noise = np.array([problem.pull(2, rng) for _ in range(n)]) - REWARD[2]
    low, high = chi2.ppf([5e-5, 1 - 5e-5], n) / n
    assert low < (noise**2).mean() / 0.5 < high
    assert abs(noise.mean()) < 3.9 * np.sqrt(0.5 / n)


def test_one_pull_is_the_expected_reward_plus_the_next_normal(problem):
    observation = problem.pull(1, np.random.default_rng(18))
    assert observation == pytest.approx(-1.0 + np.sqrt(0.5) * np.random.default_rng(18).standard_normal(), rel=1e-14)
    assert type(observation) is float


def test_regret(problem):
    np.testing.assert_allclose(problem.regret(np.array([0, 1, 2, 3, 2])), [0.5, 1.8, 0.0, 0.01, 0.0], atol=1e-15)
    assert problem.regret(np.array([[0, 2]])).shape == (1, 2)
    rng = np.random.default_rng(19)
    for _ in range(20):
        drawn = gp_draw(rng, 0, SquaredExponential(0.2), grid(40), 0.1)
        regret = drawn.regret(np.arange(40))
        assert regret.min() == 0 == regret[drawn.expected_reward.argmax()]


@pytest.mark.parametrize("arm", [-1, 4, 1.0])
def test_pulling_a_bad_arm_draws_nothing(problem, arm):
    rng = np.random.default_rng(20)
    with pytest.raises(IndexError, match=f"arm = {arm!r} is not allowed: arm must be an integer from 0 to 3"):
        problem.pull(arm, rng)
    assert rng.random() == np.random.default_rng(20).random()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"noise_variance": 0.0},
            r"noise_variance = 0\.0 is not allowed: noise_variance must be a finite number above 0",
        ),
        ({"noise_variance": np.nan}, "noise_variance = nan"),
        ({"expected_reward": np.array([0.0, np.nan, 1.0, 2.0])}, r"expected_reward\[1\] = nan"),
        ({"expected_reward": np.zeros(3)}, r"shapes disagree: arms \(4, 1\), expected_reward \(3,\)"),
        ({"expected_reward": np.zeros((4, 1))}, "shapes disagree"),
        ({"arms": np.zeros(4)}, r"shapes disagree: arms \(4,\)"),
        ({"arms": np.array([[0.0], [np.inf], [1.0], [2.0]])}, r"arms\[1, 0\] = inf"),
    ],
)
def test_bad_problems_are_named(changes, message):
    parts = {"arms": grid(4), "expected_reward": REWARD, "noise_variance": 0.5, "kernel": SquaredExponential(0.2)}
    with pytest.raises(ValueError, match=message):
        Problem(**parts | changes)


@pytest.mark.parametrize("trial", [0, 2, 3])
def test_sensor_field_is_the_row_of_the_trial(trial):
    rng = np.random.default_rng(21)
    problem = sensor_field(rng, trial, COVARIANCE, FIELDS, 0.5)
    np.testing.assert_array_equal(problem.expected_reward, FIELDS[trial])
    np.testing.assert_array_equal(problem.kernel(problem.arms, problem.arms), COVARIANCE)
    assert rng.random() == np.random.default_rng(21).random()  # nothing was drawn


@pytest.mark.parametrize("trial", [-1, 4, 100])
def test_sensor_field_ends_with_its_fields(trial):
    with pytest.raises(IndexError, match=f"trial = {trial} is not allowed: there are 4 fields, 0 to 3"):
        sensor_field(np.random.default_rng(0), trial, COVARIANCE, FIELDS, 0.5)


def test_sensor_field_rejects_fields_of_other_sensors():
    with pytest.raises(ValueError, match="shapes disagree"):
        sensor_field(np.random.default_rng(0), 0, COVARIANCE, FIELDS[:, :2], 0.5)


def test_bounded_noise_is_uniform_within_the_standard_deviation():
    """On [-s, s], s^2 the noise variance of the policies: mean and variance s^2/3 within 4 standard errors."""
    problem = BoundedNoiseProblem(grid(4), REWARD, 0.25, SquaredExponential(0.2))
    rng, n = np.random.default_rng(53), 5000
    noise = np.array([problem.pull(2, rng) for _ in range(n)]) - REWARD[2]
    assert 0.49 < np.abs(noise).max() <= 0.5
    assert abs(noise.mean()) < 4 * np.sqrt(0.25 / 3 / n)
    assert abs((noise**2).mean() - 0.25 / 3) < 4 * 0.25 * np.sqrt(4 / 45 / n)
    with pytest.raises(IndexError, match="arm = 4"):
        problem.pull(4, rng)


def test_rkhs_functions_have_the_norm_asked_for():
    """With well-conditioned K the squared norm is f^T K^-1 f on any set of arms that holds the centres."""
    kernel, arms = Matern(0.2, nu=0.5), grid(40)
    problem = rkhs_function(np.random.default_rng(54), 0, kernel, arms, 0.1, squared_norm=3.0, n_centres=7)
    f = problem.expected_reward
    assert f @ np.linalg.solve(kernel(arms, arms), f) == pytest.approx(3.0, rel=1e-9)
    assert np.count_nonzero(np.abs(np.linalg.solve(kernel(arms, arms), f)) > 1e-8) == 7
    assert isinstance(problem, BoundedNoiseProblem)
    with pytest.raises(ValueError, match="squared_norm = 0"):
        rkhs_function(np.random.default_rng(54), 0, kernel, arms, 0.1, squared_norm=0)


@pytest.mark.parametrize("kind", [Problem, BoundedNoiseProblem])
def test_the_noise_may_differ_from_what_the_policies_are_told(kind):
    rewards = {}
    for noise_variance, noise_sd in ((0.25, None), (0.25, 0.5), (4.0, 0.5), (0.25, 0.0)):
        problem = kind(grid(4), REWARD, noise_variance, SquaredExponential(0.2), noise_sd)
        assert problem.noise_variance == noise_variance
        rewards[noise_variance, noise_sd] = problem.pull(2, np.random.default_rng(7))
    told, same, other, none = rewards.values()
    assert told == same == other != REWARD[2]
    assert none == REWARD[2]


def test_a_negative_noise_scale_is_refused():
    with pytest.raises(ValueError, match=r"noise_sd = -1\.0"):
        Problem(grid(4), REWARD, 0.25, SquaredExponential(0.2), -1.0)


@pytest.mark.parametrize("norm", [0.0, -1.0, np.inf])
def test_a_norm_must_be_positive(norm):
    with pytest.raises(ValueError, match="norm = "):
        Problem(grid(4), REWARD, 0.25, SquaredExponential(0.2), norm=norm)
