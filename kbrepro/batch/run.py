"""Run notebooks with papermill; a run replaces all of a results folder, and only on success."""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from kbrepro import paths, store
from kbrepro.batch import folders, profiles, provenance
from kbrepro.batch.notebook import last_error, tidy, tidy_log
from kbrepro.batch.process import papermill


class RunFailed(RuntimeError):
    """At least one notebook did not run to its end; its previous results are unchanged."""


@dataclass(frozen=True)
class Run:
    """One notebook with everything that is decided before it starts."""

    root: Path
    notebook: str
    profile: str
    folder: Path  # where the results go
    given: dict[str, Any]  # what papermill is given: profile and overrides
    effective: dict[str, Any]  # the same over the notebook's defaults


def run(
    notebooks: list[str],
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
    root = root or paths.project_root()
    runs = plan(notebooks, profile, overrides, root)
    kept = {label for r in runs for label in store.labels(r.folder / store.PLAYED)} if fresh else set()
    for label in {*fresh} - {"*", *kept}:
        raise ValueError(f"--fresh {label!r} is not allowed: it must be a kept label, one of {sorted(kept)}")
    with _all_of(len(runs)) as one:
        for r in runs:
            with one(r.notebook):
                _run(r, jobs, fresh)
    return [r.folder for r in runs]


def plan(notebooks: list[str], profile: str, overrides: Mapping[str, Any], root: Path) -> list[Run]:
    """Return what `run` would run; ValueError like `run`."""
    names = profiles.chosen(notebooks, profiles.notebook_names(root), "notebook")
    return [_plan(root, name, profile, overrides) for name in names]


def refresh(notebooks: list[str], root: Path | None = None) -> list[Path]:
    """Run notebooks as a reader opens them, without data, keep them with their outputs, and return their paths.

    Raises ValueError on an unknown name, and RunFailed like `run`.
    """
    root = root or paths.project_root()
    names = profiles.chosen(notebooks, profiles.notebook_names(root), "notebook")
    with _all_of(len(names)) as one:
        for name in names:
            with one(name):
                work = root / ".cache" / "refresh" / name
                no_data = root / ".cache" / "no-data"
                no_data.mkdir(parents=True, exist_ok=True)
                _execute(root, name, work, {}, {"KBREPRO_DATA": str(no_data), store.FOLDER: "", "TQDM_DISABLE": "1"})
                _as_it_is(work / "notebook.ipynb", root / "notebooks" / f"{name}.ipynb")
    return [root / "notebooks" / f"{name}.ipynb" for name in names]


@contextmanager
def _all_of(number: int) -> Iterator[Any]:
    """Yield a context for the work of each name, which tells its end; RunFailed at the end if any failed."""
    failed: list[str] = []

    @contextmanager
    def one(name: str) -> Iterator[None]:
        start, outcome = time.monotonic(), "done"
        try:
            yield
        except RunFailed as error:
            failed.append(name)
            outcome = f"FAILED\n{error}\n"
        print(f"{name}: {(time.monotonic() - start) / 60:.1f} min, {outcome}", file=sys.stderr, flush=True)

    yield one
    if failed:
        raise RunFailed(f"{len(failed)} of {number} notebooks failed: {', '.join(failed)}")


def _plan(root: Path, notebook: str, profile: str, overrides: Mapping[str, Any]) -> Run:
    defaults = profiles.defaults(root, notebook)
    given = profiles.of_profile(root, notebook, profile) | dict(overrides)
    profiles.check(root, notebook, given, defaults)
    effective = {name: value for name, value in (defaults | given).items() if name != profiles.RESERVED}
    folder = root / "results" / _profile_folder(profile, overrides) / notebook
    return Run(root, notebook, profile, folder, given, effective)


def _profile_folder(profile: str, overrides: Mapping[str, Any]) -> str:
    if not overrides:
        return profile
    recipe = json.dumps([profile, sorted(overrides.items())])
    return f"custom/{hashlib.sha256(recipe.encode()).hexdigest()[:10]}"


def _run(r: Run, jobs: int | None, fresh: Sequence[str]) -> None:
    lock = r.root / ".cache" / "locks" / "-".join(r.folder.relative_to(r.root / "results").parts)
    with folders.locked(lock) as mine:
        if not mine:
            raise RunFailed(f"another run is writing {r.folder.relative_to(r.root).as_posix()}")
        _run_alone(r, jobs, fresh)


def _run_alone(r: Run, jobs: int | None, fresh: Sequence[str]) -> None:
    folders.recover(r.folder)
    new, facts = r.folder.with_name(f"{r.folder.name}.partial"), provenance.before(r.root, jobs)
    times = r.root / ".cache" / "times" / "-".join(r.folder.relative_to(r.root / "results").parts)
    paths.write_text(times, "label,trials,seconds,played\n")
    kept_in = r.folder / store.PLAYED
    environment = {store.FOLDER: str(kept_in), store.FRESH: "\n".join(fresh), "KBREPRO_TIMES": str(times)}
    environment |= {"KBREPRO_JOBS": str(jobs)} if jobs else {}
    if data := os.environ.get("KBREPRO_DATA"):
        environment["KBREPRO_DATA"] = str(Path(data).absolute())  # notebooks run in the root, not here
    results_dir = new.relative_to(r.root).as_posix()
    _execute(r.root, r.notebook, new, r.given | {profiles.RESERVED: results_dir}, environment)
    _as_it_is(new / "notebook.ipynb", new / "notebook.ipynb")
    rows = paths.read_rows(times)
    if any(int(row["played"]) for row in rows) or not (r.folder / "run.json").is_file():
        facts |= {"notebook": r.notebook, "profile": r.profile, "parameters": r.effective}
        facts["blas_kernels"] = sorted({*played_with(r), provenance.blas_kernel()})
        facts["compute_seconds"] = round(sum(float(row["seconds"]) for row in rows), 1)
        paths.write_text(new / "run.json", json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        paths.write_text(new / store.TIMES, times.read_text(encoding="utf-8"))
    else:  # nothing was played: these tell how the kept trials were
        for name in ("run.json", store.TIMES):
            shutil.copy(r.folder / name, new / name)
    folders.swap_in(new, r.folder)


def played_with(r: Run) -> list[str]:
    """Return the BLAS kernels that played the kept trials of a run; empty if its run.json does not say."""
    path = r.folder / "run.json"
    return json.loads(path.read_text(encoding="utf-8")).get("blas_kernels", []) if path.is_file() else []


def _as_it_is(executed: Path, final: Path) -> None:
    """Keep an executed notebook, without what changes from run to run."""
    import jupytext

    notebook = tidy(nbformat.read(executed, as_version=4), paths.project_root())
    paths.write_text(final, jupytext.writes(notebook, "ipynb") + "\n")


def _execute(root: Path, name: str, folder: Path, given: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Run a notebook's text into notebook.ipynb and log.txt of a folder, emptied before.

    RunFailed, with the reason, if it fails. The text runs, so that no stale notebook runs instead.
    """
    import jupytext

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = root / ".cache" / "source" / f"{name}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    jupytext.write(jupytext.read(root / "notebooks" / f"{name}.py"), source)
    code = papermill(root, source, folder, given, environment)
    tidy_log(folder / "log.txt", root)
    if code != 0:
        where = folder.relative_to(root).as_posix()
        raise RunFailed(f"{last_error(folder)}\n(papermill exit code {code}; what it left: {where})")
