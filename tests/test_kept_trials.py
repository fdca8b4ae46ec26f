"""What kept trials depend on: the source of every module that a job names, ours or the reader's, and nothing else."""

import importlib
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kbrepro import simulation
from kbrepro.confidence import Bayes
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw
from kbrepro.simulation import Experiment

ROOT = Path(__file__).parents[1]
JOB = Experiment(GPDraw(SquaredExponential(0.2), grid(3), 0.1), {"UCB": partial(UCB, width=Bayes(0.1))}, 5)


def test_the_modules_of_a_job_are_found_through_imports():
    assert set(simulation.sources(SquaredExponential(0.2))) == {"kbrepro.kernels", "kbrepro.checks"}
    used = set(simulation.sources(partial(UCB, width=Bayes(0.1))))
    assert {"kbrepro.policies.ucb", "kbrepro.policies.base", "kbrepro.posterior", "kbrepro.confidence"} <= used
    used = set(simulation.sources(JOB))
    assert {"kbrepro.policies.ucb", "kbrepro.problems", "kbrepro.simulation", "kbrepro.regret"} <= used
    assert not used & {"kbrepro.policies.improvement", "kbrepro.figures", "kbrepro.claims", "kbrepro.data.store"}


def test_neither_the_standard_library_nor_installed_packages_count():
    assert simulation.sources([partial(max, 3), shutil.copy, pytest.approx]) == {}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The package's files elsewhere, where they can be edited."""
    folder = tmp_path / "kbrepro"
    shutil.copytree(simulation.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    own_file = simulation._own_file

    def moved(name):
        file = own_file(name)
        return file and folder / file.relative_to(simulation.PACKAGE)

    monkeypatch.setattr(simulation, "_own_file", moved)
    return folder


@pytest.mark.parametrize(
    "module", ["kernels.py", "policies/base.py", "policies/ucb.py", "confidence.py", "problems.py", "simulation.py"]
)
def test_the_digest_follows_the_modules_in_use_only(copy, module):
    before = simulation.digest(simulation.sources(JOB))
    for bystander in ("figures.py", "policies/improvement.py"):
        (copy / bystander).write_text("# another\n", encoding="utf-8")
    assert simulation.digest(simulation.sources(JOB)) == before
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert simulation.digest(simulation.sources(JOB)) != before


def test_the_source_of_a_script_is_all_that_it_imports_itself_or_through_others():
    used = set(simulation.imported_by("from kbrepro.policies import UCB\nimport numpy as np\n"))
    assert {"kbrepro.policies", "kbrepro.policies.ucb", "kbrepro.posterior", "kbrepro.kernels"} <= used
    assert not any(name.startswith(("kbrepro.batch", "kbrepro.__main__", "numpy")) for name in used)


# A reader's own code

POLICY = """
from helpers import CHOICE

class Fixed:
    def __init__(self, told, horizon): ...
    def ask(self, rng): return CHOICE
    def tell(self, arm, observation): ...
"""
SCRIPT = """
import kbrepro as kb
{policy}
experiment = kb.Experiment(kb.GPDraw(kb.SquaredExponential(0.2), kb.grid(9), 0.01), {{"mine": Fixed}}, 5)
for _ in range(2):
    traces = kb.run_trials(experiment, 2, 7)
    print(traces["mine"].arms.tolist(), float(traces["mine"].seconds.sum()))
"""


def play(folder, monkeypatch, policy="from mypolicy import Fixed"):
    """Run the reader's script, which plays twice, as a program of its own, with a cache; return what it printed."""
    for name, value in (("KBREPRO_CACHE", str(folder / "kept")), ("KBREPRO_JOBS", "1"), ("TQDM_DISABLE", "1")):
        monkeypatch.setenv(name, value)
    (folder / "script.py").write_text(SCRIPT.format(policy=policy))
    command = [sys.executable, str(folder / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_edit_of_the_readers_module_or_of_what_it_imports_is_seen(tmp_path, monkeypatch):
    (tmp_path / "mypolicy.py").write_text(POLICY)
    (tmp_path / "helpers.py").write_text("CHOICE = 3\n")
    first, again = play(tmp_path, monkeypatch)
    assert first.startswith("[[3, 3, 3, 3, 3]")
    assert first == again, "unchanged, the trials are kept: the seconds too"
    assert play(tmp_path, monkeypatch) == [first, first], "also by the next program"
    (tmp_path / "helpers.py").write_text("CHOICE = 5\n")
    assert play(tmp_path, monkeypatch)[0].startswith("[[5, 5, 5, 5, 5]")
    (tmp_path / "mypolicy.py").write_text(POLICY.replace("return CHOICE", "return 7"))
    assert play(tmp_path, monkeypatch)[0].startswith("[[7, 7, 7, 7, 7]")


def test_a_policy_of_the_main_program_runs_and_is_never_kept(tmp_path, monkeypatch):
    (tmp_path / "helpers.py").write_text("CHOICE = 3\n")
    one, other = play(tmp_path, monkeypatch, policy=POLICY)
    assert one.startswith("[[3, 3, 3, 3, 3]") and other.startswith("[[3, 3, 3, 3, 3]")
    assert one != other, "played again: other seconds"
    assert not (tmp_path / "kept").exists()


def test_a_reader_who_imports_the_face_depends_on_all_that_is_in_it(tmp_path, monkeypatch):
    (tmp_path / "face_reader.py").write_text("import kbrepro as kb\n\nclass Fixed(kb.MeanOnly): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    used = simulation.sources(importlib.import_module("face_reader").Fixed)
    assert {"face_reader", "kbrepro", "kbrepro.policies.improvement", "kbrepro.simulation"} <= set(used)
    assert not {name.split(".")[1] for name in used if "." in name} & {"figures", "claims", "data", "papers", "batch"}


def test_a_lambda_runs_and_is_never_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_CACHE", str(tmp_path / "kept"))
    assert simulation.map_trials(lambda trial: trial.seed + trial.number, 3, 10) == [10, 11, 12]
    assert not (tmp_path / "kept").exists()


def measured(trial):
    return sum(range(100_000 * (trial.number + 1)))


def test_the_computing_time_is_told_also_where_trials_were_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("KBREPRO_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("KBREPRO_TIMES", str(tmp_path / "trials.csv"))
    for _ in range(2):
        simulation.map_trials(measured, 4, 1, block=2, label="a, b")
    first, again = (tmp_path / "trials.csv").read_text().splitlines()
    assert first == again and first.startswith('"a, b",4,')
    assert float(first.rpartition(",")[2]) > 0
