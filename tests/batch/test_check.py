"""`kbrepro check` says in words what a newcomer forgets or mistakes; of what is committed it says
nothing.
"""

import json
import shutil
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from click.testing import CliRunner
from kept_trials import kept_of

from kbrepro import papers
from kbrepro.__main__ import main
from kbrepro.batch import new, profiles
from kbrepro.batch.check import odd
from kbrepro.claims.scorecard import of_paper
from kbrepro.trials import sums

ROOT = Path(__file__).parents[2]
NOTEBOOK, PLAYED = "notebooks/09_toy", "results/paper/09_toy/played"
RUN = "results/paper/09_toy/run.json"
CONFLICT = "<<<<<<< HEAD\n=======\n>>>>>>> theirs\n"


def test_nothing_is_odd_in_what_is_committed():
    assert odd(ROOT) == []


@pytest.fixture
def root(toy):
    """The toy's project with a notebook that claims to have been run, and shows its claims."""
    notebook = profiles.source(toy.root, "09_toy")
    for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.execution_count = number + 1
    anchors = [f'<a id="9-{letter}"></a>' for letter in "ABT"]
    data = {"text/markdown": " ".join(anchors)}
    images = [
        nbformat.v4.new_output("display_data", {"image/png": "iVBORw0KGgo="}) for _ in range(2)
    ]
    cell.outputs = [nbformat.v4.new_output("display_data", data), *images]
    (toy.folder / "figures").mkdir()
    for name in ("fig1.png", "readings_9-A.png"):
        (toy.folder / "figures" / name).touch()
    jupytext.write(notebook, toy.root / f"{NOTEBOOK}.ipynb")
    card = json.dumps(of_paper("toy", kept_of(toy.folder / "played")), default=float)
    (toy.folder / "claims.json").write_text(card, encoding="utf-8")
    papers.found.cache_clear()
    sums.write(toy.folder)
    path = toy.root / "CITATION.cff"
    path.write_text(f"references:\n{path.read_text()}")
    return toy.root


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def replan(root, old, new):
    edit(root / "kbrepro/papers/toy/experiments.py", old, new)
    sys.modules.pop("kbrepro.papers.toy.experiments")


def reload_claims(root, old, new):
    import importlib

    import kbrepro.papers.toy.claims as module

    edit(root / "kbrepro/papers/toy/claims.py", old, new)
    importlib.invalidate_caches()
    source = (root / "kbrepro/papers/toy/claims.py").read_text(encoding="utf-8")
    module.__dict__.update(
        {name: None for name, each in vars(module).items() if hasattr(each, "where")}
    )
    exec(compile(source, module.__file__, "exec"), module.__dict__)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (lambda root: None, ""),
        (lambda root: reload_claims(root, '"9-A"', '"6-A"'), "claim 6-A must begin with 9-"),
        (lambda root: reload_claims(root, '"9-B"', '"9-A"'), "claim 9-A is defined 2 times"),
        (lambda root: reload_claims(root, '"9-B"', '"9-C"'),
         "claim 9-C is not shown: name it in record.verdicts(...)"),
        (lambda root: (root / "kbrepro/papers/toy/claims.py").unlink(),
         "kbrepro/papers/toy/claims.py is missing"),
        (lambda root: (root / "kbrepro/papers/toy/paper.py").unlink(),
         "no paper.py in kbrepro/papers names this notebook"),
        (lambda root: (root / f"{NOTEBOOK}.ipynb").unlink(),
         "there is no .ipynb: `kbrepro refresh 09` makes it"),
        (lambda root: edit(root / f"{NOTEBOOK}.py", "totals", "sums"),
         "has other cells than the .py, which runs: `jupytext --to py:percent notebooks/09_toy.ipyn"
         "b` copies them into the .py, `kbrepro refresh 09 --discard` makes"),
        (lambda root: reload_claims(root, "better(", "~better("),
         "claims.json was judged with other predicates or tables of 9-A: `kbrepro reproduce 09`"),
        (lambda root: reload_claims(root, "runs of", "T = 30, up to T = 31, runs of"), ""),
        (lambda root: reload_claims(root, "runs of", "T = 1,031, runs of"),
         "09_toy: claim 9-T says T = 1,031, which no label of its plan has"),
        (lambda root: replan(root, "horizon), trials", "horizon), trials + 1"),
         "09_toy: label 'Fig. 1' was played with other settings: trials: 12 before, 13 now"),
        (lambda root: shutil.rmtree(root / PLAYED), "is not stored: `kbrepro play 09`"),
        (lambda root: edit(root / f"{NOTEBOOK}.py", "## What came out", "## Results"),
         "the first section of the notebook must be ## What came out"),
        (lambda root: edit(root / f"{NOTEBOOK}.ipynb", 'count": 1', 'count": 2'),
         "not run from top to bottom"),
        (lambda root: shutil.rmtree(root / "notebooks/profiles/quick"),
         "profile = 'quick' is not allowed"),
        (lambda root: edit(root / "notebooks/profiles/quick/09_toy.yaml", "trials", "trails"),
         "= 'trails' is not"),
        (lambda root: shutil.rmtree(root / "tests"), "there are no tests in tests/papers/toy"),
        (lambda root: edit(root / "CITATION.cff", "09_toy", "08"), "CITATION.cff has no reference"),
        (lambda root: shutil.rmtree(root / "results"),
         "it was not run at full scale: `kbrepro reproduce 09`"),
        (lambda root: edit(root / RUN, "12", "12.0"),
         "09_toy: run.json was changed: it has another checksum"),
        (lambda root: (root / PLAYED / "Fig._1.npz").write_text("x"),
         "09_toy: played/Fig._1.npz was changed"),
        (lambda root: (root / PLAYED / "Fig._1.npz").unlink(),
         "09_toy: played/Fig._1.npz is listed in SHA256SUMS, but missing"),
        (lambda root: edit(root / f"{NOTEBOOK}.py", "= 12 ", "= 13 "),
         "the notebook differs from the full scale in 1 of its parameters (trials): `git checkout"
         " notebooks/09*` restores them; for other parameters use a profile"),
    ],
)  # fmt: skip
def test_every_wrong_step_gets_a_word(root, wrong, word):
    wrong(root)
    lines = odd(root, ["09"])
    assert any(word in line for line in lines) if word else lines == []


