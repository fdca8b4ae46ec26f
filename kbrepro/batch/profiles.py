"""Lists notebooks and profiles, and checks whether values fit a notebook's parameters; starts no kernel."""

from collections.abc import Iterable
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
    known = [numbered.get(stem.zfill(2), stem) for stem in (Path(name).stem for name in wanted)]
    for name in known:
        checks.one_of(tuple(names), notebook=name)
    return list(dict.fromkeys(known)) or names


def require(root: Path, profile: str) -> None:
    """Raise ValueError unless a profile is the full scale or a folder of notebooks/profiles."""
    folders = sorted(each.name for each in (root / "notebooks" / "profiles").glob("*/"))
    checks.one_of((paths.FULL_SCALE, *folders), profile=profile)


def parameters(root: Path, notebook: str, profile: str) -> dict[str, Any]:
    """Return the parameters of a notebook in a profile: those of its cell tagged `parameters`, as the profile has them.

    ValueError if there is no such profile, or it is no mapping; on a name that the notebook has not; and on what its
    cell tagged `checks` refuses: it runs here, so that no kernel starts with impossible values.
    """
    profiles, values = root / "notebooks" / "profiles", dict[str, Any]()
    require(root, profile)
    if profile != paths.FULL_SCALE:
        path = profiles / profile / f"{notebook}.yaml"
        where = path.relative_to(root).as_posix()
        if not path.is_file():
            raise ValueError(f"profile {profile!r} says nothing about {notebook}: there is no {where}")
        try:
            values = dict(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
        except (yaml.YAMLError, TypeError, ValueError) as error:
            raise ValueError(f"{where} is not allowed: it must be lines of name: value ({error})") from None
    names: dict[str, Any] = {"checks": checks}
    exec(_cell(root, notebook, "parameters"), names)
    known = {name: names[name] for name in names if name[0] != "_" and name not in ("checks", RESERVED)}
    for name in values:
        checks.one_of(tuple(known), **{f"parameter of {notebook}": name})
    exec(_cell(root, notebook, "checks"), names | values)
    return known | values


def _cell(root: Path, notebook: str, tag: str) -> str:
    """The code of the cells of a notebook with a tag."""
    cells = jupytext.read(root / "notebooks" / f"{notebook}.py").cells
    return "\n".join(cell.source for cell in cells if tag in cell.metadata.get("tags", []))
