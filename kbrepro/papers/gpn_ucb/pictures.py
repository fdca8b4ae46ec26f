"""The figures of the notebook on GPN-UCB but its `curves`; titles that could be false are computed from what is drawn.

Regrets are shares of the range of g. A *panel* is {rule: a regret of every chain (n,)}, as in `measures`.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import mean_interval, titled
from kbrepro.figures.style import SMALLEST
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.measures import VERSIONS, Panel
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.regret import Estimate
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

HERO = "GPN-UCB"
RED, TEAL = LOOK[HERO][0], LOOK["cUCB"][0]
#: Colours of the kinds of sets, and of nu = 1, 1.5, 2.
COLOURS = [RED, "#a04000", "#202868"]


# An interval through the layers


def step(problem: NetworkProblem, layer: pd.DataFrame, its: pd.DataFrame, arms: Sequence[int]) -> Figure:
    """Return how one arm's interval passes through layer 2, beside what the middle of that interval alone would give.

    `layer` as `experiments.carried` returns it, `its` {layer: low, high, true} of grid sets, after pulls of `arms`.
    """
    fig, (ax,) = pieces.row(1, 3.6)
    z, y = (output[:, 0] for output in problem.outputs[:2])
    (low, high, _), (least, most, true) = its.loc[1], its.loc[2]
    view = layer[layer["z"].between(min(low, z[arms].min()) - 0.3, max(high, z[arms].max()) + 0.3)]
    ax.fill_between(view["z"], view["raw_low"], view["raw_high"], color="0.85", linewidth=0, label="mean ± B sd")
    order = np.argsort(z)
    ax.plot(z[order], y[order], "--", color="black", linewidth=1.0, label="layer 2, unknown")
    ax.plot(z[arms], y[arms], "o", color="black", markersize=4, label="observed")
    left, bottom = view["z"].min(), 1.15 * view["raw_low"].min()
    bar = {"linewidth": 7, "solid_capstyle": "butt", "clip_on": False}
    ax.axvspan(low, high, color=TEAL, alpha=0.12, linewidth=0, zorder=0)
    ax.plot([low, high], [bottom] * 2, color=TEAL, label="what layer 1 may return", **bar)
    ax.axhspan(least, most, color=RED, alpha=0.06, linewidth=0, zorder=0)
    ax.plot([left] * 2, [least, most], color=RED, label="what layer 2 may return", **bar)
    guess = layer.loc[(layer["z"] - (low + high) / 2).abs().idxmin()]
    ends = guess[["raw_low", "raw_high"]].to_numpy()
    ax.plot(guess["z"], ends.mean(), "X", color=RED, markersize=10, zorder=3, label="answer of the middle alone")
    ax.plot(its["true"].loc[1], true, "*", color="black", markersize=11, zorder=3, label="truth")
    ax.set(xlim=(left, view["z"].max()), ylim=(bottom, None), xlabel="input of layer 2", ylabel="output of layer 2")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    alone = "misses the truth" if not ends[0] <= true <= ends[1] else "seems certain of it"
    title = f"Fed only the middle of the interval, layer 2 {alone};"
    return titled(fig, f"{title}\nfed all of it, it may return values {most - least:.2f} apart")


def kinds(rows: pd.DataFrame) -> Figure:
    """Return one arm's interval in every layer for three kinds of sets, `rows` as of `experiments.carried`."""
    fig, (ax,) = pieces.row(1, 3.0)
    depth = rows["layer"].max()
    ends = rows.assign(layer=rows["layer"].map(lambda i: "reward" if i == depth else f"layer {i}"))
    ends = ends.melt(["layer", "kind"], ["low", "high"], value_name="output")
    looks = {"palette": COLOURS, "markers": ["o", "s", "D"], "markersize": 4, "linestyle": "none", "capsize": 0.1}
    sns.pointplot(ends, x="output", y="layer", hue="kind", errorbar=("pi", 100), dodge=0.4, ax=ax, **looks)
    its = rows[rows["kind"] == "grid"].set_index("layer")
    ax.plot(its["true"], range(len(its)), "*", color="black", markersize=9, zorder=3, label="truth")
    ax.set_ylabel("")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    wide = its["high"] - its["low"]
    grows = "grows from layer to layer" if wide.is_monotonic_increasing else "does not grow in every layer"
    return titled(fig, f"The arm's interval {grows}: {wide.iloc[0]:.2f} wide at first, {wide.iloc[-1]:.2f} in the end")


# Figure 9


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
    return titled(fig, "Fig. 9: two chains drawn from the GP prior (star: the maximiser)")


# Sets and versions


