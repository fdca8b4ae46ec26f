"""Networks: what a policy is given, what a pull shows; what their sources promise, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.experiments import OBVIOUS, SEVERAL, chain_facts, find_chains
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem
from kbrepro.papers.gpn_ucb.problems import SMALL, DrawnChain, Repeated, exact_chain, maximum_gap
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial, prior_draws

KERNEL = SquaredExponential(1.0)
LINE = grid(30, 1, -2, 2)


@pytest.mark.parametrize("structure", SMALL)
def test_a_pull_shows_the_outputs_of_all_layers_and_their_inputs_follow(structure):
    problem, arm = SMALL[structure][0](Trial(57, 40)), 37
    model, observation = problem.model, problem.pull(37, None)
    assert isinstance(observation[-1], float) and observation[-1] == problem.expected_reward[arm]
    assert problem.regret(arm) == problem.expected_reward.max() - observation[-1]
    before = np.empty(0)
    for i, (z, y) in enumerate(model.steps(arm, observation)):
        np.testing.assert_array_equal(y, problem.outputs[i][arm])
        np.testing.assert_array_equal(z, [*before, *model.own_inputs(i)[arm]])
        before = y
    assert i == model.depth - 1 and max(np.abs(output).max() for output in problem.outputs) <= model.norm_bound


def test_the_last_columns_of_the_points_are_additional_inputs():
    model = NetworkModel(np.arange(12.0).reshape(2, 6), FeedForward(KERNEL), (2, 1, 1), 1.0, 1.0, extra_dims=(0, 1, 2))
    for i, columns in enumerate(([0, 1, 2], [3], [4, 5])):
        np.testing.assert_array_equal(model.own_inputs(i), model.points[:, columns])


def test_bad_networks_and_pulls_are_refused():
    model = NetworkModel(LINE, FeedForward(KERNEL), (1, 1), 1.0, 1.0)
    bad = {"lipschitz = 0.5 is not": {"lipschitz": 0.5}, "norm_bound = 0.0 is not": {"norm_bound": 0.0}}
    bad |= {"the last layer has one": {"widths": (1, 2)}, "one a layer, the first 0": {"extra_dims": (1, 0)}}
    for message, change in bad.items():
        with pytest.raises(ValueError, match=message):
            replace(model, **change)
    with pytest.raises(ValueError, match=r"outputs have shapes \[\(30, 1\)\]: they must be \[\(30, 1\), \(30, 1\)\]"):
        NetworkProblem(model, (LINE,))
    with pytest.raises(ValueError, match=r"outputs\[0, 0\] = nan"):
        NetworkProblem(model, (LINE, np.full((30, 1), np.nan)))
    with pytest.raises(IndexError, match="arm = 30 is not allowed"):
        NetworkProblem(model, (LINE, LINE)).pull(30, None)
    with pytest.raises(IndexError, match="arm = -1 is not allowed"):
        next(model.steps(-1, (0.0, 0.0)))
    with pytest.raises(ValueError, match=r"observation has shapes \[\(1,\), \(1,\), \(1,\)\]"):
        next(model.steps(0, (0.0, 0.0, 0.0)))


# Sources


def test_sources_give_a_policy_the_constants_that_they_are_told_whatever_they_draw():
    trial = Trial(57, 6)
    problem, loose = exact_chain(20)(trial), replace(exact_chain(20), norm_bound=4.0)(trial)
    assert (problem.model.widths, problem.model.norm_bound) == ((1, 1, 1), 2.0) and loose.model.norm_bound == 4.0
    assert problem.model.lipschitz == loose.model.lipschitz == pytest.approx(2.0)
    np.testing.assert_array_equal(problem.expected_reward, loose.expected_reward)
    drawn, other = DrawnChain(6)(trial), DrawnChain(6, norm_bound=4.0, lipschitz=1.0)(trial)
    assert (drawn.model.widths, drawn.model.norm_bound, drawn.model.lipschitz) == ((1, 1, 1), 2.0, 2.0)
    np.testing.assert_array_equal(drawn.expected_reward, other.expected_reward)
    assert (other.model.norm_bound, other.model.lipschitz) == (4.0, 1.0)


def test_drawn_chains_are_draws_from_the_prior():
    first = prior_draws(KERNEL, DrawnChain(6)(Trial(57, 35)).model.points)(Trial(57, 35).rng("function"))
    np.testing.assert_allclose(DrawnChain(6)(Trial(57, 35)).outputs[0][:, 0], first, atol=1e-12)
    outputs = [DrawnChain(5)(Trial(3, n)).outputs for n in range(200)]
    for layer in range(3):
        assert np.std([output[layer][7, 0] for output in outputs]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("numbers", "wanted"), [((), (0, 0, 1, 1)), ((7, 3), (7, 7, 3, 3))])
def test_every_chain_is_met_several_times_or_those_that_were_picked(numbers, wanted):
    picked = Repeated(exact_chain(6), 2, numbers)
    for place, number in enumerate(wanted):
        reward = exact_chain(6)(Trial(5, number)).expected_reward
        np.testing.assert_array_equal(picked(Trial(5, place)).expected_reward, reward)


def test_the_gap_is_to_the_best_value_that_is_far():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.5, 0.0], [4.0, 0.0]])
    model = NetworkModel(points, FeedForward(KERNEL), (1,), 2.0, 2.0)
    problem = NetworkProblem(model, (np.array([[3.0], [2.9], [2.0], [-1.0]]),))
    assert maximum_gap(problem) == pytest.approx(0.25)  # 1 of 4; the arm at distance 1 does not count


@pytest.mark.parametrize("obvious", [True, False])
def test_the_first_chains_of_a_kind_are_found_in_order(obvious):
    gaps = [maximum_gap(DrawnChain(8)(Trial(5, n))) for n in range(100)]
    wanted = [n for n, gap in enumerate(gaps) if (gap >= OBVIOUS if obvious else gap <= SEVERAL)]
    assert find_chains(DrawnChain(8), 3, obvious, Trial(5, 0)).tolist() == wanted[:3]
    assert find_chains(DrawnChain(8), 99, obvious, Trial(5, 0), most=100).tolist() == wanted  # too few
    assert chain_facts(DrawnChain(8), Trial(5, 3)) == (gaps[3], DrawnChain(8)(Trial(5, 3)).reward_range)
