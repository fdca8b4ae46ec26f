"""Where the project's folders are, and how to replace a file completely or not at all."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The profile of the notebooks' own parameters, and its folder under results/.
FULL_SCALE = "paper"
#: The profile of an edition that is being played, beside the one that is shown.
NEXT = "next"
#: What was frozen before trials were played: beside them.
EDITION = "edition.json"
#: Which sentences hold in one more experiment, with a seed that was frozen: beside them, too.
RERUN = "rerun.json"


class ProjectNotFound(RuntimeError):
    """The working directory is not inside a checkout of the repository."""


def project_root(start: Path | None = None) -> Path:
    """Return the nearest folder at or above `start` (default: the working directory) with
    notebooks/ and kbrepro/.

    Raises ProjectNotFound, which names where it looked, if there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "notebooks").is_dir() and (folder / "kbrepro").is_dir():
            return folder
    raise ProjectNotFound(
        "this needs a checkout of the kbrepro repository: no folder with notebooks/ and kbrepro/"
        f" at or above {here}"
    )


def checkout() -> Path:
    """Return the project's root as notebooks find it: from elsewhere it is where this package
    lies.
    """
    try:
        return project_root()
    except ProjectNotFound:
        return project_root(Path(__file__).parent)


def partial_of(folder: Path) -> Path:
    """Return where a run writes the results that replace those in a folder: no name of a
    notebook.
    """
    return folder.with_name(f".{folder.name}.partial")


def whole_of(folder: Path) -> Path:
    """Return the folder whose new results a folder holds (see `partial_of`), or itself."""
    partial = re.fullmatch(r"\.(.+)\.partial", folder.name)
    return folder.with_name(partial[1]) if partial else folder


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; the folder is made if needed."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; the folder is made if needed."""
    write_all({path: data})


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files whole, or none of them if one cannot be written; OSError names that one."""
    partials = {}
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # a name of this process: two may write one file
            partials[path] = path.with_name(f"{path.name}.{os.getpid()}.partial")
            partials[path].write_bytes(data)
        for path, partial in partials.items():
            os.replace(partial, path)
    except OSError as error:  # that of a full disk names no file
        for partial in partials.values():
            partial.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def facts_of(results: Path, file: str = "run.json") -> dict[str, Any]:
    """Return what the run.json of results says, or another file of a folder; empty if there is
    none, ValueError if it is broken.
    """
    path = results / file
    return dict(read_json(path)) if path.is_file() else {}


def read_json(path: Path) -> Any:
    """Return what a JSON file says; ValueError names it if it is broken."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        place = "/".join(path.parts[-3:])
        raise ValueError(f"{place} cannot be read ({error}): restore it") from None


def sweep(folder: Path) -> None:
    """Remove what `write_bytes` and the report left half-written, here and below, in processes that
    have ended.
    """
    import psutil  # here: `import kbrepro` loads numerics only

    for partial in [*folder.rglob("*.partial")]:
        pid = partial.name.split(".")[-2]
        if not pid.isdecimal() or psutil.pid_exists(int(pid)):
            continue
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
