"""Run notebooks with papermill; a run replaces the results in a folder, and only on success."""

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import joblib
import psutil
from nbformat import NotebookNode

from kbrepro import paths, store
from kbrepro.batch import profiles, provenance
from kbrepro.replay import blas_kernel
from kbrepro.simulation import jobs_of_environment

#: Of every kernel: one BLAS thread, since workers play in parallel, and the kernel of this environment.
KERNEL = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "JUPYTER_PREFER_ENV_PATH": "1"}


class RunFailed(RuntimeError):
    """At least one notebook did not run to its end; its previous results are unchanged."""


@dataclass(frozen=True)
class Run:
    """One notebook with everything that is decided before it starts."""

    root: Path
    notebook: str
    profile: str
    folder: Path  # where the results go
    parameters: dict[str, Any]  # profile and overrides over the notebook's defaults


def run(
    notebooks: Sequence[str],
    profile: str,
    overrides: Mapping[str, Any],
    jobs: int | None = None,
    root: Path | None = None,
    fresh: Sequence[str] = (),
) -> list[Path]:
    """Run notebooks (all if none is named) and return the folders of their results.

    Trials in their stores are read, all others are played and kept there; labels in `fresh` (`*`: all) are played anew.
    Raises ValueError on a wrong name, type or profile before anything runs. If a notebook fails, its previous results
    stay, the others still run, and RunFailed is raised at the end.
    """
    runs = plan(notebooks, profile, overrides, root or paths.project_root())
    kept = {label for r in runs for label in store.labels(r.folder / store.PLAYED)} if fresh else set()
    for label in {*fresh} - {"*", *kept}:
        raise ValueError(f"--fresh {label!r} is not allowed: it must be a kept label, one of {sorted(kept)}")
    _each({r.notebook: partial(_run, r, workers(jobs), fresh) for r in runs})
    return [r.folder for r in runs]


def workers(jobs: int | None) -> int:
    """Return the number of worker processes of a run for which `jobs`, if any, were requested."""
    return jobs or jobs_of_environment() or joblib.cpu_count()


def plan(notebooks: Sequence[str], profile: str, overrides: Mapping[str, Any], root: Path) -> list[Run]:
    """Return what `run` would run; ValueError like `run`."""
    runs = []
    for name in profiles.chosen(notebooks, profiles.notebook_names(root), "notebook"):
        defaults = profiles.defaults(root, name)
        given = profiles.of_profile(root, name, profile) | dict(overrides)
        profiles.check(root, name, given, defaults)
        parameters = {key: value for key, value in (defaults | given).items() if key != profiles.RESERVED}
        recipe = json.dumps([profile, sorted(overrides.items())])
        where = f"custom/{hashlib.sha256(recipe.encode()).hexdigest()[:10]}" if overrides else profile
        runs.append(Run(root, name, profile, root / "results" / where / name, parameters))
    return runs


def refresh(notebooks: Sequence[str], root: Path | None = None) -> list[Path]:
    """Run notebooks as a reader opens them, without data, keep them with their outputs, and return their paths.

    Raises ValueError on an unknown name, and RunFailed like `run`.
    """
    root = root or paths.project_root()
    names = profiles.chosen(notebooks, profiles.notebook_names(root), "notebook")
    no_data = root / ".cache" / "no-data"
    no_data.mkdir(parents=True, exist_ok=True)
    alone = {"KBREPRO_DATA": str(no_data), store.FOLDER: "", "TQDM_DISABLE": "1"}
    made = {name: root / "notebooks" / f"{name}.ipynb" for name in names}
    _each({name: partial(_execute, root, name, path, {}, alone) for name, path in made.items()})
    return [*made.values()]


def _each(works: Mapping[str, Callable[[], None]]) -> None:
    """Do the work of every notebook, and tell how it ended; RunFailed at the end if any failed."""
    failed = []
    for name, work in works.items():
        start, outcome = time.monotonic(), "done"
        try:
            work()
        except Exception as error:  # whatever a notebook, its kernel or a disk does
            failed.append(name)
            outcome = f"FAILED\n{error if isinstance(error, RunFailed) else repr(error)}\n"
        print(f"{name}: {(time.monotonic() - start) / 60:.1f} min, {outcome}", file=sys.stderr, flush=True)
    if failed:
        raise RunFailed(f"{len(failed)} of {len(works)} notebooks failed: {', '.join(failed)}")


