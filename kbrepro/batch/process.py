"""One papermill process, watched until its end, which leaves no process of its own."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from kbrepro.batch import guard

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def module(name: str) -> list[str]:
    """Return the command that runs an installed module; arguments follow."""
    return [sys.executable, "-m", name]


def papermill(
    root: Path, source: Path, folder: Path, parameters: Mapping[str, Any], environment: Mapping[str, str]
) -> int:
    """Execute a notebook with `root` as working directory into a folder's notebook.ipynb; return the exit code.

    What papermill and the notebook write to stderr (progress bars, warnings) is kept in log.txt, and shown in a
    terminal. When this ends, by return, Ctrl-C or a signal to this process, kernel and workers are gone.
    """
    command = [*module("papermill"), str(source), str(folder / "notebook.ipynb"), "-k", "python3"]
    # by itself papermill writes the whole notebook twice a cell
    command += ["--no-progress-bar", "--no-request-save-on-cell-execute", "--stderr-file", "-"]
    if parameters:  # none: no cell of them is put in
        command += ["-y", yaml.safe_dump(dict(parameters), allow_unicode=True)]
    mark, log = uuid.uuid4().hex, folder / "log.txt"
    # a conda environment must find its own kernel, not one of the user's
    own = ONE_THREAD | {guard.MARK: mark, "JUPYTER_PREFER_ENV_PATH": "1", "PYTHONUNBUFFERED": "1"}
    watch = subprocess.Popen(
        [sys.executable, "-P", guard.__file__, mark], stdin=subprocess.PIPE, start_new_session=True
    )
    with watch, log.open("wb") as file, log.open("rb") as written:  # leaving it closes the pipe
        process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, **own, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches this process only, which then ends the others in order
        )
        while (code := process.poll()) is None:
            time.sleep(0.1)
            if sys.stderr.isatty():
                sys.stderr.buffer.write(written.read())
                sys.stderr.flush()
    return code
