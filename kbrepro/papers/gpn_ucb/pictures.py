"""The figures of the notebook on GPN-UCB. Regrets are shares of the range of g."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import mean_interval, titled
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.sets import BoxSets
from kbrepro.regret import Curve, simple_regret

HERO = "GPN-UCB"
RED, TEAL = LOOK[HERO][0], LOOK["cUCB"][0]
#: Colours of kinds of chains, of grid and outward-rounded sets, and of nu = 1, 1.5, 2.
COLOURS = [RED, "#a04000", "#202868"]

#: Numbers of pulls (k,), and simple regrets of NonAda (trials, k).
Dots = tuple[Array, Array]
#: Simple regret below this share of the range is drawn there.
FLOOR = 1e-4
#: Bands of more curves would cover each other.
BANDED = (HERO, "cEI")
#: NonAda has no curve: each number of pulls is another design.
DOT: dict[str, Any] = {"color": LOOK["NonAda"][0], "markersize": 4, "markeredgecolor": "white", "markeredgewidth": 0.5}


def step(problem: NetworkProblem, sets: BoxSets, arm: int, pulled: Sequence[int]) -> Figure:
    """Return how an arm's interval passes through layer 2 of a chain, beside what its middle alone would give."""
    fig, (ax,) = pieces.row(1, 3.6)
    posterior, (z, y) = sets.posteriors[1], (output[:, 0] for output in problem.outputs[:2])
    (low, high), (least, most) = ((float(end[arm, 0]) for end in region) for region in sets.regions()[:2])
    D, seen = posterior.points[:, 0], [low, high, *z[pulled]]
    view = (min(seen) - 0.3 <= D) & (max(seen) + 0.3 >= D)
    upper, negative = sets.band(posterior.mean, posterior.sd)[view].T
    left, bottom, order = D[view][0], -1.15 * negative.max(), np.argsort(z)
    bar = {"linewidth": 7, "solid_capstyle": "butt", "clip_on": False}
    ax.fill_between(D[view], -negative, upper, color="0.85", linewidth=0, label="mean ± B sd")
    ax.plot(z[order], y[order], "--", color="black", linewidth=1.0, label="layer 2, unknown")
    ax.plot(z[pulled], y[pulled], "o", color="black", markersize=4, label="observed")
    ax.axvspan(low, high, color=TEAL, alpha=0.12, linewidth=0, zorder=0)
    ax.plot([low, high], [bottom] * 2, color=TEAL, label="what layer 1 may return", **bar)
    ax.axhspan(least, most, color=RED, alpha=0.06, linewidth=0, zorder=0)
    ax.plot([left] * 2, [least, most], color=RED, label="what layer 2 may return", **bar)
    middle = np.array([[(low + high) / 2]])
    ax.plot(
        middle, posterior.at(middle)[0], "X", color=RED, markersize=10, zorder=3, label="answer of the middle alone"
    )
    ax.plot(z[arm], y[arm], "*", color="black", markersize=11, zorder=3, label="truth")
    ax.set(xlim=(left, D[view][-1]), ylim=(bottom, None), xlabel="input of layer 2", ylabel="output of layer 2")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return titled(fig, f"Layer 2 after {len(pulled)} pulls: an arm's interval goes in, and an interval comes out")


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
        figures.regret_quartiles(ax, raised, quantity=quantity, unit="range of g", hero=HERO)
        for line, band in list(zip(ax.lines, ax.collections, strict=True)):
            if line.get_label() not in BANDED:
                band.remove()
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


def dots(ax: Axes, values: Iterable[Array], side: float, colour: str, label: str = "") -> None:
    """Draw values with their intervals, (value, low, high), in rows of a panel, a little to one side."""
    value, low, high = values
    reach = [value - low, high - value]
    ax.errorbar(value, np.arange(len(value)) + side, xerr=reach, fmt="o", markersize=4, color=colour, label=label)


def coverage(covered: Mapping[str, Sequence[Mapping[str, Array]]], n_arms: int) -> Figure:
    """Return how often grid and outward-rounded sets miss the truth, and how wide they are in the end.

    `covered`: {structure: what `experiments.coverage` returns of each network}.
    """
    fig, (left, right) = pieces.row(2, 3.2, sharey=True)
    kinds = {"paper": ("grid sets of L.2", COLOURS[0], -0.15), "outward": ("rounded outward", COLOURS[2], 0.15)}
    for mode, (name, colour, side) in kinds.items():
        counted = [np.array([network[mode] for network in networks]) for networks in covered.values()]
        shares = np.column_stack([counts[:, 0].mean(axis=1) / n_arms for counts in counted])
        widths = np.column_stack([counts[:, 1, -1] for counts in counted])
        dots(left, mean_interval(shares), side, colour, name)
        dots(right, np.quantile(widths, [0.5, 0.25, 0.75], axis=0), side, colour, name)
    left.set_xlabel("share of (arm, round) pairs in which\nthe set misses the truth (95 % interval)")
    left.xaxis.set_major_formatter(PercentFormatter(1))
    pieces.log_axes(right, "x")
    right.set_xlabel("width of the last set, median and quartiles\n(range of the reward; line: says nothing)")
    right.axvline(1, color="black", linewidth=1.0)
    pieces.name_rows(left, list(covered))
    return titled(fig, "Lemmas 1 and 2: how often sets miss the truth, and how wide they are", 2)


def misses(chains: pd.DataFrame, bound: float) -> Figure:
    """Return GPN-UCB's last simple regret over how far the best arm's first layer lies outside its bounds.

    `chains`: one row per chain, its `kind`, `outside` (negative: inside) and `end`, a share of the range; `bound`: B.
    """
    fig, (ax,) = pieces.row(1, 3.6)
    n = chains["kind"].nunique()
    looks = {"palette": COLOURS[:n], "style": "kind", "markers": ["o", "s", "D"][:n], "s": 36, "alpha": 0.8}
    sns.scatterplot(chains, x="outside", y="end", hue="kind", ax=ax, **looks)
    ax.axvline(0, color="black", linewidth=1.0)
    ax.axhline(0.05, color="black", linewidth=0.8, linestyle=":")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel(f"how far the first layer of the best arm lies outside mean ± {bound:g} sd after the last round")
    ax.set_ylabel("simple regret of GPN-UCB at T\n(range of g)")
    ax.legend(title="")
    title = "Where GPN-UCB misses the best arm (above the dotted line),\nand whether its bounds exclude the truth"
    return titled(fig, title)


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
        dots(right, mean_interval(frame.to_numpy()), side, colour)
    middle.set(xlabel="output of a layer", ylabel="output of the next", title="Fig. 6: how layers raise")
    right.axvline(1, color="black", linestyle="--", linewidth=1.0)
    right.set(xlim=(0, 2.05), xlabel="simple regret over ε\n(mean of needles, 95 % interval;\ndashed: lower bound)")
    pieces.name_rows(right, list(frame))
    return titled(fig, "Fig. 6 and Theorem 5 of Li and Scarlett, replicated: needles, and regret on them", 3, panel=1)
