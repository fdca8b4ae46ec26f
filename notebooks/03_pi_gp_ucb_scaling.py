# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # π-GP-UCB and exact IGP-UCB at scale
#
# Janz, Burt and González (2020): the width of IGP-UCB's confidence band grows with the information gain of all pulls,
# for rough (Matérn) kernels so fast that the regret bound is empty. π-GP-UCB covers the domain by cubes, fits a
# Gaussian process to each on the data inside it, and splits a cube once it holds too much data: the gain of a cube
# stays logarithmic, and a step costs what a small data set costs.
#
# This notebook rebuilds Table 1 and Figures 1 and 2, and looks at Lemmas 1, 2 and 5 and Theorem 4. The numbers to quote
# are those of the [full-scale run](../results/paper/03_pi_gp_ucb_scaling/notebook.ipynb). What stands here is the quick
# profile, and **the first rounds of the paper's runs invert its conclusion**: π-GP-UCB has to visit every cell once,
# and pays back later only. A shorter run starts from fewer cells, so its level and order say little about $T = 10000$:
# the claims about Table 1 and Figure 2 are judged at full scale only.
#
# IGP-UCB runs exactly, also with 27000 arms: [how](../docs/exact_igp_ucb.md).
#
# | scale | time on 2 cores | memory |
# | --- | --- | --- |
# | quick (the defaults) | about 40 seconds | below 1 GB |
# | paper (`profiles/paper`) | about 30 minutes | 2.5 GB a run with d = 3 |

# %% tags=["parameters"]
seed: int = 2020  # root seed of every random stream
horizon: int = 400  # rounds T of every run (paper: 10000)
trials: int = 6  # runs of Table 1 in one and two dimensions (paper: 12; full scale: 100)
trials_d3: int = 2  # runs of Table 1 in three dimensions (paper: 12)
trials_shown: int = 6  # runs of Figure 1, the first of those in two dimensions (paper: 12)
trials_more: int = 2  # runs of Figure 2, of the cells, and of the open choices (paper: 12)
coverage_trials: int = 6  # runs that check the band of Lemma 5 (full scale: 200)
growth_horizon: int = 10000  # rounds of the growth of the gain (Theorem 4)
timing_trials: int = 1  # runs that are timed, one at a time
timings: bool = False  # judge the claims about seconds (full scale: true)
delta: float = 0.1  # the confidence band may fail with this probability
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kbrepro import checks, figures, paths
from kbrepro.confidence import Constant, Improved
from kbrepro.kernels import Matern, grid
from kbrepro.papers.first_edition import Ledger, Results, load
from kbrepro.papers.pi_gp_ucb.many_arms import LazyUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB, cover_exponent, initial_side
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, LatticeKernel, Surface
from kbrepro.problems import Gaussian, Problem, Told, Trial
from kbrepro.regret import bootstrap, exact, mean_difference, relative_difference, share, slope, weakest
from kbrepro.simulation import Experiment, map_trials, rounds, run_trials

checks.at_least(100, horizon=horizon)
checks.at_least(2, trials=trials, trials_d3=trials_d3, trials_shown=trials_shown, trials_more=trials_more)
checks.at_least(2, coverage_trials=coverage_trials)
checks.at_least(10_000, growth_horizon=growth_horizon)  # claim 3-N speaks of T up to 10^4
checks.positive_int(timing_trials=timing_trials)
checks.non_negative_int(seed=seed)
checks.probability(delta=delta)

figures.use_style()
results = Results(results_dir)
ledger = Ledger(load(paths.project_root() / "notebooks/claims/03_pi_gp_ucb_scaling.yaml"))
full_scale = horizon >= 10_000
TOO_SHORT = (
    f"judged at T = 10000 only (here T = {horizon}): early rounds, the tour of the cells, invert the conclusion,"
    " and shorter runs start from another cover"
)

# %% [markdown]
# ## What the theory promises (eq. 1, eq. 4, Theorem 4)
#
# Regret is of order $T$ to the exponents below, up to logarithms: IGP-UCB as the paper states it, π-GP-UCB by eq. 1,
# and the lower bound that no algorithm beats (Scarlett et al., 2017). IGP-UCB's bound is empty (exponent 1) for $2\nu
# \le d^2$. Theorem 4 puts the largest gain $\gamma_T$ between $T^{d/(d+2\nu)}$ and $T^q$, $q = d(d+1)/(d(d+2) +
# 2\nu)$; the greedy gain, which has the growth of $\gamma_T$, is computed on 2000 and 2025 points, since 30 arms
# saturate.


