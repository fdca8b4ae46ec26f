"""The figures of the notebook side by side.

Colours are kinds of proof; names are next to the marks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from kbrepro.figures import LOOK, WIDTH, label_ends, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.side_by_side.bench import Setting
from kbrepro.papers.side_by_side.experiments import BEST_PROVED, UNIFORM, over_best
from kbrepro.papers.side_by_side.field import PROOFS, TUNED, Entry
from kbrepro.regret import share

HERO = "proof: near-optimal"
#: Rules whose growth is drawn; the others are in the table.
SHOWN = ("SupKernelUCB", "BPE, tighter", "BPE, doubling", "IGP-UCB", "π-GP-UCB, tighter", BEST_PROVED, "GP-TS")
#: Line styles of rules of one kind, in turn.
STYLES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (5, 1)), (0, (3, 1, 1, 1)))


def colour(proof: str) -> str:
    """Return the colour of a kind of proof."""
    return LOOK[f"proof: {proof}"][0]


def lines(ax: Axes, x: ArrayLike, curves: Mapping[str, Array], entries: Mapping[str, Entry]) -> None:
    """Draw the curve (m,) of each policy over x in the colour of its proof, in the next style of its kind."""
    used = {proof: iter(STYLES) for proof in PROOFS}
    for name, its in curves.items():
        proof = entries[name].proof
        ax.plot(x, its, color=colour(proof), linestyle=next(used[proof]), label=name, linewidth=1.3)


def race(left: Mapping[str, Sequence[int]]) -> Figure:
    """Return how many arms each rule {rule: counts (T,)} has not yet excluded, over rounds."""
    figure, (ax,) = pieces.row(1, 2.8)
    for (name, its), style in zip(left.items(), STYLES, strict=False):
        ax.plot(np.arange(1, len(its) + 1), its, linestyle=style, color=LOOK[HERO][0], label=name)
    ax.set(xscale="log", xlabel="round t", ylabel="arms not excluded", ylim=(0, None))
    pieces.plain_log(ax.xaxis)
    label_ends(ax)
    return pieces.titled(figure, "Arms that near-optimal rules have not yet excluded: Table 1 of Janz et al., d = 1")


def growth(
    curves: Mapping[tuple[float, int], Mapping[str, Array]], rounds: Sequence[int], entries: Mapping[str, Entry]
) -> Figure:
    """Return mean R_T over T {(nu, d): {policy: (n, horizons)}}, one panel per case, log-log."""
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.0), sharex=True, sharey=True)
    for ax, ((nu, d), panel) in zip(axes.flat, curves.items(), strict=True):
        lines(ax, rounds, {name: panel[name].mean(axis=0) for name in SHOWN}, entries)
        for line, name in zip(list(ax.lines), SHOWN, strict=True):
            _, low, high = pieces.mean_interval(panel[name])
            ax.fill_between(rounds, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set(title=f"ν = {nu}, d = {d}", xlabel="horizon T", ylabel="mean regret $R_T$\n(95 % interval)")
        pieces.log_axes(ax, "xy")
        ax.label_outer()
    pieces.legend_below(figure, 4, axes.flat)
    return pieces.titled(figure, "Regret over the horizon, on functions of Janz et al.")


def heat(means: pd.DataFrame, bench: Mapping[str, Setting], entries: Mapping[str, Entry]) -> Figure:
    """Return regret as a share of uniform play's: a row per rule, a column per problem, a dot if its proof holds.

    `means`: mean R_T, NaN where a rule is not defined; rules are ordered by their median factor over the best.
    """
    names = over_best(means).median(axis=1).sort_values().index.drop(UNIFORM)
    table = (means / means.loc[UNIFORM]).loc[names].rename_axis("")
    figure, (ax,) = pieces.row(1, 0.2 * len(names) + 2.3)
    sns.heatmap(
        table, ax=ax, norm=LogNorm(0.005, 1), cmap="cividis", linewidths=0.4, xticklabels=True, yticklabels=True,
        cbar_kws={"label": "regret as a share of uniform play's"},
    )  # fmt: skip
    for row, name in enumerate(names):
        ax.get_yticklabels()[row].set_color(colour(entries[name].proof))
        met = [c for c, p in enumerate(table) if table.notna().loc[name, p] and bench[p].met(entries[name])]
        ax.plot(np.array(met) + 0.5, np.full(len(met), row + 0.5), "o", color="white", markersize=3.5,
                markeredgecolor="black", markeredgewidth=0.6)  # fmt: skip
    ax.set(xlabel="", ylabel="")
    ax.tick_params(axis="x", labelsize=SMALLEST, rotation=50)
    plt.setp(ax.get_xticklabels(), ha="right", rotation_mode="anchor")
    ax.tick_params(axis="y", labelsize=SMALLEST)
    ax.grid(visible=False)
    marks = [Line2D([], [], marker="s", linestyle="", color=colour(proof), label=f"name: {proof}") for proof in PROOFS]
    edge: dict[str, Any] = {"linestyle": "", "color": "white", "markeredgecolor": "black", "markeredgewidth": 0.6}
    marks += [Line2D([], [], marker="o", markersize=4, label="its proof holds there", **edge)]
    marks += [Line2D([], [], marker="s", label="white: not played", **edge)]
    figure.legend(handles=marks, loc="outside lower center", ncols=3, fontsize=SMALLEST, handlelength=1.2)
    return pieces.titled(figure, "Every rule on every problem")


def profiles(factors: pd.DataFrame, entries: Mapping[str, Entry], many: int = 3) -> Figure:
    """Return performance profiles of the `many` best rules of each kind as printed, and of the best tuned one.

    `factors` as `over_best` returns them.
    """
    ranked = factors.median(axis=1).sort_values().index
    chosen = [n for proof in PROOFS
              for n in [n for n in ranked if entries[n].proof == proof and TUNED not in n][:many]]  # fmt: skip
    chosen += [n for n in ranked if n.endswith(TUNED)][:1]
    x = np.geomspace(1, 100, 120)
    figure, (ax,) = pieces.row(1, 3.6)
    played = {name: factors.loc[name].dropna().to_numpy() for name in chosen}
    lines(ax, x, {name: (its[:, None] <= x).mean(axis=0) for name, its in played.items()}, entries)
    ax.set(xscale="log", xlabel="factor over the regret of the best rule", ylabel="share of problems", ylim=(0, 1.02))
    pieces.plain_log(ax.xaxis)
    pieces.legend_below(figure, 4, [ax])
    return pieces.titled(figure, "On which share of its problems a rule is within a factor of the best")


def ranking(table: pd.DataFrame, seconds: pd.DataFrame, entries: Mapping[str, Entry]) -> Figure:
    """Return the rules as printed, best first: factor over the best with quartiles, and microseconds per round.

    `table` as `experiments.ranking` returns it, `seconds` per round by rule and problem; of rules defined on fewer than
    half of the problems the mark is hollow.
    """
    its = table[~table.index.str.contains(TUNED, regex=False)].sort_values("factor")
    micro = 1e6 * seconds.median(axis=1)
    figure, (left, right) = pieces.row(2, 0.2 * len(its) + 1.4, sharey=True, width_ratios=(2, 1))
    few = its["problems"] < table["problems"].max() / 2
    for row, name in enumerate(its.index):
        shade = colour(entries[name].proof)
        face = "white" if few[name] else shade
        left.plot(its.loc[name, ["q25", "q75"]], [row, row], color=shade, linewidth=1.2)
        left.plot(its.loc[name, "factor"], row, "o", color=shade, markersize=5, markerfacecolor=face)
        right.plot(micro[name], row, "o", color=shade, markersize=5)
    left.set(xlabel=f"regret over that of the best rule\n(median and quartiles of {table['problems'].max()} problems)")
    right.set(xlabel="microseconds a round\n(median over problems)")
    for ax in (left, right):
        pieces.log_axes(ax, "x")
        ax.grid(visible=True, axis="y")
    pieces.name_rows(left, list(its.index))
    marks = [left.plot([], [], "o", color=colour(proof), label=proof)[0] for proof in PROOFS]
    left.legend(handles=marks, fontsize=SMALLEST, loc="upper right")
    return pieces.titled(figure, "All rules as printed, ranked by regret, and the time that they take")


def price(
    covered: Mapping[tuple[str, str], NDArray[np.bool_]],
    lost: Mapping[tuple[str, str], Array],
    entries: Mapping[str, Entry],
) -> Figure:
    """Return coverage of bands and regret {(problem, policy): (n,)}, one row per policy, one mark per problem."""
    problems = list(dict.fromkeys(problem for problem, _ in covered))
    names = list(dict.fromkeys(name for _, name in covered))
    least = {problem: min(its.mean() for (p, _), its in lost.items() if p == problem) for problem in problems}
    figure, axes = pieces.row(2, 0.34 * len(names) + 1.7, sharey=True)
    marks = dict(zip(problems, "os^", strict=False))
    for (problem, name), its in covered.items():
        beside = problems.index(problem) - (len(problems) - 1) / 2  # equal ones would cover each other
        at, shade = names.index(name) + 0.22 * beside, colour(entries[name].proof)
        how = {"marker": marks[problem], "color": shade, "linestyle": "", "markersize": 6, "alpha": 0.8}
        for ax, (value, low, high) in zip(
            axes, (share(its), (x / least[problem] for x in pieces.mean_interval(lost[problem, name]))), strict=True
        ):
            ax.plot([low, high], [at, at], color=shade, linewidth=1.0)
            ax.plot(value, at, **how)
    for problem, mark in marks.items():
        axes[0].plot([], [], mark, color="0.4", linestyle="", label=problem)
    axes[0].set(xlabel="share of runs in which the band held\n(95 % interval)", xlim=(-0.05, 1.05))
    axes[1].set(xlabel="mean regret over the least of these rules\n(95 % interval)")
    pieces.log_axes(axes[1], "x")
    pieces.name_rows(axes[0], names)
    return pieces.titled(figure, "How often bands hold, and the regret of the rules that use them", len(marks))


def wrong(factors: pd.DataFrame) -> Figure:
    """Return by which factor wrong assumptions multiply regret, a row per rule, a column per case."""
    figure, (ax,) = pieces.row(1, 0.35 * len(factors) + 1.5)
    sns.heatmap(
        factors, ax=ax, annot=True, fmt=".2g", norm=LogNorm(0.2, 5), cmap="PuOr_r", linewidths=0.4,
        cbar_kws={"label": "factor on regret", "format": "%g", "ticks": (0.2, 0.5, 1, 2, 5)},
        annot_kws={"size": SMALLEST},
    )  # fmt: skip
    ax.collections[0].colorbar.minorticks_off()
    ax.set_xticklabels([name.replace(" ", "\n", 1) for name in factors])
    ax.set(xlabel="", ylabel="")
    ax.tick_params(axis="x", labelsize=SMALLEST, rotation=0)
    ax.tick_params(axis="y", labelsize=SMALLEST)
    ax.grid(visible=False)
    return pieces.titled(figure, "What wrong assumptions do to regret, on two problems")
