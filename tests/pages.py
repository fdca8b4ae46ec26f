"""The pages of the repository, and their blocks of code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", flags=re.S | re.M)


def page(name):
    """Return the text of a page, by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text, language):
    """Return the blocks of code of a text in a language."""
    return [code for name, code in FENCED.findall(text) if name == language]


def run(codes, **names):
    """Return the names that codes have in the end, run one after the other."""
    scope = {"__name__": "example"} | names
    for code in codes:
        exec(code, scope)
    return scope
