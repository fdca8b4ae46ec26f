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
# # GPN-UCB: bandits that see the layers
#
# Li and Scarlett (2024): the reward is a chain (or a network) of unknown functions and a pull shows the output of
# every layer, without noise. GPN-UCB carries intervals that hold with certainty from layer to layer, narrowed by what
# a Lipschitz constant says, and pulls the arm whose last interval reaches highest.
#
# This notebook rebuilds Figures 6, 9 to 12 and Tables 1 and 2, and tests the confidence sets instead of assuming
# them. The authors published no code and no chains: the numbers rest on random chains of our own. Those to quote are
# in the [full-scale run](../results/paper/05_gpn_ucb_chains/notebook.ipynb); what stands here is the quick profile,
# with fewer arms, fewer samples for cEI and fewer trials.
#
# | scale | time on 2 cores | memory |
# | --- | --- | --- |
# | quick (the defaults) | about 50 seconds | below 1 GB |
# | paper (`profiles/paper`) | about 25 minutes | below 1 GB |

# %% tags=["parameters"]
seed: int = 2024  # root seed of every random stream
side: int = 20  # arms a side of [-5, 5]^2 (paper: 50)
horizon: int = 200  # rounds T
samples: int = 50  # samples S of cEI (paper: 1000)
chains: int = 6  # random chains behind the claims (full scale: 24)
trials_per_chain: int = 1  # trials on each of them (full scale: 3; sampled cEI: one)
figure_trials: int = 2  # trials on each of the two chains of the figures (paper: 10)
drawn_chains: int = 2  # chains drawn from the GP prior, shown beside (full scale: 8)
explorations: list[float] = [0.01, 1.0, 100.0]  # values b of OI (paper: 1e-4 to 1e4)
coverage_networks: int = 2  # random networks of each structure whose confidence sets are tested (full scale: 100)
coverage_horizon: int = 15  # pulls on each of them (full scale: 20)
needle_side: int = 5  # needles a side, M of them is its square (full scale: 10)
variant_chains: int = 2  # chains behind the table of open choices (full scale: 24)
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from kbrepro import checks, figures, paths
from kbrepro.papers.first_edition import Ledger, Results, load
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.experiments import (
    FINE,
    SMALL,
    DrawnChain,
    Repeated,
    bound_ratios,
    coverage,
    exact_chain,
    maximum_gap,
    nonadaptive_regrets,
)
from kbrepro.papers.gpn_ucb.policies import GPNUCB, CascadeUCB, OptimisticImprovement, black_box_ei, black_box_ucb
from kbrepro.papers.gpn_ucb.structures import rates
from kbrepro.problems import Trial
from kbrepro.regret import bootstrap, exact, share, simple_regret
from kbrepro.simulation import Experiment, map_trials, run_trials

checks.positive_int(samples=samples, trials_per_chain=trials_per_chain, coverage_horizon=coverage_horizon)
checks.at_least(2, chains=chains, figure_trials=figure_trials, drawn_chains=drawn_chains, variant_chains=variant_chains)
checks.at_least(10, side=side)
checks.at_least(196, horizon=horizon)  # claim 5-F speaks of T = 196
checks.at_least(2, coverage_networks=coverage_networks)
checks.at_least(3, needle_side=needle_side)
checks.non_negative_int(seed=seed)
for b in explorations:
    checks.positive(explorations=b)
assert min(explorations) <= 1 and max(explorations) >= 100, "claim 5-H compares b <= 1 with b >= 100"

figures.use_style()
results = Results(results_dir)
ledger = Ledger(load(paths.project_root() / "notebooks/claims/05_gpn_ucb_chains.yaml"))

# %% [markdown]
# ## The chains (Fig. 9)
#
# $g = f^{(3)} \circ f^{(2)} \circ f^{(1)}$ on a grid of $[-5, 5]^2$, squared exponential kernel with lengthscale 1,
# $B = L = 2$. The paper says that the layers are draws from the GP prior; but such a draw has no RKHS norm, and no
# $B$ bounds it. Here every layer interpolates a GP draw at a few random points (12 in the plane, then 4 on $[-2, 2]$)
# and is scaled to norm exactly 2. Then $|f| \le 2$ and, as $\|k_x - k_z\| \le |x - z|$, its Lipschitz constant is at
# most 2. Chains of draws from the prior are shown beside. Regrets are shares of the range of $g$.
#
# The figures use the first chain whose best places are several (a value within 5 % of the range of the maximum,
# farther than 2 from it) and the first whose maximiser is obvious (nothing farther than 2 comes within 25 %).

