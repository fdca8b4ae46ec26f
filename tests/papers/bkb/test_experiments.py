"""What is read off runs for Theorem 1 and what stands around it, against brute force and cases made by hand."""

from functools import partial

import numpy as np
import pytest
from traces import trace_of

from kbrepro import information
from kbrepro.confidence import Constant
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb import experiments
from kbrepro.papers.bkb.experiments import Followed, Ratios
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.papers.bkb.starvation import shrinking_window, uniform_pulls
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, RKHSFunction, Trial
from kbrepro.simulation import Experiment

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
SOURCE = GPDraw(KERNEL, POINTS, NOISE)


def followed(trial, pulls):
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm in pulls:
        exact.update(arm, 0.0)
    return exact


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
def test_variance_ratios(form):
    qbars, trial = [1.0, 4.0, 1e9], Trial(6, 0)
    found, dimension, smallest = experiments.variance_ratios(SOURCE, uniform_pulls, 80, qbars, form, trial)
    everything = found[1e9]
    np.testing.assert_allclose([everything.low, everything.high], 1, rtol=1e-5)
    np.testing.assert_array_equal(everything.members, np.arange(1, 81))
    np.testing.assert_allclose(everything.expected, everything.members)
    assert found[1.0].high.max() > 1.5 and (found[4.0].distinct <= found[4.0].members).all()
    assert (found[4.0].low <= found[4.0].high).all()
    pulls = uniform_pulls(trial.rng("run"), POINTS, 80)
    exact = followed(trial, pulls)
    assert dimension[-1] == pytest.approx(information.effective_dimension(KERNEL, POINTS[pulls], NOISE), rel=1e-8)
    assert smallest[-1] == pytest.approx(exact.variance[np.unique(pulls)].min() / NOISE, rel=1e-8)


def test_members_are_near_the_sum_of_their_probabilities():
    """A mean over 80 steps of a sum of independent draws: within a tenth."""
    ratios = experiments.variance_ratios(SOURCE, uniform_pulls, 80, [3.0], BudgetedPosterior, Trial(6, 1)).by_qbar[3.0]
    assert ratios.members.mean() == pytest.approx(ratios.expected.mean(), rel=0.1)
    assert (ratios.members[20:] != ratios.expected[20:]).any() and ratios.expected[-1] < 60  # not every pull
    first = experiments.variance_ratios(SOURCE, uniform_pulls, 1, [1.0], BudgetedPosterior, Trial(6, 1)).by_qbar[1.0]
    assert first.expected.tolist() == [1.0]  # probabilities are those from before the newest observation: 0.99 after it


def ratios(low, high, members=(10, 20), expected=(20, 20)):
    return Ratios(*map(np.array, (low, high, members, members, expected)))


def test_bad_steps_leave_the_interval_on_either_side():
    its = ratios([0.34, 0.33, 0.5, 0.9], [1.0, 1.0, 3.1, 2.9])
    assert experiments.bad_steps(its, 3.0).tolist() == [False, True, True, False]


def test_dictionaries_by_hand():
    runs = [
        Followed({2.0: ratios([0.5, 0.1], [1, 1])}, np.array([3.0, 5.0]), np.ones(2)),
        Followed({2.0: ratios([0.5, 0.5], [1, 1], members=(10, 30))}, np.array([3.0, 5.0]), np.ones(2)),
    ]
    its = experiments.dictionaries(runs, 2.0, 0.5, alpha=3.0)
    assert its.bad.tolist() == [0.5, 0.0]
    assert its.size.tolist() == [20 / 10, 30 / 10]
    assert its.close.tolist() == [(0.5 + 1) / 2, (0.5 + 1.5) / 2]
    assert its.bound == pytest.approx(3 * 3 * 3.0 * 2 * 5 / 30)  # 3 (1 + 1/lambda) alpha qbar d_eff over the size


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
    replaced = experiments.replacement_of_log_det(np.stack([chain, 2 * chain]))
    assert replaced.shape == (2, 24)
    np.testing.assert_allclose(replaced[:, -1], expected[0] * np.log(25) / expected[2])
    assert replaced[0, 0] == pytest.approx(chain[1, 0] * np.log(2) / chain[1, 2])


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


def trace(regret):
    return trace_of(regret)


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_the_exponent_is_that_of_the_mean_regret_over_the_last_decade(power):
    t = np.arange(1.0, 1001)
    rise = np.diff(np.concatenate([[0], t**power]))
    rise[:100] = rise[:100].mean()  # what happened before leaves only its sum
    few, many = (experiments.last_decade(trace([level * rise, 7 * level * rise])) for level in (1, 5))
    np.testing.assert_allclose(few[1], [100**power, 7 * 100**power])
    assert experiments.exponent(*few) == pytest.approx(power)
    flat = trace(np.eye(1, 1000) * np.ones((2, 1)))
    assert experiments.exponent(*many, *experiments.last_decade(flat)) == pytest.approx(power)
    one = trace([rise, np.eye(1, 1000)[0]])  # the mean is that of regrets, not of exponents
    assert experiments.exponent(*experiments.last_decade(one)) == pytest.approx(
        np.log10((1000**power + 1) / (100**power + 1))
    )


def test_exponents_of_resamples_are_those_row_by_row():
    final, tenth, other_final, other_tenth = np.random.default_rng(0).uniform(1, 9, (4, 5, 7))
    slopes = experiments.exponent(final, tenth)
    gaps = experiments.exponent(final, tenth, other_final, other_tenth)
    for one in range(5):
        its, others = (np.log10(sum(a[one]) / sum(b[one])) for a, b in ((final, tenth), (other_final, other_tenth)))
        assert slopes[one] == pytest.approx(its) and gaps[one] == pytest.approx(its - others)


def test_sizes_are_those_after_each_pull():
    source = RKHSFunction(SquaredExponential(0.3), grid(40), NOISE, norm=2.0)
    rule = partial(BKB, width=Constant(2.0), qbar=1e9)
    its = experiments.sizes(Experiment(source, {"BKB": rule}, 12), Trial(1, 0))["BKB"]
    assert its.members.tolist() == list(range(1, 13)) and len(its.arms) == 12
    few = experiments.sizes(Experiment(source, {"BKB": partial(rule, qbar=1.0)}, 60), Trial(1, 0))["BKB"]
    assert few.members[-1] < 30 and len(np.unique(few.arms)) > 3


def test_the_largest_ratio_leaves_out_the_first_rounds():
    ratios = np.full((2, 20), 0.1)
    ratios[0, 3], ratios[1, 9] = 5.0, 0.4
    its = trace(ratios)._replace(band_ratio=ratios)
    assert experiments.largest_ratio(its).tolist() == [0.1, 0.4]
    assert experiments.largest_ratio(its, first=1).tolist() == [5.0, 0.4]
