"""One papermill process, watched to its end, after which none of its processes is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil
import yaml

MARK = "KBREPRO_RUN"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def papermill(
    root: Path,
    source: Path,
    output: Path,
    log: Path,
    parameters: Mapping[str, Any] | None,
    environment: Mapping[str, str],
) -> int:
    """Execute a notebook with `root` as working directory and return papermill's exit code.

    What the notebook writes to stderr (progress bars, warnings) is relayed to a terminal and kept in `log`. When this
    returns or raises, also on Ctrl-C and SIGTERM, kernel and workers are gone.
    """
    command = [sys.executable, "-m", "papermill", str(source), str(output), "-k", "python3"]
    command += ["--no-progress-bar", "--stderr-file", "-"]
    if parameters is not None:
        command += ["-y", yaml.safe_dump(dict(parameters), allow_unicode=True)]
    mark = uuid.uuid4().hex
    # a conda environment must find its own kernel, not one of the user's
    own = ONE_THREAD | {MARK: mark, "JUPYTER_PREFER_ENV_PATH": "1", "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as file, _nothing_left(mark):
        process = subprocess.Popen(
            command,
            cwd=root,
            env=os.environ | own | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=file,
            start_new_session=True,  # Ctrl-C reaches this process only, which then ends the others in order
        )
        # a thread, since workers that outlive the kernel would hold the pipe open
        relay = threading.Thread(target=_relay, args=(process.stdout, file), daemon=True)
        relay.start()
        code = process.wait()
        _kill(mark)
        relay.join()
    return code


def _relay(pipe: IO[bytes], log: IO[bytes]) -> None:
    screen = sys.stderr if sys.stderr.isatty() else None
    while chunk := os.read(pipe.fileno(), 65536):
        log.write(chunk)
        log.flush()
        if screen:
            screen.write(chunk.decode(errors="replace"))
            screen.flush()
    pipe.close()


@contextmanager
def _nothing_left(mark: str) -> Iterator[None]:
    """Turn SIGTERM into an exit, and end every marked process on the way out."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)) if in_main_thread else None
    try:
        yield
    finally:
        _kill(mark)
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)


def _kill(mark: str) -> None:
    """Kill every process that carries the mark: kernels live in a session of their own, workers may be orphans."""
    while marked := [process for process in psutil.process_iter() if _has(process, mark)]:
        for process in marked:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        time.sleep(0.05)


def _has(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False
