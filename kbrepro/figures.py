"""House style and the plot kinds that several notebooks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from kbrepro import checks
from kbrepro.regret import Trace, simple_regret, standard_error

_PALETTE = sns.color_palette("colorblind", 10)

#: Colour and line style of every algorithm, the same in every figure.
LOOK: dict[str, tuple[tuple[float, float, float], str]] = {
    "GP-UCB": (_PALETTE[0], "--"),
    "GP-UCB/5": (_PALETTE[0], "-"),
    "EI": (_PALETTE[1], "-"),
    "EI, noisy incumbent": (_PALETTE[1], ":"),
    "MPI": (_PALETTE[2], "-"),
    "MPI, noisy incumbent": (_PALETTE[2], ":"),
    "mean only": (_PALETTE[7], "-."),
    "variance only": (_PALETTE[4], "--"),
    "IGP-UCB": (_PALETTE[3], "-"),
    "GP-TS": (_PALETTE[4], "-"),
    "π-GP-UCB": (_PALETTE[9], "-"),
    "π-GP-UCB, thesis": (_PALETTE[9], "--"),
    "exact": ((0.0, 0.0, 0.0), "-"),
    "BKB": (_PALETTE[5], "-"),
    "BKB, streaming": (_PALETTE[5], "--"),
    "BKB, authors' radius": (_PALETTE[5], ":"),
    "BKB, Theorem 2's radius": (_PALETTE[5], "-."),
    "SoR": (_PALETTE[6], "-"),
    "DTC, uniform": (_PALETTE[8], "-"),
    "RFF": (_PALETTE[2], "-."),
    "QFF": (_PALETTE[4], ":"),
    "GPN-UCB": (_PALETTE[3], "-"),
    "NonAda": (_PALETTE[7], "-"),
    "cUCB": (_PALETTE[9], "-."),
    "OI": (_PALETTE[5], ":"),
    "cEI": (_PALETTE[6], "-"),
    "cEI, exact": (_PALETTE[6], "--"),
}

#: The same for kernels.
KERNEL_LOOK: dict[str, tuple[tuple[float, float, float], str]] = {
    "independent": (_PALETTE[7], "-."),
    "Matérn 2.5": (_PALETTE[2], "--"),
    "squared exponential": (_PALETTE[0], "-"),
    "linear": (_PALETTE[3], ":"),
}


def use_style() -> None:
    """Set the house style for all figures that follow."""
    sns.set_theme(context="notebook", style="ticks", palette="colorblind", font_scale=0.85)
    plt.rcParams.update(
        {
            "figure.figsize": (6.0, 3.4),
            "figure.constrained_layout.use": True,
            "figure.dpi": 100,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "0.9",
            "grid.linewidth": 0.6,
            "legend.frameon": False,
            "lines.linewidth": 1.6,
        }
    )


def regret_panel(ax: Axes, traces: dict[str, Trace], *, unit: str = "", block: int = 1) -> None:
    """Draw the mean of R_t / t over trials with a band of one standard error, one curve a policy, on log axes.

    `unit` is that of the reward. `block` consecutive trials count as one for the standard error.
    """
    for name, trace in traces.items():
        colour, style = LOOK[name]
        curves = trace.average_regret
        rounds, mean, error = (
            np.arange(1, curves.shape[1] + 1),
            curves.mean(axis=0),
            standard_error(curves, block),
        )
        ax.loglog(rounds, mean, style, color=colour, label=name)
        ax.fill_between(rounds, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
    ax.set(
        xlabel="round t",
        ylabel="average regret $R_t/t$" + (f" ({unit})" if unit else ""),
        xlim=(1, rounds[-1]),
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


BANDS = ("standard deviation", "95 % interval")


def cumulative_panel(ax: Axes, traces: dict[str, Trace], *, unit: str = "", band: str = "95 % interval") -> None:
    """Draw the mean of R_t over trials, one curve a policy, on linear axes, with a band.

    `band` is one standard deviation of the trials, or the 95 % interval of the mean (1.96 standard errors).
    """
    checks.one_of(BANDS, band=band)
    for name, trace in traces.items():
        colour, style = LOOK[name]
        curves = trace.cumulative_regret
        shown = np.unique(np.linspace(0, curves.shape[1] - 1, 500).astype(int))
        mean = curves[:, shown].mean(axis=0)
        half = 1.96 * standard_error(curves[:, shown]) if band == "95 % interval" else curves[:, shown].std(0, ddof=1)
        ax.plot(shown + 1, mean, style, color=colour, label=name)
        ax.fill_between(shown + 1, np.maximum(mean - half, 0), mean + half, color=colour, alpha=0.15, linewidth=0)
    ax.set(
        xlabel="round t", ylabel="cumulative regret $R_t$" + (f" ({unit})" if unit else ""), xlim=(1, curves.shape[1])
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def cumulative_grid(
    rows: Mapping[str, Mapping[str, Trace]], columns: Mapping[str, Sequence[str]], *, units: Sequence[str] = ()
) -> Figure:
    """Return a figure of cumulative regret on a log axis, mean and one standard deviation of the trials.

    One row of panels an experiment {title: traces}, with a unit of reward each, one column a choice of its policies.
    """
    fig, axes = plt.subplots(len(rows), len(columns), figsize=(10, 0.6 + 2.8 * len(rows)), sharey="row", squeeze=False)
    for line, (title, traces), unit in zip(axes, rows.items(), units or [""] * len(rows), strict=True):
        for ax, (choice, names) in zip(line, columns.items(), strict=True):
            cumulative_panel(ax, {name: traces[name] for name in names}, unit=unit, band="standard deviation")
            ax.get_legend().remove()
            ax.set(yscale="log", title=f"{title}, {choice}")
        line[-1].set_ylabel("")
        # a standard deviation may reach below zero: no log axis shows that, so the lines set its lower end
        line[0].set_ylim(bottom=0.3 * min(curve.get_ydata()[10:].min() for ax in line for curve in ax.lines))
    shown = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4)
    return fig


def simple_panel(ax: Axes, traces: dict[str, Trace], *, unit: str = "", floor: float = 1e-4) -> None:
    """Draw the mean regret of the best arm pulled so far ± one standard error, one curve a policy, on a log scale.

    Values below `floor` are drawn at it: with finitely many arms the regret can be zero.
    """
    for name, trace in traces.items():
        colour, style = LOOK[name]
        curves = simple_regret(trace)
        rounds, mean, half = np.arange(1, curves.shape[1] + 1), curves.mean(axis=0), standard_error(curves)
        ax.semilogy(rounds, np.maximum(mean, floor), style, color=colour, label=name)
        low, high = np.maximum(mean - half, floor), np.maximum(mean + half, floor)
        ax.fill_between(rounds, low, high, color=colour, alpha=0.1, linewidth=0)
    ylabel = "simple regret" + (f" ({unit})" if unit else "")
    ax.set(xlabel="round t", ylabel=ylabel, xlim=(1, curves.shape[1]), ylim=(floor, None))
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
