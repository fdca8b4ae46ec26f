"""The figures of the notebook side by side; titles that could be false are computed from what is drawn.

Colours are kinds of proof; names are next to the marks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from kbrepro.figures import LOOK, WIDTH, label_ends, pieces
from kbrepro.figures.style import SMALLEST
from kbrepro.kernels import Array
from kbrepro.papers.side_by_side import measures
from kbrepro.papers.side_by_side.bench import Setting
from kbrepro.papers.side_by_side.field import PROOFS, TUNED, Entry
from kbrepro.papers.side_by_side.measures import Curves, Panels, Wrong
from kbrepro.regret import Estimate, share

HERO = "proof: near-optimal"
#: Rules whose growth is drawn; the others are in the table.
SHOWN = ("SupKernelUCB", "BPE, tighter", "BPE, doubling", "IGP-UCB", "π-GP-UCB, tighter", measures.BEST_PROVED, "GP-TS")
#: Line styles of rules of one kind, in turn.
STYLES = ("-", "--", "-.", ":", (0, (1, 1)), (0, (5, 1)), (0, (3, 1, 1, 1)))


def colour(proof: str) -> str:
    """Return the colour of a kind of proof."""
    return LOOK[f"proof: {proof}"][0]


def lines(ax: Axes, x: ArrayLike, curves: Mapping[str, Array], entries: Mapping[str, Entry]) -> None:
    """Draw the curve (m,) of each policy over x in the colour of its proof, in the next style of its kind."""
    used = {proof: iter(STYLES) for proof in PROOFS}
    for name, its in curves.items():
        proof = entries[name].proof
        ax.plot(x, its, color=colour(proof), linestyle=next(used[proof]), label=name, linewidth=1.3)


def race(left: Mapping[str, Sequence[int]]) -> Figure:
    """Return how many arms each rule {rule: counts (T,)} has not yet excluded, over rounds."""
    figure, (ax,) = pieces.row(1, 2.8)
    for (name, its), style in zip(left.items(), STYLES, strict=False):
        ax.plot(np.arange(1, len(its) + 1), its, linestyle=style, color=LOOK[HERO][0], label=name)
    ax.set(xscale="log", xlabel="round t", ylabel="arms not excluded", ylim=(0, None))
    pieces.plain_log(ax.xaxis)
    label_ends(ax)
    most, least = max(its[-1] for its in left.values()), min(its[-1] for its in left.values())
    return pieces.titled(figure, f"After the last round {least} to {most} arms are left")


def growth(curves: Curves, rounds: Sequence[int], entries: Mapping[str, Entry]) -> Figure:
    """Return mean R_T over T {(nu, d): {policy: (n, horizons)}}, one panel per case, log-log."""
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.0), sharex=True, sharey=True)
    for ax, ((nu, d), panel) in zip(axes.flat, curves.items(), strict=True):
        lines(ax, rounds, {name: panel[name].mean(axis=0) for name in SHOWN}, entries)
        for line, name in zip(list(ax.lines), SHOWN, strict=True):
            _, low, high = pieces.mean_interval(panel[name])
            ax.fill_between(rounds, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set(title=f"ν = {nu}, d = {d}", xlabel="horizon T", ylabel="mean regret $R_T$\n(95 % interval)")
        pieces.log_axes(ax, "xy")
        ax.label_outer()
    pieces.legend_below(figure, 4, axes.flat)
    ahead = all(
        panel[measures.BEST_PROVED][:, -1].mean() < panel[measures.best_near(panel, entries)][:, -1].mean()
        for panel in curves.values()
    )
    title = "At the largest T the best near-optimal rule has more regret\nthan IGP-UCB with both changes"
    return pieces.titled(figure, title if ahead else "Growth of the regret with the horizon")


def exponents(of: Mapping[tuple[float, int, str], Estimate], entries: Mapping[str, Entry]) -> Figure:
    """Return measured exponents with intervals (marks) and proved ones (bars): a panel per case, a row per policy."""
    cases = list(dict.fromkeys(case[:2] for case in of))
    names = list(dict.fromkeys(case[2] for case in of))
    figure, axes = pieces.row(len(cases), 0.24 * len(names) + 1.3, sharey=True)
    for ax, (nu, d) in zip(axes, cases, strict=True):
        proved = measures.proved_exponents(d, nu)
        for row, name in enumerate(names):
            its, shade = of[nu, d, name], colour(entries[name].proof)
            ax.plot([its.low, its.high], [row, row], color=shade)
            ax.plot(its.value, row, "o", color=shade, markersize=4)
            ax.plot(proved[name], row, "|", color="black", markersize=10)
        ax.set(title=f"ν = {nu}, d = {d}", xlabel="exponent of T", xlim=(0, 1.15))
    pieces.name_rows(axes[0], names)
    return pieces.titled(figure, "Exponents measured at these horizons (dots) and proved (bars)")


def order(panels: Panels) -> list[str]:
    """Return the policies, least median factor over the best first."""
    names = measures.policies_of(panels)
    return [names[i] for i in np.argsort(np.nanmedian(measures.ratios(panels, names), axis=0))]


def heat(panels: Panels, bench: Mapping[str, Setting], entries: Mapping[str, Entry]) -> Figure:
    """Return regret as a share of uniform play's: a row per policy, a column per problem, a dot if its proof holds."""
    names = [name for name in order(panels) if name != measures.UNIFORM]
    table = pd.DataFrame(measures.shares(panels)).loc[names]
    figure, (ax,) = pieces.row(1, 0.2 * len(names) + 2.3)
    sns.heatmap(
        table, ax=ax, norm=LogNorm(0.005, 1), cmap="cividis", linewidths=0.4, xticklabels=True, yticklabels=True,
        cbar_kws={"label": "regret as a share of uniform play's"},
    )  # fmt: skip
    for row, name in enumerate(names):
        ax.get_yticklabels()[row].set_color(colour(entries[name].proof))
        met = [c for c, p in enumerate(table) if name in panels[p] and bench[p].met(entries[name])]
        ax.plot(np.array(met) + 0.5, np.full(len(met), row + 0.5), "o", color="white", markersize=3.5,
                markeredgecolor="black", markeredgewidth=0.6)  # fmt: skip
    ax.set(xlabel="", ylabel="")
    ax.tick_params(axis="x", labelsize=SMALLEST, rotation=50)
    plt.setp(ax.get_xticklabels(), ha="right", rotation_mode="anchor")
    ax.tick_params(axis="y", labelsize=SMALLEST)
    ax.grid(visible=False)
    marks = [Line2D([], [], marker="s", linestyle="", color=colour(proof), label=f"name: {proof}") for proof in PROOFS]
    edge: dict[str, Any] = {"linestyle": "", "color": "white", "markeredgecolor": "black", "markeredgewidth": 0.6}
    marks += [Line2D([], [], marker="o", markersize=4, label="its proof holds there", **edge)]
    marks += [Line2D([], [], marker="s", label="white: not played", **edge)]
    figure.legend(handles=marks, loc="outside lower center", ncols=3, fontsize=SMALLEST, handlelength=1.2)
    return pieces.titled(figure, f"{names[0]} comes closest to the best rule in the median problem")


