"""The figures of the notebook on π-GP-UCB: what they draw, and titles that follow it."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.kernels import grid
from kbrepro.papers.pi_gp_ucb import pictures
from kbrepro.papers.pi_gp_ucb.experiments import CellRun, beside_printed, regret_exponents
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.papers.pi_gp_ucb.problems import SURFACES
from kbrepro.regret import Estimate

IGP, PI = "IGP-UCB", "π-GP-UCB"

pytestmark = pytest.mark.usefixtures("styled")


def trace(level, power=1.0, trials=6, horizon=300):
    regret = level * np.linspace(0.5, 1.5, trials)[:, None] * np.arange(1.0, horizon + 1) ** (power - 1)
    return trace_of(regret)


def played(pi, igp=1.0, **settings):
    """Traces whose mean regret a round is `pi` and `igp`, and a uniform regret of 2."""
    traces = {IGP: trace(igp, **settings), PI: trace(pi, **settings)}
    return traces, np.full(len(traces[PI].regret), 2.0)


def labels(ax):
    """Texts right of a panel."""
    return {text.get_text().removeprefix("= ") for text in ax.texts}


def line(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


# One run


def frames(last):
    """Four cells in the first rounds, those of `last` in round 50: (x, y, side, pulls)."""
    first = [(x, y, 0.5, 0) for x in (0, 0.5) for y in (0, 0.5)]
    rows = [(t, *cell) for t, cells in ((1, first), (5, first), (20, first), (50, last)) for cell in cells]
    return pd.DataFrame(rows, columns=["round", "x", "y", "side", "pulls"])


def test_cells_are_drawn_over_the_function_and_the_title_tells_where_they_split(checked):
    points = grid(11, 2)
    f = points[:, 0] - 2 * points[:, 1]
    split = [(x, y, 0.25, 10) for x in (0.5, 0.75) for y in (0, 0.25)]
    figure = pictures.cells(frames([(0, 0, 0.5, 3), (0, 0.5, 0.5, 2), (0.5, 0.5, 0.5, 2), *split]), points, f)
    inside = (points[:, 0] >= 0.5) & (points[:, 1] <= 0.5)
    expected = f"mean f {f[inside].mean():.2f} in them, {f[~inside].mean():.2f} elsewhere".replace("-", "−")
    assert checked(figure) == f"From 4 cells to 7, 4 finer than the first: {expected}"
    one, other = figure.axes[:4:3]
    assert (one.get_title(), other.get_title()) == ("round 1: 4 cells", "round 50: 7 cells")
    image = other.images[0].get_array()
    assert image[0, -1] == image.max() == 1 and image[-1, 0] == image.min() == -2  # low y below, x to the right
    assert list(other.collections[0].get_array()) == [3, 2, 2, 10, 10, 10, 10]
    assert one.collections[0].get_clim() == other.collections[0].get_clim() == (0, 10)
    corners = [path.get_extents().bounds for path in other.collections[0].get_paths()]
    assert corners[3] == pytest.approx((0.5, 0, 0.25, 0.25))
    assert list(other.lines[0].get_xydata()[0]) == [1, 0]
    whole = pictures.cells(frames([(x, y, 0.5, 9) for x in (0, 0.5) for y in (0, 0.5)]), points, f)
    assert checked(whole) == "From 4 cells to 4, 0 finer than the first"


# Theory


def test_exponents_and_gains_stand_beside_what_is_proved(checked):
    t = np.arange(1, 1001)
    greedy = {"usual": {1: t**0.3, 2: t**0.45}, "eq. 2 read literally": {1: t**0.2, 2: t**0.5}}
    figure = pictures.theory(greedy, np.arange(1, 9), 1.5)
    left, one, two = figure.axes
    first, second, third = checked(figure).splitlines()
    assert first == "IGP-UCB's bound of 2020 is empty from d = 2 on;" and second.endswith("π-GP-UCB from d = 4 on")
    assert third == "The exponent of the gain lies between d/(d + 2ν) and q in 3 of 4 cases"
    assert labels(left) == set(regret_exponents(1, 1.5))
    assert list(line(left, PI).get_ydata()) == [regret_exponents(d, 1.5)[PI] for d in range(1, 9)]
    guides = {"slope d/(d + 2ν) = 0.25", "slope q = 0.33"}
    assert labels(one) == {"usual, slope 0.30", "eq. 2 read literally, slope 0.20"} | guides
    (x0, y0), (x1, y1) = line(two, f"slope q = {cover_exponent(2, 1.5):.2f}").get_xydata()
    assert (x0, x1) == (100, 1000) and y0 == 100**0.45
    assert np.log(y1 / y0) / np.log(10) == pytest.approx(cover_exponent(2, 1.5))
    greedy["usual"][2] = t**0.9
    assert "in 2 of 4 cases" in pictures.theory(greedy, np.arange(1, 9), 1.5).get_suptitle()


# Table 1

PRINTED = {(1, IGP): 0.11, (1, PI): 0.09, (2, IGP): 0.71, (2, PI): 0.52, (3, IGP): 0.97, (3, PI): 0.77}


def test_table_1_shows_a_printed_value_with_the_error_of_twelve_runs(checked):
    runs, uniform = np.linspace(0.9, 1.1, 25), np.full(25, 2.0)
    finals = {("usual", d, rule): (2 * value * runs, uniform) for (d, rule), value in PRINTED.items()}
    letter = {("eq. 2 read literally", *case): (4 * PRINTED[case] * runs, uniform) for case in list(PRINTED)[:4]}
    figure = pictures.table_1(finals | letter, PRINTED, 10_000, seed=3)
    usual, other = figure.axes
    assert checked(figure).splitlines() == [
        "Table 1 at T = 10,000: ours agrees with the printed mean in",
        "6 of 6, 0 undecided (usual); 0 of 4, 0 undecided (eq. 2 read literally)",
    ]
    assert [text.get_text() for text in usual.get_xticklabels()] == ["d = 1", "d = 2", "d = 3"]
    assert len(other.get_xticks()) == 2 and usual.get_ylim()[0] == 0
    values = [bar[0].get_ydata()[0] for bar in usual.containers]
    assert values == pytest.approx(np.repeat(list(PRINTED.values()), 2))  # ours, printed
    low, high = usual.containers[1][2][0].get_segments()[0][:, 1]
    close = beside_printed(*finals["usual", 1, IGP], 0.11).close
    assert [low, high] == pytest.approx([0.11 * (1 + close.low - close.value), 0.11 * (1 + close.high - close.value)])
    dots = [its.get_ydata() for its in usual.lines if len(its.get_xdata()) == 25]
    assert len(dots) == 6 and dots[0] == pytest.approx(0.11 * runs)
    finals["usual", 3, PI] = 2 * 0.9 * runs, uniform
    short = checked(pictures.table_1(finals, PRINTED, 300, seed=3))
    assert short.startswith("Table 1 at T = 300 (printed: T = 10,000)") and short.endswith(
        "5 of 6, 0 undecided (usual)"
    )
    finals["usual", 1, IGP] = 2 * 0.11 * (1 + 8 * (runs - 1)), uniform
    assert pictures.table_1(finals, PRINTED, 300, seed=3).get_suptitle().endswith("4 of 6, 1 undecided (usual)")


def test_pairs_of_shares_count_what_is_clear(checked):
    panels = {"usual, d = 1": played(0.5), "eq. 2 read literally, d = 2": played(1.5), "usual, d = 3": played(1.0)}
    figure = pictures.pairs_of_shares(panels, seed=3)
    (ax,) = figure.axes
    assert checked(figure) == "π-GP-UCB has clearly less regret in 1 of 3 cases, clearly more in 1"
    assert [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()] == list(panels)
    assert ax.lines[0].get_xdata() == pytest.approx(-0.25 * np.linspace(1.5, 0.5, 6))
    assert labels(ax) == {"6 of 6", "0 of 6"}


# Figure 1


def test_regret_and_time_have_three_panels(checked):
    steps = {
        (d, rule): (d if rule == PI else 4.0) * np.linspace(0.01, 0.02, 12) for d in (1, 2, 3) for rule in (IGP, PI)
    }
    figure = pictures.regret_and_time(played(0.8)[0], steps, {1: 4.1, 2: 2.0, 3: 44.0}, 300)
    left, centre, right = figure.axes
    assert checked(figure).splitlines() == [
        "π-GP-UCB has 0.80 times the mean $R_T$ of IGP-UCB in d = 2",
        "Time of IGP-UCB over that of π-GP-UCB: 4.1, 2, 44 (d = 1, 2, 3)",
    ]
    assert legend(figure) == [IGP, PI]
    assert line(left, PI).get_ydata()[-1] == pytest.approx(0.8 * 300)
    assert line(centre, IGP).get_ydata() == pytest.approx(1)
    assert labels(right) == {f"{rule}, d = {d}" for rule in ("IGP", "π") for d in (1, 2, 3)}
    assert line(right, "π, d = 2").get_ydata()[0] == pytest.approx(20) and right.get_yscale() == "log"
    assert line(right, "π, d = 2").get_xdata()[[0, -1]] == pytest.approx([12.5, 287.5])
    assert line(right, "IGP, d = 1").get_linestyle() != line(right, "IGP, d = 2").get_linestyle()


def test_exploration_marks_the_tour_and_the_crossing(checked):
    tour = pd.DataFrame({"first cells": [7.0, 25.0], "crossing": [300.0, 60.0], "π-GP-UCB, tour": [0.9, 1.0]}, [1, 2])
    figure = pictures.exploration({1: played(1.2), 2: played(0.8)}, tour)
    one, two = figure.axes
    assert checked(figure).splitlines() == [
        "Share of uniform regret on the first tour of π-GP-UCB: 0.90, 1.00 (d = 1, 2)",
        "It is below IGP-UCB: never, from 20% of T on (d = 1, 2)",
    ]
    assert line(two, PI).get_ydata() == pytest.approx(0.4) and two.get_xscale() == "log"
    dashed = [[its.get_xdata()[0] for its in ax.lines if its.get_linestyle() == "--"] for ax in (one, two)]
    assert dashed == [[], [60]]
    assert two.patches[0].get_extents().transformed(two.transData.inverted()).x1 == pytest.approx(25)


# Figure 2


def test_surfaces_tell_those_of_record_from_the_supplement(checked):
    ratios = dict(zip(SURFACES, (0.5, 0.9, 1.2, 0.8, 40.0, 0.7, 0.6, 0.5), strict=True))
    figure = pictures.surfaces({name: played(ratio)[0] for name, ratio in ratios.items()})
    assert checked(figure).splitlines() == [
        "Fig. 2: π-GP-UCB has at most 1.20 times the mean $R_T$ of IGP-UCB (Goldstein-Price)",
        "on the 4 main functions, and more than IGP-UCB on 2 of all 8",
    ]
    assert [ax.get_title().split("\n")[0] for ax in figure.axes] == list(SURFACES)
    assert ["supplement" in ax.get_title() for ax in figure.axes] == [False] * 4 + [True] * 4
    assert figure.axes[0].get_ylim()[1] > 40 * 300 and legend(figure) == [IGP, PI]
    assert figure.axes[2].get_title().endswith("1.20") and [bool(ax.get_xlabel()) for ax in figure.axes[:5:4]] == [0, 1]


# Cells


def test_covers_show_growth_beside_q_and_widths(checked):
    q, horizons = {d: cover_exponent(d, 1.5) for d in (1, 2, 3)}, (10, 30, 100, 300)
    runs = {
        (d, T): [CellRun(3 * T**0.5 * c, 2.0 + c, c * np.arange(1, T + 1) ** 0.05, 0.5, 0.0) for c in (0.9, 1.1)]
        for d in q
        for T in horizons
    }
    figure = pictures.covers(runs, q, {2: np.arange(1, 301) ** 0.3})
    left, middle, right = figure.axes
    assert checked(figure).splitlines() == [
        "Cells grow as $T^{0.50}$, q = 0.33; $T^{0.50}$, q = 0.55; $T^{0.50}$, q = 0.67 (d = 1, 2, 3)",
        "The width grows as $t^{0.05}$ in cells, less B as $t^{0.30}$ in IGP-UCB",
    ]
    assert labels(left) == labels(middle) == {"d = 1", "d = 2", "d = 3"}
    assert labels(right) == {"largest in cells, less B", "IGP-UCB, less B"}
    x, y = np.log(left.lines[1].get_xydata().T)  # the guide of d = 1
    assert np.polyfit(x, y, 1)[0] == pytest.approx(q[1])
    assert line(middle, "d = 3").get_ydata() == pytest.approx(3.0)
    assert line(left, "d = 2").get_ydata() == pytest.approx(3 * np.sqrt(horizons))


# The thesis, and since the paper


def test_the_thesis_beside_the_paper(checked):
    variants = played(0.8)[0] | {"π-GP-UCB, thesis": trace(1.2)}
    figure = pictures.thesis(variants)
    title = "The thesis's π-GP-UCB has 1.50 times the mean $R_T$ of the paper's,\n1.20 times that of IGP-UCB (d = 2)"
    (ax,) = figure.axes
    assert checked(figure) == title and labels(ax) == set(variants)
    assert line(ax, PI).get_ydata() == pytest.approx(0.8) and ax.get_xscale() == "log" and ax.get_ylim()[0] == 0


def test_since_shows_changes_by_dimension_and_the_sweep(checked):
    def estimate(value):
        return Estimate(value, value - 0.05, value + 0.05)

    order = {"published": 0.7, "both": 0.3, "tighter width": 0.5}
    dimensions = {"published": (1, 2, 3), "both": (1, 2, 3), "tighter width": (1, 2)}
    shares = {
        (change, d, rule): estimate(value + 0.1 * (rule == IGP))
        for change, value in order.items()
        for d in dimensions[change]
        for rule in (IGP, PI)
    }
    sweep = {lam: {IGP: estimate(0.3 + 0.01 * i), PI: estimate(0.5 - 0.01 * i)} for i, lam in enumerate((3.0, 14, 50))}
    figure = pictures.since(shares, sweep, 13.9)
    left, right = figure.axes
    assert checked(figure).splitlines() == [
        "Share of uniform regret in d = 2, as published: IGP-UCB 0.80, π-GP-UCB 0.70;",
        "with both changes: IGP-UCB 0.40, π-GP-UCB 0.30",
        "Of the λ played, IGP-UCB is best at 3, π-GP-UCB at 50",
    ]
    rows = [text.get_text() for text in left.get_yticklabels()]
    assert rows[:3] == [f"{change}, d = 1" for change in ("published", "tighter width", "both")]
    assert len(rows) == 8 and rows[-1] == "both, d = 3"
    bars = [container[0].get_xdata()[0] for container in left.containers]
    assert bars[:4] == pytest.approx([0.8, 0.7, 0.6, 0.5])
    assert list(line(right, PI).get_ydata()) == pytest.approx([0.5, 0.49, 0.48]) and right.get_xscale() == "log"
    assert 13.9 in [its.get_xdata()[0] for its in right.lines if its.get_linestyle() == "--"]
    assert legend(figure) == [IGP, PI]


# Interpretations
