"""Figure 1: designs, snapshots and the table of starvation, against what they are said to be."""

from functools import partial

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import starvation
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Trial

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
SOURCE, HALF = GPDraw(KERNEL, POINTS, NOISE), partial(starvation.uniform_pulls, upto=0.5)
FIGURE = SOURCE, HALF, [5, 40], [2.0, 1e9], {"RFF": [50], "QFF": [100]}  # at, qbars, n_features


def test_uniform_pulls_stay_in_their_part():
    pulls = HALF(np.random.default_rng(1), POINTS, 3000)
    assert POINTS[pulls, 0].max() <= 0.5 and len(np.unique(pulls)) == 60
    window = starvation.uniform_pulls(np.random.default_rng(1), POINTS, 3000, above=0.2, upto=0.3)
    assert set(POINTS[window, 0]) == set(POINTS[(POINTS[:, 0] >= 0.2) & (POINTS[:, 0] <= 0.3), 0])
    everywhere = starvation.uniform_pulls(np.random.default_rng(1), POINTS, 3000)
    assert len(np.unique(everywhere)) == 120


def test_the_window_shrinks_around_one_arm_also_within_a_half():
    pulls = starvation.shrinking_window(np.random.default_rng(2), grid(30, 2), 2000, last=0.02)
    spread = [grid(30, 2)[part].std(axis=0).mean() for part in np.array_split(pulls, 4)]
    assert (np.diff(spread) < 0).all() and spread[-1] < 0.3 * spread[0]
    assert len(np.unique(pulls[-20:])) <= 20  # 2 % of 900 arms are 18
    turned = POINTS[::-1]  # arm numbers tell nothing of where an arm is
    last = [starvation.shrinking_window(np.random.default_rng(n), turned, 60, upto=0.5)[-20:] for n in range(40)]
    assert max(turned[pulls, 0].max() for pulls in last) <= 0.5
    assert np.mean([turned[pulls, 0].mean() > 0.45 for pulls in last]) < 0.3  # the centre, too, is one of the half


def test_snapshots_hold_every_posterior_at_every_time():
    problem, pulls, observations, seen = starvation.snapshots(*FIGURE, Trial(3, 0))
    names = {("exact", ""), ("SoR", ""), ("DTC, uniform", ""), ("DTC, uniform", "3 pulls")}
    names |= {("RFF", "m=|S|"), ("RFF", "m=50"), ("QFF", "m=|S|"), ("QFF", "m=100")}
    names |= {(form, q) for form in ("BKB", "BKB, streaming") for q in ("qbar=2", "qbar=1e+09")}
    assert set(seen) == {(*name, t) for name in names for t in (5, 40)}
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm, observation in zip(pulls, observations, strict=True):
        exact.update(arm, observation)
    view = seen["exact", "", 40]
    np.testing.assert_allclose(view.sd, exact.sd)
    np.testing.assert_allclose(view.mean, exact.mean)
    for name in (("BKB", "qbar=1e+09"), ("BKB, streaming", "qbar=1e+09"), ("QFF", "m=100")):
        np.testing.assert_allclose(seen[*name, 40].sd, view.sd, rtol=1e-4)
        np.testing.assert_allclose(seen[*name, 40].mean, view.mean, atol=1e-4)
    assert np.abs(problem.expected_reward - view.mean)[:60].max() < 0.5  # it has learned from the noisy rewards


def test_rivals_use_the_dictionary_of_bkb_at_the_first_qbar():
    seen = starvation.snapshots(*FIGURE, Trial(4, 1)).seen
    for t in (5, 40):
        bkb, sor = seen["BKB", "qbar=2", t], seen["SoR", "", t]
        assert (sor.sd <= bkb.sd + 1e-12).all() and sor.n_features == bkb.n_features
        np.testing.assert_allclose(sor.mean, bkb.mean, atol=1e-9)  # SoR and DTC differ in the variance only
        even = len(bkb.members) + len(bkb.members) % 2
        assert seen["RFF", "m=|S|", t].n_features == seen["QFF", "m=|S|", t].n_features == even
        assert len(seen["DTC, uniform", "", t].members) == len(bkb.members)
        assert len(seen["DTC, uniform", "3 pulls", t].members) == 3


def test_frames_have_a_row_an_arm_and_keep_members_when_thinned():
    watched = starvation.snapshots(*FIGURE, Trial(4, 1))
    thin = starvation.frames(watched, {"exact": "", "BKB": "qbar=2", "RFF": "m=50"}, every=7).set_index(["name", "t"])
    its, view = thin.loc["BKB", 40], watched.seen["BKB", "qbar=2", 40]
    there = its[its["member"] > 0]
    assert np.repeat(there["x"], there["member"]).tolist() == pytest.approx(sorted(POINTS[view.members, 0]))
    place = np.searchsorted(POINTS[:, 0], its["x"].to_numpy() - 1e-9)
    np.testing.assert_allclose(its[["sd", "f"]], np.c_[view.sd, watched.problem.expected_reward][place])
    assert len(thin) < 0.4 * 3 * 2 * 120 and (thin.loc["RFF"]["member"] == 0).all()


def test_starvation_is_measured_on_the_unseen_half():
    table = starvation.starvation(*FIGURE, 0.5, Trial(5, 7))
    problem, _, _, seen = starvation.snapshots(*FIGURE, Trial(5, 7))
    assert len(table) == len(seen) and (table["seed"] == 7).all()
    rows = table.set_index(["name", "setting", "t"])
    exact, sor = seen["exact", "", 40], seen["SoR", "", 40]
    its = rows.loc["SoR", "", 40]
    assert its["starved"] == pytest.approx(((exact.sd / sor.sd) ** 2).max())
    assert its["inflated"] == pytest.approx(((sor.sd / exact.sd) ** 2).max())
    far = POINTS[:, 0] > 0.5
    assert its["coverage"] == np.mean(np.abs(problem.expected_reward - sor.mean)[far] <= 3 * sor.sd[far])
    assert its["starved"] > 100 and its["coverage"] < 1 and its["features"] == sor.n_features
    assert rows.loc["exact", "", 40][["starved", "inflated"]].tolist() == [1.0, 1.0]
    assert rows.loc["BKB", "qbar=2", 40]["members"] == len(seen["BKB", "qbar=2", 40].members)
