"""The figures of the notebook on π-GP-UCB."""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.pieces import banded, log_axes, mean_interval, titled
from kbrepro.kernels import Array
from kbrepro.papers.pi_gp_ucb import experiments
from kbrepro.papers.pi_gp_ucb.experiments import CellRun
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.regret import Curve, Estimate, edges, log_spaced

HERO, RIVAL = "π-GP-UCB", "IGP-UCB"
RULES = (RIVAL, HERO)
#: Changes whose regret is compared: these alone were played with both algorithms.
CHANGES = ("published", "tighter width", "lambda grows", "both")
#: Curves of exponents that are no algorithm of their own.
EXPONENTS = {
    "IGP-UCB, 2020": {"color": LOOK[RIVAL][0], "linestyle": "-"},
    "IGP-UCB, gain of 2021": {"color": LOOK[RIVAL][0], "linestyle": "--"},
    "lower bound": {"color": "black", "linestyle": ":"},
}


def theory(gains: Mapping[int, Array], dimensions: Array, nu: float) -> Figure:
    """Return exponents of T in the regret over d (`regret_exponents`), and the gain of greedy pulls, {d: (T,)}.

    Next to the gains, slopes for their last decade: d / (d + 2 nu) and q.
    """
    fig, axes = plt.subplot_mosaic([["exponents", d] for d in gains], figsize=(WIDTH, 4.8))
    left = axes["exponents"]
    exponents = pd.DataFrame([experiments.regret_exponents(int(d), nu) for d in dimensions], dimensions)
    for name in exponents:
        left.plot(exponents[name], label=name, **EXPONENTS.get(name, figures.look(name, HERO)))
    left.set(xlabel=f"dimension d (ν = {nu:g})", ylabel="exponent of T in the regret (1: linear)", xticks=dimensions)
    left.set_title("what is proved")
    for d, gain in gains.items():
        ax, t = axes[d], log_spaced(len(gain))
        ax.plot(t, gain[t - 1], color=LOOK[HERO][0], label=f"gain, slope {experiments.late_exponent(gain):.2f}")
        last = np.array([len(gain) // 10, len(gain)])
        for name, slope, style in (("d/(d + 2ν)", d / (d + 2 * nu), "-."), ("q", cover_exponent(d, nu), ":")):
            guide = gain[last[0] - 1] * (last / last[0]) ** slope
            ax.plot(last, guide, style, color="black", label=f"slope {name} = {slope:.2f}")
        ax.set(xlabel="pulls T", ylabel="gain (nats)", xlim=(1, len(gain)), title=f"greedy pulls, d = {d}")
        log_axes(ax, "xy")
    axes[1].set_xlabel("")
    return figures.labelled(fig, "Eq. 1 and Theorem 4 of Janz et al.: exponents of regret, and the largest gain")


def table_1(shares: Mapping[tuple[str, int, str], Array], printed: Mapping[tuple[int, str], float]) -> Figure:
    """Return shares of uniform regret (n,) by lengthscale, d and rule: runs, their mean, and the printed mean.

    The bar of ours is the 95 % prediction interval of a mean of 12 such runs (`half_width`).
    """
    panels = {name: sorted({d for other, d, _ in shares if other == name}) for name, _, _ in shares}
    fig, axes = pieces.row(
        len(panels), 3.9, sharey=True, width_ratios=[len(dimensions) for dimensions in panels.values()]
    )
    for ax, (name, dimensions) in zip(axes, panels.items(), strict=True):
        for d, (rule, aside) in product(dimensions, zip(RULES, (-0.3, 0.14), strict=True)):
            runs, x, colour = np.sort(shares[name, d, rule]), d + aside, LOOK[rule][0]
            at = x + 0.2 * (pieces.golden(len(runs)) - 0.5)
            ax.plot(at, runs, "o", color=colour, markersize=2.5, alpha=0.35, markeredgewidth=0)
            bar = {"fmt": "o", "color": colour, "markersize": 5, "capsize": 3}
            ours = f"{rule}: mean of runs (dots), where a mean of 12 would lie in 95 %"
            ax.errorbar(x, runs.mean(), experiments.half_width(runs), label=ours, **bar)
            hollow = {"color": "black", "markerfacecolor": "white", "markersize": 5}
            ax.plot(x + 0.18, printed[d, rule], "D", label="printed mean of 12 runs", **hollow)
        ax.axhline(1, color="black", linewidth=1.0, linestyle=":")
        ax.set_xticks(dimensions, [f"d = {d}" for d in dimensions])
        ax.set(xlim=(0.5, len(dimensions) + 0.5), title=f"lengthscale: {name}")
        ax.grid(visible=False, axis="x")
    axes[0].set(ylabel="regret over that of uniform play\n(dotted: 1)", ylim=(0, None))
    return titled(fig, "Table 1 of Janz et al., replicated: regret", 1)


def figure_1(traces: Mapping[str, Curve]) -> Figure:
    """Return cumulative regret, and regret and microseconds of a round in each hundredth of the run, by rule."""
    fig, (left, centre, right) = pieces.row(3, 2.9)
    horizon = next(iter(traces.values())).horizon
    t, ends = np.linspace(1, horizon, 200).astype(int), edges(horizon)
    middles = (ends[:-1] + ends[1:] + 1) / 2
    for rule, trace in traces.items():
        look = figures.look(rule, HERO)
        banded(left, t, mean_interval(trace.cumulative_regret[:, t - 1]), rule, **look)
        centre.plot(middles, experiments.by_hundredths(trace.regret.mean(axis=0)), label=rule, **look)
        right.plot(middles, 1e6 * trace.seconds_a_round.mean(axis=0), label=rule, **look)
    left.set(ylabel="cumulative regret\n(mean and 95 % interval)", title="regret")
    centre.set(ylabel=f"regret of a round\n(mean of {ends[1]} rounds)", ylim=(0, None), title="regret of a round")
    right.set(ylabel="microseconds of a round\n(mean of runs)", ylim=(0, None), title="time")
    for ax in (left, centre, right):
        ax.set(xlabel="round t", xlim=(0, horizon), xticks=(0, horizon // 2, horizon))
    return titled(fig, "Fig. 1 of Janz et al., replicated: d = 2", 2)


def surfaces(functions: Mapping[str, Mapping[str, Curve]]) -> Figure:
    """Return average regret on test functions {name: traces}: in the first row the main ones, then the others."""
    fig, axes = plt.subplots(2, -(-len(functions) // 2), figsize=(WIDTH, 4.8), sharex=True, sharey=True)
    for ax, (name, traces) in zip(axes.flat, functions.items(), strict=True):
        figures.regret_quartiles(ax, traces, quantity="average", spread="mean and 95 % interval", hero=HERO)
        ax.set_title(name)
        ax.label_outer()
    axes[0, 0].set_ylim(top=1.5 * max(max(line.get_ydata()) for ax in axes.flat for line in ax.lines))
    for ax, kind in zip(axes[:, 0], ("main functions", "others"), strict=True):
        ax.set_ylabel(f"{kind}\n{ax.get_ylabel()}")
    return titled(fig, "Fig. 2 of Janz et al., replicated on functions that we guessed, and on others", 2)


def covers(runs: Mapping[tuple[int, int], Sequence[CellRun]], q: Mapping[int, float], igp_width: Array) -> Figure:
    """Return cells ever created and the largest gain of one over T, {(d, T): runs}, and widths over t in d = 2.

    `q`: exponents of Lemma 2 by d; `igp_width`: that of IGP-UCB less B, runs (n, T).
    """
    fig, (left, middle, right) = pieces.row(3, 3.4)
    horizons = np.array(sorted({T for _, T in runs}))
    for (d, exponent), style in zip(q.items(), (":", "--", "-"), strict=True):
        looks = {"color": LOOK[HERO][0], "linestyle": style, "marker": "o", "markersize": 4}
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
    return figures.labelled(fig, "Lemmas 1 and 2 of Janz et al.: how many cells there are, and how wide their bands")


def _range(curves: Array) -> tuple[Array, Array, Array]:
    """Mean, smallest and largest of curves (n, m)."""
    return curves.mean(axis=0), curves.min(axis=0), curves.max(axis=0)


def since(shares: Mapping[tuple[str, int, str], Estimate]) -> Figure:
    """Return shares of uniform regret, (change, d, rule) -> share with interval: a panel for each d."""
    fig, axes = pieces.row(3, 2.6, sharey=True)
    for (d, ax), (rule, aside) in product(enumerate(axes, start=1), zip(RULES, (-0.14, 0.14), strict=True)):
        value, low, high = np.array([shares[change, d, rule] for change in CHANGES]).T
        bar = {"fmt": "o", "color": LOOK[rule][0], "markersize": 5, "capsize": 2, "label": rule}
        ax.errorbar(value, np.arange(len(CHANGES)) + aside, xerr=[value - low, high - value], **bar)
        ax.axvline(1, color="black", linewidth=1.0, linestyle=":")
        ax.set(xlim=(0, 1.1), xticks=(0, 0.5, 1), title=f"d = {d}")
        pieces.name_rows(ax, CHANGES)
    axes[1].set_xlabel("share of uniform regret (mean and 95 % interval)")
    return titled(fig, "Table 1 of Janz et al. with what has been proved since", 2)
