"""Checks on arguments: every error names the argument, its value and what is allowed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _check(allowed: str, is_allowed: Callable[[Any], bool]) -> Callable[..., None]:
    """Return a check that takes values by name and raises ValueError unless every value is allowed."""

    def check(**values: Any) -> None:
        for name, value in values.items():
            if not is_allowed(value):
                raise ValueError(f"{name} = {value!r} is not allowed: {name} must be {allowed}")

    check.__doc__ = f"Raise ValueError unless every value is {allowed}."
    return check


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    return (_is_integer(value) or isinstance(value, float | np.floating)) and math.isfinite(value)


def _integers(minimum: int) -> Callable[..., None]:
    return _check(f"an integer of at least {minimum}", lambda value: _is_integer(value) and value >= minimum)


finite_number = _check("a finite number", _is_finite)
positive = _check("a finite number above 0", lambda value: _is_finite(value) and value > 0)
non_negative = _check("a finite number of at least 0", lambda value: _is_finite(value) and value >= 0)
probability = _check("a number strictly between 0 and 1", lambda value: _is_finite(value) and 0 < value < 1)
positive_int, non_negative_int = _integers(1), _integers(0)
positive_ints = _check(
    "a non-empty list of integers of at least 1",
    lambda value: isinstance(value, list) and bool(value) and all(_is_integer(n) and n >= 1 for n in value),
)


def at_least(minimum: int, **values: int) -> None:
    """Raise ValueError unless every value is an integer of at least `minimum` (no float such as 1e4, no bool)."""
    _integers(minimum)(**values)


def one_of(allowed: tuple[str, ...], **values: str) -> None:
    """Raise ValueError unless every value is one of the allowed words."""
    _check("one of " + ", ".join(map(repr, allowed)), lambda value: value in allowed)(**values)


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


def memory(needed: float, what: str) -> None:
    """Raise MemoryError, with both sizes in GB, unless `needed` bytes are free."""
    import psutil  # here: `import kbrepro` loads numerics only

    free = psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(f"{what} needs {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are free")
