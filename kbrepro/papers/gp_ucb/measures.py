"""What the notebook on GP-UCB measures, and its problems from readings of sensors."""

import math

import numpy as np
import pandas as pd

from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Problem, Rows
from kbrepro.claims.estimates import growth, intervals
from kbrepro.trials.curve import Curve
from kbrepro.trials.simulation import rounds
from kbrepro.typing import Array


def sensor_problems(train: Array, test: Array, noise_variance: float) -> tuple[Rows, float]:
    """Return a source with one problem per row of `test`, and the root of the mean prior variance.

    The kernel matrix is the covariance of `train` (rows, n_sensors), whose means are removed from
    the rewards, as a prior of mean zero asks.
    """
    covariance = np.cov(train, rowvar=False)
    source = Rows(covariance, test - train.mean(axis=0), noise_variance)
    return source, math.sqrt(covariance.diagonal().mean())


def watched(
    policy: UCB, problem: Problem, horizon: int, noise: np.random.Generator
) -> pd.DataFrame:
    """Play arms on a line, and return the posterior before each pull: a row per round and arm.

    `half` is half of the band's height; `pulled` and `observed` are those of the round.
    """
    x = problem.model.points[:, 0]
    frames: list[pd.DataFrame] = []
    for t, arm, observed in rounds(policy, problem, horizon, noise):
        now = {
            "round": t,
            "x": x,
            "f": problem.expected_reward,
            "mean": policy.posterior.mean,
            "half": policy.width(policy) * policy.posterior.sd,
            "pulled": x[arm],
            "observed": observed,
        }
        frames.append(pd.DataFrame(now))
    return pd.concat(frames)


def settled(trace: Curve) -> float:
    """Return the share of trials that pull one arm throughout the last tenth of their rounds."""
    late = trace.arms[:, -(trace.horizon // 10) :]
    return float((np.ptp(late, axis=1) == 0).mean())


def room(trace: Curve, bound: Array) -> dict[str, float]:
    """Return how loose a theorem is: its bound (T,) on the regret of runs, and its width.

    The share of the width is what would do in 9 of 10 runs; a run is below its bound if it is in
    all rounds.
    """
    median = np.median(trace.cumulative_regret[:, -1])
    ratios = trace.band_ratio.max(axis=1)
    below = (trace.cumulative_regret <= bound).all(axis=1)
    return {
        "bound over median regret": float(bound[-1] / median),
        "share of the width that would do": float(np.quantile(ratios, 0.9)),
        "share of runs below the bound": float(below.mean()),
    }


def exponent(trace: Curve, seed: int) -> dict[str, float]:
    """Return the exponent of T in the mean regret over the last decade of rounds, and its 95 %
    interval over runs.
    """
    horizon = trace.horizon
    at = np.unique(np.geomspace(horizon / 10, horizon, 10).astype(int))
    fitted = growth(at, trace.cumulative_regret[:, at - 1], intervals(seed))
    return {"exponent of T": fitted.value, "low": fitted.low, "high": fitted.high}
