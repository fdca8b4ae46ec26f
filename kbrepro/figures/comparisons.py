"""Figures of comparisons: one dot a trial, and how often a sentence comes out under every reading."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from kbrepro.claims import Judged
from kbrepro.figures.pieces import golden, name_rows, plain_log, row, titled
from kbrepro.figures.style import SMALLEST, WIDTH
from kbrepro.kernels import Array
from kbrepro.regret import Estimate

GREY = "#707070"


def paired(rows: Mapping[str, tuple[Array, Estimate]], title: str, what: str, *, axis: str = "log") -> Figure:
    """Return paired ratios: a row of dots each, with the estimate and its 95 % interval above.

    `rows`: {name: (values (n,), estimate)}, one value per trial; `what` names the values, with their unit; a line marks
    where both are even. The x axis is "log", "linear" or "symlog".
    """
    figure, (ax,) = row(1, 1.4 + 0.36 * len(rows))
    ax.set_xscale(axis)
    ax.axvline(1.0, color="black", linewidth=1.0, zorder=1)
    for place, (values, estimate) in enumerate(rows.values()):
        dots = place + 0.02 + 0.36 * golden(len(values))
        ax.plot(np.sort(values), dots, "o", color=GREY, markersize=3, alpha=0.6, markeredgewidth=0)
        value, low, high = estimate
        ax.plot([low, high], [place - 0.2] * 2, color="black", linewidth=1.8, solid_capstyle="butt")
        ax.plot(value, place - 0.2, "o", color="black", markersize=6)
    name_rows(ax, list(rows), (0.55, 0.55))
    ax.set_xlabel(f"{what}\none dot a trial; black: ratio of means and 95 % interval")
    if axis == "log":
        plain_log(ax.xaxis)
    return titled(figure, title)


def readings(judged: Judged) -> Figure:
    """Return how often a sentence comes out under every reading, with its interval; hollow: it does not count."""
    figure, ax = plt.subplots(figsize=(WIDTH, 1.3 + 0.26 * len(judged.readings)))
    for place, each in enumerate(judged.readings):
        value, low, high = each.probability
        ax.plot([low, high], [place, place], color="black", linewidth=1.6, solid_capstyle="butt")
        face = "white" if each.excluded_by else "black"
        ax.plot(value, place, "o", color="black", markerfacecolor=face, markersize=6, clip_on=False, zorder=3)
    for limit in (0.1, 0.9):
        ax.axvline(limit, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
    name_rows(ax, [f"{each.choice}: {each.value}" if each.choice else "as we read it" for each in judged.readings])
    ax.set(xlim=(-0.02, 1.02), xlabel="share of reruns that would print it (95 % interval)")
    if any(each.excluded_by for each in judged.readings):
        figure.supxlabel("hollow: excluded by a clause of the paper", size=SMALLEST)
    return titled(figure, f"{judged.claim.id}: {judged.verdict}")
