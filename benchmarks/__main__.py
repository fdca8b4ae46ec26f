"""`make bench`: every question, then the page; results/benchmarks/ is replaced whole when all is done."""

from __future__ import annotations

import shutil

from benchmarks import asked_for, harness, many_arms, page, peers, steps
from kbrepro import paths

QUESTIONS = [peers.QUESTION, steps.QUESTION, many_arms.QUESTION, asked_for.QUESTION]


def main() -> None:
    final = paths.project_root() / "results" / "benchmarks"
    new = final.with_name("benchmarks.partial")
    shutil.rmtree(new, ignore_errors=True)
    harness.ask(QUESTIONS, new)
    page.write(QUESTIONS, new)
    shutil.rmtree(final, ignore_errors=True)
    new.rename(final)


if __name__ == "__main__":
    main()
