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
from kbrepro.figures.comparisons import paired
from kbrepro.kernels import Array
from kbrepro.regret import Curve, bootstrap, intervals, log_spaced, ratio

#: {rule: R_T / T of every trial (n,)}
Panel = Mapping[str, Array]
Panels = Mapping[str, Mapping[str, Curve]]

HERO = "IGP-UCB"


# Figures 1 to 3


def regrets(figure_name: str, panels: Panels, columns: Mapping[str, Sequence[str]]) -> Figure:
    """Return cumulative regret, one row per panel {title: traces}, one column per choice of rules {title: names}."""
    size = (WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(columns), figsize=size, sharey="row", squeeze=False)
    for ax, ((title, traces), (column, names)) in zip(axes.flat, product(panels.items(), columns.items()), strict=True):
        figures.regret_quartiles(ax, {name: traces[name] for name in names}, hero=HERO)
        ax.set_title(fill(f"{title}, {column}", 34))
        ax.label_outer()
    return figures.labelled(fig, f"{figure_name} of Chowdhury and Gopalan, replicated: cumulative regret")


# Comparisons


def since(panels: Mapping[str, tuple[Array, Array]], *, seed: int) -> Figure:
    """Return R_T with the tighter width over that with the classical one: {label: (tighter, classical)}, (n,) each."""
    ratios = {}
    for label, (tighter, classical) in panels.items():
        estimate = bootstrap(ratio, tighter, classical, rng=intervals(seed))
        ratios[fill(label, 24)] = np.divide(*pieces.positive(tighter, classical)), estimate
    title = "Since the paper: regret with the tighter width over that with the classical one"
    return paired(ratios, title, "$R_T$, tighter over classical width")


# The incumbent


def incumbent(excess: Array, best_share: Mapping[str, Array]) -> Figure:
    """Return how far the largest reward runs away in units of R, and how often rules pull the best arm, (n, T) each."""
    fig, (left, right) = pieces.row(2, 3.4)
    t = log_spaced(excess.shape[1])
    mean, sd = excess.mean(axis=0)[t - 1], excess.std(axis=0, ddof=1)[t - 1]
    pieces.banded(left, t, (mean, mean - sd, mean + sd), "largest reward", color=LOOK["EI"][0])
    left.plot(t, np.sqrt(2 * np.log(t)), "--", color="black", linewidth=1.0, label=r"$\sqrt{2\,\ln t}$")
    left.axhline(0, color="black", linewidth=0.8)
    left.set(
        ylabel=f"largest reward so far less max f\n(units of R; mean ± sd of {len(excess)} trials)", ylim=(-8, None)
    )
    for rule, curves in best_share.items():
        pieces.banded(right, t, pieces.mean_interval(curves[:, t - 1]), rule, **figures.look(rule, HERO))
    right.set(ylabel="share of pulls of the best arm so far\n(mean and 95 % interval)", ylim=(0, 1))
    for ax in (left, right):
        ax.set(xlabel="round t", xlim=(1, t[-1]))
        pieces.log_axes(ax, "x")
    return figures.labelled(
        fig, "Two incumbents of EI and PI: the largest noisy reward, and the largest posterior mean"
    )


# Figure 4


def sensors(sets: Mapping[str, tuple[Panel, str]], *, horizon: int) -> Figure:
    """Return median and quartiles of R_T over rows of readings, one stroke per row: {label: (panel, unit)}.

    R_T of 0 is drawn at the smallest above 0.
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
