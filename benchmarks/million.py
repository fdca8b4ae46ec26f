"""A million arms: 10000 rounds of exact GP-UCB on 100^3 arms; dense solves check 200 of them.

`python -m benchmarks.million` writes results/million_arms.json; it takes half an hour, then as long
for the checks. The index of the best arms and of random ones at random rounds is kept, and worked
out again by one dense solve a round; memory is read before that begins.
"""

import math
import resource
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from tqdm import tqdm

import kbrepro as kb
from benchmarks.harness import Job, keep, timed

NOISE_VARIANCE = 1.0
TRIAL = kb.Trial(1, 0)


def play(side: int, checks: int, many: int, horizon: int) -> Iterator[Any]:
    """Yield arm and observation of every round of GP-UCB, and in `checks` of them, else None, the
    width, the arm and `many` arms of largest index and as many at random, and their index.
    """
    kernel = kb.Matern(0.2, nu=1.5)
    problem = kb.RKHSFunction(kernel, kb.grid(side, 3), NOISE_VARIANCE, norm=2.0)(TRIAL)
    policy = kb.UCB(problem.model, horizon, width=kb.Chowdhury2017(0.1), form=kb.LatticePosterior)
    rng = np.random.default_rng(5)
    checked = set(rng.choice(np.arange(2, horizon + 1), size=checks, replace=False).tolist())
    rounds = kb.rounds(policy, problem, horizon, TRIAL.rng("noise"))
    for t, arm, observation in tqdm(rounds, total=horizon):
        seen = None
        if t in checked:
            index = policy.index()
            largest = np.argpartition(index, -many)[-many:]
            some = np.r_[arm, largest, rng.integers(len(index), size=many)]
            seen = policy.width(policy), some, index[some]
        yield arm, observation, seen


def departures(side: int, rounds: list[Any]) -> Iterator[tuple[float, bool]]:
    """Yield how far kept indices are from those of scikit-learn's dense solve, and if by these
    another arm has a larger one.
    """
    kernel = Matern(0.2, nu=1.5)
    points = kb.grid(side, 3)
    arms, rewards, checked = zip(*rounds, strict=True)
    pulled = points[list(arms)]
    for t, seen in enumerate(tqdm(checked)):
        if seen is None:
            continue
        width, some, kept = seen
        dense = GaussianProcessRegressor(kernel, alpha=NOISE_VARIANCE, optimizer=None)
        dense.fit(pulled[:t], rewards[:t])
        mean, sd = dense.predict(points[some], return_std=True)
        index = mean + width * sd
        yield np.abs(index - kept).max(), bool(index.max() > index[0] + 1e-9 * (1 + abs(index[0])))


def main(
    side: int = 100, horizon: int = 10_000, checks: int = 200, many: int = 1000
) -> dict[str, Any]:
    """Play and check; return what was found."""
    job = Job("", partial(play, side, checks, many), (horizon,), repeats=1, stop_after=math.inf)
    (seconds,), rounds, _ = timed(job, horizon)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    errors, wrong = zip(*departures(side, rounds), strict=True)
    return {
        "arms": side**3,
        "rounds": horizon,
        "distinct": len({arm for arm, _, _ in rounds}),
        "minutes": seconds.sum() / 60,
        "peak_GB": peak / 1e6,
        "checked": checks,
        "largest_error": max(errors),
        "wrong": sum(wrong),
    }


if __name__ == "__main__":
    keep("million_arms.json", main)
