"""The verdict on numbers, and what a claim's readings, tables and clauses do to it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny import Columns

from kbrepro.claims import judging, scorecard
from kbrepro.claims.judging import (
    CROSS,
    ONE_PLAY,
    TOO_FEW,
    Outcome,
    Probability,
    Reading,
    claim,
    conjunction,
    held_at_once,
    held_once,
    judge,
    unchecked,
    verdict_of,
)
from kbrepro.claims.tables import TOTAL, Kept, Table
from kbrepro.claims.words import better


def reading(value, choice="", name="", clause="", low=None, high=None, kept=50, how="redrawn"):
    low, high = (value if edge is None else edge for edge in (low, high))
    number = Probability(value, low, high, 0.0, how)
    return Reading(choice, name, number, 25, kept, "text", clause)


def beside(*others, main=1.0):
    """On which choices a verdict depends, and how many of how many agree."""
    return verdict_of([reading(main), *others])[1:4]


@pytest.mark.parametrize(
    ("number", "word"),
    [(0.9, "comes out again"), (0.89, "now and then"), (0.11, "now and then"), (0.1, "does not")],
)
def test_the_main_reading_decides_the_word(number, word):
    for other in (0.0, 0.5, 1.0):
        assert verdict_of([reading(number), reading(other, "x", "b")]).word == word


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


def test_beside_the_word_stands_who_is_on_the_other_side_of_one_half():
    x, y = reading(0.51, "x", "a"), reading(0.5, "y", "b")
    assert beside(x) == ([], 2, 2)
    assert beside(x, y) == (["y"], 2, 3)
    assert beside(x, y, main=0.5) == (["x"], 2, 3)
    assert beside(y, y._replace(value="c"), x._replace(probability=y.probability)) == (
        ["y", "x"], 1, 4
    )  # fmt: skip


def test_two_choices_decide_together_if_neither_does_alone():
    single = reading(0.9, "x", "a"), reading(0.9, "y", "b")
    pair = reading(0.2, "x × y", "a × b")
    assert beside(*single, pair) == (["x × y"], 3, 4)
    assert beside(single[0], reading(0.1, "y", "b"), pair) == (["y"], 2, 4)


@pytest.mark.parametrize(
    "not_counted",
    [
        {"excluded_by": "a clause"},
        {"source": ""},  # found by search
        {"kept": 35},  # of a main one on 50
    ],
)
def test_what_does_not_count_decides_nothing(not_counted):
    other = reading(0.0, "x", "b", kept=36)
    assert beside(other) == (["x"], 1, 2)
    assert beside(other._replace(**not_counted)) == ([], 1, 1)


def test_few_trials_say_nothing_and_decide_nothing_beside_more():
    assert verdict_of([reading(1.0, kept=7)]).word == TOO_FEW
    assert verdict_of([reading(1.0, clause="Section 3")]).word == TOO_FEW
    for enough in (reading(1.0, kept=8), reading(1.0, kept=1, how=ONE_PLAY)):
        assert verdict_of([enough]).word == "comes out again"
    for kept, counted in ((7, 1), (8, 2)):
        assert verdict_of([reading(1.0, kept=8), reading(0.0, "x", "b", kept=kept)])[3] == counted


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
    assert [scorecard.record_of(each, Kept(Path()))["outcome"] for each in (never, unit)] == [
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
    sources={"c": "text"},
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
    assert judged.verdict.counted == 1
    assert judge(replace(in_one, quote="a is better than b"), kept).verdict.counted == 2
    assert judge(in_both, kept).verdict.word == "does not"


def test_a_clause_can_be_computed_from_the_kept_trials():
    by_trials = replace(
        one, excluded={}, refuted=lambda kept: {"c": f"{kept.column('one', 'c', TOTAL)[0]} printed"}
    )
    clauses = [r.excluded_by for r in judge(on(by_trials), kept).readings]
    assert clauses == ["", "0.5 printed"]


def test_a_main_reading_that_is_excluded_says_nothing():
    judged = judge(on(replace(one, excluded={"b": "footnote 3"})), kept)
    assert judged.verdict.word == TOO_FEW
    assert [r.excluded_by for r in judged.readings] == ["footnote 3", ""]


def test_trials_that_are_not_as_the_paper_has_them_say_nothing():
    judged = judge(on(replace(one, unlike="Section 3")), kept)
    assert judged.verdict.word == TOO_FEW
    assert {r.excluded_by for r in judged.readings} == {"Section 3"}


def test_a_reading_of_a_rule_that_is_not_asked_for_is_no_reading():
    assert [r.value for r in judge(replace(in_one, predicate=only_a), kept).readings] == [""]


def only_a(one):
    return one["a"] < 2


def on(*tables):
    """The claim that a is better than b on tables."""
    return replace(
        in_one,
        quote="on tables",
        predicate=lambda *views: np.all([better(view["a"], view["b"]) for view in views], axis=0),
        effect=None,
        of_parts=tables,
    )


# Choices together; claims together

CHOICES = {
    "a": {"a": {}, "other a": {"a": "c"}, "third a": {"a": "b"}},
    "b": {"b": {}, "other b": {"b": "c"}},
    "where": {"here": {}, "there": {"*": "two"}},
}
SOURCES = dict.fromkeys(("other a", "other b", "there"), "text")
whole = Table("whole", "one", 3, readings=CHOICES, sources=SOURCES)


def values(table):
    """The combined readings of the claim on a table, and those that were not played."""
    judged = judge(on(table), kept)
    return [r.value for r in judged.readings if CROSS in r.choice], judged.not_played


def test_choices_that_count_are_combined_in_pairs_where_the_columns_are_there():
    assert values(whole) == (
        ["other a × other b"], ["other a × there", "other b × there"]
    )  # fmt: skip
    excluded = replace(whole, excluded={"other b": "a clause"})
    assert values(excluded) == ([], ["other a × there"])
    assert values(replace(whole, sources={})) == ([], [])


def test_a_value_on_few_trials_is_combined_with_none():
    rows = dict(a=[1.0] * 40, b=[2.0] * 40, c=[0.5] * 35)
    few = Columns(one=rows)
    judged = judge(on(replace(whole, readings={name: CHOICES[name] for name in "ab"})), few)
    assert [r.kept for r in judged.readings if CROSS in r.choice] == []
    assert judged.not_played == [] and judged.verdict.counted == 1


def test_a_later_choice_names_a_rule_anew_by_the_name_that_an_earlier_one_gave_it():
    again = {"first": {"here": {}, "x": {"a": "c"}}, "second": {"so": {}, "y": {"a": "d"}}}
    labels = {"one": dict(a=[5.0] * 3, b=[2.0] * 3, c=[4.0] * 3, d=[3.0] * 3, e=[0.5] * 3)}
    table = replace(whole, readings=again, sources=dict.fromkeys("xy", "text"))
    assert judge(on(table), Columns(**labels)).not_played == ["x × y"]
    again["second"]["y"][("a", "c")] = "e"
    judged = judge(on(table), Columns(**labels))
    assert [r.probability.value for r in judged.readings] == [0, 0, 0, 1]
    assert judged.not_played == []


def test_a_label_that_a_reading_names_follows_the_rule_of_a_load():
    def load(kept):
        return {("b, far", "total"): np.ones(3), ("a", "total"): np.zeros(3)}

    readings = {
        "rule": {"one": {}, "two": {"a": "b"}},
        "place": {"near": {}, "far": {"*": "*, far"}},
    }
    table = Table("t", readings=readings, load=load)
    kept = Kept("nowhere")
    assert table.under(kept, {"rule": "two", "place": "far"}).column("a", "total")[0] == 1
    assert table.under(kept, {}).column("a", "total")[0] == 0


def test_labels_or_rules_that_two_values_both_change_are_no_combination():
    labels = {
        "first": {"here": {}, "x": {"*": "two"}},
        "second": {"here, too": {}, "y": {"*": "one"}},
    }
    same = {"first": CHOICES["a"], "again": {"as it is": {}, "y": {"a": "b"}}}
    sources = dict.fromkeys(("x", "y", "other a"), "text")
    for readings, clash in ((labels, "x × y"), (same, "other a × y")):
        table = replace(whole, readings=readings, sources=sources)
        assert values(table) == ([], [clash])


def test_a_label_is_composed_of_two_choices_and_three_are_crossed_where_it_is_said():
    labels = {"x": dict(a=[1.0] * 9, b=[2.0] * 9, c=[0.0] * 9), "x, z": dict(a=[5.0] * 9)}
    labels |= {"x, y": dict(a=[1.5] * 9, b=[3.0] * 9, c=[0.0] * 9), "x, y, z": dict(a=[2.5] * 9)}
    readings = {
        "scale": {"raw": {}, "y": {"*": "*, y"}},
        "norm": {"one": {}, "z": {"a": ("*, z", "a")}},
        "rival": {"b": {}, "none": {"b": "c"}},
    }
    sources = dict.fromkeys(("y", "z", "none"), "text")
    table = Table("x", "x", 3, readings=readings, sources=sources)
    pairs = {"y × z": 1, "y × none": 0, "z × none": 0}
    for crossed, more in (((), {}), ((*readings,), {"y × z × none": 0})):
        judged = judge(on(replace(table, crossed=crossed)), Columns(**labels))
        found = {r.value: r.probability.value for r in judged.readings}
        assert found == {"": 1, "y": 1, "z": 0, "none": 0} | pairs | more


def test_a_clause_excludes_a_reading_only_if_all_tables_that_it_changes_have_it():
    free = replace(one, excluded={})

    def excluded(*tables):
        return [bool(r.excluded_by) for r in judge(on(*tables), kept).readings]

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


def test_one_experiment_is_the_first_trials_of_the_main_interpretation():
    kept = Columns(x={"a": [1, 1, 9], "b": [2, 2, 2]})
    table = Table("x", "x", 2, pool=("a", "b"))
    lower = claim("9-A", "")(lambda x: better(x["a"], x["b"]))
    assert held_once(replace(lower, of_parts=(table,)), kept) is True
    all_three = replace(
        table, size=3, readings={"c": {"main": {}, "swapped": {"a": "b", "b": "a"}}}
    )
    assert held_once(replace(lower, of_parts=(all_three,)), kept) is False
    with pytest.raises(ValueError, match="its rows are those that the paper names"):
        held_once(replace(lower, of_parts=(replace(table, rows=3),)), kept)
