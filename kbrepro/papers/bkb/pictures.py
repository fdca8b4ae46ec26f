"""The figures of the notebook on BKB; titles that could be false are computed from what is drawn."""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.bkb.measures import Finals, beside, milliseconds, replacement_of_log_det
from kbrepro.papers.bkb.starvation import BAND
from kbrepro.regret import Trace, block_mean, log_spaced
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import paired

HERO = "BKB"
#: Curves of regret that have no look of their own: colour and style.
LOOKS = {
    "exact, 3 sd": (LOOK["exact"][0], "--"),
    "BKB, 3 sd": (LOOK["BKB"][0], "--"),
    "RFF, 2 features": (LOOK["RFF"][0], "-"),
    "RFF, 4 features": (LOOK["RFF"][0], "--"),
    "RFF, 10 features": (LOOK["RFF"][0], "-."),
    "RFF, 20 features": (LOOK["RFF"][0], ":"),
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
    """Return Fig. 1: one row per t, one column per posterior except the exact one, whose band is drawn below each.

    `frames` as `starvation.frames` returns them; `observed`: {t: (x, y)}; `sizes`: features by (name, t). Ticks below:
    members of the dictionary, where there is one.
    """
    names, shown = [n for n in frames["name"].unique() if n != "exact"], list(observed)
    band = {"low": frames["mean"] - BAND * frames["sd"], "high": frames["mean"] + BAND * frames["sd"]}
    views = frames.assign(**band).sort_values("x").set_index(["t", "name"])
    far = views[views["x"] > 0.5]
    covered = far["f"].between(far["low"], far["high"]).groupby(["t", "name"]).mean()
    fig, axes = plt.subplots(len(shown), len(names), figsize=(WIDTH, 2.1 * len(shown) + 0.9), sharex=True, sharey=True)
    for (row, t), (column, name) in product(enumerate(shown), enumerate(names)):
        ax, view, truth, colour = axes[row, column], views.loc[t, name], views.loc[t, "exact"], LOOK[name][0]
        ax.axvspan(0, 0.5, color="0.95", linewidth=0, zorder=0)
        ax.fill_between(
            "x", "low", "high", data=view, color=colour, alpha=0.3, linewidth=0, label="approximation ± 3 sd"
        )
        ax.plot(truth["x"], truth[["low", "high"]], color="black", linewidth=0.8, label=["exact ± 3 sd", None])
        ax.plot(view["x"], view["f"], "--", color="black", linewidth=1.0, label="f, unknown")
        ax.plot(*observed[t], "o", color="black", markersize=2.2, markeredgewidth=0, alpha=0.6, label="observed")
        there = view[view["member"] > 0]["x"]
        ax.plot(there, np.full(len(there), -4.3), "|", color=colour, markersize=7, label="in the dictionary")
        ax.set(ylim=(-4.7, 4.5), xlim=(0, 1), xticks=(0, 0.5, 1), xlabel="x", ylabel=f"reward, t = {t}")
        ax.set_title(f"{name}, m = {sizes[name, t]}\n{covered[t, name]:.0%} of unseen f inside", size=SMALLEST + 1)
        ax.label_outer()
    last = covered.loc[shown[-1]]
    others = max(last[name] for name in names if name != HERO)
    told = f"holds f at {last[HERO]:.0%} of the unseen points, the others hold it at {others:.0%} at most"
    return pieces.titled(fig, f"In the last row {HERO}'s band {told}", 3)


def starvation(table: pd.DataFrame, compared: Mapping[str, tuple[str, str]]) -> Figure:
    """Return the worst ratios of variances of posteriors {label: (name, setting)}: a panel per t, a mark per seed."""
    named = table.set_index(["name", "setting"]).sort_index()
    its = pd.concat({label: named.loc[key] for label, key in compared.items()}, names=["row"]).reset_index()
    its["starved"] = np.log10(its["starved"]).clip(upper=8)
    its["inflated"] = -np.log10(its["inflated"]).clip(upper=2.5)
    times = sorted(its["t"].unique())
    fig, axes = pieces.row(len(times), 1.5 + 0.28 * len(compared), sharey=True)
    colours = {label: LOOK[name][0] for label, (name, _) in compared.items()}
    for (ax, t), (side, mark) in product(zip(axes, times, strict=True), (("starved", ">"), ("inflated", "<"))):
        now = its[its["t"] == t]
        sns.stripplot(now, x=side, y="row", hue="row", palette=colours, marker=mark, alpha=0.6, jitter=False, ax=ax)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(title=f"t = {t}", xlabel="", ylabel="", xticks=(-2, 0, 2, 4, 6, 8))
    marks = "▶ largest over the arms (starved, cut at 8)   ◀ smallest (inflated, cut at −2.5)"
    fig.supxlabel(f"log10 of exact over approximate variance, a mark a seed\n{marks}", size="medium")
    return pieces.titled(fig, "Exact over approximate variance at the worst arm: right of 0 it starves")


# Theorem 1


def transition(found: pd.DataFrame, main: float) -> Figure:
    """Return bad steps and sizes of the dictionary over qbar, from `measures.dictionaries`, one column per design.

    `main`: the qbar that the title speaks of.
    """
    designs = found["design"].unique()
    colours, styles = ([LOOK[name][part] for name in found["dictionary"].unique()] for part in (0, 1))
    looks = {"palette": colours, "linestyles": styles, "linewidth": 1.4, "capsize": 0.15, "dodge": 0.15}
    fig, axes = plt.subplots(2, len(designs), figsize=(WIDTH, 4.8), sharex=True, sharey="row", squeeze=False)
    for (upper, lower), design in zip(axes.T, designs, strict=True):
        its = found[found["design"] == design]
        for ax, what in ((upper, "bad"), (lower, "size")):
            sns.pointplot(its, x="qbar", y=what, hue="dictionary", errorbar=_95, native_scale=True, ax=ax, **looks)
            ax.legend_.remove()
        upper.set(title=f"{design}, $d_{{eff}}$ = {its['d_eff'].mean():.0f}", ylim=(-0.04, 1.04))
        lower.axhspan(0.8, 1.5, color="#e4ecf7", linewidth=0, zorder=0)
        lower.set(xlabel=r"$\bar q$", ylim=(0, 4), ylabel="members / $(\\bar q\\, d_{eff})$\n(shaded: 0.8 to 1.5)")
        upper.set_ylabel(f"share of bad steps\n(mean, 95 %, {found['run'].nunique()} runs)")
    ours = found[(found["dictionary"] == HERO) & (found["qbar"] == main)]
    worst = ours.groupby("design")["bad"].mean().max()
    share = f"at most {worst:.2%} of BKB's steps are" if worst else "no step of BKB is"
    return pieces.titled(fig, f"At $\\bar q$ = {main:g} {share} bad (any design)", 2)


def _95(samples: pd.Series) -> tuple[float, float]:
    return block_mean(samples.to_numpy())[1:]


def proposition_5(chains: Mapping[str, Array]) -> Figure:
    """Return the four quantities of Proposition 5 over t, {design: (runs, T, 4)}, median and range of the runs."""
    names = {r"$d_{eff}$": LOOK["BKB"], r"sum of $\sigma_s^2$": ("black", "-")}
    names |= {"log det": ("black", "--"), "eq. 6": ("black", ":")}
    fig, axes = pieces.row(len(chains), 3.2, sharey=True)
    for ax, (design, chain) in zip(axes, chains.items(), strict=True):
        t = np.arange(1, chain.shape[1] + 1)
        for i, (name, (colour, style)) in enumerate(names.items()):
            its = np.quantile(chain[..., i], [0.5, 0, 1], axis=0)
            pieces.banded(ax, t, its, name, color=colour, linestyle=style)
        guide = np.median(chain[:, 1:, 0], axis=0) * np.log(t[1:])
        ax.plot(t[1:], guide, "-.", color="#b08000", label=r"$d_{eff} \log t$ (4.1)")
        ax.set(title=design, xlabel="pulls t", xlim=(1, t[-1]))
        pieces.log_axes(ax, "xy")
    axes[0].set(ylabel=f"nats, or dimensions\n(median, range of {len(chain)} runs)", ylim=(1, None))
    ratios = np.array([replacement_of_log_det(chain) for chain in chains.values()])
    title = rf"$d_{{eff}} \log t$, put in the place of log det, falls to {ratios.min():.2f} of it;"
    return pieces.titled(fig, f"{title}\nit is the smaller in {(ratios < 1).mean():.0%} of the steps", 5)


# Regret


def regret(traces: Mapping[str, Trace], spread: str = "mean and 95 % interval") -> Figure:
    """Return cumulative regret of rules, with a `spread` of `figures.regret_quartiles`."""
    fig, _ = figures.regret_row({"": traces}, 3.8, LOOKS, spread=spread, hero=HERO)
    final = {name: trace.regret.sum(axis=1).mean() for name, trace in traces.items()}
    least, most = (f(final, key=final.__getitem__) for f in (min, max))
    times = final[most] / final[least]
    title = f"{least}{',' * (',' in least)} has the least mean regret. "
    title += f"{most}{',' * (',' in most)} has {times:.0f} times that"
    return figures.labelled(fig, title if times >= 1.5 else f"All mean regrets are within {times - 1:.1%} of the least")


def beside_exact(finals: Finals, pairs: Sequence[tuple[str, str]], seed: int) -> Figure:
    """Return R_T of one rule over that of another: a row per pair of rules, a dot per trial; finals {rule: (n,)}."""
    rows, rule = {}, read_rule(">= 0.8, <= 1.3")
    for ours, theirs in pairs:
        ratio = beside(finals, ours, theirs, seed).changed(lambda x: 1 + x)
        rows[f"{ours}\nover {theirs}"] = finals[ours] / finals[theirs], ratio
    title = "Mean $R_T$ of one rule over that of another (shaded: within our limits)"
    its = {"what": "$R_T$ over that of the rule named second", "centre": "ratio of means"}
    fig = paired(rows, 1.6 + 0.36 * len(rows), title, "log", rule=rule, **its)
    least, most = (f(np.min(own) if f is min else np.max(own) for own, _ in rows.values()) for f in (min, max))
    fig.axes[0].set_xticks([0.8, 1, 1.3, *(at for at in (0.1, 0.2, 0.5, 2, 5, 10) if least < at < most)])
    return fig


# Cost


def cost_per_step(measured: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> Figure:
    """Return milliseconds per step over t of BKB and its opponents: one panel per case {title: (seconds, sizes)}."""
    fig, axes = pieces.row(len(measured), 3.5, sharey=True)
    for ax, (case, (seconds, kept)) in zip(axes, measured.items(), strict=True):
        every = np.unique(np.geomspace(10, len(seconds), 40).astype(int))
        for name in [name for name in METHODS if name in seconds]:
            (colour, style), timed = METHODS[name], seconds[name].notna()
            at = every if timed.all() else seconds.index[timed]
            looks = {"marker": "" if timed.all() else "o", "linewidth": 2.4 if name == HERO else 1.4}
            ax.plot(at, milliseconds(seconds)[name].loc[at], style, color=colour, markersize=3, label=name, **looks)
        m, distinct = kept.iloc[-1][["features", "distinct"]].astype(int)
        ax.set_title(f"{case}\nm = {m}, {distinct} distinct arms", size=SMALLEST + 1)
        pieces.log_axes(ax, "xy")
        ax.set(xlabel="round t", ylabel="milliseconds a step\n(median of 21 steps)")
        ax.label_outer()
    fastest = {milliseconds(seconds).iloc[-1].idxmin() for seconds, _ in measured.values()}
    never = "By our clock BKB's step is never the fastest in the last rounds"
    return pieces.titled(fig, "Milliseconds a step of BKB and its opponents" if HERO in fastest else never, 5)


def operations_per_step(operations: Mapping[str, Sequence[pd.DataFrame]]) -> Figure:
    """Return the counted operations of a step over t, means of runs {title: one table of `costs.operations` a run}."""
    fig, axes = pieces.row(len(operations), 3.5, sharey=True)
    for ax, (case, runs) in zip(axes, operations.items(), strict=True):
        mean = sum(runs[1:], runs[0]) / len(runs)
        for name, (colour, style) in METHODS.items():
            its = mean[name].loc[log_spaced(len(mean))]
            ax.plot(its, style, color=colour, linewidth=2.4 if name == HERO else 1.4, label=name)
        ax.set_title(f"{case}\n{len(runs)} runs", size=SMALLEST + 1)
        pieces.log_axes(ax, "xy")
        ax.set(xlabel="round t", ylabel="operations a step\n(mean of runs)")
        ax.label_outer()
    return pieces.titled(fig, "Counted operations a step of BKB and its opponents", 5)


def scaling(measured: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], qbar: float) -> Figure:
    """Return the size of BKB's dictionary, distinct arms and qbar d_eff over t: one panel per case."""
    fig, axes = pieces.row(len(measured), 3.1, sharey=True)
    for ax, (case, (_, kept)) in zip(axes, measured.items(), strict=True):
        now = kept.loc[log_spaced(len(kept))]
        ax.plot(now["members"], color=LOOK["BKB"][0], linewidth=2.4, label="members, with repeats")
        ax.plot(now["distinct"], "--", color="black", label="distinct arms pulled")
        ax.plot(qbar * now["d_eff"], ":", color=LOOK["BKB"][0], label=r"$\bar q\, \tilde d_{eff}$")
        ax.set(xlabel="round t", xlim=(1, len(kept)), title=case)
        pieces.log_axes(ax, "xy")
    axes[0].set_ylabel("number")
    most = max(kept["members"].iloc[-1] / len(kept) for _, kept in measured.values())
    return pieces.titled(fig, f"In the end the dictionary holds at most {most:.0%} of the pulls", 3)
