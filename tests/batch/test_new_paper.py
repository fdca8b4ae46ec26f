"""`kbrepro new` adds a paper to a copy of the project, which goes the whole way; no other file
changes.
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
ROOT = Path(__file__).parents[2]
COPIED = ("kbrepro", "notebooks", "docs", "tests", "benchmarks", "results")
#: Tests of everything that registers a paper.
REGISTRY = (
    "papers/toy",
    "test_papers.py",
    "test_house.py",
    "test_notebooks.py",
    "test_pages.py",
    "claims/test_quotes.py",
)


def called(project, *command):
    """What a command says in the copy, whose package it loads; it must succeed."""
    environment = os.environ | {
        "PYTHONPATH": str(project),
        "TQDM_DISABLE": "1",
        "KBREPRO_JOBS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """The copy with a quick run and the full scale of the new paper, and its notebook as a reader
    opens it.
    """
    root = tmp_path_factory.mktemp("project")
    left_out = shutil.ignore_patterns(
        "__pycache__", "quick", "custom", "report", "*.partial", "played", "notebook.ipynb"
    )
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=left_out if name == "results" else None)
    (root / "data").symlink_to(ROOT / "data")
    cache = ".mypy_cache"
    if (ROOT / cache).is_dir():  # mypy reads there what it found in the files that are not new
        shutil.copytree(ROOT / cache, root / cache)
    for played in ROOT.glob("results/paper/*/played"):
        (root / played.relative_to(ROOT)).symlink_to(played)
    # a worktree's
    for path in (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"):
        shutil.copy(path, root)
    assert "Next: kbrepro reproduce 09" in called(root, "kbrepro", "new", "09", "toy")
    called(root, "kbrepro", "reproduce", "09", "--profile", "quick")
    called(root, "kbrepro", "reproduce", "09")
    called(root, "kbrepro", "refresh", "09")
    return root


def outputs(path):
    """All Markdown that a notebook shows."""
    cells = nbformat.read(path, as_version=4).cells
    return [
        output.data.get("text/markdown", "") for cell in cells for output in cell.get("outputs", [])
    ]


def test_a_quick_run_judges_nothing_and_the_full_scale_is_judged_and_kept(added):
    quick, full = (added / "results" / profile / "09_toy" for profile in ("quick", "paper"))
    assert not (quick / "claims.json").exists() and (quick / "figures/fig1.png").is_file()
    assert "Not all of the full scale was judged here" in outputs(quick / "notebook.ipynb")[-1]
    run = json.loads((full / "claims.json").read_text(encoding="utf-8"))
    (first, second), (bound,) = run["claims"], run["theorems"]
    assert (first["depends_on"], first["agree"], first["counted"]) == (["width"], 1, 2)
    assert second["kind"] == "own question" and bound["violations"] == 0 and bound["runs"] == 12
    assert [path.name for path in (full / "played").iterdir() if path.suffix == ".npz"] == [
        "Fig._1.npz"
    ]


def test_the_notebook_as_it_is_opened_shows_the_real_results_and_plays_one_trial(added):
    shown = "\n".join(outputs(added / "notebooks/09_toy.ipynb"))
    assert "no violation in 12 runs" in shown and "Not so" not in shown
    log = (added / ".cache/replays/log.txt").read_text(encoding="utf-8")
    assert re.search(r"^09_toy: Fig\. 1, trial \d+: equal$", log, flags=re.M)


def test_the_report_has_its_page_and_every_claim(added):
    called(added, "kbrepro", "report")
    report = added / "results/paper/report"
    assert "Optimist has less mean regret" in (report / "notebooks/09_toy.html").read_text(
        encoding="utf-8"
    )
    assert "no violation in 12 runs" in (report / "results/README.html").read_text(encoding="utf-8")


def test_nothing_is_missing_and_what_is_played_on_it_can_be_audited_and_asked(added):
    assert (
        called(added, "kbrepro", "check")
        == "nothing is missing or inconsistent (no notebook was run)\n"
    )
    assert "36 equal" in called(added, "kbrepro", "audit", "09", "--minutes", "2")
    assert called(added, "kbrepro", "claims", "9-A").count("width twenty") == 1


def test_what_the_template_makes_is_tidy_and_every_test_of_what_is_registered_is_green(added):
    ours = ["kbrepro/papers/toy", "tests/papers/toy", "notebooks/09_toy.py"]
    called(added, "ruff", "check", *ours)
    called(added, "ruff", "format", "--check", *ours)
    called(added, "mypy")
    assert "passed" in called(
        added, "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in REGISTRY)
    )
