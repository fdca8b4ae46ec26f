"""The HTML report of one folder of results: a scorecard, the headline figures, every executed notebook."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

import nbformat

import kbrepro
from kbrepro import paths, scorecard
from kbrepro.batch.folders import recover, swap_in
from kbrepro.batch.process import module

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme")
PACKAGE = Path(kbrepro.__file__).parent


class ReportFailed(RuntimeError):
    """The report could not be made; a report that was there before is untouched."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ and return its index.html.

    Raises ReportFailed, saying what to do, when packages or results are missing or Sphinx finds fault.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ReportFailed(f'the report needs {", ".join(missing)}: pip install "kbrepro[report]"')
    folders = _finished(root, results)
    report = results / "report"
    recover(report)
    with tempfile.TemporaryDirectory(dir=results, prefix="report-", suffix=".partial") as folder:
        source, site = Path(folder, "source"), Path(folder, "site")
        source.mkdir()
        _write_pages(root, results, folders, source)
        _sphinx(root, source, site)
        swap_in(site, report)
    return report / "index.html"


def _finished(root: Path, results: Path) -> list[Path]:
    folders = sorted(path.parent for path in results.glob("[0-9][0-9]_*/run.json"))
    folders = [folder for folder in folders if not folder.name.endswith(".partial")]
    if not folders:
        there = sorted({run.parents[1] for run in (root / "results").glob("**/[0-9][0-9]_*/run.json")})
        names = ", ".join(folder.relative_to(root / "results").as_posix() for folder in there)
        profile = results.relative_to(root / "results").as_posix()
        raise ReportFailed(
            f"no results in results/{profile}: first run `kbrepro reproduce --profile {profile}`"
            f" (results there are: {names or 'none'})"
        )
    return folders


def _write_pages(root: Path, results: Path, folders: list[Path], source: Path) -> None:
    for page in _documents(root):
        shutil.copy(page, source)
    for folder in folders:
        notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = _without_links_out(cell.source) if cell.cell_type == "markdown" else cell.source
        nbformat.write(notebook, source / f"{folder.name}.ipynb")
    for name, page in api_pages().items():
        paths.write_text(source / f"{name}.md", page)
    if (picture := results / scorecard.PICTURE).is_file():
        paths.write_bytes(source / results.name / picture.name, picture.read_bytes())  # where the scorecard links it
    paths.write_text(source / "index.md", _index(root, results, folders, source))


def _documents(root: Path) -> list[Path]:
    """Return the pages of docs/: notation first, then by name."""
    return sorted((root / "docs").glob("*.md"), key=lambda page: (page.stem != "notation", page.name))


def _without_links_out(text: str) -> str:
    """Return Markdown whose links to files of the repository are names of these files: the report stands alone."""
    return re.sub(r"\[([^]]+)\]\((?:\.\./)+([^)]+)\)", r"\1 (`\2`)", text)


def _toctree(caption: str, pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])


def api_pages() -> dict[str, str]:
    """Return name -> Markdown of the pages that document the package: the face and the core, then the papers.

    Sphinx reads pages by name, half of them in each of two processes: the two longest are far apart in the alphabet.
    """
    names = sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))
    names = [name.removesuffix(".__init__") for name in names]
    papers = [name for name in names if name.startswith("kbrepro.papers.")]
    core = [name for name in names if not name.startswith(("kbrepro.papers", "kbrepro.batch", "kbrepro.__"))]
    things = [getattr(kbrepro, name) for name in kbrepro.__all__]
    face = [(f"{{py:obj}}`~{t.__module__}.{t.__qualname__}`", cleandoc(t.__doc__).splitlines()[0]) for t in things]
    head = ["# API: the core", cleandoc(kbrepro.__doc__).split("\n\n", 1)[1], scorecard.table(["name", ""], face)]
    return {
        "api": "\n\n".join([*head, *map(_module, core[1:])]) + "\n",
        "papers_api": "\n\n".join(["# API: the papers", *map(_module, papers)]) + "\n",
    }


def _module(name: str) -> str:
    return f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n   :member-order: bysource\n```"


def _index(root: Path, results: Path, folders: list[Path], source: Path) -> str:
    profile = results.relative_to(root / "results").as_posix()
    details = re.sub(r"^#", "##", _without_links_out(scorecard.scorecard(root, results)), flags=re.MULTILINE)
    parts = [
        f"# kbrepro: the {profile} run",
        "Five papers on kernelized bandits, run again: what each of them claims, and what this run found.",
        _verdicts(results, folders),
        *(_headline(folder, source) for folder in folders),
        details.strip(),
        _toctree("The papers", [folder.name for folder in folders]),
        _toctree("How to", [page.stem for page in _documents(root)]),
        _toctree("The package", list(api_pages())),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(results: Path, folders: list[Path]) -> str:
    """Return a table with the number of claims of each verdict, one row a notebook."""
    runs = scorecard.read(results)
    found = {name: scorecard.summary(run["claims"]) for name, run in runs.items()}
    return scorecard.table(["notebook", "claims"], [(f"{{doc}}`{f.name}`", found.get(f.name, "–")) for f in folders])


def _headline(folder: Path, source: Path) -> str:
    """Copy the figure that a notebook named headline_... and return the lines that show it."""
    for figure in sorted(folder.glob("figures/headline*.png"))[:1]:
        name = f"{folder.name}.png"
        shutil.copy(figure, source / name)
        alt = figure.stem.removeprefix("headline").strip("_").replace("_", " ")
        options = [f":alt: {alt}", f":target: {folder.name}.html", ":width: 85%"]
        return "\n".join([f"```{{figure}} {name}", *options, f"{{doc}}`{folder.name}`", "```"])
    return ""


def _sphinx(root: Path, source: Path, site: Path) -> None:
    command = [*module("sphinx"), "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    command += ["-c", str(root / "docs"), "-d", str(source.with_name("doctrees")), str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReportFailed(f"sphinx found fault with the pages:\n{done.stderr.strip().replace(f'{source}/', '')}")
    (site / ".buildinfo").unlink(missing_ok=True)
