"""Policies meet problems, in independent parallel trials that are played or read from a store.

Each trial builds its own random streams from two integers, root seed and trial number. So results depend neither on
the number of workers nor on the order of trials, and all policies of a trial see the same function, the same noise
in the same round, and the same order of ties. A policy's arms are all that must be kept: its observations are found by
drawing the noise again.
"""

from __future__ import annotations

import csv
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kbrepro import checks, paths, store
from kbrepro.kernels import Array
from kbrepro.policies.base import Banded, Player
from kbrepro.problems import Playable, Trial
from kbrepro.regret import Regrets, Trace, edges, kept_rounds, log_spaced
from kbrepro.store import plain
from kbrepro.store.settings import settings

if TYPE_CHECKING:
    import pandas as pd


#: What a run calls of a problem.
PROBLEM, PLAYABLE = "a problem, such as Problem(model, expected_reward)", ("pull", "regret", "model")


@dataclass(frozen=True)
class Experiment:
    """Policies that meet the same problems.

    `problem(trial)` builds the problem of one `Trial` (`problems` has such sources), `policies[name](model, horizon)` a
    policy: a class of `policies`, or a `functools.partial` of it with its settings. With `record_band` every policy
    must have a `band_ratio`. `measured` is the checksum of the data whose readings are the expected rewards: then
    neither arms nor gaps are kept, since the readings could be computed from them.
    """

    problem: Callable[[Trial], Playable]
    policies: Mapping[str, Callable[[Any, int], Player]]
    horizon: int
    record_band: bool = False
    measured: str = ""

    def __post_init__(self) -> None:
        checks.source(problem=self.problem)
        checks.policies(policies=self.policies)
        checks.positive_int(horizon=self.horizon)
        checks.boolean(record_band=self.record_band)
        checks.text(measured=self.measured)
        checks.python_numbers(self)


def rounds(policy: Player, problem: Playable, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, int, Any]]:
    """Play `horizon` rounds; yield (t, arm, observation), t = 1, 2, ..., before the policy's `tell`.

    Noise and policy draw from two children of `rng`: the second becomes `policy.rng`.
    """
    _check_run(policy, problem, horizon, rng)
    noise_rng, policy.rng = rng.spawn(2)
    for t in range(1, horizon + 1):
        arm = policy.ask()
        observation = problem.pull(arm, noise_rng)
        yield t, arm, observation
        policy.tell(arm, observation)


def run(policy: Player, problem: Playable, horizon: int, rng: np.random.Generator, record_band: bool = False) -> Trace:
    """Return the trace of `horizon` rounds (see `rounds`); TypeError if there is no band to record."""
    _check_run(policy, problem, horizon, rng)
    checks.boolean(record_band=record_band)
    checks.memory(16.0 * horizon, f"horizon = {horizon}: the trace of a run")
    banded = policy if record_band and isinstance(policy, Banded) else None
    if record_band and not banded:
        raise TypeError(f"record_band = True is not allowed: {type(policy).__name__} has no band_ratio")
    arms, band_ratio = np.empty(horizon, dtype=np.int32), np.full(horizon, np.nan)
    clock = [time.process_time()]  # wall time would depend on other jobs
    for t, arm, _ in rounds(policy, problem, horizon, rng):
        clock.append(time.process_time())
        arms[t - 1] = arm
        if banded:
            band_ratio[t - 1] = banded.band_ratio(problem.expected_reward)
    seconds = np.add.reduceat(np.diff(clock), edges(horizon)[:-1]).astype(np.float32)
    starts = np.concatenate([[0], log_spaced(horizon)[:-1]])
    worst = np.maximum.reduceat(band_ratio, starts) if record_band else np.full(1, np.nan)
    return Trace(arms, problem.regret(np.arange(problem.model.n_arms)), seconds, worst)


def _check_run(policy: Player, problem: Playable, horizon: int, rng: np.random.Generator) -> None:
    checks.positive_int(horizon=horizon)
    checks.having("a policy, with ask() and tell(arm, observation)", "ask", "tell", policy=policy)
    checks.having(PROBLEM, *PLAYABLE, problem=problem)
    checks.generator(rng=rng)


