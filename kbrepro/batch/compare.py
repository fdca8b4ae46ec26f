"""Compare two runs: which claims and tables are the same, within the tolerance of their kind, or differ."""

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kbrepro import store
from kbrepro.batch import provenance
from kbrepro.verdicts import claims, scorecard

STATES = SAME, WITHIN, DIFFERS = "same", "within tolerance", "differs"
#: By kind of number: two are within tolerance if they lie within this factor, or this far apart.
TOLERANCES = {
    "numbers": (1 + 1e-4, 1e-9),  # another BLAS; what is that small is rounding
    "seconds": (3.0, 0.0),  # seconds and what follows from them: another machine, or what else it does
    "exponent": (3.0, 0.3),  # exponents fitted to seconds, and parts of claims that need timings, which may be some
}
SETTINGS = ("d, ", "t, ")  # columns of tables of seconds that hold none
MEANS = (
    "Same: six digits agree. Within tolerance: 1e-4, relative, which another BLAS may cause; for seconds and what "
    "follows from them a factor of 3 (0.3 for fitted exponents). Verdicts and words agree or differ."
)


class Item(NamedTuple):
    """A claim or table: its state, and its largest difference."""

    name: str
    state: str
    what: str = ""


class Beside(NamedTuple):
    """One notebook in two runs: what to know first, and its items (none if only one run has it)."""

    notebook: str
    notes: list[str]
    items: list[Item]


def runs(root: Path, *folders: Path) -> list[Beside]:
    """Compare two folders, or the published run and one folder (default: `newest`).

    ValueError on more than two folders, or if a run is missing.
    """
    if len(folders) > 2:
        raise ValueError(f"{len(folders)} folders are not allowed: at most two can be compared")
    if len(folders) == 2:
        return compare(root, *folders)
    with published(root) as folder:
        return compare(root, folder, *(folders or [newest(root)]))


def compare(root: Path, first: Path, second: Path) -> list[Beside]:
    """Return every notebook of two folders of results, or of two notebooks' own folders, by name.

    ValueError if a folder has no results, or no notebook in common with the other.
    """
    one, other = _notebooks(first), _notebooks(second)
    if not set(one) & set(other):
        raise ValueError(f"no notebook in common: {first} has {', '.join(one)}; {second} has {', '.join(other)}")
    return [
        _notebook(root, name, one[name], other[name])
        if name in one and name in other
        else Beside(name, [f"only in the {'first' if name in one else 'second'} run"], [])
        for name in sorted({*one, *other})
    ]


def text(found: list[Beside]) -> str:
    """Return, for a terminal, one line per notebook that counts items by state, and one per item that changed."""
    lines = []
    for notebook, notes, items in found:
        states = [item.state for item in items]
        counts = ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)
        lines.append(f"{notebook}: {'; '.join(filter(None, [*notes, counts]))}")
        lines += [f"  {item.name}: {item.state}: {item.what}" for item in items if item.state != SAME]
    claims_of = [item for _, _, items in found for item in items if item.name.startswith("claim ")]
    other = [item.name.removeprefix("claim ") for item in claims_of if item.what.startswith("verdict")]
    end = f"{len(claims_of) - len(other)} of {len(claims_of)} verdicts are the same"
    return "\n".join([*lines, MEANS, f"{end}; others: {', '.join(other)}." if other else f"{end}."])


# The published run and the reader's


@contextmanager
def published(root: Path) -> Iterator[Path]:
    """Yield a folder with the full-scale results of the last commit, without figures; ValueError if there are none."""
    wanted = ["results/paper", *(f":(exclude,glob)results/paper/*/{its}/**" for its in ("figures", store.PLAYED))]
    with tempfile.TemporaryDirectory() as name:
        folder, archive = Path(name, "results", "paper"), Path(name, "archive.zip")
        if provenance.git(root, "archive", "--format=zip", "-0", "-o", str(archive), "HEAD", "--", *wanted) is not None:
            zipfile.ZipFile(archive).extractall(name)
        if not any(folder.glob("*/run.json")):
            raise ValueError("no full-scale results are committed here: name two folders")
        yield folder


def newest(root: Path) -> Path:
    """Return results/paper if it is not as committed, else the folder of the newest run; ValueError if none."""
    if provenance.git(root, "status", "--porcelain", "--", "results/paper"):
        return root / "results" / "paper"
    runs = [run for run in (root / "results").glob("**/[0-9][0-9]_*/run.json") if run.parents[1].name != "paper"]
    runs = [run for run in runs if not run.parent.name.endswith(".partial")]
    if not runs:
        raise ValueError("results/ has no run of yours: first `kbrepro reproduce`, or name a folder")
    return max(runs, key=lambda run: run.stat().st_mtime).parents[1]


# One notebook


def _notebooks(folder: Path) -> dict[str, Path]:
    """Return name -> folder of the notebooks whose results are in a folder, or are the folder itself."""
    runs = [folder / "run.json"] if (folder / "run.json").is_file() else folder.glob("[0-9][0-9]_*/run.json")
    folders = sorted(run.parent for run in runs if not run.parent.name.endswith(".partial"))
    if not folders:
        raise ValueError(f"{folder} has no results: no run.json in it or in a notebook's folder")
    return {scorecard.read_run(path)["facts"].get("notebook", path.name): path for path in folders}


