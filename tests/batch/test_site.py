"""The report of a small run: complete, readable from disk without network, replaced whole."""

import html
import json
import re
import shutil
from pathlib import Path

import matplotlib.image
import nbformat
import numpy as np
import pytest
from fake_project import NAME, contents, make_project, small_notebook

import kbrepro
from kbrepro.batch import site

DOCS = Path(__file__).parents[2] / "docs"
CLAIM = {
    "id": "9-A",
    "where": "Fig. 1",
    "claim": "Small is beautiful.",
    "statistic": "mean",
    "value": 1.0,
    "interval": None,
    "rule": {"reproduced": {"value": "> 0"}, "partly": None},
    "verdict": "reproduced",
    "note": "",
}


def make_results(root):
    """A finished run with a claim, a headline figure and a formula, and the leftovers of another."""
    results = root / "results" / "quick"
    folder = results / NAME
    (folder / "figures").mkdir(parents=True)
    matplotlib.image.imsave(folder / "figures" / "headline_fig1.png", np.zeros((4, 4)))
    nbformat.write(small_notebook(), folder / "notebook.ipynb")
    (folder / "claims.json").write_text(json.dumps([CLAIM]))
    (folder / "run.json").write_text("{}")
    shutil.copytree(folder, results / "02_cut_short.partial")
    return results


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = make_project(tmp_path_factory.mktemp("project"))
    shutil.copytree(DOCS, root / "docs")
    return root


@pytest.fixture(scope="module")
def index(root):
    return site.build(root, make_results(root))


def test_the_index_shows_verdicts_figure_and_scorecard_and_leads_to_every_page(index):
    page = index.read_text()
    assert index.parts[-4:] == ("results", "quick", "report", "index.html")
    for text in ("the quick run", "1 reproduced", "Small is beautiful", f"_images/{NAME}.png", 'href="notation.html"'):
        assert text in page
    assert page.index("1 reproduced") < page.index("_images/") < page.index("Small is beautiful")
    assert f'href="{NAME}.html"' in page
    assert "cut_short" not in page


def test_pages_need_no_network(index):
    for page in index.parent.glob("*.html"):
        assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']*""", page.read_text()), page.name


def test_formulas_are_set_by_a_file_of_the_report(index):
    page = (index.parent / f"{NAME}.html").read_text()
    assert r"\(\gamma_T\)" in page
    [script] = re.findall(r'src="(_static/tex-[^"?]*)', page)
    assert (index.parent / script).is_file()


def test_every_name_of_the_face_is_explained_and_formulas_stand_as_they_are_written(index):
    page = html.unescape((index.parent / "api.html").read_text())
    for name in kbrepro.__all__:
        thing = getattr(kbrepro, name)
        assert f'id="{thing.__module__}.{thing.__qualname__}"' in page, name
    assert "variance * exp(-r^2 / (2 lengthscale^2))" in page
    assert "|f - mean| / (width sd)" in page
    assert "mean     += g * (y - mean_i) / sqrt(v_i + s2)\n" in re.sub(r"<[^>]+>", "", page)
    assert "BKB" in (index.parent / "papers_api.html").read_text()


def test_links_out_of_the_report_become_file_names(index):
    page = (index.parent / f"{NAME}.html").read_text()
    assert "results/paper/01_small/notebook.ipynb" in page
    assert "../results" not in page


@pytest.mark.slow
def test_a_page_with_a_fault_leaves_the_old_report(root, index, monkeypatch):
    before = contents(index.parent)
    monkeypatch.setattr(site, "_verdicts", lambda *_: "{doc}`no_such_page`")
    monkeypatch.setattr(site, "api_pages", dict)
    with pytest.raises(site.ReportFailed, match="no_such_page"):
        site.build(root, index.parents[1])
    assert contents(index.parent) == before
    assert {p.name for p in index.parents[1].iterdir()} == {NAME, "02_cut_short.partial", "report"}


def test_missing_results_are_said_with_the_command_that_makes_them(root, index):
    with pytest.raises(site.ReportFailed, match=r"`kbrepro reproduce --profile paper`.*there are: quick"):
        site.build(root, root / "results" / "paper")


def test_missing_packages_are_said_with_the_command_that_installs_them(root, monkeypatch):
    monkeypatch.setattr(site, "find_spec", lambda name: None)
    with pytest.raises(site.ReportFailed, match=r'needs sphinx, .*: pip install "kbrepro\[report\]"'):
        site.build(root, root / "results" / "quick")
