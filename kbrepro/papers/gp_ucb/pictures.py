"""The figures of the notebook on GP-UCB; titles that could be false are computed from what is drawn."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.figures import KERNEL_LOOK, LOOK, WIDTH, Look, pieces
from kbrepro.information import RATES, gain_rate, matern_exponent
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gp_ucb.gain import rate_since
from kbrepro.papers.gp_ucb.measures import MARGINS
from kbrepro.problems import draw_from_prior
from kbrepro.regret import Estimate, Trace, block_mean, block_means
from kbrepro.verdicts.claims import read_rule
from kbrepro.verdicts.pictures import pairs

#: Kernel and dimension.
Case = tuple[str, int]

HERO = "GP-UCB/5"
#: Part of claims 1-F and 1-H -> the rule that it is about: MPI by margin.
#: The paper's own comparison.
RULES = ("GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only")
#: Rules whose worst trials are looked at.
TAILS = ("GP-UCB", "GP-UCB/5", "EI", "IRGP-UCB", "PIMS", "GP-EIMS")
MEAN = "mean and 95 % interval"
_MARGIN_STYLES: dict[str, Any] = {"0": ":", "0.01": (0, (5, 1, 1, 1, 1, 1)), "0.03": "--"}
#: Variants of a rule: its colour, other line styles.
VARIANTS: dict[str, Look] = {f"MPI, margin {m}": (LOOK["MPI"][0], style) for m, style in _MARGIN_STYLES.items()}
VARIANTS |= {"GP-UCB, Theorem 2": (LOOK["GP-UCB"][0], ":")}
_KERNELS = dict(zip(RATES, ("linear", "squared exponential", "Matérn 2.5"), strict=True))


def _best(traces: Mapping[str, Trace], names: Sequence[str], statistic: Callable[[Array], float]) -> str:
    """The rule of smallest mean, or median, R_T / T."""
    return min(names, key=lambda name: statistic(traces[name].average_regret[:, -1]))


# One run


def strip(frames: pd.DataFrame, shown: Sequence[int]) -> Figure:
    """Return posterior and band before the pull of each of the rounds shown, and the pull; `frames` a row an arm."""
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
    pieces.legend_below(fig, 5, [axes.flat[-1]])
    return fig


# Figure 5


def synthetic(traces: Mapping[str, Trace]) -> Figure:
    """Return Fig. 5a: average regret of the paper's rules, and of GP-UCB with the width of Theorem 2."""
    shown = {name: traces[name] for name in (*RULES, "GP-UCB, Theorem 2")}
    fig, _ = figures.regret_row({"": shown}, 3.8, looks=VARIANTS, quantity="average", hero=HERO)
    best = [_best(traces, RULES, statistic) for statistic in (np.median, np.mean)]
    return figures.labelled(fig, "Fig. 5a: smallest median regret {}, smallest mean {}".format(*best))


def margins_and_incumbents(traces: Mapping[str, Trace]) -> Figure:
    """Return average regret of MPI by margin, and of EI and MPI by incumbent, beside GP-UCB/5."""
    shown = {"margin of MPI (0.1 where none is named)": (*MARGINS.values(),)}
    shown["incumbent"] = ("EI", "EI, noisy incumbent", "MPI", "MPI, noisy incumbent")
    panels = {title: {name: traces[name] for name in (HERO, *names)} for title, names in shown.items()}
    fig, _ = figures.regret_row(panels, 3.6, looks=VARIANTS, quantity="average", hero=HERO)
    noisy, mean = (np.median(traces[name].average_regret[:, -1]) for name in ("EI, noisy incumbent", "EI"))
    return figures.labelled(fig, f"With a noisy incumbent EI's median regret is {noisy / mean:.0f} times as large")


def days(fields: Mapping[str, Mapping[str, Trace]], data: str, unit: str, block: int) -> Figure:
    """Return Fig. 5b: average regret of the paper's rules on each third of the days, intervals by blocks."""
    shown = {f"{third} tested": {name: its[name] for name in RULES} for third, its in fields.items()}
    fig, _ = figures.regret_row(shown, 3.4, quantity="average", spread=MEAN, unit=unit, block=block, hero=HERO)
    best = ", ".join(_best(its, RULES, np.mean) for its in fields.values())
    return pieces.titled(fig, f"Fig. 5b, {data}: smallest mean {best}", 6)


