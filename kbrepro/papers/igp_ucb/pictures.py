"""The figures of the notebook on IGP-UCB and GP-TS; titles that could be false are computed from what is drawn.

A *panel* is {rule: R_T / T of every trial (n,)}, as in `experiments`.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, Look, pieces
from kbrepro.kernels import Array
from kbrepro.papers.igp_ucb.experiments import (
    INTERPRETATIONS,
    Panel,
    anti_concentration,
    named,
    normal_tail,
    smallest_ratio,
)
from kbrepro.regret import Estimate, Trace, block_means, log_spaced, paired_share, share
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

Panels = Mapping[str, Mapping[str, Trace]]

HERO = "IGP-UCB"
_MARGIN_STYLES: dict[float, Any] = {0.01: "--", 0.03: "-.", 0.1: (0, (5, 1, 1, 1, 1, 1))}
#: EI and PI with a margin: their colours, other line styles.
VARIANTS: dict[str, Look] = {
    named(rule, incumbent, margin): (LOOK[rule][0], _MARGIN_STYLES[margin])
    for rule, (incumbent, margin) in product(("EI", "PI"), INTERPRETATIONS.values())
    if margin
}


def _look(rule: str) -> dict[str, Any]:
    """`plot` keywords of a rule or variant."""
    colour, style = VARIANTS.get(rule, ("", ""))
    return figures.look(rule, HERO) | ({"color": colour, "linestyle": style} if colour else {})


# One posterior


def idea(
    frame: pd.DataFrame, widths: Mapping[str, float], draw: Array, pulls: pd.DataFrame, over_time: pd.DataFrame
) -> Figure:
    """Return one posterior with the bands of all widths, and the widths over time.

    `frame`: columns x, f, mean, sd, a row an arm; `widths` of that round by name, GP-UCB among them; `draw` (A,) of
    GP-TS; `pulls`: columns x, observed; `over_time`: a row a round, a column a width.
    """
    fig, (left, right) = pieces.row(2, 3.8, width_ratios=[1.35, 1])
    x, mean, sd = (frame[name].to_numpy() for name in ("x", "mean", "sd"))
    top = mean + widths[HERO] * sd
    left.fill_between(x, 2 * mean - top, top, color=LOOK[HERO][0], alpha=0.12, linewidth=0)
    for name, side in product([name for name in widths if name != "GP-UCB"], (-1, 1)):
        left.plot(x, mean + side * widths[name] * sd, **figures.look(name) | {"linewidth": 1.0})
    left.plot(x, frame["f"], "--", color="0.35", linewidth=1.0, label="f, unknown")
    left.plot(x, mean, color="black", linewidth=1.0, label="posterior mean")
    left.plot(x, draw, color=LOOK["GP-TS"][0], linewidth=1.0, label="draw of GP-TS")
    left.plot(pulls["x"], pulls["observed"], "+", color="black", markersize=6, label="observed")
    _pulls_here(left, HERO, x, top, 0.95)
    _pulls_here(left, "GP-TS", x, draw, 0.02)
    left.set(xlabel="arm x", ylabel="reward", xlim=(x[0], x[-1]))
    left.margins(y=0.15)
    times = widths["GP-UCB"] / widths[HERO]
    left.set_title(f"round {len(pulls) + 1}: GP-UCB's band, not drawn,\nis {times:,.0f} times as wide as IGP-UCB's")
    for name in over_time:
        right.plot(over_time.index, over_time[name], label=name, **_look(name))
    right.set(xlabel="round t", ylabel="width (posterior standard deviations)", xlim=over_time.index[[0, -1]])
    right.set_title("widths, and edges of the bands\nat the left")
    pieces.log_axes(right, "xy")
    pieces.legend_below(fig, 4, [left])
    figures.label_ends(right)
    ratio = over_time["GP-UCB"] / over_time[HERO]
    return pieces.titled(fig, f"GP-UCB's width is {ratio.min():.1f} to {ratio.max():,.0f} times that of IGP-UCB")


def _pulls_here(ax: Axes, rule: str, x: Array, index: Array, height: float) -> None:
    """Point from a height, as share of the panel's, at the arm that a rule pulls."""
    at, colour = int(index.argmax()), LOOK[rule][0]
    ax.plot(x[at], index[at], "v", color=colour, markersize=6)
    side = round((x[at] - x[0]) / np.ptp(x) * 2) / 2  # where the text hangs: 0 by its left end, 1 by its right one
    arrow = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "relpos": (side, 0.5)}
    where = (x[at], index[at]), (x[at], height), "data", ("data", "axes fraction")
    ha = ("left", "center", "right")[int(2 * side)]
    ax.annotate(f"{rule} pulls here", *where, color=colour, size=8, ha=ha, arrowprops=arrow)


