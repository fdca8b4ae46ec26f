"""Each claim quotes its paper, word for word: checked where the papers' texts are (KBREPRO_PAPERS),
skipped elsewhere.

The texts are reading copies, read by machine: line ends, hyphens, ligatures, quotation marks,
dashes and LaTeX differ from copy to copy, so both sides are brought to one form. A quote has in
brackets what a copy garbles: a symbol in our letters, or [...].
"""

import os
import re
import unicodedata
from pathlib import Path

import pytest

from kbrepro import papers
from kbrepro.claims.judging import Claim, sentences_of
from kbrepro.claims.scorecard import ROW

#: The name of a paper's text, by the number of its notebook.
TEXTS = {
    "01": "srinivas2010*",
    "02": "chowdhury2017*",
    "03": "janz2020*",
    "04": "calandriello2019*",
    "05": "li2024*",
}
BRACKETS = re.compile(r"\[[^]]*\]")
#: The most characters of a text that brackets may stand for: formulas, which some copies give three
#: times, not pages.
GAP = 1000

NAMES = (
    "gamma Gamma beta delta epsilon varepsilon sigma Sigma alpha nu pi mu eta lambda Omega infty"
    " forall leq le geq"
)
SIGNS = "γ Γ β δ ε ε σ Σ α ν π μ η λ Ω ∞ ∀ ≤ ≤ ≥"
NAMES += " in cap subset sum sqrt sim | ln log max min Pr"
SIGNS += " ∈ ∩ ⊂ ∑ √ ~ ‖ ln log max min Pr"
#: What a LaTeX command stands for; every other command is markup.
SYMBOLS = dict(zip(NAMES.split(), SIGNS.split(), strict=True))
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_MARKS = dict.fromkeys("‘’`´", "'") | dict.fromkeys("“”„«»", '"') | dict.fromkeys("‐‑‒–—−", "-")
_MARKS |= dict.fromkeys("{}()", " ") | dict.fromkeys("$*", "")


def normal(text):
    """The text in one form: no markup, one kind of mark, words not broken at line ends, spaces
    between words alone.
    """
    text = unicodedata.normalize(
        "NFKD", _COMMAND.sub(lambda match: SYMBOLS.get(match[1], " "), text)
    )
    text = "".join(_MARKS.get(c, c) for c in text.casefold() if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])-\s*(?=[a-z])", "", text)
    text = re.sub(r"\s+", " ", text)
    # a copy has this operator four times
    text = text.replace("argmaxargmax arg max arg max", "argmax")
    return re.sub(r" ?([^a-z0-9 ]) ?", r"\1", text).strip()


def stands_in(quote, text):
    """Whether the pieces of a quote stand in a normal text, whole words each, in order and near one
    another.
    """
    pieces = [piece for piece in map(normal, BRACKETS.split(quote)) if piece]
    return (
        bool(pieces)
        and re.search(rf"[\s\S]{{0,{GAP}}}?".join(map(_whole, pieces)), text) is not None
    )


def _whole(piece):
    """The pattern of a piece that neither begins nor ends inside a word or a number."""
    before, after = (
        next((k for k in ("[a-z]", "[0-9]") if re.match(k, end)), "")
        for end in (piece[0], piece[-1])
    )
    return (before and f"(?<!{before})") + re.escape(piece) + (after and f"(?!{after})")


needs_papers = pytest.mark.skipif(
    "KBREPRO_PAPERS" not in os.environ, reason="KBREPRO_PAPERS is not set: no texts"
)
FOLDERS = {
    name: paper.notebook[:2]
    for name, paper in papers.found().items()
    if paper.notebook[:2] in TEXTS
}


def quotes(folder):
    """The quotes of a paper's claims, without the row of a table before one; own questions have
    none, nor have rows alone.
    """
    claims = [each for each in sentences_of(folder) if isinstance(each, Claim)]
    quoted = {
        each.id: re.sub(rf"{ROW}[^.]*\.", "", each.quote)
        for each in claims
        if each.kind != "own question"
    }
    return {name: quote for name, quote in quoted.items() if quote}


@needs_papers
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_paper_says_each_quote(folder):
    (path,) = Path(os.environ["KBREPRO_PAPERS"]).glob(TEXTS[FOLDERS[folder]])
    text = normal(path.read_text(encoding="utf-8"))
    assert [name for name, quote in quotes(folder).items() if not stands_in(quote, text)] == []


@pytest.mark.parametrize("folder", papers.found())
def test_no_two_choices_of_a_claim_have_a_value_of_one_name(folder):
    """Sources and clauses are looked up by the value."""
    for sentence in sentences_of(folder):
        if isinstance(sentence, Claim):
            choice_of = {}
            for table in sentence.tables():
                for choice, values in table.readings.items():
                    for value in values:
                        assert choice_of.setdefault(value, choice) == choice, sentence.id
