"""Two runs beside each other: which claims and tables are the same, and which differ."""

import io
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kbrepro import store
from kbrepro.batch.tolerance import DIFFERS, MEANS, SAME, STATES, Columns, Item, columns, judge
from kbrepro.verdicts import claims, scorecard


@dataclass(frozen=True)
class Beside:
    """One notebook of two runs: what to know first, and its items (none where only one run has it)."""

    notebook: str
    notes: list[str]
    items: list[Item] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Whether any item is beyond its tolerance."""
        return any(item.state == DIFFERS for item in self.items)

    @property
    def told(self) -> str:
        """What to know first, then how many items are in each state."""
        states = [item.state for item in self.items]
        counts = ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)
        return "; ".join([*self.notes, *([counts] if counts else [])])


def runs(root: Path, *folders: Path) -> list[Beside]:
    """Compare two folders, or the published run and one folder (default: `newest`).

    ValueError if there are more than two, or one of the runs is not there.
    """
    if len(folders) > 2:
        raise ValueError(f"{len(folders)} folders are not allowed: at most two can be compared")
    if len(folders) == 2:
        return compare(root, *folders)
    with published(root) as folder:
        if folder is None:
            raise ValueError("no full-scale results are committed here: name two folders")
        return compare(root, folder, *(folders or [newest(root)]))


def compare(root: Path, first: Path, second: Path) -> list[Beside]:
    """Return every notebook of two folders of results, or of two notebooks' own folders, by name.

    ValueError if a folder holds no results, or none of the other's notebooks.
    """
    one, other = _notebooks(first), _notebooks(second)
    if not set(one) & set(other):
        raise ValueError(f"no notebook in common: {', '.join(one)} in {first}; {', '.join(other)} in {second}")
    return [
        _notebook(root, name, one[name], other[name])
        if name in one and name in other
        else Beside(name, [f"only in the {'first' if name in one else 'second'} run"])
        for name in sorted({*one, *other})
    ]


def text(found: list[Beside]) -> str:
    """Return for a terminal a line a notebook, and one for every item that is not the same."""
    lines = []
    for beside in found:
        lines.append(f"{beside.notebook}: {beside.told}")
        for item in (item for item in beside.items if item.state != SAME):
            lines.append(f"  {item.name}: {item.state}: {item.what}" + (f", {item.shown}" if item.shown else ""))
    return "\n".join([*lines, MEANS])


# The published run and the reader's


@contextmanager
def published(root: Path) -> Iterator[Path | None]:
    """Yield a folder with the full-scale results of the last commit, without figures; None where there are none."""
    wanted = ["results/paper", *(f":(exclude,glob)results/paper/*/{its}/**" for its in ("figures", store.PLAYED))]
    archive = _git(root, "archive", "--format=zip", "-0", "HEAD", "--", *wanted)
    with tempfile.TemporaryDirectory() as folder:
        if archive is not None and archive.returncode == 0:
            zipfile.ZipFile(io.BytesIO(archive.stdout)).extractall(folder)
        there = Path(folder, "results", "paper")
        yield there if any(there.glob("*/run.json")) else None


def altered(root: Path) -> bool:
    """Return whether results/paper is not as it was last committed."""
    done = _git(root, "diff", "--quiet", "HEAD", "--", "results/paper")
    return done is not None and done.returncode == 1


def newest(root: Path) -> Path:
    """Return results/paper if it is not as committed, else the folder that holds the newest run; ValueError if none."""
    if altered(root):
        return root / "results" / "paper"
    runs = [run for run in (root / "results").glob("**/[0-9][0-9]_*/run.json") if run.parents[1].name != "paper"]
    runs = [run for run in runs if not run.parent.name.endswith(".partial")]
    if not runs:
        raise ValueError("no run of yours is under results/: first `kbrepro reproduce`, or name a folder")
    return max(runs, key=lambda run: run.stat().st_mtime).parents[1]


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None


# One notebook


def _notebooks(folder: Path) -> dict[str, Path]:
    """Return name -> folder of the notebooks whose results are in a folder, or are the folder itself."""
    runs = [folder / "run.json"] if (folder / "run.json").is_file() else folder.glob("[0-9][0-9]_*/run.json")
    folders = sorted(run.parent for run in runs if not run.parent.name.endswith(".partial"))
    if not folders:
        raise ValueError(f"{folder} holds no results: no run.json in it or in folders of notebooks")
    return {scorecard.read_run(path)["facts"].get("notebook", path.name): path for path in folders}


def _notebook(root: Path, name: str, first: Path, second: Path) -> Beside:
    one, other = (scorecard.read_run(folder)["facts"] for folder in (first, second))
    settings = changed(one.get("parameters", {}), other.get("parameters", {}))
    notes = [f"other settings, so verdicts alone are compared: {settings}"] if settings else []
    notes += ["other rules"] if one.get("rules") != other.get("rules") else []
    data, others = one.get("data", {}), other.get("data", {})
    files = [file for file in sorted({*data, *others}) if data.get(file) != others.get(file)]
    notes += [f"other data: {', '.join(files)}"] if files else []
    versions = changed(one.get("versions", {}), other.get("versions", {}))
    notes += [f"other versions: {versions}"] if versions else []
    return Beside(name, notes, items(root, name, first, second, verdicts_alone=bool(settings)))


def items(root: Path, notebook: str, first: Path, second: Path, verdicts_alone: bool = False) -> list[Item]:
    """Return the claims, and unless `verdicts_alone` the tables, of two folders of one notebook's results."""
    things, others = (_things(folder, verdicts_alone) for folder in (first, second))
    tables = {n: its for folder in (first, second) for n, its in scorecard.read_run(folder)["tables"].items()}
    kinds = {f"tables/{n}.csv": its["kind"] for n, its in tables.items()} | _timed_claims(root, notebook)
    return [judge(n, things.get(n), others.get(n), kinds.get(n, "numbers")) for n in {**things, **others}]


def changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return in words what `other` has instead of `one`: 'trials 20 instead of 50, ...'; empty if nothing."""
    pairs = {name: (other.get(name, "none"), one.get(name, "none")) for name in {**one, **other}}
    return ", ".join(f"{name} {now} instead of {then}" for name, (now, then) in pairs.items() if now != then)


def _timed_claims(root: Path, notebook: str) -> dict[str, str]:
    path = root / "notebooks" / "claims" / f"{notebook}.yaml"
    if not path.is_file():
        return {}
    timed = [claim.id for claim in claims.load(path).claims.values() if claim.needs.get("timings")]
    return dict.fromkeys((f"claim {claim}" for claim in timed), "exponent")


def _things(folder: Path, verdicts_alone: bool) -> dict[str, Columns]:
    """Return claims (a column a part, and the verdict) and tables of a run, by name."""
    things = {}
    for claim in scorecard.read_run(folder)["claims"]:
        parts = {n: [part.get(key, np.nan) for key in ("value", "low", "high")] for n, part in claim["parts"].items()}
        numbers = {} if verdicts_alone else {f"part {n}": np.array(values, float) for n, values in parts.items()}
        things[f"claim {claim['id']}"] = {"verdict": np.array([claim["verdict"]], dtype=object), **numbers}
    files = [] if verdicts_alone else sorted(folder.glob("tables/*.csv"))
    return things | {file.relative_to(folder).as_posix(): columns(file) for file in files}