# %%
def exponents(d, nu):
    igp = min(1.0, (3 * d**2 + 2 * nu) / (2 * d**2 + 4 * nu))
    pi = (d * (2 * d + 3) + 2 * nu) / (d * (2 * d + 4) + 4 * nu)
    return {"IGP-UCB": igp, "π-GP-UCB": pi, "exact": (d + nu) / (d + 2 * nu)}


def greedy_gains(n, d):
    """Observations of zero keep the mean at zero: the largest index is then the largest variance."""
    told = Told(grid(n, d), LatticeKernel(KERNEL, n), 1.0)
    zero = Problem(told, np.zeros(told.n_arms), Gaussian(0.0))
    policy, rng = LazyUCB(told, growth_horizon, width=Constant(1.0)), np.random.default_rng([seed, d])
    policy.ask(rng)  # draws the order of ties
    gains = [policy.posterior.gain for _ in rounds(policy, zero, growth_horizon, rng)]
    return np.array([*gains[1:], policy.posterior.gain])


KERNEL = Matern(0.2, nu=1.5)
greedy = {d: greedy_gains(n, d) for d, n in ((1, 2000), (2, 45))}
decade = np.unique(np.geomspace(1000, 10_000, 20).astype(int))
fits = {d: slope(np.log(decade), np.log(gains[decade - 1])) for d, gains in greedy.items()}

# %% tags=["hide-input"]
dimensions = np.arange(1, 9)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6))
for ax, nu in zip(axes, (1.5, 2.5), strict=False):
    for name, label in (("IGP-UCB", "IGP-UCB"), ("π-GP-UCB", "π-GP-UCB (eq. 1)"), ("exact", "lower bound")):
        colour, style = figures.LOOK[name]
        values = [exponents(d, nu)[name] for d in dimensions]
        ax.plot(dimensions, values, style, color=colour, marker="o", markersize=3, label=label)
    ax.set(title=rf"regret, $\nu$ = {nu}", xlabel="dimension d", ylabel="exponent of T", ylim=(0.5, 1.02))
axes[0].legend(fontsize=7)
for (d, gains), colour in zip(greedy.items(), ("C0", "C1"), strict=True):
    axes[2].loglog(np.arange(1, growth_horizon + 1), gains, color=colour, label=f"greedy, d = {d}")
    for power, style in ((d / (d + 3), ":"), (cover_exponent(d, 1.5), "--")):
        axes[2].loglog(decade, gains[999] * (decade / 1000) ** power, style, color="0.3")
axes[2].plot([], [], ":", color="0.3", label=r"slope $d/(d+2\nu)$")
axes[2].plot([], [], "--", color="0.3", label="slope q")
axes[2].set(title=r"information gain, $\nu$ = 1.5", xlabel="pulls T", ylabel="information gain (nats)", xlim=(10, None))
axes[2].set_ylim(bottom=3)
axes[2].legend(fontsize=7)
results.figure(fig, "theory_exponents_and_gain")
plt.show()

# %%
theory = pd.DataFrame({(nu, d): exponents(d, nu) for nu in (1.5, 2.5) for d in (1, 2, 3, 4)}).T
theory = theory.rename(columns={"exact": "lower bound"}).rename_axis(["nu", "d"])
results.table(theory, "theory_exponents")
theory.round(3)

# %%
growth = pd.DataFrame(
    {d: [d / (d + 3), *fits[d], cover_exponent(d, 1.5)] for d in fits},
    index=["lower exponent", "fitted", "low", "high", "q"],
)
results.table(growth.rename_axis("d", axis=1), "theorem4_growth_of_the_gain")
outside = {d: max(d / (d + 3) - fits[d].value, fits[d].value - cover_exponent(d, 1.5)) for d in fits}
ledger.judge("3-N", exact(max(outside.values())), f"slopes {fits[1].value:.3f} (d = 1), {fits[2].value:.3f} (d = 2)")
growth.rename_axis("d", axis=1).round(3)

# %% [markdown]
# At $\nu = 3/2$, the smoothness of the experiments, IGP-UCB's bound is already empty in two dimensions; that of
# π-GP-UCB never is, and stays within about a tenth of the lower bound.

