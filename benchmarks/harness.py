"""How long jobs take: every benchmark is timed and stopped here.

A job is an iterator, and what it does from one item to the next is a step. It runs in this process
on one BLAS thread, one job at a time, so that ratios within one run mean something on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from kbrepro import paths
from kbrepro.bandits.kernels import Array
from kbrepro.batch.run import git_state, versions

#: A row of a table.
Row = dict[str, Any]
#: Plays so many rounds: an iterator of what each gives.
Play = Callable[[int], Iterable[Any]]
#: Libraries that we are compared with, where they are installed, and the modules that tell.
PEERS = {"scikit-learn": "sklearn", "tinygp": "tinygp", "jax": "jax"}
PEERS |= {name: name for name in ("gpytorch", "botorch", "torch", "optuna")}
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
    items = []
    clock = [time.perf_counter()]
    for item in job:
        clock.append(time.perf_counter())
        items.append(item)
        if clock[-1] - clock[0] > stop_after:
            return np.diff(clock), items, False
    return np.diff(clock), items, True


def row(job: str, seconds: Sequence[float] | Array, note: str = "", **facts: Any) -> Row:
    """Return a row of a table: facts of a job, then min, median and max of its seconds, empty if
    there are none.
    """
    spread = pd.Series(seconds, dtype=float).agg(["min", "median", "max"]).add_suffix("_s")
    return {"job": job, **facts, **spread, "repeats": len(seconds), "note": note}


def compared(
    loads: Mapping[str, Callable[[], Play]], horizons: Sequence[int], repeats: int
) -> pd.DataFrame:
    """Return a row for every job and number of rounds: the first rounds of its longest runs.

    A job is loaded, which raises ImportError where its library is not installed. `times`: its
    median over that of the first job; `same_arms`: whether its rounds give the same.
    """
    rows: list[Row] = []
    reference: dict[int, tuple[float, list[Any]]] = {}
    for name, load in loads.items():
        try:
            play = load()
        except ImportError as error:
            rows += [row(name, [], f"not measured: {error}", rounds=t) for t in horizons]
            continue
        list(play(2))  # what a library does once in a process is not timed
        run = timed(partial(play, max(horizons)), repeats)
        for t in horizons:
            seconds = run.totals(t)
            if not seconds:
                rows.append(row(name, [], run.note, rounds=t))
                continue
            median = float(np.median(seconds))
            given = run.items[:t]
            ours, first = reference.setdefault(t, (median, given))
            rows.append(row(name, seconds, rounds=t, times=median / ours, same_arms=given == first))
    return pd.DataFrame(rows)


def facts() -> Row:
    """Return what the seconds depend on and can be told of any machine."""
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {
        "versions": versions() | {name: version(name) for name in PEERS if find_spec(PEERS[name])},
        "blas_kernels": sorted({str(library.get("architecture")) for library in blas}),
        "blas_threads": max(library["num_threads"] for library in blas),
        "git": git_state(paths.project_root()),
    }
