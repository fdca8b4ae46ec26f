"""The figures of the notebook on IGP-UCB and GP-TS."""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.kernels import Array
from kbrepro.regret import Curve

HERO = "IGP-UCB"


# Figures 1 to 3


def regrets(name: str, panels: Mapping[str, Mapping[str, Curve]], columns: Mapping[str, Sequence[str]]) -> Figure:
    """Return cumulative regret, one row per panel {title: traces}, one column per choice of rules {title: names}."""
    size = (WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(columns), figsize=size, sharey="row", squeeze=False)
    for ax, ((title, traces), (column, names)) in zip(axes.flat, product(panels.items(), columns.items()), strict=True):
        figures.regret_quartiles(ax, {name: traces[name] for name in names}, hero=HERO)
        ax.set_title(fill(f"{title}, {column}", 34))
        ax.label_outer()
    return figures.labelled(fig, f"{name} of Chowdhury and Gopalan, replicated: cumulative regret")


# Figure 4


def sensors(sets: Mapping[str, tuple[Mapping[str, Array], str]], *, horizon: int) -> Figure:
    """Return median and quartiles of R_T over rows of readings, one stroke per row: {label: (panel, unit)}.

    A panel has R_T / T of every trial (n,) by rule. R_T of 0 is drawn at the smallest above 0.
    """
    fig, axes = pieces.row(len(sets), 1.5 + 0.24 * max(len(panel) for panel, _ in sets.values()))
    for ax, (label, (panel, unit)) in zip(axes, sets.items(), strict=True):
        order = sorted(panel, key=lambda rule: np.median(panel[rule]))
        rows = pd.DataFrame(dict(zip(order, pieces.positive(*(horizon * panel[rule] for rule in order)), strict=True)))
        sns.stripplot(rows, orient="h", ax=ax, color="0.6", marker="|", linewidth=0.5, size=8, jitter=False, alpha=0.5)
        looks: dict[str, Any] = {"palette": [LOOK[rule][0] for rule in order], "linestyle": "none"}
        sns.pointplot(rows, orient="h", ax=ax, estimator="median", errorbar=("pi", 50), zorder=3, markersize=5, **looks)
        ax.get_yticklabels()[order.index(HERO)].set_fontweight("bold")
        ax.set(title=fill(label, 36), xlabel=f"cumulative regret $R_T$ ({unit})")
        pieces.log_axes(ax, "x")
    fig.supxlabel(f"dot and bar: median and quartiles, T = {horizon:,}; grey: one stroke a row of readings", size=8)
    return pieces.titled(fig, "Fig. 4 of Chowdhury and Gopalan, replicated: cumulative regret on sensors")