# %% [markdown]
# ## Regret as a share of uniform play (Table 1)
#
# Arms: the grid of 30 points a side on $[0, 1]^d$. Each function is a sum of $30 d$ Matérn-3/2 bumps ($l = 0.2$) at
# random places with weights uniform on $[-1, 1]$; both algorithms are told its exact norm $B = \sqrt{a^\top K a}$.
# $\alpha = 1$, noise uniform on $[-1, 1]$, $L = 1$. IGP-UCB: $\mu_{t-1} + \beta_t \sigma_{t-1}$ with $\beta_t = B + L
# \sqrt{2(\gamma_{t-1} + 1 + \log(1/\delta))}$ and the gain of the pulls made. π-GP-UCB: the same in each cell with
# $\delta / 4(t+1)^{bd}$. Both see the same function, the same noise in the same round, and one order of ties. Regret is
# divided by what uniform play is expected to lose, $T (f^* - \bar f)$. How the paper averages its 12 runs is open: all
# three ways are shown.


# %%
PI_GP_UCB = partial(PartitionedUCB, delta=delta, nu=1.5)
POLICIES = {"IGP-UCB": partial(LazyUCB, width=Improved(delta)), "π-GP-UCB": PI_GP_UCB}


def synthetic(d, T=horizon, policies=POLICIES):
    return Experiment(Bumps(KERNEL, d, side=30, noise_variance=1.0, noise_bound=1.0), policies, T)


def uniform_regret(experiment, n):
    rewards = [experiment.problem(Trial(seed, number)).expected_reward for number in range(n)]
    return np.array([f.max() - f.mean() for f in rewards])


n_trials = {3: trials_d3, 2: trials, 1: trials}
traces = {d: run_trials(synthetic(d), n, seed, label=f"Table 1, d = {d}") for d, n in n_trials.items()}
uniform = {d: uniform_regret(synthetic(d), n) for d, n in n_trials.items()}
regret = {(d, name): trace.average_regret[:, -1] for d in (1, 2, 3) for name, trace in traces[d].items()}
fraction = {(d, name): values / uniform[d] for (d, name), values in regret.items()}
for d in (1, 2, 3):
    results.traces(traces[d], f"table1_d{d}")

# %%
printed = dict(zip(fraction, (0.11, 0.09, 0.71, 0.52, 0.97, 0.77), strict=True))
mean_of = {
    entry: bootstrap(partial(np.mean, axis=-1), ours, rng=np.random.default_rng([seed, 1]))
    for entry, ours in fraction.items()
}
table1 = pd.DataFrame(
    {
        entry: {
            "paper": printed[entry],
            "mean of ratios": ours.mean(),
            "low": mean_of[entry].low,
            "high": mean_of[entry].high,
            "s.e.": ours.std(ddof=1) / np.sqrt(len(ours)),
            "ratio of means": regret[entry].mean() / uniform[entry[0]].mean(),
            "median": np.median(ours),
            "first 12": ours[:12].mean(),
            "runs": len(ours),
        }
        for entry, ours in fraction.items()
    }
).T.rename_axis(["d", "algorithm"])
results.table(table1, "table1")
per_trial = pd.concat({entry: pd.Series(ours) for entry, ours in fraction.items()}, names=["d", "algorithm", "trial"])
results.table(per_trial.rename("share of uniform regret").to_frame(), "table1_per_trial")
table1.round(2)

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(6.2, 3.6))
for offset, name in ((-0.12, "IGP-UCB"), (0.12, "π-GP-UCB")):
    mean, low, high = np.array([mean_of[d, name] for d in (1, 2, 3)]).T
    x = np.arange(1, 4) + offset
    ax.errorbar(x, mean, [mean - low, high - mean], fmt="o", color=figures.LOOK[name][0], capsize=3, label=name)
    ax.plot(x + 0.07, [printed[d, name] for d in (1, 2, 3)], "kD", fillstyle="none", markersize=5)
ax.plot([], [], "kD", fillstyle="none", markersize=5, label="printed, T = 10000")
ax.axhline(1, color="0.6", linestyle=":", label="uniform play")
ax.set(xticks=[1, 2, 3], xlabel="dimension d", ylabel="regret / uniform regret", ylim=(0, None), xlim=(0.6, 3.4))
ax.set_title(f"Table 1, T = {horizon}: mean and 95 % interval of {trials}, {trials}, {trials_d3} runs")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
results.figure(fig, "headline_table1")
plt.show()


