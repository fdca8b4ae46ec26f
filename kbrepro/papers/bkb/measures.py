"""What judges each claim on BKB: from played trials to an estimate of every part of the claim.

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
from kbrepro.information import greedy_gain
from kbrepro.kernels import Array
from kbrepro.papers.bkb.experiments import Followed, Ratios, Violations
from kbrepro.papers.bkb.policy import ALPHA
from kbrepro.problems import RKHSFunction
from kbrepro.regret import Estimate, Trace, estimated_mean, exact, largest, share

Judged = dict[str, Estimate]
Finals = Mapping[Any, Array]


def resampled(statistic: Callable[..., Array], *samples: Array, seed: int) -> Estimate:
    """Return a statistic of quantiles of paired samples (n,), over seeds or trials, with its interval."""
    return regret.bootstrap(statistic, *samples, rng=regret.intervals(seed), method="percentile")


def mean_share(shares: Array, seed: int) -> Estimate:
    """Return the mean of shares (n,) with its interval, cut off at 0 and 1."""
    return estimated_mean(shares, seed).changed(lambda its: min(max(its, 0.0), 1.0))


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
    """Return the 95th percentile over seeds of the worst ratio on a side (starved, inflated), largest over t."""
    its = (over_seeds(table, side, name, setting, t) for t in table["t"].unique())
    return resampled(partial(largest_quantile, 0.95), *its, seed=seed)


def starved(table: pd.DataFrame, name: str, setting: str, seed: int) -> Estimate:
    """Return the median over seeds of the largest exact over approximate variance, after the last pull."""
    return resampled(median, over_seeds(table, "starved", name, setting), seed=seed)


def coverage(table: pd.DataFrame, name: str, setting: str, seed: int) -> Estimate:
    """Return the mean share of the unseen half inside mean ± 3 sd, after the last pull."""
    return mean_share(over_seeds(table, "coverage", name, setting), seed)


def claim_4_A(table: pd.DataFrame, own: Sequence[Followed], seed: int) -> Judged:
    """By which factor the exact variance exceeds BKB's at some arm, and BKB's the exact, in 95 % of seeds, by qbar.

    `own`: runs of `variance_ratios` at the theorem's qbar, judged after the same numbers of pulls.
    """
    sides = product(("starved", "inflated"), (2, 3, 5))
    found = {f"{side}_{q}": worst_95(table, side, "BKB", f"qbar={q}", seed) for side, q in sides}
    its = [ratios for run in own for ratios in run.by_qbar.values()]
    for side, ratio in (("starved", [1 / r.low for r in its]), ("inflated", [r.high for r in its])):
        after = (np.array(ratio)[:, t - 1] for t in table["t"].unique())
        found[f"{side}_own"] = resampled(partial(largest_quantile, 0.95), *after, seed=seed)
    return found


def claim_4_B(table: pd.DataFrame, seed: int) -> Judged:
    """The share of the unseen half that the bands of SoR and of the exact posterior cover."""
    sor = coverage(table, "SoR", "", seed)
    return {"sor": sor, "everywhere": sor, "exact": coverage(table, "exact", "", seed)}


def claim_4_C(table: pd.DataFrame, trace: Trace, seed: int) -> Judged:
    """By which factor the exact variance exceeds that of RFF, and how many decades it rose since the last t but one.

    `regret`: the exponent of t in the regret of GP-UCB on these features, from its `trace`.
    """
    found, before = {"regret": exponent(trace, seed)}, sorted(table["t"].unique())[-2]
    for end, m in (("", "m=|S|"), ("_100", "m=100"), ("_300", "m=300")):
        rise = over_seeds(table, "starved", "RFF", m) / over_seeds(table, "starved", "RFF", m, before)
        found[f"rises{end or '_S'}"] = estimated_mean(np.log10(rise), seed)
        found[f"starved{end}"] = starved(table, "RFF", m, seed)
    return found


def claim_4_D(table: pd.DataFrame, seed: int) -> Judged:
    """By which factor the exact variance exceeds QFF's with 26 features; how far either ratio is from 1 with 100."""
    off = max(over_seeds(table, side, "QFF", "m=100").max() - 1 for side in ("starved", "inflated"))
    return {"few": starved(table, "QFF", "m=26", seed), "many": exact(max(off, 1e-12))}


