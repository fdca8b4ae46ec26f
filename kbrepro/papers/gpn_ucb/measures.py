"""What judges each claim on GPN-UCB: from played trials to an estimate of every part of the claim.

A *panel* is {rule: a regret of every chain (n,)}, as a share of the range of g, mean over the chain's trials.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.sets import MODES
from kbrepro.problems import Trial
from kbrepro.regret import (
    Estimate,
    Trace,
    bootstrap,
    estimated_mean,
    exact,
    growth,
    intervals,
    largest,
    paired_difference,
    paired_share,
    share,
    simple_regret,
    standard_error,
)

Judged = dict[str, Estimate]
Panel = Mapping[str, Array]

BLACK_BOX, WITHOUT_CEI = ("GP-UCB", "EI"), ("cUCB", "OI", "GP-UCB", "EI")
#: Part of a claim -> the paper's two algorithms.
OURS = {"gpn": "GPN-UCB", "nonada": "NonAda"}
#: Differences that are ties: of cumulative regret rounding, of simple regret 0.1 % of the range.
ROUNDING, TIE = 1e-9, 0.001
#: Part of a claim on needles -> nu.
NEEDLES = {"nu_1": 1.0, "nu_15": 1.5, "nu_2": 2.0}
#: Part of claim 5-Z -> version of GPN-UCB.
VERSIONS = {"itself": "with the point itself", "none": "no envelope", "finer": "400 points"}


# Panels


def by_chain(values: Array, times: int) -> Array:
    """Return the mean over the `times` trials of every chain: (n times, ...) -> (n, ...)."""
    return values.reshape(-1, times, *values.shape[1:]).mean(axis=1)


def totals(traces: Mapping[str, Trace], times: int = 1) -> dict[str, Array]:
    """Return the panel of R_T, by rule (n,)."""
    return {rule: by_chain(trace.regret.sum(axis=1), times) for rule, trace in traces.items()}


def simple_at(traces: Mapping[str, Trace], t: int, times: int = 1) -> dict[str, Array]:
    """Return the panel of simple regret after t rounds, by rule (n,); ValueError unless 1 <= t <= T."""
    for trace in traces.values():
        if not 1 <= t <= trace.horizon:
            raise ValueError(f"t = {t} is not allowed: t must be from 1 to the horizon, {trace.horizon}")
    return {rule: by_chain(simple_regret(trace)[:, t - 1], times) for rule, trace in traces.items()}


def over_pulls(traces: Mapping[str, Trace], pulls: Sequence[int], times: int = 1) -> dict[str, Array]:
    """Return the panel of simple regret, mean over some numbers of pulls, by rule (n,)."""
    panels = [simple_at(traces, t, times) for t in pulls]
    return {rule: np.mean([its[rule] for its in panels], axis=0) for rule in traces}


def of_chains(panel: Panel, chains: Any) -> dict[str, Array]:
    """Return the panel of some chains only: `chains` is a slice or booleans (n,)."""
    return {rule: values[chains] for rule, values in panel.items()}


def lead(panel: Panel, rule: str, rivals: Sequence[str]) -> Array:
    """Return how far a rule's regret lies below that of its best rival, per chain (n,); negative if it has more."""
    return np.min([panel[rival] for rival in rivals if rival != rule], axis=0) - panel[rule]


def ahead(panel: Panel, rule: str, rivals: Sequence[str], tie: float = ROUNDING) -> Estimate:
    """Return the share of chains in which a rule's regret is below that of all rivals, ties not counted."""
    return share(lead(panel, rule, rivals) > tie)


def more(panel: Panel, rule: str, rivals: Sequence[str], seed: int) -> Judged:
    """Return how much more regret a rule has than its closest rival, paired over chains.

    `mean` and `median` of the differences, each largest over the rivals: below 0 it has less regret than all of them.
    """
    apart = {rival: panel[rule] - panel[rival] for rival in rivals}
    mean = largest(paired_difference(its, np.zeros(len(its)), seed) for its in apart.values())
    middle = partial(np.median, axis=-1)
    medians = [bootstrap(middle, its, rng=intervals(seed), method="percentile") for its in apart.values()]
    return {"mean": mean, "median": largest(medians)}


def both(panels: Mapping[str, tuple[Panel, str]], rivals: Sequence[str], seed: int) -> Judged:
    """Return `more` of several (panel, rule), each with the share of chains in which it is strictly ahead."""
    judged: Judged = {}
    for part, (panel, rule) in panels.items():
        judged |= {f"{part}_{name}": its for name, its in more(panel, rule, rivals, seed).items()}
        judged[f"{part}_ahead"] = ahead(panel, rule, rivals)
    return judged


