"""The report of a small project: Sphinx warns of nothing, links lead to pages, every claim is
there.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from kept_trials import kept_of

from kbrepro.batch import report
from kbrepro.claims import scorecard
from kbrepro.claims.scorecard import of_paper

ROOT = Path(__file__).parents[2]
NOTEBOOK = "09_toy"
README = f"""# All

[A page](docs/page.md#where-to-look), [the toy](notebooks/{NOTEBOOK}.ipynb),
[every claim](results/README.md), [the licence](LICENSE), [elsewhere](https://example.org/a.md).

![A picture](results/picture.png)
"""
PAGE = """# A page

## Where to look

[Home](../README.md), [claims](deep/below.md), [code](../kbrepro/claims.py),
`policies[name](horizon)`.

## Does it hold on batches? (Fig. 5a, Lemmas 3 to 6)

| item | picture |
| --- | --- |
| <a id="toy-fig-2"></a>Fig. 2 | [<img src="../results/picture.png" width="160">](deep/below.md) |
| Fig. 3 | <a href="../results/picture.png"><img src="../results/picture.png" width="160"></a> |
"""
EXECUTED = r"""{
 "cells": [
  {"cell_type": "markdown", "id": "a", "metadata": {},
   "source": "# A toy\n\n[Notation](../docs/page.md)"},
  {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1, "source": "1 + 1",
   "outputs": [{"output_type": "display_data", "metadata": {}, "data": {
     "text/markdown": "See the [page](../docs/page.md) and $\\gamma_T$."}}]},
  {"cell_type": "code", "id": "c", "metadata": {"tags": ["hide-input"]}, "execution_count": 2,
   "source": "record.check('folded')", "outputs": []}
 ],
 "metadata": {"language_info": {"name": "ipython3"}}, "nbformat": 4, "nbformat_minor": 5
}"""
# a query, and where its first hit leads
HITS = """
where to look: docs/page#where-to-look
looking: docs/page#where-to-look
Fig. 5a: docs/page#does-it-hold-on-batches-fig-5a-lemmas-3-to-6
figure 5a of a page: docs/page#does-it-hold-on-batches-fig-5a-lemmas-3-to-6
lemma 4: docs/page#does-it-hold-on-batches-fig-5a-lemmas-3-to-6
batch: docs/page#does-it-hold-on-batches-fig-5a-lemmas-3-to-6
fig 2: docs/page#toy-fig-2
9-A: results/claims/09_toy#9-A
BELOW: docs/deep/below
policies: docs/page
"""
BROWSER = """
const window = globalThis, SPHINX_HIGHLIGHT_ENABLED = false, document = { getElementById() {} };
function _ready() {}
function hit(query) {
  const [page, , anchor] = Search._performSearch(...Search._parseQuery(query)).pop();
  return page + anchor;
}
"""
PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc\xf8\x0f\0\x01\x01\x01\0\x1b"
    b"\xb6\xeeV\0\0\0\0IEND\xaeB`\x82"
)


BANNER = "Profile “quick”: short runs, not the full scale. What the text says came out is"


@pytest.fixture
def project(toy):
    """The toy's project with two documents, a picture and an executed notebook; returns its root
    and results.
    """
    pytest.importorskip("sphinx_book_theme", reason="the extra report is not there")
    root = toy.root
    for name, text in {
        "README.md": README,
        "docs/page.md": PAGE,
        "docs/deep/below.md": "# Below\n\n[Up](../page.md)",
        "docs/contents.txt": "```{toctree}\n:hidden:\n:glob:\n\n**\n```\n",
        "CONTRIBUTING.md": "# Contributing",
        "data/README.md": "# Data",
        f"results/paper/{NOTEBOOK}/notebook.ipynb": EXECUTED,
        f"results/paper/{NOTEBOOK}/claims.json": json.dumps(
            of_paper("toy", kept_of(toy.folder / "played")), default=float
        ),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for name in ("CITATION.cff", "docs/conf.py", "docs/report.css", "docs/search_scorer.js"):
        shutil.copy(ROOT / name, root / name)
    (root / "results/picture.png").write_bytes(PIXEL)
    return root, root / "results/paper"


def pages_of(site):
    """The text of every page of a report, by path."""
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    return {page: page.read_text(encoding="utf-8") for page in pages}


def test_every_page_of_a_quick_report_says_so_at_its_top_and_its_search_leads_to_rows(project):
    root, results = project
    quick = report.build(root, results.rename(root / "results/quick")).parent
    pages = pages_of(quick).values()
    assert len(pages) > 5 and all(0 < page.find(BANNER) < page.find("<main") for page in pages)
    quickjs = pytest.importorskip("quickjs", reason="quickjs has no wheel for this Python")
    browser = quickjs.Context()
    browser.eval(BROWSER)
    for script in ("_static/searchtools.js", "_static/language_data.js", "searchindex.js"):
        browser.eval((quick / script).read_text(encoding="utf-8"))
    hit = browser.get("hit")
    for query, place in re.findall("^(.+): (.+)$", HITS, re.M):
        assert hit(query) == place, query


def test_it_builds_without_a_warning_and_an_earlier_one_survives_a_failure(project):
    root, results = project
    index = report.build(root, results)
    site, pages = index.parent, pages_of(index.parent)
    links = re.findall(r'<a class="reference [^>]*href="([^"]+)"', pages[index])
    named = {"docs/page.html#where-to-look", f"notebooks/{NOTEBOOK}.html", "results/README.html"}
    assert named <= {*links}
    for page, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"#?]+)', text):
            is_outside = link.startswith(("https:", "mailto:"))
            assert is_outside or (page.parent / link).exists(), (page, link)
    assert "@inproceedings{srinivas2010," in re.sub("<.*?>", "", pages[index])
    # short algorithms are open, checks are folded
    toy = pages[site / f"notebooks/{NOTEBOOK}.html"]
    assert re.search(">1</span>.*See the.*<details.*folded", toy, re.S)
    run = scorecard.read(results)[NOTEBOOK]
    for sentence in run["claims"] + run["theorems"]:
        name, claims = sentence["id"], pages[site / f"results/claims/{NOTEBOOK}.html"]
        assert f'<a id="{name}"></a>' in claims, name
        assert f'href="../../notebooks/{NOTEBOOK}.html#{name}"' in claims, name
        assert f'href="claims/{NOTEBOOK}.html#{name}"' in pages[site / "results/README.html"]
    assert not any(BANNER[16:] in text for text in pages.values())
    (root / "docs/page.md").write_text(
        "# A page\n\n[gone](#nowhere)\n\n```{nonsense}\n```\n", encoding="utf-8"
    )
    (results / "report-of_a_kill.999999999.partial/source").mkdir(parents=True)
    with pytest.raises(report.ReportFailed, match=r"reports errors:\ndocs/page\.md"):
        report.build(root, results)
    assert index.read_text(encoding="utf-8") == pages[index] and not list(results.glob("*.partial"))
