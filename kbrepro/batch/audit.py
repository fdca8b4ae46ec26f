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
from kbrepro.batch.run import Run, played_with
from kbrepro.replay import blas_kernel, experiment_of, replayed
from kbrepro.store import Job, Kept
from kbrepro.store.settings import unknown

AUDITS = "results/audits.csv"
#: Numbers that differ by more than this share of their size do not differ by rounding.
ROUNDING = 1e-6
#: Trials of a label below which its share cannot be bounded by anything worth saying.
FEWEST = 3
INTERRUPTED = "it was interrupted"


class Unit(NamedTuple):
    """The smallest thing to replay, with its seconds: a trial of a label; in an experiment one policy of that trial."""

    label: str
    number: int
    policy: Any
    seconds: float


@dataclass
class Audit:
    """The audit of one notebook: for each label how many `units` there are, how many were equal, and what differs."""

    notebook: str
    profile: str
    units: dict[str, int]
    equal: Counter[str] = field(default_factory=Counter)
    differ: dict[str, list[str]] = field(default_factory=dict)
    #: Of each trial that differs in numbers and pulls the same arms, the largest relative difference.
    by: list[float] = field(default_factory=list)
    #: The same of trials whose job keeps no arms: other arms look like rounding there.
    without_arms: list[float] = field(default_factory=list)
    #: BLAS kernels that played what is kept, if that is recorded, and the one here.
    played_with: list[str] = field(default_factory=list)
    kernel: str = ""
    #: Whether time or patience ended before every label was asked for.
    ended: str = ""
    missing: str = ""
    without_data: list[str] = field(default_factory=list)

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
    start = time.monotonic()
    deadline, workers = start + 60 * minutes, provenance.workers(jobs)
    folder = r.folder / store.PLAYED
    if not store.labels(folder):
        where = folder.relative_to(r.root).as_posix()
        raise FileNotFoundError(f"nothing is kept in {where}: first `kbrepro reproduce {r.notebook[:2]}`")
    jobs_of, missing = asked(r, deadline=start + 30 * minutes)
    here = {label: pair for label, pair in jobs_of.items() if not unknown(pair[0].settings)}
    units = [unit for pair in here.values() for unit in _units(*pair)]
    found = Audit(r.notebook, r.profile, dict(Counter(unit.label for unit in units)), missing=missing)
    found.without_data = [label for label in jobs_of if label not in here]
    found.played_with, found.kernel = played_with(r), blas_kernel()
    if time.monotonic() > start + 30 * minutes:
        found.ended = "half of the time was over before the notebook had asked for all labels: give it more minutes"
    # what was kept of that trial alone: to hand all of a label to a worker takes longer than to play it
    calls = (
        (unit, job, kept.results[unit.number - job.first])
        for unit in _in_time(_order(units, np.random.default_rng(seed)), deadline)
        for job, kept in [here[unit.label]]
    )
    try:
        for outcome in _in_processes(calls, workers, deadline):
            _note(found, *outcome)
    except KeyboardInterrupt:
        found.ended = INTERRUPTED
    return found


def _in_processes(calls: Iterator[Any], workers: int, deadline: float) -> Iterator[tuple[Unit, list[str], float]]:
    """Yield what `_replayed` returns of calls, in the order in which they end; at the deadline all are stopped.

    A call is taken when a worker is free, so that the clock decides.
    """
    pool = ProcessPoolExecutor(workers)
    running: set[Future[Any]] = set()
    try:
        while True:
            running |= {pool.submit(_replayed, *call) for call in islice(calls, workers - len(running))}
            ended, running = wait(running, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED)
            if not ended:  # nothing is left, or no time
                return
            for future in ended:
                yield future.result()
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _note(found: Audit, unit: Unit, differences: list[str], largest: float) -> None:
    if not differences:
        found.equal[unit.label] += 1
        return
    if np.isfinite(largest):
        (found.without_arms if unit.policy is None else found.by).append(largest)
    who = f" ({unit.policy})" if unit.policy is not None else ""
    told = f"{unit.label}, trial {unit.number}{who}: {'; '.join(differences)}"
    found.differ.setdefault(unit.label, []).append(told)


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
    listener = store.Listener(r.folder / store.PLAYED)
    with store.using(listener), contextlib.chdir(r.root), quiet:
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
                names |= r.effective
            plt.close("all")
            if until in listener.jobs or time.monotonic() > deadline:
                break
    return listener.jobs, missing


def _units(job: Job, kept: Kept) -> Iterator[Unit]:
    for place, (result, seconds) in enumerate(zip(kept.results, kept.seconds, strict=True)):
        number = job.first + place
        if experiment_of(job) is None:
            yield Unit(job.label, number, None, seconds)
        else:
            each = seconds / len(result["policies"])
            yield from (Unit(job.label, number, name, each) for name in result["policies"])