def behind(panel: Panel, rule: str, rivals: Sequence[str] = BLACK_BOX, tie: float = ROUNDING) -> Estimate:
    """Return the share of chains in which a rule's regret exceeds that of the best rival, ties not counted."""
    return share(lead(panel, rule, rivals) < -tie)


def within(regrets: Array) -> Estimate:
    """Return the share of regrets (n,) that are at most 5 %."""
    return share(regrets <= 0.05)


def near_optimal(regrets: Array, limit: float, times: int, seed: int) -> Estimate:
    """Return the share of trials (n times,) whose regret is at most `limit`, resampled by chains."""
    return estimated_mean(by_chain(1.0 * (regrets <= limit), times), seed)


def mean_ratio(a: Array, b: Array, seed: int) -> Estimate:
    """Return the mean of a over that of b, both (n,), paired, resampled by chains."""
    return paired_share(a, b, seed).changed(lambda value: 1 + value)


# Cumulative regret


def claim_5_A(total: Panel, norm_2: Panel, seed: int) -> Judged:
    """How much more regret GPN-UCB has than its nearest rival but cEI, and in which share of chains the least; R_T."""
    its = more(total, "GPN-UCB", WITHOUT_CEI, seed)
    its["share"] = ahead(total, "GPN-UCB", WITHOUT_CEI)
    return its | {"norm_2": more(norm_2, "GPN-UCB", WITHOUT_CEI, seed)["mean"]}


def claim_5_B(total: Panel, seed: int) -> Judged:
    """How much more regret GPN-UCB has than sampled cEI, and in which share of chains less."""
    return more(total, "GPN-UCB", ["cEI"], seed) | {"share": ahead(total, "GPN-UCB", ["cEI"])}


def claim_5_C(total: Panel, seed: int) -> Judged:
    """How much more regret GPN-UCB has than exact cEI, and how many times its mean sampled cEI has."""
    judged = more(total, "GPN-UCB", ["cEI, exact"], seed) | {"share": ahead(total, "GPN-UCB", ["cEI, exact"])}
    return judged | {"noise": mean_ratio(total["cEI"], total["cEI, exact"], seed)}


def claim_5_Q(total: Panel, of_cei: Panel, seed: int) -> Judged:
    """How much more regret GPN-UCB, and cEI on its chains, have than the nearer black box, and how often."""
    return sometimes({"gpn": (total, "GPN-UCB", ROUNDING), "cei": (of_cei, "cEI", ROUNDING)}, seed)


def claim_5_G(total: Panel, at_50: Panel, seed: int) -> Judged:
    """How much more regret cUCB and OI have than the nearer black box, and how often; R_T, and simple regret at 50."""
    simple = {f"{rule.lower()}_simple": (at_50, rule, TIE) for rule in ("cUCB", "OI")}
    judged = sometimes({"cucb": (total, "cUCB", ROUNDING)} | simple, seed)
    return {part.removesuffix("_behind"): its for part, its in judged.items()}


def sometimes(panels: Mapping[str, tuple[Panel, str, float]], seed: int) -> Judged:
    """Return `more` than a black box for several (panel, rule, tie), and `..._behind`, the share of chains of more."""
    judged: Judged = {}
    for part, (panel, rule, tie) in panels.items():
        judged |= {f"{part}_{name}": its for name, its in more(panel, rule, BLACK_BOX, seed).items()}
        judged[f"{part}_behind"] = behind(panel, rule, tie=tie)
    return judged


def claim_5_I(versions: Panel, norm_2: Panel, seed: int) -> Judged:
    """How many times the mean regret GPN-UCB has without the envelope, R_T on draws and on chains of norm 2."""
    draws = mean_ratio(versions["no envelope"], versions["as in L.2"], seed)
    return {"draws": draws, "norm_2": mean_ratio(norm_2["no envelope"], norm_2["GPN-UCB"], seed)}


def claim_5_R(widths: Array, given_1: Trace, given_2: Trace, total: Panel, seed: int) -> Judged:
    """The width of cUCB's bounds over that of GPN-UCB's, and its mean regret given L = 1 over that given 2.

    `black`: how much more it then has than the nearer black box of the panel of R_T. `widths` (n, 3) as
    `experiments.relative_widths` returns them with L = 2, 1 and 1/2 in eq. 283.
    """
    median = partial(np.median, axis=-1)
    wider = [bootstrap(median, its, rng=intervals(seed), method="percentile") for its in widths.T]
    ratio = mean_ratio(given_1.regret.sum(axis=1), given_2.regret.sum(axis=1), seed)
    black = more(dict(total) | {"cUCB": given_1.regret.sum(axis=1)}, "cUCB", BLACK_BOX, seed)["mean"]
    return dict(zip(("looser", "at_1", "at_half"), wider, strict=True)) | {"regret": ratio, "black": black}


