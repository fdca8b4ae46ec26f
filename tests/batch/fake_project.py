"""A small project with one notebook, for tests of the batch, the report and the command line."""

import subprocess
import sys
from pathlib import Path

import jupytext
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kbrepro.batch.profiles import KERNEL

NAME = "01_small"
PARAMETERS = """\
horizon: int = 2000  # rounds
scale: float = 0.5  # of the noise
sizes: list[int] = [1, 2]  # numbers of arms
results_dir: str = ""  # where to write"""
CHECKS = "checks.positive_int(horizon=horizon)"
WORK = """\
import os, pathlib, sys
folder = pathlib.Path(results_dir)
(folder / "tables").mkdir()
(folder / "tables/regret.csv").write_text(f"round,regret\\n{horizon},{scale}\\n")
print("trials: 100%|##########| 2/2", file=sys.stderr)
print(os.environ["OMP_NUM_THREADS"])"""
#: Runs `kbrepro` in a process that knows the papers of the project in which it starts.
LAUNCHER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored at start in a background job
from kbrepro import papers
papers.__path__.append("kbrepro/papers")
from kbrepro.__main__ import main
main(prog_name="kbrepro")"""


def small_notebook():
    """The notebook: prose, parameters, imports, checks, work."""
    notebook = notebook_of(PARAMETERS, "from kbrepro import checks", CHECKS, WORK)
    notebook.cells.insert(
        0, new_markdown_cell("# Small\n\nSee [the data](../data/README.md), $\\gamma_T$.")
    )
    return notebook


def notebook_of(parameters, *cells):
    """A notebook of code cells, the first tagged as parameters."""
    first = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    checks = [
        new_code_cell(cell, metadata={"tags": ["checks"]} if cell == CHECKS else {})
        for cell in cells
    ]
    return new_notebook(cells=[first, *checks], metadata={"kernelspec": KERNEL})


def write_notebook(root: Path, name, notebook) -> None:
    """Write a notebook as text, which is what the batch runs."""
    (root / f"notebooks/{name}.py").write_text(
        jupytext.writes(notebook, "py:percent"), encoding="utf-8"
    )


def write_profile(root: Path, text, name=NAME) -> None:
    """Write the profile `quick` of a notebook."""
    (root / f"notebooks/profiles/quick/{name}.yaml").write_text(text)


def make_project(root: Path, name=NAME, notebook=None, quick="horizon: 20\n") -> Path:
    """Make the project's folders, a notebook (the small one) and its profile `quick`; return the
    root.
    """
    (root / "kbrepro").mkdir()
    (root / "notebooks/profiles/quick").mkdir(parents=True)
    write_profile(root, quick, name)
    write_notebook(root, name, notebook or small_notebook())
    return root


def write_paper(root: Path, notebook, plan) -> None:
    """Write the paper `toy` of a notebook, whose plan is this text; `registered` and LAUNCHER know
    it.
    """
    folder = root / "kbrepro/papers/toy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    text = f"from kbrepro.papers import Paper\n\nPAPER = Paper({notebook!r})\n"
    (folder / "paper.py").write_text(text, encoding="utf-8")
    (folder / "experiments.py").write_text(plan, encoding="utf-8")
    sys.modules.pop("kbrepro.papers.toy.experiments", None)


def commit(root: Path, what=".") -> None:
    """Commit files of a project, of which git may know nothing yet."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (["init"], ["add", what], ["commit", "--allow-empty", "-m", "all"]):
        subprocess.run([*git, *words], cwd=root, check=True, capture_output=True)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
