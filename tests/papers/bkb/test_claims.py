"""Claims on BKB: the worst ratio, the bound of the worst case, steps counted by hand, and words on
both sides of their limits. What the loads give is committed (claims/test_rejudge).
"""

from types import SimpleNamespace

import numpy as np
import pytest
from tiny import Shown
from traces import curve_of

from kbrepro.bandits import information
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.problems import RKHSFunction
from kbrepro.papers.bkb import claims


def test_worst_ratios_look_at_both_sides():
    ratios = SimpleNamespace(low=np.array([0.25, 0.34]), high=np.array([1.0, 2.9]))
    np.testing.assert_allclose(claims.worst_ratio(ratios), [4.0, 1 / 0.34])


def test_the_worst_case_bounds_the_log_determinant_of_any_pulls():
    source = RKHSFunction(SquaredExponential(0.2), grid(30), 0.01, norm=1.0)
    gains, _ = information.greedy_gain(source.kernel, source.points, 0.01, 40)
    assert 2 * gains[-1] <= claims.worst_log_det(source, 40) < 30 * np.log(1 + 40 / 0.01)


def test_a_step_is_bounded_by_the_distinct_arms_and_exact_rules_have_no_dictionary():
    curve = curve_of(np.array([[0, 1, 1]]), np.array([[2.0, 1.0, 1.0]]))
    problem = SimpleNamespace(points=np.zeros((5, 1)))
    by_label = {
        "regret": {"exact": curve, "exact, 3 sd": curve, "BKB, qbar=2": curve},
        "regret, other radii": {"BKB, Theorem 2's radius": curve},
        "regret, distinct arms": {"BKB, qbar=2": curve},
    }
    kept = SimpleNamespace(
        traces=by_label.get, experiment=lambda label: SimpleNamespace(problem=problem)
    )
    columns = claims.regrets_and_steps(kept)
    assert columns["BKB, qbar=2, distinct arms", "step"] == (5 + 2) * 2**2
    assert columns["exact, distinct arms", "step"] == columns["exact", "step"] == 5 * 3**2
    assert columns["exact, 3 sd, distinct arms", "total"] == 4


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ((101, 100), (150, 950), True),
        ((101, 950), (150, 100), False),  # each half at another qbar
        ((103, 100), (103, 100), False),
    ],
)
def test_both_halves_must_hold_at_one_qbar(monkeypatch, first, second, holds):
    monkeypatch.setattr(claims, "TUNED", ("one", "two"))
    columns = {}
    for rule, numbers in zip(("one", "two", "exact"), (first, second, (100, 1000)), strict=True):
        columns |= zip([(rule, "total"), (rule, "step")], numbers, strict=True)
    assert claims.the_sketch_costs_no_regret.predicate(Shown(columns, axis=100.0)) == holds


@pytest.mark.parametrize(
    ("sizes", "small"), [((20, 23, 27), True), ((20, 23, 40), False), ((20, 20, 23), False)]
)
def test_each_increase_of_the_dictionary_must_be_small(sizes, small):
    rules = [(f"BKB, qbar={q}", "members, t = 215") for q in (2, 3, 5)]
    shown = Shown(dict(zip(rules, sizes, strict=True)))
    assert claims.a_larger_qbar_costs_few_members.predicate(shown) == small


@pytest.mark.parametrize(
    ("sizes", "holds"),
    [
        ((0.01, 0.04, 0.12, 0.3, 0.6, 0.9), True),  # 4, 3, 2.5; the rest is limited by the pulls
        ((0.01, 0.04, 0.12, 0.33, 0.9, 0.9), True),
        ((0.01, 0.03, 0.09, 0.27, 0.6, 0.9), False),  # exponential
        ((0.01, 0.02, 0.06, 0.1, 0.12, 0.13), False),
        ((0.1, 0.2, 0.34, 0.3, 0.3, 0.3), False),  # too few cases
    ],
)
def test_the_growth_of_the_dictionary_must_fall_in_every_step(sizes, holds):
    columns = {(f"d = {d}", "of pulls"): np.array([size]) for d, size in enumerate(sizes, start=1)}
    shown = Shown(columns)
    assert claims.the_dictionary_is_less_than_exponential.predicate(shown) == holds
