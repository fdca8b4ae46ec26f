"""The shared panels draw what they say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from kbrepro import figures
from kbrepro.regret import Trace


@pytest.fixture
def traces():
    regret = np.random.default_rng(3).random((20, 50))
    empty = np.zeros((20, 50))
    return {"EI": Trace(empty, empty, regret, empty[:, 0], empty)}


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.mark.parametrize(("band", "half"), [("standard deviation", 1.0), ("95 % interval", 1.96 / np.sqrt(20))])
def test_cumulative_regret_with_its_band(ax, traces, band, half):
    figures.cumulative_panel(ax, traces, unit="°C", band=band)
    curves = np.cumsum(traces["EI"].regret, axis=1)
    (line,) = ax.get_lines()
    np.testing.assert_allclose(line.get_xdata(), np.arange(1, 51))
    np.testing.assert_allclose(line.get_ydata(), curves.mean(axis=0))
    edges = ax.collections[0].get_paths()[0].vertices
    top = edges[edges[:, 0] == 50, 1].max()
    assert top == pytest.approx(curves[:, -1].mean() + half * curves[:, -1].std(ddof=1))
    assert ax.get_ylabel() == "cumulative regret $R_t$ (°C)"


def test_an_unknown_band_is_refused(ax, traces):
    with pytest.raises(ValueError, match="band = 'none'"):
        figures.cumulative_panel(ax, traces, band="none")


def test_no_two_algorithms_look_alike_in_one_paper():
    papers = [
        [
            "GP-UCB",
            "GP-UCB/5",
            "EI",
            "EI, noisy incumbent",
            "MPI",
            "MPI, noisy incumbent",
            "mean only",
            "variance only",
        ],
        ["GP-UCB", "IGP-UCB", "GP-TS", "EI", "EI, noisy incumbent", "MPI", "MPI, noisy incumbent"],
        ["IGP-UCB", "π-GP-UCB", "π-GP-UCB, thesis"],
        ["exact", "BKB", "BKB, streaming", "SoR", "DTC, uniform", "RFF", "QFF"],
        ["GPN-UCB", "NonAda", "cUCB", "OI", "cEI", "cEI, exact", "GP-UCB", "EI"],
    ]
    for names in papers:
        assert len({figures.LOOK[name] for name in names}) == len(names)


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
    plt.close(fig)