def operations(horizon: int, n_arms: int, depth: int, n_grid: int, samples: int) -> dict[str, float]:
    """Return the multiplications of a run of GPN-UCB and of sampled cEI, leading terms as printed.

    Round t solves with a factor of t rows: t^2 for each layer, t for each point. GPN-UCB asks the first layer at all
    arms and each later one at the points of its grid, whose envelope compares them pairwise and with both ends of every
    arm's interval; cEI asks each later layer at all samples of all arms.
    """
    t = np.arange(1.0, horizon + 1)
    later = {"GPN-UCB": n_grid * t + n_grid**2 + 2 * n_arms * n_grid, "cEI": samples * n_arms * t}
    return {rule: float((n_arms * t + depth * t**2 + (depth - 1) * its).sum()) for rule, its in later.items()}


def claim_5_X(counted: Mapping[str, float], traces: Mapping[str, Trace]) -> Judged:
    """How many times the operations, and the seconds of a round (medians), of GPN-UCB cEI takes."""
    seconds = {rule: float(np.median(trace.seconds_a_round)) for rule, trace in traces.items()}
    return {
        "operations": exact(counted["cEI"] / counted["GPN-UCB"]),
        "seconds": exact(seconds["cEI"] / seconds["GPN-UCB"]),
        "exact_seconds": exact(seconds["cEI, exact"] / seconds["GPN-UCB"]),
    }


# Simple regret


def claim_5_D(gpn: Array, nonada: Array, times: int, seed: int) -> Judged:
    """The share of trials of GPN-UCB at T = 50 (n times,), and of NonAda at 49 (n,), within 5 % and 1 %."""
    limits = {"": 0.05, "_1": 0.01}
    found = {f"gpn{end}": near_optimal(gpn, limit, times, seed) for end, limit in limits.items()}
    return found | {f"nonada{end}": near_optimal(nonada, limit, 1, seed) for end, limit in limits.items()}


def claim_5_E(panel: Panel, seed: int) -> Judged:
    """How much more simple regret GPN-UCB and NonAda have than their nearest rival but cEI."""
    return both({part: (panel, rule) for part, rule in OURS.items()}, WITHOUT_CEI, seed)


def claim_5_F(panel: Panel, seed: int) -> Judged:
    """How much more simple regret NonAda has than its nearest rival but cEI, and in which share of chains the least."""
    return more(panel, "NonAda", WITHOUT_CEI, seed) | {"share": ahead(panel, "NonAda", WITHOUT_CEI, TIE)}


def claim_5_AB(panel: Panel, seed: int) -> Judged:
    """How much more simple regret NonAda has than cEI, and in which share of chains less."""
    return more(panel, "NonAda", ["cEI"], seed) | {"share": ahead(panel, "NonAda", ["cEI"], TIE)}


def claim_5_H(swept: Mapping[float, Trace], cucb: Trace, seed: int) -> Judged:
    """In which share of chains OI is within 1 % of cUCB for all b <= 1, and how much more regret it has for b >= 100.

    Simple regret, `curve` on the mean over all rounds, `last` and `large` at T; `swept` {b: trace}.
    """
    curves = {b: simple_regret(trace) for b, trace in swept.items()}
    apart = np.array([np.abs(its - simple_regret(cucb)) for b, its in curves.items() if b <= 1])
    small, large = (
        np.mean([its[:, -1] for b, its in curves.items() if low <= b <= high], axis=0)
        for low, high in ((0, 1), (100, np.inf))
    )
    found = {"curve": share(apart.mean(axis=2).max(axis=0) <= 0.01), "last": share(apart[..., -1].max(axis=0) <= 0.01)}
    return found | {"large": paired_difference(large, small, seed)}


def claim_5_AC(smallest: Array, cucb: Array, smallest_shown: Array, cucb_shown: Array) -> Judged:
    """In which share of chains OI of the smallest b is within a tie of cUCB, in simple regret on the mean over rounds.

    Curves (chains, T); `..._shown`: trials on one chain, whose mean curves are compared by their largest difference.
    """
    alike = np.abs(smallest - cucb).mean(axis=1) <= TIE
    apart = np.abs(smallest_shown.mean(axis=0) - cucb_shown.mean(axis=0)).max()
    return {"curve": share(alike), "figure": exact(float(apart))}


