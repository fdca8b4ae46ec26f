"""A policy meets a problem; independent trials in parallel.

Each trial builds its own random streams from two integers, root seed and trial number, so results depend neither on
the number of workers nor on the order of trials, and all policies of a trial see the same function, the same noise
in the same round, and the same order of ties.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import joblib
import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.posterior import Posterior, exact_posterior
from kbrepro.problems import Problem

#: The modules whose source decides the numbers of a trial; a change in any of them forgets the kept trials.
NUMERIC_ROOMS = (
    "checks.py",
    "kernels.py",
    "ties.py",
    "posterior.py",
    "information.py",
    "confidence.py",
    "policies/*.py",
    "problems.py",
    "simulation.py",
)


class Policy(Protocol):
    """What every policy offers."""

    def ask(self, rng: np.random.Generator) -> int: ...

    def tell(self, arm: int, observation: float) -> None: ...


class Trace(NamedTuple):
    """What happened: arms, observations and instantaneous regret of every round, and seconds in all.

    One run has arrays of shape (horizon,); many trials, stacked, (trials, horizon), and seconds (trials,). `band_ratio`
    is the largest |f - mean| / (width sd) over all arms before each pull, NaN where it was not recorded.
    """

    arms: NDArray[np.int32]
    observations: Array
    regret: Array
    seconds: Array
    band_ratio: Array

    @property
    def average_regret(self) -> Array:
        """R_t / t: the mean regret of the first t rounds, same shape as `regret`."""
        return np.cumsum(self.regret, axis=-1) / np.arange(1, self.regret.shape[-1] + 1)

    def first(self, trials: int) -> Trace:
        """Return the first `trials` of many trials (all of them if there are fewer)."""
        return Trace(*(part[:trials] for part in self))


@dataclass(frozen=True)
class Experiment:
    """Policies that meet the same problems.

    `problem(function_rng, trial)` builds the problem of one trial; `policies[name](posterior)` a policy on the exact
    posterior of that problem's kernel. Both must be picklable: functions of a module, or `functools.partial` of them.
    With `record_band` every policy must have a confidence band.
    """

    problem: Callable[[np.random.Generator, int], Problem]
    policies: Mapping[str, Callable[[Posterior], Policy]]
    horizon: int
    record_band: bool = False

    def __post_init__(self) -> None:
        checks.positive_int(horizon=self.horizon)


def stream(seed: int, trial: int, purpose: str) -> np.random.Generator:
    """Return the generator of one trial for one purpose: `function` or `run`."""
    checks.non_negative_int(seed=seed, trial=trial)
    checks.one_of(("function", "run"), purpose=purpose)
    # numpy pads a seed with zeros: a last entry of 0 would make [seed, trial, 0] the stream of [seed, trial]
    return np.random.default_rng([seed, trial, {"function": 1, "run": 2}[purpose]])


def run(policy: Policy, problem: Problem, horizon: int, rng: np.random.Generator, record_band: bool = False) -> Trace:
    """Return the trace of `horizon` rounds; noise and policy draw from two children of `rng`."""
    checks.positive_int(horizon=horizon)
    noise_rng, policy_rng = rng.spawn(2)
    arms, observations = np.empty(horizon, dtype=np.int32), np.empty(horizon)
    band_ratio = np.full(horizon, np.nan)
    start = time.perf_counter()
    for t in range(horizon):
        if record_band:
            band_ratio[t] = policy.band_ratio(problem.expected_reward)
        arms[t] = arm = policy.ask(policy_rng)
        observations[t] = observation = problem.pull(arm, noise_rng)
        policy.tell(arm, observation)
    return Trace(arms, observations, problem.regret(arms), np.array(time.perf_counter() - start), band_ratio)


def run_trials(
    experiment: Experiment, trials: int, seed: int, *, first: int = 0, block: int = 1, label: str = "trials"
) -> dict[str, Trace]:
    """Return for every policy its stacked traces over trials first .. first + trials - 1, in that order.

    `block` trials make one job. Workers: environment variable KBREPRO_JOBS, else an enclosing
    `joblib.parallel_config`, else all processors. Where KBREPRO_CACHE names a folder, finished jobs are kept there and
    used again as long as the settings, the numeric source and the versions of numpy and scipy stay the same.
    """
    checks.positive_int(trials=trials, block=block)
    checks.non_negative_int(seed=seed, first=first)
    memory = joblib.Memory(os.environ.get("KBREPRO_CACHE") or None, verbose=0, compress=True)
    job = memory.cache(_run_block)
    versions = f"{source_hash()} numpy {np.__version__} scipy {scipy.__version__}"
    starts = range(first, first + trials, block)
    jobs = (
        joblib.delayed(job)(experiment, seed, start, min(start + block, first + trials), versions) for start in starts
    )
    results = joblib.Parallel(n_jobs=_workers(), return_as="generator")(jobs)
    blocks = list(tqdm(results, total=len(starts), desc=label, unit="block" if block > 1 else "trial"))
    return {
        name: Trace(*(np.concatenate(parts) for parts in zip(*(b[name] for b in blocks), strict=True)))
        for name in experiment.policies
    }


def source_hash() -> str:
    """Return a digest of the source of the numeric rooms."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for pattern in NUMERIC_ROOMS:
        for path in sorted(folder.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _workers() -> int | None:
    jobs = os.environ.get("KBREPRO_JOBS")
    if jobs is None:
        return -1 if joblib.parallel.get_active_backend()[1] is None else None
    if not jobs.isdigit() or int(jobs) < 1:
        raise ValueError(f"KBREPRO_JOBS = {jobs!r} is not allowed: KBREPRO_JOBS must be an integer of at least 1")
    return int(jobs)


def _run_block(experiment: Experiment, seed: int, start: int, stop: int, versions: str) -> dict[str, Trace]:
    """Run trials start .. stop - 1; `versions` only tells kept results apart."""
    with threadpool_limits(1, user_api="blas"):
        traces = [_run_trial(experiment, seed, trial) for trial in range(start, stop)]
    return {
        name: Trace(*(np.stack(parts) for parts in zip(*(t[name] for t in traces), strict=True)))
        for name in experiment.policies
    }


def _run_trial(experiment: Experiment, seed: int, trial: int) -> dict[str, Trace]:
    problem = experiment.problem(stream(seed, trial, "function"), trial)
    traces = {}
    for name, make_policy in experiment.policies.items():
        posterior = exact_posterior(problem.kernel, problem.arms, problem.noise_variance, experiment.horizon)
        rng = stream(seed, trial, "run")
        traces[name] = run(make_policy(posterior), problem, experiment.horizon, rng, experiment.record_band)
    return traces
