"""The HTML report: Sphinx on the executed notebooks, the documents and every claim, as they are."""

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import nbformat

import kbrepro
from kbrepro import paths, scorecard
from kbrepro.figures import live

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme")
#: The page of every claim, as the repository keeps it: `kbrepro claims --markdown`.
CLAIMS = "results/README.md"
#: Until an edition is frozen before it is played.
EXPLORATORY = (
    "**Exploratory.** The predicates were written knowing the trials, those of edition 0.3.0. Where each of its claims "
    "went, with the old verdict beside: "
    + ", ".join(f"[{number}](../docs/old_claims/{number}.md)" for number in ("01", "02", "03", "04", "05", "06"))
    + ". [How claims are judged](../docs/claims.md)."
)
#: The side bar below the notebooks, in the order of reading; documents that are not named come last.
GROUPS = {
    "Read": ["claims_all", "try_it", "found_on_the_way", "claims"],
    "Rerun": ["using", "mend_a_result"],
    "Extend": ["concepts", "own_problem", "recipes", "beside", "formulas", "many_arms", "api"],
}


class ReportFailed(RuntimeError):
    """The report could not be made; an earlier report is unchanged."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ from the notebooks that were run there, and return its index.html.

    Raises ReportFailed, which says what to do, if packages or results are missing or Sphinx reports an error.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ReportFailed(f'the report needs {", ".join(missing)}: pip install "kbrepro[report]"')
    notebooks = {path.parent.name: path for path in sorted(results.glob("[0-9][0-9]_*/notebook.ipynb"))}
    if not notebooks:
        profile = results.relative_to(root / "results").as_posix()
        raise ReportFailed(f"no notebook was run in results/{profile}: first `kbrepro reproduce --profile {profile}`")
    with tempfile.TemporaryDirectory(dir=results, prefix="report-", suffix=".partial") as folder:
        source, site = Path(folder, "source"), Path(folder, "site")
        _write(root, results, notebooks, source)
        _sphinx(root, source, site)
        shutil.rmtree(results / "report", ignore_errors=True)
        site.rename(results / "report")
    return results / "report" / "index.html"


def inside(text: str, page: str, pages: Mapping[str, str]) -> str:
    """Return Markdown of a file whose links lead to pages and pictures of the report, or become names of files.

    `page` is the file, and `pages` has the page of every file that has one; files are relative to the project's root.
    """

    def link(found: re.Match[str]) -> str:
        words, to, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), to))
        if path in pages:
            here = posixpath.dirname(pages.get(page, "")) or "."
            return f"[{words}]({posixpath.relpath(pages[path], here)}{anchor or ''})"
        return f"[{words}](/{path})" if path.endswith(".png") else f"{words} (`{path}`)"

    return re.sub(r"\[([^][]*)\]\((?!https?:|#)([\w./-]*[./][\w./-]*|[A-Z]{4,})(#[\w-]+)?\)", link, text)


def claims_page(runs: Mapping[str, Mapping[str, list[scorecard.Record]]]) -> str:
    """Return the page of every claim and theorem, by notebook."""
    parts = ["# Every claim", EXPLORATORY, scorecard.MEANS]
    for name, run in runs.items():
        parts += [f"## [{name[:2]}](../notebooks/{name}.ipynb)", scorecard.totals(run["claims"])]
        for kind in ("observation", "remark", "own question"):
            if rows := [each for each in run["claims"] if each["kind"] == kind]:
                parts += [f"### {kind.capitalize()}s", scorecard.tables(rows)]
        if run["theorems"]:
            parts += ["### Theorems", scorecard.tables([], run["theorems"])]
    return "\n\n".join(parts) + "\n"


def _write(root: Path, results: Path, notebooks: Mapping[str, Path], source: Path) -> None:
    """Write all pages of the report to `source`."""
    documents = {path.relative_to(root).as_posix(): path for path in sorted((root / "docs").glob("**/*.md"))}
    pages = {name: posixpath.relpath(name, "docs") for name in documents}
    pages |= {f"notebooks/{name}.ipynb": f"{name}.ipynb" for name in notebooks}
    pages |= {"README.md": "index.md", CLAIMS: "claims_all.md"}
    for name, path in notebooks.items():
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = inside(cell.source, f"notebooks/{name}.ipynb", pages)
            for output in cell.get("outputs", []):
                if text := output.get("data", {}).get("text/markdown"):
                    output.data["text/markdown"] = inside(text, f"notebooks/{name}.ipynb", pages)
        _copy_pictures(root, source, "\n".join(cell.source for cell in notebook.cells))
        paths.write_text(source / f"{name}.ipynb", nbformat.writes(notebook))
    texts = {name: path.read_text(encoding="utf-8") for name, path in documents.items()}
    texts |= {
        "README.md": (root / "README.md").read_text(encoding="utf-8"),
        CLAIMS: claims_page(scorecard.read(results)),
    }
    for name, text in texts.items():
        shown = inside(text, name, pages)
        _copy_pictures(root, source, shown)
        paths.write_text(source / pages[name], shown)
    paths.write_text(source / "api.md", _api())
    paths.write_text(source / "try_it.md", inside(live.page(), "notebooks/try_it.md", pages))
    _index(source, [*notebooks])


def _copy_pictures(root: Path, source: Path, text: str) -> None:
    """Copy the pictures to which Markdown links."""
    for picture in re.findall(r"\]\(/([\w./-]+\.png)\)", text):
        paths.write_bytes(source / picture, (root / picture).read_bytes())


def _index(source: Path, notebooks: Sequence[str]) -> None:
    """Add the side bar to the first page."""
    named = {"index", *(name for names in GROUPS.values() for name in names)}
    rest = sorted({path.relative_to(source).with_suffix("").as_posix() for path in source.glob("**/*.md")} - named)
    index = (source / "index.md").read_text(encoding="utf-8")
    for caption, names in ({"Papers": notebooks} | GROUPS | {"Background": rest}).items():
        there = [name for name in names if list(source.glob(f"{name}.*"))]
        index += "\n\n" + "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *there, "```"])
    paths.write_text(source / "index.md", index + "\n")


def _api() -> str:
    """The page of the public names."""
    names = ", ".join(kbrepro.__all__)
    return f"# API\n\n```{{eval-rst}}\n.. automodule:: kbrepro\n   :members: {names}\n   :noindex:\n```\n"


def _sphinx(root: Path, source: Path, site: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    command += ["-c", str(root / "docs"), "-d", str(source.with_name("doctrees")), str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReportFailed(f"sphinx reports errors in the pages:\n{done.stderr.strip().replace(f'{source}/', '')}")
