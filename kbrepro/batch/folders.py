"""Folders of results: replaced completely or not at all, by one process at a time; played trials stay."""

try:
    import fcntl
except ImportError:  # no such locks on Windows: there, do not run twice at once
    fcntl = None  # type: ignore[assignment]

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The folder inside that a swap leaves alone: it is filled label by label while the new results are made.
STAYS = "played"


def swap_in(new: Path, final: Path) -> None:
    """Replace the folder `final` by `new`; whatever goes wrong, `final` is then either the old or the new one.

    What `final` has in `played/` stays.
    """
    try:
        if final.exists():
            final.rename(_aside(final))
        new.rename(final)
    finally:
        recover(final)


def recover(final: Path) -> None:
    """Finish or undo a swap that was interrupted."""
    aside = _aside(final)
    if aside.exists() and not final.exists():
        aside.rename(final)
    for path in (aside / STAYS).glob("*"):
        (final / STAYS).mkdir(exist_ok=True)
        if not (there := final / STAYS / path.name).exists():
            path.rename(there)
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def locked(lock: Path) -> Iterator[bool]:
    """Hold a lock and yield True, or yield False if another process holds it; it ends with the process."""
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
