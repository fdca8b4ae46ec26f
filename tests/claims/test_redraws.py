"""The replication probability against what can be enumerated, and how often its interval covers."""

from itertools import product

import numpy as np
import pytest
from tiny import Columns

import kbrepro as kb
from kbrepro.claims.judging import replication_probabilities
from kbrepro.claims.replication import DRAWN, ENUMERATED, ONE_PLAY, REDRAWN, drawn_once, redrawn
from kbrepro.claims.tables import Draw, Table, View, all_kept, resampled
from kbrepro.claims.words import better


def a_is_better(figure):
    return better(figure["a"], figure["b"])


def probability(table, kept, predicate=a_is_better, under=({},)):
    readings = [[table.under(kept, chosen)] for chosen in under]
    return replication_probabilities(predicate, readings, np.random.default_rng(0))


A, B = [0.0, 3.0, 9.0], [1.0, 4.0, 4.0]
SMALL = Columns(fig=dict(a=A, b=B))


def test_two_tables_of_one_trial_give_the_share_of_all_pairs():
    kept = Columns(one=dict(a=A), two=dict(a=[*B, 10.0]))
    tables = [Table(name, name, 1) for name in ("one", "two")]
    readings = [[table.under(kept, {}) for table in tables]]
    (number,) = replication_probabilities(
        lambda one, two: one["a"] < two["a"], readings, np.random.default_rng(0)
    )
    assert number.value == np.mean([a < b for a, b in product(A, [*B, 10.0])])
    assert number.low < number.value < number.high and number.how == ENUMERATED


def test_columns_of_unequal_length_are_compared_on_the_trials_that_they_share():
    """b is a on the first ten trials; ten more of a would tell them apart."""
    a = np.r_[np.zeros(10), np.full(10, -100.0)]
    kept = Columns(fig=dict(a=a, b=np.full(10, 1.0)))
    (number,) = probability(Table("fig", "fig", 5), kept, lambda fig: fig["b"] - fig["a"] == 1.0)
    assert number.value == 1


def test_pairs_give_the_ratio_of_the_drawn_means():
    above, below = np.array([1.0, 4.0, 9.0]), np.array([2.0, 1.0, 6.0])
    kept = Columns(fig=dict(ratio=np.column_stack([above, below]), a=above, b=below))

    def same(fig):
        ratio = fig["a"] / fig["b"]
        return np.isclose(fig["ratio"], ratio) & np.isclose(fig("ratio", of=np.mean), ratio)

    (number,) = probability(Table("fig", "fig", 3), kept, same)
    assert number.value == 1


def test_common_trials_are_drawn_together_for_all_rules():
    """b is a plus a constant that is small beside the spread of a: only the same trials show it in
    every experiment.
    """
    a = np.random.default_rng(0).normal(size=30)
    kept = Columns(fig=dict(a=a, b=a + 0.01))
    together, apart = (
        probability(Table("fig", "fig", 10, apart=apart), kept)[0].value for apart in (False, True)
    )
    assert together == 1 and 0.3 < apart < 0.7


def test_readings_are_judged_on_the_same_draws_and_are_not_mixed():
    kept = Columns(fig=dict(a=A, b=B), other=dict(b=[99.0, 99.0, 99.0]))
    table = Table(
        "fig",
        "fig",
        2,
        readings={"b": {"main": {}, "copy": {"b": ("fig", "b")}, "high": {"b": ("other", "b")}}},
    )
    main, copy, high = probability(table, kept, under=({}, {"b": "copy"}, {"b": "high"}))
    assert main == copy and high.value == 1 and main.value < 0.9


@pytest.mark.parametrize(("size", "how"), [(1, ENUMERATED), (10, DRAWN), (20, REDRAWN)])
def test_the_number_and_its_interval_are_those_of_the_public_function(size, how):
    rng = np.random.default_rng(0)
    rows = dict(a=rng.normal(size=20), b=rng.normal(size=20))
    (number,) = probability(Table("fig", "fig", size), Columns(fig=rows))
    public = kb.replication_probability(rows, a_is_better, size=size, rng=0)
    off = 0.03 if how == REDRAWN else 0  # the redraws of claims go on
    assert number.how == how and number.value == pytest.approx(public.probability, abs=off)
    assert 0 < number.value < 1 and number.error <= 0.01
    assert number[1:3] == pytest.approx(public.confidence_interval, abs=off)


# Finite populations


def test_a_finite_population_is_drawn_without_replacement_and_plays_within_a_row():
    table = Table("fig", "fig", 3, rows=5)
    # four plays of each of five rows
    for sample in (drawn_once, redrawn):
        drawn = sample(20, table, np.random.default_rng(0), 4)
        assert all(len({*row}) == 3 for row in (drawn // 4).tolist())
        assert {*(drawn // 4).ravel().tolist()} == {*range(5)}
        assert {*(drawn % 4).ravel().tolist()} == {*range(4)}
    by_redraw = [{*redraw.ravel().tolist()} for redraw in drawn.reshape(4, 250, 3)]
    assert all(len(plays) < 20 for plays in by_redraw)  # some plays are not in a redraw


def test_all_rows_with_one_play_are_a_fact():
    kept = Columns(fig=dict(a=[1.0, 5.0, 3.0], b=[2.0, 4.0, 4.0]))
    (number,) = probability(Table("fig", "fig", 3, rows=3), kept)
    assert number == (1, 1, 1, 0, ONE_PLAY)


def test_some_of_the_rows_are_what_enumeration_gives():
    a, b = [1.0, 5.0, 3.0], [2.0, 4.0, 4.0]
    held = [a[i] + a[j] < b[i] + b[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    (number,) = probability(Table("fig", "fig", 2, rows=3), Columns(fig=dict(a=a, b=b)))
    assert number.value == pytest.approx(np.mean(held), abs=0.03)


def test_fewer_trials_than_rows_are_one_experiment():
    table = Table("fig", "fig", 4, rows=5, readings={"days": {"x": {}, "y": {"*": "few"}}})
    a, b = np.arange(10.0), np.full(10, 4.5)
    kept = Columns(fig=dict(a=a, b=b), few=dict(a=a[:3], b=b[:3]))
    main, few = probability(table, kept, under=({}, {"days": "y"}))
    assert 0 < main.value < 1 and few == (1, 1, 1, 0, ONE_PLAY)
    assert table.under(kept, {"days": "y"}).fixed is False  # nothing was asked for
    for sample in (drawn_once, redrawn):
        drawn = sample(3, table, np.random.default_rng(0), 2)
        assert {tuple(sorted(row)) for row in drawn.tolist()} == {(0, 1, 2)}
    assert {len({*row}) for row in resampled(table, np.random.default_rng(0), 9)(3)} == {3}


def test_means_other_reductions_and_the_axis():
    table = Table("fig", "fig", 3, pool=("a", "b"))
    view = View(table.under(SMALL, {}), Draw(all_kept))
    assert view["a"].item() == view.axis.item() == np.mean(A)
    assert view("b", of=np.median).item() == 4.0
