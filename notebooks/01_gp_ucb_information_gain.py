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
# # GP-UCB and information gain
#
# Srinivas, Krause, Kakade and Seeger (2010): treat an unknown reward function as a draw from a Gaussian process, pull
# the arm with the largest upper confidence bound, and the regret grows no faster than the root of what the pulls can
# teach, their *information gain*.
#
# This notebook rebuilds Figures 1 to 5 and checks Theorems 1, 3 and 5. The numbers to quote are those of the
# [full-scale run on real temperature data](../results/paper/01_gp_ucb_information_gain/notebook.ipynb). What stands
# here is the quick profile: shorter runs, fewer trials, and a simulated stand-in where no sensor data is found.
#
# | scale | time on 2 cores | memory |
# | --- | --- | --- |
# | quick (the defaults) | about 30 seconds | below 1 GB |
# | paper (`profiles/paper`) | about five minutes | below 1 GB |

# %% tags=["parameters"]
seed: int = 2010  # root seed of every random stream
trials: int = 20  # test functions behind the claims on Fig. 5a (full scale: 200)
trials_shown: int = 20  # the first of them, drawn in Fig. 5a (paper: 30)
horizon: int = 200  # rounds T of Fig. 5a (paper: 1000)
n_arms: int = 1000  # points of [0, 1] in Fig. 5a
fields: int = 960  # temperature fields of Fig. 5b, consecutive minutes (paper: 2000)
sizes: list[int] = [100, 300]  # numbers of arms |D| of Fig. 3
gain_horizon: int = 200  # rounds T of Fig. 3
growth_horizon: int = 1000  # rounds T of the growth of the gain (full scale: 10000; SE on an interval: ten times)
margin: float = 0.1  # margin of MPI, in prior standard deviations
delta: float = 0.1  # the confidence band may fail with this probability
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh

from kbrepro import checks, figures, information, paths, problems
from kbrepro.confidence import Bayes
from kbrepro.data import store
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers import gp_ucb
from kbrepro.papers.first_edition import Ledger, Results, load
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement, VarianceOnly
from kbrepro.problems import GPDraw, Problem, RKHSFunction, Rows, Told
from kbrepro.regret import (
    bootstrap,
    exact,
    final_average_regret,
    mean_difference,
    relative_difference,
    share,
    slope,
    stuck,
    weakest,
)
from kbrepro.simulation import Experiment, rounds, run_trials

checks.positive_int(trials=trials, trials_shown=trials_shown, horizon=horizon, n_arms=n_arms, fields=fields)
checks.at_least(2, trials=trials, trials_shown=trials_shown, fields=fields)
checks.at_least(100, growth_horizon=growth_horizon)
checks.at_least(51, gain_horizon=gain_horizon)  # claim 1-A speaks of T >= 50
checks.positive_ints(sizes=sizes)
checks.non_negative_int(seed=seed)
checks.non_negative(margin=margin)
checks.probability(delta=delta)

figures.use_style()
results = Results(results_dir)
ledger = Ledger(load(paths.project_root() / "notebooks/claims/01_gp_ucb_information_gain.yaml"))

# %% [markdown]
# ## How fast can a function be learned? (Fig. 3)
#
# Pulling the arms $A$ teaches $I(y_A; f) = \tfrac12 \log\det(I + \sigma^{-2} K_A)$. The most that $T$ pulls can teach,
# $\gamma_T$, is bounded through the eigenvalues $\hat\lambda_s$ of the kernel matrix of all arms (eq. 8):
#
# $$\gamma_T \le \frac{1/2}{1 - e^{-1}} \max_{\sum_s m_s = T} \sum_s \log(1 + \sigma^{-2} m_s \hat\lambda_s).$$
#
# Four kernels of equal trace, $\sigma^2 = 0.025$. The paper does not state its sizes: here the arms are equispaced on
# $[0, 1]$ with lengthscale 0.2, and random unit vectors in four dimensions for the linear kernel.


# %%
def kernels_on(n):
    directions = np.random.default_rng(seed).standard_normal((n, 4))
    return {
        "independent": (Independent(), grid(n)),
        "Matérn 2.5": (Matern(0.2, nu=2.5), grid(n)),
        "squared exponential": (SquaredExponential(0.2), grid(n)),
        "linear": (Linear(), directions / np.linalg.norm(directions, axis=1, keepdims=True)),
    }


spectra, bounds, greedy = {}, {}, {}
for n in sizes:
    for name, (kernel, arms) in kernels_on(n).items():
        spectra[n, name] = eigvalsh(kernel(arms, arms))[::-1]
        bounds[n, name] = gp_ucb.spectral_bound(spectra[n, name], 0.025, gain_horizon)
        greedy[n, name] = information.greedy_gain(kernel, arms, 0.025, gain_horizon)[0]

