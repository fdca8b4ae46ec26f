"""What is told and what is not: draws from the prior, given rows, functions of known norm, noise,
regret, streams.
"""

from dataclasses import replace

import numpy as np
import pytest
from refusing import refuses

from kbrepro.bandits.kernels import Independent, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import (
    FACTOR_TOLERANCE,
    Gaussian,
    GPDraw,
    Model,
    Problem,
    RKHSFunction,
    Rows,
    Trial,
    Uniform,
    covariance_factor,
    prior_draws,
)

REWARD = np.array([0.3, -1.0, 0.8, 0.79])
COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]])
FIELDS = np.arange(12.0).reshape(4, 3)
TOLD = Model(grid(4), SquaredExponential(0.2), 0.5)


@pytest.fixture
def problem():
    return Problem(TOLD, REWARD)


@pytest.mark.parametrize(
    ("kernel", "points", "rank"),
    [
        (SquaredExponential(0.2), grid(1000), 19),
        (Matern(0.2, nu=2.5), grid(15, 2), None),
        (Independent(3.0), grid(20), 20),
    ],
)
def test_the_factor_gives_the_covariance_back(kernel, points, rank):
    K = kernel(points, points)
    before = K.copy()
    F = covariance_factor(K)
    residual = K - F @ F.T
    assert np.abs(residual).max() <= 10 * FACTOR_TOLERANCE * K.diagonal().max()
    assert F.shape[1] == rank or rank is None
    np.testing.assert_array_equal(K, before)


def test_a_gp_draw_comes_from_the_prior_that_is_told():
    kernel, points, trial = Matern(0.2, nu=2.5), grid(30), Trial(15, 3)
    problem = GPDraw(kernel, points, 0.1)(trial)
    np.testing.assert_array_equal(
        problem.expected_reward, prior_draws(kernel, points)(trial.rng("function"))
    )
    model = problem.model
    assert (model.kernel, model.noise_variance, model.norm) == (kernel, 0.1, None)


def test_regret(problem):
    np.testing.assert_allclose(
        problem.regret(np.array([[0, 1], [2, 3]])), [[0.5, 1.8], [0.0, 0.01]], atol=1e-15
    )


def test_pulling_a_bad_arm_draws_nothing(problem):
    rng = np.random.default_rng(20)
    with pytest.raises(
        IndexError, match="arm = 4 is not allowed: arm must be an integer from 0 to 3"
    ):
        problem.pull(4, rng)
    assert rng.random() == np.random.default_rng(20).random()


@pytest.mark.parametrize("number", [0, 3])
def test_the_row_of_the_trial_is_its_reward(number, monkeypatch):
    monkeypatch.setattr(Trial, "rng", None)  # nothing is drawn
    problem = Rows(COVARIANCE, FIELDS, 0.5, norm_of=lambda row, K: float(row.sum() + K[1, 1]))(
        Trial(21, number)
    )
    np.testing.assert_array_equal(problem.expected_reward, FIELDS[number])
    model = problem.model
    np.testing.assert_array_equal(model.kernel(model.points, model.points), COVARIANCE)
    assert (model.noise_variance, model.norm) == (0.5, FIELDS[number].sum() + 3.0)
    assert Rows(COVARIANCE, FIELDS, 0.5)(Trial(21, number)).model.norm is None


def test_rows_that_are_not_there_or_not_whole_are_refused():
    missing = np.where(FIELDS == 9, np.nan, FIELDS)
    # of data that is not here
    nothing = Rows(np.full((3, 3), np.nan), np.full((4, 3), np.nan), np.nan)
    words = "trial = 4 is not allowed: trial must be one of the 4 rows, 0 to 3"
    refuses(
        (lambda: Rows(COVARIANCE, FIELDS, 0.5)(Trial(0, 4)), words, IndexError),
        (lambda: Rows(COVARIANCE, missing, 0.5)(Trial(0, 0)), r"rewards\[3, 0\] = nan"),
        (lambda: nothing(Trial(0, 0)), "rewards"),
    )


def test_rkhs_functions_have_the_norm_asked_for():
    """With well-conditioned K the squared norm is f^T K^-1 f on any set of arms that holds the
    centres.
    """
    kernel, points = Matern(0.2, nu=0.5), grid(40)
    source = RKHSFunction(kernel, points, 0.1, norm=np.sqrt(3.0), n_centres=7)
    problem = source(Trial(54, 0))
    f, K = problem.expected_reward, kernel(points, points)
    assert f @ np.linalg.solve(K, f) == pytest.approx(3.0, rel=1e-9)
    assert np.count_nonzero(np.abs(np.linalg.solve(K, f)) > 1e-8) == 7
    assert problem.model.norm == source.norm and problem.noise == Uniform(np.sqrt(0.1))
    assert not np.allclose(f, source(Trial(54, 1)).expected_reward)


@pytest.mark.parametrize(("kind", "name"), [(Gaussian, "sd"), (Uniform, "bound")])
def test_the_noise_may_differ_from_what_the_policies_are_told(kind, name):
    def pulled(noise, **told):
        problem = Problem(replace(TOLD, **told), REWARD, noise)
        return problem.pull(2, np.random.default_rng(7))

    for told in ({"noise_variance": 4.0}, {"noise_scale": 3.0}):
        assert pulled(kind(0.5), **told) == pulled(kind(0.5)) != REWARD[2]
    assert pulled(kind(0.0)) == REWARD[2]
    assert Uniform(0.5)(np.random.default_rng(7)) == 0.5 * np.random.default_rng(7).uniform(-1, 1)
    with pytest.raises(ValueError, match=rf"{name} = -1\.0"):
        kind(-1.0)


def test_by_default_the_noise_is_normal_with_the_scale_that_is_told():
    """Which stays where the posterior is told another variance."""
    for model, scale in (
        (replace(TOLD, noise_variance=4.0), np.sqrt(0.5)),
        (replace(TOLD, noise_scale=0.1), 0.1),
    ):
        noise = scale * np.random.default_rng(7).standard_normal()
        assert Problem(model, REWARD).pull(1, np.random.default_rng(7)) == REWARD[1] + noise


# Streams


def test_streams_are_reproducible_and_differ_from_each_other_and_from_a_notebooks_own():
    """Notebooks draw from default_rng(seed) and default_rng([seed, section]) beside their
    trials.
    """
    keys = [
        (seed, number, purpose)
        for seed in (0, 7)
        for number in range(10)
        for purpose in ("function", "run")
    ]
    generators = [Trial(*key).rng(purpose) for *key, purpose in keys for _ in "12"]
    first, *own = [each.random() for each in generators], np.random.default_rng(7).random()
    own += [np.random.default_rng([7, section]).random() for section in range(10)]
    assert first[::2] == first[1::2] and len({*first, *own}) == len(keys) + len({*own})
