"""What is recorded of approximate posteriors, against what it is said to be."""

from functools import partial

import numpy as np
import pytest

from kbrepro import information
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb import experiments
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Trial

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
SOURCE, HALF = GPDraw(KERNEL, POINTS, NOISE), partial(experiments.uniform_pulls, upto=0.5)
FIGURE = SOURCE, HALF, [5, 40], [2.0, 1e9], {"RFF": [50], "QFF": [100]}  # at, qbars, n_features


def test_uniform_pulls_stay_in_their_part():
    pulls = HALF(np.random.default_rng(1), POINTS, 3000)
    assert POINTS[pulls, 0].max() <= 0.5 and len(np.unique(pulls)) == 60
    everywhere = experiments.uniform_pulls(np.random.default_rng(1), POINTS, 3000)
    assert len(np.unique(everywhere)) == 120


def test_the_window_shrinks_around_one_arm():
    pulls = experiments.shrinking_window(np.random.default_rng(2), grid(30, 2), 2000, last=0.02)
    spread = [grid(30, 2)[part].std(axis=0).mean() for part in np.array_split(pulls, 4)]
    assert (np.diff(spread) < 0).all() and spread[-1] < 0.3 * spread[0]
    assert len(np.unique(pulls[-20:])) <= 20  # 2 % of 900 arms are 18


def test_snapshots_hold_every_posterior_at_every_time():
    problem, seen = experiments.snapshots(*FIGURE, Trial(3, 0))
    names = {("exact", ""), ("SoR", ""), ("DTC, uniform", ""), ("RFF", "m=|S|"), ("RFF", "m=50")}
    names |= {("QFF", "m=|S|"), ("QFF", "m=100")}
    names |= {(form, q) for form in ("BKB", "BKB, streaming") for q in ("qbar=2", "qbar=1e+09")}
    assert set(seen) == {(*name, t) for name in names for t in (5, 40)}
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm in HALF(Trial(3, 0).rng("run"), POINTS, 40):
        exact.update(arm, 0.0)
    view = seen["exact", "", 40]
    np.testing.assert_allclose(view.sd, exact.sd)
    for name in (("BKB", "qbar=1e+09"), ("BKB, streaming", "qbar=1e+09"), ("QFF", "m=100")):
        np.testing.assert_allclose(seen[*name, 40].sd, view.sd, rtol=1e-4)
        np.testing.assert_allclose(seen[*name, 40].mean, view.mean, atol=1e-4)
    assert np.abs(problem.expected_reward - view.mean)[:60].max() < 0.5  # it has learned from the noisy rewards


def test_rivals_use_the_dictionary_of_bkb_at_the_first_qbar():
    _, seen = experiments.snapshots(*FIGURE, Trial(4, 1))
    for t in (5, 40):
        bkb, sor = seen["BKB", "qbar=2", t], seen["SoR", "", t]
        assert (sor.sd <= bkb.sd + 1e-12).all() and sor.n_features == bkb.n_features
        np.testing.assert_allclose(sor.mean, bkb.mean, atol=1e-9)  # SoR and DTC differ in the variance only
        even = bkb.n_members + bkb.n_members % 2
        assert seen["RFF", "m=|S|", t].n_features == seen["QFF", "m=|S|", t].n_features == even
        assert seen["DTC, uniform", "", t].n_members == bkb.n_members


def test_starvation_is_measured_on_the_unseen_half():
    found = experiments.starvation(*FIGURE, 0.5, Trial(5, 0))
    problem, seen = experiments.snapshots(*FIGURE, Trial(5, 0))
    exact, sor = seen["exact", "", 40], seen["SoR", "", 40]
    over, under, coverage, n_features, _ = found["SoR", "", 40]
    assert over == pytest.approx(((exact.sd / sor.sd) ** 2).max())
    assert under == pytest.approx(((sor.sd / exact.sd) ** 2).max())
    far = POINTS[:, 0] > 0.5
    assert coverage == np.mean(np.abs(problem.expected_reward - sor.mean)[far] <= 3 * sor.sd[far])
    assert (over > 100 and coverage < 1) and n_features == sor.n_features
    assert found["exact", "", 40][:3] == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("form", [BudgetedPosterior, StreamingPosterior])
def test_variance_ratios(form):
    design, qbars, trial = experiments.uniform_pulls, [1.0, 4.0, 1e9], Trial(6, 0)
    found, dimension, smallest = experiments.variance_ratios(SOURCE, design, 80, qbars, form, trial)
    np.testing.assert_allclose(found[1e9][:, :2], 1, rtol=1e-5)
    np.testing.assert_array_equal(found[1e9][:, 2], np.arange(1, 81))
    assert found[1.0][:, 1].max() > 1.5 and (found[4.0][:, 3] <= found[4.0][:, 2]).all()
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    pulls = design(trial.rng("run"), POINTS, 80)
    for arm in pulls:
        exact.update(arm, 0.0)
    assert dimension[-1] == pytest.approx(information.effective_dimension(KERNEL, POINTS[pulls], NOISE), rel=1e-8)
    assert smallest[-1] == pytest.approx(exact.variance[np.unique(pulls)].min() / NOISE, rel=1e-8)


def test_the_chain_of_proposition_5():
    kernel, points = Matern(0.3, nu=1.5), grid(6, 2)
    design, trial = experiments.uniform_pulls, Trial(7, 0)
    chain = experiments.dimension_chain(GPDraw(kernel, points, NOISE), design, 25, trial)
    X = points[design(trial.rng("run"), points, 25)]
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
