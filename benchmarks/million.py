"""A million arms: 10000 rounds of exact GP-UCB on 100^3 arms; dense solves check 200 of them.

`python -m benchmarks.million` writes results/million_arms.json; it takes half an hour, then as long
for the checks. The index of the best arms and of random ones at random rounds is kept, and worked
out again by one dense solve a round; memory is read before that begins.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import kbrepro as kb
from benchmarks.harness import facts
from kbrepro import paths
from kbrepro.bandits.kernels import Array

KERNEL = kb.Matern(0.2, nu=1.5)
NOISE_VARIANCE = 1.0
TRIAL = kb.Trial(1, 0)


class Seen(NamedTuple):
    """What is kept of a round: its width, the index of the arm pulled, some arms and theirs."""

    t: int
    width: float
    index: float
    some: Array
    their_index: Array


def play(
    side: int, horizon: int, checks: int, each: int
) -> tuple[dict[str, Any], Array, Array, list[Seen]]:
    """Play GP-UCB; return the facts, arms and observations (T,), and `checks` rounds as seen.

    `each`: so many arms of largest index, and as many at random.
    """
    problem = kb.RKHSFunction(KERNEL, kb.grid(side, 3), NOISE_VARIANCE, norm=2.0)(TRIAL)
    policy = kb.UCB(problem.model, horizon, width=kb.Chowdhury2017(0.1), form=kb.LatticePosterior)
    rng = np.random.default_rng(5)
    at = set(rng.choice(np.arange(2, horizon + 1), size=checks, replace=False).tolist())
    arms = np.empty(horizon, dtype=int)
    observations = np.empty(horizon)
    seen = []
    seconds = 0.0
    clock = time.perf_counter()
    for t, arm, y in tqdm(kb.rounds(policy, problem, horizon, TRIAL.rng("noise")), total=horizon):
        seconds += time.perf_counter() - clock
        if t in at:
            width = policy.width(policy)
            index = policy.index()
            largest = np.argpartition(index, -each)[-each:]
            some = np.r_[largest, rng.integers(len(index), size=each)]
            seen.append(Seen(t, width, index[arm], some, index[some]))
        arms[t - 1] = arm
        observations[t - 1] = y
        clock = time.perf_counter()
    known = {
        "arms": side**3,
        "rounds": horizon,
        "distinct": int((policy.posterior.counts > 0).sum()),
        "minutes": seconds / 60,
        "peak_GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "average_regret": float(problem.regret(arms).mean()),
    }
    return known, arms, observations, seen


def departures(
    side: int, arms: Array, observations: Array, seen: list[Seen]
) -> Iterator[tuple[float, bool]]:
    """Yield how far the kept indices are from a dense solve's, and if another arm has a larger."""
    points = kb.grid(side, 3)
    for its in tqdm(seen):
        before = arms[: its.t - 1]
        X, which, counts = np.unique(before, return_inverse=True, return_counts=True)
        average = np.bincount(which, observations[: its.t - 1]) / counts
        K = KERNEL(points[X], points[X])
        K[np.diag_indices(len(X))] += NOISE_VARIANCE / counts
        across = KERNEL(points[X], points[its.some])
        weights = solve(K, across, assume_a="pos", overwrite_a=True)
        mean = average @ weights
        variance = np.maximum(1 - (across * weights).sum(axis=0), 0)
        index = mean + its.width * np.sqrt(variance)
        rounding = 1e-9 * (1 + abs(its.index))
        error = np.abs(index - its.their_index).max()
        yield error, bool(index.max() > its.index + rounding)


def main(
    side: int = 100, horizon: int = 10_000, checks: int = 200, each: int = 1000
) -> dict[str, Any]:
    """Play and check; return the facts."""
    with threadpool_limits(1, user_api="blas"):
        known, arms, observations, seen = play(side, horizon, checks, each)
        errors, wrong = zip(*departures(side, arms, observations, seen), strict=True)
    return known | {"checked": checks, "largest_error": max(errors), "wrong": sum(wrong)}


if __name__ == "__main__":
    told = facts()
    found = main() | {"versions": told["versions"], "git": told["git"]}
    path = paths.project_root() / "results" / "million_arms.json"
    paths.write_text(path, json.dumps(found, indent=1) + "\n")
