"""Panels of regret, and labels at the ends of curves."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from scipy.optimize import isotonic_regression

from kbrepro import checks
from kbrepro.figures import pieces
from kbrepro.figures.style import SMALLEST, look
from kbrepro.kernels import Array
from kbrepro.papers import Look
from kbrepro.regret import Regrets, Trace, log_spaced, simple_regret

QUANTITIES: dict[str, tuple[str, Callable[[Any], Array]]] = {
    "average": ("average regret $R_t/t$", lambda trace: trace.average_regret),
    "cumulative": ("cumulative regret $R_t$", lambda trace: trace.cumulative_regret),
    "simple": ("simple regret", simple_regret),
}
SPREADS = ("median and quartiles", "mean and 95 % interval")


def regret_quartiles(
    ax: Axes,
    traces: Mapping[str, Trace | Regrets],
    *,
    quantity: str = "cumulative",
    spread: str = "median and quartiles",
    unit: str = "",
    block: int = 1,
    hero: str = "",
    bands: Collection[str] | None = None,
) -> None:
    """Draw regret over trials on log-log axes, one curve per policy, with the spread that the axis names.

    `quantity`: average, cumulative or simple. `spread`: median and quartiles for heavy tails, or mean and 95 %
    interval (1.96 standard errors, of means of `block` consecutive trials). `unit` is that of the reward, `hero` the
    policy that the paper is about. Where bands would cover each other, `bands` names the policies that have one; others
    have bars at some rounds. Axes begin where no curve is zero. Call `label_ends` when all is drawn.
    Raises ValueError on another quantity or spread.
    """
    checks.one_of(tuple(QUANTITIES), quantity=quantity)
    checks.one_of(SPREADS, spread=spread)
    (name_of, curves_of), counts = QUANTITIES[quantity], set()
    ax.set(xscale="log", yscale="log")
    for place, (name, trace) in enumerate(traces.items()):
        rounds = log_spaced(trace.horizon)
        curves = curves_of(trace)[:, rounds - 1]
        counts.add(len(curves))
        quartiles = np.quantile(curves, [0.5, 0.25, 0.75], axis=0)
        its = quartiles if spread == SPREADS[0] else pieces.mean_interval(curves, block)
        if bands is None or name in bands:
            pieces.banded(ax, rounds, its, name, **look(name, hero))
        else:  # each at other rounds, a quarter of the axis apart
            apart = len(rounds) // 4
            at = slice(apart - 1 - place * apart // (len(traces) + 1), None, apart)
            pieces.barred(ax, rounds, its, name, at, **look(name, hero))
    alike = ax.get_shared_y_axes().get_siblings(ax)
    shown = np.concatenate([line.get_ydata() for each in alike for line in each.lines])
    numbers = " to ".join(map(str, sorted({min(counts), max(counts)})))
    told = f"{name_of} ({unit})" if unit else name_of
    ax.set(xlabel="round t", ylabel=f"{told}\n{spread}\nof {numbers} trials", xlim=(1, rounds[-1]))
    if (shown > 0).any():  # a band may come as near to zero as it likes: curves set the lower end
        ax.set_ylim(bottom=0.7 * shown[shown > 0].min())
    pieces.log_axes(ax, "xy")


def regret_row(
    panels: Mapping[str, Mapping[str, Trace]], height: float, looks: Mapping[str, Look] | None = None, **settings: Any
) -> tuple[Figure, Array]:
    """Return a figure with `regret_quartiles` in a row of panels {title: traces}, one y axis and restyled curves."""
    figure, axes = pieces.row(len(panels), height, sharey=True)
    for ax, (title, traces) in zip(axes, panels.items(), strict=True):
        regret_quartiles(ax, traces, **settings)
        restyle(ax, looks or {})
        ax.set_title(title)
    for ax in axes[1:]:
        ax.set_ylabel("")
    return figure, axes


def restyle(ax: Axes, looks: Mapping[str, Look]) -> None:
    """Give curves of `regret_quartiles`, and their bands, line styles other than those of their names."""
    for line, band in zip(ax.lines, ax.collections, strict=True):
        its: tuple[Any, Any] = looks.get(str(line.get_label())) or (line.get_color(), line.get_linestyle())
        line.set(color=its[0], linestyle=its[1])
        band.set_color(its[0])


# Labels at the ends of curves


def labelled(figure: Figure, title: str) -> Figure:
    """Set the title of a figure and label the curves of all its panels at their ends."""
    pieces.say(figure, title)
    label_ends(*figure.axes)
    return figure


def label_ends(*axes: Axes) -> None:
    """Label every curve of panels at its end, spread so that no label covers another; call it last.

    Curves that coincide are labelled together. If the labels would be higher than the panel, or wider than three
    tenths of the figure, one legend below the figure names the curves of all its panels.
    """
    lay_out(pieces.figure_of(axes[0]))  # the layout decides how high a panel is
    for ax in axes:
        if not _label_ends(ax):
            lay_out(pieces.figure_of(ax))  # the legend takes from the height of the panels that follow


def lay_out(figure: Figure) -> None:
    """Place the panels of a figure as its layout engine will; draw the figure if it has no such engine."""
    if not (engine := figure.get_layout_engine()):
        figure.draw_without_rendering()
    elif figure.axes:
        engine.execute(figure)


@contextmanager
def placed(figure: Figure, dpi: float) -> Iterator[None]:
    """Fix the places of a figure's panels, as for `dpi`; save it within, so that drawing does not move them again."""
    before = figure.dpi
    figure.set_dpi(dpi)
    lay_out(figure)
    figure.set_dpi(before)
    # an engine set to "none" would still be asked, and saving resets None to what the style says
    with plt.rc_context({"figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        yield


def _named(ax: Axes) -> list[Line2D]:
    return [line for line in ax.lines if not str(line.get_label()).startswith("_")]


def _label_ends(ax: Axes) -> bool:
    """Label the curves of a panel, or put a legend below the figure; return whether they are labelled."""
    lines = _named(ax)
    box, pixels = ax.get_window_extent(), ax.figure.dpi / 72
    ends, coincides = _ends(ax, lines)
    order = sorted(range(len(lines)), key=lambda i: (ends[i], -i))
    gap = 1.3 * SMALLEST * pixels / box.height
    texts: list[Text] = []
    leader = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
    where: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "axes fraction"}
    for i, place in zip(order, _spread(ends[order], gap), strict=True):
        colour, x = lines[i].get_color(), np.asarray(lines[i].get_xdata(), float)[-1]
        name, at = "= " * coincides[i] + str(lines[i].get_label()), (1 + 10 * pixels / box.width, place)
        arrow = leader | {"color": colour}
        texts.append(
            ax.annotate(name, (x, ends[i]), at, size=SMALLEST, va="center", color=colour, arrowprops=arrow, **where)
        )
    widest = max(Text.get_window_extent(text).width for text in texts)  # without the line that leads to it
    fits = len(lines) * gap <= 1 and widest <= 0.3 * ax.figure.bbox.width
    if not fits:
        for text in texts:
            text.remove()
        for legend in list(ax.figure.legends):
            legend.remove()
        columns = int(ax.figure.bbox.width // (widest + 32 * pixels))
        pieces.legend_below(pieces.figure_of(ax), columns, ax.figure.axes, handlelength=1.6, columnspacing=1.0)
    return fits


def _ends(ax: Axes, lines: Sequence[Line2D]) -> tuple[Array, list[bool]]:
    """Return the height of the end of every curve as a share of the panel's, and whether it repeats an earlier curve.

    Such a curve gets the height of the one that it repeats, within 1.5 pixels everywhere.
    """
    paths = [ax.transAxes.inverted().transform(ax.transData.transform(line.get_xydata())) for line in lines]
    near = 1.5 / ax.get_window_extent().height
    ends, repeats = np.empty(len(lines)), []
    for i, path in enumerate(paths):
        alike = (j for j in range(i) if path.shape == paths[j].shape and np.allclose(path, paths[j], 0, near, True))
        first = next(alike, None)
        ends[i] = ends[first] if first is not None else np.clip(np.nan_to_num(path[-1, 1]), 0, 1)
        repeats.append(first is not None)
    return ends, repeats


def _spread(places: Array, gap: float) -> Array:
    """Return the sorted places moved as little as possible so that they lie `gap` apart, within [0, 1] if they fit."""
    steps = gap * np.arange(len(places))
    return np.clip(isotonic_regression(places - steps).x, 0, max(0, 1 - steps[-1])) + steps
