"""Turn what jobs return into named columns of plain arrays and back, without pickle, readable without this package.

A job returns numbers, texts, arrays, tables, and lists, tuples, named tuples and mappings of these, with the same names
in every trial. Values of one name are stacked over trials into a column, named by its path: `runs/IGP-UCB/arms`. What
is below the name `seconds` is kept but never compared.
"""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]
LENGTHS, TOP = " (lengths)", "value"
#: Columns of a file that are not of the results: what it is about, and the seconds of every trial.
ABOUT, SECONDS = "about the label", "seconds of a trial"
NUMBERS = {bool: "bool", int: "int", float: "float", str: "str"}
#: Numbers other than seconds that differ by less than this, or this share of their size, are equal.
TOLERANCE = 1e-9


def columns_of(results: Sequence[Any]) -> tuple[Any, Columns]:
    """Return the form of results, as JSON values, and their columns; ValueError unless all have the same form."""
    form, first = _taken_apart(results[0], "")
    collected = {name: [value] for name, value in first.items()}
    for number, result in enumerate(results[1:], start=1):
        other, values = _taken_apart(result, "")
        if other != form:
            raise ValueError(f"the job of trial {number} returned other names than that of trial 0: they must be alike")
        for name, value in values.items():
            collected[name].append(value)
    stacked: Columns = {}
    for name, its in collected.items():
        if name.endswith(LENGTHS) or name in (ABOUT, SECONDS):
            raise ValueError(f"a job may not return something named {name!r}: that name is taken")
        if len({value.dtype.str.split("U")[0] for value in its}) > 1:
            raise ValueError(f"{name!r} has other types in other trials: they must be alike")
        if len({value.shape for value in its}) == 1:
            stacked[name] = np.stack(its)
        else:
            stacked[name] = np.concatenate(its)
            stacked[name + LENGTHS] = np.array([len(value) for value in its])
    return form, stacked


def results_of(form: Any, columns: Mapping[str, NDArray[Any]], n: int) -> list[Any]:
    """Return the n results that `columns_of` took apart; named tuples keep their names."""
    split: dict[str, NDArray[Any] | list[NDArray[Any]]] = {}
    for name, values in columns.items():
        if not name.endswith(LENGTHS):
            lengths = columns.get(name + LENGTHS)
            split[name] = values if lengths is None else np.split(values, np.cumsum(lengths)[:-1])
    return [_put_together(form, {name: values[number] for name, values in split.items()}) for number in range(n)]


def through(results: Sequence[Any]) -> list[Any]:
    """Return results as they come back from a store, so that played and read ones are the same."""
    return results_of(*columns_of(results), len(results))


