"""The settings of what is played, as plain text: the values of an experiment, not the place of its
code.

Two settings are the same if their text is, with numbers equal to 1e-9 of their size; what is
computed from missing data is NaN now, and counts as the same. Functions and classes appear by name,
without the module, so that moving one changes nothing; a renamed one keeps its old name as
`stored_as`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from kbrepro.trials import sums
from kbrepro.typing import Array

#: Numbers that differ by less than this share of their size are the same: another processor rounds
#: in another way.
TOLERANCE = 1e-9
PROJECTIONS = 8


def settings(thing: object) -> Any:
    """Return the settings of a thing as JSON values: numbers, texts, lists and mappings.

    A dataclass gives all its fields (its `stored_settings()`, if it has them: older names of
    fields), a partial its arguments, a method its object, an array (n, ...) its shape, type and a
    digest, or with floats its norm and 8 fixed random projections. Raises ValueError on what has no
    settings that another process could read: lambdas, functions inside functions, other objects.
    """
    if isinstance(thing, np.generic):
        thing = thing.item()
    if thing is None or isinstance(thing, int | float | str):
        return thing
    if isinstance(thing, np.ndarray):
        return {"array": _of_array(thing)}
    if isinstance(thing, partial):
        arguments = {"positional": settings(list(thing.args))} if thing.args else {}
        return {_name(thing.func): arguments | settings(thing.keywords)}
    if is_dataclass(thing) and not isinstance(thing, type):
        if hasattr(thing, "stored_settings"):
            values = thing.stored_settings()
        else:
            values = {field.name: getattr(thing, field.name) for field in fields(thing)}
        return {_name(type(thing)): settings(values)}
    if isinstance(thing, MethodType):
        return {_name(thing): settings(thing.__self__)}
    if isinstance(thing, Mapping):
        by_text = {str(settings(key)): settings(value) for key, value in thing.items()}
        if len(by_text) < len(thing):
            raise ValueError(
                f"two keys of {list(thing)} have the same text: their texts must differ"
            )
        return by_text
    if isinstance(thing, Sequence):
        return [settings(part) for part in thing]
    return _name(thing)


def _name(thing: object) -> str:
    name = getattr(thing, "__dict__", {}).get("stored_as") or getattr(thing, "__qualname__", None)
    if name is None or "<" in name:
        raise ValueError(
            f"{name or repr(thing)} has no settings that can be stored: it must be a class, a"
            " function of a module, a partial of one, a dataclass, an array, a number or a text"
        )
    return name


def _of_array(values: Array) -> dict[str, object]:
    shape = list(values.shape)
    if values.dtype.kind not in "biuf":
        return {"shape": shape, "values": values.astype(str).ravel().tolist()}
    if values.dtype.kind != "f":
        return {
            "shape": shape,
            "type": "bool" if values.dtype.kind == "b" else "int",
            "digest": sums.checksum(values.astype(np.int64).tobytes()),
        }
    flat = values.ravel().astype(float)
    infinite = np.isinf(flat)
    if infinite.any():
        signs = np.where(infinite, np.sign(flat), 0.0)
        flat = np.concatenate([np.where(infinite, 0.0, flat), signs])
    return {
        "shape": shape,
        "type": "float",
        "norm": float(np.linalg.norm(flat)),
        "projections": [
            float(np.random.default_rng(k).standard_normal(len(flat)) @ flat)
            for k in range(PROJECTIONS)
        ],
    }


def differences(before: object, now: object) -> list[str]:
    """Return the places where two settings differ: 'problem, Bumps, d: 1 before, 2 now'."""
    one, other = _leaves(before), _leaves(now)
    places = []
    for where in one | other:
        a = one.get(where, "not there")
        b = other.get(where, "not there")
        if not _same(a, b):
            was = _shown(a)
            new = _shown(b)
            place = ", ".join(where) or "settings"
            places.append(f"{place}: {was} before, {new if new != was else 'another'} now")
    return places


def _leaves(content: object, where: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    """Numbers, texts, arrays and what is empty, by place."""
    if isinstance(content, list) and content:
        content = {f"number {n}": part for n, part in enumerate(content)}
    if not isinstance(content, dict) or not content or set(content) == {"array"}:
        return {where: content}
    leaves: dict[tuple[str, ...], object] = {}
    for key, part in content.items():
        leaves |= _leaves(part, (*where, key))
    return leaves


def _floats(leaf: object) -> list[float]:
    """Norm and projections of an array of floats; nothing of another leaf."""
    array = leaf["array"] if isinstance(leaf, dict) and leaf else {}
    return [array["norm"], *array["projections"]] if "norm" in array else []


def _shown(leaf: Any) -> object:
    floats = _floats(leaf)
    if not floats:
        return leaf
    return f"array {tuple(leaf['array']['shape'])} of norm {floats[0]:.12g}"


def _same(before: Any, now: Any) -> bool:
    types = {type(before), type(now)}
    if float in types:
        return types <= {int, float} and (
            math.isnan(now) or math.isclose(before, now, rel_tol=TOLERANCE)
        )
    if (one := _floats(before)) and (other := _floats(now)):
        close = math.isnan(other[0]) or np.allclose(one, other, rtol=0, atol=TOLERANCE * other[0])
        return before["array"]["shape"] == now["array"]["shape"] and close
    return len(types) == 1 and before == now


def unknown(content: object) -> bool:
    """Return whether settings have a NaN: they are computed from missing data, and cannot be
    played.
    """
    constants: list[str] = []
    json.loads(json.dumps(content), parse_constant=constants.append)
    return "NaN" in constants
