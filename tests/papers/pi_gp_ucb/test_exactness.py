"""IGP-UCB on the lattice's posterior pulls the arms of the plain rule, at every step.

The referee has nothing in common with the package. It takes a finished run and finds mean and sd of all arms in all
rounds by dense algebra: V = L^-1 K(pulled, arms) for L the Cholesky factor of K(pulled, pulled) + alpha I; the first t
rows give round t + 1. Two widths: that of 2017 and the narrow one proved since, which keeps far more arms within reach
of the best. In two dimensions whole runs are compared with the plain policy on a covariance.
"""

import math

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular

from kbrepro.confidence import Chowdhury2017, Flynn2024
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, LatticePosterior
from kbrepro.problems import Trial
from kbrepro.simulation import observations, run

WIDTHS = {
    Chowdhury2017: lambda gain, norm, alpha: norm + math.sqrt(2 * (gain + 1 + math.log(10))),
    Flynn2024: lambda gain, norm, alpha: math.sqrt(norm**2 + 2 / alpha * (gain + math.log(10))),
}
#: The noise variance that goes with the narrow width, T^(d / (3 + 2 d)) at T = 10000, by d.
GROWN = {2: 10_000 ** (2 / 7), 3: 10_000 ** (1 / 3)}
slow = pytest.mark.slow


def played(form, seed, d, alpha, horizon, width, side=30):
    """A problem, the posterior of this form after a run of UCB, and the trace."""
    problem = Bumps(Matern(0.2, nu=1.5), d, side, noise_variance=alpha, noise_bound=1.0)(Trial(33, seed))
    policy = UCB(problem.model, horizon, width=width(0.1), form=form)
    return problem, policy.posterior, run(policy, problem, horizon, Trial(34, seed).rng("run"))


def matern(X, Z):
    """Matérn 3/2, lengthscale 0.2, between integer points of the grid of 30 a side."""
    s = np.sqrt(3.0 * ((X[:, None, :] - Z[None]) ** 2).sum(axis=-1)) / 29 / 0.2
    return (1 + s) * np.exp(-s)


def first_departure(problem, trace, seed, width):
    """Return the first round whose pull is not the plain rule's, given the pulls before; None if there is none."""
    places, pulled = np.rint(problem.model.points * 29).astype(int), trace.arms
    alpha, norm = problem.model.noise_variance, problem.model.norm
    rank = Trial(34, seed).rng("run").spawn(2)[1].permutation(len(places))
    L = cholesky(matern(places[pulled], places[pulled]) + alpha * np.eye(len(pulled)), lower=True)
    V = np.concatenate([matern(places[pulled], part) for part in np.array_split(places, 50)], axis=1)
    V = solve_triangular(L, V, lower=True, overwrite_b=True)
    z = solve_triangular(L, observations(problem, pulled, Trial(34, seed).rng("run")), lower=True)
    gain = np.concatenate([[0.0], np.cumsum(np.log(L.diagonal() / math.sqrt(alpha)))])
    mean, variance = np.zeros(len(places)), np.ones(len(places))
    for t, arm in enumerate(pulled):
        index = mean + WIDTHS[width](gain[t], norm, alpha) * np.sqrt(np.maximum(variance, 0))
        tied = np.flatnonzero(index >= index.max() - 1e-10 * (1 + abs(index.max())))
        if arm != tied[rank[tied].argmin()]:
            return t
        mean += z[t] * V[t]
        variance -= V[t] ** 2
    return None


CASES = [pytest.param(seed, 0.1, Chowdhury2017, marks=() if not seed else slow) for seed in range(5)]
CASES += [pytest.param(seed, GROWN[3], Flynn2024, marks=slow) for seed in range(5)]


@pytest.mark.parametrize(("seed", "alpha", "width"), CASES)
def test_in_three_dimensions_every_pull_is_the_plain_rule_s(seed, alpha, width):
    problem, _, trace = played(LatticePosterior, seed, 3, alpha, 1500, width)
    assert len(np.unique(trace.arms)) > (1000 if width is Flynn2024 else 100)
    assert first_departure(problem, trace, seed, width) is None


CASES = [(seed, 2, alpha, 10_000, Chowdhury2017, 30) for seed, alpha in ((1, 0.01), (2, 1.0), (3, 0.1))]
CASES += [(seed, d, GROWN[d], 1200, Flynn2024, side) for seed in (0, 1, 2) for d, side in ((2, 30), (3, 12))]
SHORT = (CASES[0], *CASES[3:5])


@pytest.mark.parametrize("case", [pytest.param(case, marks=() if case in SHORT else slow) for case in CASES], ids=str)
def test_whole_runs_are_the_plain_policy_s(case):
    (_, posterior, trace), (_, exact, plain) = (played(form, *case) for form in (LatticePosterior, CovariancePosterior))
    np.testing.assert_array_equal(trace.arms, plain.arms)
    np.testing.assert_allclose(posterior.mean, exact.mean, atol=1e-9)
    np.testing.assert_allclose(posterior.sd, exact.sd, atol=1e-9)
    assert posterior.gain == pytest.approx(exact.gain, abs=1e-8)


def test_the_referee_sees_a_wrong_pull():
    problem, _, trace = played(LatticePosterior, 0, 2, 1.0, 300, Chowdhury2017)
    assert first_departure(problem, trace, 0, Chowdhury2017) is None
    trace.arms[200] = (trace.arms[200] + 1) % 900
    assert first_departure(problem, trace, 0, Chowdhury2017) == 200
