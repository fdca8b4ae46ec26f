"""Levels of SupKernelUCB: each knows its own samples, which no observation of it moves; none drops the best arm."""

from dataclasses import replace

import numpy as np
from dense import dense_posterior

from kbrepro.kernels import Matern, grid
from kbrepro.papers.side_by_side.elimination import SupKernelUCB
from kbrepro.papers.side_by_side.widths import FixedDesignTighter
from kbrepro.problems import RKHSFunction, Trial

SOURCE = RKHSFunction(Matern(0.2, nu=2.5), grid(24), 1e-3, norm=1.0, n_centres=5)


def climbs(observe=lambda t, reward: reward, horizon=3000, number=0):
    """SupKernelUCB where noise is told to be small, so that it climbs: arms, level of each round, policy, problem."""
    problem = SOURCE(Trial(8, number))
    policy = SupKernelUCB(replace(problem.model, noise_scale=1e-4), horizon, width=FixedDesignTighter(0.1), rng=9)
    arms, level = [], []
    for t in range(1, horizon + 1):
        arms.append(policy.ask())
        level.append(len(policy.levels) if policy.settled is None else 0)
        policy.tell(arms[-1], observe(t, problem.expected_reward[arms[-1]]))
    return np.array(arms), np.array(level), policy, problem


def test_no_observation_of_a_level_moves_its_arms():
    arms, level, policy, _ = climbs()
    assert len(policy.levels) >= 4
    for s in range(1, len(policy.levels) + 1):
        at = np.flatnonzero(level == s)
        if len(at):  # a level may be passed at once
            moved, _, _, _ = climbs(lambda t, reward, first=at[0] + 1: reward + 5 * (t >= first) * np.sin(t))
            np.testing.assert_array_equal(moved[: at[-1] + 1], arms[: at[-1] + 1])


def test_samples_are_kept_at_one_level_or_nowhere():
    """A level has the samples of its rounds, its widths have fallen to 2^-s, and what is settled stays."""
    arms, level, policy, problem = climbs()
    for s, its in enumerate(policy.levels, start=1):
        np.testing.assert_array_equal(its.counts, np.bincount(arms[level == s], minlength=24))
        mine, model = arms[level == s], problem.model
        seen = problem.expected_reward[mine]
        mean, covariance = dense_posterior(model.kernel, model.points, model.noise_variance, mine, seen)
        np.testing.assert_allclose(its.mean, mean, atol=1e-9)
        np.testing.assert_allclose(its.variance, np.diag(covariance), atol=1e-9)
    assert (np.diff(np.flatnonzero(level == 0)) == 1).all() and len(set(arms[level == 0])) == 1


def test_no_level_drops_the_best_arm_while_its_band_holds():
    """Without noise every band holds, and what settles loses at most what the last widths allow."""
    for number in range(8):
        _, level, policy, problem = climbs(number=number)
        f = problem.expected_reward
        for its in policy.levels:
            assert (abs(f - its.mean) <= policy._half * its.sd + 1e-9).all()
        assert policy.left[f.argmax()] and policy.left.sum() < 24
        assert level[-1] == 0 and f.max() - f[policy.settled] <= 2 * policy.least


def test_without_rounds_the_width_counts_arms_and_levels():
    """T = 4^5 has five levels; the bands of all of them hold together as often as they should, after their samples."""
    width, model = FixedDesignTighter(0.1), SOURCE(Trial(8, 0)).model
    assert SupKernelUCB(model, 1024, width=width)._half == width.of(model, 24 * 1024 * 5)
    assert SupKernelUCB(model, 1024, width=width, each_round=False)._half == width.of(model, 24 * 5)
    misses = 0
    for number in range(40):
        problem, rng = SOURCE(Trial(9, number)), np.random.default_rng([11, number])
        policy = SupKernelUCB(problem.model, 1024, width=width, each_round=False)
        for _ in range(1024):
            arm = policy.ask()
            policy.tell(arm, problem.pull(arm, rng))
        f = problem.expected_reward
        misses += any((abs(f - its.mean) > policy._half * its.sd).any() for its in policy.levels)
    assert misses <= 4
