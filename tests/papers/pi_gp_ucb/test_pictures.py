"""The figures of the notebook on π-GP-UCB: readable, and what they draw is what they were given."""

import itertools

import numpy as np
import pytest
from traces import trace_of

from kbrepro.papers.pi_gp_ucb import pictures
from kbrepro.papers.pi_gp_ucb.experiments import CellRun, half_width, regret_exponents
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.papers.pi_gp_ucb.problems import SURFACES
from kbrepro.regret import Estimate

IGP, PI = "IGP-UCB", "π-GP-UCB"
BOTH = (IGP, PI)

pytestmark = pytest.mark.usefixtures("styled")


def trace(level):
    return trace_of(np.tile(level * np.linspace(0.5, 1.5, 6)[:, None], 300))


def played(pi):
    """Traces whose mean regret a round is `pi`, and 1 for IGP-UCB."""
    return {IGP: trace(1.0), PI: trace(pi)}


def line(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def theory():
    t = np.arange(1, 1001)
    return pictures.theory({1: t**0.3, 2: t**0.45}, np.arange(1, 9), 1.5)


PRINTED = {(1, IGP): 0.11, (1, PI): 0.09, (2, IGP): 0.71, (2, PI): 0.52, (3, IGP): 0.97, (3, PI): 0.77}
RUNS = np.linspace(0.9, 1.1, 25)
SHARES = {("usual", *case): value * RUNS for case, value in PRINTED.items()}
SHARES |= {("eq. 2", *case): 2 * PRINTED[case] * RUNS for case in list(PRINTED)[:4]}


def table_1():
    return pictures.table_1(SHARES, PRINTED)


def figure_1():
    return pictures.figure_1(played(0.8))


def surfaces():
    ratios = dict(zip(SURFACES, (0.5, 0.9, 1.2, 0.8, 40.0, 0.7, 0.6, 0.5), strict=True))
    return pictures.surfaces({name: played(ratio) for name, ratio in ratios.items()})


def covers():
    runs = {
        (d, T): [CellRun(3 * T**0.5 * c, 2.0 + c, c * np.arange(1, T + 1) ** 0.05, 0.5, 0.0, np.ones(9))
                 for c in (0.9, 1.1)]
        for d, T in itertools.product((1, 2, 3), (10, 30, 100, 300))
    }  # fmt: skip
    return pictures.covers(runs, {d: cover_exponent(d, 1.5) for d in (1, 2, 3)}, np.arange(1, 301)[None] ** 0.3)


def since():
    levels = dict(zip(pictures.CHANGES, (0.7, 0.5, 0.6, 0.3), strict=True))
    values = {(change, d, rule): level + 0.1 * (rule == IGP)
              for change, level in levels.items() for d in (1, 2, 3) for rule in BOTH}  # fmt: skip
    return pictures.since({case: Estimate(value, value - 0.05, value + 0.05) for case, value in values.items()})


@pytest.mark.parametrize("draw", [theory, table_1, figure_1, surfaces, covers, since])
def test_a_figure_is_readable(draw, checked):
    checked(draw())


def test_curves_are_what_was_given():
    left, _, two = theory().axes
    assert list(line(left, PI).get_ydata()) == [regret_exponents(d, 1.5)[PI] for d in range(1, 9)]
    (x0, y0), (x1, y1) = line(two, f"slope q = {cover_exponent(2, 1.5):.2f}").get_xydata()
    assert (x0, x1, y0) == (100, 1000, 100**0.45)
    assert np.log(y1 / y0) / np.log(10) == pytest.approx(cover_exponent(2, 1.5))
    regret, of_a_round, _ = figure_1().axes
    assert line(regret, PI).get_ydata()[-1] == pytest.approx(240) and line(regret, PI).get_xdata()[-1] == 300
    assert line(of_a_round, PI).get_ydata() == pytest.approx(0.8)
    assert line(of_a_round, PI).get_xdata()[[0, -1]] == pytest.approx([3.5, 297.5])  # the middles of six rounds


def test_a_printed_value_stands_beside_where_ours_would_lie():
    usual, other = table_1().axes
    values = [bar[0].get_ydata()[0] for bar in usual.containers]
    assert values == pytest.approx([*PRINTED.values()]) and len(other.containers) == 4
    low, high = usual.containers[1][2][0].get_segments()[0][:, 1]
    half = half_width(SHARES["usual", 1, PI])
    assert [low, high] == pytest.approx([0.09 - half, 0.09 + half])


def test_changes_stand_dimension_by_dimension():
    (ax,) = since().axes
    rows = [text.get_text() for text in ax.get_yticklabels()]
    assert rows[:5] == [f"{change}, d = 1" for change in pictures.CHANGES] + ["published, d = 2"] and len(rows) == 12
    assert [its[0].get_xdata()[0] for its in ax.containers][:4] == pytest.approx([0.8, 0.7, 0.6, 0.5])
