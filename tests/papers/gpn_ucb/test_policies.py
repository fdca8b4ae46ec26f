"""Policies on chains: what they start with, find and cannot reach; GPN-UCB, cUCB and OI against dense algebra."""

import pickle
from functools import partial

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.policies import (
    GPNUCB,
    CascadeUCB,
    OptimisticImprovement,
    black_box_ei,
    black_box_ucb,
    composite_path,
    uniform_design,
)
from kbrepro.papers.gpn_ucb.problems import RandomNetwork, exact_chain, independent_outputs
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput
from kbrepro.problems import Trial
from kbrepro.simulation import observations, run

KERNEL = SquaredExponential(1.0)
LINE = grid(30, 1, -2, 2)
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


def told_of(policy, problem):
    for arm in ARMS:
        policy.tell(arm, problem.pull(arm, rng(0)))
    return policy


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
def test_every_policy_starts_at_the_same_random_arm_and_finds_good_ones(make):
    problem = chain(21)
    for s in range(5):
        policy = make(problem.model, 40)
        policy.rng = rng(s)
        assert policy.ask() == rng(s).permutation(64).argmin()
    trace = run(make(problem.model, 40), problem, 40, rng(22))
    assert trace.regret.min() <= 0.05 * problem.reward_range
    rewards = [layers[-1] for layers in observations(problem, trace.arms, rng(22))]
    np.testing.assert_array_equal(rewards, problem.expected_reward[trace.arms])
    kept = pickle.dumps(told_of(make(problem.model, 40), problem))  # no policy can reach the outputs
    for output in problem.outputs:
        assert output.tobytes() in pickle.dumps(problem)
        assert output.tobytes() not in kept


def test_cascade_ucb_is_the_recursion_on_dense_posteriors(dense):
    problem, arms = chain(25), list(ARMS)
    z, spread, inputs = problem.model.points, 0.0, problem.model.points[arms]
    for output in problem.outputs:
        mean, variance = dense(KERNEL, inputs, output[arms], z, 1e-7)
        spread = np.sqrt(np.maximum(variance, 0)) + 2.0 * spread
        z, inputs = mean, output[arms]
    upper, lower = z[:, 0] + 2.0 * spread, z[:, 0] - 2.0 * spread
    np.testing.assert_allclose(told_of(CascadeUCB(problem.model, 10), problem).index(), upper, atol=1e-4)
    oi = told_of(OptimisticImprovement(problem.model, 10, b=0.7), problem)
    expected = np.maximum(upper - lower.max(), 0.7 / (1 + np.log(5)) * spread)
    np.testing.assert_allclose(oi.index(), expected, atol=1e-4)


def test_a_black_box_sees_the_reward_alone():
    problem = chain(25)
    policy = told_of(black_box_ucb(problem.model, 10), problem).policy
    at, told = list(ARMS), policy.model
    assert (told.kernel, told.noise_variance, told.norm) == (KERNEL, 1e-7, 2.0)
    np.testing.assert_allclose(policy.posterior.mean[at], problem.expected_reward[at], atol=1e-4)
    np.testing.assert_array_equal(policy.index(), policy.posterior.mean + 2.0 * policy.posterior.sd)


def means_of_a_design(problem, per_side, ranges=None):
    design = uniform_design(problem.model.points, per_side)
    means, _ = composite_path(problem.model, design, [problem.pull(arm, rng(34)) for arm in design], ranges)
    return means[-1][:, 0]


def test_nonadaptive_sampling_finds_the_maximum_when_it_sees_everything():
    problem = chain(33)
    assert len(set(uniform_design(problem.model.points, 8))) == 64
    ranges = [(output.min(axis=0), output.max(axis=0)) for output in problem.outputs]
    for known in (None, ranges):
        assert problem.regret(means_of_a_design(problem, 8, known).argmax()) <= 1e-3
    (low,), (high,) = ranges[-1]
    projected = means_of_a_design(problem, 2, ranges)
    assert low <= projected.min() and projected.max() <= high


def test_multi_output_with_the_identity_has_the_composite_means_of_a_feed_forward_network():
    wide = RandomNetwork(FeedForward(KERNEL), LINE, (2, 2, 1))(Trial(57, 20))
    vector = RandomNetwork(MultiOutput(independent_outputs), LINE, (2, 2, 1))(Trial(57, 20))
    told_alike = NetworkProblem(vector.model, wide.outputs)
    means = [means_of_a_design(problem, 6) for problem in (wide, told_alike)]
    np.testing.assert_allclose(*means, atol=1e-6)


def test_the_rivals_take_plain_chains_only():
    wide = RandomNetwork(FeedForward(KERNEL), LINE, (2, 1))(Trial(57, 39))
    with pytest.raises(ValueError, match="rivals take plain chains only"):
        CascadeUCB(wide.model, 5)
