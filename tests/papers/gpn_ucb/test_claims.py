"""The claims of paper 5: theorems on numbers small enough to count by hand. What the
tables hold is committed (claims/test_rejudge).
"""

import numpy as np
import pytest
from tiny import Shown
from traces import curve_of

from kbrepro.claims.words import LIMITS
from kbrepro.papers.gpn_ucb import claims


class Few:
    """Kept trials of which every label has these results, and every rule this regret."""

    def __init__(self, *results, regret=()):
        self.results = lambda label: list(results)
        self.traces = lambda label: {"rule": curve_of(np.array([[0, 1]]), np.array([regret]))}


def test_theorems_count_the_runs_that_violate_them():
    steps = [(0.2, 0.5, 0.01), (1.2, 0.5, 0.04), (0.2, 1.1, 0.04), (9.0, 9.0, 0.06)]
    rows = [dict(zip(("step", "total", "slack"), row, strict=True)) for row in steps]
    assert claims.theorem_1.check(Few(*rows)) == (2, 3, 0.0, 1.2)
    rows = [{"error": e, "regret": r} for e, r in ((0.2, 1.4), (1.2, 0.1), (0.3, 0.9))]
    assert claims.theorems_4_7_and_8.check(Few(*rows)) == (6, 9, 0.0, 1.4)
    for exponent, violations in ((1.6, 0), (1.4, 1)):
        errors = np.array([4, 6, 9, 13, 18, 25, 36, 50.0]) ** -exponent
        checked = claims.theorem_4_rate.check(Few(errors, errors))
        where = f"above the rate in {violations} of 1" if violations else "below the rate"
        assert claims.theorem_4_rate.outcome_of(checked) == f"slope {where}"
        assert checked[:2] == (violations, 1) and checked.room == pytest.approx(1.5 / exponent)
    wrong = (0.14, 0.3), 0.16, 2
    for regret, nonada, violations in (((0.16, 0.2), 0.16, 0), wrong, ((0.16, 0.2), 0.14, 2)):
        assert claims.theorems_5_and_6.check(Few(nonada, regret=regret))[:2] == (violations, 4)


def test_numbers_of_words_say_which_chains_are_meant(monkeypatch):
    gaps = np.array([0.04, 0.06, 0.24, 0.26, 0.51])
    assert claims.with_several(gaps).tolist() == [True, False, False, False, False]
    assert claims.with_an_obvious_one(gaps).tolist() == [False, False, False, True, True]
    for word in ("several maximisers", "obvious maximiser"):
        monkeypatch.setitem(LIMITS, word, 2 * LIMITS[word])
    assert claims.with_several(gaps).tolist() == [True, True, False, False, False]
    assert claims.with_an_obvious_one(gaps).tolist() == [False, False, False, False, True]


def test_a_good_point_is_early_in_vain_unless_the_best_one_is_early_too(monkeypatch):
    curves = {
        "GPN-UCB": np.array([[9.0, 9.0, 1.0, 0.0]]),
        "cEI": np.array([[9.0, 1.0, 1.0, 0.0]]),
        "cUCB": np.array([[9.0, 1.0, 0.0, 0.0]]),
    }
    columns = claims.early(curves, np.array([10.0]))
    assert (columns["cEI", claims.EARLY], columns["cUCB", claims.EARLY]) == (1, 0)
    monkeypatch.setitem(LIMITS, "good point", 0.08)  # all find none before the best
    assert claims.early(curves, np.array([10.0]))["cEI", claims.EARLY] == 0


def test_each_of_the_two_algorithms_must_be_effective_on_one_chain():
    def panel(gpn_ucb, nonada):
        return Shown({("GPN-UCB", claims.AT_50): gpn_ucb, ("NonAda", claims.AT_50): nonada})

    effective = claims.both_can_be_effective.predicate
    assert effective(panel(0.04, 0.9), panel(0.9, 0.04))
    assert not effective(panel(0.04, 0.9), panel(0.04, 0.06))


def test_a_choice_is_not_the_best_if_another_is_clearly_better():
    others = claims.OI_OF_SMALL_B[:-1] + claims.OI_OF_LARGE_B
    columns = {(rule, claims.CURVE): 0.1 for rule in (*others, "OI 1")}
    assert claims.one_is_the_best_choice.predicate(Shown(columns))
    for rule in others:
        for regret, is_best in ((0.06, True), (0.04, False)):
            shown = Shown(columns | {(rule, claims.CURVE): regret})
            assert claims.one_is_the_best_choice.predicate(shown) == is_best
