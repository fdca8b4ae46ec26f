"""The HTML report: Sphinx on the executed notebooks, the documents and every claim, as they are."""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt

from kbrepro import papers, paths
from kbrepro.batch import items
from kbrepro.batch.record import settled
from kbrepro.claims import scorecard
from kbrepro.figures import use_style, verdicts
from kbrepro.trials import store


class ReportFailed(RuntimeError):
    """The report could not be made; an earlier report is unchanged."""


def build(root: Path, results: Path) -> Path:
    """Make `results`/report/ from the notebooks that were run there, and return its index.html.

    At full scale it renews the pages of claims and figures, and the pictures of verdicts, in
    results/, too; of any other profile every page says at its top that it is not the full scale.
    Raises ReportFailed, which says what to do, if results are missing or Sphinx reports an error.
    """
    notebooks = sorted(results.glob("[0-9][0-9]_*/notebook.ipynb"))
    if not notebooks:
        raise ReportFailed(
            f"no notebook was run in results/{results.name}: first `kbrepro reproduce --profile"
            f" {results.name}`"
        )
    # where nothing is judged, as in short runs, the pages of the full scale stay
    runs = scorecard.read(results)
    made = _pages(root, runs) if runs else {}
    is_full_scale = results.name == paths.FULL_SCALE
    if is_full_scale:
        _write(root / "results", made)
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
        if not is_full_scale:
            _write(source / "results", made)
        first = [(root / name).read_text("utf-8") for name in ("README.md", "docs/contents.txt")]
        paths.write_text(source / "index.md", "\n".join(first))
        _sphinx(root, source, site, results.name)
        shutil.rmtree(results / "report", ignore_errors=True)
        return site.rename(results / "report") / "index.html"


def _pages(root: Path, runs: Mapping[str, scorecard.Card]) -> dict[str, bytes]:
    """The pages of every claim and of every figure, and the pictures of all verdicts, by their
    place in results/.
    """
    title_of = {paper.notebook: paper.title for paper in papers.found().values()}
    titles = {name: title_of.get(name) or name for name in runs}
    pages = scorecard.pages(runs, titles)
    if (root / items.ITEMS).is_file():
        pages["figures.md"] = items.every_item(root, runs)
    made = {name: text.encode() for name, text in pages.items()}
    use_style()
    for name, draw in {"verdicts.png": verdicts.squares, "ranges.png": verdicts.ranges}.items():
        picture, data = draw(runs, titles), io.BytesIO()
        picture.savefig(data, dpi=150, metadata={"Software": None})
        plt.close(picture)
        made[name] = data.getvalue()
    return made


def _write(folder: Path, made: Mapping[str, bytes]) -> None:
    """Write all pages and pictures, or none; a picture that looks like the one that is there is
    left.
    """
    files = {folder / name: data for name, data in made.items()}
    for path, data in files.items():
        if path.suffix == ".png":
            files[path] = settled(path, data)
    paths.write_all(files)


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
