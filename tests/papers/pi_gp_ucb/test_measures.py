"""What judges a claim, on numbers whose answer is known by hand; exchanged algorithms or ends give another number."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.pi_gp_ucb import measures
from kbrepro.papers.pi_gp_ucb.measures import LITERAL, OURS, RIVAL, USUAL
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import Trace

UNIFORM = np.full(40, 10.0)
CASES = [(USUAL, 1), (USUAL, 2), (USUAL, 3), (LITERAL, 1), (LITERAL, 2), (LITERAL, 3)]
#: Every case has its own share of uniform regret: .1, .2, ...
FINALS = {
    (*case, rule): (np.full(40, 2.0 * n + more), UNIFORM)
    for n, case in enumerate(CASES)
    for more, rule in ((1, RIVAL), (2.5, OURS))
}
SHARES = {
    (change, d, rule): np.full(40, 10.0 * n + d + (rule == OURS) / 2)
    for n, change in enumerate(("published", "tighter width", "lambda grows", "both", "both, any horizon"))
    for d in ((1, 2) if "any" in change else (1, 2, 3))
    for rule in (OURS, RIVAL)
}
PRINTED = {(d, rule): 0.3 for d in (1, 2, 3) for rule in (OURS, RIVAL)}
TOUR = pd.DataFrame({f"{OURS}, tour": [9, 0.9, 0.8], "crossing": [1, 50, 40]}, index=[1, 2, 3])


def values(judged):
    return {part: its.value for part, its in judged.items()}


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (measures.claim_3_G(FINALS, 1), dict.fromkeys(("d1", "d2", "d3", "d1_eq2", "d2_eq2", "d3_eq2"), 0.15)),
        (measures.claim_3_H(FINALS, 1), {"share": 0.5, "share_eq2": 1.1}),  # π-GP-UCB has .65 and 1.25
        (
            measures.claim_3_W(SHARES, 1),
            dict.fromkeys(("d1", "d2", "d3"), 19.5) | dict.fromkeys(("both_d1", "both_d2", "both_d3"), -0.5),
        ),
        (measures.claim_3_X(SHARES, 1), {"d1": 29.5, "d2": 29.5, "d3": 29.5}),
        (measures.claim_3_AF(SHARES, 1), {"d1": 20, "d2": 20, "d3": 20}),
        (measures.claim_3_AG(SHARES, 1), {"d1": 10, "d2": 10}),
        (
            measures.claim_3_AD(np.array([[1.0, 2], [3, 2], [2, 2], [1, 2]]), np.array([[9.0, 2], [4, 2]])),
            {"holds": 0.75, "printed": 0.5, "matern_printed": 1},
        ),
        (measures.claim_3_L(TOUR, 100), {"tour": 0.8, "crossing": 0.4}),
        (
            measures.claim_3_Z(
                {RIVAL: np.array([3.0, 4]), OURS: np.array([1.0, 1])}, {RIVAL: np.zeros(2), OURS: np.full(2, 0.5)}, 1
            ),
            {"igp_ucb": 3.5, "pi_gp_ucb": 0.5, "order": -2.5},
        ),
    ],
)
def test_the_parts_of_a_claim(judged, expected):
    assert values(judged) == pytest.approx(expected)


def test_a_printed_share_is_measured_in_half_widths_of_its_prediction_interval():
    """Ours .1, .25 ... .85 with a spread: half-widths are t(39) sd sqrt(1/40 + 1/12)."""
    spread = {case: (its + np.linspace(-1, 1, 40), uniform) for case, (its, uniform) in FINALS.items()}
    half = 2.0226909 * np.linspace(-0.1, 0.1, 40).std(ddof=1) * np.sqrt(1 / 40 + 1 / 12)
    found = values(measures.claim_3_A(spread, PRINTED))
    assert found["igp_d1"] == pytest.approx((0.3 - 0.1) / half) and len(found) == 12
    assert found["pi_d2_eq2"] == pytest.approx((0.3 - 1.05) / half)
    assert measures.refuted(spread, PRINTED) == [USUAL, LITERAL]
    near = {(d, rule): spread[USUAL, d, rule][0].mean() / 10 for d, rule in PRINTED}
    assert measures.refuted(spread, near) == [LITERAL]


def timed(seconds):
    """Three runs of 1000 rounds, which take so many seconds a hundredth (100,)."""
    return Trace(np.zeros((3, 1000), dtype=int), np.zeros((3, 1)), np.tile(seconds, (3, 1)), np.zeros((3, 1)))


def test_operations_decide_what_is_said_of_time():
    at = (np.arange(100) * 10 + np.arange(1, 101) * 10 + 1) / 2  # the middles of a hundred times ten rounds
    runs = {d: np.outer(np.linspace(0.5, 1.5, 40), at**0.1) for d in (2, 3)}
    clocks = {(d, rule): timed(d * at ** (d / 10 + (rule == RIVAL))) for d in (2, 3) for rule in (OURS, RIVAL)}
    found = values(measures.claim_3_I(runs, {d: at**d for d in (2, 3)}, clocks, 1000, 1))
    assert found == pytest.approx(
        {"pi_d2": 0.1, "igp_d2": 2, "pi_d3": 0.1, "igp_d3": 3, "seconds_d2": 0.2, "seconds_d3": 0.3}
    )
    assert measures.clocked({(2, OURS): timed(at), (2, RIVAL): timed(3 * at)}, 2, 1) == pytest.approx((3, 3, 3))
    ratio = measures.times(np.outer(np.linspace(0.5, 1.5, 40), [1.0, 3]), np.array([10.0, 30]), 1)
    assert ratio.value == pytest.approx(10) and 8 < ratio.low < 10 < ratio.high < 12


def test_theory_and_cells():
    fits = {(name, d): 0.1 * d + (name == LITERAL) for name in (USUAL, LITERAL) for d in (1, 2)}
    found = values(measures.claim_3_N(fits, 1.5))
    assert found["above"] == pytest.approx(0.2 - 2 / 5) and found["above_eq2"] == pytest.approx(1.2 - 2 / 5)
    assert found["below"] == pytest.approx(max(0.1 * d - cover_exponent(d, 1.5) for d in (1, 2)))
    horizons = [100, 200, 400, 800]
    created = np.outer(np.linspace(0.5, 1.5, 20), np.array(horizons) ** (cover_exponent(2, 1.5) + 0.1))
    assert measures.claim_3_M({2: created}, horizons, 1.5, 1)["d2"].value == pytest.approx(0.1)
    its = measures.claim_3_AA({(1.5, 1): np.tile(np.array(horizons) ** 0.5, (20, 1))}, horizons, 1)
    assert its["nu3_d1"].value == pytest.approx(0.5 - 2 / 3)  # eq. 1: (5 + 3) / (6 + 6)
    t = np.arange(1.0, 1001)
    widths = {"pi": np.tile(t**0.2, (3, 1)), "igp": np.outer([1, 2, 3], t**0.5)}
    assert values(measures.claim_3_T(widths["pi"], widths["igp"], 1)) == pytest.approx({"pi": 0.2, "igp": 0.5})
    tenths = np.repeat([9.0, 1, 9, 9, 9, 9, 9, 9, 9, 3], 10)
    runs = [SimpleNamespace(late_share=share, moved=share / 10, operations=tenths) for share in (0.2, 0.4)]
    assert measures.claim_3_V([runs, runs[:1]])["moved"].value == pytest.approx(0.03)
    assert values(measures.claim_3_S(runs, np.full((2, 4), 0.76), 1)) == pytest.approx(
        {"runtime": 10, "late": 3, "pulls": 0.3}
    )


def test_functions_outside_the_model():
    def traces(ours):
        arms = np.zeros((6, 2), dtype=int)
        return {rule: Trace(arms, np.full((6, 1), level), np.zeros((6, 1)), np.zeros((6, 1)))
                for rule, level in ((OURS, ours), (RIVAL, 2.0))}  # fmt: skip

    surfaces = {
        (case, name): traces(n + (name == "b"))
        for n, case in enumerate((USUAL, LITERAL, "least L"), 1)
        for name in "ab"
    }
    assert values(measures.claim_3_O(surfaces, "ab", 1)) == pytest.approx({"usual": 0, "eq2": 0.5, "tight": 1})


def test_bands():
    def runs(held, ratio, bound):
        return [SimpleNamespace(band=its, ratio=ratio, bound=bound, regret=2.0) for its in held]

    bands = {(1, "horizon"): runs([True, True], 0.5, 4.0), (2, "horizon"): runs([True, False], 0.7, 1.0)}
    bands |= {(d, "levels"): runs([True, True], 9.0, 0.0) for d in (1, 2)}
    bands |= {(d, "printed"): runs([False, d == 2], 9.0, 0.0) for d in (1, 2)}
    assert values(measures.claim_3_P(bands, 0.1)) == pytest.approx(
        {"d1": 1, "d2": 0.5, "multiplier": 0.7, "levels": 1, "printed": 0}
    )
    assert values(measures.claim_3_U(bands)) == pytest.approx({"bound": 0, "loose": 0.5})
