"""The figures of the notebook side by side.

Colours are kinds of proof; names are next to the marks.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from kbrepro.figures import WIDTH, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.papers import looks
from kbrepro.papers.side_by_side.field import PROOFS, TUNED, field
from kbrepro.papers.side_by_side.measures import BEST_PROVED
from kbrepro.typing import Array

#: Rules whose growth is drawn; the others are in the table.
SHOWN = ("SupKernelUCB", "BPE, tighter", "IGP-UCB", "π-GP-UCB, tighter", BEST_PROVED, "GP-TS")
#: Line styles of rules of one kind, in turn.
STYLES = ("-", "--", "-.", ":")


#: The kind of proof of every rule.
PROOF_OF = {name: entry.proof for name, entry in field(0.1).items()}


def colour(proof: str) -> str:
    """Return the colour of a kind of proof."""
    return looks()[f"proof: {proof}"][0]


def growth(
    curves: Mapping[tuple[float, int], Mapping[str, Array]], rounds: Sequence[int]
) -> Figure:
    """Return mean R_T over T {(nu, d): {policy: (n, horizons)}}, one panel per case, log-log."""
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.0), sharex=True, sharey=True)
    for ax, ((nu, d), panel) in zip(axes.flat, curves.items(), strict=True):
        styles = {proof: iter(STYLES) for proof in PROOFS}
        for name in SHOWN:
            proof = PROOF_OF[name]
            style = {"color": colour(proof), "linestyle": next(styles[proof])}
            interval = pieces.mean_interval(panel[name])
            pieces.banded(ax, rounds, interval, name, linewidth=1.3, **style)
        ax.set(
            title=f"ν = {nu}, d = {d}",
            xlabel="horizon T",
            ylabel="mean regret $R_T$\n(95 % interval)",
        )
        pieces.log_axes(ax, "xy")
        ax.label_outer()
    pieces.legend_below(figure, 4, axes.flat)
    return pieces.titled(figure, "Regret over the horizon, on functions of Janz et al.")


def ranking(table: pd.DataFrame, seconds: pd.DataFrame) -> Figure:
    """Return the rules as printed, best first: factor over the best, microseconds per round.

    `table` as `measures.ranking` returns it, `seconds` per round by rule and problem; of rules
    defined on fewer than half of the problems the mark is hollow.
    """
    printed = table[~table.index.str.endswith(TUNED)].sort_values("factor")
    micro = 1e6 * seconds.median(axis=1)
    height = 0.2 * len(printed) + 1.4
    figure, (left, right) = pieces.row(2, height, sharey=True, width_ratios=(2, 1))
    few = printed["problems"] < table["problems"].max() / 2
    for row, name in enumerate(printed.index):
        shade = colour(PROOF_OF[name])
        face = "white" if few[name] else shade
        left.plot(printed.loc[name, ["q25", "q75"]], [row, row], color=shade, linewidth=1.2)
        mark = {"color": shade, "markersize": 5}
        left.plot(printed.loc[name, "factor"], row, "o", markerfacecolor=face, **mark)
        right.plot(micro[name], row, "o", **mark)
    quartiles = f"median and quartiles of {table['problems'].max()} problems"
    left.set(xlabel=f"regret over that of the best rule\n({quartiles})")
    right.set(xlabel="microseconds a round\n(median over problems)")
    for ax in (left, right):
        pieces.log_axes(ax, "x")
        ax.grid(visible=True, axis="y")
    pieces.name_rows(left, list(printed.index))
    for proof in PROOFS:
        left.plot([], [], "o", color=colour(proof), label=proof)
    left.legend(fontsize=SMALLEST, loc="upper right")
    return pieces.titled(
        figure, "All rules as printed, ranked by regret, and the time that they take"
    )