# %%
chain = exact_chain(side)
problems = [chain(Trial(seed, number)) for number in range(chains)]
gaps = np.array([maximum_gap(problem) for problem in problems])
scales = np.array([problem.reward_range for problem in problems])
pair, tried = {}, 0
while len(pair) < 2:
    gap = maximum_gap(chain(Trial(seed, tried)))
    kind = "several places" if gap <= 0.05 else "obvious maximiser" if gap >= 0.25 else None
    if kind:
        pair.setdefault(kind, tried)
    tried += 1
print(f"chains tried: 0 to {tried - 1}; taken: {pair}")
pd.DataFrame(
    {
        "chains": chains,
        "range of g, median": np.median(scales),
        "range of g, smallest": scales.min(),
        "with several places": (gaps <= 0.05).mean(),
        "with an obvious maximiser": (gaps >= 0.25).mean(),
    },
    index=["random chains"],
).round(2).transpose()

# %% tags=["hide-input"]
fig, axes = plt.subplots(2, 4, figsize=(11, 5))
for row, (kind, number) in zip(axes, pair.items(), strict=True):
    drawn = chain(Trial(seed, number))
    x, (first, second, third) = np.linspace(-5, 5, side), (output[:, 0] for output in drawn.outputs)
    for ax, values, name in ((row[0], first, "layer 1"), (row[3], third, f"g: {kind}")):
        mesh = ax.pcolormesh(x, x, values.reshape(side, side).T, cmap="viridis", rasterized=True)
        fig.colorbar(mesh, ax=ax)
        ax.set(title=name, xlabel="$x_1$", ylabel="$x_2$")
        ax.grid(False)
    for ax, inputs, values, name in ((row[1], first, second, "layer 2"), (row[2], second, third, "layer 3")):
        order = np.argsort(inputs)
        ax.plot(inputs[order], values[order], color="0.2")
        ax.set(title=f"{name} on its inputs", xlabel="input", ylabel="output")
fig.suptitle("Fig. 9: two chains with layers of norm 2")
results.figure(fig, "fig9_chains")
plt.show()

# %% [markdown]
# ## Regret on two chains, and on many (Figs. 11 and 12)
#
# GPN-UCB takes the largest upper end of $\Delta^{(4)}$, where $\Delta^{(2)}(x) = \mu^{(1)} \pm B\sigma^{(1)}$ and
#
# $$\Delta^{(i+1)}(x) = \Big[\min_{z \in \Delta^{(i)}(x)} \overline{\mathrm{LCB}}{}^{(i)}(z), \max_{z \in
# \Delta^{(i)}(x)} \overline{\mathrm{UCB}}{}^{(i)}(z)\Big], \quad \overline{\mathrm{UCB}}{}^{(i)}(z) = \min_{|z - z'|
# \le 1} \mu^{(i)}(z') + B\sigma^{(i)}(z') + L|z - z'|,$$
#
# on 100 points of $[-5, 5]$ (sets `paper`). Rivals: cUCB, OI ($b = 1$) and cEI see the layers, GP-UCB and EI do not.
# cEI is run as in the paper, its expectation a mean of samples, and with the expectation computed exactly. NonAda
# pulls a uniform grid and returns the maximiser of the composed posterior means.

# %%
grey_and_black = {
    "GPN-UCB": GPNUCB,
    "cUCB": CascadeUCB,
    "OI": OptimisticImprovement,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
    "cEI, exact": ExactCascadeEI,
}
sampled = {"cEI": partial(SampledCascadeEI, samples=samples)}
sides = list(range(2, 15))  # NonAda pulls the squares of these


def scaled(traces, ranges):
    return {name: trace._replace(regret=trace.regret / ranges[:, None]) for name, trace in traces.items()}


shown = {}
for kind, number in pair.items():
    problem, these = Repeated(chain, figure_trials), {"trials": figure_trials, "first": number * figure_trials}
    traces = run_trials(Experiment(problem, grey_and_black | sampled, horizon), **these, seed=seed, label=kind)
    ranges = np.full(figure_trials, chain(Trial(seed, number)).reward_range)
    chosen = np.array(map_trials(partial(nonadaptive_regrets, problem, sides), **these, seed=seed))
    shown[kind] = scaled(traces, ranges), chosen / ranges[:, None]
    results.traces(shown[kind][0], f"fig11_{kind.replace(' ', '_')}")

many = Repeated(chain, trials_per_chain)
every_trial = chains * trials_per_chain
traces = run_trials(Experiment(many, grey_and_black, horizon), every_trial, seed, label="chains")
traces = scaled(traces, np.repeat(scales, trials_per_chain))
traces |= scaled(run_trials(Experiment(chain, sampled, horizon), chains, seed, label="chains, cEI"), scales)
nonadaptive = np.array(map_trials(partial(nonadaptive_regrets, many, sides), every_trial, seed))
nonadaptive = nonadaptive / np.repeat(scales, trials_per_chain)[:, None]
for name, some in (("chains", traces.keys() - sampled.keys()), ("chains_sampled", sampled)):
    results.traces({policy: traces[policy] for policy in traces if policy in some}, name)

