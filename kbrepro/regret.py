"""Estimates with intervals: paired comparisons of policies over trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from kbrepro import checks
from kbrepro.kernels import Array

LEVEL = 0.95
RESAMPLES, AT_ONCE = 4000, 200
#: Fewest trials that are resampled; below that intervals are t intervals.
FEWEST = 20


class Estimate(NamedTuple):
    """A value and its interval; low = high = value for a number without sampling error."""

    value: float
    low: float
    high: float


def final_average_regret(traces: Mapping[str, Trace]) -> dict[str, Array]:
    """Return R_T / T of every trial (n,), by policy."""
    return {policy: trace.average_regret[:, -1] for policy, trace in traces.items()}


def mean_difference(a: Array, b: Array) -> Array:
    """Return the mean of a - b over the last axis."""
    return (a - b).mean(axis=-1)


def relative_difference(a: Array, b: Array) -> Array:
    """Return the mean of a - b over the last axis as a share of the mean of b."""
    return (a - b).mean(axis=-1) / b.mean(axis=-1)


def bootstrap(statistic: Callable[..., Array], *samples: Array, rng: np.random.Generator, block: int = 1) -> Estimate:
    """Return statistic(*samples) with its 95 % percentile interval over 4000 resamples of whole trials.

    `samples` are paired arrays (n,); `statistic` reduces the last axis. With `block` above 1 consecutive trials are
    resampled in blocks of that length (circular block bootstrap), for trials in time order that resemble their
    neighbours. Raises ValueError if the samples differ in length, hold a NaN, or are shorter than two blocks.
    """
    checks.positive_int(block=block)
    n = len(samples[0])
    if any(np.shape(s) != (n,) for s in samples):
        raise ValueError(f"samples have shapes {[np.shape(s) for s in samples]}: all must be (n,)")
    if n < 2 * block:
        raise ValueError(f"block = {block} is not allowed: block must be at most half of the {n} trials")
    for sample in samples:
        checks.finite_array(samples=sample)
    resampled = []
    for _ in range(RESAMPLES // AT_ONCE):
        starts = rng.integers(n, size=(AT_ONCE, math.ceil(n / block), 1))
        index = ((starts + np.arange(block)) % n).reshape(AT_ONCE, -1)[:, :n]
        resampled.append(statistic(*(np.asarray(s)[index] for s in samples)))
    low, high = np.quantile(np.concatenate(resampled), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(statistic(*samples)), float(low), float(high))


def standard_error(samples: Array, block: int = 1) -> Array:
    """Return the standard error (m,) of the mean over the rows of samples (n, m), from means of whole blocks.

    Trailing rows that fill no block are left out. Raises ValueError if there are fewer than two blocks.
    """
    means = block_means(samples, block)
    return means.std(axis=0, ddof=1) / math.sqrt(len(means))


def block_means(samples: Array, block: int) -> Array:
    """Return the means (n // block, ...) of whole blocks of the first axis; ValueError if there are fewer than two."""
    checks.positive_int(block=block)
    n_blocks = len(samples) // block
    if n_blocks < 2:
        raise ValueError(f"block = {block} is not allowed: block must be at most half of the {len(samples)} trials")
    return samples[: n_blocks * block].reshape(n_blocks, block, *samples.shape[1:]).mean(axis=1)


def block_mean(samples: Array, block: int = 1) -> Estimate:
    """Return the mean of samples (n,) with the 95 % t interval of the means of whole blocks of neighbours.

    For trials in time order that resemble their neighbours, and too few blocks to resample. Trailing samples that fill
    no block are left out. Raises ValueError if there are fewer than two blocks or a NaN.
    """
    checks.finite_array(samples=samples)
    means = block_means(samples, block)
    half = standard_error(means)[()] * stdtrit(len(means) - 1, (1 + LEVEL) / 2)
    return Estimate(float(means.mean()), float(means.mean() - half), float(means.mean() + half))


def block_share(a: Array, b: Array, block: int = 1) -> Estimate:
    """Return the mean of a - b (n,) as a share of the mean of b, with the t interval of `block_mean`.

    The ratio is linearised at its value r: the blocks are those of a - b - r b.
    """
    checks.positive_int(block=block)
    n = len(a) // block * block
    a, b = a[:n], b[:n]
    r = relative_difference(a, b)
    return block_mean(r + (a - b - r * b) / b.mean(), block)


def paired_difference(a: Array, b: Array, seed: int) -> Estimate:
    """Return the mean of a - b, both (n,), paired: bootstrap of trials from FEWEST on, below that a t interval."""
    if len(a) < FEWEST:
        return block_mean(a - b)
    return bootstrap(mean_difference, a, b, rng=np.random.default_rng([seed, 2]))


def paired_share(a: Array, b: Array, seed: int, block: int = 1) -> Estimate:
    """Return the mean of a - b as a share of the mean of b, both (n,), paired.

    Intervals: bootstrap of trials if there are at least FEWEST and they are no neighbours in time (`block` 1), else the
    t interval of `block_share`.
    """
    if block == 1 and len(a) >= FEWEST:
        return bootstrap(relative_difference, a, b, rng=np.random.default_rng([seed, 2]))
    return block_share(a, b, block)


def estimated_mean(samples: Array, seed: int) -> Estimate:
    """Return the mean of samples (n,) with the interval of `paired_difference`."""
    return paired_difference(samples, np.zeros(len(samples)), seed)


def share(successes: NDArray[np.bool_]) -> Estimate:
    """Return the share of successes (n,) with its 95 % Clopper-Pearson interval."""
    from scipy.stats import binomtest  # here: it takes longer to load than all the rest of the face

    result = binomtest(int(np.sum(successes)), len(successes))
    interval = result.proportion_ci(LEVEL, method="exact")
    return Estimate(result.statistic, interval.low, interval.high)


def slope(x: Array, y: Array) -> Estimate:
    """Return the least-squares slope of y on x, both (n,), with the 95 % interval of a straight-line fit.

    For growth in T take few, log-spaced T: neighbours on one curve are no independent evidence.
    """
    from scipy.stats import linregress

    fit = linregress(x, y)
    half = fit.stderr * stdtrit(len(x) - 2, (1 + LEVEL) / 2)
    return Estimate(float(fit.slope), float(fit.slope - half), float(fit.slope + half))


def exact(value: float) -> Estimate:
    """Return a value that carries no sampling error."""
    return Estimate(float(value), float(value), float(value))


def weakest(estimates: Iterable[Estimate]) -> Estimate:
    """Return smallest value, smallest low and smallest high: for claims that all of several comparisons must hold.

    A bound from below on value or low then holds for the result if and only if it holds for every comparison.
    """
    values, lows, highs = zip(*estimates, strict=True)
    return Estimate(min(values), min(lows), min(highs))


def largest(estimates: Iterable[Estimate]) -> Estimate:
    """Return largest value, largest low and largest high: `weakest` for claims that bound from above."""
    values, lows, highs = zip(*estimates, strict=True)
    return Estimate(max(values), max(lows), max(highs))


def simple_regret(trace: Trace) -> Array:
    """Return the regret of the best arm pulled so far, same shape as `trace.regret`."""
    return np.minimum.accumulate(trace.regret, axis=-1)


class Trace(NamedTuple):
    """What happened: arms, observations, instantaneous regret and seconds of every round.

    One run has arrays of shape (horizon,); many trials, stacked, (trials, horizon). The seconds of a round are those
    until its observation, with what it took to tell the policy the one before. `band_ratio` is the largest
    |f - mean| / (width sd) over all arms before each pull, NaN where it was not recorded. Of an observation with
    several numbers (a network's layers) the last, the reward, is kept.
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


def log_spaced(horizon: int, n: int = 100) -> NDArray[np.int64]:
    """Return at most n distinct rounds (m,), evenly spaced on a log scale, the first 1 and the last `horizon`.

    Raises ValueError unless both are positive.
    """
    checks.positive_int(horizon=horizon, n=n)
    return np.unique(np.geomspace(1, horizon, n).astype(int))