# %%
n = sizes[0]
fig, axes = plt.subplots(1, 3, figsize=(10, 3.3))
for name, (colour, style) in figures.KERNEL_LOOK.items():
    axes[0].semilogy(np.arange(1, n + 1), np.maximum(spectra[n, name], 1e-12), style, color=colour)
    axes[1].loglog(np.arange(1, gain_horizon + 1), bounds[n, name], style, color=colour)
    axes[2].loglog(np.arange(1, gain_horizon + 1), greedy[n, name], style, color=colour, label=name)
axes[0].set(title="spectrum", xlabel="rank s", ylabel=r"eigenvalue $\hat\lambda_s$", ylim=(1e-4, 300), xlim=(0, 40))
axes[1].set(title="bound of eq. 8", xlabel="pulls T", ylabel="information gain (nats)", ylim=(1, 1000))
axes[2].set(title="greedy pulls", xlabel="pulls T", ylabel="information gain (nats)", ylim=(1, 1000))
fig.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=4)
fig.suptitle(f"Fig. 3: {n} arms, equal trace")
results.figure(fig, "fig3_information_gain")
plt.show()

# %%
at = [50, gain_horizon]
gain_table = pd.DataFrame(
    [(n, name, *(bounds[n, name][t - 1] for t in at), *(greedy[n, name][t - 1] for t in at)) for n, name in bounds],
    columns=["arms", "kernel", *(f"bound T={t}" for t in at), *(f"greedy T={t}" for t in at)],
).set_index(["arms", "kernel"])
results.table(gain_table, "fig3_information_gain")
gain_table.round(1)

# %%
order = list(figures.KERNEL_LOOK)
gaps = {
    (n, upper, lower): (1 - bounds[n, lower] / bounds[n, upper])[49:].min()
    for n in sizes
    for upper, lower in pairwise(order)
}
narrowest = min(gaps, key=gaps.get)
ledger.judge("1-A", exact(gaps[narrowest]), f"narrowest with {narrowest[0]} arms: {narrowest[1]} over {narrowest[2]}")

# %% [markdown]
# The faster the eigenvalues fall, the less there is to learn: the smooth kernels and the low-dimensional one flatten
# early, independent arms go on teaching at every pull. Greedy pulls stay well below the bound.

# %% [markdown]
# ## How the gain grows (Theorem 5, Lemma 7.8, Theorem 8)
#
# Theorem 5: $\gamma_T = O(d \log T)$ for the linear kernel, $O((\log T)^{d+1})$ for the squared exponential (SE),
# $O(T^{d(d+1)/(2\nu + d(d+1))} \log T)$ for Matérn. The greedy gain has the same growth as $\gamma_T$. Slopes are
# fitted over the last decade of $T$, on grids of about 1000 points of $[0, 1]^d$ with lengthscale 0.5, so that $T$ is
# large against the number of directions that matter; 200 random unit vectors for the linear kernel.

# %%
decade = np.unique(np.geomspace(growth_horizon / 10, growth_horizon, 20).astype(int))
sides = {1: 1000, 2: 32, 3: 10}
growth = {}
for d in (1, 2, 4, 8):
    directions = np.random.default_rng([seed, d]).standard_normal((200, d))
    arms = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    growth["linear", d] = information.greedy_gain(Linear(), arms, 0.025, growth_horizon)[0]
for d, side in sides.items():
    growth["SE", d] = information.greedy_gain(SquaredExponential(0.5), grid(side, d), 0.025, growth_horizon)[0]
    growth["Matérn 2.5", d] = information.greedy_gain(Matern(0.5, nu=2.5), grid(side, d), 0.025, growth_horizon)[0]

fits, bound_of = {}, {}
for (name, d), gains in growth.items():
    y = gains[decade - 1]
    if name == "linear":
        fits[name, d], bound_of[name, d] = slope(np.log(decade), y), d / 2
    elif name == "SE":
        fits[name, d], bound_of[name, d] = slope(np.log(np.log(decade)), np.log(y)), d + 1
    else:
        fits[name, d] = slope(np.log(decade), np.log(y))
        bound_of[name, d] = information.matern_exponent(d, 2.5)
fit_table = pd.DataFrame(fits, index=["fitted", "low", "high"]).T
fit_table["theorem"] = bound_of
results.table(fit_table.rename_axis(["kernel", "d"]), "theorem5_growth")
fit_table.round(2)