prior = DrawnChain(side)
prior_scales = np.array([prior(Trial(seed, number)).reward_range for number in range(drawn_chains)])
of_prior = run_trials(Experiment(prior, grey_and_black | sampled, horizon), drawn_chains, seed, label="GP draws")
of_prior = scaled(of_prior, prior_scales)
drawn_nonadaptive = np.array(map_trials(partial(nonadaptive_regrets, prior, sides), drawn_chains, seed))
drawn_nonadaptive = drawn_nonadaptive / prior_scales[:, None]
prior_total = {name: trace.regret.sum(axis=1) for name, trace in of_prior.items()}
results.traces(of_prior, "gp_draws")

# %% tags=["hide-input"]
panels = {f"g with {kind}": its for kind, (its, _) in shown.items()}
panels |= {f"{chains} random chains of norm 2": traces, f"{drawn_chains} chains of GP draws": of_prior}
fig, axes = plt.subplots(2, 2, figsize=(9.5, 7))
for ax, (title, its) in zip(axes.flat, panels.items(), strict=True):
    few = title.startswith("g with")
    figures.cumulative_panel(ax, its, unit="range of g", band="standard deviation" if few else "95 % interval")
    ax.set_title(f"{title}\nmean ± {'s.d. of the trials' if few else '95 % interval'}", fontsize=10)
    ax.get_legend().remove()
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=7)
fig.suptitle("Fig. 11: cumulative regret")
results.figure(fig, "headline_fig11_cumulative_regret")
plt.show()

# %% tags=["hide-input"]
sampled_at = np.array(sides) ** 2
fig, axes = plt.subplots(2, 2, figsize=(9.5, 7), sharey=True)
nonadaptive_of = [*(its for _, its in shown.values()), nonadaptive, drawn_nonadaptive]
for ax, (title, its), chosen in zip(axes.flat, panels.items(), nonadaptive_of, strict=True):
    figures.simple_panel(ax, its, unit="range of g")
    colour, style = figures.LOOK["NonAda"]
    ax.plot(sampled_at, np.maximum(chosen.mean(axis=0), 1e-4), style, marker="o", ms=3, color=colour, label="NonAda")
    ax.set_title(f"{title}: mean ± s.e.", fontsize=10)
    ax.get_legend().remove()
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=8)
fig.suptitle("Fig. 12: simple regret (below 1e-4 drawn at 1e-4; NonAda: regret of the point it returns)")
results.figure(fig, "fig12_simple_regret")
plt.show()


# %%
def by_chain(values):
    return values.reshape(chains, -1).mean(axis=1)


def at_round(name, t):
    return by_chain(simple_regret(traces[name])[:, t - 1])


total = {name: by_chain(trace.cumulative_regret[:, horizon - 1]) for name, trace in traces.items()}
early = {name: at_round(name, 50) for name in traces}
late = {name: at_round(name, 196) for name in traces} | {"NonAda": by_chain(nonadaptive[:, -1])}
regret_table = pd.DataFrame(
    {
        "R_T, median of chains": pd.Series(total).map(np.median),
        "R_T, mean": pd.Series(total).map(np.mean),
        "GPN-UCB lower in": {name: (total["GPN-UCB"] < its).mean() for name, its in total.items()},
        "simple regret at 50 (%)": 100 * pd.Series(early).map(np.mean),
        "at 196 (%)": 100 * pd.Series(late).map(np.mean),
    },
    index=[*traces, "NonAda"],
)
results.table(regret_table, "regret_on_chains")
regret_table.round({"R_T, median of chains": 0, "R_T, mean": 0, "GPN-UCB lower in": 2, "simple regret at 50 (%)": 1,
                    "at 196 (%)": 1}).astype(object).fillna("")  # fmt: skip

# %%
tied = 1e-9
non_cascaded_ei = ["cUCB", "OI", "GP-UCB", "EI"]
best_rival = np.min([total[name] for name in non_cascaded_ei], axis=0)
prior_best = np.min([prior_total[name] for name in non_cascaded_ei], axis=0)


def of_draws(rival):
    return f"chains of GP draws: {(prior_total['GPN-UCB'] < rival - tied).sum()} of {drawn_chains}"


