"""The figures of the notebook on GP-UCB; titles that could be false are computed from what is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import KERNEL_LOOK, LOOK, WIDTH, Look, pieces
from kbrepro.figures.panels import SPREADS
from kbrepro.information import RATES, gain_rate, matern_exponent
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gp_ucb.gain import rate_since
from kbrepro.papers.gp_ucb.measures import BEHIND, behind_both, looseness
from kbrepro.problems import draw_from_prior
from kbrepro.regret import Estimate, Trace, block_mean, block_means, final_average_regret
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import pairs

HERO = "GP-UCB/5"
#: The paper's own comparison.
RULES = ("GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only")
#: What is compared with the rules since the paper.
LATER = ("GP-UCB", "GP-UCB/5", "EI", "IRGP-UCB", "PIMS", "GP-EIMS")
#: What is compared in Figure 5; bands of more rules would cover each other.
BANDED = (HERO, "EI")
#: Variants of a rule: its colour, other line styles.
_MARGIN_STYLES: dict[str, Any] = {"0": ":", "0.01": (0, (5, 1, 1, 1, 1, 1)), "0.03": "--"}
VARIANTS: dict[str, Look] = {f"MPI, margin {m}": (LOOK["MPI"][0], style) for m, style in _MARGIN_STYLES.items()}
VARIANTS |= {"GP-UCB, Theorem 2": (LOOK["GP-UCB"][0], ":")}
#: Kernel as `information.gain_rate` names it -> as KERNEL_LOOK does.
_KERNELS = dict(zip(RATES, ("linear", "squared exponential", "Matérn 2.5"), strict=True))


# One run


def strip(frames: pd.DataFrame, shown: Sequence[int]) -> Figure:
    """Return posterior and band before the pull of each of the rounds shown, and the pull; `frames`: one row per arm.

    The title says whether the last five pulls lie closer together than the first five.
    """
    fig, axes = plt.subplots(2, -(-len(shown) // 2), figsize=(WIDTH, 4.2), sharex=True, sharey=True)
    for ax, t in zip(axes.flat, shown, strict=True):
        now = frames[frames["round"] == t]
        before = frames[frames["round"] < t].drop_duplicates("round")
        low, high = now["mean"] - now["half"], now["mean"] + now["half"]
        ax.fill_between(now["x"], low, high, color="0.86", label="band")
        ax.plot(now["x"], now["f"], "--", color="0.35", linewidth=1.0, label="f, unknown")
        ax.plot(now["x"], now["mean"], color=LOOK[HERO][0], label="posterior mean")
        ax.plot(before["pulled"], before["observed"], "+", color="black", markersize=6, label="observed")
        at = now["pulled"].iloc[0]
        ax.plot(at, high[now["x"] == at], "v", color=LOOK["EI"][0], label="next pull: highest edge of the band")
        ax.set(title=f"round {t}", xlabel="arm x", ylabel="reward")
        ax.label_outer()
    pulls = frames.groupby("round")["pulled"].first()
    gathers = pulls.tail(5).std() < pulls.head(5).std()
    title = "pulls far apart while the band is wide, then close together" if gathers else "keeps pulling arms far apart"
    return pieces.titled(fig, f"Fig. 2: {HERO} {title}", 5, panel=len(shown) - 1)


# Figure 5


def regrets(told: str, panels: Mapping[str, Mapping[str, Trace]], finding: str = "", **settings: Any) -> Figure:
    """Return average regret, one panel each {title: {rule: trace}}; settings as for `figures.regret_quartiles`.

    The title says how GP-UCB/5 stands among the rules of the panels, unless it is given a `finding`.
    """
    shown = settings | {"quantity": "average", "hero": HERO, "bands": BANDED}
    middle = "mean" if settings.get("spread") == SPREADS[1] else "median"
    fig, axes = figures.regret_row(panels, 3.9, looks=VARIANTS, **shown)
    axes[0].set_ylim(top=1.1 * max(ax.dataLim.y1 for ax in axes))  # the first panel alone has set it
    title = f"{told}: {finding or standing(panels, middle)}"
    if len(panels) > 2:  # labels at the ends of curves would take half of the page
        return pieces.titled(fig, title, 6)
    return figures.labelled(fig, title)


def standing(panels: Mapping[str, Mapping[str, Trace]], middle: str) -> str:
    """Return in words which rule has the least mean (or median) regret, and how much GP-UCB/5 has; of one panel."""
    if len(panels) > 1:
        return f"average regret of each rule, {middle} of trials"
    (its,) = [pd.DataFrame(final_average_regret(traces)).agg(middle) for traces in panels.values()]
    best = its.idxmin()
    rest = "" if best == HERO else f", {HERO} {its[HERO] / its[best]:.2f} times that"
    return f"{best} has the least {middle} regret{rest}"


def blocks(regret: Mapping[str, Array], data: str, unit: str, block: int) -> Figure:
    """Return differences of R_T / T, one dot per block: rivals minus the worse of GP-UCB/5 and EI.

    Below: GP-UCB/5 minus EI, as a share of EI's mean, with the limits of claim 1-I.
    """
    worse, behind = behind_both(regret, BEHIND.values())
    apart = (regret[HERO] - regret["EI"]) / regret["EI"].mean()
    fig, (above, below) = plt.subplots(2, 1, figsize=(WIDTH, 5.0), height_ratios=[len(behind), 1])
    rows = {"MPI, margin 0.1" if name == "MPI" else name: _blocks(its, block) for name, its in behind.items()}
    what = f"$R_T/T$ minus that of {worse}, blocks of {block} rows ({unit})"
    pairs(above, rows, rule=read_rule("> 0"), what=what, dot="block")
    what = "GP-UCB/5 minus EI, share of EI's mean"
    pairs(below, {"GP-UCB/5 and EI": _blocks(apart, block)}, rule=read_rule(">= -0.2, <= 0.2"), what=what, dot="block")
    fig.suptitle(f"{data}: average regret beside the worse of GP-UCB/5 and EI")
    return fig


def _blocks(values: Array, block: int) -> tuple[Array, Estimate]:
    """Return the means of whole blocks, and their mean with its interval."""
    return (means := block_means(values, block)), block_mean(means)


# Theorems


def bounds_on_regret(held: Mapping[str, tuple[Trace, Array]]) -> Figure:
    """Return median and quartiles of R_T beside the bound of each theorem."""
    fig, axes = figures.regret_row({theorem: {"GP-UCB": trace} for theorem, (trace, _) in held.items()}, 3.2)
    for ax, (_, bound) in zip(axes, held.values(), strict=True):
        ax.plot(np.arange(1, len(bound) + 1), bound, color="black", linewidth=1.4, label="bound of the theorem")
    axes[0].set_ylim(0.5, 2 * max(bound[-1] for _, bound in held.values()))
    pieces.plain_log(axes[0].yaxis)
    least = min(times for times, _ in looseness(held).values())
    return pieces.titled(
        fig, f"Every bound is at least {np.floor(least):,.0f} times the median regret in the last round", 2
    )


def growth(table: pd.DataFrame) -> Figure:
    """Return exponents of T in the regret with intervals, beside those that Theorem 5 and the rates since allow.

    `table`: one row per (kernel, d), columns exponent, low, high, allowed, since.
    """
    fig, (ax,) = pieces.row(1, 3.4)
    value, places = table["exponent"], np.arange(len(table))
    around = value - table["low"], table["high"] - value
    ax.errorbar(value, places, xerr=around, fmt="o", color=LOOK["GP-UCB"][0], label="regret of GP-UCB")
    ax.plot(table["allowed"], places, "k|", markersize=12, label="allowed by Theorem 5")
    ax.plot(table["since"], places, "kx", label="allowed by the rates since")
    ax.axvline(1, color="black", linewidth=0.8, linestyle=":")
    pieces.name_rows(ax, [f"{_KERNELS[name]}, d = {d}" for name, d in table.index])
    ax.set(xlabel="exponent of T over the last decade (dotted: linear regret)", xlim=(-0.02, None))
    below = (table["high"] < table["allowed"]).all()
    return pieces.titled(fig, "The regret grows more slowly than allowed" if below else "Growth of the regret", 3)


# Information gain


def information(spectra: Mapping[str, Array], bounds: Mapping[str, Array], greedy: Mapping[str, Array]) -> Figure:
    """Return Fig. 3: spectra, the bound of eq. 8 and the gain of greedy pulls, by kernel."""
    fig, axes = pieces.row(3, 3.0)
    for name, (colour, style) in KERNEL_LOOK.items():
        for ax, its in zip(axes, (spectra[name], bounds[name], greedy[name]), strict=True):
            ax.plot(np.arange(1, len(its) + 1), its, style, color=colour, label=name)
    most, top = max(its[0] for its in spectra.values()), max(its[-1] for its in bounds.values())
    axes[0].set(title="spectrum", xlabel="rank s", ylabel=r"eigenvalue $\hat\lambda_s$", xlim=(0, 40))
    axes[0].set(yscale="log", ylim=(1e-4, 2 * most))
    for ax, title in zip(axes[1:], ("bound of eq. 8", "greedy pulls"), strict=True):
        ax.set(title=title, xlabel="pulls T", ylabel="gain (nats)", ylim=(1, 1.2 * top))
        pieces.log_axes(ax, "xy")
    ends = [[its[name][-1] for name in KERNEL_LOOK] for its in (bounds, greedy)]
    falls = all(its == sorted(its, reverse=True) for its in ends)
    said = "the faster the spectrum falls, the less to learn" if falls else "the gain does not follow the spectrum"
    return pieces.titled(fig, f"Fig. 3, {len(spectra['linear'])} arms: {said}", 4)


def loosened_bounds(chain: Mapping[str, Mapping[str, Array]], pulls: Array) -> Figure:
    """Return the greedy gain and the bounds of eq. 8, Lemma 7.8 and Theorem 8 over pulls (m,), one panel per kernel."""
    fig, axes = pieces.row(len(chain), 3.2, sharey=True)
    for ax, (name, its) in zip(axes, chain.items(), strict=True):
        for (label, values), style in zip(its.items(), ("-", "--", "-.", ":"), strict=True):
            ax.loglog(pulls[: len(values)], values, style, label=label)
        ax.set(title=f"{name}, lengthscale 0.2", xlabel="pulls T", xlim=(pulls[0], pulls[-1]))
        pieces.log_axes(ax, "xy")
    axes[0].set_ylabel("gain (nats)")
    least = min(its["Theorem 8, O-term omitted"][-1] / its["eq. 8"][-1] for its in chain.values())
    return pieces.titled(
        fig, f"From eq. 8 to Theorem 8 the bound on the gain grows at least {np.floor(least):.0f} times", 4
    )


def rates(T: Array, d: int, dimensions: Array) -> Figure:
    """Return Fig. 1 as curves: sqrt(gamma_T / T) in d dimensions by Theorem 5 and since, and exponents of T over d."""
    fig, (left, right) = pieces.row(2, 3.4)
    curves = {name: (gain_rate(kernel, T, d), *KERNEL_LOOK[name]) for kernel, name in _KERNELS.items()}
    green, blue = (KERNEL_LOOK[name][0] for name in ("Matérn 2.5", "squared exponential"))
    curves["Matérn 2.5, since"] = rate_since("matern", T, d), green, "-."
    for name, (gains, colour, style) in curves.items():
        average = np.sqrt(gains / T)
        left.loglog(T, average / average[0], style, color=colour, label=name)
    left.set(xlabel="rounds T", ylabel="$R_T/T$ as allowed,\nrelative to T = 10", title=f"d = {d}")
    for nu, weight in ((2.5, 1.4), (10.0, 2.6)):
        paper = [(1 + matern_exponent(each, nu)) / 2 for each in dimensions]
        known = (nu + dimensions) / (2 * nu + dimensions)
        right.plot(dimensions, paper, "--", color=green, linewidth=weight, label=f"Theorem 5, ν = {nu:g}")
        right.plot(dimensions, known, "-.", color=green, linewidth=weight, label=f"since, ν = {nu:g}")
    right.plot(dimensions, np.full(len(dimensions), 0.5), color=blue, label="SE, linear")
    right.set(xlabel="dimension d", ylabel="exponent of T in the regret", ylim=(0.45, 1))
    right.set(title="Matérn", xticks=dimensions[::3])
    return figures.labelled(fig, "Fig. 1: for rough functions in many dimensions the bounds promise little")


# What functions and data look like


def prior_draws(kernels: Mapping[str, Kernel], points: Array, rng: np.random.Generator) -> Figure:
    """Return Fig. 4, four draws per kernel at points (n, 1)."""
    fig, axes = pieces.row(len(kernels), 2.4, sharex=True)
    for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
        draws = [draw_from_prior(kernel, points, rng) for _ in range(4)]
        ax.plot(points[:, 0], np.transpose(draws), linewidth=1.3)
        ax.set(title=name, xlabel="arm x")
    axes[0].set_ylabel("f(x)")
    return pieces.titled(fig, "Fig. 4: the kernel decides how smooth a draw from the prior is")


def field(places: Array, readings: Array, time: pd.Timestamp, data: str, unit: str) -> Figure:
    """Return Fig. 2a: one minute of all sensors at their places (m)."""
    fig, ax = plt.subplots(figsize=(4.8, 3.2))
    dots = ax.scatter(places[:, 0], places[:, 1], c=readings, cmap="cividis", s=50, edgecolor="0.4", linewidth=0.5)
    fig.colorbar(dots, ax=ax, label=f"temperature ({unit}) at {time:%H:%M}")
    ax.set(xlabel="x (m)", ylabel="y (m)", title=f"Fig. 2a, {data}\n{time:%d %B %Y}")
    return fig
