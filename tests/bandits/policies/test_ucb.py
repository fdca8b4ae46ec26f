"""The indices of the two halves of UCB, what the width is asked, and the band."""

from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro.bandits.kernels import Independent, SquaredExponential, grid
from kbrepro.bandits.policies import UCB, MeanOnly, ThompsonSampling, VarianceOnly
from kbrepro.bandits.problems import Model


def at(make, mean, sd, **settings):
    """The policy with this posterior in the place of its own."""
    policy = make(Model(grid(len(mean)), Independent(), 0.1), 10, **settings)
    policy.posterior = SimpleNamespace(mean=np.array(mean), sd=np.array(sd), variance=np.square(sd))
    return policy


@pytest.mark.parametrize("make", [UCB, ThompsonSampling])
def test_a_width_is_asked_once_a_round_and_sees_the_round_and_the_gain_of_the_pulls_before(make):
    asked = []
    model = Model(grid(30), SquaredExponential(0.2), 0.025)
    policy = make(
        model, 3, width=lambda policy: asked.append((policy.t, policy.posterior.gain)) or 1.0
    )
    for observation in (0.1, 0.2, 0.3):
        policy.tell(policy.ask(), observation)
    (first, none), (second, some), (third, more) = asked
    assert (first, second, third, policy.t) == (1, 2, 3, 4)
    assert none == 0.0 < some < more < policy.posterior.gain


def test_mean_only_and_variance_only():
    state = [0.0, 1.0, 0.5], [2.0, 0.5, 1.0]
    np.testing.assert_array_equal(at(MeanOnly, *state).index(), [0.0, 1.0, 0.5])
    np.testing.assert_array_equal(at(VarianceOnly, *state).index(), [4.0, 0.25, 1.0])
    assert (at(MeanOnly, *state).ask(), at(VarianceOnly, *state).ask()) == (1, 0)


def test_the_band_ratio_is_the_worst_arm_in_units_of_the_width():
    policy = at(UCB, [0.0, 1.0, 0.5], [2.0, 0.5, 1.0], width=lambda policy: 2.0 * policy.t)
    assert policy.band_ratio(np.array([1.0, 0.0, 0.5])) == pytest.approx(1.0)
    policy.t = 2
    assert policy.band_ratio(np.array([-8.0, 1.0, 0.5])) == pytest.approx(1.0)