ledger.judge("5-A", share(total["GPN-UCB"] < best_rival - tied), of_draws(prior_best))
ledger.judge("5-B", share(total["GPN-UCB"] < total["cEI"] - tied), f"S = {samples}; {of_draws(prior_total['cEI'])}")
ledger.judge("5-C", share(total["GPN-UCB"] < total["cEI, exact"] - tied), of_draws(prior_total["cEI, exact"]))
of_trials = simple_regret(traces["GPN-UCB"])[:, 49]
near = (simple_regret(of_prior["GPN-UCB"])[:, 49] <= 0.05).sum()
ledger.judge(
    "5-D",
    share(of_trials <= 0.05),
    f"within 1 %: {np.mean(of_trials <= 0.01):.2f} of trials; {near} of {drawn_chains} GP draws within 5 %",
)


def surpasses(t, slack):
    return at_round("GPN-UCB", t) < np.min([at_round(name, t) for name in non_cascaded_ei], axis=0) + slack


beside = ", ".join(f"{surpasses(t, -tied).sum()} at {t}" for t in (25, 50, 200))
ledger.judge("5-E", share(surpasses(50, -tied)), f"chains: {beside}; with ties {surpasses(50, tied).sum()} at 50")
ledger.judge("5-N", share(np.abs(early["GPN-UCB"] - early["cEI"]) <= 0.01), f"S = {samples}")
black_box = np.minimum(total["GP-UCB"], total["EI"])
worse = {name: share(total[name] > black_box + tied) for name in ("cUCB", "OI")}
rarest = min(worse, key=lambda name: worse[name].value)
ledger.judge("5-G", worse[rarest], f"{rarest}; the other: {max(e.value for e in worse.values()):.2f}")

# %%
ranks = rankdata(np.round(np.stack(list(late.values())), 9), method="min", axis=0)[list(late).index("NonAda")]
obvious = gaps >= 0.25
best_where_obvious = (ranks[obvious] == 1).mean() if obvious.any() else 0.0
correlation = spearmanr(ranks, gaps).statistic if np.ptp(ranks) > 0 else 0.0  # 0: the same rank everywhere
ledger.judge(
    "5-F",
    exact(min(best_where_obvious - 0.5, -correlation)),
    f"{obvious.sum()} of {chains} chains are obvious, NonAda is best in {best_where_obvious:.2f} of them, and in "
    f"{(ranks == 1).mean():.2f} of all; correlation {correlation:.2f}",
)
pd.Series(
    {
        "NonAda best at T = 196, all chains": (ranks == 1).mean(),
        "NonAda best, obvious maximiser": best_where_obvious,
        "correlation of its rank with the gap": correlation,
        "R_T of cEI by samples over exact cEI": total["cEI"].mean() / total["cEI, exact"].mean(),
    },
    name="share, or number",
).round(1).to_frame()

# %% [markdown]
# What cEI loses against its exact self is noise: where the true improvement is tiny everywhere, the largest of many
# estimates is a lucky sample, so a sampled cEI goes on pulling bad arms. Its simple regret does not suffer.

# %% [markdown]
# ## How much to explore in OI (Fig. 10)
#
# OI takes the larger of $\mathrm{UCB}(x) - \max \mathrm{LCB}$ and $\eta_t \tilde\sigma(x)$, $\eta_t = b / (1 + \log
# t)$, with the bounds of cUCB: $\tilde\sigma^{(i)} = \sigma^{(i)}(\tilde\mu^{(i-1)}) + L\tilde\sigma^{(i-1)}$.

# %%
sweep = {f"b = {b:g}": partial(OptimisticImprovement, b=b) for b in explorations}
swept = scaled(run_trials(Experiment(chain, sweep, horizon), chains, seed, label="Fig. 10"), scales)
of_cucb = simple_regret(traces["cUCB"])[::trials_per_chain]
ends = {b: simple_regret(swept[f"b = {b:g}"])[:, -1] for b in explorations}
small = [ends[b] for b in explorations if b <= 1]
large = [ends[b] for b in explorations if b >= 100]
alike = np.all([np.abs(end - of_cucb[:, -1]) <= 0.01 for end in small], axis=0)
large_is_worse = np.mean(large) > np.mean(small)
ledger.judge(
    "5-H",
    share(alike & large_is_worse),
    f"alike in {alike.mean():.2f} of chains; mean simple regret {np.mean(small):.2g} for b <= 1, {np.mean(large):.2g} "
    "for b >= 100",
)

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(7.5, 3.8))
rounds = np.arange(1, horizon + 1)
for colour, (name, trace) in zip(plt.cm.viridis(np.linspace(0, 0.95, len(sweep))), swept.items(), strict=True):
    curves = simple_regret(trace)
    error = curves.std(axis=0, ddof=1) / np.sqrt(chains)
    ax.semilogy(rounds, np.maximum(curves.mean(axis=0), 1e-5), color=colour, label=name)
    low, high = (np.maximum(curves.mean(axis=0) + sign * error, 1e-5) for sign in (-1, 1))
    ax.fill_between(rounds, low, high, color=colour, alpha=0.1, linewidth=0)
