"""The figures of the notebook on GP-UCB."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import KERNEL_LOOK, WIDTH, pieces
from kbrepro.papers import Curves, looks
from kbrepro.trials.curve import Curve
from kbrepro.typing import Array

HERO = "GP-UCB/5"
#: The paper's own comparison.
RULES = ("GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only")
#: What is compared with the rules since the paper.
LATER = ("GP-UCB", "GP-UCB/5", "EI", "IRGP-UCB", "PIMS", "GP-EIMS")
#: What is compared in Figure 5; bands of more rules would cover each other.
BANDED = (HERO, "EI")


# One run


def strip(frames: pd.DataFrame, shown: Sequence[int]) -> Figure:
    """Return posterior and band before the pull in each of the rounds shown, and the pull.

    `frames`: a row per round and arm.
    """
    columns = -(-len(shown) // 2)
    fig, axes = plt.subplots(2, columns, figsize=(WIDTH, 4.2), sharex=True, sharey=True)
    for ax, t in zip(axes.flat, shown, strict=True):
        now = frames[frames["round"] == t]
        before = frames[frames["round"] < t].drop_duplicates("round")
        low = now["mean"] - now["half"]
        high = now["mean"] + now["half"]
        ax.fill_between(now["x"], low, high, color="0.86", label="band")
        ax.plot(now["x"], now["f"], "--", color="0.35", linewidth=1.0, label="f, unknown")
        ax.plot(now["x"], now["mean"], color=looks()[HERO][0], label="posterior mean")
        ax.plot(
            before["pulled"], before["observed"], "+", color="black", markersize=6, label="observed"
        )
        at = now["pulled"].iloc[0]
        edge = high[now["x"] == at]
        ax.plot(at, edge, "v", color=looks()["EI"][0], label="next pull: highest edge of the band")
        ax.set(title=f"round {t}", xlabel="arm x", ylabel="reward")
        ax.label_outer()
    return pieces.titled(
        fig, "Fig. 2b and 2c of Srinivas et al., replicated: GP-UCB/5", 5, panel=len(shown) - 1
    )


# Figure 5


def figure_5a(traces: Curves) -> Figure:
    """Return Fig. 5a: mean average regret on functions of the prior, by rule."""
    title = "Fig. 5a of Srinivas et al., replicated: average regret on functions of the prior"
    panel = _only((*RULES, "GP-UCB, Theorem 2"), traces)
    return regrets(title, {"": panel}, spread="mean and 95 % interval")


def figure_5b(thirds: Mapping[str, Curves], data: str, unit: str, block: int) -> Figure:
    """Return Fig. 5b, a panel for each third of the days: intervals from means of `block` rows."""
    title = f"Fig. 5b of Srinivas et al., replicated: average regret, {data}"
    panels = {f"{third} tested": _only(RULES, traces) for third, traces in thirds.items()}
    return regrets(title, panels, spread="mean and 95 % interval", unit=unit, block=block)


def since_the_paper(panels: Mapping[str, Curves]) -> Figure:
    """Return the average regret of rules since the paper, a panel each {title: {rule: trace}}."""
    return regrets(
        "Since the paper: average regret of later rules beside GP-UCB and EI",
        {name: _only(LATER, traces) for name, traces in panels.items()},
    )


def _only(rules: Sequence[str], traces: Curves) -> dict[str, Curve]:
    return {rule: traces[rule] for rule in rules}


def regrets(title: str, panels: Mapping[str, Curves], **settings: object) -> Figure:
    """Return average regret, a panel each {title: {rule: trace}} (`figures.regret_quartiles`)."""
    settings |= {"quantity": "average", "hero": HERO, "bands": BANDED}
    fig, axes = figures.regret_row(panels, 3.9, **settings)
    # the first panel alone has set it
    axes[0].set_ylim(top=1.1 * max(ax.dataLim.y1 for ax in axes))
    if len(panels) > 2:  # labels at the ends of curves would take half of the page
        return pieces.titled(fig, title, 6)
    return figures.labelled(fig, title)


# Information gain


def information(
    spectra: Mapping[str, Array], bounds: Mapping[str, Array], greedy: Mapping[str, Array]
) -> Figure:
    """Return Fig. 3: spectra, the bound of eq. 8 and the gain of greedy pulls, by kernel."""
    fig, axes = pieces.row(3, 3.0)
    for name, (colour, style) in KERNEL_LOOK.items():
        for ax, values in zip(axes, (spectra[name], bounds[name], greedy[name]), strict=True):
            numbers = np.arange(1, len(values) + 1)
            ax.plot(numbers, values, style, color=colour, label=name)
    most = max(values[0] for values in spectra.values())
    top = max(values[-1] for values in bounds.values())
    axes[0].set(title="spectrum", xlabel="rank s", ylabel=r"eigenvalue $\hat\lambda_s$")
    axes[0].set(xlim=(0, 40), yscale="log", ylim=(1e-4, 2 * most))
    for ax, title in zip(axes[1:], ("bound of eq. 8", "greedy pulls"), strict=True):
        ax.set(title=title, xlabel="pulls T", ylabel="gain (nats)", ylim=(1, 1.2 * top))
        pieces.log_axes(ax, "xy")
    title = "Fig. 3 of Srinivas et al., replicated, with 100 arms: spectra and gains"
    return pieces.titled(fig, title, 4)