def coverage(table: pd.DataFrame) -> Figure:
    """Return missed (arm, round) pairs and median widths of grid and outward-rounded sets, from `measures.coverage`."""
    fig, axes = pieces.row(2, 3.2, sharey=True)
    modes = ["paper", "outward"]
    reach = {
        "missed": np.array([[table[f"error, {mode}"]] * 2 for mode in modes]),
        "width": np.array([[table[f"width, {m}"] - table[f"lower, {m}"], table[f"upper, {m}"] - table[f"width, {m}"]]
                           for m in modes]),
    }  # fmt: skip
    for ax, what in zip(axes, reach, strict=True):
        its = table[[f"{what}, {mode}" for mode in modes]].set_axis(["grid sets of L.2", "outward-rounded"], axis=1)
        its.plot.barh(ax=ax, color=[COLOURS[0], COLOURS[2]], width=0.8, legend=False, xerr=reach[what])
    left, right = axes
    left.set_xlabel("share of (arm, round) pairs in which\nthe set misses the truth (95 % interval)")
    left.xaxis.set_major_formatter(PercentFormatter(1))
    pieces.log_axes(right, "x")
    right.set_xlabel("median width of the last set, quartiles\n(range of the reward; line: says nothing)")
    right.axvline(1, color="black", linewidth=1.0)
    pieces.name_rows(left, table.index)
    grid, outward = (table[f"missed, {mode}"].max() for mode in ("paper", "outward"))
    never = "never do, but" if outward == 0 else f"do in {outward:.0%}. They"
    told = f"say nothing for {(table['width, outward'] >= 1).sum()} of {len(table)} structures"
    return titled(
        fig, f"Grid sets miss the truth in up to {grid:.0%} of cases.\nOutward-rounded ones {never} {told}", 2
    )


def misses(chains: pd.DataFrame, bound: float) -> Figure:
    """Return GPN-UCB's last simple regret over how far the best arm's first layer lies outside its bounds.

    `chains`: one row per chain, its `kind`, `outside` (negative: inside) and `end`, a share of the range; `bound`: B.
    """
    fig, (ax,) = pieces.row(1, 3.6)
    its = chains.assign(end=100 * chains["end"])
    n = its["kind"].nunique()
    looks = {"palette": COLOURS[:n], "style": "kind", "markers": ["o", "s", "D"][:n], "s": 36, "alpha": 0.8}
    sns.scatterplot(its, x="outside", y="end", hue="kind", ax=ax, **looks)
    ax.axvline(0, color="black", linewidth=1.0)
    ax.axhline(5, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel(f"how far the first layer of the best arm lies outside mean ± {bound:g} sd after the last round")
    ax.set_ylabel("simple regret of GPN-UCB at T\n(% of the range of g)")
    ax.legend(title="")
    far, out = chains["end"] > 0.05, chains["outside"] > 0
    title = (
        f"On {(far & out).sum()} of the {far.sum()} chains where GPN-UCB misses the best arm (above the dotted line),\n"
    )
    title += "its bounds exclude the truth in the very first layer"
    return titled(fig, title if far.any() else "GPN-UCB ends within 5% of the best arm on every chain")


def versions(ends: Panel, lower_by: Mapping[str, Estimate]) -> Figure:
    """Return by how much less simple regret than as in L.2 versions of GPN-UCB have at T, one dot per chain.

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


def lower_bound(found: Mapping[float, pd.DataFrame], sources: Mapping[float, needle.Needles]) -> Figure:
    """Return a needle as the layers raise it, g~ (Fig. 6), and average simple regret over all needles.

    `found`: {nu: simple regret over epsilon, one row per needle, one column per algorithm}; `sources`: {nu: their
    source}.
    """
    fig, (left, middle, right) = pieces.row(3, 3.6, width_ratios=[1, 0.9, 1.3])
    first = next(iter(sources.values()))
    x = np.linspace(0, 1, 2001)
    height = first.low * needle.bump((x - (first.per_side // 2 + 0.5) / first.per_side) / first.radius)
    for number in range(1, first.depth + 1):
        name = f"layer {number}" + {1: ": the needle", first.depth: ": the reward"}.get(number, "")
        left.plot(x, height, color=str(0.7 * (1 - number / first.depth)), linewidth=0.8 + 0.3 * number, label=name)
        height = needle.amplifier(height, first.nu)
    left.axhline(2 * first.epsilon, color="black", linestyle=":", linewidth=1.0)
    left.text(0, 2.03 * first.epsilon, "2ε, the best arm", size=SMALLEST, va="bottom")
    left.set(
        xlabel=f"arm, first coordinate\n(grid: {first.per_side} × {first.per_side} cells)", ylabel="output of a layer"
    )
    left.set(title=f"one of {first.per_side**2} needles, cut through", ylim=(None, 3.2 * first.epsilon))
    left.set_xticks(np.linspace(0, 1, first.per_side + 1), minor=True)
    left.legend(loc="upper left", fontsize=SMALLEST)
    z = np.linspace(0, needle.REACH, 200)
    for (nu, frame), colour, side in zip(found.items(), COLOURS, (-0.22, 0, 0.22), strict=False):
        middle.plot(z, needle.amplifier(z, nu), color=colour, label=f"ν = {nu:g}")
        value, low, high = mean_interval(frame.to_numpy())
        looks = {"color": colour, "fmt": "o", "markersize": 4}
        right.errorbar(value, np.arange(len(value)) + side, xerr=[value - low, high - value], **looks)
    middle.set(xlabel="output of a layer", ylabel="output of the next", title="Fig. 6: how layers raise")
    right.axvline(1, color="black", linestyle="--", linewidth=1.0)
    right.set(xlim=(0, 2.05), xlabel="simple regret over ε\n(mean of needles, 95 % interval;\ndashed: lower bound)")
    pieces.name_rows(right, list(next(iter(found.values()))))
    least = min(frame.mean().min() for frame in found.values())
    says = "No rule tried beats the lower bound ε" if least >= 1 else "Some rule beats the lower bound ε"
    return titled(fig, f"{says}: the best is at {least:.2f} ε", 3, panel=1)