# %%
def misfit(d, name):
    """The rule of 3-A to 3-F: see the head of the claims file."""
    ours = fraction[d, name]
    error = ours.std(ddof=1) * np.sqrt(1 / len(ours) + 1 / 12)
    level = abs(ours.mean() - printed[d, name]) / (2 * error)
    ratio = (fraction[d, "π-GP-UCB"].mean() / fraction[d, "IGP-UCB"].mean()) / (
        printed[d, "π-GP-UCB"] / printed[d, "IGP-UCB"]
    )
    return level if level <= 1 else 1 + abs(ratio - 1) / 0.15


for claim_id, entry in zip(("3-A", "3-B", "3-C", "3-D", "3-E", "3-F"), fraction, strict=True):
    if full_scale:
        value, low, high = mean_of[entry]
        note = f"ours {value:.2f} [{low:.2f}, {high:.2f}], printed {printed[entry]}"
        ledger.judge(claim_id, exact(misfit(*entry)), note)
    else:
        ledger.not_evaluated(claim_id, TOO_SHORT)
gap = {
    d: bootstrap(mean_difference, fraction[d, "IGP-UCB"], fraction[d, "π-GP-UCB"], rng=np.random.default_rng([seed, d]))
    for d in (1, 2, 3)
}
if full_scale:
    note = "; ".join(f"d = {d}: {g.value:.3f} [{g.low:.3f}, {g.high:.3f}]" for d, g in gap.items())
    ledger.judge("3-G", weakest(gap.values()), note)
    ledger.judge("3-H", mean_of[3, "IGP-UCB"], "share of uniform regret, d = 3")
else:
    ledger.not_evaluated("3-G", TOO_SHORT)
    ledger.not_evaluated("3-H", TOO_SHORT)
pd.DataFrame(gap, index=["IGP minus π", "low", "high"]).T.rename_axis("d").round(3)

# %% [markdown]
# The last table is the paired difference of the two algorithms on the same functions and noise. The column "first
# 12" and, at full scale, Figure 1 use the first 12 of the runs, as many as the paper's.

# %% [markdown]
# ## Regret and time in two dimensions (Fig. 1)
#
# Left: cumulative regret with the 95 % interval of the mean. Centre: regret of a round, smoothed by a top hat. Right:
# seconds a step, from runs that had the machine to themselves. IGP-UCB's curve is that of this package's
# implementation, which for 900 arms keeps the covariance of all arms: the paper's grew with $t$.

