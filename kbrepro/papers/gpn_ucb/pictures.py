"""The figures of the notebook on GPN-UCB. Regrets are shares of the range of g."""

from collections.abc import Mapping
from dataclasses import replace
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import mean_interval, titled
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.regret import Curve, simple_regret

HERO = "GPN-UCB"
#: Colours of nu = 1, 1.5, 2.
COLOURS = [LOOK[HERO][0], "#a04000", "#202868"]

#: Numbers of pulls (k,), and simple regrets of NonAda (trials, k).
Dots = tuple[Array, Array]
#: Simple regret below this share of the range is drawn there.
FLOOR = 1e-4
#: Bands of more curves would cover each other.
BANDED = (HERO, "cEI")
#: NonAda has no curve: each number of pulls is another design.
DOT: dict[str, Any] = {"color": LOOK["NonAda"][0], "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.5}


def chains(problems: Mapping[str, NetworkProblem], side: int) -> Figure:
    """Return layer 1 and g on the arms, and layers 2 and 3 on their inputs, one row per chain (Fig. 9)."""
    fig, axes = plt.subplots(len(problems), 4, figsize=(WIDTH, 1.9 * len(problems) + 0.5), squeeze=False)
    x = np.linspace(-5, 5, side)
    for row, (kind, problem) in zip(axes, problems.items(), strict=True):
        first, second, third = (output[:, 0] for output in problem.outputs)
        for ax, values, name in ((row[0], first, "layer 1"), (row[3], third, fill(f"g, {kind}", 18))):
            mesh = ax.pcolormesh(x, x, values.reshape(side, side).T, cmap="viridis", rasterized=True)
            fig.colorbar(mesh, ax=ax)
            ax.set(title=name, xlabel="$x_1$", ylabel="$x_2$", xticks=(-5, 0, 5), yticks=(-5, 0, 5))
            ax.grid(visible=False)
        row[3].plot(*problem.model.points[third.argmax()], "*", color="white", markeredgecolor="black", markersize=9)
        for ax, inputs, values, name in ((row[1], first, second, "layer 2"), (row[2], second, third, "layer 3")):
            order = np.argsort(inputs)
            ax.plot(inputs[order], values[order], color="0.2")
            ax.set(title=name, xlabel="its input", ylabel="its output")
            ax.locator_params(axis="x", nbins=3)
    return titled(fig, "Fig. 9 of Li and Scarlett, replicated: two chains drawn from the prior (star: the maximiser)")


def regrets(
    name: str, panels: Mapping[str, Mapping[str, Curve]], *, quantity: str, nonada: Mapping[str, Dots] | None = None
) -> Figure:
    """Return cumulative or simple regret (Figs. 11, 12), four panels {title: traces}, quartiles of BANDED alone.

    `nonada` {title: dots}. Simple regret below FLOOR is drawn there: with finitely many arms it can be 0.
    """
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.5))
    floor = FLOOR if quantity == "simple" else 0.0
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=True):
        raised = {rule: replace(trace, gaps=np.maximum(trace.gaps, floor)) for rule, trace in traces.items()}
        figures.regret_quartiles(ax, raised, quantity=quantity, unit="range of g", hero=HERO, bands=BANDED)
        if nonada:
            pulls, values = nonada[title]
            ax.plot(pulls, np.maximum(np.median(values, axis=0), floor), "o", **DOT, label="NonAda")
        ax.set_title(fill(title, 40))
        if floor:
            name_floor(ax)
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    figures.label_ends(*axes.flat)
    return titled(fig, f"{name} of Li and Scarlett, replicated: {quantity} regret")


def name_floor(ax: Axes) -> None:
    """Say at its tick that what is drawn at FLOOR may be 0."""
    ax.yaxis.set_major_formatter(lambda y, _: f"≤ {FLOOR:g}" if y < 1.01 * FLOOR else f"{y:g}")


def oi(panels: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """Return mean simple regret with 95 % intervals (Fig. 10), panels {kind of chain: {`b = 1`: trace, ..., cUCB}}."""
    fig, axes = pieces.row(len(panels), 3.6, sharey=True)
    for ax, (title, traces) in zip(axes, panels.items(), strict=True):
        colours = [*plt.cm.plasma(np.linspace(0, 0.65, len(traces) - 1)), "black"]  # dark enough for their labels
        for (label, trace), colour in zip(traces.items(), colours, strict=True):
            curves, line = np.maximum(mean_interval(simple_regret(trace)), FLOOR), "--" if label == "cUCB" else "-"
            pieces.banded(ax, range(1, trace.horizon + 1), curves, label, color=colour, linestyle=line)
        ax.set(xlabel="round t", title=title, xlim=(1, trace.horizon))
        pieces.log_axes(ax, "y")
    name_floor(axes[0])
    axes[0].set_ylabel(f"simple regret (range of g)\nmean and 95 % interval\nof {len(trace.arms)} trials")
    figures.label_ends(*axes)
    return titled(fig, "Fig. 10 of Li and Scarlett, replicated: simple regret of OI for five b, and of cUCB")


def lower_bound(regrets: Mapping[float, pd.DataFrame], sources: Mapping[float, needle.Needles]) -> Figure:
    """Return a needle as the layers raise it, g~ (Fig. 6), and average simple regret over all needles (Theorem 5).

    `regrets`: {nu: simple regret over epsilon, one row per needle, one column per algorithm}; `sources`: {nu: their
    source}.
    """
    fig, (left, middle, right) = pieces.row(3, 3.6, width_ratios=[1, 0.9, 1.3])
    first = next(iter(sources.values()))
    x = np.linspace(0, 1, 2001)
    height = first.low * needle.bump((x - (first.per_side // 2 + 0.5) / first.per_side) / first.radius)
    for number in range(1, first.depth + 1):
        left.plot(x, height, color=str(0.7 * (1 - number / first.depth)), label=f"layer {number}")
        height = first.raised(height)
    left.axhline(2 * first.epsilon, color="black", linestyle=":", linewidth=1.0, label="2ε, the best arm")
    left.set(xlabel="arm, first coordinate", ylabel="output of a layer", ylim=(None, 3.2 * first.epsilon))
    left.set_title(f"one of {first.per_side**2} needles, cut through")
    left.legend(loc="upper left", fontsize=SMALLEST)
    z = np.linspace(0, needle.REACH, 200)
    for (nu, frame), colour, side in zip(regrets.items(), COLOURS, (-0.22, 0, 0.22), strict=False):
        middle.plot(z, needle.amplifier(z, nu), color=colour, label=f"ν = {nu:g}")
        value, low, _ = mean_interval(frame.to_numpy())
        right.errorbar(value, np.arange(len(value)) + side, xerr=value - low, fmt="o", markersize=4, color=colour)
    middle.set(xlabel="output of a layer", ylabel="output of the next", title="Fig. 6: how layers raise")
    right.axvline(1, color="black", linestyle="--", linewidth=1.0)
    right.set(xlim=(0, 2.05), xlabel="simple regret over ε\n(mean of needles, 95 % interval;\ndashed: lower bound)")
    pieces.name_rows(right, list(frame))
    return titled(fig, "Fig. 6 and Theorem 5 of Li and Scarlett, replicated: needles, and regret on them", 3, panel=1)
