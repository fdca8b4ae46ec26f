"""Rules near-optimal on paper, against dense solves of their statements in every round."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from dense import dense_posterior
from refusing import refuses

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Model, RKHSFunction, Rows, Trial
from kbrepro.papers.side_by_side import measures
from kbrepro.papers.side_by_side.elimination import BPE, SupKernelUCB
from kbrepro.papers.side_by_side.widths import FixedDesign, FixedDesignTighter
from kbrepro.trials.simulation import Experiment, run


def source(n_arms=24, noise_variance=0.01):
    return RKHSFunction(Matern(0.2, nu=2.5), grid(n_arms), noise_variance, norm=1.0, n_centres=5)


def dense(model, arms, observed):
    """Mean and sd of every arm by one solve."""
    given = model.kernel, model.points, model.noise_variance
    mean, covariance = dense_posterior(*given, arms, observed)
    return mean, np.sqrt(np.maximum(np.diag(covariance), 0))


def first_of(index, among, order):
    index = np.where(among, index, -np.inf)
    tied = np.flatnonzero(index >= index.max() - 1e-10 * (1 + abs(index.max())))
    return int(tied[order[tied].argmin()])


def test_widths_are_their_formulas():
    model = Model(grid(7), SquaredExponential(0.2), 0.25, noise_scale=0.3, norm=2.0)
    noise = 0.3 / 0.5 * math.sqrt(2 * math.log(2 * 14 / 0.1))
    widths = [kind(0.1, scale=0.5).of(model, 14) for kind in (FixedDesign, FixedDesignTighter)]
    assert widths == pytest.approx([(2 + noise) / 2, math.hypot(2, noise) / 2])


def test_bias_and_noise_of_a_fixed_design_add_up_in_squares():
    """b^2 + s^2 <= sd^2: the bias at norm 1 and the root of lambda times the norm of the
    weights.
    """
    model = source()(Trial(0, 0)).model
    K, arms = model.kernel(model.points, model.points), np.array([0, 3, 3, 9, 20])
    W = np.linalg.solve(K[np.ix_(arms, arms)] + model.noise_variance * np.eye(5), K[arms])
    bias = np.diag(K - 2 * W.T @ K[arms] + W.T @ K[np.ix_(arms, arms)] @ W)
    _, sd = dense(model, arms, np.zeros(5))
    np.testing.assert_allclose(bias + model.noise_variance * (W**2).sum(axis=0), sd**2, atol=1e-12)


def slow_bpe(problem, horizon, width, noise_rng, order):
    """Algorithm 1 of Li & Scarlett, a dense solve a round."""
    model, arms, left = problem.model, [], np.ones(problem.model.n_arms, bool)
    counts = []
    plan = {120: [11, 37, 67, 5]}[horizon]  # ceil(sqrt(120 N)), the last cut
    w = width.of(model, model.n_arms * len(plan))
    for length in plan:
        now, seen = [], []
        for _ in range(length):
            _, sd = dense(model, now, seen)
            now.append(first_of(sd**2, left, order))
            seen.append(problem.pull(now[-1], noise_rng))
            counts.append(left.sum())
        mean, sd = dense(model, now, seen)
        left = left & (mean + w * sd >= (mean - w * sd)[left].max())
        arms += now
    return arms, counts


def slow_levels(problem, horizon, width, noise_rng, order):
    """SupKernelUCB as printed: every round starts at level 1, with a dense solve for each level."""
    model, kept, arms, counts = problem.model, {}, [], []
    n_levels = math.ceil(math.log2(horizon) / 2)
    w = width.of(model, model.n_arms * horizon * n_levels)
    for _ in range(horizon):
        left, s = np.ones(model.n_arms, bool), 1
        while True:
            mine = kept.setdefault(s, ([], []))
            mean, sd = dense(model, *mine)
            upper = mean + w * sd
            if (w * sd[left] <= 1 / math.sqrt(horizon)).all():
                arm, mine = first_of(upper, left, order), None
                break
            if (w * sd[left] > 2.0**-s).any():
                arm = first_of(w * sd, left, order)
                break
            left = left & (upper >= upper[left].max() - 2.0 ** (1 - s))
            s += 1
        arms.append(arm)
        counts.append(left.sum())
        y = problem.pull(arm, noise_rng)
        if mine is not None:
            mine[0].append(arm)
            mine[1].append(y)
    return arms, counts


def sensors(trial):
    """Twelve sensors with a given covariance, of different variances, and two twins."""
    rng = np.random.default_rng([21, trial.number])
    factor = rng.standard_normal((10, 4)) * rng.uniform(0.3, 1.0, (10, 1))
    covariance = (factor @ factor.T)[np.ix_([*range(10), 0, 5], [*range(10), 0, 5])]
    rewards = covariance @ rng.standard_normal(12) / 3
    return Rows(covariance, rewards[None], 1e-3, norm_of=lambda f, K: 2.0)(Trial(0, 0))


def drawn_functions(trial):
    return source(noise_variance=(1e-4, 1e-2)[trial.number])(trial)


@pytest.mark.parametrize(("rule", "slow"), [(BPE, slow_bpe), (SupKernelUCB, slow_levels)])
@pytest.mark.parametrize("width", [FixedDesign(0.1), FixedDesignTighter(0.1, scale=0.2)])
@pytest.mark.parametrize("problems", [drawn_functions, sensors])
def test_rules_pull_the_arms_of_their_statement(rule, slow, width, problems):
    for number in range(2):
        problem = problems(Trial(5, number))
        policy = rule(problem.model, 120, width=width, rng=7)
        arms = run(policy, problem, 120, np.random.default_rng(6)).arms
        order = np.random.default_rng(7).permutation(problem.model.n_arms)
        assert arms.tolist() == slow(problem, 120, width, np.random.default_rng(6), order)[0]


@pytest.mark.parametrize(("rule", "slow"), [(BPE, slow_bpe), (SupKernelUCB, slow_levels)])
def test_arms_are_left_as_the_statement_leaves_them(rule, slow):
    width, trial = FixedDesignTighter(0.1, scale=0.2), Trial(5, 1)
    experiment = Experiment(drawn_functions, {"one": partial(rule, width=width)}, 120)
    order = trial.rng("policy").permutation(24)
    _, counts = slow(drawn_functions(trial), 120, width, trial.rng("noise"), order)
    at = [1, 12, 49, 116, 120]
    left = measures.arms_left_at(experiment, at, trial)["one"]
    assert left.tolist() == [counts[t - 1] for t in at] and left[0] == 24 > left[-1]


def test_what_a_rule_cannot_do_without_is_named():
    width, model = FixedDesign(0.1), source()(Trial(0, 0)).model
    without = replace(model, norm=None)
    refuses(
        (lambda: BPE(without, 10, width=width), "norm = None"),
        (lambda: SupKernelUCB(without, 10, width=width), "norm = None"),
        (lambda: SupKernelUCB(model, 10, width=width, unit=0), "unit = 0"),
    )