# %%
segments = np.array_split(np.arange(horizon), min(50, horizon // 50))
clocks = {}
for d in (1, 2, 3):  # trials of their own, in one block: nothing runs beside them
    alone = {"first": max(trials, trials_d3), "block": timing_trials, "label": f"timing, d = {d}"}
    timed = run_trials(synthetic(d), timing_trials, seed, **alone)
    clocks |= {(d, name): trace.seconds for name, trace in timed.items()}
step = {entry: np.median([c[:, part].mean(axis=1) for part in segments], axis=1) for entry, c in clocks.items()}
hat = min(200, horizon // 10)
shown = {name: trace.first(trials_shown) for name, trace in traces[2].items()}

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.5))
figures.cumulative_panel(axes[0], shown)
axes[0].plot([1, horizon], uniform[2][:trials_shown].mean() * np.array([1, horizon]), ":", color="0.5", label="uniform")
axes[0].legend(loc="upper left", fontsize=8)
axes[0].set_title(f"mean of {len(shown['IGP-UCB'].arms)} runs, 95 % interval")
for name, trace in shown.items():
    smooth = np.apply_along_axis(np.convolve, 1, trace.regret, np.full(hat, 1 / hat), mode="valid")
    mean, half = smooth.mean(axis=0), 1.96 * smooth.std(axis=0, ddof=1) / np.sqrt(len(smooth))
    at = np.arange(len(mean)) + hat / 2
    axes[1].plot(at, mean, color=figures.LOOK[name][0])
    axes[1].fill_between(at, mean - half, mean + half, color=figures.LOOK[name][0], alpha=0.15, linewidth=0)
    middles = (np.arange(len(step[2, name])) + 0.5) * horizon / len(step[2, name])
    for d, style in ((1, ":"), (2, "-"), (3, "--")):
        axes[2].semilogy(middles, step[d, name], style, color=figures.LOOK[name][0], label=f"{name}, d = {d}")
axes[1].set(title=f"smoothed over {hat} rounds", xlabel="round t", ylabel="regret of a round", xlim=(0, horizon))
axes[2].set(title="median run", xlabel="round t", ylabel="seconds a step", xlim=(0, horizon))
axes[2].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
fig.suptitle("Fig. 1: synthetic functions, d = 2 (time: d = 1, 2, 3)")
results.figure(fig, "fig1_regret_and_time")
plt.show()

# %%
quarters = [horizon // 4, horizon // 2, horizon]
pd.DataFrame(
    {name: {f"R_{t}": trace.cumulative_regret[:, t - 1].mean() for t in quarters} for name, trace in shown.items()}
).T.round(0)


# %%
def late_slope(d, name):
    seconds = step[d, name]
    late = np.arange(len(seconds) // 10, len(seconds))
    return slope(np.log(late + 0.5), np.log(seconds[late])).value


seconds = {entry: c.sum(axis=1) for entry, c in clocks.items()}
time_table = pd.DataFrame(
    {entry: {"seconds a run": np.median(s), "slope in t": late_slope(*entry)} for entry, s in seconds.items()}
).T.rename_axis(["d", "algorithm"])
time_table["paper, seconds a run"] = [82 * 60, 12 * 60, 118 * 60, 97, 30 * 3600, 29 * 60]
time_table["seconds in Table 1's runs"] = [np.median(traces[d][name].seconds.sum(axis=1)) for d, name in seconds]
results.table(time_table, "seconds")
if timings:
    flat = {d: 0.2 - late_slope(d, "π-GP-UCB") for d in (2, 3)}
    grows = late_slope(3, "IGP-UCB") - 0.2
    note = f"slopes: π {0.2 - flat[2]:.2f} (d = 2), {0.2 - flat[3]:.2f} (d = 3); IGP-UCB {grows + 0.2:.2f} (d = 3)"
    ledger.judge("3-I", exact(min(*flat.values(), grows)), note)
    for claim_id, d in (("3-J", 3), ("3-K", 1)):
        igp, pi = seconds[d, "IGP-UCB"], seconds[d, "π-GP-UCB"]
        ledger.judge(claim_id, exact(np.median(igp / pi)), f"seconds: {np.median(igp):.2g} and {np.median(pi):.2g}")
else:
    for claim_id in ("3-I", "3-J", "3-K"):
        ledger.not_evaluated(claim_id, "timings are judged at full scale only")

# %% [markdown]
# ## The tour of the cells
#
# An empty cell has the index $B + \sqrt{2(1 + \log(4(t+1)^{bd}/\delta))}$, more than any cell with data: π-GP-UCB first
# visits every cell of its cover once. Meanwhile it does what uniform play does, and IGP-UCB gets ahead.


# %%
def crossing(d):
    """The round from which the mean cumulative regret of π-GP-UCB stays below that of IGP-UCB; T if it never does."""
    behind = traces[d]["π-GP-UCB"].cumulative_regret.mean(0) >= traces[d]["IGP-UCB"].cumulative_regret.mean(0)
    return min(np.flatnonzero(behind).max(initial=-1) + 2, horizon)


tour = {}
for d in (1, 2, 3):
    cells = initial_side(horizon, d, 1.5) ** d
    early = {name: trace.regret[:, :cells].mean(axis=1) / uniform[d] for name, trace in traces[d].items()}
    tour[d] = {"cells at the start": cells} | {f"{name}, tour": values.mean() for name, values in early.items()}
    tour[d] |= {"crossing, round": crossing(d)}
tour = pd.DataFrame(tour).T.rename_axis("d")
results.table(tour, "tour_of_the_cells")
if full_scale:
    parts = [min(tour.loc[d, "π-GP-UCB, tour"] / 0.9, tour.loc[d, "crossing, round"] / (horizon / 10)) for d in (2, 3)]
    note = "; ".join(
        f"d = {d}: {tour.loc[d, 'π-GP-UCB, tour']:.2f} of uniform, crosses at {tour.loc[d, 'crossing, round']:.0f}"
        for d in (1, 2, 3)
    )
    ledger.judge("3-L", exact(min(parts)), note)
else:
    ledger.not_evaluated("3-L", TOO_SHORT)
tour.round(2)

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2))
for ax, d in zip(axes, (1, 2, 3), strict=True):
    for name, trace in traces[d].items():
        share_of_uniform = trace.average_regret / uniform[d][:, None]
        mean, half = share_of_uniform.mean(0), 1.96 * share_of_uniform.std(0, ddof=1) / np.sqrt(len(share_of_uniform))
        ax.semilogx(np.arange(1, horizon + 1), mean, color=figures.LOOK[name][0], label=name)
        ax.fill_between(np.arange(1, horizon + 1), mean - half, mean + half, color=figures.LOOK[name][0], alpha=0.15)
    ax.axvline(tour.loc[d, "cells at the start"], color="0.5", linestyle=":", label="end of the tour")
    ax.set(title=f"d = {d}", xlabel="round t", xlim=(1, horizon), ylim=(0, 1.4))
axes[0].set_ylabel("regret so far / uniform regret")
axes[2].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
fig.suptitle("The tour of the cells: mean and 95 % interval")
results.figure(fig, "tour_of_the_cells")
plt.show()

# %% [markdown]
# ## Functions that are not in the model (Fig. 2)
#
# Test functions for optimisation, turned upside down, scaled to $[-1, 1]$ on the grid; noise uniform on $[-0.1, 0.1]$,
# $L = 0.1$, and $B = 1$ though nobody knows their norm. The paper names none of its four: Branin, six-hump camel,
# Goldstein-Price and Rosenbrock are a guess, four more are shown since flat and peaked functions differ.

# %%
OF_RECORD = list(SURFACES)[:4]
surface_traces = {}
for name in SURFACES:
    problem = Surface(name, KERNEL, side=30, noise_variance=1.0, noise_bound=0.1, norm=1.0)
    experiment = Experiment(problem, POLICIES, horizon)
    surface_traces[name] = run_trials(experiment, trials_more, seed, block=3, label=f"Fig. 2, {name}")
    results.traces(surface_traces[name], "fig2_" + name.lower().replace(" ", "_"))

# %% tags=["hide-input"]
fig, axes = plt.subplots(2, 4, figsize=(12, 5.6))
for ax, (name, surface_trace) in zip(axes.flat, surface_traces.items(), strict=True):
    figures.cumulative_panel(ax, surface_trace)
    ax.get_legend().remove()
    ax.set_title(name if name in OF_RECORD else f"{name} (supplement)")
for ax in axes[0]:
    ax.set_xlabel("")
for ax in axes[:, 1:].flat:
    ax.set_ylabel("")
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
fig.suptitle(f"Fig. 2: mean regret of {trials_more} runs, 95 % interval")
results.figure(fig, "fig2_test_functions")
plt.show()

# %%
final = {
    (name, policy): trace.cumulative_regret[:, -1]
    for name, both in surface_traces.items()
    for policy, trace in both.items()
}
excess = {
    name: bootstrap(
        relative_difference, final[name, "π-GP-UCB"], final[name, "IGP-UCB"], rng=np.random.default_rng([seed, 2])
    )
    for name in SURFACES
}
fig2_table = pd.DataFrame(
    {
        name: {p: final[name, p].mean() for p in ("IGP-UCB", "π-GP-UCB")} | {"π over IGP, minus 1": excess[name].value}
        for name in SURFACES
    }
).T.rename_axis("function")
fig2_table[["low", "high"]] = [[e.low, e.high] for e in excess.values()]
results.table(fig2_table, "fig2")
worst = max(OF_RECORD, key=lambda name: excess[name].value)
if full_scale:
    others = ", ".join(f"{name} {excess[name].value:+.0%}" for name in SURFACES if name != worst)
    ledger.judge("3-O", excess[worst], f"largest: {worst}; the others: {others}")
else:
    ledger.not_evaluated("3-O", TOO_SHORT)
fig2_table.round(2)

# %% [markdown]
# ## Does the band hold in every cell? (Lemma 5)
#
# With probability $1 - \delta$ the band $|f - \mu^A_{t-1}| \le \hat\beta^A_t \sigma^A_{t-1}$ holds in all rounds,
# cells and arms at once. Proved for $\alpha = 1 + 2/T$; the experiments use $\alpha = 1$. The *multiplier* is the
# smallest by which the width could be scaled and still cover in 90 % of the runs.

# %%
lemma5 = {}
for d in (1, 2):
    for alpha, label in ((1.0, "1"), (1 + 2 / horizon, "1 + 2/T")):
        experiment = replace(synthetic(d, policies={"π-GP-UCB": PI_GP_UCB}), record_band=True)
        experiment = replace(experiment, problem=replace(experiment.problem, noise_variance=alpha))
        band = run_trials(experiment, coverage_trials, seed, block=10, label=f"Lemma 5, d = {d}")["π-GP-UCB"].band_ratio
        holds, low, high = share((band <= 1).all(axis=1))
        multiplier = np.quantile(band.max(axis=1), 0.9)
        lemma5[d, label] = {"runs": len(band), "band holds": holds, "low": low, "high": high, "multiplier": multiplier}
lemma5 = pd.DataFrame(lemma5).T.rename_axis(["d", "alpha"])
results.table(lemma5, "lemma5_coverage")
lemma5.round(2)

# %% [markdown]
# The band holds with room to spare, with either $\alpha$: it must cover noise of the worst kind, and a norm of which a
# single cell sees only a part.

# %% [markdown]
# ## How many cells, and how much each learns (Lemmas 1 and 2)
#
# A cell of diameter $\rho$ splits into $2^d$ once $\rho^{-1/b} < n + 1$ for $n$ pulls inside it, $b = (d+1)/(d+2\nu)$.
# Lemma 2: of the order of $T^q$ cells are ever created. Lemma 1: the gain of a cell is at most of the order of $\log T
# \log\log T$. Each point is one horizon, whose first cover has about $T^q$ cells.


# %%
def cover(experiment, trial):
    """Play a run: cells ever created, and the largest gain of one."""
    problem = experiment.problem(trial)
    policy = experiment.policies["π-GP-UCB"](problem.told, experiment.horizon)
    for _ in rounds(policy, problem, experiment.horizon, trial.rng("run")):
        pass
    return policy.n_created, policy.largest_gain


horizons = [horizon // 30, horizon // 10, horizon // 3, horizon]
covers = {}
for d in (1, 2, 3):
    for T in horizons:
        n = min(trials_more, n_trials[d])
        played = map_trials(partial(cover, synthetic(d, T)), n, seed, label=f"cells, d = {d}, T = {T}")
        created, gains = np.array(played).T
        cells_allowed = 4 * T ** cover_exponent(d, 1.5)
        covers[d, T] = {"cells, mean": created.mean(), "cells, most": created.max(), "4 T^q": cells_allowed}
        covers[d, T] |= {"largest gain": gains.max(), "mean largest gain": gains.mean()}
covers = pd.DataFrame(covers).T.rename_axis(["d", "T"])
results.table(covers, "lemmas_1_and_2_cells")
at_horizon = covers.xs(horizon, level="T")
most_cells, most_gain = (at_horizon["cells, most"] / at_horizon["4 T^q"]).max(), at_horizon["largest gain"].max()
note = f"most cells {most_cells:.2f} of 4 T^q, largest gain of a cell {most_gain:.2f} nats, T = {horizon}"
ledger.judge("3-M", exact(max(most_cells, most_gain / 5)), note)
covers.round(2)

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.5))
for d, marker in ((1, "o"), (2, "s"), (3, "^")):
    part = covers.xs(d, level="d")
    (line,) = axes[0].loglog(part.index, part["cells, mean"], marker=marker, label=f"d = {d}")
    axes[0].loglog(part.index, part["4 T^q"], ":", color=line.get_color())
    axes[1].semilogx(part.index, part["mean largest gain"], marker=marker, color=line.get_color(), label=f"d = {d}")
    axes[1].semilogx(part.index, part["largest gain"], "_", color=line.get_color(), markersize=10)