ax.semilogy(rounds, np.maximum(of_cucb.mean(axis=0), 1e-5), "k--", label="cUCB")
ax.set(xlabel="round t", ylabel="simple regret (range of g)", xlim=(1, horizon))
ax.set_title(f"Fig. 10: OI and cUCB, mean of {chains} chains ± s.e.", fontsize=10)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
results.figure(fig, "fig10_oi")
plt.show()

# %%
oi_table = pd.DataFrame(
    {
        "simple regret at T (%)": [100 * ends[b].mean() for b in explorations],
        "within 1 % of cUCB": [(np.abs(ends[b] - of_cucb[:, -1]) <= 0.01).mean() for b in explorations],
        "mean R_T": [swept[f"b = {b:g}"].regret.sum(axis=1).mean() for b in explorations],
    },
    index=pd.Index([f"{b:g}" for b in explorations], name="b"),
)
results.table(oi_table, "fig10_oi")
oi_table.round({"simple regret at T (%)": 0, "within 1 % of cUCB": 1, "mean R_T": 0})

# %% [markdown]
# ## Do the sets hold? (Lemmas 1 and 2)
#
# $|f - \mu_t| \le B \sigma_t$ holds with certainty, so the sets must never miss. Small random networks with exact
# norms and certified Lipschitz constants: chains, multi-output chains with $\Gamma = kI$ and with correlated outputs,
# feed-forward networks, and a chain whose second layer has an input of its own (K.1). On a grid the paper's sets look
# at grid points only; outward-rounded ones widen each set by half a cell and add $L$ times half a diagonal.

# %%
coverage_table, missed = {}, 0
for structure, (network, n_grid) in SMALL.items():
    covering = partial(coverage, network, n_grid, coverage_horizon)
    runs = map_trials(covering, coverage_networks, seed, label=structure)
    row = {"arm-steps": coverage_networks * coverage_horizon * 100}
    for mode in ("paper", "outward"):
        row[f"missed, {mode}"] = int(sum(run[mode][0].sum() for run in runs))
        row[f"median width, {mode}"] = np.median([run[mode][1, -1] for run in runs])
    coverage_table[structure] = row
    missed += row["missed, outward"]
coverage_table = pd.DataFrame(coverage_table).T
results.table(coverage_table, "coverage")
steps = int(coverage_table["arm-steps"].sum())
shares = coverage_table["missed, paper"] / coverage_table["arm-steps"]
ledger.judge("5-J", exact(missed), f"{steps} arm-steps; `paper` sets miss in {shares.min():.2f} to {shares.max():.2f}")
coverage_table.assign(**{"missed, paper": shares}).rename(columns={"missed, paper": "share missed, paper"}).round(1)

# %% tags=["hide-input"]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
place = np.arange(len(SMALL))
for shift, mode, colour in ((-0.2, "paper", "C0"), (0.2, "outward", "C3")):
    missed_share = coverage_table[f"missed, {mode}"] / coverage_table["arm-steps"]
    left.bar(place + shift, missed_share, 0.4, color=colour, label=mode)
    right.bar(place + shift, coverage_table[f"median width, {mode}"], 0.4, color=colour, label=mode)
left.set(ylabel="share of arm-steps missed", title="outside the set")
right.set(ylabel="UCB - LCB (range of g)", title=f"median width after {coverage_horizon} pulls", yscale="log")
for ax in (left, right):
    ax.set_xticks(place, SMALL, rotation=30, ha="right")
left.legend(title="sets")
results.figure(fig, "lemmas_1_and_2_coverage")
plt.show()

# %% [markdown]
# Validity has its price: on grids of this size outward-rounded sets of wide layers are wider than the range of the
# reward.

# %% [markdown]
# ## Bounds on the regret (Theorems 1 to 3, Tables 1 and 2)
#
# For chains $r_t \le 2B \sum_i (2L)^{m-i} \sigma^{(i)}_{t-1}(x_t^{(i)})$ (eq. 49; eqs. 67 and 94 for the others) and
# $R_T \le 2^{m+1} B L^{m-1} \Sigma_T$ ($5^m$ for multi-output chains, $2^{m+1} \sqrt{D}$ for feed-forward networks).
# Here with the standard deviations at the true inputs of the layers, and the largest of their sums for $\Sigma_T$.
# The equations are about sets on a continuum; for outward-rounded ones each bound grows by what the rounding adds.

