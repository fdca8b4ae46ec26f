"""The committed full-scale results are of one state of the code: that of the commits that they name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kbrepro import scorecard

ROOT = Path(__file__).parents[1]
RUNS = {path.parent.name: json.loads(path.read_text()) for path in sorted(ROOT.glob("results/paper/*/run.json"))}
#: Limits of a notebook and of all, in minutes of two idle cores.
ONE, ALL = 75, 300


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)


def source_of(commit, folder):
    """The digest that the code of a commit gives of itself."""
    archive = folder.with_suffix(".zip")
    git("archive", "--format=zip", f"--output={archive}", commit, "kbrepro", "notebooks")
    shutil.unpack_archive(archive, folder)
    program = "from pathlib import Path; from kbrepro.batch import provenance; print(provenance.source(Path()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(not RUNS, reason="results/paper holds no run")
def test_full_scale_results_are_of_one_state(tmp_path):
    assert len(RUNS) == 5 and len({run["source"] for run in RUNS.values()}) == 1
    for commit in {run["git"]["commit"] for run in RUNS.values()}:
        if git("cat-file", "-e", commit).returncode:
            pytest.skip(f"the history of this checkout lacks commit {commit[:7]}")
        (folder := tmp_path / commit).mkdir()
        assert source_of(commit, folder) == next(iter(RUNS.values()))["source"]
    assert not any(run["git"]["dirty"] for run in RUNS.values())


@pytest.mark.skipif(not RUNS, reason="results/paper holds no run")
def test_full_scale_runs_keep_to_their_minutes():
    minutes = {name: run["compute_seconds"] / run["jobs"] / 60 for name, run in RUNS.items()}
    assert max(minutes.values()) <= ONE, minutes
    assert sum(minutes.values()) <= ALL, minutes


@pytest.mark.parametrize("profile", scorecard.OTHER_SEEDS)
def test_runs_under_other_root_seeds_are_of_the_same_state_and_rules(profile):
    for path in (ROOT / "results" / profile).glob("*/run.json"):
        again, of_record = json.loads(path.read_text()), RUNS[path.parent.name]
        seeds = [run["parameters"]["seed"] for run in (again, of_record)]
        assert again["source"] == of_record["source"] and again["rules"] == of_record["rules"]
        assert again["git"]["dirty"] is False and seeds[0] != seeds[1]
