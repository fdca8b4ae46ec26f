"""What is timed is the real thing; the seconds themselves are nobody's promise. Operations by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from kbrepro.confidence import AbbasiYadkori2011, Constant
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import costs
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior
from kbrepro.problems import RKHSFunction, Trial

KERNEL = SquaredExponential(0.2)
SKETCHED = partial(BKB, width=AbbasiYadkori2011(0.1), qbar=2.0)


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


def test_every_method_is_timed_where_it_should_be_and_sizes_are_those_after_the_pull():
    source = RKHSFunction(KERNEL, grid(8, 2), 0.01, norm=2.0)
    seconds, sizes = costs.cost_of_steps(source, SKETCHED, 40, [10, 40], Trial(2, 0)).values()
    assert set(seconds) == {"BKB", "exact, rows", "exact, covariance", "exact, refit", "exact, counts"}
    for name in seconds:
        timed = seconds.index[seconds[name] > 0]
        assert timed.tolist() == ([10, 40] if name in ("exact, refit", "exact, counts") else list(range(1, 41)))
    members, features, distinct = (sizes[name] for name in ("members", "features", "distinct"))
    assert (features <= np.minimum(members, distinct)).all() and (members <= sizes.index).all()
    assert (np.diff(distinct) >= 0).all() and members[1] == features[1] == distinct[1] == 1
    assert sizes["d_eff"][1] == pytest.approx(1 / 1.01)  # one pull: k / (k + lambda)
    pd.testing.assert_frame_equal(costs.sizes_of_steps(source, SKETCHED, 40, Trial(2, 0)), sizes)
    many = RKHSFunction(KERNEL, grid(51, 2), 0.01, norm=2.0)
    assert "exact, covariance" not in costs.cost_of_steps(many, SKETCHED, 3, [3], Trial(2, 0))["seconds"]


def test_operations_of_whole_runs_are_those_of_their_own_pulls():
    source, three = RKHSFunction(KERNEL, grid(20), 0.01, norm=2.0), Constant(3.0)
    policies = {"exact": partial(UCB, width=three), "BKB": partial(BKB, width=three, qbar=2.0)}
    policies["mini"] = partial(MiniUCB, width=three, squared_c=2.0)
    seconds, spent = costs.cost_of_runs(source, policies, 30, Trial(1, 0)).values()
    assert seconds.keys() == spent.keys() == policies.keys() and min(seconds.values()) > 0
    assert spent["exact"] == 20 * 30 * 31 / 2 and 20 < spent["mini"] < 0.5 * spent["exact"]
    sizes = costs.sizes_of_steps(source, policies["BKB"], 30, Trial(1, 0))
    assert spent["BKB"] == ((20 + sizes["distinct"]) * sizes["features"] ** 2).sum()


def test_operations_of_a_step_by_hand():
    """8 arms, after 5 pulls of 3 distinct ones, with 2 features."""
    sizes = pd.DataFrame({"features": 2, "distinct": 3}, pd.RangeIndex(1, 11, name="t"))
    by_hand = {"BKB": (8 + 3) * 2**2, "exact, rows": 8 * 5, "exact, covariance": 8**2}
    by_hand |= {"exact, refit": 5**3 + 8 * 5**2, "exact, counts": 3**3 + 8 * 3**2}
    assert costs.operations(sizes, 8).loc[5].to_dict() == by_hand
