"""Intervals: coverage, blocks, pairing, halves; standard errors; blocks of neighbours; traces of regret."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from traces import trace_of

from kbrepro import regret
from kbrepro.regret import (
    FEWEST,
    Estimate,
    Regrets,
    Trace,
    block_mean,
    block_share,
    bootstrap,
    edges,
    estimated_mean,
    exact,
    kept_rounds,
    largest,
    log_spaced,
    mean_difference,
    paired_difference,
    paired_share,
    relative_difference,
    share,
    simple_regret,
    slope,
    standard_error,
    weakest,
)


def mean(a):
    return a.mean(axis=-1)


def autocorrelated(rng, n, phi=0.9):
    """n values of a stationary AR(1) of variance 1."""
    noise, x = rng.standard_normal(n), np.empty(n)
    x[0] = noise[0]
    for t in range(1, n):
        x[t] = phi * x[t - 1] + np.sqrt(1 - phi**2) * noise[t]
    return x


def width(estimate):
    return estimate.high - estimate.low


def test_differences():
    a, b = np.array([[3.0, 5.0], [1.0, 1.0]]), np.array([[1.0, 3.0], [2.0, 2.0]])
    np.testing.assert_allclose(mean_difference(a, b), [2.0, -1.0])
    np.testing.assert_allclose(relative_difference(a, b), [1.0, -0.5])
    assert relative_difference(np.array([1.2, 2.4]), np.array([1.0, 2.0])) == pytest.approx(0.2)


def test_the_value_is_that_of_the_samples_and_the_level_is_95_percent():
    """For 400 normal values the interval is mean +- 1.96 s / 20, within the noise of 4000 resamples."""
    x = np.random.default_rng(36).normal(3, 2, 400)
    found, half = bootstrap(mean, x, rng=np.random.default_rng(37)), 1.96 * x.std() / 20
    assert found.value == x.mean() and all(type(part) is float for part in found)
    assert found[1:] == pytest.approx((x.mean() - half, x.mean() + half), abs=0.1 * half)


def test_coverage_of_blocks_on_autocorrelated_values(monkeypatch):
    """150 intervals of 400 values, phi = 0.7. Single resamples cover about 60 %, blocks of 25 about 90 %: the line
    at 80 % separates them with error below 1e-4 either way (binomial)."""
    monkeypatch.setattr(regret, "RESAMPLES", 200)
    rng = np.random.default_rng(39)
    hits = {1: 0, 25: 0}
    for _ in range(150):
        x = autocorrelated(rng, 400, phi=0.7)
        for block in hits:
            _, low, high = bootstrap(mean, x, rng=rng, block=block)
            hits[block] += low <= 0 <= high
    assert hits[1] / 150 < 0.8 < hits[25] / 150


def test_blocks_are_circular_runs_of_neighbours():
    """A statistic that sees the resample: steps of one inside a block, modulo n, and n values in all."""
    n, block = 10, 4
    seen = []

    def statistic(a):
        seen.extend(np.atleast_2d(a))
        return a.mean(axis=-1)

    bootstrap(statistic, np.arange(n), rng=np.random.default_rng(44), block=block)
    resamples = np.array(seen[:-1], dtype=int)  # the last is the sample itself
    assert resamples.shape == (4000, n)
    steps = np.diff(resamples, axis=1) % n
    inside = [i for i in range(n - 1) if (i + 1) % block]
    assert (steps[:, inside] == 1).all()
    np.testing.assert_allclose(np.bincount(resamples.ravel(), minlength=n) / resamples.size, 0.1, atol=0.01)


@pytest.mark.parametrize(
    ("samples", "block", "message"),
    [
        ([np.zeros(5), np.zeros(4)], 1, r"samples have shapes \[\(5,\), \(4,\)\]: all must be \(n,\)"),
        ([np.zeros((5, 2))], 1, "samples have shapes"),
        ([np.zeros(3), np.array([0.0, 1.0, np.inf])], 1, r"samples\[2\] = inf is not allowed"),
        ([np.zeros(7)], 4, "block = 4 is not allowed: block must be at most half of the 7 trials"),
        ([np.zeros(7)], 0, "block = 0"),
    ],
)
def test_bad_samples_are_named(samples, block, message):
    with pytest.raises(ValueError, match=message):
        bootstrap(lambda *a: a[0].mean(), *samples, rng=np.random.default_rng(0), block=block)


def test_weakest_and_largest():
    estimates = [Estimate(5.0, 1.0, 9.0), Estimate(2.0, 1.5, 2.5), Estimate(3.0, 0.5, 30.0)]
    assert weakest(iter(estimates)) == Estimate(2.0, 0.5, 2.5) and weakest(estimates[:1]) == estimates[0]
    assert largest(iter(estimates)) == Estimate(5.0, 1.5, 30.0)
    assert exact(np.float64(2)) == Estimate(2.0, 2.0, 2.0)


def test_block_mean_is_the_t_interval_of_block_means_and_has_their_standard_error():
    x = np.random.default_rng(60).standard_normal(47)  # blocks of five: the last two are left out
    means = x[:45].reshape(9, 5).mean(axis=1)
    interval = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert block_mean(x, 5) == pytest.approx((means.mean(), interval.low, interval.high))
    np.testing.assert_allclose(standard_error(x[:, None], 5), [stats.sem(means)])
    for estimate in (block_mean, standard_error):
        for block in (24, 0):
            with pytest.raises(ValueError, match=f"block = {block}"):
                estimate(x, block)
    with pytest.raises(ValueError, match="nan is not allowed"):
        block_mean(np.array([1.0, np.nan]))


def test_block_share_covers_a_known_ratio():
    """E(a - b) / E b = 0.5 in nine of ten draws or more, for a t interval of 12 blocks."""
    rng, covered = np.random.default_rng(62), 0
    for _ in range(200):
        b = rng.gamma(4.0, size=120)
        a = 1.5 * b + rng.standard_normal(120)
        value, low, high = block_share(a, b, 10)
        assert value == pytest.approx(relative_difference(a, b))
        covered += low <= 0.5 <= high
    assert 180 <= covered < 200
    with pytest.raises(ValueError, match="block = 0"):
        block_share(a, b, 0)


def test_share_is_clopper_pearson():
    """No success in n: the upper end solves (1 - p)^n = 0.025. The interval of 7 in 10 is tabulated."""
    assert share(np.zeros(20, dtype=bool)) == pytest.approx((0.0, 0.0, 1 - 0.025 ** (1 / 20)))
    assert share(np.ones(20, dtype=bool)) == pytest.approx((1.0, 0.025 ** (1 / 20), 1.0))
    assert share(np.array([True] * 7 + [False] * 3)) == pytest.approx((0.7, 0.34755, 0.93326), abs=1e-5)


def test_slope_of_a_straight_line_fit():
    """Residual variance over n - 2, t quantile 3.1824 at 3 degrees of freedom."""
    x, y = np.arange(5.0), np.array([1.0, 3.1, 4.9, 7.2, 8.8])
    b = ((x - 2) * (y - y.mean())).sum() / 10
    half = 3.182446 * np.sqrt(((y - y.mean() - b * (x - 2)) ** 2).sum() / 3 / 10)
    assert slope(x, y) == pytest.approx((b, b - half, b + half), rel=1e-6)


def test_average_regret_simple_regret_and_first():
    trace = trace_of([[4.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(trace.average_regret, [[4, 3, 3], [1, 1, 1]])
    np.testing.assert_array_equal(simple_regret(trace), [[4, 2, 2], [1, 1, 1]])
    assert trace.first(1).regret.shape == (1, 3) and trace.first(1).seconds.shape == (1, 3)
    assert trace.first(9).regret.shape == (2, 3)


def test_few_pairs_have_a_t_interval_and_many_are_resampled():
    rng = np.random.default_rng(8)
    a, b = rng.normal(3, 1, size=(2, 40))
    few = stats.ttest_rel(a[:19], b[:19]).confidence_interval()
    assert paired_difference(a[:19], b[:19], 5) == pytest.approx(((a - b)[:19].mean(), *few))
    assert estimated_mean(a[:19], 5) == block_mean(a[:19])
    paired, many = paired_difference(a, b, 5), stats.ttest_rel(a, b).confidence_interval()
    assert paired.value == pytest.approx((a - b).mean()) and estimated_mean(a - b, 5) == paired
    assert paired[1:] == pytest.approx(tuple(many), abs=0.1) and paired[1:] != pytest.approx(tuple(many), abs=1e-6)
    assert paired_difference(a[:20], b[:20], 5) != paired_difference(a[:20], b[:20], 6)  # twenty are enough


@pytest.mark.parametrize("n", [15, 200])
def test_a_share_of_the_rival_by_the_delta_method(n):
    rng = np.random.default_rng(10)
    b = rng.uniform(2, 4, size=n)
    a = 1.3 * b + rng.normal(0, 0.2, size=n)
    ratio, found = a.mean() / b.mean(), paired_share(a, b, 5)
    half = stats.t(n - 1).ppf(0.975) * np.std(a - ratio * b, ddof=1) / b.mean() / math.sqrt(n)
    assert found.value == pytest.approx(ratio - 1)
    assert width(found) / 2 == pytest.approx(half, rel=1e-9 if n < 20 else 0.1)
    assert paired_share(1.3 * b, b, 5) == pytest.approx((0.3, 0.3, 0.3))


def test_a_paired_share_resamples_many_trials_and_only_them():
    a, b = np.random.default_rng(11).uniform(1, 3, size=(2, 30))
    resampled = bootstrap(relative_difference, a, b, rng=np.random.default_rng([7, 2]))
    assert paired_share(a, b, 7) == resampled != block_share(a, b)
    assert paired_share(a[:19], b[:19], 7) == block_share(a[:19], b[:19])
    assert paired_share(a, b, 7, block=5) == block_share(a, b, 5) != block_share(a, b)


# Halves


def sampled(n, seed=12):
    return np.random.default_rng(seed).normal(3, 1, n)


def same(one, other):
    return tuple(one) == tuple(other)


@pytest.mark.parametrize("block", [1, 2, 30])
def test_halves_need_twice_the_fewest_trials_or_four_blocks(block):
    n = 2 * FEWEST if block == 1 else 4 * block
    x, resampled = sampled(n), partial(bootstrap, mean, rng=np.random.default_rng(1), block=block)
    estimates = [resampled, partial(block_mean, block=block), lambda a: block_share(a, a + 1, block)]
    for estimate in estimates + [lambda a: share(a > 3)] * (block == 1):
        assert estimate(x).halves is not None and estimate(x[:-1]).halves is None


@pytest.mark.parametrize(("n", "block"), [(53, 1), (20, 5), (23, 5), (47, 5), (90, 20)])
def test_halves_are_the_same_estimate_of_even_and_of_odd_blocks(n, block):
    """Trailing trials that fill no block belong to the half whose turn it is."""
    a, b, second = sampled(n), sampled(n, seed=13), np.arange(n) // block % 2 == 1
    cases = [(partial(block_mean, block=block), [a]), (partial(block_share, block=block), [a, b])]
    for estimate, samples in cases + [(share, [a > 3])] * (block == 1):
        halves = [estimate(*(s[its] for s in samples)) for its in (~second, second)]
        assert all(map(same, estimate(*samples).halves, halves))
        assert not same(*halves)


@pytest.mark.parametrize(("n", "block"), [(39, 1), (40, 1), (61, 1), (19, 5), (20, 5), (48, 5)])
def test_halves_leave_the_interval_of_the_whole_alone(n, block):
    """To the last bit: the same resamples of the same generator, whose children resample the halves."""
    a, b = sampled(n), sampled(n, seed=13)

    def by_hand(a, b, rng):
        of_resamples = []
        for _ in range(20):
            starts = rng.integers(len(a), size=(200, math.ceil(len(a) / block), 1))
            index = ((starts + np.arange(block)) % len(a)).reshape(200, -1)[:, : len(a)]
            of_resamples.append(relative_difference(a[index], b[index]))
        ends = (1 - regret.LEVEL) / 2, (1 + regret.LEVEL) / 2
        return relative_difference(a, b), *np.quantile(np.concatenate(of_resamples), ends)

    found = bootstrap(relative_difference, a, b, rng=np.random.default_rng(14), block=block)
    assert same(found, by_hand(a, b, np.random.default_rng(14)))
    second, streams = np.arange(n) // block % 2 == 1, np.random.default_rng(14).spawn(2)
    pairs = zip(found.halves or (), (~second, second), streams, strict=False)
    assert all(same(half, by_hand(a[its], b[its], rng)) for half, its, rng in pairs)
    assert (found.halves is None) == (n in (39, 19))


def with_halves(n, seed):
    return block_mean(sampled(n, seed))


def test_weakest_and_largest_join_the_halves_too_where_all_have_them():
    one, other = with_halves(40, 15), with_halves(60, 16)
    for join in (weakest, largest):
        for i, half in enumerate(join([one, other]).halves):
            assert same(half, join([one.halves[i], other.halves[i]]))
        assert join([block_mean(sampled(10)), one]).halves is None and join([one, exact(0.0)]).halves is None


def test_a_change_of_the_number_changes_the_halves_too():
    estimate = with_halves(40, 17)
    changed = estimate.changed(lambda x: 1 + 2 * x)
    assert changed == pytest.approx([1 + 2 * x for x in estimate])
    for half, before in zip(changed.halves, estimate.halves, strict=True):
        assert half == pytest.approx([1 + 2 * x for x in before])
    assert exact(1.0).changed(math.exp).halves is None


# Traces, and what is kept of measured data


@st.composite
def played(draw):
    """Arms (n, T), or (T,), of A arms, and what each loses."""
    trials, horizon, n_arms = draw(st.integers(0, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 5))
    before = (trials,) if trials else ()
    gaps = draw(arrays(float, (*before, n_arms), elements=st.floats(0, 9)))
    return draw(arrays(np.int32, (*before, horizon), elements=st.integers(0, n_arms - 1))), gaps


@given(played())
def test_regret_is_what_the_pulled_arms_lose(its):
    arms, gaps = its
    trace = Trace(arms, gaps, *[np.zeros((*arms.shape[:-1], 0))] * 2)
    expected = np.array([[of[arm] for arm in pulled] for pulled, of in zip(*map(np.atleast_2d, its), strict=True)])
    np.testing.assert_array_equal(trace.regret, expected.reshape(arms.shape))
    np.testing.assert_allclose(trace.cumulative_regret, np.cumsum(trace.regret, axis=-1))
    np.testing.assert_allclose(trace.average_regret[..., -1], trace.regret.mean(axis=-1))
    if arms.ndim == 2:
        by = np.arange(2.0, len(arms) + 2)
        np.testing.assert_allclose(trace.scaled(by).regret, trace.regret / by[:, None])


@given(st.integers(1, 3000))
def test_seconds_of_a_round_are_those_of_its_hundredth(horizon):
    """Hundredths of a run are whole rounds that differ by one at most."""
    lengths = np.diff(edges(horizon))
    assert lengths.sum() == horizon and len(lengths) == min(horizon, 100)
    assert lengths.min() >= 1 and np.ptp(lengths) <= 1
    trace = trace_of(np.ones((2, horizon)), np.full((2, len(lengths)), 6.0))
    np.testing.assert_allclose(trace.seconds_a_round, np.tile(6 / lengths, (2, 1)))


@given(st.integers(1, 5000))
def test_the_kept_rounds_are_those_that_figures_and_tables_show(horizon):
    kept, shown = kept_rounds(horizon), log_spaced(horizon)
    assert set(kept) == {*shown, *log_spaced(horizon, 60)}
    assert (np.diff(kept) > 0).all() and kept[0] == 1 and kept[-1] == horizon
    assert len(shown) <= 100 and (horizon < 1000 or len(shown) > 70)
    with pytest.raises(ValueError, match="horizon = 0"):
        log_spaced(0)


@given(st.integers(1, 400), st.integers(1, 4))
def test_regrets_of_measured_data_are_known_in_the_kept_rounds_alone(horizon, trials):
    whole, at = trace_of(np.random.default_rng(horizon).random((trials, horizon))), kept_rounds(horizon)
    kept, known = Regrets(at, whole.cumulative_regret[:, at - 1]), np.isin(np.arange(1, horizon + 1), at)
    for name in ("cumulative_regret", "average_regret"):
        found, full = getattr(kept, name), getattr(whole, name)
        np.testing.assert_array_equal(found, np.where(known, full, np.nan))
