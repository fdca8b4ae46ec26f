"""`make bench`: every question, then the page; results/benchmarks/ is replaced whole when all is
done.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks import batches, growth, many_arms, peers
from benchmarks.harness import facts
from kbrepro import paths
from kbrepro.claims import scorecard

#: Modules with what they ask, `ASKS`; `measure(**sizes)`, which returns a table; and sizes, `FULL`
#: and `TOY`.
QUESTIONS: dict[str, Any] = {
    "peers": peers,
    "batches": batches,
    "many_arms": many_arms,
    "growth": growth,
}
HEAD = """# Benchmarks

Made by `make bench` in {minutes:.0f} minutes, in one run, one job at a time. Seconds are the
smallest, median and largest of a job's repeats. They are those of one machine; what carries over to
another are ratios within the run. Commit {commit}, {versions}; BLAS threads: {blas_threads},
kernels: {kernels}."""


def ask(folder: Path, sizes: str = "FULL") -> None:
    """Measure all questions, at sizes FULL or TOY; write a CSV of each, `run.json` and README.md to
    a folder.
    """
    with threadpool_limits(1, user_api="blas"):
        known = facts()
        seconds = {}
        parts = []
        for name, question in QUESTIONS.items():
            start = time.perf_counter()
            table = question.measure(**getattr(question, sizes))
            seconds[name] = round(time.perf_counter() - start, 1)
            paths.write_text(folder / f"{name}.csv", table.to_csv(index=False, float_format="%.4g"))
            parts += [
                f"## {name.replace('_', ' ').capitalize()}",
                question.ASKS,
                scorecard.table(list(table), table.map(_text).to_numpy()),
            ]
    paths.write_text(folder / "run.json", json.dumps(known | {"seconds": seconds}, indent=1) + "\n")
    commit = str(known["git"]["commit"])[:7] + (" with changes" if known["git"]["dirty"] else "")
    known["versions"] = ", ".join(
        f"{name} {version}" for name, version in known["versions"].items()
    )
    kernels = " and ".join(known["blas_kernels"])
    head = HEAD.format(
        **known | {"commit": commit}, kernels=kernels, minutes=sum(seconds.values()) / 60
    )
    paths.write_text(folder / "README.md", "\n\n".join([head, *parts]) + "\n")


def _text(value: Any) -> str:
    """A cell: three digits of a number, nothing where there is none."""
    if pd.isna(value):
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    final = paths.project_root() / "results" / "benchmarks"
    new = final.with_name("benchmarks.partial")
    shutil.rmtree(new, ignore_errors=True)
    ask(new)
    shutil.rmtree(final, ignore_errors=True)
    new.rename(final)


if __name__ == "__main__":
    main()