def _run(r: Run, jobs: int, fresh: Sequence[str]) -> None:
    """Run a notebook into a folder of its own, whose files then replace the results; played trials stay."""
    partial_results = r.folder.with_name(f".{r.folder.name}.partial")  # no name of a notebook
    with _locked(r):
        shutil.rmtree(partial_results, ignore_errors=True)
        partial_results.mkdir(parents=True)
        kept = _stamps(r.folder / store.PLAYED)
        own = {store.FOLDER: str(r.folder / store.PLAYED), store.FRESH: "\n".join(fresh), "KBREPRO_JOBS": str(jobs)}
        if data := os.environ.get("KBREPRO_DATA"):
            own["KBREPRO_DATA"] = str(Path(data).absolute())  # notebooks run in the root, not here
        given = r.parameters | {profiles.RESERVED: partial_results.relative_to(r.root).as_posix()}
        _execute(r.root, r.notebook, partial_results / "notebook.ipynb", given, own)
        _write_facts(r, partial_results, jobs, _stamps(r.folder / store.PLAYED) != kept)
        for old in [path for path in r.folder.glob("*") if path.name != store.PLAYED]:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        for new in partial_results.iterdir():
            r.folder.mkdir(exist_ok=True)
            new.rename(r.folder / new.name)
        partial_results.rmdir()


def _write_facts(r: Run, folder: Path, jobs: int, played: bool) -> None:
    """Write run.json; if nothing was played it stays what the run that played left."""
    if not played and (r.folder / "run.json").is_file():
        shutil.copy(r.folder / "run.json", folder / "run.json")
        return
    facts = provenance.facts(r.root) | {"notebook": r.notebook, "profile": r.profile, "parameters": r.parameters}
    facts |= {"jobs": jobs, "blas_kernels": sorted({*played_with(r), blas_kernel()})}
    facts["compute_seconds"] = round(store.seconds(r.folder / store.PLAYED), 1)
    paths.write_text(folder / "run.json", json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _stamps(folder: Path) -> dict[str, int]:
    """When each kept label was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.npz")}


def played_with(r: Run) -> list[str]:
    """Return the BLAS kernels that played the kept trials of a run; empty if its run.json does not say."""
    path = r.folder / "run.json"
    return json.loads(path.read_text(encoding="utf-8")).get("blas_kernels", []) if path.is_file() else []


@contextmanager
def _locked(r: Run) -> Iterator[None]:
    """Hold the lock of a folder of results, which ends with the process; RunFailed if another one holds it."""
    import fcntl  # not on Windows

    where = r.folder.relative_to(r.root).as_posix()
    lock = r.root / ".cache" / "locks" / where.replace("/", "-")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFailed(f"another run is writing {where}") from None
        yield


def _execute(root: Path, name: str, to: Path, parameters: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Run the text of a notebook, so that no stale .ipynb runs instead, and keep it, executed.

    RunFailed, with the reason, if a cell fails; what there is of it then is .cache/NAME.failed.ipynb.
    """
    import jupytext
    import papermill
    from papermill.exceptions import PapermillExecutionError

    quiet = {} if sys.stderr.isatty() else {"TQDM_DISABLE": "1"}
    how: dict[str, Any] = {"kernel_name": "python3", "cwd": root, "progress_bar": False, "stderr_file": sys.stderr}
    output, source = root / ".cache" / f"{name}.failed.ipynb", jupytext.read(root / "notebooks" / f"{name}.py")
    if stale(root, name):
        print(f"{name}: the .ipynb has other cells than the .py; the .py runs", file=sys.stderr)
    try:
        with patch.dict(os.environ, {**KERNEL, **quiet, **environment}), _interruptible():
            done = papermill.execute_notebook(source, output, parameters, request_save_on_cell_execute=False, **how)
    except PapermillExecutionError as error:
        where = output.relative_to(root).as_posix()
        raise RunFailed(f"{error.ename}: {error.evalue}\n(what there is of the notebook: {where})") from error
    paths.write_text(to, jupytext.writes(_tidy(done), "ipynb") + "\n")
    output.unlink()


def stale(root: Path, name: str) -> bool:
    """Return whether a notebook's .ipynb has other cells than its .py."""
    import jupytext

    text, notebook = (root / "notebooks" / f"{name}{suffix}" for suffix in (".py", ".ipynb"))
    if not notebook.is_file():
        return False
    one, other = ([(cell.cell_type, cell.source) for cell in jupytext.read(path).cells] for path in (text, notebook))
    return one != other


@contextmanager
def _interruptible() -> Iterator[None]:
    """On Ctrl-C end the kernel and its workers first: in sessions of their own they do not hear of it."""

    def end(*_: Any) -> None:
        for process in psutil.Process().children(recursive=True):
            process.kill()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _tidy(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what changes from run to run: times, random ids, and what it wrote to the terminal."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02}"
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if "injected-parameters" in cell.metadata.get("tags", []):  # where it ran, and what a profile changes
            cell.metadata["tags"].append("hide-input")
        if not cell.metadata.get("tags"):
            cell.metadata.pop("tags", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook
