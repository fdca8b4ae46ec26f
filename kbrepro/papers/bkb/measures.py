"""Figure 1, what Theorem 1 and Proposition 5 of Calandriello et al. bound, and a step's cost.

Jobs for `simulation.map_trials` take the `Trial` last. *Starved*: exact over approximate variance;
*inflated*: approximate over exact. Operations are the printed leading terms of an algorithm, with
constant 1 for all.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.linalg import eigvalsh

from kbrepro.bandits.posterior import RowPosterior
from kbrepro.bandits.problems import GPDraw, Model, Problem, Trial
from kbrepro.papers import Source
from kbrepro.papers.bkb import sketch
from kbrepro.papers.bkb.policy import ALPHA, BKB
from kbrepro.trials.simulation import rounds, start_policy
from kbrepro.typing import Array, Bools, Integers

#: Where its coverage is measured a band is the mean +- so many sds (Calandriello et al., Fig. 1).
BAND = 3.0
#: Starved ratios are cut off here: those of SoR have no bound.
LARGEST_RATIO = 1e200
#: From so many pulls on an arm counts as selected often.
OFTEN = 10

Pulls = Integers
Design = Callable[[Generator, Array, int], Pulls]
#: Posteriors by name and setting.
Posteriors = dict[tuple[str, str], RowPosterior | sketch.FeaturePosterior]


# Designs


def uniform_pulls(rng: Generator, points: Array, horizon: int, upto: float = np.inf) -> Pulls:
    """Return pulls (horizon,), uniform among the arms whose first coordinate is at most `upto`."""
    return rng.choice(np.flatnonzero(points[:, 0] <= upto), horizon)


def shrinking_window(rng: Generator, points: Array, horizon: int) -> Pulls:
    """Return pulls (horizon,), uniform among the arms nearest a random one.

    The share of the arms that are near enough falls from 1 to 1/20.
    """
    centre = points[rng.choice(len(points))]
    nearest = np.linalg.norm(points - centre, axis=1).argsort(kind="stable")
    window = np.maximum(len(points) * np.geomspace(1, 0.05, horizon), 1).astype(int)
    return nearest[rng.integers(window)]


# Figure 1


class Snapshot(NamedTuple):
    """Mean (A,), sd (A,) and number of features of a posterior, and its dictionary's arms."""

    mean: Array
    sd: Array
    n_features: int
    members: Pulls

    def holds(self, expected_reward: Array) -> Bools:
        """Return whether an expected reward (A,) is inside mean +- 3 sd, (A,)."""
        return np.abs(expected_reward - self.mean) <= BAND * self.sd


class Watched(NamedTuple):
    """A problem, arms pulled and rewards seen (T,), and posteriors by (name, setting, t)."""

    problem: Problem
    pulls: Pulls
    observations: Array
    seen: dict[tuple[str, str, int], Snapshot]


def snapshots(
    source: GPDraw,
    design: Design,
    at: list[int],
    qbars: list[float],
    n_features: dict[str, list[int]],
    trial: Trial,
    form: type[sketch.BudgetedPosterior] = sketch.BudgetedPosterior,
    streaming: bool = True,
) -> Watched:
    """Return what Calandriello et al., Fig. 1, shows after t = `at` pulls by `design`.

    The exact posterior; BKB, on posteriors of a `form`, and its `streaming` form with every qbar;
    with the dictionary S of BKB at the first qbar: SoR on S, DTC on as many pulls drawn uniformly
    and on three, RFF and QFF with |S| features (made even) and with each of `n_features["RFF"]`,
    `n_features["QFF"]`.
    """
    problem = source(trial)
    rng = trial.rng("run")
    model = problem.model
    pulls = design(rng, model.points, max(at))
    observations = np.array([problem.pull(arm, rng) for arm in pulls])
    prior = model.kernel, model.points, model.noise_variance
    posteriors: Posteriors = {("exact", ""): RowPosterior(*prior)}
    budgeted = [form(*prior, q, rng.spawn(1)[0]) for q in qbars]
    posteriors |= {("BKB", f"qbar={bkb.qbar:g}"): bkb for bkb in budgeted}
    if streaming:
        dropping = [sketch.StreamingPosterior(*prior, q, rng.spawn(1)[0]) for q in qbars]
        posteriors |= {("BKB, streaming", f"qbar={bkb.qbar:g}"): bkb for bkb in dropping}
    seen: dict[tuple[str, str, int], Snapshot] = {}
    for before, t in pairwise([0, *at]):
        _update(posteriors, pulls[before:t], observations[before:t])
        rivals = _rivals(model, pulls[:t], budgeted[0], n_features, rng)
        _update(rivals, pulls[:t], observations[:t])
        for (name, setting), posterior in (posteriors | rivals).items():
            size = getattr(posterior, "n_features", 0)
            members = getattr(posterior, "dictionary", np.empty(0, dtype=int))
            seen[name, setting, t] = Snapshot(posterior.mean, posterior.sd, size, members)
    return Watched(problem, pulls, observations, seen)


