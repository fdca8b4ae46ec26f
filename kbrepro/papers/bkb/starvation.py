"""Figure 1: what approximate posteriors know after a few pulls, over many seeds; and the designs that pull.

Jobs for `simulation.map_trials` take the `Trial` last. *Starved*: exact over approximate variance; *inflated*:
approximate over exact.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro.kernels import Array
from kbrepro.papers.bkb import sketch
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Model, Problem, Trial

#: A band is the mean +- this many standard deviations where its coverage is measured (Calandriello et al., Fig. 1).
BAND = 3.0
#: Members of a dictionary that covers the arms badly.
FEW_MEMBERS = 3
#: Starved ratios are cut off here: those of SoR have no bound.
LARGEST_RATIO = 1e200

Pulls = NDArray[np.int64]
Design = Callable[[np.random.Generator, Array, int], Pulls]
#: Numbers of features to try, by name, and values of qbar.
Sizes = dict[str, list[int]]
Levels = list[float]


# Designs


def uniform_pulls(rng: np.random.Generator, points: Array, horizon: int, upto: float = np.inf) -> Pulls:
    """Return pulls (horizon,), uniform among the arms at points (A, d) whose first coordinate is at most `upto`."""
    return rng.choice(np.flatnonzero(points[:, 0] <= upto), horizon)


def shrinking_window(rng: np.random.Generator, points: Array, horizon: int) -> Pulls:
    """Return pulls (horizon,), uniform among the arms nearest a random one; their share falls from 1 to 1/20."""
    centre = points[rng.choice(len(points))]
    nearest = np.linalg.norm(points - centre, axis=1).argsort(kind="stable")
    window = np.maximum(len(points) * np.geomspace(1, 0.05, horizon), 1).astype(int)
    return nearest[rng.integers(window)]


# Figure 1


class Snapshot(NamedTuple):
    """Mean (A,) and sd (A,) of a posterior, its number of features, and the arms in its dictionary, with repeats."""

    mean: Array
    sd: Array
    n_features: int
    members: Pulls


class Watched(NamedTuple):
    """A problem, the arms pulled (T,) and what they gave (T,), and posteriors {(name, setting, t): Snapshot}."""

    problem: Problem
    pulls: Pulls
    observations: Array
    seen: dict[tuple[str, str, int], Snapshot]


def snapshots(source: GPDraw, design: Design, at: list[int], qbars: Levels, n_features: Sizes, trial: Trial) -> Watched:
    """Return what Calandriello et al., Fig. 1, shows after t = `at` pulls by `design`: the exact posterior and others.

    BKB and its streaming form run with every qbar; with the dictionary S of BKB at the first qbar: SoR on S, DTC on as
    many pulls drawn uniformly and on three, RFF and QFF with |S| features (made even) and with each of
    `n_features["RFF"]`, `n_features["QFF"]`.
    """
    problem, rng = source(trial), trial.rng("run")
    model = problem.model
    pulls = design(rng, model.points, max(at))
    observations = np.array([problem.pull(arm, rng) for arm in pulls])
    given = model.kernel, model.points, model.noise_variance
    followers: dict[tuple[str, str], RowPosterior | sketch.FeaturePosterior] = {("exact", ""): RowPosterior(*given)}
    forms = {"BKB": sketch.BudgetedPosterior, "BKB, streaming": sketch.StreamingPosterior}
    named = product(forms.items(), qbars)
    budgeted = {(name, f"qbar={q:g}"): form(*given, q, rng.spawn(1)[0]) for (name, form), q in named}
    followers |= budgeted
    seen: dict[tuple[str, str, int], Snapshot] = {}
    for t, (arm, observation) in enumerate(zip(pulls, observations, strict=True), start=1):
        for follower in followers.values():
            follower.update(arm, observation)
        if t in at:
            rivals = _rivals(model, pulls[:t], budgeted["BKB", f"qbar={qbars[0]:g}"], n_features, rng)
            for rival, i in product(rivals.values(), range(t)):
                rival.update(pulls[i], observations[i])
            seen |= {(*name, t): _snapshot(posterior) for name, posterior in (followers | rivals).items()}
    return Watched(problem, pulls, observations, seen)


def _rivals(
    model: Model, pulls: Pulls, bkb: sketch.NystromPosterior, n_features: Sizes, rng: np.random.Generator
) -> dict[tuple[str, str], sketch.FeaturePosterior]:
    kernel, points, n_members = model.kernel, model.points, len(bkb.dictionary)
    uniforms: dict[tuple[str, str], sketch.FeaturePosterior] = {}
    for label, size in {"": n_members, f"{FEW_MEMBERS} pulls": min(FEW_MEMBERS, len(pulls))}.items():
        uniforms["DTC, uniform", label] = uniform = sketch.NystromPosterior(kernel, points, model.noise_variance)
        uniform.use_dictionary(rng.choice(pulls, size, replace=False))
    features = {("SoR", ""): sketch.nystrom_features(kernel(points[bkb.inducing], points), bkb.inducing)}
    for name, make in (("RFF", partial(sketch.random_features, rng=rng)), ("QFF", sketch.quadrature_features)):
        sizes = {"m=|S|": n_members + n_members % 2} | {f"m={m}": m for m in n_features[name]}
        features |= {(name, label): make(kernel, points, m) for label, m in sizes.items()}
    return uniforms | {name: sketch.FeaturePosterior(Z, model.noise_variance) for name, Z in features.items()}


def _snapshot(posterior: RowPosterior | sketch.FeaturePosterior) -> Snapshot:
    members = getattr(posterior, "dictionary", np.empty(0, dtype=int))
    return Snapshot(posterior.mean.copy(), posterior.sd, getattr(posterior, "n_features", 0), members)


def starvation(
    source: GPDraw, design: Design, at: list[int], qbars: Levels, n_features: Sizes, unseen_from: float, trial: Trial
) -> pd.DataFrame:
    """Return one row per posterior and t: `seed`, `name`, `setting`, `t`, and how it compares with the exact one.

    `starved` and `inflated`: the largest ratio over all arms; `coverage`: the share of the arms whose first coordinate
    exceeds `unseen_from` with f inside mean +- 3 sd; `features`, `members`. Other settings: those of `snapshots`.
    """
    problem, _, _, seen = snapshots(source, design, at, qbars, n_features, trial)
    unseen, rows = problem.model.points[:, 0] > unseen_from, []
    for (name, setting, t), view in seen.items():
        with np.errstate(divide="ignore"):
            log_ratio = 2 * (np.log(seen["exact", "", t].sd) - np.log(view.sd))
        starved = np.exp(min(log_ratio.max(), np.log(LARGEST_RATIO)))
        covered = inside_band(view, problem.expected_reward)[unseen].mean()
        numbers = starved, np.exp(-log_ratio.min()), covered, view.n_features, len(view.members)
        rows.append((trial.number, name, setting, t, *numbers))
    columns = ["seed", "name", "setting", "t", "starved", "inflated", "coverage", "features", "members"]
    return pd.DataFrame(rows, columns=columns)


def inside_band(view: Snapshot, expected_reward: Array) -> NDArray[np.bool_]:
    """Return whether an expected reward (A,) is inside mean +- 3 sd of a posterior, (A,)."""
    return np.abs(expected_reward - view.mean) <= BAND * view.sd
