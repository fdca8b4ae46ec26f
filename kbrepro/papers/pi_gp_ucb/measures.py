"""What judges each claim on π-GP-UCB: from played trials to an estimate of every part of the claim.

`finals` holds by (lengthscale, d, algorithm) R_T / T of every run and what a round of uniform play loses, (n,) each,
and `shares` by (change, d, algorithm) the first over the second.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import (
    Estimate,
    Regrets,
    Trace,
    edges,
    estimated_mean,
    exact,
    growth,
    intervals,
    largest,
    paired_difference,
    paired_share,
    share,
    weakest,
)

Judged = dict[str, Estimate]
Final = tuple[Array, Array]
Case = tuple[str, str]
Clock = tuple[int, str]
OURS, RIVAL = "π-GP-UCB", "IGP-UCB"
USUAL, LITERAL = "usual", "eq. 2 read literally"


# Table 1


def beside_printed(final: Final, printed: float, how: str = "mean of ratios") -> Estimate:
    """Return how far a printed mean of 12 runs lies from ours, in half-widths of its 95 % prediction interval."""
    ours, _, high = experiments.printed_interval(*final, how)
    return exact((printed - ours) / (high - ours))


def claim_3_A(finals: Mapping[tuple[str, int, str], Final], printed: Mapping[tuple[int, str], float]) -> Judged:
    """How far each printed share of uniform regret lies from ours, by either lengthscale."""
    ends, short = {USUAL: "", LITERAL: "_eq2"}, {RIVAL: "igp", OURS: "pi"}
    return {f"{short[rule]}_d{d}{ends[name]}": beside_printed(its, printed[d, rule])
            for (name, d, rule), its in finals.items()}  # fmt: skip


def refuted(finals: Mapping[tuple[str, int, str], Final], printed: Mapping[tuple[int, str], float]) -> list[str]:
    """Return the lengthscales under which a printed mean lies outside our prediction interval, in d = 1 or 2."""
    off = {name for (name, d, rule), its in finals.items()
           if d < 3 and abs(beside_printed(its, printed[d, rule]).value) > 1}  # fmt: skip
    return [name for name in (USUAL, LITERAL) if name in off]


def apart(one: Final, other: Final, seed: int) -> Estimate:
    """Return the mean paired difference of two shares of uniform regret."""
    return paired_difference(one[0] / one[1], other[0] / other[1], seed)


def claim_3_G(finals: Mapping[tuple[str, int, str], Final], seed: int) -> Judged:
    """How much larger π-GP-UCB's share of uniform regret is than IGP-UCB's, for each d and lengthscale."""
    ends = {USUAL: "", LITERAL: "_eq2"}
    cases = dict.fromkeys((name, d) for name, d, _ in finals)
    return {f"d{d}{ends[name]}": apart(finals[name, d, OURS], finals[name, d, RIVAL], seed) for name, d in cases}


def claim_3_H(finals: Mapping[tuple[str, int, str], Final], seed: int) -> Judged:
    """IGP-UCB's share of uniform regret in three dimensions, by either lengthscale."""
    ends = {USUAL: "", LITERAL: "_eq2"}
    return {f"share{end}": experiments.average(*finals[name, 3, RIVAL], seed) for name, end in ends.items()}


def claim_3_Z(fine: Mapping[str, Array], coarse: Mapping[str, Array], seed: int) -> Judged:
    """How much larger shares of uniform regret are on the finer grid, and π-GP-UCB's less IGP-UCB's there."""
    return {
        "igp_ucb": paired_difference(fine[RIVAL], coarse[RIVAL], seed),
        "pi_gp_ucb": paired_difference(fine[OURS], coarse[OURS], seed),
        "order": paired_difference(fine[OURS], fine[RIVAL], seed),
    }


# Operations


def claim_3_I(
    of_cells: Mapping[int, Array], of_all: Mapping[int, Array], clocks: Mapping[Clock, Trace], horizon: int, seed: int
) -> Judged:
    """The exponent of t, from T / 10 on, in a round's operations and seconds: π-GP-UCB (n, m) by d, IGP-UCB (m,)."""
    ends, judged = edges(horizon), {}
    at = (ends[:-1] + ends[1:] + 1) / 2
    late = at >= horizon / 10
    for d in (2, 3):
        judged[f"pi_d{d}"] = growth(at[late], of_cells[d][:, late], intervals(seed))
        judged[f"seconds_d{d}"] = growth(at[late], clocks[d, OURS].seconds_a_round[:, late], intervals(seed))
        judged[f"igp_d{d}"] = exact(float(np.polyfit(np.log(at[late]), np.log(of_all[d][late]), 1)[0]))
    return judged


