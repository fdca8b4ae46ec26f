"""What a result depends on besides its parameters: versions, commit, source, platform, data."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kbrepro.batch.quoted import PAGES

PACKAGES = ("numpy", "scipy", "pandas", "matplotlib", "joblib", "papermill")


def before(root: Path, jobs: str | None) -> dict[str, Any]:
    """Return what is known before a run starts; `jobs` is the number of workers asked for, if any."""
    from kbrepro.data.store import checksums

    return {
        "versions": versions(),
        "git": git_state(root),
        "source": source(root),
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_implementation(),
        },
        "data": checksums(),
        "jobs": workers(jobs),
    }


def workers(jobs: int | str | None) -> int:
    """Return the number of worker processes of a run that was asked for `jobs` of them, if any."""
    return int(jobs or os.environ.get("KBREPRO_JOBS") or os.cpu_count())


def versions() -> dict[str, str]:
    """Return the versions of Python, of the packages that numbers depend on, and of the BLAS in use."""
    import scipy.linalg  # noqa: F401  (loads the BLAS of numpy and of scipy)
    from threadpoolctl import threadpool_info

    blas = {f"{b['internal_api']} {b['version']}" for b in threadpool_info() if b["user_api"] == "blas"}
    return {"python": platform.python_version(), "blas": ", ".join(sorted(blas))} | {p: version(p) for p in PACKAGES}


def git_state(root: Path) -> dict[str, Any]:
    """Return commit and whether files differ from it, results and pages that quote them aside; None without git."""
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(
        root, "--no-optional-locks", "status", "--porcelain", "--", ".", ":!results", *(f":!{page}" for page in PAGES)
    )
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def source(root: Path) -> str:
    """Return a digest of every module that a notebook imports, itself or through others: what makes the numbers.

    What runs notebooks and shows results (`batch`, the command line) is not of them.
    """
    from kbrepro.simulation import digest, imported_by

    scripts = (path.read_text(encoding="utf-8") for path in sorted(root.glob("notebooks/*.py")))
    return digest({name: file for text in scripts for name, file in imported_by(text).items()})


def outdated(root: Path) -> dict[str, str]:
    """Return for every notebook whose full-scale run was made by other source than today's which commit made it."""
    runs = {path.parent.name: json.loads(path.read_text()) for path in sorted(root.glob("results/paper/*/run.json"))}
    today = source(root)
    return {
        name: f"made by other source than today's (commit {str(run['git']['commit'])[:7]})"
        for name, run in runs.items()
        if run["source"] != today
    }


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def checksums(folder: Path) -> dict[str, str]:
    """Return path -> sha256 of every file in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
