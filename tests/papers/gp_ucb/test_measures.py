"""What judges a claim, on panels whose answer is known by hand; a wrong rule, rival or sign gives another number."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gp_ucb import measures
from kbrepro.problems import Known, Model, Problem
from kbrepro.regret import Estimate, Trace

RULES = ["GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only", *measures.MARGINS.values()]
#: Every rule has its own level, so that no two can be exchanged: 1, 2, 4, 8, ... in all of 40 trials.
REGRET = {rule: np.full(40, 2.0**n) for n, rule in enumerate(dict.fromkeys([*RULES, "IRGP-UCB", "PIMS", "GP-EIMS"]))}
REGRET |= {"EI, noisy incumbent": np.full(40, 3000.0), "MPI, noisy incumbent": np.full(40, 6000.0)}
WORSE = {rule: 1000.0 - its for rule, its in REGRET.items()}


@pytest.mark.parametrize(
    ("judged", "values"),
    [
        (measures.claim_1_D(REGRET, 1), {"difference": 1}),
        (measures.claim_1_E(REGRET, REGRET, 1), {"mean": 2 / 4 - 1, "median": 2 / 4 - 1, "incumbents": 750}),
        (measures.claim_1_F(REGRET, 1), {"margin_0": 31, "margin_001": 63, "margin_003": 127, "margin_01": 3}),
        # level with undivided GP-UCB, and not with EI
        (
            measures.claim_1_F(REGRET | {"MPI": REGRET["GP-UCB"]}, 1),
            {"undivided_margin_01": -3 / 4, "margin_01": -3 / 4},
        ),
        (measures.claim_1_G(REGRET, 1), {"mean_only": 14, "variance_only": 30}),
        (measures.claim_1_P(REGRET, REGRET, 1), {"ratio": 1 / 4, "ratio_noisy": 1 / 3000}),
        (measures.claim_1_T(REGRET, 1), {"irgp_ucb": 255, "pims": 511, "gp_eims": 1023}),
        (measures.claim_1_U(REGRET, 1), {"tail": 4 / 1024}),
        (measures.claim_1_V(REGRET, WORSE, 1), {"synthetic": 511, "temperature": -511}),
        (measures.claim_1_H(REGRET), {"mean_only": 12, "variance_only": 28, "margin_0": 60, "margin_01": 4}),
        (measures.claim_1_I(REGRET), {"equal": 2 / 4 - 1}),
        (measures.claim_1_O(REGRET, {}, WORSE, 1), {"synthetic": 2 / 4 - 1, "temperature": 998 / 968 - 1}),
        (measures.claim_1_O(REGRET, WORSE, WORSE, 1), {"synthetic": 998 / 996 - 1, "temperature": 998 / 968 - 1}),
        (measures.claim_1_O(REGRET, {}, WORSE, 1), {"undivided_synthetic": 1 / 4 - 1, "synthetic_noisy": 2 / 16 - 1}),
        (measures.claim_1_O(REGRET, {}, WORSE, 1), {"undivided_temperature_noisy": 999 / -5000 - 1}),
        (measures.claim_1_Y(REGRET), {"temperature": 2 / 4 - 1, "undivided_temperature_noisy": 1 / 16 - 1}),
        (measures.claim_1_W([0.9, 0.7, 1.0]), {"reached": 0.7}),
        (measures.claim_1_J(REGRET, WORSE), {"usc": 2 / 4 - 1, "metr_la": 998 / 996 - 1}),
        (measures.claim_1_K(REGRET, WORSE), {"usc": 8 / 2 - 1, "metr_la": 992 / 998 - 1}),
    ],
)
def test_the_parts_of_a_claim_on_regret(judged, values):
    assert {part: judged[part].value for part in values} == pytest.approx(values)


def test_a_walk_uphill_ends_on_a_peak():
    assert measures.summits(np.array([0.0, 2, 1, 3, 5, 4])).tolist() == [1, 1, 4, 4, 4, 4]


def test_trials_that_are_stuck_and_trials_that_settled():
    """Peaks are arms 1 (lower) and 4 (best): stuck is who stays on a slope of the lower one."""
    problem = Problem(Model(grid(6), SquaredExponential(0.2), 0.1), np.array([0.0, 2, 1, 3, 5, 4]))
    on_lower, near_best = np.full((3, 20), 1), np.full((3, 20), 3)
    on_lower[2, -1] = 0  # two arms in the last tenth: it has not settled
    runs = {"GP-UCB/5": near_best, "mean only": on_lower}
    gaps = np.array([5.0 - problem.expected_reward] * 3)
    traces = {rule: Trace(its, gaps, np.zeros((3, 1)), np.zeros((3, 1))) for rule, its in runs.items()}
    stuck = measures.stuck_trials(traces, Known(problem), 1)
    assert stuck["mean only"].tolist() == [1, 1, 0] and not stuck["GP-UCB/5"].any()
    table = measures.of_rules(traces, stuck)
    assert table["share of trials stuck"].tolist() == pytest.approx([0, 2 / 3])
    assert table["share settled"].tolist() == pytest.approx([1, 2 / 3])
    assert table["mean R_T/T"].tolist() == pytest.approx([2, 3 + 2 / 60])
    assert measures.claim_1_Q(stuck, 1)["stuck"].value == pytest.approx(200 / 3)


def test_a_theorem_holds_only_if_it_does_in_every_round():
    arms, ratio = np.array([[0, 1], [0, 0], [0, 0]]), np.array([[0.5, 1.5], [0.2, 0.4], [0.2, 0.3]])
    held = Trace(arms, np.array([[1.0, 3.0]] * 3), np.zeros((3, 1)), ratio), np.array([1.0, 3.0])
    every = {f"Theorem {n}": held for n in (1, 2, 3)}
    found = measures.theorems(every, 1)
    assert list(found) == ["1-L", "1-R", "1-M"] and "multiplier" not in found["1-R"]
    assert {part: its.value for part, its in found["1-M"].items()} == pytest.approx(
        {"bound": 2 / 3, "band": 2 / 3, "multiplier": 1.28}
    )
    assert measures.looseness(every)["Theorem 2"] == pytest.approx((3 / 2, 1.28))  # median of 4, 2 and 2


def test_growth_of_regret_is_that_of_the_worst_case_of_each_kernel():
    grown = {
        (name, d): Estimate(0.1 * d, 0.0, 1.0) for name in ("linear", "squared exponential", "matern") for d in (1, 3)
    }
    found = measures.claim_1_N(grown, {case: 0.25 if case[0] == "matern" else 0.05 for case in grown})
    values = {part: its.value for part, its in found.items()}
    assert values == pytest.approx({"sublinear": 0.3, "linear": 0.25, "se": 0.25, "matern": 0.05})


def test_norms_of_draws():
    found = measures.claim_1_S(np.array([[1.0, 3.0], [3.0, 5.0]]))
    assert (found["grows"].value, found["level"].value) == (2.0, 4.0)


def test_the_order_of_the_kernels_is_that_of_the_paper():
    eq_8 = {(9, "a"): np.r_[np.zeros(49) + 1e-9, 4.0, 8.0], (9, "b"): np.r_[np.ones(49), 3.0, 2.0]}
    assert measures.claim_1_A(eq_8, ["a", "b"])["gap"].value == pytest.approx(0.25)
    assert measures.claim_1_A(eq_8, ["b", "a"])["gap"].value < 0


def test_the_gain_grows_more_slowly_where_the_spectrum_decays_more_rapidly():
    """What counts is the growth of the last decade, not the level, between kernels with equally many arms."""
    spectra = {(3, "fast"): np.array([9.0, 0, 0]), (3, "slow"): np.full(3, 3.0), (2, "other"): np.full(2, 4.5)}
    spectra |= {(3, "as slow"): np.array([4.0, 3, 2])}
    T = np.arange(1.0, 101)
    greedy = {(3, "fast"): 500 + T, (3, "slow"): 4 * T, (3, "as slow"): 2 * T, (2, "other"): 0 * T}
    bound = greedy | {(3, "as slow"): 3 * T}
    judged = measures.claim_1_X(spectra, greedy, bound)
    assert {part: its.value for part, its in judged.items()} == pytest.approx({"greedy": 1 / 2, "bound": 2 / 3})
    reversed_ = spectra | {(3, "fast"): spectra[3, "slow"], (3, "slow"): spectra[3, "fast"]}
    assert measures.claim_1_X(reversed_, greedy, bound)["greedy"].value == pytest.approx(1 - 4)


def test_growth_of_the_gain():
    T = np.arange(1, 1001)
    gains = {("linear", d): 0.5 * d * np.log(T) for d in (1, 2)}
    gains |= {("squared exponential", d): np.log(T + 1e-9) ** (d + 1) for d in (1, 2, 3)}
    gains |= {("matern", d): T ** (0.5 * measures.information.matern_exponent(d, 2.5)) for d in (1, 2, 3)}
    exponent = measures.information.matern_exponent(1, 2.5)
    assert measures.growth_of_gain(gains).loc[("matern", 1)].tolist() == pytest.approx([exponent / 2, exponent, 0.5])
    assert measures.claim_1_B(gains, 0.025)["slope"].value == pytest.approx(0, abs=1e-9)
    found = {part: its.value for part, its in measures.claim_1_C(gains).items()}
    assert found == pytest.approx({"se": 1.0, "matern": 0.5, "rises": 3 / 4})


def test_interpretations():
    """EI and MPI by incumbent and margin; the noise doubles the regret of GP-UCB/5, mean and days change nothing."""
    rules = {("EI", "a", 0.0): 4, ("EI", "b", 0.0): 8, ("EI", "a", 0.1): 1, ("EI", "b", 0.1): 2}
    rules |= {("MPI", incumbent, margin): 16 + 100 * margin for incumbent in "ab" for margin in (0.0, 0.1)}
    regret = {name: np.full(8, float(level)) for name, level in rules.items()}
    names = {"lengthscale": ["x"], "mean": ["x"], "days tested": ["x"], "noise variance": ["x", "loud"]}
    for claim_id, main, values in (
        ("1-E", 0.0, {("a", 0.0, "x"): -0.5, ("b", 0.0, "loud"): -0.5, ("a", 0.1, "loud"): 3}),
        ("1-F", 0.1, {("a", 0.1, "x"): 12, ("b", 0.0, "loud"): 3}),
        ("1-H", 0.1, {("a", 0.1, "x"): 22, ("b", 0.0, "loud"): 8}),  # of EI with its own margin
        ("1-I", 0.0, {("a", 0.0, "x"): -0.5, ("a", 0.1, "loud"): 3}),
    ):
        order = (
            ("lengthscale", "noise variance")
            if claim_id in ("1-E", "1-F")
            else ("noise variance", "mean", "days tested")
        )
        played = {
            tuple(noise if name == "noise variance" else "x" for name in order): regret | {"GP-UCB/5": np.full(8, its)}
            for noise, its in (("x", 2.0), ("loud", 4.0))
        }
        found = measures.in_interpretations(claim_id, played, {"incumbent": "ab", "margin": [0.1, 0.0]} | names, 1)
        assert len(found) == 8 and found[0][0]["margin"] == main and [*found[0][0]][2:] == [*order]
        by_case = {(case["incumbent"], case["margin"], case["noise variance"]): its.value for case, its in found}
        assert {case: by_case[case] for case in values} == pytest.approx(values)