axes[0].set(title="Lemma 2 (dotted: 4 $T^q$)", xlabel="horizon T", ylabel="cells ever created, mean")
axes[1].set(title="Lemma 1 (dash: largest of the runs)", xlabel="horizon T", ylabel="largest gain of a cell (nats)")
axes[1].set_ylim(bottom=0)
for ax in axes:
    ax.set_xticks(horizons, horizons)
    ax.minorticks_off()
axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1))
results.figure(fig, "lemmas_1_and_2_cells")
plt.show()

# %% [markdown]
# ## The algorithm of the thesis
#
# The first author's thesis (2022) and code change four things: one cell at the start, a cell splits when $n >
# \rho^{-2\nu}$, children start without data, and the union bound counts $4(T+1)^{d/2\nu}$ cells from the first round
# on. Same functions and noise as in Table 1, $d = 2$.

# %%
of_thesis = {"π-GP-UCB, thesis": partial(PI_GP_UCB, variant="thesis")}
thesis = run_trials(synthetic(2, policies=of_thesis), trials, seed, label="thesis")
variants = traces[2] | thesis
results.traces(variants, "thesis_variant")
thesis_table = {}
for name, trace in variants.items():
    ours = trace.average_regret[:, -1] / uniform[2]
    value, low, high = bootstrap(partial(np.mean, axis=-1), ours, rng=np.random.default_rng([seed, 1]))
    thesis_table[name] = {"share of uniform regret": value, "low": low, "high": high, "median": np.median(ours)}
