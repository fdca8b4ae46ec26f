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
# This notebook rebuilds Figures 3, 4, 5a and 5b. The numbers to quote are those of the
# [full-scale run on real temperature data](../results/paper/01_gp_ucb_information_gain/notebook.ipynb). What stands
# here is the quick profile: shorter runs, fewer trials, and a simulated stand-in where no sensor data is found.
#
# | scale | time on 2 cores | memory |
# | --- | --- | --- |
# | quick (the defaults) | about half a minute | below 1 GB |
# | paper (`profiles/paper`) | a few minutes | below 1 GB |

# %% tags=["parameters"]
seed: int = 2010  # root seed of every random stream
trials: int = 20  # test functions behind the claims on Fig. 5a (full scale: 200)
trials_shown: int = 20  # the first of them, drawn in Fig. 5a (paper: 30)
horizon: int = 200  # rounds T of Fig. 5a (paper: 1000)
n_arms: int = 1000  # points of [0, 1] in Fig. 5a
fields: int = 2000  # temperature fields of Fig. 5b, consecutive minutes (paper: 2000)
sizes: list[int] = [100, 300]  # numbers of arms |D| of Fig. 3
gain_horizon: int = 200  # rounds T of Fig. 3
margin: float = 0.1  # margin of MPI, in prior standard deviations
delta: float = 0.1  # the confidence band may fail with this probability
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %%
from dataclasses import replace
from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh

from kbrepro import checks, claims, datasets, figures, information, paths, problems
from kbrepro.comparisons import bootstrap, exact, mean_difference, relative_difference, stuck, weakest
from kbrepro.confidence import finite_arms
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.policies import UCB, ExpectedImprovement, MeanOnly, ProbabilityOfImprovement, VarianceOnly
from kbrepro.results import Results
from kbrepro.simulation import Experiment, run_trials

checks.positive_int(trials=trials, trials_shown=trials_shown, horizon=horizon, n_arms=n_arms, fields=fields)
checks.at_least(2, trials=trials, trials_shown=trials_shown, fields=fields)
checks.at_least(51, gain_horizon=gain_horizon)  # claim 1-A speaks of T >= 50
checks.positive_ints(sizes=sizes)
checks.non_negative_int(seed=seed)
checks.non_negative(margin=margin)
checks.probability(delta=delta)

figures.use_style()
results = Results(results_dir)
ledger = claims.Ledger(claims.load(paths.project_root() / "notebooks/claims/01_gp_ucb_information_gain.yaml"))

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
        bounds[n, name] = information.spectral_bound(spectra[n, name], 0.025, gain_horizon)
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
# ## What such functions look like (Fig. 4)
#
# Draws from the prior of three kernels. Smooth kernel matrices are numerically singular, so draws go through a pivoted
# Cholesky factor that stops at $10^{-12}$ of the variance; nothing is inverted.

# %%
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
def rules(n_arms, prior_sd):
    mpi = partial(ProbabilityOfImprovement, margin=margin * prior_sd)
    return {
        "GP-UCB": partial(UCB, width=partial(finite_arms, n_arms=n_arms, delta=delta)),
        "GP-UCB/5": partial(UCB, width=partial(finite_arms, n_arms=n_arms, delta=delta, divide_beta_by=5)),
        "EI": ExpectedImprovement,
        "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
        "MPI": mpi,
        "MPI, noisy incumbent": partial(mpi, incumbent="noisy_reward"),
        "mean only": MeanOnly,
        "variance only": VarianceOnly,
    }


synthetic = Experiment(
    problem=partial(problems.gp_draw, kernel=SquaredExponential(0.2), arms=grid(n_arms), noise_variance=0.025),
    policies=rules(n_arms, prior_sd=1.0),
    horizon=horizon,
)
traces = run_trials(synthetic, trials, seed, label="Fig. 5a")
results.traces(traces, "fig5a")

# %%
fig, ax = plt.subplots(figsize=(7, 3.8))
figures.regret_panel(ax, {name: trace.first(trials_shown) for name, trace in traces.items()})
ax.set_title(f"Fig. 5a: synthetic functions, mean of {min(trials_shown, trials)} trials ± s.e.")
results.figure(fig, "fig5a_synthetic")
plt.show()

# %%
final = {name: trace.average_regret[:, -1] for name, trace in traces.items()}
pd.DataFrame(
    {
        "mean $R_T/T$": {name: regret.mean() for name, regret in final.items()},
        "median": {name: np.median(regret) for name, regret in final.items()},
        "stuck trials": {name: stuck(trace, regret_above=0.1).mean() for name, trace in traces.items()},
    }
).round(3)

# %% [markdown]
# A trial counts as stuck if its last tenth of pulls all went to one arm whose regret exceeds a tenth of the prior
# standard deviation.


# %%
def compare(statistic, name, rival):
    return bootstrap(statistic, final[name], final[rival], rng=np.random.default_rng([seed, 5]))


stuck_mpi = stuck(traces["MPI"], regret_above=0.1).mean()
ledger.judge("1-D", compare(mean_difference, "GP-UCB/5", "GP-UCB"))
ledger.judge("1-E", compare(relative_difference, "GP-UCB/5", "EI"))
ledger.judge("1-F", compare(relative_difference, "MPI", "GP-UCB/5"), f"{stuck_mpi:.0%} of MPI's trials are stuck")
ledger.judge("1-G", weakest(compare(mean_difference, rival, "GP-UCB/5") for rival in ("mean only", "variance only")))

