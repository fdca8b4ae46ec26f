"""Batches of a small notebook: what is kept, what is refused, what is left after accidents."""

import json
import os
import signal
import subprocess
import sys
import time

import jupytext
import nbformat
import psutil
import pytest
from fake_project import NAME, contents, make_project, notebook_of, small_notebook, write_notebook

from kbrepro.batch import profiles, provenance, run


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.delenv("KBREPRO_JOBS", raising=False)
    monkeypatch.setattr(provenance, "checksums", lambda: {"file.txt": "4567"})
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


@pytest.fixture
def old(root):
    """Results of an earlier run."""
    folder = root / "results" / "quick" / NAME
    folder.mkdir(parents=True)
    (folder / "only_in_the_old.txt").write_text("old")
    return folder


def test_a_run_replaces_the_old_results_and_leaves_what_was_played(root, old, capfd):
    (old / "played").mkdir()
    (old / "played" / "a.npz").touch()
    assert run.run([], "quick", {}, 1, root) == [old]
    left = {"notebook.ipynb", "run.json", "tables/regret.csv", "played/a.npz"}
    assert set(contents(old)) == left and [p.name for p in old.parent.iterdir()] == [NAME]
    assert (old / "tables" / "regret.csv").read_text() == "round,regret\n20,0.5\n"
    assert f"{NAME}: 0." in (said := capfd.readouterr().err) and "100%|##########| 2/2" in said

    record = json.loads((old / "run.json").read_text())
    assert record["parameters"] == {"horizon": 20, "scale": 0.5, "sizes": [1, 2], "accident": ""}
    assert [record[name] for name in ("notebook", "profile", "jobs")] == [NAME, "quick", 1]
    assert record["data"] == {"file.txt": "4567"} and record["versions"].keys() >= {"blas", *provenance.PACKAGES}

    notebook = nbformat.read(old / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    shown = json.dumps([[cell.source, cell.metadata, cell.get("outputs")] for cell in notebook.cells])
    assert "iopub" not in shown and "papermill" not in shown and str(root) not in shown
    assert [cell.id for cell in notebook.cells] == [f"cell-{i:02}" for i in range(len(notebook.cells))]
    assert f'results_dir = "results/quick/.{NAME}.partial"' in notebook.cells[2].source
    # one BLAS thread, the jobs asked for, a store; and no progress bar
    assert [output.text for output in notebook.cells[-1].outputs] == ["1 1 True\n"]


def test_the_text_runs_and_an_old_notebook_beside_it_is_said(root, capfd):
    path = root / "notebooks" / f"{NAME}.py"
    jupytext.write(jupytext.read(path), path.with_suffix(".ipynb"))
    run.run([], "quick", {}, 1, root)
    assert "other cells" not in capfd.readouterr().err
    path.write_text(path.read_text().replace("round,regret", "edited"))
    (folder,) = run.run([], "quick", {}, 1, root)
    assert (folder / "tables" / "regret.csv").read_text().startswith("edited")
    assert f"{NAME}: the .ipynb has other cells than the .py; the .py runs" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("horizon: -5", "ValueError: horizon = -5 is not allowed: horizon must be an integer of at least 1"),
        pytest.param("accident: kill", "DeadKernelError", marks=pytest.mark.slow),
    ],
)
def test_a_failed_run_leaves_the_old_results_and_the_others_still_run(root, old, parameter, message, capfd):
    """Where it is not checked before (the cell has no tag) it fails in the notebook."""
    notebook = small_notebook()
    notebook.cells[2].metadata.pop("tags")
    write_notebook(root, NAME, notebook)
    write_notebook(root, "02_after", notebook)
    profile = root / "notebooks" / "profiles" / "quick"
    (profile / f"{NAME}.yaml").write_text(parameter)
    (profile / "02_after.yaml").write_text("horizon: 3")
    before = contents(old)
    with pytest.raises(run.RunFailed, match=f"1 of 2 notebooks failed: {NAME}"):
        run.run([], "quick", {}, 1, root)
    assert contents(old) == before and message in (said := capfd.readouterr().err)
    assert "kill" in parameter or f".cache/{NAME}.failed.ipynb" in said
    assert json.loads((old.parent / "02_after" / "run.json").read_text())["parameters"]["horizon"] == 3


PLAYS = """
import kbrepro as kb
source = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(9), 0.1)
kb.run_trials(kb.Experiment(source, {"EI": kb.ExpectedImprovement}, 5), trials, 7, label="numbers")"""


def test_the_facts_of_a_run_are_those_of_the_trials_that_it_shows(root):
    """Read again, trials leave run.json as it was."""
    write_notebook(root, NAME, notebook_of('trials: int = 4\nresults_dir: str = ""', PLAYS))
    (root / "notebooks" / "profiles" / "quick" / f"{NAME}.yaml").write_text("trials: 3\n")
    (folder,) = run.run([], "quick", {}, 1, root)
    first = contents(folder)
    run.run([], "quick", {}, 2, root)
    assert contents(folder) == first
    run.run([], "quick", {}, 2, root, ["numbers"])
    again = json.loads((folder / "run.json").read_text())
    assert again["jobs"] == 2 and again["blas_kernels"] == json.loads(first["run.json"])["blas_kernels"]
    one, other = (json.loads(files["played/numbers.json"]) for files in (first, contents(folder)))
    assert one | {"seconds": 0} == other | {"seconds": 0}


def test_workers_are_those_asked_for_or_named(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "5")
    assert (run.workers(3), run.workers(None)) == (3, 5)