# %%
ratios = {}
for structure, (network, n_grid) in FINE.items():
    for mode in ("outward", "paper"):
        bound = partial(bound_ratios, network, n_grid, 30, mode=mode)
        ratios[structure, mode] = np.array(map_trials(bound, coverage_networks, seed, label=structure))
ratio_table = pd.DataFrame(
    {
        key: {
            "largest r_t over bound": its[:, 0].max(),
            "median": np.median(its[:, 0]),
            "largest R_t over theorem": its[:, 1].max(),
        }
        for key, its in ratios.items()
    }
).T.rename_axis(["structure", "sets"])
results.table(ratio_table, "theorems_1_to_3")
outward = ratio_table.xs("outward", level="sets")
largest = outward[["largest r_t over bound", "largest R_t over theorem"]].to_numpy().max()
literal = ratio_table.xs("paper", level="sets")["largest r_t over bound"].max()
ledger.judge(
    "5-K",
    exact(largest),
    f"typical r_t over bound {outward['median'].max():.1g} or less; bare eqs., `paper` sets: {literal:.2g}",
)
ratio_table.round(2)

# %%
pulls = np.geomspace(10, 1e5, 40)
structures = {name: network.structure for name, (network, _) in FINE.items()}
of_chains = partial(rates, structures["chain"], norm=2.0, lipschitz=2.0, d=2)
fig, axes = plt.subplots(1, 4, figsize=(12, 3.6))
for m, colour in zip((2, 3, 4), ("C0", "C1", "C2"), strict=True):
    its = of_chains(pulls, m=m, nu=1.5)
    axes[0].loglog(pulls, its["upper R_T"], color=colour, label=f"upper, m = {m}")
    axes[0].loglog(pulls, its["lower R_T"], "--", color=colour, label=f"lower, m = {m}")
for nu, colour in zip((1.0, 1.5, 1.9), ("C0", "C1", "C2"), strict=True):
    its = of_chains(pulls, m=3, nu=nu)
    axes[1].loglog(pulls, its["upper simple"], color=colour, label=f"upper, nu = {nu}")
    axes[1].loglog(pulls, its["lower simple"], "--", color=colour, label=f"lower, nu = {nu}")
constants = np.geomspace(1, 10, 30)
for structure, width, style in (("chain", 1, "-"), ("multi-output", 2, "-."), ("feed-forward", 2, ":")):
    of_structure = partial(rates, structures[structure], 1e4, m=3, norm=2.0, nu=1.5, d=2, width=width)
    its = pd.DataFrame([of_structure(lipschitz=L) for L in constants])
    axes[2].loglog(constants, its["upper R_T"], style, color="C3", label=f"upper, {structure}")
axes[2].loglog(constants, its["lower R_T"], "k--", label="lower")
smoothness = np.linspace(1, 4, 40)
for m, colour in zip((2, 3, 4), ("C0", "C1", "C2"), strict=True):
    its = pd.DataFrame([of_chains(1e4, m=m, nu=nu) for nu in smoothness])
    axes[3].semilogy(smoothness, its["upper simple"], color=colour, label=f"Theorem 4, m = {m}")
    axes[3].semilogy(smoothness, its["upper simple, restricted"], ":", color=colour, label=f"restricted, m = {m}")
axes[0].set(xlabel="rounds T", ylabel="cumulative regret (rate)", title="nu = 1.5, d = 2", ylim=(5, 1e6))
axes[1].set(xlabel="rounds T", ylabel="simple regret (rate)", title="m = 3, d = 2")
axes[2].set(xlabel="Lipschitz constant L", ylabel="cumulative regret (rate)", title="m = 3, T = 10000, width 2")
axes[3].set(xlabel="smoothness nu", ylabel="simple regret (rate)", title="T = 10000, d = 2")
for ax in axes:
    ax.legend(fontsize=7)
fig.suptitle("Tables 1 and 2: rates with all constants 1, B = 2 (L = 2 where it does not vary)")
results.figure(fig, "tables_1_and_2_rates")
plt.show()

# %%
rate_table = pd.DataFrame({(m, nu): of_chains(1e4, m=m, nu=nu) for m in (2, 3, 4) for nu in (1.0, 1.5)})
rate_table = rate_table.T.rename_axis(["m", "nu"])
results.table(rate_table, "tables_1_and_2_rates")
rate_table.round(3)

