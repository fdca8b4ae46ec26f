"""Runs for Theorem 1 and what stands around it, against brute force and cases made by hand."""

from functools import partial

import numpy as np
import pytest

from kbrepro import information
from kbrepro.confidence import Constant
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb import experiments
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.papers.bkb.starvation import shrinking_window, uniform_pulls
from kbrepro.problems import GPDraw, RKHSFunction, Trial
from kbrepro.simulation import run

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
SOURCE = GPDraw(KERNEL, POINTS, NOISE)


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
def test_variance_ratios(form):
    qbars, trial = [1.0, 4.0, 1e9], Trial(6, 0)
    found, dimension = experiments.variance_ratios(SOURCE, uniform_pulls, 80, qbars, form, trial)
    everything = found[1e9]
    np.testing.assert_allclose([everything.low, everything.high], 1, rtol=1e-5)
    np.testing.assert_array_equal(everything.members, np.arange(1, 81))
    np.testing.assert_allclose(everything.expected, everything.members)
    assert found[1.0].high.max() > 1.5 and (found[4.0].low <= found[4.0].high).all()
    pulls = uniform_pulls(trial.rng("run"), POINTS, 80)
    assert dimension[-1] == pytest.approx(information.effective_dimension(KERNEL, POINTS[pulls], NOISE), rel=1e-8)


def test_members_are_near_the_sum_of_their_probabilities():
    """A mean over 80 steps of a sum of independent draws: within a tenth."""
    ratios = experiments.variance_ratios(SOURCE, uniform_pulls, 80, [3.0], BudgetedPosterior, Trial(6, 1)).by_qbar[3.0]
    assert ratios.members.mean() == pytest.approx(ratios.expected.mean(), rel=0.1)
    assert (ratios.members[20:] != ratios.expected[20:]).any() and ratios.expected[-1] < 60  # not every pull
    first = experiments.variance_ratios(SOURCE, uniform_pulls, 1, [1.0], BudgetedPosterior, Trial(6, 1)).by_qbar[1.0]
    assert first.expected.tolist() == [1.0]  # probabilities are those from before the newest observation: 0.99 after it


def test_a_uniform_dictionary_of_equal_size_is_worse_where_pulls_repeat():
    found = [experiments.equal_size(SOURCE, shrinking_window, 150, 4.0, Trial(8, n)) for n in range(5)]
    ours, theirs = np.array(found).T
    assert (ours >= 1 - 1e-9).all() and np.median(theirs / ours) > 2
    same = experiments.equal_size(SOURCE, shrinking_window, 40, 1e9, Trial(8, 0))
    assert same == pytest.approx((1.0, 1.0), abs=1e-5)  # every pull in both


def test_the_chain_of_proposition_5():
    kernel, points = Matern(0.3, nu=1.5), grid(6, 2)
    trial = Trial(7, 0)
    chain = experiments.dimension_chain(GPDraw(kernel, points, NOISE), uniform_pulls, 25, trial)
    X = points[uniform_pulls(trial.rng("run"), points, 25)]
    K = kernel(X, X)
    own = 0.0
    for t in range(25):
        part = K[: t + 1, : t + 1] / NOISE
        own += (part @ np.linalg.inv(part + np.eye(t + 1)))[t, t]
    dimension = information.effective_dimension(kernel, X, NOISE)
    norm = np.linalg.norm(K, 2) / NOISE
    expected = [dimension, own, np.linalg.slogdet(np.eye(25) + K / NOISE)[1], dimension * (1 + np.log(norm + 1))]
    np.testing.assert_allclose(chain[-1], expected, rtol=1e-8)
    assert (np.diff(chain, axis=1) >= -1e-9).all()


def test_violations_are_none_where_the_results_hold():
    its = experiments.violations(SOURCE, uniform_pulls, 150, 1.5, Trial(9, 0))
    assert its.variance < 1e-9 and its.determinant < 1e-9
    assert 0 < its.low < 1 - 1e-3 < its.high  # something is lost
    whole = experiments.violations(SOURCE, uniform_pulls, 60, 1e9, Trial(9, 0))
    assert (whole.low, whole.high) == pytest.approx((1, 1), abs=1e-5)


def test_the_operators_by_hand():
    """Two independent arms pulled 3 and 2 times, only the first in the dictionary: lambda = 0.5."""
    sketch = type("Sketch", (), {"inducing": np.array([0])})
    pulls = np.array([0, 0, 1, 0, 1])
    K = np.equal.outer(pulls, pulls).astype(float)
    eigenvalues = experiments._operators(K, pulls, sketch, 0.5)
    np.testing.assert_allclose(eigenvalues, [0.5 / 2.5, 1.0])


def test_the_dictionary_is_that_after_the_last_pull():
    source = RKHSFunction(SquaredExponential(0.3), grid(40), NOISE, norm=2.0)
    rule, trial = partial(BKB, width=Constant(2.0), qbar=1e9), Trial(1, 0)
    problem = source(trial)
    arms = run(rule(problem.model, 12), problem, 12, trial.rng("run")).arms
    d_eff = information.effective_dimension(source.kernel, source.points[arms], NOISE)
    assert experiments.grown(source, rule, 12, trial) == {"members": 12, "d_eff": pytest.approx(d_eff)}
    assert experiments.grown(source, partial(rule, qbar=1.0), 60, trial)["members"] < 30
