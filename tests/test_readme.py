"""The README's examples run and stay short; its links lead somewhere; it and docs quote the committed results."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from kbrepro.site import quoted
from kbrepro.verdicts import claims

from kbrepro.batch import provenance

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "results").is_dir()
DATA = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
REPRODUCIBILITY = (ROOT / "docs" / "reproducibility.md").read_text(encoding="utf-8")
RULES = [claims.load(path) for path in sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))]
#: Those of papers (a synthesis has but our own questions).
PAPERS = [rules for rules in RULES if any(claim.kind != "own question" for claim in rules.claims.values())]
#: Those whose full-scale run is committed: pages tell of them.
PUBLISHED = [
    rules for rules in PAPERS if (ROOT / "results" / "paper" / rules.notebook / "claims.json").is_file()
] or PAPERS
QUOTED = re.compile(r"<!-- begin ([^>]+?) -->.*?<!-- end \1 -->", flags=re.S)


EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_are_short(code):
    assert len([line for line in code.splitlines() if line and not re.match("import|from", line)]) <= 12


def test_pasted_into_an_empty_folder_the_examples_print_what_they_find(tmp_path):
    """The first finds the top of the hill; in the second, more is learned by GP-UCB/5."""
    (tmp_path / "own.py").write_text("\n".join(EXAMPLES), encoding="utf-8")
    done = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    best, regret = done.stdout.split("\n", maxsplit=1)
    x, y = map(float, re.findall(r"\d\.\d+", best))
    assert max(abs(x - 0.7), abs(y - 0.7)) < 0.11
    ours, mine = map(float, re.findall(r"mean regret (\d+\.\d)", regret))
    assert 0 < ours < mine


def test_every_relative_link_leads_somewhere():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("https://arxiv.org/")]
    assert len(links) >= 5
    gone = [] if RESULTS else [link for link in links if link.startswith("results/")]
    assert [link for link in links if not (ROOT / link).exists() and link not in gone] == []


@pytest.mark.skipif(not RESULTS, reason="there is no results folder")
@pytest.mark.parametrize("page", provenance.PAGES)
def test_pages_quote_the_committed_runs(page):
    """If this fails after a full-scale run: `kbrepro scorecard`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(QUOTED.findall(text)) >= 3
    assert quoted.filled(text, ROOT) == text


def test_the_readme_is_no_book():
    assert len(README.splitlines()) <= 110


def test_every_claim_cited_is_in_the_rules():
    allowed = {name for rules in RULES for name in rules.claims}
    for page in [README, DATA, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]:
        cited = re.findall(r"(?<![\w-])\d-[A-Z]{1,2}(?![\w-])", page)
        assert set(cited) <= allowed, set(cited) - allowed


def test_every_question_to_the_authors_names_the_claim_and_its_verdict():
    """Each section has its paper's questions, and each verdict stands behind the id that it belongs to."""
    sections = REPRODUCIBILITY.split("\n## ")[1:]
    assert len(sections) == len(PUBLISHED)
    for number, section in enumerate(sections, start=1):
        asked = section.partition("**Questions to the authors.**")[2].partition("**Deviations.**")[0]
        questions = re.split(r"^\d+\. ", asked, flags=re.M)[1:]
        assert len(questions) >= 4
        for question in questions:
            told = re.findall(r"(\d-[A-Z]{1,2}): <!-- begin (\d-[A-Z]{1,2}) -->", question)
            assert told and all(cited == name and name[0] == str(number) for cited, name in told), question
            assert "?" in question
        assert [f"run 0{number}", f"cost 0{number}"] == re.findall(r"<!-- begin ((?:run|cost) \d+) -->", section)


def test_no_verdict_and_no_time_of_ours_is_typed_by_hand():
    typed = QUOTED.sub("", REPRODUCIBILITY)
    verdicts, times = r"[●◐◌○]|\breproduced\b|\bpartly\b|\bundecided\b", r"\d\s*(?:%|s\b|min|hour|h\b)"
    assert re.findall(f"{verdicts}|{times}", typed) == []


def test_the_table_of_data_names_the_claims_that_each_set_unlocks():
    rows = [line.split("|") for line in DATA.splitlines() if line.startswith("|")]
    for name, folder in (("temperature", "intel-lab"), ("light", "cmu-light"), ("traffic", "traffic")):
        needs = {
            c.id for rules in PUBLISHED for c in rules.claims.values() if name in np.ravel(c.needs.get("data", []))
        }
        (told,) = [
            row[4] for row in rows if len(row) > 4 and row[1].strip().startswith(f"{name}:") and folder in row[3]
        ]
        assert set(re.findall(r"\d-[A-Z]{1,2}", told)) == needs, name


def test_every_commanded_target_is_in_the_makefile():
    targets = set(re.findall(r"`?make (\w+)", README)) - {"or"}
    rules = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert {"report", "test", "lab", "paper"} <= targets <= rules


def test_citation_file_names_the_papers_with_their_notebooks_and_the_addresses_that_these_give():
    papers = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert [paper["notes"] for paper in papers] == [f"Notebook {rules.notebook}" for rules in PUBLISHED]
    for paper, rules in zip(papers, PUBLISHED, strict=True):
        head = (ROOT / "notebooks" / f"{rules.notebook}.py").read_text(encoding="utf-8")[:2000].replace("\n# ", " ")
        assert f"({paper['url']})" in head and paper["title"] in head
