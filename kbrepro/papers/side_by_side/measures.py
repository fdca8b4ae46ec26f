"""What judges each claim of the notebook side by side: R_T of what was played goes in, estimates come out.

A *panel* is {policy: R_T of every trial (n,)} of one problem; all panels of the bench are `panels` {problem: panel}.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro import regret, simulation
from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb.experiments import regret_exponents
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, Setting
from kbrepro.papers.side_by_side.field import TUNED, Entry
from kbrepro.regret import Estimate, exact, intervals, paired_share, share

Judged = dict[str, Estimate]
Panel = Mapping[str, Array]
Panels = Mapping[str, Panel]
UNIFORM = "uniform play"
BEST_PROVED = "IGP-UCB, both"
RESAMPLES = 2000
#: Regret below this share of uniform play's counts as that share.
FLOOR = 0.01


def policies_of(panels: Panels) -> list[str]:
    """Return the names of all policies, in the order in which they come first."""
    return list(dict.fromkeys(name for panel in panels.values() for name in panel))


# Beside the best of all


def floored(means: Array, of_uniform: Array) -> Array:
    """Return mean regrets (..., policies), at least FLOOR times that of uniform play: smaller ones are alike."""
    return np.maximum(means, FLOOR * of_uniform[..., None])


def over_best(panel: Panel) -> dict[str, float]:
    """Return the mean regret of every policy over that of the best of the whole panel, both `floored`, >= 1."""
    means = floored(np.array([np.mean(its) for its in panel.values()]), np.asarray(np.mean(panel[UNIFORM])))
    return dict(zip(panel, (means / means.min()).tolist(), strict=True))


def ratios(panels: Panels, policies: Sequence[str]) -> Array:
    """Return the mean regrets over the best of each problem, (problems, policies); NaN where a policy did not play."""
    found = [over_best(panel) for panel in panels.values()]
    return np.array([[its.get(name, math.nan) for name in policies] for its in found])


def resampled(panels: Panels, policies: Sequence[str], seed: int) -> Array:
    """Return `ratios` of RESAMPLES draws of problems and, within each, of trials: (resamples, problems, policies)."""
    rng, drawn = intervals(seed), []
    for panel in panels.values():
        names = list(panel)
        n = min(len(its) for its in panel.values())
        table = np.stack([panel[name][:n] for name in names])
        weights = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n
        means = floored(weights @ table.T, weights @ panel[UNIFORM][:n])
        over = means / means.min(axis=1, keepdims=True)
        missing = np.full(RESAMPLES, math.nan)
        drawn.append(np.stack([over[:, names.index(p)] if p in panel else missing for p in policies], axis=1))
    of_problems = np.stack(drawn, axis=1)
    chosen = rng.integers(len(drawn), size=(RESAMPLES, len(drawn)))
    return np.take_along_axis(of_problems, chosen[:, :, None], axis=1)


def over_problems(
    statistic: Callable[[Array], NDArray[np.floating]], panels: Panels, policies: Sequence[str], seed: int
) -> Estimate:
    """Return a statistic of `ratios` (..., problems, policies) -> (...), percentile interval over problems and trials.

    Few problems are no sample of all problems: the interval says how much depends on which were taken.
    """
    low, high = np.nanquantile(statistic(resampled(panels, policies, seed)), (0.025, 0.975))
    return Estimate(float(statistic(ratios(panels, policies))), float(low), float(high))


def share_within(factor: float) -> Callable[[Array], Array]:
    """Return a statistic: the share of its problems on which the first policy is within `factor` of the best."""

    def statistic(its: Array) -> Array:
        first = its[..., 0]
        there = ~np.isnan(first)
        return np.asarray((first <= factor).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1))

    return statistic


def median_of_least(its: Array) -> Array:
    """Return the median over problems of the least ratio among the policies."""
    return np.asarray(np.nanmedian(np.nanmin(its, axis=-1), axis=-1))


def profile(panels: Panels, policies: Sequence[str], factors: Array) -> Array:
    """Return the share of its problems on which a policy is within each factor of the best, (policies, factors)."""
    its = ratios(panels, policies)
    there = (~np.isnan(its)).sum(axis=0)
    return np.array([[(its[:, i] <= f).sum() / max(there[i], 1) for f in factors] for i in range(len(policies))])


def halves(panels: Mapping[Any, Panel]) -> list[dict[Any, dict[str, Array]]]:
    """Return the panels of even and of odd trials."""
    return [{key: {name: its[k::2] for name, its in panel.items()} for key, panel in panels.items()} for k in (0, 1)]


# Growth


def near_optimal_exponent(d: int, nu: float) -> float:
    """Return (d + nu) / (d + 2 nu), the exponent of sqrt(T gamma_T) for a Matérn kernel, logarithms left out."""
    return regret_exponents(d, nu)["lower bound"]


def proved_exponents(d: int, nu: float) -> dict[str, float]:
    """Return the proved exponent of every rule that plays for growth; 1 where nothing below is proved."""
    of = regret_exponents(d, nu)
    near = dict.fromkeys(("SupKernelUCB", "BPE", "BPE, tighter", "BPE, doubling"), of["lower bound"])
    grown = dict.fromkeys(("IGP-UCB, lambda grows", BEST_PROVED), of["IGP-UCB, lambda grows"])
    whole = dict.fromkeys(("IGP-UCB", "IGP-UCB, tighter", "GP-TS"), of["IGP-UCB, gain of 2021"])
    cells = dict.fromkeys(("π-GP-UCB", "π-GP-UCB, tighter"), of["π-GP-UCB"])
    return near | grown | whole | cells


Curves = Mapping[tuple[float, int], Mapping[str, Array]]


def growths(curves: Mapping[Any, Panel], rounds: Sequence[int], seed: int) -> dict[tuple[Any, str], Estimate]:
    """Return the exponent of T in the mean of R_T (n, horizons), by (case, policy), with its interval over runs."""
    return {
        (case, name): regret.growth(np.array(rounds), its, intervals(seed))
        for case, panel in curves.items()
        for name, its in panel.items()
    }


def exponents(curves: Curves, rounds: Sequence[int], seed: int) -> dict[tuple[float, int, str], Estimate]:
    """Return `growths` by (nu, d, policy)."""
    return {(*case, name): its for (case, name), its in growths(curves, rounds, seed).items()}


def best_near(panel: Mapping[str, Array], entries: Mapping[str, Entry]) -> str:
    """Return the policy of least mean regret at the last horizon among those that are near-optimal on paper."""
    near = [name for name in panel if name in entries and entries[name].proof == "near-optimal"]
    return min(near, key=lambda name: float(panel[name][:, -1].mean()))


def least_lead(curves: Curves, entries: Mapping[str, Entry]) -> float:
    """Return the mean regret of the best near-optimal rule over that of `BEST_PROVED`, the least of all cases."""
    ends = ((panel[best_near(panel, entries)][:, -1], panel[BEST_PROVED][:, -1]) for panel in curves.values())
    return float(min(near.mean() / rival.mean() for near, rival in ends))


def pays_from(near: Array, rival: Array, horizon: int, d: int, nu: float) -> Array:
    """Return log10 of the horizon from which the better exponent pays, if regret (..., n) at `horizon` grows as proved.

    The rival is `BEST_PROVED`. The horizon itself where the near-optimal rule has less regret already.
    """
    lead = regret_exponents(d, nu)["IGP-UCB, lambda grows"] - near_optimal_exponent(d, nu)
    ratio = np.maximum(near.mean(axis=-1) / rival.mean(axis=-1), 1.0)
    return np.asarray(math.log10(horizon) + np.log10(ratio) / lead)


def case_name(nu: float, d: int) -> str:
    """Return the name of a part, such as nu15_d2."""
    return f"nu{round(10 * nu)}_d{d}"


# Claims


def claim_6_A(ours: Mapping[str, Array], kept: Mapping[str, Array]) -> Judged:
    """How far regrets on shared trials are from those that the notebooks 03 and 04 keep, largest share."""
    off = [float(np.max(np.abs(ours[name] / kept[name][: len(ours[name])] - 1))) for name in kept]
    return {"deviation": exact(max(off, default=math.nan))}


def claim_6_B(curves: Curves, entries: Mapping[str, Entry], seed: int) -> Judged:
    """How much more regret the best near-optimal rule has than `BEST_PROVED` at the last horizon, as a share."""
    found = {}
    for case, panel in curves.items():
        near, rival = panel[best_near(panel, entries)][:, -1], panel[BEST_PROVED][:, -1]
        found[case_name(*case)] = paired_share(near, rival, seed)
    return found


def claim_6_C(curves: Curves, rounds: Sequence[int], entries: Mapping[str, Entry], seed: int) -> Judged:
    """By how much the measured exponent of the best near-optimal rule exceeds the proved one."""
    of, found = exponents(curves, rounds, seed), {}
    for case, panel in curves.items():
        proved = near_optimal_exponent(case[1], case[0])
        found[case_name(*case)] = of[(*case, best_near(panel, entries))].changed(lambda e, p=proved: e - p)  # type: ignore[misc]
    return found


def claim_6_D(curves: Curves, rounds: Sequence[int], entries: Mapping[str, Entry], seed: int) -> Judged:
    """log10 of the horizon from which the best near-optimal rule would have less regret than `BEST_PROVED`."""
    found = {}
    for (nu, d), panel in curves.items():
        samples = panel[best_near(panel, entries)][:, -1], panel[BEST_PROVED][:, -1]

        def statistic(near: Array, rival: Array, d: int = d, nu: float = nu) -> Array:
            return pays_from(near, rival, rounds[-1], d, nu)

        found[case_name(nu, d)] = regret.bootstrap(statistic, *samples, rng=intervals(seed), method="percentile")
    return found


def claim_6_E(panels: Panels, policies: Mapping[str, str], seed: int) -> Judged:
    """On which share of problems a policy {part: policy} is within twice the regret of the best of all."""
    return {part: over_problems(share_within(2.0), panels, [name], seed) for part, name in policies.items()}


def claim_6_G(panels: Panels, entries: Mapping[str, Entry], seed: int) -> Judged:
    """The least regret among the near-optimal rules over the least of all, median over problems."""
    near = [name for name, entry in entries.items() if entry.proof == "near-optimal"]
    return {"printed": over_problems(median_of_least, panels, near, seed)}


def claim_6_H(panels: Panels, bench: Mapping[str, Setting], entries: Mapping[str, Entry], seed: int) -> Judged:
    """The price of a guarantee: the least regret among rules whose proof holds there over the least of all, median.

    `norm`: problems whose norm is given; `drawn`: draws from the prior.
    """
    found = {}
    for part, kind in (("norm", BOUNDED), ("drawn", DRAWN)):
        marked: dict[str, dict[str, Array]] = {}
        for problem, panel in panels.items():
            if bench[problem].holds == kind:
                met = {
                    f"proved: {n}": its for n, its in panel.items() if n in entries and bench[problem].met(entries[n])
                }
                marked[problem] = dict(panel) | met
        proved = [name for name in policies_of(marked) if name.startswith("proved: ")]
        found[part] = over_problems(median_of_least, marked, proved, seed)
    return found


def price_of_width(panels: Panels, bench: Mapping[str, Setting], entries: Mapping[str, Entry]) -> tuple[float, float]:
    """Return how many times the least regret the best proved rule has as printed, and the best of these rules tuned.

    Medians over problems whose norm is given.
    """
    found = []
    for problem, panel in panels.items():
        if bench[problem].holds == BOUNDED:
            over = over_best(panel)
            met = [name for name in over if name in entries and bench[problem].met(entries[name])]
            found.append((min(over[n] for n in met), min(over[n + TUNED] for n in met if n + TUNED in over)))
    printed, tuned = np.median(found, axis=0)
    return float(printed), float(tuned)


def claim_6_I(panels: Panels, names: Iterable[str], seed: int) -> Judged:
    """What one tuned scale saves: regret of a rule, tuned, over the same as printed, median over problems and rules."""
    pairs = [(name, name + TUNED) for name in names]

    def statistic(its: Array) -> Array:
        with np.errstate(invalid="ignore"):
            over = its[..., len(pairs) :] / its[..., : len(pairs)]
        return np.asarray(np.nanmedian(over, axis=(-2, -1)))

    policies = [printed for printed, _ in pairs] + [tuned for _, tuned in pairs]
    return {"ratio": over_problems(statistic, panels, policies, seed)}


def claim_6_J(growth: Mapping[str, Mapping[str, Array]], rounds: Sequence[int], seed: int) -> Judged:
    """Exponents of SupKernelUCB and of IGP-UCB on a simple problem {problem: {policy: R_T (n, horizons)}}.

    The problem is the one on which the smaller of SupKernelUCB's exponents, with the constants of its proof and with
    one tuned scale, is largest.
    """
    of, rules = growths(growth, rounds, seed), ("SupKernelUCB", "SupKernelUCB" + TUNED)
    worst = max(growth, key=lambda problem: min(of[problem, rule].value for rule in rules))
    return {"proof": of[worst, rules[0]], "tuned": of[worst, rules[1]], "igp": of[worst, "IGP-UCB"]}


Wrong = Mapping[tuple[str, str], Panel]


def changed_by(wrong: Wrong, problem: str, case: str, rule: str) -> tuple[Array, Array]:
    """Return R_T of a rule under a wrong assumption and under none, (n,) each."""
    return wrong[problem, case][rule], wrong[problem, "as it is"][rule]


def factor(wrong: Wrong, case: str, rules: Sequence[str], seed: int) -> Estimate:
    """Return by which factor a wrong assumption multiplies regret: geometric mean over rules and problems."""
    problems = list(dict.fromkeys(problem for problem, _ in wrong))
    pairs = [changed_by(wrong, problem, case, rule) for problem in problems for rule in rules]
    n = min(len(a) for a, _ in pairs)
    stacked = np.stack([[a[:n], b[:n]] for a, b in pairs])

    def statistic(numbers: Array) -> Array:
        means = stacked[:, :, numbers.astype(int)].mean(axis=-1)
        return np.asarray(np.exp(np.log(means[:, 0] / means[:, 1]).mean(axis=0)))

    return regret.bootstrap(statistic, np.arange(n, dtype=float), rng=intervals(seed), method="percentile")


def claim_6_K(wrong: Wrong, rules: Sequence[str], seed: int) -> Judged:
    """By which factor each wrong assumption multiplies regret: geometric mean over rules and problems."""
    parts = {
        "long": "lengthscale double",
        "short": "lengthscale half",
        "quiet": "noise a third",
        "loud": "noise three times",
    }
    return {part: factor(wrong, case, rules, seed) for part, case in parts.items()}


def claim_6_L(wrong: Wrong, bands: Mapping[str, NDArray[np.bool_]], rule: str, seed: int) -> Judged:
    """What a B too small by three does to a rule: factor on its regret, and in which share of runs the band holds."""
    return {"regret": factor(wrong, "B a third", [rule], seed), "band": share(bands["B a third"])}


def claim_6_M(bands: Mapping[tuple[str, str], NDArray[np.bool_]]) -> Judged:
    """The smallest share of runs in which a band with a proof held, over {(problem, policy): held (n,)}."""
    return {"proved": regret.weakest(share(its) for its in bands.values())}


# Tables


def best_divisors(swept: Mapping[str, Panel]) -> dict[str, float]:
    """Return for each rule the divisor of beta of least regret on held-out problems {problem: {"rule / 5": R_T}}.

    Least geometric mean, over the problems on which a rule is defined, of its mean regret over that of uniform play.
    """
    table = sweep(swept)
    return {str(rule): float(its.idxmin()) for rule, its in table.iterrows()}


def sweep(swept: Mapping[str, Panel]) -> pd.DataFrame:
    """Return the geometric mean of regret over uniform play's: one row per rule, one column per divisor."""
    logs: dict[tuple[str, float], list[float]] = {}
    for of_uniform in shares(swept).values():
        for name, over in of_uniform.items():
            rule, _, divisor = name.partition(" / ")
            if divisor:
                logs.setdefault((rule, float(divisor)), []).append(math.log(max(over, 1e-12)))
    found = pd.Series({case: math.exp(float(np.mean(its))) for case, its in logs.items()})
    return found.unstack().rename_axis("policy")


