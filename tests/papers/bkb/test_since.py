"""mini-GP-UCB: exact after every sequence, patient within the factor C, and GP-UCB where it never stays."""

import numpy as np
import pytest

from kbrepro.confidence import Constant, SelfNormalised
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb.since import CountedPosterior, MiniUCB
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior
from kbrepro.problems import RKHSFunction, Trial
from kbrepro.simulation import rounds, run

KERNEL, POINTS, NOISE = Matern(0.3, nu=2.5), grid(40), 0.04
PROBLEM = RKHSFunction(SquaredExponential(0.2), grid(80), NOISE, norm=2.0)(Trial(1, 0))


def test_repeats_of_an_arm_as_one_row_are_exact():
    one, many = (form(KERNEL, POINTS, NOISE) for form in (CountedPosterior, RowPosterior))
    rng = np.random.default_rng(1)
    for arm, n in ((3, 5), (20, 1), (3, 2), (39, 70)):
        observations = rng.standard_normal(n).tolist()
        one.repeat(arm, observations)
        for observation in observations:
            many.update(arm, observation)
    np.testing.assert_allclose(one.mean, many.mean, atol=1e-10)
    np.testing.assert_allclose(one.variance, many.variance, atol=1e-10)
    np.testing.assert_array_equal(one.counts, many.counts)
    assert one.gain == pytest.approx(many.gain) and len(one._rows()) == 4


def test_with_c_near_1_it_pulls_the_arms_of_gp_ucb():
    mini = MiniUCB(PROBLEM.model, 120, width=SelfNormalised(0.1), squared_c=1 + 1e-9)
    exact = UCB(PROBLEM.model, 120, width=SelfNormalised(0.1))
    traces = [run(policy, PROBLEM, 120, np.random.default_rng(2)) for policy in (mini, exact)]
    np.testing.assert_array_equal(traces[0].arms, traces[1].arms)
    assert mini.choices == 120


@pytest.mark.parametrize("squared_c", [1.21, 2.0])
def test_no_standard_deviation_falls_by_more_than_c_while_it_stays(squared_c):
    """Unless a single pull does; and one pull more would go beyond C at the arm itself."""
    policy = MiniUCB(PROBLEM.model, 300, width=Constant(2.0), squared_c=squared_c)
    followed, before, stays = RowPosterior(PROBLEM.model.kernel, grid(80), NOISE), None, []
    last = (-1, 0)
    for _, arm, observation in rounds(policy, PROBLEM, 300, np.random.default_rng(3)):
        if policy.choices != last[1]:
            before, n, last = followed.variance, 0, (arm, policy.choices)
            np.testing.assert_allclose(policy.posterior.variance, before, atol=1e-9)
        assert arm == last[0]
        followed.update(arm, observation)
        n += 1
        ratio = (before / followed.variance).max()
        assert ratio <= squared_c * (1 + 1e-6) or n == 1
        if not policy._stays or policy._stays == 1:
            stays.append((n, 1 + (n + 1) * before[arm] / NOISE))
    assert policy.choices < 250 and max(n for n, _ in stays) > 3
    ends = [more for n, more in stays if n > 1]
    assert np.quantile(ends, 0.2) > squared_c * 0.9


def test_bad_settings_and_another_arm_are_named():
    with pytest.raises(ValueError, match=r"squared_c = 1.0 is not allowed: squared_c must be above 1"):
        MiniUCB(PROBLEM.model, 10, width=Constant(2.0), squared_c=1.0)
    policy = MiniUCB(PROBLEM.model, 10, width=Constant(2.0), squared_c=2.0)
    with pytest.raises(ValueError, match="arm = 3 is not allowed: mini-GP-UCB asked for"):
        policy.tell(3, 1.0)
    arm = policy.ask()
    with pytest.raises(ValueError, match="observation = nan is not allowed"):
        policy.tell(arm, float("nan"))
