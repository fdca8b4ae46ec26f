"""The figures of the notebook on GPN-UCB: readable, and what they draw is what they were given."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from traces import trace_of

from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb import pictures
from kbrepro.papers.gpn_ucb.needle import Needles
from kbrepro.papers.gpn_ucb.problems import DrawnChain

pytestmark = pytest.mark.usefixtures("styled")


def trace(level, end=0.0):
    """Regret `level` in the first half of 60 rounds, then `end`; trials differ by a few percent."""
    return trace_of(np.where(np.arange(60) < 30, level, end) * np.linspace(0.9, 1.1, 6)[:, None])


def test_regret_and_nonada_are_drawn_in_every_panel_with_bands_of_few(checked):
    rules = {
        rule: trace(0.5 + 0.1 * i, end=0.01)
        for i, rule in enumerate(("cUCB", "OI", "GP-UCB", "EI"))
    }
    panels = dict.fromkeys("abcd", {"GPN-UCB": trace(0.4)} | rules)
    dots = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6)))
    checked(figure := pictures.regrets("Fig. 12", panels, "simple", dots))
    for ax in figure.axes:
        shown = {line.get_label(): line.get_ydata() for line in ax.lines}
        assert shown["NonAda"].tolist() == [pytest.approx(0.2), 0.0] and shown["cUCB"][
            -1
        ] == pytest.approx(0.01)
        assert sum(isinstance(each, PolyCollection) for each in ax.collections) == 1


def test_the_other_figures_can_be_read_and_fit_a_page(checked):
    checked(
        pictures.chains(
            {kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10
        )
    )
    checked(
        pictures.oi(
            {"a": {"b = 0.1": trace(0.5, 0.04), "b = 10": trace(0.5, 0.4), "cUCB": trace(0.5)}}
        )
    )
    checked(pictures.raised(Needles(4, 0.15, depth=3, nu=1.5)))
