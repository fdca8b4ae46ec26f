"""Where the project's folders are."""

from __future__ import annotations

from pathlib import Path


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
    raise ProjectNotFound(f"no folder with notebooks/ and kbrepro/ at or above {here}: a checkout is needed")
