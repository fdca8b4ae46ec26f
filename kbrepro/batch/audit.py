"""Audits: trials drawn from a store are played again with today's code and compared."""

import contextlib
import io
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib.externals.loky import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

from kbrepro import checks, paths, store
from kbrepro.batch import provenance
from kbrepro.batch.run import Run, played_with, workers
from kbrepro.replay import blas_kernel, policies_of, replayed
from kbrepro.store import Job, Kept
from kbrepro.store.settings import unknown

AUDITS = "results/audits.csv"
#: Trials of a label below which its share cannot be bounded by anything worth saying.
FEWEST = 3


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one policy of that trial."""

    label: str
    number: int
    policy: Any
    seconds: float


@dataclass
class Audit:
    """The audit of one notebook: for each label how many `units` there are, how many were equal, and what differs.

    `rounding`: of each trial that differs in numbers alone, the largest relative difference; `played_with`: the BLAS
    kernels that played what is kept; `notes`: why some was not audited.
    """

    notebook: str
    profile: str
    units: dict[str, int]
    equal: Counter[str] = field(default_factory=Counter)
    differ: dict[str, list[str]] = field(default_factory=dict)
    rounding: list[float] = field(default_factory=list)
    played_with: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def replayed(self) -> int:
        """How many trials were replayed."""
        return self.equal.total() + sum(map(len, self.differ.values()))


def audit(r: Run, minutes: float, seed: int, jobs: int | None = None) -> Audit:
    """Replay trials of a run's store for at most `minutes` > 0: one of each label first, then uniformly at random.

    The minutes are wall time from the call. At most half of them go to the cells of the notebook, which ask for labels;
    no unit is begun whose kept seconds do not fit in what is left, and one that runs past the end is left out. In an
    experiment one policy of a trial is replayed: it has its own random streams. Arms and texts must be equal, other
    numbers to 1e-9; seconds do not count. Ctrl-C ends it, too. Raises FileNotFoundError if there is no store.
    """
    checks.positive(minutes=minutes)
    half, deadline = (time.monotonic() + 60 * part * minutes for part in (0.5, 1))
    folder, n_workers = r.folder / store.PLAYED, workers(jobs)
    if not store.labels(folder):
        where = folder.relative_to(r.root).as_posix()
        raise FileNotFoundError(f"nothing is kept in {where}: first `kbrepro reproduce {r.notebook[:2]}`")
    asked_for, missing = asked(r, deadline=half)
    here = {label: pair for label, pair in asked_for.items() if not unknown(pair[0].settings)}
    units = [unit for pair in here.values() for unit in _units(*pair)]
    done = Audit(r.notebook, r.profile, dict(Counter(unit.label for unit in units)), played_with=played_with(r))
    done.notes += [f"not everything is kept: {missing}; cells that need it were skipped"] if missing else []
    done.notes += ["half of the time was over before the notebook had asked for all labels"] * (time.monotonic() > half)
    if without := [label for label in asked_for if label not in here]:
        done.notes.append(f"not audited, their data is not here: {_listed(without)}")
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to play it
    calls = (
        (unit, job, kept.trial(unit.number - job.first))
        for unit in _in_time(_order(units, np.random.default_rng(seed)), deadline)
        for job, kept in [here[unit.label]]
    )
    try:
        for outcome in _in_processes(calls, n_workers, deadline):
            _note(done, *outcome)
    except KeyboardInterrupt:
        done.interrupted = True
    return done


def _in_processes(calls: Iterator[Any], n: int, deadline: float) -> Iterator[tuple[Unit, list[str], float]]:
    """Yield what `_replayed` returns of calls, in the order in which they end; at the deadline all are stopped.

    A call is taken when one of n workers is free, so that the clock decides.
    """
    pool = ProcessPoolExecutor(n)
    running: set[Future[Any]] = set()
    try:
        while True:
            running |= {pool.submit(_replayed, *call) for call in islice(calls, n - len(running))}
            ended, running = wait(running, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED)
            if not ended:  # nothing is left, or no time
                return
            for future in ended:
                yield future.result()
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _replayed(unit: Unit, job: Job, before: Any) -> tuple[Unit, list[str], float]:
    return unit, *replayed(job, unit.number, before, unit.policy)


def _note(done: Audit, unit: Unit, differences: list[str], largest: float) -> None:
    if not differences:
        done.equal[unit.label] += 1
        return
    if np.isfinite(largest):
        done.rounding.append(largest)
    who = f" ({unit.policy})" if unit.policy is not None else ""
    text = f"{unit.label}, trial {unit.number}{who}: {'; '.join(differences)}"
    done.differ.setdefault(unit.label, []).append(text)


def asked(r: Run, until: str = "", deadline: float = np.inf) -> tuple[dict[str, tuple[Job, Kept]], str]:
    """Run a notebook's cells and return what it asks of its store, and the first label that is missing there.

    Cells that need what is not kept are skipped, and so are those after the one that asks for label `until`, and those
    that would begin after the deadline.
    """
    import jupytext
    import matplotlib.pyplot as plt

    notebook = jupytext.read(r.root / "notebooks" / f"{r.notebook}.py")
    names: dict[str, Any] = {"__name__": "__main__"}
    missing, quiet = "", contextlib.redirect_stdout(io.StringIO())
    jobs: dict[str, tuple[Job, Kept]] = {}

    def listen(job: Job, kept: Kept) -> None:
        jobs[job.label] = job, kept

    with (
        store.using(store.Store(r.folder / store.PLAYED, read_only=True, on_read=listen)),
        contextlib.chdir(r.root),
        quiet,
    ):
        plt.switch_backend("agg")
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            try:
                exec(compile(cell.source, f"{r.notebook}.py", "exec"), names)
            except store.NotKept as error:
                missing = missing or str(error)
            except Exception:
                if not missing:
                    raise
            if "parameters" in cell.metadata.get("tags", []):
                names |= r.parameters
            plt.close("all")
            if until in jobs or time.monotonic() > deadline:
                break
    return jobs, missing


def _units(job: Job, kept: Kept) -> Iterator[Unit]:
    policies = policies_of(kept) or [None]
    for place, seconds in enumerate(kept.seconds):
        yield from (Unit(job.label, job.first + place, name, seconds / len(policies)) for name in policies)


def _order(units: Sequence[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.label])


def _in_time(units: Sequence[Unit], deadline: float) -> Iterator[Unit]:
    """Those that their seconds let end before the deadline."""
    return (unit for unit in units if time.monotonic() + unit.seconds < deadline)


def text(done: Audit) -> str:
    """Return, for a terminal, what was replayed, what that proves, and every trial that differs."""
    lines = [f"{done.notebook} ({done.profile}): {done.replayed} of {sum(done.units.values())} replayed"]
    lines[0] += f", {done.equal.total()} equal"
    lines += [f"  differs: {each}" for label in done.differ.values() for each in label]
    if done.rounding:
        lines.append(f"  {len(done.rounding)} in numbers alone, by at most {max(done.rounding):.1e} of their size")
    if blas_kernel() not in done.played_with and (done.played_with or done.differ):
        played = ", ".join(done.played_with) or "one that is not recorded"
        lines.append(f"  BLAS kernel {blas_kernel()} here, {played} when played: another one rounds in another way")
    drawn = {label: k for label, k in done.equal.items() if FEWEST <= k < done.units[label]}
    if drawn and not done.differ:
        k, label = min((k, label) for label, k in drawn.items())
        bound = f"at 95 % confidence fewer than {1 - 0.05 ** (1 / k):.0%} of its trials differ"
        lines.append(f"  {label!r}, all {k} drawn are equal: {bound}; labels with more replays have lower limits")
    few = [label for label, n in done.units.items() if done.equal[label] < min(FEWEST, n) and label not in done.differ]
    lines += [f"  fewer than {FEWEST} replays: {_listed(few)}"] * bool(few)
    return "\n".join([*lines, *(f"  {note}" for note in done.notes), *["  it was interrupted"] * done.interrupted])


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} label{'s' * (len(names) > 1)}: {'; '.join(names[:most])}{more}"


def keep(root: Path, audits: Sequence[Audit]) -> None:
    """Append one line per notebook to results/audits.csv: when, where, how many trials were replayed and equal."""
    git, rows = provenance.git_state(root), paths.read_rows(root / AUDITS)
    for each in audits:
        row = {"date": date.today().isoformat(), "commit": (git["commit"] or "")[:9] + "+" * bool(git["dirty"])}
        row |= {"notebook": each.notebook, "profile": each.profile, "labels": str(len(each.units))}
        row |= {"replayed": str(each.replayed), "equal": str(each.equal.total())}
        row |= {"differing labels": "; ".join(each.differ), "in numbers alone": str(len(each.rounding))}
        row |= {"by at most": f"{max(each.rounding, default=0):.1e}"}
        rows.append(row | {"processor": f"{provenance.platform.machine()} {blas_kernel()}", **provenance.versions()})
    paths.write_rows(root / AUDITS, rows)
