"""A digest of a predicate moves with what it computes, and with nothing else, on every Python."""

from pathlib import Path

import pytest

from kbrepro.claims import digests, words

SOURCE = '''
from kbrepro.claims.tables import Table
from kbrepro.claims.words import LIMITS, better

LIMIT = 0.5
fig1 = Table("Fig. 1", size=10)


def half(number):
    """Half of it."""
    whole = number
    return [LIMIT * part for part in [whole]]


def in_one(fig1):
    """a is better than b"""
    a = fig1["a"]
    return better(a, half(fig1["b"])) & (a <= LIMIT)


def unused(fig1):
    return fig1
'''


@pytest.fixture
def digest(tmp_path):
    """The digest of `in_one` after a replacement in the source."""

    def of(old="", new=""):
        assert old in SOURCE
        path = tmp_path / "claims.py"
        path.write_text(SOURCE.replace(old, new) if old else SOURCE)
        names = {"__file__": str(path)}
        exec(path.read_text(), names)
        return digests.digest(names["in_one"])

    return of


def test_it_is_the_same_on_every_python(digest, tmp_path, monkeypatch):
    monkeypatch.setattr(words, "__file__", str(tmp_path / "words.py"))
    (tmp_path / "words.py").write_text('LIMITS = {"tie": 1e-9}\n')
    assert digest() == "d914dc3d93372b0c"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 0.5", "# ours\nLIMIT = 0.50"),
        ('"""a is better than b"""', '"""it\'s "less" ))"""'),
        ('    """Half of it."""\n', ""),
        ("    whole = number\n    return [LIMIT * part for part in [whole]]",
         "    of = number\n\n    return [LIMIT * b for b in [of]]"),
        ("    return fig1\n", "    return not fig1\n"),
        ("def in_one", "@(lambda function: function)\ndef in_one"),
    ],
)  # fmt: skip
def test_nothing_else_moves_it(digest, old, new):
    assert digest(old, new) == digest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a <= LIMIT", "a >= LIMIT"),
        ("LIMIT = 0.5", "LIMIT = 0.6"),
        ("LIMIT * part", "LIMIT + part"),
        ('["a"]', '["b"]'),
        ("[whole]]", "[number]]"),
        ("size=10", "size=11"),
        ("fig1", "fig2"),
        ("better", "similar"),
    ],
)
def test_what_is_computed_moves_it(digest, old, new):
    assert digest(old, new) != digest()


def test_a_word_moves_it(digest, tmp_path, monkeypatch):
    before, text = digest(), Path(words.__file__).read_text(encoding="utf-8")
    (tmp_path / "words.py").write_text(text.replace('"tie": 1e-9', '"tie": 1e-8'), encoding="utf-8")
    monkeypatch.setattr(words, "__file__", str(tmp_path / "words.py"))
    assert digest() != before
