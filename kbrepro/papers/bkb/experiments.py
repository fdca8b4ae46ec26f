"""How well approximate posteriors follow the exact one along a sequence of pulls.

Functions of (seed, trial) for `simulation.map_trials`; each trial draws its own function, pulls and noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.bkb.policy import bkb
from kbrepro.papers.bkb.sketch import (
    BudgetedPosterior,
    FeaturePosterior,
    NystromPosterior,
    StreamingPosterior,
    nystrom_features,
    quadrature_features,
    random_features,
)
from kbrepro.policies import UCB
from kbrepro.posterior import CovariancePosterior, Posterior, RowPosterior
from kbrepro.problems import Problem, gp_draw
from kbrepro.simulation import stream

#: Beyond this many arms an A x A covariance is not timed.
MOST_ARMS_OF_A_COVARIANCE = 2500


class StepSeconds(NamedTuple):
    """Seconds per step {method: (horizon,) or NaN where not timed}, and BKB's members, features, distinct arms."""

    seconds: dict[str, Array]
    members: NDArray[np.int64]
    features: NDArray[np.int64]
    distinct: NDArray[np.int64]


def step_seconds(
    seed: int,
    trial: int,
    *,
    problem: Callable[[np.random.Generator, int], Problem],
    horizon: int,
    at: list[int],
    qbar: float,
    norm: float,
    delta: float,
) -> StepSeconds:
    """Return the seconds of every step of BKB, and those of exact GP-UCB on BKB's own pulls.

    `BKB`, `exact, rows` and, for few arms, `exact, covariance` are timed at every step; `exact, refit` and
    `exact, counts` (refit on the distinct arms) after `at` pulls only. Measure it with nothing else running.
    """
    checks.positive_ints(at=at)
    instance, rng = problem(stream(seed, trial, "function"), trial), stream(seed, trial, "run")
    policy = bkb(instance, horizon, qbar=qbar, norm=norm, delta=delta)
    pulls, observations, sizes = np.empty(horizon, dtype=int), np.empty(horizon), np.empty((3, horizon), dtype=int)
    seconds = {"BKB": np.empty(horizon)}
    for t in range(horizon):
        start = time.perf_counter()
        pulls[t] = policy.ask(rng)
        asked = time.perf_counter()
        observations[t] = instance.pull(pulls[t], rng)
        told = time.perf_counter()
        policy.tell(pulls[t], observations[t])
        seconds["BKB"][t] = time.perf_counter() - told + asked - start
        sketch = policy.posterior
        sizes[:, t] = len(sketch.dictionary), sketch.n_features, np.count_nonzero(sketch.counts)
    given = instance.kernel, instance.arms, instance.noise_variance
    seconds["exact, rows"] = _exact_seconds(RowPosterior(*given), pulls, observations)
    if len(instance.arms) <= MOST_ARMS_OF_A_COVARIANCE:
        seconds["exact, covariance"] = _exact_seconds(CovariancePosterior(*given), pulls, observations)
    for name, counted in (("exact, refit", False), ("exact, counts", True)):
        seconds[name] = np.full(horizon, np.nan)
        for t in at:
            seconds[name][t - 1] = _refit_seconds(*given, pulls[:t], observations[:t], counted)
    return StepSeconds(seconds, *sizes)


def _exact_seconds(posterior: Posterior, pulls: NDArray[np.int64], observations: Array) -> Array:
    """Seconds of every update and choice; a width of 1 stands for any."""
    policy, rng, seconds = UCB(posterior, lambda t: 1.0), np.random.default_rng(0), np.empty(len(pulls))
    for t, (arm, observation) in enumerate(zip(pulls, observations, strict=True)):
        start = time.perf_counter()
        policy.ask(rng)
        policy.tell(arm, observation)
        seconds[t] = time.perf_counter() - start
    return seconds


def _refit_seconds(*job) -> float:
    """Median seconds of three refits."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        refitted(*job)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def refitted(
    kernel: Kernel,
    arms: Array,
    noise_variance: float,
    pulls: NDArray[np.int64],
    observations: Array,
    counted: bool,
) -> tuple[Array, Array]:
    """Return exact mean and variance of all arms, each (A,), from scratch; `counted`: an arm's repeats as one point."""
    points, counts = np.unique(pulls, return_counts=True) if counted else (pulls, np.ones(len(pulls)))
    means = np.bincount(pulls, observations, len(arms))[points] / counts if counted else observations
    K = kernel(arms[points], arms[points]) + np.diag(noise_variance / counts)
    L = cholesky(K, lower=True, check_finite=False)
    V = solve_triangular(L, kernel(arms[points], arms), lower=True, check_finite=False)
    mean = solve_triangular(L, means, lower=True, check_finite=False) @ V
    return mean, kernel.diag(arms) - np.einsum("ij,ij->j", V, V)


