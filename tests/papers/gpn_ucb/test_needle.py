"""The hard functions of the lower bound: Figure 6, the amplifier, the needle, and what no policy can beat."""

import numpy as np
import pytest
from scipy.special import kv

from kbrepro.kernels import Matern
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
    with pytest.raises(ValueError, match=r"epsilon = 4\.5 is not allowed: epsilon must be at most"):
        needle.Needles(4, 4.5, depth=2, nu=1.5)
    with pytest.raises(IndexError, match="trial = 16 is not allowed: there are 16 needles, 0 to 15"):
        source(Trial(1, 16))


def test_no_policy_beats_the_lower_bound():
    source, M, horizon = needle.Needles(3, 0.15, depth=3, nu=1.5), 9, 3
    trials = [Trial(1, j) for j in range(M)]
    for make in (GPNUCB, black_box_ei):
        found = []
        for trial in trials:
            problem = source(trial)
            found.append(run(make(problem.told, horizon), problem, horizon, trial.rng("run")).regret.min())
        assert np.mean(found) >= 0.15
    assert np.mean([nonadaptive_regrets(source, [1], trial) for trial in trials]) >= 0.15
