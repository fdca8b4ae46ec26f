"""A page per paper: anchors, links, colours, figures with alt text and numbers, how to rerun and to cite it."""

import json
import re
from html import unescape

import nbformat
import pytest
from fake_project import NAME
from fake_run import CLAIM, FACTS, cited_project, write_run
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kbrepro import paths
from kbrepro.site import pages

GLANCE = {"tags": ["at-a-glance"]}


def shown(text, **metadata):
    return new_output("display_data", {"text/markdown": text}, metadata=metadata)


def picture(name=""):
    metadata = {"image/png": {"figure": name}} if name else {}
    return new_output("display_data", {"image/png": "aaaa"}, metadata=metadata)


@pytest.fixture
def folder(tmp_path):
    """A finished run: two figures, two tables, a claim shown in its section and in the table of all."""
    folder = cited_project(tmp_path) / "results" / "quick" / NAME
    write_run(folder, [CLAIM | {"says": "Small, as 1-B."}, CLAIM | {"id": "1-B", "verdict": "partly"}])
    for name in ("figures/rise.svg", "figures/fall.svg", "figures/rise.csv", "tables/rise.csv", "tables/elsewhere.csv"):
        paths.write_text(folder / name, "a\n1\n")
    cells = [
        new_markdown_cell("# Small\n\nSee [symbols](../../../docs/notation.md), [x](../../x.py)."),
        new_code_cell("record.at_a_glance()", outputs=[shown("- **Partly**: *Small* (1-B).")], metadata=GLANCE),
        new_markdown_cell("## First"),
        new_code_cell("a = 1"),
        new_code_cell("for ...", outputs=[picture("rise"), picture("fall")]),
        new_code_cell("plt.show()", outputs=[picture()]),
        new_code_cell('record.show("1-A")', outputs=[shown("", claims=["1-A"])]),
        new_markdown_cell("## All claims"),
        new_code_cell("record.show()", outputs=[shown("", claims=["1-A", "1-B"])]),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "notebook.ipynb")
    drawn = {n: {"title": f"A {n} & more", "curves": n == "rise", "tables": [n]} for n in ("rise", "fall")}
    kept = {name: {"kind": "numbers"} for name in ("rise", "elsewhere")}
    paths.write_text(folder / "manifest.json", json.dumps({"figures": drawn, "tables": kept}))
    paths.write_text(tmp_path / "docs" / "notation.md", "# Symbols")
    return folder


@pytest.fixture
def page(folder):
    return pages.paper(folder.parents[2], folder)


def texts(page):
    outputs = [o.data for c in page.cells for o in c.get("outputs", [])]
    return [data.get("text/markdown", data.get("text/html", "")) for data in outputs]


def test_a_claim_has_one_anchor_where_it_is_shown_first(page):
    glance, *_, section, again = texts(page)
    assert '(<a href="#1-B">1-B</a>)' in glance
    assert '| <a id="1-A">1-A</a> |' in section and '| <a href="#1-A">1-A</a> |' in again
    assert '| <a id="1-B">1-B</a> |' in again  # shown nowhere else
    assert 'as <a href="#1-B">1-B</a>.' in section
    assert sorted(re.findall(r'id="([^"]+)"', "".join(texts(page)))) == ["1-A", "1-B"]


def test_outputs_that_are_folded_stay_folded(folder):
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    notebook.cells[4].metadata["tags"] = ["hide-input", "hide-output"]
    nbformat.write(notebook, folder / "notebook.ipynb")
    code = [cell for cell in pages.paper(folder.parents[2], folder).cells if cell.cell_type == "code"]
    assert [cell.metadata["tags"] for cell in code[1:3]] == [["hide-input"], ["hide-input", "hide-output"]]


def test_verdicts_have_glyph_and_class(page):
    glance, *_, section, _ = texts(page)
    assert '<span class="verdict partly">◐ Partly</span>' in glance
    assert '| <span class="verdict reproduced">● reproduced</span> |' in section
    assert '<span class="verdict not-reproduced">○ not reproduced</span>' in pages.coloured("○ **not reproduced**")
    assert pages.coloured("a **bold** word") == "a **bold** word"


def test_a_claim_in_a_formula_or_a_longer_word_is_no_link():
    for text in ("$1-A$", "x1-A", "1-Ab", '<a href="#1-A">1-A</a>'):
        assert pages.linked(text, ["1-A"]) == text
    assert pages.linked("(1-A)", ["1-A"], "one.html") == '(<a href="one.html#1-A">1-A</a>)'


def test_a_picture_becomes_its_svg_with_the_finding_as_alt_text_and_its_own_numbers(page, folder):
    rise, fall = texts(page)[1:3]
    for name, html in (("rise", rise), ("fall", fall)):
        assert f'src="{NAME}/figures/{name}.svg"' in html
        assert f'alt="A {name} & more"' in unescape(html)
    assert re.findall(rf'href="{NAME}/([^"]*\.csv)"', rise) == ["figures/rise.csv", "tables/rise.csv"]
    assert ".csv" not in fall
    assert "elsewhere.csv" in page.cells[-3].source
    # a picture that is in no file stays what it is
    assert [list(cell.outputs[0].data) for cell in page.cells if cell.get("source") == "plt.show()"] == [["image/png"]]


def test_code_is_folded_as_much_as_stands_together_and_what_only_shows_a_record_is_left_out(page):
    code = [cell for cell in page.cells if cell.cell_type == "code"]
    tags = [cell.metadata["tags"][0].removesuffix("-input") for cell in code]
    assert tags == ["remove", "hide", "hide", "remove", "remove"]
    assert code[1].source == "a = 1\n\n\nfor ..." and len(code[1].outputs) == 2


def test_the_end_says_how_to_rerun_it_with_commit_parameters_and_checksums(page, folder):
    text = page.cells[-2].source
    assert "git checkout c0ffee\nkbrepro reproduce 01 --profile quick\n" in text
    assert "1.5 min" in text and "10 min" in text
    for fact in ("| `horizon` | `20` |", "| `lab/one.csv` | `abc` |", "| `numpy` | `2` |"):
        assert fact in text
    assert "differed" not in text
    assert "differed" in pages.rerun(folder.parents[2], folder, FACTS | {"git": {"commit": "c0ffee", "dirty": True}})


def test_a_custom_run_names_the_settings_that_differ_from_its_profile(folder):
    root = folder.parents[2]
    run = FACTS | {"profile": "paper", "parameters": {"horizon": 2000, "scale": 0.5, "sizes": [3]}}
    text = pages.rerun(root, root / "results" / "custom" / "0123" / NAME, run)
    assert "kbrepro reproduce 01 --profile paper --set 'sizes=[3]'\n" in text


def test_links_lead_to_pages_of_the_site_or_are_names_of_files_and_who_to_cite_ends_it(page):
    assert "See [symbols](notation.md), x (`x.py`)." in page.cells[0].source
    text = page.cells[-1].source
    assert "A. Low, B. Lee. *On Small*." in text and "we. *All*, version 1.0" in text and "Big" not in text
