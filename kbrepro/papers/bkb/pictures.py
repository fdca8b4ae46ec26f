"""The figures of the notebook on BKB; titles that could be false are computed from what is drawn."""

from collections.abc import Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.bkb.costs import milliseconds
from kbrepro.papers.bkb.experiments import Dictionaries, exponent, last_decade, replacement_of_log_det
from kbrepro.papers.bkb.starvation import BAND, over_seeds
from kbrepro.regret import Trace, block_mean, log_spaced, paired_share
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

HERO = "BKB"
#: Ratios of variances are drawn up to these.
STARVED_CUT, INFLATED_CUT = 8.0, 2.5
#: Curves of regret that have no look of their own: colour and style.
LOOKS = {
    "exact, 3 sd": (LOOK["exact"][0], "--"),
    "exact, tighter width": (LOOK["exact"][0], ":"),
    "BKB, 3 sd": (LOOK["BKB"][0], "--"),
    "RFF, 20 features": (LOOK["RFF"][0], "-"),
    "RFF, 100 features": (LOOK["RFF"][0], "--"),
    "mini-GP-UCB": LOOK["mini-GP-UCB"],
}
#: The opponents of a step of BKB, dark where the posterior is updated, light where it is computed anew.
METHODS = {
    "BKB": (LOOK["BKB"][0], "-"),
    "exact, rows": ("black", "-"),
    "exact, covariance": ("black", ":"),
    "exact, counts": ("#b08000", "--"),
    "exact, refit": ("#b08000", "-"),
}


# Figure 1


def strip(
    frames: pd.DataFrame, observed: Mapping[int, tuple[Array, Array]], sizes: Mapping[tuple[str, int], int]
) -> Figure:
    """Return Fig. 1: a row a t, a column a posterior but the exact one, whose band stands behind each.

    `frames` as `starvation.frames` returns them; `observed`: {t: (x, y)}; `sizes`: features by (name, t). Ticks below:
    members of the dictionary, where there is one.
    """
    names, shown = [n for n in frames["name"].unique() if n != "exact"], list(observed)
    fig, axes = plt.subplots(len(shown), len(names), figsize=(WIDTH, 1.9 * len(shown) + 0.9), sharex=True, sharey=True)
    for row, t in zip(axes, shown, strict=True):
        now = {name: its.sort_values("x") for name, its in frames[frames["t"] == t].groupby("name")}
        truth = now["exact"]
        for ax, name in zip(row, names, strict=True):
            view, colour = now[name], LOOK[name][0]
            ax.axvspan(0, 0.5, color="0.95", linewidth=0, zorder=0)
            low, high = view["mean"] - BAND * view["sd"], view["mean"] + BAND * view["sd"]
            ax.fill_between(view["x"], low, high, color=colour, alpha=0.3, linewidth=0, label="approximation ± 3 sd")
            for side in (-BAND, BAND):
                edge = truth["mean"] + side * truth["sd"]
                ax.plot(truth["x"], edge, color="black", linewidth=0.8, label="exact ± 3 sd" if side > 0 else None)
            ax.plot(view["x"], view["f"], "--", color="black", linewidth=1.0, label="f, unknown")
            ax.plot(*observed[t], "o", color="black", markersize=2.2, markeredgewidth=0, alpha=0.6, label="observed")
            there = view[view["member"] > 0]["x"]
            ax.plot(there, np.full(len(there), -4.3), "|", color=colour, markersize=7, label="in the dictionary")
            ax.set(ylim=(-4.7, 4.5), xlim=(0, 1), xticks=(0, 0.5, 1))
            ax.set_title(f"{name}, m = {sizes[name, t]}", size=SMALLEST + 1)
        row[0].set_ylabel(f"reward, t = {t}")
    for ax in axes[-1]:
        ax.set_xlabel("x")
    far = frames[(frames["x"] > 0.5) & (frames["t"] == shown[-1])]
    covered = ((far["f"] - far["mean"]).abs() <= BAND * far["sd"]).groupby(far["name"]).mean()
    told = ", ".join(f"{name} {covered[name]:.0%}" for name in names)
    return pieces.titled(fig, f"Share of f in the unseen half inside mean ± 3 sd after {shown[-1]} pulls:\n{told}", 3)


