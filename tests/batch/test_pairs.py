"""Cells that only an .ipynb has are not lost: which file was edited is said, with both ways on."""

import nbformat
import pytest
from click.testing import CliRunner
from fake_project import NAME, commit, make_project

from kbrepro.__main__ import main
from kbrepro.batch import pairs, profiles, run

IPYNB, PY = f"notebooks/{NAME}.ipynb", f"notebooks/{NAME}.py"
TAKE = f"`jupytext --to py:percent {IPYNB}` copies them into the .py"


def edit_py(root):
    path = root / PY
    path.write_text(path.read_text().replace("2000", "3000"))


def edit_ipynb(root):
    notebook = nbformat.read(root / IPYNB, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("mine"))
    nbformat.write(notebook, root / IPYNB)


def edit_outputs(root):
    """As running and saving does."""
    path = root / IPYNB
    path.write_text(path.read_text().replace('"execution_count": null', '"execution_count": 3'))
    edit_py(root)


def break_ipynb(root):
    (root / IPYNB).write_text("<<<<<<< HEAD")


def refreshes(root):
    """As `kbrepro refresh` leaves it, and the .py edited once more."""
    edit_py(root)
    notebook = profiles.source(root, NAME)
    nbformat.write(notebook, root / IPYNB)
    nbformat.write(notebook, pairs.refreshed(root, NAME))
    path = root / PY
    path.write_text(path.read_text().replace("3000", "4000"))


@pytest.fixture(params=["committed", "untracked", "no git"])
def state(request, tmp_path, monkeypatch):
    """A project with a pair, and what git knows of it."""
    root = make_project(tmp_path)
    monkeypatch.chdir(root)
    nbformat.write(profiles.source(root, NAME), root / IPYNB)
    (root / ".cache/refreshed").mkdir(parents=True)
    (root / "other").touch()
    if request.param == "no git":
        monkeypatch.setenv("PATH", "")
    else:
        commit(root, "." if request.param == "committed" else "other")
    monkeypatch.setattr(run, "run_notebooks", lambda *_: [])
    monkeypatch.setattr(run, "refresh_notebooks", lambda *_: None)
    return root, request.param


@pytest.mark.parametrize(
    ("edit", "which", "goes_on"),
    [
        (lambda root: None, "", True),
        (lambda root: (root / IPYNB).unlink(), "", True),
        (edit_py, " (not as committed: .py)", "committed"),
        (edit_outputs, " (not as committed: .py)", "committed"),
        (edit_ipynb, " (not as committed: .ipynb)", False),
        (lambda root: edit_py(root) or edit_ipynb(root), " (not as committed: .ipynb and .py)",
         False),
        (break_ipynb, " (not as committed: .ipynb)", False),
        (refreshes, " (not as committed: .ipynb and .py)", True),
    ],
)  # fmt: skip
def test_cells_that_are_nowhere_else_stop_a_run(state, edit, which, goes_on):
    root, known = state
    edit(root)
    line, is_edited = pairs.differ(root, NAME)
    goes_on = goes_on in (True, known)
    assert is_edited == (not goes_on) and bool(line) == bool(which)
    if which:
        both = f"{TAKE}, `kbrepro refresh 01{' --discard' * is_edited}` makes the .ipynb again"
        said = f"the .py, which runs{which * (known == 'committed')}: {both}"
        assert said in line
    before = {path: path.read_bytes() for path in root.glob("notebooks/*.*")}
    for command in ("refresh", "reproduce"):
        done = CliRunner().invoke(main, [command, "1"])
        assert done.exit_code == (not goes_on), command
        if not goes_on:
            assert f"Error: {NAME}: {line}; --discard runs the .py all the same" in done.output
            assert CliRunner().invoke(main, [command, "1", "--discard"]).exit_code == 0
    assert {path: path.read_bytes() for path in root.glob("notebooks/*.*")} == before
