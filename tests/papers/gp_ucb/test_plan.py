"""What interpretations need is planned. Settings are as those of kept trials (batch/test_check)."""

import numpy as np
import pytest

from kbrepro.batch.plans import on_substitute
from kbrepro.claims.judging import Claim, readings_of
from kbrepro.papers.gp_ucb import claims, experiments


@pytest.fixture(scope="module")
def plan():
    """On simulated readings."""
    named = experiments.on_sensors(4, 3, 300, 600, 0.1, 5)
    return {label: on_substitute(planned) for label, planned in named.items()}


def test_functions_vary_over_their_interval_as_the_clause_on_the_kernel_says():
    plan = experiments.on_functions(200, 10, 4, 3, 0.1, 5)
    for label, expected in (("Fig. 5a", 0.58), ("Fig. 5a, kernel as printed", 0.27)):
        source = plan[label].experiment.problem
        K = source.kernel(source.points, source.points)
        # the mean of (f - its mean over [0, 1])^2, by the covariance
        assert 1 - K.mean() == pytest.approx(expected, abs=0.007)


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