def beside_proved(of: Mapping[tuple[float, int, str], Estimate]) -> pd.DataFrame:
    """Return measured exponents with intervals, and the proved ones, one row per (nu, d, policy)."""
    rows = {(nu, d, name): [*its, proved_exponents(d, nu).get(name, math.nan)] for (nu, d, name), its in of.items()}
    table = pd.DataFrame(rows, ["measured", "low", "high", "proved"]).T
    return table.rename_axis(["ν", "d", "policy"])


def growth_table(growth: Mapping[str, Mapping[str, Array]], rounds: Sequence[int], seed: int) -> pd.DataFrame:
    """Return exponents of {problem: {policy: R_T (n, horizons)}} with intervals, one row per (problem, policy)."""
    return pd.DataFrame(growths(growth, rounds, seed), ["exponent", "low", "high"]).T.rename_axis(["problem", "policy"])


def shares(panels: Panels) -> dict[str, dict[str, float]]:
    """Return mean regret over that of uniform play, by problem and policy."""
    return {
        p: {n: float(np.mean(its) / np.mean(panel[UNIFORM])) for n, its in panel.items()} for p, panel in panels.items()
    }


def bench_table(
    panels: Panels, bench: Mapping[str, Setting], entries: Mapping[str, Mapping[str, Entry]]
) -> pd.DataFrame:
    """Return, per (problem, policy), share of uniform play, factor over the best, kind of proof, assumptions met."""
    rows, of_uniform = {}, shares(panels)
    for problem, panel in panels.items():
        over = over_best(panel)
        for name, its in panel.items():
            entry = entries[problem][name]
            met = {True: "met", False: "not met"}[bench[problem].met(entry)] if entry.proof != "no proof" else "none"
            rows[problem, name] = [of_uniform[problem][name], over[name], entry.proof, met, len(its)]
    columns = ["share_of_uniform", "factor", "proof", "assumptions", "trials"]
    return pd.DataFrame(rows, columns).T.rename_axis(["problem", "policy"])


