"""What users of other libraries ask for, measured (docs/asked_for.md): repeats without jitter, and whether bands hold.

Repeats: 500 arms on [0, 1], squared exponential of lengthscale 0.2, noise variance 1e-6, 20 arms pulled 100 times
each; the referee solves for the means of the 20 arms in 50 digits. Bands: draws from that prior on 100 arms, noise
variance 0.01, and functions of RKHS norm 2; a band holds if the function is inside it at all arms in all rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pandas as pd

import kbrepro as kb

KERNEL = kb.SquaredExponential(0.2)
ROUNDS = 100


def referee(points: np.ndarray, pulled: np.ndarray, times: int, means: np.ndarray, variance: float) -> np.ndarray:
    """Return mean and variance (2, A) of all arms, given the means of so many observations of each pulled arm."""
    with mpmath.workdps(50):
        at = [mpmath.mpf(float(x)) for x in points[:, 0]]
        kernel = [[mpmath.exp(-((x - at[i]) ** 2) / (2 * mpmath.mpf(0.2) ** 2)) for i in pulled] for x in at]
        gram = mpmath.matrix([kernel[i] for i in pulled]) + mpmath.diag([mpmath.mpf(variance) / times] * len(pulled))
        inverse, K = mpmath.inverse(gram), mpmath.matrix(kernel)
        weights = inverse * mpmath.matrix(means.tolist())
        spread = K * inverse
        sd2 = [1 - sum(spread[i, j] * K[i, j] for j in range(len(pulled))) for i in range(len(at))]
        return np.array([[float(v) for v in K * weights], [float(v) for v in sd2]])


def measure(n_arms: int, trials: int) -> pd.DataFrame:
    """Return one row a number: `value`, where it is a share its interval and the average regret R_T / T of the runs."""
    columns = ["asked", "value", "low", "high", "average_regret", "note"]
    return pd.DataFrame([*repeats(n_arms), *bands(trials)], columns=columns)


def repeats(n_arms: int, times: int = 100, variance: float = 1e-6) -> Iterator[dict[str, Any]]:
    """Yield what repeats do to the posterior, and whether a Cholesky factor of all arms exists without jitter."""
    points, rng = kb.grid(n_arms), np.random.default_rng(3)
    pulled = np.linspace(0, n_arms - 1, 20).astype(int)
    observed = np.sin(6 * points[pulled, 0]) + np.sqrt(variance) * rng.standard_normal((times, 20))
    posterior = kb.exact_posterior(KERNEL, points, variance, times * 20)
    for seen in observed:
        for arm, y in zip(pulled, seen, strict=True):
            posterior.update(arm, y)
    mean, var = referee(points, pulled, times, observed.mean(axis=0), variance)
    yield {"asked": "repeats: largest error of the mean", "value": np.abs(posterior.mean - mean).max()}
    yield {"asked": "repeats: largest error of the variance", "value": np.abs(posterior.variance - var).max()}
    yield {"asked": "repeats: smallest variance", "value": var.min()}
    try:
        np.linalg.cholesky(KERNEL(points, points))
        note = "found"
    except np.linalg.LinAlgError as error:
        note = str(error)
    yield {"asked": "Cholesky factor of the prior covariance of all arms", "note": note}


def bands(trials: int) -> Iterator[dict[str, Any]]:
    """Yield how often the band of each width holds in all rounds of a run."""
    points = kb.grid(100)
    drawn, known = kb.GPDraw(KERNEL, points, 0.01), kb.RKHSFunction(KERNEL, points, 0.01, norm=2.0)
    bayes = {"Bayes(0.1)": kb.Srinivas2010(0.1), "Bayes(0.1) / 5": kb.Srinivas2010(0.1, 0.2)}
    theory = {"Improved(0.1)": kb.Chowdhury2017(0.1), "SelfNormalised(0.1)": kb.AbbasiYadkori2011(0.1)}
    constant = {f"Constant({c})": kb.Constant(c) for c in (1, 2, 3)}
    for name, source, widths in (("draws", drawn, bayes | constant), ("norm 2", known, theory | constant)):
        policies = {label: partial(kb.UCB, width=width) for label, width in widths.items()}
        traces = kb.run_trials(kb.Experiment(source, policies, ROUNDS, record_band=True), trials, seed=4)
        for label, trace in traces.items():
            held = kb.share((trace.band_ratio <= 1).all(axis=1))
            regret, note = trace.average_regret[:, -1].mean(), f"share of {trials} runs in which the band held"
            known_of = {"value": held.value, "low": held.low, "high": held.high, "average_regret": regret}
            yield {"asked": f"{name}, {label}", **known_of, "note": note}


ASKS = (
    "What do repeats do to the posterior without jitter, and how often does the band of a width hold? Not about "
    "seconds; docs/asked_for.md quotes it."
)
FULL = {"n_arms": 500, "trials": 200}
TOY = {"n_arms": 30, "trials": 4}
