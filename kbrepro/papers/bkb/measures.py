"""What judges each claim on BKB: what was played goes in, an estimate of every part of the claim comes out.

`starved` is the table of `starvation.starvation` over seeds, `lost` {rule: R_T of every trial (n,)}, `found` the
`experiments.Dictionaries` by (dictionary, design, qbar).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kbrepro import information
from kbrepro.kernels import Array
from kbrepro.papers.bkb import costs, experiments
from kbrepro.papers.bkb.starvation import largest_quantile, median, over_seeds, ratio_of_medians
from kbrepro.problems import GPDraw, RKHSFunction
from kbrepro.regret import (
    Estimate,
    Trace,
    bootstrap,
    estimated_mean,
    exact,
    largest,
    paired_share,
    share,
    slope,
    weakest,
)

Judged = dict[str, Estimate]
Lost = Mapping[str, Array]
#: The round at which what is starved is compared.
LAST = 215


def resampled(statistic: Callable[..., Array], *samples: Array, seed: int) -> Estimate:
    """Return a statistic of paired samples (seeds or trials) with its bootstrap interval."""
    return bootstrap(statistic, *samples, rng=np.random.default_rng([seed, 1]))


# Costs: seconds by case


def growth_of_seconds(seconds: Mapping[str, pd.DataFrame], horizon: int) -> dict[str, Estimate]:
    """Return by case the slope of log seconds of a step of BKB in log t, over the last fifth of the rounds."""
    late = np.unique(np.geomspace(horizon / 5, horizon, 20).astype(int))
    return {
        case: slope(np.log(late), np.log([costs.typical(its["BKB"].to_numpy(), t) for t in late]))
        for case, its in seconds.items()
    }


def claim_4_I(seconds: Mapping[str, pd.DataFrame], horizon: int) -> Judged:
    """How the seconds of a step grow in t; cases: on a line, in the plane, in the plane with more arms."""
    in_line, in_plane, *larger = growth_of_seconds(seconds, horizon).values()
    return {"slope": in_plane, "line": in_line, "large": largest(larger or [in_plane])}


def cheaper_since(ms: pd.DataFrame, cases: Iterable[str], never: int) -> dict[str, dict[str, int]]:
    """Return by case the first t from which on BKB's step is cheaper than each exact one that is made anew."""
    names = "refit", "counts", "covariance"
    return {
        case: {name: costs.cheaper_from(ms.loc[case]["BKB"], ms.loc[case][f"exact, {name}"], never) for name in names}
        for case in cases
    }


def claim_4_J(line: Mapping[str, int], plane: Mapping[str, int]) -> Judged:
    """From which t on BKB's step is cheaper, of `cheaper_since` on a line and in the plane."""
    return {
        "line": exact(line["refit"]),
        "soon": exact(plane["refit"]),
        "counts": exact(plane["counts"]),
        "from": exact(plane["refit"]),
    }


def reached(seconds: pd.DataFrame) -> Estimate:
    """Return the t at which a straight line through the seconds of exact rows reaches BKB's median."""
    return exact(costs.crossing(*(seconds[name].to_numpy() for name in ("exact, rows", "BKB"))))


def claim_4_K(line: pd.DataFrame, plane: pd.DataFrame, ms: pd.DataFrame) -> Judged:
    """When BKB is cheaper than exact rows, and the most that the covariance of all arms takes over BKB, from t = 50."""
    later = ms.query("t >= 50")
    most = exact((later["exact, covariance"] / later["BKB"]).max())
    return {"rows_d1": reached(line), "rows_d2": reached(plane), "covariance": most}


def claim_4_W(runs: Iterable[Mapping[str, float]]) -> Judged:
    """How many times as long as mini-GP-UCB BKB and exact GP-UCB take for a run, at least."""
    runs = list(runs)
    of = {"ratio": "BKB", "rows": "exact"}
    return {part: exact(min(its[name] / its["mini-GP-UCB"] for its in runs)) for part, name in of.items()}


# Starvation (Fig. 1)


def of_seeds(starved: pd.DataFrame, statistic: Callable[..., Array], seed: int, *columns: Any) -> Estimate:
    """Return a statistic of columns (what, name, setting, t) of the table, with its interval over seeds."""
    return resampled(statistic, *(over_seeds(starved, *its) for its in columns), seed=seed)


