"""The site of the committed runs in a browser, from disk: nothing missing, no network, no page too wide."""

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import CHROMIUM, Browser

from kbrepro import papers
from kbrepro.site import build
from kbrepro.verdicts import claims

ROOT = Path(__file__).parents[2]
DESKTOP, PHONE = 1400, 390

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome is installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The site of the committed full-scale runs, made in a copy."""
    root = tmp_path_factory.mktemp("project")
    for name in ("docs", "notebooks", "results/paper"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("report", "*.npz", "*.partial"))
    (root / "kbrepro").mkdir()
    shutil.copy(ROOT / "CITATION.cff", root)
    return build.build(root, root / "results" / "paper").parent


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(report):
    return {page.name: page for page in sorted(report.glob("*.html"))}


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_page_loads_in_silence_with_all_images_and_fits_the_screen(browser, pages, width):
    wrong = {}
    for name, page in pages.items():
        browser.open(page, width)
        missing = browser.ask("[...document.images].filter(i => i.src && !i.naturalWidth).map(i => i.src)")
        wide = browser.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        wrong[name] = [*browser.complaints, *missing, *([f"{wide} px too wide"] if wide > 0 else [])]
    assert {name: its for name, its in wrong.items() if its} == {}
    papers = {f"{path.stem}.html" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {"index.html", "try_it.html", "scorecard.html", "api.html", *papers} <= set(pages)


def test_every_link_within_the_site_leads_somewhere(pages, report):
    text = {page: page.read_text(encoding="utf-8") for page in report.glob("*.html")}
    ids = {page: set(re.findall(r'\bid="([^"]+)"', its)) for page, its in text.items()}
    broken = []
    for page, its in text.items():
        for link in {unescape(link) for link in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', its)}:
            parts = urlsplit(link)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme or parts.netloc:
                continue
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in ids.get(target, set())):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_a_claim_is_found_at_its_permanent_anchor_and_its_fold_opens(browser, pages):
    rules = claims.load(min((ROOT / "notebooks" / "claims").glob("[0-9]*.yaml")))
    name, claim = list(rules.claims.items())[1]
    browser.open(pages[f"{rules.notebook}.html"], DESKTOP)
    row = f"document.getElementById('{name}').closest('tr')"
    assert browser.ask(f"{row}.innerText").startswith(name)
    assert " ".join(claim.says.split()[:3]) in browser.ask(f"{row}.innerText")
    rule = next(iter(claim.parts.values())).rule.text
    assert f"rule {rule}" not in browser.ask(f"{row}.innerText")
    browser.ask(f"{row}.querySelector('details').open = true")
    assert f"rule {rule}" in browser.ask(f"{row}.innerText")


def test_the_scorecard_is_filtered_by_paper_kind_and_verdict(browser, pages):
    browser.open(pages["scorecard.html"], DESKTOP)
    rows = "[...document.querySelectorAll('table tbody tr')]"
    shown = rows + ".filter(r => r.offsetParent && /^\\d+-[A-Z]/.test(r.innerText))"
    every = browser.ask(f"{shown}.length")
    boxes = browser.ask("[...document.querySelectorAll('.filters select')].map(b => b.getAttribute('aria-label'))")
    assert boxes == ["paper", "kind", "verdict"]
    for number, value in enumerate(("04", "experiment", "depends")):
        box = f"document.querySelectorAll('.filters select')[{number}]"
        browser.ask(f"{box}.value = '{value}', {box}.onchange()")
    left = browser.ask(f"{shown}.map(r => r.innerText)")
    assert 0 < len(left) < every and all(row.startswith("4-") and "depends" in row for row in left)


def test_search_finds_a_paper_before_the_names_of_its_functions(browser, pages):
    browser.open(pages["search.html"], DESKTOP, query="q=starvation")
    browser.ask("new Promise(done => setTimeout(done, 3000))")
    assert "starvation" in browser.ask("document.querySelector('ul.search li a').innerText")


def test_every_scene_runs_in_its_page_which_is_small(browser, pages):
    browser.open(pages["try_it.html"], PHONE)
    assert browser.ask("document.querySelectorAll('.live[data-on] .chart > svg').length") == 13
    assert pages["try_it.html"].stat().st_size < 400_000


@pytest.mark.parametrize(
    ("name", "most"),
    [("index", 4000), ("scorecard", 12000), *((paper.notebook, 15000) for paper in papers.found().values())],
)
def test_a_page_is_no_longer_than_it_may_be(browser, pages, name, most):
    browser.open(pages[f"{name}.html"], DESKTOP)
    assert browser.ask("document.documentElement.scrollHeight") <= most
