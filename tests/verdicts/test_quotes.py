"""Each claim quotes its paper, word for word: checked where the papers' texts are (KBREPRO_PAPERS), skipped elsewhere.

The texts are reading copies, read by machine: line ends, hyphens, ligatures, quotation marks, dashes and LaTeX differ
from copy to copy, so both sides are brought to one form. A quote leaves out ([...]) what a copy garbles.
"""

import os
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
import yaml

from kbrepro.batch import editions
from kbrepro.verdicts import claims

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))
#: The name of a paper's text, by the number of its notebook.
TEXTS = {"01": "srinivas2010*", "02": "chowdhury2017*", "03": "janz2020*", "04": "calandriello2019*", "05": "li2024*"}
LEFT_OUT = "[...]"
#: The most characters of a text that [...] may leave out: formulas, which some copies give three times, not pages.
GAP = 1000

NAMES = "gamma Gamma beta delta epsilon varepsilon sigma Sigma alpha nu pi mu eta lambda Omega infty forall leq le geq"
SIGNS = "γ Γ β δ ε ε σ Σ α ν π μ η λ Ω ∞ ∀ ≤ ≤ ≥"
NAMES += " in cap subset sum sqrt sim | ln log max min Pr"
SIGNS += " ∈ ∩ ⊂ ∑ √ ~ ‖ ln log max min Pr"
#: What a LaTeX command stands for; every other command is markup.
SYMBOLS = dict(zip(NAMES.split(), SIGNS.split(), strict=True))
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
    before, after = (next((k for k in ("[a-z]", "[0-9]") if re.match(k, end)), "") for end in (piece[0], piece[-1]))
    return (before and f"(?<!{before})") + re.escape(piece) + (after and f"(?!{after})")


TEXT = """We see a signiﬁ-
cant improvement of **Improved-
GP-UCB** over  $k$ , the “old” rule’s $\\gamma_T \\leq \\mathcal{O}(d \\log T)$; 1 – δ."""


@pytest.mark.parametrize(
    "quote",
    [
        "We see a significant improvement",
        "significant improvement of Improved-GP-UCB",
        'over k, the "old" rule\'s γ_T ≤ O(d log T)',
        "We see [...] improvement [...] 1 - δ.",
    ],
)
def test_copies_differ_in_marks_and_line_ends(quote):
    assert stands_in(quote, normal(TEXT))


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "[...]",
        "an improvement",
        "We see a significant loss",
        "see a sign",
        "mprovement of",
        "Improved [...] We see",
    ],
)
def test_other_words_parts_of_words_and_another_order_are_not_found(quote):
    assert not stands_in(quote, normal(TEXT))


def test_what_is_left_out_is_no_page():
    near, far = (f"one{'.' * gap}two" for gap in (GAP, GAP + 1))
    assert stands_in("one [...] two", near) and not stands_in("one [...] two", far)


PARTS = {"a": {"is": "difference", "rule": "> 1"}}
ENTRY = {"id": "0-A", "where": "Fig. 0", "kind": "experiment", "says": "It is.", "parts": PARTS, "finds": "By {a}."}


def load(folder, **more):
    """The rules of a file with one claim."""
    path = folder / "00_small.yaml"
    path.write_text(yaml.safe_dump({"claims": [ENTRY | more]}), encoding="utf-8")
    return claims.load(path)


def test_another_quote_or_place_leaves_what_decides_and_so_the_dice(tmp_path):
    one = load(tmp_path, quote="It is larger.")
    other = load(tmp_path, quote="It is much larger.", where="Fig. 1")
    assert one.claims["0-A"].quote != other.claims["0-A"].quote
    assert one.digest == other.digest and one.deciding == other.deciding
    settings = {"trials": 30}
    assert editions.seed_of(one, settings) == editions.seed_of(other, settings)


@pytest.mark.parametrize("key", ["quote", "where"])
@pytest.mark.parametrize(
    ("text", "message"),
    [("", "must have words"), (" ", "must have words"), ("x" * 301, "at most 300 characters"), (3, "must be text")],
)
def test_a_claim_of_a_paper_has_a_short_quote_and_its_place(tmp_path, key, text, message):
    with pytest.raises(claims.BadRules, match=rf"00_small\.yaml, claim 0-A: {key} = .* is not allowed: .*{message}"):
        load(tmp_path, **{"quote": "It is larger.", key: text})


def test_our_own_question_needs_no_quote(tmp_path):
    assert load(tmp_path, kind="own question").claims["0-A"].quote == ""
    with pytest.raises(claims.BadRules, match="at most 300 characters"):
        load(tmp_path, kind="own question", quote="x" * 301)


needs_papers = pytest.mark.skipif("KBREPRO_PAPERS" not in os.environ, reason="KBREPRO_PAPERS is not set: no texts")
every_paper = pytest.mark.parametrize("path", [path for path in FILES if path.stem[:2] in TEXTS], ids=lambda p: p.stem)


@cache
def text_of(path):
    """The text of the paper of a file of rules, in normal form."""
    (text,) = Path(os.environ["KBREPRO_PAPERS"]).glob(TEXTS[path.stem[:2]])
    return normal(text.read_text(encoding="utf-8"))


def quotes(path):
    """The quotes of a file of rules, by claim."""
    return {name: claim.quote for name, claim in claims.load(path).claims.items() if claim.quote}


def with_a_word_changed(quote):
    """The quote in every wrong variant: one word of at least three letters, or one number, is another."""
    words = re.finditer(r"(?<!\\)\b(?:[A-Za-z]{3,}|\d+)", quote)  # no LaTeX commands
    return [quote[: word.end()] + ("9" if word[0].isdigit() else "q") + quote[word.end() :] for word in words]


@needs_papers
@every_paper
def test_the_paper_says_each_quote(path):
    assert [name for name, quote in quotes(path).items() if not stands_in(quote, text_of(path))] == []


@needs_papers
@every_paper
def test_with_any_word_changed_the_paper_does_not_say_it(path):
    wrong = [variant for quote in quotes(path).values() for variant in with_a_word_changed(quote)]
    assert len(wrong) > 100 and [variant for variant in wrong if stands_in(variant, text_of(path))] == []