# %%
deviation = max(abs(fits["linear", d].value / (d / 2) - 1) for d in (1, 2, 4, 8))
ledger.judge("1-B", exact(deviation))
ratios = {f"{name}, d={d}": fits[name, d].value / bound_of[name, d] for name, d in fits if name != "linear"}
ratios |= {f"SE, d={d} over d={d + 1}": fits["SE", d].value / fits["SE", d + 1].value for d in (1, 2)}
largest = max(ratios, key=ratios.get)
ledger.judge("1-C", exact(ratios[largest]), f"largest: {largest}; the theorem bounds from above, visibly loosely")

# %%
pulls = np.unique(np.geomspace(10, 10 * growth_horizon, 25).astype(int))
chain = {}
for name, kernel, tau in (("SE", SquaredExponential(0.2), 1.0), ("Matérn 2.5", Matern(0.2, nu=2.5), 5 / 7)):
    matrix = eigvalsh(kernel(grid(1000), grid(1000)))
    operator = gp_ucb.operator_spectrum(kernel)
    long_horizon = pulls[-1] if name == "SE" else growth_horizon
    chain[name] = {
        "greedy": information.greedy_gain(kernel, grid(1000), 0.025, long_horizon)[0],
        "eq. 8 (Lemma 7.6)": gp_ucb.spectral_bound(matrix, 0.025, pulls[-1])[pulls - 1],
        "Lemma 7.8": np.array([gp_ucb.split_bound(matrix, 0.025, T) for T in pulls]),
        "Theorem 8, O-term omitted": np.array([gp_ucb.operator_bound(operator, 0.025, T, tau) for T in pulls]),
    }
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
for ax, (name, bounds_of) in zip(axes, chain.items(), strict=True):
    for (label, values), style in zip(bounds_of.items(), ["-", "--", "-.", ":"], strict=True):
        at = np.arange(1, len(values) + 1) if label == "greedy" else pulls
        ax.loglog(at, values, style, label=label)
    ax.set(title=f"{name}, lengthscale 0.2, 1000 points of [0, 1]", xlabel="pulls T", xlim=(10, pulls[-1]))
axes[0].set_ylabel("information gain (nats)")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
results.figure(fig, "theorem8_bounds_on_the_gain")
plt.show()

# %%
chain_table = pd.DataFrame(
    {(name, T): {k: v[T - 1] if k == "greedy" else v[pulls == T][0] for k, v in bounds_of.items()}
     for name, bounds_of in chain.items() for T in (10, pulls[pulls <= growth_horizon][-1])}
).T  # fmt: skip
results.table(chain_table.rename_axis(["kernel", "T"]), "theorem8_bounds_on_the_gain")
chain_table.round(1)

# %% [markdown]
# Each step from the gain to Theorem 8 costs a factor. The last is by far the largest: the price of a statement that
# needs only the tail of the operator's spectrum. ($\tau = d$ for SE and $2\nu d/(2\nu + d(d+1))$ for Matérn, as in the
# proof.)

# %% [markdown]
# ## What the rates promise (Fig. 1)
#
# Regret is of order $\sqrt{T \beta_T \gamma_T}$: up to logarithms $d\sqrt T$ for the linear kernel,
# $\sqrt{T (\log T)^{d+1}}$ for SE, $T^{(\nu + d(d+1))/(2\nu + d(d+1))}$ for Matérn. Constants are unknown: only slopes
# can be compared.

# %% tags=["hide-input"]
T = np.geomspace(10, 1e8, 200)
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
for name, kernel in (("linear", "linear"), ("squared exponential", "squared exponential"), ("Matérn 2.5", "matern")):
    for d, style in ((1, "-"), (2, "--"), (4, ":")):
        regret = np.sqrt(information.gain_rate(kernel, T, d) / T)
        axes[0].loglog(T, regret / regret[0], style, color=figures.KERNEL_LOOK[name][0], label=f"{name}, d={d}")
axes[0].set(xlabel="rounds T", ylabel="$R_T/T$, relative to T = 10", title=r"$\sqrt{\gamma_T / T}$ by Theorem 5")
axes[0].legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
dimensions = np.arange(1, 11)
exponents = {nu: [(1 + information.matern_exponent(d, nu)) / 2 for d in dimensions] for nu in (1.5, 2.5, 5.0, 10.0)}
for (nu, values), style in zip(exponents.items(), [":", "--", "-.", "-"], strict=True):
    axes[1].plot(
        dimensions, values, style, color=figures.KERNEL_LOOK["Matérn 2.5"][0], label=rf"Matérn, $\nu$ = {nu:g}"
    )
