"""The plan names its data, and plays what interpretations need. Its settings are those of the kept
trials (batch/test_check).
"""

import numpy as np
import pytest

from kbrepro.batch.plans import on_substitute
from kbrepro.claims.judging import Claim, readings_of
from kbrepro.papers.gp_ucb import claims, experiments
from kbrepro.trials.store.settings import unknown


@pytest.fixture(scope="module")
def named():
    return experiments.on_sensors(4, 3, 300, 600, 0.1, 5)


@pytest.fixture(scope="module")
def plan(named):
    """On simulated readings."""
    return {label: on_substitute(planned) for label, planned in named.items()}


def test_data_is_named_and_no_setting_depends_on_it(named, plan, monkeypatch, tmp_path):
    monkeypatch.setenv("KBREPRO_DATA", str(tmp_path))
    for label, planned in named.items():
        job, checksum = planned.job(label), planned.experiment.problem.checksum
        assert not unknown(job.settings) and job.without_data
        assert planned.experiment.measured == checksum != ""
        simulated = plan[label].job(label)
        assert not simulated.without_data and checksum not in str(simulated.settings)


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