# Figures 1 to 3


def regrets(figure_name: str, panels: Panels, columns: Mapping[str, Sequence[str]], *, unit: str = "") -> Figure:
    """Return cumulative regret, a row a panel {title: traces}, a column a choice of rules {title: names}.

    An incumbent or margin that a column's title may name is left out of labels where no other EI, or PI, is beside it.
    """
    size = (WIDTH, 1.0 + 2.3 * len(panels))
    fig, axes = plt.subplots(len(panels), len(columns), figsize=size, sharey="row", squeeze=False)
    best: dict[str, dict[str, list[str]]] = {column: {} for column in columns}
    for line, (title, traces) in zip(axes, panels.items(), strict=True):
        for ax, (column, names) in zip(line, columns.items(), strict=True):
            figures.regret_quartiles(ax, {name: traces[name] for name in names}, unit=unit, hero=HERO)
            figures.restyle(ax, VARIANTS)
            for curve in ax.lines:
                curve.set_label(_short(curve.get_label(), names))
            ax.set_title(fill(f"{title}, {column}", 34))
            least = min(names, key=lambda name: np.median(traces[name].regret.sum(axis=1)))
            best[column].setdefault(_short(least, names), []).append(title)
        for ax in line[1:]:
            ax.set_ylabel("")
    for ax in axes[:-1].flat:
        ax.set_xlabel("")
    return figures.labelled(fig, _winners(figure_name, best))


def _short(name: str, names: Sequence[str]) -> str:
    """EI or PI without incumbent and margin where there is only one of them."""
    family = name.split(",")[0]
    alone = [other.split(",")[0] for other in names].count(family) == 1
    return family if family in ("EI", "PI") and alone else name


