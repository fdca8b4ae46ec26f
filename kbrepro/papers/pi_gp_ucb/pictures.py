"""The figures of the notebook on π-GP-UCB; titles that could be false are computed from what is drawn.

*Played*: {rule: trace of all runs}, and what a round of uniform play loses in each (n,). *Final*: R_T / T, and that.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator
from scipy.ndimage import uniform_filter1d

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import banded, log_axes, mean_interval, titled
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.experiments import CellRun
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import Estimate, Trace, log_spaced, paired_difference, slope
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

Played = tuple[Mapping[str, Trace], Array]
Final = tuple[Array, Array]

HERO = "π-GP-UCB"
RIVAL = "IGP-UCB"
RULES = (RIVAL, HERO)
#: The first functions of Fig. 2 are judged; others are a supplement.
MAIN = 4
#: Line styles of one, two and three dimensions.
STYLES = {1: ":", 2: "--", 3: "-"}
#: Changes between which the regret is compared.
ENDS = ("published", "both")
#: Curves of exponents that are no algorithm of their own.
EXPONENTS = {
    "IGP-UCB, 2020": {"color": LOOK[RIVAL][0], "linestyle": "-"},
    "IGP-UCB, gain of 2021": {"color": LOOK[RIVAL][0], "linestyle": "--"},
    "lower bound": {"color": "black", "linestyle": ":"},
}


def _range(curves: Array) -> tuple[Array, Array, Array]:
    """Mean, smallest and largest of curves (n, m)."""
    return curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0)


def _ratio(traces: Mapping[str, Trace], rule: str = HERO, to: str = RIVAL) -> float:
    """Mean R_T of a rule over that of another."""
    return float(traces[rule].regret.sum(axis=1).mean() / traces[to].regret.sum(axis=1).mean())


def _by_dimension(texts: Mapping[int, str]) -> str:
    return f"{', '.join(texts.values())} (d = {', '.join(map(str, texts))})"


# One run


def cells(frames: pd.DataFrame, points: Array, f: Array) -> Figure:
    """Return the cells of four rounds over the function f (A,) on a grid of points (A, 2), shaded by pulls.

    `frames`: a row a cell: its `round`, lowest point `x`, `y`, `side`, and `pulls` inside it.
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
    small, inside = last[last["side"] < 0.99 * first["side"].min()], np.zeros(len(f), bool)
    for cell in small.itertuples():
        inside |= (np.abs(points - [cell.x, cell.y] - cell.side / 2) <= cell.side / 2 + 1e-9).all(axis=1)
    title = f"From {len(first)} cells to {len(last)}, {len(small)} finer than the first"
    if 0 < inside.mean() < 1:
        title += f": mean f {f[inside].mean():.2f} in them, {f[~inside].mean():.2f} elsewhere".replace("-", "−")
    return titled(fig, title)


# Theory