def _notebook(root: Path, name: str, first: Path, second: Path) -> Beside:
    one, other = (scorecard.read_run(folder)["facts"] for folder in (first, second))
    settings, data, versions = (_changed(one.get(a, {}), other.get(a, {})) for a in ("parameters", "data", "versions"))
    path = root / "notebooks" / "claims" / f"{name}.yaml"
    needed = path.is_file() and any("data" in claim.needs for claim in claims.load(path).claims.values())
    told = ", ".join([*settings.values()][:3]) + f" and {len(settings) - 3} more" * (len(settings) > 3)
    notes = {
        f"other settings, so only verdicts are compared: {told}": settings,
        "other rules": one.get("rules") != other.get("rules"),
        f"other data: {', '.join(sorted(data))}": data if needed else (),
        f"other versions: {', '.join(versions.values())}": versions,
    }
    return Beside(name, [n for n, its in notes.items() if its], items(root, name, first, second, bool(settings)))


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str]:
    """What `other` has instead of `one`, in words, by name: 'trials 20 instead of 50'."""
    pairs = {name: (other.get(name, "none"), one.get(name, "none")) for name in {**one, **other}}
    return {name: f"{name} {now} instead of {then}" for name, (now, then) in pairs.items() if now != then}


def items(root: Path, notebook: str, first: Path, second: Path, verdicts_alone: bool = False) -> list[Item]:
    """Return the compared claims, and unless `verdicts_alone` the tables, of two folders of one notebook's results."""
    one, other = (_things(folder, verdicts_alone) for folder in (first, second))
    path, kinds = root / "notebooks" / "claims" / f"{notebook}.yaml", {}
    for claim in claims.load(path).claims.values() if path.is_file() else []:
        kinds[f"claim {claim.id}"] = "exponent" if claim.needs.get("timings") else "numbers"
    for folder in (first, second):
        kinds |= {f"tables/{n}.csv": its["kind"] for n, its in scorecard.read_run(folder)["tables"].items()}
    return [judge(n, one.get(n), other.get(n), kinds.get(n, "numbers")) for n in {**one, **other}]


def _things(folder: Path, verdicts_alone: bool) -> dict[str, pd.Series]:
    """The cells of the claims and tables of a run, as text by name, by the name of the thing."""
    things = {}
    for claim in scorecard.read_run(folder)["claims"]:
        cells = {"verdict": claim["verdict"]}
        for name, part in ({} if verdicts_alone else claim["parts"]).items():
            cells |= {f"part {name}, {key}": str(part.get(key, np.nan)) for key in ("value", "low", "high")}
        things[f"claim {claim['id']}"] = pd.Series(cells)
    for file in [] if verdicts_alone else sorted(folder.glob("tables/*.csv")):
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
        if file.name.startswith("interpretations_"):  # ordered by value, where ties may fall otherwise
            choices = list(table.columns[1 : table.columns.get_loc("value")])
            table = table.iloc[:, 1:].sort_values(choices, ignore_index=True)
        cells = {f"{name}, row {row}": cell for name in table for row, cell in enumerate(table[name], start=1)}
        things[file.relative_to(folder).as_posix()] = pd.Series(cells, dtype=object)
    return things


def judge(name: str, one: pd.Series | None, other: pd.Series | None, kind: str) -> Item:
    """Return the state of one thing in two runs (None if a run does not have it); `kind` is one of `TOLERANCES`."""
    if one is None or other is None:
        return Item(name, DIFFERS, f"only in the {'first' if other is None else 'second'} run")
    if len(lone := one.index.symmetric_difference(other.index, sort=False)):
        return Item(name, DIFFERS, f"{lone[0]} is only in the {'first' if lone[0] in one else 'second'} run")
    other = other[one.index]
    a, b = (pd.to_numeric(its, errors="coerce") for its in (one, other))
    if (words := (one != other) & (a.isna() | b.isna())).any():
        cell = words.idxmax()
        return Item(name, DIFFERS, f"{cell}: {other[cell]!r} instead of {one[cell]!r}")
    moved = ~np.isclose(a, b, rtol=1e-6, atol=0.0, equal_nan=True)
    if not moved.any():
        return Item(name, SAME)
    a, b = a[moved], b[moved]
    factor, apart = np.array([TOLERANCES[_kind(cell, kind)] for cell in a.index]).T
    with np.errstate(all="ignore"):
        near = ((b - a).abs() <= apart) | (np.abs(np.log(b / a)) <= np.log(factor))
        deviation = ((b - a) / a).abs()[near if near.all() else ~near]
    what = f"most in {deviation.idxmax()}, {100 * deviation.max():.2g} %"
    return Item(name, WITHIN if near.all() else DIFFERS, what)


def _kind(cell: str, kind: str) -> str:
    """The kind of one cell: a table of seconds has settings and exponents, too."""
    if kind != "seconds":
        return kind
    return "exponent" if "slope" in cell else "numbers" if cell.startswith(SETTINGS) else kind
