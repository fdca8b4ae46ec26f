"""Each row of docs/found_on_the_way.md has a section, and each section names the tests that prove it on a range."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "found_on_the_way.md"


def named_in(pattern):
    bodies = (ast.parse(file.read_text(encoding="utf-8")).body for file in sorted(HERE.glob(pattern)))
    names = {node.name for body in bodies for node in body if isinstance(node, ast.FunctionDef)}
    return {name for name in names if name.startswith("test_")}


def anchor(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def sections(page):
    """Return the tests that each section names, by its anchor."""
    parts = re.split(r"^### (.+)$", page, flags=re.MULTILINE)[1:]
    by_head = zip(parts[::2], parts[1::2], strict=True)
    return {anchor(head): set(re.findall(r"`(test_\w+)`", text)) for head, text in by_head}


def wrong(page):
    """Return rows without section, sections without row or certificate, and tests that do not exist."""
    named, rows = sections(page), re.findall(r"^\|.*\]\(#([\w-]+)\)", page, flags=re.MULTILINE)
    certificates = named_in("test_certificates*.py")
    bare = {its for its, tests in named.items() if not tests & certificates}
    missing = set().union(*named.values()) - certificates - named_in("test_found_on_the_way.py")
    return {*rows} ^ {*named} | bare | missing | {its for its in rows if rows.count(its) > 1}


def test_each_row_has_a_section_that_names_its_certificate():
    page = PAGE.read_text(encoding="utf-8")
    assert len(sections(page)) >= 10 and wrong(page) == set()
