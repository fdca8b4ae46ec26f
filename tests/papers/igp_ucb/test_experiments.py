"""What a plan asks for on sensors: labels by scaling and norm, and several plays of a row."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.problems import Trial
from kbrepro.claims.tables import Table, resampled
from kbrepro.data import SensorData, sets
from kbrepro.papers.igp_ucb import claims
from kbrepro.papers.igp_ucb.experiments import on_sensors, temperature_days
from kbrepro.papers.igp_ucb.measures import OURS, totals_at
from kbrepro.papers.igp_ucb.problems import NORMS, sensor_rows
from kbrepro.trials.simulation import Experiment, Planned, run_trials

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


def test_temperature_is_learned_on_three_sets_of_days_and_tested_on_the_same_minutes():
    """Only the sensors that both sets have, but for the days after the test days."""
    own, later, test = ["2004-02-28", "2004-02-29"], ["2004-03-06"], ["2004-03-04", "2004-03-05"]
    lab = SensorData(RNG.normal(size=(4320, 3)), sets.minutes([*test, *later]), [1, 2, 3], "°C")
    means = SensorData(RNG.normal(size=(96, 2)), sets.minutes(own)[::30], [1, 3], "°C")
    days = temperature_days(lab, means, later, test)
    hour = np.r_[480:540, 1440 + 480 : 1440 + 540]
    _, *others = claims.DAYS["training days"].values()
    assert [*days] == ["temperature", *(names["*"] for names in others)]
    for label, (train, tested) in days.items():
        substitute = label.endswith("substitute days")
        expected = lab.readings[hour] if substitute else lab.readings[hour][:, [0, 2]]
        np.testing.assert_array_equal(tested, expected)
        if substitute:
            np.testing.assert_array_equal(train, lab.readings[2880 + 480 : 2880 + 540])
        else:
            of_day = [16, 17, 48 + 16, 48 + 17] if label.endswith("9 am") else np.arange(96)
            np.testing.assert_array_equal(train, means.readings[of_day])


def test_totals_at_some_rounds_are_those_of_the_whole_curves():
    """R_t summed from the regret of each round, to the seven digits that are kept."""
    source, policies = on_sensors("light", TRAIN, TEST, 0.1, ())["light"]
    experiment = Experiment(source, policies, 30)
    plain = run_trials(experiment, 2, 5)
    measured = replace(experiment, measured="checksum")
    played = Planned(partial(totals_at, measured, [3, 30]), 2, 5).play("light")
    assert [*played] == [*policies]
    for rule, curve in played.items():
        assert curve.at.tolist() == [3, 30]
        totals = plain[rule].regret.cumsum(axis=1)[:, [2, 29]]
        np.testing.assert_allclose(curve.totals, totals, rtol=1e-6, atol=1e-6)
