"""Whether IGP-UCB on the lattice pulls what the plain rule would, in whole runs of Table 1, d = 3 (docs/many_arms.md).

Every pull of T = 10000 rounds on 27000 arms is checked by dense algebra: takes 7 GB and some minutes a width.
"""

from __future__ import annotations

import click
import numpy as np
from scipy.linalg import cholesky, solve_triangular
from threadpoolctl import threadpool_limits

from benchmarks.many_arms import TRIAL, WIDTHS, problem_of
from kbrepro.confidence import Improved, Tighter
from kbrepro.policies import UCB
from kbrepro.policies.base import best_arm
from kbrepro.posterior import LatticePosterior
from kbrepro.problems import Problem
from kbrepro.simulation import rounds


def first_departure(
    problem: Problem, arms: np.ndarray, observations: np.ndarray, rank: np.ndarray, width: Improved | Tighter
) -> int | None:
    """Return the first round whose pull is not that of the plain rule given the pulls before it, or None."""
    model = problem.model
    X = model.points[arms]
    L = cholesky(model.kernel(X, X) + model.noise_variance * np.eye(len(X)), lower=True)
    V = np.concatenate([model.kernel(part, X) for part in np.array_split(model.points, 30)]).T
    V = solve_triangular(L, V, lower=True, overwrite_b=True)
    z = solve_triangular(L, observations, lower=True)
    gains = np.concatenate([[0.0], np.cumsum(np.log(L.diagonal() / np.sqrt(model.noise_variance)))])
    mean, variance = np.zeros(model.n_arms), model.kernel.diag(model.points).astype(float)
    for t, arm in enumerate(arms):
        if arm != best_arm(mean + width.of(model, gains[t]) * np.sqrt(np.maximum(variance, 0)), rank):
            return t + 1
        mean += z[t] * V[t]
        variance -= V[t] ** 2
    return None


def departure(name: str, side: int, horizon: int) -> int | None:
    """Play d = 3 at one of WIDTHS; return the first round that departs from the plain rule, or None."""
    width, grows = WIDTHS[name]
    problem = problem_of(side, horizon, grows)
    policy = UCB(problem.model, horizon, width=width, form=LatticePosterior)
    items = list(rounds(policy, problem, horizon, TRIAL.rng("run")))
    arms, observations = (np.array(part) for part in list(zip(*items, strict=True))[1:])
    rank = TRIAL.rng("run").spawn(2)[1].permutation(problem.model.n_arms)
    return first_departure(problem, arms, observations, rank, width)


if __name__ == "__main__":
    with threadpool_limits(1, user_api="blas"):
        for name in WIDTHS:
            click.echo(f"{name}: first round that departs from the plain rule: {departure(name, 30, 10_000)}")
