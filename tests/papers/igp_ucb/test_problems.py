"""Functions with known RKHS norm, test functions with published maxima, sensor rows, and words
about bad input.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.optimize import minimize

from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential
from kbrepro.bandits.problems import Trial
from kbrepro.papers.igp_ucb import problems
from kbrepro.papers.igp_ucb.problems import (
    OtherModel,
    PosteriorMean,
    PriorDraw,
    rkhs_norm,
    sensor_rows,
)

SE = SquaredExponential(0.2)
SMOOTH = PosteriorMean(SE, n_arms=30)
TRIAL = Trial(61, 0)


@given(
    st.sampled_from([SE, Matern(0.2, nu=2.5), Linear(0.5)]),
    st.sampled_from([(PosteriorMean, 40, 1e-4), (PriorDraw, 12, 1e-3)]),
    st.integers(0, 1000),
)
@settings(max_examples=30, deadline=None)
def test_a_function_has_the_norm_it_says(kernel, case, number):
    """The least norm of any function through the expected rewards, by eigenvectors; R^2 is 1 % of
    their range.
    """
    source, arms, off = case
    problem = source(kernel, n_arms=arms, d=2)(Trial(61, number))
    values, vectors = eigh(problem.model.kernel(problem.model.points, problem.model.points))
    large = values > 1e-9 * values[-1]
    least = np.sqrt(((vectors[:, large].T @ problem.expected_reward) ** 2 / values[large]).sum())
    assert problem.model.norm == pytest.approx(least, rel=off)
    assert problem.model.noise_variance == pytest.approx(0.01 * np.ptp(problem.expected_reward))


def test_the_posterior_mean_is_that_of_the_draw():
    """By dense algebra: y is the draw of PriorDraw in the same trial, the ridge 1 % of its
    range.
    """
    smooth, rough = SMOOTH(TRIAL), PriorDraw(SE, n_arms=30)(TRIAL)
    K, y = smooth.model.kernel(smooth.model.points, smooth.model.points), rough.expected_reward
    f = K @ np.linalg.inv(K + 0.01 * np.ptp(y) * np.eye(30)) @ y
    np.testing.assert_allclose(smooth.expected_reward, f, atol=1e-9)
    assert replace(SMOOTH, ridge=1.0)(TRIAL).model.norm < smooth.model.norm < rough.model.norm


def test_norms_of_every_kind_by_hand():
    f = np.array([2.0, 3.0, 1.0])
    for kind, least, squared in (
        ("printed", 1e-4, 16 + 9 + 1e-4),
        ("cut-off 1e-3", 1e-4, 4 / 4 + 9),
        ("cut-off 1e-10", 1e-4, 4 / 4 + 9 + 1e4),
        ("cut-off 1e-10", 1e-11, 4 / 4 + 9),
        ("one", 1e-4, 1),
    ):
        assert rkhs_norm(f, np.diag([4.0, 1.0, least]), kind) ** 2 == pytest.approx(squared)
    smoothed = rkhs_norm(f, np.diag([4.0, 1.0, 1e-4]), "smoothed", ridge=1.0)
    assert smoothed**2 == pytest.approx(4 * 0.4**2 + 1.5**2 + 1e-4 / 1.0001**2)
    with pytest.raises(ValueError, match="kind = 'exact'"):
        rkhs_norm(f, np.eye(3), "exact")


def test_hartmann_has_its_published_maximum_and_rosenbrock_its_corner():
    """x* = (0.114614, 0.555649, 0.852547), value 3.86278, by an optimiser from many starts."""

    def best(start):
        least = minimize(
            lambda x: -problems.hartmann3(x[None])[0], start, bounds=[(0, 1)] * 3, tol=1e-12
        )
        return least.x, -least.fun

    rng = np.random.default_rng(71)
    x, value = max(map(best, rng.uniform(size=(20, 3))), key=lambda pair: pair[1])
    assert value == pytest.approx(3.86278, abs=1e-5)
    assert x == pytest.approx([0.114614, 0.555649, 0.852547], abs=1e-3)
    corners = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.25]])
    assert problems.rosenbrock(corners) == pytest.approx([10.0, -91.0, -90.0, 9.75])


def test_functions_on_random_arms():
    source = problems.OnRandomArms(SE, 50, 2, function=problems.rosenbrock)
    raw, standardised = source(TRIAL), replace(source, standardise=True)(TRIAL).expected_reward
    points = raw.model.points
    np.testing.assert_array_equal(raw.expected_reward, problems.rosenbrock(points))
    assert points.shape == (50, 2) and np.ptp(points, axis=0) == pytest.approx(1, abs=0.15)
    assert (standardised.mean(), standardised.std()) == pytest.approx((0, 1), abs=1e-12)
    assert raw.model.norm is None  # the kernel knows nothing of these functions


OTHER = {
    "kernel": Matern(0.3, nu=1.5),
    "noise_variance": 1.02,
    "norm_of": partial(rkhs_norm, kind="printed"),
}


@pytest.mark.parametrize(
    "given", [("kernel",), ("noise_variance",), ("norm_of",), tuple(OTHER)], ids=str
)
def test_other_model_changes_what_it_is_given_and_nothing_else(given):
    """The norm is that under the kernel that policies are given."""
    plain = SMOOTH(TRIAL)
    other = OtherModel(SMOOTH, **{name: OTHER[name] for name in given})(TRIAL)
    changed = {name: OTHER[name] for name in given if name != "norm_of"}
    if "norm_of" in given:
        points = plain.model.points
        K = (changed.get("kernel") or SE)(points, points)
        changed["norm"] = pytest.approx(np.sqrt(plain.expected_reward @ K @ plain.expected_reward))
    for name in ("kernel", "noise_variance", "norm", "noise_scale"):
        assert getattr(other.model, name) == changed.get(name, getattr(plain.model, name))
    np.testing.assert_array_equal(other.expected_reward, plain.expected_reward)
    assert other.pull(3, np.random.default_rng(5)) == plain.pull(3, np.random.default_rng(5))


# means 2, 12, 0; sd 2, 2, 1
TRAIN = np.array([[0.0, 10.0, 1.0], [2.0, 14.0, 0.0], [4.0, 12.0, -1.0]])
TEST = np.array([[3.0, 10.0, 0.5], [2.3, 12.2, 0.1]])
COVARIANCE = np.array([[4.0, 2.0, -2.0], [2.0, 4.0, -1.0], [-2.0, -1.0, 1.0]])
CORRELATION = np.array([[1.0, 0.5, -1.0], [0.5, 1.0, -0.5], [-1.0, -0.5, 1.0]])
SENSORS = {  # standardised -> covariance, rewards of the test rows, R^2 by hand
    False: (COVARIANCE, np.array([[1.0, -2.0, 0.5], [0.3, 0.2, 0.1]]), 0.05 * 3),
    True: (CORRELATION, np.array([[0.5, -1.0, 0.5], [0.15, 0.1, 0.1]]), 0.05),
}


@pytest.mark.parametrize("standardised", SENSORS)
@pytest.mark.parametrize("kind", problems.NORMS)
def test_sensor_rows_by_hand(standardised, kind):
    K, rewards, noise_variance = SENSORS[standardised]
    source = sensor_rows(TRAIN, TEST, kind, standardised=standardised)
    for number in range(2):
        problem = source(Trial(61, number))
        model = problem.model
        np.testing.assert_allclose(problem.expected_reward, rewards[number], atol=1e-12)
        np.testing.assert_allclose(model.kernel(model.points, model.points), K, atol=1e-12)
        assert model.noise_variance == pytest.approx(noise_variance)
        norm = rkhs_norm(rewards[number], K, kind, ridge=noise_variance)
        assert model.norm == pytest.approx(norm)
