"""The figures of the notebook on GP-UCB; titles that could be false are computed from what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kbrepro import figures
from kbrepro.claims import Rules, read_rule
from kbrepro.figures import KERNEL_LOOK, LOOK, WIDTH
from kbrepro.information import RATES, gain_rate, matern_exponent
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gp_ucb.gain import rate_since
from kbrepro.problems import draw_from_prior
from kbrepro.readings import sentence
from kbrepro.regret import Estimate, Trace, block_mean

HERO = "GP-UCB/5"
#: Part of claims 1-F and 1-H -> the rule that it is about: MPI by margin.
MARGINS = {"margin_0": "MPI, margin 0", "margin_001": "MPI, margin 0.01", "margin_003": "MPI, margin 0.03"}
MARGINS |= {"margin_01": "MPI"}
#: The paper's own comparison.
RULES = ("GP-UCB", "GP-UCB/5", "EI", "MPI", "mean only", "variance only")
#: Rules whose worst trials are looked at.
TAILS = ("GP-UCB", "GP-UCB/5", "EI", "IRGP-UCB", "PIMS", "GP-EIMS")
MEAN = "mean and 95 % interval"
_KERNELS = dict(zip(RATES, ("linear", "squared exponential", "Matérn 2.5"), strict=True))


def _panels(columns: int, height: float, **settings: object) -> tuple[Figure, Array]:
    return plt.subplots(1, columns, figsize=(WIDTH, height), squeeze=False, **settings)


def _labelled(figure: Figure, title: str) -> Figure:
    figure.suptitle(title)
    for ax in figure.axes:
        figures.label_ends(ax)
    return figure


# One run


def strip(frames: pd.DataFrame, shown: Sequence[int]) -> Figure:
    """Return posterior and band before the pull of each of the rounds shown, and the pull; `frames` a row an arm."""
    fig, axes = plt.subplots(2, -(-len(shown) // 2), figsize=(WIDTH, 4.0), sharex=True, sharey=True)
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
        ax.set_title(f"round {t}")
    fig.supxlabel("arm x")
    fig.supylabel("reward")
    fig.legend(*axes.flat[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    return fig


# Figure 5


def synthetic(traces: Mapping[str, Trace]) -> Figure:
    """Return Fig. 5a: average regret of the paper's rules, and of GP-UCB with the width of Theorem 2."""
    shown = {name: traces[name] for name in (*RULES, "GP-UCB, Theorem 2")}
    fig, ((ax,),) = _panels(1, 3.8)
    figures.regret_quartiles(ax, shown, quantity="average", hero=HERO)
    least = min(shown, key=lambda name: np.median(shown[name].average_regret[:, -1]))
    return _labelled(fig, f"Fig. 5a, synthetic: {least} has the smallest median regret")


def margins_and_incumbents(traces: Mapping[str, Trace]) -> Figure:
    """Return average regret of MPI by margin, and of EI and MPI by incumbent, beside GP-UCB/5."""
    noisy = ("EI", "EI, noisy incumbent", "MPI", "MPI, noisy incumbent")
    fig, (axes,) = _panels(2, 3.6, sharey=True)
    for ax, names in zip(axes, ((HERO, *MARGINS.values()), (HERO, *noisy)), strict=True):
        figures.regret_quartiles(ax, {name: traces[name] for name in names}, quantity="average", hero=HERO)
    axes[0].set_title("margin of MPI (0.1 where none is named)")
    axes[1].set_title("incumbent")
    axes[1].set_ylabel("")
    times = np.median(traces["EI, noisy incumbent"].average_regret[:, -1] / traces["EI"].average_regret[:, -1])
    return _labelled(fig, f"A noisy incumbent costs EI {times:.0f} times its regret (median)")


def days(fields: Mapping[str, Mapping[str, Trace]], data: str, unit: str, block: int) -> Figure:
    """Return Fig. 5b: average regret of the paper's rules on each third of the days, intervals by blocks."""
    fig, (axes,) = _panels(len(fields), 3.4, sharey=True)
    for ax, (third, traces) in zip(axes, fields.items(), strict=True):
        its = {name: traces[name] for name in RULES}
        figures.regret_quartiles(ax, its, quantity="average", spread=MEAN, unit=unit, block=block, hero=HERO)
        ax.set_title(f"{third} of the days tested")
        if ax is not axes[0]:
            ax.set_ylabel("")
    return _labelled(fig, f"Fig. 5b, {data}: which rule is best depends on the days")


