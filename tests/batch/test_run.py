"""Batches of a small notebook: what is kept, what is refused, what is left after accidents."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jupytext
import nbformat
import psutil
import pytest
from fake_project import NAME, contents, make_project, small_notebook

from kbrepro.batch import editions, folders, profiles, provenance, run
from kbrepro.batch.notebook import tidy
from kbrepro.data import store
from kbrepro.verdicts import claims, scorecard

ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.delenv("KBREPRO_JOBS", raising=False)
    monkeypatch.setattr(store, "checksums", lambda: {"file.txt": "4567"})
    monkeypatch.setattr(scorecard, "scorecard", lambda root: "# Scorecard\n")
    return make_project(tmp_path)


@pytest.fixture
def old(root):
    """Results of an earlier run."""
    folder = root / "results" / "quick" / NAME
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    (folder / "only_in_the_old.txt").write_text("old")
    return folder


def test_a_run_replaces_the_old_results_whole(root, old, capfd):
    assert run.run([], "quick", {}, 1, root) == [old]
    assert set(contents(old)) == {"notebook.ipynb", "log.txt", "run.json", "trials.csv", "tables/regret.csv"}
    assert (old / "tables" / "regret.csv").read_text() == "round,regret\n20,0.5\n"
    assert [p.name for p in old.parent.iterdir()] == [NAME]
    assert f"[1/1] {NAME}: 0." in capfd.readouterr().err

    record = json.loads((old / "run.json").read_text())
    assert record["parameters"] == {"horizon": 20, "scale": 0.5, "sizes": [1, 2], "accident": ""}
    assert [record[name] for name in ("notebook", "profile", "jobs", "played")] == [NAME, "quick", 1, 0]
    assert record["data"] == {"file.txt": "4567"} and record["versions"].keys() >= {"blas", *provenance.PACKAGES}
    files = {name: hashlib.sha256(data).hexdigest() for name, data in contents(old).items() if name != "run.json"}
    assert record["outputs"] == files

    notebook = nbformat.read(old / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert "papermill" not in json.dumps(notebook) and "execution" not in str(
        [cell.metadata for cell in notebook.cells]
    )
    assert [cell.id for cell in notebook.cells] == [f"cell-{i:02}" for i in range(5)]
    assert f'results_dir = "results/quick/{NAME}"' in notebook.cells[2].source
    assert "](../../../results/paper" in notebook.cells[0].source
    # one BLAS thread, the jobs asked for, a store; and no progress bar
    assert [output.text for output in notebook.cells[-1].outputs] == ["1 1 True\n"]
    log = (old / "log.txt").read_text()
    assert "100%|##########| 2/2" in log and "50%" not in log and str(root) not in log


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"horizon": -5}, "ValueError: horizon = -5 is not allowed: horizon must be an integer of at least 1"),
        pytest.param({"accident": "kill"}, "DeadKernelError", marks=pytest.mark.slow),
    ],
)
def test_a_failed_run_leaves_the_old_results(root, old, overrides, message, capfd, monkeypatch):
    monkeypatch.setattr(run, "_profile_folder", lambda profile, overrides: profile)
    before = contents(old)
    with pytest.raises(run.RunFailed, match=f"1 of 1 notebooks failed: {NAME}"):
        run.run([], "quick", overrides, root=root)
    assert contents(old) == before
    assert message in capfd.readouterr().err
    assert (old.parent / f"{NAME}.partial" / "log.txt").is_file()


@pytest.mark.slow
def test_the_notebooks_after_a_failed_one_still_run(root):
    nbformat.write(small_notebook('results_dir: str = ""\nhorizon: int = 5'), root / "notebooks" / "00_broken.ipynb")
    (root / "notebooks" / "profiles" / "paper" / "00_broken.yaml").write_text("horizon: 0\n")
    with pytest.raises(run.RunFailed, match="1 of 2 notebooks failed: 00_broken"):
        run.run([], "paper", {}, root=root)
    record = json.loads((root / "results" / "paper" / NAME / "run.json").read_text())
    assert record["parameters"]["horizon"] == 2000


RULES = """
claims:
- {id: 0-A, where: Fig. 0, kind: experiment, says: It is larger., finds: "By {a}.", quote: It is.,
   parts: {a: {is: d, rule: "> 1"}}}
