"""Figures of verdicts: paired comparisons, every interpretation of a paper, totals, every part of a claim."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill, shorten
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

from kbrepro.figures.pieces import golden, name_rows, plain_log, row, titled
from kbrepro.figures.style import SMALLEST, STATE_LOOK, WIDTH
from kbrepro.kernels import Array
from kbrepro.regret import Estimate
from kbrepro.verdicts.claims import Part, Rule, Rules, read_rule
from kbrepro.verdicts.interpretations import counts, in_words
from kbrepro.verdicts.scorecard import COUNTED, FAILS, GLYPHS, STANDS

#: Values (n,) and the estimate of them, by name.
Rows = Mapping[str, tuple[Array, Estimate]]

GREY = "#707070"
#: Behind what a rule allows.
SHADE = "#e4ecf7"
LEGEND: dict[str, Any] = {"loc": "outside upper center", "ncols": 4, "fontsize": SMALLEST, "columnspacing": 1.0}
#: Colour of every verdict; the number on those that are light is black.
VERDICT_LOOK = {
    "reproduced": "#083098",
    "no violation found": "#5088f8",
    "partly": "#e8b838",
    "depends": "#c87808",
    "undecided": "#b8b8b8",
    "not reproduced": "#b03a00",
    "not evaluated": "#e0e0e0",
}
LIGHT = ("partly", "undecided", "not evaluated")
#: Smallest share of a specification curve that has room for the name of a group.
NAMED = 0.1
#: Distance, in scales of a part, at which the picture of all parts ends.
FARTHEST = 2.0


def _typeset(rule: str, percent: bool = False) -> str:
    if percent:  # as on its axis
        rule = re.sub(r"[\d.]+", lambda number: f"{100 * float(number[0]):g}%", rule)
    return rule.replace(">=", "≥").replace("<=", "≤").replace("-", "−")


def _shade(ax: Axes, rule: Rule, axis: str) -> None:
    """Draw the limits of a rule as lines and shade what it allows; the limits stay in view."""
    line, span = (ax.axvline, ax.axvspan) if axis == "x" else (ax.axhline, ax.axhspan)
    for limit in filter(np.isfinite, (rule.low, rule.high)):
        line(limit, color="black", linewidth=1.0, zorder=1)
    low, high = shown = getattr(ax, f"get_{axis}lim")()
    span(max(low, rule.low), min(high, rule.high), color=SHADE, linewidth=0, zorder=0)
    ax.set(**{f"{axis}lim": shown})


# Pairs


def pairs(ax: Axes, rows: Rows, *, rule: Rule, what: str, dot: str = "trial", centre: str = "mean") -> None:
    """Draw paired differences or ratios: each as a row of dots, with its estimate and interval above, and the rule.

    `rows`: {name: (values (n,), estimate)}, one value per `dot` (trial, block, chain); `centre` names the estimated
    statistic. `what` names the values, with their unit; `rule` is that of the claim's part, and the number of dots that
    meet it is at the right. For ratios set the x axis to a log scale first.
    """
    for place, (values, estimate) in enumerate(rows.values()):
        jitter = 0.02 + 0.36 * golden(len(values))
        ax.plot(np.sort(values), place + jitter, "o", color=GREY, markersize=3, alpha=0.6, markeredgewidth=0)
        _interval(ax, place - 0.2, estimate, rule.state(estimate), 6)
        _beside(ax, place, f"{sum(map(rule.allows, values))} of {len(values)}", 6)
    name_rows(ax, list(rows), (0.55, 0.55))
    told = f"one dot a {dot}; {centre} and 95 % interval\nshaded: {_typeset(rule.text)}; right: how many meet it"
    ax.set_xlabel(f"{what}\n{told}")
    _shade(ax, rule, "x")
    if ax.get_xscale() == "log":
        plain_log(ax.xaxis)


def paired(rows: Mapping[str, tuple[Array, Estimate]], height: float, title: str, axis: str, **settings: Any) -> Figure:
    """Return a figure of `pairs` under a title, on a linear or log x axis; settings as for `pairs`."""
    figure, (ax,) = row(1, height)
    ax.set_xscale(axis)
    pairs(ax, rows, **settings)
    return titled(figure, title)


def _beside(ax: Axes, place: float, text: str, points: float, colour: str = "black") -> None:
    """Write a text right of the panel, at a distance in points from its edge."""
    where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
    ax.annotate(text, (1, place), (points, 0), size=SMALLEST, color=colour, **where)


def _interval(ax: Axes, place: float, its: Iterable[float], state: str, size: float, hollow: bool = False) -> None:
    """Draw a value and its interval (value, low, high) lengthwise in the look of its state."""
    (value, low, high), (colour, marker) = its, STATE_LOOK[state]
    ax.plot([low, high], [place, place], color=colour, linewidth=1.8, solid_capstyle="butt")
    ax.plot(value, place, marker, color=colour, mfc="white" if hollow else colour, markersize=size, markeredgewidth=1.0)


# Every interpretation


def specification_curve(
    table: pd.DataFrame, choices: Mapping[str, Sequence[Any]], part: Part, grouped: str = ""
) -> Figure:
    """Return the specification curve of one part of a claim: its value under every interpretation, and their choices.

    `table` as `interpretations.specification` returns it; `choices` as the rules' `interpretations` (what the table
    does not have is left out). Above: all of them sorted by value with intervals, the rule, the main one ringed;
    the axis is logarithmic beyond the part's scale where anything exceeds ten times that. Below: one row a value of
    each choice, those of the main one in bold. They are sorted within each value of the choice `grouped`, the value
    with the smallest median first, unless one has too few for its name.
    """
    if grouped and table[grouped].map(str).value_counts(normalize=True).min() < NAMED:
        grouped = ""
    if grouped:
        table = _in_groups(table, table[grouped].map(str))
    taken = {name: set(table[name].map(str)) for name in choices if name in table}
    played = {name: [value for value in choices[name] if str(value) in its] for name, its in taken.items()}
    record = int(np.flatnonzero(table["main"])[0])
    height = 0.165 * sum(1 + len(values) for values in played.values())
    sizes: dict[str, Any] = {"figsize": (WIDTH, 3.2 + height), "height_ratios": [2.2, max(height, 0.3)]}
    figure, (above, below) = plt.subplots(2, 1, sharex=True, **sizes)
    size, width = (5.0, 1.2) if len(table) <= 40 else (3.2, 0.9) if len(table) <= 130 else (2.2, 0.7)
    for state, (colour, marker) in STATE_LOOK.items():
        its = table[table["state"] == state]
        above.vlines(its.index, its["low"], its["high"], color=colour, linewidth=width)
        above.plot(its.index, its["value"], marker, color=colour, markersize=size, label=state)
    above.plot(record, table["value"][record], "o", markersize=11, color="black", mfc="none", label="main")
    _scale(above, table, part)
    _dot_grid(below, table, played, record, min(size, 4.5))
    order = "sorted by value"
    if grouped:
        _name_groups(above, below, table["group"], table["state"])
        order = f"by {grouped}, then by value"
    below.set_xlabel(f"{len(table)} interpretations, {order}\n(bold: the main interpretation)")
    for ax in (above, below):
        ax.axvline(record, color="black", linewidth=0.6, linestyle=":", zorder=1)
        ax.grid(visible=False, axis="x")
    told = _typeset(part.rule.text, part.show.partition(" ")[0].endswith("%"))
    figure.legend(title=f"shaded: the rule, {told}", handlelength=1.2, **LEGEND)
    return figure


def _in_groups(table: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """Return a specification sorted within each `group`, a column of its own; the smallest median first."""
    table = table.assign(group=group, median=table["value"].groupby(group).transform("median"))
    return table.sort_values(["median", "group", "value"], kind="stable", ignore_index=True)


def _scale(above: Axes, table: pd.DataFrame, part: Part) -> None:
    """Scale the axis of the values of a specification curve, in the unit of its part, and shade the rule."""
    spec, _, unit = part.show.partition(" ")
    percent = spec.endswith("%")
    above.set_ylabel(fill(part.what, 34) + (f" ({unit})" if unit else ""))
    limits = [limit for limit in (part.rule.low, part.rule.high) if np.isfinite(limit)]
    above.update_datalim([(0, limit) for limit in limits])
    if percent:
        above.yaxis.set_major_formatter(PercentFormatter(1))
    elif spec == ".0f":  # counts
        above.yaxis.set_major_locator(MaxNLocator(integer=True))
    scale = part.scale or part.rule.nearest_scale
    if scale and table[["low", "value", "high"]].abs().max(axis=None) > 10 * scale:
        _stretch(above, scale, min(table["low"].min(), *limits) <= 0, percent)
    _shade(above, part.rule, "y")


def _name_groups(above: Axes, below: Axes, group: pd.Series, state: pd.Series) -> None:
    """Part the groups of a specification curve by lines, and write above each its name and in how many it holds."""
    places, names = [], []
    for name in group.unique():
        its = np.flatnonzero(group == name)
        places.append(its.mean())
        letters = int(90 * len(its) / len(group))  # so many have room
        names.append(fill(f"{name}: holds {(state[its] == 'holds').sum()} of {len(its)}", letters))
        for ax in (above, below) if its[0] else ():
            ax.axvline(its[0] - 0.5, color="black", linewidth=0.8)
    top = above.secondary_xaxis("top")
    top.set_xticks(places, names, size=SMALLEST)
    top.tick_params(length=0)
    top.spines["top"].set_visible(False)


def _stretch(ax: Axes, scale: float, signed: bool, percent: bool) -> None:
    """Make the y axis logarithmic, if `signed` linear up to `scale` on both sides of 0, with ticks in plain numbers."""
    ax.set_yscale("symlog" if signed else "log", **({"linthresh": scale} if signed else {}))
    low, high = ax.get_ylim()
    for steps in ((1, 3), (1,)):
        sizes = [step * 10.0**power for power in range(-4, 9) for step in steps]
        if signed:
            sizes = [0, scale, *(size for size in sizes if size > 2.5 * scale)]
        ticks = sorted({tick for size in sizes for tick in (-size, size) if low <= tick <= high})
        if len(ticks) <= 9:
            break
    told = [f"{100 * tick:,.12g}%" if percent else f"{tick:,.12g}" for tick in ticks]
    ax.set_yticks(ticks, [label.replace("-", "−") for label in told])
    ax.yaxis.set_minor_locator(NullLocator())


def _dot_grid(ax: Axes, table: pd.DataFrame, played: Mapping[str, Sequence[Any]], record: int, size: float) -> None:
    """Draw for every value of every choice which interpretations took it, under the name of the choice."""
    rows = []
    for name, values in played.items():
        rows += [(f"{name}:", np.zeros(len(table), bool))]
        rows += [(str(value), (table[name].map(str) == str(value)).to_numpy()) for value in values]
    ax.set_yticks(range(len(rows)), [label for label, _ in rows], size=SMALLEST)
    for place, (text, (label, taken)) in enumerate(zip(ax.get_yticklabels(), rows, strict=True)):
        ax.plot(np.flatnonzero(taken), np.full(taken.sum(), place), "o", color=GREY, markersize=size)
        text.set(fontweight="bold" if taken[record] else "normal", style="italic" if label.endswith(":") else "normal")
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-0.8, len(table) - 0.2), xticks=[])
    ax.tick_params(axis="y", length=0)


def claim_curve(table: pd.DataFrame, rules: Rules, claim_id: str, data: str = "") -> Figure:
    """Return the specification curve of a claim's played part; its title says what decides, and on which data."""
    part = rules.claims[claim_id].played
    what, data = (*part.curve, data)[:2]
    found = counts(table, [choice for choice in rules.interpretations if choice in table])
    grouped = found["matters_most"] if found["decides"] else ""
    figure = specification_curve(table, rules.interpretations, part, grouped)
    figure.axes[0].set(ylabel=what, title=fill(f"{claim_id}, {data}: {in_words(found)}", 88))
    return figure


