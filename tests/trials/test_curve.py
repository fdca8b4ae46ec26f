"""Curves: regret is what the pulled arms lose, in all rounds or in the kept ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from traces import curve_of, trace_of

from kbrepro.trials.curve import Curve, edges, kept_rounds, simple_regret


@settings(max_examples=20)
@given(
    arrays(np.int32, (3, 8), elements=st.integers(0, 4)),
    arrays(float, (3, 5), elements=st.floats(0, 9)),
)
def test_regret_is_what_the_pulled_arms_lose(arms, gaps):
    curve, by = curve_of(arms, gaps), np.array([2.0, 3.0, 4.0])
    np.testing.assert_array_equal(
        curve.regret, [[gaps[n, arm] for arm in arms[n]] for n in range(3)]
    )
    np.testing.assert_array_equal(curve_of(arms[0], gaps[0]).regret, curve.regret[0])
    np.testing.assert_allclose(curve.cumulative_regret, np.cumsum(curve.regret, axis=-1))
    np.testing.assert_allclose(curve.average_regret[..., -1], curve.regret.mean(axis=-1))
    np.testing.assert_array_equal(simple_regret(curve)[..., -1], curve.regret.min(axis=-1))
    np.testing.assert_allclose(curve.scaled(by).regret, curve.regret / by[:, None])
    np.testing.assert_array_equal(curve.first(1).regret, curve.regret[:1])


@given(st.integers(1, 300))
def test_seconds_of_a_round_are_those_of_its_hundredth(horizon):
    """Hundredths of a run are whole rounds that differ by one at most."""
    lengths = np.diff(edges(horizon))
    assert lengths.sum() == horizon and len(lengths) == min(horizon, 100)
    assert lengths.min() >= 1 and np.ptp(lengths) <= 1
    curve = trace_of(np.ones((2, horizon)), np.full((2, len(lengths)), 6.0))
    np.testing.assert_allclose(curve.seconds_a_round, np.tile(6 / lengths, (2, 1)))


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(1, 4))
def test_without_arms_regret_is_known_in_the_kept_rounds_alone(horizon, trials):
    whole = trace_of(np.random.default_rng(horizon).random((trials, horizon)))
    at = kept_rounds(horizon)
    kept = Curve(at, whole.seconds, whole.band_ratio, totals=whole.cumulative_regret[:, at - 1])
    is_kept = np.isin(np.arange(1, horizon + 1), at)
    halved = kept.first(1).scaled(np.array([2.0]))
    for name in ("cumulative_regret", "average_regret"):
        expected = np.where(is_kept, getattr(whole, name), np.nan)
        np.testing.assert_array_equal(getattr(kept, name), expected)
        np.testing.assert_array_equal(getattr(halved, name), expected[:1] / 2)
    with pytest.raises(ValueError, match="this curve is stored without arms"):
        kept.regret  # noqa: B018