def observations(problem: Playable, arms: Sequence[int], rng: np.random.Generator) -> list[Any]:
    """Return the observations of `arms`, pulled in this order, in the run that drew from `rng` (see `rounds`)."""
    checks.having(PROBLEM, *PLAYABLE, problem=problem)
    checks.generator(rng=rng)
    if not isinstance(arms, Iterable) or isinstance(arms, str):
        raise ValueError(f"arms = {checks.shown(arms)} is not allowed: arms must be arms in the order of their pulls")
    noise_rng, _ = rng.spawn(2)
    return [problem.pull(arm, noise_rng) for arm in arms]


def run_trials(
    experiment: Experiment,
    trials: int,
    seed: int,
    *,
    first: int = 0,
    block: int = 1,
    label: str = "trials",
    arms: bool = True,
) -> dict[str, Trace] | dict[str, Regrets]:
    """Return the stacked traces of every policy over trials first .. first + trials - 1, in that order.

    Without `arms`, and on measured data, these are `Regrets`: curves take a hundredth of the space of arms.
    Jobs, workers and what is kept: as for `map_trials`.
    """
    checks.having("an Experiment", "problem", "policies", "horizon", experiment=experiment)
    checks.boolean(arms=arms)
    job = partial(play_trial, experiment) if arms else partial(play_trial, experiment, arms=False)
    return stacked(map_trials(job, trials, seed, first=first, block=block, label=label), experiment.policies)


def stacked(runs: Sequence[Mapping[str, Any]], policies: Iterable[str]) -> dict[str, Trace] | dict[str, Regrets]:
    """What `play_trial` returned of several trials, by policy."""
    of_policy = {name: [its["policies"][name] for its in runs] for name in policies}
    if "rounds" in runs[0]:
        return {
            name: Regrets(
                runs[0]["rounds"],
                np.stack([i.totals for i in its], dtype=float),
                np.array([[getattr(i, "seconds", np.nan)] for i in its]),
                np.array([getattr(i, "band_ratio", [np.nan]) for i in its]),
            )
            for name, its in of_policy.items()
        }
    gaps = np.stack([its["gaps"] for its in runs])
    found = {}
    for name, its in of_policy.items():
        arms, seconds, band_ratio = (np.stack(part) for part in zip(*its, strict=True))
        found[name] = Trace(arms, gaps, seconds.astype(float), band_ratio)
    return found


class Played(NamedTuple):
    """What is kept of one label: its settings, and traces by policy or what a job of `map_trials` returned."""

    settings: Any
    traces: dict[str, Trace] | dict[str, Regrets]
    results: list[Any]

    def frame(self) -> pd.DataFrame:
        """Return a tidy table with a row per policy, trial and round: arm and regret, or R_t on measured data.

        Raises ValueError if the label kept no traces.
        """
        if not self.traces:
            raise ValueError("this label kept no traces: what its job returned is in `results`")
        import pandas as pd  # here: `import kbrepro` loads numerics only

        parts = []
        columns: dict[str, NDArray[Any]]
        for name, trace in self.traces.items():
            if isinstance(trace, Regrets):
                at, columns = trace.at, {"R_t": trace.totals}
            else:
                at, columns = np.arange(1, trace.horizon + 1), {"arm": trace.arms, "regret": trace.regret}
            n = len(next(iter(columns.values())))
            index = {"algorithm": name, "trial": np.repeat(np.arange(n), len(at)), "round": np.tile(at, n)}
            parts.append(pd.DataFrame(index | {column: values.ravel() for column, values in columns.items()}))
        return pd.concat(parts, ignore_index=True)


def played(notebook: str, label: str, profile: str = "paper") -> Played:
    """Return what is kept of a label, such as `Table 1, d = 2`, of a notebook, given by name or number, such as 03.

    Raises FileNotFoundError, which lists the kept labels, if there is no such label.
    """
    checks.text(notebook=notebook, label=label, profile=profile)
    folders = sorted((paths.project_root() / "results" / profile).glob(f"{notebook}*/{store.PLAYED}"))
    if not folders:
        raise FileNotFoundError(f"no played trials of notebook {notebook!r} are kept in results/{profile}")
    told, results = store.opened(folders[0], label)
    are_traces = isinstance(results[0], dict) and "policies" in results[0]
    return Played(told, stacked(results, results[0]["policies"]) if are_traces else {}, results)


