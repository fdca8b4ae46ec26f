"""Claims of paper 1: readings and tables that count by hand, wrong variants, runs that fail their theorem."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro import paths
from kbrepro.claims import judge
from kbrepro.claims.tables import TOTAL, Kept, View, Whole
from kbrepro.papers.gp_ucb import claims


@pytest.fixture(scope="module")
def kept():
    return Kept(paths.project_root() / "results" / "paper" / "01_gp_ucb_information_gain" / "played")


def whole(table, kept, **reading):
    """A table as all kept trials show it."""
    return View(table.under(kept, reading), Whole(table, np.random.default_rng(0), False))


def test_temperature_is_the_days_that_the_paper_tests(kept):
    """The means of fig5b_rules.csv, which the other thirds do not have."""
    last, first = (whole(claims.fig5b, kept, days=third)["GP-UCB"][0] / 46 for third in ("last third", "first third"))
    assert (last, first) == pytest.approx((0.409537, 0.433726), abs=1e-6)
    theorem_1 = whole(claims.fig5b, kept, beta="as in Theorem 1")
    assert theorem_1["GP-UCB"][0] / theorem_1["EI"][0] == pytest.approx(0.587987 / 0.560578, abs=1e-5)


def test_a_wrong_variant_gives_another_verdict(kept, monkeypatch):
    """Five functions for thirty leave open what thirty decide; EI for GP-UCB and back turns a sentence round."""

    def number(each):
        return judge(each, kept, redraws=20).readings[0].probability.value

    right = number(claims.the_divisor_can_go)
    monkeypatch.setattr(claims, "later", dataclasses.replace(claims.later, size=5))
    assert right > 0.9 > number(claims.the_divisor_can_go)
    right = number(claims.a_fifth_of_beta_is_better)
    swapped = {"swapped": {"all": {"GP-UCB": "GP-UCB/5", "GP-UCB/5": "GP-UCB"}}}
    monkeypatch.setattr(claims, "betas", dataclasses.replace(claims.betas, readings=swapped))
    assert right > 0.99 and number(claims.a_fifth_of_beta_is_better) < 0.01


def test_functions_of_both_labels_stand_in_one_column():
    """Three functions and two more, with totals that a reader can add."""
    totals = {"Fig. 5a": np.array([1.0, 2.0, 3.0]), "three rules, many": np.array([4.0, 5.0])}
    times = {"GP-UCB": 10, "GP-UCB/5": 1, "EI": 2, "EI, noisy incumbent": 100}
    columns = claims.on_every_function(SimpleNamespace(column=lambda label, rule, _: totals[label] * times[rule]))
    np.testing.assert_array_equal(columns["EI", TOTAL], [2, 4, 6, 8, 10])
    np.testing.assert_array_equal(columns["EI, noisy incumbent", TOTAL], [100, 200, 300])


def test_growth_is_that_after_a_hundred_pulls(monkeypatch):
    """Spectra of which 1, 2 and 3 eigenvalues are needed, and gains that grow by 1, 2 and 3 after T = 100."""
    gains = {
        name: (np.concatenate([np.zeros(100), np.full(900, n)]), np.repeat([1.0, 0.0], [n, 3 - n]))
        for n, name in enumerate(("fast", "middle", "slow"), 1)
    }
    monkeypatch.setattr(claims, "greedy_gains", lambda kept: gains)
    columns = claims.growth_of_four_gains(None)
    assert [columns[name, "greedy"][0] for name in gains] == [1, 2, 3]
    assert [columns[name, "needed"][0] + 1 for name in gains] == [1, 2, 3]


def test_a_run_fails_its_theorem_by_its_regret_or_its_band(monkeypatch):
    """Four runs of two rounds: one holds, one is above the bound in its first round, two leave the band in one."""
    regret = np.array([[1.0, 4.0], [3.0, 3.0], [1.0, 1.0], [0.5, 0.5]])
    trace = SimpleNamespace(cumulative_regret=regret, band_ratio=np.array([[1, 1], [0, 1], [1.1, 0.5], [0, 1.1]]))
    monkeypatch.setattr(claims, "regret_bounds", lambda: {2: np.array([2.0, 5.0])})
    checked = claims.regret_and_band(2)(SimpleNamespace(traces=lambda label: {"GP-UCB": trace}))
    assert checked == (3, 4, 0.1, 1.5)