def claim_4_Q(table: pd.DataFrame, seed: int) -> Judged:
    """By which factor the exact variance exceeds DTC's on three pulls; which share of the unseen half DTC covers."""
    three = "DTC, uniform", "3 pulls"
    return {"starves": starved(table, *three, seed), "covers": coverage(table, *three, seed)}


# Theorem 1


def bad_steps(ratios: Ratios) -> NDArray[np.bool_]:
    """Return whether some arm's ratio is outside [1/ALPHA, ALPHA] after each pull, (T,)."""
    return (ratios.low < 1 / ALPHA) | (ratios.high > ALPHA)


def dictionaries(runs: Sequence[Followed], noise_variance: float) -> pd.DataFrame:
    """Return what Theorem 1 bounds, one row per qbar and run of `variance_ratios`.

    `bad`: share of bad steps; `kept`: members over pulls, at the end; `size`: members over qbar d_eff, at the end;
    `close`: mean of members over the sum of inclusion probabilities; `bound`: the least ratio of the theorem's bound, 3
    (1 + 1 / lambda) alpha qbar d_eff for kernels of variance 1, to members; `d_eff` at the end.
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
    """Return the mean over runs of a column, a share if it is `bad`, for every design and each of `qbars`."""
    mean = mean_share if what == "bad" else estimated_mean
    there = found[found["qbar"].isin(list(qbars)) & (found["dictionary"] == dictionary)]
    return [mean(its[what].to_numpy(), seed) for _, its in there.groupby(["design", "qbar"])]


def claim_4_E(own: pd.DataFrame, found: pd.DataFrame, seed: int) -> Judged:
    """In which share of runs a step is bad at the theorem's own qbar (`own`), and which share of steps at 4 and 8."""
    violated = [share((its["bad"] > 0).to_numpy()) for _, its in own.groupby("design")]
    four, eight = (largest(each(found, [q], "bad", seed)) for q in (4, 8))
    return {"own": largest(violated), "four": four, "eight": eight}


def claim_4_F(found: pd.DataFrame, seed: int) -> Judged:
    """The mean share of bad steps at qbar = 4 and below it, all designs together."""
    together = found[found["dictionary"] == "BKB"].groupby(["qbar", "run"])["bad"].mean()
    named = {"one": 1, "two": 2, "three": 3, "four": 4}
    return {part: mean_share(together[q].to_numpy(), seed) for part, q in named.items()}


def claim_4_G(found: pd.DataFrame, seed: int) -> Judged:
    """The least bound over size; the size over qbar d_eff and over what probabilities predict, at qbar 3, 4 and 8."""
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
    """Return how much more regret one rule has than another, as a share of the other's mean."""
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


def claim_4_Y(finals: Finals, seed: int) -> Judged:
    """How much more regret mini-GP-UCB has than exact GP-UCB, as a share."""
    return {"two": beside(finals, "mini-GP-UCB", "exact", seed)}


def claim_4_Z(finals: Finals, seed: int) -> Judged:
    """How much more regret exact GP-UCB has with the tighter width than with its own, as a share."""
    return {"less": beside(finals, "exact, tighter width", "exact", seed)}