def profiles(panels: Panels, entries: Mapping[str, Entry], many: int = 3) -> Figure:
    """Return performance profiles of the `many` best rules of each kind as printed, and of the best tuned one."""
    ranked = order(panels)
    chosen = [n for proof in PROOFS
              for n in [n for n in ranked if entries[n].proof == proof and TUNED not in n][:many]]  # fmt: skip
    chosen += [n for n in ranked if n.endswith(TUNED)][:1]
    factors = np.geomspace(1, 100, 120)
    figure, (ax,) = pieces.row(1, 3.6)
    curves = measures.profile(panels, chosen, factors)
    lines(ax, factors, dict(zip(chosen, curves, strict=True)), entries)
    ax.set(xscale="log", xlabel="factor over the regret of the best rule", ylabel="share of problems", ylim=(0, 1.02))
    pieces.plain_log(ax.xaxis)
    pieces.legend_below(figure, 4, [ax])
    return pieces.titled(figure, f"On how many of {len(panels)} problems a rule comes within a factor of the best")


def ranking(table: pd.DataFrame, seconds: Mapping[str, Mapping[str, float]], entries: Mapping[str, Entry]) -> Figure:
    """Return the rules as printed, best first: factor over the best with quartiles, and microseconds per round.

    `table` as `measures.ranking` returns it; of rules defined on fewer than half of the problems the mark is hollow.
    """
    names = [name for name in table.index if TUNED not in name]
    names = sorted(names, key=lambda name: table.loc[name, "factor"])
    micro = measures.microseconds(seconds).median(axis=1, skipna=True)
    figure, (left, right) = pieces.row(2, 0.2 * len(names) + 1.4, sharey=True, width_ratios=(2, 1))
    few = table["problems"] < table["problems"].max() / 2
    for row, name in enumerate(names):
        its, shade = table.loc[name], colour(entries[name].proof)
        left.plot([its["q25"], its["q75"]], [row, row], color=shade, linewidth=1.2)
        left.plot(its["factor"], row, "o", color=shade, markersize=5, markerfacecolor="white" if few[name] else shade)
        right.plot(micro[name], row, "o", color=shade, markersize=5)
    left.set(xlabel=f"regret over that of the best rule\n(median and quartiles of {table['problems'].max()} problems)")
    right.set(xlabel="microseconds a round\n(median over problems)")
    for ax in (left, right):
        pieces.log_axes(ax, "x")
        ax.grid(visible=True, axis="y")
    pieces.name_rows(left, names)
    marks = [left.plot([], [], "o", color=colour(proof), label=proof)[0] for proof in PROOFS]
    left.legend(handles=marks, fontsize=SMALLEST, loc="upper right")
    last = next(name for name in names if entries[name].proof == PROOFS[0])
    best, near = (f"{table['factor'][name]:.1f} times" for name in (names[0], last))
    told = f"In the median problem {names[0]} has {best} the best rule's regret,\n"
    return pieces.titled(figure, f"{told}{last}, the best rule with a near-optimal rate, {near}")


