"""`make bench`: every question, then the page; results/benchmarks/ is written when all is done."""

import csv
import json
import time
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.harness import facts, measured
from benchmarks.many_arms import MANY_ARMS
from benchmarks.peers import PEERS
from kbrepro import paths
from kbrepro.claims import scorecard

QUESTIONS = {"peers": PEERS, "many_arms": MANY_ARMS}
HEAD = """# Benchmarks

Made by `make bench` in {:.0f} minutes, in one run, one job at a time. Seconds are the smallest,
median and largest of a job's repeats. They are those of one machine; what carries over to another
are ratios within the run. A job that was stopped is not played at larger sizes. Commit, versions,
BLAS threads and kernels: `run.json`."""


def ask(folder: Path, sizes: Sequence[int] = ()) -> None:
    """Measure all questions, if sizes are given at these; write a CSV of each, `run.json` and
    README.md to a folder.
    """
    texts = {}
    seconds = {}
    parts = []
    with threadpool_limits(1, user_api="blas"):
        for name, question in QUESTIONS.items():
            start = time.perf_counter()
            jobs = [job._replace(sizes=sizes or job.sizes) for job in question.jobs]
            table = question.table(measured(jobs)).drop(columns="items")
            seconds[name] = round(time.perf_counter() - start, 1)
            texts[f"{name}.csv"] = table.to_csv(index=False, float_format="%.4g")
            short = table.to_csv(index=False, float_format="%.3g")
            columns, *lines = csv.reader(short.splitlines())
            parts += [f"## {name}.csv", question.asks, scorecard.table(columns, lines)]
        ran_on = facts()
    head = HEAD.format(sum(seconds.values()) / 60)
    texts["README.md"] = "\n\n".join([head, *parts]) + "\n"
    texts["run.json"] = json.dumps(ran_on | {"seconds": seconds}, indent=1) + "\n"
    paths.write_all({folder / name: text.encode() for name, text in texts.items()})


if __name__ == "__main__":
    ask(paths.project_root() / "results" / "benchmarks")
