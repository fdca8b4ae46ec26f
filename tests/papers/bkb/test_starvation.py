"""Figure 1: designs, snapshots, the table of starvation and its pictures, against what they are said to be."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb import pictures, starvation
from kbrepro.posterior import RowPosterior
from kbrepro.problems import GPDraw, Trial

KERNEL, POINTS, NOISE = SquaredExponential(0.07), grid(120), 0.01
HALF = partial(starvation.uniform_pulls, upto=0.5)
FIGURE = GPDraw(KERNEL, POINTS, NOISE), HALF, [5, 40], [2.0, 1e9], {"RFF": [50], "QFF": [100]}  # at, qbars, features


def test_uniform_pulls_stay_in_their_part():
    parts = {(-np.inf, 0.5): 60, (0.2, 0.3): 12, (-np.inf, np.inf): 120}
    for (above, upto), arms in parts.items():
        pulls = starvation.uniform_pulls(np.random.default_rng(1), POINTS, 3000, above=above, upto=upto)
        assert above <= POINTS[pulls, 0].min() and POINTS[pulls, 0].max() <= upto and len(np.unique(pulls)) == arms


def test_the_window_shrinks_around_one_arm_also_within_a_half():
    pulls = starvation.shrinking_window(np.random.default_rng(2), grid(30, 2), 2000, last=0.02)
    spread = [grid(30, 2)[part].std(axis=0).mean() for part in np.array_split(pulls, 4)]
    assert (np.diff(spread) < 0).all() and spread[-1] < 0.3 * spread[0]
    assert len(np.unique(pulls[-20:])) <= 20  # 2 % of 900 arms are 18
    turned = POINTS[::-1]  # arm numbers say nothing of where an arm is
    last = [starvation.shrinking_window(np.random.default_rng(n), turned, 60, upto=0.5)[-20:] for n in range(40)]
    assert max(turned[pulls, 0].max() for pulls in last) <= 0.5
    assert np.mean([turned[pulls, 0].mean() > 0.45 for pulls in last]) < 0.3  # the centre, too, is one of the half


def test_snapshots_hold_every_posterior_at_every_time():
    problem, pulls, observations, seen = starvation.snapshots(*FIGURE, Trial(3, 0))
    rivals = {"SoR": [""], "DTC, uniform": ["", "3 pulls"], "RFF": ["m=|S|", "m=50"], "QFF": ["m=|S|", "m=100"]}
    rivals |= {"exact": [""], "BKB": ["qbar=2", "qbar=1e+09"], "BKB, streaming": ["qbar=2", "qbar=1e+09"]}
    assert set(seen) == {(name, how, t) for name, settings in rivals.items() for how in settings for t in (5, 40)}
    exact = RowPosterior(KERNEL, POINTS, NOISE)
    for arm, observation in zip(pulls, observations, strict=True):
        exact.update(arm, observation)
    np.testing.assert_allclose(seen["exact", "", 40].sd, exact.sd)
    for name in (("BKB", "qbar=1e+09"), ("BKB, streaming", "qbar=1e+09"), ("QFF", "m=100")):
        np.testing.assert_allclose(seen[*name, 40].sd, exact.sd, rtol=1e-4)
        np.testing.assert_allclose(seen[*name, 40].mean, exact.mean, atol=1e-4)
    assert np.abs(problem.expected_reward - exact.mean)[:60].max() < 0.5  # it has learned from the noisy rewards
    for t in (5, 40):  # rivals use the dictionary of BKB at the first qbar
        bkb, sor = seen["BKB", "qbar=2", t], seen["SoR", "", t]
        assert (sor.sd <= bkb.sd + 1e-12).all() and sor.n_features == bkb.n_features
        np.testing.assert_allclose(sor.mean, bkb.mean, atol=1e-9)  # SoR and DTC differ in the variance only
        even = len(bkb.members) + len(bkb.members) % 2
        assert seen["RFF", "m=|S|", t].n_features == seen["QFF", "m=|S|", t].n_features == even
        assert len(seen["DTC, uniform", "", t].members) == len(bkb.members)
        assert len(seen["DTC, uniform", "3 pulls", t].members) == 3


def test_starvation_is_measured_on_all_arms_and_coverage_on_the_unseen_half():
    table = starvation.starvation(*FIGURE, 0.5, Trial(5, 7))
    problem, _, _, seen = starvation.snapshots(*FIGURE, Trial(5, 7))
    assert len(table) == len(seen) and (table["seed"] == 7).all()
    rows = table.set_index(["name", "setting", "t"])
    exact, sor, row = seen["exact", "", 40], seen["SoR", "", 40], rows.loc["SoR", "", 40]
    assert row["starved"] == pytest.approx(((exact.sd / sor.sd) ** 2).max())
    assert row["inflated"] == pytest.approx(((sor.sd / exact.sd) ** 2).max())
    far = POINTS[:, 0] > 0.5
    assert row["coverage"] == np.mean(np.abs(problem.expected_reward - sor.mean)[far] <= 3 * sor.sd[far])
    assert row["starved"] > 100 and row["coverage"] < 1 and row["features"] == sor.n_features
    assert rows.loc["exact", "", 40][["starved", "inflated"]].tolist() == [1.0, 1.0]
    assert rows.loc["BKB", "qbar=2", 40]["members"] == len(seen["BKB", "qbar=2", 40].members)


# Pictures


def strip():
    return pictures.strip(starvation.snapshots(*FIGURE, Trial(5, 7)), {"BKB": "qbar=2", "SoR": ""})


def starved():
    rows = [(seed, name, t, *ratios) for seed in range(5) for t in (6, 215) for name, *ratios in WORST]
    table = pd.DataFrame(rows, columns=["seed", "name", "t", "starved", "inflated"]).assign(setting="")
    return pictures.starvation(table, {"BKB, as is": ("BKB", ""), "SoR": ("SoR", "")})


WORST = ("SoR", 1e12, 1.0), ("BKB", 1.0, 10.0)


def transition():
    cases = product(("BKB", "BKB, streaming"), ("uniform", "window"), (1.0, 4.0), (0, 1))
    rows = [(form, design, q, n / 50 + 1 / q, 1.0 + n, 18.4) for form, design, q, n in cases]
    return pictures.transition(pd.DataFrame(rows, columns=["dictionary", "design", "qbar", "bad", "size", "d_eff"]))


@pytest.mark.parametrize("draw", [strip, starved, transition])
def test_a_figure_is_readable(draw, checked, styled):
    figure = draw()
    assert checked(figure)
    assert all(ax.get_xlabel() or figure.get_supxlabel() for ax in figure.axes[-1:])


def test_figures_draw_what_they_were_given(styled):
    row = starvation.starvation(*FIGURE, 0.5, Trial(5, 7)).set_index(["name", "setting", "t"]).loc["SoR", "", 40]
    titles = [ax.get_title() for ax in strip().axes]  # by row
    assert titles[3] == f"SoR, m = {row['features']:.0f}\n{row['coverage']:.0%} of unseen f inside"
    totals = {"exact": np.arange(1.0, 31.0), "BKB": 1.05 * np.arange(1.0, 31.0)}
    (ax,) = pictures.beside_exact(totals, ["BKB"], seed=1).axes
    np.testing.assert_allclose(next(line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 30), 1.05)
