"""The figures of the notebook on IGP-UCB and GP-TS: what they label, and titles that follow what is drawn."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro import figures
from kbrepro.papers.igp_ucb import pictures
from kbrepro.papers.igp_ucb.experiments import OURS, lemma_7_fails_below, pool
from kbrepro.regret import Estimate

MEAN = (*pool("mean of pulled arms"), "PI, margin 0.01")
COLUMNS = {"noisy incumbent": pool("noisy reward"), "mean-based incumbent": MEAN}
RULES = tuple(dict.fromkeys((*COLUMNS["noisy incumbent"], *MEAN)))
WIDTHS = ("GP-UCB", "IGP-UCB", "IGP-UCB, gain of the pulls", "IGP-UCB, tighter")

pytestmark = pytest.mark.usefixtures("styled")


def trace(level, power, trials=6, horizon=300):
    regret = level * np.linspace(0.5, 1.5, trials)[:, None] * np.arange(1.0, horizon + 1) ** (power - 1)
    return trace_of(regret)


def traces(**levels):
    """Traces of every rule; those named have other levels than 1 to 8."""
    return {rule: trace(levels.get(rule.replace("-", "_"), 1.0 + i), 0.6) for i, rule in enumerate(RULES)}


def labels(ax):
    """Texts right of a panel."""
    return {text.get_text().removeprefix("= ") for text in ax.texts}


# One posterior


def idea(width_of_gp_ucb=500.0):
    x = np.linspace(0, 1, 40)
    frame = pd.DataFrame({"x": x, "f": np.sin(6 * x), "mean": np.sin(6 * x) * 0.9, "sd": 0.1 + 0.1 * x})
    widths = dict(zip(WIDTHS, (width_of_gp_ucb, 4.0, 8.0, 6.0), strict=True))
    rounds = pd.RangeIndex(1, 41, name="round")
    over_time = pd.DataFrame({name: w * np.sqrt(rounds / 8) for name, w in widths.items()}, index=rounds)
    pulls = pd.DataFrame({"x": x[::6], "observed": np.sin(6 * x[::6])})
    return pictures.idea(frame, widths, np.cos(6 * x), pulls, over_time), frame


def test_one_posterior_shows_bands_that_fit_and_tells_how_wide_the_other_is(checked):
    figure, frame = idea()
    left, right = figure.axes
    assert checked(figure) == "GP-UCB's width is 125.0 to 125 times that of IGP-UCB"
    assert left.get_title() == "round 8: GP-UCB's band, not drawn,\nis 125 times as wide as IGP-UCB's"
    assert labels(right) == set(WIDTHS) and (right.get_xscale(), right.get_yscale()) == ("log", "log")
    low, high = left.get_ylim()
    assert -4 < low < (frame["mean"] - 8 * frame["sd"]).min() and (frame["mean"] + 8 * frame["sd"]).max() < high < 4
    places = {text.get_text(): text.xy[0] for text in left.texts}
    best = frame["x"][(frame["mean"] + 4 * frame["sd"]).argmax()]
    assert places == {"IGP-UCB pulls here": best, "GP-TS pulls here": 0.0}
    assert "40 times as wide" in idea(160.0)[0].axes[0].get_title()


# Figures 1 to 3


def test_regrets_have_a_panel_for_every_row_and_column_and_name_the_best_of_each(checked):
    figure = pictures.regrets("Fig. 7", {"(a) SE": traces(), "(b) Matérn": traces(EI=0.1)}, COLUMNS, unit="Lux")
    assert checked(figure).splitlines() == [
        "Fig. 7: smallest median $R_T$ of the rules shown",
        "noisy incumbent: GP-UCB",
        "mean-based incumbent: GP-UCB in (a) SE; EI in (b) Matérn",
    ]
    titles = [f"{panel}, {column}" for panel in ("(a) SE", "(b) Matérn") for column in COLUMNS]
    assert [ax.get_title().replace("\n", " ") for ax in figure.axes] == titles
    noisy, mean = figure.axes[:2]
    assert labels(noisy) == {*OURS, "EI", "PI"}  # the column says which
    assert labels(mean) == {*OURS, "EI", "PI", "PI, margin 0.01"}
    assert noisy.get_ylim() == mean.get_ylim() and "(Lux)" in noisy.get_ylabel()
    looks = {line.get_label(): (line.get_color(), line.get_linestyle()) for line in mean.lines}
    assert looks["PI, margin 0.01"] == pictures.VARIANTS["PI, margin 0.01"] == (figures.LOOK["PI"][0], "--")
    assert looks["PI"] == figures.LOOK["PI"]


def test_variants_of_a_rule_are_told_apart():
    for rule in ("EI", "PI"):
        variants = {name: look for name, look in pictures.VARIANTS.items() if name.startswith(rule)}
        assert list(variants) == [f"{rule}, margin {margin}" for margin in (0.01, 0.03, 0.1)]
        looks = [*variants.values(), figures.LOOK[rule], figures.LOOK[f"{rule}, noisy incumbent"]]
        assert len(set(looks)) == 5 and len({colour for colour, _ in looks}) == 1


# Comparisons


def test_ratios_to_igp_ucb_are_drawn_by_panel_and_rival(checked):
    rng = np.random.default_rng(1)
    panels = {name: {"IGP-UCB": rng.uniform(1, 2, 25), "EI": rng.uniform(1, 2, 25)} for name in ("SE", "Matérn")}
    for panel in panels.values():
        panel["GP-TS"] = 3 * panel["IGP-UCB"]
    panels["SE"]["EI"][3] = 0.0
    figure = pictures.deciding(panels, {"Thompson": "GP-TS", "EI, mean-based": "EI"}, seed=3)
    (ax,) = figure.axes
    rows = ["SE: Thompson", "SE: EI, mean-based", "Matérn: Thompson", "Matérn: EI, mean-based"]
    assert [label.get_text() for label in ax.get_yticklabels()] == rows and ax.get_xscale() == "log"
    assert checked(figure) == "IGP-UCB is not clearly ahead of: SE: EI, mean-based; Matérn: EI, mean-based"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), 3)
    assert ax.lines[3].get_xdata().min() > 0.2 and len(ax.lines[3].get_xdata()) == 25  # 0 counts as the smallest above
    panels["SE"]["GP-TS"] = panels["SE"]["IGP-UCB"] / 2
    title = pictures.deciding(panels, {"Thompson": "GP-TS", "EI": "EI"}, seed=3).get_suptitle()
    assert title == "IGP-UCB is not clearly ahead of: SE: Thompson; SE: EI; Matérn: EI"


def test_the_tighter_width_over_the_classical_one_by_trial_or_block(checked):
    rng = np.random.default_rng(1)
    classical = rng.uniform(1, 2, 24)
    noise = rng.uniform(0.99, 1.01, 24)
    panels = {
        "Fig. 1": (0.8 * noise * classical, classical, 1),
        "light, a third": (0.9 * noise * classical, classical, 8),
    }
    figure = pictures.since(panels, seed=3)
    (ax,) = figure.axes
    assert checked(figure) == "The tighter width costs clearly less regret in 2 of 2 settings"
    dots = [line.get_xdata() for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert [len(its) for its in dots] == [24, 3] and dots[1] == pytest.approx(0.9, abs=0.01)
    estimates = [line.get_xdata()[0] for line in ax.lines if line.get_markersize() == 6 and len(line.get_xdata()) == 1]
    assert estimates == pytest.approx([0.8, 0.9], abs=0.01)
    panels["Fig. 1"] = classical * 1.2, classical, 1
    panels["two blocks"] = np.repeat([0.1, 1.0], 12) * classical, classical, 12
    figure = pictures.since(panels, seed=3)
    assert "in 1 of 3" in figure.get_suptitle()
    assert 0.1 in [line.get_xdata()[0] for line in figure.axes[0].lines]  # the t interval of two blocks reaches below 0


# The incumbent, sensors


def test_the_incumbent_runs_away_and_pulls_are_shared(checked):
    excess = np.linspace(-3, 2, 200) + np.linspace(-0.1, 0.1, 5)[:, None]
    shares = {"EI": np.linspace(0, 0.9, 200), "IGP-UCB": np.linspace(0, 0.8, 200), "PI": np.linspace(0, 0.2, 200)}
    figure = pictures.incumbent(excess, shares)
    left, right = figure.axes
    told = "the best arm has 80% of the pulls of IGP-UCB, 90% of the pulls of EI"
    assert checked(figure) == f"The largest reward ends 2.0 R above max f;\n{told}"
    assert labels(left) == {"largest reward", r"$\sqrt{2\,\ln t}$"} and labels(right) == set(shares)
    assert right.get_ylim() == (0, 1) and left.get_xscale() == right.get_xscale() == "log"
    shares["EI"] = shares["EI"] / 2
    title = pictures.incumbent(excess + 1, shares).get_suptitle()
    assert title.startswith("The largest reward ends 3.0 R above max f;") and "45% of the pulls of EI" in title
    shares["EI, noisy incumbent"] = shares["PI"]
    assert "EI, noisy incumbent" in checked(pictures.incumbent(excess, shares))  # a title too long for one line


def test_sensors_are_sorted_by_median_with_a_dot_a_row(checked):
    row = np.linspace(0.5, 2, 40)
    first = {"GP-UCB": 3 * row, "IGP-UCB": 2 * row, "EI, noisy incumbent": row}
    second = {"GP-UCB": row, "IGP-UCB": 2 * row, "EI, noisy incumbent": np.where(row < 0.6, 0, 3 * row)}
    figure = pictures.sensors({"light": (first, "Lux"), "temperature": (second, "°C")}, horizon=100)
    one, other = figure.axes
    assert checked(figure).splitlines()[1:] == ["light: EI, noisy incumbent", "temperature: GP-UCB"]
    assert [label.get_text() for label in one.get_yticklabels()] == ["EI, noisy incumbent", "IGP-UCB", "GP-UCB"]
    assert (one.get_xlabel(), other.get_xlabel()) == tuple(f"cumulative regret $R_T$ ({u})" for u in ("Lux", "°C"))
    rows, quartiles, median = one.lines[:3]
    np.testing.assert_allclose(rows.get_xdata(), 100 * row)
    assert list(quartiles.get_xdata()) == pytest.approx(list(100 * np.quantile(row, [0.25, 0.75])))
    assert median.get_xdata() == pytest.approx(100 * np.median(row))
    drawn = [line for line in other.lines if len(line.get_xdata()) == 40]
    assert [len(line.get_xdata()) for line in drawn] == [40] * 3 and min(line.get_xdata().min() for line in drawn) == 50


# Theorems


def test_theorems_show_crossings_beside_those_allowed_and_coverage(checked):
    rng = np.random.default_rng(1)
    excess = {"at random": rng.exponential(0.5, 200) - 1, "largest mean": rng.exponential(0.5, 200) - 0.5}
    coverage = {"SE": Estimate(0.99, 0.97, 1.0), "Matérn": Estimate(0.95, 0.92, 0.98)}
    figure = pictures.theorems(excess, coverage, delta=0.1, runs=(200, 400))
    left, right = figure.axes
    assert checked(figure) == (
        "Clearly more crossings than allowed: none\nThe band holds in 95.0% of runs or more (least: Matérn)"
    )
    assert labels(left) == {*excess, "allowed"} and "200 runs" in left.get_ylabel() and "400 runs" in right.get_xlabel()
    assert left.lines[0].get_ydata()[-1] == np.mean(excess["at random"] > 0)
    assert 0.9 in [line.get_xdata()[0] for line in right.lines if line.get_linestyle() == "--"]
    excess["at random"] = excess["at random"] + 5
    title = pictures.theorems(excess, coverage, delta=0.1, runs=(200, 400)).get_suptitle()
    assert title.startswith("Clearly more crossings than allowed: at random\n")


def test_lemma_7_is_shaded_where_it_is_false(checked):
    limit = lemma_7_fails_below()
    figure = pictures.lemma_7(limit)
    (ax,) = figure.axes
    assert checked(figure) == f"Lemma 7 is false below β = {limit:.3f}, where shaded"
    assert ax.patches[0].get_extents().transformed(ax.transData.inverted()).x1 == pytest.approx(limit)
    tail, bound = (line.get_ydata() for line in ax.lines[:2])
    false = ax.lines[0].get_xdata() < limit
    assert (tail < bound)[false].all() and not (tail < bound)[~false].any()
    assert pictures.lemma_7(0.0).get_suptitle() == "Lemma 7 holds"


def test_kernels_have_a_marker_a_rule_and_dimensions_an_interval(checked):
    rules = ("IGP-UCB", "GP-TS", "EI, noisy incumbent", "PI, noisy incumbent", "EI, margin 0.01", "PI, margin 0.01")
    table = pd.DataFrame(1.5 + np.arange(24.0).reshape(4, 6), [f"SE told lengthscale {i}" for i in range(4)], rules)
    ratios = {d: Estimate(2.0 * d, 1.5 * d, 2.5 * d) for d in (1, 2, 3, 4)}
    figure = pictures.kernels_and_dimensions(table, ratios)
    left, right = figure.axes
    assert checked(figure).splitlines() == [
        "Under a wrong kernel the regret of PI, margin 0.01 is up to 24.5 times as large",
        "GP-TS has 2.0 times the regret of IGP-UCB at d = 1, 8.0 times at d = 4",
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(rules)
    drawn = {line.get_label(): line for line in left.lines if line.get_label() in rules}
    assert all(list(line.get_xdata()) == list(table[rule]) for rule, line in drawn.items())
    assert len({line.get_marker() for line in drawn.values()}) == 6
    guide = next(line for line in right.lines if line.get_label() == "root of d")
    assert list(guide.get_ydata()) == pytest.approx([2, 2 * np.sqrt(2), 2 * np.sqrt(3), 4])


# Interpretations
