"""Each claim quotes its paper, word for word: checked where the papers' texts are (KBREPRO_PAPERS), skipped elsewhere.

The texts are reading copies, read by machine: line ends, hyphens, ligatures, quotation marks, dashes and LaTeX differ from
copy to copy. So both sides are brought to one form. Words stay as they are: a quote leaves out ([...]) what a copy garbles.
"""

import os
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from kbrepro.verdicts import claims

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))
PAPERS = Path(os.environ.get("KBREPRO_PAPERS") or "nowhere")
#: The text of a notebook's paper, by the notebook's number.
TEXTS = {"01": "srinivas2010*", "02": "chowdhury2017*", "03": "janz2020*", "04": "calandriello2019*", "05": "li2024*"}
QUOTED = [(path.stem, c.id) for path in FILES for c in claims.load(path).claims.values() if c.quote]
LEFT_OUT = "[...]"
#: The most characters of a text that [...] may leave out: formulas, which some copies give three times, not pages.
GAP = 2500

SYMBOLS = {"gamma": "γ", "beta": "β", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "sigma": "σ", "Sigma": "Σ"}
SYMBOLS |= {"alpha": "α", "nu": "ν", "pi": "π", "mu": "μ", "eta": "η", "lambda": "λ", "Omega": "Ω", "Gamma": "Γ", "infty": "∞", "forall": "∀"}
SYMBOLS |= {"leq": "≤", "le": "≤", "geq": "≥", "in": "∈", "subset": "⊂", "sum": "∑", "sqrt": "√", "sim": "~", "|": "‖"}
SYMBOLS |= {"ln": "ln", "log": "log", "max": "max", "min": "min", "Pr": "Pr"}
_COMMAND = re.compile(r"\\([A-Za-z]+|.)")
_MARKS = dict.fromkeys("‘’`´", "'") | dict.fromkeys("“”„«»", '"') | dict.fromkeys("‐‑‒–—−", "-")
_MARKS |= dict.fromkeys("{}()", " ") | dict.fromkeys("$*", "")


def normal(text):
    """The text in one form: no markup, one kind of mark, words not broken at line ends, spaces between words alone."""
    text = unicodedata.normalize("NFKD", _COMMAND.sub(lambda match: SYMBOLS.get(match[1], " "), text))
    text = "".join(_MARKS.get(c, c) for c in text.casefold() if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])-\s*(?=[a-z])", "", text)
    return re.sub(r" ?([^a-z0-9 ]) ?", r"\1", re.sub(r"\s+", " ", text)).strip()


def stands_in(quote, text):
    """Whether the pieces of a quote stand in a normal text, whole words each, in order and near one another."""
    pieces = [piece for piece in map(normal, quote.split(LEFT_OUT)) if piece]
    return bool(pieces) and re.search(rf"[\s\S]{{0,{GAP}}}?".join(map(_whole, pieces)), text) is not None


def _whole(piece):
    """The pattern of a piece that neither begins nor ends inside a word or a number."""
    kinds = (next((kind for kind in ("[a-z]", "[0-9]") if re.match(kind, end)), "") for end in (piece[0], piece[-1]))
    before, after = kinds
    return (before and f"(?<!{before})") + re.escape(piece) + (after and f"(?!{after})")


@cache
def text_of(notebook):
    """The text of a notebook's paper in normal form."""
    return normal(next(PAPERS.glob(TEXTS[notebook[:2]])).read_text(encoding="utf-8"))


TEXT = "We see a signiﬁ-\ncant improvement of **Improved-\nGP-UCB** over  $k$ , the “old” rule’s $\\gamma_T \\leq \\mathcal{O}(d \\log T)$; 1 – δ."


@pytest.mark.parametrize(
    "quote",
    [
        "We see a significant improvement",
        "a significant improvement of improved GP-UCB".replace("improved GP", "Improved-GP"),
        'over k, the "old" rule\'s γ_T ≤ O(d log T)',
        "We see [...] improvement [...] 1 - δ.",
    ],
)
def test_copies_differ_in_marks_and_line_ends(quote):
    assert stands_in(quote, normal(TEXT))


@pytest.mark.parametrize(
    "quote",
    ["", "[...]", "an improvement", "We see a significant loss", "see a sign", "mprovement of", "improvement [...] We see"],
)
def test_other_words_parts_of_words_and_another_order_are_not_found(quote):
    assert not stands_in(quote, normal(TEXT))


def test_what_is_left_out_is_no_page():
    assert stands_in("one [...] two", "one" + " " * GAP + "two") and not stands_in("one [...] two", "one" + "." * 2 * GAP + "two")


needs_papers = pytest.mark.skipif(not PAPERS.is_dir(), reason="KBREPRO_PAPERS is not set: no texts of the papers")


def quote_of(notebook, name):
    """The quote of a claim."""
    return next(claims.load(path).claims[name].quote for path in FILES if path.stem == notebook)


@needs_papers
@pytest.mark.parametrize(("notebook", "name"), QUOTED)
def test_the_paper_says_it(notebook, name):
    assert stands_in(quote_of(notebook, name), text_of(notebook))


@needs_papers
@pytest.mark.parametrize(("notebook", "name"), QUOTED)
def test_with_any_word_changed_the_paper_does_not_say_it(notebook, name):
    quote = quote_of(notebook, name)
    words = [match for match in re.finditer(r"[A-Za-z]{4,}", quote) if quote[match.start() - 1] != "\\"]
    changed = [quote[: word.end()] + "q" + quote[word.end() :] for word in words]
    assert changed and not any(stands_in(wrong, text_of(notebook)) for wrong in changed)
