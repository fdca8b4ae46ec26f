"""The figures of the notebook on GPN-UCB; titles that could be false are computed from what is drawn.

Regrets are shares of the range of g. A *panel* is {rule: a regret of every chain (n,)}, as in `measures`.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.panels import QUANTITIES
from kbrepro.figures.pieces import titled
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.measures import VERSIONS, Panel, ahead, mean_ratio
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.regret import Estimate, Trace, simple_regret
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

#: Numbers of pulls (k,), and simple regrets of NonAda (trials, k).
Dots = tuple[Array, Array]

HERO = "GPN-UCB"
RED, TEAL = LOOK[HERO][0], LOOK["cUCB"][0]
#: Colours of the kinds of sets, and of nu = 1, 1.5, 2.
COLOURS = [RED, "#a04000", "#202868"]
#: Simple regret below this share of the range is drawn there.
FLOOR = 1e-4


# An interval through the layers


def interval(
    problem: NetworkProblem, layers: Sequence[pd.DataFrame], rows: pd.DataFrame, arms: Sequence[int]
) -> Figure:
    """Return how one arm's interval passes through layers 2 and 3, and its three kinds of sets layer by layer.

    `layers` and `rows` as `experiments.carried` returns them, after pulls of `arms`.
    """
    fig, axes = plt.subplot_mosaic("AB;CC", figsize=(WIDTH, 6.2), height_ratios=[1.2, 1])
    its, below = rows[rows["kind"] == "grid"].set_index("layer"), axes["C"]
    for i, (ax, frame) in enumerate(zip((axes["A"], axes["B"]), layers, strict=True), start=1):
        _through(ax, i, problem, frame, its[["low", "high"]], arms)
    ends = rows.assign(layer=rows["layer"].map({1: "layer 1", 2: "layer 2", 3: "g"}))
    ends = ends.melt(["layer", "kind"], ["low", "high"], value_name="output")
    looks = {"palette": COLOURS, "markers": ["o", "s", "D"], "markersize": 4, "linestyle": "none", "capsize": 0.1}
    sns.pointplot(ends, x="output", y="layer", hue="kind", errorbar=("pi", 100), dodge=0.4, ax=below, **looks)
    below.plot(its["true"], range(len(its)), "*", color="black", markersize=9, zorder=3, label="truth")
    below.set_ylabel("")
    below.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    last = rows[rows["layer"] == 3].set_index("kind")
    grid, plain, outward = last["high"] - last["low"]
    title = f"One arm's interval for g is {grid:.2f} wide with the envelope, {plain:.2f} without,"
    return titled(fig, f"{title}\n{outward:.2f} rounded outward", 3)


def _through(
    ax: Axes, i: int, problem: NetworkProblem, frame: pd.DataFrame, its: pd.DataFrame, arms: Sequence[int]
) -> None:
    """Draw layer i + 1 with its bounds, the interval that goes in and the one that comes out."""
    z, y = (problem.outputs[j][:, 0] for j in (i - 1, i))
    low, high = its.loc[i]
    left, right = min(low, z[arms].min()) - 0.3, max(high, z[arms].max()) + 0.3
    view = frame[frame["z"].between(left, right)]
    ax.fill_between(view["z"], view["raw_low"], view["raw_high"], color="0.85", linewidth=0, label="mean ± B sd")
    ax.plot(view["z"], view[["low", "high"]], color=RED, linewidth=1.2, label=["envelope", None])
    order = np.argsort(z)
    ax.plot(z[order], y[order], "--", color="black", linewidth=1.0, label="the layer, unknown")
    ax.plot(z[arms], y[arms], "o", color="black", markersize=4, label="observed")
    ax.axvspan(low, high, color=TEAL, alpha=0.22, linewidth=0, zorder=0, label="interval that goes in")
    ax.axhspan(*its.loc[i + 1], color=RED, alpha=0.12, linewidth=0, zorder=0, label="interval that comes out")
    ax.set(xlim=(left, right), xlabel=f"input of layer {i + 1}", ylabel=f"output of layer {i + 1}")


# Figure 9


def chains(problems: Mapping[str, NetworkProblem], side: int) -> Figure:
    """Return layer 1 and g on the arms, and layers 2 and 3 on their inputs, a row a chain (Fig. 9)."""
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
    return titled(fig, "Fig. 9: two chains drawn from the GP prior (star: the maximiser)")


# Figures 11 and 12


def regrets(
    name: str, panels: Mapping[str, Mapping[str, Trace]], *, quantity: str, nonada: Mapping[str, Dots] | None = None
) -> Figure:
    """Return cumulative or simple regret, four panels {title: traces}, median and quartiles of trials.

    `nonada` {title: dots}. Simple regret below FLOOR is drawn there: with finitely many arms it can be 0.
    """
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.5))
    floor, first = FLOOR if quantity == "simple" else 0.0, []
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=True):
        raised = {rule: trace._replace(gaps=np.maximum(trace.gaps, floor)) for rule, trace in traces.items()}
        figures.regret_quartiles(ax, raised, quantity=quantity, unit="range of g", hero=HERO)
        if nonada:
            pulls, values = nonada[title]
            middle = np.maximum(np.median(values, axis=0), floor)
            ax.plot(pulls, middle, "o-", color=LOOK["NonAda"][0], markersize=3, label="NonAda")
        ax.set_title(fill(title, 40))
        last = {rule: np.median(QUANTITIES[quantity][1](trace)[:, -1]) for rule, trace in raised.items()}
        first.append(last[HERO] <= min(last.values()) + 1e-9)
    pieces.legend_below(fig, 4, fig.axes)
    return titled(fig, f"{name}: GPN-UCB has the smallest median at the end in {sum(first)} of {len(first)} panels")


def ratios(panels: Mapping[str, tuple[Panel, Sequence[str]]], *, seed: int) -> Figure:
    """Return R_T of rivals over that of GPN-UCB, one dot a chain: {label: (panel, rivals)}.

    A regret of 0 counts as the smallest above 0 of the two.
    """
    rows = {}
    for label, (panel, rivals) in panels.items():
        for rival in rivals:
            pair = panel[rival], panel[HERO]
            rows[f"{label}: {rival}"] = np.divide(*pieces.positive(*pair)), mean_ratio(*pair, seed)
    told = "; ".join(f"{ahead(its, HERO, rivals).value:.0%} ({label})" for label, (its, rivals) in panels.items())
    title = fill(f"Share of chains in which GPN-UCB has less regret than every rival shown: {told}", 88)
    its = {"what": "$R_T$ of the rival over that of GPN-UCB", "dot": "chain", "centre": "ratio of means"}
    return paired(rows, 1.4 + 0.36 * len(rows), title, "log", rule=read_rule("> 1"), **its)


def within(traces: Mapping[str, Trace], nonada: Dots) -> Figure:
    """Return the share of trials whose simple regret is at most 1 % after t rounds."""
    fig, ax = plt.subplots(figsize=(WIDTH, 3.6))
    ends = {}
    for rule, trace in traces.items():
        curve = (simple_regret(trace) <= 0.01).mean(axis=0)
        ax.plot(range(1, len(curve) + 1), curve, label=rule, **figures.look(rule, HERO))
        ends[rule] = curve[-1]
    pulls, values = nonada
    ax.plot(pulls, (values <= 0.01).mean(axis=0), "o-", color=LOOK["NonAda"][0], markersize=4, label="NonAda")
    ax.set(xlabel="round t", ylabel="share of trials within 1% of the range", xlim=(1, len(curve)), ylim=(0, 1.02))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    first = max(ends, key=ends.__getitem__)
    title = f"Within 1% at the end: {first} in {ends[first]:.0%} of trials, GPN-UCB in {ends[HERO]:.0%}"
    return figures.labelled(fig, title)


# Figure 10


def oi(panels: Mapping[str, tuple[Mapping[float, Trace], Trace]]) -> Figure:
    """Return mean simple regret of OI for every b, and of cUCB, a panel a chain: {title: ({b: trace}, trace)}.

    Bands are 95 % intervals; regret below FLOOR is drawn there.
    """
    fig, axes = pieces.row(len(panels), 3.8, sharey=True)
    apart = 0.0
    for ax, (title, (swept, other)) in zip(axes, panels.items(), strict=True):
        colours = [*plt.cm.viridis(np.linspace(0, 0.9, len(swept))), "black"]
        curves = {f"b = {b:g}": simple_regret(trace) for b, trace in swept.items()} | {"cUCB": simple_regret(other)}
        for (label, its), colour in zip(curves.items(), colours, strict=True):
            band = np.maximum(pieces.mean_interval(its), FLOOR)
            style = {"color": colour, "linestyle": "--" if label == "cUCB" else "-"}
            pieces.banded(ax, range(1, other.horizon + 1), band, label, **style)
        ax.set(xlabel="round t", title=title, xlim=(1, other.horizon))
        pieces.log_axes(ax, "y")
        ends = {label: its[:, -1].mean() for label, its in curves.items()}
        apart = max(apart, *(abs(ends[f"b = {b:g}"] - ends["cUCB"]) for b in swept if b <= 1))
    axes[0].set_ylabel(f"simple regret (range of g)\nmean and 95 % interval of {len(its)} trials")
    return titled(fig, f"Fig. 10: for b ≤ 1 OI and cUCB end apart by at most {apart:.1%} of the range", 5)


# Sets and versions


def coverage(table: pd.DataFrame) -> Figure:
    """Return missed arm-steps and median widths of grid and outward-rounded sets, from `measures.coverage`."""
    fig, axes = pieces.row(2, 3.2, sharey=True)
    for ax, what in zip(axes, ("missed", "width"), strict=True):
        its = table[[f"{what}, paper", f"{what}, outward"]].set_axis(["grid sets of L.2", "outward-rounded"], axis=1)
        its.plot.barh(ax=ax, color=[COLOURS[0], COLOURS[2]], width=0.8, legend=False)
    left, right = axes
    left.set_xlabel("share of arm-steps at which\nthe set misses the truth")
    left.xaxis.set_major_formatter(PercentFormatter(1))
    pieces.log_axes(right, "x")
    right.set_xlabel("median width of the last set\n(range of the reward; line: says nothing)")
    right.axvline(1, color="black", linewidth=1.0)
    pieces.name_rows(left, table.index)
    grid, outward = (table[f"missed, {mode}"].max() for mode in ("paper", "outward"))
    told = f"but they say nothing for {(table['width, outward'] >= 1).sum()} of {len(table)} structures"
    title = f"Grid sets miss in up to {grid:.0%} of arm-steps; outward-rounded ones in {outward:.0%}"
    return titled(fig, f"{title},\n{told}", 2)


def versions(ends: Panel, lower_by: Mapping[str, Estimate]) -> Figure:
    """Return by how much less simple regret than as in L.2 versions of GPN-UCB have at T, one dot a chain.

    `lower_by` as `measures.claim_5_Z` returns it.
    """
    rows = {
        name: (100 * (ends["as in L.2"] - ends[name]), lower_by[part].changed(lambda share: 100 * share))
        for part, name in VERSIONS.items()
    }
    clearly = [name for name, (_, estimate) in rows.items() if estimate.low > 0]
    title = f"Clearly lower simple regret than as in L.2: {', '.join(clearly) or 'none of these versions'}"
    what = "simple regret as in L.2 minus that of the version (% of the range of g)"
    fig = paired(rows, 1.5 + 0.4 * len(rows), title, "symlog", rule=read_rule("> 0"), what=what, dot="chain")
    fig.axes[0].xaxis.set_major_formatter("{x:g}")
    return fig


# The lower bound


def lower_bound(found: Mapping[float, pd.DataFrame], ratio: Mapping[float, float]) -> Figure:
    """Return g~ (Fig. 6), and average simple regret over all needles.

    `found`: {nu: simple regret over epsilon, a row a needle, a column an algorithm}; `ratio`: {nu: r_min / r_max}.
    """
    fig, (left, right) = pieces.row(2, 3.4)
    for nu, colour in zip(ratio, COLOURS, strict=False):
        z = np.linspace(-0.5, 0.5, 200)
        left.plot(z, needle.amplifier(z, nu), color=colour, label=f"nu = {nu:g}: {ratio[nu]:.3f}")
    left.axvspan(0, needle.REACH, color="0.9", linewidth=0)
    left.set(xlabel="z", ylabel=r"$\tilde g(z)$")
    left.set_title("Fig. 6: the layer that raises it\n(shaded: up to 0.3; ratio of slopes)")
    left.legend(loc="upper left", fontsize=8)
    means = pd.DataFrame({nu: frame.mean() for nu, frame in found.items()}).rename_axis("rule").reset_index()
    means = means.melt("rule", var_name="nu", value_name="mean")
    looks = {"palette": COLOURS[: len(found)], "jitter": False, "legend": False}
    sns.stripplot(means, x="mean", y="rule", hue="nu", dodge=True, ax=right, **looks)
    right.axvline(1, color="black", linestyle="--", linewidth=1.0)
    right.set(xlim=(0, 2.05), xlabel="mean simple regret over ε, all needles\n(dashed: the lower bound)", ylabel="")
    return titled(fig, f"No algorithm gets below {means['mean'].min():.2f} ε, and the bound is ε")