# %% [markdown]
# ## The lower bound (Fig. 6, Theorem 5)
#
# A needle of height $2\epsilon_1$ hides in one of $M$ cells; later layers $\tilde g(z) = \tfrac{\tilde L}{2} (k(z -
# u) - k(z + u))$ raise it to $2\epsilon$. They do so almost at the full slope $L$: $r_{\min} / r_{\max}$ is near one.
# Whoever has pulled $T \le M/2 - 1$ arms has missed half of the needles, so the mean simple regret over all $M$ is at
# least $\epsilon$. Matérn kernels; in the simulation $\nu = 1.5$, $m = 3$, $\epsilon = 0.15$, and every policy meets
# every needle.

# %%
printed = {1.0: 0.958, 1.5: 0.939, 2.0: 0.934}
computed = {nu: np.divide(*needle.slope_range(nu)) for nu in printed}
ledger.judge("5-L", exact(max(abs(computed[nu] - printed[nu]) for nu in printed)))
epsilon, cells, pulls_allowed = 0.15, needle_side**2, needle_side**2 // 2 - 1
needles = needle.Needles(needle_side, epsilon, depth=3, nu=1.5)
of_needles = run_trials(Experiment(needles, grey_and_black, pulls_allowed), cells, seed, label="needles")
found = pd.DataFrame({name: trace.regret.min(axis=1) for name, trace in of_needles.items()})
design = partial(nonadaptive_regrets, needles, [int(np.sqrt(pulls_allowed))])
found["NonAda"] = np.array(map_trials(design, cells, seed, label="needles, NonAda"))
found /= epsilon
results.table(found, "theorem5_needles")
lowest = found.mean().idxmin()
ledger.judge(
    "5-M",
    exact(found.mean().min()),
    f"{lowest}; M = {cells}, T = {pulls_allowed}; norm {needles.first_norm():.1f} <= 5",
)
pd.DataFrame({"computed": computed, "printed": printed}).rename_axis("nu").round(4)

# %%
pd.DataFrame({"mean simple regret / epsilon": found.mean(), "needles found": (found < 0.5).mean()}).rename_axis(
    "policy"
).round(1)

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.5))
z = np.linspace(0, 3, 200)
for nu, colour in zip(printed, ("C0", "C1", "C2"), strict=True):
    axes[0].plot(z, needle.matern_profile(z, nu), color=colour, label=f"nu = {nu}")
    inside = np.linspace(-0.5, 0.5, 200)
    axes[1].plot(inside, needle.amplifier(inside, nu), color=colour, label=f"ratio {computed[nu]:.3f}")
axes[1].axvspan(0, needle.REACH, color="0.9")
axes[0].set(xlabel="distance", ylabel="k", title="Matérn kernel, lengthscale 1")
axes[1].set(xlabel="z", ylabel=r"$\tilde g(z)$", title="Fig. 6: B = 5, u = 0.5; shaded: up to 0.3")
mean, error = found.mean(), found.std(ddof=1) / np.sqrt(cells)
axes[2].barh(found.columns, mean, xerr=error, color=[figures.LOOK[name][0] for name in found.columns])
axes[2].axvline(1, color="k", linestyle="--")
axes[2].set(
    xlabel=r"mean simple regret / $\epsilon$ ± s.e.",
    xlim=(0, 2.1),
    title=f"{cells} needles, {pulls_allowed} pulls; dashed: lower bound",
)
for ax in axes[:2]:
    ax.legend(fontsize=8)
results.figure(fig, "fig6_and_theorem5")
plt.show()

# %% [markdown]
# ## What the open choices change
#
# The envelope and the grid of GPN-UCB, the projection of NonAda (Case 2), and the chains: layers of norm 2 as in the
# claims, or draws from the GP prior as the paper has it, for which $B = L = 2$ does not hold.

# %%
ablation = scaled(
    run_trials(
        Experiment(chain, {"without": partial(GPNUCB, envelope=False)}, horizon), chains, seed, label="envelope"
    ),
    scales,
)
without = ablation["without"].regret.sum(axis=1)
with_envelope = traces["GPN-UCB"].regret.sum(axis=1)[::trials_per_chain]
ledger.judge(
    "5-I",
    bootstrap(
        lambda a, b: a.mean(axis=-1) / b.mean(axis=-1), without, with_envelope, rng=np.random.default_rng([seed, 2])
    ),
    f"worse without in {(without > with_envelope).mean():.2f} of chains",
)
variants = {
    "as in the figures": GPNUCB,
    "no envelope": partial(GPNUCB, envelope=False),
    "200 grid points": partial(GPNUCB, n_grid=200),
    "envelope over all of the grid": partial(GPNUCB, radius=10.0),
    "outward-rounded sets": partial(GPNUCB, mode="outward"),
    "outward-rounded, 200 points": partial(GPNUCB, mode="outward", n_grid=200),
}
varied = scaled(
    run_trials(Experiment(chain, variants, horizon), variant_chains, seed, label="variants"), scales[:variant_chains]
)
loose = {"B = 4 told": variants["as in the figures"], "B = 4 told, no envelope": variants["no envelope"]}
told = replace(chain, norm_bound=4.0)
varied |= scaled(
    run_trials(Experiment(told, loose, horizon), variant_chains, seed, label="B = 4"), scales[:variant_chains]
)
variant_table = pd.DataFrame(
    {
        "mean R_T": {name: trace.regret.sum(axis=1).mean() for name, trace in varied.items()},
        "simple regret at 50 (%)": {name: 100 * simple_regret(t)[:, 49].mean() for name, t in varied.items()},
        "at T (%)": {name: 100 * simple_regret(t)[:, -1].mean() for name, t in varied.items()},
    }
)
results.table(variant_table, "sensitivity_gpn_ucb")
variant_table.round({"mean R_T": 0, "simple regret at 50 (%)": 1, "at T (%)": 1})

