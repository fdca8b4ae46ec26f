"""A digest of what a predicate computes: the same on Python 3.11 to 3.13 and with other comments,
docstrings, formats and names of locals; another one with other code, tables, words or limits. An
edition freezes those of all sentences.
"""

import ast
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from kbrepro.claims import words
from kbrepro.claims.judging import Claim, Theorem

#: In the text of a syntax tree: a docstring, and what some Pythons leave out.
SILENT = re.compile(r"Expr\(value=Constant\(value=(['\"]).*?\1\)\)|\w+=\[\]|, ")
#: A variable, an argument or a function there; they become <name>.
NAME = re.compile(r"\b(?:Name\(id|arg\(arg|FunctionDef\(name)='(\w+)'")


#: Before the name of a function: the effect that its decorator has.
EFFECT = "effect of "


def frozen(sentence: Claim | Theorem) -> str:
    """Return 16 hex digits of what an edition freezes of a claim or a theorem: its sentence, kind
    and finding, and what its predicate and its effect, or its check, compute.
    """
    if isinstance(sentence, Theorem):
        said = (sentence.statement, sentence.outcome, sentence.corrected)
        return _hashed([said, sentence.slopes, digest(sentence.check)])
    said = (sentence.quote, sentence.kind, sentence.finding)
    predicate = sentence.predicate
    return _hashed([said, digest(predicate, EFFECT + predicate.__name__)])


def code_of(path: Path) -> str:
    """Return 16 hex digits of what the statements of a module compute."""
    return _hashed(sorted(_trees(path.read_text(encoding="utf-8")).items()))


def digest(function: Callable[..., Any], *others: str) -> str:
    """Return 16 hex digits of the syntax tree of a module's function, of `others` of its module,
    and of all that they name: functions and tables of its module and of the words, numbers and
    texts of any.
    """
    module = function.__globals__
    trees: dict[str, str] = {}
    for path in (words.__file__, module["__file__"]):
        trees |= _trees(Path(path).read_text(encoding="utf-8"))
    names = [function.__name__, *others]
    said = {}
    for name in names:  # they become more
        if name not in said:
            value = module.get(name)
            is_plain = isinstance(value, int | float | str)
            said[name] = repr(value) if is_plain else trees.get(name, "")
            names += re.findall(r"<(\w+)>", said[name])
    return _hashed(sorted(said.items()))


def _hashed(thing: object) -> str:
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:16]


@cache
def _trees(source: str) -> dict[str, str]:
    """The statements of a module as texts of syntax trees, by the first name that each defines, and
    the effects of claims; in them all names that are not such are numbers.
    """
    texts = {}
    for statement in ast.parse(source).body:
        for decorator in getattr(statement, "decorator_list", []):
            for keyword in getattr(decorator, "keywords", []):
                if keyword.arg == "effect":
                    texts[EFFECT + getattr(statement, "name", "")] = _text(keyword.value)
        vars(statement).update(decorator_list=[])
        text, own = _text(statement)
        texts.update(dict.fromkeys(own[:1], (text, own)))
    trees = {}
    for defined, (text, own) in texts.items():
        for number, name in enumerate(own):
            if name not in texts:
                text = text.replace(f"<{name}>", f"<{number}>")
        trees[defined] = text
    return trees


def _text(tree: ast.AST) -> tuple[str, list[str]]:
    """A syntax tree as text, and the names that it binds."""
    text = NAME.sub(r"<\1>", SILENT.sub("", ast.dump(tree)))
    return text, re.findall(r"<(\w+)>(?!ctx=Load)", text)
