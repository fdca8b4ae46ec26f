"""Run notebooks with papermill, one process each; a run replaces all of a results folder, and only on success."""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from kbrepro import paths, store
from kbrepro.batch import editions, folders, profiles, provenance
from kbrepro.batch.notebook import last_error, replace, show_in, tidy, tidy_log
from kbrepro.batch.process import papermill
from kbrepro.verdicts import claims, scorecard

PAPER = "paper"
TIMES = "trials.csv"  # what was computed, and how long it took


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

    @property
    def partial(self) -> Path:
        """Where the results are made."""
        return self.folder.with_name(f"{self.folder.name}.partial")


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
    kept = {label for r in runs for label in store.labels(r.folder / store.PLAYED)}
    for label in {*fresh} - {"*", *kept}:
        raise ValueError(f"--fresh {label!r} is not allowed: it must be a kept label, one of {sorted(kept)}")
    environment = _environment(jobs) | {store.FRESH: "\n".join(fresh)}
    _each({r.notebook: partial(_run, r, environment) for r in runs})
    return [r.folder for r in runs]


@contextmanager
def judged_again(r: Run) -> Iterator[Path]:
    """Judge and show a run from its store alone, without playing. Yield its folder, which is removed afterwards.

    Raises RunFailed, which names the label, if the store lacks one.
    """
    folder = r.folder.with_name(f"{r.notebook}.again.partial")
    try:
        _make(r, folder, _environment(None) | {store.READ_ONLY: "1"})
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plan(notebooks: list[str], profile: str, overrides: Mapping[str, Any], root: Path) -> list[Run]:
    """Return what `run` would run; ValueError like `run`."""
    names = profiles.chosen(notebooks, profiles.notebook_names(root, ".ipynb"), "notebook")
    return [_plan(root, name, profile, overrides) for name in names]


def refresh(notebooks: list[str], root: Path | None = None) -> list[Path]:
    """Rebuild the notebooks from their .py files, run at their defaults without data, and return their paths.

    Raises ValueError on an unknown name, and RunFailed like `run`.
    """
    root = root or paths.project_root()
    names = profiles.chosen(notebooks, profiles.notebook_names(root, ".py"), "notebook")
    _each({name: partial(_refresh, root, name) for name in names})
    return [root / "notebooks" / f"{name}.ipynb" for name in names]


def _each(work: Mapping[str, Callable[[], None]]) -> None:
    """Do the work of every name, telling start and end; RunFailed at the end if any failed."""
    failed = []
    for number, (name, do) in enumerate(work.items(), start=1):
        print(f"[{number}/{len(work)}] {name} ...", file=sys.stderr, flush=True)
        start, outcome = time.monotonic(), "done"
        try:
            do()
        except RunFailed as error:
            failed.append(name)
            outcome = f"FAILED\n{error}\n"
        minutes = (time.monotonic() - start) / 60
        print(f"[{number}/{len(work)}] {name}: {minutes:.1f} min, {outcome}", file=sys.stderr, flush=True)
    if failed:
        raise RunFailed(f"{len(failed)} of {len(work)} notebooks failed: {', '.join(failed)}")


def _plan(root: Path, notebook: str, profile: str, overrides: Mapping[str, Any]) -> Run:
    defaults = profiles.defaults(root, notebook)
    given = profiles.of_profile(root, notebook, profile) | dict(overrides)
    profiles.check(root, notebook, given, defaults)
    rules = _rules(root, notebook) if profile == PAPER and not overrides else None
    if rules and rules.edition and given.get("seed") != rules.edition.seed:
        where = f"notebooks/profiles/{PAPER}/{notebook}.yaml"
        allowed = f"edition {rules.edition.name} has {rules.edition.seed}; `kbrepro edition open` makes a new one"
        raise ValueError(f"{where}: seed = {given.get('seed')} is not allowed: {allowed}")
    effective = {name: value for name, value in (defaults | given).items() if name != profiles.RESERVED}
    folder = root / "results" / _profile_folder(profile, overrides) / notebook
    return Run(root, notebook, profile, folder, given, effective)


def _rules(root: Path, notebook: str) -> claims.Rules | None:
    """Return the rules that a notebook's run is judged by; None if it has none."""
    path = root / "notebooks" / "claims" / f"{notebook}.yaml"
    return claims.load(path) if path.is_file() else None


def _profile_folder(profile: str, overrides: Mapping[str, Any]) -> str:
    if not overrides:
        return profile
    recipe = json.dumps([profile, sorted(overrides.items())])
    return f"custom/{hashlib.sha256(recipe.encode()).hexdigest()[:10]}"


def _environment(jobs: int | None) -> dict[str, str]:
    """Return what a notebook's processes get on top of this one's environment."""
    environment = {store.FRESH: "", store.READ_ONLY: "", **({"KBREPRO_JOBS": str(jobs)} if jobs else {})}
    if data := os.environ.get("KBREPRO_DATA"):
        environment["KBREPRO_DATA"] = str(Path(data).absolute())  # notebooks run in the root, not here
    return environment


