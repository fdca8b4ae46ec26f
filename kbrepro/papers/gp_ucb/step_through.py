"""One round of GP-UCB as a picture, from the frames that the notebook kept."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from kbrepro.figures import LOOK, WIDTH
from kbrepro.papers.gp_ucb.pictures import HERO

#: The table of frames, and the figure that stands in for the step-through where no script runs.
FRAMES, STILL = "frames_gp_ucb", "fig2_six_rounds"
SIZE = (WIDTH, 3.8)
SAYS = "GP-UCB round by round: the band narrows where it was pulled, and the next pull is its highest edge"


def draw(fig: Figure, frames: pd.DataFrame, t: int) -> None:
    """Draw posterior and band before the pull of round t, the pulls so far and the next one; `frames` a row an arm."""
    ax = fig.subplots()
    fig.subplots_adjust(left=0.08, right=0.98, top=0.9, bottom=0.26)
    now, before = frames[frames["round"] == t], frames[frames["round"] < t].drop_duplicates("round")
    high = now["mean"] + now["half"]
    ax.fill_between(now["x"], now["mean"] - now["half"], high, color="0.86", label="band")
    ax.plot(now["x"], now["f"], "--", color="0.35", linewidth=1.0, label="f, unknown")
    ax.plot(now["x"], now["mean"], color=LOOK[HERO][0], label="posterior mean")
    ax.plot(before["pulled"], before["observed"], "+", color="black", markersize=7, label="observed")
    at = now["pulled"].iloc[0]
    ax.plot(at, high[now["x"] == at], "v", color=LOOK["EI"][0], markersize=8, label="next pull: highest edge")
    edges = (frames["mean"] - frames["half"]).min(), (frames["mean"] + frames["half"]).max()
    seen = *edges, frames["observed"].min(), frames["observed"].max(), frames["f"].min(), frames["f"].max()
    ax.set(xlim=(0, 1), ylim=(min(seen) - 0.2, max(seen) + 0.2), xlabel="arm x", ylabel="reward")
    ax.set_title(f"round {t} of {frames['round'].max()}: widest half of the band {now['half'].max():.2f}")
    fig.legend(loc="lower center", ncols=5)