def blocks(behind: Mapping[str, Array], apart: Array, worse: str, data: str, unit: str, block: int) -> Figure:
    """Return differences of R_T / T, one dot a block of four hours: rivals minus the `worse` of GP-UCB/5 and EI.

    Below, `apart`: GP-UCB/5 minus EI as a share of EI's mean, with the limits of claim 1-I.
    """
    fig, (above, below) = plt.subplots(2, 1, figsize=(WIDTH, 5.0), height_ratios=[len(behind), 1])
    rows = {"MPI, margin 0.1" if name == "MPI" else name: _blocks(its, block) for name, its in behind.items()}
    what = f"$R_T/T$ minus that of {worse}, four-hour blocks ({unit})"
    pairs(above, rows, rule=read_rule("> 0"), what=what, dot="block")
    what = "GP-UCB/5 minus EI, share of EI's mean"
    pairs(below, {"GP-UCB/5 and EI": _blocks(apart, block)}, rule=read_rule(">= -0.2, <= 0.2"), what=what, dot="block")
    clear = [name for name, (_, estimate) in rows.items() if estimate.low > 0]
    margins = ", ".join(name.removeprefix("MPI, margin ") for name in clear if name.startswith("MPI"))
    told = [name for name in clear if not name.startswith("MPI")] + [f"MPI with margin {margins}"] * bool(margins)
    fig.suptitle(f"{data}: clearly behind both GP-UCB/5 and EI\n{', '.join(told) or 'none'}", size="medium")
    return fig


def _blocks(values: Array, block: int) -> tuple[Array, Estimate]:
    """Return the means of whole blocks, and their mean with its interval."""
    return (means := block_means(values, block)), block_mean(means)


def roads(traffic: Mapping[str, Mapping[str, Trace]], detectors: Mapping[str, int]) -> Figure:
    """Return Fig. 5c on what stands in for I-880: average regret of the paper's rules, one panel a road."""
    fig, axes = pieces.row(len(traffic), 3.4)
    for ax, (name, traces) in zip(axes, traffic.items(), strict=True):
        figures.regret_quartiles(ax, traces, quantity="average", unit="mph", hero=HERO)
        road = name.removeprefix("traffic_").upper().replace("_", "-")
        ax.set_title(f"{road}, {detectors[name]} detectors" if name in detectors else "SIMULATED SUBSTITUTE")
    best = ", ".join(_best(its, RULES, np.median) for its in traffic.values())
    return figures.labelled(fig, f"Fig. 5c, substitutes for I-880 only: smallest median {best}")


# Theorems


def bounds_on_regret(held: Mapping[str, tuple[Trace, Array]]) -> Figure:
    """Return median and quartiles of R_T beside the bound of each theorem."""
    fig, axes = figures.regret_row({theorem: {"GP-UCB": trace} for theorem, (trace, _) in held.items()}, 3.2)
    looseness = []
    for ax, (trace, bound) in zip(axes, held.values(), strict=True):
        ax.plot(np.arange(1, len(bound) + 1), bound, color="black", linewidth=1.4, label="bound of the theorem")
        looseness.append(float(f"{bound[-1] / np.median(trace.cumulative_regret[:, -1]):.1e}"))
    axes[0].set_ylim(0.5, 2 * max(bound[-1] for _, bound in held.values()))
    pieces.plain_log(axes[0].yaxis)
    title = "At T the bounds are {:,.0f}, {:,.0f}, {:,.0f} times the median regret"
    return pieces.titled(fig, title.format(*looseness), 2)