def claim_5_AD(gpn: Array, rivals: Mapping[str, Array]) -> Judged:
    """The share of chains where a rival is within 5 % no sooner than GPN-UCB, if it is within 20 % sooner.

    Curves of simple regret (chains, T); `rivals` by part. Where there is no such chain, of all.
    """
    found = {}
    for part, curves in rivals.items():
        early = rounds_to(curves, 0.2) < rounds_to(gpn, 0.2)
        no_sooner = rounds_to(curves, 0.05) >= rounds_to(gpn, 0.05)
        found[part] = share(no_sooner[early] if early.any() else no_sooner)
    return found


def rounds_to(curves: Array, limit: float) -> Array:
    """Return the first round after which simple regret (n, T) is at most `limit`, (n,); infinity where it never is."""
    there = curves <= limit
    return np.where(there.any(axis=1), there.argmax(axis=1) + 1.0, np.inf)


def claim_5_N(panel: Panel, seed: int) -> Judged:
    """How much more simple regret GPN-UCB has than cEI, and in which share of chains they differ by at most 1 %."""
    alike = share(np.abs(panel["GPN-UCB"] - panel["cEI"]) <= 0.01)
    return more(panel, "GPN-UCB", ["cEI"], seed) | {"share": alike}


def claim_5_O(panel: Panel, seed: int) -> Judged:
    """How much more simple regret than cEI GPN-UCB and NonAda have."""
    judged = both({part: (panel, rule) for part, rule in OURS.items()}, ["cEI"], seed)
    return {part: its for part, its in judged.items() if not part.endswith("ahead")}


def claim_5_W(networks: Mapping[str, Panel]) -> Judged:
    """Which share of networks is within 5 % of the range, {structure: panel of simple regret}."""
    its = product((("multi", "multi-output"), ("feed", "feed-forward")), OURS.items())
    return {f"{short}_{part}": within(networks[name][rule]) for (short, name), (part, rule) in its}


def claim_5_Y(traces: Mapping[str, Trace], seed: int) -> Judged:
    """In which share of trials the arms differ if the envelope reaches over all of D, and by what share R_T grows."""
    near, far = traces["as in L.2"], traces["over all of D"]
    more_regret = paired_share(far.regret.sum(axis=1), near.regret.sum(axis=1), seed)
    return {"trials": share((near.arms != far.arms).any(axis=1)), "regret": more_regret}


def claim_5_Z(ends: Panel, seed: int) -> Judged:
    """How much less simple regret than as in L.2 versions of GPN-UCB have at T."""
    return {part: paired_difference(ends["as in L.2"], ends[name], seed) for part, name in VERSIONS.items()}


# Bounds and sets


def coverage(found: Mapping[str, Sequence[Mapping[str, Array]]], n_arms: int) -> pd.DataFrame:
    """Return how often bounds and sets miss and how wide sets are, one row per structure, from `experiments.coverage`.

    `band`: arm-steps outside; `missed, paper` and `missed, outward`: shares of arm-steps, and `error, ...` 1.96
    standard errors of these over networks; `width, ...`: median at the end, `lower, ...` and `upper, ...`: quartiles.
    """
    rows = {}
    for structure, runs in found.items():
        its = {mode: np.array([run[mode] for run in runs]) for mode in ("band", *MODES)}
        rows[structure] = {"band": its["band"].sum()}
        arm_steps = its["band"].size * n_arms
        rows[structure] |= {f"missed, {mode}": its[mode][:, 0].sum() / arm_steps for mode in MODES}
        rows[structure] |= {f"width, {mode}": np.median(its[mode][:, 1, -1]) for mode in MODES}
        for mode in MODES:
            shares, ends = its[mode][:, 0].sum(axis=1) * len(its[mode]) / arm_steps, its[mode][:, 1, -1]
            rows[structure][f"error, {mode}"] = 1.96 * float(standard_error(shares))
            rows[structure] |= dict(
                zip((f"lower, {mode}", f"upper, {mode}"), np.quantile(ends, [0.25, 0.75]), strict=True)
            )
    return pd.DataFrame(rows).T


def claim_5_J(table: pd.DataFrame, arm_steps: int) -> Judged:
    """How often bounds and outward sets miss, the widths of these, and which share grid sets miss, by `coverage`."""
    found = {"band": exact(table["band"].sum())}
    for part, (_, row) in zip(("chain", "multi", "mixed", "feed", "extra"), table.iterrows(), strict=True):
        found[part] = exact(arm_steps * row["missed, outward"])
        found |= {f"{part}_width": exact(row["width, outward"]), f"{part}_grid": exact(row["missed, paper"])}
    return found


