"""Notebook 01 through the command line in a project of its own, on the real data where KBREPRO_DATA is set."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from kbrepro.data import store
from kbrepro.papers.gp_ucb.paper import PAPER

pytestmark = pytest.mark.slow  # `make test` has the batch on a small notebook, and nbval on this one
ROOT = Path(__file__).parents[3]
NAME = PAPER.notebook
SMALL = "trials=4 on_par_trials=4 horizon=60 n_arms=60 every=240 theorem_runs=4 gain_arms=60 gain_horizon=60"
SMALL += " growth_horizon=100 growth_points=60 road_every=60 divisor_trials=2"


def reproduce(project, *changed):
    settings = [word for setting in (*SMALL.split(), *changed) for word in ("--set", setting)]
    command = [sys.executable, "-m", "kbrepro", "reproduce", NAME, *settings, "--jobs", "2"]
    return subprocess.run(
        command, cwd=project, env=os.environ | {"TQDM_DISABLE": "1"}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    (root / "kbrepro").mkdir()
    return root


@pytest.fixture(scope="module")
def results(project):
    done = reproduce(project)
    assert done.returncode == 0, done.stderr
    (folder,) = (project / "results" / "custom").glob(f"*/{NAME}")
    return folder


def test_the_run_leaves_figures_tables_and_provenance(results):
    figures = {path.name for path in (results / "figures").glob("*.png")}
    assert {"fig3_information_gain.png", "fig5a_synthetic.png", "headline_fig5b_temperature.png"} < figures
    record = json.loads((results / "run.json").read_text())
    assert record["parameters"]["gain_arms"] == 60 and record["data"] == store.checksums()
    assert len(list((results / "tables").glob("*.csv"))) >= 3 and not list(results.parent.glob("*.partial"))


def test_data_are_real_exactly_where_they_are_given(results):
    cells = nbformat.read(results / "notebook.ipynb", as_version=4).cells
    printed = json.dumps([cell.outputs for cell in cells if cell.cell_type == "code"])
    real = "KBREPRO_DATA" in os.environ and bool(store.checksums())
    assert ("SIMULATED SUBSTITUTE" not in printed) == real
    assert "Too short to judge" in printed and not (results / "claims.json").exists()
