"""Sources of networks: what they promise, and what they do not."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem
from kbrepro.papers.gpn_ucb.problems import KERNEL, DrawnChain, Repeated, exact_chain, maximum_gap
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial, draw_from_prior


def test_exact_chains_keep_what_they_promise():
    problem = exact_chain(20)(Trial(57, 6))
    assert problem.model.widths == (1, 1, 1) and problem.model.lipschitz == pytest.approx(2.0)
    assert max(np.abs(output).max() for output in problem.outputs) <= 2.0


def test_every_chain_is_met_several_times_and_depends_on_seed_and_number_alone():
    chains = Repeated(exact_chain(6), 3)
    same = [chains(Trial(5, t)).expected_reward for t in range(4)]
    np.testing.assert_array_equal(same[0], same[2])
    assert not np.allclose(same[0], same[3])
    assert 0 <= maximum_gap(chains(Trial(5, 0))) <= 1


def test_chains_may_be_picked_by_their_numbers():
    picked = Repeated(exact_chain(6), 2, (7, 3))
    wanted = [exact_chain(6)(Trial(5, number)).expected_reward for number in (7, 7, 3, 3)]
    for number, reward in enumerate(wanted):
        np.testing.assert_array_equal(picked(Trial(5, number)).expected_reward, reward)


def test_another_norm_bound_may_be_told():
    plain, loose = (source(Trial(5, 1)) for source in (exact_chain(6), replace(exact_chain(6), norm_bound=4.0)))
    np.testing.assert_array_equal(plain.expected_reward, loose.expected_reward)
    assert (loose.model.norm_bound, loose.model.lipschitz) == (4.0, plain.model.lipschitz)


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
