"""A paper is one folder, one notebook, one file of rules, one set of profiles: a toy is added to a copy, and runs.

Its pulls show two layers, it plays measured data, and it leaves a choice open (`tests/toy/`). No other file changes.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
COPIED = ("kbrepro", "notebooks", "docs", "tests", "benchmarks", "results")
REGISTRY = ("papers", "house", "figures", "notebooks", "readme", "contributing")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    left_out = shutil.ignore_patterns("__pycache__", "quick", "custom", "report", "*.partial")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=left_out)
    (root / "data").symlink_to(ROOT / "data")
    for path in (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"):  # a worktree's
        shutil.copy(path, root)
    shutil.copytree(root / "tests" / "toy", root, dirs_exist_ok=True)
    return root


def called(project, *command):
    """What a command says in the copy, whose package it loads; it must succeed."""
    environment = os.environ | {"PYTHONPATH": str(project), "TQDM_DISABLE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def added(project):
    """The copy with outputs, an edition and quick results of the toy, and a report of these."""
    called(project, "kbrepro", "refresh", "09")
    called(project, "kbrepro", "edition", "open", "09", "--name", "0.1.0", "--why", "the first")
    called(project, "kbrepro", "reproduce", "09")
    called(project, "kbrepro", "report")
    return project


def test_it_is_played_judged_and_under_its_two_interpretations(added):
    results = added / "results" / "quick" / "09_toy"
    first, second = json.loads((results / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert first["verdict"] != "not evaluated" and first["interpretations"]["of"] == 2
    assert second["verdict"] != "not evaluated" or second["note"].startswith("needs data")
    labels = {path.stem for path in (results / "played").glob("*.json")}
    assert {label.partition(",")[0] for label in labels} == {"Fig._1", "Fig._2"} and len(labels) == 3
    assert (results / "figures" / "headline_fig1.svg").is_file()


def test_the_report_has_its_page(added):
    report = added / "results" / "quick" / "report"
    assert "Both finds the hill." in (report / "09_toy.html").read_text(encoding="utf-8")
    assert "kbrepro.papers.toy.policy" in (report / "papers_api.html").read_text(encoding="utf-8")


def test_what_is_played_on_it_can_be_audited(added):
    told = called(added, "kbrepro", "audit", "09", "--profile", "quick", "--minutes", "0.1")
    assert "09_toy" in told


def test_every_test_of_what_is_found_is_green_with_it(added):
    tests = [*(f"tests/test_{name}.py" for name in REGISTRY), "tests/verdicts/test_claims.py"]
    told = called(added, "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert "passed" in told