def _run(r: Run, environment: Mapping[str, str]) -> None:
    lock = r.root / ".cache" / "locks" / "-".join(r.folder.relative_to(r.root / "results").parts)
    with folders.locked(lock) as mine:
        if not mine:
            raise RunFailed(f"another run is writing {r.partial.relative_to(r.root).as_posix()}")
        _run_alone(r, environment)


def _run_alone(r: Run, environment: Mapping[str, str]) -> None:
    record = provenance.before(r.root, environment.get("KBREPRO_JOBS"))
    folders.recover(r.folder)
    start = time.monotonic()
    _make(r, r.partial, environment)
    seconds, played = _computed(r.partial / TIMES)
    rules = _rules(r.root, r.notebook)
    played_on = played_with(r)
    record["blas_kernels"] = sorted({*played_on, provenance.blas_kernel()}) if played else played_on
    record |= {"notebook": r.notebook, "profile": r.profile, "parameters": r.effective}
    record |= {"seconds": round(time.monotonic() - start, 1), "compute_seconds": seconds, "played": played}
    record |= {"rules": rules.digest if rules else "", "outputs": provenance.checksums(r.partial)}
    if not played:
        print(f"{r.notebook}: nothing was played; all trials were read from the store", file=sys.stderr)
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False)
    paths.write_text(r.partial / "run.json", text + "\n")
    folders.swap_in(r.partial, r.folder)
    if r.folder.parent == r.root / "results" / PAPER:
        found = scorecard.read_run(r.folder)
        editions.note_verdicts(r.root, r.notebook, [its["verdict"] for its in found["claims"]])
        if untrue := [its["sentence"] for its in found["expected"] if not its["holds"]]:
            listed = "\n".join(f"- {sentence}" for sentence in untrue)
            raise RunFailed(f"its results are kept, but sentences of the notebook are not true of them:\n{listed}")


def played_with(r: Run) -> list[str]:
    """Return the BLAS kernels that played the kept trials of a run; empty if its run.json does not say."""
    path = r.folder / "run.json"
    return json.loads(path.read_text(encoding="utf-8")).get("blas_kernels", []) if path.is_file() else []


def _make(r: Run, folder: Path, environment: Mapping[str, str]) -> None:
    """Make the results of a run in a folder, emptied before, with its store in use."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    results_dir, times = folder.relative_to(r.root).as_posix(), folder / TIMES
    times.write_text("label,trials,seconds,played\n", encoding="utf-8")
    kept_in = {"KBREPRO_TIMES": str(times), store.FOLDER: str(r.folder / store.PLAYED)}
    source = r.root / "notebooks" / f"{r.notebook}.ipynb"
    _execute(r.root, source, folder, r.given | {profiles.RESERVED: results_dir}, {**environment, **kept_in})
    _tidy_notebook(r, folder, results_dir)


def _computed(times: Path) -> tuple[float, int]:
    """Return the seconds that all trials took, those played earlier included, and how many were played now."""
    rows = paths.read_rows(times)
    return round(sum(float(row["seconds"]) for row in rows), 1), sum(int(row["played"]) for row in rows)


def _tidy_notebook(r: Run, folder: Path, results_dir: str) -> None:
    path = folder / "notebook.ipynb"
    notebook = tidy(nbformat.read(path, as_version=4), r.root)
    if r.profile == PAPER:
        show_in(notebook, "at-a-glance", scorecard.glance(scorecard.read_run(folder), r.notebook))
    up = os.path.relpath(r.root, r.folder).replace(os.sep, "/")  # the copy lies deeper than notebooks/
    replace(notebook, "markdown", "](../", f"]({up}/")
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if text := output.get("data", {}).get("text/markdown"):
            output.data["text/markdown"] = text.replace("](../", f"]({up}/")
    replace(notebook, "code", results_dir, r.folder.relative_to(r.root).as_posix())
    paths.write_text(path, nbformat.writes(notebook) + "\n")


def _refresh(root: Path, name: str) -> None:
    import jupytext

    work, final = root / ".cache" / "refresh" / name, root / "notebooks" / f"{name}.ipynb"
    no_data = root / ".cache" / "no-data"
    no_data.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    jupytext.write(jupytext.read(final.with_suffix(".py")), work / "source.ipynb")
    environment = {"KBREPRO_DATA": str(no_data), store.FOLDER: "", "TQDM_DISABLE": "1"}
    _execute(root, work / "source.ipynb", work, {}, environment)
    notebook = tidy(nbformat.read(work / "notebook.ipynb", as_version=4), root)
    paths.write_text(final, jupytext.writes(notebook, "ipynb") + "\n")


def _execute(root: Path, source: Path, folder: Path, given: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Run into notebook.ipynb and log.txt of a folder; raise RunFailed, with the reason, unless papermill succeeds."""
    code = papermill(root, source, folder, given, environment)
    tidy_log(folder / "log.txt", root)
    if code != 0:
        where = folder.relative_to(root).as_posix()
        raise RunFailed(f"{last_error(folder)}\n(papermill exit code {code}; what it left: {where})")
