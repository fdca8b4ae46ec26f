"""Checks on arguments: every error names the argument, its value and what is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def _reject(name: str, value: Any, allowed: str) -> None:
    raise ValueError(f"{name} = {value!r} is not allowed: {name} must be {allowed}")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def at_least(minimum: int, **values: int) -> None:
    """Raise ValueError unless every value is an integer of at least `minimum` (no float such as 1e4, no bool)."""
    for name, value in values.items():
        if not _is_integer(value) or value < minimum:
            _reject(name, value, f"an integer of at least {minimum}")


def positive_int(**values: int) -> None:
    """Raise ValueError unless every value is an integer of at least 1."""
    at_least(1, **values)


def positive(**values: float) -> None:
    """Raise ValueError unless every value is a finite number above 0."""
    for name, value in values.items():
        if not _is_number(value) or not math.isfinite(value) or value <= 0:
            _reject(name, value, "a finite number above 0")


def non_negative(**values: float) -> None:
    """Raise ValueError unless every value is a finite number of at least 0."""
    for name, value in values.items():
        if not _is_number(value) or not math.isfinite(value) or value < 0:
            _reject(name, value, "a finite number of at least 0")


def probability(**values: float) -> None:
    """Raise ValueError unless every value lies strictly between 0 and 1."""
    for name, value in values.items():
        if not _is_number(value) or not 0 < value < 1:
            _reject(name, value, "a number strictly between 0 and 1")


def non_negative_int(**values: int) -> None:
    """Raise ValueError unless every value is an integer of at least 0."""
    at_least(0, **values)


def positive_ints(**values: list[int]) -> None:
    """Raise ValueError unless every value is a non-empty list of integers of at least 1."""
    for name, value in values.items():
        if not isinstance(value, list) or not value or not all(_is_integer(n) and n >= 1 for n in value):
            _reject(name, value, "a non-empty list of integers of at least 1")


def one_of(allowed: tuple[str, ...], **values: str) -> None:
    """Raise ValueError unless every value is one of the allowed words."""
    for name, value in values.items():
        if value not in allowed:
            _reject(name, value, "one of " + ", ".join(map(repr, allowed)))


def finite_array(**values: np.ndarray) -> None:
    """Raise ValueError unless every entry of every array is finite; the message gives the first bad place."""
    for name, value in values.items():
        bad = np.argwhere(~np.isfinite(value))
        if len(bad):
            place = ", ".join(map(str, bad[0]))
            raise ValueError(f"{name}[{place}] = {value[tuple(bad[0])]} is not allowed: {name} must be finite")


def arm_index(arm: int, n_arms: int) -> None:
    """Raise IndexError unless `arm` is an integer in 0 .. n_arms - 1."""
    if not _is_integer(arm) or not 0 <= arm < n_arms:
        raise IndexError(f"arm = {arm!r} is not allowed: arm must be an integer from 0 to {n_arms - 1}")


def finite_number(**values: float) -> None:
    """Raise ValueError unless every value is a finite number."""
    for name, value in values.items():
        if not _is_number(value) or not math.isfinite(value):
            _reject(name, value, "a finite number")