def starvation(table: pd.DataFrame, compared: Mapping[str, tuple[str, str]], shown: Sequence[int]) -> Figure:
    """Return the worst ratios of variances, one dot a seed: a panel a t, a row a posterior {label: (name, setting)}."""
    fig, axes = pieces.row(len(shown), 1.5 + 0.28 * len(compared), sharey=True)
    for ax, t in zip(axes, shown, strict=True):
        for place, key in enumerate(compared.values()):
            starved = np.minimum(np.log10(over_seeds(table, "starved", *key, t)), STARVED_CUT)
            inflated = -np.minimum(np.log10(over_seeds(table, "inflated", *key, t)), INFLATED_CUT)
            y = place + 0.5 * (pieces.golden(len(starved)) - 0.5)
            dots = {"color": LOOK[key[0]][0], "markersize": 2.5, "alpha": 0.6}
            ax.plot(starved, y, "o", markeredgewidth=0, **dots)
            ax.plot(inflated, y, "o", markerfacecolor="none", markeredgewidth=0.6, **dots)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(title=f"t = {t}", xlim=(-INFLATED_CUT - 0.4, STARVED_CUT + 0.4), xticks=(-2, 0, 2, 4, 6, 8))
        pieces.name_rows(ax, list(compared))
    fig.supxlabel(
        "log10 of exact over approximate variance, one dot a seed\nfilled: largest over the arms (starved, cut at 8); "
        "open: smallest (inflated, cut at −2.5)",
        size="medium",
    )
    last = {label: over_seeds(table, "starved", *key, shown[-1]) for label, key in compared.items()}
    starving = ", ".join(label for label, its in last.items() if np.median(its) > 2)
    return pieces.titled(fig, f"At t = {shown[-1]} the median worst ratio exceeds 2 for\n{starving or 'none'}")


# Theorem 1


def transition(
    found: Mapping[tuple[str, str, float], Dictionaries], dimension: Mapping[str, float], of_record: float
) -> Figure:
    """Return bad steps and sizes of the dictionary over qbar, {(dictionary, design, qbar): runs}, a column a design.

    `dimension`: mean d_eff at the end by design; `of_record`: the qbar that the title speaks of.
    """
    names, designs = (list(dict.fromkeys(part)) for part in zip(*(key[:2] for key in found), strict=True))
    fig, axes = plt.subplots(2, len(designs), figsize=(WIDTH, 4.8), sharex=True, sharey="row")
    for column, design in zip(axes.T, designs, strict=True):
        for name, aside in zip(names, (-0.07, 0.07), strict=True):
            qbars = [q for n, d, q in found if (n, d) == (name, design)]
            for ax, part, scale in zip(column, ("bad", "size"), (100, 1), strict=True):
                shares = [block_mean(scale * getattr(found[name, design, q], part)) for q in qbars]
                (mean, low, high), (colour, style) = np.array(shares).T, LOOK[name]
                bars = {"color": colour, "linestyle": style, "marker": "o", "markersize": 4, "capsize": 2}
                ax.errorbar(np.array(qbars) + aside, mean, [mean - low, high - mean], label=name, **bars)
        column[0].set_title(f"{design}, $d_{{eff}}$ = {dimension[design]:.0f}")
        column[1].axhspan(0.8, 1.5, color="#e4ecf7", linewidth=0, zorder=0)
        column[1].set(xlabel=r"$\bar q$", ylim=(0, 4))
    runs = len(next(iter(found.values())).bad)
    axes[0, 0].set(ylabel=f"bad steps (%)\n(mean, 95 %, {runs} runs)", ylim=(-4, 104))
    axes[1, 0].set_ylabel("members /\n" + r"($\bar q\, d_{eff}$)" + "\n(shaded: 0.8 to 1.5)")
    least = min(its.bound for (name, *_), its in found.items() if name == HERO)
    worst = max(its.bad.mean() for (name, _, q), its in found.items() if name == HERO and q == of_record)
    title = f"At $\\bar q$ = {of_record:g} at most {worst:.2%} of BKB's steps are bad (any design);"
    told = f"the theorem's bound on the size is at least {least:.0f} times the size (any $\\bar q$)"
    return pieces.titled(fig, f"{title}\n{told}", 2)


