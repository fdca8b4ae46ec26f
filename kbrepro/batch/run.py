"""Run notebooks with papermill; a run replaces the results in a folder, and only on success."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import click
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from kbrepro import paths
from kbrepro.batch import pairs, profiles
from kbrepro.batch.play import RunFailed, locked, play_missing, replace, replaceable
from kbrepro.batch.profiles import Run, Values, plan
from kbrepro.trials import store, sums
from kbrepro.trials.replay import blas_kernel

#: Environment variables of a kernel.
Environment = dict[str, str]
#: What numbers depend on; run.json has their versions.
PACKAGES = ("numpy", "scipy", "pandas", "joblib")
#: Arguments of a kernel: it warns of TCP at every start, and of the interrupt by which it is ended.
QUIET = [
    "--log-level=ERROR",
    "--IPKernelApp.exec_lines=get_ipython().kernel.log.addFilter("
    "lambda line: not line.getMessage().startswith('KeyboardInterrupt caught'))",
]


def run_notebooks(
    notebooks: Sequence[str], profile: str, root: Path, fresh: Sequence[str] = ()
) -> list[Path]:
    """Run notebooks (all if none is named) and return the folders of their results.

    What their plans lack in their stores is played first, and kept there; labels in `fresh` (`*`:
    all) are played anew. Raises ValueError on a wrong name, parameter or profile before anything
    runs. If a notebook fails, its previous results stay, the others still run, and RunFailed is
    raised at the end. The next edition is not shown before it is the one of the full scale.
    """
    if profile == paths.NEXT:
        raise ValueError(
            f"profile = {profile!r} is not allowed here: `kbrepro play --profile {profile}` plays"
            " what is frozen, and `kbrepro switch` shows it"
        )
    runs = plan(notebooks, profile, root)
    fresh = replaceable(runs, fresh)
    failed = []
    for r in runs:
        start, outcome = time.monotonic(), "done"
        try:
            _run(r, fresh)
        except Exception as error:  # whatever a notebook, its kernel or a disk does
            failed.append(r.notebook)
            kind = "" if isinstance(error, RunFailed | OSError) else f"{type(error).__name__}: "
            rest = "No result was replaced; finished trials are stored."
            outcome = f"FAILED\n{kind}{error}\n{rest}\n"
        except KeyboardInterrupt:
            click.echo(
                f"{r.notebook}: interrupted; finished trials are stored, and the same command goes"
                " on from there",
                err=True,
            )
            raise
        minutes = (time.monotonic() - start) / 60
        click.echo(f"{r.notebook}: {minutes:.1f} min, {outcome}", err=True)
    if failed:
        raise RunFailed(f"{len(failed)} of {len(runs)} notebooks failed: {', '.join(failed)}")
    return [r.folder for r in runs]


def refresh_notebooks(notebooks: Sequence[str], root: Path) -> None:
    """Run notebooks as a reader opens them, without data, and keep them with their outputs; fails
    like `run_notebooks`.
    """
    paths.sweep(root / "notebooks")
    for name in profiles.named_notebooks(root, notebooks):
        text = _execute(root, name, "refresh", {}, without_data(root))
        paths.write_text(root / f"notebooks/{name}.ipynb", text)
        paths.write_text(pairs.refreshed(root, name), text)


def of_kernels(root: Path) -> Environment:
    """Return the environment variables of every kernel: what a user has set decides nothing that a
    notebook shows.
    """
    own = root / ".cache"
    own.mkdir(exist_ok=True)  # IPython warns of a folder that it cannot make
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(threads, "1") | {  # since workers play in parallel
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{own}/matplotlib",
        "MATPLOTLIBRC": "",
        "IPYTHONDIR": f"{own}/ipython",
        "PYTHONSTARTUP": "",
        "JUPYTER_PATH": "",
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


def without_data(root: Path) -> Environment:
    """Return the environment variables of a kernel that shows what is kept, without data, the same
    on any machine.
    """
    no_data = root / ".cache/no-data"
    no_data.mkdir(parents=True, exist_ok=True)
    return {**of_kernels(root), "KBREPRO_DATA": str(no_data), "TQDM_DISABLE": "1"}


def _run(r: Run, fresh: Sequence[str]) -> None:
    """Play what is missing, and run the notebook into a folder of its own, whose files then replace
    the results.
    """
    partial_results = paths.partial_of(r.folder)
    where = partial_results.relative_to(r.root).as_posix()
    with locked(r):
        paths.sweep(r.folder)
        shown_before = r.facts.get("played", _played(r))
        play_missing(r, fresh=fresh)
        if partial_results.exists():  # of a kill; on a read-only disk this says so
            shutil.rmtree(partial_results)
        partial_results.mkdir(parents=True)
        environment = of_kernels(r.root)
        if data := os.environ.get("KBREPRO_DATA"):  # notebooks run in the root, not here
            environment["KBREPRO_DATA"] = str(Path(data).absolute())
        parameters = r.parameters | {profiles.RESERVED: where}
        shown = _execute(r.root, r.notebook, r.folder.parent.name, parameters, environment)
        paths.write_text(partial_results / "notebook.ipynb", shown)
        facts, played = r.facts, _played(r)  # those of the run that played
        if not facts or played != shown_before:
            facts = _facts(r)
        facts |= {"parameters": r.parameters, "played": played}
        text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False)
        paths.write_text(partial_results / "run.json", text + "\n")
        sums.write(partial_results)
        replace(r.folder)


def _played(r: Run) -> str:
    """The checksum of what was played; empty if nothing was."""
    path = r.played / sums.NAME
    return sums.checksum(path.read_bytes()) if path.is_file() else ""


def _facts(r: Run) -> Values:
    """What the results of a run were made with; it decides nothing, but for BLAS kernels."""
    return {
        "blas_kernels": sorted({*r.facts.get("blas_kernels", []), blas_kernel()}),
        "compute_seconds": round(
            sum(about["seconds"] for about in store.labels(r.played).values()), 1
        ),
        "versions": versions(),
        "git": git_state(r.root),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def git_state(root: Path) -> dict[str, str | bool | None]:
    """Return the commit, and whether other files than results changed; None without git."""
    words = "git --no-optional-locks status --porcelain=v2 --branch -- . :!results"
    command = [*words.split(), ":!notebooks/*.ipynb"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "dirty": None}
    commit = done.stdout.split()[2]  # of `# branch.oid COMMIT`; a change is a line without #
    return {"commit": commit, "dirty": bool(re.search("^[^#]", done.stdout, flags=re.M))}


def _execute(
    root: Path, name: str, profile: str, parameters: Values, environment: Environment
) -> str:
    """Run the text of a notebook, so that no stale .ipynb runs instead; return the .ipynb.

    RunFailed, with the reason, if a cell fails or the kernel dies; what there is of it then is
    .cache/NAME.PROFILE.failed.ipynb.
    """
    import jupytext
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    quiet = {} if sys.stderr.isatty() else {"TQDM_DISABLE": "1"}
    where, source = f".cache/{name}.{profile}.failed.ipynb", profiles.source(root, name)
    left = f"\n(the notebook up to there: {where})"
    output = root / where
    begun: list[NotebookNode] = []
    try:
        with patch.dict(os.environ, quiet | environment):
            done = papermill.execute_notebook(
                source,
                output,
                parameters,
                kernel_name="python3",
                cwd=root,
                progress_bar=False,
                stderr_file=sys.stderr,
                extra_arguments=QUIET,
                on_cell_start=lambda cell, cell_index: begun.append(cell),
                request_save_on_cell_execute=False,
            )
    except PapermillExecutionError as error:
        # the last line that raised, in the cell or in what it called
        lines = re.findall(r"^-+> \d+ +(.*)", str(error), flags=re.M)
        cell, what = _cell(error.exec_count, error.source), f"{error.ename}: {error.evalue}{left}"
        raise RunFailed(": ".join([cell, *lines[-1:], what])) from error
    except DeadKernelError as error:
        there = new_notebook(cells=begun, metadata=source.metadata)
        paths.write_text(output, nbformat.writes(there))
        number = sum(cell.cell_type == "code" for cell in begun)
        raise RunFailed(
            f"the kernel died in {_cell(number, begun[-1].source)}, most often because memory ran"
            f" out: KBREPRO_JOBS=1 needs less memory{left}"
        ) from error
    except OSError as error:
        if error.errno and not error.filename:  # as on a full disk
            raise OSError(error.errno, error.strerror, where) from error
        raise
    text = jupytext.writes(_tidy(done), "ipynb") + "\n"
    output.unlink(missing_ok=True)  # two runs of one profile may end together
    return text


def _cell(number: int, source: str) -> str:
    """Which code cell it is: its number and its first line."""
    line = source.partition("\n")[0]
    return f"code cell {number} ({line})"


def _tidy(notebook: NotebookNode) -> NotebookNode:
    """The notebook without what changes from run to run: times, random ids, and what it wrote to
    the terminal.
    """
    # as JupyterLab writes it: a notebook that is opened and saved stays as it is
    notebook["metadata"] = {
        "jupytext": profiles.FILTERS,
        "kernelspec": profiles.KERNEL,
        "language_info": notebook.metadata.language_info,
    }
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02}"
        tags = cell.metadata.get("tags", [])
        # what a profile changes, and where it ran: a folder that is gone now
        if "injected-parameters" in tags:
            tags.append("hide-input")
            where = f"^({profiles.RESERVED} =) .*$"
            cell["source"] = re.sub(where, r'\1 ""', cell.source, flags=re.M)
        for name in ("papermill", "execution", *["tags"] * (not tags)):
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook
