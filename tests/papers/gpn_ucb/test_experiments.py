"""What the notebook on GPN-UCB measures, against brute force and cases made by hand."""

import numpy as np
import pytest
from traces import trace_of

from kbrepro.kernels import grid
from kbrepro.papers.gpn_ucb import experiments
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.policies import composite_path, uniform_design
from kbrepro.papers.gpn_ucb.posterior import NetworkPosterior
from kbrepro.papers.gpn_ucb.problems import FINE, KERNEL, SMALL, DrawnChain, RandomNetwork, exact_chain, maximum_gap
from kbrepro.papers.gpn_ucb.structures import FeedForward
from kbrepro.problems import Trial

SHORT = RandomNetwork(FeedForward(KERNEL), grid(30, 1, -2, 2), (1, 1))


# Chains


@pytest.mark.parametrize("obvious", [True, False])
def test_the_first_chains_of_a_kind_are_found_in_order(obvious):
    gaps = [maximum_gap(DrawnChain(8)(Trial(5, n))) for n in range(100)]
    wanted = [n for n, gap in enumerate(gaps) if (gap >= 0.25 if obvious else gap <= 0.05)]
    assert experiments.find_chains(DrawnChain(8), 3, obvious, Trial(5, 0)).tolist() == wanted[:3]
    assert experiments.find_chains(DrawnChain(8), 99, obvious, Trial(5, 0), most=100).tolist() == wanted  # too few
    problem = DrawnChain(8)(Trial(5, 3))
    assert experiments.chain_facts(DrawnChain(8), Trial(5, 3)) == (gaps[3], problem.reward_range)


def test_regret_is_scaled_by_the_range_of_each_chain():
    its = experiments.scaled({"a": trace_of([[2, 4], [3, 9]])}, np.array([2.0, 3.0]))["a"].regret
    np.testing.assert_array_equal(its, [[1, 2], [1, 3]])


# Sets and bounds


def test_plain_rounding_does_miss_and_the_band_does_not():
    found = [experiments.coverage(*SMALL["chain"], 8, Trial(1, trial)) for trial in range(3)]
    assert sum(its["paper"][0].sum() for its in found) > 100
    assert sum(its["band"].sum() for its in found) == 0


@pytest.mark.parametrize("structure", list(SMALL))
def test_a_layer_of_too_large_a_norm_leaves_the_band(structure):
    problem = SMALL[structure][0](Trial(2, 0))
    for factor, all_inside in ((1.0, True), (30.0, False)):
        outputs = (*problem.outputs[:-1], factor * problem.outputs[-1])
        scaled = NetworkProblem(problem.model, outputs)
        z = [np.zeros((1, 1))] * problem.model.depth
        for i, width in enumerate((0, *problem.model.widths[:-1])):
            z[i] = np.zeros((1, width + problem.model.own_inputs(i).shape[1]))
        posterior = NetworkPosterior(problem.model, z)
        for arm in (5, 20, 50, 80):
            posterior.update(arm, scaled.pull(arm, np.random.default_rng(0)))
        outside = experiments.outside_band(posterior.posteriors, scaled)
        assert (outside == 0) == all_inside


@pytest.mark.parametrize("structure", ["chain", "multi-output, mixed", "feed-forward"])
def test_regret_stays_within_the_bounds(structure):
    network, n_grid = FINE[structure]
    found = experiments.bound_ratios(network, min(n_grid, 401), 12, Trial(3, 0), mode="outward")
    assert 0 < found["step"] <= 1 and 0 < found["total"] <= 1 and found["slack"] > 0
    assert experiments.bound_ratios(network, 21, 3, Trial(3, 0), mode="paper")["slack"] == 0
    if structure == "chain":  # of two layers: ten half steps
        assert found["slack"] == pytest.approx(10 * network.norm / 400 / network(Trial(3, 0)).reward_range)


def test_composed_bounds_are_the_weighted_sum():
    problem = exact_chain(6)(Trial(4, 1))
    sds = [np.full(36, 0.1), np.full(36, 0.2), np.full(36, 0.4)]
    expected = 2.0 * (4 * 0.1 + 2 * 0.2 + 0.4)  # B sum_i L^(m - i) sd_i, B = L = 2
    np.testing.assert_allclose(experiments.composed_bound(problem, sds), expected)
    wide = SMALL["feed-forward"][0](Trial(4, 1))  # two outputs, two outputs, one; B = L = 1
    sds = [np.full(100, 0.1), np.full(100, 0.2), np.full(100, 0.4)]
    np.testing.assert_allclose(experiments.composed_bound(wide, sds), 2 * 0.1 + np.sqrt(2) * 0.2 + 0.4)


def test_composed_errors_are_those_of_the_largest_design_by_hand():
    problem = SHORT(Trial(4, 2))
    design = uniform_design(problem.model.points, 3)
    seen = [problem.pull(arm, np.random.default_rng(0)) for arm in design]
    means, sds = composite_path(problem.model, design, seen, None)
    bound = sds[1] + sds[0]  # B = L = 1
    error = np.abs(problem.expected_reward - means[-1][:, 0])
    found = experiments.composed_errors(SHORT, [3], Trial(4, 2))
    assert found["error"] == pytest.approx((error / bound).max())
    chosen = means[-1][:, 0].argmax()
    assert found["regret"] == pytest.approx(problem.regret(chosen) / (2 * bound.max()))


# Pictures of one interval


def test_what_is_carried_through_the_layers():
    problem, pulls, arm = exact_chain(8)(Trial(4, 3)), [3, 30, 60], 12
    layers, rows = experiments.carried(problem, pulls, arm)
    for frame in layers:  # the envelope is never wider than the bounds
        assert (frame["low"] >= frame["raw_low"] - 1e-9).all() and (frame["high"] <= frame["raw_high"] + 1e-9).all()
    by, sets = rows.set_index(["kind", "layer"]), problem.model.structure.sets(problem.model)
    for pulled in pulls:
        sets.update(pulled, problem.pull(pulled, np.random.default_rng(0)))
    for layer, (low, high) in enumerate(sets.regions(), start=1):
        expected = low[arm, 0], high[arm, 0], problem.outputs[layer - 1][arm, 0]
        assert tuple(by.loc[("grid", layer), ["low", "high", "true"]]) == pytest.approx(expected)
    outward = by.loc["outward"]
    assert ((outward["low"] <= outward["true"]) & (outward["true"] <= outward["high"])).all() and len(rows) == 9