axes[1].axhline(0.5, color=figures.KERNEL_LOOK["squared exponential"][0], label="SE, linear")
axes[1].set(xlabel="dimension d", ylabel="exponent of T", title="exponent of the regret", ylim=(0.45, 1))
axes[1].legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
fig.suptitle("Fig. 1: regret rates")
results.figure(fig, "fig1_regret_rates")
plt.show()

# %%
pd.DataFrame(exponents, index=pd.Index(dimensions, name="d")).rename_axis("nu", axis=1).loc[[1, 2, 4, 8]].round(3)

# %% [markdown]
# Roughness is what hurts: for Matérn the exponent nears 1, no learning, as the dimension grows, while SE pays for the
# dimension in logarithms only.

# %% [markdown]
# ## What such functions look like (Fig. 4)
#
# Draws from the prior of three kernels. Smooth kernel matrices are numerically singular, so draws go through a pivoted
# Cholesky factor that stops at $10^{-12}$ of the variance; nothing is inverted.

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(10, 2.8), sharex=True)
roughness = {}
for ax, name in zip(axes, ["linear", "squared exponential", "Matérn 2.5"], strict=True):
    kernel = {"linear": Linear(), "squared exponential": SquaredExponential(0.2)}.get(name, Matern(0.2, nu=2.5))
    rng = np.random.default_rng([seed, 4])
    draws = np.array([problems.draw_from_prior(kernel, grid(400), rng) for _ in range(4)])
    roughness[name] = {
        "rank of the factor": problems.covariance_factor(kernel(grid(400), grid(400))).shape[1],
        "mean squared slope": np.mean(np.diff(draws, axis=1) ** 2) * 399**2,
    }
    ax.plot(grid(400)[:, 0], draws.T, linewidth=1.3)
    ax.set(title=name, xlabel="x")
axes[0].set_ylabel("f(x)")
fig.suptitle("Fig. 4: draws from three priors")
results.figure(fig, "fig4_prior_draws")
plt.show()

# %%
pd.DataFrame(roughness).T.round(1)

# %% [markdown]
# ## Uncertain first, then high mean (Fig. 2)
#
# A temperature field at one moment, and two consecutive rounds of GP-UCB in one dimension: first a pull where the
# posterior is uncertain, then one where its mean is high.

# %%
data = store.load("temperature")
label = "temperature sensors" if data.is_real else "SIMULATED STAND-IN for temperature sensors"
train, test = store.train_test(data)

told = Told(grid(400), SquaredExponential(0.1), noise_variance=0.025)
example = Problem(told, problems.draw_from_prior(told.kernel, told.points, np.random.default_rng([seed, 2])))
policy = UCB(told, horizon=40, width=Bayes(delta, divide_beta_by=5))
played, band, rank = [], {}, {}
for t, arm, reward in rounds(policy, example, 40, np.random.default_rng([seed, 3])):
    played.append((told.points[arm, 0], reward))
    mean, sd = policy.posterior.mean.copy(), policy.posterior.sd
    band[t] = mean, policy.width(policy) * sd
    rank[t] = (sd > sd[arm]).mean(), (mean > mean[arm]).mean()
rank = pd.DataFrame(rank, index=["share of arms more uncertain", "share of arms of higher mean"]).T.loc[3:]
# the pair of rounds that shows it best: first an arm among the most uncertain, then one among the best by mean
turn = (rank["share of arms more uncertain"] + rank["share of arms of higher mean"].shift(-1)).idxmin()

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4))
moment = axes[0].scatter(*data.locations.T, c=test[720], cmap="cividis", s=45, edgecolor="0.4", linewidth=0.5)
fig.colorbar(moment, ax=axes[0], label=f"temperature ({data.unit})")
axes[0].set(title=f"(a) {label}\n{data.times[len(train) + 720]:%d %B %Y, %H:%M}", xlabel="x (m)", ylabel="y (m)")
axes[0].title.set_fontsize(8)
x = told.points[:, 0]
for ax, t, panel in zip(axes[1:], (turn, turn + 1), "bc", strict=True):
    mean, half = band[t]
    ax.fill_between(x, mean - half, mean + half, color="0.85", label="band")
    ax.plot(x, example.expected_reward, "k--", linewidth=1, label="f")
    ax.plot(x, mean, color=figures.LOOK["GP-UCB"][0], label="posterior mean")
    ax.plot(*zip(*played[: t - 1], strict=True), "k+", label="observed")
    ax.axvline(played[t - 1][0], color=figures.LOOK["EI"][0], label="next pull")
    ax.set(title=f"({panel}) round {t}", xlabel="x")
axes[1].set_ylabel("reward")
axes[2].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
results.figure(fig, "fig2_two_rounds")
plt.show()

