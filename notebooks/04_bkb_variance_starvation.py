# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # BKB and variance starvation
#
# Calandriello, Carratino, Lazaric, Valko and Rosasco (2019): run GP-UCB on a small *dictionary* of the arms pulled so
# far, drawn anew after every pull, each pull with a probability proportional to its posterior variance. The sketch is
# as large as the function explored is complex, and its variance stays honest where nothing was observed.
#
# This notebook rebuilds Figure 1 and puts 60 seeds and every rival approximation behind it, checks Theorems 1, 2 and 9
# and Proposition 5, and times the algorithm against named opponents. The numbers to quote are those of the
# [full-scale run](../results/paper/04_bkb_variance_starvation/notebook.ipynb). What stands here is the quick profile.
#
# | scale | time on 2 cores | memory |
# | --- | --- | --- |
# | quick (the defaults) | about 40 seconds | below 1 GB |
# | paper (`profiles/paper`) | about 20 minutes | about 1 GB |

# %% tags=["parameters"]
seed: int = 2019  # root seed of every random stream
seeds: int = 8  # functions behind Fig. 1 (full scale: 60)
n_arms: int = 400  # points of [0, 1] in Fig. 1 and Theorem 1 (full scale: 1000)
noise_variance: float = 0.01  # lambda, in all sections
ratio_seeds: int = 2  # sequences of pulls behind Theorem 1, each design (full scale: 10)
ratio_horizon: int = 100  # pulls in each (full scale: 600)
trials: int = 6  # functions behind the regret
regret_arms: int = 400  # random arms in the unit square (full scale: 1000)
horizon: int = 200  # rounds T of the regret (full scale: 1500)
large_arms: list[int] = [1000]  # the same with more arms (full scale: 4000 and 10000)
large_trials: int = 2  # functions there (full scale: 3)
qbar: float = 4.0  # BKB's constant for regret and costs
cost_arms: list[int] = [400]  # numbers of arms of the cost of a step, the first over cost_horizon rounds
cost_horizon: int = 200  # rounds (full scale: 5000)
cost_rounds: list[int] = [20, 50, 100, 200]  # rounds at which sizes are shown and refits are timed
coverage_runs: int = 20  # runs behind Theorems 2 and 9
coverage_horizon: int = 100  # rounds of each (full scale: 300)
linear_trials: int = 6  # functions of the linear bandit (full scale: 20)
linear_horizon: int = 200  # rounds T of the linear bandit (full scale: 2000)
delta: float = 0.1  # confidence bands may fail with this probability
timings: bool = False  # judge seconds, which differ from machine to machine (full scale: true)
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kbrepro import checks, figures, information, paths
from kbrepro.confidence import Constant, SelfNormalised
from kbrepro.kernels import Linear, SquaredExponential, grid
from kbrepro.papers.bkb import experiments
from kbrepro.papers.bkb.policy import BKB, Authors, Budgeted
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.papers.first_edition import Ledger, Results, load
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw, RKHSFunction
from kbrepro.regret import bootstrap, exact, share, slope
from kbrepro.simulation import Experiment, map_trials, run_trials

checks.positive_int(n_arms=n_arms, regret_arms=regret_arms, large_trials=large_trials)
checks.at_least(2, seeds=seeds, ratio_seeds=ratio_seeds, trials=trials, linear_trials=linear_trials)
checks.at_least(2, coverage_horizon=coverage_horizon, linear_horizon=linear_horizon, ratio_horizon=ratio_horizon)
checks.at_least(100, cost_horizon=cost_horizon, horizon=horizon)
checks.positive_ints(large_arms=large_arms, cost_arms=cost_arms, cost_rounds=cost_rounds)
checks.positive_int(coverage_runs=coverage_runs)
checks.non_negative_int(seed=seed)
checks.positive(noise_variance=noise_variance, qbar=qbar)
checks.probability(delta=delta)

figures.use_style()
results = Results(results_dir)
ledger = Ledger(load(paths.project_root() / "notebooks/claims/04_bkb_variance_starvation.yaml"))


def judge(claim_id, statistic, *samples, note=""):
    def of_rows(*its):
        return np.array([statistic(*row) for row in zip(*its, strict=True)]) if its[0].ndim == 2 else statistic(*its)

    return ledger.judge(claim_id, bootstrap(of_rows, *samples, rng=np.random.default_rng([seed, 1])), note)


# %% [markdown]
# ## The picture (Fig. 1)
#
# A draw from a GP on $[0, 1]$, $k(x, x') = \exp(-100 (x - x')^2)$, observed 6, 63 and 215 times, only in the left half.
# With features $z(x) \in \mathbb R^m$ and $V = \sum_s z(x_s) z(x_s)^\top + \lambda I$ an approximation has mean
# $\tilde\mu = z^\top V^{-1} \sum_s z(x_s) y_s$, and for its variance two forms:
#
# $$\text{SoR: } \lambda z^\top V^{-1} z, \qquad \text{DTC: } \lambda z^\top V^{-1} z + k(x, x) - \lVert z \rVert^2.$$
#
# BKB is DTC on the Nyström features of its dictionary $S$: after every pull each pull so far enters with probability
# $\min(1, \bar q \tilde\sigma^2)$, where $\tilde\sigma^2$ is the variance above divided by $\lambda$. SoR is shown on
# BKB's own dictionary; RFF has as many random Fourier features as BKB has members, QFF 26 quadrature Fourier features.

