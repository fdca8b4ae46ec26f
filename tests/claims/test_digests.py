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
    assert digest() == "57cb458cf00379b4"


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


CLAIMS = '''
from string import digits as RULES

from kbrepro.claims import words
from kbrepro.claims.judging import Outcome, claim, theorem
from kbrepro.claims.tables import Table

fig1, fig2 = both = Table("Fig. 1", size=10), Table("Fig. 2", size=20)


def ahead(figure):
    return figure["a"] / figure["b"]


@claim("9-A", "Fig. 2", effect=lambda fig1: ahead(fig1), shows="ratio", finding="alike")
def alike(*both):
    """a and b are alike"""
    return words.similar(both[0]["a"], both[1][RULES])


def within(label, limit):
    def check(kept):
        return Outcome.of(kept.column(label, "a", "total") / limit)

    return check


lemma = theorem("9-T", "Lemma 1", "runs", "a is at most 3.", slopes=False)(within("Fig. 1", 3))
'''


@pytest.fixture
def frozen(tmp_path):
    """What is frozen of a claim or a lemma after a replacement in the source."""

    def of(name, old="", new=""):
        assert old in CLAIMS
        path = tmp_path / "claims.py"
        path.write_text(CLAIMS.replace(old, new) if old else CLAIMS)
        names = {"__file__": str(path)}
        exec(path.read_text(), names)
        return digests.frozen(names[name])

    return of


@pytest.mark.parametrize(
    ("name", "old", "new", "moves"),
    [
        ("alike", '"""a and b are alike"""', '"""a and b are equal"""', True),
        ("alike", '"Fig. 2", effect', '"Fig. 2", kind="remark", effect', True),
        ("alike", 'finding="alike"', 'finding="equal"', True),
        ("alike", 'figure["a"] / ', 'figure["a"] - ', True),
        ("alike", "ahead(fig1),", "1 / ahead(fig1),", True),
        ("alike", "size=10", "size=11", True),
        ("alike", "size=20", "size=21", True),
        ("alike", "words.similar", "words.better", True),
        ("alike", "digits as", "octdigits as", True),
        ("alike", 'shows="ratio"', 'shows="a over b"', False),
        ("alike", '"Fig. 2", effect', '"Fig. 3", effect', False),
        ("alike", "return words.similar(", "return (words.similar)(  # ours\n", False),
        ("alike", "figure", "f", False),
        ("lemma", "at most 3", "at most 4", True),
        ("lemma", "slopes=False", "slopes=True", True),
        ("lemma", " / limit", " - limit", True),
        ("lemma", '("Fig. 1", 3)', '("Fig. 1", 4)', True),
        ("lemma", '"runs"', '"200 runs"', False),
        ("lemma", '"Lemma 1"', '"Lemma 2"', False),
        ("lemma", "check", "counted", False),
    ],
)
def test_an_edition_freezes_what_is_asked_and_not_how_it_is_shown(frozen, name, old, new, moves):
    assert (frozen(name, old, new) != frozen(name)) == moves


def test_a_check_without_a_name_cannot_be_frozen(frozen):
    with pytest.raises(ValueError, match=r"claims\.py must give a name to <lambda>$"):
        frozen("lemma", 'within("Fig. 1", 3)', "lambda kept: Outcome(0, 1)")


def test_the_code_of_a_module_is_that_of_all_its_classes(tmp_path):
    source = "class A:\n    def go(self):\n        return 1\n\n\n"
    source += source.replace("A", "B").replace("1", "2")

    def code(old="", new=""):
        (tmp_path / "module.py").write_text(source.replace(old, new) if old else source)
        return digests.code_of(tmp_path / "module.py")

    assert code("return 1", "return 3") != code() != code("return 2", "return 3")
    assert code("return 1", "# one\n        return (1)") == code() == code("self", "this")


def test_a_word_moves_it(digest, tmp_path, monkeypatch):
    before, text = digest(), Path(words.__file__).read_text(encoding="utf-8")
    (tmp_path / "words.py").write_text(text.replace('"tie": 1e-9', '"tie": 1e-8'), encoding="utf-8")
    monkeypatch.setattr(words, "__file__", str(tmp_path / "words.py"))
    assert digest() != before