# Verdicts


def totals(papers: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Return one stacked bar per paper, from {name: records}: how many of its claims have which verdict."""
    counted = [[r["verdict"] for r in records if r["counts_as"] in COUNTED] for records in papers.values()]
    figure, (ax,) = row(1, 1.4 + 0.34 * len(papers))
    left = np.zeros(len(papers))
    for verdict, colour in VERDICT_LOOK.items():
        if not any(verdict in its for its in counted):
            continue
        n = np.array([its.count(verdict) for its in counted])
        bars = ax.barh(
            range(len(papers)), n, left=left, color=colour, height=0.68, label=f"{GLYPHS[verdict]} {verdict}"
        )
        told = [f"{GLYPHS[verdict]} {k}" if k else "" for k in n]
        ax.bar_label(bars, told, label_type="center", size=SMALLEST, color="black" if verdict in LIGHT else "white")
        left += n
    ax.set_yticks(range(len(papers)), list(papers), size=SMALLEST)
    ax.set(xlabel="claims of the paper", ylim=(len(papers) - 0.5, -0.5))
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    figure.legend(**LEGEND | {"loc": "outside lower center", "ncols": 3})
    good, bad = (sum(v in group for its in counted for v in its) for group in (STANDS, FAILS))
    every = sum(len(its) for its in counted)
    return titled(figure, f"{every} claims of the papers: {good} stand, {bad} fail, {every - good - bad} are open")


def all_parts(records: Sequence[Mapping[str, Any]]) -> Figure:
    """Return one row per part of a paper's claims: how far it lies inside (right) or outside its rule.

    `records` as a run leaves them. Distances are to the nearest limit, in units of the part's scale; an interval
    covers 0 if and only if the part is undecided. Controls and our own questions are hollow; values beyond 2
    scales are drawn there with an arrow.
    """
    rows = [(r, part) for r in records for part in r["parts"].values()]
    figure, ax = plt.subplots(figsize=(WIDTH, 1.2 + 0.16 * len(rows)))
    labels = [shorten(f"{record['id']} {part['is']}", 62, placeholder=" ...") for record, part in rows]
    ax.set_yticks(range(len(rows)), labels, size=SMALLEST)
    for place, (record, part) in enumerate(rows):
        if "value" in part:
            _distance(ax, place, part, part.get("control") or part.get("own") or record["counts_as"] == "own question")
    ax.axvline(0, color="black", linewidth=1.0)
    ax.axvspan(0, 1.15 * FARTHEST, color=SHADE, linewidth=0, zorder=0)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlim=(-1.15 * FARTHEST, 1.15 * FARTHEST))
    scales = f"(in scales of the part; beyond {FARTHEST:g}: an arrow)"
    ax.set_xlabel(f"outside the rule  ←  distance to its nearest limit  →  inside\n{scales}")
    ax.tick_params(axis="y", length=0)
    handles = [Line2D([], [], color=colour, marker=m, label=state) for state, (colour, m) in STATE_LOOK.items()]
    handles += [Line2D([], [], color="black", marker="o", mfc="white", label="hollow: control or own question")]
    figure.legend(handles=handles, handlelength=1.2, **LEGEND)
    return figure


def _distance(ax: Axes, place: float, part: Mapping[str, Any], hollow: bool) -> None:
    """Draw value and interval of a part by their distance to its rule."""
    rule = read_rule(part["rule"])
    low, best, high = part["low"], part["value"], part["high"]
    if np.isfinite([rule.low, rule.high]).all():
        # the distance is largest halfway between two limits, which an interval may hold
        best = np.clip((rule.low + rule.high) / 2, low, high)
    value, *ends = (rule.distance(x, part["scale"]) for x in (part["value"], low, high, best))
    _interval(ax, place, np.clip([value, min(ends), max(ends)], -FARTHEST, FARTHEST), part["state"], 4.5, hollow)
    for side, edge, beyond in (("<", -1.08, min(ends) < -FARTHEST), (">", 1.08, max(ends) > FARTHEST)):
        if beyond:
            ax.plot(edge * FARTHEST, place, side, color=STATE_LOOK[part["state"]][0], markersize=4, clip_on=False)
