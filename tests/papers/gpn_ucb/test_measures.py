"""What judges a claim, on panels known by hand; a wrong rule, rival, tie, side or sign gives another number."""

from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import measures, needle
from kbrepro.regret import Trace, paired_share

#: In how many of 30 chains each rival is the only one below GPN-UCB.
BELOW = {"cUCB": 1, "OI": 2, "GP-UCB": 3, "EI": 4, "cEI": 5, "cEI, exact": 6, "NonAda": 7}


def panel(tie):
    """One rival after the other is two ties below GPN-UCB in chains of its own, else above; the last two are ties."""
    values = {rule: np.full(30, 1 + 2 * tie) for rule in BELOW}
    for (rule, n), end in zip(BELOW.items(), accumulate(BELOW.values()), strict=True):
        values[rule][end - n : end] = 1 - 2 * tie
        values[rule][28:] = 1 - 0.9 * tie * (rule in measures.BLACK_BOX), 1 + 0.9 * tie
    return {"GPN-UCB": np.ones(30)} | values


def flat(**levels):
    return {rule.replace("_", " "): np.full(4, level) for rule, level in levels.items()}


TOTAL, SIMPLE = panel(1e-9), panel(0.001)
FIRST_25 = measures.of_chains(SIMPLE, np.arange(30) < 25)
#: GPN-UCB is one below EI, two above it in the end; the others are far behind, but for exact cEI, one below.
APART = {rule: np.full(4, 9.0) for rule in BELOW} | {"GPN-UCB": np.full(4, 4.0), "EI": np.array([5.0, 5, 3, 1])}
APART |= {"cEI": np.full(4, 5.0), "cEI, exact": np.full(4, 3.0), "NonAda": np.full(4, 6.0)}
of = measures.of_chains
ENDS = flat(no_envelope=6.0, with_the_point_itself=4.0) | {"as in L.2": np.full(4, 3.0), "400 points": np.full(4, 1.0)}
OURS = {"GPN-UCB": np.full(4, 3.0), "NonAda": np.full(4, 5.0), "cEI": np.ones(4)}
NETWORKS = {"multi-output": {"GPN-UCB": np.array([0.05, 0.06]), "NonAda": np.zeros(2)},
            "feed-forward": {"GPN-UCB": np.array([0.04, 0.04, 0.0, 0.1]), "NonAda": np.ones(2)}}  # fmt: skip

#: Rounding adds 5 % or more to the second and third network.
OUTWARD = pd.DataFrame({"slack": [0.01, 0.05, 0.6], "step": [0.3, 0.9, 0.2], "total": [0.1, 0.2, 0.15]})
BARE = pd.DataFrame({"step": [4.0, 7.0]})
LARGEST = pd.DataFrame({"error": [1, 2, 9, 3], "regret": [4, 6, 9, 5], "projected": [7, 8, 9, 8]},
                       ["chain", "multi-output", "mixed", "feed-forward"])  # fmt: skip
TIMED = {"GPN-UCB": [1.0, 2, 9], "cEI": [6.0, 8, 9], "cEI, exact": [2.0, 3, 30]}
PULLS = {"as in L.2": [[1, 2], [3, 4], [5, 6]], "over all of D": [[1, 2], [3, 9], [5, 6]]}


#: Arm 4 costs 1, arm 9 four, arms 5 and 6 two and a half each; others nothing.
GAPS = np.zeros((3, 10))
GAPS[:, [4, 5, 6, 9]] = 1.0, 2.5, 2.5, 4.0


def behind(judged):
    return {part: its for part, its in judged.items() if not part.endswith(("mean", "median"))}


