"""Intervals: coverage, blocks, pairing, halves; standard errors; blocks of neighbours."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses
from scipy import stats
from scipy.signal import lfilter

from kbrepro.claims.estimates import (
    autocorrelation_time,
    block_length,
    bootstrap,
    estimated_mean,
    growth,
    intervals,
    paired_difference,
    share,
    standard_error,
)


def mean(a):
    return a.mean(axis=-1)


def autocorrelated(rng, n, phi=0.9):
    """n values of an AR(1), which tends to a variance of 1."""
    return lfilter([np.sqrt(1 - phi**2)], [1, -phi], rng.standard_normal(n))


def test_intervals_are_those_of_scipy():
    def ratio(a, b, axis=-1):
        return a.mean(axis=-1) / b.mean(axis=-1)

    x = np.random.default_rng(36).gamma(1.0, size=(2, 30))
    theirs = stats.bootstrap(
        x, ratio, paired=True, n_resamples=4000, batch=200, rng=np.random.default_rng(37)
    )
    ours = bootstrap(ratio, *x, rng=np.random.default_rng(37))
    assert ours == (ratio(*x), *theirs.confidence_interval) and all(
        type(part) is float for part in ours
    )


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=24),
    st.sampled_from([mean, partial(np.median, axis=-1)]),
)
def test_no_interval_is_nan(values, statistic):
    """Ties, constants, a single other value: BCa is not defined for all of them, an interval is."""
    x = np.array(values, dtype=float)
    value, low, high = bootstrap(statistic, x, rng=np.random.default_rng(1))
    assert low <= high and x.min() <= low and high <= x.max()
    assert np.ptp(x) or low == value == high


def test_bad_input_is_named():
    lengths = r"samples have lengths \[5, 4\]: they must be paired"
    infinite = r"samples\[2\] = inf is not allowed"
    refuses(
        (lambda: bootstrap(mean, np.zeros(5), np.zeros(4), rng=0), lengths),
        (lambda: bootstrap(mean, np.zeros(1), rng=0), "at least 2 rows or numbers"),
        (lambda: bootstrap(mean, np.array([0, 1, np.inf]), rng=0), infinite),
        (lambda: block_length(np.zeros(3)), "series has 3 numbers"),
        (lambda: standard_error(np.zeros(47), 24), "block = 24"),
        (lambda: standard_error(np.zeros(47), 0), "block = 0"),
    )


# Growth, neighbours in time


def test_growth_is_the_slope_of_the_mean_curve():
    at, runs = (
        np.array([1, 10, 100]),
        np.random.default_rng(4).gamma(2.0, size=(30, 3)) * [1, 4, 15],
    )
    value, low, high = growth(at, runs, intervals(1))
    assert (
        value == pytest.approx(np.polyfit(np.log(at), np.log(runs.mean(axis=0)), 1)[0])
        and low < value < high
    )


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_the_autocorrelation_time_of_an_autoregression(phi):
    """(1 + phi) / (1 - phi), by the mean of 40 series of 4,000 numbers."""
    rng = np.random.default_rng(41)
    times = [autocorrelation_time(autocorrelated(rng, 4000, phi)) for _ in range(40)]
    assert np.mean(times) == pytest.approx((1 + phi) / (1 - phi), rel=0.15)


def test_blocks_are_five_autocorrelation_times_and_four_at_least():
    x = autocorrelated(np.random.default_rng(42), 2000)
    assert block_length(x) == math.ceil(5 * autocorrelation_time(x)) > 50
    assert block_length(x[:100]) == 25 and block_length(np.ones(40)) == 5


def test_the_standard_error_is_that_of_means_of_blocks():
    x = np.random.default_rng(60).standard_normal(47)  # blocks of five: the last two are left out
    np.testing.assert_allclose(
        standard_error(x[:, None], 5), [stats.sem(x[:45].reshape(9, 5).mean(axis=1))]
    )


def test_share_is_clopper_pearson():
    """No success in n: the upper end solves (1 - p)^n = 0.025. The interval of 7 in 10 is
    tabulated.
    """
    assert share(np.zeros(20, dtype=bool)) == pytest.approx((0.0, 0.0, 1 - 0.025 ** (1 / 20)))
    assert share(np.ones(20, dtype=bool)) == pytest.approx((1.0, 0.025 ** (1 / 20), 1.0))
    assert share(np.array([True] * 7 + [False] * 3)) == pytest.approx(
        (0.7, 0.34755, 0.93326), abs=1e-5
    )


def test_few_pairs_have_a_t_interval_and_many_are_resampled():
    a, b = np.random.default_rng(8).normal(3, 1, size=(2, 40))
    few = stats.ttest_rel(a[:19], b[:19]).confidence_interval()
    assert paired_difference(a[:19], b[:19], 5) == pytest.approx(((a - b)[:19].mean(), *few))
    paired = paired_difference(a, b, 5)
    assert paired.value == pytest.approx((a - b).mean()) and estimated_mean(a - b, 5) == paired
    # twenty are enough
    assert paired_difference(a[:20], b[:20], 5) != paired_difference(a[:20], b[:20], 6)