def test_two_runs_at_once_do_not_mix(root, old, capfd):
    before = contents(old)
    (planned,) = run.plan([], "quick", {}, root)
    with run._locked(planned), pytest.raises(run.RunFailed):
        run.run([], "quick", {}, root=root)
    assert f"another run is writing results/quick/{NAME}" in capfd.readouterr().err
    assert contents(old) == before


RUNNER = """
import signal
from kbrepro.batch import run
from kbrepro.batch import provenance
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored at start in a background job
provenance.checksums = dict
run.run([], "quick", {})
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_run_leaves_the_old_results_and_no_process(root, old, number):
    (root / "notebooks" / "profiles" / "quick" / f"{NAME}.yaml").write_text("accident: wait")
    before, partial = contents(old), old.parent / f".{NAME}.partial"
    runner = subprocess.Popen([sys.executable, "-c", RUNNER], cwd=root, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (partial / "waiting").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        kernel = [p for p in psutil.Process(runner.pid).children(recursive=True) if p.is_running()]
        runner.send_signal(number)
        assert runner.wait(timeout=20) != 0
    finally:
        runner.kill()
        runner.wait()
    left = psutil.wait_procs(kernel, timeout=5)[1]
    # Ctrl-C ends all; otherwise a kernel whose parent is gone ends itself alone
    assert len(kernel) >= 2 and [process.name() for process in left] == ["sleep"] * (number == signal.SIGTERM)
    for process in left:
        process.kill()
    assert contents(old) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["02_none"], "quick", {}), f"notebook '02_none' is not there; allowed: {NAME}"),
        (([], "full", {}), "profile 'full' is not there; allowed: paper, quick"),
        (([], "quick", {"horizont": 5}), "no parameter 'horizont' to set; allowed: horizon"),
        (([], "quick", {"results_dir": "x"}), "no parameter 'results_dir' to set; allowed: horizon"),
        (([], "quick", {"horizon": 1e4}), r"horizon = 10000.0 is not allowed: horizon must be an integer"),
        (([], "quick", {"horizon": True}), "horizon = True is not allowed: horizon must be an integer"),
        (([], "quick", {"horizon": 0}), "horizon = 0 is not allowed: horizon must be an integer of at least 1"),
        (([], "quick", {"scale": None}), "scale = None is not allowed: scale must be a number"),
        (([], "quick", {"sizes": 3}), "sizes = 3 is not allowed: sizes must be a list"),
        (([], "quick", {"accident": 3}), "accident must be text"),
        (([], "quick", {}, "Fig. 1"), r"--fresh 'Fig\. 1' is not allowed: it must be a kept label, one of"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(root, old, arguments, message):
    before = contents(root)
    with pytest.raises(ValueError, match=message):
        run.run(*arguments[:3], root=root, fresh=arguments[3:])
    assert contents(root) == before


def test_a_profile_is_checked_like_an_override(root):
    profile = root / "notebooks" / "profiles" / "quick" / f"{NAME}.yaml"
    for text, message in [
        ("horizon: 1e4", "horizon must be an integer"),
        ("- 3", "must be lines of name: value"),
        ("a: [", "cannot be read as YAML"),
    ]:
        profile.write_text(text)
        with pytest.raises(ValueError, match=message):
            run.run([], "quick", {}, root=root)
    profile.unlink()
    with pytest.raises(ValueError, match=f"says nothing about {NAME}: there is no notebooks/profiles/quick/{NAME}"):
        run.run([], "quick", {}, root=root)


def test_full_scale_is_the_notebooks_own_and_overrides_have_a_folder_of_their_own(root):
    def folder(profile, overrides):
        (planned,) = run.plan([], profile, overrides, root)
        return planned.folder.parent.relative_to(root / "results").as_posix(), planned.parameters["horizon"]

    assert (folder("paper", {}), folder("quick", {})) == (("paper", 2000), ("quick", 20))
    custom = [folder("quick", {"horizon": 5}), folder("quick", {"horizon": 6}), folder("paper", {"horizon": 5})]
    assert len({name for name, _ in custom}) == 3 and all(name.startswith("custom/") for name, _ in custom)
    assert folder("quick", {"horizon": 5, "scale": 2.0}) == folder("quick", {"scale": 2.0, "horizon": 5})


def test_settings_are_read_as_python_or_text():
    values = [5, 1e4, -0.0015, [1, 2], True, "2004-03-01", "x=y"]
    read = map(profiles.read_setting, ("a=5", "a=1e4", "a=-1.5E-3", "a=[1, 2]", "a=True", "a=2004-03-01", "a=x=y"))
    assert [(name, value, type(value)) for name, value in read] == [("a", value, type(value)) for value in values]


@pytest.mark.parametrize("text", ["a", "=3", "a=", "a b=3"])
def test_a_setting_that_cannot_be_read_is_named(text):
    with pytest.raises(ValueError, match="--set"):
        profiles.read_setting(text)


@pytest.mark.slow
def test_refresh_makes_a_paired_notebook_without_data(root, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", os.fspath(root))
    source = small_notebook()
    source.cells[3].source = "import os\nprint(os.listdir(os.environ['KBREPRO_DATA']), os.environ['TQDM_DISABLE'])"
    write_notebook(root, NAME, source)
    path = root / "notebooks" / f"{NAME}.py"
    run.refresh([], root)
    first = path.with_suffix(".ipynb").read_bytes()
    notebook = nbformat.reads(first.decode(), as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[3].outputs[0].text == "[] 1\n"
    assert jupytext.writes(notebook, "py:percent") == path.read_text()

    path.write_text(path.read_text().replace("print", "raise ValueError('stop')\nprint"))
    with pytest.raises(run.RunFailed, match=NAME):
        run.refresh([NAME], root)
    assert path.with_suffix(".ipynb").read_bytes() == first
