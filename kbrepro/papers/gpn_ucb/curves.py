"""Curves of regret in the notebook on GPN-UCB (Figs. 10 to 12); titles are computed from what is drawn."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.panels import QUANTITIES
from kbrepro.figures.pieces import titled
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.pictures import HERO
from kbrepro.regret import Trace, simple_regret

#: Numbers of pulls (k,), and simple regrets of NonAda (trials, k).
Dots = tuple[Array, Array]

#: Simple regret below this share of the range is drawn there.
FLOOR = 1e-4
#: Bands of more curves would cover each other.
BANDED = (HERO, "cEI")
#: NonAda has no curve: each number of pulls is another design.
DOT: dict[str, Any] = {"color": LOOK["NonAda"][0], "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.5}


# Figures 11 and 12


def regrets(
    name: str, panels: Mapping[str, Mapping[str, Trace]], *, quantity: str, nonada: Mapping[str, Dots] | None = None
) -> Figure:
    """Return cumulative or simple regret, four panels {title: traces}, median of trials; quartiles of BANDED alone.

    `nonada` {title: dots}. Simple regret below FLOOR is drawn there: with finitely many arms it can be 0.
    """
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.5))
    floor, medians = FLOOR if quantity == "simple" else 0.0, []
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=True):
        raised = {rule: trace._replace(gaps=np.maximum(trace.gaps, floor)) for rule, trace in traces.items()}
        figures.regret_quartiles(ax, raised, quantity=quantity, unit="range of g", hero=HERO)
        for line, band in list(zip(ax.lines, ax.collections, strict=True)):
            if line.get_label() not in BANDED:
                band.remove()
        if nonada:
            pulls, values = nonada[title]
            ax.plot(pulls, np.maximum(np.median(values, axis=0), floor), "o", **DOT, label="NonAda")
        ax.set_title(fill(title, 40))
        medians.append({rule: np.median(QUANTITIES[quantity][1](its), axis=0) for rule, its in raised.items()})
    for ax in axes.flat if quantity == "simple" else ():
        name_floor(ax)
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    figures.label_ends(*axes.flat)
    return titled(fig, f"{name}: {lowest(medians) if quantity == 'cumulative' else stuck(medians)}")


def name_floor(ax: Axes) -> None:
    """Say at its tick that what is drawn at FLOOR may be 0."""
    ax.yaxis.set_major_formatter(lambda y, _: f"≤ {FLOOR:g}" if y < 1.01 * FLOOR else f"{y:g}")


def lowest(panels: Sequence[Mapping[str, Array]]) -> str:
    """Return whether GPN-UCB is lowest in the end in every panel {rule: median cumulative regret (T,)}, or a label."""
    least = all(its[HERO][-1] <= min(curve[-1] for curve in its.values()) + 1e-9 for its in panels)
    return f"{HERO} has the lowest median regret" if least else "cumulative regret of each rule, median of trials"


def stuck(panels: Sequence[Mapping[str, Array]]) -> str:
    """Return whether GPN-UCB gets stuck in every panel {rule: median simple regret (T,)}, or a label.

    Stuck: above FLOOR in the end, and no lower than at half time.
    """
    every = all(its[HERO][-1] > FLOOR and its[HERO][-1] == its[HERO][len(its[HERO]) // 2] for its in panels)
    return f"{HERO} gets stuck on each of these chains" if every else "simple regret of each rule, median of trials"


# Figure 10


def oi(panels: Mapping[str, tuple[Mapping[float, Trace], Trace]]) -> Figure:
    """Return mean simple regret of OI for every b, and of cUCB, with 95 % intervals, one panel per chain.

    `panels`: {title: ({b: trace}, trace of cUCB)}. Neighbouring b that do the same in every panel share a curve;
    regret below FLOOR is drawn there.
    """
    fig, axes = pieces.row(len(panels), 3.6, sharey=True)
    shown = {
        title: ({b: pieces.mean_interval(simple_regret(trace)) for b, trace in swept.items()}, simple_regret(other))
        for title, (swept, other) in panels.items()
    }
    groups = alike([{b: mean for b, (mean, *_) in swept.items()} for swept, _ in shown.values()])
    colours = plt.cm.plasma(np.linspace(0, 0.65, len(groups)))  # dark enough for their labels
    for ax, (title, (swept, other)) in zip(axes, shown.items(), strict=True):
        rounds = range(1, other.shape[1] + 1)
        for its, colour in zip(groups, colours, strict=True):
            label = f"b = {its[0]:g}" + f" to {its[-1]:g}" * (len(its) > 1)
            pieces.banded(ax, rounds, np.maximum(swept[its[0]], FLOOR), label, color=colour, linewidth=2)
        of_cucb = np.maximum(pieces.mean_interval(other), FLOOR)
        pieces.banded(ax, rounds, of_cucb, "cUCB", color="black", linestyle="--")
        ax.set(xlabel="round t", title=title, xlim=(1, rounds[-1]))
        pieces.log_axes(ax, "y")
    name_floor(axes[0])
    trials = len(next(iter(panels.values()))[1].arms)
    axes[0].set_ylabel(f"simple regret (range of g)\nmean and 95 % interval\nof {trials} trials")
    ends = [(its[0][-1], other[:, -1].mean()) for swept, other in shown.values() for b, its in swept.items() if b <= 1]
    apart = max(abs(one - other) for one, other in ends)
    figures.label_ends(*axes)
    same = "OI does as cUCB does" if apart <= 0.01 else "OI and cUCB part"
    how = "both end equal" if apart < 0.0005 else f"ends at most {apart:.1%} of the range apart"
    return titled(fig, f"Fig. 10: for b ≤ 1 {same} ({how})")


def alike(panels: Sequence[Mapping[float, Array]]) -> list[list[float]]:
    """Return groups of neighbouring b whose curves {b: (T,)} stay within FLOOR of the group's first in every panel."""
    groups: list[list[float]] = []
    for b in panels[0]:
        if groups and all(np.abs(its[b] - its[groups[-1][0]]).max() <= FLOOR for its in panels):
            groups[-1].append(b)
        else:
            groups.append([b])
    return groups
