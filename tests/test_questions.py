"""Letters to the authors: one for each paper, short; each answer decides what the letter says."""

import re

import pytest
from pages import page
from test_readme import claims, runs

from kbrepro.claims.judging import AGAIN, NOT, SOMETIMES, TOO_FEW

LETTERS = re.split(r"(?m)^## ", page("docs/questions.md"))[1:]
IDS = r"\[(\d-[A-Z]+)\]"
#: Of a limit of our words, halved or doubled.
CHANGED_BY_A_WORD = {*re.findall(IDS, page("docs/claims.md").partition("## Words")[2])}
FALSE = {
    theorem["id"]
    for run in runs().values()
    for theorem in run["theorems"]
    if theorem["outcome"] == "false as printed"
}


def verdict_of(reading):
    share = reading["probability"]["value"]
    return AGAIN if share >= 0.9 else NOT if share <= 0.1 else SOMETIMES


def is_open(name):
    """Whether an answer can change what came out: an interpretation, counted or not, or a limit of
    our words has another verdict, or the verdict is no clear one; or we call a theorem false.
    """
    if name in FALSE | CHANGED_BY_A_WORD:
        return True
    record = claims()[name]
    verdicts = {verdict_of(reading) for reading in record["readings"]}
    return record["verdict"] in (SOMETIMES, TOO_FEW) or len(verdicts) > 1


@pytest.mark.parametrize("letter", LETTERS, ids=lambda letter: letter.partition("\n")[0])
def test_a_letter_is_short_and_its_answers_decide_what_it_says(letter):
    assert len(re.sub(r"\]\([^)]*\)", "]", letter).split()) <= 250
    (claimed,) = re.findall(r"results/claims/(\d\d)_\w+\.md", letter)
    decided = re.findall(IDS, letter)
    assert {name[0] for name in decided} == {claimed[1]}
    assert [name for name in decided if not is_open(name)] == []
    for question in re.split(r"(?m)^\d\. ", letter)[1:]:
        assert "?" in question and ("Decides" in question or "we cannot run" in question), question


def test_each_paper_has_a_letter():
    asked = re.findall(r"results/claims/(\d\d_\w+)\.md", page("docs/questions.md"))
    assert asked == [name for name, run in runs().items() if run["claims"] and name[1] in "12345"]