def blocks(behind: Mapping[str, Array], worse: str, block: int, unit: str) -> Figure:
    """Return differences of R_T / T, one dot a block: rivals minus the worse of GP-UCB/5 and EI, and those two."""
    fig, ((ax,),) = _panels(1, 3.6)
    rows = {}
    for name, difference in behind.items():
        means = difference[: len(difference) // block * block].reshape(-1, block).mean(axis=1)
        rows[name.replace("MPI", "MPI, margin 0.1") if name == "MPI" else name] = means, block_mean(means)
    figures.pairs(ax, rows, rule=read_rule("> 0"), what=f"$R_T/T$ minus that of {worse} ({unit})", dot="four hours")
    clear = sum(estimate.low > 0 for name, (_, estimate) in rows.items() if name.startswith("MPI"))
    fig.suptitle(f"MPI is clearly behind GP-UCB/5 and EI with {clear} of {len(MARGINS)} margins")
    return fig


def roads(traffic: Mapping[str, Mapping[str, Trace]], detectors: Mapping[str, int]) -> Figure:
    """Return Fig. 5c on what stands in for I-880: average regret of the paper's rules, one panel a road."""
    fig, (axes,) = _panels(len(traffic), 3.4)
    for ax, (name, traces) in zip(axes, traffic.items(), strict=True):
        figures.regret_quartiles(ax, traces, quantity="average", unit="mph", hero=HERO)
        road = name.removeprefix("traffic_").upper().replace("_", "-")
        ax.set_title(f"{road}, {detectors[name]} detectors" if name in detectors else "SIMULATED STAND-IN")
        if ax is not axes[0]:
            ax.set_ylabel("")
    return _labelled(fig, "Fig. 5c, stand-ins for I-880 only")


# Theorems


def bounds_on_regret(held: Mapping[str, tuple[Trace, Array]]) -> Figure:
    """Return median and quartiles of R_T beside the bound of each theorem."""
    fig, (axes,) = _panels(len(held), 3.0, sharey=True)
    looseness = []
    for ax, (theorem, (trace, bound)) in zip(axes, held.items(), strict=True):
        figures.regret_quartiles(ax, {"GP-UCB": trace})
        ax.plot(np.arange(1, len(bound) + 1), bound, color="black", linewidth=1.4, label="bound")
        looseness.append(bound[-1] / np.median(trace.cumulative_regret[:, -1]))
        ax.set(title=theorem, ylim=(None, None))
        if ax is not axes[0]:
            ax.set_ylabel("")
    axes[0].set_ylim(bottom=0.5)
    told = ", ".join(f"{times:.2g}" for times in looseness)
    return _labelled(fig, f"The bounds exceed the median regret {told} times")


def growth(grown: Mapping[tuple[str, int], Estimate], allowed: Mapping[tuple[str, int], float]) -> Figure:
    """Return exponents of T in the regret with intervals, beside those that the theorems allow."""
    fig, ((ax,),) = _panels(1, 3.2)
    for place, case in enumerate(grown):
        colour = KERNEL_LOOK[_KERNELS[case[0]]][0]
        ax.plot([grown[case].low, grown[case].high], [place] * 2, color=colour, linewidth=2)
        ax.plot(grown[case].value, place, "o", color=colour, label="regret of GP-UCB" if not place else None)
        ax.plot(
            allowed[case], place, "|", color="black", markersize=12, label="allowed by Theorem 5" if not place else None
        )
    ax.set_yticks(range(len(grown)), [f"{_KERNELS[name]}, d = {d}" for name, d in grown])
    ax.axvline(1, color="black", linewidth=0.8, linestyle=":")
    ax.set(xlabel="exponent of T over the last decade (dotted: linear regret)", xlim=(0, None))
    ax.invert_yaxis()
    below = sum(grown[case].high < allowed[case] for case in grown)
    fig.suptitle(f"The regret grows more slowly than allowed in {below} of {len(grown)} cases")
    fig.legend(loc="outside lower center", ncols=2)
    return fig


# Information gain


def information(spectra: Mapping[str, Array], bounds: Mapping[str, Array], greedy: Mapping[str, Array]) -> Figure:
    """Return Fig. 3: spectra, the bound of eq. 8 and the gain of greedy pulls, by kernel."""
    fig, (axes,) = _panels(3, 3.0)
    for name, (colour, style) in KERNEL_LOOK.items():
        rank, pulls = np.arange(1, len(spectra[name]) + 1), np.arange(1, len(bounds[name]) + 1)
        axes[0].semilogy(rank, np.maximum(spectra[name], 1e-12), style, color=colour, label=name)
        axes[1].loglog(pulls, bounds[name], style, color=colour, label=name)
        axes[2].loglog(pulls, greedy[name], style, color=colour, label=name)
    axes[0].set(title="spectrum", xlabel="rank s", ylabel=r"eigenvalue $\hat\lambda_s$", ylim=(1e-4, 300), xlim=(0, 40))
    top = 1.2 * max(its[-1] for its in bounds.values())
    for ax, title in zip(axes[1:], ("bound of eq. 8", "greedy pulls"), strict=True):
        ax.set(title=title, xlabel="pulls T", ylabel="gain (nats)", ylim=(1, top))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    most, least = (f(bounds, key=lambda name: bounds[name][-1]) for f in (max, min))
    fig.suptitle(f"Fig. 3, {len(spectra[most])} arms, equal trace: most to learn from {most} arms, least from {least}")
    return fig


def loosened_bounds(chain: Mapping[str, Mapping[str, Array]], pulls: Array) -> Figure:
    """Return the greedy gain and the bounds of eq. 8, Lemma 7.8 and Theorem 8, one panel a kernel."""
    fig, (axes,) = _panels(len(chain), 3.2, sharey=True)
    for ax, (name, its) in zip(axes, chain.items(), strict=True):
        for (label, values), style in zip(its.items(), ("-", "--", "-.", ":"), strict=True):
            at = np.arange(1, len(values) + 1) if label == "greedy" else pulls
            ax.loglog(at[at >= 10], values[at >= 10], style, label=label)
        ax.set(title=f"{name}, lengthscale 0.2", xlabel="pulls T", xlim=(10, pulls[-1]))
    axes[0].set_ylabel("gain (nats)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    fig.suptitle("Each step of the proof loosens the bound on the gain")
    return fig


def rates(T: Array, dimensions: Array) -> Figure:
    """Return Fig. 1 as curves: sqrt(gamma_T / T) by Theorem 5 and by what is known since, and exponents over d."""
    fig, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.4))
    for kernel, name in _KERNELS.items():
        for d, style in ((1, "-"), (2, "--"), (4, ":")):
            average = np.sqrt(gain_rate(kernel, T, d) / T)
            axes[0].loglog(T, average / average[0], style, color=KERNEL_LOOK[name][0], label=f"{name}, d = {d}")
    axes[0].set(
        xlabel="rounds T", ylabel="$R_T/T$ as allowed, relative to T = 10", title=r"$\sqrt{\gamma_T/T}$, Theorem 5"
    )
    axes[0].legend(fontsize=8, loc="lower left")
    for nu, style in ((1.5, ":"), (2.5, "-"), (10.0, "--")):
        colour = KERNEL_LOOK["Matérn 2.5"][0]
        paper = [(1 + matern_exponent(d, nu)) / 2 for d in dimensions]
        axes[1].plot(dimensions, paper, style, color=colour, label=f"Theorem 5, ν = {nu:g}")
        axes[1].plot(
            dimensions, (nu + dimensions) / (2 * nu + dimensions), style, color="black", label=f"since, ν = {nu:g}"
        )
    axes[1].axhline(0.5, color=KERNEL_LOOK["squared exponential"][0], label="SE, linear")
    axes[1].set(xlabel="dimension d", ylabel="exponent of T in the regret", title="Matérn", ylim=(0.45, 1))
    axes[1].legend(fontsize=8, loc="lower right", ncols=2)
    fig.suptitle("Fig. 1: roughness and dimension together make learning slow")
    return fig