def claim_4_A(starved: pd.DataFrame, at: Sequence[int], seed: int) -> Judged:
    """The 95 % quantile over seeds, at its worst round, of what starves and what inflates BKB's variance, by qbar."""
    worst = partial(largest_quantile, 0.95)
    return {
        f"{side}{end}": of_seeds(starved, worst, seed, *((side, "BKB", f"qbar={q}", t) for t in at))
        for side in ("starved", "inflated")
        for end, q in (("", 3), ("_2", 2), ("_5", 5))
    }


def claim_4_B(starved: pd.DataFrame, seed: int) -> Judged:
    """The share of arms inside the band of SoR and of the exact posterior."""
    of = {"sor": "SoR", "exact": "exact"}
    return {part: estimated_mean(over_seeds(starved, "coverage", name, "", LAST), seed) for part, name in of.items()}


def claim_4_C(starved: pd.DataFrame, at: Sequence[int], seed: int) -> Judged:
    """How much of their variance random Fourier features lose, and how many powers of 10 more at each later round."""
    judged = {}
    for end, m in (("", "|S|"), ("_100", "100"), ("_300", "300")):
        judged[f"starved{end}"] = of_seeds(starved, median, seed, ("starved", "RFF", f"m={m}", LAST))
        _, before, after = (over_seeds(starved, "starved", "RFF", f"m={m}", t) for t in at)
        judged[f"rises_{m.strip('|')}"] = estimated_mean(np.log10(after / before), seed)
    return judged


def claim_4_D(starved: pd.DataFrame, seed: int) -> Judged:
    """How much of its variance few quadrature features lose, and how far 100 of them are off at most."""
    off = [over_seeds(starved, side, "QFF", "m=100", LAST) - 1 for side in ("starved", "inflated")]
    few = of_seeds(starved, median, seed, ("starved", "QFF", "m=26", LAST))
    return {"few": few, "many": exact(max(float(np.max(off)), 1e-12))}


def claim_4_Q(starved: pd.DataFrame, seed: int) -> Judged:
    """How much of its variance DTC on three pulls loses, and how many arms its band covers."""
    dtc = of_seeds(starved, median, seed, ("starved", "DTC, uniform", "3 pulls", LAST))
    covers = over_seeds(starved, "coverage", "DTC, uniform", "3 pulls", LAST)
    return {"starves": dtc, "avoids": dtc, "covers": estimated_mean(covers, seed)}


# Theorem 1


def bad_at(found: Mapping[Any, experiments.Dictionaries], qbar: float, seed: int, name: str = "BKB") -> Estimate:
    """Return the share of bad steps in the design that has most of them."""
    designs = dict.fromkeys(design for _, design, _ in found)
    return largest(estimated_mean(found[name, design, qbar].bad, seed) for design in designs)


def claim_4_E(found: Mapping[Any, experiments.Dictionaries], own: Mapping[str, Estimate], seed: int) -> Judged:
    """The share of runs with a bad step at the theorem's own qbar, and of bad steps at 4 and 8."""
    return {"own": largest(own.values()), "four": bad_at(found, 4.0, seed), "eight": bad_at(found, 8.0, seed)}


def claim_4_F(found: Mapping[Any, experiments.Dictionaries], seed: int) -> Judged:
    """The share of bad steps at qbar = 1 and 2, over all designs."""
    judged = {}
    for part, q in (("one", 1.0), ("two", 2.0)):
        bad = [its.bad for (name, _, qbar), its in found.items() if (name, qbar) == ("BKB", q)]
        judged[part] = estimated_mean(np.mean(bad, axis=0), seed)
    return judged


def claim_4_G(found: Mapping[Any, experiments.Dictionaries], seed: int) -> Judged:
    """The bound on the dictionary's size over that size, the size over qbar d_eff, and how close the latter comes."""
    of_bkb = {key: its for key, its in found.items() if key[0] == "BKB"}
    nine = [its for (_, _, q), its in of_bkb.items() if q in (3.0, 4.0, 8.0)]
    size = [estimated_mean(its.size, seed) for its in nine]
    close = max((estimated_mean(its.close, seed) for its in nine), key=lambda e: abs(np.log(e.value)))
    bound = exact(min(its.bound for its in of_bkb.values()))
    return {"bound": bound, "low": weakest(size), "high": largest(size), "close": close}


# Regret (Theorem 2)


def beside(lost: Lost, rule: str, to: str, seed: int) -> Estimate:
    """Return how much more regret a rule has than another, as a share."""
    return paired_share(lost[rule], lost[to], seed)


