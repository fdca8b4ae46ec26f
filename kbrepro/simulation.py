"""A policy meets a problem; independent trials in parallel; what is kept of them, and when it is forgotten.

Each trial builds its own random streams from two integers, root seed and trial number, so results depend neither on
the number of workers nor on the order of trials, and all policies of a trial see the same function, the same noise
in the same round, and the same order of ties.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import pickletools
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kbrepro import checks
from kbrepro.policies.base import Policy
from kbrepro.problems import Problem, Told, Trial
from kbrepro.regret import Trace

PACKAGE = Path(__file__).parent
#: Where the standard library and installed packages are: what lies there is known by its version, not by its source.
INSTALLED = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}


@dataclass(frozen=True)
class Experiment:
    """Policies that meet the same problems.

    `problem(trial)` builds the problem of one `Trial` (`problems` has such sources), `policies[name](told, horizon)` a
    policy: a class of `policies`, or a `functools.partial` of it with its settings. With `record_band` every policy
    must have a `band_ratio`.
    """

    problem: Callable[[Trial], Problem]
    policies: Mapping[str, Callable[[Told, int], Policy]]
    horizon: int
    record_band: bool = False

    def __post_init__(self) -> None:
        checks.positive_int(horizon=self.horizon)


def rounds(policy: Policy, problem: Problem, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, int, Any]]:
    """Play `horizon` rounds; yield (t, arm, observation), t = 1, 2, ..., before the policy is told.

    Noise and policy draw from two children of `rng`.
    """
    checks.positive_int(horizon=horizon)
    noise_rng, policy_rng = rng.spawn(2)
    for t in range(1, horizon + 1):
        arm = policy.ask(policy_rng)
        observation = problem.pull(arm, noise_rng)
        yield t, arm, observation
        policy.tell(arm, observation)


def run(policy: Policy, problem: Problem, horizon: int, rng: np.random.Generator, record_band: bool = False) -> Trace:
    """Return the trace of `horizon` rounds (see `rounds`)."""
    checks.positive_int(horizon=horizon)
    arms, rewards, band_ratio = np.empty(horizon, dtype=np.int32), np.empty(horizon), np.full(horizon, np.nan)
    clock = [time.perf_counter()]
    for t, arm, observation in rounds(policy, problem, horizon, rng):
        clock.append(time.perf_counter())
        arms[t - 1], rewards[t - 1] = arm, observation[-1] if isinstance(observation, tuple) else observation
        if record_band:
            band_ratio[t - 1] = policy.band_ratio(problem.expected_reward)
    return Trace(arms, rewards, problem.regret(arms), np.diff(clock), band_ratio)


def run_trials(
    experiment: Experiment, trials: int, seed: int, *, first: int = 0, block: int = 1, label: str = "trials"
) -> dict[str, Trace]:
    """Return for every policy its stacked traces over trials first .. first + trials - 1, in that order.

    Jobs, workers and what is kept: as `map_trials`.
    """
    runs = map_trials(partial(_run_trial, experiment), trials, seed, first=first, block=block, label=label)
    return {
        name: Trace(*(np.stack(parts) for parts in zip(*(traces[name] for traces in runs), strict=True)))
        for name in experiment.policies
    }


def map_trials(
    function: Callable[[Trial], Any],
    trials: int,
    seed: int,
    *,
    first: int = 0,
    block: int = 1,
    label: str = "trials",
) -> list[Any]:
    """Return [function(Trial(seed, n))] for n = first .. first + trials - 1, in that order.

    `function` builds its random streams by `trial.rng(purpose)`. `block` trials make one job. Workers: environment
    variable KBREPRO_JOBS, else an enclosing `joblib.parallel_config`, else all processors; where KBREPRO_SCHEDULER is
    the address of a dask scheduler (extra `cluster`), those of its workers. Where KBREPRO_CACHE names a folder,
    finished jobs are kept there and used again as long as the settings, the source of the modules that they use
    (`sources`) and the versions of numpy and scipy stay the same; jobs whose source cannot be followed (functions of a
    notebook or script, lambdas) run and are never kept. Where KBREPRO_TIMES names a file, a line `label,trials,seconds`
    is added to it: the computing time, that of kept trials included.
    """
    checks.positive_int(trials=trials, block=block)
    checks.non_negative_int(seed=seed, first=first)
    used = sources(function)
    kept_in = os.environ.get("KBREPRO_CACHE") if used is not None else None
    memory = joblib.Memory(kept_in or None, verbose=0, compress=True)
    job = memory.cache(_run_block)
    versions = f"{digest(used or {})} numpy {np.__version__} scipy {scipy.__version__}"
    starts = range(first, first + trials, block)
    jobs = (
        joblib.delayed(job)(function, seed, start, min(start + block, first + trials), versions) for start in starts
    )
    with _scheduler():
        results = joblib.Parallel(n_jobs=_workers(), return_as="generator")(jobs)
        blocks = list(tqdm(results, total=len(starts), desc=label, unit="block" if block > 1 else "trial"))
    if times := os.environ.get("KBREPRO_TIMES"):
        seconds = sum(second for block in blocks for _, second in block)
        with open(times, "a", encoding="utf-8") as file:
            file.write(f'"{label}",{trials},{seconds:.2f}\n')
    return [result for block in blocks for result, _ in block]


@contextmanager
def _scheduler() -> Iterator[None]:
    address = os.environ.get("KBREPRO_SCHEDULER")
    if not address:
        yield
        return
    from dask.distributed import Client  # an extra

    with Client(address, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
        yield


def _workers() -> int | None:
    jobs = os.environ.get("KBREPRO_JOBS")
    if jobs is None:
        return -1 if joblib.parallel.get_active_backend()[1] is None else None
    if not jobs.isdigit() or int(jobs) < 1:
        raise ValueError(f"KBREPRO_JOBS = {jobs!r} is not allowed: KBREPRO_JOBS must be an integer of at least 1")
    return int(jobs)


def _run_block(
    function: Callable[[Trial], Any], seed: int, start: int, stop: int, versions: str
) -> list[tuple[Any, float]]:
    """Run trials start .. stop - 1; return results and seconds. `versions` only tells kept results apart."""
    with threadpool_limits(1, user_api="blas"):
        return [_timed(function, Trial(seed, number)) for number in range(start, stop)]


def _timed(function: Callable[[Trial], Any], trial: Trial) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(trial), time.perf_counter() - start


def _run_trial(experiment: Experiment, trial: Trial) -> dict[str, Trace]:
    problem, T = experiment.problem(trial), experiment.horizon
    return {
        name: run(make(problem.told, T), problem, T, trial.rng("run"), experiment.record_band)
        for name, make in experiment.policies.items()
    }


# What kept trials depend on


def sources(job: Any) -> dict[str, Path] | None:
    """Return module -> file of the source that a job names, directly or through imports; None if it cannot be followed.

    The package's own modules and the reader's, not the standard library nor other installed packages. A job cannot be
    followed if it names the main program (a notebook, a script) or cannot be pickled.
    """
    try:
        pickled = pickle.dumps(job, protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    words = {word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)}
    if "__main__" in words:
        return None
    return _followed(word for word in words if word in sys.modules)


def imported_by(text: str) -> dict[str, Path]:
    """Return module -> file of the source that a script names in its imports, like `sources`."""
    return _followed(_imported(text, ""))


def _followed(names: Iterable[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    open_ends = list(names)
    while open_ends:
        name = open_ends.pop()
        if name not in found and (file := _own_file(name)):
            found[name] = file
            open_ends += _imports(name, file)
    return found


def digest(files: Mapping[str, Path]) -> str:
    """Return a digest of the source of modules {name: file}."""
    total = hashlib.sha256()
    for name, path in sorted(files.items()):
        total.update(name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def _own_file(name: str) -> Path | None:
    """The source file of a module that is neither of the standard library nor of another installed package."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # no module, or one without a file
        return None
    if spec is None or not spec.has_location or not spec.origin.endswith(".py"):
        return None
    path = Path(spec.origin)
    ours = name.partition(".")[0] == __package__
    return path if ours or not INSTALLED & set(path.parents) else None


def _imports(name: str, file: Path) -> list[str]:
    """The modules that a module imports, wherever in its file; a submodule rather than the package it lies in."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    return _imported(file.read_text(encoding="utf-8"), package)


@cache
def _imported(source: str, package: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            parts = [f"{base}.{alias.name}" for alias in node.names]
            inside = [part for part in parts if _own_file(part)]
            found += inside if len(inside) == len(parts) else [base, *inside]
    return found