# %%
line = GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(n_arms), noise_variance)
left_half = partial(experiments.uniform_pulls, upto=0.5)
shown_at = [6, 63, 215]  # pulls
fig1_qbars = [2.0, 3.0, 5.0]
n_features = {"RFF": [100, 300], "QFF": [26, 50, 100]}  # beside as many as BKB's dictionary has members
snapshots = partial(experiments.snapshots, line, left_half, shown_at, fig1_qbars, n_features)
((picture, views),) = map_trials(snapshots, 1, seed, label="Fig. 1")
shown = {"exact": "", "BKB": "qbar=2", "SoR": "", "RFF": "m=|S|", "QFF": "m=26"}

# %% tags=["hide-input"]
fig, axes = plt.subplots(3, 5, figsize=(12, 6.2), sharex=True, sharey=True)
x = line.points[:, 0]
for row, t in zip(axes, shown_at, strict=True):
    truth = views["exact", "", t]
    for ax, (name, setting) in zip(row, shown.items(), strict=True):
        view, colour = views[name, setting, t], figures.LOOK[name][0]
        ax.axvspan(0, 0.5, color="0.96", zorder=0)
        ax.fill_between(x, view.mean - 3 * view.sd, view.mean + 3 * view.sd, color=colour, alpha=0.25, linewidth=0)
        ax.plot(x, view.mean, color=colour, label="posterior mean ± 3 sd")
        ax.plot(x, picture.expected_reward, "k--", linewidth=1, label="f")
        for side in (-3, 3):
            ax.plot(x, truth.mean + side * truth.sd, color="0.4", linewidth=0.7, label="exact ± 3 sd")
        ax.set_ylim(-4.5, 4.5)
        size = f", m = {view.n_features}" if view.n_features else ""
        ax.set_title(f"{name}{size}, t = {t}", fontsize=9)
    row[0].set_ylabel("reward")
for ax in axes[-1]:
    ax.set_xlabel("x")
handles, labels = axes[0, 0].get_legend_handles_labels()
fig.legend(handles[:3], labels[:3], loc="outside lower center", ncols=3)
fig.suptitle(r"Fig. 1: t pulls, all in the shaded half; BKB with $\bar q = 2$")
results.figure(fig, "headline_fig1_starvation")
plt.show()

# %%
pd.DataFrame(
    {t: {name: views[name, setting, t].sd[x > 0.5].mean() for name, setting in shown.items()} for t in shown_at}
).rename(columns="mean sd in the unseen half, t = {}".format).round(2)

# %% [markdown]
# In the unseen half the exact band opens to the prior; so does BKB's. SoR, and QFF with few features, are certain about
# what they have never seen: this is *variance starvation*.

# %% [markdown]
# ## Starvation over many seeds
#
# For every seed the largest ratio of variances over all arms, both ways: *exact over approximate* is starvation,
# *approximate over exact* an over-estimate (BKB after its dictionary lost a region). Coverage is that of $\pm 3$ sd
# over the arms of the unseen half; $m$ is the number of features (median), members count repeats. `DTC, uniform` has a
# dictionary of as many pulls as BKB's, drawn uniformly; the streaming dictionary is explained in the next section.

# %%
starved = partial(experiments.starvation, line, left_half, shown_at, fig1_qbars, n_features, 0.5)
runs = map_trials(starved, seeds, seed, label="starvation")
over, under, coverage, features, members = (
    {key: np.array([run[key][i] for run in runs]) for key in runs[0]} for i in range(5)
)
starvation = pd.DataFrame(
    {
        (*key[:2], f"t={key[2]}"): {
            "starved: median": np.median(over[key]),
            "starved: 95 %": np.quantile(over[key], 0.95),
            "over-estimate: 95 %": np.quantile(under[key], 0.95),
            "coverage": coverage[key].mean(),
            "m": np.median(features[key]) or np.nan,
            "members": members[key].mean() or np.nan,
        }
        for key in over
    }
).T.rename_axis(["", "setting", "pulls"])
results.table(starvation, "starvation")
table = starvation.xs("t=215", level="pulls")
in_words = table.map(lambda value: f"{value:.2f}" if value < 1e3 else f"{value:.1e}" if value < 1e6 else "above 1e6")
in_words.assign(**table[["m", "members"]].map("{:.0f}".format)).replace("nan", "")