class Hard:
    """Stands for `needle.Needles`: told L = 2, a norm, a slope, a maximum over 2 epsilon, arms outside."""

    epsilon = 0.5

    def __init__(self, norm, slope, top, outside):
        self.first_norm, self.needle_slope, self.top = lambda: norm, lambda: slope, top
        self.outside = lambda trial: outside

    def __call__(self, trial):
        return SimpleNamespace(expected_reward=np.array([0, self.top]), model=SimpleNamespace(lipschitz=2.0))


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (measures.claim_5_A(APART, of(APART, slice(2)), 1), {"mean": 0.5, "median": 0, "share": 2 / 4, "norm_2": -1}),
        (measures.claim_5_B(APART, 1), {"mean": -1, "median": -1, "share": 1}),
        (measures.claim_5_C(APART, 1), {"mean": 1, "median": 1, "share": 0, "noise": 5 / 3}),
        (measures.claim_5_Q(APART, APART, 1),
         {"gpn_mean": 0.5, "gpn_median": 0, "gpn_behind": 0.5, "cei_mean": 1.5, "cei_median": 1, "cei_behind": 0.5}),
        (behind(measures.claim_5_G(TOTAL, FIRST_25 | {"OI": np.zeros(25)}, 1)),
         {"cucb": 7 / 30, "cucb_simple": 7 / 25, "oi_simple": 0}),
        (behind(measures.claim_5_G(SIMPLE, SIMPLE, 1)),
         {"cucb": 8 / 30, "cucb_simple": 7 / 30, "oi_simple": 7 / 30}),
        (measures.claim_5_G(APART | {"cUCB": np.full(4, 5.0)}, APART | {"OI": np.full(4, 8.0)}, 1),
         {"cucb_mean": 1.5, "cucb_median": 1, "cucb": 0.5, "cucb_simple_mean": 5.5, "cucb_simple_median": 5,
          "cucb_simple": 1, "oi_simple_mean": 4.5, "oi_simple_median": 4, "oi_simple": 1}),
        (measures.claim_5_AC(np.array([[0.5, 0.1]] * 4), np.array([[0.5, 0.1], [0.5, 0.102], [0.5, 0.103], [0.9, 0.1]]),
                             np.array([[0.5, 0.2], [0.3, 0.2]]), np.array([[0.1, 0.2], [0.1, 0.3]])),
         {"curve": 0.5, "figure": 0.3}),
        (measures.claim_5_AD(np.array([[0.3, 0.2, 0.05]] * 4),  # earlier and sooner; earlier only; as early; never near
                             {"cei": np.array([[0.2, 0.05, 0], [0.2, 0.2, 0.05], [0.3, 0.2, 0.2], [0.2, 0.2, 0.2]])}),
         {"cei": 2 / 3}),
        (measures.claim_5_E(APART, 1),
         {"gpn_mean": 0.5, "gpn_median": 0, "gpn_ahead": 0.5,
          "nonada_mean": 2.5, "nonada_median": 2, "nonada_ahead": 0}),
        (measures.claim_5_F(APART, 1), {"mean": 2.5, "median": 2, "share": 0}),
        (measures.claim_5_AB(APART, 1), {"mean": 1, "median": 1, "share": 0}),
        (measures.claim_5_AA(np.outer([1, 2, 3], np.array([1.0, 2, 4]) ** -2), [1, 2, 4], 1.5, 1), {"rate": -0.5}),
        (measures.claim_5_D(np.array([0.05, 0.05, 0.01, 0.06]), np.array([0.05, 0.01, 0.06]), 2, 1),
         {"gpn": 3 / 4, "gpn_1": 1 / 4, "nonada": 2 / 3, "nonada_1": 1 / 3}),
        (measures.claim_5_I(ENDS, ENDS | {"GPN-UCB": np.ones(4)}, 1), {"draws": 2, "norm_2": 6}),
        (measures.claim_5_N({"GPN-UCB": np.zeros(4), "cEI": np.array([0.009, -0.009, 0.011, -0.051])}, 1),
         {"mean": 0.01, "median": 0, "share": 0.5}),
        (measures.claim_5_O(OURS, 1), {"gpn_mean": 2, "nonada_mean": 4, "gpn_median": 2, "nonada_median": 4}),
        (measures.claim_5_R(np.array([[6.0, 3, 2], [8, 4, 1], [9, 5, 1]]), trace_of(np.ones((3, 2))),
                            trace_of(np.full((3, 2), 4.0)), {"GP-UCB": np.full(3, 1.5), "EI": np.full(3, 0.5)}, 1),
         {"looser": 8, "at_1": 4, "at_half": 1, "regret": 0.25, "black": 1.5}),
        (measures.claim_5_W(NETWORKS), {"multi_gpn": 0.5, "multi_nonada": 1, "feed_gpn": 0.75, "feed_nonada": 0}),
        (measures.claim_5_Z(ENDS, 1), {"itself": -1, "none": -3, "finer": 2}),
        (measures.claim_5_L({1.0: 0.5, 2.0: 0.7}, {1.0: 0.49, 2.0: 0.72}), {"digits": 0.02}),
        (measures.claim_5_M({nu: pd.DataFrame({"a": [0.0, nu], "b": [9, 9]}) for nu in (1.0, 1.5, 2.0)}),
         {"nu_1": 0.5, "nu_15": 0.75, "nu_2": 1}),
        (measures.claim_5_X({"cEI": 9.0, "GPN-UCB": 3.0}, {rule: trace_of(np.ones((1, 3)), [its])
                                                           for rule, its in TIMED.items()}),
         {"operations": 3, "seconds": 4, "exact_seconds": 1.5}),
        (measures.claim_5_Y({name: Trace(np.array(arms), GAPS, *[np.zeros(3)] * 2) for name, arms in PULLS.items()}, 1),
         {"trials": 1 / 3, "regret": 0.5}),
        (measures.claim_5_K(OUTWARD, BARE), {"slack": 0.05, "step": 0.3, "total": 0.1, "bare": 7}),
        (measures.claim_5_K(OUTWARD[1:], BARE), {"slack": 0.325, "step": 0.9, "total": 0.2, "bare": 7}),
        (measures.claim_5_P(LARGEST), {"chain": 1, "multi": 2, "feed": 3, "regret": 6, "projected": 7}),
        (measures.claim_5_T({1.5: Hard(4.0, 0.0, 1.0, 2), 2.0: Hard(3.0, 50.0, 0.7, 5)}, None),
         {"norm": 0.8, "norm_2": 0.6, "slope": 25, "maximum": 0.3, "outside": 7}),
        (measures.claim_5_T({1.5: Hard(4.0, 0.0, 1.0, 2), 2.0: Hard(6.0, 0.0, 1.0, 0)}, None),  # amplifier is steeper
         {"norm": 0.8, "norm_2": 1.2, "slope": max(map(needle.steepest, (1.5, 2.0))) / 2, "maximum": 0, "outside": 2}),
    ],
)  # fmt: skip
def test_the_parts_of_a_claim(judged, expected):
    assert {part: its.value for part, its in judged.items()} == pytest.approx(expected)


