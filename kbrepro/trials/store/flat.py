"""What jobs return as plain arrays by path, and back: no pickle, readable without this package.

A job returns numbers, texts, arrays, and mappings, named tuples, lists and tables of these, with
the same names in every trial. Its leaves have paths such as ("policies", "EI", "arms"); stacked
over n trials they are columns (n, ...). What has a name `seconds` in its path is kept but never
compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Path = tuple[Any, ...]
#: Arrays by path.
Leaves = dict[Path, Any]
#: Numbers that differ by less than this, or this share of their size, are equal.
TOLERANCE = 1e-9


class Row(dict[object, Any]):
    """A mapping whose texts are attributes, too: `row["arms"]` is `row.arms`."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


def flat(result: Any, path: Path = ()) -> Leaves:
    """Return the leaves of what a job returned, by path; ValueError if something cannot be kept."""
    if hasattr(result, "_asdict"):
        result = result._asdict()
    elif hasattr(result, "reset_index"):  # a table: its columns, with the index if that has a name
        table = result.reset_index(drop=result.index.name is None)
        result = {name: table[name].to_numpy() for name in table}
    elif isinstance(result, list | tuple):
        result = dict(enumerate(result))
    if isinstance(result, Mapping):
        leaves: Leaves = {}
        for key, part in result.items():
            leaves |= flat(part, (*path, key))
        return leaves
    leaf = np.asarray(result)
    if leaf.dtype.kind == "O":  # texts of a table
        leaf = np.asarray(leaf.tolist())
    if leaf.dtype.kind not in "biufU":
        raise ValueError(
            f"a job returned {type(result).__name__} at {path_text(path)!r}: it must return"
            " numbers, texts, arrays, and mappings, lists and tables of these"
        )
    return {path: leaf}


def nested(leaves: Leaves) -> Any:
    """Return what `flat` took apart: numbers, texts and arrays in mappings and lists."""
    if () in leaves:
        return leaves[()] if isinstance(leaves[()], np.ndarray) else leaves[()].item()
    parts: dict[object, Leaves] = {}
    for (key, *rest), leaf in leaves.items():
        parts.setdefault(key, {})[tuple(rest)] = leaf
    row = Row((key, nested(part)) for key, part in parts.items())
    is_list = all(type(key) is int for key in row) and [*row] == [*range(len(row))]
    return [*row.values()] if is_list else row


def stacked(rows: Sequence[Leaves]) -> Leaves:
    """Return columns of the leaves of trials: arrays (n, ...), or lists of n arrays if their
    lengths differ.

    Raises ValueError unless all trials have the same paths.
    """
    for number, row in enumerate(rows):
        if odd := row.keys() ^ rows[0].keys():
            raise ValueError(
                f"trial {number} returned other names than trial 0, {path_texts(odd)}: they must be"
                " the same"
            )
    columns: Leaves = {}
    for path in rows[0]:
        leaves = [row[path] for row in rows]
        alike = len({np.shape(leaf) for leaf in leaves}) == 1
        columns[path] = np.stack(leaves) if alike else leaves
    return columns


def path_text(path: Path) -> str:
    """Return a path as a text: 'policies/EI/arms'."""
    return "/".join(map(str, path)) or "value"


def path_texts(paths: Iterable[Path]) -> str:
    """Return the texts of paths, sorted."""
    return ", ".join(sorted(map(path_text, paths)))


def leaf_differences(before: Leaves, now: Leaves) -> dict[str, float]:
    """Return the first place of every leaf that differs, and by what share at most:
    {'policies/EI/arms, at 501': inf}.

    Whole numbers and texts must be equal, other numbers to 1e-9 of their size, or to single
    precision if they are kept in it. Places count from 1. The share is infinite if more than finite
    numbers differ.
    """
    if odd := [path for path in before.keys() ^ now.keys() if "seconds" not in path]:
        return {f"names: {path_texts(odd)}": np.inf}
    apart = {}
    for path in before:
        if "seconds" in path:
            continue
        one, other = np.asarray(before[path]), np.asarray(now[path])
        if one.shape != other.shape:
            apart[f"{path_text(path)}, of shape {one.shape} before, {other.shape} now"] = np.inf
            continue
        floats = one.dtype.kind == other.dtype.kind == "f"
        differ = np.asarray(one != other)
        if floats:  # single precision is rounded to it
            nearest = max(TOLERANCE, 4 * np.finfo(one.dtype).eps)
            differ = ~np.isclose(one, other, nearest, nearest, equal_nan=True)
        if differ.any():
            place = ", ".join(map(str, np.argwhere(differ)[0] + 1))
            a, b = one[differ], other[differ]
            finite = floats and np.isfinite([a, b]).all()
            share = (np.abs(a - b) / np.abs([a, b]).max(axis=0)).max() if finite else np.inf
            apart[f"{path_text(path)}, at {place}".removesuffix(", at ")] = float(share)
    return apart