# %% tags=["hide-input"]
compared = {
    "BKB, $\\bar q$=2": ("BKB", "qbar=2"),
    "BKB, $\\bar q$=3": ("BKB", "qbar=3"),
    "BKB, $\\bar q$=5": ("BKB", "qbar=5"),
    "streaming, $\\bar q$=3": ("BKB, streaming", "qbar=3"),
    "DTC, uniform": ("DTC, uniform", ""),
    "RFF, m=|S|": ("RFF", "m=|S|"),
    "RFF, m=100": ("RFF", "m=100"),
    "RFF, m=300": ("RFF", "m=300"),
    "QFF, m=26": ("QFF", "m=26"),
    "QFF, m=50": ("QFF", "m=50"),
    "QFF, m=100": ("QFF", "m=100"),
    "SoR": ("SoR", ""),
}
fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharey=True)
for ax, t in zip(axes, shown_at, strict=True):
    for place, (name, setting) in enumerate(compared.values()):
        starved = np.log10(np.minimum(over[name, setting, t], 1e8))
        grown = -np.log10(np.minimum(under[name, setting, t], 10**2.5))
        jitter = np.linspace(-0.25, 0.25, seeds)
        ax.plot(starved, place + jitter, "o", color=figures.LOOK[name][0], markersize=3, alpha=0.7)
        ax.plot(
            grown, place + jitter, "o", color=figures.LOOK[name][0], markersize=3, markerfacecolor="none", alpha=0.7
        )
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set(title=f"t = {t}", xlabel=r"$\log_{10}$ exact / approximate variance", xlim=(-2.8, 8.3))
axes[0].set_yticks(range(len(compared)), compared)
axes[0].invert_yaxis()
axes[0].plot([], [], "o", color="0.3", label="largest over the arms (starvation; cut at 8)")
axes[0].plot(
    [], [], "o", color="0.3", markerfacecolor="none", label="smallest over the arms (over-estimate; cut at -2.5)"
)
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
fig.suptitle(f"Worst ratio of variances, {seeds} seeds (one dot a seed)")
results.figure(fig, "starvation_over_seeds")
plt.show()

# %%
both = [side["BKB", "qbar=3", t] for t in shown_at for side in (over, under)]
kept = {q: members["BKB", f"qbar={q}", 215].mean() / 215 for q in (2, 3, 5)}
judge(
    "4-A",
    lambda *sides: np.quantile(sides, 0.95, axis=-1).max(),
    *both,
    note="; ".join(f"qbar={q}: {share_kept:.0%} of 215 pulls in the dictionary" for q, share_kept in kept.items()),
)
sor, truth = coverage["SoR", "", 215], coverage["exact", "", 215]
judge(
    "4-B",
    lambda sor, truth: min(0.6 / sor.mean(), 0.02 / max(1 - truth.mean(), 1e-3)),
    sor,
    truth,
    note=f"coverage: SoR {sor.mean():.2f}, exact {truth.mean():.3f}",
)
late, early = over["RFF", "m=|S|", 215], over["RFF", "m=|S|", 63]
judge(
    "4-C",
    lambda late, early: min(np.median(late) / 2, np.median(late) / np.median(early)),
    late,
    early,
    note=f"median worst ratio {np.median(late):.2g} at t = 215, {np.median(early):.2g} at t = 63",
)
few = over["QFF", "m=26", 215]
deviation = np.maximum(over["QFF", "m=100", 215], under["QFF", "m=100", 215]) - 1
judge(
    "4-D",
    lambda few, deviation: min(np.median(few) / 100, 1e-3 / max(deviation.max(), 1e-9)),
    few,
    deviation,
    note=f"median worst ratio with 26 features: {np.median(few):.2g}; with 100 within {max(deviation.max(), 1e-9):.0e}",
)

# %% [markdown]
# ## How large must the dictionary be? (Theorem 1)
#
# For $\bar q \ge 6 \alpha \log(4T/\delta)/\varepsilon^2$, $\alpha = (1+\varepsilon)/(1-\varepsilon)$, with high
# probability all arms and steps keep $\sigma^2/\alpha \le \tilde\sigma^2 \le \alpha \sigma^2$, and
#
# $$|S| \le 3 (1 + \kappa^2/\lambda)\, \alpha \bar q\, d_\text{eff}, \qquad
# d_\text{eff} = \sum_s \sigma_t^2(x_s)/\lambda.$$
#
# With $\varepsilon = 1/2$ that is $\alpha = 3$ and a $\bar q$ in the hundreds. Three designs: uniform pulls, a window
# that shrinks around one arm, and uniform pulls in two dimensions. A step is *bad* if some arm leaves the interval.
# The streaming dictionary (Section 3.2: members are dropped, never drawn again), which the paper leaves open, is judged
# on the same scale.