def _order(units: Sequence[Unit], rng: np.random.Generator) -> list[Unit]:
    """One unit of each label, then the others; both at random."""
    shuffled = [units[place] for place in rng.permutation(len(units))]
    first = {unit.label: unit for unit in reversed(shuffled)}
    return sorted(shuffled, key=lambda unit: unit is not first[unit.label])


def _in_time(units: Sequence[Unit], deadline: float) -> Iterator[Unit]:
    """Those that their seconds let end before the deadline."""
    for unit in units:
        if time.monotonic() + unit.seconds < deadline:
            yield unit


def _replayed(unit: Unit, job: Job, before: Any) -> tuple[Unit, list[str], float]:
    return unit, *replayed(job, unit.number, before, unit.policy)


# What it says


def text(found: Sequence[Audit]) -> str:
    """Return, for a terminal, what was replayed, what that proves, and every trial that differs."""
    return "\n".join(line for its in found for line in _told(its))


def _told(its: Audit) -> Iterator[str]:
    n = sum(its.units.values())
    yield f"{its.notebook} ({its.profile}): {its.replayed} of {n} replayed, {its.equal.total()} equal"
    yield from (f"  differs: {told}" for label in its.differ.values() for told in label)
    yield from _counted(its)
    drawn = {label: k for label, k in its.equal.items() if FEWEST <= k < its.units[label]}
    if drawn and not its.differ:
        k, least = min((k, label) for label, k in drawn.items())
        yield (
            f"  Trials are drawn uniformly within a label. In {least!r} all {k} are equal: at 95 % confidence fewer "
            f"than {_at_most(k):.0%} of its trials differ; labels with more replays have lower limits. Over all "
            f"{len(its.units)} labels, weighted by replays, fewer than {_at_most(its.replayed):.1%} differ."
        )
    few = [label for label, n in its.units.items() if its.equal[label] < min(FEWEST, n) and label not in its.differ]
    for why, names in {f"fewer than {FEWEST} replays": few, "their data is not here": its.without_data}.items():
        if names:
            yield f"  not audited, {why}: {_listed(names)}"
    if its.ended:
        yield f"  not all was audited: {its.ended}"
    if its.missing:
        yield f"  not everything is kept: {its.missing}; cells that need it were skipped"


def _counted(its: Audit) -> Iterator[str]:
    """How many differ, in which way, and on which BLAS kernel."""
    if its.differ:
        others = its.replayed - its.equal.total() - len(its.by) - len(its.without_arms)
        counted = [f"{others} differ in arms, whole numbers or texts, or fail"]
        counted += [
            f"{len(its.by)} in numbers with the same arms, by at most {max(its.by, default=0):.1e} of their size"
        ]
        if its.without_arms:
            most = max(its.without_arms)
            counted += [f"{len(its.without_arms)} in numbers where no arms are kept, by at most {most:.1e}"]
        yield f"  {'; '.join(counted)}"
        if its.without_arms and max(its.without_arms) > ROUNDING:
            yield f"  more than {ROUNDING:.0e} is no rounding: where no arms are kept, others may have been pulled"
    if its.kernel not in its.played_with and (its.played_with or its.differ):
        played = ", ".join(its.played_with) or "a kernel that is not recorded"
        yield f"  BLAS kernel {its.kernel} here, played with {played}: numbers may differ by rounding, and so may arms"


def _at_most(k: int) -> float:
    """The share that k of k equal ones bound at 95 % confidence: about 3 / k."""
    return 1 - 0.05 ** (1 / k)


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} label{'s' * (len(names) > 1)}: {'; '.join(names[:most])}{more}"


def keep(root: Path, found: Sequence[Audit]) -> None:
    """Append one line per notebook to results/audits.csv: when, where, how many trials were replayed and equal."""
    git, versions = provenance.git_state(root), provenance.versions()
    about = {"date": date.today().isoformat(), "commit": (git["commit"] or "")[:9] + "+" * bool(git["dirty"])}
    rows = paths.read_rows(root / AUDITS)
    for its in found:
        told = {"notebook": its.notebook, "profile": its.profile, "labels": len(its.units), "replayed": its.replayed}
        told |= {"equal": its.equal.total(), "differing labels": "; ".join(its.differ)}
        by = {"in numbers alone": len(its.by), "by at most": f"{max(its.by, default=0):.1e}"}
        by["in numbers, without arms"] = len(its.without_arms)
        rows.append(about | told | {"processor": provenance.processor(), **versions} | by)
    paths.write_rows(root / AUDITS, rows)
