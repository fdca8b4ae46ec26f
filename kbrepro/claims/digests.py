"""A digest of what a predicate computes: the same on Python 3.11 to 3.13 and with other comments,
docstrings, formats and names of locals; another one with other code, tables, words or limits. An
edition freezes those of all sentences.
"""

import ast
import hashlib
import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from kbrepro.claims import words
from kbrepro.claims.judging import Claim, Theorem

#: In the text of a syntax tree: a docstring, and what some Pythons leave out.
SILENT = re.compile(r"Expr\(value=Constant\(value=(['\"]).*?\1\)\)|\w+=\[\]|, ")
#: A variable, an argument, a function or a class there; they become <name>.
NAME = re.compile(r"\b(?:Name\(id|arg\(arg|FunctionDef\(name|ClassDef\(name)='(\w+)'")
#: `words.better`, which is `better`.
OF_WORDS = re.compile(r"Attribute\(value=Name\(id='words'ctx=Load\(\)\)attr='(\w+)'")

#: Before the name of a function: the effect that its decorator has.
EFFECT = "effect of "


def frozen(sentence: Claim | Theorem) -> str:
    """Return 16 hex digits of what an edition freezes of a claim or a theorem: its sentence, kind
    and finding, and what its predicate and its effect, or its check, compute.
    """
    if isinstance(sentence, Theorem):
        said = (sentence.statement, sentence.outcome, sentence.corrected)
        # an outcome that is given was not counted in runs
        checked = "" if sentence.outcome else digest(sentence.check)
        return _hashed([said, sentence.slopes, checked])
    said = (sentence.quote, sentence.kind, sentence.finding)
    predicate = sentence.predicate
    return _hashed([said, digest(predicate, EFFECT + predicate.__name__)])


def code_of(path: Path) -> str:
    """Return 16 hex digits of what the statements of a module compute."""
    return _hashed(sorted(_trees(path.read_text(encoding="utf-8")).items()))


def digest(function: Callable[..., Any], *others: str) -> str:
    """Return 16 hex digits of the syntax tree of a module's function, of `others` of its module,
    and of all that they name: functions and tables of its module and of the words, numbers, texts
    and lists of them of any. Of a function that another one returned it is the tree of that one,
    and with what it was called.

    ValueError on a function without a name in its module.
    """
    module = function.__globals__
    trees: dict[str, str] = {}
    for path in (words.__file__, module["__file__"]):
        trees |= _trees(Path(path).read_text(encoding="utf-8"))
    first = function.__qualname__.partition(".")[0]
    if first not in trees:
        raise ValueError(f"{module['__file__']} must give a name to {function.__qualname__}")
    names, said = [first, *others], {}
    if cells := function.__closure__:
        held = [cell.cell_contents for cell in cells]
        names += [value.__name__ for value in held if callable(value)]
        said["held"] = json.dumps(held, default=lambda value: getattr(value, "__name__", ""))
    for name in names:  # they become more
        if name not in said:
            said[name] = trees.get(name, "")
            if name not in trees:
                with suppress(KeyError, TypeError):  # it is no number, text or list of them
                    said[name] = json.dumps(module[name])
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
        texts |= dict.fromkeys(_defined(statement), _text(statement))
    trees = {}
    for defined, (text, own) in texts.items():
        for number, name in enumerate(own):
            if name not in texts:
                text = text.replace(f"<{name}>", f"<{number}>")
        trees[defined] = text
    return trees


def _defined(statement: ast.stmt) -> list[str]:
    """The names of a module that a statement defines: a function, a class, or all its targets."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    targets = getattr(statement, "targets", [getattr(statement, "target", statement)])
    names = []
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append(node.id)
    return names


def _text(tree: ast.AST) -> tuple[str, list[str]]:
    """A syntax tree as text, and the names that it binds."""
    text = OF_WORDS.sub(r"Name(id='\1'", SILENT.sub("", ast.dump(tree)))
    text = NAME.sub(r"<\1>", text)
    return text, re.findall(r"<(\w+)>(?!ctx=Load)", text)