def claim_5_K(outward: pd.DataFrame, bare: pd.DataFrame) -> Judged:
    """The largest share of their bounds that a step's and the cumulative regret reach; also claim 5-V.

    One row per network of `experiments.bound_ratios`, on outward-rounded sets and on bare ones. The former count only
    if rounding adds less than 5 % of the range, or all of them if there are none such.
    """
    kept = outward[outward["slack"] < 0.05] if (outward["slack"] < 0.05).any() else outward
    found = {"slack": outward["slack"].median(), "step": kept["step"].max(), "total": kept["total"].max()}
    return {part: exact(value) for part, value in (found | {"bare": bare["step"].max()}).items()}


def claim_5_P(largest: pd.DataFrame) -> Judged:
    """The largest share of their bounds that errors and simple regret reach, of `experiments.composed_errors`."""
    structures = {"chain": "chain", "multi": "multi-output", "feed": "feed-forward"}
    three = largest.loc[[*structures.values()]]
    found = {part: exact(three.loc[name, "error"]) for part, name in structures.items()}
    return found | {"regret": exact(three["regret"].max()), "projected": exact(three.loc["chain", "projected"])}


def claim_5_AA(errors: Array, pulls: Sequence[int], rate: float, seed: int) -> Judged:
    """By how much the exponent of T in the error of the composite mean, networks by pulls, exceeds the stated one."""
    return {"rate": growth(np.array(pulls), errors, intervals(seed)).changed(lambda its: its + rate)}


# The lower bound


def claim_5_L(computed: Mapping[float, float], printed: Mapping[float, float]) -> Judged:
    """The largest difference of r_min / r_max from the printed numbers, both {nu: ratio}."""
    return {"digits": exact(max(abs(computed[nu] - printed[nu]) for nu in printed))}


def claim_5_M(regrets: Mapping[float, pd.DataFrame]) -> Judged:
    """The smallest average over all needles of a rule's regret over its bound; also claim 5-S.

    `regrets` {nu: one row per needle, one column per rule}: simple regret over epsilon, or R_T over epsilon T.
    """
    return {part: exact(regrets[nu].mean().min()) for part, nu in NEEDLES.items()}


def claim_5_T(sources: Mapping[float, needle.Needles], trial: Trial) -> Judged:
    """The largest norm over B, slope over L, error of the maximum, and how many arms outside are not 0, of all nu.

    `norm` is that of nu < 2, `norm_2` that of nu = 2.
    """
    problems = {nu: source(trial) for nu, source in sources.items()}
    norms = {nu: its.first_norm() / needle.NORM for nu, its in sources.items()}
    slopes = {nu: max(its.needle_slope(), needle.steepest(nu)) for nu, its in sources.items()}
    tops = [its.expected_reward.max() / (2 * sources[nu].epsilon) for nu, its in problems.items()]
    return {
        "norm": exact(max(its for nu, its in norms.items() if nu < 2)),
        "norm_2": exact(norms[2.0]),
        "slope": exact(max(slopes[nu] / its.model.lipschitz for nu, its in problems.items())),
        "maximum": exact(max(abs(top - 1) for top in tops)),
        "outside": exact(sum(its.outside(trial) for its in sources.values())),
    }


def claim_5_U() -> Judged:
    """How 1 - c falls with the scale s of u and u~ for nu = 1.5 and 2, and what the layers still raise; c is its least.

    `rises`: the smaller exponent of s; `one` and `rough`: that of nu = 1, and the larger of 0.5 and 0.75; `usable`: the
    least g~(u~) / u~; `last`: the least g~(u~) at s = 1/64.
    """
    shrink = np.array([1, 1 / 4, 1 / 16, 1 / 64])
    lost = {nu: [1 - needle.least_c(nu, s) for s in shrink] for nu in (0.5, 0.75, 1.0, 1.5, 2.0)}
    exponents = {nu: float(np.polyfit(np.log(shrink), np.log(its), 1)[0]) for nu, its in lost.items()}
    tops = np.array([[needle.amplifier(np.array(s * needle.REACH), nu, s) for s in shrink] for nu in (1.5, 2.0)])
    return {
        "rises": exact(min(exponents[1.5], exponents[2.0])),
        "one": exact(exponents[1.0]),
        "rough": exact(max(exponents[0.5], exponents[0.75])),
        "usable": exact((tops / (shrink * needle.REACH)).min()),
        "last": exact(tops[:, -1].min()),
    }
