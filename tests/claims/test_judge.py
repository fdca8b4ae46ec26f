"""The verdict on numbers, and what a claim's readings, tables and clauses do to it."""

from dataclasses import replace

import numpy as np
import pytest
from tiny import Columns

from kbrepro.claims import judging, scorecard
from kbrepro.claims.judging import (
    ONE_PLAY,
    TOO_FEW,
    Outcome,
    Probability,
    Reading,
    claim,
    conjunction,
    held_at_once,
    judge,
    unchecked,
    verdict_of,
)
from kbrepro.claims.tables import Table
from kbrepro.claims.words import better


def reading(value, choice="", name="", clause="", low=None, high=None, kept=50, how="redrawn"):
    low, high = (value if edge is None else edge for edge in (low, high))
    return Reading(choice, name, Probability(value, low, high, 0.0, how), 25, kept, clause)


def told(readings):
    return verdict_of(readings)[:2]


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [
        ([0.9, 1.0], ("comes out again", [])),
        ([0.89, 1.0], ("now and then", [])),
        ([0.1, 0.0], ("does not", [])),
        ([0.11, 0.0], ("now and then", [])),
        ([0.4], ("now and then", [])),
        ([0.25, 0.74], ("now and then", [])),
        ([0.25, 0.75], ("depends", ["x"])),
        ([0.2, 0.7], ("depends", ["x"])),  # 0.7 - 0.2 < 0.5 in floating point
        ([1.0, 0.0], ("depends", ["x"])),
    ],
)
def test_the_four_verdicts(numbers, verdict):
    assert told([reading(numbers[0]), *(reading(n, "x", str(n)) for n in numbers[1:])]) == verdict


@pytest.mark.parametrize(
    ("value", "low", "high", "uncertain"),
    [
        (0.95, 0.9, 1.0, False),
        (0.95, 0.89, 1.0, True),
        (0.05, 0.0, 0.1, False),
        (0.05, 0.0, 0.11, True),
        (0.5, 0.2, 0.8, False),
        (0.5, 0.2, 0.95, True),
        (0.5, 0.05, 0.8, True),
    ],
)
def test_a_verdict_is_uncertain_if_an_interval_crosses_its_limit(value, low, high, uncertain):
    assert verdict_of([reading(value, low=low, high=high)]).uncertain == uncertain


def test_that_it_depends_is_uncertain_if_the_intervals_are_less_than_a_half_apart():
    for low, uncertain in ((0.7, False), (0.6, True)):
        other = reading(0.1, "x", "b", high=0.2)
        assert verdict_of([reading(0.9, low=low), other]).uncertain == uncertain


def test_fewer_than_eight_trials_are_too_few_to_say_and_decide_nothing():
    assert verdict_of([reading(1.0, kept=7)]) == (TOO_FEW, [], False)
    assert told([reading(1.0, kept=8)]) == ("comes out again", [])
    assert told([reading(1.0, kept=1, how=ONE_PLAY)]) == ("comes out again", [])
    assert told([reading(1.0), reading(0.0, "x", "b", kept=7)]) == ("comes out again", [])


def test_a_reading_on_fewer_than_36_trials_and_than_the_main_one_does_not_decide_alone():
    weak = reading(0.0, "x", "b", kept=35)
    assert told([reading(1.0), weak]) == ("comes out again", [])
    assert told([reading(1.0), weak._replace(kept=36)]) == ("depends", ["x"])
    assert told([reading(1.0, kept=35), weak]) == ("depends", ["x"])
    assert told([reading(1.0), weak, reading(0.0, "y", "c", kept=36)]) == ("depends", ["y"])


def test_two_choices_decide_together_if_neither_does_alone():
    single = reading(0.3, "x", "a"), reading(0.3, "y", "b")
    pair = reading(0.9, "x × y", "a × b")
    assert told([reading(0.2), *single, pair]) == ("depends", ["x × y"])
    assert told([reading(0.2), single[0], reading(0.8, "y", "b"), pair]) == ("depends", ["y"])


def test_it_depends_on_every_choice_that_alone_moves_the_number_by_a_half():
    def verdict(*others):
        return told([reading(0.5), *(reading(n, choice, str(n)) for choice, n in others)])

    assert verdict(("x", 1.0), ("y", 0.6)) == ("depends", ["x"])
    assert verdict(("x", 1.0), ("y", 0.0)) == ("depends", ["x", "y"])
    assert verdict(("x", 0.8), ("y", 0.2)) == ("depends", ["x", "y"])  # together alone
    assert verdict(("x", 0.8), ("x", 0.2)) == ("depends", ["x"])  # two values of one choice


def test_an_excluded_reading_does_not_count():
    assert told([reading(1.0), reading(0.0, "x", "b", "a clause")]) == ("comes out again", [])


def test_theorems_by_their_outcome():
    assert Outcome(0, 2000).outcome == "no violation in 2,000 runs"
    assert Outcome(1, 2000).outcome == "false as printed"
    assert Outcome(3, 20, allowed=0.1).outcome == "3 violations in 20 runs: 15.0%, 10% allowed"
    assert Outcome(1, 20, allowed=0.1).outcome == "1 violation in 20 runs: 5.0%, 10% allowed"
    assert Outcome(0, 20, allowed=0.1).outcome == "no violation in 20 runs"
    assert Outcome.of([[0.5, np.nan], [0.5, 1.0]])[:2] == (
        1,
        2,
    )  # a number that is none is no proof
    cases = Outcome(1, 10, 0.1, 2.0), Outcome(3, 20, 0.1, 1.5), Outcome(3, 20, 0.1, 1.8)
    assert Outcome.worst(cases) == cases[2]
    assert Outcome(30, 100, allowed=0.1).outcome == "false as printed"
    never, unit = unchecked("T", "", "why", "q"), judging.tested("T", "", "what", "q")
    assert [scorecard.record_of(each, None)["outcome"] for each in (never, unit)] == [
        "not checkable by a run",
        "by a unit test",
    ]


