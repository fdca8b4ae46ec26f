"""Tables of the notebook side by side: regret over the best rule's, the ranking, growth.

Tables have one row per rule and one column per problem; NaN where a rule is not defined.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kbrepro.bandits.problems import Trial
from kbrepro.papers import Curves
from kbrepro.papers.pi_gp_ucb.measures import regret_exponents
from kbrepro.trials.simulation import Experiment, rounds, start_policy
from kbrepro.typing import Array

UNIFORM = "uniform play"
BEST_PROVED = "IGP-UCB, both"
NEAR = ("SupKernelUCB", "BPE, tighter")
#: Regret below this share of uniform play's counts as that share.
FLOOR = 0.01
#: R_T (trials, horizons) by (nu, d) and rule.
Panels = Mapping[tuple[float, int], Mapping[str, Array]]


def over_best(means: pd.DataFrame) -> pd.DataFrame:
    """Return mean regret over the best rule's, both at least FLOOR times uniform play's."""
    floored = means.clip(lower=FLOOR * means.loc[UNIFORM], axis=1)
    return floored / floored.min()


def ranking(factors: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rule, best first: median of `over_best`, and where it is at most 2.

    Rules that are defined on fewer than half of the problems come last.
    """
    table = pd.DataFrame(
        {
            "factor": factors.median(axis=1),
            "q25": factors.quantile(0.25, axis=1),
            "q75": factors.quantile(0.75, axis=1),
            "within twice": (factors <= 2).sum(axis=1),
            "problems": factors.count(axis=1),
        }
    )
    few = table["problems"] < factors.shape[1] / 2
    return table.assign(few=few).sort_values(["few", "factor"]).drop(columns="few")


def proved_exponents(d: int, nu: float) -> dict[str, float]:
    """Return the proved exponent of every rule that plays for growth, at most 1."""
    exponents = regret_exponents(d, nu)
    near = dict.fromkeys(NEAR, exponents["lower bound"])
    of_2021 = exponents["IGP-UCB, gain of 2021"]
    whole = dict.fromkeys(("IGP-UCB", "IGP-UCB, tighter", "GP-TS"), of_2021)
    cells = dict.fromkeys(("π-GP-UCB", "π-GP-UCB, tighter"), exponents["π-GP-UCB"])
    return near | whole | cells | {BEST_PROVED: exponents["IGP-UCB, lambda grows"]}


# Growth


def at_horizons(
    play: Callable[[str], Any], label: str, horizons: Sequence[int]
) -> dict[str, Array]:
    """Return R_T (trials, horizons) by rule; `play` returns the trials of a label."""
    trials = [pd.DataFrame(play(f"{label}, T = {horizon}")) for horizon in horizons]
    by_rule: dict[str, Array] = {}
    for rule in trials[0]:
        by_rule[rule] = np.stack([np.concatenate([*totals[rule]]) for totals in trials], axis=1)
    return by_rule


def slope(horizons: Sequence[int], totals: Array) -> float:
    """Return the exponent of mean R_T (trials, horizons) in T, by least squares."""
    return float(np.polyfit(np.log(horizons), np.log(totals.mean(axis=0)), 1)[0])


def exponents(curves: Panels, horizons: Sequence[int]) -> pd.DataFrame:
    """Return measured and proved exponents by nu, d and rule."""
    rows = {}
    for (nu, d), panel in curves.items():
        proved = proved_exponents(d, nu)
        for rule, totals in panel.items():
            rows[nu, d, rule] = {"measured": slope(horizons, totals), "proved": proved[rule]}
    return pd.DataFrame(rows).T.rename_axis(["ν", "d", "rule"])


def leads(curves: Panels, horizon: int) -> pd.DataFrame:
    """Return by nu and d how the better near-optimal rule stands at the last horizon.

    Its regret over that of BEST_PROVED and, if both grew as proved from there, the power of ten of
    the round from which it would have less regret.
    """
    rows = {}
    for (nu, d), panel in curves.items():
        last = {rule: totals[:, -1].mean() for rule, totals in panel.items()}
        rule = min(NEAR, key=last.__getitem__)
        times = last[rule] / last[BEST_PROVED]
        proved = proved_exponents(d, nu)
        slower = proved[BEST_PROVED] - proved[rule]
        rows[nu, d] = {
            "rule": rule,
            "times the regret": times,
            "pays from 10^": np.log10(horizon) + np.log10(times) / slower,
        }
    return pd.DataFrame(rows).T.infer_objects().rename_axis(["ν", "d"])


# Curves by rule


def arms_left_at(experiment: Experiment, at: Sequence[int], trial: Trial) -> dict[str, Array]:
    """Return among how many arms each rule that excludes arms chose in the rounds `at`,
    (len(at),): a job for `map_trials`.
    """
    places = np.array(at) - 1
    return {rule: arms_left(experiment, rule, trial)[places] for rule in experiment.policies}


def arms_left(experiment: Experiment, rule: str, trial: Trial) -> Array:
    """Return how many arms a rule that excludes arms has left after each round, (T,)."""
    problem = experiment.problem(trial)
    horizon = experiment.horizon
    policy: Any = start_policy(experiment.policies[rule], problem.model, horizon, trial)
    played = rounds(policy, problem, horizon, trial.rng("noise"))
    return np.array([policy.left.sum() for _ in played])


def mean_totals(curves: Curves) -> dict[str, float]:
    """Return mean R_T by rule."""
    return {rule: curve.totals[:, -1].mean() for rule, curve in curves.items()}


def seconds_a_round(curves: Curves) -> dict[str, float]:
    """Return the seconds of a round by rule, median over trials."""
    return {
        rule: float(np.median(curve.seconds.sum(axis=1))) / curve.horizon
        for rule, curve in curves.items()
    }


def bands_held(curves: Curves) -> dict[str, float]:
    """Return the share of trials in which a band held in all rounds, by rule."""
    return {rule: (curve.band_ratio.max(axis=1) <= 1).mean() for rule, curve in curves.items()}


def span(values: pd.Series, digits: int = 2) -> str:
    """Return the least and the largest value as text, "1.06 to 1.60"."""
    return f"{values.min():.{digits}f} to {values.max():.{digits}f}"
