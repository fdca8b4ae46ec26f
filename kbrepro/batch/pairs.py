"""A notebook's two files, the .py, whose text runs, and the .ipynb: which of them was edited."""

import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import jupytext
import nbformat

from kbrepro.batch import profiles


def refreshed(root: Path, name: str) -> Path:
    """Return where a copy lies of the .ipynb that `kbrepro refresh` made last."""
    return root / f".cache/refreshed/{name}.ipynb"


def require_unedited(root: Path, notebooks: Iterable[str], discard: bool) -> None:
    """Raise ValueError, with both ways on, if an .ipynb has cells that are nowhere else and that
    nobody wants to discard.
    """
    for name in profiles.named_notebooks(root, notebooks):
        line, is_edited = differ(root, name)
        if is_edited and not discard:
            raise ValueError(f"{name}: {line}; --discard runs the .py all the same")


def differ(root: Path, name: str) -> tuple[str, bool]:
    """Return in words that the cells of a notebook's two files differ, with both ways on, and
    whether those of the .ipynb are neither committed nor made by `kbrepro refresh`.

    Empty if they are equal or there is no .ipynb.
    """
    where = f"notebooks/{name}.ipynb"
    text = _cells(jupytext.writes(profiles.source(root, name), "ipynb"))
    shown = _cells(_read(root / where))
    if not (root / where).is_file() or shown == text:
        return "", False
    committed = _cells(_committed(root, where))
    edited = [".ipynb"] * (shown != committed) + [".py"] * (text != committed)
    which = f" (not as committed: {' and '.join(edited)})" if committed else ""
    is_edited = shown not in (committed, _cells(_read(refreshed(root, name))))
    line = (
        f"the .ipynb has other cells than the .py, which runs{which}: `jupytext --to py:percent"
        f" {where}` copies them into the .py, `kbrepro refresh {name[:2]}"
        f"{' --discard' * is_edited}` makes the .ipynb again from the .py"
    )
    return line, is_edited


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _committed(root: Path, where: str) -> str:
    """A file as it is committed; empty where git has none, or is not there."""
    command = f"git show HEAD:./{where}"
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, check=False)
    return done.stdout.decode()


def _cells(text: str) -> list[tuple[str, str]]:
    """Kind and source of every cell of an .ipynb; of what is none, as git's conflicts, the text."""
    with suppress(Exception):
        cells = nbformat.reads(text, as_version=4).cells
        return [(cell.cell_type, cell.source) for cell in cells]
    return [("", text)] * bool(text)