def test_changed_numbers_are_one_line_however_many_labels_they_change(root):
    for suffix in (".py", ".ipynb"):
        edit(root / f"{NOTEBOOK}{suffix}", "= 12 ", "= 13 ")
        edit(root / f"{NOTEBOOK}{suffix}", "= 30 ", "= 31 ")
    (line,) = odd(root, ["09"])
    assert "in 2 of its parameters (trials, horizon)" in line


@pytest.mark.parametrize(
    ("file", "old", "new", "word"),
    [
        (".py", '"parameters"', "", "is not allowed: it must have a cell tagged parameters"),
        (".py", "trials: int", "trials int", "its cell tagged parameters fails (SyntaxError: "),
        (".py", "trials=trials, ", "trials=n, ", "its cell tagged checks fails (NameError: "),
        (".py", "record.finish()", CONFLICT, "is not allowed: git left a conflict in it (<<<<<<<)"),
        (".ipynb", ' "cells": [', CONFLICT, "is not a notebook: git may have left a conflict"),
        (
            ".ipynb",
            '"python3"',
            '"other"',
            "names the kernel 'other', not 'python3': `kbrepro refresh",
        ),
        (".ipynb", "image/png", "text/x", "shows 0 of its 2 figures: `kbrepro refresh 09`"),
    ],
)
def test_of_a_damaged_notebook_one_line_names_the_file(root, file, old, new, word):
    edit(root / f"{NOTEBOOK}{file}", old, new)
    lines = [line for line in odd(root, ["09"]) if word in line]
    assert len(lines) == 1 and f"{NOTEBOOK}{file}" in lines[0] and "\n" not in lines[0]


def test_the_command_prints_it(root):
    result = CliRunner().invoke(main, ["check"])
    assert (result.exit_code, result.output) == (
        0,
        "nothing is missing or inconsistent (no notebook was run)\n",
    )
    shutil.rmtree(root / "tests")
    result = CliRunner().invoke(main, ["check", "09"])
    assert (result.exit_code, result.output) == (
        1,
        "09_toy: there are no tests in tests/papers/toy\n",
    )


@pytest.mark.parametrize(
    ("number", "name", "message"),
    [
        ("9", "a", "number = '9'"),
        ("09", "other", "number = '09'"),
        ("10", "toy", "name = 'toy'"),
        ("10", "A b", "name"),
        (
            "10",
            "class",
            "name = 'class' is not allowed: name must be a new folder's .* not a Python keyword",
        ),
        ("10", "found", "name = 'found'"),  # a name of kbrepro.papers
    ],
)
def test_a_number_or_a_name_that_is_taken_is_refused(root, number, name, message):
    before = sorted(root.rglob("*"))
    with pytest.raises(ValueError, match=message):
        new.add(root, number, name)
    assert sorted(root.rglob("*")) == before
