"""How long jobs take: a benchmark is a table of jobs, and every job is timed and stopped here.

It runs in this process, one job at a time and on one BLAS thread, so that ratios within one run
mean something on any machine.
"""

import json
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import distributions
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info, threadpool_limits

from kbrepro import paths
from kbrepro.batch.run import git_state, versions
from kbrepro.typing import Array

#: Libraries that we are compared with.
PEERS = ("scikit-learn", "tinygp", "jax", "gpytorch", "botorch", "torch", "optuna")


class Job(NamedTuple):
    """A row for every size; `begin(size)`, which is not timed, returns an iterator.

    What it does from one item to the next is a step. Seconds are those of whole `repeats`, or with
    `late` of every step in the last quarter of one. All repeats together are stopped after so many
    seconds of `clock`.
    """

    name: str
    begin: Callable[[int], Iterable[Any]]
    sizes: Sequence[int]
    repeats: int = 3
    stop_after: float = 60.0
    late: bool = False
    clock: Callable[[], float] = time.perf_counter


class Question(NamedTuple):
    """What is asked, of which jobs, and what becomes of the table that is measured."""

    asks: str
    jobs: Sequence[Job]
    table: Callable[[pd.DataFrame], pd.DataFrame]


def timed(job: Job, size: int) -> tuple[list[Array], list[Any], str]:
    """Return the seconds of every step, one array a repeat; the items of one; and what a row says
    if the first repeat was stopped. A later one that is stopped does not count.
    """
    repeats: list[Array] = []
    items: list[Any] = []
    left = job.stop_after
    while len(repeats) < job.repeats:
        begun = job.begin(size)
        seen = []
        ticks = [job.clock()]
        for item in begun:
            ticks.append(job.clock())
            seen.append(item)
            if ticks[-1] - ticks[0] > left:
                if repeats:
                    return repeats, items, ""
                note = f"stopped after {job.stop_after:g} s at step {len(seen)}"
                return [np.diff(ticks)], seen, note
        left -= ticks[-1] - ticks[0]
        repeats.append(np.diff(ticks))
        items = seen
    return repeats, items, ""


def measured(jobs: Iterable[Job]) -> pd.DataFrame:
    """Return a row for every job and size: min, median and max of its seconds, empty where a `note`
    says why; items; where the job called tracemalloc.start, the peak of memory since then (MB).

    A job that was stopped, or cannot be done here, is not played at its further sizes. What is done
    once in a process is not timed where there are repeats.
    """
    rows = []
    for job in jobs:
        for size in job.sizes:
            try:
                if job.repeats > 1:
                    list(job.begin(job.sizes[0]))
                steps, items, note = timed(job, size)
            # torch ends by a RuntimeError where memory does not do
            except (ImportError, MemoryError, RuntimeError) as error:
                steps = []
                items = []
                note = f"not measured: {error}"
            seconds = [] if note else [repeat.sum() for repeat in steps]
            if job.late and steps:
                seconds = steps[0][3 * len(items) // 4 :]
            spread = pd.Series(seconds, dtype=float).agg(["min", "median", "max"]).add_suffix("_s")
            row = {"job": job.name, "size": size, **spread, "repeats": len(seconds)}
            rows.append(row | {"note": note, "items": items})
            if tracemalloc.is_tracing():
                rows[-1]["peak_MB"] = tracemalloc.get_traced_memory()[1] / 1e6
                tracemalloc.stop()
            if note:
                break
    return pd.DataFrame(rows)


def facts() -> dict[str, Any]:
    """Return what the seconds depend on and can be told of any machine."""
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    peers = {peer.name: peer.version for peer in distributions() if peer.name in PEERS}
    return {
        "versions": versions() | peers,
        "blas_kernels": sorted({str(library.get("architecture")) for library in blas}),
        "blas_threads": max(library["num_threads"] for library in blas),
        "git": git_state(paths.project_root()),
    }


def keep(name: str, measure: Callable[[], dict[str, Any]]) -> None:
    """Measure on one BLAS thread; write what is found, and facts, to a JSON file in results/."""
    with threadpool_limits(1, user_api="blas"):
        results = measure() | facts()
    path = paths.project_root() / "results" / name
    paths.write_text(path, json.dumps(results, indent=1) + "\n")
