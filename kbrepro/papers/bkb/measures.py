"""What judges each claim on BKB: what was played goes in, an estimate of every part of the claim comes out.

`table` is always one of `starvation.starvation`, all seeds together; `found` one of `dictionaries`, all designs and
dictionaries together; `finals` {rule: R_T of every trial (n,)} on the same functions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro import regret
from kbrepro.kernels import Array
from kbrepro.papers.bkb.experiments import Followed, Ratios, Violations
from kbrepro.papers.bkb.policy import ALPHA
from kbrepro.papers.bkb.starvation import Pulls
from kbrepro.regret import Estimate, Trace, estimated_mean, exact, largest, share

Judged = dict[str, Estimate]
Finals = Mapping[Any, Array]


def resampled(statistic: Callable[..., Array], *samples: Array, seed: int) -> Estimate:
    """Return a statistic of paired samples (n,), of seeds or trials, with its bootstrap interval."""
    return regret.bootstrap(statistic, *samples, rng=np.random.default_rng([seed, 1]))


def largest_quantile(level: float, *samples: Array) -> Array:
    """Return the largest of the quantiles at `level` (0 to 1) of samples, each (..., n), over the last axis, (...)."""
    return np.asarray(np.quantile(samples, level, axis=-1).max(axis=0))


median = partial(largest_quantile, 0.5)


# Figure 1


def over_seeds(table: pd.DataFrame, what: str, name: str, setting: str = "", t: int = 0) -> Array:
    """Return a column of the table after t pulls (0: the last) in the order of seeds, (seeds,); empty without rows."""
    its = table[(table["name"] == name) & (table["setting"] == setting) & (table["t"] == (t or table["t"].max()))]
    return its.sort_values("seed")[what].to_numpy(float)


def worst_95(table: pd.DataFrame, side: str, name: str, setting: str, seed: int) -> Estimate:
    """Return the 95th percentile over seeds of the worst ratio on a side (starved, inflated), largest of all t."""
    its = (over_seeds(table, side, name, setting, t) for t in table["t"].unique())
    return resampled(partial(largest_quantile, 0.95), *its, seed=seed)


def starved(table: pd.DataFrame, name: str, setting: str, seed: int) -> Estimate:
    """Return the median over seeds of the worst ratio exact over approximate variance, after the last pull."""
    return resampled(median, over_seeds(table, "starved", name, setting), seed=seed)


def coverage(table: pd.DataFrame, name: str, setting: str, seed: int) -> Estimate:
    """Return the mean share of the unseen half inside mean ± 3 sd, after the last pull."""
    return estimated_mean(over_seeds(table, "coverage", name, setting), seed)


def claim_4_A(table: pd.DataFrame, seed: int) -> Judged:
    """How far the exact variance is above BKB's, and BKB's above it, somewhere, in 95 % of seeds."""
    qbars = {"": "qbar=3", "_2": "qbar=2", "_5": "qbar=5"}
    sides = product(("starved", "inflated"), qbars.items())
    return {f"{side}{end}": worst_95(table, side, "BKB", q, seed) for side, (end, q) in sides}


def claim_4_B(table: pd.DataFrame, seed: int) -> Judged:
    """Which share of the unseen half the bands of SoR and of the exact posterior cover."""
    return {"sor": coverage(table, "SoR", "", seed), "exact": coverage(table, "exact", "", seed)}


def claim_4_C(table: pd.DataFrame, seed: int) -> Judged:
    """How far the exact variance is above that of RFF, and by how many decades more than after the last t but one."""
    found, before = {}, sorted(table["t"].unique())[-2]
    for end, m in (("", "m=|S|"), ("_100", "m=100"), ("_300", "m=300")):
        rise = over_seeds(table, "starved", "RFF", m) / over_seeds(table, "starved", "RFF", m, before)
        found[f"rises{end or '_S'}"] = estimated_mean(np.log10(rise), seed)
        found[f"starved{end}"] = starved(table, "RFF", m, seed)
    return found


def claim_4_D(table: pd.DataFrame, seed: int) -> Judged:
    """How far the exact variance is above that of QFF with 26 features; how far either ratio is from 1 with 100."""
    off = max(over_seeds(table, side, "QFF", "m=100").max() - 1 for side in ("starved", "inflated"))
    return {"few": starved(table, "QFF", "m=26", seed), "many": exact(max(off, 1e-12))}


def claim_4_Q(table: pd.DataFrame, seed: int) -> Judged:
    """How far the exact variance is above that of DTC on three pulls, and what its band covers of the unseen half."""
    three = "DTC, uniform", "3 pulls"
    ratio = starved(table, *three, seed)
    return {"starves": ratio, "avoids": ratio, "covers": coverage(table, *three, seed)}


# Theorem 1


def bad_steps(ratios: Ratios) -> NDArray[np.bool_]:
    """Return whether some arm's ratio is outside [1/ALPHA, ALPHA] after each pull, (T,)."""
    return (ratios.low < 1 / ALPHA) | (ratios.high > ALPHA)