def proposition_5(chains: Mapping[str, Array]) -> Figure:
    """Return the four quantities of Proposition 5 over t, {design: (runs, T, 4)}, median and range of the runs."""
    names = (r"$d_{eff}$", r"sum of $\sigma_s^2$", "log det", "eq. 6")
    looks = ((LOOK["BKB"][0], "-"), ("black", "-"), ("black", "--"), ("black", ":"))
    fig, axes = pieces.row(len(chains), 3.2, sharey=True)
    for ax, (design, chain) in zip(axes, chains.items(), strict=True):
        t = np.arange(1, chain.shape[1] + 1)
        for i, (name, (colour, style)) in enumerate(zip(names, looks, strict=True)):
            its = np.quantile(chain[..., i], [0.5, 0, 1], axis=0)
            pieces.banded(ax, t, its, name, color=colour, linestyle=style)
        guide = np.median(chain[:, 1:, 0], axis=0) * np.log(t[1:])
        ax.plot(t[1:], guide, "-.", color="#b08000", label=r"$d_{eff} \log t$ (4.1)")
        ax.set(title=design, xlabel="pulls t", xlim=(1, t[-1]))
        pieces.log_axes(ax, "xy")
    axes[0].set_ylim(bottom=1)
    axes[0].set_ylabel(f"nats, or dimensions\n(median, range of {len(chain)} runs)")
    ratios = {design: replacement_of_log_det(chain) for design, chain in chains.items()}
    told = ", ".join(f"{(its < 1).mean():.0%} ({design})" for design, its in ratios.items())
    least = min(its.min() for its in ratios.values())
    title = rf"$d_{{eff}} \log t$, put in the place of log det, falls to {least:.2f} of it;"
    return pieces.titled(fig, f"{title}\nit is the smaller in {told} of the steps", 5)


# Regret


def regret(traces: Mapping[str, Trace]) -> Figure:
    """Return cumulative regret of all rules, median and quartiles."""
    fig, _ = figures.regret_row({"": traces}, 4.2, LOOKS, hero=HERO)
    final = {name: trace.regret.sum(axis=1).mean() for name, trace in traces.items()}
    least, most = (f(final, key=final.__getitem__) for f in (min, max))
    return figures.labelled(fig, f"Mean $R_T$ from {final[least]:.0f} ({least})\nto {final[most]:.0f} ({most})")


def beside_exact(finals: Mapping[str, Array], pairs: Mapping[str, tuple[str, str]], seed: int) -> Figure:
    """Return R_T of one rule over that of another, {label: (rule, to)}, one dot a trial; finals {rule: (n,)}."""
    rows = {}
    for label, (rule, to) in pairs.items():
        share = paired_share(finals[rule], finals[to], seed)
        rows[label] = finals[rule] / finals[to], share.changed(lambda x: 1 + x)
    limits = read_rule(">= 0.8, <= 1.3")
    outside = [f"{label} {its.value:.2f}" for label, (_, its) in rows.items() if limits.state(its) != "holds"]
    title = f"{len(rows) - len(outside)} of {len(rows)} ratios of mean $R_T$ are clearly within 0.8 to 1.3"
    title += f"; the others:\n{fill('; '.join(outside), 90)}" if outside else ""
    its = {"what": "$R_T$ over that of the rule named second", "centre": "ratio of means"}
    return paired(rows, 1.6 + 0.36 * len(rows), title, "log", rule=limits, **its)


