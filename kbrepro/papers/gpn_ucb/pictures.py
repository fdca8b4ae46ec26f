"""The figures of the notebook on GPN-UCB. Regrets are shares of the range of g."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.curve import Curve
from kbrepro.figures import WIDTH, pieces
from kbrepro.figures.pieces import titled
from kbrepro.papers import looks
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.network import NetworkProblem

#: A simple regret below this share of the range is beyond the axis.
LEAST = 1e-4
#: {title: {rule: curve}}
Panels = Mapping[str, Mapping[str, Curve]]
#: NonAda has no curve: each number of pulls is another design.
DOT: dict[str, Any] = {
    "color": looks()["NonAda"][0],
    "markersize": 4,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}


def chains(problems: Mapping[str, NetworkProblem], side: int) -> Figure:
    """Return layer 1 and g on the arms, and layers 2 and 3 on their inputs, one row per chain (Fig.
    9).
    """
    fig, axes = plt.subplots(
        len(problems), 4, figsize=(WIDTH, 1.9 * len(problems) + 0.5), squeeze=False
    )
    x = np.linspace(-5, 5, side)
    for row, (kind, problem) in zip(axes, problems.items(), strict=True):
        first, second, third = (output[:, 0] for output in problem.outputs)
        for ax, values, name in (
            (row[0], first, "layer 1"),
            (row[3], third, fill(f"g, {kind}", 18)),
        ):
            mesh = ax.pcolormesh(
                x, x, values.reshape(side, side).T, cmap="viridis", rasterized=True
            )
            fig.colorbar(mesh, ax=ax)
            ax.set(title=name, xlabel="$x_1$", ylabel="$x_2$", xticks=(-5, 0, 5), yticks=(-5, 0, 5))
            ax.grid(visible=False)
        row[3].plot(
            *problem.model.points[third.argmax()],
            "*",
            color="white",
            markeredgecolor="black",
            markersize=9,
        )
        for ax, inputs, values, name in (
            (row[1], first, second, "layer 2"),
            (row[2], second, third, "layer 3"),
        ):
            order = np.argsort(inputs)
            ax.plot(inputs[order], values[order], color="0.2")
            ax.set(title=name, xlabel="its input", ylabel="its output")
            ax.locator_params(axis="x", nbins=3)
    return titled(
        fig,
        "Fig. 9 of Li and Scarlett, replicated: two chains drawn from the prior (star: the"
        " maximiser)",
    )


def regrets(
    name: str, panels: Panels, quantity: str, nonada: Mapping[str, Any] | None = None
) -> Figure:
    """Return cumulative or simple regret (Figs. 11, 12), four panels {title: traces}.

    `nonada`: {title: numbers of pulls (k,), simple regrets of NonAda (trials, k)}.
    """
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.5))
    settings: dict[str, Any] = {"quantity": quantity, "unit": "range of g", "hero": "GPN-UCB"}
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=True):
        figures.regret_quartiles(ax, traces, bands=("GPN-UCB", "cEI"), **settings)
        if nonada:
            pulls, values = nonada[title]
            ax.plot(pulls, np.median(values, axis=0), "o", **DOT, label="NonAda")
        ax.set_title(fill(title, 40))
        if quantity == "simple":
            ax.set_ylim(bottom=LEAST)
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    return figures.labelled(fig, f"{name} of Li and Scarlett, replicated: {quantity} regret")


def oi(panels: Panels) -> Figure:
    """Return mean simple regret with 95 % intervals (Fig. 10), panels {kind of chain: {`b = 1`:
    trace, ..., cUCB}}.
    """
    rules = [rule for rule in next(iter(panels.values())) if rule != "cUCB"]
    colours = plt.cm.plasma(np.linspace(0, 0.65, len(rules)))  # dark enough for their labels
    looks = {rule: (tuple(colour), "-") for rule, colour in zip(rules, colours, strict=True)}
    settings: dict[str, Any] = {
        "quantity": "simple",
        "spread": "mean and 95 % interval",
        "unit": "range of g",
    }
    fig, axes = figures.regret_row(panels, 3.6, looks=looks | {"cUCB": ("black", "--")}, **settings)
    axes[0].set_ylim(bottom=LEAST)
    return figures.labelled(
        fig, "Fig. 10 of Li and Scarlett, replicated: simple regret of OI for five b, and of cUCB"
    )


def raised(source: needle.Needles) -> Figure:
    """Return a needle as the layers raise it, and the later layers for nu = 1, 1.5 and 2 (Fig.
    6).
    """
    fig, (left, right) = pieces.row(2, 3.2)
    x = np.linspace(0, 1, 2001)
    height = source.low * needle.bump(
        (x - (source.per_side // 2 + 0.5) / source.per_side) / source.radius
    )
    for number in range(1, source.depth + 1):
        left.plot(x, height, color=str(0.7 * (1 - number / source.depth)), label=f"layer {number}")
        height = source.raised(height)
    left.set(
        xlabel="arm, first coordinate", ylabel="output of a layer", title="a needle, cut through"
    )
    left.legend()
    z = np.linspace(0, needle.REACH, 200)
    for nu, colour in ((1.0, looks()["GPN-UCB"][0]), (1.5, "#a04000"), (2.0, "#202868")):
        right.plot(z, needle.amplifier(z, nu), color=colour, label=f"ν = {nu:g}")
    right.set(xlabel="output of a layer", ylabel="output of the next", title="how layers raise")
    right.legend()
    return titled(fig, "Fig. 6 of Li and Scarlett, replicated: needles, and layers that raise them")
