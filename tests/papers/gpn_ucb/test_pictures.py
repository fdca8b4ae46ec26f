"""The figures of the notebook on GPN-UCB: readable, and what they draw is what they were given."""

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import pictures
from kbrepro.papers.gpn_ucb.needle import Needles
from kbrepro.papers.gpn_ucb.problems import DrawnChain
from kbrepro.problems import Trial

pytestmark = pytest.mark.usefixtures("styled")


def trace(level, end=0.0):
    """Regret `level` in the first half of 60 rounds, then `end`; trials differ by a few percent."""
    return trace_of(np.where(np.arange(60) < 30, level, end) * np.linspace(0.9, 1.1, 6)[:, None])


def chains():
    return pictures.chains({kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10)


def regrets():
    rules = {rule: trace(0.5 + 0.1 * i, end=0.01) for i, rule in enumerate(("cUCB", "OI", "GP-UCB", "EI"))}
    panels = dict.fromkeys("abcd", {"GPN-UCB": trace(0.0)} | rules)
    nonada = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6)))
    return pictures.regrets("Fig. 12", panels, quantity="simple", nonada=nonada)


def oi():
    return pictures.oi({"a": {"b = 0.1": trace(0.5, end=0.04), "b = 10": trace(0.5, end=0.4), "cUCB": trace(0.5)}})


def lower_bound():
    regrets = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in (1.0, 2.0)}
    return pictures.lower_bound(regrets, {nu: Needles(4, 0.15, depth=3, nu=nu) for nu in regrets})


@pytest.mark.parametrize("figure", [chains, regrets, oi, lower_bound])
def test_a_figure_can_be_read_and_fits_a_page(figure, checked):
    checked(figure())


def test_averages_are_drawn_where_they_are_and_zero_at_the_floor_which_says_so():
    averages = [line.get_xdata() for line in lower_bound().axes[2].lines if line.get_marker() == "o"]
    np.testing.assert_allclose(averages, [[1.3, 2.0], [1.3, 2.5]])
    figure = regrets()
    shown = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert shown["GPN-UCB"].min() == pictures.FLOOR == shown["NonAda"][1] and shown["NonAda"][0] == pytest.approx(0.2)
    assert [len(ax.collections) for ax in figure.axes] == [1] * 4  # bands of few
    figure.draw_without_rendering()
    assert "≤ 0.0001" in [text.get_text() for text in figure.axes[0].get_yticklabels()]