thesis_table = pd.DataFrame(thesis_table).T
results.table(thesis_table, "thesis_variant")
thesis_table.round(2)

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(7, 3.6))
figures.cumulative_panel(ax, variants)
ax.set_title(f"d = 2, mean of {trials} runs, 95 % interval")
results.figure(fig, "thesis_variant")
plt.show()

# %% [markdown]
# ## What the open choices change
#
# Shares of uniform regret under the choices that the paper leaves open, mean over the first runs of Table 1. The
# spectral density as printed in eq. 2 belongs to a lengthscale of $l \sqrt 3$ in the usual convention. Noise uniform on
# $[-1, 1]$ is sub-Gaussian with $L = 1/\sqrt 3$; Hoeffding's lemma gives $L = 1$. The theory has $\alpha = 1 + 2/T$.

# %%
sensitivity = {}
for d in (1, 2):
    n = min(trials, trials_more)
    base = synthetic(d)
    options = {
        "lengthscale 0.2 sqrt 3": {"kernel": Matern(0.2 * np.sqrt(3), nu=1.5)},
        "L = 1 / sqrt 3": {"noise_scale": 1 / np.sqrt(3)},
        "alpha = 1 + 2/T": {"noise_variance": 1 + 2 / horizon},
    }
    sensitivity[d, "as in Table 1"] = {name: fraction[d, name][:n].mean() for name in base.policies}
    for option, changed in options.items():
        experiment = replace(base, problem=replace(base.problem, **changed))
        runs, play = run_trials(experiment, n, seed, label=f"{option}, d = {d}"), uniform_regret(experiment, n)
        sensitivity[d, option] = {name: (run.average_regret[:, -1] / play).mean() for name, run in runs.items()}
