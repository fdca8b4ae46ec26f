"""The still picture of a live scene, drawn from what kbrepro's own policies do."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kbrepro.figures import pieces
from kbrepro.figures.live import moments
from kbrepro.figures.style import SMALLEST, WIDTH, look
from kbrepro.kernels import grid


def players(moment: dict[str, Any], policies: moments.Policies, title: str) -> Figure:
    """Return f, posterior and band of both players at a moment, and the regret of both until then."""
    fig, axes = plt.subplot_mosaic([[0, 1], ["regret", "regret"]], figsize=(WIDTH, 5.2), height_ratios=[1.6, 1])
    for i, its in enumerate(moments.played(moment["truth"], moment["players"], policies)):
        name, so_far = moment["players"][i]["name"], its[: moment["t"] - 1]
        _player(axes[i], moment["truth"]["f"], its[moment["t"] - 1], so_far, name)
        regret = [0.0, *(seen["regret"] for seen in so_far)]
        axes["regret"].plot(regret, label=name, **look(name))
    axes[0].set_ylabel("reward")
    axes[1].sharey(axes[0])
    axes["regret"].set(xlabel="round", ylabel="regret", xlim=(0, None), ylim=(0, None))
    axes["regret"].legend(loc="upper left")
    pieces.legend_below(fig, 4, [axes[0]])
    return pieces.titled(fig, title)


def _player(ax: Axes, f: list[float], now: dict[str, Any], so_far: list[dict[str, Any]], name: str) -> None:
    x, colour, width = grid(len(f))[:, 0], look(name)["color"], now.get("width", 2.0)
    ends = [now["mean"] + s * width * now["sd"] for s in (-1, 1)]
    ax.fill_between(x, *ends, color=colour, alpha=0.2, linewidth=0, label="band")
    ax.plot(x, f, "--", color="black", linewidth=1.0, label="f, unknown")
    ax.plot(x, now["mean"], color=colour, label="posterior mean")
    pulls = np.array([[x[seen["arm"]], seen["y"]] for seen in so_far]).reshape(-1, 2)
    ax.plot(*pulls.T, "o", color="black", markersize=3, alpha=0.7, label="observed")
    missed = sum(seen.get("holds") is False for seen in [*so_far, now])
    told = f"band missed f in {missed} of {now['t']} rounds" if "width" in now else "band: ± 2 sd, no promise"
    ax.set_title(f"{name}\n{told}", fontsize=SMALLEST + 1)
    ax.set(xlabel="arm x", xlim=(0, 1), ylim=(-4.5, 4.5))
