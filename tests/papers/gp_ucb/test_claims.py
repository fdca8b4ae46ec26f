"""The claims of paper 1: numbers that were kept from edition 0.3.0, wrong variants, and tables that count by hand."""

import dataclasses

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


def effect(each, kept):
    """The effect of a claim on all kept trials."""
    return float(each.effect(*(whole(table, kept) for table in each.tables(each.effect)))[0])


#: Claim -> the part of edition 0.3.0 that is the same quantity, and its value there.
SAME = {
    "competitive_as_in_theorem_1": ("1-P ratio", 1.9818951501565674),
    "on_par_with_all": ("1-E mean, 1-O synthetic", 1 + 0.05157766230129638),
    "on_par_with_ei_in_the_median": ("1-E median", 1 + 0.4155114722753348),
    "mpi_does_equally_well": ("1-F margin_003", 1 + 1.3577076947537674),
    "the_mean_alone_gets_stuck": ("1-Q stuck, percentage points", 24.5 / 100),
    "the_divisor_can_go": ("1-T pims", 1 - 0.07405755179190869),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_quantity_is_the_same_number(name, kept):
    _, value = SAME[name]
    assert effect(getattr(claims, name), kept) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    "rule, rival, value",
    [
        ("GP-UCB/5", "GP-UCB", -0.010111940872713658),  # 1-D difference
        ("mean only", "GP-UCB/5", 0.3891531976155964),  # 1-G mean_only
        ("variance only", "GP-UCB/5", 1.122927187708618),  # 1-G variance_only
        ("IRGP-UCB", "GP-UCB", -0.006590409617067434),  # 1-V synthetic
    ],
)
def test_differences_of_average_regret_are_the_old_ones(rule, rival, value, kept):
    fig = whole(claims.later, kept)
    assert (fig[rule] - fig[rival])[0] / 1000 == pytest.approx(value, abs=1e-9)


def test_temperature_is_the_days_that_the_paper_tests(kept):
    """The means of fig5b_rules.csv, which the other thirds do not have."""
    last, first = (whole(claims.fig5b, kept, days=third)["GP-UCB"][0] / 46 for third in ("last third", "first third"))
    assert (last, first) == pytest.approx((0.409537, 0.433726), abs=1e-6)
    theorem_1 = whole(claims.fig5b, kept, beta="as in Theorem 1")
    assert theorem_1["GP-UCB"][0] / theorem_1["EI"][0] == pytest.approx(0.587987 / 0.560578, abs=1e-5)


def test_sensors_alone_are_on_par_where_every_rival_is(kept):
    """The best rival on the days that the paper tests is EI; with functions beside them the summary is less sure."""
    assert effect(claims.on_par_on_sensors, kept) == pytest.approx(0.409537 / 0.560578, abs=1e-5)
    judged = {claim: judge(claim, kept, redraws=20) for claim in (claims.on_par_on_sensors, claims.on_par_with_all)}
    alone, joined = (min(r.probability.value for r in each.readings if not r.excluded_by) for each in judged.values())
    assert alone > 0.99 and joined < 0.1


@pytest.mark.parametrize(
    "name, room",
    [
        ("lemma_5_1", 0.625137231682193),  # 1-L multiplier
        ("theorem_6", 0.007266861880761617),  # 1-M multiplier
        ("theorem_5_1", 1.0),  # 1-B bound
        ("theorem_5_2", 0.6711534527774389),  # 1-C matern, the larger of two
        ("eq_5", (1 - np.exp(-1)) / 0.9286586046940217),  # 1-W reached
    ],
)
def test_the_room_of_a_theorem_is_the_old_number(name, room, kept):
    checked = getattr(claims, name).check(kept)
    assert checked.room == pytest.approx(room, abs=1e-9) and not checked.violations


@pytest.mark.parametrize("name", ["theorem_1", "theorem_2", "theorem_3"])
def test_the_bounds_hold_in_every_run_as_before(name, kept):
    checked = getattr(claims, name).check(kept)
    assert (checked.violations, checked.runs, checked.allowed) == (0, 200, 0.1)


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


class FewKept:
    """Three functions and two more, with totals that a reader can add."""

    def column(self, label, rule, statistic):
        numbers = {"Fig. 5a": [1.0, 2.0, 3.0], "three rules, many": [4.0, 5.0]}[label]
        return np.array(numbers) * {"GP-UCB": 10, "GP-UCB/5": 1, "EI": 2}.get(rule, 100)


def test_functions_of_both_labels_stand_in_one_column():
    columns = claims.on_every_function(FewKept())
    np.testing.assert_array_equal(columns["EI", TOTAL], [2, 4, 6, 8, 10])
    np.testing.assert_array_equal(columns["EI, noisy incumbent", TOTAL], [100, 200, 300])


class OneGain:
    """Spectra of which 1, 2 and 3 eigenvalues are needed, and gains that grow by 1, 2 and 3 after T = 100."""

    gains = {  # noqa: RUF012
        name: (np.concatenate([np.zeros(100), np.full(900, n)]), np.repeat([1.0, 0.0], [n, 3 - n]))
        for n, name in enumerate(("fast", "middle", "slow"), 1)
    }


def test_growth_is_that_after_a_hundred_pulls(monkeypatch):
    monkeypatch.setattr(claims, "greedy_gains", lambda kept: kept.gains)
    columns = claims.growth_of_four_gains(OneGain())
    assert [columns[name, "greedy"][0] for name in OneGain.gains] == [1, 2, 3]
    assert [columns[name, "needed"][0] + 1 for name in OneGain.gains] == [1, 2, 3]


def test_violations_are_counted_by_run():
    checked = claims.counted([np.array([0.2, 1.5]), np.array([0.9, 1.0]), np.array([1.1])], 0.1)
    assert (checked.violations, checked.runs, checked.room) == (2, 3, 1.5)
