"""The kept trials give the committed claims: what makes a radical change of the code safe."""

import json
from pathlib import Path

import numpy as np
import pytest

from kbrepro import papers, scorecard
from kbrepro.claims.tables import Kept

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
    now = flat(json.loads(json.dumps(scorecard.of_paper(folder, Kept(RESULTS / paper.notebook / "played")))))
    before = flat(json.loads((RESULTS / paper.notebook / "claims.json").read_text(encoding="utf-8")))
    assert now.keys() == before.keys()
    for name, value in before.items():
        if isinstance(value, float):
            assert np.isclose(now[name], value, rtol=1e-9, atol=1e-9, equal_nan=True), (name, value, now[name])
        else:
            assert now[name] == value, name
