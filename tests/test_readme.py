"""The README's examples run and stay short; its links lead somewhere; it and docs quote the committed results."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from kbrepro.batch import provenance
from kbrepro.site import quoted
from kbrepro.verdicts import claims, scorecard

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "results").is_dir()
DATA = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
REPRODUCIBILITY = (ROOT / "docs" / "reproducibility.md").read_text(encoding="utf-8")
RULES = [claims.load(path) for path in sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))]
#: Those of papers whose full-scale run is committed: pages tell of them.
PUBLISHED = [
    rules for rules in RULES if (ROOT / "results" / "paper" / rules.notebook / "claims.json").is_file()
] or RULES
QUOTED = re.compile(r"<!-- begin ([^>]+?) -->.*?<!-- end \1 -->", flags=re.S)


UNKNOWN, KNOWN = re.findall(r"```python\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("code", [UNKNOWN, KNOWN])
def test_examples_are_at_most_a_dozen_lines_besides_imports(code):
    assert len([line for line in code.splitlines() if line and not re.match("import|from", line)]) <= 12


def test_points_with_unknown_rewards():
    """The example finds one of the best tenth of the points; `measure` is all that is given to it."""
    rng, asked = np.random.default_rng(2), []

    def reward(x):
        return np.sin(5 * x[..., 0]) * x[..., 1]

    def measure(x):
        asked.append(x)
        return float(reward(x)) + 0.1 * rng.standard_normal()

    scope = {"measure": measure}
    exec(UNKNOWN, scope)
    assert len(asked) == 50
    assert reward(scope["best"]) > np.quantile(reward(scope["points"]), 0.9)


def test_own_policy_beside_ours(tmp_path):
    """As a script of its own in an empty folder; both policies play 20 trials, and a figure is left."""
    said = "print({name: trace.regret.shape for name, trace in traces.items()})\n"
    (tmp_path / "compare.py").write_text(KNOWN + said, encoding="utf-8")
    command = [sys.executable, "compare.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'GP-UCB/5': (20, 200), 'mine': (20, 200)}")
    assert "Warning" not in done.stderr
    assert (tmp_path / "regret.png").stat().st_size > 10_000


def test_every_relative_link_leads_somewhere():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("https://arxiv.org/")]
    assert len(links) >= 5
    gone = [] if RESULTS else [link for link in links if link.startswith("results/")]
    assert [link for link in links if not (ROOT / link).exists() and link not in gone] == []


@pytest.mark.skipif(not RESULTS, reason="there is no results folder")
def test_summary_of_verdicts_is_that_of_the_committed_run():
    runs = scorecard.read(ROOT / "results" / "paper")
    assert runs
    for notebook, run in runs.items():
        (row,) = [line for line in README.splitlines() if line.startswith("|") and f"notebooks/{notebook}" in line]
        assert f"| {scorecard.summary(run['claims'])}" in row
        assert all(r["finds"] in README for r in run["claims"] if r.get("headline"))


@pytest.mark.skipif(not RESULTS, reason="there is no results folder")
@pytest.mark.parametrize("page", provenance.PAGES)
def test_pages_quote_the_committed_runs(page):
    """If this fails after a full-scale run: `kbrepro scorecard`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(QUOTED.findall(text)) >= 6
    assert quoted.filled(text, ROOT) == text


def test_the_readme_is_no_book():
    assert len(README.splitlines()) <= 220


def test_every_claim_cited_is_in_the_rules():
    allowed = {name for rules in RULES for name in rules.claims}
    for page in [README, DATA, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]:
        cited = re.findall(r"(?<![\w-])\d-[A-Z](?![\w-])", page)
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
            told = re.findall(r"(\d-[A-Z]): <!-- begin (\d-[A-Z]) -->", question)
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
        assert set(re.findall(r"\d-[A-Z]", told)) == needs, name


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
