"""What a plan asks for on sensors: labels by scaling and norm, and several plays of a row."""

import numpy as np
import pytest

from kbrepro.bandits.problems import Trial
from kbrepro.claims.tables import Table, resampled
from kbrepro.papers.igp_ucb.experiments import on_sensors
from kbrepro.papers.igp_ucb.measures import OURS
from kbrepro.papers.igp_ucb.problems import NORMS, sensor_rows
from kbrepro.trials.simulation import Experiment, run_trials

RNG = np.random.default_rng(4)
TRAIN, TEST = RNG.normal(20, 3, (30, 4)), RNG.normal(20, 3, (2, 4))


@pytest.mark.parametrize(
    ("standardised", "base"), [(False, "light"), (True, "light, standardised")]
)
def test_every_norm_has_a_label_of_each_scaling(standardised, base):
    """Margins of EI and PI are shares of the prior's mean variance, 1 if standardised."""
    by_label = on_sensors("light", TRAIN, TEST, 0.1, standardised=standardised)
    assert list(by_label) == [base, *(f"{base}, B {kind}" for kind in NORMS[1:])]
    for (source, policies), kind in zip(by_label.values(), NORMS, strict=True):
        expected = sensor_rows(TRAIN, TEST, kind, standardised=standardised)(Trial(0, 1))
        problem = source(Trial(0, 1))
        assert problem.model.norm == expected.model.norm
        np.testing.assert_array_equal(problem.expected_reward, expected.expected_reward)
        assert (tuple(policies) == OURS) == (kind != "smoothed")
    sd = 1 if standardised else np.sqrt(TRAIN.var(axis=0, ddof=1).mean())
    margin = by_label[base][1]["EI, margin 0.1"].keywords["margin"]
    assert margin == pytest.approx(0.1 * sd)


def test_plays_of_a_row_come_after_each_other_with_noise_and_ties_of_their_own():
    """As tables of claims draw them."""
    source, policies = on_sensors("light", TRAIN, np.repeat(TEST, 4, axis=0), 0.1, ())["light"]
    for n in range(8):
        reward = source(Trial(5, n)).expected_reward
        np.testing.assert_array_equal(reward, TEST[n // 4] - TRAIN.mean(axis=0))
    drawn = resampled(Table("Fig. 4", rows=2), np.random.default_rng(0), 50)(8)
    np.testing.assert_array_equal(drawn // 4, np.tile(np.repeat([0, 1], 4), (50, 1)))
    curves = run_trials(Experiment(source, policies, 12), len(source.rewards), 5)
    for rule in OURS:
        assert len(np.unique(curves[rule].arms[:4], axis=0)) > 1
