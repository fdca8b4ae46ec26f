"""The replication probability against what can be enumerated, and how often its interval covers."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from tiny import Columns

from kbrepro.claims.judging import replication_probabilities
from kbrepro.claims.replication import DRAWN, ENUMERATED, ONE_PLAY, drawn_once, redrawn
from kbrepro.claims.tables import Draw, Table, View, all_kept
from kbrepro.claims.words import better


def a_is_better(figure):
    return better(figure["a"], figure["b"])


def probability(
    table, kept, predicate=a_is_better, seed=0, experiments=400, redraws=400, under=({},)
):
    readings = [[table.under(kept, each)] for each in under]
    return replication_probabilities(
        predicate, readings, np.random.default_rng(seed), experiments, redraws
    )


def enumerated(a, b, size, apart=False):
    """The mean over all redraws of the share of all experiments of `size` trials in which mean a <
    mean b.
    """
    n = len(a)
    held = []
    for redraw in product(range(n), repeat=n):
        for other in product(range(n), repeat=n) if apart else [redraw]:
            for one, two in product(
                product(redraw, repeat=size), product(other, repeat=size) if apart else [None]
            ):
                two = one if two is None else two
                held.append(sum(a[i] for i in one) < sum(b[i] for i in two) - 1e-9)
    return np.mean(held)


A, B = [0.0, 3.0, 9.0], [1.0, 4.0, 4.0]
SMALL = Columns(fig=dict(a=A, b=B))


@pytest.mark.parametrize("size", [2, 3])
def test_it_is_what_enumeration_gives(size):
    (number,) = probability(Table("fig", "fig", size), SMALL)
    assert number.value == pytest.approx(enumerated(A, B, size), abs=0.03)
    assert 0 <= number.low <= number.value <= number.high <= 1


def test_experiments_of_one_trial_are_enumerated_with_the_exact_interval():
    (number,) = probability(Table("fig", "fig", 1), SMALL)
    exact = binomtest(2, 3).proportion_ci(method="exact")
    assert number == pytest.approx((2 / 3, exact.low, exact.high, 0.0, ENUMERATED))


def test_two_tables_of_one_trial_give_the_share_of_all_pairs():
    kept = Columns(one=dict(a=A), two=dict(a=[*B, 10.0]))
    tables = [Table(name, name, 1) for name in ("one", "two")]
    readings = [[table.under(kept, {}) for table in tables]]
    (number,) = replication_probabilities(
        lambda one, two: one["a"] < two["a"], readings, np.random.default_rng(0)
    )
    assert number.value == np.mean([a < b for a, b in product(A, [*B, 10.0])])
    assert number.low < number.value < number.high and number.how == ENUMERATED


def test_it_goes_on_until_the_monte_carlo_error_is_a_hundredth():
    rng = np.random.default_rng(0)
    kept = Columns(fig=dict(a=rng.normal(size=20), b=np.zeros(20)))
    (number,) = probability(Table("fig", "fig", 20), kept, redraws=20)
    assert 0.1 < number.value < 0.9 and 0 < number.error <= 0.01


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


def test_rules_that_are_drawn_apart_are_what_enumeration_gives():
    (apart,) = probability(Table("fig", "fig", 2, apart=True), SMALL)
    assert apart.value == pytest.approx(enumerated(A, B, 2, apart=True), abs=0.03)


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


def test_the_interval_covers_the_probability_of_simulated_papers():
    """The difference of two rules is normal; papers draw 10 trials, we keep 30 of them: 150 times.

    The interval covers in 143 of them, and the number, drawn without replacement, is right on
    average.
    """
    rng, covered, means = np.random.default_rng(0), [], []
    for _ in range(150):
        shift = rng.uniform(-0.6, 0.6)
        truth = np.mean(rng.normal(-shift, 10**-0.5, size=20_000) < 0)  # the mean of ten
        kept = Columns(fig=dict(a=rng.normal(-shift, 1.0, size=30), b=np.zeros(30)))
        (number,) = probability(
            Table("fig", "fig", 10),
            kept,
            experiments=200,
            redraws=80,
            seed=int(rng.integers(2**32)),
        )
        covered.append(number.low <= truth <= number.high)
        means.append(number.value - truth)
    assert 0.925 <= np.mean(covered) <= 0.99, np.mean(covered)
    assert abs(np.mean(means)) < 0.03 and number.how == DRAWN, np.mean(means)


# Finite populations


def test_a_finite_population_is_drawn_without_replacement_and_plays_within_a_row():
    table = Table("fig", "fig", 3, rows=5)
    # four plays of each of five rows
    for sample in (drawn_once, redrawn):
        drawn = sample(20, table, np.random.default_rng(0), 4, 100)
        assert all(len({*row}) == 3 for row in (drawn // 4).tolist())
        assert {*(drawn // 4).ravel().tolist()} == {*range(5)}
        assert {*(drawn % 4).ravel().tolist()} == {*range(4)}
    by_redraw = [{*redraw.ravel().tolist()} for redraw in drawn.reshape(4, 100, 3)]
    assert all(len(plays) < 20 for plays in by_redraw)  # some plays are not in a redraw


def test_all_rows_with_one_play_are_a_fact():
    kept = Columns(fig=dict(a=[1.0, 5.0, 3.0], b=[2.0, 4.0, 4.0]))
    (number,) = probability(Table("fig", "fig", 3, rows=3), kept)
    assert number == (1, 1, 1, 0, ONE_PLAY)
    (drawn,) = probability(Table("fig", "fig", 3), kept)
    assert 0.5 < drawn.value < 0.95  # the same trials as a sample of many


def test_some_of_the_rows_are_what_enumeration_gives():
    a, b = [1.0, 5.0, 3.0], [2.0, 4.0, 4.0]
    held = [a[i] + a[j] < b[i] + b[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    (number,) = probability(
        Table("fig", "fig", 2, rows=3), Columns(fig=dict(a=a, b=b)), experiments=5000
    )
    assert number.value == pytest.approx(np.mean(held), abs=0.03)


def test_means_other_reductions_and_the_axis():
    kept, table = Columns(fig=dict(a=A, b=B)), Table("fig", "fig", 3, pool=("a", "b"))
    view = View(table.under(kept, {}), Draw(all_kept))
    assert view["a"].item() == pytest.approx(np.mean(A)) and view.axis.item() == pytest.approx(
        np.mean(A)
    )
    assert view("b", of=np.median).item() == 4.0
