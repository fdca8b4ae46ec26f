"""The figures of the notebook on BKB: what they draw, and titles that follow it."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.bkb import pictures
from kbrepro.papers.bkb.experiments import Dictionaries

pytestmark = pytest.mark.usefixtures("styled")


def trace(level, power=0.6, trials=6, horizon=300):
    t = np.arange(0, horizon + 1) ** power
    regret = level * np.linspace(0.5, 1.5, trials)[:, None] * np.diff(t)
    return trace_of(regret)


def line(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


# Figure 1


def frames():
    x, parts = np.linspace(0, 1, 41), []
    for t in (6, 63):
        for name, sd in (("exact", 1.0), ("BKB", 1.0), ("SoR", 0.1)):
            member = (np.arange(41) == 5) * 2 if name == "BKB" else 0
            columns = {"t": t, "name": name, "x": x, "f": np.where(x < 0.7, 0.2, 1.0), "mean": 0.0, "sd": sd}
            parts.append(pd.DataFrame(columns | {"member": member}))
    return pd.concat(parts)


def test_the_strip_shows_bands_members_and_observations(checked):
    observed = {6: ([0.1, 0.2], [0.5, 0.6]), 63: ([0.3], [0.1])}
    sizes = {(name, t): t for name in ("BKB", "SoR") for t in observed}
    figure = pictures.strip(frames(), observed, sizes)
    share = np.mean(np.linspace(0, 1, 41)[21:] < 0.7)
    expected = f"Share of f in the unseen half inside mean ± 3 sd after 63 pulls:\nBKB 100%, SoR {share:.0%}"
    assert checked(figure) == expected
    (bkb, sor), (later, _) = np.array(figure.axes).reshape(2, 2)
    assert bkb.get_title() == "BKB, m = 6" and later.get_title() == "BKB, m = 63"
    assert line(bkb, "in the dictionary").get_xdata().tolist() == [0.125]
    assert len(line(sor, "in the dictionary").get_xdata()) == 0
    assert list(line(bkb, "observed").get_xdata()) == [0.1, 0.2]
    band = sor.collections[0].get_paths()[0].get_extents()
    assert (band.y0, band.y1) == pytest.approx((-0.3, 0.3))
    assert legend(figure) == ["approximation ± 3 sd", "exact ± 3 sd", "f, unknown", "observed", "in the dictionary"]


def test_starvation_names_what_starves(checked):
    rows = []
    for seed in range(5):
        for t in (6, 215):
            rows += [(seed, "BKB", "", t, 1.0, 10.0), (seed, "SoR", "", t, 1e12, 1.0)]
    table = pd.DataFrame(rows, columns=["seed", "name", "setting", "t", "starved", "inflated"])
    figure = pictures.starvation(table, {"BKB": ("BKB", ""), "SoR": ("SoR", "")}, (6, 215))
    assert checked(figure) == "At t = 215 the median worst ratio exceeds 2 for\nSoR"
    filled, open_, sor = (figure.axes[1].lines[i].get_xdata() for i in (0, 1, 2))
    assert set(filled) == {0.0} and set(open_) == {-1.0} and set(sor) == {8.0}
    table["starved"] = 1.0
    assert checked(pictures.starvation(table, {"BKB": ("BKB", "")}, (6, 215))).endswith("\nnone")


# Theorem 1


def test_the_transition_speaks_of_the_qbar_of_record_and_of_bkb_alone(checked):
    def runs(bad, bound):
        return Dictionaries(np.array([bad, bad]), np.array([1.0, 1.2]), np.ones(2), bound)

    found = {}
    for design in ("uniform", "window"):
        found |= {("BKB", design, 1.0): runs(0.8, 30.0), ("BKB", design, 4.0): runs(0.02, 90.0)}
        found |= {("BKB, streaming", design, q): runs(0.9, 3.0) for q in (1.0, 4.0)}
    figure = pictures.transition(found, {"uniform": 20.0, "window": 18.4}, of_record=4.0)
    assert checked(figure).startswith("At $\\bar q$ = 4 at most 2.00% of BKB's steps are bad")
    assert "at least 30 times the size" in figure.get_suptitle()
    assert figure.axes[1].get_title() == "window, $d_{eff}$ = 18"
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), [80, 2])


def test_proposition_5_tells_where_the_replacement_is_below(checked):
    t = np.arange(1.0, 41)
    chain = np.stack([np.sqrt(t), t, 2 * t, 4 * t], axis=-1)[None].repeat(3, axis=0)
    high = chain.copy()
    high[..., 2] = 0.01
    figure = pictures.proposition_5({"uniform": chain, "plane": high})
    told = checked(figure)
    assert "falls to 0.25 of it" in told  # at t = 2, where sqrt(t) log(t) / 2t is smallest
    assert "100% (uniform), 0% (plane) of the steps" in told
    for ax in figure.axes:
        assert ax.get_ylim()[1] >= 160  # nothing is cut off
    np.testing.assert_allclose(line(figure.axes[0], "log det").get_ydata(), 2 * t)


# Regret


def test_regret_names_the_ends(checked):
    levels = {"exact": 2.0, "BKB": 2.1, "BKB, Theorem 2's radius": 8.0, "exact, 3 sd": 0.5}
    figure = pictures.regret({name: trace(level) for name, level in levels.items()})
    least, most = (trace(levels[n]).regret.sum(axis=1).mean() for n in ("exact, 3 sd", "BKB, Theorem 2's radius"))
    assert checked(figure) == f"Mean $R_T$ from {least:.0f} (exact, 3 sd)\nto {most:.0f} (BKB, Theorem 2's radius)"
    assert line(figure.axes[0], "exact, 3 sd").get_linestyle() == "--"


def test_ratios_name_those_that_differ(checked):
    rng = np.random.default_rng(1)
    base = rng.uniform(1, 2, 30)
    finals = {"exact": base, "BKB": 1.05 * base, "wide": 4 * base}
    pairs = {"BKB\nover exact": ("BKB", "exact"), "wide\nover exact": ("wide", "exact")}
    figure = pictures.beside_exact(finals, pairs, seed=1)
    expected = "1 of 2 ratios of mean $R_T$ are clearly within 0.8 to 1.3; the others:\nwide over exact 4.00"
    assert checked(figure) == expected
    np.testing.assert_allclose(figure.axes[0].lines[0].get_xdata(), 1.05)
    assert figure.axes[0].get_xscale() == "log"


def test_fixed_size_tells_the_exponents(checked):
    figure = pictures.fixed_size({"BKB, 3 sd": trace(1.0, 0.3), "RFF, 20 features": trace(0.01, 1.0)})
    assert checked(figure).endswith("BKB, 3 sd 0.30, RFF, 20 features 1.00")


def test_the_linear_bandit_tells_the_ratio(checked):
    figure = pictures.linear({"exact": trace(2.0), "BKB": trace(2.2)})
    assert checked(figure) == "Linear kernel: BKB has 1.10 times the mean $R_T$ of exact linear UCB"


# Cost


def measured(bkb, rows=2.0, horizon=400, covariance=True):
    t = pd.RangeIndex(1, horizon + 1, name="t")
    refit = np.full(horizon, np.nan)
    refit[[19, 99, horizon - 1]] = 0.001, 0.004, 0.02
    seconds = {"BKB": np.full(horizon, bkb / 1000), "exact, rows": rows / 1000 * np.asarray(t) / horizon}
    seconds |= {"exact, covariance": np.full(horizon, 0.0015)} if covariance else {}
    seconds |= {"exact, refit": refit, "exact, counts": 0.5 * refit}
    kept = {"members": 30, "features": 20, "distinct": 25, "d_eff": 6.5}
    return pd.DataFrame(seconds, t), pd.DataFrame(kept, t)


def test_cost_has_a_panel_a_case_and_counts_where_bkb_is_fastest(checked):
    cases = {
        "A = 10, d = 1": measured(1.0),
        "A = 10, d = 2": measured(5.0),
        "A = 99, d = 2": measured(9, covariance=False),
    }
    figure = pictures.cost_per_step(cases)
    assert checked(figure) == "In the last rounds BKB's step is the fastest of those timed in 1 of 3 cases"
    first, _, third = figure.axes[:3]
    assert first.get_title() == "A = 10, d = 1: m = 20, 25 distinct arms"
    assert line(first, "exact, refit").get_xdata().tolist() == [20, 100, 400]
    np.testing.assert_allclose(line(first, "exact, refit").get_ydata(), [1, 4, 20])
    np.testing.assert_allclose(line(first, "BKB").get_ydata(), 1.0)
    assert "exact, covariance" not in [curve.get_label() for curve in third.lines]
    assert legend(figure) == list(pictures.METHODS)


def test_scaling_draws_members_beside_qbar_times_the_dimension(checked):
    figure = pictures.scaling({"d = 1": measured(1.0), "d = 2": measured(1.0)}, qbar=4.0)
    assert checked(figure) == "The dictionary holds 30 of 400 pulls (d = 1); 30 of 400 pulls (d = 2)"
    assert set(figure.axes[0].lines[2].get_ydata()) == {26.0}


# Interpretations
