"""The claims of paper 5: tables and theorems on trials small enough to count by hand."""

import numpy as np
import pytest
from traces import curve_of

from kbrepro.claims.tables import SECONDS, TOTAL
from kbrepro.papers.gpn_ucb import claims


def test_statistics_of_two_chains_by_hand():
    arms, gaps = (
        np.ones((4, 200), dtype=np.int32),
        np.array([[2.0, 0.0], [4.0, 0.0], [3.0, 3.0], [3.0, 3.0]]),
    )
    arms[0, :4] = arms[1, :9] = 0  # chain 0: trials that pull the best arm after 4 and 9 others
    trace = curve_of(arms, gaps, np.ones((4, 100)))
    columns = claims.statistics({"rule": trace}, np.array([2.0, 3.0, 9.0]), times=2)
    assert columns["rule", TOTAL].tolist() == [(8 + 36) / 2 / 2, 200.0]
    assert columns["rule", claims.AT_50].tolist() == [0.0, 1.0] and columns[
        "rule", SECONDS
    ].tolist() == [100.0, 100.0]
    # of T = 4, and of 4 and 9
    assert columns["rule", claims.MEAN] == pytest.approx([(1 / 13 + 2 * 2 / 13) / 2, 1.0])
    assert columns["rule", claims.CURVE] == pytest.approx([(4 / 200 + 2 * 9 / 200) / 2, 1.0])


def test_early_in_vain_and_nonada_by_hand():
    own = np.array([[0.9, 0.2, 0.05, 0.0]] * 3)  # near after 2 rounds, near-optimal after 3
    curve = np.array([[0.2, 0.2, 0.2, 0.05], [0.2, 0.05, 0.0, 0.0], [0.9, 0.9, 0.9, 0.9]])
    columns = claims.early({"GPN-UCB": 2 * own, "cEI": 2 * curve, "cUCB": 2 * own}, np.full(3, 2.0))
    assert columns["cEI", claims.EARLY].tolist() == [1.0, 0.0, 0.0]  # in vain; helped; not early
    assert not columns["cUCB", claims.EARLY].any()
    # 49 pulls are the sixth of thirteen designs
    columns = claims.nonadaptive([np.arange(13.0)], np.array([2.0]))
    assert columns["NonAda", claims.AT_50].tolist() == [2.5] and columns[
        "NonAda", claims.MEAN
    ].tolist() == [3.0]


class Few:
    """Kept trials of which every label has these results, and every rule this regret."""

    def __init__(self, *results, regret=()):
        self.results = lambda label: list(results)
        self.traces = lambda label: {"rule": curve_of(np.array([[0, 1]]), np.array([regret]))}


def test_theorems_count_the_runs_that_violate_them():
    rows = [{"step": 0.2, "total": 0.5, "slack": 0.01}, {"step": 1.2, "total": 0.5, "slack": 0.04}]
    rows += [{"step": 0.2, "total": 1.1, "slack": 0.04}, {"step": 9.0, "total": 9.0, "slack": 0.06}]
    assert claims.theorem_1.check(Few(*rows)) == (2, 3, 0.0, 1.2)
    rows = [
        {"error": 0.2, "regret": 1.4},
        {"error": 1.2, "regret": 0.1},
        {"error": 0.3, "regret": 0.9},
    ]
    assert claims.theorems_4_7_and_8.check(Few(*rows)) == (6, 9, 0.0, 1.4)
    for exponent, violations in ((1.6, 0), (1.4, 1)):
        checked = claims.theorem_4_rate.check(
            Few(np.array([4, 6, 9, 13, 18, 25, 36, 50.0]) ** -exponent)
        )
        assert checked[:2] == (violations, 1) and checked.room == pytest.approx(1.5 / exponent)
    for regret, nonada, violations in (
        ((0.16, 0.2), 0.16, 0),
        ((0.14, 0.3), 0.16, 2),
        ((0.16, 0.2), 0.14, 2),
    ):
        assert claims.theorems_5_and_6.check(Few(nonada, regret=regret))[:2] == (violations, 4)


class Panel:
    """A panel in one experiment: every rule has 1, but for the named, by rule and statistic."""

    pool = claims.POOL

    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, rule, statistic=TOTAL):
        return np.array([self.numbers.get((rule, statistic), 1.0)])

    def __getitem__(self, rule):
        return self(rule)


def test_cumulative_regret_is_compared_with_what_fig_11_draws():
    ahead = {("GPN-UCB", TOTAL): 0.5, ("OI", TOTAL): 0.1}
    for rule, outcome in (("OI", True), ("cEI", False), ("EI", False)):
        panels = Panel(ahead), Panel(ahead | {(rule, TOTAL): 0.1})
        assert claims.gpn_ucb_is_best.predicate(*panels).item() == outcome


def test_each_grey_box_loses_and_each_black_box_wins_somewhere():
    lost, mean = {("cUCB", TOTAL): 2.0, ("OI", claims.MEAN): 2.0}, claims.MEAN

    def holds(numbers):
        return claims.grey_boxes_sometimes_lose.predicate(Panel({}), Panel(numbers)).item()

    assert holds(lost)
    assert not holds({("cUCB", TOTAL): 2.0}) and not holds({("OI", mean): 2.0})
    assert not holds(lost | {("OI", mean): 1.0, ("OI", TOTAL): 2.0})  # Fig. 11 has no OI
    assert not holds(lost | {("EI", TOTAL): 2.0, ("EI", mean): 2.0})  # EI never wins
    assert not holds({("cUCB", mean): 1.0 + 1e-12, ("OI", mean): 2.0})  # a tie
