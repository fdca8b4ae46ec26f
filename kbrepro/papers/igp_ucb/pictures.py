"""The figures of the notebook on IGP-UCB and GP-TS; titles that could be false are computed from what is drawn.

A *panel* is {rule: R_T / T of every trial (n,)}, as in `measures`.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, Look, pieces
from kbrepro.kernels import Array
from kbrepro.papers.igp_ucb.measures import Panel, coverage, smallest_ratio
from kbrepro.problems import Problem
from kbrepro.regret import Estimate, Trace, block_means, log_spaced, paired_share, share
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

Panels = Mapping[str, Mapping[str, Trace]]

HERO = "IGP-UCB"
_MARGIN_STYLES: dict[float, Any] = {0.01: "--", 0.03: "-.", 0.1: (0, (5, 1, 1, 1, 1, 1))}
#: EI and PI with a margin: their colours, other line styles.
VARIANTS: dict[str, Look] = {
    f"{rule}, margin {margin}": (LOOK[rule][0], style)
    for rule, (margin, style) in product(("EI", "PI"), _MARGIN_STYLES.items())
}


def _look(rule: str) -> dict[str, Any]:
    """`plot` keywords of a rule or variant."""
    colour, style = VARIANTS.get(rule, ("", ""))
    return figures.look(rule, HERO) | ({"color": colour, "linestyle": style} if colour else {})


# One posterior


Pulls = Sequence[tuple[int, float]]


def idea(problem: Problem, posterior: Sequence[Array], pulled: Pulls, over_time: pd.DataFrame) -> Figure:
    """Return the posterior after some pulls of arms on a line with the bands of all widths, and the widths over time.

    `posterior`: mean, sd and a draw of GP-TS, each (A,); `pulled`: arms and observations; `over_time`: one row per
    round, one column per width.
    """
    fig, (left, right) = pieces.row(2, 3.8, width_ratios=[1.35, 1])
    points, widths = problem.model.points[:, 0], over_time.loc[len(pulled) + 1]
    order = np.argsort(points)
    x, f, mean, sd, draw = (its[order] for its in (points, problem.expected_reward, *posterior))
    top = mean + widths[HERO] * sd
    left.fill_between(x, 2 * mean - top, top, color=LOOK[HERO][0], alpha=0.12, linewidth=0)
    for name, side in product(widths.index.drop("GP-UCB"), (-1, 1)):
        left.plot(x, mean + side * widths[name] * sd, **figures.look(name) | {"linewidth": 1.0})
    left.plot(x, f, "--", color="0.35", linewidth=1.0, label="f, unknown")
    left.plot(x, mean, color="black", linewidth=1.0, label="posterior mean")
    left.plot(x, draw, color=LOOK["GP-TS"][0], linewidth=1.0, label="draw of GP-TS")
    arms, observed = zip(*pulled, strict=True)
    left.plot(points[[*arms]], observed, "+", color="black", markersize=6, label="observed")
    for rule, index in ((HERO, top), ("GP-TS", draw)):
        best, colour = index.argmax(), LOOK[rule][0]
        left.plot(x[best], index[best], "v", color=colour, markersize=8, label=f"{rule} pulls here")
    times = over_time["GP-UCB"] / over_time[HERO]
    unseen = f"round {len(pulled) + 1}: GP-UCB's band, not drawn,\nis {times[len(pulled) + 1]:,.0f} times as wide"
    left.set(xlabel="arm x", ylabel="reward", xlim=(x[0] - 0.03, x[-1] + 0.03), title=f"{unseen} as IGP-UCB's")
    for name in over_time:
        right.plot(over_time.index, over_time[name], label=name, **_look(name))
    right.set(xlabel="round t", ylabel="width (posterior sd)", xlim=over_time.index[[0, -1]])
    right.set_title("widths, and edges of the bands\nat the left")
    pieces.log_axes(right, "xy")
    pieces.legend_below(fig, 3, [left])
    figures.label_ends(right)
    return pieces.titled(fig, f"GP-UCB's band is up to {times.max():,.0f} times as wide as that of IGP-UCB")


# Figures 1 to 3


def regrets(figure_name: str, panels: Panels, columns: Mapping[str, Sequence[str]]) -> Figure:
    """Return cumulative regret, one row per panel {title: traces}, one column per choice of rules {title: names}."""
    size = (WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(columns), figsize=size, sharey="row", squeeze=False)
    best: dict[str, set[str]] = {column: set() for column in columns}
    for ax, ((title, traces), (column, names)) in zip(axes.flat, product(panels.items(), columns.items()), strict=True):
        figures.regret_quartiles(ax, {name: traces[name] for name in names}, hero=HERO)
        figures.restyle(ax, VARIANTS)
        ax.set_title(fill(f"{title}, {column}", 34))
        ax.label_outer()
        first = min(names, key=lambda name: np.median(traces[name].cumulative_regret[:, -1]))
        best[column].add(first.split(",")[0])  # EI whatever its incumbent and margin
    leads = [f"{its.pop() if len(its) == 1 else 'no one rule'} leads with the {name}" for name, its in best.items()]
    return figures.labelled(fig, f"{figure_name}, by median $R_T$: " + ",\n".join(leads))


# Comparisons that verdicts rest on


def deciding(panels: Mapping[str, Panel], rows: Mapping[str, str], *, seed: int) -> Figure:
    """Return R_T of rivals over that of IGP-UCB, one dot per trial, one row per panel and rival {label: name}.

    A regret of 0 counts as the smallest above 0 of its panel's two rules.
    """
    ratios = {}
    for (title, panel), (label, rival) in product(panels.items(), rows.items()):
        estimate = smallest_ratio([(panel[rival], panel[HERO])], seed)
        ratios[f"{title}: {label}"] = np.divide(*pieces.positive(panel[rival], panel[HERO])), estimate
    title = "Regret of the rivals over that of IGP-UCB"
    words = {"what": "$R_T$ of the rival over that of IGP-UCB", "centre": "ratio of means"}
    return paired(ratios, 1.4 + 0.34 * len(ratios), title, "log", rule=read_rule("> 1"), **words)


def since(panels: Mapping[str, tuple[Array, Array, int]], *, seed: int) -> Figure:
    """Return R_T with the tighter width over that with the classical one: {label: (tighter, classical, block)}.

    Both (n,) on the same trials, of which `block` neighbours count as one. Intervals are cut off at 0.1: those of few
    blocks reach below 0.
    """
    ratios = {}
    for label, (tighter, classical, block) in panels.items():
        value, low, high = 1 + np.array(paired_share(tighter, classical, seed, block))
        dots = np.divide(*pieces.positive(block_means(tighter, block), block_means(classical, block)))
        ratios[fill(label, 24)] = dots, Estimate(value, max(low, 0.1), high)
    title = "Regret with the tighter width over that with the classical one"
    words = {"what": "$R_T$, tighter over classical width", "dot": "trial or block", "centre": "ratio of means"}
    return paired(ratios, 1.4 + 0.34 * len(ratios), title, "log", rule=read_rule("< 1"), **words)


# The incumbent


def incumbent(excess: Array, best_share: Mapping[str, Array]) -> Figure:
    """Return how far the largest reward runs away in units of R, and how often rules pull the best arm, (n, T) each."""
    fig, (left, right) = pieces.row(2, 3.4)
    t = log_spaced(excess.shape[1])
    mean, sd = excess.mean(axis=0)[t - 1], excess.std(axis=0, ddof=1)[t - 1]
    pieces.banded(left, t, (mean, mean - sd, mean + sd), "largest reward", color=_look("EI")["color"])
    left.plot(t, np.sqrt(2 * np.log(t)), "--", color="black", linewidth=1.0, label=r"$\sqrt{2\,\ln t}$")
    left.axhline(0, color="black", linewidth=0.8)
    left.set(
        ylabel=f"largest reward so far less max f\n(units of R; mean ± sd of {len(excess)} trials)", ylim=(-8, None)
    )
    for rule, curves in best_share.items():
        pieces.banded(right, t, pieces.mean_interval(curves[:, t - 1]), rule, **_look(rule))
    right.set(ylabel="share of pulls of the best arm so far\n(mean and 95 % interval)", ylim=(0, 1))
    for ax in (left, right):
        ax.set(xlabel="round t", xlim=(1, t[-1]))
        pieces.log_axes(ax, "x")
    side = "above every arm, out of reach" if mean[-1] > 0 else "below the best arm"
    return figures.labelled(fig, f"The largest reward ends {abs(mean[-1]):.1f} R {side}")


# Figure 4


def sensors(sets: Mapping[str, tuple[Panel, str]], *, horizon: int) -> Figure:
    """Return median and quartiles of R_T over rows of readings, one stroke per row: {label: (panel, unit)}.

    R_T of 0 is drawn at the smallest above 0.
    """
    fig, axes = pieces.row(len(sets), 1.5 + 0.24 * max(len(panel) for panel, _ in sets.values()))
    for ax, (label, (panel, unit)) in zip(axes, sets.items(), strict=True):
        order = sorted(panel, key=lambda rule: np.median(panel[rule]))
        its = pd.DataFrame(dict(zip(order, pieces.positive(*(horizon * panel[rule] for rule in order)), strict=True)))
        sns.stripplot(its, orient="h", ax=ax, color="0.6", marker="|", linewidth=0.5, size=8, jitter=False, alpha=0.5)
        looks: dict[str, Any] = {"palette": [_look(rule)["color"] for rule in order], "linestyle": "none"}
        sns.pointplot(its, orient="h", ax=ax, estimator="median", errorbar=("pi", 50), zorder=3, markersize=5, **looks)
        ax.get_yticklabels()[order.index(HERO)].set_fontweight("bold")
        ax.set(title=fill(label, 36), xlabel=f"cumulative regret $R_T$ ({unit})")
        pieces.log_axes(ax, "x")
    fig.supxlabel(f"dot and bar: median and quartiles, T = {horizon:,}; grey: one stroke a row of readings", size=8)
    return pieces.titled(fig, "Fig. 4: cumulative regret on sensor readings, smallest median first")


# Theorems


def theorems(log_excess: Mapping[str, Array], covered: Mapping[str, Trace], delta: float) -> Figure:
    """Return the share of runs that cross the bound of Theorem 1 by delta, and the coverage of Theorem 2's band.

    `log_excess`: {rule that pulls: (n,)}, see `noise.NoiseRun`; `covered`: runs by label, of bands at `delta`.
    """
    fig, (left, right) = pieces.row(2, 3.6)
    levels, above = np.linspace(0.01, 1, 50), False
    for name, excess in log_excess.items():
        its = np.array([share(excess > np.log(1 / level)) for level in levels]).T
        pieces.banded(left, levels, its, name)
        above |= bool((its[1] > levels).any())
    left.plot(levels, levels, "--", color="black", linewidth=1.0, label="allowed")
    left.set(xlabel=r"$\delta$", xlim=(0, 1), ylim=(0, 1), title="Theorem 1")
    left.set_ylabel(f"share of {len(excess):,} runs that cross\n(95 % interval)")
    (value, low, high), places = np.array([coverage(its) for its in covered.values()]).T, np.arange(len(covered))
    right.errorbar(value, places, xerr=[value - low, high - value], fmt="o", color=LOOK[HERO][0])
    right.axvline(1 - delta, color="black", linewidth=1.0, linestyle="--")
    pieces.name_rows(right, list(covered))
    what = f"share of {len(next(iter(covered.values())).arms):,} runs whose\nband holds throughout"
    right.set(title="Theorem 2", xlabel=f"{what}\n(95 % interval; dashed: {1 - delta:g})")
    right.locator_params(axis="x", nbins=4)
    crossed = "is crossed clearly more often than allowed" if above else "is crossed no more often than allowed"
    fig.suptitle(f"The bound of Theorem 1 {crossed};\nthe band of Theorem 2 holds in {value.min():.1%} of runs or more")
    figures.label_ends(left)
    return fig


# Kernels and dimensions


def kernels_and_dimensions(inflation: pd.DataFrame, ratios: Mapping[int, Estimate]) -> Figure:
    """Return how many times regret grows under wrong kernels, and GP-TS over IGP-UCB by dimension.

    `inflation`: one row per wrong kernel, one column per rule; `ratios`: {d: mean R_T of GP-TS over that of IGP-UCB}.
    """
    fig, (left, right) = pieces.row(2, 1.4 + 0.5 * len(inflation), width_ratios=[1.3, 1])
    its = inflation.rename_axis("kernel").reset_index().melt("kernel", var_name="rule")
    colours, markers = [_look(rule)["color"] for rule in inflation], [*"os^vDPX*"[: len(inflation.columns)]]
    looks: dict[str, Any] = {"palette": colours, "markers": markers, "linestyle": "none", "markersize": 5}
    sns.pointplot(its, x="value", y="kernel", hue="rule", dodge=0.6, ax=left, **looks)
    left.legend_.remove()
    left.axvline(1, color="black", linewidth=1.0)
    for place in range(1, len(inflation)):
        left.axhline(place - 0.5, color="0.9", linewidth=0.6)
    left.set(ylabel="", xlabel="mean $R_T$ under the wrong kernel\nover that under the right one")
    pieces.log_axes(left, "x")
    d, (value, low, high) = np.array(list(ratios)), np.array(list(ratios.values())).T
    right.errorbar(d, value, [value - low, high - value], fmt="o", color=LOOK["GP-TS"][0], capsize=3)
    right.plot(d, value[0] * np.sqrt(d / d[0]), "--", color="black", linewidth=1.0, label="root of d")
    right.set(xlabel="dimension d", ylabel="mean $R_T$ of GP-TS\nover that of IGP-UCB (95 % interval)", xticks=d)
    pieces.legend_below(fig, 4, [left])
    figures.label_ends(right)
    worst = inflation.max().idxmax()
    title = f"Under a wrong kernel the regret of {worst}{',' * (',' in worst)} "
    title += f"is up to {inflation[worst].max():.1f} times as large."
    title += f"\nGP-TS has {value.min():.1f} to {value.max():.1f} times the regret of IGP-UCB"
    return pieces.titled(fig, title)