# %%
plane = GPDraw(SquaredExponential(0.2), grid(int(np.sqrt(n_arms)), 2), noise_variance)
designs = {
    "uniform": (line, experiments.uniform_pulls),
    "window": (line, experiments.shrinking_window),
    "plane": (plane, experiments.uniform_pulls),
}
dictionaries = {"BKB": BudgetedPosterior, "BKB, streaming": StreamingPosterior}
qbars, alpha = [1.0, 2.0, 3.0, 4.0, 8.0], 3.0
bad, size, sizes = {}, {}, {}
for design, setting in designs.items():
    for name, form in dictionaries.items():
        follow = partial(experiments.variance_ratios, *setting, ratio_horizon, qbars, form)
        ratios = map_trials(follow, ratio_seeds, seed, label=f"{name}, {design}")
        for q in qbars:
            low, high, member, distinct = np.moveaxis([found[q] for found, _, _ in ratios], -1, 0)
            dimension = np.array([dimension for _, dimension, _ in ratios])
            bad[name, design, q] = ((low < 1 / alpha) | (high > alpha)).mean(axis=1)
            size[name, design, q] = member[:, -1] / (q * dimension[:, -1])
            bound = 3 * (1 + 1 / noise_variance) * alpha * q * dimension
            sizes[name, design, q] = {
                "share of bad steps": bad[name, design, q].mean(),
                "d_eff": dimension[:, -1].mean(),
                "members": member[:, -1].mean(),
                "distinct": distinct[:, -1].mean(),
                "members / (qbar d_eff)": size[name, design, q].mean(),
                "bound / members": (bound / member).min(),
                "qbar that keeps all": np.mean([1 / smallest[-1] for _, _, smallest in ratios]),
            }
sizes = pd.DataFrame(sizes).T.rename_axis(["", "design", "qbar"])
results.table(sizes, "theorem1_dictionaries")
sizes.loc["BKB"].round({"share of bad steps": 3, "members / (qbar d_eff)": 2}).round(
    {"d_eff": 1, "members": 0, "distinct": 0, "bound / members": -1, "qbar that keeps all": 0}
)

# %% tags=["hide-input"]
fig, axes = plt.subplots(2, 3, figsize=(10, 5), sharex=True, sharey="row")
for panels, design in zip(axes.T, designs, strict=True):
    for name in dictionaries:
        for ax, quantity, scale in zip(panels, (bad, size), (100, 1), strict=True):
            per_seed = scale * np.array([quantity[name, design, q] for q in qbars])
            error = per_seed.std(axis=1, ddof=1) / np.sqrt(ratio_seeds)
            colour, style = figures.LOOK[name]
            ax.errorbar(qbars, per_seed.mean(axis=1), error, color=colour, linestyle=style, marker="o", label=name)
    panels[0].set(title=f"{design}, d_eff = {sizes.loc[('BKB', design, 4.0), 'd_eff']:.0f}")
    panels[1].axhspan(0.8, 1.5, color="0.93", zorder=0)
    panels[1].set(xlabel=r"$\bar q$", ylim=(0, 4))
axes[0, 0].set(ylabel="bad steps (%)", ylim=(-2, 102))
axes[1, 0].set_ylabel(r"members / $(\bar q\, d_{\mathrm{eff}})$")
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
fig.suptitle(f"Theorem 1 after {ratio_horizon} pulls: mean ± s.e. of {ratio_seeds} sequences (shaded: claim 4-G)")
results.figure(fig, "theorem1_transition")
plt.show()

# %%
own = Budgeted(delta).smallest_qbar(ratio_horizon)
everything = sizes["qbar that keeps all"].max()
judge(
    "4-E",
    lambda *shares: np.mean(shares, axis=-1).max(),
    *(bad["BKB", design, q] for design in designs for q in (4.0, 8.0)),
    note=f"the theorem's own qbar, {own:.0f}, exceeds {everything:.0f}, from which on no pull is left out",
)
at_1, at_2 = (np.mean([bad["BKB", design, q] for design in designs], axis=0) for q in (1.0, 2.0))
judge(
    "4-F",
    lambda at_1, at_2: min(at_1.mean() / 0.3, at_2.mean() / 0.02),
    at_1,
    at_2,
    note=f"bad steps: {at_1.mean():.0%} at qbar=1, {at_2.mean():.1%} at qbar=2",
)
furthest = {(d, q): size["BKB", d, q].mean() for d in designs for q in (3.0, 4.0, 8.0)}
where = max(furthest, key=lambda key: abs(np.log(furthest[key])))
bound_over_size = sizes.loc["BKB"]["bound / members"].min()
judge(
    "4-G",
    lambda *ratios: max(np.mean(ratios, axis=-1), key=lambda mean: abs(np.log(mean))),
    *(size["BKB", design, q] for design, q in furthest),
    note=f"furthest: {where[0]}, qbar={where[1]:g}; all within {min(furthest.values()):.2f} and "
    f"{max(furthest.values()):.2f}; the bound is at least {bound_over_size:.0f} times the size",
)

# %% [markdown]
# Between $\bar q = 1$ and 4 BKB goes from broken to reliable; the theorem's own constant keeps every pull at this
# scale, so it cannot be tested as a sketch. Probabilities above 1 are cut off, which is why large $\bar q$ on few pulls
# gives fewer members than $\bar q\, d_\text{eff}$.

# %%
sizes.loc["BKB, streaming"][["share of bad steps", "members / (qbar d_eff)"]].unstack("qbar").round(2)

