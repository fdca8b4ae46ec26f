"""The cross of choices, what a table of interpretations says, and which choice decides."""

import pandas as pd
import pytest

from kbrepro.regret import Estimate, exact
from kbrepro.verdicts import interpretations
from kbrepro.verdicts.claims import Part, read_rule

CHOICES = {"incumbent": ["mean", "noisy"], "margin": [0.1, 0.0, 1.0]}
PART = Part("a", "difference", read_rule("> 0"), scale=1.0)


def played(value):
    """A table in which the value of an interpretation is a function of it."""
    return interpretations.specification(PART, [(r, exact(value(**r))) for r in interpretations.cross(CHOICES)])


def test_the_cross_starts_with_the_main_interpretation_and_is_sampled_by_its_seed():
    cross = interpretations.cross(CHOICES)
    assert len({tuple(r.values()) for r in cross}) == len(cross) == 6
    assert cross[0] == {"incumbent": "mean", "margin": 0.1}
    some = [interpretations.cross(CHOICES, at_most=4, seed=seed) for seed in [*range(9), 0]]
    assert all(len(its) == 4 and its[0] == cross[0] for its in some)
    assert some[0] == some[-1] and len(set(map(str, some))) > 1
    assert interpretations.cross(CHOICES, at_most=6) == cross


def test_a_choice_without_values_is_refused():
    with pytest.raises(ValueError, match="choice 'margin' has no value"):
        interpretations.cross({"margin": []})
    with pytest.raises(ValueError, match="part a: no interpretation was played"):
        interpretations.specification(PART, [])


def test_the_table_is_sorted_and_knows_the_main_interpretation():
    table = played(lambda incumbent, margin: -margin)
    assert table["value"].tolist() == sorted(table["value"])
    assert table.loc[table["main"], ["incumbent", "margin"]].to_numpy().tolist() == [["mean", 0.1]]
    open_ = interpretations.specification(PART, [({"margin": 1}, Estimate(0.5, -1, 2))])
    assert open_["state"].tolist() == ["undecided"]


@pytest.mark.parametrize(
    ("holds", "share", "told"),
    [
        (lambda incumbent, _: incumbent == "mean", (1, 0), "holds 3, fails 3 of 6; the incumbent alone decides"),
        (lambda i, m: i == "mean" and m < 1, (2 / 3, 2 / 6), "holds 2, fails 4 of 6; the incumbent matters most"),
        (lambda *_: True, (0, 0), "holds 6 of 6"),
    ],
    ids=["one choice alone decides", "two decide together", "nothing decides"],
)
def test_what_decides(holds, share, told):
    table = played(lambda incumbent, margin: 1.0 if holds(incumbent, margin) else -1.0)
    assert tuple(interpretations.flips(table, list(CHOICES)).values()) == share
    assert interpretations.in_words(interpretations.counts(table, list(CHOICES))) == told


def test_interpretations_that_do_not_hold_need_not_fail():
    found = [({"margin": value}, Estimate(value, value - 1, value + 1)) for value in (0, 2, -2, -3)]
    told = interpretations.counts(interpretations.specification(PART, found), ["margin"])
    assert (told["holds"], told["fails"], told["of"]) == (1, 2, 4)
    assert interpretations.in_words(told).startswith("holds 1, fails 2, open 1 of 4; the margin alone")


def test_choices_are_ranked_by_the_claims_that_they_flip():
    ranked = interpretations.ranking({"1-A": {"x": 0.1, "y": 0.0}, "1-B": {"x": 0.2, "y": 0.9}, "1-C": {"z": 0.0}})
    assert ranked["choice"].tolist() == ["x", "y", "z"]
    assert ranked["flips"].tolist() == [2, 1, 0] and ranked["of"].tolist() == [2, 2, 1]


def test_joint_settings_have_the_state_of_every_claim():
    a = pd.DataFrame({"q": [2, 3, 2, 3], "kernel": list("xxyy"), "state": ["fails", "holds", "holds", "holds"]})
    b = pd.DataFrame({"kernel": list("xyxy"), "features": [1, 1, 2, 2], "state": ["holds", "fails", "fails", "fails"]})
    found = interpretations.joint({"4-A": a, "4-B": b}, ("q", "kernel"), {"features": 1})
    rows = found.set_index(["kernel", "q"])
    assert rows.index[0] == ("x", 3) and found["holds"].tolist() == [2, 1, 1, 1]
    assert rows.loc[("x", 2)].tolist() == ["fails", "holds", 1] and rows.loc[("y", 2)].tolist() == ["holds", "fails", 1]