# Panels


def test_the_trials_of_a_chain_are_averaged():
    traces = {"a": trace_of([[3, 1, 2], [5, 5, 0], [1, 1, 1], [4, 2, 3]])}
    np.testing.assert_array_equal(measures.totals(traces, 2)["a"], [8, 6])
    np.testing.assert_array_equal(measures.simple_at(traces, 2, 2)["a"], [3, 1.5])
    np.testing.assert_array_equal(measures.simple_at(traces, 3)["a"], [1, 0, 1, 2])
    with pytest.raises(ValueError, match="t = 4 is not allowed: t must be from 1 to the horizon, 3"):
        measures.simple_at(traces, 4)


def test_a_lead_is_over_the_best_rival_and_never_over_oneself():
    its = {"a": np.array([1.0, 5, 2]), "b": np.array([2.0, 4, 2]), "c": np.array([3.0, 9, 0])}
    np.testing.assert_array_equal(measures.lead(its, "a", ["a", "b", "c"]), [1, -1, -2])


def one_by_one(statistic, *samples):
    """The percentile interval of a statistic of 1-D samples, resample after resample in a loop."""
    rng, n = np.random.default_rng(8), len(samples[0])
    found = [statistic(*(s[its] for s in samples)) for its in (rng.integers(n, size=n) for _ in range(4000))]
    return statistic(*samples), *np.quantile(found, [0.025, 0.975])


def test_chains_are_resampled_and_not_trials():
    rng = np.random.default_rng(7)
    regrets, a, b = rng.random(60), rng.exponential(size=30), rng.exponential(size=30)
    its = (regrets <= 0.3).reshape(30, 2).mean(axis=1)
    assert measures.near_optimal(regrets, 0.3, 2, seed=1) == pytest.approx(one_by_one(np.mean, its), abs=0.02)
    assert measures.mean_ratio(a, b, seed=1) == pytest.approx([1 + its for its in paired_share(a, b, 1)])
    alike = np.array([0.0, 0.05, 0.06] * 30)  # every chain has the same share; trials would vary
    assert measures.claim_5_D(alike, alike, 3, seed=1)["gpn"] == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert measures.near_optimal(alike, 0.05, 1, seed=1).low < 0.6


