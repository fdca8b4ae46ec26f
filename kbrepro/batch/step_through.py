"""A run that is stepped through in the browser: frames drawn by a paper's room, played without network."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.animation import FuncAnimation
from matplotlib.figure import Figure

from kbrepro import figures

#: Notebook -> the paper's room, whose module `step_through` draws one frame.
ROOMS = {"01_gp_ucb_information_gain": "gp_ucb", "03_pi_gp_ucb_scaling": "pi_gp_ucb"}
ROOMS |= {"04_bkb_variance_starvation": "bkb"}
#: A frame's milliseconds, and dots an inch.
PAUSE, DPI = 700, 90


class StepThrough(NamedTuple):
    """The HTML of a step-through, and the name of the figure that shows the same standing still."""

    html: str
    still: str


def of(folder: Path) -> StepThrough | None:
    """Return the step-through of one run, drawn from the frames in its tables; None where it kept none."""
    if folder.name not in ROOMS:
        return None
    room = import_module(f"kbrepro.papers.{ROOMS[folder.name]}.step_through")
    table = folder / "tables" / f"{room.FRAMES}.csv"
    if not table.is_file():
        return None
    return StepThrough(_still_without_script(_played(pd.read_csv(table), room), folder, room), room.STILL)


def _played(frames: pd.DataFrame, room: ModuleType) -> str:
    """The player of matplotlib, without the link to its icons in the network: the theme of the site has them."""
    figures.use_style()
    with plt.rc_context({"figure.constrained_layout.use": False}):
        fig = plt.figure(figsize=room.SIZE, dpi=DPI)
        draw, steps = partial(_draw, fig, frames, room), frames.iloc[:, 0].unique().tolist()
        text = FuncAnimation(fig, draw, frames=steps, interval=PAUSE).to_jshtml(default_mode="once")
        plt.close(fig)
    return re.sub(r"<link[^>]*>", "", text).replace("<img ", f'<img alt="{escape(room.SAYS)}" ', 1)


def _draw(fig: Figure, frames: pd.DataFrame, room: ModuleType, t: int) -> None:
    fig.clear()
    room.draw(fig, frames, t)


def _still_without_script(player: str, folder: Path, room: ModuleType) -> str:
    still = f'<img src="{folder.name}/figures/{room.STILL}.svg" alt="{escape(room.SAYS)}">'
    hidden = f"<noscript><style>.animation {{ display: none; }}</style>{still}</noscript>"
    return f'<div class="step-through"><p>Step through: {escape(room.SAYS)}.</p>{player}{hidden}</div>'
