"""The figures of the notebook on IGP-UCB and GP-TS: each can be read and fits."""

import numpy as np
import pytest
from traces import trace_of

from kbrepro.papers.igp_ucb import pictures
from kbrepro.papers.igp_ucb.experiments import POOLS

ROW = np.linspace(0.5, 2, 40)
pytestmark = pytest.mark.usefixtures("styled")


def regrets():
    levels = np.linspace(0.5, 1.5, 6)[:, None] * np.arange(1.0, 301) ** -0.4
    columns = {"noisy incumbent": POOLS[", noisy incumbent"], "mean-based incumbent": (*POOLS[""], "PI, margin 0.01")}
    rules = dict.fromkeys(name for pool in columns.values() for name in pool)
    traces = {rule: trace_of((1.0 + (7 * i) % 8) * levels) for i, rule in enumerate(rules)}
    return pictures.regrets("Fig. 7", {"(a) SE": traces, "(b) Matérn": traces}, columns)


def sensors():
    first = {"GP-UCB": 3 * ROW, "IGP-UCB": ROW, "EI, noisy incumbent": 2 * ROW}
    second = {"GP-UCB": ROW, "IGP-UCB": 2 * ROW, "EI, noisy incumbent": np.where(ROW < 0.6, 0, 3 * ROW)}
    return pictures.sensors({"light": (first, "Lux"), "temperature": (second, "°C")}, horizon=100)


@pytest.mark.parametrize("draw", [regrets, sensors])
def test_a_figure_can_be_read(draw, checked):
    figure = draw()
    assert checked(figure) and figure.axes[-1].get_xlabel()
    if draw is sensors:  # sorted by median
        rules = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert rules == ["IGP-UCB", "EI, noisy incumbent", "GP-UCB"]