def times(of_cells: Array, of_all: Array, seed: int) -> Estimate:
    """Return how many times the operations of π-GP-UCB, runs (n, m), exact IGP-UCB takes, (m,) (3-J, 3-K, 3-R)."""
    value, low, high = estimated_mean(of_cells.mean(axis=1) / of_all.mean(), seed)
    return Estimate(1 / value, 1 / high, 1 / low if low > 0 else np.inf)


def clocked(clocks: Mapping[Clock, Trace], d: int, seed: int) -> Estimate:
    """Return how many times the seconds of a run of π-GP-UCB IGP-UCB takes (3-J, 3-K, 3-R), by (d, algorithm)."""
    ours, theirs = (clocks[d, rule].seconds.sum(axis=1) for rule in (OURS, RIVAL))
    return paired_share(theirs, ours, seed).changed(partial(operator.add, 1.0))


def claim_3_L(tour: pd.DataFrame, horizon: int) -> Judged:
    """π-GP-UCB's share of uniform regret while it visits its first cells, and when it overtakes IGP-UCB, over T."""
    of_two = tour.loc[[2, 3]]
    return {"tour": exact(of_two[f"{OURS}, tour"].min()), "crossing": exact(of_two["crossing"].min() / horizon)}


# Theory and cells


def claim_3_N(fits: Mapping[tuple[str, int], float], nu: float) -> Judged:
    """How far the growth of the greedy gain lies above the rate known since, and below eq. 4, in d = 1 and 2."""
    judged = {}
    for end, name in (("", USUAL), ("_eq2", LITERAL)):
        fitted = {d: fits[name, d] for d in (1, 2)}
        judged[f"above{end}"] = exact(min(its - d / (d + 2 * nu) for d, its in fitted.items()))
        judged[f"below{end}"] = exact(max(its - cover_exponent(d, nu) for d, its in fitted.items()))
    return judged


def claim_3_M(created: Mapping[int, Array], horizons: Sequence[int], nu: float, seed: int) -> Judged:
    """By how much the exponent of T in the number of cells, runs by horizons, exceeds that of Lemma 2, by d."""
    at = np.array(horizons)
    return {f"d{d}": growth(at, its, intervals(seed)).changed(partial(operator.add, -cover_exponent(d, nu)))
            for d, its in created.items()}  # fmt: skip


def claim_3_S(runs: Sequence[experiments.CellRun], of_two: Array, seed: int) -> Judged:
    """Operations of runs in d = 1 over those in d = 2 (n, m), of the last tenth over the second; late pulls."""
    of_one = np.array([its.operations.mean() for its in runs])
    tenths = [np.array_split(its.operations, 10) for its in runs]
    last, second = (np.array([parts[i].mean() for parts in tenths]) for i in (-1, 1))
    late = estimated_mean(np.array([its.late_share for its in runs]), seed)
    ratios = {"runtime": (of_one, of_two.mean(axis=1)), "late": (last, second)}
    times_as_many = {part: paired_share(*its, seed).changed(partial(operator.add, 1.0)) for part, its in ratios.items()}
    return times_as_many | {"pulls": late}


def claim_3_T(of_cells: Array, of_all: Array, seed: int) -> Judged:
    """The exponent of t in the width, less the norm, of the widest cell and IGP-UCB, (n, T), last two decades."""
    at = experiments.last_decades(of_all.shape[1], 2)
    return {
        part: growth(at, widths[:, at - 1], intervals(seed)) for part, widths in (("pi", of_cells), ("igp", of_all))
    }


def claim_3_V(covers: Iterable[Sequence[experiments.CellRun]]) -> Judged:
    """The share of rounds in which the best arm of an unchanged cell moves, at most."""
    return {"moved": exact(max(float(np.mean([its.moved for its in runs])) for runs in covers))}


# Functions outside the model


