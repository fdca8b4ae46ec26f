"""What judges the claims, on panels whose answer is known by hand: another rule, rival or panel gives another number.

In panels all rules have one spread over trials, so intervals have no width where nothing else is said.
"""

import math
from itertools import combinations

import numpy as np
import pytest
from traces import trace_of

from kbrepro.kernels import SquaredExponential
from kbrepro.papers.igp_ucb import measures
from kbrepro.papers.igp_ucb.experiments import OURS
from kbrepro.papers.igp_ucb.measures import BANDS, POOLS, TIGHTER
from kbrepro.papers.igp_ucb.problems import PosteriorMean
from kbrepro.problems import Trial
from kbrepro.regret import Estimate, block_length, paired_share

RULES = ("GP-UCB", "IGP-UCB", "GP-TS", "EI", "PI")
NOISY = np.random.default_rng(2017).uniform(1, 3, size=(6, 30))  # samples of 30 trials


def panel_of(means, n=3, rules=RULES):
    """A panel of n trials with these means, 1 - 0.2 and 1 + 0.2 of them in two trials."""
    spread = np.array([0.8, 1.2] + [1.0] * (n - 2))
    return {rule: mean * spread for rule, mean in zip(rules, means, strict=True)}


MEANS = {  # of RULES, the noisy incumbent
    "1": {"a": (8, 2, 4, 5, 10), "b": (6, 3, 2, 4, 12)},
    "2": {"a": (9, 3, 4, 5, 6), "b": (10, 6, 3, 8, 4)},
    "3": {"a": (8, 4, 6, 2, 3), "b": (10, 5, 2, 4, 1)},
    "4": {"temperature": (5, 4, 3, 7, 2), "light": (7, 6, 5, 9, 8)},
}
PANELS = {(figure, title): {} for figure, its in MEANS.items() for title in its}
for key, panel in PANELS.items():
    *ours, ei, pi = MEANS[key[0]][key[1]]
    for times, five in enumerate(POOLS.values(), start=1):  # EI and PI of later pools are 2, 3, 4, 5 times as bad
        panel |= panel_of([*ours, times * ei, times * pi], 40, five)
    panel |= panel_of([9 - int(key[0]), 10], 40, TIGHTER)


OF_NOISY = {"2-A": 6 / 10 - 1, "2-C": 3 / 2 - 1, "2-E": 4 / 5 - 1, "2-F": (7 - 2) / 7, "2-G": 3, "2-H": 4 / 2 - 1}
OF_NOISY |= {"2-I": 5, "2-J": -1 / 5, "2-K": 1 / 2, "2-L": -1 / 6, "2-M": -1 / 4, "2-Q": -1 / 7}


@pytest.mark.parametrize("claim_id", OF_NOISY)
def test_the_measure_of_a_claim(claim_id):
    assert measures.measured(claim_id, PANELS, 1) == pytest.approx([OF_NOISY[claim_id]] * 3)


def runs(*second):
    """A trace of runs whose band ratio is 0.5, then these."""
    return trace_of(np.zeros((len(second), 2)))._replace(band_ratio=np.array([[0.5, ratio] for ratio in second]))


