"""A process of its own that waits until the batch ends, however that happens, and then ends what it started.

Run as `python -P guard.py NAME VALUE` with a pipe from the batch as standard input: when the pipe closes, every
process whose environment has NAME=VALUE is killed. A kernel lives in a session of its own and workers may be orphans,
so neither a signal to a group nor the death of a parent reaches them all.
"""

import sys
import time
from contextlib import suppress

import psutil


def end_all(name: str, value: str) -> None:
    """Kill every process that carries the mark, and those that they start meanwhile."""
    while marked := [process for process in psutil.process_iter() if _has(process, name, value)]:
        for process in marked:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.05)


def _has(process: psutil.Process, name: str, value: str) -> bool:
    try:
        return process.environ().get(name) == value and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False


if __name__ == "__main__":
    sys.stdin.read()
    end_all(*sys.argv[1:])
