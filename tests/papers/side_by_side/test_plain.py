"""Epsilon-greedy explores as often as it says, exploits otherwise; uniform play is uniform."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.side_by_side.plain import EpsilonGreedy, UniformPlay
from kbrepro.policies import MeanOnly
from kbrepro.problems import Gaussian, Model, Problem
from kbrepro.simulation import run

MODEL = Model(grid(40), SquaredExponential(0.2), 0.01)
PROBLEM = Problem(MODEL, np.sin(6 * MODEL.points[:, 0]), Gaussian(0.1))


@pytest.mark.parametrize("first", [0.3, 1.0])
def test_explores_with_the_share_that_it_says(first):
    horizon, explored = 400, 0
    for seed in range(20):
        policy = EpsilonGreedy(MODEL, horizon, first=first, rng=seed)
        for _ in range(horizon):
            arm = policy.ask()
            explored += policy.posterior.mean[arm] < policy.posterior.mean.max() - 1e-9
            policy.tell(arm, float(PROBLEM.expected_reward[arm]))
    shares = np.minimum(1, first * np.arange(1, horizon + 1) ** (-1 / 3)) * 39 / 40  # one arm in 40 is the best itself
    shares[0] = 0  # before the first pull all means are alike
    expected, sd = 20 * shares.sum(), np.sqrt(20 * (shares * (1 - shares)).sum())
    assert abs(explored - expected) < 4 * sd


def test_without_exploring_it_is_the_mean_only_rule():
    rng = [np.random.default_rng(2) for _ in range(2)]
    greedy, plain = EpsilonGreedy(MODEL, 50, first=1e-12), MeanOnly(MODEL, 50)
    np.testing.assert_array_equal(run(greedy, PROBLEM, 50, rng[0]).arms, run(plain, PROBLEM, 50, rng[1]).arms)
    with pytest.raises(ValueError, match="first = 0"):
        EpsilonGreedy(MODEL, 50, first=0)


def test_uniform_play_is_uniform_and_learns_nothing():
    policy = UniformPlay(MODEL, 8000)
    counts = np.bincount(run(policy, PROBLEM, 8000, np.random.default_rng(3)).arms, minlength=40)
    assert ((counts - 200) ** 2 / 200).sum() < 80  # chi-squared, 39 degrees of freedom: above 80 once in 10,000
    assert policy.posterior.counts.sum() == 0
    with pytest.raises(IndexError, match="arm = 40"):
        policy.tell(40, 0.0)
    with pytest.raises(ValueError, match="observation = nan"):
        policy.tell(3, float("nan"))
    assert policy.t == 8001  # a round that was refused is not counted