# %% [markdown]
# ## What the sketch costs in regret (Theorem 2)
#
# Random arms in the unit square, squared exponential kernel with lengthscale 0.2, functions of RKHS norm $F = 2$, noise
# bounded by $R = 0.1$, $\lambda = R^2$. BKB pulls $\arg\max \tilde\mu + \tilde\beta \tilde\sigma$. Three radii on its
# $\tilde\sigma$, with $\xi = R$ and $S_t = \sum_s \tilde\sigma_t^2(x_s)$:
#
# - log-determinant, as exact GP-UCB has it (for the sketch not proved): $\sqrt\lambda F + R \sqrt{\log\det(V/\lambda) +
#   2\log(1/\delta)}$;
# - Theorem 2: $2\xi\sqrt{\alpha \log(\kappa^2 t) S_t + \log(1/\delta)} + (1 + 1/\sqrt{1-\varepsilon}) \sqrt\lambda F$;
# - the authors' code: $\xi \sqrt{\log(t) S_t + \log(1/\delta)} + \sqrt\lambda F$.
#
# All see the same functions and noise.

# %%
F = 2.0


def smooth(n, d=2):
    points = np.random.default_rng([seed, n, d]).uniform(size=(n, d))
    return RKHSFunction(SquaredExponential(0.2), points, noise_variance, norm=F)


sketched = partial(BKB, width=SelfNormalised(delta), qbar=qbar)
rules = {
    "exact": partial(UCB, width=SelfNormalised(delta)),
    "BKB": sketched,
    "BKB, streaming": partial(sketched, streaming=True),
    "BKB, authors' radius": partial(sketched, width=Authors(delta)),
    "BKB, Theorem 2's radius": partial(sketched, width=Budgeted(delta)),
}
unit_square = smooth(regret_arms)
traces = run_trials(Experiment(unit_square, rules, horizon), trials, seed, label="regret")
results.traces(traces, "regret")

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(8, 3.8))
figures.regret_panel(ax, traces)
ax.set_title(
    rf"{regret_arms} arms in the unit square, $\bar q$ = {qbar:g}, mean of {trials} trials ± s.e.", fontsize=10
)
results.figure(fig, "regret")
plt.show()


# %%
def dimensions(source, trace):
    """The effective dimension of every trial's pulls."""
    return [information.effective_dimension(source.kernel, source.points[arms], noise_variance) for arms in trace.arms]


final = {name: trace.cumulative_regret[:, -1] for name, trace in traces.items()}
regret = pd.DataFrame(
    {
        "mean R_T": {name: values.mean() for name, values in final.items()},
        "over exact": {name: values.mean() / final["exact"].mean() for name, values in final.items()},
        "distinct arms": {n: np.mean([len(np.unique(arms)) for arms in trace.arms]) for n, trace in traces.items()},
        "d_eff (first 5 trials)": {n: np.mean(dimensions(unit_square, trace.first(5))) for n, trace in traces.items()},
    }
)
results.table(regret, "regret")
regret.round({"mean R_T": 0, "over exact": 2, "distinct arms": 0, "d_eff (first 5 trials)": 0})

# %%
theorem_2 = "BKB, Theorem 2's radius"
judge(
    "4-H",
    lambda e, b, p: min(b.mean() / e.mean() / 0.8, 1.3 * e.mean() / b.mean(), p.mean() / e.mean() / 2),
    final["exact"],
    final["BKB"],
    final[theorem_2],
    note=f"R_T over exact's: log-determinant {regret.loc['BKB', 'over exact']:.2f}, "
    f"Theorem 2 {regret.loc[theorem_2, 'over exact']:.1f}, T = {horizon}",
)

# %%
larger = {}
for n in large_arms:
    both = Experiment(smooth(n), {name: rules[name] for name in ("exact", "BKB")}, horizon)
    for name, trace in run_trials(both, large_trials, seed, label=f"A={n}").items():
        larger[n, name] = {
            "mean R_T": trace.cumulative_regret[:, -1].mean(),
            "distinct arms": np.mean([len(np.unique(arms)) for arms in trace.arms]),
        }
larger = pd.DataFrame(larger).T.rename_axis(["arms", ""])
results.table(larger, "regret_many_arms")
larger.round(0)

# %% [markdown]
# With the same radius the sketch costs next to nothing. The constants of Theorem 2 do: their width makes BKB explore
# far longer than exact GP-UCB with its own.

# %% [markdown]
# ## What a step costs (Section 3.2)
#
# A step of BKB is $O((A + \text{distinct arms})\, m^2)$, whatever $t$; arms are embedded again only when the dictionary
# changed. Four opponents, all exact, on BKB's own pulls: *refit* from scratch ($O(t^3 + A t^2)$, the opponent of the
# paper), *counts* (refit with repeats of an arm as one point), *rows* (one row of the factor a pull, $O(tA)$), and
# *covariance* (the $A \times A$ posterior covariance, $O(A^2)$). Time is wall clock, nothing else running.

# %%
cases = {
    f"A={cost_arms[0]}, d=2": (cost_arms[0], 2, cost_horizon),
    f"A={cost_arms[0]}, d=1": (cost_arms[0], 1, horizon),
}
cases |= {f"A={n}, d=2": (n, 2, horizon) for n in cost_arms[1:]}
measured = {}
for case, (n, d, rounds) in cases.items():
    refits = [t for t in cost_rounds if t <= rounds]
    steps = partial(experiments.cost_of_steps, smooth(n, d), sketched, rounds, refits)
    (measured[case],) = map_trials(steps, 1, seed, label=f"cost, {case}")