def growth(grown: Mapping[Case, Estimate], allowed: Mapping[Case, float], since: Mapping[Case, float]) -> Figure:
    """Return exponents of T in the regret with intervals, beside those that Theorem 5 and the rates since allow."""
    fig, (ax,) = pieces.row(1, 3.4)
    for place, case in enumerate(grown):
        colour, last = KERNEL_LOOK[_KERNELS[case[0]]][0], place == len(grown) - 1
        ax.plot([grown[case].low, grown[case].high], [place] * 2, color=colour, linewidth=2)
        ax.plot(grown[case].value, place, "o", color=colour, label="regret of GP-UCB" if last else None)
        ax.plot(allowed[case], place, "k|", markersize=12, label="allowed by Theorem 5" if last else None)
        if since[case] != allowed[case]:
            ax.plot(since[case], place, "kx", label="allowed by the rates since" if last else None)
    ax.set_yticks(range(len(grown)), [f"{_KERNELS[name]}, d = {d}" for name, d in grown])
    ax.axvline(1, color="black", linewidth=0.8, linestyle=":")
    ax.set(xlabel="exponent of T over the last decade (dotted: linear regret)", xlim=(-0.02, None))
    ax.invert_yaxis()
    below = sum(grown[case].high < allowed[case] for case in grown)
    return pieces.titled(fig, f"The regret grows more slowly than allowed in {below} of {len(grown)} cases", 3)


# Information gain


def information(spectra: Mapping[str, Array], bounds: Mapping[str, Array], greedy: Mapping[str, Array]) -> Figure:
    """Return Fig. 3: spectra, the bound of eq. 8 and the gain of greedy pulls, by kernel."""
    fig, axes = pieces.row(3, 3.0)
    for name, (colour, style) in KERNEL_LOOK.items():
        rank, pulls = np.arange(1, len(spectra[name]) + 1), np.arange(1, len(bounds[name]) + 1)
        axes[0].semilogy(rank, np.maximum(spectra[name], 1e-12), style, color=colour, label=name)
        axes[1].loglog(pulls, bounds[name], style, color=colour)
        axes[2].loglog(pulls, greedy[name], style, color=colour)
    top = max(its[-1] for its in bounds.values())
    axes[0].set(title="spectrum", xlabel="rank s", ylabel=r"eigenvalue $\hat\lambda_s$", xlim=(0, 40))
    axes[0].set_ylim(1e-4, 2 * max(its[0] for its in spectra.values()))
    for ax, title in zip(axes[1:], ("bound of eq. 8", "greedy pulls"), strict=True):
        ax.set(title=title, xlabel="pulls T", ylabel="gain (nats)", ylim=(1, 1.2 * top))
        pieces.log_axes(ax, "xy")
    most, least = (f(bounds, key=lambda name: bounds[name][-1]) for f in (max, min))
    title = f"Fig. 3, {len(spectra[most])} arms, equal trace: most to learn from {most}, least from {least}"
    return pieces.titled(fig, title, 4)


def loosened_bounds(chain: Mapping[str, Mapping[str, Array]], pulls: Array) -> Figure:
    """Return the greedy gain and the bounds of eq. 8, Lemma 7.8 and Theorem 8, one panel a kernel."""
    fig, axes = pieces.row(len(chain), 3.2, sharey=True)
    for ax, (name, its) in zip(axes, chain.items(), strict=True):
        for (label, values), style in zip(its.items(), ("-", "--", "-.", ":"), strict=True):
            at = np.arange(1, len(values) + 1) if label == "greedy" else pulls
            ax.loglog(at[at >= pulls[0]], values[at >= pulls[0]], style, label=label)
        ax.set(title=f"{name}, lengthscale 0.2", xlabel="pulls T", xlim=(pulls[0], pulls[-1]))
        pieces.log_axes(ax, "xy")
    axes[0].set_ylabel("gain (nats)")
    times = ", ".join(f"{its['Theorem 8, O-term omitted'][-1] / its['eq. 8'][-1]:.0f}" for its in chain.values())
    return pieces.titled(fig, f"From eq. 8 to Theorem 8 the bound on the gain grows {times} times", 4)


