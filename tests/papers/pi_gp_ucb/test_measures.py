"""What judges a claim, on numbers whose answer is known by hand; exchanged algorithms or ends give another number."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.pi_gp_ucb import measures
from kbrepro.papers.pi_gp_ucb.measures import LITERAL, OURS, RIVAL, USUAL
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import Estimate, Trace

UNIFORM = np.full(40, 10.0)
CASES = [(USUAL, 1), (USUAL, 2), (USUAL, 3), (LITERAL, 1), (LITERAL, 2)]
#: Every case has its own share of uniform regret: .1, .2, ...
FINALS = {
    (*case, rule): (np.full(40, 2.0 * n + more), UNIFORM)
    for n, case in enumerate(CASES)
    for more, rule in ((1, RIVAL), (2.5, OURS))
}
SHARES = {
    (change, d, rule): np.full(40, 10.0 * n + d + (rule == OURS) / 2)
    for n, change in enumerate(("published", "both"))
    for d in (1, 2, 3)
    for rule in (OURS, RIVAL)
}
SECONDS = {(1, RIVAL): np.array([2.0, 6.0, 9.0]), (1, OURS): np.array([1.0, 2.0, 1.5])}
TOUR = pd.DataFrame({f"{OURS}, tour": [9, 0.9, 0.8], "crossing": [1, 50, 40]}, index=[1, 2, 3])


def values(judged):
    return {part: its.value for part, its in judged.items()}


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (measures.claim_3_G(FINALS, 1), dict.fromkeys(("d1", "d2", "d3", "d1_eq2", "d2_eq2"), 0.15)),
        (measures.claim_3_W(SHARES, 1), {"d1": 0.5, "d2": 0.5, "d3": 0.5}),
        (measures.claim_3_X(SHARES, 1), {"d1": 9.5, "d2": 9.5, "d3": 9.5}),
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


def test_levels_are_judged_in_every_interpretation_that_was_played():
    spread = {case: (its + np.linspace(-1, 1, 40), uniform) for case, (its, uniform) in FINALS.items()}
    judged = measures.level(spread, 2, OURS, 0.3)
    assert {part: its.value for part, its in judged.items() if part.startswith("close")} == pytest.approx(
        {"close": 0.45 / 0.3 - 1, "close_ratio": 0.45 / 0.3 - 1, "close_eq2": 1.05 / 0.3 - 1}
    )
    assert set(measures.level(spread, 3, RIVAL, 0.9)) == {"compatible", "close", "compatible_ratio", "close_ratio"}


def test_times_are_those_of_the_median_run():
    assert measures.times(SECONDS, 1).value == 3
    assert measures.times_refitted(30.0, SECONDS, 1).value == 20
    growth = {(d, rule): Estimate(d + (rule == OURS) / 2, 0, 9) for d in (2, 3) for rule in (OURS, RIVAL)}
    assert values(measures.claim_3_I(growth)) == {"pi_d2": 2.5, "igp_d2": 2, "pi_d3": 3.5, "igp_d3": 3}


def test_theory_and_cells():
    fits = {(name, d): Estimate(0.1 * d + (name == LITERAL), 0, 2) for name in (USUAL, LITERAL) for d in (1, 2)}
    found = values(measures.claim_3_N(fits, 1.5))
    assert found["above"] == pytest.approx(0.2 - 2 / 5) and found["above_eq2"] == pytest.approx(1.2 - 2 / 5)
    assert found["below"] == pytest.approx(max(0.1 * d - cover_exponent(d, 1.5) for d in (1, 2)))
    horizons = [100, 200, 400, 800]
    cells = measures.claim_3_M({2: [T ** (cover_exponent(2, 1.5) + 0.1) for T in horizons]}, horizons, 1.5)
    assert cells["d2"].value == pytest.approx(0.1)
    t = np.arange(1.0, 1001)
    runs = [SimpleNamespace(width=t**0.2, late_share=share, moved=share / 10) for share in (0.2, 0.4)]
    assert values(measures.claim_3_T(runs, t**0.5)) == pytest.approx({"pi": 0.2, "igp": 0.5}, abs=0.01)
    assert measures.claim_3_V([runs, runs[:1]])["moved"].value == pytest.approx(0.03)
    found = values(measures.claim_3_S(np.repeat([9.0, 1, 9, 9, 9, 9, 9, 9, 9, 3], 5)[None], runs))
    assert found == pytest.approx({"late": 3, "pulls": 0.3})


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

    bands = {(1, "1 + 2/T"): runs([True, True], 0.5, 4.0), (2, "1 + 2/T"): runs([True, False], 0.7, 1.0)}
    bands |= {(1, "1"): runs([False, False], 9.0, 0.0)}
    assert values(measures.claim_3_P(bands, 0.1)) == pytest.approx(
        {"d1": 1, "d2": 0.5, "multiplier": 0.7, "experiments": 0}
    )
    assert values(measures.claim_3_U(bands)) == pytest.approx({"bound": 0, "loose": 0.5})