# %%
dictionary = pd.concat({case: kept.reindex(cost_rounds).dropna() for case, (_, kept) in measured.items()})
dictionary = dictionary.astype(int).rename_axis(["", "t"])
dictionary = dictionary.rename(columns={"features": "m (rank)", "distinct": "distinct arms"})
results.table(dictionary, "cost_dictionaries")
dictionary.unstack(0).dropna(axis=1).swaplevel(axis=1).sort_index(axis=1, level=0, sort_remaining=False)


# %%
def typical(seconds, t, half=10):
    """The median over neighbouring steps that were timed."""
    return np.nanmedian(seconds[max(0, t - 1 - half) : t + half])


milliseconds = pd.DataFrame(
    {
        (case, t): {name: 1000 * typical(timed[name].to_numpy(), t) for name in timed}
        for case, (timed, _) in measured.items()
        for t in cost_rounds
        if t <= len(timed)
    }
).T.rename_axis(["", "t"])
results.table(milliseconds, "cost_milliseconds_per_step")
milliseconds.round(2) if timings else "seconds are shown in the figure only"

# %% tags=["hide-input"]
opponents = {
    "BKB": (figures.LOOK["BKB"][0], "-"),
    "exact, rows": ("black", "-"),
    "exact, covariance": ("black", ":"),
    "exact, counts": ("0.5", "--"),
    "exact, refit": ("black", "--"),
}
fig, axes = plt.subplots(1, len(cases), figsize=(2 + 3.1 * len(cases), 3.6), sharey=True)
for ax, (case, (timed, kept)) in zip(axes, measured.items(), strict=True):
    for name in timed:
        seconds = timed[name].to_numpy()
        every_step = not np.isnan(seconds).any()
        at = np.unique(np.geomspace(10, len(seconds), 40).astype(int)) if every_step else milliseconds.loc[case].index
        marker = "" if every_step else "o"
        colour, style = opponents[name]
        around = [seconds[max(0, t - 11) : t + 10] for t in at]
        low, middle, high = (1000 * np.array([np.nanquantile(part, q) for part in around]) for q in (0.1, 0.5, 0.9))
        ax.loglog(at, middle, style, color=colour, marker=marker, markersize=3, label=name)
        ax.fill_between(at, low, high, color=colour, alpha=0.12, linewidth=0)
    m, distinct = kept.iloc[-1][["features", "distinct"]]
    ax.set(title=f"{case}\nm = {m}, {distinct} distinct", xlabel="round t")
    ax.title.set_fontsize(9)
axes[0].set_ylabel("milliseconds per step")
axes[0].legend(fontsize=7)
fig.suptitle("Time per step: median and 10 to 90 % of 21 neighbouring steps")
results.figure(fig, "cost_per_step")
plt.show()

# %%
timed, kept = measured[f"A={cost_arms[0]}, d=2"]
step, row, refit, counts = (timed[n].to_numpy() for n in ("BKB", "exact, rows", "exact, refit", "exact, counts"))
late = np.unique(np.geomspace(cost_horizon / 5, cost_horizon, 20).astype(int))
m, distinct = kept["features"], kept["distinct"]
stable = f"m = {m[late[0]]} to {m[cost_horizon]}, {distinct[cost_horizon]} distinct arms"
if timings:
    ledger.judge("4-I", slope(np.log(late), np.log([typical(step, t) for t in late])), stable)
    faster = {t: typical(step, t) < refit[t - 1] for t in cost_rounds if t <= cost_horizon}
    always = [t for t in faster if all(better for later, better in faster.items() if later >= t)]
    counts_too = [t for t in faster if typical(step, t) < counts[t - 1]]
    note = (
        f"against a refit on the distinct arms: {f'from t = {min(counts_too)} on' if counts_too else 'never'}; {stable}"
    )
    ledger.judge("4-J", exact(min(always, default=2 * cost_horizon)), note)
    per_pull, start = np.polyfit(np.arange(1, cost_horizon + 1), row, 1)
    crossing = (np.median(step[late[0] - 1 :]) - start) / per_pull
    ledger.judge("4-K", exact(crossing), f"in an A x A covariance the exact step does not grow with t at all; {stable}")
else:
    for claim_id in ("4-I", "4-J", "4-K"):
        ledger.not_evaluated(claim_id, "timings are judged at full scale only")

# %% [markdown]
# Who the opponent is decides who wins. Against a refit from scratch BKB pays off after some hundred pulls, and its
# advantage grows without end. Against an exact posterior that is updated, not refitted, it does not pay at sizes where
# $m$ is near a hundred: $m^2$ is then no smaller than $t$.

