"""The HTML report: Sphinx on the executed notebooks, the documents and every claim, as they are."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kbrepro import paths
from kbrepro.claims import scorecard
from kbrepro.trials import store


class ReportFailed(RuntimeError):
    """The report could not be made; an earlier report is unchanged."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ from the notebooks that were run there, and return its index.html.

    At full scale it renews results/README.md, the page of every claim, too; of any other profile
    every page says at its top that it is not the full scale.
    Raises ReportFailed, which says what to do, if results are missing or Sphinx reports an error.
    """
    notebooks = sorted(results.glob("[0-9][0-9]_*/notebook.ipynb"))
    if not notebooks:
        raise ReportFailed(
            f"no notebook was run in results/{results.name}: first `kbrepro reproduce --profile"
            f" {results.name}`"
        )
    claims = scorecard.page(scorecard.read(results))
    if results.name == paths.FULL_SCALE:
        paths.write_text(root / "results/README.md", claims)
    paths.sweep(root / "results")
    with tempfile.TemporaryDirectory(
        dir=results, prefix="report-", suffix=f".{os.getpid()}.partial"
    ) as folder:
        # laid out as the project is, so that links lead from page to page; the first page gets the
        # side bar
        source, site = Path(folder, "source"), Path(folder, "site")
        for name in ("docs", "results"):
            shutil.copytree(
                root / name,
                source / name,
                ignore=shutil.ignore_patterns(store.PLAYED, "*.partial", "report"),
            )
        for path in notebooks:
            paths.write_bytes(source / f"notebooks/{path.parent.name}.ipynb", path.read_bytes())
        for name in ("CONTRIBUTING.md", "CITATION.cff", "data/README.md"):
            paths.write_bytes(source / name, (root / name).read_bytes())
        paths.write_text(source / "results/README.md", claims)
        first = [(root / name).read_text("utf-8") for name in ("README.md", "docs/contents.txt")]
        paths.write_text(source / "index.md", "\n".join(first))
        _sphinx(root, source, site, results.name)
        shutil.rmtree(results / "report", ignore_errors=True)
        return site.rename(results / "report") / "index.html"


def _sphinx(root: Path, source: Path, site: Path, profile: str) -> None:
    options = ["-Wq", "--keep-going", "--no-color", "-jauto", "-bhtml", f"-Dprofile={profile}"]
    doctrees = source.with_name("doctrees")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            *options,
            "-c",
            root / "docs",
            "-d",
            doctrees,
            source,
            site,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().replace(f"{source}/", "")
        raise ReportFailed(
            f'sphinx, which comes with pip install "kbrepro[report]", reports errors:\n{said}'
        )
