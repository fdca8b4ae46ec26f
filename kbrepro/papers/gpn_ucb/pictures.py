"""The figures of the notebook on GPN-UCB; titles that could be false are computed from what is drawn.

Regrets are shares of the range of g. A *panel* is {rule: a regret of every chain (n,)}, as in `measures`.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
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
from kbrepro.regret import Estimate, Trace, share, simple_regret
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired, pairs

Panels = Mapping[str, Mapping[str, Trace]]
#: Numbers of pulls (k,), and regrets (trials, k).
Dots = tuple[Array, Array]

HERO = "GPN-UCB"
RED, TEAL, GREY = LOOK[HERO][0], LOOK["cUCB"][0], "#707070"
#: Kind of set -> colour, marker and label.
KINDS = {
    "grid": (RED, "o", "grid sets of L.2"),
    "no envelope": ("#a04000", "s", "without envelope"),
    "outward": ("#202868", "D", "outward-rounded"),
}
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
    its = rows[rows["kind"] == "grid"].set_index("layer")
    for i, (ax, frame) in enumerate(zip((axes["A"], axes["B"]), layers, strict=True), start=1):
        _through(ax, i, problem, frame, its[["low", "high"]], arms)
    names, below = {1: "layer 1", 2: "layer 2", 3: "g"}, axes["C"]
    for shift, (kind, (colour, marker, label)) in zip((-0.22, 0, 0.22), KINDS.items(), strict=True):
        these = rows[rows["kind"] == kind]
        middle, half = (these["low"] + these["high"]) / 2, np.maximum((these["high"] - these["low"]) / 2, 0)
        look: dict[str, Any] = {"fmt": marker, "color": colour, "markersize": 4, "capsize": 3, "label": label}
        below.errorbar(middle, these["layer"] + shift, xerr=half, **look)
    below.plot(its["true"], its.index, "*", color="black", markersize=9, zorder=3, label="truth")
    below.set_yticks(list(names), list(names.values()))
    below.set(ylim=(3.5, 0.5), xlabel="output")
    below.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    last = rows[rows["layer"] == 3].set_index("kind")
    wide = [f"{its['high'] - its['low']:.2f}" for _, its in last.loc[list(KINDS)].iterrows()]
    missed = [names[layer] for layer, row in its.iterrows() if not row["low"] <= row["true"] <= row["high"]]
    title = f"One arm's interval for g is {wide[0]} wide with the envelope, {wide[1]} without"
    told = f"{wide[2]} rounded outward; its grid sets miss the truth in {', '.join(missed) or 'no layer'}"
    return titled(fig, f"{title},\n{told}", 3)


def _through(
    ax: Axes, i: int, problem: NetworkProblem, frame: pd.DataFrame, its: pd.DataFrame, arms: Sequence[int]
) -> None:
    """Draw layer i + 1 with its bounds, the interval that goes in and the one that comes out."""
    z, y = (problem.outputs[j][:, 0] for j in (i - 1, i))
    (low, high), (out_low, out_high) = its.loc[i], its.loc[i + 1]
    left, right = min(low, z[arms].min()) - 0.3, max(high, z[arms].max()) + 0.3
    view = frame[frame["z"].between(left, right)]
    ax.fill_between(view["z"], view["raw_low"], view["raw_high"], color="0.85", linewidth=0, label="mean ± B sd")
    for side in ("low", "high"):
        ax.plot(view["z"], view[side], color=RED, linewidth=1.2, label="envelope" if side == "low" else None)
    order = np.argsort(z)
    ax.plot(z[order], y[order], "--", color="black", linewidth=1.0, label="the layer, unknown")
    ax.plot(z[arms], y[arms], "o", color="black", markersize=4, label="observed")
    ax.axvspan(low, high, color=TEAL, alpha=0.22, linewidth=0, zorder=0, label="interval that goes in")
    ax.axhspan(out_low, out_high, color=RED, alpha=0.12, linewidth=0, zorder=0, label="interval that comes out")
    ax.set(xlim=(left, right), xlabel=f"input of layer {i + 1}", ylabel=f"output of layer {i + 1}")
    ax.set_title(f"layer {i + 1}: {_span(low, high)}\nbecomes {_span(out_low, out_high)}")


def _span(low: float, high: float) -> str:
    return f"[{low:.2f}, {high:.2f}]".replace("-", "−")


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
    name: str, panels: Panels, *, quantity: str, nonada: Mapping[str, tuple[Array, Array]] | None = None
) -> Figure:
    """Return cumulative or simple regret, a panel each {title: traces}, median and quartiles of its trials.

    `nonada`: {title: (pulls, simple regrets (trials, len(pulls)))}, drawn as dots. Simple regret below FLOOR is drawn
    there: with finitely many arms it can be 0. The title names the smallest medians at T.
    """
    rows = -(-len(panels) // 2)
    fig, axes = plt.subplots(rows, 2, figsize=(WIDTH, 0.9 + 2.8 * rows), squeeze=False)
    best: dict[str, list[str]] = {}
    for ax, (title, traces) in zip(axes.flat, panels.items(), strict=False):
        floor = FLOOR if quantity == "simple" else 0.0
        raised = {rule: trace._replace(gaps=np.maximum(trace.gaps, floor)) for rule, trace in traces.items()}
        figures.regret_quartiles(ax, raised, quantity=quantity, unit="range of g", hero=HERO)
        if nonada:
            pulls, values = nonada[title]
            middle = np.maximum(np.median(values, axis=0), floor)
            ax.plot(pulls, middle, "o-", color=LOOK["NonAda"][0], markersize=3, label="NonAda")
        ax.set_title(fill(title, 40))
        curves = QUANTITIES[quantity][1]
        last = {rule: np.median(curves(trace)[:, -1]) for rule, trace in raised.items()}
        winners = ", ".join(rule for rule, value in last.items() if value <= min(last.values()) + 1e-9)
        best.setdefault(winners, []).append(title)
    for ax in list(axes.flat)[len(panels) :]:
        fig.delaxes(ax)
    told = "; ".join(f"{rules} ({'; '.join(titles)})" for rules, titles in best.items())
    pieces.legend_below(fig, 4, fig.axes)
    return titled(fig, fill(f"{name}, smallest median at the end: {told if len(best) > 1 else next(iter(best))}", 88))


def ratios(panels: Mapping[str, tuple[Panel, Sequence[str]]], *, seed: int) -> Figure:
    """Return R_T of rivals over that of GPN-UCB, one dot a chain: {label: (panel, rivals)}.

    A regret of 0 counts as the smallest above 0 of the two.
    """
    rows = {}
    for label, (panel, rivals) in panels.items():
        for rival in rivals:
            pair = panel[rival], panel[HERO]
            rows[f"{label}: {rival}"] = np.divide(*pieces.positive(*pair)), mean_ratio(*pair, seed)
    wins = {label: ahead(panel, HERO, rivals).value for label, (panel, rivals) in panels.items()}
    told = "; ".join(f"{value:.0%} ({label})" for label, value in wins.items())
    title = fill(f"Share of chains in which GPN-UCB has less regret than every rival shown: {told}", 88)
    its = {"what": "$R_T$ of the rival over that of GPN-UCB", "dot": "chain", "centre": "ratio of means"}
    return paired(rows, 1.4 + 0.36 * len(rows), title, "log", rule=read_rule("> 1"), **its)


def within(traces: Mapping[str, Trace], nonada: Dots, *, at: int, limit: float = 0.01) -> Figure:
    """Return the share of trials whose simple regret is at most `limit` after t rounds; NonAda as in `regrets`.

    The title tells the shares after `at` rounds, of NonAda those of the most pulls up to there.
    """
    fig, ax = plt.subplots(figsize=(WIDTH, 3.6))
    shares = {}
    for rule, trace in traces.items():
        curve = (simple_regret(trace) <= limit).mean(axis=0)
        shares[rule] = curve[at - 1]
        t = np.arange(1, len(curve) + 1)
        ax.plot(t, curve, label=rule, **figures.look(rule, HERO))
        if rule == HERO:
            low, high = np.array([share(its <= limit)[1:] for its in simple_regret(trace).T]).T
            ax.fill_between(t, low, high, color=RED, alpha=0.15, linewidth=0)
    pulls, values = nonada
    ax.plot(pulls, (values <= limit).mean(axis=0), "o-", color=LOOK["NonAda"][0], markersize=4, label="NonAda")
    ax.set(xlabel="round t (band: 95 % interval of GPN-UCB's share)", xlim=(1, len(curve)), ylim=(0, 1.02))
    ax.set_ylabel(f"share of trials within {limit:.0%} of the range")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    first = max(shares, key=shares.__getitem__)
    title = f"Within {limit:.0%} at T = {at}: {first} {shares[first]:.0%}, GPN-UCB {shares[HERO]:.0%}, "
    last = np.flatnonzero(np.asarray(pulls) <= at)[-1]
    return figures.labelled(fig, title + f"NonAda {np.mean(values[:, last] <= limit):.0%}")


# Figure 10


def oi(panels: Mapping[str, tuple[Mapping[float, Trace], Trace]]) -> Figure:
    """Return mean simple regret of OI for every b, and of cUCB, a panel a chain: {title: ({b: trace}, trace)}.

    Bands are one standard error of the trials; what is below 1e-4 is drawn there.
    """
    fig, axes = pieces.row(len(panels), 3.8, sharey=True)
    ends = {}
    for ax, (title, (swept, other)) in zip(axes, panels.items(), strict=True):
        colours = [*plt.cm.viridis(np.linspace(0, 0.9, len(swept))), "black"]
        curves_of = {f"b = {b:g}": simple_regret(trace) for b, trace in swept.items()} | {"cUCB": simple_regret(other)}
        for (label, curves), colour in zip(curves_of.items(), colours, strict=True):
            mean, error = curves.mean(axis=0), curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
            t = np.arange(1, len(mean) + 1)
            ax.semilogy(t, np.maximum(mean, 1e-4), "--" if label == "cUCB" else "-", color=colour, label=label)
            ax.fill_between(t, np.maximum(mean - error, 1e-4), np.maximum(mean + error, 1e-4), color=colour, alpha=0.12)
        ax.set(xlabel="round t", title=title, xlim=(1, len(mean)))
        last = {label: curves[:, -1].mean() for label, curves in curves_of.items()}
        ends[title] = max(abs(last[f"b = {b:g}"] - last["cUCB"]) for b in swept if b <= 1)
        pieces.plain_log(ax.yaxis)
    axes[0].set_ylabel(f"simple regret (range of g)\nmean ± s.e. of {len(curves)} trials")
    told = ", ".join(f"{end:.1%} ({title})" for title, end in ends.items())
    title = f"Fig. 10: for b ≤ 1 OI and cUCB end apart by at most this share of the range: {told}"
    return titled(fig, fill(title, 88), 5)


# Sets and ablations


def coverage(table: pd.DataFrame) -> Figure:
    """Return missed arm-steps and median widths of grid and outward-rounded sets.

    `table`: a row a structure; columns `missed, paper`, `missed, outward` (shares), `width, paper`, `width, outward`.
    """
    fig, (left, right) = pieces.row(2, 3.2, sharey=True)
    places = np.arange(len(table))
    for shift, mode, kind in ((-0.2, "paper", "grid"), (0.2, "outward", "outward")):
        colour, _, label = KINDS[kind]
        left.barh(places + shift, table[f"missed, {mode}"], 0.38, color=colour, label=label)
        right.barh(places + shift, table[f"width, {mode}"], 0.38, color=colour)
    left.set_xlabel("share of arm-steps at which\nthe set misses the truth")
    left.xaxis.set_major_formatter(PercentFormatter(1))
    right.set(xlabel="median width of the last set\n(range of the reward; line: says nothing)", xscale="log")
    right.axvline(1, color="black", linewidth=1.0)
    pieces.plain_log(right.xaxis)
    for ax in (left, right):
        pieces.name_rows(ax, table.index)
    low, high = table["missed, paper"].min(), table["missed, paper"].max()
    outward = "never miss" if not table["missed, outward"].any() else "miss too"
    silent = (table["width, outward"] >= 1).sum()
    title = f"The grid sets of L.2 miss in {low:.1%} to {high:.0%} of arm-steps; outward-rounded ones {outward},"
    told = f"but are wider than the range of the reward for {silent} of {len(table)} structures"
    return titled(fig, f"{title}\n{told}", 2)


def versions(ends: Panel, lower_by: Mapping[str, Estimate]) -> Figure:
    """Return by how much less simple regret than as in L.2 versions of GPN-UCB have at T, one dot a chain.

    `lower_by` as `measures.claim_5_Z` returns it.
    """
    rows = {name: (ends["as in L.2"] - ends[name], lower_by[part]) for part, name in VERSIONS.items()}
    fig, ax = plt.subplots(figsize=(WIDTH, 1.5 + 0.4 * len(rows)))
    reach = 2 * max(0.01, *(np.abs(values).max() for values, _ in rows.values()))
    ax.set_xscale("symlog", linthresh=0.001)
    ax.set_xlim(-reach, reach)
    what = "simple regret as in L.2 minus that of the version (range of g)"
    pairs(ax, rows, rule=read_rule("> 0"), what=what, dot="chain")
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%".replace("-", "−"))
    clearly = [name for name, (_, estimate) in rows.items() if estimate.low > 0]
    return titled(fig, f"Clearly lower simple regret than as in L.2: {', '.join(clearly) or 'none of these versions'}")


# The lower bound


def lower_bound(
    found: Mapping[float, pd.DataFrame], sources: Mapping[float, needle.Needles], ratio: Mapping[float, float]
) -> Figure:
    """Return the needle before and after the layers, g~ (Fig. 6), and average simple regret over all needles.

    `found`: {nu: simple regret over epsilon, a row a needle, a column an algorithm}; `ratio`: {nu: r_min / r_max}.
    """
    fig, axes = plt.subplot_mosaic("AB;CC", figsize=(WIDTH, 5.8))
    left, middle, right = axes["A"], axes["B"], axes["C"]
    colours = dict(zip(found, ("#202868", "#a04000", "#388058"), strict=False))
    for nu, source in sources.items():
        r = np.linspace(-2 * source.radius, 2 * source.radius, 400)
        low = source.low * needle.bump(r / source.radius)
        z = low
        for _ in range(source.depth - 1):
            z = needle.amplifier(z, nu)
        left.plot(r / source.radius, low / (2 * source.epsilon), ":", color=colours[nu])
        left.plot(r / source.radius, z / (2 * source.epsilon), color=colours[nu], label=f"nu = {nu:g}")
        inside = np.linspace(-0.5, 0.5, 200)
        middle.plot(inside, needle.amplifier(inside, nu), color=colours[nu], label=f"nu = {nu:g}: {ratio[nu]:.3f}")
    left.set(xlabel="distance from the centre of a cell (radius w)", ylabel=r"reward over $2\epsilon$")
    left.set(title="the needle: dotted out of layer 1,\nsolid after the layers that raise it", ylim=(-0.05, 1.6))
    middle.axvspan(0, needle.REACH, color="0.9", linewidth=0)
    middle.set(xlabel="z", ylabel=r"$\tilde g(z)$")
    middle.set_title("Fig. 6: the layer that raises it\n(shaded: up to 0.3; ratio of slopes)")
    for ax in (left, middle):
        ax.legend(loc="upper left", fontsize=8)
    shift = dict(zip(found, np.linspace(-0.2, 0.2, len(found)), strict=True))
    for nu, frame in found.items():
        places = np.arange(frame.shape[1]) + shift[nu]
        right.plot(frame.mean(), places, "o", color=colours[nu], markersize=5, label=f"nu = {nu:g}")
    right.axvline(1, color="black", linestyle="--", linewidth=1.0)
    pieces.name_rows(right, list(next(iter(found.values()))))
    what = "mean simple regret over ε: exact, since every needle was played; dashed: the lower bound"
    right.set(xlim=(0, 2.05), xlabel=what)
    least = min(frame.mean().min() for frame in found.values())
    return titled(fig, f"No algorithm gets below {least:.2f} ε, and the bound is ε")
