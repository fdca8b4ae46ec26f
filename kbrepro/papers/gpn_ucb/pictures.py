"""The figures of the notebook on GPN-UCB. Regrets are shares of the range of g."""

from collections.abc import Mapping
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import WIDTH, pieces
from kbrepro.figures.pieces import titled
from kbrepro.papers import Curves, looks
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.typing import Array

#: A simple regret below this share of the range is beyond the axis.
LEAST = 1e-4
#: {title: {rule: curve}}
Panels = Mapping[str, Curves]
#: NonAda has no curve: each number of pulls is another design.
DOT = {
    "color": looks()["NonAda"][0],
    "markersize": 4,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
}


def chains(problems: Mapping[str, NetworkProblem], side: int) -> Figure:
    """Return layers 1 and g on the arms, 2 and 3 on their inputs, one row per chain (Fig. 9)."""
    size = WIDTH, 1.9 * len(problems) + 0.5
    fig, axes = plt.subplots(len(problems), 4, figsize=size, squeeze=False)
    x = np.linspace(-5, 5, side)

    def on_arms(ax: Axes, values: Array, title: str) -> None:
        square = values.reshape(side, side).T
        mesh = ax.pcolormesh(x, x, square, cmap="viridis", rasterized=True)
        fig.colorbar(mesh, ax=ax)
        ax.set(title=title, xlabel="$x_1$", ylabel="$x_2$")
        ax.set(xticks=(-5, 0, 5), yticks=(-5, 0, 5))
        ax.grid(visible=False)

    def on_inputs(ax: Axes, inputs: Array, values: Array, title: str) -> None:
        order = np.argsort(inputs)
        ax.plot(inputs[order], values[order], color="0.2")
        ax.set(title=title, xlabel="its input", ylabel="its output")
        ax.locator_params(axis="x", nbins=3)

    for row, (kind, problem) in zip(axes, problems.items(), strict=True):
        first, second, third = (output[:, 0] for output in problem.outputs)
        on_arms(row[0], first, "layer 1")
        on_inputs(row[1], first, second, "layer 2")
        on_inputs(row[2], second, third, "layer 3")
        on_arms(row[3], third, fill(f"g, {kind}", 18))
        row[3].plot(
            *problem.model.points[third.argmax()],
            "*",
            color="white",
            markeredgecolor="black",
            markersize=9,
        )
    title = "Fig. 9 of Li and Scarlett, replicated: two chains drawn from the prior"
    return titled(fig, f"{title} (star: the maximiser)")


def regrets(
    name: str,
    panels: Panels,
    quantity: str,
    nonada: Mapping[str, tuple[Array, Array]] | None = None,
) -> Figure:
    """Return cumulative or simple regret (Figs. 11, 12), panels {title: traces}, two a row.

    `nonada`: {title: numbers of pulls (k,), simple regrets of NonAda (trials, k)}.
    """
    rows = len(panels) // 2
    fig, axes = plt.subplots(rows, 2, figsize=(WIDTH, 3.25 * rows), squeeze=False)
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=True):
        figures.regret_quartiles(
            ax,
            traces,
            quantity=quantity,
            unit="range of g",
            hero="GPN-UCB",
            bands=("GPN-UCB", "cEI"),
        )
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
    """Return mean simple regret with 95 % intervals (Fig. 10), of OI for each b and of cUCB."""
    rules = [rule for rule in next(iter(panels.values())) if rule != "cUCB"]
    colours = plt.cm.plasma(np.linspace(0, 0.65, len(rules)))  # dark enough for their labels
    looks = {rule: (tuple(colour), "-") for rule, colour in zip(rules, colours, strict=True)}
    fig, axes = figures.regret_row(
        panels,
        3.6,
        looks=looks | {"cUCB": ("black", "--")},
        quantity="simple",
        spread="mean and 95 % interval",
        unit="range of g",
    )
    axes[0].set_ylim(bottom=LEAST)
    return figures.labelled(
        fig, "Fig. 10 of Li and Scarlett, replicated: simple regret of OI for five b, and of cUCB"
    )


def raised(source: needle.Needles) -> Figure:
    """Return a needle as the layers raise it, and the layers for nu = 1, 1.5 and 2 (Fig. 6)."""
    fig, (left, right) = pieces.row(2, 3.2)
    x = np.linspace(0, 1, 2001)
    centre = (source.per_side // 2 + 0.5) / source.per_side
    height = source.low * needle.bump((x - centre) / source.radius)
    for number in range(1, source.depth + 1):
        grey = str(0.7 * (1 - number / source.depth))
        left.plot(x, height, color=grey, label=f"layer {number}")
        height = source.raised(height)
    left.set(xlabel="arm, first coordinate", ylabel="output of a layer")
    left.set_title(f"a needle, cut through (ν = {source.nu:g})")
    left.legend()
    z = np.linspace(0, needle.REACH, 200)
    for nu, colour in ((1.0, looks()["GPN-UCB"][0]), (1.5, "#a04000"), (2.0, "#202868")):
        right.plot(z, needle.amplifier(z, nu), color=colour, label=f"ν = {nu:g}")
    right.set(xlabel="output of a layer", ylabel="output of the next", title="how layers raise")
    right.legend()
    return titled(fig, "Fig. 6 of Li and Scarlett, replicated: needles, and layers that raise them")
