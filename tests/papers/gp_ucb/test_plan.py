"""The plan of Fig. 5b: which days and sensors are learned and tested, how often, and with
which noise.
"""

import numpy as np
import pandas as pd
import pytest

from kbrepro.bandits.problems import Trial
from kbrepro.batch.plans import on_substitute
from kbrepro.claims.judging import Claim, readings_of
from kbrepro.data import sets, store
from kbrepro.papers.gp_ucb import claims, experiments
from kbrepro.trials.store.settings import unknown

#: Rows of the lab that are tested: one in so many, under other choices one in so many.
EVERY, OTHER_EVERY = 300, 600


@pytest.fixture(scope="module")
def named():
    return experiments.on_sensors(4, 3, EVERY, OTHER_EVERY, 0.1, 5)


@pytest.fixture(scope="module")
def plan(named):
    """On simulated readings."""
    return {label: on_substitute(planned) for label, planned in named.items()}


@pytest.fixture(scope="module")
def minutes():
    return store.simulated("temperature", store.DAYS, sets.MOTES).readings


def problem_of(plan, label, number):
    return plan[label].experiment.problem(Trial(5, number))


def test_data_is_named_and_no_setting_depends_on_it(named, plan, monkeypatch, tmp_path):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    for label, planned in named.items():
        job, checksum = planned.job(label), planned.experiment.problem.checksum
        assert not unknown(job.settings) and job.without_data
        assert planned.experiment.measured == checksum != ""
        simulated = plan[label].job(label)
        assert not simulated.without_data and checksum not in str(simulated.settings)


@pytest.mark.parametrize("window", range(6))
@pytest.mark.parametrize(("more", "motes"), [("", sets.COVERED), (", 41 motes", sets.HALF_HOURLY)])
def test_a_window_learns_from_two_thirds_of_its_five_days_and_is_tested_on_the_rest(
    plan, window, more, motes
):
    label = f"Fig. 5b, half hours, {experiments.WINDOWS[window]}{more}"
    days = store.simulated("half hours", sets.CALENDAR[:30], motes).readings
    first = 240 * window
    learned, tested = days[first : first + 160], days[first + 160 : first + 240]
    assert plan[label].trials == 3 * 80 and plan[label].experiment.horizon == 46
    problem = problem_of(plan, label, 3 * 7 + 2)
    np.testing.assert_allclose(problem.expected_reward, tested[7] - learned.mean(axis=0))
    np.testing.assert_allclose(problem.model.kernel.covariance, np.cov(learned.T))
    assert problem.model.noise_variance == 0.5
    begins = pd.Timestamp("2004-02-28") + pd.Timedelta(days=5 * window)
    assert experiments.WINDOWS[window].split()[0] == str(begins.day)
    if not more:
        share = problem_of(plan, f"{label}, noise 5 %", 0)
        assert share.model.noise_variance == pytest.approx(0.05 * np.cov(learned.T).trace() / 35)


def test_the_last_third_has_four_plays_a_row_and_other_choices_fewer_rows(plan, minutes):
    trials = {label: planned.trials for label, planned in plan.items() if "third" in label}
    last = "Fig. 5b, last third"
    assert trials == {
        "Fig. 5b, first third": 4,
        "Fig. 5b, second third": 4,
        last: 4 * 8,
        f"{last}, curves": 4,
        f"{last}, noise 5 %": 2 * 4,
        f"{last}, mean not removed": 4,
    }
    learned = minutes[:4800]
    mean = learned.mean(axis=0)
    twelfth = minutes[4800 + 2 * EVERY]
    np.testing.assert_allclose(problem_of(plan, last, 11).expected_reward, twelfth - mean)
    share = problem_of(plan, f"{last}, noise 5 %", 3)
    np.testing.assert_allclose(share.expected_reward, minutes[4800 + OTHER_EVERY] - mean)
    assert share.model.noise_variance == pytest.approx(0.05 * learned.var(axis=0, ddof=1).mean())
    uncentred = problem_of(plan, f"{last}, mean not removed", 1)
    np.testing.assert_allclose(uncentred.expected_reward, minutes[4800 + OTHER_EVERY])
    second = problem_of(plan, "Fig. 5b, second third", 0)
    others = np.concatenate([minutes[:2400], minutes[4800:]])
    np.testing.assert_allclose(second.expected_reward, minutes[2400] - others.mean(axis=0))


def test_functions_vary_over_their_interval_as_the_clause_on_the_kernel_says():
    plan = experiments.on_functions(200, 10, 4, 3, 0.1, 5)
    for label, expected in (("Fig. 5a", 0.58), ("Fig. 5a, kernel as printed", 0.27)):
        source = plan[label].experiment.problem
        x = source.points
        np.testing.assert_allclose(
            source.kernel(x[:1], x[-1:]).item(),
            np.exp(-12.5) if label == "Fig. 5a" else np.exp(-2.5),
        )
        # the mean of (f - its mean over [0, 1])^2, by the covariance
        assert 1 - source.kernel(x, x).mean() == pytest.approx(expected, abs=0.007)
    noisier = plan["Fig. 5a, noise 5 %"].experiment.problem
    assert noisier.noise_variance == 0.05 and plan["Fig. 5a"].trials == 4


class Planned:
    """Kept trials of a plan: as many ones as it plays, of the rules that it plays."""

    def __init__(self, plan):
        self.plan = plan

    def column(self, label, rule, statistic):
        if rule not in self.plan[label].experiment.policies:
            raise KeyError(rule)
        return np.ones(self.plan[label].trials)

    def loaded(self, load):
        return {("mean only", "stuck"): np.ones(90)}


def test_every_interpretation_and_every_pair_of_those_that_count_is_planned(plan):
    whole = plan | experiments.on_functions(20, 10, 90, 40, 0.1, 5)
    fig5b = claims.fig5b.under(Planned(whole), {"incumbent": "noisy reward", "margin of MPI": "0"})
    assert fig5b.column("MPI", "total").shape == (32,)
    assert fig5b.names["MPI"] == ("*", "MPI, noisy incumbent, margin 0")
    sentences = [sentence for sentence in vars(claims).values() if isinstance(sentence, Claim)]
    for sentence in sentences:
        _, not_played = readings_of(sentence, Planned(whole))
        assert not_played == []
    assert len(sentences) == 13