Design = Callable[[np.random.Generator, Array, int], NDArray[np.int64]]


def uniform_pulls(rng: np.random.Generator, arms: Array, horizon: int, upto: float = np.inf) -> NDArray[np.int64]:
    """Return `horizon` pulls, uniform among the arms whose first coordinate is at most `upto`."""
    return rng.choice(np.flatnonzero(arms[:, 0] <= upto), horizon)


def shrinking_window(rng: np.random.Generator, arms: Array, horizon: int, last: float = 0.05) -> NDArray[np.int64]:
    """Return `horizon` pulls, uniform among the arms nearest a random one; their share falls from 1 to `last`."""
    centre = arms[rng.integers(len(arms))]
    nearest = np.linalg.norm(arms - centre, axis=1).argsort(kind="stable")
    window = np.maximum(len(arms) * np.geomspace(1, last, horizon), 1).astype(int)
    return nearest[rng.integers(window)]


class Snapshot(NamedTuple):
    """Mean (A,) and sd (A,) of a posterior, its number of features, and of dictionary members (0 if it has none)."""

    mean: Array
    sd: Array
    n_features: int
    n_members: int


def snapshots(
    seed: int,
    trial: int,
    *,
    kernel: Kernel,
    arms: Array,
    noise_variance: float,
    design: Design,
    at: list[int],
    qbars: list[float],
    n_features: dict[str, list[int]],
) -> tuple[Problem, NDArray[np.int64], dict[tuple[str, str, int], Snapshot]]:
    """Return problem, pulls, and the exact and every approximate posterior {(name, setting, t): Snapshot}.

    f is a draw from the prior. BKB and its streaming form run with every qbar; with the dictionary S of BKB at the
    first qbar: SoR on S, DTC on as many pulls drawn uniformly, RFF and QFF with |S| features (made even) and with each
    of `n_features["RFF"]`, `n_features["QFF"]`.
    """
    problem = gp_draw(stream(seed, trial, "function"), trial, kernel, arms, noise_variance)
    rng = stream(seed, trial, "run")
    pulls = design(rng, arms, max(at))
    observations = [problem.pull(arm, rng) for arm in pulls]
    settings = kernel, arms, noise_variance
    followers = {("exact", ""): RowPosterior(*settings)}
    followers |= {("BKB", f"qbar={q:g}"): BudgetedPosterior(*settings, q, rng.spawn(1)[0]) for q in qbars}
    followers |= {("BKB, streaming", f"qbar={q:g}"): StreamingPosterior(*settings, q, rng.spawn(1)[0]) for q in qbars}
    seen = {}
    for t, (arm, observation) in enumerate(zip(pulls, observations, strict=True), start=1):
        for follower in followers.values():
            follower.update(arm, observation)
        if t in at:
            rivals = _rivals(settings, pulls[:t], followers["BKB", f"qbar={qbars[0]:g}"], n_features, rng)
            for rival in rivals.values():
                _told(rival, pulls[:t], observations)
            seen |= {(*name, t): _snapshot(posterior) for name, posterior in (followers | rivals).items()}
    return problem, pulls, seen


def _rivals(
    settings: tuple[Kernel, Array, float],
    pulls: NDArray[np.int64],
    sketch: NystromPosterior,
    n_features: dict[str, list[int]],
    rng: np.random.Generator,
) -> dict[tuple[str, str], FeaturePosterior]:
    kernel, arms, noise_variance = settings
    n_members, inducing = len(sketch.dictionary), sketch.inducing
    uniform = NystromPosterior(*settings)
    uniform.use_dictionary(rng.choice(pulls, n_members, replace=False))
    features = {("SoR", ""): nystrom_features(kernel(arms[inducing], arms), inducing)}
    even = n_members + n_members % 2
    for label, m in (("m=|S|", even), *((f"m={m}", m) for m in n_features["RFF"])):
        features["RFF", label] = random_features(kernel, arms, m, rng)
    for label, m in (("m=|S|", even), *((f"m={m}", m) for m in n_features["QFF"])):
        features["QFF", label] = quadrature_features(kernel, arms, m)
    return {("DTC, uniform", ""): uniform} | {n: FeaturePosterior(Z, noise_variance) for n, Z in features.items()}


