"""What a batch would run: where to, how long, how much memory, what is kept already. Nothing is run or written."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from kbrepro.batch import provenance
from kbrepro.batch.compare import changed
from kbrepro.batch.run import TIMES, Run
from kbrepro.data import store


def told(runs: list[Run], jobs: int | None) -> str:
    """Return for a terminal what `runs` are, with what their last runs needed, and which data is found."""
    workers = provenance.workers(jobs)
    kept = kept_trials(runs[0].root / ".cache" / "trials") if runs else Counter()
    lines = [line for r in runs for line in _lines(r, workers, kept)]
    data = [f"{name} {'found' if there else 'simulated stand-in'}" for name, there in store.found().items()]
    return "\n".join([*lines, f"data: {', '.join(data)}"])


def _lines(r: Run, workers: int, kept: Counter[int]) -> list[str]:
    path = r.folder / "run.json"
    last = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    settings = changed(last.get("parameters", {}), r.effective) if last else ""
    return [
        f"{r.notebook}: profile {r.profile}, to {r.folder.relative_to(r.root).as_posix()}",
        *([f"  settings are not those of the last run there: {settings}"] if settings else []),
        f"  minutes: {_minutes(last, workers)}",
        f"  memory: {_memory(last)}",
        f"  kept: {_kept(r, kept)}",
    ]


def _minutes(last: dict[str, Any], workers: int) -> str:
    if not last:
        return "not known, there is no run of it"
    if "compute_seconds" not in last:
        return "not known, the last run did not tell"
    seconds = last["compute_seconds"]
    return f"about {seconds / workers / 60:.1f} where nothing is kept ({seconds:.0f} s of trials / {workers} workers)"


def _memory(last: dict[str, Any]) -> str:
    if "peak_megabytes" not in last:
        return "not known"
    return f"{last['peak_megabytes']} MB at most in the last run, with {last['jobs']} workers"


def _kept(r: Run, kept: Counter[int]) -> str:
    path = r.folder / TIMES
    played = 0
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            played = sum(int(row["trials"]) for row in csv.DictReader(file))
    seed = r.effective.get("seed")
    count = f"{kept[seed]} trials of seed {seed}" if seed is not None else "not known, the notebook has no seed"
    return count + (f" (the last run played {played})" if played else "")


def kept_trials(folder: Path) -> Counter[int]:
    """Return by root seed how many trials are kept for the numpy and scipy in use.

    Which of them are used again shows only when they are asked for: settings or source may have changed since.
    """
    versions = f" numpy {np.__version__} scipy {scipy.__version__}"
    counts: Counter[int] = Counter()
    for path in folder.glob("**/_run_block/*/metadata.json"):
        with suppress(OSError, ValueError, KeyError):  # another process may be writing it
            told = json.loads(path.read_text(encoding="utf-8"))["input_args"]
            if told["versions"].strip("'").endswith(versions) and path.with_name("output.pkl").is_file():
                counts[int(told["seed"])] += int(told["stop"]) - int(told["start"])
    return counts
