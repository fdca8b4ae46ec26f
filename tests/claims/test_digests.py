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
def loaded(tmp_path):
    """What a name of a source stands for after a replacement in it."""

    def of(source, name, old, new):
        assert old in source
        path = tmp_path / "claims.py"
        path.write_text(source.replace(old, new) if old else source)
        names = {"__file__": str(path)}
        exec(path.read_text(), names)
        return names[name]

    return of


@pytest.fixture
def digest(loaded):
    """The digest of `in_one` after a replacement in the source."""
    return lambda old="", new="": digests.digest(loaded(SOURCE, "in_one", old, new))


def test_it_is_the_same_on_every_python(digest, tmp_path, monkeypatch):
    monkeypatch.setattr(words, "__file__", str(tmp_path / "words.py"))
    (tmp_path / "words.py").write_text('LIMITS = {"tie": 1e-9}\n')
    assert digest() == "57cb458cf00379b4"


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        ("LIMIT = 0.5", "# ours\nLIMIT = 0.50", False),
        ('"""a is better than b"""', '"""it\'s "less" ))"""', False),
        ('    """Half of it."""\n', "", False),
        ("    whole = number\n    return [LIMIT * part for part in [whole]]",
         "    of = number\n\n    return [LIMIT * b for b in [of]]", False),
        ("    return fig1\n", "    return not fig1\n", False),
        ("def in_one", "@(lambda function: function)\ndef in_one", False),
        ("a <= LIMIT", "a >= LIMIT", True),
        ("LIMIT = 0.5", "LIMIT = 0.6", True),
        ("LIMIT * part", "LIMIT + part", True),
        ('["a"]', '["b"]', True),
        ("[whole]]", "[number]]", True),
        ("size=10", "size=11", True),
        ("fig1", "fig2", True),
        ("better", "similar", True),
    ],
)  # fmt: skip
def test_what_is_computed_moves_it_and_nothing_else(digest, old, new, moves):
    assert (digest(old, new) != digest()) == moves


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
def frozen(loaded):
    """What is frozen of a claim or a lemma after a replacement in the source."""
    return lambda name, old="", new="": digests.frozen(loaded(CLAIMS, name, old, new))


@pytest.mark.parametrize(
    ("name", "old", "new", "moves"),
    [
        ("alike", '"""a and b are alike"""', '"""a and b are equal"""', True),
        ("alike", '"Fig. 2", effect', '"Fig. 2", kind="remark", effect', True),
        ("alike", 'finding="alike"', 'finding="equal"', True),
        ("alike", 'figure["a"] / ', 'figure["a"] - ', True),
        ("alike", "ahead(fig1),", "1 / ahead(fig1),", True),
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
