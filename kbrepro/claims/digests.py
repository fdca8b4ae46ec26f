"""A digest of what a predicate computes: the same on Python 3.11 to 3.13 and with other comments,
docstrings, formats and names of locals; another one with other code, tables, words or limits.
"""

import ast
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from kbrepro.claims import words

#: In the text of a syntax tree: a docstring, and what some Pythons leave out.
SILENT = re.compile(r"Expr\(value=Constant\(value=(['\"]).*?\1\)\)|\w+=\[\]|, ")
#: A variable, an argument or a function there; they become <name>.
NAME = re.compile(r"\b(?:Name\(id|arg\(arg|FunctionDef\(name)='(\w+)'")


def digest(function: Callable[..., Any]) -> str:
    """Return 16 hex digits of the syntax tree of a module's function and of all that it names:
    functions and tables of its module and of the words, numbers and texts of any.
    """
    module = function.__globals__
    trees: dict[str, str] = {}
    for path in (words.__file__, module["__file__"]):
        trees |= _trees(Path(path).read_text(encoding="utf-8"))
    names = [function.__name__]
    said = {}
    for name in names:  # they become more
        if name not in said:
            value = module.get(name)
            is_plain = isinstance(value, int | float | str)
            said[name] = repr(value) if is_plain else trees.get(name, "")
            names += re.findall(r"<(\w+)>", said[name])
    return hashlib.sha256(repr(sorted(said.items())).encode()).hexdigest()[:16]


@cache
def _trees(source: str) -> dict[str, str]:
    """The statements of a module as texts of syntax trees, by the first name that each defines; in
    them all names that are not such are numbers.
    """
    texts = {}
    for statement in ast.parse(source).body:
        vars(statement).update(decorator_list=[])
        text = NAME.sub(r"<\1>", SILENT.sub("", ast.dump(statement)))
        own = re.findall(r"<(\w+)>(?!ctx=Load)", text)
        texts.update(dict.fromkeys(own[:1], (text, own)))
    trees = {}
    for defined, (text, own) in texts.items():
        for number, name in enumerate(own):
            if name not in texts:
                text = text.replace(f"<{name}>", f"<{number}>")
        trees[defined] = text
    return trees
