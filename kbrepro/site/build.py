"""The HTML report of one folder of results: an overview, a page per paper, the scorecard, how-to pages, the API."""

import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

import nbformat

import kbrepro
from kbrepro import paths
from kbrepro.batch.folders import recover, swap_in
from kbrepro.batch.process import module
from kbrepro.site import overview, pages, try_it
from kbrepro.verdicts import scorecard

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme")
#: The page of `make bench`, where it has been run, and its figures and CSV files beside it.
BENCHMARKS = "benchmarks/README"
PACKAGE = Path(kbrepro.__file__).parent
#: Front matter of a page without a list of its sections at the right.
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
#: Front matter of a page of which search knows the names alone: papers come first.
NO_TERMS = "---\nnosearch: true\n---"
#: The side bar, in the order of reading; below the papers, and before pages that are not named.
GROUPS = {
    "Read": [try_it.PAGE, "scorecard", "found_on_the_way", "reproducibility", "claims"],
    "Rerun": ["open_a_notebook", "run_a_batch", "mend_a_result", "several_machines", "read_results"],
    "Extend": ["own_problem", "beside", "formulas", "many_arms", "asked_for", "api", "papers_api"],
    "Background": ["notation", "tighter_width", "adaptive_covers", "stacks", BENCHMARKS],
}


class ReportFailed(RuntimeError):
    """The report could not be made; an earlier report is unchanged."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ and return its index.html.

    Raises ReportFailed, which says what to do, if packages or results are missing or Sphinx reports an error.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ReportFailed(f'the report needs {", ".join(missing)}: pip install "kbrepro[report]"')
    folders = _finished(root, results)
    report = results / "report"
    recover(report)
    with tempfile.TemporaryDirectory(dir=results, prefix="report-", suffix=".partial") as folder:
        source, files, site = (Path(folder, name) for name in ("source", "files", "site"))
        source.mkdir()
        files.mkdir()
        _write_pages(root, results, folders, source, files)
        _sphinx(root, source, site)
        shutil.copytree(files, site, dirs_exist_ok=True)
        swap_in(site, report)
    return report / "index.html"


def _finished(root: Path, results: Path) -> list[Path]:
    if folders := scorecard.finished(results, "run.json"):
        return folders
    profile = results.relative_to(root / "results").as_posix()
    raise ReportFailed(f"no results in results/{profile}: first run `kbrepro reproduce --profile {profile}`")


def _write_pages(root: Path, results: Path, folders: list[Path], source: Path, files: Path) -> None:
    """Write the pages to `source`, and their pictures and downloads to `files`."""
    documents = sorted((root / "docs").glob("*.md"))
    for page in documents:
        shutil.copy(page, source)
    for folder in folders:
        nbformat.write(pages.paper(root, folder), source / f"{folder.name}.ipynb")
        for name in pages.filtered(folder):
            paths.write_text(source / f"{folder.name}_{name}.md", pages.of_table(folder, name))
        for path in [*folder.glob("tables/*.csv"), *folder.glob("figures/*.svg"), *folder.glob("figures/*.csv")]:
            paths.write_bytes(files / path.relative_to(results), path.read_bytes())
    for picture in results.glob(scorecard.PARTS.format("*")):
        paths.write_bytes(source / results.name / picture.name, picture.read_bytes())  # where the scorecard links it
    if (benchmarks := root / "results" / BENCHMARKS).with_suffix(".md").is_file():
        shutil.copytree(benchmarks.parent, source / benchmarks.parent.name)
    if try_it.scenes([folder.name for folder in folders]):
        paths.write_text(source / f"{try_it.PAGE}.md", try_it.page([folder.name for folder in folders], files))
    api = api_pages()
    card = WIDE + pages.coloured(pages.inside(root, scorecard.scorecard(root, results)))
    for name, text in (api | {"scorecard": card}).items():
        paths.write_text(source / f"{name}.md", text)
    named = {page for its in GROUPS.values() for page in its}
    rest = [page.stem for page in documents if page.stem not in named]
    tables = {folder.name: [f"{folder.name}_{name}" for name in pages.filtered(folder)] for folder in folders}
    read = [name for folder, its in tables.items() for name in (folder, *its)]
    more = {"Read": read, "Background": rest}
    groups = {caption: [*more.get(caption, []), *its] for caption, its in GROUPS.items()}
    parts = [WIDE + overview.index(root, results, folders, files)]
    for caption, names in groups.items():
        there = [name for name in names if list(source.glob(f"{name}.*"))]
        parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *there, "```"]))
    paths.write_text(source / "index.md", "\n\n".join(parts) + "\n")


def api_pages() -> dict[str, str]:
    """Return name -> Markdown of the pages that document the package: front door and core, then the papers.

    Sphinx reads pages by name, half of them in each of two processes, so the two longest are far apart in the alphabet.
    """
    names = sorted(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in PACKAGE.rglob("*.py"))
    names = [name.removesuffix(".__init__") for name in names]
    papers = [name for name in names if name.startswith("kbrepro.papers")]
    aside = ("kbrepro.papers", "kbrepro.batch", "kbrepro.site", "kbrepro.__")
    core = [name for name in names if not name.startswith(aside)]
    things = [getattr(kbrepro, name) for name in kbrepro.__all__]
    face = [(f"{{py:obj}}`~{t.__module__}.{t.__qualname__}`", cleandoc(t.__doc__).splitlines()[0]) for t in things]
    head = ["# API: the core", cleandoc(kbrepro.__doc__).split("\n\n", 1)[1], scorecard.table(["name", ""], face)]
    pages = {"api": [NO_TERMS, *head, *map(_module, core[1:])]}
    pages["papers_api"] = [NO_TERMS, "# API: the papers", *map(_module, papers)]
    return {name: "\n\n".join(parts) + "\n" for name, parts in pages.items()}


def _module(name: str) -> str:
    return f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n   :member-order: bysource\n```"


def _sphinx(root: Path, source: Path, site: Path) -> None:
    command = [*module("sphinx"), "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    command += ["-c", str(root / "docs"), "-d", str(source.with_name("doctrees")), str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReportFailed(f"sphinx reports errors in the pages:\n{done.stderr.strip().replace(f'{source}/', '')}")
    (site / ".buildinfo").unlink(missing_ok=True)