def claim_4_H(lost: Lost, more_arms: Iterable[Lost], seed: int) -> Judged:
    """How much more regret BKB has than the exact rule, with either radius, and with more arms at most."""
    return {
        "theory": beside(lost, "BKB", "exact", seed),
        "three": beside(lost, "BKB, 3 sd", "exact, 3 sd", seed),
        "large": largest(beside(its, "BKB", "exact", seed) for its in more_arms),
    }


def claim_4_N(lost: Lost, seed: int) -> Judged:
    """How much more regret than exact GP-UCB: Theorem 2's radius, the sketch, 3 sd, the radius of the authors' code."""
    rules = {
        "theorem": "BKB, Theorem 2's radius",
        "sketch": "BKB",
        "three": "exact, 3 sd",
        "authors": "BKB, authors' radius",
    }
    return {part: beside(lost, rule, "exact", seed) for part, rule in rules.items()}


def exponent(traces: Mapping[str, Trace], seed: int, *names: str) -> Estimate:
    """Return the exponent of the mean regret over the last decade; of two rules the first less the second."""
    ends = (end for name in names for end in experiments.last_decade(traces[name]))
    return resampled(experiments.exponent, *ends, seed=seed)


def claim_4_O(traces: Mapping[str, Trace], on_rough: Mapping[str, Trace], seed: int) -> Judged:
    """The exponent of the regret of few Fourier features, and how much smaller BKB's is; on rough functions too."""
    both = "BKB, 3 sd", "RFF, 20 features"
    return {
        "linear": exponent(traces, seed, "RFF, 20 features"),
        "less": exponent(traces, seed, *both),
        "linear_rough": exponent(on_rough, seed, "RFF, 20 features"),
        "hundred": exponent(traces, seed, "RFF, 100 features"),
        "less_rough": exponent(on_rough, seed, *both),
    }


def dimensions(source: GPDraw | RKHSFunction, arms: Iterable[NDArray[np.integer]]) -> Array:
    """Return the effective dimension of every trial's pulls (n,)."""
    points, s2 = source.points, source.noise_variance
    return np.array([information.effective_dimension(source.kernel, points[its], s2) for its in arms])


# Propositions 4 and 5, Theorems 2 and 9


def claim_4_L(chains: Iterable[Array]) -> Judged:
    """By how much the chain of Proposition 5, its last axis, is violated at most."""
    return {"violation": exact(max(0.0, *((its[..., :-1] / its[..., 1:] - 1).max() for its in chains)))}


def claim_4_T(chains: Array) -> Judged:
    """The printed bound on the log determinant over it at least, over log t at most, and eq. 6 over it at least."""
    printed, log_t = experiments.replacement_of_log_det(chains), np.log(np.arange(2, chains.shape[2] + 1))
    return {
        "bound": exact(printed.min()),
        "factor": exact((printed / log_t).max()),
        "eq_6": exact((chains[..., 1:, 3] / chains[..., 1:, 2]).min()),
    }


def claim_4_V(runs: Sequence[experiments.Violations], alpha: float) -> Judged:
    """How far Proposition 4 is violated in variance and determinant at most, and how often the corollary holds."""
    return {
        "variance": exact(max(0.0, *(its.variance for its in runs))),
        "determinant": exact(max(0.0, *(its.determinant for its in runs))),
        "corollary": share(np.array([1 / alpha <= its.low and its.high <= alpha for its in runs])),
    }


def claim_4_M(bands: Mapping[str, Trace], bounds: Mapping[str, Array], delta: float, seed: int) -> Judged:
    """How often band and bound hold, with the theorem's own qbar and with 4, and how loose both are.

    `bounds` (n,) on R_T of every trial. `multiplier`: by what the width could be scaled and still cover in 1 - delta.
    """
    lost = {name: trace.regret.sum(axis=1) for name, trace in bands.items()}
    held = {name: trace.band_ratio.max(axis=1) <= 1 for name, trace in bands.items()}
    bounded = {name: its <= bounds[name] for name, its in lost.items()}
    needed = [experiments.largest_ratio(trace) for trace in bands.values()]
    return {
        "band": share(held["own"]),
        "regret": share(bounded["own"]),
        "four": share(held["four"] & bounded["four"]),
        "loose": resampled(ratio_of_medians, bounds["own"], lost["own"], seed=seed),
        "multiplier": resampled(partial(largest_quantile, 1 - delta), *needed, seed=seed),
    }
