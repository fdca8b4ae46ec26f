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


def left_of_numbers(text, phrases, settings):
    """Return the words with a digit in a page that are in none of its phrases, which must be there,
    nor in code, addresses of links or settings (a pattern).
    """
    page, wanted = plain(text), []
    for words in phrases:
        if plain(words) not in page:
            wanted.append(words)
        page = page.replace(plain(words), "", 1)
    assert not wanted, "\n".join(["a page needs:", *wanted])
    return re.findall(r"\S*\d\S*", re.sub(settings, "", page))


def plain(text):
    """Return a text on one line, without code and addresses of links."""
    return " ".join(re.sub(r"```.*?```|\]\([^)]*\)|`[^`]*`", "", text, flags=re.S).split())