# Tables by name; a claim that its own quote may not save

kept = Columns(one=dict(a=[1.0] * 9, b=[2.0] * 9, c=[0.5] * 9), two=dict(a=[3.0] * 9, b=[2.0] * 9))
READINGS = {"b": {"b": {}, "c": {"b": "c"}}}
one = Table(
    "one",
    "one",
    3,
    pool=("a", "b"),
    readings=READINGS,
    excluded={"c": "clause: a is better than b"},
)
two = Table("two", "two", 3, pool=("a", "b"))
both = one, two


@claim("X-1", "", effect=lambda *panels: panels[0]["a"] / panels[0]["b"])
def in_one(one):
    """in one"""
    return better(one["a"], one["b"])


@claim("X-2", "")
def in_both(*both):
    """in both"""
    return np.all([better(fig["a"], fig["b"]) for fig in both], axis=0)


def test_a_claim_names_its_tables_or_a_tuple_of_them():
    assert in_one.tables() == in_one.tables(in_one.effect) == [one]
    assert in_both.tables() == [one, two]
    with pytest.raises(
        ValueError, match=r"claim 0-X asks for three: its claims\.py has no such table"
    ):
        replace(in_one, id="0-X", predicate=lambda three: three).tables()
    assert judge(in_one, kept).effect == (0.5, 0.5, 0.5)


def test_a_clause_excludes_a_reading_of_all_claims_but_the_one_that_it_quotes():
    judged = judge(in_one, kept)
    assert [(r.value, r.probability.value, bool(r.excluded_by)) for r in judged.readings] == [
        ("", 1, False),
        ("c", 0, True),
    ]
    assert judged.verdict.word == "comes out again"
    assert judge(replace(in_one, quote="a is better than b"), kept).verdict.word == "depends"
    assert judge(in_both, kept).verdict.word == "does not"


def test_a_reading_of_a_rule_that_is_not_asked_for_is_no_reading():
    assert [r.value for r in judge(replace(in_one, predicate=only_a), kept).readings] == [""]


def only_a(one):
    return one["a"] < 2


# Two choices, crossed; claims together

crossed = Table(
    "crossed",
    "one",
    3,
    readings={"a": {"a": {}, "c": {"a": "c"}}, "b": {"b": {}, "c": {"b": "c"}}},
    excluded={"c": "a clause"},
    crossed=("a", "b"),
)


@claim("X-3", "")
def in_crossed(crossed):
    """a is better than b"""
    return better(crossed["a"], crossed["b"])


def test_crossed_choices_are_judged_in_all_combinations():
    readings = judge(in_crossed, kept).readings
    assert [(r.choice, r.value, r.probability.value) for r in readings] == [
        ("", "", 1.0),
        ("a", "c", 1.0),
        ("b", "c", 0.0),
        ("a × b", "c × c", 0.0),
    ]
    assert [bool(r.excluded_by) for r in readings] == [False, True, True, True]


def test_a_clause_excludes_a_reading_only_if_all_tables_that_it_changes_have_it():
    free = replace(one, excluded={})

    def predicate(*views):
        return np.all([better(view["a"], view["b"]) for view in views], axis=0)

    def excluded(*tables):
        each = replace(in_one, predicate=predicate, effect=None, of_parts=tables)
        return [bool(r.excluded_by) for r in judge(each, kept).readings]

    assert excluded(one, two) == [False, True] and excluded(one, free) == [False, False]


def test_a_conjunction_draws_a_table_that_two_claims_share_once():
    rng = np.random.default_rng(0)
    noisy = Columns(one=dict(a=rng.normal(size=40), b=np.zeros(40)))
    lone = Table("lone", "one", 5)
    above, below = (
        replace(in_one, id=name, predicate=lambda fig, sign=sign: sign * fig["a"] > 0,
                effect=None, of_parts=(lone,))
        for name, sign in (("X-4", 1), ("X-5", -1))
    )  # fmt: skip
    both = conjunction([above, below])
    assert both.id == "X-4 + X-5" and both.tables() == [lone]
    assert judge(both, noisy).readings[0].probability.value == 0
    either = judge(above, noisy).readings[0].probability.value
    assert 0.1 < either < 0.9
    (line,) = held_at_once([above, below], noisy)
    assert (line.holds, line.fails, line.mean) == ([], ["X-4", "X-5"], 1.0)


def test_sentences_that_come_out_at_once_are_named():
    (main, excluded) = held_at_once([in_one, in_both], kept)
    assert (main.holds, main.fails, main.mean, main.excluded_by) == (["X-1"], ["X-2"], 1.0, "")
    assert (excluded.holds, excluded.value) == ([], "c")
    assert excluded.excluded_by


def test_a_sentence_on_a_sample_and_on_a_finite_population_is_one_of_those_at_once():
    """More experiments are drawn of rows without chance than there are of a sample."""
    values = dict(a=np.zeros(40), b=np.ones(40))
    tables = Table("sample", "one", 5), Table("rows", "two", 30, rows=40)
    claim = replace(
        in_one,
        predicate=lambda *figs: np.all([better(fig["a"], fig["b"]) for fig in figs], axis=0),
        effect=None,
        of_parts=tables,
    )
    (line,) = held_at_once([claim], Columns(one=values, two=values))
    assert line.holds == [claim.id]
