"""Claims and tables of two runs, one at a time: the same, within the tolerance of their kind, or different."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

STATES = SAME, WITHIN, DIFFERS = "same", "within tolerance", "differs"
#: By kind of number: two are within tolerance if they lie within this factor, or this far apart.
TOLERANCES = {
    "numbers": (1 + 1e-4, 1e-9),  # another BLAS; what is that small is rounding
    "seconds": (3.0, 0.0),  # seconds and what follows from them: another machine, or what else it does
    "exponent": (3.0, 0.3),  # exponents fitted to seconds, and parts of claims that need timings, which may be some
}
SETTINGS = ("d", "t")  # columns of such tables that hold none
MEANS = (
    "Same: six digits agree. Within tolerance: relative 1e-4, as another BLAS gives; for seconds and what follows from "
    "them a factor of 3 (fitted exponents: 0.3). Verdicts and words agree or differ."
)

Columns = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Item:
    """A claim or table: its state, what differs, and the largest deviation, relative to the first."""

    name: str
    state: str
    what: str = ""
    deviation: float = 0.0

    @property
    def shown(self) -> str:
        """The deviation in percent; nothing where no number differs."""
        return f"{100 * self.deviation:.2g} %" if self.deviation else ""


def columns(file: Path) -> Columns:
    """Return the columns of a table, as text, by name."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    if file.name.startswith(
        "interpretations_"
    ):  # ordered by value, where ties may fall otherwise: by their choices, then
        choices = list(table.columns[1 : table.columns.get_loc("value")])
        table = table.iloc[:, 1:].sort_values(choices)
    return {name: table[name].to_numpy(dtype=object) for name in table}


def judge(name: str, one: Columns | None, other: Columns | None, kind: str = "numbers") -> Item:
    """Return the state of one thing of two runs (None where a run has it not); `kind` is one of `TOLERANCES`."""
    if one is None or other is None:
        return Item(name, DIFFERS, "only in the first run" if other is None else "only in the second run")
    if lone := [column for column in {**one, **other} if column not in one or column not in other]:
        return Item(name, DIFFERS, f"{lone[0]} is only in the {'first' if lone[0] in one else 'second'} run")
    found = [_column(name, column, one[column], other[column], kind) for column in one]
    worst = max(found, key=lambda item: (STATES.index(item.state), not item.deviation, item.deviation))  # words first
    return Item(name, worst.state, worst.what, max(item.deviation for item in found))


def _column(name: str, column: str, a: np.ndarray, b: np.ndarray, kind: str) -> Item:
    if a.shape != b.shape:
        sizes = [" x ".join(map(str, array.shape)) for array in (b, a)]
        return Item(name, DIFFERS, f"{column} has {sizes[0]} values instead of {sizes[1]}")
    if a.dtype == object:
        numbers = [pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(float) for cells in (a, b)]
        words = (a != b) & np.isnan(numbers).any(axis=0)
        if words.any():
            return Item(name, DIFFERS, f"{column}: {b[words][0]!r} instead of {a[words][0]!r}")
        a, b = numbers
    if kind == "seconds" and ("slope" in column or column in SETTINGS):
        kind = "exponent" if "slope" in column else "numbers"
    allowed = TOLERANCES[kind]
    state, deviation = _numbers(a.astype(float), b.astype(float), *allowed)
    return Item(name, state, f"most in {column}" if state != SAME else "", deviation)


def _numbers(a: np.ndarray, b: np.ndarray, factor: float, apart: float) -> tuple[str, float]:
    """Return the state of two arrays of numbers and their largest deviation; nan equals nan."""
    moved = a != b
    a, b = a[moved], b[moved]
    digits = np.array([f"{x:.6g}" != f"{y:.6g}" for x, y in zip(a, b, strict=True)], dtype=bool)
    a, b = a[digits], b[digits]
    if not a.size:
        return SAME, 0.0
    with np.errstate(all="ignore"):
        distance, sizes = np.abs(b - a), np.sort(np.abs([a, b]), axis=0)
        near = (distance <= apart) | ((np.sign(a) == np.sign(b)) & (sizes[1] <= factor * sizes[0]))
        deviation = np.nan_to_num(distance / np.abs(a), nan=np.inf, posinf=np.inf).max()
    return WITHIN if near.all() else DIFFERS, float(deviation)
