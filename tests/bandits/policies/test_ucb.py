"""What the width is asked, and the band."""

from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro.bandits.kernels import Independent, SquaredExponential, grid
from kbrepro.bandits.policies import UCB, ThompsonSampling
from kbrepro.bandits.problems import Model


@pytest.mark.parametrize("make", [UCB, ThompsonSampling])
def test_a_width_is_asked_once_a_round_and_sees_the_round_and_the_gain_of_the_pulls_before(make):
    rounds, gains = [], []

    def width(policy):
        rounds.append(policy.t)
        gains.append(policy.posterior.gain)
        return 1.0

    policy = make(Model(grid(30), SquaredExponential(0.2), 0.025), 3, width=width)
    for observation in (0.1, 0.2, 0.3):
        policy.tell(policy.ask(), observation)
    assert (rounds, policy.t) == ([1, 2, 3], 4)
    none, some, more = gains
    assert none == 0.0 < some < more < policy.posterior.gain


def test_the_band_ratio_is_the_worst_arm_in_units_of_the_width():
    model = Model(grid(3), Independent(), 0.1)
    policy = UCB(model, 10, width=lambda policy: 2.0 * policy.t)
    policy.posterior = SimpleNamespace(mean=np.array([0.0, 1.0, 0.5]), sd=np.array([2.0, 0.5, 1.0]))
    assert policy.band_ratio(np.array([1.0, 0.0, 0.5])) == pytest.approx(1.0)
    policy.t = 2
    assert policy.band_ratio(np.array([-8.0, 1.0, 0.5])) == pytest.approx(1.0)
