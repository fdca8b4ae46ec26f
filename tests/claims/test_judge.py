"""The verdict on numbers, and what a claim's readings, tables and clauses do to it."""

from dataclasses import replace

import numpy as np
import pytest
from tiny import Columns

from kbrepro import claims, scorecard
from kbrepro.claims import Outcome, Reading, claim, judge, unchecked, verdict_of
from kbrepro.claims.tables import Table
from kbrepro.claims.words import better
from kbrepro.estimates import Estimate


def reading(value, choice="", name="", clause=""):
    return Reading(choice, name, Estimate(value, value, value), 25, 50, clause)


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
    assert (
        verdict_of([reading(numbers[0]), *(reading(n, "x", str(n)) for n in numbers[1:])])
        == verdict
    )


def test_it_depends_on_every_choice_that_alone_moves_the_number_by_a_half():
    def verdict(*others):
        return verdict_of([reading(0.5), *(reading(n, choice, str(n)) for choice, n in others)])

    assert verdict(("x", 1.0), ("y", 0.6)) == ("depends", ["x"])
    assert verdict(("x", 1.0), ("y", 0.0)) == ("depends", ["x", "y"])
    assert verdict(("x", 0.8), ("y", 0.2)) == ("depends", ["x", "y"])  # together alone
    assert verdict(("x", 0.8), ("x", 0.2)) == ("depends", ["x"])  # two values of one choice


def test_an_excluded_reading_does_not_count():
    assert verdict_of([reading(1.0), reading(0.0, "x", "b", "a clause")]) == ("comes out again", [])


def test_theorems_by_their_outcome():
    assert Outcome(0, 2000).outcome == "no violation in 2,000 runs"
    assert Outcome(1, 2000).outcome == "false as printed"
    assert Outcome(3, 20, allowed=0.1).outcome == "3 violations in 20 runs"
    assert Outcome(1, 20, allowed=0.1).outcome == "1 violation in 20 runs"
    assert Outcome(30, 100, allowed=0.1).outcome == "false as printed"
    never, unit = unchecked("T", "", "why", "q"), claims.tested("T", "", "what", "q")
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
    assert judged.verdict == "comes out again"
    assert judge(replace(in_one, quote="a is better than b"), kept).verdict == "depends"
    assert judge(in_both, kept).verdict == "does not"


def test_a_reading_of_a_rule_that_is_not_asked_for_is_no_reading():
    assert [r.value for r in judge(replace(in_one, predicate=only_a), kept).readings] == [""]


def only_a(one):
    return one["a"] < 2
