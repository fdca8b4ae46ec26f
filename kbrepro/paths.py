"""Where the project's folders are, and how a folder or file is replaced without ever being half there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows: there, do not run twice at once
    fcntl = None


class ProjectNotFound(RuntimeError):
    """The working directory is not inside a checkout of the repository."""


def project_root(start: Path | None = None) -> Path:
    """Return the nearest folder at or above `start` (default: the working directory) with notebooks/ and kbrepro/.

    Raises ProjectNotFound, naming where it looked, if there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "notebooks").is_dir() and (folder / "kbrepro").is_dir():
            return folder
    raise ProjectNotFound(
        f"this needs a checkout of the kbrepro repository: no folder with notebooks/ and kbrepro/ at or above {here}"
    )


def notebooks(root: Path) -> Path:
    """Return the folder of the notebooks."""
    return root / "notebooks"


def results(root: Path, profile: str) -> Path:
    """Return the folder of the results of one profile."""
    return root / "results" / profile


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; the folder is made if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def swap_in(new: Path, final: Path) -> None:
    """Put the folder `new` in the place of `final`; whatever goes wrong, `final` is then the old one or the new one."""
    try:
        if final.exists():
            final.rename(_aside(final))
        new.rename(final)
    finally:
        recover(final)


def recover(final: Path) -> None:
    """Finish or undo a swap that was cut short."""
    aside = _aside(final)
    if aside.exists() and not final.exists():
        aside.rename(final)
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def locked(lock: Path) -> Iterator[bool]:
    """Hold a lock and yield True, or yield False where another process holds it; it ends with the process."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _aside(final: Path) -> Path:
    return final.with_name(f"{final.name}.old.partial")
