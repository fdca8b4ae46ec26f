"""The figures of the notebook on GPN-UCB: readable, and what they draw is what they were given."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import experiments, pictures
from kbrepro.papers.gpn_ucb.needle import Needles
from kbrepro.papers.gpn_ucb.problems import DrawnChain, exact_chain
from kbrepro.problems import Trial

RULES = ("GPN-UCB", "cUCB", "OI", "GP-UCB", "EI")
pytestmark = pytest.mark.usefixtures("styled")


def trace(level, end=0.0):
    """Regret `level` in the first half of 60 rounds, then `end`; trials differ by a few percent."""
    return trace_of(np.where(np.arange(60) < 30, level, end) * np.linspace(0.9, 1.1, 6)[:, None])


def step():
    problem, arms = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
    return pictures.step(problem, experiments.carried(problem, arms)["grid"], 13, arms)


def chains():
    return pictures.chains({kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10)


def regrets(quantity="simple"):
    worse = {rule: trace(0.5 + 0.1 * i, end=0.01) for i, rule in enumerate(RULES)}
    simple = quantity == "simple"
    panels = {title: worse | {"GPN-UCB": trace(0.1 - 0.1 * simple)} for title in "abc"} | {"d": worse}
    nonada = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6))) if simple else None
    return pictures.regrets("Fig. 11", panels, quantity=quantity, nonada=nonada)


def cumulative():
    return regrets("cumulative")


def oi():
    return pictures.oi({"a": {"b = 0.1": trace(0.5, end=0.04), "b = 10": trace(0.5, end=0.4), "cUCB": trace(0.5)}})


def coverage():
    """Of 10 arms grid sets miss 2 and 4 in two rounds, outward-rounded ones none; two networks."""
    network = {"paper": np.array([[2, 4], [0.5, 0.2]]), "outward": np.array([[0, 0], [0.9, 0.7]])}
    wider = {"paper": np.array([[2, 4], [0.5, 0.4]]), "outward": np.array([[0, 0], [0.9, 8.0]])}
    return pictures.coverage({"chain": [network, wider], "multi-output": [wider, wider]}, 10)


def misses():
    kinds = ["draws", "draws, obvious maximiser", "norm 2", "draws"]
    ends = {"outside": [0.5, 1.0, -1.0, -0.5], "end": [0.2, 0.7, 0.01, 0.06]}
    return pictures.misses(pd.DataFrame({"kind": kinds} | ends), 2.0)


def lower_bound():
    regrets = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in (1.0, 2.0)}
    return pictures.lower_bound(regrets, {nu: Needles(4, 0.15, depth=3, nu=nu) for nu in regrets})


@pytest.mark.parametrize("figure", [step, chains, regrets, cumulative, oi, coverage, misses, lower_bound])
def test_a_figure_can_be_read_and_fits_a_page(figure, checked):
    checked(figure())


def test_misses_widths_and_averages_are_drawn_where_they_are():
    dots = [[line.get_xdata() for line in ax.lines if line.get_marker() == "o"] for ax in coverage().axes]
    np.testing.assert_allclose(dots[0], [[0.3, 0.3], [0, 0]])
    np.testing.assert_allclose(dots[1], [[0.3, 0.4], [4.35, 8.0]])
    averages = [line.get_xdata() for line in lower_bound().axes[2].lines if line.get_marker() == "o"]
    np.testing.assert_allclose(averages, [[1.3, 2.0], [1.3, 2.5]])


def test_simple_regret_of_zero_is_drawn_at_the_floor_which_says_so_and_few_have_bands():
    figure = regrets()
    shown = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert shown["GPN-UCB"].min() == pictures.FLOOR == shown["NonAda"][1] and shown["NonAda"][0] == pytest.approx(0.2)
    assert [len(ax.collections) for ax in figure.axes] == [1] * 4
    figure.draw_without_rendering()
    assert "≤ 0.0001" in [text.get_text() for text in figure.axes[0].get_yticklabels()]
