"""Batches of a small notebook: what is kept, what is refused, what is left after accidents."""

import errno
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest
from fake_project import (
    CHECKS,
    NAME,
    PARAMETERS,
    commit,
    contents,
    make_project,
    notebook_of,
    small_notebook,
    write_notebook,
    write_paper,
    write_profile,
)
from ipykernel.ipkernel import IPythonKernel
from registering import registered

from kbrepro import paths
from kbrepro.batch import play, run
from kbrepro.batch.profiles import FILTERS, Run
from kbrepro.trials import sums

RESULTS, LEFT = f"results/quick/{NAME}", f".cache/{NAME}.quick.failed.ipynb"


def failure(root, capfd):
    """What is told of a run that fails."""
    with pytest.raises(run.RunFailed):
        run.run_notebooks([], "quick", root)
    return capfd.readouterr().err


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


@pytest.fixture
def old(root):
    """Results of an earlier run."""
    paths.write_text(root / RESULTS / "only_in_the_old.txt", "old")
    return root / RESULTS


def test_a_run_replaces_the_old_results_and_leaves_what_was_played(root, old, capfd):
    paths.write_text(old / "played/a.npz", "")
    (root / ".gitignore").write_text(".cache\n")
    commit(root)
    assert run.run_notebooks([], "quick", root) == [old]
    left = {"notebook.ipynb", "run.json", "SHA256SUMS", "tables/regret.csv", "played/a.npz"}
    assert set(contents(old)) == left and [p.name for p in old.parent.iterdir()] == [NAME]
    assert sums.wrong(old) == [] and [*sums.listed(old)] == ["run.json", "tables/regret.csv"]
    assert (old / "tables/regret.csv").read_text() == "round,regret\n20,0.5\n"
    assert f"{NAME}: 0." in (output := capfd.readouterr().err) and "100%|##########| 2/2" in output

    record = json.loads((old / "run.json").read_text())
    assert record["parameters"] == {"horizon": 20, "scale": 0.5, "sizes": [1, 2]}
    assert len(record["git"]["commit"]) == 40 and record["git"]["dirty"] is False  # but for results
    assert record["versions"].keys() == {"python", *run.PACKAGES}

    notebook = nbformat.read(old / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    shown = json.dumps(
        [[cell.source, cell.metadata, cell.get("outputs")] for cell in notebook.cells]
    )
    assert "iopub" not in shown and "papermill" not in shown and str(root) not in shown
    assert [cell.id for cell in notebook.cells] == [
        f"cell-{i:02}" for i in range(len(notebook.cells))
    ]
    assert notebook.cells[2].source.endswith('\nresults_dir = ""\n')  # run again it writes nothing
    # one BLAS thread; and no progress bar
    assert [output.text for output in notebook.cells[-1].outputs] == ["1\n"]


def test_a_failed_run_leaves_the_old_results_and_the_others_still_run(root, old, capfd):
    """Where it is not checked before (the cell has no tag) it fails in the notebook."""
    notebook = small_notebook()
    notebook.cells[3].metadata.pop("tags")
    write_notebook(root, NAME, notebook)
    write_notebook(root, "02_after", notebook_of(PARAMETERS))
    write_profile(root, "horizon: -5")
    write_profile(root, "horizon: 3", "02_after")
    before = contents(old)
    (old / "claims.json.999999999.partial").touch()  # as a kill left it
    with pytest.raises(run.RunFailed, match=f"1 of 2 notebooks failed: {NAME}"):
        run.run_notebooks([], "quick", root)
    output = capfd.readouterr().err
    message = (
        f"FAILED\ncode cell 4 ({CHECKS}): raise refused(name, value, allowed):"
        " ValueError: horizon = -5 is not allowed: horizon must be an integer of at least 1"
    )
    assert contents(old) == before and message in output and LEFT in output
    after = paths.facts_of(old.parent / "02_after")
    assert after["parameters"]["horizon"] == 3


def test_a_disk_that_is_full_is_told_with_the_file(root, old, capfd, monkeypatch):
    import papermill

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = contents(old)
    monkeypatch.setattr(papermill, "execute_notebook", full)
    message = f"No space left on device: '{LEFT}'\nNo result was replaced"
    assert message in failure(root, capfd) and contents(old) == before


def test_on_a_read_only_disk_what_a_kill_left_hides_no_reason(root, old, capfd, monkeypatch):
    paths.write_text(paths.partial_of(old) / "tables/half.csv", "")

    def unlink(path, **_):
        raise OSError(errno.EROFS, "Read-only file system", os.fspath(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        assert "[Errno 30] Read-only file system: '" in failure(root, capfd)


class Killed(BaseException):
    """The process ends here."""


def dying(patch, steps):
    """After so many steps that change folders every further one is a kill; the last deletes a file
    before it.
    """
    left = itertools.chain(itertools.repeat(False, steps), itertools.repeat(True))

    def dies(step):
        def stepped(path, *arguments, **options):
            if not next(left):
                return step(path, *arguments, **options)
            if step is rmtree:
                next(each for each in path.rglob("*") if each.is_file()).unlink()
            raise Killed

        return stepped

    rmtree = shutil.rmtree
    patch.setattr(shutil, "rmtree", dies(rmtree))
    for name in ("mkdir", "rename"):
        patch.setattr(Path, name, dies(getattr(Path, name)))


def test_a_kill_at_any_moment_of_the_replacement_leaves_the_old_results_or_the_new(
    tmp_path, monkeypatch
):
    """The next command that has the lock sees the one or the other, and what was played."""
    played = {"played/a.npz": b"arms", "played/b.part/1.npz": b"arms"}
    old = {"run.json": b"old", "tables/a.csv": b"old", "gone.txt": b"old"}
    new = {"run.json": b"new", "tables/a.csv": b"new", "tables/b.csv": b"new"}
    found = []
    for steps in itertools.count():
        folder = tmp_path / str(steps) / NAME
        partial = paths.partial_of(folder)
        for where, files in ((folder, old | played), (partial, new)):
            for name, data in files.items():
                paths.write_bytes(where / name, data)
        killed = False
        with monkeypatch.context() as patch:
            dying(patch, steps)
            try:
                play.replace(folder)
            except Killed:
                killed = True
        with play.locked(Run(tmp_path, NAME, folder, {})):
            found.append("new" if contents(folder) == new | played else "old")
            assert contents(folder) == (new if found[-1] == "new" else old) | played
            assert {path.name for path in folder.parent.iterdir()} <= {NAME, partial.name}
        if not killed:
            break
    assert found == ["old", "old", "new", "new", "new", "new"]


def test_the_kernels_errors_are_seen_and_its_warnings_are_not(root, monkeypatch, capfd):
    """It warns of TCP at every start. Another run may end at once and remove what a failed one
    would leave.
    """
    log = "get_ipython().kernel.log"
    cells = (
        f"{log}.warning('a warning')\n{log}.error('an error')",
        f"{log}.error('KeyboardInterrupt caught in kernel.')",
    )
    write_notebook(root, NAME, notebook_of(PARAMETERS, *cells))
    monkeypatch.setattr(run, "_tidy", lambda done: (root / LEFT).unlink() or done)
    run.run_notebooks([], "quick", root)
    output = capfd.readouterr().err
    assert "an error" in output and "warning" not in output.lower() and "TCP" not in output
    assert "KeyboardInterrupt" not in output  # by which it is ended


PLAN = """import kbrepro as kb
from kbrepro.trials.simulation import Planned


def experiments(trials):
    source = kb.GPDraw(kb.Matern(0.2, nu=2.5), kb.grid(9), 0.1)
    return {"numbers": Planned(kb.Experiment(source, {"EI": kb.ExpectedImprovement}, 5), trials, 7)}
"""
#: With what another machine played.
OTHERS = {"versions": {"numpy": "1.0"}, "blas_kernels": ["Old"]}
READS = """import kbrepro as kb
print(kb.played("01", "numbers", "quick")["EI"].arms.shape)"""


@pytest.fixture
def playing(root):
    """A project whose notebook shows what is kept of the one label of its plan."""
    write_notebook(
        root, NAME, notebook_of('trials: int = 4\nmore: int = 0\nresults_dir: str = ""', READS)
    )
    write_paper(root, NAME, PLAN)
    with registered(root):
        yield root


@pytest.fixture
def ran(playing, monkeypatch):
    """The notebooks that ran there, in name only: what they show is not asked for."""
    names = []
    monkeypatch.setattr(run, "_execute", lambda root, name, *_: names.append(name) or "")
    return names


def facts_of(root, quick, fresh=()):
    """What a run with this profile says that it was made with, and its files."""
    write_profile(root, quick)
    (folder,) = run.run_notebooks([], "quick", root, fresh)
    return paths.facts_of(folder), contents(folder)


def test_the_facts_of_a_run_are_those_of_the_trials_that_it_shows(playing, capfd, monkeypatch):
    """Read again, trials leave run.json as it was, but for a parameter on which none depends."""
    first, files = facts_of(playing, "trials: 3\n")
    assert "01_small: playing numbers (1 of 1)\n" in capfd.readouterr().err
    assert "(3, 5)" in files["notebook.ipynb"].decode()
    assert first["parameters"] == {"trials": 3, "more": 0}
    old = first | OTHERS
    (playing / RESULTS / "run.json").write_text(json.dumps(old))
    monkeypatch.setattr(run, "_execute", lambda *_: "")
    again, files_again = facts_of(playing, "trials: 3\nmore: 1\n")
    assert again == old | {"parameters": {"trials": 3, "more": 1}}
    assert "numbers" not in capfd.readouterr().err
    played = {name: data for name, data in files.items() if name.startswith("played/")}
    assert len(played) == 3 and played.items() <= files_again.items()


@pytest.mark.parametrize("how", ["--fresh", "play"])
def test_trials_that_were_played_anew_have_new_facts(playing, ran, how):
    """Whether this run played them, or another command did that writes no run.json."""
    first, _ = facts_of(playing, "trials: 3\n")
    (playing / RESULTS / "run.json").write_text(json.dumps(first | OTHERS))
    if how == "play":
        (r,) = run.plan([], "quick", playing)
        assert play.play_missing(r, fresh=["*"])
    now, _ = facts_of(playing, "trials: 3\n", ["numbers"] if how == "--fresh" else [])
    assert now["versions"] == first["versions"]
    assert now["blas_kernels"] == sorted(["Old", *first["blas_kernels"]])


@pytest.mark.parametrize(
    ("quick", "message"),
    [
        (
            "horizon: 1e4",
            "horizon = '1e4' is not allowed: horizon must be an integer of at least 1",
        ),
        ("horizon: 0", "horizon = 0 is not allowed"),
        (
            "horizont: 5",
            "'horizont' is not allowed: parameter of 01_small must be one of 'horizon', ",
        ),
        ("results_dir: x", "= 'results_dir' is not allowed"),
        ("- 3", "must be lines of name: value"),
        ("a: [", "must be lines of name: value"),
        ("horizon: 20\nhorizon: 30", "must be lines of name: value (horizon is given twice)"),
        (None, f"'quick' is not allowed for {NAME}: there is no notebooks/profiles/quick/{NAME}"),
    ],
)
def test_a_profile_that_does_not_fit_is_refused_before_anything_runs(root, old, quick, message):
    profile = root / f"notebooks/profiles/quick/{NAME}.yaml"
    profile.write_text(quick) if quick else profile.unlink()
    before = contents(root)
    with pytest.raises(ValueError, match=re.escape(message)):
        run.run_notebooks([], "quick", root)
    assert contents(root) == before


SHOWS = """
import sys
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
print(sys.executable, "of_a_user" in globals(), plt.rcParams["lines.linewidth"])"""


@pytest.fixture
def settings_of_a_user(root, monkeypatch):
    """A backend, a kernel, startup files, a style, and a home that cannot be written to."""
    own = root / "own"
    for name in ("startup.py", "ipython/profile_default/startup/00.py"):
        paths.write_text(own / name, "of_a_user = True")
    paths.write_text(own / "matplotlibrc", "lines.linewidth: 9")
    spec = {
        "argv": ["/bin/false", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
    }
    paths.write_text(own / "kernels/python3/kernel.json", json.dumps(spec))
    places = {
        "MATPLOTLIBRC": "",
        "MPLCONFIGDIR": "",
        "IPYTHONDIR": "ipython",
        "PYTHONSTARTUP": "startup.py",
        "JUPYTER_PATH": "",
        "HOME": "not_there",
    }
    for name, place in places.items():
        monkeypatch.setenv(name, str(own / place))
    monkeypatch.setenv("MPLBACKEND", "Agg")


def test_nothing_that_a_user_has_set_reaches_the_kernel(root, settings_of_a_user):
    write_notebook(root, NAME, notebook_of(PARAMETERS, SHOWS))
    (folder,) = run.run_notebooks([], "quick", root)
    shown = nbformat.read(folder / "notebook.ipynb", as_version=4).cells[-1].outputs
    assert ["image/png" in each.get("data", {}) for each in shown] == [True, False]
    assert shown[1].text == f"{sys.executable} False 1.5\n"
    facts = json.loads((folder / "run.json").read_text())
    assert facts["versions"]["numpy"] == np.__version__ and facts["blas_kernels"]


@pytest.mark.slow
def test_nor_does_it_reach_the_kernels_of_nbval(root, settings_of_a_user):
    write_notebook(root, NAME, notebook_of(PARAMETERS, SHOWS))
    run.refresh_notebooks([], root)
    shutil.copy(Path(__file__).parents[2] / "conftest.py", root)
    options = "-m pytest --nbval -W error -W ignore::DeprecationWarning notebooks"
    command = [sys.executable, *options.split()]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


def test_of_a_dead_kernel_the_cell_is_told_and_what_there_is_is_kept(root, old, capfd):
    cells = ["print('before')", "# plays\nimport os\nos.kill(os.getpid(), 9)", "print('after')"]
    write_notebook(root, NAME, notebook_of(PARAMETERS, *cells))
    output = failure(root, capfd)
    message = "the kernel died in code cell 4 (# plays), most often because memory ran out: "
    assert message in output and LEFT in output and contents(old)
    left = nbformat.read(root / LEFT, as_version=4)
    assert [cell.source for cell in left.cells[2:]] == cells[:2]
    assert left.cells[2].outputs[0].text == "before\n"


def test_a_notebook_has_a_number_and_full_scale_is_its_own_parameters(root):
    text = (root / f"notebooks/{NAME}.py").read_text()
    (root / f"notebooks/{NAME}-Copy1.py").write_text(text)  # as Jupyter duplicates it
    for name in ("01", "1", NAME, f"notebooks/{NAME}.py"):
        (full,) = run.plan([name, name], "paper", root)
        assert full.parameters["horizon"] == 2000
        assert full.folder == root / "results/paper" / NAME


@pytest.mark.slow
def test_refresh_makes_a_paired_notebook_without_data(root, monkeypatch):
    monkeypatch.setenv("KBREPRO_DATA", os.fspath(root))
    source = small_notebook()
    source.cells[
        4
    ].source = (
        "import os\nprint(os.listdir(os.environ['KBREPRO_DATA']), os.environ['TQDM_DISABLE'])"
    )
    write_notebook(root, NAME, source)
    path = root / f"notebooks/{NAME}.py"
    run.refresh_notebooks([], root)
    notebook = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    assert notebook.cells[4].outputs[0].text == "[] 1\n"
    assert notebook.metadata.pop("jupytext") == FILTERS
    assert notebook.metadata.pop("language_info") == IPythonKernel.language_info
    assert jupytext.writes(notebook, "py:percent") == path.read_text()