def test_operations_by_hand():
    """Two rounds, three layers, five arms, four points, two samples."""
    assert measures.operations(2, 5, 3, 4, 2) == {
        "GPN-UCB": 5 * 3 + 3 * 5 + 2 * (4 * 3 + 2 * (16 + 2 * 5 * 4)), "cEI": 5 * 3 + 3 * 5 + 2 * 2 * 5 * 3
    }  # fmt: skip


def test_simple_regret_over_pulls_is_a_mean():
    traces = {"a": trace_of([[3, 1, 2], [5, 5, 0]])}
    np.testing.assert_array_equal(measures.over_pulls(traces, [1, 3])["a"], [2, 2.5])


# Traces


def test_oi_is_compared_with_cucb_on_whole_curves_and_at_the_end():
    cucb = trace_of([[0.5, 0.1]] * 4)
    off = [[0.5, 0.1], [0.5, 0.115], [0.53, 0.1], [0.53, 0.095]]  # 0.015 off at the end, 0.03 at first
    swept = {0.1: cucb, 1.0: trace_of(off), 10.0: trace_of([[9.0, 9.0]] * 4), 100.0: trace_of([[0.5, 0.4]] * 4)}
    judged = measures.claim_5_H(swept, cucb, 1)
    assert judged["curve"].value == 0.5 and judged["last"].value == 0.75
    assert judged["large"].value == pytest.approx(0.4 - np.mean([0.1, 0.1075, 0.1, 0.0975]))


# Bounds, sets, needles


def test_misses_of_bounds_and_sets_and_widths_at_the_end():
    run = {"band": np.array([0, 1]), "paper": np.array([[2, 3], [9, 4]]), "outward": np.array([[0, 1], [9, 7]])}
    structures = ["chain", "multi-output", "multi-output, mixed", "feed-forward", "extra inputs"]
    found = {name: [run | {"outward": np.array([[0, i], [9, 7 + i]])}] * 2 for i, name in enumerate(structures)}
    table = measures.coverage(found, 10)
    chain = {"band": 2, "missed, paper": 0.25, "missed, outward": 0, "width, paper": 4, "width, outward": 7}
    spread = {"lower, paper": 4, "upper, paper": 4, "lower, outward": 7, "upper, outward": 7}
    errors = {"error, paper": 0, "error, outward": 0}  # two equal networks
    assert table.loc["chain"].to_dict() == chain | spread | errors
    other = run | {"paper": np.array([[4, 5], [9, 8]])}
    apart = measures.coverage({"chain": [run, other]}, 10).loc["chain"]  # shares 0.25 and 0.45
    assert apart["error, paper"] == pytest.approx(1.96 * 0.1) and apart["missed, paper"] == pytest.approx(0.35)
    assert (apart["lower, paper"], apart["width, paper"], apart["upper, paper"]) == (5, 6, 7)
    judged = {part: its.value for part, its in measures.claim_5_J(table, 40).items()}
    parts = ("chain", "multi", "mixed", "feed", "extra")
    expected = {part: 2 * i for i, part in enumerate(parts)} | {f"{part}_grid": 0.25 for part in parts}
    assert judged == pytest.approx({"band": 10} | expected | {f"{part}_width": 7 + i for i, part in enumerate(parts)})


def test_the_constant_comes_close_to_1_at_the_cost_of_the_height():
    judged = measures.claim_5_U()
    assert judged["rises"].value == pytest.approx(1, abs=0.2)  # 2 (nu - 1) for nu = 1.5, the smaller
    tops = {nu: [float(needle.amplifier(np.array(0.3 * s), nu, s)) for s in (1, 1 / 64)] for nu in (1.5, 2.0)}
    assert judged["last"].value == min(tops[1.5][1], tops[2.0][1]) < tops[1.5][0]
    assert judged["usable"].value == pytest.approx(min(its[0] for its in tops.values()) / 0.3)
    assert judged["rough"].value < 0 < judged["one"].value < judged["rises"].value  # without L' rough is above 0


def test_without_the_slope_of_the_needle_rough_kernels_would_pass(monkeypatch):
    monkeypatch.setattr(needle, "steepest_bump", lambda: 0.0)
    assert measures.claim_5_U()["rough"].value > 0
