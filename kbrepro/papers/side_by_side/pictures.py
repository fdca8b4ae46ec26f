"""The figures of the notebook side by side.

Colours are kinds of proof; names are next to the marks.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.side_by_side.experiments import BEST_PROVED
from kbrepro.papers.side_by_side.field import PROOFS, TUNED, Entry
from kbrepro.regret import share

#: Rules whose growth is drawn; the others are in the table.
SHOWN = ("SupKernelUCB", "BPE, tighter", "BPE, doubling", "IGP-UCB", "π-GP-UCB, tighter", BEST_PROVED, "GP-TS")
#: Line styles of rules of one kind, in turn.
STYLES = ("-", "--", "-.", ":")


def colour(proof: str) -> str:
    """Return the colour of a kind of proof."""
    return LOOK[f"proof: {proof}"][0]


def growth(
    curves: Mapping[tuple[float, int], Mapping[str, Array]], rounds: Sequence[int], entries: Mapping[str, Entry]
) -> Figure:
    """Return mean R_T over T {(nu, d): {policy: (n, horizons)}}, one panel per case, log-log."""
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.0), sharex=True, sharey=True)
    for ax, ((nu, d), panel) in zip(axes.flat, curves.items(), strict=True):
        styles = {proof: iter(STYLES) for proof in PROOFS}
        for name in SHOWN:
            style = {"color": colour(entries[name].proof), "linestyle": next(styles[entries[name].proof])}
            pieces.banded(ax, rounds, pieces.mean_interval(panel[name]), name, linewidth=1.3, **style)
        ax.set(title=f"ν = {nu}, d = {d}", xlabel="horizon T", ylabel="mean regret $R_T$\n(95 % interval)")
        pieces.log_axes(ax, "xy")
        ax.label_outer()
    pieces.legend_below(figure, 4, axes.flat)
    return pieces.titled(figure, "Regret over the horizon, on functions of Janz et al.")


def ranking(table: pd.DataFrame, seconds: pd.DataFrame, entries: Mapping[str, Entry]) -> Figure:
    """Return the rules as printed, best first: factor over the best with quartiles, and microseconds per round.

    `table` as `experiments.ranking` returns it, `seconds` per round by rule and problem; of rules defined on fewer than
    half of the problems the mark is hollow.
    """
    printed = table[~table.index.str.contains(TUNED, regex=False)].sort_values("factor")
    micro = 1e6 * seconds.median(axis=1)
    figure, (left, right) = pieces.row(2, 0.2 * len(printed) + 1.4, sharey=True, width_ratios=(2, 1))
    few = printed["problems"] < table["problems"].max() / 2
    for row, name in enumerate(printed.index):
        shade = colour(entries[name].proof)
        face = "white" if few[name] else shade
        left.plot(printed.loc[name, ["q25", "q75"]], [row, row], color=shade, linewidth=1.2)
        left.plot(printed.loc[name, "factor"], row, "o", color=shade, markersize=5, markerfacecolor=face)
        right.plot(micro[name], row, "o", color=shade, markersize=5)
    left.set(xlabel=f"regret over that of the best rule\n(median and quartiles of {table['problems'].max()} problems)")
    right.set(xlabel="microseconds a round\n(median over problems)")
    for ax in (left, right):
        pieces.log_axes(ax, "x")
        ax.grid(visible=True, axis="y")
    pieces.name_rows(left, list(printed.index))
    for proof in PROOFS:
        left.plot([], [], "o", color=colour(proof), label=proof)
    left.legend(fontsize=SMALLEST, loc="upper right")
    return pieces.titled(figure, "All rules as printed, ranked by regret, and the time that they take")


def price(
    covered: Mapping[tuple[str, str], NDArray[np.bool_]],
    lost: Mapping[tuple[str, str], Array],
    entries: Mapping[str, Entry],
) -> Figure:
    """Return coverage of bands and regret {(problem, policy): (n,)}, one row per policy, one mark per problem."""
    problems, names = (list(dict.fromkeys(part)) for part in zip(*covered, strict=True))
    least = {problem: min(total.mean() for (p, _), total in lost.items() if p == problem) for problem in problems}
    figure, axes = pieces.row(2, 0.34 * len(names) + 1.7, sharey=True)
    marks = dict(zip(problems, "os^", strict=False))
    for (problem, name), held in covered.items():
        at = names.index(name) + 0.22 * (problems.index(problem) - (len(problems) - 1) / 2)  # side by side
        shade = colour(entries[name].proof)
        intervals = share(held), [x / least[problem] for x in pieces.mean_interval(lost[problem, name])]
        for ax, (value, low, high) in zip(axes, intervals, strict=True):
            ax.plot([low, high], [at, at], color=shade, linewidth=1.0)
            ax.plot(value, at, marks[problem], color=shade, markersize=6, alpha=0.8)
    for problem, mark in marks.items():
        axes[0].plot([], [], mark, color="0.4", label=problem)
    axes[0].set(xlabel="share of runs in which the band held\n(95 % interval)", xlim=(-0.05, 1.05))
    axes[1].set(xlabel="mean regret over the least of these rules\n(95 % interval)")
    pieces.log_axes(axes[1], "x")
    pieces.name_rows(axes[0], names)
    return pieces.titled(figure, "How often bands hold, and the regret of the rules that use them", len(marks))


def wrong(factors: pd.DataFrame) -> Figure:
    """Return by which factor wrong assumptions multiply regret, a row per rule, a column per case."""
    figure, (ax,) = pieces.row(1, 0.35 * len(factors) + 1.5)
    bar = {"label": "factor on regret", "format": "%g", "ticks": (0.2, 0.5, 1, 2, 5)}
    looks = {"norm": LogNorm(0.2, 5), "cmap": "PuOr_r", "linewidths": 0.4, "cbar_kws": bar}
    sns.heatmap(factors, ax=ax, annot=True, fmt=".2g", annot_kws={"size": SMALLEST}, **looks)
    ax.collections[0].colorbar.minorticks_off()
    ax.set_xticklabels([name.replace(" ", "\n", 1) for name in factors], rotation=0)
    ax.set(xlabel="", ylabel="")
    ax.grid(visible=False)
    return pieces.titled(figure, "What wrong assumptions do to regret, on two problems")
