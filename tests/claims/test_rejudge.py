"""The kept trials give the committed claims: what makes a radical change of the code safe."""

import json
from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro import papers
from kbrepro.claims import scorecard

RESULTS = Path(__file__).parents[2] / "results" / "paper"


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
