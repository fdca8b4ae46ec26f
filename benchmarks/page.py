"""The page of `make bench`: results/benchmarks/README.md, all of its numbers from the CSV files beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import Question
from kbrepro import paths, scorecard


def write(questions: Sequence[Question], folder: Path) -> None:
    """Write README.md of a folder with the tables, figures and `run.json` of these questions."""
    known = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    tables = {question.name: pd.read_csv(folder / f"{question.name}.csv") for question in questions}
    aims = [(*aim, question.name) for question in questions for aim in question.aims(tables[question.name])]
    met = sum(bool(aim[2]) for aim in aims)
    rows = [
        (name, aim, measured, "met" if is_met else "**missed**", "" if is_met else reason)
        for aim, measured, is_met, reason, name in aims
    ]
    parts = [
        "# Benchmarks",
        f"Made by `make bench`, in one run, one job at a time; {met} of {len(aims)} aims are met. {_facts(known)}",
        "Seconds are the smallest, median and largest of a job's repeats. They are those of one machine; what carries "
        "over to another are ratios within the run.",
        "## Aims",
        scorecard.table(["question", "aim", "measured", "", "why not"], rows),
        *(_section(question, tables[question.name]) for question in questions),
    ]
    paths.write_text(folder / "README.md", "\n\n".join(parts) + "\n")


def _facts(known: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in known["versions"].items())
    commit = str(known["git"]["commit"])[:7] + (" with changes" if known["git"]["dirty"] else "")
    kernels, threads = " and ".join(known["blas_kernels"]), known["blas_threads"]
    minutes = sum(known["seconds"].values()) / 60
    blas = f"BLAS threads: {threads}, kernels: {kernels}"
    return f"Commit {commit}, {versions}; {blas}. It took {minutes:.0f} minutes."


def _section(question: Question, table: pd.DataFrame) -> str:
    name, its = question.name, question.shown(table)
    rows = [[_text(value) for value in row] for row in its.itertuples(index=False)]
    heading = name.replace("_", " ").capitalize()
    picture = f"![{heading}: see the table below]({name}.png)"
    csv = f"All numbers: [{name}.csv]({name}.csv)."
    return "\n\n".join([f"## {heading}", f"{question.asks} {csv}", picture, scorecard.table(list(its), rows)])


def _text(value: Any) -> str:
    """A cell: three digits of a number, nothing where there is none."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3g}"
    return str(value)
