"""How well approximate posteriors follow the exact one along a sequence of pulls, and what a step of BKB costs.

Functions for `simulation.map_trials`: every setting stands before the `Trial`.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.sketch import (
    BudgetedPosterior,
    FeaturePosterior,
    NystromPosterior,
    StreamingPosterior,
    nystrom_features,
    quadrature_features,
    random_features,
)
from kbrepro.policies.base import best_arm
from kbrepro.posterior import CovariancePosterior, Posterior, RowPosterior
from kbrepro.problems import GPDraw, Problem, Told, Trial
from kbrepro.simulation import rounds

#: Beyond this many arms an A x A covariance is not timed.
MOST_ARMS_OF_A_COVARIANCE = 2500

#: A band is the mean +- this many standard deviations where its coverage is measured (Calandriello et al., Fig. 1).
BAND = 3.0

Pulls = NDArray[np.int64]
Design = Callable[[np.random.Generator, Array, int], Pulls]


def uniform_pulls(rng: np.random.Generator, points: Array, horizon: int, upto: float = np.inf) -> Pulls:
    """Return pulls (horizon,), uniform among the arms at points (A, d) whose first coordinate is at most `upto`."""
    return rng.choice(np.flatnonzero(points[:, 0] <= upto), horizon)


def shrinking_window(rng: np.random.Generator, points: Array, horizon: int, last: float = 0.05) -> Pulls:
    """Return pulls (horizon,), uniform among the arms nearest a random one; their share falls from 1 to `last`."""
    centre = points[rng.integers(len(points))]
    nearest = np.linalg.norm(points - centre, axis=1).argsort(kind="stable")
    window = np.maximum(len(points) * np.geomspace(1, last, horizon), 1).astype(int)
    return nearest[rng.integers(window)]


class Snapshot(NamedTuple):
    """Mean (A,) and sd (A,) of a posterior, its number of features, and of dictionary members (0 if it has none)."""

    mean: Array
    sd: Array
    n_features: int
    n_members: int


def snapshots(
    source: GPDraw, design: Design, at: list[int], qbars: list[float], n_features: dict[str, list[int]], trial: Trial
) -> tuple[Problem, dict[tuple[str, str, int], Snapshot]]:
    """Return the problem, and the exact and every approximate posterior {(name, setting, t): Snapshot}.

    What Calandriello et al., Fig. 1, shows after t = `at` pulls by `design`. BKB and its streaming form run with every
    qbar; with the dictionary S of BKB at the first qbar: SoR on S, DTC on as many pulls drawn uniformly, RFF and QFF
    with |S| features (made even) and with each of `n_features["RFF"]`, `n_features["QFF"]`.
    """
    problem, rng = source(trial), trial.rng("run")
    told = problem.told
    pulls = design(rng, told.points, max(at))
    observations = [problem.pull(arm, rng) for arm in pulls]
    given = told.kernel, told.points, told.noise_variance
    followers = {("exact", ""): RowPosterior(*given)}
    followers |= {("BKB", f"qbar={q:g}"): BudgetedPosterior(*given, q, rng.spawn(1)[0]) for q in qbars}
    followers |= {("BKB, streaming", f"qbar={q:g}"): StreamingPosterior(*given, q, rng.spawn(1)[0]) for q in qbars}
    seen = {}
    for t, (arm, observation) in enumerate(zip(pulls, observations, strict=True), start=1):
        for follower in followers.values():
            follower.update(arm, observation)
        if t in at:
            rivals = _rivals(told, pulls[:t], followers["BKB", f"qbar={qbars[0]:g}"], n_features, rng)
            for rival in rivals.values():
                for past, reward in zip(pulls[:t], observations, strict=False):
                    rival.update(past, reward)
            seen |= {(*name, t): _snapshot(posterior) for name, posterior in (followers | rivals).items()}
    return problem, seen


def _rivals(
    told: Told, pulls: Pulls, sketch: NystromPosterior, n_features: dict[str, list[int]], rng: np.random.Generator
) -> dict[tuple[str, str], FeaturePosterior]:
    kernel, points = told.kernel, told.points
    n_members, inducing = len(sketch.dictionary), sketch.inducing
    uniform = NystromPosterior(kernel, points, told.noise_variance)
    uniform.use_dictionary(rng.choice(pulls, n_members, replace=False))
    features = {("SoR", ""): nystrom_features(kernel(points[inducing], points), inducing)}
    for name, make in (("RFF", partial(random_features, rng=rng)), ("QFF", quadrature_features)):
        sizes = {"m=|S|": n_members + n_members % 2} | {f"m={m}": m for m in n_features[name]}
        features |= {(name, label): make(kernel, points, m) for label, m in sizes.items()}
    return {("DTC, uniform", ""): uniform} | {n: FeaturePosterior(Z, told.noise_variance) for n, Z in features.items()}


def _snapshot(posterior: Posterior | FeaturePosterior) -> Snapshot:
    n_features = getattr(posterior, "n_features", 0)
    return Snapshot(posterior.mean.copy(), posterior.sd, n_features, len(getattr(posterior, "dictionary", ())))


def starvation(
    source: GPDraw,
    design: Design,
    at: list[int],
    qbars: list[float],
    n_features: dict[str, list[int]],
    unseen_from: float,
    trial: Trial,
) -> dict[tuple[str, str, int], tuple[float, float, float, int, int]]:
    """Return {(name, setting, t): (worst exact / approximate variance, worst inverse, coverage, features, members)}.

    Coverage is the share of the arms whose first coordinate exceeds `unseen_from` with f inside mean +- 3 sd; the other
    settings are those of `snapshots`.
    """
    problem, seen = snapshots(source, design, at, qbars, n_features, trial)
    unseen, found = problem.told.points[:, 0] > unseen_from, {}
    for (name, setting, t), view in seen.items():
        with np.errstate(divide="ignore"):
            log_ratio = 2 * (np.log(seen["exact", "", t].sd) - np.log(view.sd))
        covered = np.abs(problem.expected_reward - view.mean)[unseen] <= BAND * view.sd[unseen]
        worst = np.exp(np.minimum(log_ratio.max(), 500.0)), np.exp(-log_ratio.min())
        found[name, setting, t] = (*worst, covered.mean(), view.n_features, view.n_members)
    return found


def variance_ratios(
    source: GPDraw, design: Design, horizon: int, qbars: list[float], form: type[BudgetedPosterior], trial: Trial
) -> tuple[dict[float, Array], Array, Array]:
    """Return how BKB's variance follows the exact one after each of `horizon` pulls (Calandriello et al., Theorem 1).

    {qbar: (horizon, 4)}: smallest and largest ratio BKB / exact over the arms, dictionary members, distinct ones, of
    the posterior `form`. Then of the exact posterior: the effective dimension (horizon,), and the smallest variance /
    noise_variance of an arm pulled so far (horizon,): from qbar = 1 over it on every pull enters the dictionary.
    """
    rng, given = trial.rng("run"), (source.kernel, source.points, source.noise_variance)
    exact, sketches = RowPosterior(*given), {q: form(*given, q, rng.spawn(1)[0]) for q in qbars}
    found = {q: np.empty((horizon, 4)) for q in qbars}
    dimension, smallest = np.empty(horizon), np.empty(horizon)
    for t, arm in enumerate(design(rng, source.points, horizon)):
        exact.update(arm, 0.0)  # no variance depends on what is observed
        for q, sketch in sketches.items():
            sketch.update(arm, 0.0)
            ratio = sketch.variance / exact.variance
            found[q][t] = ratio.min(), ratio.max(), len(sketch.dictionary), len(sketch.inducing)
        dimension[t] = exact.counts @ exact.variance / source.noise_variance
        smallest[t] = exact.variance[exact.counts > 0].min() / source.noise_variance
    return found, dimension, smallest


def dimension_chain(source: GPDraw, design: Design, horizon: int, trial: Trial) -> Array:
    """Return the four quantities of Calandriello et al., Proposition 5, after each of `horizon` pulls, (horizon, 4).

    Effective dimension, sum of sigma_s^2(x_s) (after the point's own observation, divided by noise_variance),
    log det(K / noise_variance + I), and d_eff (1 + log(|K| / noise_variance + 1)), |K| the spectral norm.
    """
    kernel, points, noise_variance = source.kernel, source.points, source.noise_variance
    posterior, pulls = RowPosterior(kernel, points, noise_variance), design(trial.rng("run"), points, horizon)
    chain, own = np.empty((horizon, 4)), 0.0
    for t, arm in enumerate(pulls):
        posterior.update(arm, 0.0)
        own += posterior.variance[arm] / noise_variance
        X = points[pulls[: t + 1]]
        spectrum = np.maximum(eigvalsh(kernel(X, X)), 0.0) / noise_variance
        dimension = (spectrum / (1 + spectrum)).sum()
        chain[t] = dimension, own, np.log1p(spectrum).sum(), dimension * (1 + np.log1p(spectrum[-1]))
    return chain


def cost_of_steps(
    source: Callable[[Trial], Problem], bkb: Callable[[Told, int], BKB], horizon: int, at: list[int], trial: Trial
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the seconds of every step of `bkb` and of exact GP-UCB on its pulls, and the sizes of its dictionary.

    Both tables have a row for every t = 1 .. horizon. Seconds: `BKB`, `exact, rows` and, for few arms, `exact,
    covariance`; `exact, refit` and `exact, counts` (refit on the distinct arms) after `at` pulls only, otherwise NaN.
    Sizes after t pulls: `members`, `features`, and `distinct` arms pulled. Measure it with nothing else running. Raises
    ValueError unless `at` is a non-empty list of integers of at least 1.
    """
    checks.positive_ints(at=at)
    problem = source(trial)
    told, policy = problem.told, bkb(problem.told, horizon)
    given = told.kernel, told.points, told.noise_variance
    played, sizes, clock = [], [], [time.perf_counter()]
    for _, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        clock.append(time.perf_counter())
        played.append((arm, observation))
        sizes.append(_sizes(policy))
    sizes = [*sizes[1:], _sizes(policy)]
    seconds = {"BKB": np.diff(clock), "exact, rows": _seconds_of_following(RowPosterior(*given), played)}
    if told.n_arms <= MOST_ARMS_OF_A_COVARIANCE:
        seconds["exact, covariance"] = _seconds_of_following(CovariancePosterior(*given), played)
    pulls, observations = (np.array(part) for part in zip(*played, strict=True))
    for name, counted in (("exact, refit", False), ("exact, counts", True)):
        seconds[name] = np.full(horizon, np.nan)
        for t in at:
            refit = partial(refitted, *given, pulls[:t], observations[:t], counted)
            seconds[name][t - 1] = np.median(timeit.repeat(refit, number=1, repeat=3))
    t = pd.RangeIndex(1, horizon + 1, name="t")
    return pd.DataFrame(seconds, t), pd.DataFrame(sizes, t, columns=["members", "features", "distinct"])


def _sizes(policy: BKB) -> tuple[int, int, int]:
    sketch = policy.posterior
    return len(sketch.dictionary), sketch.n_features, np.count_nonzero(sketch.counts)


def _seconds_of_following(posterior: Posterior, played: list[tuple[int, float]]) -> Array:
    """Seconds of every choice and update; a width of 1 stands for any."""
    clock = [time.perf_counter()]
    for arm, observation in played:
        best_arm(posterior.mean + posterior.sd)
        posterior.update(arm, observation)
        clock.append(time.perf_counter())
    return np.diff(clock)


def refitted(
    kernel: Kernel, points: Array, noise_variance: float, pulls: Pulls, observations: Array, counted: bool
) -> tuple[Array, Array]:
    """Return exact mean and variance of all arms, each (A,), from scratch; `counted`: an arm's repeats as one point.

    Points are (A, d), pulls and observations (t,).
    """
    rows, counts = np.unique(pulls, return_counts=True) if counted else (pulls, np.ones(len(pulls)))
    means = np.bincount(pulls, observations, len(points))[rows] / counts if counted else observations
    K = kernel(points[rows], points[rows]) + np.diag(noise_variance / counts)
    L = cholesky(K, lower=True, check_finite=False)
    V = solve_triangular(L, kernel(points[rows], points), lower=True, check_finite=False)
    mean = solve_triangular(L, means, lower=True, check_finite=False) @ V
    return mean, kernel.diag(points) - np.einsum("ij,ij->j", V, V)
