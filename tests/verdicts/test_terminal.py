"""Verdicts in a terminal: a line a claim, and one claim whole."""

import pytest

from kbrepro.regret import Estimate
from kbrepro.verdicts import claims, scorecard, terminal

PART = claims.Part("a", "difference of regret", claims.read_rule("> 0"), scale=1.0)
CHANGE = {"seen": "0.1.0", "was": "low > 1", "then": "partly", "why": "too hard", "direction": "easier"}
CHANGE |= {"on_old_numbers": "undecided"}
CLAIM = claims.Claim(
    "1-A", "Fig. 1", "experiment", "It is larger. " * 12, {"a": PART}, "By {a}.", quote="larger", changes=[CHANGE]
)
COUNTS = {"part": "a", "holds": 3, "fails": 0, "of": 4, "decides": "", "matters_most": "incumbent"}
COUNTS |= {"flips": {"incumbent": 0.25}}


@pytest.fixture
def runs():
    record = claims.judged(CLAIM, {"a": Estimate(1, 0.5, 2)}) | {"interpretations": COUNTS}
    answer = {"sentence": "It is larger.", "holds": True, "answers": ["1-A"]}
    return {"01_new": {"claims": scorecard.rows([record]), "expected": [answer, answer | {"holds": False}]}}


def test_a_claim_is_a_line_that_fits(runs):
    notebook, answer, totals, line, _, *words = terminal.listed(runs, width=60).splitlines()
    assert (notebook, answer) == ("01_new", "  - It is larger. (1-A)")
    assert totals == "1 of 1 claim of the paper stands (reproduced)."
    assert line.startswith("  1-A ● reproduced: It is larger.") and line.endswith("...") and len(line) <= 62
    assert " ".join(words).startswith("A claim stands if every part") and max(map(len, words)) <= 60
    assert len(terminal.listed(runs, "depends", width=60).splitlines()) == 3 + 1 + len(words)


def test_a_claim_that_is_named_is_told_whole(runs):
    text = terminal.named(runs, ["1-A"], 70)
    told = ['"larger"', "rule > 0; 1 [0.5, 2], holds", "holds 3, open 1 of 4", "incumbent 25%", "low > 1 (partly)"]
    told += ["Revised after results of 0.1.0 were seen", "too hard (easier)", "on old numbers: undecided"]
    for words in told:
        assert words in " ".join(text.split()), words
    assert max(map(len, text.splitlines())) <= 70


def test_a_claim_that_was_not_judged_is_refused(runs):
    with pytest.raises(ValueError, match=r"claim '1-B' was not judged.* such as 1-A"):
        terminal.named(runs, ["1-B"])
