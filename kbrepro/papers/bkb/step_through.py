"""The bands of BKB and its rivals after so many pulls as a picture, from the frames that the notebook kept."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from kbrepro.figures import LOOK, WIDTH
from kbrepro.papers.bkb.starvation import BAND

#: The table of frames, and the figure that stands in for the step-through where no script runs.
FRAMES, STILL = "frames_starvation", "headline_fig1_starvation"
SIZE = (WIDTH, 4.8)
SAYS = "Bands of BKB and its rivals pull by pull: a band that narrows where nothing was observed starves"


def draw(fig: Figure, frames: pd.DataFrame, t: int) -> None:
    """Draw the band of every posterior after t pulls over the exact one; `frames`: those of `starvation.frames`."""
    now = {name: its.sort_values("x") for name, its in frames[frames["t"] == t].groupby("name", sort=False)}
    exact = now.pop("exact")
    axes = fig.subplots(2, -(-len(now) // 2), sharex=True, sharey=True, squeeze=False)
    fig.subplots_adjust(left=0.08, right=0.98, top=0.86, bottom=0.19, hspace=0.2, wspace=0.1)
    for ax, (name, view) in zip(axes.flat, now.items(), strict=False):
        colour = LOOK[name][0]
        ax.axvspan(0, 0.5, color="0.95", linewidth=0, zorder=0)
        low, high = view["mean"] - BAND * view["sd"], view["mean"] + BAND * view["sd"]
        ax.fill_between(view["x"], low, high, color=colour, alpha=0.3, linewidth=0)
        for side in (-BAND, BAND):
            ax.plot(exact["x"], exact["mean"] + side * exact["sd"], color="black", linewidth=0.8)
        ax.plot(exact["x"], exact["f"], "--", color="black", linewidth=1.0)
        there = view[view["member"] > 0]["x"]
        ax.plot(there, [-4.3] * len(there), "|", color=colour, markersize=7)
        ax.set(ylim=(-4.7, 4.5), xlim=(0, 1), xticks=(0, 0.5, 1))
        ax.set_title(name)
    fig.suptitle(f"after {t} pulls, all in the shaded half", y=0.97)
    lines = "black lines: exact ± 3 sd; dashed: f, unknown; coloured: approximation ± 3 sd"
    fig.supxlabel(f"x\n{lines}; ticks: in the dictionary", size="medium", y=0.015)
    fig.supylabel("reward", size="medium", x=0.005)
