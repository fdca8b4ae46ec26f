"""What judges each claim on GP-UCB: from played trials to an estimate of every part of the claim.

`regret` is always {rule: R_T / T of every trial (n,)} of the same functions.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro import information
from kbrepro.kernels import Array
from kbrepro.papers.gp_ucb import gain
from kbrepro.problems import Problem, Trial
from kbrepro.regret import (
    Estimate,
    Trace,
    block_length,
    block_mean,
    block_share,
    bootstrap,
    exact,
    farthest,
    final_average_regret,
    intervals,
    largest,
    mean_difference,
    ratio,
    relative_difference,
    share,
    weakest,
)
from kbrepro.verdicts.interpretations import cross

#: The parts of a claim on MPI -> the rules of these margins.
MARGINS = {"margin_0": "MPI, margin 0", "margin_001": "MPI, margin 0.01", "margin_003": "MPI, margin 0.03"}
MARGINS |= {"margin_01": "MPI"}
#: The same for claims on rules that look at the mean or at the variance alone.
NAIVE = {"mean_only": "mean only", "variance_only": "variance only"}
#: GP-UCB of Theorem 1: `undivided` parts of claims that may be about it, too.
UNDIVIDED = "GP-UCB"
#: How a part of a claim begins -> the GP-UCB that it is about.
GP_UCBS = {"": "GP-UCB/5", "undivided_": UNDIVIDED}
#: "Equally well" and "on par": within this share.
ALIKE = 0.2
#: How a part of a claim ends -> how the names of EI and MPI end, which says their incumbent.
INCUMBENTS = {"": "", "_noisy": ", noisy incumbent"}
#: What claim 1-H is about.
BEHIND = NAIVE | MARGINS
#: Claim that is played under every interpretation -> the choices that affect it, besides incumbent and margin.
CHOICES: dict[str, tuple[str, ...]] = dict.fromkeys(("1-E", "1-F"), ("lengthscale", "noise variance"))
CHOICES |= dict.fromkeys(("1-H", "1-I"), ("noise variance", "mean", "days tested"))

Panel = Mapping[str, Array]
Judged = dict[str, Estimate]
Statistic = Callable[..., Array]


# Synthetic functions (Fig. 5a)


def against(statistic: Statistic, regret: Panel, rule: str, rival: str, seed: int, method: str = "BCa") -> Estimate:
    """Return a statistic of the regrets of two rules, with its bootstrap interval over trials."""
    return bootstrap(statistic, regret[rule], regret[rival], rng=intervals(seed), method=method)


def claim_1_D(regret: Panel, seed: int) -> Judged:
    """How much more regret GP-UCB/5 has than GP-UCB, mean difference."""
    return {"difference": against(mean_difference, regret, "GP-UCB/5", "GP-UCB", seed)}


def claim_1_E(pair: Panel, regret: Panel, seed: int) -> Judged:
    """How much more regret each GP-UCB has than EI, as a share, and EI's with the noisy incumbent over EI's."""
    both = {"mean": (relative_difference, "BCa"), "median": (of_medians, "percentile")}
    found = {part: against(of, pair, "GP-UCB/5", "EI", seed, method) for part, (of, method) in both.items()}
    found["incumbents"] = against(ratio, regret, "EI, noisy incumbent", "EI", seed)
    return found | {"undivided": against(relative_difference, pair, UNDIVIDED, "EI", seed)}


def of_medians(a: Array, b: Array) -> Array:
    """Return the median of a over that of b, minus 1, along the last axis."""
    return np.median(a, axis=-1) / np.median(b, axis=-1) - 1


def claim_1_F(regret: Panel, seed: int) -> Judged:
    """How much more regret MPI has than GP-UCB/5 (or undivided GP-UCB) or EI, whichever it is less like, by margin."""
    return {
        prefix + part: as_well(regret, rule, rival, seed)
        for prefix, rival in GP_UCBS.items()
        for part, rule in MARGINS.items()
    }


def as_well(regret: Panel, rule: str, gp_ucb: str, seed: int) -> Estimate:
    """Return how much more regret a rule has than a GP-UCB or EI, whichever it is less like, as a share."""
    return farthest((against(relative_difference, regret, rule, rival, seed) for rival in (gp_ucb, "EI")), ALIKE)


def claim_1_G(regret: Panel, seed: int) -> Judged:
    """How much more regret the rules of mean alone and of variance alone have than GP-UCB/5, mean difference."""
    return {part: against(mean_difference, regret, rule, "GP-UCB/5", seed) for part, rule in NAIVE.items()}


def claim_1_P(many: Panel, regret: Panel, seed: int) -> Judged:
    """Mean regret of GP-UCB over that of EI, by incumbent; with the noisy one on fewer functions."""
    panels = {"": many, "_noisy": regret}
    return {f"ratio{end}": against(ratio, panels[end], UNDIVIDED, f"EI{of}", seed) for end, of in INCUMBENTS.items()}


def claim_1_Q(stuck: Panel, seed: int) -> Judged:
    """By how many percentage points the share of stuck trials of mean only exceeds that of GP-UCB/5."""
    apart = against(mean_difference, stuck, "mean only", "GP-UCB/5", seed)
    return {"stuck": apart.changed(lambda share: 100 * share)}


def settled_at(trace: Trace) -> NDArray[np.int64]:
    """Return the one arm (trials,) that a trial pulls throughout its last tenth of rounds; -1 if there are several."""
    last = trace.arms[:, -max(1, trace.horizon // 10) :]
    return np.where(np.ptp(last, axis=1) == 0, last[:, -1], -1)


def summits(f: Array) -> NDArray[np.int64]:
    """Return, for each arm on a line, the arm (n_arms,) where a walk uphill from it ends."""
    padded, up = np.pad(f, 1, constant_values=-np.inf), np.arange(len(f))
    up += np.where(padded[2:] > np.maximum(f, padded[:-2]), 1, np.where(padded[:-2] > f, -1, 0))
    while not np.array_equal(up, further := up[up]):
        up = further
    return up


def stuck_trials(traces: Mapping[str, Trace], source: Callable[[Trial], Problem], seed: int) -> dict[str, Array]:
    """Return by rule 1.0 for trials (n,) that settled on a slope of a peak lower than the best one, else 0.0."""
    at = {rule: settled_at(trace) for rule, trace in traces.items()}
    stuck: dict[str, Array] = {rule: np.zeros(len(its)) for rule, its in at.items()}
    for number in range(min(map(len, at.values()))):
        f = source(Trial(seed, number)).expected_reward
        peak = summits(f)
        for rule, arms in at.items():
            stuck[rule][number] = arms[number] >= 0 and f[peak[arms[number]]] < f.max()
    return stuck


def of_rules(traces: Mapping[str, Trace], stuck: Mapping[str, Array]) -> pd.DataFrame:
    """Return mean and median R_T / T of every rule, and in what share of trials it is stuck and has settled.

    It has settled if it pulls one arm throughout the last tenth.
    """
    regret = pd.DataFrame(final_average_regret(traces))
    table = pd.DataFrame({"mean R_T/T": regret.mean(), "median R_T/T": regret.median()}).rename_axis("rule")
    table["share of trials stuck"] = pd.DataFrame(stuck).mean()
    table["share settled"] = [np.mean(settled_at(its) >= 0) for its in traces.values()]
    return table


# Sensors (Fig. 5b, 5c)


def best_rival(regret: Panel, incumbent: str = "") -> str:
    """Return the rule of least mean regret but GP-UCB, EI and MPI with an incumbent as in INCUMBENTS."""
    its = f"EI{incumbent}", f"MPI{incumbent}", "mean only", "variance only"
    return min(its, key=lambda rule: regret[rule].mean())


def behind_both(regret: Panel, rules: Iterable[str], gp_ucb: str = "GP-UCB/5") -> tuple[str, dict[str, Array]]:
    """Return the worse of GP-UCB/5 (or another GP-UCB) and EI, and how much more regret some rules have, (n,) each."""
    worse = max((gp_ucb, "EI"), key=lambda rule: regret[rule].mean())
    return worse, {rule: regret[rule] - regret[worse] for rule in rules}


def by_blocks(behind: Array) -> Estimate:
    """Return the mean of differences (n,) in time order, with the t interval of blocks of `block_length`."""
    return block_mean(behind, block_length(behind))


def share_by_blocks(regret: Panel, rule: str, rival: str) -> Estimate:
    """Return how much more regret a rule has than its rival, as a share, over blocks of their difference."""
    return block_share(regret[rule], regret[rival], block_length(regret[rule] - regret[rival]))


def claim_1_H(regret: Panel) -> Judged:
    """How much more regret mean only, variance only and MPI, for each margin, have than the worse of GP-UCB/5 and EI.

    `undivided_...`: the least of the three, for each margin, over the worse of undivided GP-UCB and EI.
    """
    behind = behind_both(regret, BEHIND.values())[1]
    found = {part: by_blocks(behind[rule]) for part, rule in BEHIND.items()}
    behind = behind_both(regret, BEHIND.values(), UNDIVIDED)[1]
    for part, rule in MARGINS.items():
        found[f"undivided_{part}"] = weakest(by_blocks(behind[its]) for its in (*NAIVE.values(), rule))
    return found


def claim_1_I(regret: Panel) -> Judged:
    """How much more regret GP-UCB/5, and undivided GP-UCB, has than EI, as a share."""
    both = {"equal": "GP-UCB/5", "undivided": UNDIVIDED}
    return {part: share_by_blocks(regret, rule, "EI") for part, rule in both.items()}


def claim_1_O(synthetic: Panel, many: Panel, temperature: Panel, seed: int) -> Judged:
    """How much more regret each GP-UCB has than the best rival, as a share, on either data, by incumbent.

    On synthetic functions the rival that is best on `synthetic`; compared on `many` functions if it played there.
    """
    found = {}
    for (end, incumbent), (prefix, rule) in product(INCUMBENTS.items(), GP_UCBS.items()):
        best = best_rival(synthetic, incumbent)
        panel = many if best in many else synthetic
        found[f"{prefix}synthetic{end}"] = against(relative_difference, panel, rule, best, seed)
        found[f"{prefix}temperature{end}"] = on_lab(temperature, rule, incumbent)
    return found


def on_lab(temperature: Panel, rule: str, incumbent: str) -> Estimate:
    """Return how much more regret a rule has on temperature than its best rival, as a share, over blocks."""
    return share_by_blocks(temperature, rule, best_rival(temperature, incumbent))


def claim_1_Y(temperature: Panel) -> Judged:
    """How much more regret each GP-UCB has on temperature than the best rival, as a share, by incumbent."""
    return {f"{prefix}temperature{end}": on_lab(temperature, rule, incumbent)
            for (end, incumbent), (prefix, rule) in product(INCUMBENTS.items(), GP_UCBS.items())}  # fmt: skip


def on_roads(usc: Panel, metr_la: Panel, rule: str, rival: str) -> Judged:
    """How much more regret a rule has than its rival, as a share, on the mornings of two substitutes for I-880."""
    of_week = float(relative_difference(metr_la[rule], metr_la[rival]))  # of mornings too few for an interval
    return {"usc": block_share(usc[rule], usc[rival]), "metr_la": exact(of_week)}


def claim_1_J(usc: Panel, metr_la: Panel) -> Judged:
    """How much more regret GP-UCB/5, and undivided GP-UCB, has than EI on the roads, as a share."""
    return on_roads(usc, metr_la, "GP-UCB/5", "EI") | {"undivided": block_share(usc[UNDIVIDED], usc["EI"])}


def claim_1_K(usc: Panel, metr_la: Panel) -> Judged:
    """How much more regret MPI has than each GP-UCB or EI, whichever it is less like, on the roads, as a share."""
    rivals = {"usc": "GP-UCB/5", "undivided": UNDIVIDED}
    found = {
        part: farthest((block_share(usc["MPI"], usc[rule]) for rule in (gp_ucb, "EI")), ALIKE)
        for part, gp_ucb in rivals.items()
    }
    return found | {"metr_la": on_roads(usc, metr_la, "MPI", "GP-UCB/5")["metr_la"]}


# Theorems


def theorems(held: Mapping[str, tuple[Trace, Array]], seed: int) -> dict[str, Judged]:
    """Return by claim in what share of runs bound and band hold in all rounds, and how wide a band nine of ten needed.

    `held`: {theorem: (its runs, its bound on the regret (T,))}, of Theorems 1 (1-L), 2 (1-R, without the width) and 3
    (1-M).
    """
    found = {}
    for claim_id, (trace, bound) in zip(("1-L", "1-R", "1-M"), held.values(), strict=True):
        worst = trace.band_ratio.max(axis=1)
        found[claim_id] = {"bound": share(np.all(trace.cumulative_regret <= bound, axis=1)), "band": share(worst <= 1)}
        if claim_id != "1-R":
            found[claim_id]["multiplier"] = bootstrap(_most_of, worst, rng=intervals(seed), method="percentile")
    return found


def looseness(held: Mapping[str, tuple[Trace, Array]]) -> dict[str, tuple[float, float]]:
    """Return by theorem its bound over the median regret, and the share of the band's width that would do."""
    return {
        theorem: (bound[-1] / np.median(trace.cumulative_regret[:, -1]), float(_most_of(trace.band_ratio.max(axis=1))))
        for theorem, (trace, bound) in held.items()
    }


