"""The kept trials give the committed claims: what makes a radical change of the code safe."""

import json
from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro import papers, scorecard
from kbrepro.claims import judge, sentences_of

RESULTS = Path(__file__).parents[1] / "results" / "paper"


def flat(value, name=""):
    """{path: number or text} of nested lists and mappings; NaN, which is not equal to itself, as a
    text.
    """
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            key: leaf
            for part, inner in pairs
            for key, leaf in flat(inner, f"{name}/{part}").items()
        }
    return {name: value if value == value else "NaN"}


def as_written(found, before):
    """What `Record.finish` would write over the committed numbers, flat."""
    return flat(scorecard.rounded(json.loads(json.dumps(found, default=float)), before))


@pytest.mark.slow  # the notebooks show the same numbers, rounded
@pytest.mark.parametrize(("folder", "paper"), papers.found().items())
def test_kept_trials_give_the_committed_claims(folder, paper):
    before = json.loads((RESULTS / paper.notebook / "claims.json").read_text(encoding="utf-8"))
    now = as_written(
        scorecard.of_paper(folder, kept_of(RESULTS / paper.notebook / "played")), before
    )
    assert now == flat(before)


@pytest.mark.parametrize(("paper", "long"), [("gp_ucb", ()), ("igp_ucb", ("2-U", "2-Y"))])
def test_effects_and_theorems_without_redraws(paper, long):
    """What is quick of the same: the number beside each verdict, and what runs say of the
    theorems.
    """
    folder = RESULTS / papers.found()[paper].notebook
    kept, committed = (
        kept_of(folder / "played"),
        json.loads((folder / "claims.json").read_text(encoding="utf-8")),
    )
    known = {each.id: each for each in sentences_of(paper)}
    for record in committed["claims"]:
        each = known[record["id"]]
        effect = judge(each, kept, experiments=2, redraws=1).effect
        assert (
            scorecard.rounded(float(effect.value), record["effect"]["value"])
            == record["effect"]["value"]
        ), each.id
    for record in committed["theorems"]:
        if record["id"] not in long:
            checked = as_written(scorecard.record_of(known[record["id"]], kept), record)
            assert checked == flat(record), record["id"]
