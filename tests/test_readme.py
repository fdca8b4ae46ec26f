"""The README's example runs, stays short, and its figures and links are there."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from kbrepro import scorecard

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_example_runs_in_at_most_20_lines_and_learns():
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    assert len(code.splitlines()) <= 20
    scope = {}
    exec(code, scope)
    early, _, late = scope["trace"].average_regret[[9, 49, 199]]
    uniform = np.mean(scope["reward"].max() - scope["reward"])
    assert late < 0.5 * early
    assert late < 0.3 * uniform


def test_every_relative_link_leads_somewhere():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) >= 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_summary_of_verdicts_is_that_of_the_committed_run():
    runs = scorecard.read(ROOT / "results" / "paper")
    if not runs:
        pytest.skip("results/paper holds no run")
    assert len(runs) == 5
    for notebook, run in runs.items():
        (row,) = [line for line in README.splitlines() if line.startswith("|") and notebook in line]
        assert f"| {scorecard.summary(run['claims'])} |" in row


def test_every_commanded_target_is_in_the_makefile():
    targets = set(re.findall(r"`?make (\w+)", README)) - {"or"}
    rules = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert {"report", "test", "lab", "paper"} <= targets <= rules


def test_citation_file_names_the_five_papers():
    assert len(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]) == 5
