"""Words that no reader knows stay out of code, rules, pages and committed results (docs/claims.md has ours)."""

import re
import subprocess
from pathlib import Path

import pytest

from kbrepro.site import overview, pages
from kbrepro.verdicts import scorecard
from kbrepro.verdicts.record import NUMBER

ROOT = Path(__file__).parents[1]
BANNED = r"\bTold\b|(?i:\bof record\b|\bstand-?ins?\b|\bby its letter\b|\bprobes?\b|\breadings? of the paper\b)"
#: These are words of code, too, and so are banned only where a reader sees them.
UNSEEN = rf"{BANNED}|(?i:\btold\b|\bbehind the\b|\bdiffers by\b|\bhangs? on\b)"
#: What was called so before, and what not to write.
QUOTING = ("CHANGELOG.md", "CONTRIBUTING.md")
KINDS = ("*.py", "*.md", "*.yaml", "results/*.json", "results/*.ipynb", "notebooks/*.ipynb")
PAPER = ROOT / "results" / "paper"
RUNS = scorecard.finished(PAPER, "run.json")
needs_runs = pytest.mark.skipif(not RUNS, reason="there is no full-scale run")

#: Numbers that name something: a place in a paper, a year, a notebook.
_PLACE = r"(?:\d[\d.]*|[A-Z]\.?\d*)(?: ?\([a-z]\))?(?:,? and | or | to |, )?"
NAMES = (
    r"\b(?:Figs?\.|Sections?|Theorems?|Lemmas?|eqs?\.|Tables?|Propositions?|Appendix|Corollary|Algorithms?|notebooks?) "
    rf"(?:{_PLACE})+|\b(?:19|20)\d\d\b|\[\d\d\]"
)
#: A point after these ends no sentence.
NO_END = "".join(rf"(?<!\b{word}\.)" for word in ("Fig", "Figs", "eq", "eqs", "al"))
#: Totals are tables in words, and so are the marks of a claim, the titles of its curve.
TOTALS = (
    r"claims? of the papers? stand|^Of (?:the|all) \d+ ?,? |stands?, \d+ fails?(?: \([^)]+\))?, \d+ open|"
    r"questions? of our own|^\*(?:Stand|Fail|Open|Not counted)\*|\b(?:holds|fails|open) \d"
)


def committed():
    said = subprocess.run(["git", "ls-files", *KINDS], cwd=ROOT, capture_output=True, text=True, check=False)
    return [name for name in said.stdout.splitlines() if name not in QUOTING and "played/" not in name]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_words_that_no_reader_knows_are_gone():
    here = Path(__file__).relative_to(ROOT).as_posix()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in committed() if name != here}
    assert len(texts) > 100
    found = {name: its for name, text in texts.items() if (its := set(re.findall(BANNED, text)))}
    assert found == {}


# What a reader sees


def sentences(text):
    """The sentences of Markdown that are in view: no code, formula or heading, nothing folded, and no table."""
    text = re.sub(r"<details>.*?</details>|```.*?```", "", text, flags=re.S)
    text = "\n".join("" if line.lstrip().startswith(("|", "#")) else line for line in text.split("\n"))
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "x", text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"<[^>]+>", "", re.sub(r"<br>", "\n\n", text)))
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*–]|\d+\.) )", text):
        line = re.sub(r"^\s*(?:[-*–]|\d+\.) ", "", " ".join(block.split()))
        yield from filter(None, re.split(rf"{NO_END}(?<=[.!?])\s+(?=[A-Z0-9“*\[(])", line))


def too_many(sentence):
    """Whether a sentence has more than two numbers that are no names."""
    return len(NUMBER.findall(re.sub(NAMES, "", sentence))) > 2 and not re.search(TOTALS, sentence)


def in_view(folder):
    """The Markdown that the page of a run shows, and the titles of its figures."""
    for cell in pages.paper(ROOT, folder).cells:
        if cell.cell_type == "markdown":
            yield cell.source
        elif "hide-output" not in cell.metadata.get("tags", []):
            yield from (output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
    yield from (figure["title"] for figure in scorecard.read_run(folder)["figures"].values())


def hand_made():
    """README, data page and pages of docs."""
    return [ROOT / "README.md", ROOT / "data" / "README.md", *(ROOT / "docs").glob("*.md")]


def test_sentences_in_view_are_found_and_counted():
    text = "# 1 2 3\n\nA is 1, 2, 3. B is 4.\n\n- $1 + 2$ of 3\n\n| 1 | 2 | 3 |\n\n<details>7 8 9</details>"
    assert list(sentences(text)) == ["A is 1, 2, 3.", "B is 4.", "x of 3"]
    assert too_many("A is 1, 2, 3.") and not too_many("Figs. 3 and 4 of 2010 have 2 of 5 for GP-UCB/5.")
    assert not too_many("2 of 7 claims of the paper stand, 5 are open.") and too_many("2 of 7 papers stand, 5 do not.")
    assert re.search(UNSEEN, "It differs by 3") and re.search(UNSEEN, "Told so") and not re.search(UNSEEN, "behind it")


def test_no_sentence_of_a_page_written_by_hand_has_words_that_no_reader_knows():
    found = [(page.name, s) for page in hand_made() for s in sentences(page.read_text()) if re.search(UNSEEN, s)]
    assert found == []


@needs_runs
@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name[:2])
def test_what_the_page_of_a_run_shows_is_plain(folder):
    """No word that no reader knows; at most two numbers a sentence."""
    shown = [sentence for text in in_view(folder) for sentence in sentences(text)]
    assert len(shown) > 50
    assert [sentence for sentence in shown if re.search(UNSEEN, sentence)] == []
    assert [sentence for sentence in shown if too_many(sentence)] == []
    answers = [s for answer in scorecard.answers(scorecard.read_run(folder)) for s in sentences(answer)]
    assert answers and not any(map(too_many, answers))


@needs_runs
def test_what_scorecard_and_first_page_show_is_plain(tmp_path):
    texts = scorecard.scorecard(ROOT), overview.index(ROOT, PAPER, RUNS, tmp_path)
    shown = [sentence for text in texts for sentence in sentences(text)]
    assert len(shown) > 100
    assert [sentence for sentence in shown if too_many(sentence) or re.search(UNSEEN, sentence)] == []
