"""Lists notebooks and profiles, and checks whether values fit a notebook's parameters; runs nothing."""

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jupytext
import yaml

from kbrepro import checks, paths

RESERVED = "results_dir"  # set by the batch itself


def chosen(root: Path, wanted: Iterable[str] = ()) -> list[str]:
    """Return the names of the wanted notebooks, each a name, a number or a path; of all if none is wanted.

    ValueError on one that is not there.
    """
    names = sorted(path.stem for path in (root / "notebooks").glob("[0-9][0-9]_*.py"))
    numbered = {name[:2]: name for name in names}
    found = [numbered.get(Path(name).stem, Path(name).stem) for name in wanted]
    for name in found:
        _one_of(names, "notebook", name)
    return list(dict.fromkeys(found)) or names


def _one_of(allowed: Sequence[str], what: str, name: str) -> None:
    if name not in allowed:
        raise ValueError(f"{what} {name!r} is not there; allowed: {', '.join(allowed) or 'none'}")


def of_profile(root: Path, notebook: str, profile: str) -> dict[str, Any]:
    """Return the parameters that a profile changes in a notebook; ValueError if it does not exist or is no flat map."""
    folder = root / "notebooks" / "profiles"
    _one_of([paths.FULL_SCALE, *sorted(each.name for each in folder.glob("*/"))], "profile", profile)
    if profile == paths.FULL_SCALE:
        return {}
    path = folder / profile / f"{notebook}.yaml"
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
    found = {line.target.id: ast.literal_eval(line.value) for line in body if isinstance(line, ast.AnnAssign)}  # type: ignore[union-attr, arg-type]
    return {name: value for name, value in found.items() if name != RESERVED}


def parameters(root: Path, notebook: str, profile: str) -> dict[str, Any]:
    """Return the parameters of a notebook in a profile.

    ValueError on a name that the notebook has not, and on what its cell tagged `checks` refuses: it runs here, so that
    no kernel starts with impossible values.
    """
    known, values = defaults(root, notebook), of_profile(root, notebook, profile)
    for name in values.keys() - known.keys():
        raise ValueError(f"{notebook} has no parameter {name!r} to set; allowed: {', '.join(known) or 'none'}")
    for cell in _cells(root, notebook, "checks"):
        exec(cell, {"checks": checks} | known | values)
    return known | values


def _cells(root: Path, notebook: str, tag: str) -> list[str]:
    """The cells of a notebook with a tag."""
    cells = jupytext.read(root / "notebooks" / f"{notebook}.py").cells
    return [cell.source for cell in cells if tag in cell.metadata.get("tags", [])]