# %% [markdown]
# ## Effective dimension, gain and the band (Proposition 5, Theorems 2 and 9)
#
# Proposition 5, with variances divided by $\lambda$ and taken after the point's own observation:
#
# $$d_\text{eff} \le \sum_s \sigma_s^2(x_s) \le \log\det(K/\lambda + I)
# \le d_\text{eff} (1 + \log(\lVert K \rVert/\lambda + 1)).$$
#
# Theorem 9: $f$ stays within $\tilde\beta\tilde\sigma$ of $\tilde\mu$ for all arms and rounds with probability
# $1 - \delta$. Theorem 2, with $L = \log(\kappa^2 T)$:
#
# $$R_T \le 2 (2\alpha)^{3/2} \sqrt T \bigl(\xi d_\text{eff} L + \sqrt{\lambda F^2 d_\text{eff} L}
# + \xi \log(1/\delta)\bigr).$$
#
# Both suppose the theorem's own $\bar q$; $\bar q = 4$ stands beside it.

# %%
chains = {}
for design, setting in designs.items():
    follow = partial(experiments.dimension_chain, *setting, min(ratio_horizon, 300))
    chains[design] = np.array(map_trials(follow, ratio_seeds, seed, label=f"Proposition 5, {design}"))
violation = max((chain[..., :-1] / chain[..., 1:] - 1).max() for chain in chains.values())
ledger.judge(
    "4-L",
    exact(round(violation, 10) + 0.0),
    f"{sum(c.shape[0] * c.shape[1] for c in chains.values())} steps, three designs",
)
quantities = ["d_eff", "sum of own variances", "log det", "upper bound"]
chain_table = pd.DataFrame({d: chain[:, -1].mean(axis=0) for d, chain in chains.items()}, index=quantities).T
results.table(chain_table, "proposition5")
chain_table.round(1)

# %%
small = RKHSFunction(SquaredExponential(0.1), grid(100), noise_variance, norm=F)
known = dict(norm=F, noise_scale=np.sqrt(noise_variance), noise_variance=noise_variance)
own = Budgeted(delta).smallest_qbar(coverage_horizon)
covered, width_table = {}, {}
for label, q in (("qbar=4", 4.0), ("the theorem's qbar", own)):
    rule = {"BKB": partial(BKB, width=Budgeted(delta), qbar=q)}
    experiment = Experiment(small, rule, coverage_horizon, record_band=True)
    trace = run_trials(experiment, coverage_runs, seed, label=f"Theorem 9, {label}")["BKB"]
    bounds = np.array([Budgeted(delta).regret_bound(d, coverage_horizon, **known) for d in dimensions(small, trace)])
    final_regret, band = trace.cumulative_regret[:, -1], trace.band_ratio.max(axis=1)
    covered[label] = (band <= 1) & (final_regret <= bounds)
    width_table[label] = {
        "qbar": q,
        "band holds": (band <= 1).mean(),
        "regret bound holds": (final_regret <= bounds).mean(),
        "bound over median regret": np.median(bounds) / np.median(final_regret),
        "share of the width that would do": np.quantile(band, 0.9),
    }
width_table = pd.DataFrame(width_table)
results.table(width_table, "theorems_2_and_9")
width_table.round(2)

# %%
weaker = min(covered, key=lambda label: covered[label].mean())
ledger.judge(
    "4-M",
    share(covered[weaker]),
    f"both qbar; bound at least {width_table.loc['bound over median regret'].min():.0f} times the median regret; "
    f"{width_table.loc['share of the width that would do'].max():.0%} of the width would cover in 90 % of the runs",
)

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4))
for ax, (design, chain) in zip(axes, chains.items(), strict=True):
    rounds = np.arange(1, chain.shape[1] + 1)
    for i, (quantity, style) in enumerate(zip(quantities, ["-", "--", "-.", ":"], strict=True)):
        low, middle, high = np.quantile(chain[..., i], [0, 0.5, 1], axis=0)
        ax.plot(rounds, middle, style, color=figures.LOOK["exact" if i else "BKB"][0], label=quantity)
        ax.fill_between(rounds, low, high, color="0.5", alpha=0.2, linewidth=0)
    ax.set(title=design, xlabel="pulls t", yscale="log", ylim=(1, None))