"""
JUDGES = """
import json, pathlib
claim = {"id": "0-A", "says": "It is larger.", "verdict": "reproduced", "counts_as": "experiment", "finds": "By 2."}
claim |= {"parts": {}, "changes": [], "note": "", "kind": "experiment", "deciding": ""}
content = {"rules": "", "expected": [{"sentence": "Never.", "holds": horizon == 5}], "claims": [claim]}
pathlib.Path(results_dir, "claims.json").write_text(json.dumps(content))"""


@pytest.fixture
def judged(root):
    """The project with rules and a full-scale profile of their seed."""
    path = root / "notebooks" / "claims" / f"{NAME}.yaml"
    path.parent.mkdir()
    path.write_text(RULES)
    notebook = small_notebook(parameters='results_dir: str = ""\nhorizon: int = 5\nseed: int = 1')
    notebook.cells[-1].source = JUDGES
    notebook.cells.insert(1, nbformat.v4.new_code_cell("1", metadata={"tags": ["at-a-glance"]}))
    nbformat.write(notebook, root / "notebooks" / f"{NAME}.ipynb")
    profile = root / "notebooks" / "profiles" / "paper" / f"{NAME}.yaml"
    profile.write_text("seed: 1\n")
    editions.open_new(root, NAME, "0.9.0", "first")
    return profile


def test_a_full_scale_run_shows_its_own_verdicts_at_a_glance(root, judged):
    (folder,) = run.run([], "paper", {}, root=root)
    cells = nbformat.read(folder / "notebook.ipynb", as_version=4).cells
    (shown,) = [cell.outputs for cell in cells if "at-a-glance" in cell.metadata.get("tags", [])]
    text = shown[0].data["text/markdown"]
    assert text.startswith("1 of 1 claim of the paper stands (reproduced).\n\n<details>") and "A claim *stands*" in text
    assert editions.history(root)[-1]["reproduced"] == "1"  # the line of the edition has its verdicts
    rules = claims.load(root / "notebooks" / "claims" / f"{NAME}.yaml")
    assert json.loads((folder / "run.json").read_text())["rules"] == rules.digest


def test_new_rules_want_new_dice(root, judged):
    judged.write_text("seed: 7\n")
    with pytest.raises(ValueError, match=rf"paper/{NAME}\.yaml: seed = 7 is not allowed: edition 0\.9\.0 has \d+"):
        run.run([], "paper", {}, root=root)


def test_a_sentence_that_is_not_true_keeps_the_results_and_fails_the_batch(root, judged, capfd):
    judged.write_text(judged.read_text() + "horizon: 6\n")
    with pytest.raises(run.RunFailed, match="1 of 1 notebooks failed"):
        run.run([], "paper", {}, root=root)
    assert "but sentences of the notebook are not true of them:\n- Never." in capfd.readouterr().err
    assert (root / "results" / "paper" / NAME / "claims.json").is_file()


def test_the_computing_time_is_that_of_all_trials_and_workers_are_those_asked_for_or_named(tmp_path, monkeypatch):
    times = tmp_path / "trials.csv"
    times.write_text('label,trials,seconds,played\n"a, b",3,1.25,0\nc,1,2.50,1\n')
    assert run._computed(times) == (3.8, 1)
    monkeypatch.setenv("KBREPRO_JOBS", "5")
    assert (provenance.workers(3), provenance.workers("4"), provenance.workers(None)) == (3, 4, 5)


def test_two_runs_at_once_do_not_mix(root, old, capfd):
    before = contents(old)
    with folders.locked(root / ".cache" / "locks" / f"quick-{NAME}"), pytest.raises(run.RunFailed):
        run.run([], "quick", {}, root=root)
    assert f"another run is writing results/quick/{NAME}.partial" in capfd.readouterr().err
    assert contents(old) == before


RUNNER = """
import signal
from kbrepro.batch import run
from kbrepro.data import store
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored at start in a background job
store.checksums = dict
run._profile_folder = lambda profile, overrides: profile
run.run([], "quick", {"accident": "wait"})
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_run_leaves_the_old_results_and_no_process(root, old, number):
    before, partial = contents(old), old.parent / f"{NAME}.partial"
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
    assert len(kernel) >= 3  # papermill, the kernel, and a process in a session of its own
    assert not psutil.wait_procs(kernel, timeout=5)[1]
    assert contents(old) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["02_none"], "quick", {}), f"notebook '02_none' is not there; allowed: {NAME}"),
        (([], "full", {}), "profile 'full' is not there; allowed: quick, paper"),
        (([], "quick", {"horizont": 5}), "no parameter 'horizont' to set; did you mean horizon"),
        (([], "quick", {"results_dir": "x"}), "no parameter 'results_dir' to set; allowed: horizon"),
        (([], "quick", {"horizon": 1e4}), r"horizon = 10000.0 is not allowed: horizon must be an integer"),
        (([], "quick", {"horizon": True}), "horizon = True is not allowed: horizon must be an integer"),
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
    profile = root / "notebooks" / "profiles" / "paper" / f"{NAME}.yaml"
    for text, message in [
        ("horizon: 1e4", "horizon must be an integer"),
        ("- 3", "must be lines of name: value"),
        ("a: [", "cannot be read as YAML"),
    ]:
        profile.write_text(text)
        with pytest.raises(ValueError, match=message):
            run.run([], "paper", {}, root=root)
    profile.unlink()
    with pytest.raises(ValueError, match=f"says nothing about {NAME}: there is no notebooks/profiles/paper/{NAME}"):
        run.run([], "paper", {}, root=root)


