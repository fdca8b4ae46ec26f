"""The figure of the notebook on IGP-UCB and GP-TS can be read and fits."""

import numpy as np
import pytest
from traces import trace_of

from kbrepro.papers.igp_ucb import pictures

pytestmark = pytest.mark.usefixtures("styled")


def test_the_figure_can_be_read(checked):
    levels = np.linspace(0.5, 1.5, 6)[:, None] * np.arange(1.0, 301) ** -0.4
    rules = dict.fromkeys(sum(pictures.COLUMNS.values(), ()))
    traces = {rule: trace_of((1.0 + (7 * i) % 8) * levels) for i, rule in enumerate(rules)}
    figure = pictures.regrets("Fig. 7", {"(a) SE": traces})
    assert checked(figure) and figure.axes[-1].get_xlabel()
