"""The figures of the notebook on IGP-UCB and GP-TS."""

from collections.abc import Mapping
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.data import SensorData
from kbrepro.papers import Curves
from kbrepro.papers.igp_ucb.measures import POOLS

HERO = "IGP-UCB"
#: Columns of a figure, by incumbent, and their rules; EI and PI with a margin beside those without.
COLUMNS = {
    "noisy incumbent": POOLS[", noisy incumbent"],
    "posterior-mean incumbent": (*POOLS[""], *POOLS[", margin 0.1"][3:]),
}
#: How panels of Fig. 4 are called where the readings are real.
SENSORS = {"temperature": "temperature, learned from half-hour means", "light": "light"}


def regrets(name: str, panels: Mapping[str, Curves]) -> Figure:
    """Return cumulative regret: a row for each panel {title: traces}, a column for each
    incumbent.
    """
    size = (figures.WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(COLUMNS), figsize=size, sharey="row", squeeze=False)
    for row, (title, traces) in zip(axes, panels.items(), strict=True):
        for ax, (column, names) in zip(row, COLUMNS.items(), strict=True):
            shown = {name: traces[name] for name in names}
            figures.regret_quartiles(ax, shown, hero=HERO)
            ax.set_title(fill(f"{title}, {column}", 34))
            ax.label_outer()
    return figures.labelled(fig, f"{name} of Chowdhury and Gopalan, replicated: cumulative regret")


def sensors(fields: Mapping[str, Curves], data: Mapping[str, SensorData]) -> Figure:
    """Return Fig. 4: cumulative regret on sensors, by the name of their readings."""
    panels: dict[str, Curves] = {}
    for name, traces in fields.items():
        label = SENSORS[name] if data[name].is_real else f"SIMULATED SUBSTITUTE for {name}"
        panels[f"{label} ({data[name].unit})"] = traces
    return regrets("Fig. 4", panels)