def dictionaries(runs: Sequence[Followed], noise_variance: float) -> pd.DataFrame:
    """Return what Theorem 1 speaks of, one row a qbar and run of `variance_ratios`.

    `bad`: share of bad steps; `kept`: members over pulls, at the end; `size`: members over qbar d_eff, at the end;
    `close`: mean of members over the sum of inclusion probabilities; `bound`: smallest of the theorem's bound over
    members, which for kernels of variance 1 is 3 (1 + 1 / lambda) alpha qbar d_eff; `d_eff` at the end.
    """
    rows = []
    for number, run in enumerate(runs):
        for qbar, its in run.by_qbar.items():
            bounds, size = 3 * (1 + 1 / noise_variance) * ALPHA * qbar * run.dimension, its.members[-1]
            sizes = size / len(its.members), size / (qbar * run.dimension[-1]), (its.members / its.expected).mean()
            numbers = bad_steps(its).mean(), *sizes, (bounds / its.members).min(), run.dimension[-1]
            rows.append((qbar, number, *numbers))
    return pd.DataFrame(rows, columns=["qbar", "run", "bad", "kept", "size", "close", "bound", "d_eff"])


def each(found: pd.DataFrame, qbars: Iterable[float], what: str, seed: int, dictionary: str = "BKB") -> list[Estimate]:
    """Return the mean over runs of a column, for every design and each of `qbars`."""
    there = found[found["qbar"].isin(list(qbars)) & (found["dictionary"] == dictionary)]
    return [estimated_mean(its[what].to_numpy(), seed) for _, its in there.groupby(["design", "qbar"])]


def claim_4_E(own: pd.DataFrame, found: pd.DataFrame, seed: int) -> Judged:
    """In which share of runs a step is bad at the theorem's own qbar (`own`), and which share of steps at 4 and 8."""
    violated = [share((its["bad"] > 0).to_numpy()) for _, its in own.groupby("design")]
    four, eight = (largest(each(found, [q], "bad", seed)) for q in (4, 8))
    return {"own": largest(violated), "four": four, "eight": eight}


def claim_4_F(found: pd.DataFrame, seed: int) -> Judged:
    """The mean share of bad steps at qbar = 1 and 2, all designs together."""
    together = found[found["dictionary"] == "BKB"].groupby(["qbar", "run"])["bad"].mean()
    return {part: estimated_mean(together[q].to_numpy(), seed) for part, q in (("one", 1), ("two", 2))}


def claim_4_G(found: pd.DataFrame, seed: int) -> Judged:
    """The least bound over size, and between what qbar d_eff and the probabilities predict the size at 3, 4 and 8."""
    size, close = (each(found, (3, 4, 8), what, seed) for what in ("size", "close"))
    furthest = max(close, key=lambda its: abs(np.log(its.value)))
    bound = exact(found[found["dictionary"] == "BKB"]["bound"].min())
    return {"bound": bound, "low": regret.weakest(size), "high": largest(size), "close": furthest}


def claim_4_P(equal: Mapping[str, Array], seed: int) -> Judged:
    """By how many decades the inflation of a uniform dictionary is above BKB's; `equal` {design: both (n, 2)}."""
    decades = {design: estimated_mean(np.log10(its[:, 1] / its[:, 0]), seed) for design, its in equal.items()}
    return {"worse": decades["window"], "uniform": decades["uniform"]}


# Regret


def beside(finals: Finals, rule: Any, to: Any, seed: int) -> Estimate:
    """Return how much more regret a rule has than another, as a share of the latter's mean."""
    return regret.paired_share(finals[rule], finals[to], seed)


def claim_4_H(finals: Finals, more_arms: Iterable[Finals], seed: int) -> Judged:
    """How much more regret BKB has than exact GP-UCB of the same width, as a share; the most with more arms."""
    large = largest(beside(its, "BKB", "exact", seed) for its in more_arms)
    three = beside(finals, "BKB, 3 sd", "exact, 3 sd", seed)
    return {"theory": beside(finals, "BKB", "exact", seed), "three": three, "large": large}


def claim_4_N(finals: Finals, seed: int) -> Judged:
    """How much more regret than exact GP-UCB other widths have, and the sketch alone, as a share."""
    rules = {"theorem": "BKB, Theorem 2's radius", "authors": "BKB, authors' radius"}
    rules |= {"three": "exact, 3 sd", "sketch": "BKB"}
    return {part: beside(finals, rule, "exact", seed) for part, rule in rules.items()}


def claim_4_R(finals: Finals, seed: int) -> Judged:
    """How much more regret linear BKB has than exact linear UCB, as a share."""
    return {"ratio": beside(finals, "BKB", "exact", seed)}


