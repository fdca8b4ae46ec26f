"""How long jobs take: every benchmark is timed and stopped here.

A job is an iterator, and what it does from one item to the next is a step. It runs in this process
on one BLAS thread, one job at a time, so that ratios within one run mean something on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

from kbrepro import paths
from kbrepro.batch.run import git_state, versions
from kbrepro.kernels import Array

#: Libraries that we are compared with, where they are installed, and the modules that tell.
PEERS = {"scikit-learn": "sklearn", "tinygp": "tinygp", "jax": "jax"}
PEERS |= {name: name for name in ("gpytorch", "botorch", "torch")}
#: A job is stopped at the first step that ends after so many seconds.
STOP_AFTER = 120.0


class Timed(NamedTuple):
    """Seconds of every step, one array a repeat; the items of the first repeat; what a row says if
    it was stopped.
    """

    steps: list[Array]
    items: list[Any]
    note: str

    def totals(self, first: int) -> list[float]:
        """Return the seconds of the first steps of every repeat that got so far."""
        return [float(steps[:first].sum()) for steps in self.steps if len(steps) >= first]


def timed(
    begin: Callable[[], Iterable[Any]], repeats: int = 3, stop_after: float = STOP_AFTER
) -> Timed:
    """Time a job; `begin()`, which is not timed, returns its iterator.

    A repeat begins only if one as long as the last fits into `stop_after` seconds for all of them.
    """
    steps, items, whole = _play(begin(), stop_after)
    if not whole:
        return Timed([steps], items, f"stopped after {stop_after:g} s at step {len(steps)}")
    all_steps = [steps]
    while (
        len(all_steps) < repeats and sum(s.sum() for s in [*all_steps, all_steps[-1]]) <= stop_after
    ):
        steps, _, whole = _play(begin(), stop_after)
        if not whole:
            break
        all_steps.append(steps)
    return Timed(all_steps, items, "")


def _play(job: Iterable[Any], stop_after: float) -> tuple[Array, list[Any], bool]:
    """Return the seconds of every step, the items, and whether the job came to its end."""
    items, clock = [], [time.perf_counter()]
    for item in job:
        clock.append(time.perf_counter())
        items.append(item)
        if clock[-1] - clock[0] > stop_after:
            return np.diff(clock), items, False
    return np.diff(clock), items, True


def again(function: Callable[[], Any], times: int) -> Iterator[None]:
    """Call a function so many times: each is a step."""
    for _ in range(times):
        function()
        yield


def row(job: str, seconds: Sequence[float] | Array, note: str = "", **facts: Any) -> dict[str, Any]:
    """Return a row of a table: facts of a job, then min, median and max of its seconds, empty if
    there are none.
    """
    numbers = (
        (np.min(seconds), np.median(seconds), np.max(seconds)) if len(seconds) else (np.nan,) * 3
    )
    spread = dict(zip(("min_s", "median_s", "max_s"), numbers, strict=True))
    return {"job": job, **facts, **spread, "repeats": len(seconds), "note": note}


def facts() -> dict[str, Any]:
    """Return what the seconds depend on and can be told of any machine."""
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {
        "versions": versions() | {name: version(name) for name in PEERS if find_spec(PEERS[name])},
        "blas_kernels": sorted({str(library.get("architecture")) for library in blas}),
        "blas_threads": max(library["num_threads"] for library in blas),
        "git": git_state(paths.project_root()),
    }