def theory(greedy: Mapping[str, Mapping[int, Array]], dimensions: Array, nu: float) -> Figure:
    """Return exponents of T in the regret over d (`regret_exponents`), and greedy gains {lengthscale: {d: (T,)}}.

    Beside the gains slopes of their last decade: d / (d + 2 nu) and q.
    """
    fig, axes = plt.subplot_mosaic([["exponents", d] for d in (1, 2)], figsize=(WIDTH, 4.8))
    left, between = axes["exponents"], []
    exponents = pd.DataFrame([experiments.regret_exponents(int(d), nu) for d in dimensions], dimensions)
    for name in exponents:
        left.plot(exponents[name], label=name, **EXPONENTS.get(name, figures.look(name, HERO)))
    left.set(xlabel=f"dimension d (ν = {nu:g})", ylabel="exponent of T in the regret (1: linear)", xticks=dimensions)
    left.set_title("what is proved")
    for d in (1, 2):
        ax, ends = axes[d], {"d/(d + 2ν)": d / (d + 2 * nu), "q": cover_exponent(d, nu)}
        for (name, its), style in zip(greedy.items(), ("-", "--"), strict=True):
            t, fitted = log_spaced(len(its[d])), experiments.late_exponent(its[d]).value
            between.append(ends["d/(d + 2ν)"] <= fitted <= ends["q"])
            ax.plot(t, its[d][t - 1], style, color=LOOK[HERO][0], label=f"{name}, slope {fitted:.2f}")
        start, last = next(iter(greedy.values()))[d][t[-1] // 10 - 1], np.array([t[-1] // 10, t[-1]])
        for (name, end), style in zip(ends.items(), ("-.", ":"), strict=True):
            guide = start * (last / last[0]) ** end
            ax.plot(last, guide, style, color="black", label=f"slope {name} = {end:.2f}")
        ax.set(xlabel="pulls T", ylabel="gain (nats)", xlim=(1, t[-1]), title=f"greedy pulls, d = {d}")
        log_axes(ax, "xy")
    axes[1].set_xlabel("")
    empty = exponents.index[exponents["IGP-UCB, 2020"] >= 1]
    below = exponents.index[exponents["IGP-UCB, lambda grows"] < exponents[HERO] - 1e-9]
    first, second = (f"from d = {its[0]} on" if len(its) else "for no d" for its in (empty, below))
    title = f"IGP-UCB's bound of 2020 is empty {first};\nwith lambda that grows it is below that of π-GP-UCB {second}"
    told = f"The exponent of the gain lies between d/(d + 2ν) and q in {sum(between)} of {len(between)} cases"
    return figures.labelled(fig, f"{title}\n{told}")


# Table 1


def table_1(
    finals: Mapping[tuple[str, int, str], Final], printed: Mapping[tuple[int, str], float], horizon: int, seed: int
) -> Figure:
    """Return shares of uniform regret: runs, their mean with 95 % interval, and beside it the printed mean.

    `finals` by lengthscale, d and rule. The bar of a printed mean holds ours in 95 %
    of cases where both have the same expectation; undecided where 12 runs tell too little (`beside_printed`).
    """
    scales = {name: sorted({d for its, d, _ in finals if its == name}) for name, _, _ in finals}
    fig, axes = pieces.row(len(scales), 3.9, sharey=True, width_ratios=[len(its) for its in scales.values()])
    told, agree = {}, []
    for ax, (name, dimensions) in zip(axes, scales.items(), strict=True):
        states = []
        for (place, d), (rule, aside) in product(enumerate(dimensions), zip(RULES, (-0.3, 0.14), strict=True)):
            its, known, bar = finals[name, d, rule], printed[d, rule], {"markersize": 5, "capsize": 3}
            dots, x, colour = np.sort(its[0] / its[1]), place + aside, LOOK[rule][0]
            at = x + 0.2 * (pieces.golden(len(dots)) - 0.5)
            ax.plot(at, dots, "o", color=colour, markersize=2.5, alpha=0.35, markeredgewidth=0)
            (value, low, high), beside = experiments.average(*its, seed), experiments.beside_printed(*its, known)
            ours = ax.errorbar(x, value, [[value - low], [high - value]], fmt="o", color=colour, **bar)
            half = known * (beside.close.high - beside.close.value)
            theirs = ax.errorbar(x + 0.18, known, half, fmt="D", color="black", markerfacecolor="white", **bar)
            states.append(read_rule("<= 1").state(beside.compatible))
            told[f"{rule}: mean of runs (dots), 95 % interval"] = ours
        agree.append(f"{states.count('holds')} of {len(states)}, {states.count('undecided')} undecided ({name})")
        ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
        ax.set_xticks(range(len(dimensions)), [f"d = {d}" for d in dimensions])
        ax.set(xlim=(-0.5, len(dimensions) - 0.5), title=f"lengthscale: {name}")
        ax.grid(visible=False, axis="x")
    axes[0].set(ylabel="regret over that of uniform play\n(dotted: 1)", ylim=(0, None))
    told["printed mean of 12 runs, 95 % prediction interval"] = theirs
    fig.legend(told.values(), told.keys(), loc="outside lower center", ncols=2, fontsize=SMALLEST)
    when = f"T = {horizon:,}" + ("" if horizon == 10_000 else " (printed: T = 10,000)")
    return titled(fig, f"Table 1 at {when}: ours agrees with the printed mean in\n{'; '.join(agree)}")


def pairs_of_shares(panels: Mapping[str, Played], seed: int) -> Figure:
    """Return shares of uniform regret, π-GP-UCB minus IGP-UCB, one dot a run, a row a panel {label: played}."""
    rows = {}
    for label, (traces, uniform) in panels.items():
        hero, rival = (traces[rule].average_regret[:, -1] / uniform for rule in (HERO, RIVAL))
        rows[fill(label, 20)] = hero - rival, paired_difference(hero, rival, seed)
    less, more = sum(its.high < 0 for _, its in rows.values()), sum(its.low > 0 for _, its in rows.values())
    title = f"π-GP-UCB has clearly less regret in {less} of {len(rows)} cases, clearly more in {more}"
    its = {"what": "share of uniform regret, π-GP-UCB minus IGP-UCB", "dot": "run"}
    return paired(rows, 1.4 + 0.42 * len(rows), title, "linear", rule=read_rule("< 0"), **its)


# Figure 1


def regret_and_time(
    traces: Mapping[str, Trace], steps: Mapping[tuple[int, str], Array], times: Mapping[int, float], horizon: int
) -> Figure:
    """Return Fig. 1: cumulative regret, regret of a round, seconds a step {(d, rule): (segments,)}, equal segments.

    `times`: by d, the time of a run of IGP-UCB over that of one of π-GP-UCB.
    """
    fig, (left, centre, right) = pieces.row(3, 3.6)
    window, t = max(1, horizon // 50), np.unique(np.linspace(1, horizon, 400).astype(int))
    for rule, trace in traces.items():
        smooth = uniform_filter1d(trace.regret, window, axis=1, mode="nearest")
        for ax, curves in ((left, trace.cumulative_regret), (centre, smooth)):
            banded(ax, t, mean_interval(curves[:, t - 1]), rule, **figures.look(rule, HERO))
    for (d, rule), seconds in steps.items():
        middles = horizon * (np.arange(len(seconds)) + 0.5) / len(seconds)
        looks = figures.look(rule, HERO) | {"linestyle": STYLES[d]}
        right.plot(middles, 1000 * seconds, label=f"{rule.split('-')[0]}, d = {d}", **looks)
    left.set(ylabel="cumulative regret $R_t$\n(mean, 95 % interval)", ylim=(0, None), title="regret, d = 2")
    centre.set(ylabel=f"regret a round, over {window} rounds\n(mean of runs, 95 % interval)", ylim=(0, None))
    centre.set_title("regret of a round, d = 2")
    right.set(ylabel="milliseconds a step\n(median of runs)", title="time of a step")
    for ax in (left, centre, right):
        ax.set(xlabel="round t", xlim=(0, horizon))
    log_axes(right, "y")
    pieces.legend_below(fig, 2, [left])
    figures.label_ends(right)
    slower = {d: f"{ratio:.2g}" for d, ratio in times.items()}
    title = f"π-GP-UCB has {_ratio(traces):.2f} times the mean $R_T$ of IGP-UCB in d = 2"
    return titled(fig, f"{title}\nTime of IGP-UCB over that of π-GP-UCB: {_by_dimension(slower)}")


def exploration(panels: Mapping[int, Played], tour: pd.DataFrame) -> Figure:
    """Return the share of uniform regret so far over t, {d: played}, a panel each; `tour` a row a dimension.

    Its columns: "first cells", after which π-GP-UCB has seen each of them, "crossing", from which round on its mean
    regret is below that of IGP-UCB (the horizon: it never is), and "π-GP-UCB, tour", its share until then.
    """
    fig, axes = pieces.row(len(panels), 3.5, sharey=True)
    crossed = {}
    for ax, (d, (traces, uniform)) in zip(axes, panels.items(), strict=True):
        horizon, crossing = traces[HERO].horizon, tour.loc[d, "crossing"]
        t = log_spaced(horizon)
        for rule in RULES:
            shares = traces[rule].average_regret[:, t - 1] / uniform[:, None]
            banded(ax, t, mean_interval(shares), rule, **figures.look(rule, HERO))
        ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
        ax.axvspan(1, tour.loc[d, "first cells"], color="0.9", linewidth=0, zorder=0)
        crossed[d] = "never"
        if crossing < horizon:
            ax.axvline(crossing, color="black", linewidth=1.0, linestyle="--")
            crossed[d] = f"from {crossing / horizon:.0%} of T on"
        ax.set(xlabel="round t", xlim=(1, horizon), title=f"d = {d}, {len(uniform)} runs")
        log_axes(ax, "x")
    axes[0].set(ylabel="share of uniform regret so far\n(mean and 95 % interval)", ylim=(0, None))
    told = "shaded: π-GP-UCB visits each cell once; dashed: from here on it is below IGP-UCB"
    pieces.legend_below(fig, 2, [axes[0]], title=told, title_fontsize=SMALLEST)
    on_tour = {d: f"{tour.loc[d, f'{HERO}, tour']:.2f}" for d in panels}
    title = f"Share of uniform regret on the first tour of π-GP-UCB: {_by_dimension(on_tour)}"
    return titled(fig, f"{title}\nIt is below IGP-UCB: {_by_dimension(crossed)}")


# Figure 2


def surfaces(functions: Mapping[str, Mapping[str, Trace]]) -> Figure:
    """Return regret on test functions {name: traces}, first the main ones, then the supplement."""
    fig, axes = plt.subplots(2, -(-len(functions) // 2), figsize=(WIDTH, 4.8), sharex=True, sharey=True)
    ratios = {name: _ratio(traces) for name, traces in functions.items()}
    for place, (ax, (name, traces)) in enumerate(zip(axes.flat, functions.items(), strict=True)):
        figures.regret_quartiles(ax, traces, hero=HERO)
        kind = "" if place < MAIN else "\n(supplement)"
        ax.set_title(f"{name}{kind}\nπ over IGP: {ratios[name]:.2f}")
        ax.label_outer()
    axes[0, 0].set_ylim(top=1.5 * max(line.get_ydata()[-1] for ax in axes.flat for line in ax.lines))
    worst = max(list(ratios)[:MAIN], key=ratios.__getitem__)
    more = sum(ratio > 1 for ratio in ratios.values())
    title = f"Fig. 2: π-GP-UCB has at most {ratios[worst]:.2f} times the mean $R_T$ of IGP-UCB ({worst})"
    told = f"on the {MAIN} main functions, and more than IGP-UCB on {more} of all {len(ratios)}"
    return titled(fig, f"{title}\n{told}", 2)


# Cells


def covers(
    runs: Mapping[tuple[int, int], Sequence[CellRun]], q: Mapping[int, float], igp_width: Mapping[int, Array]
) -> Figure:
    """Return cells ever created and the largest gain of one over T, {(d, T): runs}, and widths over t in d = 2.

    `q`: exponents of Lemma 2 by d; `igp_width`: that of IGP-UCB less B in one run, by d (T,).
    """
    fig, (left, middle, right) = pieces.row(3, 3.4)
    horizons, grown = np.array(sorted({T for _, T in runs})), {}
    for d, exponent in q.items():
        looks = {"color": LOOK[HERO][0], "linestyle": STYLES[d], "marker": "o", "markersize": 4}
        for ax, part in ((left, "created"), (middle, "gain")):
            values = np.array([[getattr(run, part) for run in runs[d, T]] for T in horizons]).T
            banded(ax, horizons, _range(values), f"d = {d}", **looks)
        x, y = np.log(horizons), np.log(left.lines[-1].get_ydata())
        left.plot(horizons, np.exp(y.mean() + exponent * (x - x.mean())), color="black", linewidth=0.8, zorder=1)
        grown[d] = f"$T^{{{slope(x, y).value:.2f}}}$, q = {exponent:.2f}"
    T, widths = horizons[-1], np.array([run.width for run in runs[2, horizons[-1]]])
    t = log_spaced(T)
    banded(right, t, _range(widths[:, t - 1]), "largest in cells, less B", **figures.look(HERO, HERO))
    right.plot(t, igp_width[2][t - 1], label="IGP-UCB, less B", **figures.look(RIVAL))
    left.set(xlabel="horizon T", ylabel="cells ever created\n(mean, range of runs; black: slope q)", title="cells")
    middle.set(xlabel="horizon T", ylabel="largest gain of a cell (nats)\n(mean, range of runs)", title="gain")
    right.set(xlabel="round t", ylabel="width less B (posterior sd)", xlim=(1, T), title="widths, d = 2")
    for ax, axes in ((left, "xy"), (middle, "x"), (right, "xy")):
        log_axes(ax, axes)
        ax.xaxis.set_major_locator(LogLocator())  # decades only
    middle.set_ylim(0, None)
    ours, theirs = (experiments.late_exponent(its, decades=2).value for its in (widths.mean(axis=0), igp_width[2]))
    title = f"Cells grow as {'; '.join(grown.values())} (d = {', '.join(map(str, grown))})"
    told = f"The width grows as $t^{{{ours:.2f}}}$ in cells, less B as $t^{{{theirs:.2f}}}$ in IGP-UCB"
    return figures.labelled(fig, f"{title}\n{told}")


# The thesis, and since the paper


def thesis(variants: Mapping[str, Trace]) -> Figure:
    """Return average regret of both algorithms and of the thesis's π-GP-UCB, d = 2."""
    fig, (ax,) = pieces.row(1, 3.4)
    for rule, trace in variants.items():
        t = log_spaced(trace.horizon)
        banded(ax, t, mean_interval(trace.average_regret[:, t - 1]), rule, **figures.look(rule, HERO))
    ax.set(xlabel="round t", ylabel="average regret $R_t/t$\n(mean and 95 % interval)", xlim=(1, t[-1]), ylim=(0, None))
    log_axes(ax, "x")
    to_paper, to_rival = (_ratio(variants, f"{HERO}, thesis", to) for to in (HERO, RIVAL))
    title = f"The thesis's π-GP-UCB has {to_paper:.2f} times the mean $R_T$ of the paper's"
    return figures.labelled(fig, f"{title},\n{to_rival:.2f} times that of IGP-UCB (d = 2)")


def since(
    shares: Mapping[tuple[str, int, str], Estimate], sweep: Mapping[float, Mapping[str, Estimate]], theory_lambda: float
) -> Figure:
    """Return shares of uniform regret, (change, d, rule) -> share with interval, and {lambda: {rule: share}} in d = 2.

    `theory_lambda` is that of the proof, which grows with T.
    """
    named = dict.fromkeys((d, change) for change, d, _ in shares)
    cases = sorted(named, key=lambda case: (case[0], case[1] == ENDS[1]))
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
    at, best = sorted(sweep), {}
    for rule in RULES:
        its = np.array([sweep[lam][rule] for lam in at]).T
        banded(right, at, its, rule, marker="o", markersize=4, **figures.look(rule, HERO))
        best[rule] = f"{at[its[0].argmin()]:.3g}"
    right.axvline(theory_lambda, color="black", linewidth=1.0, linestyle="--")
    right.set(xlabel=f"λ (dashed: that of the proof, {theory_lambda:.1f})", ylabel=what, title="tighter width, d = 2")
    log_axes(right, "x")
    then, now = (", ".join(f"{rule} {shares[change, 2, rule].value:.2f}" for rule in RULES) for change in ENDS)
    told = f"Of the λ played, IGP-UCB is best at {best[RIVAL]}, π-GP-UCB at {best[HERO]}"
    title = f"Share of uniform regret in d = 2, as published: {then};\nwith both changes: {now}\n{told}"
    return titled(fig, title, 2, panel=1)