def fixed_size(traces: Mapping[str, Trace]) -> Figure:
    """Return the mean regret of rules that adapt their size and rules that do not, with its late exponents."""
    fig, _ = figures.regret_row({"": traces}, 3.8, LOOKS, spread="mean and 95 % interval", hero=HERO)
    told = ", ".join(f"{name} {exponent(*last_decade(trace)):.2f}" for name, trace in traces.items())
    return figures.labelled(fig, f"Exponent of t in the mean regret of the last decade:\n{told}")


def linear(traces: Mapping[str, Trace]) -> Figure:
    """Return the regret of linear bandits."""
    fig, _ = figures.regret_row({"": traces}, 3.2, spread="mean and 95 % interval", hero=HERO)
    ratio = traces[HERO].regret.sum(axis=1).mean() / traces["exact"].regret.sum(axis=1).mean()
    return figures.labelled(fig, f"Linear kernel: BKB has {ratio:.2f} times the mean $R_T$ of exact linear UCB")


# Cost


def cost_per_step(measured: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> Figure:
    """Return milliseconds a step over t of BKB and its opponents: a panel a case {title: (seconds, sizes)}."""
    rows = -(-len(measured) // 2)
    fig, axes = plt.subplots(rows, 2, figsize=(WIDTH, 0.9 + 2.6 * rows), sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(measured) :]:
        fig.delaxes(ax)
    for ax, (case, (seconds, kept)) in zip(axes.flat, measured.items(), strict=False):
        every = np.unique(np.geomspace(10, len(seconds), 40).astype(int))
        for name in [name for name in METHODS if name in seconds]:
            (colour, style), timed = METHODS[name], seconds[name].notna()
            at = every if timed.all() else seconds.index[timed]
            middle = milliseconds(seconds[[name]], list(at))[name]
            looks = {"marker": "" if len(at) > 30 else "o", "linewidth": 2.4 if name == HERO else 1.4}
            ax.plot(middle.index, middle, style, color=colour, markersize=3, label=name, **looks)
        m, distinct = kept.iloc[-1][["features", "distinct"]].astype(int)
        ax.set_title(f"{case}: m = {m}, {distinct} distinct arms", size=SMALLEST + 1)
    for ax in fig.axes:
        pieces.log_axes(ax, "xy")
        ax.yaxis.set_major_locator(LogLocator())
        ax.xaxis.set_major_locator(LogLocator())
        ax.set(xlabel="round t", ylabel="milliseconds a step\n(median of 21 steps)")
        ax.label_outer()
    fastest = [milliseconds(seconds, [len(seconds)]).iloc[0].idxmin() for seconds, _ in measured.values()]
    cases = f"{fastest.count(HERO)} of {len(measured)} cases"
    return pieces.titled(fig, f"In the last rounds BKB's step is the fastest of those timed in {cases}", 5)


def scaling(measured: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], qbar: float) -> Figure:
    """Return the size of BKB's dictionary, distinct arms and qbar d_eff over t: a panel a case."""
    fig, axes = pieces.row(len(measured), 3.1, sharey=True)
    told = []
    for ax, (case, (_, kept)) in zip(axes, measured.items(), strict=True):
        t = log_spaced(len(kept))
        now = kept.loc[t]
        ax.plot(t, now["members"], color=LOOK["BKB"][0], linewidth=2.4, label="members, with repeats")
        ax.plot(t, now["distinct"], "--", color="black", label="distinct arms pulled")
        ax.plot(t, qbar * now["d_eff"], ":", color=LOOK["BKB"][0], label=r"$\bar q\, \tilde d_{eff}$")
        ax.set(xlabel="round t", xlim=(1, t[-1]), title=case)
        pieces.log_axes(ax, "xy")
        ax.xaxis.set_major_locator(LogLocator())
        told.append(f"{now['members'].iloc[-1]:.0f} of {t[-1]:,} pulls ({case})")
    axes[0].set_ylabel("number")
    return pieces.titled(fig, f"The dictionary holds {'; '.join(told)}", 3)