# %% [markdown]
# ## Where is the lab warmest? (Fig. 5b)
#
# 46 temperature sensors of the Intel Berkeley lab, five days of minute means. The first two thirds give the kernel: the
# empirical covariance. Each minute of the last third is one test function; its readings, less each sensor's mean over
# the first two thirds, are the expected rewards. $T = 46$, $\sigma^2 = 0.5$, noise added to every reading.

# %%
data = datasets.load("temperature")
train, test = datasets.train_test(data)
prior_mean, covariance = train.mean(axis=0), np.cov(train, rowvar=False)
label = "temperature sensors" if data.is_real else "SIMULATED STAND-IN for temperature sensors"
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
sensors = Experiment(
    problem=partial(
        problems.sensor_field, covariance=covariance, fields=test[:fields] - prior_mean, noise_variance=0.5
    ),
    policies=rules(len(data.sensors), prior_sd=np.sqrt(np.diag(covariance).mean())),
    horizon=len(data.sensors),
)
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
final = {name: trace.average_regret[:, -1] for name, trace in field_traces.items()}
pd.DataFrame(
    {
        f"mean $R_T/T$ ({data.unit})": {name: regret.mean() for name, regret in final.items()},
        "median": {name: np.median(regret) for name, regret in final.items()},
    }
).round(2)


# %%
def compare_fields(statistic, name, rival):
    return bootstrap(statistic, final[name], final[rival], rng=np.random.default_rng([seed, 6]), block=four_hours)


if data.is_real:
    rivals = ("MPI", "mean only", "variance only")
    margins = {(r, n): compare_fields(mean_difference, r, n) for n in ("GP-UCB/5", "EI") for r in rivals}
    closest = min(margins, key=lambda pair: margins[pair].low)
    median = np.median(final["GP-UCB/5"] - final["EI"])
    hours = f"{len(final['EI']) / 60:.0f} consecutive hours"
    ledger.judge("1-H", weakest(margins.values()), f"weakest: {closest[0]} minus {closest[1]}; {hours}")
    ledger.judge("1-I", compare_fields(relative_difference, "GP-UCB/5", "EI"), f"median difference {median:.2g} °C")
else:
    ledger.not_evaluated("1-H", "no temperature data found: simulated stand-in")
    ledger.not_evaluated("1-I", "no temperature data found: simulated stand-in")

# %% [markdown]
# The test fields are consecutive minutes and neighbours are nearly the same, so standard errors and intervals treat
# four hours as one unit: 2000 fields hold about eight of them, barely a day and a half of weather.

# %% [markdown]
# ## How much hangs on the margin
#
# The paper states neither incumbent nor margin, and MPI needs one: with the largest posterior mean of all arms as
# incumbent and no margin it is the mean-only rule. Margins in prior standard deviations, on the same functions and
# fields.


# %%
def with_margins(prior_sd):
    mpi = {f"MPI, margin {m}": partial(ProbabilityOfImprovement, margin=m * prior_sd) for m in (0.01, 0.1, 1.0)}
    return mpi | {f"EI, margin {m}": partial(ExpectedImprovement, margin=m * prior_sd) for m in (0.0, 0.1)}


prior_sd = np.sqrt(np.diag(covariance).mean())
settings = {
    "Fig. 5a": (replace(synthetic, policies=with_margins(1.0)), min(trials, trials_shown), 1),
    "Fig. 5b": (replace(sensors, policies=with_margins(prior_sd)), min(fields, len(test)), 100),
}
margin_table = {}
for figure, (experiment, n_trials, block) in settings.items():
    for name, trace in run_trials(experiment, n_trials, seed, block=block, label=f"margins, {figure}").items():
        margin_table[name, f"{figure}, mean"] = trace.average_regret[:, -1].mean()
        margin_table[name, f"{figure}, median"] = np.median(trace.average_regret[:, -1])
margin_table = pd.Series(margin_table).unstack()
results.table(margin_table, "sensitivity_margin")
margin_table.round(3)

# %% [markdown]
# ## What did not reproduce, and why
#
# At full scale with real temperatures, of the seven claims evaluated here four reproduce, one does in part, two do not.
#
# **MPI does not keep up on synthetic functions (1-F).** Its regret levels off at the size of its margin: once no arm
# promises a tenth of a standard deviation more than the incumbent, it settles. A margin ten times smaller brings the
# median down to that of GP-UCB/5, but some trials then settle on a lower peak and the mean stays above. A margin
# of one is worse than both. So the paper's statement can hold for a margin that it does not name; it does not hold
# for every margin, nor at the one fixed here before the run.
#
# **EI is not the equal of GP-UCB/5 on temperature (1-I), and its lead over MPI is not certain (1-H).** The medians of
# GP-UCB/5 and EI nearly agree. The means do not, and the table below shows where: in one stretch of a few hours EI
# stays on a wrong sensor. With eight such stretches one decides the mean, so this is a statement about a day and a half
# in one lab. A margin for EI closes most of the gap.

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
