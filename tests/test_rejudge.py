"""The kept trials give the committed claims: what makes a radical change of the code safe."""

import json
from pathlib import Path

import numpy as np
import pytest

from kbrepro import papers, plans, scorecard
from kbrepro.claims import judge, sentences_of

RESULTS = Path(__file__).parents[1] / "results" / "paper"


def flat(value, name=""):
    """{path: number or text} of nested lists and mappings."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: leaf for part, inner in pairs for key, leaf in flat(inner, f"{name}/{part}").items()}
    return {name: value}


@pytest.mark.slow  # the notebooks show the same numbers, rounded
@pytest.mark.parametrize(("folder", "paper"), papers.found().items())
def test_kept_trials_give_the_committed_claims(folder, paper):
    now = flat(json.loads(json.dumps(scorecard.of_paper(folder, plans.kept(RESULTS / paper.notebook / "played")))))
    before = flat(json.loads((RESULTS / paper.notebook / "claims.json").read_text(encoding="utf-8")))
    assert now.keys() == before.keys()
    for name, value in before.items():
        if isinstance(value, float):
            assert np.isclose(now[name], value, rtol=1e-9, atol=1e-9, equal_nan=True), (name, value, now[name])
        else:
            assert now[name] == value, name


@pytest.mark.parametrize(("paper", "long"), [("gp_ucb", ()), ("igp_ucb", ("2-U", "2-Y"))])
def test_effects_and_theorems_without_redraws(paper, long):
    """What is quick of the same: the number beside each verdict, and what runs say of the theorems."""
    folder = RESULTS / papers.found()[paper].notebook
    kept, committed = plans.kept(folder / "played"), json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    known = {each.id: each for each in sentences_of(paper)}
    for record in committed["claims"]:
        each = known[record["id"]]
        effect = judge(each, kept, experiments=2, redraws=1).effect
        assert effect.value == pytest.approx(record["effect"]["value"], rel=1e-9), each.id
    for record in committed["theorems"]:
        if record["id"] not in long:
            checked = scorecard.record_of(known[record["id"]], kept)
            assert flat(json.loads(json.dumps(checked))) == pytest.approx(flat(record), nan_ok=True), record["id"]