def _update(posteriors: Posteriors, pulls: Pulls, observations: Array) -> None:
    for posterior in posteriors.values():
        for arm, observation in zip(pulls, observations, strict=True):
            posterior.update(arm, observation)


def _rivals(
    model: Model,
    pulls: Pulls,
    bkb: sketch.NystromPosterior,
    n_features: dict[str, list[int]],
    rng: Generator,
) -> Posteriors:
    kernel = model.kernel
    points = model.points
    m = len(bkb.dictionary)
    rivals: Posteriors = {}
    for setting, size in {"": m, "3 pulls": min(3, len(pulls))}.items():
        uniform = sketch.NystromPosterior(kernel, points, model.noise_variance)
        uniform.use_dictionary(rng.choice(pulls, size, replace=False))
        rivals["DTC, uniform", setting] = uniform

    def add(name: str, setting: str, features: Array) -> None:
        rivals[name, setting] = sketch.FeaturePosterior(features, model.noise_variance)

    add("SoR", "", sketch.nystrom_features(kernel(points[bkb.inducing], points), bkb.inducing))
    even = m + m % 2
    add("RFF", "m=|S|", sketch.random_features(kernel, points, even, rng))
    for n in n_features["RFF"]:
        add("RFF", f"m={n}", sketch.random_features(kernel, points, n, rng))
    add("QFF", "m=|S|", sketch.quadrature_features(kernel, points, even))
    for n in n_features["QFF"]:
        add("QFF", f"m={n}", sketch.quadrature_features(kernel, points, n))
    return rivals


def starvation(
    source: GPDraw,
    design: Design,
    at: list[int],
    qbars: list[float],
    n_features: dict[str, list[int]],
    unseen_from: float,
    trial: Trial,
    form: type[sketch.BudgetedPosterior] = sketch.BudgetedPosterior,
    streaming: bool = True,
) -> pd.DataFrame:
    """Return a row per posterior and t: how it compares with the exact one.

    Columns: `seed`, `name`, `setting`, `t`; `starved` and `inflated`, the largest ratio over all
    arms; `coverage`, the share of the arms whose first coordinate exceeds `unseen_from` with f
    inside mean +- 3 sd; `features`, `members`. Other settings: those of `snapshots`.
    """
    how = trial, form, streaming
    problem, _, _, seen = snapshots(source, design, at, qbars, n_features, *how)
    unseen = problem.model.points[:, 0] > unseen_from
    rows = []
    for (name, setting, t), view in seen.items():
        with np.errstate(divide="ignore"):
            log_ratio = 2 * (np.log(seen["exact", "", t].sd) - np.log(view.sd))
        rows.append(
            {
                "seed": trial.number,
                "name": name,
                "setting": setting,
                "t": t,
                "starved": np.exp(min(log_ratio.max(), np.log(LARGEST_RATIO))),
                "inflated": np.exp(-log_ratio.min()),
                "coverage": view.holds(problem.expected_reward)[unseen].mean(),
                "features": view.n_features,
                "members": len(view.members),
            }
        )
    return pd.DataFrame(rows)


def newest_pull(
    source: GPDraw, design: Design, at: list[int], qbar: float, trial: Trial
) -> dict[str, float]:
    """Return the worst variance ratio over all arms and t = `at`, either way, of two dictionaries.

    A pull is in them with probability min(1, qbar variance / noise_variance) by the exact variance
    `without` the newest pull (Calandriello et al., Section 3.1), or `with` it. Both are drawn by
    the same uniform numbers.
    """
    rng = trial.rng("run")
    prior = source.kernel, source.points, source.noise_variance
    pulls = design(rng, source.points, max(at))
    uniform = rng.random(len(pulls))
    exact = RowPosterior(*prior)
    worst = {"without": 1.0, "with": 1.0}
    for t, arm in enumerate(pulls, start=1):
        before = exact.variance
        exact.update(arm, 0.0)
        if t in at:
            for name, variance in {"without": before, "with": exact.variance}.items():
                chance = qbar * variance[pulls[:t]] / source.noise_variance
                members = pulls[:t][uniform[:t] < chance]
                approximate = sketch.NystromPosterior(*prior)
                for pulled in pulls[:t]:
                    approximate.update(pulled, 0.0)
                approximate.use_dictionary(members if len(members) else pulls[t - 1 : t])
                log_ratio = np.log(approximate.variance / exact.variance)
                worst[name] = max(worst[name], float(np.exp(np.abs(log_ratio).max())))
    return worst


