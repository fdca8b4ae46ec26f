"""What is timed is the real thing; the seconds themselves are nobody's promise."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from kbrepro.confidence import Constant, SelfNormalised
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import costs
from kbrepro.papers.bkb.policy import BKB
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior
from kbrepro.problems import RKHSFunction, Trial

KERNEL = SquaredExponential(0.2)


@pytest.mark.parametrize("counted", [False, True])
def test_what_is_refitted_is_the_exact_posterior(counted):
    rng = np.random.default_rng(1)
    pulls, observations = rng.integers(0, 30, 90), rng.standard_normal(90)
    exact = RowPosterior(KERNEL, grid(30), 0.01)
    for arm, observation in zip(pulls, observations, strict=True):
        exact.update(arm, observation)
    mean, variance = costs.refitted(KERNEL, grid(30), 0.01, pulls, observations, counted)
    np.testing.assert_allclose(mean, exact.mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(variance, exact.variance, rtol=0, atol=1e-9)


def measured(points, at):
    source, bkb = RKHSFunction(KERNEL, points, 0.01, norm=2.0), partial(BKB, width=SelfNormalised(0.1), qbar=2.0)
    found = costs.cost_of_steps(source, bkb, 40, at, Trial(2, 0))
    return found["seconds"], found["sizes"]


def test_every_method_is_timed_where_it_should_be():
    seconds, sizes = measured(grid(8, 2), [10, 40])
    assert set(seconds) == {"BKB", "exact, rows", "exact, covariance", "exact, refit", "exact, counts"}
    for name in seconds:
        timed = seconds.index[seconds[name] > 0]
        assert timed.tolist() == ([10, 40] if name in ("exact, refit", "exact, counts") else list(range(1, 41)))
    members, features, distinct = (sizes[name] for name in ("members", "features", "distinct"))
    assert (features <= np.minimum(members, distinct)).all()
    assert (members <= sizes.index).all() and (np.diff(distinct) >= 0).all()
    assert members[1] == features[1] == distinct[1] == 1  # sizes are those after the step's pull
    assert sizes["d_eff"][1] == pytest.approx(1 / 1.01)  # one pull: k / (k + lambda)


def test_a_covariance_of_many_arms_is_not_timed():
    seconds, _ = measured(grid(51, 2), [40])
    assert "exact, covariance" not in seconds


def test_bad_rounds():
    with pytest.raises(ValueError, match=r"at = \[\] is not allowed"):
        measured(grid(8, 2), [])


def test_whole_runs_are_timed_on_their_own_pulls():
    source = RKHSFunction(KERNEL, grid(20), 0.01, norm=2.0)
    policies = {"short": partial(UCB, width=Constant(2.0)), "BKB": partial(BKB, width=Constant(2.0), qbar=2.0)}
    found = costs.seconds_of_runs(source, policies, 30, Trial(1, 0))["seconds"]
    assert set(found) == set(policies) and 0 < found["short"] < found["BKB"]


# What is read off the seconds


def test_typical_is_the_median_of_the_neighbours_that_were_timed():
    seconds = np.arange(1.0, 101)
    assert costs.typical(seconds, 50) == 50 and costs.typical(seconds, 1) == 6  # 1 .. 11
    seconds[:] = np.nan
    seconds[[48, 52]] = 1.0, 3.0
    assert costs.typical(seconds, 50) == 2.0 and np.isnan(costs.typical(seconds, 90))


def test_milliseconds_at_the_rounds_that_were_played():
    seconds = pd.DataFrame({"a": np.full(30, 0.002), "b": np.arange(30) / 1000}, pd.RangeIndex(1, 31, name="t"))
    found = costs.milliseconds(seconds, [5, 20, 40])
    assert found.index.tolist() == [5, 20] and found["a"].tolist() == [2.0, 2.0]
    assert found["b"].tolist() == [7.0, 19.0]  # steps 1 .. 15 and 10 .. 30


@pytest.mark.parametrize(
    ("ours", "theirs", "first"),
    [([1, 1, 1], [2, 2, 2], 10), ([1, 3, 1], [2, 2, 2], 30), ([3, 1, 1], [2, 2, 2], 20), ([1, 1, 2], [2, 2, 2], 99)],
)
def test_cheaper_from_the_first_round_that_it_stays_so(ours, theirs, first):
    t = pd.Index([10, 20, 30])
    assert costs.cheaper_from(pd.Series(ours, t), pd.Series(theirs, t), never=99) == first


def test_a_straight_line_crosses_the_median_of_late_steps():
    t = np.arange(1.0, 101)
    ours = np.where(t <= 20, 100.0, np.where(t <= 60, 30.0, 50.0))  # the first fifth does not count
    assert costs.crossing(2.0 + 0.1 * t, ours) == pytest.approx(380)
    assert costs.crossing(50.0 - 0.1 * t, ours) == np.inf