def excess(traces: Mapping[str, Trace | Regrets], seed: int) -> Estimate:
    """Return how much more regret π-GP-UCB has than IGP-UCB, as a share."""
    ours, theirs = (traces[rule].average_regret[:, -1] for rule in (OURS, RIVAL))
    return paired_share(ours, theirs, seed)


def claim_3_O(surfaces: Mapping[tuple[str, str], Any], of: Sequence[str], seed: int) -> Judged:
    """How much more regret π-GP-UCB has than IGP-UCB on the worst of these functions, in each interpretation."""
    cases = {"usual": USUAL, "eq2": LITERAL, "tight": "least L"}
    return {part: largest(excess(surfaces[case, name], seed) for name in of) for part, case in cases.items()}


# Bands


def claim_3_P(bands: Mapping[tuple[int, str], Sequence[Any]], delta: float) -> Judged:
    """How often the band holds in all cells, by union, and by what the proved width could be scaled and still cover."""
    held = {case: share(np.array([its.band for its in runs])) for case, runs in bands.items()}
    ratios = [np.quantile([its.ratio for its in bands[d, "horizon"]], 1 - delta) for d in (1, 2)]
    return {
        **{f"d{d}": held[d, "horizon"] for d in (1, 2)},
        "multiplier": exact(float(max(ratios))),
        **{union: weakest(held[d, union] for d in (1, 2)) for union in ("levels", "printed")},
    }


def claim_3_U(bands: Mapping[tuple[int, str], Sequence[Any]]) -> Judged:
    """How often the regret stays below the sum of Theorem 3, and the median of that sum over it, proved width."""
    ratios = [np.array([its.bound / its.regret for its in bands[d, "horizon"]]) for d in (1, 2)]
    return {
        "bound": weakest(share(its >= 1) for its in ratios),
        "loose": exact(float(min(np.median(its) for its in ratios))),
    }


def claim_3_AD(sides: Array, constant: Array) -> Judged:
    """In which share of runs (n, 2) the left side of Lemma 10 is at most the right one, or its root, as printed, is."""
    held = {"holds": sides[:, 0], "printed": np.sqrt(constant[:, 0]), "matern_printed": np.sqrt(sides[:, 0])}
    right = {"printed": constant[:, 1]}
    return {part: share(left <= right.get(part, sides[:, 1])) for part, left in held.items()}


def claim_3_AA(totals: Mapping[tuple[float, int], Array], horizons: Sequence[int], seed: int) -> Judged:
    """By how much the exponent of R_T of π-GP-UCB exceeds eq. 1: runs by horizons, by (nu, d)."""
    judged = {}
    for (nu, d), its in totals.items():
        stated = experiments.regret_exponents(d, nu)[OURS]
        found = growth(np.array(horizons), its, intervals(seed))
        judged[f"nu{int(2 * nu)}_d{d}"] = found.changed(partial(operator.add, -stated))
    return judged


# Since the paper


def between(shares: Mapping[tuple[str, int, str], Array], one: Case, other: Case, seed: int) -> Judged:
    """How much larger the share of uniform regret of one (change, algorithm) is than that of another, by d, paired."""
    dimensions = [d for change, d, rule in shares if (change, rule) == one]
    return {f"d{d}": paired_difference(shares[one[0], d, one[1]], shares[other[0], d, other[1]], seed)
            for d in dimensions}  # fmt: skip


def claim_3_W(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """IGP-UCB with both changes less π-GP-UCB with the tighter width, and less that with both changes."""
    rivals = {"": ("tighter width", OURS), "both_": ("both", OURS)}
    return {f"{which}{part}": its for which, rival in rivals.items()
            for part, its in between(shares, ("both", RIVAL), rival, seed).items()}  # fmt: skip


def claim_3_X(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """IGP-UCB with both changes less π-GP-UCB as published."""
    return between(shares, ("both", RIVAL), ("published", OURS), seed)


def claim_3_AF(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """IGP-UCB with lambda grown, and its own width, less IGP-UCB as published."""
    return between(shares, ("lambda grows", RIVAL), ("published", RIVAL), seed)


def claim_3_AG(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """IGP-UCB with both changes by epochs that double, less the one that knows the horizon."""
    return between(shares, ("both, any horizon", RIVAL), ("both", RIVAL), seed)
