"""IGP-UCB on the lattice's posterior pulls the arms of the plain rule, at every step.

The plain rule is written twice: as `UCB` on an exact posterior, one pull at a time, and as a referee with nothing in
common with the package, who takes a finished run and finds mean and sd of all arms in all rounds by dense algebra: V =
L^-1 K(pulled, arms) for L the Cholesky factor of K(pulled, pulled) + alpha I; the first t rows give round t + 1. Two
widths: that of 2017 and the `narrow` one proved since, which keeps far more arms within reach of the best.
"""

import math

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular

from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, LatticePosterior, RowPosterior
from kbrepro.problems import Trial
from kbrepro.simulation import observations, run

KERNEL = Matern(0.2, nu=1.5)
SEEDS, ALPHAS = range(5), (0.01, 0.1, 1.0)


def cases(*quick):
    """All seeds with all alphas, of which only the `quick` ones are not marked slow."""
    every = [(seed, alpha) for seed in SEEDS for alpha in ALPHAS]
    marked = [pytest.param(*case, marks=() if case in quick else pytest.mark.slow) for case in every]
    return pytest.mark.parametrize(("seed", "alpha"), marked)


#: The noise variance that goes with the narrow width, T^(d / (3 + 2 d)) at T = 10000, by d.
GROWN = {2: 10_000 ** (2 / 7), 3: 10_000 ** (1 / 3)}


def problem_of(seed, d, alpha, side=30):
    return Bumps(KERNEL, d=d, side=side, noise_variance=alpha, noise_bound=1.0)(Trial(33, seed))


def of_2017(gain, norm, alpha):
    return norm + math.sqrt(2 * (gain + 1 + math.log(10)))


def narrow(gain, norm, alpha):
    return math.sqrt(norm**2 + 2 / alpha * (gain + math.log(10)))


def asked(width, norm=None):
    """The width as a function of the policy that asks; its norm is the told one if none is given."""
    return lambda policy: width(policy.posterior.gain, norm or policy.model.norm, policy.model.noise_variance)


def played(form, problem, horizon, seed, width=of_2017):
    """The posterior, of this form, after a run of UCB, and its trace."""
    policy = UCB(problem.model, horizon, width=asked(width), form=form)
    return policy.posterior, run(policy, problem, horizon, Trial(34, seed).rng("run"))


def same_as_plain(problem, horizon, seed, width=of_2017):
    exact, plain = played(RowPosterior if horizon < 1500 else CovariancePosterior, problem, horizon, seed, width)
    posterior, trace = played(LatticePosterior, problem, horizon, seed, width)
    np.testing.assert_array_equal(trace.arms, plain.arms)
    np.testing.assert_allclose(posterior.mean, exact.mean, atol=1e-9)
    np.testing.assert_allclose(posterior.sd, exact.sd, atol=1e-9)
    assert posterior.gain == pytest.approx(exact.gain, abs=1e-8)


def matern(integers, side, others=None):
    """Matérn 3/2, lengthscale 0.2, between the points of the unit grid with these integer coordinates."""
    others = integers if others is None else others
    squared = ((integers[:, None, :] - others[None]) ** 2).sum(axis=-1)
    s = np.sqrt(3.0 * squared) / (side - 1) / 0.2
    return (1 + s) * np.exp(-s)


def first_departure(problem, trace, seed, width=of_2017):
    """Return the first round whose pull is not the plain rule's, given the pulls before; None if there is none."""
    places = np.rint(problem.model.points * 29).astype(int)
    pulled, alpha, rank = trace.arms, problem.model.noise_variance, rank_of(problem, seed)
    K = matern(places[pulled], 30)
    L = cholesky(K + alpha * np.eye(len(pulled)), lower=True)
    V = np.concatenate([matern(places[pulled], 30, part) for part in np.array_split(places, 50)], axis=1)
    V = solve_triangular(L, V, lower=True, overwrite_b=True)
    z = solve_triangular(L, observations(problem, pulled, Trial(34, seed).rng("run")), lower=True)
    gain = np.concatenate([[0.0], np.cumsum(np.log(L.diagonal() / math.sqrt(alpha)))])
    mean, variance = np.zeros(len(places)), np.ones(len(places))
    for t, arm in enumerate(pulled):
        index = mean + width(gain[t], problem.model.norm, alpha) * np.sqrt(np.maximum(variance, 0))
        tied = np.flatnonzero(index >= index.max() - 1e-10 * (1 + abs(index.max())))
        if arm != tied[rank[tied].argmin()]:
            return t
        mean += z[t] * V[t]
        variance -= V[t] ** 2
    return None


def rank_of(problem, seed):
    """The order of ties of `run`: the first thing drawn from the policy's stream."""
    return Trial(34, seed).rng("run").spawn(2)[1].permutation(problem.model.n_arms)


@cases((0, 0.1))
def test_in_three_dimensions_every_pull_is_the_plain_rule_s(seed, alpha):
    problem = problem_of(seed, 3, alpha)
    _, trace = played(LatticePosterior, problem, 1500, seed)
    assert len(np.unique(trace.arms)) > 100
    assert first_departure(problem, trace, seed) is None


@pytest.mark.slow
def test_in_three_dimensions_the_plain_policy_pulls_the_same_arms():
    same_as_plain(problem_of(5, 3, 1.0), 700, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_in_three_dimensions_every_pull_is_the_plain_rule_s_at_narrow_widths(seed):
    problem = problem_of(seed, 3, GROWN[3])
    _, trace = played(LatticePosterior, problem, 1500, seed, narrow)
    assert len(np.unique(trace.arms)) > 1000
    assert first_departure(problem, trace, seed, narrow) is None


@pytest.mark.parametrize(("d", "side"), [(2, 30), (3, 12)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])])
def test_at_narrow_widths_the_plain_policy_pulls_the_same_arms(d, side, seed):
    same_as_plain(problem_of(seed, d, GROWN[d], side), 1200, seed, narrow)


@cases((1, 0.01), (2, 1.0))
def test_in_two_dimensions_whole_runs_are_the_plain_policy_s(seed, alpha):
    same_as_plain(problem_of(seed, 2, alpha), 10_000, seed)


def test_the_referee_sees_a_wrong_pull():
    problem = problem_of(0, 2, 1.0)
    _, trace = played(LatticePosterior, problem, 300, 0)
    assert first_departure(problem, trace, 0) is None
    trace.arms[200] = (trace.arms[200] + 1) % 900
    assert first_departure(problem, trace, 0) == 200
