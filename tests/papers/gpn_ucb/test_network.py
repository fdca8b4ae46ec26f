"""Networks: what is told of them, what a pull shows; what their sources promise, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem
from kbrepro.papers.gpn_ucb.problems import SMALL, DrawnChain, RandomNetwork, Repeated, exact_chain, maximum_gap
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial, draw_from_prior

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


def test_bad_networks_are_refused():
    model = NetworkModel(LINE, FeedForward(KERNEL), (1, 1), 1.0, 1.0)
    bad = {"lipschitz = 0.5 is not": {"lipschitz": 0.5}, "norm_bound = 0.0 is not": {"norm_bound": 0.0}}
    bad |= {"the last layer has one": {"widths": (1, 2)}, "one a layer, the first 0": {"extra_dims": (1, 0)}}
    for told, change in bad.items():
        with pytest.raises(ValueError, match=told):
            replace(model, **change)
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


# Sources


def test_exact_chains_keep_what_they_promise():
    problem = exact_chain(20)(Trial(57, 6))
    assert problem.model.widths == (1, 1, 1) and problem.model.lipschitz == pytest.approx(2.0)
    assert max(np.abs(output).max() for output in problem.outputs) <= 2.0
    loose = replace(exact_chain(20), norm_bound=4.0)(Trial(57, 6))
    np.testing.assert_array_equal(problem.expected_reward, loose.expected_reward)
    assert (loose.model.norm_bound, loose.model.lipschitz) == (4.0, problem.model.lipschitz)


@pytest.mark.parametrize(("numbers", "wanted"), [((), (0, 0, 1, 1)), ((7, 3), (7, 7, 3, 3))])
def test_every_chain_is_met_several_times_or_those_that_were_picked(numbers, wanted):
    picked = Repeated(exact_chain(6), 2, numbers)
    for place, number in enumerate(wanted):
        reward = exact_chain(6)(Trial(5, number)).expected_reward
        np.testing.assert_array_equal(picked(Trial(5, place)).expected_reward, reward)


def test_drawn_chains_are_draws_and_are_told_what_does_not_hold():
    trial = Trial(57, 35)
    problem = DrawnChain(6)(trial)
    model = problem.model
    assert (model.widths, model.norm_bound, model.lipschitz) == ((1, 1, 1), 2.0, 2.0)
    first = draw_from_prior(KERNEL, model.points, trial.rng("function"))
    np.testing.assert_allclose(problem.outputs[0][:, 0], first, atol=1e-12)
    other = DrawnChain(6, norm_bound=4.0, lipschitz=1.0)(trial)
    np.testing.assert_array_equal(other.expected_reward, problem.expected_reward)
    assert (other.model.norm_bound, other.model.lipschitz) == (4.0, 1.0)


def test_layers_of_drawn_chains_have_the_spread_of_the_prior():
    outputs = [DrawnChain(5)(Trial(3, n)).outputs for n in range(200)]
    for layer in range(3):
        assert np.std([its[layer][7, 0] for its in outputs]) == pytest.approx(1.0, abs=0.15)


def test_the_gap_is_to_the_best_value_that_is_far():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.5, 0.0], [4.0, 0.0]])
    model = NetworkModel(points, FeedForward(KERNEL), (1,), 2.0, 2.0)
    problem = NetworkProblem(model, (np.array([[3.0], [2.9], [2.0], [-1.0]]),))
    assert maximum_gap(problem) == pytest.approx(0.25)  # 1 of 4; the arm at distance 1 does not count