# What functions and data look like


def prior_draws(kernels: Mapping[str, Kernel], points: Array, rng: np.random.Generator) -> tuple[Figure, dict]:
    """Return Fig. 4, four draws a kernel, and their mean squared slopes."""
    fig, (axes,) = _panels(len(kernels), 2.4, sharex=True)
    roughness = {}
    for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
        draws = np.array([draw_from_prior(kernel, points, rng) for _ in range(4)])
        roughness[name] = {"mean squared slope": np.mean((np.diff(draws) / np.diff(points[:, 0])) ** 2)}
        ax.plot(points[:, 0], draws.T, linewidth=1.3)
        ax.set(title=name, xlabel="x")
    axes[0].set_ylabel("f(x)")
    fig.suptitle("Fig. 4: draws from three priors")
    return fig, roughness


def field(places: Array, readings: Array, time: pd.Timestamp, data: str, unit: str) -> Figure:
    """Return Fig. 2a: one minute of all sensors at their places (m)."""
    fig, ((ax,),) = _panels(1, 3.0)
    dots = ax.scatter(*places.T, c=readings, cmap="cividis", s=60, edgecolor="0.4", linewidth=0.5)
    fig.colorbar(dots, ax=ax, label=f"temperature ({unit})")
    ax.set(title=f"Fig. 2a, {data}, {time:%d %B %Y, %H:%M}", xlabel="x (m)", ylabel="y (m)", aspect="equal")
    return fig