# %%
project = partial(nonadaptive_regrets, many, [14], project=True)
projected = np.array(map_trials(project, every_trial, seed))[:, 0] / np.repeat(scales, trials_per_chain)
prior_table = pd.DataFrame(
    {
        "norm 2: mean R_T": pd.Series(total).map(np.mean),
        "GP draws: mean R_T": pd.Series(prior_total).map(np.mean),
        "GPN-UCB lower in": {name: (prior_total["GPN-UCB"] < its).mean() for name, its in prior_total.items()},
        "simple regret at 50 (%)": {name: 100 * simple_regret(t)[:, 49].mean() for name, t in of_prior.items()},
    }
)
results.table(prior_table, "sensitivity_gp_draws")
percent = 100 * nonadaptive[:, -1].mean(), 100 * projected.mean()
print("NonAda at 196 pulls, simple regret in %: {:.1f}, projected {:.1f}".format(*percent))
prior_table.round({"norm 2: mean R_T": 0, "GP draws: mean R_T": 0, "GPN-UCB lower in": 2, "simple regret at 50 (%)": 1})

# %% [markdown]
# ## What did not reproduce, and why
#
# At full scale eight claims reproduce, 5-D in part; 5-C, 5-E, 5-F, 5-I and 5-N do not. The table computes what the
# explanations rest on.
#
# **Against exact cEI (5-C).** The paper's cEI pays for its samples: the same rule with its expectation computed has
# little more than half of its cumulative regret. What GPN-UCB beats is Monte Carlo noise; exact cEI and GPN-UCB are
# about level.
#
# **The envelope (5-I).** For the squared exponential a norm of at most $B$ implies $L = B / l$, and that is the $L$
# of the experiment: everything that the Lipschitz constant says is already in the band, $\mu \pm B\sigma$ is all but
# Lipschitz with it, and its envelope changes next to nothing. It does narrow the sets where $B$ is loose (the rows
# with $B = 4$).
#
# **Simple regret (5-D, 5-E, 5-N).** On 100 grid points an interval around one grid point is judged by that point
# alone, and one without a grid point by its neighbours, up to $L$ times half a step too wide. So GPN-UCB can settle
# slightly beside the maximum; a finer grid brings it closer.
#
# **Non-adaptive sampling (5-F)** is best in simple regret on nearly all chains, with an obvious maximiser or without:
# its rank has nothing to do with how obvious the maximiser is, and only five of 24 chains count as obvious.
#
# **Black-box EI and GP-UCB** come close to the maximum late rather than early; with finitely many arms they often
# reach it exactly, which no strict comparison of simple regrets forgives.

# %%
why = pd.Series(
    {
        "R_T of cEI by samples over exact cEI": total["cEI"].mean() / total["cEI, exact"].mean(),
        "R_T without over with the envelope, median of chains": np.median(without / with_envelope),
        "chains where GPN-UCB ends above 1 % of the range": (at_round("GPN-UCB", horizon) > 0.01).mean(),
        "chains where EI ends above 1 % of the range": (at_round("EI", horizon) > 0.01).mean(),
        "chains where exact cEI ends above 1 % of the range": (at_round("cEI, exact", horizon) > 0.01).mean(),
    },
    name="ratio or share",
)
results.table(why.to_frame(), "why")
why.round(1).to_frame()

# %% [markdown]
# ## Claims
#
# Rules: `claims/05_gpn_ucb_chains.yaml`, fixed before any run at scale. 5-B and 5-N speak of 1000 samples: in the
# quick profile cEI has fewer, and the two are not evaluated.

# %%
if samples < 1000:
    for claim_id in ("5-B", "5-N"):
        ledger.not_evaluated(claim_id, f"cEI had {samples} samples, the claim speaks of 1000")
results.claims(ledger)
ledger.table()
