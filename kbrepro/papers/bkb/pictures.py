"""The figures of the notebook on BKB."""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import LOOK, WIDTH, pieces
from kbrepro.figures.comparisons import paired
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.bkb.starvation import BAND, Watched, inside_band
from kbrepro.regret import Curve, block_mean, bootstrap, intervals, log_spaced, ratio

HERO = "BKB"
#: Curves of regret that have no look of their own: colour and style.
LOOKS = {f"{name}, 3 sd": (LOOK[name][0], "--") for name in ("exact", "BKB")}
LOOKS |= {f"RFF, {m} features": (LOOK["RFF"][0], style) for m, style in ((2, "-"), (4, "--"), (10, "-."), (20, ":"))}
#: The opponents of a step of BKB, dark where the posterior is updated, light where it is computed anew.
METHODS = {
    "BKB": (LOOK["BKB"][0], "-"),
    "exact, rows": ("black", "-"),
    "exact, covariance": ("black", ":"),
    "exact, counts": ("#b08000", "--"),
    "exact, refit": ("#b08000", "-"),
}


# Figure 1


def strip(watched: Watched, shown: Mapping[str, str]) -> Figure:
    """Return Fig. 1: one row per t, one column per posterior {name: setting}, the exact one's band drawn below each.

    Ticks below: members of the dictionary, where there is one.
    """
    x, f = watched.problem.model.points[:, 0], watched.problem.expected_reward
    times = sorted({t for *_, t in watched.seen})
    fig, axes = plt.subplots(
        len(times), len(shown), figsize=(WIDTH, 2.1 * len(times) + 0.9), sharex=True, sharey=True, squeeze=False
    )
    for (row, t), (column, (name, setting)) in product(enumerate(times), enumerate(shown.items())):
        ax, view, exact = axes[row, column], watched.seen[name, setting, t], watched.seen["exact", "", t]
        colour, band = LOOK[name][0], np.array([[-BAND], [BAND]])
        ax.axvspan(0, 0.5, color="0.95", linewidth=0, zorder=0)
        low, high = view.mean + band * view.sd
        ax.fill_between(x, low, high, color=colour, alpha=0.3, linewidth=0, label="approximation ± 3 sd")
        truth = (exact.mean + band * exact.sd).T
        ax.plot(x, truth, color="black", linewidth=0.8, label=["exact ± 3 sd", None])
        ax.plot(x, f, "--", color="black", linewidth=1.0, label="f, unknown")
        pulled = x[watched.pulls[:t]], watched.observations[:t]
        ax.plot(*pulled, "o", color="black", markersize=2.2, markeredgewidth=0, alpha=0.6, label="observed")
        members = np.unique(x[view.members])
        ax.plot(members, np.full(len(members), -4.3), "|", color=colour, markersize=7, label="in the dictionary")
        ax.set(ylim=(-4.7, 4.5), xlim=(0, 1), xticks=(0, 0.5, 1), xlabel="x", ylabel=f"reward, t = {t}")
        covered = inside_band(view, f)[x > 0.5].mean()
        ax.set_title(f"{name}, m = {view.n_features}\n{covered:.0%} of unseen f inside", size=SMALLEST + 1)
        ax.label_outer()
    return pieces.titled(fig, "Fig. 1 of Calandriello et al., replicated on a simulated function", 3)


def starvation(table: pd.DataFrame, compared: Mapping[str, tuple[str, str]]) -> Figure:
    """Return the worst ratios of variances of posteriors {label: (name, setting)}: a panel per t, a mark per seed."""
    named = table.set_index(["name", "setting"]).sort_index()
    rows = pd.concat({label: named.loc[key] for label, key in compared.items()}, names=["row"]).reset_index()
    rows["starved"] = np.log10(rows["starved"]).clip(upper=8)
    rows["inflated"] = -np.log10(rows["inflated"]).clip(upper=2.5)
    times = sorted(rows["t"].unique())
    fig, axes = pieces.row(len(times), 1.5 + 0.28 * len(compared), sharey=True)
    colours = {label: LOOK[name][0] for label, (name, _) in compared.items()}
    for (ax, t), (side, mark) in product(zip(axes, times, strict=True), (("starved", ">"), ("inflated", "<"))):
        now = rows[rows["t"] == t]
        sns.stripplot(now, x=side, y="row", hue="row", palette=colours, marker=mark, alpha=0.6, jitter=False, ax=ax)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(title=f"t = {t}", xlabel="", ylabel="", xticks=(-2, 0, 2, 4, 6, 8))
    marks = "▶ largest over the arms (starved, cut at 8)   ◀ smallest (inflated, cut at −2.5)"
    fig.supxlabel(f"log10 of exact over approximate variance, a mark a seed\n{marks}", size="medium")
    return pieces.titled(fig, "Fig. 1 over many seeds: how far variances are from the exact ones")


