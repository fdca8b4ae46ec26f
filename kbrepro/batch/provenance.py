"""What a result was made with besides its parameters: versions, commit, platform, data. It decides nothing."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kbrepro.data.store import checksums

PACKAGES = ("numpy", "scipy", "pandas", "matplotlib", "joblib", "papermill")


def facts(root: Path) -> dict[str, Any]:
    """Return versions, commit, platform and the digests of data."""
    system = {"system": platform.system(), "machine": platform.machine(), "python": platform.python_implementation()}
    return {"versions": versions(), "git": git_state(root), "platform": system, "data": checksums()}


def versions() -> dict[str, str]:
    """Return the versions of Python, of the packages that numbers depend on, and of the BLAS in use."""
    import scipy.linalg  # noqa: F401  (loads the BLAS of numpy and of scipy)
    from threadpoolctl import threadpool_info

    blas = {f"{b['internal_api']} {b['version']}" for b in threadpool_info() if b["user_api"] == "blas"}
    return {"python": platform.python_version(), "blas": ", ".join(sorted(blas))} | {p: version(p) for p in PACKAGES}


def git_state(root: Path) -> dict[str, Any]:
    """Return the commit, and whether files changed, except results; None without git."""
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "--no-optional-locks", "status", "--porcelain", "--", ".", ":!results")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def _git(root: Path, *arguments: str) -> str | None:
    """The output of git; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