axes[0].set_ylabel("nats, or dimensions")
axes[2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
fig.suptitle(f"Proposition 5: median and range of {ratio_seeds} sequences")
results.figure(fig, "proposition5")
plt.show()

# %% [markdown]
# ## A sketched linear bandit (Section 5)
#
# With the linear kernel BKB is a linear bandit on the span of its dictionary, at most $d = 20$ directions. 500 random
# arms whose coordinates shrink geometrically, so that few directions matter. The bound to hold is exact linear UCB.

# %%
directions = np.random.default_rng([seed, 20]).standard_normal((500, 20)) * 0.8 ** np.arange(20)
linear = RKHSFunction(Linear(), directions / np.linalg.norm(directions, axis=1).max(), noise_variance, norm=1.0)
linear_rules = {name: rules[name] for name in ("exact", "BKB", "BKB, streaming")}
linear_traces = run_trials(Experiment(linear, linear_rules, linear_horizon), linear_trials, seed, label="linear")
results.traces(linear_traces, "linear")
fig, ax = plt.subplots(figsize=(7, 3.4))
figures.cumulative_panel(ax, linear_traces)
ax.set_title(f"linear bandit, d = 20, mean of {linear_trials} trials with 95 % interval", fontsize=10)
results.figure(fig, "linear_bandit")
plt.show()

# %%
linear_table = pd.DataFrame(
    {
        "mean R_T": {name: trace.cumulative_regret[:, -1].mean() for name, trace in linear_traces.items()},
        "distinct arms": {n: np.mean([len(np.unique(a)) for a in trace.arms]) for n, trace in linear_traces.items()},
        "d_eff (first 5 trials)": {n: np.mean(dimensions(linear, t.first(5))) for n, t in linear_traces.items()},
    }
)
results.table(linear_table, "linear")
linear_table.round(1)

# %% [markdown]
# All 20 directions matter here sooner or later, the dictionary spans them, and BKB and its streaming form (whose curves
# coincide) are exact linear UCB but for rounding and the first arm, which BKB draws at random.

# %% [markdown]
# ## What the open choices change
#
# The paper states neither $\lambda$ nor the meaning of its bandwidth 100. First table, Fig. 1 at $t = 215$:
# $\lambda = 10^{-4}$, and $\exp(-r^2/200)$ in place of $\exp(-100 r^2)$, which is nearly flat on $[0, 1]$. Second
# table: regret under other $\bar q$ and radii. *Corrected* is Theorem 2 with the $1/\lambda$ that its printed proof
# loses between eq. 6 and the radius.

# %%
variants = {
    "as in the figure": (line, n_features),
    "lambda = 1e-4": (replace(line, noise_variance=1e-4), n_features),
    "exp(-r^2/200)": (replace(line, kernel=SquaredExponential(10.0)), {"RFF": [100], "QFF": [26, 100]}),
}
sensitivity = {}
for variant, (source, numbers) in variants.items():
    again = partial(experiments.starvation, source, left_half, shown_at, fig1_qbars, numbers, 0.5)
    some = runs[:10] if source is line else map_trials(again, min(seeds, 10), seed, label=variant)
    for row in (("BKB", "qbar=2"), ("BKB", "qbar=3"), ("SoR", ""), ("RFF", "m=100"), ("QFF", "m=26"), ("QFF", "m=100")):
        sensitivity[variant, "median worst ratio", ", ".join(row)] = np.median([run[*row, 215][0] for run in some])
        sensitivity[variant, "coverage", ", ".join(row)] = np.mean([run[*row, 215][2] for run in some])
sensitivity = pd.Series(sensitivity).unstack([0, 1], sort=False)
results.table(sensitivity, "sensitivity_starvation")
sensitivity.map(lambda value: f"{value:.2g}" if value < 1e4 else "above 1e4")

# %%
other_rules = {
    "qbar=2": partial(sketched, qbar=2.0),
    "qbar=8": partial(sketched, qbar=8.0),
    "3 standard deviations": partial(sketched, width=Constant(3.0)),
    "corrected Theorem 2": partial(sketched, width=Budgeted(delta, corrected=True)),
    "Theorem 2, epsilon = 0.1": partial(sketched, width=Budgeted(delta, accuracy=0.1)),
}
few = min(trials, 5)
others = run_trials(Experiment(unit_square, other_rules, horizon), few, seed, label="choices")
choices = pd.Series({f"{name}": trace.cumulative_regret[:, -1].mean() for name, trace in others.items()})
choices = pd.concat([pd.Series({name: values[:few].mean() for name, values in final.items()}), choices])
choices = pd.DataFrame({"mean R_T": choices, "over exact": choices / choices["exact"]})
results.table(choices, "sensitivity_regret")
choices.round({"mean R_T": 0, "over exact": 2})

# %% [markdown]
# ## What did not reproduce, and why
#
# At full scale ten claims reproduce, 4-J in part, 4-G and 4-K do not.
#
# **Speed (4-J, 4-K).** The paper compares with exact GP-UCB refitted at every step. An exact posterior can also be
# updated at $O(tA)$ or $O(A^2)$ a step, and repeated pulls can be counted: against these BKB needs far more rounds than
# anybody runs here (the straight line of 4-K crosses after more than ten thousand), unless $m$ is small, as in one
# dimension. Against the refit it wins, in two dimensions from about $t = 200$ rather than 100: until then its
# dictionary keeps nearly everything.
#
# **The size of the dictionary (4-G).** It misses by a hair, in one of nine cases: the shrinking window at
# $\bar q = 8$, where $m_T$ is 0.800 of $\bar q\, d_\text{eff}$ before rounding hides on which side. $\bar q\,
# d_\text{eff}$ counts probabilities above 1 in full. Where few pulls carry much of the effective dimension, as at the
# start of the window, cutting them at 1 leaves fewer members: the table below shows what is left.
#
# **The constants.** The theorem's $\bar q$ keeps every pull, so Theorem 1 is checked at values that it does not cover
# and that work. Theorem 2's radius is proved and far too wide (4-H, 4-M). Its proof loses a $1/\lambda$; the corrected
# radius is wider still.

# %%
pd.DataFrame({f"qbar={q:g}": {d: size["BKB", d, q].mean() for d in designs} for q in qbars}).round(2)

# %% [markdown]
# ## Claims
#
# Rules: `claims/04_bkb_variance_starvation.yaml`, fixed before the first full-scale run.

# %%
results.claims(ledger)
ledger.table()