def claim_4_X(found: pd.DataFrame, finals: Finals, seed: int) -> Judged:
    """The share of bad steps of the streaming form at qbar = 4, and its regret beyond BKB's, as a share of that."""
    bad = each(found, [4], "bad", seed, dictionary="BKB, streaming")
    return {"four": largest(bad), "regret": beside(finals, "BKB, streaming", "BKB", seed)}


def claim_4_Y(finals: Finals, arms: Pulls, seed: int) -> Judged:
    """How much more regret mini-GP-UCB has than exact GP-UCB, as a share; in which share of rounds it changes its arm.

    `arms` (n, T) are those that it pulls; the first counts as a change.
    """
    switches = estimated_mean((1 + np.count_nonzero(np.diff(arms), axis=1)) / arms.shape[1], seed)
    return {"two": beside(finals, "mini-GP-UCB", "exact", seed), "switches": switches}


def claim_4_Z(finals: Finals, seed: int) -> Judged:
    """How much more regret exact GP-UCB has with the tighter width than with its own, as a share."""
    return {"less": beside(finals, "exact, tighter width", "exact", seed)}


def last_decade(trace: Trace) -> tuple[Array, Array]:
    """Return R_T and R_(T/10) of every trial, (n,) each."""
    curves = trace.cumulative_regret
    return curves[:, -1], curves[:, max(1, curves.shape[1] // 10) - 1]


def exponent(final: Array, tenth: Array, *other: Array) -> Array:
    """Return the exponent of t in the mean regret over the last decade, from `last_decade`, over the last axis.

    Less that of an `other` rule, if its `last_decade` follows.
    """
    return np.log10(final.mean(axis=-1) / tenth.mean(axis=-1)) - (exponent(*other) if other else 0.0)


def claim_4_O(smooth: Mapping[str, Trace], rough: Mapping[str, Trace], seed: int) -> Judged:
    """The exponent of t in the regret on fixed features, and BKB's minus that, on smooth and rough functions."""

    def growth(*traces: Trace) -> Estimate:
        return resampled(exponent, *(end for trace in traces for end in last_decade(trace)), seed=seed)

    found, few, ours = {"hundred": growth(smooth["RFF, 100 features"])}, "RFF, 20 features", "BKB, 3 sd"
    for end, its in (("", smooth), ("_rough", rough)):
        found |= {f"linear{end}": growth(its[few]), f"less{end}": growth(its[ours], its[few])}
    return found


def claim_4_S(spent: Array, grown: pd.DataFrame, horizon: int, seed: int) -> Judged:
    """d_eff over pulls, and by how many decades the dictionary is larger on functions of lengthscale 0.1 than of 0.8.

    `spent` (n,) at lengthscale 0.2; `grown`: what `experiments.grown` returns after `horizon` pulls, by lengthscale.
    """
    members, d_eff = (grown[what].unstack(0).to_numpy() for what in ("members", "d_eff"))
    return {
        "small": estimated_mean(spent, seed),
        "worst": estimated_mean(d_eff[:, 0] / horizon, seed),
        "adapts": estimated_mean(np.log10(members[:, 0] / members[:, -1]), seed),
    }


# What is proved of variances, determinants and bands; chains {design: (runs, T, 4)} of `dimension_chain`


def replacement_of_log_det(chain: Array) -> Array:
    """Return d_eff log(t) over log det for t = 2, 3, ... of a chain (..., T, 4) (Section 4.1; kappa = 1)."""
    t = np.arange(2, chain.shape[-2] + 1)
    return chain[..., 1:, 0] * np.log(t) / chain[..., 1:, 2]


def claim_4_L(chains: Mapping[str, Array]) -> Judged:
    """The largest relative violation of the three inequalities of Proposition 5."""
    worst = max((its[..., :-1] / its[..., 1:] - 1).max() for its in chains.values())
    return {"violation": exact(max(worst, 0.0))}


def claim_4_T(chains: Mapping[str, Array]) -> Judged:
    """How far d_eff log(t) falls below the log determinant, and eq. 6; how far the first is above log(t) times it."""
    its = np.array(list(chains.values()))
    printed, log_t = replacement_of_log_det(its), np.log(np.arange(2, its.shape[2] + 1))
    eq_6 = its[..., 1:, 3] / its[..., 1:, 2]
    return {"bound": exact(printed.min()), "factor": exact((printed / log_t).max()), "eq_6": exact(eq_6.min())}


def claim_4_V(runs: Sequence[Violations]) -> Judged:
    """The largest violations of Proposition 4 and of the determinants' order; the share of runs with Corollary 3."""
    found = {what: exact(max(0.0, *(getattr(its, what) for its in runs))) for what in ("variance", "determinant")}
    return found | {"corollary": share(np.array([its.low >= 1 / ALPHA and its.high <= ALPHA for its in runs]))}


def claim_4_M(bands: Mapping[str, Trace], bounds: Mapping[str, Array], delta: float, seed: int) -> Judged:
    """How often the band holds in all rounds and the regret stays within its `bounds` {own, four: (n,)}.

    `multiplier`: the smallest of the width that covers in a share 1 - delta of runs, from round 10 on: before, the
    maximum is the prior's; `loose`: median bound over regret.
    """
    lost = {qbar: trace.regret.sum(axis=1) for qbar, trace in bands.items()}
    held = {qbar: trace.band_ratio.max(axis=1) <= 1 for qbar, trace in bands.items()}
    bounded = {qbar: lost[qbar] <= bounds[qbar] for qbar in bands}
    from_10 = [trace.band_ratio[:, regret.log_spaced(trace.horizon) >= 10] for trace in bands.values()]
    return {
        "band": share(held["own"]),
        "regret": share(bounded["own"]),
        "four": share(held["four"] & bounded["four"]),
        "loose": resampled(lambda a, b: median(a) / median(b), bounds["own"], lost["own"], seed=seed),
        "multiplier": resampled(partial(largest_quantile, 1 - delta), *(its.max(axis=1) for its in from_10), seed=seed),
    }


# Cost; seconds {case: a row a step, a column a method}, the first case on a line and the second in the plane


def milliseconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return the typical milliseconds of every step: the median of those timed from ten before to ten after it."""
    return 1000 * seconds.rolling(21, center=True, min_periods=1).median()


def cheaper_from(ours: pd.Series, theirs: pd.Series, never: int) -> int:
    """Return the first t of the index from which on ours is below theirs at every t; `never` if there is none."""
    from_then_on = (ours < theirs)[::-1].cummin()[::-1]
    return int(from_then_on.idxmax()) if from_then_on.any() else never


def cheaper_than(seconds: Mapping[str, pd.DataFrame], at: list[int]) -> pd.DataFrame:
    """Return the t from which on BKB's step is cheaper than that of each opponent, a column for line and plane.

    The first of `at` from which on it is, twice the horizon if it is not; against rows the t at which a straight line
    through all their seconds reaches BKB's median from T/5 on, infinite if the line does not rise.
    """
    found: dict[str, dict[str, float]] = {}
    for case in list(seconds)[:2]:
        its, ms = seconds[case], milliseconds(seconds[case]).loc[at]
        names = ("refit", "counts", "covariance")
        found[case] = {name: cheaper_from(ms["BKB"], ms[f"exact, {name}"], 2 * len(its)) for name in names}
        per_pull, start = np.polyfit(its.index, its["exact, rows"], 1)
        level = its["BKB"].iloc[len(its) // 5 :].median()
        found[case]["rows (straight line)"] = (level - start) / per_pull if per_pull > 0 else np.inf
    return pd.DataFrame(found)


def claim_4_I(seconds: Mapping[str, pd.DataFrame]) -> Judged:
    """The exponent of t in the seconds of BKB's step over the last four fifths of the rounds."""
    growth = []
    for its in seconds.values():
        late = np.unique(np.geomspace(len(its) / 5, len(its), 20).astype(int))
        growth.append(regret.slope(np.log(late), np.log(milliseconds(its)["BKB"].loc[late].to_numpy())))
    return {"line": growth[0], "slope": growth[1], "large": largest(growth[2:] or growth[1:])}


def claim_4_J(cheaper: pd.DataFrame) -> Judged:
    """From which t on BKB's step is cheaper than refits, by `cheaper_than`."""
    line, plane = (cheaper[case].map(exact) for case in cheaper)
    return {"from": plane["refit"], "soon": plane["refit"], "line": line["refit"], "counts": plane["counts"]}


def claim_4_K(cheaper: pd.DataFrame, seconds: Mapping[str, pd.DataFrame], at: list[int]) -> Judged:
    """From which t on BKB's step is cheaper than the row form's, and at most how much cheaper than the covariance's."""
    d1, d2 = map(exact, cheaper.loc["rows (straight line)"])
    ms = [milliseconds(seconds[case]).loc[[t for t in at if t >= 50]] for case in cheaper]
    ratio = max((its["exact, covariance"] / its["BKB"]).max() for its in ms)
    return {"rows_d1": d1, "rows_d2": d2, "covariance": exact(ratio)}


def claim_4_W(runs: Sequence[Mapping[str, float]]) -> Judged:
    """How many times the seconds of mini-GP-UCB's run BKB and exact GP-UCB take, the least of all runs."""
    rules = {"ratio": "BKB", "rows": "exact"}
    return {part: exact(min(its[rule] / its["mini-GP-UCB"] for its in runs)) for part, rule in rules.items()}
