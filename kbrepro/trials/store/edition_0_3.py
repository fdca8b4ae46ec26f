"""The form of labels that edition 0.3.0 kept; it leaves with their files."""

from typing import Any

from kbrepro.trials.store.flat import Path

INDEX = "t"  # the one name that the index of a kept table has


def names(form: Any, path: Path = ()) -> dict[str, Path]:
    """Return the path of every column, by its name in the file."""
    if form is None:
        return {}
    if "table" in form:
        (name, values), columns = form["table"]["parts"][0]["parts"], form["table"]["parts"][1]
        return (names(values, (*path, INDEX)) if name else {}) | names(columns, path)
    if "kind" not in form:
        return dict.fromkeys(form.values(), path)
    keys = range(len(form["parts"])) if form["keys"] is None else map(_key, form["keys"])
    found: dict[str, Path] = {}
    for key, part in zip(keys, form["parts"], strict=True):
        found |= names(part, (*path, key))
    return found


def _key(key: object) -> object:
    return tuple(map(_key, key["tuple"])) if isinstance(key, dict) else key
