"""SHA256SUMS: the checksums that the files of a folder had when a run wrote them; `sha256sum
--check` reads it, too.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from unicodedata import normalize

from kbrepro import paths

NAME = "SHA256SUMS"
#: Which files a folder lists.
LISTED = ("*.json", "*.npz", "tables/*.csv", "figures/*.png")


def of(folder: Path) -> dict[str, str]:
    """Return the checksum of every file to list, by its name below the folder."""
    found = {}
    for pattern in LISTED:
        for path in folder.glob(pattern):
            name = _name(path.relative_to(folder).as_posix())
            found[name] = checksum(path.read_bytes())
    return found


def checksum(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def listed(folder: Path) -> dict[str, str]:
    """Return what SHA256SUMS says, by name; empty if there is none. A line that says nothing is
    left out.
    """
    path = folder / NAME
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = [line.partition("  ") for line in lines]
    return {_name(name): digest for digest, _, name in pairs if name}


def text(checksums: Mapping[str, str]) -> str:
    """Return the text of SHA256SUMS."""
    return "".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums))


def write(folder: Path) -> None:
    """Write SHA256SUMS for the files that a folder has."""
    paths.write_text(folder / NAME, text(of(folder)))


def wrong(folder: Path) -> list[str]:
    """Return a line for every file that is not as SHA256SUMS says, is missing, or is not listed."""
    said, here = listed(folder), of(folder)
    lines = []
    for name in sorted(said.keys() | here.keys()):
        if name not in here:
            lines.append(f"{name} is listed in {NAME}, but missing")
        elif name not in said:
            lines.append(f"{name} is not listed in {NAME}")
        elif here[name] != said[name]:
            lines.append(f"{name} was changed: it has another checksum than in {NAME}")
    return lines


def _name(name: str) -> str:
    """A name as it is listed, whatever form a file system or an archive gave its letters."""
    return normalize("NFC", name)
