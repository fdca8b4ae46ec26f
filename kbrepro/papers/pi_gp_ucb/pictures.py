"""The figures of the notebook on π-GP-UCB; what a title says follows from what is drawn.

*Played*: {rule: trace of all runs}, and what a round of uniform play loses in each (n,). *Final*: R_T / T, and that.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import banded, log_axes, mean_interval, titled
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.experiments import CellRun
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import Estimate, Trace, edges, log_spaced

Played = tuple[Mapping[str, Trace], Array]
Final = tuple[Array, Array]

HERO = "π-GP-UCB"
RIVAL = "IGP-UCB"
RULES = (RIVAL, HERO)
#: The first functions of Fig. 2 are judged; others are a supplement.
MAIN = 4
#: Line styles of one, two and three dimensions.
STYLES = {1: ":", 2: "--", 3: "-"}
#: Changes whose regret is compared: these alone were played with both algorithms.
CHANGES = ("published", "tighter width", "lambda grows", "both")
#: Curves of exponents that are no algorithm of their own.
EXPONENTS = {
    "IGP-UCB, 2020": {"color": LOOK[RIVAL][0], "linestyle": "-"},
    "IGP-UCB, gain of 2021": {"color": LOOK[RIVAL][0], "linestyle": "--"},
    "lower bound": {"color": "black", "linestyle": ":"},
}


def _range(curves: Array) -> tuple[Array, Array, Array]:
    """Mean, smallest and largest of curves (n, m)."""
    return curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0)


def _slope(t: Array, values: Array) -> float:
    """The exponent of t in values."""
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


# One run


def cells(frames: pd.DataFrame, points: Array, f: Array) -> Figure:
    """Return the cells of four rounds over the function f (A,) on a grid of points (A, 2), shaded by pulls.

    `frames`: one row per cell: its `round`, lowest point `x`, `y`, `side`, and `pulls` inside it.
    """
    shown, n = list(frames["round"].unique()), round(len(points) ** 0.5)
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.6), sharex=True, sharey=True)
    colour, half = LOOK[HERO][0], 0.5 / (n - 1)  # an arm is the centre of a pixel
    grey = LinearSegmentedColormap.from_list("f", ["0.55", "1"])
    shade = LinearSegmentedColormap.from_list("pulls", [to_rgba(colour, 0), to_rgba(colour, 0.75)])
    image = np.empty((n, n))
    image[tuple(np.rint(points[:, ::-1].T * (n - 1)).astype(int))] = f
    for ax, t in zip(axes.flat, shown, strict=True):
        now = frames[frames["round"] == t]
        below = ax.imshow(image, cmap=grey, origin="lower", extent=(-half, 1 + half) * 2)
        squares = [Rectangle((cell.x, cell.y), cell.side, cell.side) for cell in now.itertuples()]
        above = ax.add_collection(PatchCollection(squares, cmap=shade, edgecolor=colour, linewidth=0.5))
        above.set(array=now["pulls"], clim=(0, frames["pulls"].max()))
        ax.plot(*points[f.argmax()], "+", color=LOOK[RIVAL][0], markersize=9, markeredgewidth=2)
        ax.set(title=f"round {t:,}: {len(now)} cells", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        ax.grid(visible=False)
    fig.supxlabel("arm, first coordinate", size="medium")
    fig.supylabel("arm, second coordinate", size="medium")
    fig.colorbar(below, ax=axes[0], label="f, unknown (+: best arm)")
    fig.colorbar(above, ax=axes[-1], label="pulls inside a cell")
    first, last = (frames[frames["round"] == t] for t in (shown[0], shown[-1]))
    small = last[last["side"] < 0.99 * first["side"].min()]
    dense = (small["pulls"].sum() / (small["side"] ** 2).sum()) > last["pulls"].sum() if len(small) else False
    return titled(fig, "Cells split where π-GP-UCB pulls most" if dense else "No cell has split where most pulls are")


# Theory


def theory(greedy: Mapping[str, Mapping[int, Array]], dimensions: Array, nu: float) -> Figure:
    """Return exponents of T in the regret over d (`regret_exponents`), and greedy gains {lengthscale: {d: (T,)}}.

    Next to the gains, slopes for their last decade: d / (d + 2 nu) and q.
    """
    fig, axes = plt.subplot_mosaic([["exponents", d] for d in (1, 2)], figsize=(WIDTH, 4.8))
    left = axes["exponents"]
    exponents = pd.DataFrame([experiments.regret_exponents(int(d), nu) for d in dimensions], dimensions)
    for name in exponents:
        left.plot(exponents[name], label=name, **EXPONENTS.get(name, figures.look(name, HERO)))
    left.set(xlabel=f"dimension d (ν = {nu:g})", ylabel="exponent of T in the regret (1: linear)", xticks=dimensions)
    left.set_title("what is proved")
    for d in (1, 2):
        ax, ends = axes[d], {"d/(d + 2ν)": d / (d + 2 * nu), "q": cover_exponent(d, nu)}
        for (name, its), style in zip(greedy.items(), ("-", "--"), strict=True):
            t, fitted = log_spaced(len(its[d])), experiments.late_exponent(its[d])
            ax.plot(t, its[d][t - 1], style, color=LOOK[HERO][0], label=f"{name}, slope {fitted:.2f}")
        start, last = next(iter(greedy.values()))[d][t[-1] // 10 - 1], np.array([t[-1] // 10, t[-1]])
        for (name, end), style in zip(ends.items(), ("-.", ":"), strict=True):
            guide = start * (last / last[0]) ** end
            ax.plot(last, guide, style, color="black", label=f"slope {name} = {end:.2f}")
        ax.set(xlabel="pulls T", ylabel="gain (nats)", xlim=(1, t[-1]), title=f"greedy pulls, d = {d}")
        log_axes(ax, "xy")
    axes[1].set_xlabel("")
    vacuous = exponents.index[exponents["IGP-UCB, 2020"] >= 1]
    ahead = exponents.index[exponents["IGP-UCB, lambda grows"] < exponents[HERO] - 1e-9]
    since, today = (f"from d = {its[0]} on" if len(its) else "for no d" for its in (vacuous, ahead))
    title = f"In 2020 the bound on IGP-UCB's regret said nothing {since};"
    return figures.labelled(fig, f"{title}\ntoday it grows more slowly than that of π-GP-UCB {today}")


# Table 1


def table_1(
    finals: Mapping[tuple[str, int, str], Final], printed: Mapping[tuple[int, str], float], horizon: int
) -> Figure:
    """Return shares of uniform regret by lengthscale, d and rule: runs, their mean, and the printed mean.

    The bar of ours is the 95 % prediction interval of a mean of 12 such runs (`printed_interval`).
    """
    scales = {name: sorted({d for its, d, _ in finals if its == name}) for name, _, _ in finals}
    fig, axes = pieces.row(len(scales), 3.9, sharey=True, width_ratios=[len(its) for its in scales.values()])
    told = {}
    for ax, (name, dimensions) in zip(axes, scales.items(), strict=True):
        for (place, d), (rule, aside) in product(enumerate(dimensions), zip(RULES, (-0.3, 0.14), strict=True)):
            its, known, bar = finals[name, d, rule], printed[d, rule], {"markersize": 5, "capsize": 3}
            dots, x, colour = np.sort(its[0] / its[1]), place + aside, LOOK[rule][0]
            at = x + 0.2 * (pieces.golden(len(dots)) - 0.5)
            ax.plot(at, dots, "o", color=colour, markersize=2.5, alpha=0.35, markeredgewidth=0)
            value, low, high = experiments.printed_interval(*its)
            ours = ax.errorbar(x, value, [[value - low], [high - value]], fmt="o", color=colour, **bar)
            (theirs,) = ax.plot(x + 0.18, known, "D", color="black", markerfacecolor="white", markersize=5)
            told[f"{rule}: mean of runs (dots), where a mean of 12 would lie in 95 %"] = ours
        ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
        ax.set_xticks(range(len(dimensions)), [f"d = {d}" for d in dimensions])
        ax.set(xlim=(-0.5, len(dimensions) - 0.5), title=f"lengthscale: {name}")
        ax.grid(visible=False, axis="x")
    axes[0].set(ylabel="regret over that of uniform play\n(dotted: 1)", ylim=(0, None))
    told["printed mean of 12 runs"] = theirs
    fig.legend(told.values(), told.keys(), loc="outside lower center", ncols=1, fontsize=SMALLEST)
    when = f"T = {horizon:,}" + ("" if horizon == 10_000 else " (printed: T = 10,000)")
    return titled(fig, f"Table 1 at {when}: regret as a share of uniform play's, ours and printed")


# Figure 1


def operations(steps: Mapping[tuple[int, str], Array], horizon: int) -> Figure:
    """Return multiplications of a round {(d, rule): mean of each hundredth of the run}, one panel per dimension."""
    dimensions = sorted({d for d, _ in steps})
    fig, axes = pieces.row(len(dimensions), 2.9, sharey=True)
    fewer = []
    for ax, d in zip(axes, dimensions, strict=True):
        ends = edges(horizon)
        at = (ends[:-1] + ends[1:] + 1) / 2
        for rule in RULES:
            ax.plot(at, steps[d, rule], label=rule, **figures.look(rule, HERO))
        ax.set(xlabel="round t", xlim=(0, horizon), xticks=(0, horizon // 2, horizon), title=f"d = {d}")
        log_axes(ax, "y")
        fewer.append(steps[d, HERO].sum() < steps[d, RIVAL].sum())
    axes[0].set(ylabel="multiplications of a round\n(mean of runs)")
    title = "π-GP-UCB takes fewer multiplications than exact IGP-UCB" if all(fewer) else "Multiplications of a round"
    return titled(fig, title, 2)


def exploration(panels: Mapping[int, Played], tour: pd.DataFrame) -> Figure:
    """Return the share of uniform regret so far over t, one panel per {d: played}; `tour`: one row per dimension.

    Its columns: "first cells", after which π-GP-UCB has seen each of them, "crossing", from which round on its mean
    regret is below that of IGP-UCB (the horizon: it never is), and "π-GP-UCB, tour", its share until then.
    """
    fig, axes = pieces.row(len(panels), 3.5, sharey=True)
    for ax, (d, (traces, uniform)) in zip(axes, panels.items(), strict=True):
        horizon, crossing = traces[HERO].horizon, tour.loc[d, "crossing"]
        t = log_spaced(horizon)
        for rule in RULES:
            shares = traces[rule].average_regret[:, t - 1] / uniform[:, None]
            banded(ax, t, mean_interval(shares), rule, **figures.look(rule, HERO))
        ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
        ax.axvspan(1, tour.loc[d, "first cells"], color="0.9", linewidth=0, zorder=0)
        if crossing < horizon:
            ax.axvline(crossing, color="black", linewidth=1.0, linestyle="--")
        ax.set(xlabel="round t", xlim=(1, horizon), title=f"d = {d}, {len(uniform)} runs")
        log_axes(ax, "x")
    axes[0].set(ylabel="share of uniform regret so far\n(mean and 95 % interval)", ylim=(0, None))
    told = "shaded: π-GP-UCB visits each cell once; dashed: from here on it is below IGP-UCB"
    pieces.legend_below(fig, 2, [axes[0]], title=told, title_fontsize=SMALLEST)
    slow = tour[f"{HERO}, tour"].min() >= 0.9
    title = f"On its first tour of the cells π-GP-UCB {'is no' if slow else 'does'} better than uniform play"
    overtakes = all(tour.loc[d, "crossing"] < its[HERO].horizon for d, (its, _) in panels.items())
    return titled(fig, title + ";\nit overtakes IGP-UCB within the run for every d" * overtakes)


# Figure 2


def surfaces(functions: Mapping[str, Mapping[str, Trace]], excess: Mapping[str, Estimate]) -> Figure:
    """Return average regret on test functions {name: traces}, first the main ones, then the supplement.

    `excess` {name: by how much more regret π-GP-UCB has, as a share}.
    """
    fig, axes = plt.subplots(2, -(-len(functions) // 2), figsize=(WIDTH, 4.8), sharex=True, sharey=True)
    for ax, (name, traces) in zip(axes.flat, functions.items(), strict=True):
        figures.regret_quartiles(ax, traces, quantity="average", hero=HERO)
        value, low, high = (1 + share for share in excess[name])
        ax.set_title(f"{name}\n{value:.2f} ({low:.2f} to {high:.2f})")
        ax.label_outer()
    axes[0, 0].set_ylim(top=1.5 * max(max(line.get_ydata()) for ax in axes.flat for line in ax.lines))
    for ax, kind in zip(axes[:, 0], ("main functions", "others"), strict=True):
        ax.set_ylabel(f"{kind}\n{ax.get_ylabel()}")
    said = "above each panel: mean $R_T$ of π-GP-UCB over that of IGP-UCB (95 % interval)"
    pieces.legend_below(fig, 2, [axes[0, 0]], title=said)
    return titled(fig, "Fig. 2: average regret on test functions (the paper does not name its four)")


# Cells


def covers(runs: Mapping[tuple[int, int], Sequence[CellRun]], q: Mapping[int, float], igp_width: Array) -> Figure:
    """Return cells ever created and the largest gain of one over T, {(d, T): runs}, and widths over t in d = 2.

    `q`: exponents of Lemma 2 by d; `igp_width`: that of IGP-UCB less B, runs (n, T).
    """
    fig, (left, middle, right) = pieces.row(3, 3.4)
    horizons = np.array(sorted({T for _, T in runs}))
    for d, exponent in q.items():
        looks = {"color": LOOK[HERO][0], "linestyle": STYLES[d], "marker": "o", "markersize": 4}
        for ax, part in ((left, "created"), (middle, "gain")):
            values = np.array([[getattr(run, part) for run in runs[d, T]] for T in horizons]).T
            banded(ax, horizons, _range(values), f"d = {d}", **looks)
        x, y = np.log(horizons), np.log(left.lines[-1].get_ydata())
        left.plot(horizons, np.exp(y.mean() + exponent * (x - x.mean())), color="black", linewidth=0.8, zorder=1)
    T, widths = horizons[-1], np.array([run.width for run in runs[2, horizons[-1]]])
    t = log_spaced(T)
    banded(right, t, _range(widths[:, t - 1]), "largest in cells, less B", **figures.look(HERO, HERO))
    banded(right, t, _range(igp_width[:, t - 1]), "IGP-UCB, less B", **figures.look(RIVAL))
    left.set(xlabel="horizon T", ylabel="cells ever created\n(mean, range of runs; black: slope q)", title="cells")
    middle.set(xlabel="horizon T", ylabel="largest gain of a cell (nats)\n(mean, range of runs)", title="gain")
    right.set(xlabel="round t", ylabel="width less B (posterior sd)", xlim=(1, T), title="widths, d = 2")
    for ax, axes in ((left, "xy"), (middle, "x"), (right, "xy")):
        log_axes(ax, axes)
        ax.xaxis.set_major_locator(LogLocator())  # decades only
    middle.set_ylim(0, None)
    at = experiments.last_decades(T, 2)
    ours, theirs = (_slope(at.astype(float), its.mean(axis=0)[at - 1]) for its in (widths, igp_width))
    title = "the band hardly widens" if ours < 0.1 < theirs else f"the band widens as $t^{{{ours:.2f}}}$"
    return figures.labelled(fig, f"Inside cells {title}; that of IGP-UCB widens as $t^{{{theirs:.2f}}}$")


# Since the paper


def since(
    shares: Mapping[tuple[str, int, str], Estimate], sweep: Mapping[float, Mapping[str, Estimate]], theory_lambda: float
) -> Figure:
    """Return shares of uniform regret, (change, d, rule) -> share with interval, and {lambda: {rule: share}} in d = 2.

    `theory_lambda` is that of the proof, which grows with T.
    """
    of = sorted({d for _, d, _ in shares})
    cases = list(product(of, CHANGES))
    fig, (left, right) = pieces.row(2, 1.8 + 0.24 * len(cases), width_ratios=[1.2, 1])
    for (place, (d, change)), (rule, aside) in product(enumerate(cases), zip(RULES, (-0.14, 0.14), strict=True)):
        value, low, high = shares[change, d, rule]
        bar = {"fmt": "o", "color": LOOK[rule][0], "markersize": 5, "capsize": 2}
        left.errorbar(value, place + aside, xerr=[[value - low], [high - value]], **bar)
        if place and d != cases[place - 1][0]:
            left.axhline(place - 0.5, color="0.7", linewidth=0.6)
    left.axvline(1, color="black", linewidth=1.0, linestyle=":")
    pieces.name_rows(left, [f"{change}, d = {d}" for d, change in cases])
    what = "share of uniform regret\n(mean and 95 % interval)"
    left.set(xlim=(0, None), xlabel=what, title="as published, and changed")
    at = sorted(sweep)
    for rule in RULES:
        its = np.array([sweep[lam][rule] for lam in at]).T
        banded(right, at, its, rule, marker="o", markersize=4, **figures.look(rule, HERO))
    right.axvline(theory_lambda, color="black", linewidth=1.0, linestyle="--")
    right.set(xlabel=f"λ (dashed: that of the proof, {theory_lambda:.1f})", ylabel=what, title="tighter width, d = 2")
    log_axes(right, "x")
    return titled(fig, "Both algorithms as published, and with what was proved since", 2, panel=1)
