"""The cells of π-GP-UCB in one round as a picture, from the frames that the notebook kept."""

from __future__ import annotations

import pandas as pd
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kbrepro.figures import LOOK
from kbrepro.papers.pi_gp_ucb.pictures import HERO

#: The table of frames, and the figure that stands in for the step-through where no script runs.
FRAMES, STILL = "frames_cells", "cells_splitting"
SIZE = (5.6, 5.0)
SAYS = "The cells of π-GP-UCB at the rounds that the run kept: where it pulls often, cells split"


def draw(fig: Figure, frames: pd.DataFrame, t: int) -> None:
    """Draw the cells of round t, shaded by the pulls inside; `frames` a row a cell, as `pictures.cells` takes them."""
    ax, now = fig.subplots(), frames[frames["round"] == t]
    fig.subplots_adjust(left=0.11, right=0.94, top=0.92, bottom=0.1)
    squares = [Rectangle((cell.x, cell.y), cell.side, cell.side) for cell in now.itertuples()]
    shade = LinearSegmentedColormap.from_list("pulls", ["white", LOOK[HERO][0]])
    cells = ax.add_collection(PatchCollection(squares, cmap=shade, edgecolor="0.4", linewidth=0.6))
    cells.set(array=now["pulls"].to_numpy(), clim=(0, frames["pulls"].max()))
    fig.colorbar(cells, ax=ax, label="pulls inside a cell")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="arm, first coordinate", ylabel="arm, second coordinate")
    ax.set_title(f"round {t:,}: {len(now)} cells, the smallest of side {now['side'].min():.3f}")
    ax.grid(visible=False)
