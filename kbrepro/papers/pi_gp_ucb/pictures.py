"""The figures of the notebook on π-GP-UCB."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import WIDTH, pieces
from kbrepro.figures.pieces import banded, mean_interval, titled
from kbrepro.papers import Curves, looks
from kbrepro.papers.pi_gp_ucb import measures
from kbrepro.trials.curve import edges
from kbrepro.typing import Array

HERO = "π-GP-UCB"
RIVAL = "IGP-UCB"


def table_1(
    shares: Mapping[tuple[int, str], Array], printed: Mapping[tuple[int, str], float]
) -> Figure:
    """Return shares of uniform regret (n,) by d and rule: runs, their mean, and the printed mean.

    The bar of ours is the 95 % prediction interval of a mean of 12 such runs (`half_width`).
    """
    fig, (ax,) = pieces.row(1, 3.9)
    for (d, rule), runs in shares.items():
        x = d + (-0.3 if rule == RIVAL else 0.14)
        colour = looks()[rule][0]
        at = x + 0.2 * (pieces.golden(len(runs)) - 0.5)
        ax.plot(at, np.sort(runs), "o", color=colour, markersize=2.5, alpha=0.35, markeredgewidth=0)
        ax.errorbar(
            x,
            runs.mean(),
            measures.half_width(runs),
            fmt="o",
            color=colour,
            markersize=5,
            capsize=3,
            label=f"{rule}: mean of runs (dots), where a mean of 12 would lie in 95 %",
        )
        ax.plot(
            x + 0.18,
            printed[d, rule],
            "D",
            color="black",
            markerfacecolor="white",
            markersize=5,
            label="printed mean of 12 runs",
        )
    ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
    ax.set_xticks([1, 2, 3], ["d = 1", "d = 2", "d = 3"])
    ax.set(xlim=(0.5, 3.5), ylabel="regret over that of uniform play\n(dotted: 1)", ylim=(0, None))
    ax.grid(visible=False, axis="x")
    return titled(fig, "Table 1 of Janz et al., replicated: regret", 1)


def figure_1(traces: Curves) -> Figure:
    """Return by rule cumulative regret, and regret and microseconds of a round in hundredths."""
    fig, (left, centre, right) = pieces.row(3, 2.9)
    horizon = traces[HERO].horizon
    t = np.linspace(1, horizon, 200).astype(int)
    ends = edges(horizon)
    middles = (ends[:-1] + ends[1:] + 1) / 2
    for rule, trace in traces.items():
        look = figures.look(rule, HERO)
        interval = mean_interval(trace.cumulative_regret[:, t - 1])
        banded(left, t, interval, rule, **look)
        of_hundredths = np.add.reduceat(trace.regret.mean(axis=0), ends[:-1]) / np.diff(ends)
        centre.plot(middles, of_hundredths, label=rule, **look)
        right.plot(middles, 1e6 * trace.seconds_a_round.mean(axis=0), label=rule, **look)
    left.set(ylabel="cumulative regret\n(mean and 95 % interval)", title="regret")
    centre.set(
        ylabel=f"regret of a round\n(mean of {ends[1]} rounds)",
        ylim=(0, None),
        title="regret of a round",
    )
    right.set(ylabel="microseconds of a round\n(mean of runs)", ylim=(0, None), title="time")
    for ax in (left, centre, right):
        ax.set(xlabel="round t", xlim=(0, horizon), xticks=(0, horizon // 2, horizon))
    return titled(fig, "Fig. 1 of Janz et al., replicated: d = 2", 2)


def surfaces(functions: Mapping[str, Curves]) -> Figure:
    """Return average regret on test functions {name: traces}, the main ones in the first row."""
    columns = -(-len(functions) // 2)
    fig, axes = plt.subplots(2, columns, figsize=(WIDTH, 4.8), sharex=True, sharey=True)
    top = 0.0
    for ax, (name, traces) in zip(axes.flat, functions.items(), strict=True):
        figures.regret_quartiles(
            ax, traces, quantity="average", spread="mean and 95 % interval", hero=HERO
        )
        ax.set_title(name)
        ax.label_outer()
        top = max(top, *(max(line.get_ydata()) for line in ax.lines))
    axes[0, 0].set_ylim(top=1.5 * top)
    for ax, kind in zip(axes[:, 0], ("main functions", "others"), strict=True):
        ax.set_ylabel(f"{kind}\n{ax.get_ylabel()}")
    return titled(
        fig, "Fig. 2 of Janz et al., replicated on functions that we guessed, and on others", 2
    )
