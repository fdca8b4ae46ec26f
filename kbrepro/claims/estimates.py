"""Estimates with intervals: means, shares and paired comparisons over trials."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import betaincinv, stdtrit

from kbrepro import checks
from kbrepro.typing import Array, Bools

LEVEL = 0.95
RESAMPLES, AT_ONCE = 4000, 200
#: Fewest trials that are resampled; below that intervals are t intervals.
FEWEST = 20


class Estimate(NamedTuple):
    """A value and its 95 % interval; low = high = value for a number without sampling error."""

    value: float
    low: float
    high: float


def mean_difference(a: Array, b: Array) -> Array:
    """Return the mean of a - b over the last axis; ValueError unless both have one shape and finite
    numbers.
    """
    a, b = checks.array("a", a, copy=False, least=1), checks.array("b", b, copy=False, least=1)
    if a.shape != b.shape:
        raise ValueError(f"b has shape {b.shape}: it must have the shape of a, {a.shape}")
    return (a - b).mean(axis=-1)


def intervals(seed: int) -> Generator:
    """Return the random stream that resampling draws from: it starts anew for every interval of a
    root seed.
    """
    return np.random.default_rng([seed, 2])


def bootstrap(
    statistic: Callable[..., Array], *samples: Array, rng: Generator | int | None
) -> Estimate:
    """Return statistic(*samples) with its 95 % interval over 4000 resamples of whole trials.

    `samples` are paired arrays (n,); `statistic` reduces the last axis, and is smooth in the
    trials: a mean, ratio or slope (BCa, Efron 1987). If all resamples are equal the interval is
    that number; if they all lie on one side of the value, BCa is not defined and percentiles are
    used. Raises ValueError if the samples have different lengths, a NaN, or fewer than two numbers.
    """
    checks.function(statistic=statistic)
    rng = checks.seeded(rng=rng)
    samples = tuple(checks.array("samples", sample, 1, least=2) for sample in samples)
    lengths = list(map(len, samples))
    if len(set(lengths)) != 1:
        raise ValueError(
            f"samples have lengths {lengths}: they must be paired and of the same length"
        )
    from scipy import stats  # here: it takes longer to load than the rest of `import kbrepro`

    resample = partial(
        stats.bootstrap,
        samples,
        lambda *drawn, axis: statistic(*drawn),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=AT_ONCE,
        confidence_level=LEVEL,
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = resample(rng=rng)
        if np.isnan(result.confidence_interval).any():
            result = resample(method="percentile", n_resamples=0, bootstrap_result=result)
    low, high = result.confidence_interval
    return Estimate(float(statistic(*samples)), float(low), float(high))


def growth(at: np.ndarray, curves: Array, rng: Generator | int | None) -> Estimate:
    """Return the slope of log mean curve on log `at` (m,), with its 95 % interval over the runs of
    `curves` (n, m).

    The exponent of growth: least squares through a few rounds, log-spaced, with positive means.
    """
    x = np.log(at) - np.log(at).mean()

    def fitted(runs: Array) -> Array:
        return np.log(curves[runs.astype(int)].mean(axis=-2)) @ x / (x @ x)

    return bootstrap(fitted, np.arange(len(curves), dtype=float), rng=rng)


def autocorrelation_time(series: Array) -> float:
    """Return 1 + 2 (sum of autocorrelations) of a series (n,): how many neighbours carry the
    information of one.

    Summed in pairs of lags while a pair is positive (Geyer 1992, the initial positive sequence). At
    least 1; 1 for a constant series.
    """
    values = checks.array("series", series, 1)
    centred = values - values.mean()
    if not (total := centred @ centred):
        return 1.0
    lags = np.correlate(centred, centred, "full")[len(centred) - 1 :] / total
    pairs = lags[: len(lags) // 2 * 2].reshape(-1, 2).sum(axis=1)
    summed = np.logical_and.accumulate(pairs > 0)
    return max(1.0, 2 * float(pairs[summed].sum()) - 1)


def block_length(series: Array) -> int:
    """Return how many neighbours make a block: five autocorrelation times of a series (n,), at most
    a quarter of it.

    Means of such blocks are nearly independent: in a first-order autoregression neighbouring ones
    have a correlation of 0.06. Raises ValueError if there are fewer than four numbers.
    """
    if len(series) < 4:
        raise ValueError(
            f"series has {len(series)} numbers: it must have at least 4, one for each block"
        )
    return min(math.ceil(5 * autocorrelation_time(series)), len(series) // 4)


def standard_error(samples: Array, block: int = 1) -> Array:
    """Return the standard error (m,) of the mean over the rows of samples (n, m), from means of
    whole blocks.

    Trailing rows that fill no block are left out. Raises ValueError if there are fewer than two
    blocks.
    """
    checks.positive_int(block=block)
    n_blocks = len(samples) // block
    if n_blocks < 2:
        raise checks.refused("block", block, f"at most half of the {len(samples)} trials")
    means = samples[: n_blocks * block].reshape(n_blocks, block, *samples.shape[1:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / math.sqrt(len(means))


def paired_difference(a: Array, b: Array, seed: int) -> Estimate:
    """Return the mean of a - b, both (n,), paired: bootstrap from FEWEST trials on, a t interval
    below.
    """
    if len(a) >= FEWEST:
        return bootstrap(mean_difference, a, b, rng=intervals(seed))
    value = float(mean_difference(a, b))
    half = float(standard_error(a - b)) * stdtrit(len(a) - 1, (1 + LEVEL) / 2)
    return Estimate(value, value - half, value + half)


def estimated_mean(samples: Array, seed: int) -> Estimate:
    """Return the mean of samples (n,) with the interval of `paired_difference`."""
    return paired_difference(samples, np.zeros(len(samples)), seed)


def share(successes: Bools, level: float = LEVEL) -> Estimate:
    """Return the share of successes (n,), each True or False, with its Clopper-Pearson interval at
    a `level`, by default 95 %.

    Raises ValueError unless there is at least one, each is 0 or 1, and the level is between.
    """
    checks.probability(level=level)
    held = checks.array("successes", successes, 1, least=1)
    if not np.isin(held, (0, 1)).all():
        raise checks.refused("successes", successes, "True or False")
    n, number = len(held), int(held.sum())
    tail = (1 - level) / 2
    low = betaincinv(number, n - number + 1, tail) if number else 0.0
    high = betaincinv(number + 1, n - number, 1 - tail) if number < n else 1.0
    return Estimate(number / n, float(low), float(high))
