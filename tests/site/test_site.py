"""The report of a small run: complete, readable from disk without network, replaced whole."""

import html
import re
import shutil
from pathlib import Path

import matplotlib.image
import nbformat
import numpy as np
import pytest
from fake_project import NAME, contents, small_notebook
from fake_run import CLAIM, cited_project, write_run

import kbrepro
from kbrepro import papers, paths
from kbrepro.site import build

DOCS = Path(__file__).parents[2] / "docs"
FAILED = CLAIM | {"id": "1-B", "says": "Slow is fast.", "verdict": "not reproduced"}
MORE = CLAIM | {"id": "1-C", "says": "New is small.", "verdict": "partly"}
ANSWER = {"sentence": "Small stands.", "holds": True, "answers": ["1-A", "1-B"]}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = cited_project(tmp_path_factory.mktemp("project"))
    shutil.copytree(DOCS, root / "docs")
    benchmarks = root / "results" / "benchmarks"
    paths.write_text(benchmarks / "README.md", "# Benchmarks\n\n[peers.csv](peers.csv)\n\n![Peers](peers.png)\n")
    paths.write_text(benchmarks / "peers.csv", "job,median_s\nkbrepro,0.5\n")
    matplotlib.image.imsave(benchmarks / "peers.png", np.zeros((4, 4)))
    return root


@pytest.fixture(scope="module")
def index(root):
    """The report of a quick run in which nothing fails, beside the full-scale run and the leftovers of another."""
    results = root / "results" / "quick"
    for folder, claims in ((results, [CLAIM]), (root / "results" / "paper", [CLAIM, FAILED, MORE])):
        write_run(folder / NAME, claims, [ANSWER])
        svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
        paths.write_text(folder / NAME / "figures" / "headline_fig1.svg", svg)
        nbformat.write(small_notebook(), folder / NAME / "notebook.ipynb")
    shutil.copytree(results / NAME, results / "02_cut_short.partial")
    return build.build(root, results)


def test_the_index_of_a_quick_run_says_so_first_and_shows_the_verdicts_at_full_scale(index):
    page = index.read_text()
    assert index.parts[-4:] == ("results", "quick", "report", "index.html")
    in_order = [
        "hold up?",
        "those at full scale",
        "of 3 claims",
        "never saw",
        "Small stands.",
        f"headlines/{NAME}",
        "c0ffee",
    ]
    article = page[page.index("<article") :]
    places = [article.find(text) for text in in_order]
    assert -1 not in places and places == sorted(places), dict(zip(in_order, places, strict=True))
    assert f'href="{NAME}.html#1-B"' in page and 'class="verdict not-reproduced"' in page
    for name in (f"{NAME}.html", "notation.html", "scorecard.html", "api.html"):
        assert f'href="{name}"' in page and (index.parent / name).is_file()
    assert "cut_short" not in page


def test_the_scorecard_has_this_run_beside_the_full_scale_one(index):
    page = (index.parent / "scorecard.html").read_text()
    assert "Small is beautiful" in page and "at full scale" in page and "Slow is fast" not in page


def test_the_benchmarks_are_a_page_with_their_numbers_and_figures(index):
    assert f'href="{build.BENCHMARKS}.html"' in index.read_text()
    page = index.parent / f"{build.BENCHMARKS}.html"
    there = [re.search(rf'(?:href|src)="([^"]*peers.{kind})"', page.read_text())[1] for kind in ("csv", "png")]
    assert all((page.parent / path).is_file() for path in there)


def test_pages_need_no_network(index):
    for page in index.parent.rglob("*.html"):
        assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']*""", page.read_text()), page.name


def test_formulas_are_set_by_a_file_of_the_report_and_links_out_of_it_are_names_of_files(index):
    page = (index.parent / f"{NAME}.html").read_text()
    assert r"\(\gamma_T\)" in page
    [script] = re.findall(r'src="(_static/tex-[^"?]*)', page)
    assert (index.parent / script).is_file()
    assert "results/paper/01_small/notebook.ipynb" in page and "../results" not in page


def test_every_name_of_the_face_is_explained_and_formulas_stand_as_they_are_written(index):
    page = html.unescape((index.parent / "api.html").read_text())
    for name in kbrepro.__all__:
        thing = getattr(kbrepro, name)
        assert f'id="{thing.__module__}.{thing.__qualname__}"' in page, name
    assert "variance * exp(-r^2 / (2 lengthscale^2))" in page
    assert "|f - mean| / (width sd)" in page
    assert "mean     += g * (y - mean_i) / sqrt(v_i + s2)\n" in re.sub(r"<[^>]+>", "", page)
    page = (index.parent / "papers_api.html").read_text()
    assert all(f"kbrepro.papers.{folder}.paper" in page for folder in papers.found())


@pytest.mark.slow
def test_a_page_with_a_fault_leaves_the_old_report(root, index, monkeypatch):
    before = contents(index.parent)
    monkeypatch.setattr(build.overview, "index", lambda *_: "# Index\n\n{doc}`no_such_page`")
    monkeypatch.setattr(build, "api_pages", dict)
    with pytest.raises(build.ReportFailed, match="no_such_page"):
        build.build(root, index.parents[1])
    assert contents(index.parent) == before
    assert {p.name for p in index.parents[1].iterdir()} == {NAME, "02_cut_short.partial", "report"}


def test_missing_packages_are_said_with_the_command_that_installs_them(root, monkeypatch):
    monkeypatch.setattr(build, "find_spec", lambda name: None)
    with pytest.raises(build.ReportFailed, match=r'needs sphinx, .*: pip install "kbrepro\[report\]"'):
        build.build(root, root / "results" / "quick")