def _taken_apart(value: Any, name: str) -> tuple[Any, Columns]:
    """The form of one result, and its leaves by name."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return None, {}
    if isinstance(value, str) and value.endswith("\0"):
        raise ValueError(f"a job returned {value!r} at {name!r}: a text must not end in a null character")
    if type(value) in NUMBERS:
        return {NUMBERS[type(value)]: name or TOP}, {name or TOP: np.asarray(value)}
    if isinstance(value, np.ndarray):
        return {"array": name or TOP}, {name or TOP: value.astype(str) if value.dtype.kind == "O" else value}
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        index = {"name": value.index.name, "values": np.asarray(value.index)}
        parts = {"index": index} | {"columns": {column: np.asarray(value[column]) for column in value}}
        form, leaves = _taken_apart(parts, name)
        return {"table": form}, leaves
    kind, keys, values = _several(value, name)
    names = map(str, range(len(values)) if keys is None else value if isinstance(value, Mapping) else keys)
    forms: list[Any] = []
    leaves = {}
    for each, part in zip(names, values, strict=True):
        inner, found = _taken_apart(part, f"{name}/{each}" if name else each)
        forms.append(inner)
        if twice := leaves.keys() & found.keys():
            raise ValueError(f"a job returned two things named {min(twice)!r}: names must differ as texts")
        leaves |= found
    return {"kind": kind, "keys": keys, "parts": forms}, leaves


def _several(value: Any, name: str) -> tuple[str, list[Any] | None, list[Any]]:
    """What kind of collection a value is, its keys (None: it is counted), and what it holds."""
    if isinstance(value, Mapping):
        return "mapping", [_key(key) for key in value], list(value.values())
    if hasattr(value, "_fields"):
        return type(value).__name__, list(value._fields), list(value)
    if isinstance(value, list | tuple):
        return "list" if isinstance(value, list) else "tuple", None, list(value)
    allowed = "numbers, texts, arrays, tables, and lists, tuples and mappings of these"
    raise ValueError(f"a job returned {type(value).__name__} at {name or 'its top'!r}: it must return {allowed}")


def _put_together(form: Any, leaves: Mapping[str, NDArray[Any]]) -> Any:
    if form is None:
        return None
    if "kind" not in form:
        ((what, inner),) = form.items()
        if what == "table":
            import pandas as pd  # here: the face of the package loads numbers alone

            parts = _put_together(inner, leaves)
            index = pd.Index(parts["index"]["values"], name=parts["index"]["name"])
            return pd.DataFrame(parts["columns"], index)
        return np.asarray(leaves[inner]) if what == "array" else leaves[inner].item()
    values = [_put_together(part, leaves) for part in form["parts"]]
    if form["kind"] == "mapping":
        return dict(zip(map(_read_key, form["keys"]), values, strict=True))
    if form["keys"] is None:
        return values if form["kind"] == "list" else tuple(values)
    return _tuple(form["kind"], *form["keys"])(*values)


@cache  # making a type takes longer than reading a trial
def _tuple(kind: str, *keys: str) -> Any:
    return namedtuple(kind, keys)


def _key(key: Any) -> Any:
    return {"tuple": [_key(part) for part in key]} if isinstance(key, tuple) else key


def _read_key(key: Any) -> Any:
    return tuple(_read_key(part) for part in key["tuple"]) if isinstance(key, dict) else key


def differences(before: Any, now: Any) -> list[str]:
    """Return the names of what differs between two results, with the first place of each: 'runs/EI/arms, at 501'.

    Whole numbers and texts must be equal, other numbers to 1e-9 of their size, or to single precision if they are
    kept in it; seconds do not count.
    """
    if (compared := _compared(before, now)) is None:
        return ["its names"]
    places = {name: _first(*both) for name, both in compared.items()}
    return [f"{name}, at {place}" for name, place in places.items() if place]


def largest(before: Any, now: Any) -> float:
    """Return the largest difference of numbers that are not equal, as a share of the larger of the two; 0 if all are.

    It is infinite if names, shapes, whole numbers or texts differ, or if only one of two numbers is finite.
    """
    if (compared := _compared(before, now)) is None:
        return np.inf
    found = 0.0
    for one, other in compared.values():
        if one.shape != other.shape or (one.dtype.kind != "f" and np.any(one != other)):
            return np.inf
        if one.dtype.kind == "f" and np.any(apart := ~_same(one, other)):
            a, b = one[apart].astype(float), other[apart].astype(float)
            with np.errstate(invalid="ignore"):
                shares = np.abs(a - b) / np.maximum(np.abs(a), np.abs(b))
            found = max(found, float(np.max(np.where(np.isfinite(shares), shares, np.inf))))
    return found


def _compared(before: Any, now: Any) -> dict[str, tuple[NDArray[Any], NDArray[Any]]] | None:
    """The columns of two results by name, without seconds; None if the two have other names."""
    (form, columns), (other, others) = (columns_of([result]) for result in (before, now))
    if form != other:
        return None
    return {name: (columns[name], others[name]) for name in columns if "seconds" not in name.split("/")}


def _same(before: NDArray[Any], now: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries of two columns of one shape are equal."""
    if before.dtype.kind != "f":
        return np.asarray(before == now)
    nearest = max(TOLERANCE, 4 * np.finfo(before.dtype).eps)  # what is kept in single precision is rounded to it
    return np.isclose(before, now, rtol=nearest, atol=nearest, equal_nan=True)


def _first(before: NDArray[Any], now: NDArray[Any]) -> str:
    """The first place where two columns of one result differ; empty if they do not."""
    if before.shape != now.shape:
        return f"its shape: {before.shape[1:]} before, {now.shape[1:]} now"
    if np.all(same := _same(before, now)):
        return ""
    return ", ".join(map(str, np.argwhere(~same)[0][1:])) or "its value"
