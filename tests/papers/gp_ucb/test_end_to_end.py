"""Notebook 01 through the command line in a project of its own, on the real data where KBREPRO_DATA is set."""

import hashlib
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
from kbrepro.verdicts import claims, scorecard

pytestmark = pytest.mark.slow  # `make test` has the batch on a small notebook, and nbval on this one
ROOT = Path(__file__).parents[3]
NAME = PAPER.notebook
SMALL = {
    "trials": 4,
    "on_par_trials": 4,
    "horizon": 60,
    "n_arms": 60,
    "every": 240,
    "theorem_runs": 4,
    "sizes": "[60]",
    "gain_horizon": 60,
    "growth_horizon": 100,
    "growth_points": 60,
    "road_every": 60,
    "cross_trials": 2,
    "cross_every": 240,
}


def kbrepro(project, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "kbrepro", *arguments],
        cwd=project,
        env=os.environ | {"TQDM_DISABLE": "1"} | environment,
        capture_output=True,
        text=True,
    )


def settings(**changed):
    return [word for name, value in (SMALL | changed).items() for word in ("--set", f"{name}={value}")]


def digests(folder):
    return {p.relative_to(folder): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    (root / "kbrepro").mkdir()
    return root


@pytest.fixture(scope="module")
def results(project):
    done = kbrepro(project, "reproduce", NAME, *settings(), "--jobs", "2")
    assert done.returncode == 0, done.stderr
    (folder,) = (project / "results" / "custom").glob(f"*/{NAME}")
    return folder


def test_the_run_leaves_notebook_figures_tables_claims_and_provenance(results):
    figures = {path.name for path in (results / "figures").glob("*.png")}
    assert {"fig3_information_gain.png", "fig4_prior_draws.png", "fig5a_synthetic.png"} < figures
    assert "headline_fig5b_temperature.png" in figures
    assert len(list((results / "tables").glob("*.csv"))) >= 5
    record = json.loads((results / "run.json").read_text())
    assert record["parameters"]["horizon"] == 60
    assert record["parameters"]["sizes"] == [60]
    assert record["data"] == store.checksums()
    assert not list(results.parent.glob("*.partial"))


def test_data_are_real_exactly_where_they_are_given(results):
    text = (results / "notebook.ipynb").read_text(encoding="utf-8")
    verdicts = {r["id"]: r["verdict"] for r in scorecard.read_run(results)["claims"]}
    if "KBREPRO_DATA" in os.environ and store.checksums():
        assert "SIMULATED SUBSTITUTE for" not in _printed(results)
        assert verdicts["1-H"] != "not evaluated"
    else:
        assert "SIMULATED SUBSTITUTE for" in text
        assert verdicts["1-H"] == verdicts["1-I"] == "not evaluated"


def _printed(results):
    cells = nbformat.read(results / "notebook.ipynb", as_version=4).cells
    return json.dumps([cell.outputs for cell in cells if cell.cell_type == "code"])


def test_every_verdict_follows_from_its_rule(results, judged_again):
    rules = claims.load(ROOT / "notebooks" / "claims" / f"{NAME}.yaml")
    content = scorecard.read_run(results)
    assert content["rules"] == json.loads((results / "run.json").read_text())["rules"] == rules.digest
    assert [r["id"] for r in content["claims"]] == list(rules.claims)
    for record in content["claims"]:
        if "value" not in next(iter(record["parts"].values())):
            assert record["verdict"] == "not evaluated", record["id"]
            continue
        assert judged_again(rules.claims[record["id"]], record)["verdict"] == record["verdict"], record["id"]
    assert {r["verdict"] for r in content["claims"]} > {"reproduced"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"horizon": -5}, ("horizon", "-5", "at least 1")),
        ({"horizon": "1e4"}, ("horizon", "10000.0", "integer")),
        ({"trials": 0}, ("trials", "0", "at least")),
        ({"horizn": 5}, ("horizn", "horizon")),
        ({"delta": 1.5}, ("delta", "1.5", "between 0 and 1")),
        ({"sizes": "[]"}, ("sizes", "[]", "non-empty")),
    ],
)
def test_bad_parameters_name_the_trouble_and_leave_results_alone(project, results, change, words):
    before = digests(results)
    done = kbrepro(project, "reproduce", NAME, *settings(**change))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert digests(results) == before


def test_a_killed_batch_resumes_to_the_same_tables(project, results, tmp_path):
    """Cut off after the first trials, then run again: the tables equal those of the uninterrupted run."""
    other = tmp_path / "project"
    shutil.copytree(project / "notebooks", other / "notebooks")
    (other / "kbrepro").mkdir()
    command = [sys.executable, "-m", "kbrepro", "reproduce", NAME, *settings(), "--jobs", "1"]
    process = subprocess.Popen(command, cwd=other, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pieces = f"results/custom/*/{NAME}/played/*.part/*.npz"
    while process.poll() is None and len(list(other.glob(pieces))) < 2:
        pass
    process.terminate()
    assert process.wait() != 0
    assert not list(other.glob(f"results/custom/*/{NAME}/run.json"))
    assert len(list(other.glob(pieces))) >= 2
    done = kbrepro(other, *command[3:])
    assert done.returncode == 0, done.stderr
    (folder,) = other.glob(f"results/custom/*/{NAME}")
    resumed, whole = digests(folder / "tables"), digests(results / "tables")
    assert resumed == whole
