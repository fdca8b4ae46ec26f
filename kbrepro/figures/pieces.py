"""Pieces of which figures are made."""

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter
from numpy.typing import ArrayLike

from kbrepro.claims.estimates import standard_error
from kbrepro.figures.style import SMALLEST, WIDTH
from kbrepro.typing import Array


def row(columns: int, height: float, **settings: Any) -> tuple[Figure, Array]:
    """Return a figure of page width, and its panels (columns,) in a row; settings as for
    `plt.subplots`.
    """
    figure, (axes,) = plt.subplots(1, columns, figsize=(WIDTH, height), squeeze=False, **settings)
    return figure, axes


def banded(
    ax: Axes, x: ArrayLike, interval: Iterable[ArrayLike], label: str, **keywords: Any
) -> None:
    """Draw values over x (m,) with a band, `interval` (value, low, high), each (m,)."""
    value, low, high = interval
    (line,) = ax.plot(x, value, label=label, **keywords)
    ax.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)


def mean_interval(curves: Array, block: int = 1) -> tuple[Array, Array, Array]:
    """Return the mean of curves (n, m) and the ends of its 95 % interval, of means of `block`
    neighbours, (m,) each.
    """
    mean, half = curves.mean(axis=0), 1.96 * standard_error(curves, block)
    return mean, mean - half, mean + half


def log_axes(ax: Axes, axes: str) -> None:
    """Make the named axes ("x", "y" or "xy") logarithmic: with ticks at decades, and at 2 and 5
    between them where there are few, in plain numbers.
    """
    for name in axes:
        ax.set(**{f"{name}scale": "log"})
        axis = getattr(ax, f"{name}axis")
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axis.set_major_formatter("{x:.7g}" if high < 1e7 else LogFormatterSciNotation())
        axis.set_minor_formatter(NullFormatter())


def golden(n: int) -> Array:
    """Return n places for dots, as shares of a row's width (n,): the golden section keeps
    neighbours apart.
    """
    return np.arange(n) * 0.618034 % 1


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name rows 0, 1, ... from the top, without grid lines."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(visible=False, axis="y")


def titled(figure: Figure, title: str, columns: int = 0, panel: int = 0) -> Figure:
    """Set the title of a figure and, with `columns`, name the curves of one panel below it in that
    many columns.
    """
    if columns:
        legend_below(figure, columns, [figure.axes[panel]])
    if figure.suptitle(title).get_window_extent().width > figure.bbox.width:  # on two lines
        figure.suptitle("\n".join(wrap(title, len(title) // 2 + 8)))
    return figure


def legend_below(figure: Figure, columns: int, axes: Sequence[Axes]) -> None:
    """Name the curves of panels below the figure, each name once, in at most `columns` columns."""
    shown: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=columns, fontsize=SMALLEST
    )
