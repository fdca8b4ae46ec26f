"""What a result was made with besides its parameters: versions, commit, platform, data. It decides nothing."""

import hashlib
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kbrepro.replay import blas_kernel
from kbrepro.simulation import jobs_of_environment

PACKAGES = ("numpy", "scipy", "pandas", "matplotlib", "joblib", "papermill")


def before(root: Path, jobs: int | None) -> dict[str, Any]:
    """Return what is known before a run starts; `jobs` is the requested number of workers, if any."""
    from kbrepro.data.store import checksums

    system, machine = platform.system(), platform.machine()
    return {
        "versions": versions(),
        "git": git_state(root),
        "platform": {"system": system, "machine": machine, "python": platform.python_implementation()},
        "data": checksums(),
        "jobs": workers(jobs),
    }


def workers(jobs: int | str | None) -> int:
    """Return the number of worker processes of a run for which `jobs`, if any, were requested."""
    return int(jobs or jobs_of_environment() or os.cpu_count() or 1)


def versions() -> dict[str, str]:
    """Return the versions of Python, of the packages that numbers depend on, and of the BLAS in use."""
    import scipy.linalg  # noqa: F401  (loads the BLAS of numpy and of scipy)
    from threadpoolctl import threadpool_info

    blas = {f"{b['internal_api']} {b['version']}" for b in threadpool_info() if b["user_api"] == "blas"}
    return {"python": platform.python_version(), "blas": ", ".join(sorted(blas))} | {p: version(p) for p in PACKAGES}


def processor() -> str:
    """Return the name of the processor, as the system gives it, and the kernel that BLAS chose for it."""
    return f"{platform.machine()} {blas_kernel()}".strip()


def git_state(root: Path) -> dict[str, Any]:
    """Return the commit, and whether files changed, except results; None without git."""
    commit = git(root, "rev-parse", "HEAD")
    changes = git(root, "--no-optional-locks", "status", "--porcelain", "--", ".", ":!results")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def git(root: Path, *arguments: str) -> str | None:
    """Return the output of git; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def checksums(folder: Path) -> dict[str, str]:
    """Return path -> sha256 of every file in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