def rates(T: Array, d: int, dimensions: Array) -> Figure:
    """Return Fig. 1 as curves: sqrt(gamma_T / T) in d dimensions by Theorem 5 and since, and exponents of T over d."""
    fig, axes = pieces.row(2, 3.4)
    curves = {name: (gain_rate(kernel, T, d), KERNEL_LOOK[name]) for kernel, name in _KERNELS.items()}
    curves["Matérn 2.5, since"] = rate_since("matern", T, d), (KERNEL_LOOK["Matérn 2.5"][0], "-.")
    for name, (gains, (colour, style)) in curves.items():
        average = np.sqrt(gains / T)
        axes[0].loglog(T, average / average[0], style, color=colour, label=name)
    axes[0].set(xlabel="rounds T", ylabel="$R_T/T$ as allowed,\nrelative to T = 10", title=f"d = {d}")
    axes[0].legend(fontsize=8, loc="lower left")
    colour = KERNEL_LOOK["Matérn 2.5"][0]
    for nu, weight in ((2.5, 1.4), (10.0, 2.6)):
        paper = [(1 + matern_exponent(each, nu)) / 2 for each in dimensions]
        known = (nu + dimensions) / (2 * nu + dimensions)
        axes[1].plot(dimensions, paper, "--", color=colour, linewidth=weight, label=f"Theorem 5, ν = {nu:g}")
        axes[1].plot(dimensions, known, "-.", color=colour, linewidth=weight, label=f"since, ν = {nu:g}")
    half, colour = np.full(len(dimensions), 0.5), KERNEL_LOOK["squared exponential"][0]
    axes[1].plot(dimensions, half, color=colour, label="SE, linear")
    axes[1].set(xlabel="dimension d", ylabel="exponent of T in the regret", title="Matérn", ylim=(0.45, 1))
    fig.suptitle("Fig. 1: for rough functions in many dimensions the bounds promise little")
    figures.label_ends(axes[1])
    return fig


# What functions and data look like


def prior_draws(
    kernels: Mapping[str, Kernel], points: Array, rng: np.random.Generator
) -> tuple[Figure, dict[str, Any]]:
    """Return Fig. 4, four draws a kernel, and their mean squared slopes."""
    fig, axes = pieces.row(len(kernels), 2.4, sharex=True)
    roughness = {}
    for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
        draws = np.array([draw_from_prior(kernel, points, rng) for _ in range(4)])
        roughness[name] = {"mean squared slope": np.mean((np.diff(draws) / np.diff(points[:, 0])) ** 2)}
        ax.plot(points[:, 0], draws.T, linewidth=1.3)
        ax.set(title=name, xlabel="arm x")
    axes[0].set_ylabel("f(x)")
    return pieces.titled(fig, "Fig. 4: draws from three priors"), roughness


def field(places: Array, readings: Array, time: pd.Timestamp, data: str, unit: str) -> Figure:
    """Return Fig. 2a: one minute of all sensors at their places (m)."""
    fig, ax = plt.subplots(figsize=(4.8, 3.2))
    dots = ax.scatter(places[:, 0], places[:, 1], c=readings, cmap="cividis", s=50, edgecolor="0.4", linewidth=0.5)
    fig.colorbar(dots, ax=ax, label=f"temperature ({unit})")
    ax.set(xlabel="x (m)", ylabel="y (m)", title=f"Fig. 2a, {data}\n{time:%d %B %Y, %H:%M}")
    return fig


# Since the paper, and interpretations


def since(traces: Mapping[str, Trace], field: Mapping[str, Trace], data: str, unit: str, block: int) -> Figure:
    """Return average regret of the rules with proofs and without parameter, beside GP-UCB, GP-UCB/5 and EI."""
    fig, axes = pieces.row(2, 3.6)
    figures.regret_quartiles(axes[0], {name: traces[name] for name in TAILS}, quantity="average", hero=HERO)
    its = {name: field[name] for name in TAILS}
    figures.regret_quartiles(axes[1], its, quantity="average", spread=MEAN, unit=unit, block=block, hero=HERO)
    axes[0].set_title("synthetic, Fig. 5a")
    axes[1].set_title(f"{data}, second third")
    best = _best(traces, TAILS, np.mean), _best(field, TAILS, np.mean)
    return figures.labelled(fig, "Smallest mean regret: {} on synthetic functions, {} on these days".format(*best))


def tails(regret: Mapping[str, Array]) -> Figure:
    """Return the share of trials whose R_T / T is at least as large as a value, by rule."""
    fig, (ax,) = pieces.row(1, 3.4)
    for name in TAILS:
        values = np.sort(regret[name])
        left = 1 - np.arange(len(values)) / len(values)
        ax.step(values, left, where="pre", label=name, **figures.look(name, HERO))
    ax.set(xlabel="average regret $R_T/T$", ylabel="share of trials with at least that")
    pieces.log_axes(ax, "xy")
    worst = max(TAILS, key=lambda name: regret[name].max())
    return pieces.titled(fig, f"Tails on synthetic functions: the worst trial of all is one of {worst}", 6)
