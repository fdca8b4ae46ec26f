"""Each row of docs/errors.md has a section, and each section names the tests that prove it on a
range.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent


def names_in(pattern):
    return {
        test
        for file in HERE.glob(pattern)
        for test in re.findall(r"(?m)^def (test_\w+)", file.read_text("utf-8"))
    }


def test_each_row_has_a_section_that_names_its_certificate():
    page = (HERE.parent / "docs" / "errors.md").read_text("utf-8")
    _, *parts = re.split(r"(?m)^### (.+)$", page)
    heads = [re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in parts[::2]]
    rows, certificates = (
        re.findall(r"(?m)^\|.*\]\(#([\w-]+)\)", page),
        names_in("test_certificates*.py"),
    )
    assert len(rows) >= 10 and sorted(rows) == sorted(heads)
    for head, text in zip(heads, parts[1::2], strict=True):
        named = set(re.findall(r"`(test_\w+)`", text))
        assert named & certificates, head
        assert named <= certificates | names_in("test_errors.py"), head