def _told(posterior: Posterior | FeaturePosterior, pulls: NDArray[np.int64], observations: list[float]) -> None:
    for arm, observation in zip(pulls, observations, strict=False):
        posterior.update(arm, observation)


def _snapshot(posterior: Posterior | FeaturePosterior) -> Snapshot:
    n_features = getattr(posterior, "n_features", 0)
    return Snapshot(posterior.mean.copy(), posterior.sd, n_features, len(getattr(posterior, "dictionary", ())))


def starvation(seed: int, trial: int, *, unseen_from: float, band: float = 3.0, **settings) -> dict[tuple, tuple]:
    """Return {(name, setting, t): (worst exact / approximate variance, worst inverse, coverage, features, members)}.

    Coverage is that of mean +- `band` sd over the arms whose first coordinate exceeds `unseen_from`; the other settings
    are those of `snapshots`.
    """
    problem, _, seen = snapshots(seed, trial, **settings)
    unseen, found = problem.arms[:, 0] > unseen_from, {}
    for (name, setting, t), view in seen.items():
        with np.errstate(divide="ignore"):
            log_ratio = 2 * (np.log(seen["exact", "", t].sd) - np.log(view.sd))
        covered = np.abs(problem.expected_reward - view.mean)[unseen] <= band * view.sd[unseen]
        worst = np.exp(np.minimum(log_ratio.max(), 500.0)), np.exp(-log_ratio.min())
        found[name, setting, t] = (*worst, covered.mean(), view.n_features, view.n_members)
    return found


def variance_ratios(
    seed: int,
    trial: int,
    *,
    kernel: Kernel,
    arms: Array,
    noise_variance: float,
    design: Design,
    horizon: int,
    qbars: list[float],
    streaming: bool = False,
) -> tuple[dict[float, Array], Array, Array]:
    """Return how BKB's variance follows the exact one after each of `horizon` pulls.

    {qbar: (horizon, 4)}: smallest and largest ratio BKB / exact over the arms, dictionary members, distinct ones. Then
    of the exact posterior: the effective dimension (horizon,), and the smallest variance / noise_variance of an arm
    pulled so far (horizon,): from qbar = 1 over it on every pull enters the dictionary.
    """
    rng = stream(seed, trial, "run")
    form, exact = StreamingPosterior if streaming else BudgetedPosterior, RowPosterior(kernel, arms, noise_variance)
    sketches = {q: form(kernel, arms, noise_variance, q, rng.spawn(1)[0]) for q in qbars}
    found = {q: np.empty((horizon, 4)) for q in qbars}
    dimension, smallest = np.empty(horizon), np.empty(horizon)
    for t, arm in enumerate(design(rng, arms, horizon)):
        exact.update(arm, 0.0)  # no variance depends on what is observed
        for q, sketch in sketches.items():
            sketch.update(arm, 0.0)
            ratio = sketch.variance / exact.variance
            found[q][t] = ratio.min(), ratio.max(), len(sketch.dictionary), len(sketch.inducing)
        dimension[t] = exact.counts @ exact.variance / noise_variance
        smallest[t] = exact.variance[exact.counts > 0].min() / noise_variance
    return found, dimension, smallest


def dimension_chain(
    seed: int, trial: int, *, kernel: Kernel, arms: Array, noise_variance: float, design: Design, horizon: int
) -> Array:
    """Return the four quantities of Calandriello et al., Proposition 5, after each of `horizon` pulls, (horizon, 4).

    Effective dimension, sum of sigma_s^2(x_s) (after the point's own observation, divided by noise_variance),
    log det(K / noise_variance + I), and d_eff (1 + log(|K| / noise_variance + 1)), |K| the spectral norm.
    """
    posterior = RowPosterior(kernel, arms, noise_variance)
    pulls = design(stream(seed, trial, "run"), arms, horizon)
    chain, own = np.empty((horizon, 4)), 0.0
    for t, arm in enumerate(pulls):
        posterior.update(arm, 0.0)
        own += posterior.variance[arm] / noise_variance
        X = arms[pulls[: t + 1]]
        spectrum = np.maximum(eigvalsh(kernel(X, X)), 0.0) / noise_variance
        dimension = (spectrum / (1 + spectrum)).sum()
        chain[t] = dimension, own, np.log1p(spectrum).sum(), dimension * (1 + np.log1p(spectrum[-1]))
    return chain