def _most_of(worst: Array) -> Array:
    """The 90 % quantile over runs of the largest |f - mean| in widths."""
    return np.quantile(worst, 0.9, axis=-1)


def claim_1_N(grown: Mapping[tuple[str, int], Estimate], allowed: Mapping[tuple[str, int], float]) -> Judged:
    """The largest exponent of the regret by (kernel, d), and the most by which one exceeds what its bound allows."""
    above = {case: its.changed(partial(operator.add, -allowed[case])) for case, its in grown.items()}
    names = {"linear": "linear", "se": "squared exponential", "matern": "matern"}
    worst = {part: largest(its for (kernel, _), its in above.items() if kernel == name) for part, name in names.items()}
    return {"sublinear": largest(grown.values())} | worst


def claim_1_S(norms: Array) -> Judged:
    """The least and the largest mean squared norm over n of draws, norms (n_draws, n_sizes)."""
    means = [block_mean(its) for its in norms.T]
    return {"grows": weakest(means), "level": largest(means)}


# Information gain


def claim_1_A(eq_8: Mapping[tuple[int, str], Array], order: Sequence[str]) -> Judged:
    """The least gap, from T = 50 on, between the bounds of neighbours in the paper's order, over all sizes."""
    sizes = {n for n, _ in eq_8}
    gaps = [(1 - eq_8[n, lower] / eq_8[n, upper])[49:].min() for n in sizes for upper, lower in pairwise(order)]
    return {"gap": exact(min(gaps))}