def total_regrets(
    experiment: Experiment, at: Sequence[int], trials: int, seed: int, *, block: int = 1, label: str = "trials"
) -> dict[int, dict[str, Array]]:
    """Return for each round t of `at` the panel {policy: R_t of every trial (trials,)}; nothing else is kept."""
    job = partial(regrets_at, experiment, list(at))
    runs = map_trials(job, trials, seed, block=block, label=label)
    return {
        t: {name: np.array([its[name][place] for its in runs]) for name in experiment.policies}
        for place, t in enumerate(at)
    }


def map_trials(
    function: Callable[[Trial], Any], trials: int, seed: int, *, first: int = 0, block: int = 1, label: str = "trials"
) -> list[Any]:
    """Return [function(Trial(seed, n))] for n = first .. first + trials - 1, in that order.

    `function` builds its random streams by `trial.rng(purpose)` and returns what `store.plain` can keep, with the same
    names in every trial. `block` trials make one job. The number of workers is that of the environment variable
    KBREPRO_JOBS, else of an enclosing `joblib.parallel_config`, else of processors; if KBREPRO_SCHEDULER is the address
    of a dask scheduler (extra `cluster`), its workers play. If a store is in use (`store.current`), a label with the
    same settings is read from it, and any other is played and kept there, block by block; a notebook must then use each
    `label` once. If KBREPRO_TIMES names a file, a line `label,trials,seconds,played` is added to it: the computing
    time, including that of trials played earlier, and how many were played now.
    """
    checks.function(function=function)
    checks.text(label=label)
    checks.positive_int(trials=trials, block=block)
    checks.non_negative_int(seed=seed, first=first)
    trials, seed, first = map(int, (trials, seed, first))
    kept_in, job = store.current(), store.Job(label, function, None, seed, first, trials)
    kept, played = None, 0
    if kept_in:
        which = {"seed": seed, "first": first, "trials": trials}
        job = job._replace(settings={"job": settings(function)} | which)
        kept = kept_in.read(job)
    if kept is None:
        kept, played = _played(job, block, kept_in)
        if kept_in:
            kept_in.keep(job, kept)
    if times := os.environ.get("KBREPRO_TIMES"):
        with open(times, "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([label, trials, f"{kept.seconds.sum():.2f}", played])
    return kept.results


def _played(job: store.Job, block: int, kept_in: store.Store | None) -> tuple[store.Kept, int]:
    """Play what is missing of a job in parallel, and keep every block as it ends; return all, and how many were played.

    What a job returns passes through the form in which it is kept, so that nobody sees whether it was read.
    """
    pieces = kept_in.pieces(job) if kept_in else {}
    there = {number for first, its in pieces.items() for number in range(first, first + len(its.results))}
    missing = [number for number in range(job.first, job.first + job.trials) if number not in there]
    blocks = [missing[at : at + block] for at in range(0, len(missing), block)]
    calls = (joblib.delayed(_run_block)(job.function, job.seed, numbers) for numbers in blocks)
    with _scheduler():
        results = joblib.Parallel(n_jobs=_workers(), return_as="generator_unordered")(calls)
        for numbers, timed in tqdm(results, total=len(blocks), desc=job.label, unit="block" if block > 1 else "trial"):
            for number, (result, seconds) in zip(numbers, timed, strict=True):
                pieces[number] = store.Kept(plain.through([result]), np.array([seconds]))
                if kept_in:
                    kept_in.keep_piece(job, number, pieces[number])
    ordered = [pieces[first] for first in sorted(pieces)]
    results = [result for piece in ordered for result in piece.results]
    return store.Kept(results, np.concatenate([piece.seconds for piece in ordered])), len(missing)


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
    if (jobs := jobs_of_environment()) is None:
        return -1 if joblib.parallel.get_active_backend()[1] is None else None
    return jobs


def jobs_of_environment() -> int | None:
    """Return KBREPRO_JOBS, None if it is not set; ValueError unless it is an integer of at least 1."""
    jobs = os.environ.get("KBREPRO_JOBS")
    if jobs is None:
        return None
    if not (jobs.isascii() and jobs.isdigit()) or int(jobs) < 1:
        raise ValueError(f"KBREPRO_JOBS = {jobs!r} is not allowed: KBREPRO_JOBS must be an integer of at least 1")
    return int(jobs)


def _run_block(
    function: Callable[[Trial], Any], seed: int, numbers: Sequence[int]
) -> tuple[Sequence[int], list[tuple[Any, float]]]:
    """Run trials of these numbers; return the numbers, and results with seconds."""
    with threadpool_limits(1, user_api="blas"):
        return numbers, [_timed(function, Trial(seed, number)) for number in numbers]


def _timed(function: Callable[[Trial], Any], trial: Trial) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(trial), time.perf_counter() - start


# What is kept of one trial


def play_trial(experiment: Experiment, trial: Trial, *, arms: bool = True) -> dict[str, Any]:
    """Return what is kept of one trial of an experiment: a job for `map_trials`.

    `gaps` (A,): what each arm loses in this trial, NaN for arms that no policy pulled; for each policy arms (T,),
    seconds and band. Without `arms`, only `rounds` (m,) and, for each policy, a `KeptCurve`; on measured data a
    `KeptOfData`.
    """
    runs = _runs(experiment, trial)
    if experiment.measured or not arms:
        curves = {name: _curve(experiment, trial, its) for name, its in runs.items()}
        return {"rounds": kept_rounds(experiment.horizon), "policies": curves}
    all_gaps = next(iter(runs.values())).gaps
    gaps, pulled = np.full(len(all_gaps), np.nan), np.concatenate([its.arms for its in runs.values()])
    gaps[pulled] = all_gaps[pulled]
    return {
        "gaps": gaps,
        "policies": {
            name: KeptRun(its.arms, its.seconds.astype(np.float16), its.band_ratio) for name, its in runs.items()
        },
    }


def _runs(experiment: Experiment, trial: Trial) -> dict[str, Trace]:
    problem, T = experiment.problem(trial), experiment.horizon
    checks.having(f"a source, whose call returns {PROBLEM}", *PLAYABLE, problem=problem)
    return {
        name: run(make(problem.model, T), problem, T, trial.rng("run"), experiment.record_band)
        for name, make in experiment.policies.items()
    }


def _curve(experiment: Experiment, trial: Trial, trace: Trace) -> KeptOfData | KeptCurve:
    digest = hashlib.sha256(f"{trial.seed} {trial.number} ".encode() + trace.arms.tobytes()).hexdigest()[:16]
    totals = trace.cumulative_regret[kept_rounds(experiment.horizon) - 1].astype(np.float32)
    if experiment.measured:
        return KeptOfData(totals, digest)
    return KeptCurve(totals, digest, float(trace.seconds.sum()), trace.band_ratio)


class KeptRun(NamedTuple):
    """Arms (T,) of one policy in one trial, seconds (to three digits) and band as in `Trace`."""

    arms: NDArray[np.int32]
    seconds: Array
    band_ratio: Array


class KeptOfData(NamedTuple):
    """R_t of a policy in a trial at `kept_rounds`, to seven digits, and a digest of its arms, salted with the trial."""

    totals: Array
    arms_digest: str


class KeptCurve(NamedTuple):
    """As `KeptOfData`, for other experiments, with the seconds of the run, and the band as in `Trace`."""

    totals: Array
    arms_digest: str
    seconds: float
    band_ratio: Array


def regrets_at(experiment: Experiment, at: Sequence[int], trial: Trial) -> dict[str, Array]:
    """Return R_t of every policy after the rounds `at`, (len(at),): a job for `map_trials`."""
    return {name: np.array([its.regret[:t].sum() for t in at]) for name, its in _runs(experiment, trial).items()}
