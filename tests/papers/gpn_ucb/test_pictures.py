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


PROBLEM, ARMS = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
LAYERS, ROWS = experiments.carried(PROBLEM, ARMS, 13)
GRID = ROWS[ROWS["kind"] == "grid"].set_index("layer")[["low", "high", "true"]]


def step():
    return pictures.step(PROBLEM, LAYERS[0], GRID, ARMS)


def chains():
    return pictures.chains({kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10)


def regrets(quantity="cumulative", nonada=None, hero=0.1):
    worse = {rule: trace(0.5 + 0.1 * i, end=0.01) for i, rule in enumerate(RULES)}
    panels = {title: worse | {"GPN-UCB": trace(hero)} for title in "abc"} | {"d": worse | {"EI": trace(0.01)}}
    return pictures.regrets("Fig. 11", panels, quantity=quantity, nonada=nonada)


def oi():
    swept = {0.1: trace(0.5, end=0.04), 100.0: trace(0.5, end=0.4)}
    return pictures.oi({"a": (swept, trace(0.5, end=0.01))})


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
    found = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in (1.0, 2.0)}
    return pictures.lower_bound(found, {nu: Needles(4, 0.15, depth=3, nu=nu) for nu in found})


@pytest.mark.parametrize("figure", [step, chains, regrets, oi, coverage, misses, lower_bound])
def test_a_figure_can_be_read_and_fits_a_page(figure, checked):
    checked(figure())


def test_misses_and_widths_are_drawn_where_they_are():
    left, right = coverage().axes
    shares, widths = ([line.get_xdata() for line in ax.lines if line.get_marker() == "o"] for ax in (left, right))
    np.testing.assert_allclose(shares, [[0.3, 0.3], [0, 0]])
    np.testing.assert_allclose(widths, [[0.3, 0.4], [4.35, 8.0]])


def drawn(figure):
    return {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}


def test_simple_regret_of_zero_is_drawn_at_the_floor_and_nonada_as_dots():
    nonada = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6)))
    found = drawn(regrets("simple", nonada, hero=0.0))
    assert found["GPN-UCB"].min() == pictures.FLOOR == found["NonAda"][1]
    assert found["NonAda"][0] == pytest.approx(0.2)


def test_only_the_bands_of_gpn_ucb_and_cei_are_drawn_and_what_may_be_zero_says_so():
    figure = regrets("simple")
    assert [len(ax.collections) for ax in figure.axes] == [1] * 4
    figure.draw_without_rendering()
    assert "≤ 0.0001" in [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_neighbouring_b_that_do_the_same_in_every_panel_share_a_curve():
    one, other = np.array([1.0, 0.5]), np.array([1.0, 0.4])
    panels = [{0.1: one, 1.0: one, 10.0: one}, {0.1: one, 1.0: one + 5e-5, 10.0: other}]
    assert pictures.alike(panels) == [[0.1, 1.0], [10.0]]