SECOND = {"noisy": -0.2} | dict.fromkeys(("mean_0", "mean_001", "mean_003", "mean_01"), 4 / 8 - 1)
#: EI and PI are farthest apart in temperature, whose largest mean is EI's; in later pools in 3 b.
APART = {"noisy": 5 / 7, "mean_0": 5 / 7} | dict.fromkeys(("mean_001", "mean_003", "mean_01"), 3 / 4)
APART |= {"synthetic": 4 / 12 - 1}
#: GP-TS over IGP-UCB: 2 in one dimension, then a root of d more; 8 under the Matérn kernel.
SIX = {("1", "(a) SE"): 2, ("1", "(b) Matérn"): 8, ("2", "(a) SE"): 2, ("2", "(b) Matérn"): 8}
SIX |= {("3", "(a) Rosenbrock"): 2 * 2**0.5, ("3", "(b) Hartmann-3"): 2 * 3**0.5}
RISES = {"rises_se": 0.5, "rises_all": np.polyfit(np.log([1, 1, 1, 1, 2, 3]), np.log([*SIX.values()]), 1)[0]}
SIX = {key: panel_of([1, times], rules=("IGP-UCB", "GP-TS")) for key, times in SIX.items()}
BY_D = {d: panel_of([9, 2, 6 * d**0.5, 7, 7]) for d in (1, 2, 3, 4)}
IGP_WORST = {("1", "a"): PANELS["1", "a"] | {"IGP-UCB": 9 * PANELS["1", "a"]["GP-UCB"]}}
ONE_BAD = {("1", "a"): {"IGP-UCB": np.full(5, 2.0), "EI": np.array([1.0, 1.0, 1.0, 1.0, 16.0])}}
RAW = {("1", "a"): 3.0, ("2", "a"): 2.0, ("1", "b"): 5.0, ("2", "b"): 4.0}
RAW = {key: mean * np.array([1.0, 2.0]) for key, mean in RAW.items()}
SCALED = RAW | {("1", "a"): RAW["1", "a"] / 3}
EXCESS = {"one": np.array([0.1, 0.8, 3.1, -1]), "other": np.full(4, -5.0)}  # log(1 / delta) is 3.0, 2.3, 0.7
COVERED = {("SE", BANDS["band"]): runs(*[0.2] * 10), ("linear", BANDS["band"]): runs(*[0.2] * 8, 0.8, 1.2)}
COVERED |= {("SE", BANDS["tighter"]): runs(1.1, 0.9), ("SE", BANDS["own_setting"]): runs(2.0, 3.0)}
OF_COVERED = {"band": 0.9, "tighter": 0.5, "own_setting": 0, "multiplier": np.quantile([0.5] * 8 + [0.8, 1.2], 0.9)}
BOUNDS = {"SE": (np.array([4.0, 4.0, 4.0]), np.array([1.0, 2.0, 5.0])), "linear": (np.full(2, 9.0), np.ones(2))}
KERNELS = [(PANELS["1", "a"], PANELS["1", "b"])]  # of ours means grow by 3/2, 1/2, of the others by 4/5, 6/5
COMPETITIVE = {f"igp_{part}": 5 / 2 for part in POOLS} | {f"ts_{part}": 6 / 4 for part in POOLS}
COMPETITIVE |= {"igp_noisy": 5, "ts_noisy": 3}
CLAIMS = {  # what judges, what it is given, and the parts
    "of_pools 2-E": (measures.of_pools, ("2-E", PANELS, 1), SECOND),
    "2-A": (measures.claim_2_A, (PANELS, 1), {"difference": -0.4, "ratio": 10 / 6}),
    "2-B": (measures.claim_2_B, (PANELS, 1), {"noisy": 12 / 6 - 1, "mean_001": 3 * 12 / 6 - 1}),
    "2-B, IGP-UCB": (measures.claim_2_B, (IGP_WORST, 1), {"noisy": 8, "mean_001": 8}),
    "2-D": (measures.claim_2_D, (ONE_BAD, 1), {"mean": -0.5, "median": 1}),  # one bad trial carries the mean
    "2-F": (measures.claim_2_F, (PANELS, 1), APART),
    "2-I": (measures.claim_2_I, (PANELS, 1), COMPETITIVE),
    "2-N": (measures.claim_2_N, (EXCESS,), {"crossings": 0.25 / 0.05}),
    "2-O": (measures.claim_2_O, (COVERED, 0.1), OF_COVERED),
    "2-R": (measures.claim_2_R, (KERNELS, 1), dict.fromkeys(("noisy", "mean_001"), math.sqrt(25 / 32))),
    "2-S": (measures.claim_2_S, (SIX, BY_D, 1), {"figures": 2, "gap": 3, "rises": 0.5} | RISES),
    "2-Y": (lambda *its: {"bound": measures.below_bound(*its)}, BOUNDS["SE"], {"bound": 2 / 3}),
    "2-T": (measures.claim_2_T, (RAW, SCALED, 1), {"scaled": 1 / 2, "raw": 5 / 4}),
    "2-U": (measures.claim_2_U, (BOUNDS,), {"bound": 2 / 3, "loose": 2}),
    "2-W": (measures.claim_2_W, (PANELS, 1), {"synthetic": -0.2, "test_functions": -0.4, "light": -0.5}),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_parts_of_a_claim(claim):
    judge, given, parts = CLAIMS[claim]
    assert {part: estimate.value for part, estimate in judge(*given).items()} == pytest.approx(parts)


def test_2_v_is_near_three_halves_far_out_only():
    found = measures.claim_2_V(0.1)
    assert (found["exponent"].value, found["seen"].value) == pytest.approx((0.013, 0.342), abs=1e-3)


def test_crossings_and_regret_over_the_range():
    assert [its["one"].value for its in measures.crossings(EXCESS).values()] == [0.25, 0.25, 0.5]
    source = PosteriorMean(SquaredExponential(0.2), n_arms=20)
    spans = np.array([np.ptp(source(Trial(7, n)).expected_reward) for n in range(3)])
    np.testing.assert_allclose(measures.over_range(source, 2 * spans, 7), 2)


def test_neighbouring_rows_are_blocks_of_five_autocorrelation_times():
    b = 5 + np.repeat(np.random.default_rng(4).random(30), 4)
    a = b + np.repeat(np.random.default_rng(5).random(30), 4)
    panel = {"GP-UCB": b, "IGP-UCB": a}
    block = block_length(a - b)
    assert block > 4 and measures.block_of(("4", "light"), a, b) == block and measures.block_of(("1", "a"), a, b) == 1
    assert measures.measured("2-Q", {("4", "light"): panel}, 3, RULES) == paired_share(a, b, 3, block)
    assert measures.apart(("1", "a"), panel, "IGP-UCB", "GP-UCB", 3) == paired_share(a, b, 3)


CHOICES = {"incumbent": ["noisy reward", "mean of pulled arms"], "margin": [0.0, 0.01], "norm": ["smoothed", "one"]}
CHOICES |= {"lambda": ["R^2"], "scaling": ["raw"], "horizon": ["the paper's", "a third"]}


def interpreted(claim_id):
    """Fig. 1, in one setting with twice the regret of GP-TS, in another with EI and PI in one panel only."""
    under = {}
    for key in (("1", "a"), ("1", "b"), ("3", "a")):
        twice = PANELS[key] | {"GP-TS": 2 * PANELS[key]["GP-TS"]}
        ours = PANELS[key] if key[1] == "b" else {rule: PANELS[key][rule] for rule in OURS}
        settings = {("smoothed", "a third"): PANELS[key], ("one", "a third"): twice, ("one", "the paper's"): ours}
        settings["smoothed", "the paper's"] = PANELS[key]
        under[key] = {(norm, "R^2", "raw", t): panel for (norm, t), panel in settings.items()}
    return measures.in_interpretations(claim_id, under, CHOICES, 1)


def test_interpretations_are_those_in_which_all_rules_played():
    """GP-TS 4 and 2 against 8, 5k, 10k and 6, 4k, 12k, k = 1, 2, 3: incumbents and margins; else 8 and 4."""
    found = interpreted("2-E")
    assert found[0][0] == {name: values[0] for name, values in CHOICES.items() if len(values) > 1}
    values = {tuple(case.values()): estimate.value for case, estimate in found}
    assert len(values) == 3 * 3  # the noisy incumbent has no margin of 0.01 here
    assert values["noisy reward", 0.0, "smoothed", "a third"] == pytest.approx(-0.2)
    assert values["noisy reward", 0.0, "one", "a third"] == pytest.approx(8 / 5 - 1)
    assert values["mean of pulled arms", 0.01, "one", "a third"] == pytest.approx(0)
    cases = [tuple(case.values()) for case, _ in interpreted("2-A")]  # not about EI and PI
    assert cases == [("smoothed", "the paper's"), ("smoothed", "a third"), ("one", "a third")]


# Statistics

FAILING, LATER = Estimate(0.3, 0.12, 0.4), Estimate(-0.3, -0.5, -0.2)
WIDE, NARROW = Estimate(0.0, -0.9, 0.9), Estimate(0.05, 0.04, 0.06)


@pytest.mark.parametrize(
    ("estimates", "least_alike"),
    [
        ([FAILING, WIDE], FAILING),  # a failure counts for more than a wide interval that decides nothing
        ([NARROW, WIDE], WIDE),  # without failures the widest reach
        ([FAILING, LATER, WIDE], LATER),  # of two failures the farther
        ([Estimate(0.2, 0.1, 0.3), WIDE], WIDE),  # touching the limit is no failure
    ],
)
def test_farthest(estimates, least_alike):
    assert measures.farthest(estimates, 0.1) == least_alike
    assert measures.farthest(iter(estimates[::-1]), 0.1) == least_alike


def test_a_count_of_pairs_has_an_interval():
    """Two rules that are level in Fig. 2 change places from one resample to the next."""
    first = panel_of([1, 2, 3, 4, 5], 30)
    second = dict(
        zip(RULES, (9 + NOISY[0], 9 + NOISY[1], *(20.0 + np.arange(3)[:, None] + 0 * NOISY[2:5])), strict=True)
    )
    count = measures.reordered({("1", "a"): first, ("2", "a"): second}, RULES, 1)
    assert (count.low, count.high) == (0, 1)


def test_reordered_pairs_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(100):
        orders = rng.integers(4, size=(2, 5))  # with ties, which are no inversion
        expected = 0
        for i, j in combinations(range(5), 2):
            signs = np.sign(orders[:, i] - orders[:, j])
            expected += signs[0] * signs[1] == -1 and (i, j) != (3, 4)  # EI and PI are one
        panels = {(figure, "a"): panel_of(its + 1.0) for figure, its in zip("12", orders, strict=True)}
        assert measures.reordered(panels, RULES).value == expected


@pytest.mark.parametrize("n", [10, 30])
def test_over_best_has_an_interval_that_ends_at_one(n):
    """Two rules that are level: the ratio is at least 1 whichever of them a resample puts first."""
    panel = {"a": NOISY[0][:n], "b": NOISY[1][:n], "c": NOISY[2][:n] + 9}
    value, low, high = measures.over_best({("3", "a"): panel}, "abc", 1, rule="a")
    assert value == pytest.approx(max(1, panel["a"].mean() / panel["b"].mean()))
    assert low == 1 < high
    far = measures.over_best({("3", "a"): panel}, "abc", 1, rule="c")
    assert 1 < far.low < far.value < far.high
    assert far.value == pytest.approx(panel["c"].mean() / min(panel["a"].mean(), panel["b"].mean()))


def test_inflation_resamples_trials_in_common():
    """Noise that right and wrong kernel share cancels; noise of their own does not."""
    a, b = NOISY[0], NOISY[1]
    common = measures.inflation([({"a": a, "b": b}, {"a": 3 * a, "b": 2 * b})], "a", "b", 1)
    assert common == pytest.approx([1.5] * 3)
    own = measures.inflation([({"a": a, "b": b}, {"a": 3 * NOISY[2], "b": 2 * NOISY[3]})], "a", "b", 1)
    assert own.low < own.value - 0.05 and own.high > own.value + 0.05


def test_the_power_is_that_of_least_squares():
    by_d = {d: {"GP-TS": NOISY[i], "IGP-UCB": NOISY[i + 3]} for i, d in enumerate((1, 2, 4))}
    ratios = NOISY[:3].mean(axis=1) / NOISY[3:].mean(axis=1)
    found = {part: its for part, its in measures.claim_2_S(SIX, by_d, 1).items() if part in ("gap", "rises")}
    assert found["rises"].value == pytest.approx(np.polyfit(np.log(list(by_d)), np.log(ratios), 1)[0])
    assert found["gap"].value == pytest.approx(min(ratios)) and max(ratios) > min(ratios) + 0.05
    for value, low, high in found.values():
        assert low < value < high
