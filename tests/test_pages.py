"""Links, commands and claims of every page are there; whoever is cited has a notebook."""

import re
import textwrap
from functools import cache

import pytest
import yaml
from pages import ROOT, blocks, run
from pages import page as text_of

from kbrepro import papers
from kbrepro.__main__ import main
from kbrepro.claims.judging import sentences_of

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "data" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("results/*.md")),
    *sorted(ROOT.glob("results/claims/*.md")),
]
every_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)


def test_two_lines_load_what_was_played(monkeypatch):
    monkeypatch.chdir(ROOT)
    code = blocks(text_of("docs/using.md"), "python")[-1]
    table_1 = run([textwrap.dedent(code)])["table_1"]
    shapes = {curve.regret.shape for curve in table_1.values()}
    assert "IGP-UCB" in table_1 and len(shapes) == 1 and len(shapes.pop()) == 2


@cache
def anchors(path):
    """What a link may name in a file: its headings, and what has an id."""
    text = path.read_text(encoding="utf-8")
    titles = re.findall(r'(?m)^ *"?#+ (.*?)(?:\\n)?"?,?$', text)
    slugs = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
    return {*slugs, *re.findall(r'id=\\?"([\w-]+)', text)}


@every_page
def test_every_relative_link_leads_somewhere(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    links = re.findall(r"\]\((?!https?:)([\w./-]*)(?:#([\w-]+))?\)", text)
    odd = []
    for name, anchor in links:
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            odd.append(f"{name}#{anchor}")
    assert odd == []


@cache
def ids():
    """Every claim and theorem."""
    return {sentence.id for paper in papers.found() for sentence in sentences_of(paper)}


@every_page
def test_every_claim_cited_is_one(page):
    cited = re.findall(r"(?<![\w-])\d-[A-Z]{1,2}(?![\w-])", page.read_text(encoding="utf-8"))
    assert {*cited} <= ids()


@every_page
def test_every_command_and_target_is_there(page):
    text = re.sub(r"```python\n.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    rules = set(re.findall(r"^([\w-]+):", text_of("Makefile"), flags=re.M))
    quoted = "\n".join(re.findall(r"```\w*\n.*?```|`[^`]+`", text, flags=re.S))
    assert set(re.findall(r"\bmake ([a-z][\w-]*)", quoted)) <= rules
    called = re.findall(
        r"(?:^|[`/]|(?<!from)\s)kbrepro ([a-z]+)((?:(?! && )[^`\n#])*)", quoted, flags=re.M
    )
    for command, rest in called:
        assert command in main.commands, command
        options = {name for option in main.commands[command].params for name in option.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= options, (command, rest)


def test_citation_file_names_the_papers_with_their_notebooks_and_the_addresses_that_these_give():
    cited = yaml.safe_load(text_of("CITATION.cff"))["references"]
    notebooks = [paper.notebook for paper in papers.found().values() if not paper.synthesis]
    assert [paper["notes"] for paper in cited] == [f"Notebook {name}" for name in notebooks]
    for paper, name in zip(cited, notebooks, strict=True):
        head = text_of(f"notebooks/{name}.py")[:2000].replace("\n# ", " ")
        assert f"({paper['url']})" in head and paper["title"] in head


def test_every_page_is_in_the_contents_of_the_report():
    pages = {f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {*text_of("docs/contents.txt").splitlines()}
