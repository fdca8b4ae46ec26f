"""Each word of the papers by hand: a number on each side of its limit."""

import numpy as np
import pytest

from kbrepro.claims import words

A = np.array


class Figure(dict):
    """The means of one panel by rule."""

    @property
    def pool(self):
        return tuple(self)


def test_better_is_by_more_than_a_tie():
    assert words.better(A([1.0, 2.0, 1.0, 1 - 1e-10]), A([2.0, 1.0, 1.0, 1.0])).tolist() == [
        True,
        False,
        False,
        False,
    ]
    # a tie is one of the axis
    assert words.better(A([0.5]), A([0.6]), axis=1e9).tolist() == [False]


def test_the_best_is_better_than_all_others_or_than_the_named():
    figure = Figure(a=A([1.0, 1.0]), b=A([2.0, 2.0]), c=A([3.0, 0.5]))
    assert words.best(figure, "a").tolist() == [True, False]
    assert words.best(figure, "a", ["b"]).tolist() == [True, True]
    assert words.best(figure, "a", ["a", "b"]).tolist() == [True, True]  # no rule is its own rival


SIZES = A([1 / 1.21, 1 / 1.19, 0.86, 1.0, 1.19, 1.21])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (words.similar, [0, 1, 1, 1, 1, 0]),
        (words.clearly_better, [1, 0, 0, 0, 0, 0]),
        (words.slightly_better, [0, 1, 1, 0, 0, 0]),
        (words.on_par, [1, 1, 1, 1, 1, 0]),
        (words.barely_better, [0, 0, 1, 0, 0, 0]),  # a tie is not better
    ],
)
def test_words_on_ratios(word, expected):
    for unit in (1.0, 0.01, 100.0):
        assert word(SIZES * unit, np.full(6, unit)).astype(int).tolist() == expected


def test_similar_on_an_axis_is_a_gap_of_a_twentieth():
    assert words.similar(A([0.58, 0.62]), np.full(2, 0.5), axis=2.0).tolist() == [True, False]
    assert words.clearly_better(A([0.0, 0.0]), A([0.04, 0.06]), axis=1.0).tolist() == [False, True]
    assert words.slightly_better(A([0.0, 0.0]), A([0.04, 0.06]), axis=1.0).tolist() == [True, False]


def test_competitive_is_twice_the_best_other_one_side():
    figure = Figure(a=A([1.9, 2.1, 0.1]), b=A([1.0, 1.0, 1.0]), c=A([9.0, 9.0, 9.0]))
    assert words.competitive(figure, "a").tolist() == [True, False, True]
    assert words.competitive(figure, "a", ["c"]).tolist() == [True, True, True]


def test_cannot_be_told_apart_is_two_hundredths_of_the_axis_on_both_sides():
    gaps = words.indistinguishable(A([10.0, 10.0, 12.1]), A([11.9, 12.1, 10.0]), 100.0)
    assert gaps.tolist() == [True, False, False]


def test_much_is_three_times_drastically_ten_and_a_third_of_a_printed_ratio():
    b = A([2.9, 3.1, 9.9, 10.1])
    for unit in (1.0, 0.01, 100.0):
        assert words.much_better(np.full(4, unit), b * unit).tolist() == [False, True, True, True]
    assert words.much_better(np.ones(4), b, word="drastically").tolist() == [
        False,
        False,
        False,
        True,
    ]
    assert words.much_better(np.ones(4), b, printed=9).tolist() == [False, True, True, True]
    assert words.much_better(np.ones(4), b, printed=30).tolist() == [False, False, False, True]


def test_near_optimal_and_exponents():
    assert words.near_optimal(A([0.09, 0.11]), 2.0).tolist() == [True, False]
    assert words.near_linear(A([1.19, 1.21])).tolist() == [True, False]


def test_quantifiers_count_cases_in_each_experiment():
    cases = (
        A([True, True, False]),
        A([True, False, False]),
        A([True, False, False]),
        A([True, True, False]),
    )
    assert words.always(*cases).tolist() == [True, False, False]
    assert words.sometimes(*cases).tolist() == [True, True, False]
    assert words.typically(*cases).tolist() == [True, False, False]  # half is not more than half
    assert words.typically(*cases, A([False, True, True])).tolist() == [True, True, False]


def test_the_order_is_the_same_unless_a_pair_turns_that_is_similar_nowhere():
    one = Figure(a=A([1.0]), b=A([2.0]))
    for a, b, same in ((1.0, 3.0, True), (2.0, 1.0, False), (1.1, 1.0, True), (1.0, 1.0, True)):
        for pairs in ([("a", "b")], [("b", "a")]):
            assert words.same_order(one, Figure(a=A([a]), b=A([b])), pairs).tolist() == [same]
            assert words.same_order(Figure(a=A([a]), b=A([b])), one, pairs).tolist() == [same]


def test_at_each_place_at_least_half_of_its_cases_hold():
    one, two = (A([True, True, False]), A([False, False, False])), (A([True, False, True]),)
    assert words.at_each(one, two).tolist() == [True, False, False]
    assert words.at_each(one).tolist() == [True, True, False]


def test_cases_of_figures_rules_and_rivals():
    """Figure by figure, in each rule by rule, and in each rival by rival; the statistic is asked
    for.
    """
    one, two = Figure(a=A([1.0]), b=A([3.0]), c=A([2.0])), Figure(a=A([5.0]), b=A([1.0]))
    assert np.ravel(words.cases(words.best, [one, two], ["a", "b"])).tolist() == [1, 0, 0, 1]
    assert np.ravel(words.cases(words.best, [one], ["b", "c"], ["b", "c"])).tolist() == [0, 1]

    def seconds(rule, statistic):
        return {("a", "seconds"): 6.0, ("b", "seconds"): 2.0, ("c", "seconds"): 3.0}[
            rule, statistic
        ]

    assert words.compared(np.divide, [seconds], ["a", "b"], ["b", "c"], "seconds") == [
        6 / 2,
        6 / 3,
        2 / 2,
        2 / 3,
    ]
    assert words.largest(lambda fig: fig["a"] - fig["b"])(one, two).tolist() == [4]
    assert words.smallest(lambda fig: fig["a"] - fig["b"])(one, two).tolist() == [-2]
