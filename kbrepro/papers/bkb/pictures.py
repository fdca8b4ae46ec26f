"""The figures of the notebook on BKB."""

from collections.abc import Mapping
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import WIDTH, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.papers import Curves, looks
from kbrepro.papers.bkb.measures import BAND, Watched

#: Rules proposed since the paper.
SINCE = ("exact, tighter width", "mini-GP-UCB")


def strip(watched: Watched, shown: Mapping[str, str]) -> Figure:
    """Return Fig. 1: one row per t, one column per posterior {name: setting}.

    The exact one's band is drawn below each. Ticks below: members of the dictionary, if any.
    """
    x = watched.problem.model.points[:, 0]
    f = watched.problem.expected_reward
    times = sorted({t for *_, t in watched.seen})
    fig, axes = plt.subplots(
        len(times),
        len(shown),
        figsize=(WIDTH, 2.1 * len(times) + 0.9),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    band = np.array([[-BAND], [BAND]])
    for ax, (t, (name, setting)) in zip(axes.flat, product(times, shown.items()), strict=True):
        view = watched.seen[name, setting, t]
        exact = watched.seen["exact", "", t]
        colour = looks()[name][0]
        ax.axvspan(0, 0.5, color="0.95", linewidth=0, zorder=0)
        low, high = view.mean + band * view.sd
        ax.fill_between(
            x, low, high, color=colour, alpha=0.3, linewidth=0, label="approximation ± 3 sd"
        )
        truth = (exact.mean + band * exact.sd).T
        ax.plot(x, truth, color="black", linewidth=0.8, label=["exact ± 3 sd", None])
        ax.plot(x, f, "--", color="black", linewidth=1.0, label="f, unknown")
        ax.plot(
            x[watched.pulls[:t]],
            watched.observations[:t],
            "o",
            color="black",
            markersize=2.2,
            markeredgewidth=0,
            alpha=0.6,
            label="observed",
        )
        members = np.unique(x[view.members])
        ax.plot(
            members,
            np.full(len(members), -4.3),
            "|",
            color=colour,
            markersize=7,
            label="in the dictionary",
        )
        ax.set(xlim=(0, 1), xticks=(0, 0.5, 1), xlabel="x")
        ax.set(ylim=(-4.7, 4.5), ylabel=f"reward, t = {t}")
        covered = view.holds(f)[x > 0.5].mean()
        title = f"{name}, m = {view.n_features}\n{covered:.0%} of unseen f inside"
        ax.set_title(title, size=SMALLEST + 1)
        ax.label_outer()
    title = "Fig. 1 of Calandriello et al., replicated on a simulated function"
    return pieces.titled(fig, title, 3)


def regret(traces: Curves) -> Figure:
    """Return cumulative regret by rule and radius, of the rules that the paper could know."""
    of_paper = {rule: trace for rule, trace in traces.items() if rule not in SINCE}
    looks = {f"{rule}, 3 sd": (figures.LOOK[rule][0], "--") for rule in ("exact", "BKB")}
    fig, _ = figures.regret_row({"": of_paper}, 3.8, looks=looks, hero="BKB")
    return figures.labelled(fig, "Regret by radius, with and without the sketch")


def accuracy(close: pd.DataFrame, members: pd.DataFrame) -> Figure:
    """Return how accuracy and size of the dictionary depend on qbar, the index of both tables.

    A curve for each column, a way to draw the dictionary: `close`, the share of runs in which every
    variance of Fig. 1 is within the factor alpha of the exact one; `members` after the last pull.
    """
    fig, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.0))
    panels = {
        "share of runs within the factor 3": (close, (0, 1.05)),
        "members of the dictionary": (members, (0, None)),
    }
    for ax, (label, (numbers, limits)) in zip(axes, panels.items(), strict=True):
        for dictionary, style in zip(numbers, ("-", "--"), strict=True):
            colour = looks()["BKB"][0]
            ax.plot(numbers.index, numbers[dictionary], style + "o", color=colour, label=dictionary)
        ax.set(xlabel=r"$\bar q$, to which inclusion is proportional", ylabel=label, ylim=limits)
        ax.set_xticks(np.unique(np.rint(numbers.index)))
    return pieces.titled(fig, "How accurate is BKB in Fig. 1, and how large is its dictionary?", 2)