# Theorem 1


def transition(runs: pd.DataFrame) -> Figure:
    """Return bad steps and sizes of the dictionary over qbar, one column per design.

    A row per `dictionary`, `design`, `qbar` and run: `bad`, a share of steps; `size`, members over qbar d_eff; `d_eff`.
    """
    designs = runs["design"].unique()
    colours, styles = ([LOOK[name][part] for name in runs["dictionary"].unique()] for part in (0, 1))
    looks = {"palette": colours, "linestyles": styles, "linewidth": 1.4, "capsize": 0.15, "dodge": 0.15}
    fig, axes = plt.subplots(2, len(designs), figsize=(WIDTH, 4.8), sharex=True, sharey="row", squeeze=False)
    for (upper, lower), design in zip(axes.T, designs, strict=True):
        rows = runs[runs["design"] == design]
        for ax, what in ((upper, "bad"), (lower, "size")):
            sns.pointplot(rows, x="qbar", y=what, hue="dictionary", errorbar=_95, native_scale=True, ax=ax, **looks)
            ax.legend_.remove()
        upper.set(title=f"{design}, $d_{{eff}}$ = {rows['d_eff'].mean():.0f}", ylim=(-0.04, 1.04))
        lower.set(xlabel=r"$\bar q$", ylim=(0, 4), ylabel="members / $(\\bar q\\, d_{eff})$")
        upper.set_ylabel("share of bad steps\n(mean, 95 %)")
    return pieces.titled(fig, r"How small may $\bar q$ be? BKB's variance and its dictionary", 2)


def _95(samples: pd.Series) -> tuple[float, float]:
    return block_mean(samples.to_numpy())[1:]


# Regret


def regret(traces: Mapping[str, Curve], title: str, spread: str = "mean and 95 % interval") -> Figure:
    """Return cumulative regret of rules, with a `spread` of `figures.regret_quartiles`."""
    fig, _ = figures.regret_row({"": traces}, 3.8, looks=LOOKS, spread=spread, hero=HERO)
    return figures.labelled(fig, title)


def beside_exact(totals: Mapping[str, Array], rules: Sequence[str], *, seed: int) -> Figure:
    """Return R_T of each of `rules` over that of exact GP-UCB: a dot per trial; totals {rule: (n,)}."""
    exact = totals["exact"]
    ratios = {
        rule: (totals[rule] / exact, bootstrap(ratio, totals[rule], exact, rng=intervals(seed))) for rule in rules
    }
    title = "Since the paper: regret beside exact GP-UCB"
    return paired(ratios, title, "$R_T$ over that of exact GP-UCB", axis="linear")


# Cost


def operations_per_step(operations: Mapping[str, Sequence[pd.DataFrame]]) -> Figure:
    """Return the counted operations of a step over t, means of runs {title: one table of `costs.operations` a run}."""
    fig, axes = pieces.row(len(operations), 3.5, sharey=True)
    for ax, (case, runs) in zip(axes, operations.items(), strict=True):
        mean = sum(runs[1:], runs[0]) / len(runs)
        for name, (colour, style) in METHODS.items():
            curve = mean[name].loc[log_spaced(len(mean))]
            ax.plot(curve, style, color=colour, linewidth=2.4 if name == HERO else 1.4, label=name)
        ax.set_title(f"{case}\n{len(runs)} runs", size=SMALLEST + 1)
        pieces.log_axes(ax, "xy")
        ax.set(xlabel="round t", ylabel="operations a step\n(mean of runs)")
        ax.label_outer()
    return pieces.titled(fig, "What a step costs: counted operations", 5)