# %%
rank.loc[[turn, turn + 1]].rename(index=lambda t: f"round {t}").round(2)

# %% [markdown]
# ## Five rules on synthetic functions (Fig. 5a)
#
# GP-UCB pulls $\arg\max_x \mu_{t-1}(x) + \sqrt{\beta_t}\,\sigma_{t-1}(x)$ with
# $\beta_t = 2\log(|D| t^2 \pi^2 / 6\delta)$ (Theorem 1), and once more with $\beta_t/5$, as the paper advises. The
# rivals: expected improvement (EI), most probable improvement (MPI), the posterior mean alone, and the posterior
# variance alone (eq. 4). All know the kernel: squared exponential, lengthscale 0.2, $\sigma^2 = 0.025$.
#
# EI and MPI improve on an *incumbent*, which the paper leaves open. Here it is the largest posterior mean among the
# arms pulled; the dotted curves use the largest noisy reward instead.


# %%
def rules(prior_sd):
    return {
        "GP-UCB": partial(UCB, width=Bayes(delta)),
        "GP-UCB/5": partial(UCB, width=Bayes(delta, divide_beta_by=5)),
        "EI": ExpectedImprovement,
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI": partial(ProbabilityOfImprovement, margin=margin * prior_sd),
        "MPI, noisy incumbent": partial(ProbabilityOfImprovement, margin=margin * prior_sd, incumbent="noisy_reward"),
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
    }


synthetic = Experiment(GPDraw(SquaredExponential(0.2), grid(n_arms), 0.025), rules(prior_sd=1.0), horizon)
traces = run_trials(synthetic, trials, seed, label="Fig. 5a")
results.traces(traces, "fig5a")

# %% tags=["hide-input"]
fig, ax = plt.subplots(figsize=(7, 3.8))
figures.regret_panel(ax, {name: trace.first(trials_shown) for name, trace in traces.items()})
ax.set_title(f"Fig. 5a: synthetic functions, mean of {min(trials_shown, trials)} trials ± s.e.")
results.figure(fig, "fig5a_synthetic")
plt.show()

# %%
final = final_average_regret(traces)
pd.DataFrame(
    {
        "mean R_T/T": {name: regret.mean() for name, regret in final.items()},
        "median": {name: np.median(regret) for name, regret in final.items()},
        "stuck trials": {name: stuck(trace, regret_above=0.1).mean() for name, trace in traces.items()},
    }
).round(3)

# %% [markdown]
# A trial counts as stuck if its last tenth of pulls all went to one arm whose regret exceeds a tenth of the prior
# standard deviation.


# %%
def compare(statistic, regret, name, rival, stream, block=1):
    return bootstrap(statistic, regret[name], regret[rival], rng=np.random.default_rng([seed, stream]), block=block)


stuck_mpi = stuck(traces["MPI"], regret_above=0.1).mean()
ledger.judge("1-D", compare(mean_difference, final, "GP-UCB/5", "GP-UCB", 5))
ledger.judge("1-E", compare(relative_difference, final, "GP-UCB/5", "EI", 5))
ledger.judge(
    "1-F", compare(relative_difference, final, "MPI", "GP-UCB/5", 5), f"{stuck_mpi:.0%} of MPI's trials are stuck"
)
ledger.judge(
    "1-G", weakest(compare(mean_difference, final, rival, "GP-UCB/5", 5) for rival in ("mean only", "variance only"))
)

# %% [markdown]
# ## Where is the lab warmest? (Fig. 5b)
#
# 46 temperature sensors of the Intel Berkeley lab, five days of minute means. The first two thirds give the kernel: the
# empirical covariance. Each minute of the last third is one test function; its readings, less each sensor's mean over
# the first two thirds, are the expected rewards. $T = 46$, $\sigma^2 = 0.5$, noise added to every reading.

# %%
prior_mean, covariance = train.mean(axis=0), np.cov(train, rowvar=False)
pd.Series(
    {
        "sensors": len(data.sensors),
        "minutes, first two thirds": len(train),
        "minutes, last third": len(test),
        "mean variance (°C²), first two thirds": round(np.diag(covariance).mean(), 1),
        "sensors that are ever the warmest": len(np.unique(test[:fields].argmax(axis=1))),
    },
    name=label,
).to_frame()

# %%
prior_sd = np.sqrt(np.diag(covariance).mean())
sensors = Experiment(Rows(covariance, test[:fields] - prior_mean, 0.5), rules(prior_sd), len(data.sensors))
field_traces = run_trials(sensors, min(fields, len(test)), seed, block=100, label="Fig. 5b")
results.traces(field_traces, "fig5b")

