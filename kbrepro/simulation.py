"""A policy meets a problem; independent trials in parallel.

Each trial builds its own random streams from two integers, root seed and trial number, so results depend neither on
the number of workers nor on the order of trials, and all policies of a trial see the same function, the same noise
in the same round, and the same order of ties.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import joblib
import numpy as np
import scipy
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from kbrepro import checks, source
from kbrepro.kernels import Array
from kbrepro.posterior import exact_posterior
from kbrepro.problems import Problem


class Policy(Protocol):
    """What every policy offers."""

    def ask(self, rng: np.random.Generator) -> int: ...

    def tell(self, arm: int, observation: Any) -> None: ...


class Trace(NamedTuple):
    """What happened: arms, observations and instantaneous regret of every round, and seconds in all.

    One run has arrays of shape (horizon,); many trials, stacked, (trials, horizon), and seconds (trials,). `band_ratio`
    is the largest |f - mean| / (width sd) over all arms before each pull, NaN where it was not recorded. Of an
    observation with several numbers (a network's layers) the last, the reward, is kept.
    """

    arms: NDArray[np.int32]
    observations: Array
    regret: Array
    seconds: Array
    band_ratio: Array

    @property
    def cumulative_regret(self) -> Array:
        """R_t: the regret of the first t rounds together, same shape as `regret`."""
        return np.cumsum(self.regret, axis=-1)

    @property
    def average_regret(self) -> Array:
        """R_t / t: the mean regret of the first t rounds, same shape as `regret`."""
        return self.cumulative_regret / np.arange(1, self.regret.shape[-1] + 1)

    def first(self, trials: int) -> Trace:
        """Return the first `trials` of many trials (all of them if there are fewer)."""
        return Trace(*(part[:trials] for part in self))


@dataclass(frozen=True)
class Experiment:
    """Policies that meet the same problems.

    `problem(function_rng, trial)` builds the problem of one trial, `policies[name](problem, horizon)` a policy that
    knows the problem's arms, kernel and noise variance and never looks at its expected reward (`on_exact_posterior`
    makes such makers). Both must be picklable: functions of a module, or `functools.partial` of them. With
    `record_band` every policy must have a confidence band.
    """

    problem: Callable[[np.random.Generator, int], Problem]
    policies: Mapping[str, Callable[[Problem, int], Policy]]
    horizon: int
    record_band: bool = False

    def __post_init__(self) -> None:
        checks.positive_int(horizon=self.horizon)


def on_exact_posterior(policy: Callable[..., Policy], **settings: Any) -> Callable[[Problem, int], Policy]:
    """Return a maker of `policy(posterior, **settings)` on the exact posterior of a problem."""
    return partial(_on_exact_posterior, policy, **settings)


def _on_exact_posterior(policy: Callable[..., Policy], problem: Problem, horizon: int, **settings: Any) -> Policy:
    return policy(exact_posterior(problem.kernel, problem.arms, problem.noise_variance, horizon), **settings)


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
        observation = problem.pull(arm, noise_rng)
        observations[t] = observation if np.ndim(observation) == 0 else observation[-1]
        policy.tell(arm, observation)
    return Trace(arms, observations, problem.regret(arms), np.array(time.perf_counter() - start), band_ratio)


def run_trials(
    experiment: Experiment, trials: int, seed: int, *, first: int = 0, block: int = 1, label: str = "trials"
) -> dict[str, Trace]:
    """Return for every policy its stacked traces over trials first .. first + trials - 1, in that order.

    Jobs, workers and what is kept: as `map_trials`.
    """
    one_trial = partial(_run_trial, experiment)
    runs = map_trials(one_trial, trials, seed, first=first, block=block, label=label)
    return {
        name: Trace(*(np.stack(parts) for parts in zip(*(traces[name] for traces in runs), strict=True)))
        for name in experiment.policies
    }


def map_trials(
    function: Callable[[int, int], Any],
    trials: int,
    seed: int,
    *,
    first: int = 0,
    block: int = 1,
    label: str = "trials",
) -> list[Any]:
    """Return [function(seed, trial)] for trials first .. first + trials - 1, in that order.

    `function` is one of a module, or a `functools.partial` of it; it builds its random streams by `stream(seed, trial,
    purpose)`. `block` trials make one job. Workers: environment variable KBREPRO_JOBS, else an enclosing
    `joblib.parallel_config`, else all processors. Where KBREPRO_CACHE names a folder, finished jobs are kept there and
    used again as long as the settings, the source of the modules they use and the versions of numpy and scipy stay
    the same.
    """
    checks.positive_int(trials=trials, block=block)
    checks.non_negative_int(seed=seed, first=first)
    memory = joblib.Memory(os.environ.get("KBREPRO_CACHE") or None, verbose=0, compress=True)
    job = memory.cache(_run_block)
    used = source.digest(source.modules_of(function))
    versions = f"{used} numpy {np.__version__} scipy {scipy.__version__}"
    starts = range(first, first + trials, block)
    jobs = (
        joblib.delayed(job)(function, seed, start, min(start + block, first + trials), versions) for start in starts
    )
    results = joblib.Parallel(n_jobs=_workers(), return_as="generator")(jobs)
    blocks = tqdm(results, total=len(starts), desc=label, unit="block" if block > 1 else "trial")
    return [result for kept in blocks for result in kept]


def _workers() -> int | None:
    jobs = os.environ.get("KBREPRO_JOBS")
    if jobs is None:
        return -1 if joblib.parallel.get_active_backend()[1] is None else None
    if not jobs.isdigit() or int(jobs) < 1:
        raise ValueError(f"KBREPRO_JOBS = {jobs!r} is not allowed: KBREPRO_JOBS must be an integer of at least 1")
    return int(jobs)


def _run_block(function: Callable[[int, int], Any], seed: int, start: int, stop: int, versions: str) -> list[Any]:
    """Run trials start .. stop - 1; `versions` only tells kept results apart."""
    with threadpool_limits(1, user_api="blas"):
        return [function(seed, trial) for trial in range(start, stop)]


def _run_trial(experiment: Experiment, seed: int, trial: int) -> dict[str, Trace]:
    problem = experiment.problem(stream(seed, trial, "function"), trial)
    return {
        name: run(
            make_policy(problem, experiment.horizon),
            problem,
            experiment.horizon,
            stream(seed, trial, "run"),
            experiment.record_band,
        )
        for name, make_policy in experiment.policies.items()
    }