def late(horizon: int, part: int = 10) -> NDArray[np.int64]:
    """Return at most ten rounds from horizon / part to `horizon`, log-spaced: growth is fitted to them."""
    return np.unique(np.geomspace(max(horizon // part, 1), horizon, 10).astype(int))


def exponent(trace: Trace, seed: int) -> Estimate:
    """Return the exponent of t in the mean regret over the last decade, with its interval over runs."""
    at = late(trace.horizon)
    return regret.growth(at, trace.cumulative_regret[:, at - 1], regret.intervals(seed))


def claim_4_O(traces: Mapping[str, Trace], seed: int) -> Judged:
    """The exponent of t in the regret on two random features, on more of them, and of BKB."""
    sizes = {"linear": 2, "four": 4, "ten": 10, "twenty": 20}
    found = {part: exponent(traces[f"RFF, {m} features"], seed) for part, m in sizes.items()}
    return found | {"adapting": exponent(traces["BKB, 3 sd"], seed)}


def claim_4_S(spent: Array, linear: Array, n_inputs: int, grown: pd.DataFrame, horizon: int, seed: int) -> Judged:
    """d_eff over pulls, d_eff over d where d is finite, and by how much the dictionary grows as functions get rougher.

    `spent` (n,): d_eff over the pulls in d = 2 at lengthscale 0.2; `linear` (n,): d_eff of the linear bandit, whose
    kernel has `n_inputs` features; `grown`: what `experiments.grown` returns after `horizon` pulls, by lengthscale, of
    which 0.1 and 0.8 are compared in decades.
    """
    members, d_eff = (grown[what].unstack(0).to_numpy() for what in ("members", "d_eff"))
    return {
        "small": estimated_mean(spent, seed),
        "rough": estimated_mean(d_eff[:, 0] / horizon, seed),
        "dimension": estimated_mean(linear / n_inputs, seed),
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


def claim_4_T(chains: Mapping[str, Array], noise_variance: float) -> Judged:
    """The least ratio to the log determinant of d_eff log(t), and of the form that follows from eq. 6; kappa = 1.

    `factor`: the largest ratio of the first to log(t) times the log determinant.
    """
    its = np.array(list(chains.values()))
    t = np.arange(2, its.shape[2] + 1)
    printed, d_eff, log_det = replacement_of_log_det(its), its[..., 1:, 0], its[..., 1:, 2]
    mended = d_eff * (1 + np.log(1 + t / noise_variance)) / log_det
    return {"bound": exact(printed.min()), "factor": exact((printed / np.log(t)).max()), "mended": exact(mended.min())}


def claim_4_V(runs: Sequence[Violations]) -> Judged:
    """The largest violations of Proposition 4 and of the determinants' order; the share of runs with Corollary 3."""
    found = {what: exact(max(0.0, *(getattr(its, what) for its in runs))) for what in ("variance", "determinant")}
    return found | {"corollary": share(np.array([its.low >= 1 / ALPHA and its.high <= ALPHA for its in runs]))}


def claim_4_M(bands: Mapping[str, Trace], bounds: Mapping[str, Array], delta: float, seed: int) -> Judged:
    """How often the band holds in all rounds and the regret stays within its `bounds` {own, four: (n,)}.

    `multiplier`: the smallest multiple of the width that covers in a share 1 - delta of runs, from round 10 on (before,
    the prior decides); `loose`: median bound over regret.
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


# Cost; sizes {case: one table of `costs` per run}, the first case on a line and the second in the plane, then more arms


def milliseconds(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return the typical milliseconds of every step: the median of those timed from ten before to ten after it."""
    return 1000 * seconds.rolling(21, center=True, min_periods=1).median()


def cheaper_from(ours: pd.Series, theirs: pd.Series, never: int) -> int:
    """Return the first t of the index after which ours stays below theirs; `never` if there is none."""
    from_then_on = (ours < theirs)[::-1].cummin()[::-1]
    return int(from_then_on.idxmax()) if from_then_on.any() else never


def cheaper_than(steps: pd.DataFrame, at: list[int], never: int) -> pd.Series:
    """Return the first of the rounds `at` after which BKB's step stays cheaper than each opponent's, or `never`.

    `steps`: operations or seconds of every step, one column per method.
    """
    its = steps.loc[at]
    return pd.Series({name: cheaper_from(its["BKB"], its[name], never) for name in its if name != "BKB"})


Runs = Mapping[str, Sequence[pd.DataFrame]]


def first_cheaper(runs: Sequence[pd.DataFrame], opponent: str, seed: int) -> Estimate:
    """Return the first t after which a step of BKB always takes fewer operations: the median over runs of `operations`.

    Twice the horizon in runs in which there is none.
    """
    found = [cheaper_from(its["BKB"], its[f"exact, {opponent}"], 2 * len(its)) for its in runs]
    return resampled(median, np.array(found, float), seed=seed)


def growth_of(curves: Sequence[pd.Series], seed: int) -> Estimate:
    """Return the exponent of t in the mean of curves, one per run, over the last four fifths of the rounds."""
    at = late(len(curves[0]), 5)
    return regret.growth(at, np.array([its.loc[at].to_numpy(float) for its in curves]), regret.intervals(seed))


def claim_4_I(operations: Runs, sizes: Runs, n_arms: int, wide: Array, seed: int) -> Judged:
    """The exponent of t in the operations of BKB's step over the last four fifths of the rounds, at two qbar.

    `kept`: in d = 2, n = `n_arms`, if every distinct arm D is a member, as Theorem 1's qbar keeps nearly all: (n + D)
    D^2. `radius`: the same for the pulls `wide` (trials, T) under Theorem 2's radius.
    """
    line, plane, *more = (growth_of([its["BKB"] for its in runs], seed) for runs in operations.values())
    found = {"line": line, "slope": plane, "large": largest(more or [plane])}
    arms = {"kept": [its["distinct"] for its in list(sizes.values())[1]]}
    arms["radius"] = [distinct_arms(row) for row in wide]
    return found | {part: growth_of([(n_arms + D) * D**2 for D in its], seed) for part, its in arms.items()}


def distinct_arms(pulls: Array) -> pd.Series:
    """Return how many distinct arms were among the first t of `pulls` (T,), by t = 1 .. T."""
    return (~pd.Series(pulls, pd.RangeIndex(1, len(pulls) + 1)).duplicated()).cumsum()


def claim_4_J(operations: Runs, seed: int) -> Judged:
    """The t after which a step of BKB takes fewer operations than refits, of all pulls and of distinct arms."""
    line, plane = list(operations.values())[:2]
    found = {"from": first_cheaper(plane, "refit", seed), "line": first_cheaper(line, "refit", seed)}
    return found | {"soon": found["from"], "counts": first_cheaper(plane, "counts", seed)}


def claim_4_K(operations: Runs, seed: int) -> Judged:
    """The t after which a step of BKB takes fewer operations than one of an updated posterior, in both forms."""
    cases = dict(zip(("d1", "d2"), operations.values(), strict=False))
    forms = product(("rows", "covariance"), cases.items())
    return {f"{form}_{end}": first_cheaper(runs, form, seed) for form, (end, runs) in forms}


def claim_4_W(runs: Sequence[Sequence[Mapping[str, float]]], seed: int) -> Judged:
    """BKB's and exact GP-UCB's operations over those of mini-GP-UCB's run: medians, the least of all cases.

    `runs`: for every case {rule: operations} of each trial.
    """
    cases, rules = [pd.DataFrame(case) for case in runs], {"ratio": "BKB", "rows": "exact"}
    times = {part: [(its[rule] / its["mini-GP-UCB"]).to_numpy() for its in cases] for part, rule in rules.items()}
    return {part: regret.weakest(resampled(median, its, seed=seed) for its in all_of) for part, all_of in times.items()}


def claim_4_AA(sizes: Runs, operations: Runs, n_arms: Sequence[int]) -> Judged:
    """The largest m over d_eff, and operations so far over t n d_eff^2 + min(t, n) d_eff^3, of all rounds and runs.

    `n_arms`: n of every case; d_eff as BKB estimates it.
    """
    space, spent = [], []
    for n, its, steps in zip(n_arms, sizes.values(), operations.values(), strict=True):
        for size, step in zip(its, steps, strict=True):
            t, d_eff = size.index.to_numpy(float), size["d_eff"]
            space.append((size["features"] / d_eff).max())
            spent.append((step["BKB"].cumsum() / (t * n * d_eff**2 + np.minimum(t, n) * d_eff**3)).max())
    return {"space": exact(max(space)), "operations": exact(max(spent))}


def claim_4_AC(sizes: Runs, worst: Mapping[int, float], seed: int) -> Judged:
    """BKB's estimate of the log determinant after the last pull, S_T log T, over its known worst case, in d = 1 and 2.

    S_t is the sum of variances over noise variance. `worst` {d: most that the log determinant of any T pulls can be};
    `radius_...`: alpha times that, as Theorem 2 has it. `line`, `plane`: exponent of t in the estimate over (log
    t)^(d + 1).
    """
    found = {}
    for d, (part, runs) in enumerate(zip(("line", "plane"), sizes.values(), strict=False), start=1):
        log_t = np.log(runs[0].index.to_numpy(float))
        estimates = np.array([its["d_eff"].to_numpy() * log_t for its in runs])
        found[f"worst_{part}"] = estimated_mean(estimates[:, -1] / worst[d], seed)
        found[f"radius_{part}"] = estimated_mean(ALPHA * estimates[:, -1] / worst[d], seed)
        found[part] = growth_of([its["d_eff"] / log_t**d for its in runs], seed)
    return found


def worst_log_det(source: RKHSFunction, horizon: int) -> float:
    """Return the bound of Srinivas et al. on the log determinant of any T pulls: the greedy rule's over 1 - 1/e."""
    gains, _ = greedy_gain(source.kernel, source.points, source.noise_variance, horizon)
    return float(2 * gains[-1] / (1 - np.exp(-1)))
