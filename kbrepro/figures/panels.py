"""Panels of regret, and labels at the ends of curves."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from kbrepro import checks
from kbrepro.figures import pieces
from kbrepro.figures.style import SMALLEST, Look, look
from kbrepro.trials.curve import Curve, as_curve, log_spaced, simple_regret
from kbrepro.typing import Array

QUANTITIES: dict[str, tuple[str, Callable[[Curve], Array]]] = {
    "average": ("average regret $R_t/t$", lambda trace: trace.average_regret),
    "cumulative": ("cumulative regret $R_t$", lambda trace: trace.cumulative_regret),
    "simple": ("simple regret", simple_regret),
}
SPREADS = ("median and quartiles", "mean and 95 % interval")


def regret_quartiles(
    ax: Axes,
    traces: Mapping[str, Curve | Array],
    *,
    quantity: str = "cumulative",
    spread: str = "median and quartiles",
    unit: str = "",
    block: int = 1,
    hero: str = "",
    bands: Collection[str] | None = None,
    looks: Mapping[str, Look] | None = None,
) -> None:
    """Draw regret over trials on log-log axes, one curve per policy, with the spread that the axis
    names.

    A policy has a `Curve`, or a plain array of regret (trials, rounds).

    `quantity`: average, cumulative or simple. `spread`: median and quartiles for heavy tails, or
    mean and 95 % interval (1.96 standard errors, of means of `block` consecutive trials). `unit` is
    that of the reward, `hero` the policy that the paper is about, `looks` are line styles other
    than the house's. Where bands would cover each other, `bands` names the policies that have one.
    Axes begin where no curve is zero. Raises ValueError on another quantity or spread.
    """
    checks.one_of(QUANTITIES, quantity=quantity)
    checks.one_of(SPREADS, spread=spread)
    (name_of, curves_of), counts = QUANTITIES[quantity], set()
    ax.set(xscale="log", yscale="log")
    for name, regret in traces.items():
        trace = as_curve(regret)
        rounds = log_spaced(trace.horizon)
        curves = curves_of(trace)[:, rounds - 1]
        counts.add(len(curves))
        quartiles = np.quantile(curves, [0.5, 0.25, 0.75], axis=0)
        interval = quartiles if spread == SPREADS[0] else pieces.mean_interval(curves, block)
        style = look(name, hero, looks)
        if bands is None or name in bands:
            pieces.banded(ax, rounds, interval, name, **style)
        else:
            ax.plot(rounds, interval[0], label=name, **style)
    drawn = []
    for panel in ax.get_shared_y_axes().get_siblings(ax):
        drawn += [line.get_ydata() for line in panel.lines]
    shown = np.concatenate(drawn)
    trials = " to ".join(map(str, sorted({min(counts), max(counts)})))
    named = f"{name_of} ({unit})" if unit else name_of
    ax.set(xlabel="round t", ylabel=f"{named}\n{spread}\nof {trials} trials", xlim=(1, rounds[-1]))
    if (shown > 0).any():  # a band may come as near to zero as it likes: curves set the lower end
        ax.set_ylim(bottom=0.7 * shown[shown > 0].min())
    pieces.log_axes(ax, "xy")


def regret_row(
    panels: Mapping[str, Mapping[str, Curve | Array]], height: float, **settings: Any
) -> tuple[Figure, Array]:
    """Return a figure with `regret_quartiles` in a row of panels {title: traces} with one y
    axis.
    """
    figure, axes = pieces.row(len(panels), height, sharey=True)
    for ax, (title, traces) in zip(axes, panels.items(), strict=True):
        regret_quartiles(ax, traces, **settings)
        ax.set_title(title)
    for ax in axes[1:]:
        ax.set_ylabel("")
    return figure, axes


def labelled(figure: Figure, title: str) -> Figure:
    """Set the title of a figure and label the curves of all its panels at their ends."""
    pieces.titled(figure, title)
    label_ends(*figure.axes)
    return figure


def label_ends(*axes: Axes) -> None:
    """Label every curve of panels at its end, spread so that no label covers another; call it
    last.
    """
    figure: Any = axes[0].figure
    if layout := figure.get_layout_engine():
        layout.execute(figure)  # it decides how high a panel is
    for ax in axes:
        lines: Any
        lines, names = ax.get_legend_handles_labels()
        last = np.array([line.get_xydata()[-1] for line in lines])
        ends = (ax.transScale + ax.transLimits).transform(last)[:, 1]
        ends = np.clip(np.nan_to_num(ends), 0, 1)
        numbers = np.arange(len(lines))
        order = np.lexsort((-numbers, ends))
        steps = 1.3 * SMALLEST * figure.dpi / 72 / ax.get_window_extent().height * numbers
        lowest = isotonic_regression(ends[order] - steps).x
        places = np.clip(lowest, 0, max(0, 1 - steps[-1])) + steps
        for i, place in zip(order, places, strict=True):
            colour = lines[i].get_color()
            ax.annotate(
                names[i],
                (last[i, 0], ends[i]),
                (9, place),
                xycoords=("data", "axes fraction"),
                textcoords=("offset points", "axes fraction"),
                va="center",
                size=SMALLEST,
                color=colour,
                arrowprops={
                    "arrowstyle": "-",
                    "linewidth": 0.6,
                    "relpos": (0, 0.5),
                    "color": colour,
                },
            )
