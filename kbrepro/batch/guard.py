"""A separate process that waits until the batch ends, for whatever reason, and then ends what it started.

Run as `python -P guard.py MARK` with a pipe from the batch as standard input: when the pipe closes, every process whose
environment has that mark is killed. A kernel lives in a session of its own and workers may be orphans, so neither a
signal to a group nor the death of a parent reaches them all.
"""

import sys
import time
from contextlib import suppress

import psutil

MARK = "KBREPRO_RUN"  # of the environment


def end_all(mark: str) -> None:
    """Kill every process that carries the mark, and those that they start meanwhile."""
    while marked := [it for it in psutil.process_iter(["environ"]) if (it.info["environ"] or {}).get(MARK) == mark]:
        for process in marked:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.05)


if __name__ == "__main__":
    sys.stdin.read()
    end_all(sys.argv[1])