def price(
    covered: Mapping[tuple[str, str], NDArray[np.bool_]],
    lost: Mapping[tuple[str, str], Array],
    entries: Mapping[str, Entry],
) -> Figure:
    """Return coverage of bands and regret {(problem, policy): (n,)}, one row per policy, one mark per problem."""
    problems = list(dict.fromkeys(problem for problem, _ in covered))
    names = list(dict.fromkeys(name for _, name in covered))
    least = {problem: min(its.mean() for (p, _), its in lost.items() if p == problem) for problem in problems}
    figure, axes = pieces.row(2, 0.34 * len(names) + 1.7, sharey=True)
    marks = dict(zip(problems, "os^", strict=False))
    for (problem, name), its in covered.items():
        beside = problems.index(problem) - (len(problems) - 1) / 2  # equal ones would cover each other
        at, shade = names.index(name) + 0.22 * beside, colour(entries[name].proof)
        how = {"marker": marks[problem], "color": shade, "linestyle": "", "markersize": 6, "alpha": 0.8}
        for ax, (value, low, high) in zip(
            axes, (share(its), (x / least[problem] for x in pieces.mean_interval(lost[problem, name]))), strict=True
        ):
            ax.plot([low, high], [at, at], color=shade, linewidth=1.0)
            ax.plot(value, at, **how)
    for problem, mark in marks.items():
        axes[0].plot([], [], mark, color="0.4", linestyle="", label=problem)
    axes[0].set(xlabel="share of runs in which the band held\n(95 % interval)", xlim=(-0.05, 1.05))
    axes[1].set(xlabel="mean regret over the least of these rules\n(95 % interval)")
    pieces.log_axes(axes[1], "x")
    pieces.name_rows(axes[0], names)
    proved = min(its.mean() for (_, name), its in covered.items() if entries[name].proof == "sublinear")
    unproved = max(its.mean() for (_, name), its in covered.items() if entries[name].proof == "no proof")
    runs = "every run" if proved == 1 else f"at least {proved:.0%} of runs"
    title = f"Bands proved for a known norm held in {runs}, the one without a proof in at most {unproved:.0%}"
    return pieces.titled(figure, title, len(marks))


def wrong(its: Wrong, rules: Sequence[str], seed: int) -> Figure:
    """Return by which factor wrong assumptions multiply regret, with intervals, a row per rule, a column per case."""
    table = measures.wrong_table(its, rules)
    reach = [[measures.factor(its, case, [rule], seed) for case in table] for rule in rules]
    words = [[f"{each.value:.2g}\n({each.low:.2g} to {each.high:.2g})" for each in row] for row in reach]
    figure, (ax,) = pieces.row(1, 0.45 * len(rules) + 1.5)
    sns.heatmap(
        table, ax=ax, annot=np.array(words), fmt="", norm=LogNorm(0.2, 5), cmap="PuOr_r", linewidths=0.4,
        cbar_kws={"label": "factor on regret (95 % interval)", "format": "%g", "ticks": (0.2, 0.5, 1, 2, 5)},
        annot_kws={"size": SMALLEST},
    )  # fmt: skip
    ax.collections[0].colorbar.minorticks_off()
    ax.set_xticklabels([name.replace(" ", "\n", 1) for name in table])
    ax.set(xlabel="", ylabel="")
    ax.tick_params(axis="x", labelsize=SMALLEST, rotation=0)
    ax.tick_params(axis="y", labelsize=SMALLEST)
    ax.grid(visible=False)
    return pieces.titled(figure, "By which factor a wrong assumption multiplies the regret")