# %%
four_hours = min(240, len(field_traces["EI"].arms) // 2)  # minutes: neighbouring fields are nearly the same
fig, ax = plt.subplots(figsize=(7, 3.8))
figures.regret_panel(ax, field_traces, unit=data.unit, block=four_hours)
ax.set_title(f"Fig. 5b: {label}, mean of {len(field_traces['EI'].arms)} fields ± s.e.", fontsize=10)
results.figure(fig, "headline_fig5b_temperature")
plt.show()

# %%
final = final_average_regret(field_traces)
pd.DataFrame(
    {
        f"mean R_T/T ({data.unit})": {name: regret.mean() for name, regret in final.items()},
        "median": {name: np.median(regret) for name, regret in final.items()},
    }
).round(2)


# %%
if data.is_real:
    rivals = ("MPI", "mean only", "variance only")
    margins = {(r, n): compare(mean_difference, final, r, n, 6, four_hours) for n in ("GP-UCB/5", "EI") for r in rivals}
    closest = min(margins, key=lambda pair: margins[pair].low)
    median = np.median(final["GP-UCB/5"] - final["EI"])
    hours = f"{len(final['EI']) / 60:.0f} consecutive hours"
    ledger.judge("1-H", weakest(margins.values()), f"weakest: {closest[0]} minus {closest[1]}; {hours}")
    difference = compare(relative_difference, final, "GP-UCB/5", "EI", 6, four_hours)
    ledger.judge("1-I", difference, f"median difference {median:.2g} °C")
else:
    ledger.not_evaluated("1-H", "no temperature data found: simulated stand-in")
    ledger.not_evaluated("1-I", "no temperature data found: simulated stand-in")

# %% [markdown]
# The test fields are consecutive minutes and neighbours are nearly the same, so standard errors and intervals treat
# four hours as one unit: 2000 fields hold about eight of them, barely a day and a half of weather.

# %% [markdown]
# ## Where is the road slowest? (Fig. 5c, stand-ins)
#
# The paper used 357 detectors on I-880 South, a set that was never published. Two stand-ins: speeds of 108 Los Angeles
# detectors on the working mornings of one April (USC), and of 207 detectors in one week (METR-LA). Rewards are minus
# the speed, $T$ is the number of detectors, $\sigma^2$ is 5 % of the measured variance. The week has only 200 slots for
# the covariance of 207 detectors. Nothing here counts as evidence for or against the paper's claims on I-880.


# %%
def minus_speed(name):
    road = store.load(name)
    train, test = (-part for part in store.train_test(road))
    covariance, variance = np.cov(train, rowvar=False), np.var(road.readings, axis=0, ddof=1).mean()
    speeds = Rows(covariance, test - train.mean(axis=0), variance / 20)
    prior_sd = np.sqrt(np.diag(covariance).mean())
    return road, Experiment(speeds, rules(prior_sd), len(road.sensors)), len(test)


roads, road_final = {}, {}
for name in ("traffic_usc", "traffic_metr_la"):
    road, experiment, n_fields = minus_speed(name)
    roads[name] = road, run_trials(experiment, n_fields, seed, block=25, label=f"Fig. 5c, {name}")
    road_final[name] = final_average_regret(roads[name][1])
    results.traces(roads[name][1], f"fig5c_{name}")

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8))
for ax, (name, (road, road_traces)) in zip(axes, roads.items(), strict=True):
    morning = min(60, len(road_final[name]["EI"]) // 2)
    figures.regret_panel(ax, road_traces, unit=road.unit, block=morning)
    kind = "stand-in for I-880" if road.is_real else "SIMULATED STAND-IN"
    ax.set_title(f"{kind}: {name[8:].upper().replace('_', '-')}, {len(road.sensors)} detectors", fontsize=9)
axes[0].get_legend().remove()
fig.suptitle("Fig. 5c: traffic, stand-ins only, mean over test rows ± s.e.")
results.figure(fig, "fig5c_traffic_stand_in")
plt.show()

# %%
pd.DataFrame(
    {name: {rule: regret.mean() for rule, regret in final.items()} for name, final in road_final.items()}
).rename(columns=lambda name: f"{name}, mean R_T/T (mph)").round(1)


# %%
for claim_id, rule, rival in (("1-J", "GP-UCB/5", "EI"), ("1-K", "MPI", "GP-UCB/5")):
    if all(road.is_real for road, _ in roads.values()):
        usc, other = (
            compare(relative_difference, regret, rule, rival, 7, min(60, len(regret["EI"]) // 2))
            for regret in road_final.values()
        )
        note = f"USC; METR-LA: {other.value:.2g} [{other.low:.2g}, {other.high:.2g}]"
        ledger.judge(claim_id, usc, note)
    else:
        ledger.not_evaluated(claim_id, "no traffic data found: simulated stand-in")

# %% [markdown]
# ## Do the theorems hold? (Theorems 1 and 3)
#
# With probability $1 - \delta$ the band $|f - \mu_{t-1}| \le \sqrt{\beta_t}\,\sigma_{t-1}$ holds in all rounds and $R_T
# \le \sqrt{C_1 T \beta_T \gamma_T}$, $C_1 = 8/\log(1 + \sigma^{-2})$, for all $T$. Theorem 1: functions from the prior.
# Theorem 3: functions of squared RKHS norm $B = 1$, uniform noise on $[-\sigma, \sigma]$ and $\beta_t = 2B + 300
# \gamma_t \log^3(t/\delta)$. $\gamma_T$ is replaced by the maximum in eq. 8 times $1/2$, which bounds it from above
# (Horn's inequality). The *multiplier* is the smallest by which the width could be scaled and still cover in 90 % of
# the runs.

# %%
max_gains = information.allocated_gain(eigvalsh(SquaredExponential(0.2)(grid(n_arms), grid(n_arms))), 0.025, horizon)
bayes, known_norm = Bayes(delta), gp_ucb.KnownNorm(delta, max_gains)
norm_1 = RKHSFunction(SquaredExponential(0.2), grid(n_arms), 0.025, norm=1.0)
every_round = range(1, horizon + 1)
theorems = {
    "Theorem 1": ("1-L", synthetic.problem, bayes, [bayes.at(t, n_arms) for t in every_round]),
    "Theorem 3": ("1-M", norm_1, known_norm, [known_norm.at(t, norm=1.0) for t in every_round]),
}
theorem_table = {}
for theorem, (claim_id, problem, width, widths) in theorems.items():
    experiment = Experiment(problem, {"GP-UCB": partial(UCB, width=width)}, horizon, record_band=True)
    trace = run_trials(experiment, trials, seed, label=theorem)["GP-UCB"]
    bound = gp_ucb.regret_bound(np.array(widths), max_gains, 0.025)
    regret = np.cumsum(trace.regret, axis=1)
    band_holds, bound_holds = (trace.band_ratio <= 1).all(axis=1), (regret <= bound).all(axis=1)
    theorem_table[theorem] = {
        "runs": trials,
        "band holds": band_holds.mean(),
        "regret bound holds": bound_holds.mean(),
        "bound over median regret at T": bound[-1] / np.median(regret[:, -1]),
        "width at T": widths[-1],
        "multiplier": np.quantile(trace.band_ratio.max(axis=1), 0.9),
    }
    looseness = theorem_table[theorem]["bound over median regret at T"]
    multiplier = theorem_table[theorem]["multiplier"]
    note = f"the bound is {looseness:.0f} times the median regret; multiplier {multiplier:.2g}"
    ledger.judge(claim_id, share(band_holds & bound_holds), note)
theorem_table = pd.DataFrame(theorem_table)
results.table(theorem_table, "theorems_1_and_3")
theorem_table.round(2)

# %% [markdown]
# ## What the open choices change
#
# Mean $R_T/T$ under the choices that the paper leaves open. SE is printed there as $\exp(-r^2/2l)$: with $l = 0.2$ a
# longer lengthscale, 0.45. Margins are in prior standard deviations, here for both EI and MPI; without a margin and
# with the best posterior mean of all arms as incumbent MPI is the mean-only rule. Temperature: $\sigma^2$ at 5 % of the
# measured variance, and readings in plain degrees under the same zero-mean prior. Theorem 2 replaces Theorem 1 in the
# width of GP-UCB and GP-UCB/5, with constants from Rice's formula: $a = 1 + \sqrt3/(\pi l)$, $b = \sqrt2/l$. To save
# time temperature rows use every tenth minute; a row shows only the rules that it changes.

# %%
theorem_2 = gp_ucb.CompactArms(delta, d=1, side=1.0, a=1 + np.sqrt(3) / (np.pi * 0.2), b=np.sqrt(2) / 0.2)
literal = replace(synthetic.problem, kernel=SquaredExponential(np.sqrt(0.2)))
measured = np.var(data.readings, axis=0, ddof=1).mean() / 20
every_tenth = replace(sensors.problem, rewards=(test[:fields] - prior_mean)[::10])
raw = replace(sensors.problem, rewards=test[:fields:10])


def same_margin(experiment, prior_sd, m):
    improvement = {name: rule for name, rule in experiment.policies.items() if name.startswith(("EI", "MPI"))}
    return replace(experiment, policies={k: partial(rule, margin=m * prior_sd) for k, rule in improvement.items()})


with_theorem_2 = {
    "GP-UCB": partial(UCB, width=theorem_2),
    "GP-UCB/5": partial(UCB, width=replace(theorem_2, divide_beta_by=5)),
}
temperature = replace(sensors, problem=every_tenth)
variants = {
    ("5a", "as in the figure"): synthetic,
    ("5a", "SE as printed"): replace(synthetic, problem=literal),
    ("5a", "width of Theorem 2"): replace(synthetic, policies=with_theorem_2),
    ("5a", "margin 0.01"): same_margin(synthetic, 1.0, 0.01),
    ("5a", "margin 0.1"): same_margin(synthetic, 1.0, 0.1),
    ("5a", "margin 1"): same_margin(synthetic, 1.0, 1.0),
    ("5b", "as in the figure"): temperature,
    ("5b", "noise as measured"): replace(temperature, problem=replace(every_tenth, noise_variance=measured)),
    ("5b", "uncentred"): replace(temperature, problem=raw),
    ("5b", "margin 0.01"): same_margin(temperature, prior_sd, 0.01),
    ("5b", "margin 0.1"): same_margin(temperature, prior_sd, 0.1),
    ("5b", "margin 1"): same_margin(temperature, prior_sd, 1.0),
}
sensitivity, sensitivity_median = {}, {}
for (figure, variant), experiment in variants.items():
    n_trials, block = (min(trials, trials_shown), 1) if figure == "5a" else (len(test[:fields:10]), 50)
    for name, trace in run_trials(experiment, n_trials, seed, block=block, label=f"{figure}, {variant}").items():
        sensitivity[figure, variant, name] = trace.average_regret[:, -1].mean()
        sensitivity_median[figure, variant, name] = np.median(trace.average_regret[:, -1])
sensitivity = pd.Series(sensitivity).unstack(sort=False)
results.table(sensitivity, "sensitivity_mean")
results.table(pd.Series(sensitivity_median).unstack(sort=False), "sensitivity_median")
sensitivity.round(3).astype(object).fillna("")

# %% [markdown]
# ## What did not reproduce, and why
#
# At full scale with real data, of the eleven claims that can count, seven reproduce, two do in part, two do not.
#
# **GP-UCB/5 against EI on synthetic functions is a close call (1-E).** EI's lead is smaller than the fifth that the
# rule allows, but the interval reaches past it: about one trial in twenty, in which EI settles on a lower peak, decides
# EI's mean.
#
# **MPI does not keep up on synthetic functions (1-F).** Its regret levels off at the size of its margin: once no arm
# promises a tenth of a standard deviation more than the incumbent, it settles. A margin ten times smaller brings the
# median near that of GP-UCB/5, but some trials then settle on a lower peak and the mean stays above; a margin of one
# is worse than both. So the paper's statement may hold for a margin that it does not name; it does not hold at the one
# fixed here before the run.
#
# **EI is not the equal of GP-UCB/5 on temperature (1-I), and its lead over MPI is not certain (1-H).** The medians of
# GP-UCB/5 and EI nearly agree. The means do not, and the table shows where: in one stretch of a few hours EI stays on a
# wrong sensor. With eight such stretches one decides the mean, so this is a statement about a day and a half in one
# lab. A margin of 0.1 for EI closes most of the gap.
#
# **The bounds hold, and are far from tight (1-L, 1-M).** No run left its band, and the bounds exceed the regret by a
# factor of a hundred or more (Theorem 1) and of thousands (Theorem 3, whose width is so large that GP-UCB only
# explores).
#
# Also worth knowing: with the noisy reward as incumbent EI and MPI never settle, on any of the data sets; and on
# temperatures that are not centred GP-UCB, EI and MPI are about two to three times worse.

# %%
gap = final["EI"] - final["GP-UCB/5"]
stretches = np.array_split(gap, max(1, len(gap) // four_hours))
stretch_table = pd.DataFrame(
    {
        f"EI minus GP-UCB/5 ({data.unit})": [stretch.mean() for stretch in stretches],
        "share of fields where EI is worse by more than 1": [(stretch > 1).mean() for stretch in stretches],
    },
    index=pd.RangeIndex(1, len(stretches) + 1, name="stretch of about four hours"),
)
results.table(stretch_table, "fig5b_by_stretch")
stretch_table.round(2)

# %% [markdown]
# ## Claims
#
# Rules: `claims/01_gp_ucb_information_gain.yaml`, fixed before the first full-scale run.

# %%
results.claims(ledger)
ledger.table()
