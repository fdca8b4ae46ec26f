"""Which modules of kbrepro some settings use, and a digest of their source: what kept results depend on."""

from __future__ import annotations

import ast
import hashlib
import pickle
import pickletools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent


def modules() -> dict[str, Path]:
    """Return every module of kbrepro by name, `kbrepro.policies.ucb` for policies/ucb.py, with its file."""
    files = {"kbrepro." + ".".join(p.relative_to(PACKAGE).with_suffix("").parts): p for p in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in sorted(files.items())}


def modules_of(settings: Any) -> set[str]:
    """Return the modules of kbrepro that picklable settings name, directly or through imports.

    Raises ValueError if they name a function or class of the main program: its source cannot be followed.
    """
    words = {word for _, word, _ in pickletools.genops(pickle.dumps(settings, protocol=4)) if isinstance(word, str)}
    if "__main__" in words:
        raise ValueError("settings name a function defined in the notebook or script: it must stand in a module")
    known = modules()
    found, open_ends = set(), [word for word in words if word in known]
    while open_ends:
        name = open_ends.pop()
        if name not in found:
            found.add(name)
            open_ends += _imports(known[name], known)
    return found


def digest(names: Iterable[str] | None = None) -> str:
    """Return a digest of the source of the named modules, of all if none are named."""
    known = modules()
    total = hashlib.sha256()
    for name in sorted(known if names is None else names):
        total.update(name.encode() + b"\0" + known[name].read_bytes())
    return total.hexdigest()[:16]


def _imports(path: Path, known: dict[str, Path]) -> list[str]:
    """The modules that a file imports; of `from kbrepro.policies import UCB` the package's own file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in found if name in known]
