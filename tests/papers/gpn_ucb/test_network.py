"""What is told of a network, what is not, and what a pull shows."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem
from kbrepro.papers.gpn_ucb.policies import black_box_ucb
from kbrepro.papers.gpn_ucb.problems import SMALL, RandomNetwork
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial

KERNEL = SquaredExponential(1.0)
LINE = grid(30, 1, -2, 2)


@pytest.mark.parametrize("structure", SMALL)
def test_a_pull_shows_the_outputs_of_all_layers_and_their_inputs_follow(structure):
    problem = SMALL[structure][0](Trial(57, 40))
    model, arm = problem.model, 37
    observation = problem.pull(arm, None)
    assert isinstance(observation[-1], float) and observation[-1] == problem.expected_reward[arm]
    steps = list(model.steps(arm, observation))
    assert len(steps) == model.depth
    for i, (z, y) in enumerate(steps):
        np.testing.assert_array_equal(y, problem.outputs[i][arm])
        before = problem.outputs[i - 1][arm] if i else []
        np.testing.assert_array_equal(z, [*before, *model.own_inputs(i)[arm]])


def test_the_last_columns_of_the_points_are_additional_inputs():
    model = NetworkModel(np.arange(12.0).reshape(2, 6), FeedForward(KERNEL), (2, 1, 1), 1.0, 1.0, extra_dims=(0, 1, 2))
    np.testing.assert_array_equal(model.own_inputs(0), [[0, 1, 2], [6, 7, 8]])
    np.testing.assert_array_equal(model.own_inputs(1), [[3], [9]])
    np.testing.assert_array_equal(model.own_inputs(2), [[4, 5], [10, 11]])


def test_a_black_box_is_told_the_kernel_of_the_first_layer():
    model = RandomNetwork(FeedForward(KERNEL), LINE, (1, 1), norm=1.5)(Trial(57, 41)).model
    of_reward = black_box_ucb(model, 5).policy.model
    assert (of_reward.kernel, of_reward.noise_variance, of_reward.norm) == (KERNEL, 1e-7, 1.5)
    np.testing.assert_array_equal(of_reward.points, LINE)


def test_bad_networks_are_refused():
    model = NetworkModel(LINE, FeedForward(KERNEL), (1, 1), 1.0, 1.0)
    with pytest.raises(ValueError, match=r"lipschitz = 0\.5 is not allowed: lipschitz must be at least 1"):
        replace(model, lipschitz=0.5)
    with pytest.raises(ValueError, match=r"norm_bound = 0\.0 is not allowed"):
        replace(model, norm_bound=0.0)
    with pytest.raises(ValueError, match="the last layer has one output"):
        replace(model, widths=(1, 2))
    with pytest.raises(ValueError, match="one a layer, the first 0"):
        replace(model, extra_dims=(1, 0))
    with pytest.raises(ValueError, match=r"outputs have shapes \[\(30, 1\)\]: they must be \[\(30, 1\), \(30, 1\)\]"):
        NetworkProblem(model, (LINE,))
    with pytest.raises(ValueError, match=r"outputs\[0, 0\] = nan"):
        NetworkProblem(model, (LINE, np.full((30, 1), np.nan)))


def test_bad_pulls_are_refused():
    problem = RandomNetwork(FeedForward(KERNEL), LINE, (1, 1))(Trial(57, 42))
    with pytest.raises(IndexError, match="arm = 30 is not allowed"):
        problem.pull(30, None)
    with pytest.raises(IndexError, match="arm = -1 is not allowed"):
        next(problem.model.steps(-1, (0.0, 0.0)))
    with pytest.raises(ValueError, match=r"observation has shapes \[\(1,\), \(1,\), \(1,\)\]"):
        next(problem.model.steps(0, (0.0, 0.0, 0.0)))
