"""Networks: what a pull shows, and what is refused; what their sources promise."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusing import refuses

from kbrepro.bandits.kernels import grid
from kbrepro.bandits.problems import Trial, prior_draws
from kbrepro.papers.gpn_ucb.cascade_ei import SampledCascadeEI
from kbrepro.papers.gpn_ucb.experiments import chosen
from kbrepro.papers.gpn_ucb.measures import (
    OBVIOUS,
    SEVERAL,
    chain_facts,
    find_chains,
    play_few,
    refuted_after,
)
from kbrepro.papers.gpn_ucb.network import NetworkModel, NetworkProblem
from kbrepro.papers.gpn_ucb.policies import GPNUCB
from kbrepro.papers.gpn_ucb.problems import KERNEL, SMALL, DrawnChain, Repeated, exact_chain
from kbrepro.papers.gpn_ucb.sets import FeedForward
from kbrepro.trials.simulation import Experiment, Planned, run_trials


@pytest.mark.parametrize("structure", SMALL)
def test_a_pull_shows_the_outputs_of_all_layers_and_their_inputs_follow(structure):
    problem, arm = SMALL[structure][0](Trial(57, 40)), 37
    model, observation = problem.model, problem.pull(arm, None)
    assert isinstance(observation[-1], float) and observation[-1] == problem.expected_reward[arm]
    assert problem.regret(arm) == problem.expected_reward.max() - observation[-1]
    before = model.points[arm]
    for (z, y), output in zip(model.steps(arm, observation), problem.outputs, strict=True):
        np.testing.assert_array_equal(y, output[arm])
        np.testing.assert_array_equal(z, before)
        before = y


def test_bad_pulls_and_bounds_are_refused():
    model = NetworkModel(grid(30, 1, -2, 2), FeedForward(KERNEL), (1, 1), 1.0, 1.0)
    problem, three = NetworkProblem(model, (model.points, model.points)), (0.0, 0.0, 0.0)
    shapes = r"observation has shapes \[\(1,\), \(1,\), \(1,\)\]"
    refuses(
        (lambda: replace(model, norm_bound=0.0), r"norm_bound = 0\.0 is not"),
        (lambda: problem.pull(30, None), "arm = 30 is not allowed", IndexError),
        (lambda: next(model.steps(-1, (0.0, 0.0))), "arm = -1 is not allowed", IndexError),
        (lambda: next(model.steps(0, three)), shapes),
    )


def test_the_first_layer_of_a_drawn_chain_is_a_draw_from_the_prior():
    trial = Trial(57, 35)
    chain = DrawnChain(6)(trial)
    first = prior_draws(KERNEL, chain.model.points)(trial.rng("function"))
    np.testing.assert_allclose(chain.outputs[0][:, 0], first, atol=1e-12)


@pytest.mark.parametrize(("numbers", "wanted"), [((), (0, 0, 1, 1)), ((7, 3), (7, 7, 3, 3))])
def test_every_chain_is_met_several_times_or_those_that_were_picked(numbers, wanted):
    for place, number in enumerate(wanted):
        met = Repeated(exact_chain(6), 2, numbers)(Trial(5, place))
        wanted_one = exact_chain(6)(Trial(5, number))
        np.testing.assert_array_equal(met.expected_reward, wanted_one.expected_reward)


def test_the_gap_is_to_the_best_value_that_is_far_and_chains_of_a_kind_are_found_in_order():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.5, 0.0], [4.0, 0.0]])
    model = NetworkModel(points, FeedForward(KERNEL), (1,), 2.0, 2.0)
    problem = NetworkProblem(model, (np.array([[3.0], [2.9], [2.0], [-1.0]]),))
    # 1 of 4; the arm at distance 1 does not count
    assert chain_facts(lambda trial: problem, None) == (0.25, 4.0)
    gaps = [chain_facts(DrawnChain(8), Trial(5, n))[0] for n in range(40)]
    for obvious in (True, False):
        right = np.array(gaps) >= OBVIOUS if obvious else np.array(gaps) <= SEVERAL
        wanted = np.flatnonzero(right).tolist()
        assert find_chains(DrawnChain(8), 2, obvious, Trial(5, 0)).tolist() == wanted[:2]
        # too few
        assert find_chains(DrawnChain(8), 99, obvious, Trial(5, 0), most=40).tolist() == wanted


def test_chains_of_norm_2_are_chosen_before_play_and_keep_their_bound():
    """What the first layer shows never refutes B, as it does that of every chain from the prior."""
    every = np.arange(64)
    for chains, refuted in ((exact_chain, False), (DrawnChain, True)):
        for obvious in (True, False):
            numbers = chosen(chains, 8, 3, obvious, 5)
            found = [chains(8)(Trial(5, number)) for number in numbers]
            gaps = [chain_facts(lambda trial, chain=chain: chain, None)[0] for chain in found]
            assert all(gap >= OBVIOUS if obvious else gap <= SEVERAL for gap in gaps)
            assert {chain.model.norm_bound for chain in found} == {2.0}
            assert [refuted_after(chain, every) < np.inf for chain in found] == 3 * [refuted]


def test_a_chain_has_trials_that_differ_by_ties_alone_and_a_rule_may_play_the_first_of_them():
    """Four orders on each of two chains, and the first two of each four."""
    rules = {"GPN-UCB": GPNUCB, "cEI": partial(SampledCascadeEI, samples=20)}
    experiment = Experiment(Repeated(exact_chain(6), 4, (7, 3)), rules, 3)
    whole = run_trials(experiment, 8, 5)
    first = np.transpose([curve.arms[:, 0] for curve in whole.values()])
    np.testing.assert_array_equal(first[:, 0], first[:, 1])  # ties are those of the trial
    assert len(set(first[:4, 0])) > 1 and len(set(first[:, 0])) > 4
    few = Planned(partial(play_few, experiment, 2, 4), 4, 5).play("few")
    for rule, curve in whole.items():
        np.testing.assert_array_equal(few[rule].arms, curve.arms[[0, 1, 4, 5]])
        np.testing.assert_array_equal(few[rule].regret, curve.regret[[0, 1, 4, 5]])
    job = partial(play_few, experiment, 2, 4, begin=1)
    few = Planned(job, 2, 5, first=2).play("few of the second chain")
    for rule, curve in whole.items():
        np.testing.assert_array_equal(few[rule].arms, curve.arms[[5, 6]])
