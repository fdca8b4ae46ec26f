"""The HTML report: Sphinx on the executed notebooks, the documents and every claim, as they are."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import kbrepro
from kbrepro import paths, scorecard, store
from kbrepro.figures import live

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme")
#: The side bar below the notebooks, in the order of reading; documents that are not named come last.
GROUPS = {
    "Read": ["results/README", "notebooks/try_it", "docs/found_on_the_way", "docs/claims"],
    "Rerun": ["docs/using", "docs/mend_a_result", "data/README"],
    "Extend": ["docs/concepts", "docs/own_problem", "docs/recipes", "docs/beside", "docs/formulas", "docs/many_arms"],
    "API": ["api", "CONTRIBUTING"],
}
#: The page of the public names.
API = """# API

```{{eval-rst}}
.. automodule:: kbrepro
   :members: {names}
   :noindex:
```
"""


class ReportFailed(RuntimeError):
    """The report could not be made; an earlier report is unchanged."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ from the notebooks that were run there, and return its index.html.

    At full scale it renews results/README.md, the page of every claim, too.
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
        page = scorecard.page(scorecard.read(results))
        if results.name == paths.FULL_SCALE:
            paths.write_text(root / "results" / "README.md", page)
        _write(root, page, notebooks, source)
        _sphinx(root, source, site)
        shutil.rmtree(results / "report", ignore_errors=True)
        site.rename(results / "report")
    return results / "report" / "index.html"


def _write(root: Path, claims: str, notebooks: Mapping[str, Path], source: Path) -> None:
    """Lay out `source` as the project is, so that links lead from page to page; the first page gets the side bar."""
    shutil.copytree(root / "docs", source / "docs")
    without = shutil.ignore_patterns(store.PLAYED, "*.partial", "report")
    shutil.copytree(root / "results", source / "results", ignore=without)
    for name, path in notebooks.items():
        paths.write_bytes(source / "notebooks" / f"{name}.ipynb", path.read_bytes())
    for name in ("CONTRIBUTING.md", "CITATION.cff", "data/README.md"):
        paths.write_bytes(source / name, (root / name).read_bytes())
    paths.write_text(source / "results" / "README.md", claims)
    paths.write_text(source / "notebooks" / "try_it.md", live.page())
    paths.write_text(source / "api.md", API.format(names=", ".join(kbrepro.__all__)))
    documents = sorted(path.relative_to(source).with_suffix("").as_posix() for path in source.glob("docs/**/*.md"))
    named = {name for names in GROUPS.values() for name in names}
    bars = {"Papers": [f"notebooks/{name}" for name in notebooks]} | GROUPS
    bars["Background"] = [name for name in documents if name not in named]
    index = [(root / "README.md").read_text(encoding="utf-8")]
    for caption, names in bars.items():
        here = [name for name in names if not name.startswith("docs/") or name in documents]
        index.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *here, "```"]))
    paths.write_text(source / "index.md", "\n\n".join(index) + "\n")


def _sphinx(root: Path, source: Path, site: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html"]
    command += ["-c", str(root / "docs"), "-d", str(source.with_name("doctrees")), str(source), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReportFailed(f"sphinx reports errors in the pages:\n{done.stderr.strip().replace(f'{source}/', '')}")
