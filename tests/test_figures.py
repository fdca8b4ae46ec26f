"""The grid of cumulative regret: every curve where it belongs, on an axis that the lines decide."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from kbrepro import figures
from kbrepro.simulation import Trace


def trace(level):
    regret = np.full((3, 40), level) * np.array([[0.5], [1.0], [1.5]])
    return Trace(np.zeros((3, 40), int), regret, regret, np.zeros(3), regret)


def test_cumulative_grid_puts_every_policy_into_its_column():
    rows = {"first": {"IGP-UCB": trace(1.0), "EI": trace(2.0)}, "second": {"IGP-UCB": trace(10.0), "EI": trace(4.0)}}
    fig = figures.cumulative_grid(rows, {"one": ["IGP-UCB"], "both": ["IGP-UCB", "EI"]}, units=["Lux", "mph"])
    shown = {ax.get_title(): {line.get_label(): line.get_ydata()[-1] for line in ax.lines} for ax in fig.axes}
    assert shown == {
        "first, one": {"IGP-UCB": pytest.approx(40)},
        "first, both": {"IGP-UCB": pytest.approx(40), "EI": pytest.approx(80)},
        "second, one": {"IGP-UCB": pytest.approx(400)},
        "second, both": {"IGP-UCB": pytest.approx(400), "EI": pytest.approx(160)},
    }
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["IGP-UCB", "EI"]
    assert "Lux" in fig.axes[0].get_ylabel() and "mph" in fig.axes[2].get_ylabel()
    assert [ax.get_ylim()[0] for ax in fig.axes] == pytest.approx([3.3, 3.3, 13.2, 13.2])  # a third of round 11
    figures.plt.close(fig)
