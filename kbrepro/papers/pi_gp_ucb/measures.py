"""What judges each claim on π-GP-UCB: what was played goes in, an estimate of every part of the claim comes out.

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
    exact,
    largest,
    paired_difference,
    paired_share,
    share,
    slope,
    weakest,
)

Judged = dict[str, Estimate]
Final = tuple[Array, Array]
OURS, RIVAL = "π-GP-UCB", "IGP-UCB"
USUAL, LITERAL = "usual", "eq. 2 read literally"


# Table 1


def level(finals: Mapping[tuple[str, int, str], Final], d: int, rule: str, printed: float) -> Judged:
    """How a printed share of uniform regret lies to ours (3-A to 3-F), in each interpretation played in full."""
    cases = {"": (USUAL, "mean of ratios"), "_ratio": (USUAL, "ratio of means")}
    cases |= {"_eq2": (LITERAL, "mean of ratios")} if d < 3 else {}
    judged: Judged = {}
    for end, (name, how) in cases.items():
        found = experiments.beside_printed(*finals[name, d, rule], printed, how)
        judged |= {f"{part}{end}": its for part, its in found._asdict().items()}
    return judged


def apart(one: Final, other: Final, seed: int) -> Estimate:
    """Return the mean paired difference of two shares of uniform regret."""
    return paired_difference(one[0] / one[1], other[0] / other[1], seed)


def claim_3_G(finals: Mapping[tuple[str, int, str], Final], seed: int) -> Judged:
    """How much larger π-GP-UCB's share of uniform regret is than IGP-UCB's, for each d and lengthscale."""
    ends = {USUAL: "", LITERAL: "_eq2"}
    cases = dict.fromkeys((name, d) for name, d, _ in finals)
    return {f"d{d}{ends[name]}": apart(finals[name, d, OURS], finals[name, d, RIVAL], seed) for name, d in cases}


def claim_3_Z(fine: Mapping[str, Array], coarse: Mapping[str, Array], seed: int) -> Judged:
    """How much larger shares of uniform regret are on the finer grid, and π-GP-UCB's less IGP-UCB's there."""
    return {
        "igp_ucb": paired_difference(fine[RIVAL], coarse[RIVAL], seed),
        "pi_gp_ucb": paired_difference(fine[OURS], coarse[OURS], seed),
        "order": paired_difference(fine[OURS], fine[RIVAL], seed),
    }


# Seconds


def claim_3_I(growth: Mapping[tuple[int, str], Estimate]) -> Judged:
    """How the seconds of a step grow in t."""
    parts = {f"{short}_d{d}": (d, rule) for d in (2, 3) for short, rule in (("pi", OURS), ("igp", RIVAL))}
    return {part: growth[case] for part, case in parts.items()}


def times(seconds: Mapping[tuple[int, str], Array], d: int) -> Estimate:
    """Return how many times as long as π-GP-UCB IGP-UCB takes, in the median run (3-J, 3-K, 3-R)."""
    return exact(float(np.median(seconds[d, RIVAL] / seconds[d, OURS])))


def times_refitted(anew: float, seconds: Mapping[tuple[int, str], Array], d: int) -> Estimate:
    """Return how many times as long as π-GP-UCB a posterior computed anew in every round takes (3-K, 3-R)."""
    return exact(float(anew / np.median(seconds[d, OURS])))


def claim_3_L(tour: pd.DataFrame, horizon: int) -> Judged:
    """π-GP-UCB's share of uniform regret while it visits its first cells, and when it overtakes IGP-UCB, of T."""
    of_two = tour.loc[[2, 3]]
    return {"tour": exact(of_two[f"{OURS}, tour"].min()), "crossing": exact(of_two["crossing"].min() / horizon)}


# Theory and cells


def claim_3_N(fits: Mapping[tuple[str, int], Estimate], nu: float) -> Judged:
    """How far the growth of the greedy gain lies above the rate known since, and below eq. 4, in d = 1 and 2."""
    judged = {}
    for end, name in (("", USUAL), ("_eq2", LITERAL)):
        fitted = {d: fits[name, d].value for d in (1, 2)}
        judged[f"above{end}"] = exact(min(its - d / (d + 2 * nu) for d, its in fitted.items()))
        judged[f"below{end}"] = exact(max(its - cover_exponent(d, nu) for d, its in fitted.items()))
    return judged


def claim_3_M(created: Mapping[int, Sequence[float]], horizons: Sequence[int], nu: float) -> Judged:
    """By how much the exponent of T in the number of cells exceeds that of Lemma 2, by d."""
    judged = {}
    for d, its in created.items():
        judged[f"d{d}"] = slope(np.log(horizons), np.log(its)).changed(partial(operator.add, -cover_exponent(d, nu)))
    return judged


def claim_3_S(seconds: Array, runs: Iterable[experiments.CellRun]) -> Judged:
    """Seconds of the last tenth of the rounds over those of the second, and the share of late pulls in new cells."""
    tenths = np.array_split(np.median(seconds, axis=0), 10)
    late = float(np.mean([its.late_share for its in runs]))
    return {"late": exact(tenths[-1].mean() / tenths[1].mean()), "pulls": exact(late)}


def claim_3_T(of_cells: Iterable[experiments.CellRun], of_all: Array) -> Judged:
    """The exponent of t in the width, less the norm, of the widest cell and of IGP-UCB (T,), over two decades."""
    widths = {"pi": np.mean([its.width for its in of_cells], axis=0), "igp": of_all}
    return {part: experiments.late_exponent(its, decades=2) for part, its in widths.items()}


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
    """How often the band holds in all cells, and by what its width could be scaled and still cover in 1 - delta."""
    held = {case: share(np.array([its.band for its in runs])) for case, runs in bands.items()}
    proved = [case for case in bands if case[1] != "1"]
    ratios = [np.quantile([its.ratio for its in bands[case]], 1 - delta) for case in proved]
    return {
        **{f"d{case[0]}": held[case] for case in proved},
        "multiplier": exact(float(max(ratios))),
        "experiments": weakest(held[case] for case in bands if case not in proved),
    }


def claim_3_U(bands: Mapping[tuple[int, str], Sequence[Any]]) -> Judged:
    """How often the regret stays below the sum of Theorem 3, and the median of that sum over it, where it is proved."""
    ratios = [np.array([its.bound / its.regret for its in runs]) for case, runs in bands.items() if case[1] != "1"]
    return {
        "bound": weakest(share(its >= 1) for its in ratios),
        "loose": exact(float(min(np.median(its) for its in ratios))),
    }


# Since the paper


def claim_3_W(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """How much larger π-GP-UCB's share of uniform regret is than IGP-UCB's, both with both changes, by d."""
    return {f"d{d}": paired_difference(shares["both", d, OURS], shares["both", d, RIVAL], seed) for d in (1, 2, 3)}


def claim_3_X(shares: Mapping[tuple[str, int, str], Array], seed: int) -> Judged:
    """How much larger IGP-UCB's share with both changes is than π-GP-UCB's as published, by d."""
    return {f"d{d}": paired_difference(shares["both", d, RIVAL], shares["published", d, OURS], seed) for d in (1, 2, 3)}
