"""A paper is one folder, one notebook, one quick profile: a toy is added to a copy, and goes the whole way.

Its pulls show two layers, and it leaves a choice open (`tests/toy/`). No other file changes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
COPIED = ("kbrepro", "notebooks", "docs", "tests", "benchmarks", "results")
#: Tests of everything that registers a paper.
REGISTRY = ("test_papers", "test_house", "test_notebooks", "claims/test_quotes")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    left_out = shutil.ignore_patterns("__pycache__", "quick", "custom", "report", "*.partial", "played", "log.txt")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=left_out if name == "results" else None)
    for notebook in (root / "results").rglob("notebook.ipynb"):  # the toy's run is the only one here
        notebook.unlink()
    (root / "data").symlink_to(ROOT / "data")
    for path in (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"):  # a worktree's
        shutil.copy(path, root)
    shutil.copytree(root / "tests" / "toy", root, dirs_exist_ok=True)
    return root


def called(project, *command):
    """What a command says in the copy, whose package it loads; it must succeed."""
    environment = os.environ | {"PYTHONPATH": str(project), "TQDM_DISABLE": "1", "KBREPRO_JOBS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def added(project):
    """The copy with a quick run and the full scale of the toy, and its notebook as a reader opens it."""
    called(project, "kbrepro", "reproduce", "09", "--profile", "quick")
    called(project, "kbrepro", "reproduce", "09")
    called(project, "kbrepro", "refresh", "09")
    return project


def outputs(path):
    """All Markdown that a notebook shows."""
    cells = nbformat.read(path, as_version=4).cells
    return [output.data.get("text/markdown", "") for cell in cells for output in cell.get("outputs", [])]


def test_a_quick_run_judges_nothing_and_says_so(added):
    results = added / "results" / "quick" / "09_toy"
    assert not (results / "claims.json").exists() and (results / "figures" / "fig1.png").is_file()
    shown = outputs(results / "notebook.ipynb")
    assert re.fullmatch(r"Too short to judge: [34] findings; see the \[full-scale notebook\].*", shown[-1])
    assert not any("Theorem 1" in text for text in shown)


def test_the_full_scale_is_judged_under_every_reading_and_kept(added):
    results = added / "results" / "paper" / "09_toy"
    run = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    (first, second), (bound,) = run["claims"], run["theorems"]
    assert (first["verdict"], first["depends_on"]) == ("depends", ["width"]) and len(first["readings"]) == 2
    assert second["kind"] == "own question" and bound["violations"] == 0 and bound["runs"] == 12
    assert [path.name for path in (results / "played").iterdir() if path.suffix == ".npz"] == ["Fig._1.npz"]


def test_the_notebook_as_it_is_opened_shows_the_real_results_and_plays_one_trial(added):
    shown = "\n".join(outputs(added / "notebooks" / "09_toy.ipynb"))
    assert "Both has less regret than its sister." in shown and "no violation in 12 runs" in shown
    log = (added / ".cache" / "replays" / "log.txt").read_text(encoding="utf-8")
    assert re.search(r"^09_toy: Fig\. 1, trial \d+: equal$", log, flags=re.M)


def test_the_report_has_its_page_and_every_claim(added):
    called(added, "kbrepro", "report")
    report = added / "results" / "paper" / "report"
    assert "Both has less regret than its sister." in (report / "09_toy.html").read_text(encoding="utf-8")
    assert "no violation in 12 runs" in (report / "claims_all.html").read_text(encoding="utf-8")


def test_what_is_played_on_it_can_be_audited_and_claims_can_be_asked(added):
    assert "09_toy (paper): " in called(added, "kbrepro", "audit", "09", "--minutes", "0.1")
    assert called(added, "kbrepro", "claims", "9-A").count("a rerun: width: five") == 1


def test_every_test_of_what_is_registered_is_green_with_it(added):
    tests = [f"tests/{name}.py" for name in REGISTRY if (added / "tests" / f"{name}.py").is_file()]
    assert "passed" in called(added, "pytest", "-q", "-p", "no:cacheprovider", *tests)
