"""Policies on chains: what they start with, find and cannot reach; indices against dense algebra,
samples and sums.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from dense import dense_at
from scipy.stats import norm

from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.policies import (
    GPNUCB,
    CascadeUCB,
    OptimisticImprovement,
    black_box_ei,
    black_box_ucb,
    nonadaptive,
    uniform_design,
    with_own_ties,
)
from kbrepro.papers.gpn_ucb.problems import KERNEL, SMALL, exact_chain
from kbrepro.trials.simulation import run

ARMS = (3, 17, 40, 62, 9)
POLICIES = {
    "GPN-UCB": GPNUCB,
    "cUCB": CascadeUCB,
    "OI": OptimisticImprovement,
    "cEI": partial(SampledCascadeEI, samples=20),
    "cEI, exact": ExactCascadeEI,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
}


def rng(*seed):
    return np.random.default_rng([57, *seed])


def chain(seed):
    return exact_chain(8)(Trial(57, seed))


def after(make, problem, rng=0):
    """A policy that was told of `ARMS`."""
    policy = make(problem.model, 10, rng=rng) if rng else make(problem.model, 10)
    for arm in ARMS:
        policy.tell(arm, problem.pull(arm, None))
    return policy


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
def test_every_policy_starts_at_the_same_random_arm_and_finds_good_ones(make):
    problem, first = chain(21), []
    for s in range(5):
        policy = make(problem.model, 40, rng=rng(s))
        first.append(policy.ask())
    assert first == [int(rng(s).permutation(64).argmin()) for s in range(5)]
    trace = run(make(problem.model, 25, rng=rng(23)), problem, 25, rng(22))
    assert trace.regret.min() <= 0.05 * problem.reward_range
    noise = rng(22)
    rewards = [problem.pull(arm, noise)[-1] for arm in trace.arms]
    np.testing.assert_array_equal(rewards, problem.expected_reward[trace.arms])
    kept, whole = pickle.dumps(after(make, problem)), pickle.dumps(problem)
    for output in problem.outputs:  # no policy can reach the outputs
        assert output.tobytes() in whole and output.tobytes() not in kept


def test_cascade_ucb_and_oi_are_the_recursion_on_dense_posteriors():
    problem, arms = chain(25), list(ARMS)
    z, spread, inputs = problem.model.points, 0.0, problem.model.points[arms]
    for output in problem.outputs:
        mean, variance = dense_at(KERNEL, inputs, output[arms], z, 1e-7)
        spread = np.sqrt(np.maximum(variance, 0)) + 2.0 * spread
        z, inputs = mean, output[arms]
    upper, lower = z[:, 0] + 2.0 * spread, z[:, 0] - 2.0 * spread
    np.testing.assert_allclose(after(CascadeUCB, problem).index(), upper, atol=1e-4)
    for b in (0.7, 50.0):  # the first of two numbers, and the second
        expected = np.maximum(upper - lower.max(), b / (1 + np.log(5)) * spread)
        found = after(partial(OptimisticImprovement, b=b), problem).index()
        np.testing.assert_allclose(found, expected, atol=2e-4 * b)
    fresh = OptimisticImprovement(problem.model, 10, b=50.0)
    np.testing.assert_allclose(fresh.index(), 50.0 * 7)  # eta_0 = eta_1 = b; 1 + 2 + 4


def test_a_black_box_sees_the_reward_alone():
    problem = chain(25)
    policy, at = after(black_box_ucb, problem).policy, list(ARMS)
    given = policy.model
    assert (given.kernel, given.noise_variance, given.known_norm) == (KERNEL, 1e-7, 2.0)
    np.testing.assert_allclose(policy.posterior.mean[at], problem.expected_reward[at], atol=1e-4)
    np.testing.assert_array_equal(policy.index(), policy.posterior.mean + 2.0 * policy.posterior.sd)
    assert after(black_box_ei, problem).policy.incumbent == "noisy_reward"
    with pytest.raises(ValueError, match="is not allowed: every layer must have one output"):
        CascadeUCB(SMALL["multi-output"][0](Trial(57, 20)).model)


def test_nonadaptive_sampling_is_the_dense_composition_and_finds_the_maximum_of_what_it_sees():
    problem = chain(33)
    design = uniform_design(problem.model.points, 3)
    # the nearest to -10/3, 0 (or its neighbour) and 10/3, in both coordinates
    x = np.linspace(-5, 5, 8)
    places = [np.abs(x - c).argmin() for c in (-10 / 3, 0.0, 10 / 3)]
    assert sorted(design) == sorted(8 * i + j for i in places for j in places)
    z, inputs = problem.model.points, problem.model.points[design]
    mean, sds = nonadaptive(problem, 3)
    for output, sd in zip(problem.outputs, sds, strict=True):
        z, variance = dense_at(KERNEL, inputs, output[design], z, 1e-7)
        np.testing.assert_allclose(sd**2, np.maximum(variance, 0), atol=1e-6)
        inputs = output[design]
    np.testing.assert_allclose(mean, z[:, 0], atol=1e-4)
    assert len(set(uniform_design(problem.model.points, 8))) == 64
    assert problem.regret(nonadaptive(problem, 8)[0].argmax()) <= 1e-3


def test_the_quadrature_is_the_brute_force_sum_also_where_values_dip_and_the_mean_of_samples():
    """Nodes far closer than any feature of the integrands, values of the last layer from a table
    1000 times as fine.
    """
    problem, pulled = chain(26), slice(len(ARMS))
    exact, sampled = (
        after(ExactCascadeEI, problem),
        after(partial(SampledCascadeEI, samples=10_000), problem, rng(28)),
    )
    nodes = np.arange(-6, 6.01, 0.04)
    weights = np.exp(-0.5 * nodes**2) / np.exp(-0.5 * nodes**2).sum()
    fine, arms, expected = np.linspace(-5, 5, 1_000_001), [*ARMS, *range(0, 64, 9)], []
    mean, sd = exact.posterior.at(2, fine)
    z = (mean - problem.expected_reward[[*ARMS]].max()) / sd
    last = sd * (norm.pdf(z) + z * norm.cdf(z))
    for mean, sd in zip(*(column[arms] for column in exact.posterior.first()), strict=True):
        means, sds = exact.posterior.at(1, mean + sd * nodes)
        expected.append(
            weights @ np.interp(means[:, None] + sds[:, None] * nodes, fine, last) @ weights
        )
    expected, computed = np.array(expected), exact.expected_improvement()
    np.testing.assert_allclose(computed[arms], expected, rtol=0.01, atol=1e-3 * expected.max())
    assert expected[pulled].max() < 0.01 * expected.max()  # the dips
    np.testing.assert_allclose(computed[arms][pulled], expected[pulled], rtol=0.01, atol=1e-9)
    error = np.sqrt(4 * computed / 10_000)  # at most: no gain exceeds 4
    assert (np.abs(sampled.expected_improvement() - computed) <= 5 * error + 1e-4).all()


def test_a_rule_with_own_ties_is_the_rule_with_another_order_by_its_key():
    problem, orders = exact_chain(20)(Trial(3, 0)), []
    for key in (1, 2):
        make = partial(with_own_ties, rule=CascadeUCB, key=key)
        arms = run(
            make(problem.model, 4, rng=Trial(3, 0).rng("policy")),
            problem,
            4,
            Trial(3, 0).rng("noise"),
        ).arms
        own = np.random.default_rng([key, Trial(3, 0).rng("policy").integers(2**63)])
        alike = CascadeUCB(problem.model, 4, rng=own)
        np.testing.assert_array_equal(arms, run(alike, problem, 4, Trial(3, 0).rng("noise")).arms)
        orders.append(arms.tolist())
    common = CascadeUCB(problem.model, 4, rng=Trial(3, 0).rng("policy"))
    orders.append(run(common, problem, 4, Trial(3, 0).rng("noise")).arms.tolist())
    assert len({order[0] for order in orders}) == 3
