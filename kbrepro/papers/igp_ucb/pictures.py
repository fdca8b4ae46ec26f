"""The figures of the notebook on IGP-UCB and GP-TS."""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.curve import Curve

HERO = "IGP-UCB"


def regrets(
    name: str, panels: Mapping[str, Mapping[str, Curve]], columns: Mapping[str, Sequence[str]]
) -> Figure:
    """Return cumulative regret, one row per panel {title: traces}, one column per choice of rules
    {title: names}.
    """
    size = (figures.WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(columns), figsize=size, sharey="row", squeeze=False)
    for ax, ((title, traces), (column, names)) in zip(
        axes.flat, product(panels.items(), columns.items()), strict=True
    ):
        figures.regret_quartiles(ax, {name: traces[name] for name in names}, hero=HERO)
        ax.set_title(fill(f"{title}, {column}", 34))
        ax.label_outer()
    return figures.labelled(fig, f"{name} of Chowdhury and Gopalan, replicated: cumulative regret")