def test_overrides_have_a_folder_of_their_own():
    folder = run._profile_folder
    assert folder("quick", {}) == "quick" and folder("quick", {"a": 1}).startswith("custom/")
    assert folder("quick", {"a": 1, "b": 2}) == folder("quick", {"b": 2, "a": 1})
    assert len({folder("quick", {"a": 1}), folder("quick", {"a": 2}), folder("paper", {"a": 1})}) == 3


def test_settings_are_read_as_yaml():
    values = [5, 1e4, -0.0015, [1, 2], True, "2004-03-01", "x=y"]
    read = map(profiles.read_setting, ("a=5", "a=1e4", "a=-1.5E-3", "a=[1, 2]", "a=true", "a=2004-03-01", "a=x=y"))
    assert [(name, value, type(value)) for name, value in read] == [("a", value, type(value)) for value in values]


@pytest.mark.parametrize("text", ["a", "=3", "a=", "a b=3", "a=[1"])
def test_a_setting_that_cannot_be_read_is_named(text):
    with pytest.raises(ValueError, match="--set"):
        profiles.read_setting(text)


def test_progress_bars_go_and_warnings_stay(tmp_path):
    text = f"\rtrials: 10%|#  | 1/9\rtrials: 100%|###| 9/9\n{tmp_path}/a.py:3: UserWarning: odd\n"
    notebook = small_notebook()
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", name="stderr", text=text)]
    [output] = tidy(notebook, tmp_path).cells[1].outputs
    assert output.text == "a.py:3: UserWarning: odd\n"


@pytest.mark.slow
def test_refresh_makes_a_paired_notebook_without_data(root, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", os.fspath(root))
    source = small_notebook()
    source.cells[3].source = "import os\nprint(os.listdir(os.environ['KBREPRO_DATA']), os.environ['TQDM_DISABLE'])"
    source.metadata["jupytext"] = {"formats": "ipynb,py:percent"}
    path = root / "notebooks" / f"{NAME}.py"
    path.write_text(jupytext.writes(source, "py:percent"))
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