def _winners(figure_name: str, best: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """A title that says which rule is best where, {column or set: {rule: panels}}; a line each."""
    lines = [f"{figure_name}: smallest median $R_T$ of the rules shown"]
    for column, its in best.items():
        where = [f"{rule} in {' and '.join(panels)}" for rule, panels in its.items()]
        lines.append(fill(f"{column}: {'; '.join(where if len(its) > 1 else its)}", 90))
    return "\n".join(lines)


# Comparisons that verdicts rest on


def deciding(panels: Mapping[str, Panel], rows: Mapping[str, str], *, seed: int, rule: str = "> 1") -> Figure:
    """Return R_T of rivals over that of IGP-UCB, one dot a trial, a row a panel and rival {label: name}.

    A regret of 0 counts as the smallest above 0 of its panel's two rules.
    """
    ratios = {}
    for (title, panel), (label, rival) in product(panels.items(), rows.items()):
        estimate = smallest_ratio([(panel[rival], panel[HERO])], seed)
        ratios[f"{title}: {label}"] = np.divide(*pieces.positive(panel[rival], panel[HERO])), estimate
    equal = [name for name, (_, estimate) in ratios.items() if estimate.low <= 1]
    title = fill(f"IGP-UCB is not clearly ahead of: {'; '.join(equal) or 'none'}", 90)
    told = {"what": "$R_T$ of the rival over that of IGP-UCB", "centre": "ratio of means"}
    fig = paired(ratios, 1.4 + 0.34 * len(ratios), title, "log", rule=read_rule(rule), **told)
    for place in range(len(rows), len(ratios), len(rows)):
        fig.axes[0].axhline(place - 0.5, color="0.7", linewidth=0.6)
    return fig


def since(panels: Mapping[str, tuple[Array, Array, int]], *, seed: int) -> Figure:
    """Return R_T with the tighter width over that with the classical one: {label: (tighter, classical, block)}.

    Both (n,) on the same trials, of which `block` neighbours count as one. An interval is cut at a tenth: those of few
    blocks reach below 0.
    """
    ratios = {}
    for label, (tighter, classical, block) in panels.items():
        value, low, high = 1 + np.array(paired_share(tighter, classical, seed, block))
        dots = np.divide(*pieces.positive(block_means(tighter, block), block_means(classical, block)))
        ratios[fill(label, 24)] = dots, Estimate(value, max(low, 0.1), high)
    less = sum(estimate.high < 1 for _, estimate in ratios.values())
    title = f"The tighter width costs clearly less regret in {less} of {len(ratios)} settings"
    told = {"what": "$R_T$ with the tighter width over that with the classical one", "dot": "trial or block"}
    told |= {"centre": "ratio of means"}
    return paired(ratios, 1.4 + 0.34 * len(ratios), title, "log", rule=read_rule("< 1"), **told)


# The incumbent


def incumbent(excess: Array, best_share: Mapping[str, Array]) -> Figure:
    """Return how far the largest reward runs away (n, T) in units of R, and how often rules pull the best arm (T,)."""
    fig, (left, right) = pieces.row(2, 3.4)
    t = log_spaced(excess.shape[1])
    mean, sd = excess.mean(axis=0)[t - 1], excess.std(axis=0, ddof=1)[t - 1]
    band = mean, mean - sd, mean + sd
    pieces.banded(left, t, band, "largest reward", **_look("EI, noisy incumbent") | {"linestyle": "-"})
    left.plot(t, np.sqrt(2 * np.log(t)), "--", color="black", linewidth=1.0, label=r"$\sqrt{2\,\ln t}$")
    left.axhline(0, color="black", linewidth=0.8)
    left.set(ylabel="largest reward so far less max f\n(units of R; mean ± sd)")
    left.set(title=f"the noisy incumbent, {len(excess)} trials", ylim=(max(left.get_ylim()[0], -8), None))
    for rule, curve in best_share.items():
        right.plot(t, curve[t - 1], label=rule, **_look(rule))
    right.set(ylabel="share of pulls of the best arm so far", ylim=(0, 1), title="pulls of the best arm")
    for ax in (left, right):
        ax.set(xlabel="round t", xlim=(1, t[-1]))
        pieces.log_axes(ax, "x")
    at_end = {rule: f"{curve[-1]:.0%}" for rule, curve in best_share.items()}
    told = [rule for rule in (HERO, "EI", "EI, noisy incumbent") if rule in at_end]
    pulls = "the best arm has " + ", ".join(f"{at_end[rule]} of the pulls of {rule}" for rule in told)
    return figures.labelled(fig, f"The largest reward ends {mean[-1]:.1f} R above max f;\n{fill(pulls, 90)}")


# Figure 4


def sensors(sets: Mapping[str, tuple[Panel, str]], *, horizon: int) -> Figure:
    """Return median and quartiles of R_T over rows of readings, a dot a row: {label: (panel, unit)}.

    R_T of 0 is drawn at the smallest above 0.
    """
    fig, axes = pieces.row(len(sets), 1.5 + 0.24 * max(len(panel) for panel, _ in sets.values()))
    best: dict[str, dict[str, list[str]]] = {}
    for ax, (label, (panel, unit)) in zip(axes, sets.items(), strict=True):
        order = sorted(panel, key=lambda rule: np.median(panel[rule]))
        for place, its in enumerate(pieces.positive(*(panel[rule] for rule in order))):
            regret, colour = horizon * its, _look(order[place])["color"]
            low, middle, high = np.quantile(regret, [0.25, 0.5, 0.75])
            jitter = 0.6 * (pieces.golden(len(regret)) - 0.5)
            ax.plot(np.sort(regret), place + jitter, "o", color="0.75", markersize=1.5, markeredgewidth=0, zorder=1)
            ax.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
            ax.plot(middle, place, "o", color=colour, markersize=6)
        pieces.name_rows(ax, order, (0.55, 0.55))
        ax.get_yticklabels()[order.index(HERO)].set_fontweight("bold")
        ax.set(title=fill(label, 36), xlabel=f"cumulative regret $R_T$ ({unit})")
        pieces.log_axes(ax, "x")
        best[label] = {order[0]: []}
    fig.supxlabel(f"dot and bar: median and quartiles, T = {horizon:,}; grey: one dot a row of readings", size=8)
    return pieces.titled(fig, _winners("Fig. 4", best))


# Theorems


def theorems(
    log_excess: Mapping[str, Array], coverage: Mapping[str, Estimate], *, delta: float, runs: tuple[int, int]
) -> Figure:
    """Return the share of runs that cross the bound of Theorem 1 by delta, and the coverage of Theorem 2's band.

    `log_excess`: {rule that pulls: (n,)}, see `noise.NoiseRun`; `coverage`: {label: share of runs}, at `delta`; `runs`
    behind the one and the other.
    """
    fig, (left, right) = pieces.row(2, 3.6)
    levels, above = np.linspace(0.01, 1, 50), []
    for name, excess in log_excess.items():
        its = np.array([share(excess > np.log(1 / level)) for level in levels]).T
        pieces.banded(left, levels, its, name)
        above += [name] if (its[1] > levels).any() else []
    left.plot(levels, levels, "--", color="black", linewidth=1.0, label="allowed")
    left.set(xlabel=r"$\delta$", xlim=(0, 1), ylim=(0, 1), title="Theorem 1")
    left.set_ylabel(f"share of {runs[0]:,} runs that cross\n(95 % interval)")
    (value, low, high), places = np.array(list(coverage.values())).T, np.arange(len(coverage))
    right.errorbar(value, places, xerr=[value - low, high - value], fmt="o", color=LOOK[HERO][0])
    right.axvline(1 - delta, color="black", linewidth=1.0, linestyle="--")
    pieces.name_rows(right, list(coverage))
    right.set_title("Theorem 2")
    right.set_xlabel(f"share of {runs[1]:,} runs whose\nband holds throughout\n(95 % interval; dashed: {1 - delta:g})")
    right.locator_params(axis="x", nbins=4)
    least = min(coverage, key=lambda label: coverage[label].value)
    fig.suptitle(
        f"Clearly more crossings than allowed: {', '.join(above) or 'none'}\n"
        f"The band holds in {coverage[least].value:.1%} of runs or more (least: {least})"
    )
    figures.label_ends(left)
    return fig


def lemma_7(limit: float) -> Figure:
    """Return P(Z > beta) and what Lemma 7 puts below it; false below `limit`, `experiments.lemma_7_fails_below`."""
    fig, ax = plt.subplots(figsize=(WIDTH, 3.0))
    beta = np.linspace(0.05, 2, 400)
    ax.semilogy(beta, normal_tail(beta), color="black", label=r"$P(Z > \beta)$")
    ax.semilogy(beta, anti_concentration(beta), "--", color=LOOK[HERO][0], label="bound of Lemma 7")
    ax.axvspan(beta[0], max(limit, beta[0]), color="0.88", linewidth=0, zorder=0)
    tail, bound = normal_tail(1.0), anti_concentration(1.0)
    for height in (tail, bound):
        ax.plot(1, height, "o", color="black")
    ax.set(xlabel=r"$\beta$ (standard deviations)", ylabel="probability, and its bound", xlim=(beta[0], beta[-1]))
    pieces.plain_log(ax.yaxis)
    told = f"used at 1: P is {tail / bound:.2f} times the bound"
    ax.annotate(told, (1, float(tail)), (8, 8), textcoords="offset points", size=8)
    title = f"Lemma 7 is false below β = {limit:.3f}, where shaded" if limit > 0 else "Lemma 7 holds"
    return figures.labelled(fig, title)


# Kernels and dimensions


def kernels_and_dimensions(inflation: pd.DataFrame, ratios: Mapping[int, Estimate]) -> Figure:
    """Return how many times regret grows under wrong kernels, and GP-TS over IGP-UCB by dimension.

    `inflation`: a row a wrong kernel, a column a rule; `ratios`: {d: mean R_T of GP-TS over that of IGP-UCB}.
    """
    fig, (left, right) = pieces.row(2, 1.4 + 0.5 * len(inflation), width_ratios=[1.3, 1])
    places = np.arange(len(inflation))
    for rule, marker, aside in zip(inflation, "os^vDPX*", np.linspace(-0.3, 0.3, inflation.shape[1]), strict=False):
        left.plot(inflation[rule], places + aside, marker, color=_look(rule)["color"], markersize=5, label=rule)
    for place in places[1:]:
        left.axhline(place - 0.5, color="0.9", linewidth=0.6)
    left.axvline(1, color="black", linewidth=1.0)
    pieces.name_rows(left, [fill(str(label), 28, break_long_words=False) for label in inflation.index])
    left.set_xlabel("mean $R_T$ under the wrong kernel\nover that under the right one")
    pieces.log_axes(left, "x")
    d, (value, low, high) = np.array(list(ratios)), np.array(list(ratios.values())).T
    right.errorbar(d, value, [value - low, high - value], fmt="o", color=LOOK["GP-TS"][0], capsize=3)
    right.plot(d, value[0] * np.sqrt(d / d[0]), "--", color="black", linewidth=1.0, label="root of d")
    right.set(xlabel="dimension d", ylabel="mean $R_T$ of GP-TS\nover that of IGP-UCB (95 % interval)", xticks=d)
    pieces.legend_below(fig, 4, [left])
    figures.label_ends(right)
    worst = inflation.max().idxmax()
    title = f"Under a wrong kernel the regret of {worst} is up to {inflation[worst].max():.1f} times as large"
    ends = f"{value[0]:.1f} times the regret of IGP-UCB at d = {d[0]}, {value[-1]:.1f} times at d = {d[-1]}"
    return pieces.titled(fig, f"{title}\nGP-TS has {ends}")
