"""The hard functions of the lower bound: Figure 6, the amplifier, the needle, and what no policy can beat."""

import numpy as np
import pytest
from scipy.special import kv

from kbrepro.kernels import Matern, grid
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.experiments import nonadaptive_regrets
from kbrepro.papers.gpn_ucb.policies import GPNUCB, black_box_ei
from kbrepro.problems import Trial
from kbrepro.simulation import run


@pytest.mark.parametrize(("nu", "printed"), [(1.0, 0.958), (1.5, 0.939), (2.0, 0.934)])
def test_the_three_digits_of_figure_6(nu, printed):
    smallest, largest = needle.slope_range(nu)
    assert round(smallest / largest, 3) == printed
    assert needle.matern_profile(np.array(0.5), 1.0) == pytest.approx(np.sqrt(2) * 0.5 * kv(1, np.sqrt(2) * 0.5))


def test_the_amplifier_has_its_norm_and_raises_the_needle():
    kernel, scale = Matern(1.0, nu=1.5), needle.amplifier_scale(1.5)
    centres, weights = np.array([[0.5], [-0.5]]), np.array([scale / 2, -scale / 2])
    assert np.sqrt(weights @ kernel(centres, centres) @ weights) == pytest.approx(5.0)
    z = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(needle.amplifier(z, 1.5), kernel(z[:, None], centres) @ weights, atol=1e-12)
    source = needle.Needles(4, 0.15, depth=3, nu=1.5)
    problem = source(Trial(1, 7))
    assert problem.expected_reward.max() == pytest.approx(0.3)
    assert np.sum(problem.expected_reward > 1e-9) <= 9
    assert 0 < source.first_norm() <= 5
    with pytest.raises(ValueError, match="different signs"):  # too high for the later layers
        needle.Needles(4, 4.5, depth=2, nu=1.5).low  # noqa: B018
    with pytest.raises(IndexError, match="trial = 16 is not allowed: there are 16 needles, 0 to 15"):
        source(Trial(1, 16))


def test_the_norm_of_the_bump_is_that_of_interpolants_in_the_limit():
    """Interpolants have the smallest norm: with more points it rises to that of the bump, never above."""
    for nu, radius in ((1.5, 0.3), (2.0, 0.3)):
        norms = []
        for side in (9, 17, 33):
            points = grid(side, 2, -2 * radius, 2 * radius)
            y = needle.bump(np.linalg.norm(points, axis=1) / radius)
            K = needle.AnyMatern(nu)(points, points) + 1e-12 * np.eye(len(points))
            norms.append(float(np.sqrt(y @ np.linalg.solve(K, y))))
        assert norms[0] < norms[1] < norms[2] < needle.bump_norm(radius, nu) < 1.5 * norms[2]


def test_the_needle_of_nu_2_exceeds_the_norm_and_a_lower_one_does_not():
    norms = {epsilon: needle.Needles(10, epsilon, depth=3, nu=2.0).first_norm() for epsilon in (0.0177, 0.018)}
    assert norms[0.0177] <= needle.NORM < norms[0.018]


def test_c_is_at_least_what_both_slopes_allow():
    """At nu = 2 the needle is flatter than the layers; at nu = 1/2 it is the steeper, and c small."""
    assert needle.least_c(2.0, 1.0) == pytest.approx(np.divide(*needle.slope_range(2.0)))
    assert needle.least_c(0.5, 1.0) < 0.1 * np.divide(*needle.slope_range(0.5))


def least(nu, s):
    return 1 - needle.least_c(nu, s)


def test_the_constant_comes_close_to_1_for_smooth_kernels_at_the_cost_of_the_height(monkeypatch):
    """Remark 3: 1 - c falls like s^(2 (nu - 1)), here s^1, as u and u~ shrink by s; for rough kernels it does not."""
    assert np.log2(least(1.5, 1 / 16) / least(1.5, 1 / 64)) / 2 == pytest.approx(1, abs=0.2)
    assert least(0.75, 1 / 64) > least(0.75, 1.0)
    height = {s: float(needle.amplifier(np.array(needle.REACH * s), 1.5, s)) for s in (1, 1 / 64)}
    assert height[1 / 64] < height[1]
    monkeypatch.setattr(
        needle, "steepest_bump", lambda: 0.0
    )  # without the slope of the needle rough kernels would pass
    assert least(0.75, 1 / 64) < least(0.75, 1.0)


def test_no_policy_beats_the_lower_bound():
    source, M, horizon = needle.Needles(3, 0.15, depth=3, nu=1.5), 9, 3
    trials = [Trial(1, j) for j in range(M)]
    for make in (GPNUCB, black_box_ei):
        found = []
        for trial in trials:
            problem = source(trial)
            found.append(run(make(problem.model, horizon), problem, horizon, trial.rng("run")).regret.min())
        assert np.mean(found) >= 0.15
    assert np.mean([nonadaptive_regrets(source, [1], trial) for trial in trials]) >= 0.15


def test_the_kernel_of_any_smoothness_is_the_closed_form_where_there_is_one():
    X, Z = np.random.default_rng(57).normal(size=(2, 7, 2))
    for nu in (0.5, 1.5, 2.5):
        np.testing.assert_allclose(needle.AnyMatern(nu)(X, Z), Matern(1.0, nu)(X, Z), atol=1e-10)
    np.testing.assert_array_equal(needle.AnyMatern(2.0).diag(X), np.ones(7))
    assert needle.AnyMatern(2.0)(X, X).diagonal() == pytest.approx(np.ones(7))


@pytest.mark.parametrize("nu", [1.0, 1.5, 2.0])
def test_slopes_are_those_of_a_fine_search_and_told(nu):
    source = needle.Needles(4, 0.02, depth=3, nu=nu)
    r = np.linspace(0, source.radius, 100_001)
    slope = np.abs(np.diff(source.low * needle.bump(r / source.radius)) / np.diff(r)).max()
    assert source.needle_slope() == pytest.approx(slope, rel=1e-4)
    z = np.linspace(0, 0.3, 100_001)
    steepest = (np.diff(needle.amplifier(z, nu)) / np.diff(z)).max()
    assert needle.steepest(nu) == pytest.approx(steepest, rel=1e-4)
    assert source(Trial(1, 3)).model.lipschitz >= max(source.needle_slope(), needle.steepest(nu))
    assert source.outside(Trial(1, 3)) == 0


def test_a_reward_outside_the_needle_is_counted(monkeypatch):
    monkeypatch.setattr(needle, "bump", lambda r: 1 / (1 + np.square(r)))
    assert needle.Needles(4, 0.02, depth=2, nu=1.5).outside(Trial(1, 3)) == 12**2 - 9


def test_both_constants_shrink_together():
    z, u, scale = np.array([0.01, 0.05]), 0.25 * 0.5, needle.amplifier_scale(2.0, 0.25)
    wanted = scale / 2 * (needle.matern_profile(z - u, 2.0) - needle.matern_profile(z + u, 2.0))
    np.testing.assert_allclose(needle.amplifier(z, 2.0, 0.25), wanted)
    assert scale == pytest.approx(np.sqrt(2) * 5 / np.sqrt(1 - needle.matern_profile(np.array(0.25), 2.0)))
    assert needle.slope_range(2.0)[0] / needle.slope_range(2.0)[1] < np.divide(*needle.slope_range(2.0, 0.25)) < 1