def of_seeds(seeds: Sequence[Any]) -> pd.DataFrame:
    """Return what kept `starvation` of several seeds say, by name and setting.

    `starved`: the median at the last t; `inflated`: of 95 % of the seeds, at the worst t;
    `covered`: the mean coverage at the last t, in percent.
    """
    rows = pd.concat(map(pd.DataFrame, seeds))
    names = ["name", "setting"]
    last = rows[rows["t"] == rows["t"].max()].groupby(names)
    by_t = rows.groupby([*names, "t"])["inflated"].quantile(0.95)
    columns = {
        "starved": last["starved"].median(),
        "inflated": by_t.groupby(names).max(),
        "covered": 100 * last["coverage"].mean(),
    }
    return pd.DataFrame(columns)


def accuracy_by_qbar(seeds: Sequence[Any]) -> tuple[pd.Series, pd.Series]:
    """Return what kept `starvation` of several seeds say of BKB, by qbar.

    The share of the seeds in which all variances, at every t, are within the factor alpha of the
    exact ones, and the mean number of members after the last pull.
    """
    rows = pd.concat(map(pd.DataFrame, seeds))
    rows = rows[rows["name"] == "BKB"]
    rows["qbar"] = rows["setting"].str.removeprefix("qbar=").astype(float)
    rows["worst"] = rows[["starved", "inflated"]].max(axis=1)
    close = rows.groupby(["qbar", "seed"])["worst"].max() <= ALPHA
    at_end = rows[rows["t"] == rows["t"].max()]
    return close.groupby("qbar").mean(), at_end.groupby("qbar")["members"].mean()


# Theorem 1 and Proposition 5


def variance_ratios(
    source: GPDraw,
    design: Design,
    horizon: int,
    qbars: list[float],
    form: type[sketch.BudgetedPosterior],
    trial: Trial,
) -> dict[str, object]:
    """Return how variances of `form` follow the exact ones (Calandriello et al., Theorem 1).

    `by_qbar`: after each of T pulls, (T,) to seven digits, `low` and `high`, the smallest and
    largest ratio to the exact variance over the arms; `members` of the dictionary; `expected`, the
    sum of all pulls' inclusion probabilities. `dimension` (T,): d_eff of the exact posterior.
    """
    rng = trial.rng("run")
    prior = source.kernel, source.points, source.noise_variance
    exact = RowPosterior(*prior)
    sketches = {q: form(*prior, q, rng.spawn(1)[0]) for q in qbars}
    ratios = {q: np.empty((4, horizon), np.float32) for q in qbars}
    dimension = np.empty(horizon, np.float32)
    for t, arm in enumerate(design(rng, source.points, horizon)):
        exact.update(arm, 0.0)  # no variance depends on what is observed
        for q, bkb in sketches.items():
            inclusion = bkb.inclusion()
            bkb.update(arm, 0.0)
            ratio = bkb.variance / exact.variance
            ratios[q][:, t] = ratio.min(), ratio.max(), len(bkb.dictionary), bkb.counts @ inclusion
        dimension[t] = exact.counts @ exact.variance / source.noise_variance
    names = "low", "high", "members", "expected"
    by_qbar = {q: dict(zip(names, rows, strict=True)) for q, rows in ratios.items()}
    return {"by_qbar": by_qbar, "dimension": dimension}


def followed(runs: Sequence[Any]) -> pd.DataFrame:
    """Return what kept `variance_ratios` say, a row per run and qbar.

    Columns: `qbar`; `bad steps`, the share of the steps in which an arm's variance is not within
    the factor alpha of the exact one; after the last pull `kept`, members over pulls, and `size`,
    members over qbar d_eff.
    """
    rows = []
    for run in runs:
        for qbar, ratios in run.by_qbar.items():
            bad = (ratios.low < 1 / ALPHA) | (ratios.high > ALPHA)
            members = ratios.members[-1]
            rows.append(
                {
                    "qbar": qbar,
                    "bad steps": bad.mean(),
                    "kept": members / len(bad),
                    "size": members / (qbar * run.dimension[-1]),
                }
            )
    return pd.DataFrame(rows)


def equal_size(
    source: GPDraw, design: Design, horizon: int, qbar: float, trial: Trial
) -> tuple[float, float]:
    """Return the largest approximate over exact variance of BKB, and of DTC on as many pulls."""
    rng = trial.rng("run")
    prior = source.kernel, source.points, source.noise_variance
    pulls = design(rng, source.points, horizon)
    exact = RowPosterior(*prior)
    bkb = sketch.BudgetedPosterior(*prior, qbar, rng.spawn(1)[0])
    uniform = sketch.NystromPosterior(*prior)
    for arm in pulls:
        for posterior in (exact, bkb, uniform):
            posterior.update(arm, 0.0)
    uniform.use_dictionary(rng.choice(pulls, len(bkb.dictionary), replace=False))
    inflated = float((bkb.variance / exact.variance).max())
    return inflated, float((uniform.variance / exact.variance).max())