# Since the paper, and readings


def since(traces: Mapping[str, Trace], field: Mapping[str, Trace], data: str, unit: str, block: int) -> Figure:
    """Return average regret of the rules with proofs and without parameter, beside GP-UCB, GP-UCB/5 and EI."""
    fig, (axes,) = _panels(2, 3.6)
    figures.regret_quartiles(axes[0], {name: traces[name] for name in TAILS}, quantity="average", hero=HERO)
    its = {name: field[name] for name in TAILS}
    figures.regret_quartiles(axes[1], its, quantity="average", spread=MEAN, unit=unit, block=block, hero=HERO)
    axes[0].set_title("synthetic, Fig. 5a")
    axes[1].set_title(f"{data}, second third")
    means = {name: its[:, -1].mean() for name, its in ((n, traces[n].average_regret) for n in TAILS)}
    return _labelled(
        fig, f"Rules without a parameter: smallest mean on synthetic functions, {min(means, key=means.get)}"
    )


def tails(regret: Mapping[str, Array]) -> Figure:
    """Return the share of trials whose R_T / T exceeds a value, by rule."""
    fig, ((ax,),) = _panels(1, 3.4)
    for name in TAILS:
        values = np.sort(regret[name])
        ax.loglog(values, 1 - np.arange(len(values)) / len(values), label=name, **figures.look(name, HERO))
    ax.set(xlabel="$R_T/T$", ylabel="share of trials with at least that")
    worst = max(TAILS, key=lambda name: regret[name].max())
    return _labelled(fig, f"The worst trial of all is one of {worst}")


def readings(claim_id: str, table: pd.DataFrame, rules: Rules) -> Figure:
    """Return the specification curve of the part of a claim that was played."""
    part_of = {"1-E": "mean", "1-F": "margin_01", "1-H": "margin_01", "1-I": "equal"}
    label = {
        "1-E": "GP-UCB/5 minus EI, share of EI's mean $R_T/T$",
        "1-F": "MPI minus GP-UCB/5, share of the latter's mean $R_T/T$",
        "1-H": "MPI minus the worse of GP-UCB/5 and EI, $R_T/T$ (°C)",
        "1-I": "GP-UCB/5 minus EI, share of EI's mean $R_T/T$",
    }[claim_id]
    fig = figures.specification_curve(table, rules.readings, rules.claims[claim_id].parts[part_of[claim_id]])
    fig.axes[0].set_ylabel(label)
    played = [name for name in rules.readings if name in table]
    fig.axes[0].set_title(f"{claim_id} {sentence(table, played)}")
    return fig