def microseconds(seconds: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return microseconds per round, one row per policy, one column per problem."""
    return (1e6 * pd.DataFrame(seconds)).rename_axis("policy")


def ranking(panels: Panels, entries: Mapping[str, Entry]) -> pd.DataFrame:
    """Return one row per policy, best first: median factor over the best with quartiles, and shares within 2 and 5.

    Policies that are defined on fewer than half of the problems come last.
    """
    names = policies_of(panels)
    its = ratios(panels, names)
    low, high = np.nanquantile(its, (0.25, 0.75), axis=0)
    there = (~np.isnan(its)).sum(axis=0)
    table = pd.DataFrame(
        {
            "factor": np.nanmedian(its, axis=0),
            "q25": low,
            "q75": high,
            "within_twice": (its <= 2).sum(axis=0) / there,
            "within_five": (its <= 5).sum(axis=0) / there,
            "problems": there,
            "proof": [entries[name].proof for name in names],
        },
        names,
    ).rename_axis("policy")
    table["few"] = table["problems"] < len(panels) / 2
    return table.sort_values(["few", "factor"]).drop(columns="few")


def advice(panels: Panels, situations: Mapping[str, Sequence[str]], many: int = 3) -> pd.DataFrame:
    """Return the rules as printed of least regret in each situation {situation: problems}, best first.

    By the geometric mean, over the problems, of regret over that of the best rule; rules defined on all of them.
    """
    rows = {}
    for situation, problems in situations.items():
        of = [over_best(panels[problem]) for problem in problems]
        means = {n: math.exp(float(np.mean([math.log(its[n]) for its in of]))) for n in of[0]
                 if TUNED not in n and all(n in its for its in of)}  # fmt: skip
        best = sorted(means, key=lambda name: means[name])[:many]
        rows[situation] = [f"{name} ({means[name]:.1f})" for name in best]
    heads = ["least regret (times the best)", "second", "third", *map(str, range(4, many + 1))][:many]
    return pd.DataFrame(rows, heads).T.rename_axis("situation")


def wrong_table(wrong: Wrong, rules: Sequence[str]) -> pd.DataFrame:
    """Return by which factor each wrong assumption multiplies each rule's mean regret, geometric mean over problems."""
    problems = list(dict.fromkeys(problem for problem, _ in wrong))
    cases = [case for case in dict.fromkeys(case for _, case in wrong) if case != "as it is"]

    def of(rule: str, case: str) -> float:
        pairs = [changed_by(wrong, problem, case, rule) for problem in problems]
        return math.exp(float(np.mean([math.log(a.mean() / b.mean()) for a, b in pairs])))

    return pd.DataFrame({case: {rule: of(rule, case) for rule in rules} for case in cases}).rename_axis("policy")


# Trials that other notebooks played


#: Problem here -> notebook and label there, and the policies that both play, by their name here and there.
SHARED = {
    "Table 1, d = 1": ("03", "Table 1, d = 1", {"IGP-UCB": "IGP-UCB", "π-GP-UCB": "π-GP-UCB"}),
    "Table 1, d = 2": ("03", "Table 1, d = 2", {"IGP-UCB": "IGP-UCB", "π-GP-UCB": "π-GP-UCB"}),
    "BKB's problem": ("04", "regret", {"BKB": "BKB", "IGP-UCB, gain of the pulls": "exact"}),
}


def shared_with(panels: Panels, bench: Mapping[str, Setting]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the regrets here and as the full-scale runs of 03 and 04 keep them, of the trials that both played.

    Only where horizons agree: in short runs both are empty.
    """
    ours, kept = {}, {}
    for problem, (notebook, label, names) in SHARED.items():
        there = simulation.played(notebook, label).traces
        for name, other in names.items():
            if there[other].horizon == bench[problem].horizon:
                ours[f"{problem}, {name}"] = panels[problem][name]
                kept[f"{problem}, {name}"] = there[other].cumulative_regret[:, -1]
    return ours, kept
