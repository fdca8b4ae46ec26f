"""Lists notebooks and profiles, and checks whether values fit a notebook's parameters; runs nothing."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kbrepro import checks

PAPER = "paper"  # the notebooks' own defaults
RESERVED = "results_dir"  # set by the batch itself
_WORDS = {int: "an integer", float: "a number", bool: "True or False", str: "text", list: "a list"}


def notebook_names(root: Path) -> list[str]:
    """Return the names of the notebooks, sorted."""
    return sorted(path.stem for path in (root / "notebooks").glob("[0-9][0-9]_*.py"))


def chosen(wanted: Iterable[str], available: list[str], what: str) -> list[str]:
    """Return the wanted names in order, or all available ones if none is wanted; ValueError on an unknown one.

    A notebook may also be named by its number or its path: 01 or notebooks/01_name.py.
    """
    numbered = {name.partition("_")[0]: name for name in available}
    wanted = [name.removesuffix(".ipynb").removesuffix(".py").removeprefix("notebooks/") for name in wanted]
    wanted = list(dict.fromkeys(numbered.get(name, name) for name in wanted))
    for name in wanted:
        if name not in available:
            raise ValueError(f"{what} {name!r} is not there; allowed: {', '.join(available) or 'none'}")
    return wanted or available


def read_setting(text: str) -> tuple[str, Any]:
    """Return name and value of `name=value`, the value as Python has it, otherwise text; ValueError without a name."""
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value:
        raise ValueError(f"--set {text!r} is not allowed: it must be name=value")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def of_profile(root: Path, notebook: str, profile: str) -> dict[str, Any]:
    """Return the parameters that a profile changes in a notebook; ValueError if it does not exist or is no flat map."""
    there = (root / "notebooks" / "profiles").glob("*/")
    chosen([profile], [PAPER, *sorted(folder.name for folder in there)], "profile")
    if profile == PAPER:
        return {}
    path = root / "notebooks" / "profiles" / profile / f"{notebook}.yaml"
    where = path.relative_to(root).as_posix()
    if not path.is_file():
        raise ValueError(f"profile {profile!r} says nothing about {notebook}: there is no {where}")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"{where} cannot be read as YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{where} is not allowed: it must be lines of name: value")
    return values


def defaults(root: Path, notebook: str) -> dict[str, Any]:
    """Return the parameters of a notebook with their defaults: the cell that is tagged `parameters`."""
    body = ast.parse("\n".join(_cells(root, notebook, "parameters"))).body
    return {line.target.id: ast.literal_eval(line.value) for line in body if isinstance(line, ast.AnnAssign)}  # type: ignore[union-attr, arg-type]


def _cells(root: Path, notebook: str, tag: str) -> list[str]:
    """The cells of a notebook with a tag."""
    import jupytext

    cells = jupytext.read(root / "notebooks" / f"{notebook}.py").cells
    return [cell.source for cell in cells if tag in cell.metadata.get("tags", [])]


def check(root: Path, notebook: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Raise ValueError unless every value has the name and type of a parameter and passes the notebook's checks.

    The checks are its cell tagged `checks`, which runs here, so that no kernel starts with impossible values.
    """
    allowed = {name: type(value) for name, value in defaults.items() if name != RESERVED}
    for name, value in values.items():
        if name not in allowed:
            raise ValueError(f"{notebook} has no parameter {name!r} to set; allowed: {', '.join(allowed) or 'none'}")
        if type(value) is not (kind := allowed[name]) and (kind, type(value)) != (float, int):
            raise ValueError(f"{notebook}: {name} = {value!r} is not allowed: {name} must be {_WORDS[kind]}")
    for cell in _cells(root, notebook, "checks"):
        exec(cell, {"checks": checks} | dict(defaults) | dict(values))