def dimension_chain(source: GPDraw, design: Design, horizon: int, trial: Trial) -> Array:
    """Return the four quantities of Calandriello et al., Proposition 5, (horizon, 4).

    After each pull: effective dimension, sum of sigma_s^2(x_s) (after the point's own observation,
    divided by noise_variance), log det(K / noise_variance + I), and d_eff (1 + log(|K| /
    noise_variance + 1)), |K| the spectral norm.
    """
    posterior = RowPosterior(source.kernel, source.points, source.noise_variance)
    pulls = design(trial.rng("run"), source.points, horizon)
    chain = np.empty((horizon, 4))
    own = 0.0
    for t, arm in enumerate(pulls):
        posterior.update(arm, 0.0)
        own += posterior.variance[arm] / source.noise_variance
        X = source.points[pulls[: t + 1]]
        spectrum = np.maximum(eigvalsh(source.kernel(X, X)), 0.0) / source.noise_variance
        dimension = (spectrum / (1 + spectrum)).sum()
        log_det = np.log1p(spectrum).sum()
        chain[t] = dimension, own, log_det, dimension * (1 + np.log1p(spectrum[-1]))
    return chain


# The cost of a step


def sizes_of_steps(
    source: Source, bkb: Callable[[Model, int], BKB], horizon: int, trial: Trial
) -> pd.DataFrame:
    """Return the sizes of the dictionary of `bkb` after every pull, a row for t = 1 .. horizon.

    `members`, `features`, `distinct` arms pulled, and BKB's estimate of `d_eff`.
    """
    problem = source(trial)
    policy = start_policy(bkb, problem.model, horizon, trial)
    noise = trial.rng("noise")
    rows = [_sizes(policy.posterior) for _ in rounds(policy, problem, horizon, noise)]
    # round t + 1 begins with what is known after t pulls
    rows = [*rows[1:], _sizes(policy.posterior)]
    return pd.DataFrame(rows, pd.RangeIndex(1, horizon + 1, name="t"))


def dictionary_at_end(
    source: Source, bkb: Callable[[Model, int], BKB], horizon: int, trial: Trial
) -> dict[str, int]:
    """Return what one run's dictionary is at its end, and which arms never came into it.

    `members`; `often`, the suboptimal arms that were pulled at least `OFTEN` times; `left out`,
    those of them that no dictionary held from their pull number `OFTEN` on.
    """
    problem = source(trial)
    policy = start_policy(bkb, problem.model, horizon, trial)
    included = np.zeros(problem.model.n_arms, dtype=bool)

    def note() -> None:
        inducing = policy.posterior.inducing
        included[inducing] |= policy.posterior.counts[inducing] >= OFTEN

    for _ in rounds(policy, problem, horizon, trial.rng("noise")):
        note()
    note()
    suboptimal = problem.regret(np.arange(problem.model.n_arms)) > 0
    often = suboptimal & (policy.posterior.counts >= OFTEN)
    left_out = often & ~included
    members = len(policy.posterior.dictionary)
    return {"members": members, "often": int(often.sum()), "left out": int(left_out.sum())}


def _sizes(bkb: sketch.NystromPosterior) -> dict[str, float]:
    return {
        "members": len(bkb.dictionary),
        "features": bkb.n_features,
        "distinct": int((bkb.counts > 0).sum()),
        "d_eff": bkb.summed_variance,
    }


def operations(sizes: pd.DataFrame, n_arms: int) -> pd.DataFrame:
    """Return the operations of every step of BKB and its opponents from the `sizes` of one run.

    With n arms, t pulls, D distinct arms pulled and m features (the rank of the dictionary): BKB (n
    + D) m^2 (Calandriello et al., Section 3.2); refit n t^2 (Section 1, without the t^3 of its
    factor); counts D^3 + n D^2, a refit on distinct arms; rows n t, the factor updated by one row
    per pull; covariance n^2, that of all arms kept.
    """
    t = sizes.index.to_numpy(float)
    m = sizes["features"]
    D = sizes["distinct"]
    columns = {
        "BKB": (n_arms + D) * m**2,
        "exact, rows": n_arms * t,
        "exact, covariance": float(n_arms**2),
        "exact, refit": n_arms * t**2,
        "exact, counts": D**3 + n_arms * D**2,
    }
    return pd.DataFrame(columns, sizes.index, dtype=float)


def cheaper_from(steps: pd.DataFrame) -> pd.Series:
    """Return by opponent the round from which on a step of BKB takes fewer operations.

    Infinite if that is no round of the run; `steps`: the `operations` of one run.
    """
    dearer = steps.drop(columns="BKB").le(steps["BKB"], axis=0)
    first = dearer.mul(steps.index, axis=0).max() + 1.0
    return first.where(first <= len(steps), np.inf)