sensitivity = pd.DataFrame(sensitivity).T.rename_axis(["d", "choice"])
results.table(sensitivity, "sensitivity")
sensitivity.round(2)

# %% [markdown]
# ## What did not reproduce, and why
#
# At full scale one claim fails, 3-K, and three hold in part: 3-C, 3-D and 3-E.
#
# **The level of Table 1 in two dimensions and of IGP-UCB in three (3-C to 3-E).** Both algorithms do better here than
# printed, by more than the sampling error of 12 runs, while the ratio of one to the other is within five per cent of
# the paper's. So something common to both differs, and makes the paper's problems harder: functions, norm or noise.
# None of the open choices does it: eq. 2 read literally means smoother functions and moves both shares farther away, a
# smaller $L$ too, $\alpha$ hardly matters (table above). A run's share of uniform regret also varies from function to
# function, most in one dimension, and so does the mean of any 12 runs, the paper's included: the table below splits our
# runs into groups of 12. Mean of ratios, ratio of means and median differ too, and the paper does not say which it
# prints.
#
# **Time in one dimension (3-K) is a property of the implementation.** The paper's IGP-UCB took 82 minutes for 30 arms.
# With the covariance of 30 arms kept up to date a step costs microseconds, and cells have nothing left to save. In
# three dimensions they save a factor of about sixty, as in the paper, with both sides far faster.
#
# **Figure 2 depends on the four functions,** which the paper does not name: π-GP-UCB gains on the four of record and on
# two of the supplement, and loses on Ackley and Rastrigin, where IGP-UCB finds the peak early and the tour of the cells
# costs the lead.

# %%
groups = {}
for (d, name), ours in fraction.items():
    means = [part.mean() for part in np.array_split(ours, max(1, len(ours) // 12))]
    spread = ours.std(ddof=1) / ours.mean()
    groups[d, name] = {"lowest": min(means), "highest": max(means), "groups": len(means), "sd over mean": spread}
groups = pd.DataFrame(groups).T.rename_axis(["d", "algorithm"])
results.table(groups, "means_of_12_runs")
groups.round(2)

# %% [markdown]
# ## Claims
#
# Rules: `claims/03_pi_gp_ucb_scaling.yaml`, fixed before the first run.

# %%
results.claims(ledger)
ledger.table()