def claim_1_X(spectra: Mapping[tuple[int, str], Array], *gains: Mapping[tuple[int, str], Array]) -> Judged:
    """How much less the gain by greedy pulls and that of eq. 8 grow where the spectrum decays faster, at least.

    A spectrum (n,), largest first, decays faster if fewer eigenvalues hold 99 % of its sum. Growth is that of a gain
    (T,) over its last decade; compared are all pairs of kernels with equally many arms.
    """
    need = {case: int((its.cumsum() < 0.99 * its.sum()).sum()) for case, its in spectra.items()}
    pairs = [(a, b) for a in need for b in need if a[0] == b[0] and need[a] < need[b]]
    grown = [{case: its[-1] - its[len(its) // 10 - 1] for case, its in gain.items()} for gain in gains]
    return {
        part: exact(min(1 - its[fast] / its[slow] for fast, slow in pairs))
        for part, its in zip(("greedy", "bound"), grown, strict=True)
    }


def claim_1_W(ratios: Iterable[float]) -> Judged:
    """The smallest share of the best gain that greedy pulls reach, of small cases."""
    return {"reached": exact(min(ratios))}


def growth_of_gain(gains: Mapping[tuple[str, int], Array]) -> pd.DataFrame:
    """Return by (kernel, d) the slope of a gain (T,) over its last decade, that of Theorem 5, and their ratio.

    The slope of the gain in log T for the linear kernel (stated: d / 2, Appendix C.3), of the log gain in log log T for
    the squared exponential and in log T for Matérn.
    """
    slopes = {}
    for (name, d), its in gains.items():
        T = np.unique(np.geomspace(len(its) / 10, len(its), 20).astype(int))
        log_gain = its[T - 1] if name == "linear" else np.log(its[T - 1])
        fitted = np.polyfit(np.log(np.log(T)) if name == "squared exponential" else np.log(T), log_gain, 1)[0]
        stated = {"linear": d / 2, "squared exponential": d + 1, "matern": information.matern_exponent(d, 2.5)}[name]
        slopes[name, d] = fitted, stated, fitted / stated
    return pd.DataFrame(slopes, ["fitted", "theorem", "ratio"]).T.rename_axis(["kernel", "d"])


def claim_1_B(gains: Mapping[tuple[str, int], Array], noise_variance: float) -> Judged:
    """The linear kernel's largest share of its bound, and how far its slope is from d / 2, as a share, at most."""
    linear = {d: its for (name, d), its in gains.items() if name == "linear"}
    bounds = {d: gain.linear_bound(d, noise_variance, np.arange(1.0, len(its) + 1)) for d, its in linear.items()}
    # in one dimension the bound is attained: what rounding adds in the last digits is taken off
    most = max((its / bounds[d]).max().round(9) for d, its in linear.items())
    return {"bound": exact(most), "slope": exact((growth_of_gain(gains)["ratio"]["linear"] - 1).abs().max())}


def claim_1_C(gains: Mapping[tuple[str, int], Array]) -> Judged:
    """The largest slope over that of Theorem 5, and whether the squared exponential's rises with d (ratio below 1)."""
    growth = growth_of_gain(gains)
    most = {
        part: growth["ratio"][name].max() for part, name in {"se": "squared exponential", "matern": "matern"}.items()
    }
    fitted = growth["fitted"]["squared exponential"]
    return {part: exact(its) for part, its in (most | {"rises": (fitted / fitted.shift(-1)).max()}).items()}


# Since the paper


def worst_twentieth(regret: Array) -> Array:
    """Return the mean of the largest twentieth (at least one) of the last axis."""
    n = max(1, regret.shape[-1] // 20)
    return np.sort(regret, axis=-1)[..., -n:].mean(axis=-1)


def claim_1_T(regret: Panel, seed: int) -> Judged:
    """How much more regret each later rule has than GP-UCB/5, as a share."""
    later = {"irgp_ucb": "IRGP-UCB", "pims": "PIMS", "gp_eims": "GP-EIMS"}
    return {part: against(relative_difference, regret, rule, "GP-UCB/5", seed) for part, rule in later.items()}


def claim_1_U(regret: Panel, seed: int) -> Judged:
    """Mean regret in the worst twentieth of trials, EI's over PIMS's."""
    return {"tail": against(lambda a, b: worst_twentieth(a) / worst_twentieth(b), regret, "EI", "PIMS", seed)}


def claim_1_V(synthetic: Panel, temperature: Panel, seed: int) -> Judged:
    """How much more regret IRGP-UCB has than GP-UCB, mean difference, on either data."""
    here = against(mean_difference, synthetic, "IRGP-UCB", "GP-UCB", seed)
    return {"synthetic": here, "temperature": by_blocks(temperature["IRGP-UCB"] - temperature["GP-UCB"])}


# Interpretations


def in_interpretations(
    claim_id: str, played: Mapping[Any, Any], choices: Mapping[str, Sequence[Any]], seed: int
) -> list[tuple[dict[str, Any], Estimate]]:
    """Return the measure of a claim under every interpretation, the main one first.

    `played`: {values of the choices in CHOICES: R_T / T by GP-UCB/5 and by (rule, incumbent, margin)}. The margin is
    that of the rule which the claim is about; in 1-F and 1-H EI keeps its own, 0.
    """
    found, main = [], 0.1 if claim_id in ("1-F", "1-H") else 0.0  # of MPI, of EI
    names = {"incumbent": choices["incumbent"], "margin": sorted(choices["margin"], key=lambda its: its != main)}
    for case in cross(names | {name: choices[name] for name in CHOICES[claim_id]}):
        incumbent, margin, *rest = case.values()
        its, of_ei = played[tuple(rest)], 0.0 if claim_id in ("1-F", "1-H") else margin
        panel = {"GP-UCB/5": its["GP-UCB/5"], "MPI": its["MPI", incumbent, margin], "EI": its["EI", incumbent, of_ei]}
        found.append((case, _in_one(claim_id, panel, seed)))
    return found


def _in_one(claim_id: str, panel: Panel, seed: int) -> Estimate:
    if claim_id == "1-E":
        return against(relative_difference, panel, "GP-UCB/5", "EI", seed)
    if claim_id == "1-F":
        return as_well(panel, "MPI", "GP-UCB/5", seed)
    if claim_id == "1-H":
        return by_blocks(behind_both(panel, ["MPI"])[1]["MPI"])
    return share_by_blocks(panel, "GP-UCB/5", "EI")
