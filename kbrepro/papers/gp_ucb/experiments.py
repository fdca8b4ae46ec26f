"""Days tested in turn, and trials that are stuck."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kbrepro.kernels import Array
from kbrepro.problems import Rows, Trial
from kbrepro.regret import Curve

# Sensors: days tested in turn


def rotations(readings: Array) -> list[tuple[Array, Array]]:
    """Return (train, test) with each third of the readings (rows, n_sensors), consecutive rows, as test.

    The other two thirds are for training. The paper learns from the first two thirds and tests on the last. Rows beyond
    equal thirds are left out.
    """
    blocks = np.reshape(readings[: len(readings) // 3 * 3], (3, len(readings) // 3, -1))
    return [(np.concatenate(np.delete(blocks, i, axis=0)), blocks[i]) for i in range(3)]


def sensor_problems(train: Array, test: Array, noise_variance: float) -> tuple[Rows, float]:
    """Return a source with one problem per row of `test`, and the root of the mean prior variance.

    The kernel matrix is the covariance of `train` (rows, n_sensors), whose means are removed from the rewards, as a
    prior of mean zero asks.
    """
    covariance = np.cov(train, rowvar=False)
    return Rows(covariance, test - train.mean(axis=0), noise_variance), math.sqrt(covariance.diagonal().mean())


# Trials that are stuck


def settled_at(trace: Curve) -> NDArray[np.int64]:
    """Return the one arm (trials,) that a trial pulls throughout its last tenth of rounds; -1 if there are several."""
    last = trace.arms[:, -max(1, trace.horizon // 10) :]
    return np.where(np.ptp(last, axis=1) == 0, last[:, -1], -1)


def summits(f: Array) -> NDArray[np.int64]:
    """Return, for each arm on a line, the arm (A,) where a walk uphill from it ends."""
    padded, up = np.pad(f, 1, constant_values=-np.inf), np.arange(len(f))
    up += np.where(padded[2:] > np.maximum(f, padded[:-2]), 1, np.where(padded[:-2] > f, -1, 0))
    while not np.array_equal(up, further := up[up]):
        up = further
    return up


def stuck_trials(
    traces: Mapping[str, Curve], draw: Callable[[np.random.Generator], Array], seed: int
) -> dict[str, Array]:
    """Return by rule 1.0 for trials (n,) that settled on a slope of a peak lower than the best one, else 0.0.

    `draw(rng)` draws the expected reward (A,) of a trial, as `problems.prior_draws` does.
    """
    settled = {rule: settled_at(trace) for rule, trace in traces.items()}
    stuck: dict[str, Array] = {rule: np.zeros(len(arms)) for rule, arms in settled.items()}
    for number in range(min(map(len, settled.values()))):
        f = draw(Trial(seed, number).rng("function"))
        height = f[summits(f)]
        for rule, arms in settled.items():
            stuck[rule][number] = arms[number] >= 0 and height[arms[number]] < f.max()
    return stuck
