"""How long exact IGP-UCB and π-GP-UCB take on many arms, as ratios within one run (docs/exact_igp_ucb.md).

Job: Table 1 of Janz et al. (2020), 30^d arms, Matérn 3/2. d = 3: lazy IGP-UCB at the width of 2017 and at the narrow
one proved since, π-GP-UCB, one matrix-vector product a step (extrapolated from 20 of its steps unless --whole), and the
flop of the products at the measured rate of a square matrix product. d = 2: lazy IGP-UCB against one `dsyr` a step,
which must pull the same arms. With --referee the pulls of the d = 3 runs are checked in every round by dense algebra
(needs 7 GB).
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable

import click
import numpy as np
from scipy.linalg import cholesky, solve_triangular
from threadpoolctl import threadpool_limits

from kbrepro.confidence import Improved
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.many_arms import LazyUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.policies import UCB
from kbrepro.policies.base import best_arm
from kbrepro.posterior import CovariancePosterior
from kbrepro.problems import Problem, Told, Trial
from kbrepro.regret import Trace
from kbrepro.simulation import run

WIDTH = Improved(delta=0.1)
#: A width at an information gain.
Width = Callable[[float, Told], float]


def of_2017(gain: float, told: Told) -> float:
    """Return the width of Chowdhury & Gopalan."""
    return WIDTH.at(gain, norm=told.norm, noise_scale=told.noise_scale)


def narrow(gain: float, told: Told) -> float:
    """Return the width of Flynn & Reeb (2024), for any noise variance that the policy is told."""
    return math.sqrt(told.norm**2 + 2 * told.noise_scale**2 / told.noise_variance * (gain + math.log(10)))


class PlainUCB(UCB):
    """UCB with one `dsyr` a step, whatever the horizon."""

    def prior(self, horizon: int) -> CovariancePosterior:
        return CovariancePosterior(self.told.kernel, self.told.points, self.told.noise_variance)


def problem_of(d: int, trial: Trial, noise_variance: float = 1.0) -> Problem:
    """Return the problem of Table 1 in d dimensions."""
    return Bumps(Matern(0.2, nu=1.5), d, side=30, noise_variance=noise_variance, noise_bound=1.0)(trial)


def gemm_rate(n: int = 3000) -> float:
    """Return the flop a second of one square matrix product, the best of three."""
    a, seconds = np.random.default_rng(1).standard_normal((n, n)), []
    for _ in range(3):
        start = time.perf_counter()
        a @ a[::-1]
        seconds.append(time.perf_counter() - start)
    return 2 * n**3 / min(seconds)


def gemv_seconds(horizon: int, n_arms: int, every_step: bool) -> float:
    """Return the seconds of one matrix-vector product V[:t, arm] V[:t] a step, t = 1 .. horizon."""
    V = np.random.default_rng(2).standard_normal((horizon, n_arms))
    rounds = np.arange(1, horizon) if every_step else np.linspace(1, horizon - 1, 20).astype(int)
    start = time.perf_counter()
    for t in rounds:
        V[:t, t % n_arms] @ V[:t]
    return (time.perf_counter() - start) * horizon / len(rounds)


def first_departure(problem: Problem, trace: Trace, rank: np.ndarray, width: Width) -> int | None:
    """Return the first round whose pull is not that of the plain rule given the pulls before it, by dense algebra."""
    told = problem.told
    X = told.points[trace.arms]
    L = cholesky(told.kernel(X, X) + told.noise_variance * np.eye(len(X)), lower=True)
    V = np.concatenate([told.kernel(part, X) for part in np.array_split(told.points, 30)]).T
    V = solve_triangular(L, V, lower=True, overwrite_b=True)
    z = solve_triangular(L, trace.observations, lower=True)
    gains = np.cumsum(np.log(L.diagonal() / math.sqrt(told.noise_variance)))
    mean, variance = np.zeros(told.n_arms), np.ones(told.n_arms)
    for t, arm in enumerate(trace.arms):
        w = width(gains[t - 1] if t else 0.0, told)
        if arm != best_arm(mean + w * np.sqrt(np.maximum(variance, 0)), rank):
            return t
        mean += z[t] * V[t]
        variance -= V[t] ** 2
    return None


def report(label: str, seconds: float, note: str = "") -> None:
    click.echo(f"{label:48s} {seconds:9.2f} s   {note}")


def lazy_in_three(
    width: Width, noise_variance: float, horizon: int, trial: Trial, referee: bool
) -> tuple[float, float]:
    """Play exact IGP-UCB in d = 3; return its seconds and its pulls a block."""
    problem = problem_of(3, trial, noise_variance)
    policy = LazyUCB(problem.told, horizon, width=lambda p: width(p.posterior.gain, p.told))
    trace = run(policy, problem, horizon, trial.rng("run"))
    pulls = horizon / max(policy.posterior.n_blocks, 1)
    del policy
    if referee:
        rank = trial.rng("run").spawn(2)[1].permutation(problem.told.n_arms)
        departure = first_departure(problem, trace, rank, width)
        click.echo(f"d = 3, {width.__name__}: first round that departs from the plain rule: {departure}")
    return trace.seconds.sum(), pulls


def three_dimensions(horizon: int, trial: Trial, whole: bool, referee: bool) -> None:
    """Print the seconds of d = 3 and their ratios."""
    problem, rate = problem_of(3, trial), gemm_rate()
    floor = problem.told.n_arms * horizon**2 / rate
    report(f"d = 3, floor at {rate / 1e9:.0f} Gflop/s", floor)
    grown = horizon ** (3 / (2 * 1.5 + 2 * 3))
    for width, noise_variance, at_most in ((of_2017, 1.0, 2), (narrow, grown, 3)):
        seconds, pulls = lazy_in_three(width, noise_variance, horizon, trial, referee)
        note = f"{seconds / floor:.1f} times the floor (at most {at_most}), {pulls:.1f} pulls a block"
        report(f"d = 3, exact IGP-UCB, {width.__name__} width, lambda {noise_variance:.1f}", seconds, note)
        if width is of_2017:
            old = seconds
    click.echo(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")
    cells = run(PartitionedUCB(problem.told, horizon, delta=0.1, nu=1.5), problem, horizon, trial.rng("run"))
    gemv = gemv_seconds(horizon, problem.told.n_arms, whole)
    report("d = 3, one matrix-vector product a step", gemv, f"{gemv / old:.1f} times as long (at least 5)")
    report("d = 3, π-GP-UCB", cells.seconds.sum(), f"{old / cells.seconds.sum():.0f} times as fast (at least 20)")


def two_dimensions(horizon: int, trial: Trial) -> None:
    """Print the seconds of d = 2 and their ratios."""
    problem = problem_of(2, trial)
    policies = (kind(problem.told, horizon, width=WIDTH) for kind in (PlainUCB, LazyUCB))
    dsyr, lazy = (run(policy, problem, horizon, trial.rng("run")) for policy in policies)
    same = np.array_equal(lazy.arms, dsyr.arms)
    report("d = 2, one dsyr a step", dsyr.seconds.sum())
    report(
        "d = 2, exact IGP-UCB",
        lazy.seconds.sum(),
        f"{lazy.seconds.sum() / dsyr.seconds.sum():.2f} of that (at most 0.5), same: {same}",
    )


@click.command()
@click.option("--horizon", default=10_000, show_default=True, help="rounds")
@click.option("--seed", default=2020, show_default=True, help="of function, noise and ties")
@click.option("--whole/--sampled", default=False, help="time every matrix-vector product, not 20 of them")
@click.option("--referee/--no-referee", default=False, help="check every pull of the d = 3 runs by dense algebra")
def main(horizon: int, seed: int, whole: bool, referee: bool) -> None:
    """Print seconds and ratios on 900 and 27000 arms."""
    with threadpool_limits(1, user_api="blas"):
        two_dimensions(horizon, Trial(seed, 0))
        three_dimensions(horizon, Trial(seed, 0), whole, referee)


if __name__ == "__main__":
    main()
