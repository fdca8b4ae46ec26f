# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     notebook_metadata_filter: language_info
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   language_info:
#     name: python
# ---

# %% [markdown]
# # π-GP-UCB and exact IGP-UCB at scale
#
# D. Janz, D. R. Burt, J. González: *Bandit optimisation of functions in the Matérn kernel RKHS*, AISTATS 2020, [arXiv
# 2001.10396](https://arxiv.org/abs/2001.10396).
#
# *IGP-UCB* (2017) tries the point that could be best by its confidence band. For rough functions the band widens so
# fast that no guarantee is left. *π-GP-UCB* covers the domain by cubes, fits a Gaussian process to each, and splits a
# cube once it holds enough data: narrow bands, cheap steps. Do cells pay off? And do they still, with what has been
# proved since?

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 2020  # root seed of every random stream
horizon: int = 150  # rounds T of every run (paper: 10000)
trials: int = 4  # runs of Table 1 in one and two dimensions (paper: 12; full scale: 100)
trials_d3: int = 2  # runs of Table 1 in three dimensions (paper: 12)
trials_d3_eq2: int = 2  # the same with the lengthscale of eq. 2 (full scale: 6, as each takes minutes)
fine_trials: int = 2  # of these runs on a finer grid (full scale: 3)
fine_side: int = 40  # points a side of the finer grid (full scale: 100, a million arms)
trials_more: int = 2  # runs of Figure 2 and of the cells (paper: 12)
coverage_trials: int = 4  # runs that check bands (full scale: 200)
cross_trials: int = 2  # runs of Table 1 under every interpretation (full scale: 16)
sweep_trials: int = 2  # runs for every lambda of the sweep (full scale: 40)
growth_arms: int = 300  # arms behind the growth of the gain (full scale: 2000)
growth_horizon: int = 500  # rounds of the growth of the gain (full scale: 10000)
rate_trials: int = 2  # runs behind the growth of the regret (full scale: 20)
timing_trials: int = 2  # runs that are timed, one at a time (full scale: 3)
delta: float = 0.1  # the confidence band may fail with this probability
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from kbrepro.verdicts.record import Record

record = Record("03_pi_gp_ucb_scaling", results_dir, has={"horizon": horizon, "fine_side": fine_side})
record.banner()

# %% [markdown]
# ## At a glance

# %% jupyter={"source_hidden": true} tags=["at-a-glance", "full-scale", "hide-input", "nbval-ignore-output"]
record.at_a_glance()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from dataclasses import replace
from functools import partial
from itertools import product
from math import ceil, floor

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.confidence import Improved, SelfNormalised, Tighter
from kbrepro.figures import live
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb import covers, experiments, measures, pictures
from kbrepro.papers.pi_gp_ucb.experiments import AVERAGES, average, printed_interval
from kbrepro.papers.pi_gp_ucb.partition import UNIONS, PartitionedUCB, cover_exponent, initial_side, possible_cells
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, Surface
from kbrepro.papers.pi_gp_ucb.since import DoublingUCB, growing_variance
from kbrepro.policies import UCB
from kbrepro.policies.base import best_arm
from kbrepro.posterior import LatticePosterior
from kbrepro.problems import Trial
from kbrepro.regret import estimated_mean, exact, share
from kbrepro.simulation import Experiment, map_trials, rounds, run, run_trials, total_regrets
from kbrepro.verdicts.interpretations import cross
from kbrepro.verdicts.pictures import claim_curve

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
checks.at_least(150, horizon=horizon, growth_horizon=growth_horizon)
checks.at_least(2, trials=trials, trials_d3=trials_d3, trials_more=trials_more, coverage_trials=coverage_trials)
checks.at_least(2, cross_trials=cross_trials, sweep_trials=sweep_trials, trials_d3_eq2=trials_d3_eq2)
checks.at_least(2, fine_trials=fine_trials, rate_trials=rate_trials, timing_trials=timing_trials)
checks.positive_int(growth_arms=growth_arms, fine_side=fine_side)
if fine_trials > trials_d3:
    raise ValueError(f"fine_trials = {fine_trials} is not allowed: it must be at most trials_d3 = {trials_d3}")
checks.probability(delta=delta)

# %% [markdown]
# ## The problem
#
# In round $t = 1, \dots, T$ we pull one of the *arms*, here points $x_t$ of a grid on $[0, 1]^d$, and observe its
# *expected reward* $f(x_t)$ with noise that is $L$-sub-Gaussian. What counts is the *regret* for not knowing the best
# arm $x^*$,
#
# $$R_T = \sum_{t=1}^T \bigl( f(x^*) - f(x_t) \bigr).$$
#
# $f$ has norm at most $B$ in the Hilbert space (RKHS) of the Matérn kernel $k$ with smoothness $\nu$: the smaller
# $\nu$, the rougher $f$ may be. After pulls $A$ with observations $y_A$ the posterior mean and standard deviation are
#
# $$\mu(x) = k_A(x)^\top (K_A + \alpha I)^{-1} y_A, \qquad
# \sigma^2(x) = k(x, x) - k_A(x)^\top (K_A + \alpha I)^{-1} k_A(x),$$
#
# and $\gamma_A = \tfrac12 \log\det(I + \alpha^{-1} K_A)$ is the *information gain* of the pulls
# ([symbols](../docs/notation.md)).
#
# ## The algorithms
#
# *IGP-UCB* (Chowdhury and Gopalan 2017) pulls the arm of largest $\mu_{t-1}(x) + \beta_t \sigma_{t-1}(x)$. Its *width*
# $\beta_t = B + L \sqrt{2(\gamma_{t-1} + 1 + \log(1/\delta))}$ grows with the gain of all pulls. *π-GP-UCB* does the
# same in each cell, with the pulls inside the cell:
#
# 1. Cover $[0, 1]^d$ by about $T^q$ cubes, $q = d(d+1) / (d(d+2) + 2\nu)$.
# 2. In every cell $A$ compute $\mu^A$, $\sigma^A$ and $\gamma^A$; $\delta / (4(t+1)^{bd})$ replaces $\delta$, with $b =
#    (d+1)/(d+2\nu)$. The width with this $\delta$ is $\hat\beta^A_t$.
# 3. Pull the arm whose best cell has the largest $\mu^A_{t-1}(x) + \hat\beta^A_t \sigma^A_{t-1}(x)$.
# 4. A cell of side $\rho$ splits into $2^d$ once $\rho^{-1/b} < n_A + 1$ for its $n_A$ pulls; each child inherits the
#    pulls inside it.


# %% tags=["experiment"]
def within(X, corner, n):
    """Which arms lie in the cell of side 1 / n whose lowest point is corner / n."""
    return ((corner / n <= X) & ((corner + 1) / n >= X)).all(axis=1)


def in_cell(k, X, alpha, A, y, inside):
    """The arms of a cell with their means and standard deviations, and the gain, from the pulls inside it."""
    own, arms = [j for j, arm in enumerate(A) if inside[arm]], np.flatnonzero(inside)
    Z = X[[A[j] for j in own]]
    K, across = k(Z, Z), k(Z, X[arms])
    G = np.linalg.solve(K + alpha * np.eye(len(own)), across)
    variance = k.diag(X[arms]) - (across * G).sum(axis=0)
    gain = 0.5 * np.linalg.slogdet(np.eye(len(own)) + K / alpha)[1]
    return arms, np.array(y)[own] @ G, np.sqrt(np.maximum(variance, 0)), gain


# %% tags=["experiment"]
def pi_gp_ucb(k, X, alpha, T, B, L, nu, pull, order):
    """The arms that π-GP-UCB pulls in T rounds; of arms that tie the first in a random order."""
    d, A, y = X.shape[1], [], []
    b, n = (d + 1) / (d + 2 * nu), initial_side(T, d, nu)
    cells = [(np.array(corner), n) for corner in np.ndindex(*[n] * d)]
    for t in range(1, T + 1):
        index = np.full(len(X), -np.inf)
        for cell in cells:
            arms, mu, sd, gain = in_cell(k, X, alpha, A, y, within(X, *cell))
            width = B + L * np.sqrt(2 * (gain + 1 + np.log(4 * (t + 1) ** (b * d) / delta)))
            index[arms] = np.maximum(index[arms], mu + width * sd)
        A, y = [*A, best_arm(index, order)], [*y, pull(best_arm(index, order))]
        for corner, n in [cell for cell in cells if within(X, *cell)[A[-1]]]:
            if n ** (1 / b) < within(X, corner, n)[A].sum() + 1:
                cells = [cell for cell in cells if cell[1] != n or (cell[0] != corner).any()]
                cells += [(2 * corner + half, 2 * n) for half in np.ndindex(*[2] * d)]
    return A


# %% [markdown]
# The package conditions again only the cells that got a pull, and pulls the same arms:

# %% tags=["experiment"]
usual, nu = Matern(0.2, nu=1.5), 1.5
small = Bumps(usual, d=1, side=30, noise_variance=1.0, noise_bound=1.0)(Trial(seed, 0))
PI = partial(PartitionedUCB, delta=delta, nu=nu)
trace = run(PI(small.model, 60), small, 60, Trial(seed, 0).rng("run"))
noise, ties = Trial(seed, 0).rng("run").spawn(2)  # as the package draws them
arms = pi_gp_ucb(
    *(small.model.kernel, small.model.points, 1.0, 60, small.model.norm, 1.0, nu),
    pull=lambda x: small.pull(x, noise),
    order=ties.permutation(30),
)
assert arms == trace.arms.tolist()
print(f"{len(arms)} of {len(arms)} pulls agree; the first five: {arms[:5]}")

# %% [markdown]
# ## See it run: where do cells split?
#
# Two dimensions, 900 arms. Grey: the unknown function.

# %% tags=["experiment"]
shown = Bumps(usual, d=2, side=30, noise_variance=1.0, noise_bound=1.0)(Trial(seed, 1))
policy, frames = PI(shown.model, horizon), []
drawn = (1, horizon // 10, horizon // 3, horizon)
kept = {*drawn, *np.linspace(1, horizon, 16).astype(int)}
for t, _, _ in rounds(policy, shown, horizon, Trial(seed, 1).rng("run")):
    if t in kept:
        whole = [policy.cells[number] for number in np.unique(policy.slot_cell)]
        frames += [{"round": t, "x": c.corner[0] / c.side, "y": c.corner[1] / c.side, "side": 1 / c.side,
                    "pulls": len(c.history)} for c in whole]  # fmt: skip

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
frames = pd.DataFrame(frames)
record.table(frames.set_index("round"), "frames_cells")
fig = pictures.cells(frames[frames["round"].isin(drawn)], shown.model.points, shown.expected_reward)
record.figure(fig, "cells_splitting")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
smallest = frames.groupby("round")["side"].min()
record.expect(
    smallest.iloc[-1] < smallest.iloc[0], "At the end the smallest cells are finer than those of the first cover."
)
table = frames.groupby("round").agg(cells=("side", "size"), smallest=("side", "min"), most=("pulls", "max"))
table.loc[list(drawn)].rename(columns={"smallest": "smallest side", "most": "most pulls in one"}).round(3)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
live.show("pi_gp_ucb")

# %% [markdown]
# ## What could 2017 not promise? (eq. 1, eq. 4, Theorem 4)
#
# A bound on the regret says something only if its exponent of $T$ is below 1, that of uniform play. For IGP-UCB the
# paper states $(3d^2 + 2\nu)/(2d^2 + 4\nu)$, at most 1; for π-GP-UCB it proves (eq. 1)
#
# $$\frac{d(2d+3) + 2\nu}{d(2d+4) + 4\nu} < 1.$$
#
# No algorithm can be below $(d+\nu)/(d+2\nu)$. Two later results help IGP-UCB: the largest gain $\gamma_T$ grows more
# slowly than was known ([Vakili et al. 2021](https://arxiv.org/abs/2009.06966)), and $\alpha$ (there $\lambda$) may
# grow with $T$ ([Whitehouse et al. 2023](https://arxiv.org/abs/2307.07539)).
#
# The right panels check Theorem 4, $\gamma_T = \tilde O(T^q)$, where each pull takes the arm of largest variance. The
# spectral density that the paper prints (eq. 2) literally gives the lengthscale $l \sqrt 3$ where the usual Matérn
# formula has $l$. Both are played: "usual", and "eq. 2 read literally".

# %% tags=["experiment"]
kernels = {"usual": usual, "eq. 2 read literally": Matern(0.2 * np.sqrt(3), nu=1.5)}
greedy = {
    name: map_trials(
        partial(experiments.greedy_gains, kernel, growth_arms, growth_horizon), 2, seed, label=f"gain, {name}"
    )
    for name, kernel in kernels.items()
}
fits = {(name, d): experiments.late_exponent(greedy[name][d - 1]) for name in kernels for d in (1, 2)}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.theory({n: {d: greedy[n][d - 1] for d in (1, 2)} for n in kernels}, np.arange(1, 9), nu)
record.figure(fig, "theory_exponents_and_gain")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
record.judge("3-N", **measures.claim_3_N(fits, nu))
table = pd.DataFrame({(d, nu): experiments.regret_exponents(d, nu) for nu in (1.5, 2.5) for d in (1, 2, 3, 4)}).T
exponents = table.rename_axis(["d", "nu"])
record.table(exponents, "theory_exponents")
exponents.loc[pd.IndexSlice[:, 1.5], :].round(3)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-N")

# %% [markdown]
# ## Do cells lower the regret? (Table 1)
#
# Each function is a sum of $30 d$ Matérn-3/2 bumps ($l = 0.2$) at random places, with weights uniform on $[-1, 1]$. The
# arms are the grid of 30 points a side on $[0, 1]^d$, and both algorithms know the norm. $\alpha = 1$, noise uniform on
# $[-1, 1]$, $L = 1$. Regret is divided by what uniform play is expected to lose.
#
# The paper prints means of 12 runs. How 27,000 arms stay exact: [here](../docs/many_arms.md).


# %% tags=["experiment"]
def functions(d, name="usual", alpha=1.0, L=1.0, side=30):
    return Bumps(kernels[name], d, side, noise_variance=alpha, noise_bound=1.0, noise_scale=L)


published = {"IGP-UCB": partial(UCB, width=Improved(delta), form=LatticePosterior), "π-GP-UCB": PI}
n_of = {1: trials, 2: trials, 3: trials_d3}


def play(source, policies, n, label, arms=True):
    """Traces (or without arms the curves), and what a round of uniform play loses in each run, (n,)."""
    experiment = Experiment(source, policies, horizon)
    return run_trials(experiment, n, seed, label=label, arms=arms), experiments.uniform_regret(experiment, n, seed)


curves = partial(play, arms=False)


table1 = {("usual", d): play(functions(d), published, n, f"Table 1, d = {d}") for d, n in n_of.items()}
letter = "eq. 2 read literally"
for d, n in {**n_of, 3: trials_d3_eq2}.items():
    table1[letter, d] = curves(functions(d, letter), published, n, f"Table 1, eq. 2, d = {d}")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for (name, d), (traces, _) in table1.items():
    record.traces(traces, f"table1_d{d}" + "_eq2" * (name == letter))
finals = {(name, d, rule): (trace.average_regret[:, -1], uniform)
          for (name, d), (traces, uniform) in table1.items() for rule, trace in traces.items()}  # fmt: skip
printed = dict(zip(product((1, 2, 3), published), (0.11, 0.09, 0.71, 0.52, 0.97, 0.77), strict=True))
fig = pictures.table_1(finals, printed, horizon)
record.figure(fig, "headline_table1")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
gaps = measures.claim_3_G(finals, seed)
refuted = measures.refuted(finals, printed)
named = {"usual": "usual lengthscale", letter: letter}
record.judge("3-A", **measures.claim_3_A(finals, printed))
record.judge("3-G", refuted=[named[name] for name in refuted], **gaps)
record.judge("3-H", **(barely := measures.claim_3_H(finals, seed)))
allowed = {case: printed_interval(*its) for case, its in finals.items()}
compared = pd.DataFrame(
    [{"lengthscale": name, "d": d, "algorithm": rule, "printed": printed[d, rule], "ours": ours.value, "low": ours.low,
      "high": ours.high, "allowed": ours.low <= printed[d, rule] <= ours.high}
     for (name, d, rule), ours in allowed.items()]
).set_index(["lengthscale", "d", "algorithm"])  # fmt: skip
record.table(compared, "table1_beside_printed")
levels = "Neither lengthscale gives all levels of Table 1, so by our rules both count; the usual one fits far better."
if len(refuted) < 2:
    levels = "Eq. 2 read literally cannot give the levels that Table 1 prints, so only the usual lengthscale counts."
beside = (compared["printed"] - compared["ours"]) / (compared["high"] - compared["ours"])
misfit = (beside**2).groupby("lengthscale").sum()
record.expect(letter in refuted and misfit["usual"] < misfit[letter], levels)
compared.round(3)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
rows = {(name, d, rule): [float(of(*its)) for of in AVERAGES.values()] for (name, d, rule), its in finals.items()}
table = pd.DataFrame(rows, list(AVERAGES)).T.rename_axis(["lengthscale", "d", "algorithm"])
intervals = [average(*its, seed) for its in finals.values()]
table["low"], table["high"] = [its.low for its in intervals], [its.high for its in intervals]
table["runs"] = [len(regret) for regret, _ in finals.values()]
record.table(table, "table1")
table.round(3)

# %% [markdown]
# *low*, *high*: where a mean of 12 runs lies in 95 % of cases.

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-A", "3-G", "3-H")

# %% [markdown]
# ## What does a first visit to every cell cost? (text on Fig. 1, left and centre)
#
# A cell without data usually has the largest index. So π-GP-UCB first visits every cell.

# %% tags=["experiment"]
tour = {}
for d in (1, 2, 3):
    traces, uniform = table1["usual", d]
    n_cells = initial_side(horizon, d, nu) ** d
    early = {rule: (trace.regret[:, :n_cells].mean(axis=1) / uniform).mean() for rule, trace in traces.items()}
    crossed = experiments.crossing(traces["π-GP-UCB"], traces["IGP-UCB"])
    tour[d] = {"first cells": n_cells, "crossing": crossed} | {f"{rule}, tour": value for rule, value in early.items()}
tour = pd.DataFrame(tour).T.rename_axis("d")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.exploration({d: table1["usual", d] for d in (1, 2, 3)}, tour)
record.figure(fig, "exploration_phase")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
record.judge("3-L", **measures.claim_3_L(tour, horizon))
record.table(tour, "exploration_phase")
tour.round(2)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-L")

# %% [markdown]
# ## Why do cells help? (Lemmas 1 and 2, eq. 1)
#
# Lemma 1: the gain of a cell, and so its width, stays polylogarithmic. Lemma 2: of the order of $T^q$ cells are ever
# created. Each point on the left is a horizon $T$ of its own; whole numbers of cells a side make steps. The table has
# the mean regret of π-GP-UCB over $T$, from which eq. 1 is checked (3-AA).

# %% tags=["experiment"]
horizons = np.geomspace(max(100, horizon // 30), horizon, 8).round().astype(int).tolist()
cells = {}  # (d, T) -> what runs do to their covers
for d, T in product((1, 2, 3), horizons):
    look = d < 3 and horizon == T  # whether best arms of unchanged cells move
    job = partial(experiments.cell_run, Experiment(functions(d), published, T), look)
    cells[d, T] = map_trials(job, trials_more, seed, label=f"cells, d = {d}, T = {T}")

# %% tags=["experiment"]
job = partial(experiments.width_of_run, Experiment(functions(2), published, horizon))
igp_width = np.array(map_trials(job, trials_more, seed, label="width of IGP-UCB, d = 2"))
rates, totals = np.geomspace(max(20, horizon / 10**1.5), horizon * 10**0.5, 5).round().astype(int).tolist(), {}
for smoothness, d in product((1.5, 2.5), (1, 2)):
    source, its = Bumps(Matern(0.2, nu=smoothness), d, 30, 1.0, 1.0), {"π-GP-UCB": partial(PI, nu=smoothness)}
    totals[smoothness, d] = np.stack([
        total_regrets(Experiment(source, its, T), [T], rate_trials, seed,
                      label=f"growth, ν = {smoothness}, d = {d}, T = {T}")[T]["π-GP-UCB"] for T in rates
    ], axis=1)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.covers(cells, {d: cover_exponent(d, nu) for d in (1, 2, 3)}, igp_width)
record.figure(fig, "cells_and_widths")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
created = {d: np.array([[its.created for its in cells[d, T]] for T in horizons], dtype=float).T for d in (1, 2, 3)}
record.judge("3-M", **(of_count := measures.claim_3_M(created, horizons, nu, seed)))
record.judge("3-T", **(of_width := measures.claim_3_T(np.array([i.width for i in cells[2, horizon]]), igp_width, seed)))
record.judge("3-V", **measures.claim_3_V([cells[d, horizon] for d in (1, 2)]))
record.judge("3-AA", **(of_rates := measures.claim_3_AA(totals, rates, seed)))
table = pd.DataFrame({case: its.mean(axis=0) for case, its in totals.items()}, rates).T.rename_axis(["ν", "d"])
record.table(table, "growth_of_regret")
record.expect(
    of_width["pi"].value < of_width["igp"].value,
    f"The width minus $B$ grows as $t^{{{of_width['pi'].value:.2f}}}$ in the widest cell, as "
    f"$t^{{{of_width['igp'].value:.2f}}}$ in IGP-UCB.",
)
table.round(1)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table = pd.DataFrame({(d, T): [np.mean([its.created for its in runs]), max(its.gain for its in runs)]
                      for (d, T), runs in cells.items()}, ["cells, mean", "largest gain"]).T  # fmt: skip
record.table(table.rename_axis(["d", "T"]), "cells")
table.round(2)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-M", "3-T", "3-V", "3-AA")

# %% [markdown]
# ## Does the band hold in every cell? (Lemmas 5, 6 and 10, Theorem 3)
#
# With probability $1 - \delta$ the band $|f - \mu^A_{t-1}| \le \hat\beta^A_t \sigma^A_{t-1}$ should hold in all rounds,
# cells and arms (Lemma 5, for $\alpha = 1 + 2/T$). Then the regret is at most the sum of $2 \hat\beta^A_t
# \sigma^A_{t-1}(x_t)$ (Theorem 3).
#
# The proof spreads $\delta$ over $4(t+1)^{bd}$ cells (Lemma 6), too few in the first rounds. Lemma 10 bounds the
# summed noise over any set of arms, even one chosen after seeing the noise. Choosing the arms with positive noise
# breaks it. Its printed norm has no square, its proof has; we test both. Two repaired unions [can be
# proved](../docs/adaptive_covers.md), with the same rate: over all cells that $T$ pulls can make (*horizon*), and
# with a share of $\delta$ for each level (*levels*).

# %% tags=["experiment"]
bands = {}
for d, union in product((1, 2), UNIONS):
    its = {"π-GP-UCB": partial(PI, union=union)}
    job = partial(experiments.band_run, Experiment(functions(d, alpha=1 + 2 / horizon), its, horizon))
    bands[d, union] = map_trials(job, coverage_trials, seed, block=10, label=f"Lemma 5, d = {d}, {union}")
too_many = {d: experiments.cover_too_large_until(10_000, d, nu) for d in (1, 2, 3)}

# %% tags=["experiment"]
pulls = [50, 100, 200, 500, 1000]
sides = np.array(
    map_trials(partial(covers.counterexample, usual, pulls, delta), coverage_trials, seed, label="Lemma 10")
)
constant = [covers.counterexample(covers.One(), [2000], delta, Trial(seed, n))[0] for n in range(coverage_trials)]

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("3-P", **measures.claim_3_P(bands, delta))
record.judge("3-Q", until=exact(max(too_many.values())))
record.judge("3-U", **measures.claim_3_U(bands))
record.judge("3-AD", **measures.claim_3_AD(sides[:, -1], np.array(constant)))
table = pd.DataFrame({
    "band holds": {case: np.mean([its.band for its in runs]) for case, runs in bands.items()},
    "multiplier": {case: np.quantile([its.ratio for its in runs], 1 - delta) for case, runs in bands.items()},
    "mean regret": {case: np.mean([its.regret for its in runs]) for case, runs in bands.items()},
})  # fmt: skip
record.table(table.rename_axis(["d", "union"]), "lemma5_coverage")
coverage, cost = table["band holds"].min(), max(
    table.loc[(d, union), "mean regret"] / table.loc[(d, "printed"), "mean regret"] - 1
    for d, union in product((1, 2), UNIONS[1:])
)  # fmt: skip
in_runs = "in every run" if coverage == 1 else f"in at least {coverage:.0%} of runs"
record.expect(
    coverage >= 1 - delta and cost < 0.1,
    f"Each band holds {in_runs}; the two that are proved cost "
    + ("no" if cost <= 0 else f"at most {cost:.0%}")
    + " more regret.",
)
table.round(2)

# %% [markdown]
# *Multiplier*: the smallest by which the width could be scaled and still cover in 90 % of runs. Below, for the noise
# $\varepsilon$ and the kernel matrix $K$ of the pulls in the set, Lemma 10 with the square:
#
# $$\varepsilon^\top (I + K^{-1})^{-1} \varepsilon \le 2 \log \bigl( \det(K + I)^{1/2} N_t / \delta \bigr).$$

# %% jupyter={"source_hidden": true} tags=["hide-input"]
pd.DataFrame(sides.mean(axis=0), pulls, ["left side", "right side"]).rename_axis("pulls").round(0)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
first = {d: initial_side(10_000, d, nu) ** d for d in (1, 2, 3)}
possible = {d: sum(possible_cells(10_000, d, nu)) for d in first}
pd.DataFrame({"first cells": first, "4 (t + 1)^(b d), t = 1": {d: 4 * 2 ** ((d + 1) / (d + 3) * d) for d in first},
              "exceeded until": too_many, "all that T pulls can make": possible}).rename_axis("d").round(1)  # fmt: skip

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-P", "3-Q", "3-U", "3-AD")

# %% [markdown]
# ## Does it work on functions outside the model? (text on Fig. 2)
#
# Test functions for optimisation, turned upside down and scaled to $[-1, 1]$; noise uniform on $[-0.1, 0.1]$, $L =
# 0.1$, and $B = 1$. The paper does not name its four: our first four are a guess.

# %% tags=["experiment"]
guessed, others = list(SURFACES)[:4], list(SURFACES)[4:]
surfaces = {}  # (lengthscale or L, function) -> traces
for case, functions_of in (("usual", guessed + others), (letter, guessed), ("least L", guessed)):
    for name in functions_of:
        kernel = kernels.get(case, usual)
        source = Surface(name, kernel, side=30, noise_variance=1.0, noise_bound=0.1, norm=1.0)
        if case == "least L":
            source = replace(source, noise_scale=0.1 / np.sqrt(3))
        experiment = Experiment(source, published, horizon)
        label = f"Fig. 2, {case}, {name}"
        surfaces[case, name] = run_trials(experiment, trials_more, seed, block=3, label=label, arms=False)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
over = {key: measures.excess(its, seed) for key, its in surfaces.items()}
usual_of = ({name: its["usual", name] for name in guessed + others} for its in (surfaces, over))
fig = pictures.surfaces(*usual_of)
record.figure(fig, "fig2_test_functions")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("3-O", **measures.claim_3_O(surfaces, guessed, seed))
table = pd.DataFrame(over, ["π over IGP, minus 1", "low", "high"]).T
record.table(table.rename_axis(["case", "function"]), "fig2")
worst = max(others, key=lambda name: over["usual", name].value)
record.expect(
    max(over["usual", name].high for name in guessed) < 0.25 and over["usual", worst].low > 0.25,
    f"Which four were chosen matters: on {worst}, one of the others, π-GP-UCB has {1 + over['usual', worst].value:.1f} "
    "times the regret of IGP-UCB.",
)
table.loc["usual"].round(2)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-O")

# %% [markdown]
# ## Since the paper: what do two later proofs change?
#
# Two changes of the width have been proved for Gaussian processes that see all data:
#
# - a *tighter width* ([Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732), [derivation](../docs/tighter_width.md)):
#   $\sqrt{B^2 + (2L^2/\lambda)(\gamma_{t-1} + \log(1/\delta))}$, for any $\lambda$;
# - *lambda grows* ([Whitehouse et al. 2023](https://arxiv.org/abs/2307.07539)): $\lambda = T^{d/(2\nu+2d)}$, with the
#   width $B + L \sqrt{(2/\lambda) (\gamma_{t-1} + \log(1/\delta))}$. The theorem leaves its constant open (1 here).
#
# Here $\lambda$ is the $\alpha$ of above. *Both* is the first width with the second's $\lambda$. Combining them keeps
# the second's rate, since $\sqrt{a^2 + b^2} \le a + b$. *Any horizon* works in epochs of doubling length, $\lambda$
# fixed in each, data kept. Nobody proposed a $\lambda$ that grows for π-GP-UCB.

# %% tags=["experiment"]
grown = {d: growing_variance(horizon, d, nu) for d in (1, 2, 3)}


def with_width(width):
    return {"IGP-UCB": partial(UCB, width=width(delta), form=LatticePosterior), "π-GP-UCB": partial(PI, width=width)}


ones = dict.fromkeys(grown, 1.0)
changes = {"tighter width": (Tighter, ones), "lambda grows": (SelfNormalised, grown), "both": (Tighter, grown)}
changed = {("published", d): table1["usual", d] for d in (1, 2, 3)}
for (change, (width, alpha)), d in product(changes.items(), (1, 2, 3)):
    changed[change, d] = curves(functions(d, alpha=alpha[d]), with_width(width), n_of[d], f"{change}, d = {d}")

# %% tags=["experiment"]
doubling = {"IGP-UCB": partial(DoublingUCB, delta=delta, nu=nu, form=LatticePosterior)}
for d in (1, 2):
    changed["both, any horizon", d] = curves(functions(d), doubling, n_of[d], f"both, any horizon, d = {d}")
swept = {1.0: changed["tighter width", 2], grown[2]: changed["both", 2]}
for lam in (3.0, 50.0, 200.0):
    swept[lam] = curves(functions(2, alpha=lam), with_width(Tighter), sweep_trials, f"lambda = {lam:.3g}")

# %% tags=["experiment"]
new_bands = {}
for d in (1, 2):
    its = {"IGP-UCB": partial(UCB, width=Tighter(delta))}
    experiment = Experiment(functions(d, alpha=grown[d]), its, horizon, record_band=True)
    label = f"tighter band, d = {d}"
    new_bands[d] = run_trials(experiment, coverage_trials, seed, block=10, label=label, arms=False)["IGP-UCB"]

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for change, d in product(changes, (1, 2, 3)):
    record.traces(changed[change, d][0], f"since_{change.replace(' ', '_')}_d{d}")
shares = {(change, d, rule): trace.average_regret[:, -1] / uniform
          for (change, d), (traces, uniform) in changed.items() for rule, trace in traces.items()}  # fmt: skip
since = measures.claim_3_W(shares, seed)
record.judge("3-W", **since)
record.judge("3-X", **measures.claim_3_X(shares, seed))
record.judge("3-AF", **measures.claim_3_AF(shares, seed))
record.judge("3-AG", **measures.claim_3_AG(shares, seed))
record.judge("3-Y", **{f"d{d}": share(its.band_ratio.max(axis=1) <= 1) for d, its in new_bands.items()})
of_sweep = {lam: {rule: estimated_mean(trace.average_regret[:, -1] / uniform, seed)
                  for rule, trace in traces.items()} for lam, (traces, uniform) in swept.items()}  # fmt: skip
fig = pictures.since({case: estimated_mean(its, seed) for case, its in shares.items()}, of_sweep, grown[2])
record.figure(fig, "since_the_paper")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
of = {case: its.mean() for case, its in shares.items()}
record.expect(
    all(of["tighter width", d, "π-GP-UCB"] < of["both", d, "π-GP-UCB"] for d in (1, 2))
    and all(of["both", d, "IGP-UCB"] < of["tighter width", d, "IGP-UCB"] for d in (1, 2)),
    "In one and two dimensions π-GP-UCB does best with the tighter width alone, IGP-UCB with both changes.",
)
table = pd.DataFrame({case: estimated_mean(its, seed) for case, its in shares.items()}, ["share", "low", "high"]).T
record.table(table.rename_axis(["change", "d", "algorithm"]), "since_the_paper")
clock = pd.Series({(change, d, rule): np.median(trace.seconds.sum(axis=1))
                   for (change, d), (traces, _) in changed.items() for rule, trace in traces.items()},
                  name="seconds a run, two at a time")  # fmt: skip
record.table(clock.rename_axis(["change", "d", "algorithm"]).to_frame(), "since_seconds", kind="seconds")
table["share"].unstack([1, 2]).loc[list(dict.fromkeys(change for change, _, _ in shares))].round(3)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-W", "3-X", "3-Y", "3-AF", "3-AG")

# %% [markdown]
# <details><summary>The first author's code for his thesis (2022) changes π-GP-UCB itself</summary>
#
# One cell at the start, a cell splits when $n > \rho^{-2\nu}$, children start without data, and the union counts
# $4(T+1)^{d/2\nu}$ cells.
#
# </details>

# %% tags=["experiment"]
of_thesis = {"π-GP-UCB, thesis": partial(PI, variant="thesis")}
traces, uniform = curves(functions(2), of_thesis, trials, "thesis")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
variants = table1["usual", 2][0] | traces
record.traces(variants, "thesis_variant")
table = pd.DataFrame({rule: average(trace.average_regret[:, -1], uniform, seed) for rule, trace in variants.items()},
                     ["share of uniform regret", "low", "high"]).T  # fmt: skip
record.table(table.rename_axis("algorithm"), "thesis_variant")
thesis = {rule: trace.cumulative_regret[:, -1].mean() for rule, trace in variants.items()}
of_thesis = thesis["π-GP-UCB, thesis"] / thesis["π-GP-UCB"]
record.expect(
    of_thesis < 1, f"In two dimensions the thesis's π-GP-UCB has {1 - of_thesis:.0%} less regret than the paper's."
)
table.round(3)

# %% [markdown]
# ## What does it cost? (text on Fig. 1, right; Table 1)
#
# Seconds depend on code, so we count multiplications. IGP-UCB uses all pulls and arms; π-GP-UCB those of one cell. A
# set of $n$ pulls and $m$ arms takes $n^2 + mn$ for its next pull. A new cell factors once, $n^3/3 + mn^2$.

# %% tags=["experiment"]
clocks = {}
for d in (1, 2, 3):  # trials of their own, in one block: nothing runs beside them
    alone = {"first": max(trials, trials_d3), "block": timing_trials, "label": f"timing, d = {d}"}
    for rule, trace in run_trials(Experiment(functions(d), published, horizon), timing_trials, seed, **alone).items():
        clocks[d, rule] = trace
of_cells = {d: np.array([its.operations for its in cells[d, horizon]]) for d in (1, 2, 3)}
of_all = {d: experiments.exact_operations(30**d, horizon) for d in (1, 2, 3)}
times = {d: measures.times(of_cells[d], of_all[d], seed) for d in (1, 2, 3)}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
counted = {"IGP-UCB": of_all, "π-GP-UCB": {d: its.mean(axis=0) for d, its in of_cells.items()}}
fig = pictures.operations({(d, rule): counted[rule][d] for d in (1, 2, 3) for rule in counted}, horizon)
record.figure(fig, "fig1_operations")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("3-I", **(slopes := measures.claim_3_I(of_cells, of_all, clocks, horizon, seed)))
clocked = {d: measures.clocked(clocks, d, seed) for d in (1, 2, 3)}
for claim_id, d in (("3-J", 3), ("3-K", 1), ("3-R", 2)):
    record.judge(claim_id, ratio=times[d], seconds=clocked[d])
record.judge("3-S", **(settling := measures.claim_3_S(cells[1, horizon], of_cells[2], seed)))
table = pd.DataFrame({d: [of_all[d].mean() * horizon, of_cells[d].mean() * horizon, times[d].value] for d in (1, 2, 3)},
                     ["IGP-UCB", "π-GP-UCB", "ratio"]).T.rename_axis("d")  # fmt: skip
record.table(table, "operations")
table.map("{:.3g}".format)

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
seconds = pd.Series({case: np.median(its.seconds.sum(axis=1)) for case, its in clocks.items()}, name="seconds a run")
record.table(seconds.rename_axis(["d", "algorithm"]).to_frame(), "seconds", kind="seconds")
seconds.unstack().round(2)

# %% [markdown]
# Multiplications of a run, and our seconds, which decide nothing. The paper prints these times:
#
# | $d$ | 1 | 2 | 3 |
# | --- | --- | --- | --- |
# | IGP-UCB | 82 minutes | 118 minutes | 30 hours |
# | π-GP-UCB | 12 minutes | 97 seconds | 29 minutes |

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-I", "3-J", "3-K", "3-R", "3-S")

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here, the main interpretation first |
# | --- | --- | --- |
# | lengthscale | eq. 2, read literally $l \sqrt 3$ | the usual convention; eq. 2 |
# | $L$ | "sub-Gaussian" | 1 (Hoeffding); $1/\sqrt 3$, the least |
# | $\alpha$ | $1 + 2/T$; experiments 1 | 1; $1 + 2/T$ |
# | first cover | "about $T^q$" cells | a whole number a side: rounded; down; up |
# | average of 12 runs | not said | mean of ratios; others in a table |
# | gain in the width | eq. 3 has $\gamma_t$ | $\gamma_{t-1}$, known when $x_t$ is chosen |
# | Fig. 2: functions, $T$, runs | "four common" ones; not said | a guess, and four more; 10,000; 40 |
# | function and noise shared | not said | shared by both algorithms, ties too |
#
# Every combination of the first four is one *interpretation*, played with fewer runs in two dimensions.

# %% tags=["experiment"]
choices = record.rules.interpretations
made_whole = {"rounded": round, "down": floor, "up": ceil}
under = {}  # (lengthscale, L, alpha, d) -> {rule or (rule, cover): (regret, uniform regret)}
told = ("lengthscale", "noise scale", "alpha")
for case in cross({name: choices[name] for name in told}):
    name, L, alpha = case.values()
    source = functions(2, name, 1 + 2 / horizon if alpha == "1 + 2/T" else 1.0, 1.0 if L == 1 else 1 / np.sqrt(3))
    its = {"IGP-UCB": published["IGP-UCB"]} | {cover: partial(PI, whole=of) for cover, of in made_whole.items()}
    experiment = Experiment(source, its, horizon)
    panel = total_regrets(experiment, [horizon], cross_trials, seed, label=f"interpretations, d = 2, {case}")[horizon]
    uniform = experiments.uniform_regret(experiment, cross_trials, seed)
    under[name, L, alpha, 2] = {rule: (lost / horizon, uniform) for rule, lost in panel.items()}


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def of_cross(case):
    """π-GP-UCB's share of uniform regret less IGP-UCB's, d = 2."""
    both = under[case["lengthscale"], case["noise scale"], case["alpha"], 2]
    return measures.apart(both[case["first cover"]], both["IGP-UCB"], seed)


cases = cross({name: choices[name] for name in (*told, "first cover")})
used = [case for case in cases if case["lengthscale"] not in refuted or len(refuted) == 2]
specified = record.play("3-G", [(case, of_cross(case)) for case in used])
fig = claim_curve(specified, record.rules, "3-G")
record.figure(fig, "interpretations_3-G")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
usual_ones = specified[specified["lengthscale"] == "usual"]
record.expect(
    (usual_ones["value"] < 0).all(),
    f"With the usual lengthscale π-GP-UCB has less regret in all {len(usual_ones)} interpretations.",
)
specified.groupby(["lengthscale", "state"]).size().unstack(fill_value=0)

# %% [markdown]
# ### Does the grid decide? (Table 1, d = 3)
#
# The first functions of $d = 3$ once more, too few to decide it; at full scale on a million arms.

# %% tags=["experiment"]
fine, fine_uniform = play(functions(3, side=fine_side), published, fine_trials, f"Table 1, d = 3, {fine_side} a side")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.traces(fine, "table1_d3_fine")
on_fine = {rule: trace.average_regret[:, -1] / fine_uniform for rule, trace in fine.items()}
on_30 = {rule: (its[0] / its[1])[:fine_trials] for rule in published for its in [finals["usual", 3, rule]]}
record.judge("3-Z", **measures.claim_3_Z(on_fine, on_30, seed))
grids = {"30 a side": on_30, f"{fine_side} a side": on_fine}
pd.DataFrame({(rule, name): its[rule] for name, its in grids.items() for rule in published}).round(3)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("3-Z")

# %% [markdown]
# ## What did not come out, and why
#
# Each line opens; one that does not hold in its run is crossed out.

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
record.explain(
    ["3-G"],
    gaps["d1_eq2"].low > 0 > max(gaps["d1"].high, gaps["d2"].high, gaps["d3_eq2"].high)
    and gaps["d2_eq2"].low < 0 < gaps["d2_eq2"].high,
    "The comparison depends on how eq. 2 is read (3-G)",
    "Under the longer lengthscale that it literally defines, IGP-UCB learns faster: π-GP-UCB has more regret for d = 1 "
    "and less for d = 3; for d = 2 the interval of the difference holds zero. Table 1 speaks against that lengthscale: "
    f"its means lie {misfit[letter] / misfit['usual']:.0f} times as far from ours (sum of squares in half-widths).",
)
record.explain(
    ["3-Q", "3-V", "3-AD"],
    max(too_many.values()) > 0 and {record.verdict(i) for i in ("3-V", "3-AD")} == {"not reproduced"},
    "Two lemmas and one remark are false as printed (3-Q, 3-AD, 3-V)",
    "The count of cells leaves out the first cover. Lemma 10 allows sets that look at the noise. The best arm of an "
    "unchanged cell can move, since the width depends on t.",
)
late = {d: its[:, -10:].mean() / its[:, :10].mean() for d, its in of_cells.items()}
if record.verdict("3-I") != "reproduced":
    record.explain(
        ["3-I"],
        slopes["pi_d3"].high < 0.2 < slopes["pi_d2"].low
        and late[2] > 2
        and all(slopes[f"seconds_d{d}"].high < 0.2 for d in (2, 3)),
        "Time is near-linear in three dimensions, not in two (3-I)",
        "In two, cells near good arms fill up: late rounds take "
        f"{late[2]:.0f} times the multiplications of early ones. By our clock rounds grow little in either.",
    )
if record.verdict("3-S") != "reproduced":
    record.explain(
        ["3-S"],
        settling["late"].low > 1.05 and settling["pulls"].low < 0.5,
        "Late rounds are costly in one dimension, as the paper says (3-S)",
        "Whether because it has converged is less clear: one cell takes "
        f"{settling['pulls'].value:.0%} of the late pulls (an even share is {1 / first[1]:.0%}); our limit is half.",
    )
if record.verdict("3-M") == "undecided":
    record.explain(
        ["3-M"],
        of_count["d3"].low < 0.1 < of_count["d3"].high,
        "Growth of the cover for d = 3 is undecided (3-M)",
        "There a whole number of cells a side makes large steps.",
    )
if record.verdict("3-W") == "undecided":
    unclear = [f"d = {d}" for d in (1, 2, 3) if since[f"d{d}"].high > 0]
    record.explain(
        ["3-W"],
        all(since[f"d{d}"].low < 0 for d in (1, 2, 3)),
        "Which changed algorithm is better is not decided everywhere (3-W)",
        f"For {' and '.join(unclear)} the difference is within its error.",
    )

above = {d: of_rates[f"nu3_d{d}"] for d in (1, 2)}
if record.verdict("3-AA") == "partly":
    record.explain(
        ["3-AA"],
        above[1].high < 0 < above[2].low,
        "Regret grows faster than eq. 1 in two dimensions, so far (3-AA)",
        "The bound is asymptotic: up to our horizons the first visit to every cell is a large share of the regret.",
    )

# %% [markdown]
# ## What to take home


# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
vacuous = all(exponents.loc[(d, nu), "IGP-UCB, 2020"] == 1 > exponents.loc[(d, nu), "π-GP-UCB"] for d in (2, 3))
record.finding(
    ["3-H"],
    vacuous
    and all(its.high < 1 for its in barely.values())
    and misfit["usual"] < misfit[letter]
    and abs(barely["share_eq2"].value - 0.75) < 0.02,
    "The theory before this paper gave IGP-UCB no guarantee for rough functions in two or more dimensions. For d = 3 "
    f"it has {barely['share'].value:.0%} of the regret of uniform play with the usual lengthscale, which fits the "
    "printed table best; with the longer one that a formula of the paper literally defines it has three quarters of "
    "it.",
)
saved = 1 - of["published", 3, "π-GP-UCB"] / of["published", 3, "IGP-UCB"]
record.finding(
    ["3-G"],
    max(gaps[f"d{d}"].high for d in (1, 2, 3)) < 0 < gaps["d1_eq2"].low
    and gaps["d2_eq2"].low < 0 < gaps["d2_eq2"].high
    and gaps["d3_eq2"].high < 0,
    "π-GP-UCB, with a Gaussian process for each cell of the domain, has less regret than IGP-UCB for every d played, "
    f"for d = 3 by {saved:.0%}. With the longer lengthscale of that formula, which fits Table 1 far worse, it has "
    "more for d = 1, as much within the error for d = 2, and less for d = 3.",
)
record.finding(
    ["3-Q", "3-AD", "3-P"],
    {record.verdict("3-Q"), record.verdict("3-AD")} == {"not reproduced"} and coverage >= 1 - delta and cost <= 0,
    f"Two lemmas behind its guarantee are false as printed. Two repaired confidence bands held {in_runs}, with "
    "mean regret no higher.",
)
behind = 1 - of["both", 2, "IGP-UCB"] / of["tighter width", 2, "π-GP-UCB"]
record.finding(
    ["3-W"],
    record.verdict("3-W") == "reproduced" and behind > 0 and since["both_d3"].low <= 0 <= since["both_d3"].high,
    "With two later improvements, a narrower band and a regularisation that grows with the horizon, IGP-UCB "
    f"overtakes π-GP-UCB with the narrower band for every d played, for d = 2 by {behind:.0%}. If π-GP-UCB gets both, "
    "too, the difference for d = 3 is within its error.",
)
cheaper = clock["both", 3, "IGP-UCB"] / clock["both", 3, "π-GP-UCB"]
record.finding(
    ["3-J", "3-W"],
    record.verdict("3-J") == "reproduced" and since["d2"].high < 0 and seconds[3, "IGP-UCB"] < 1800 and cheaper > 10,
    "To choose today, on functions as in Table 1: IGP-UCB with both changes for d = 1 and d = 2. For d = 3 it stays "
    "exact for tens of thousands of arms, but the difference in regret is within its error, and π-GP-UCB's cells are "
    f"cheaper: with both changes IGP-UCB takes {cheaper:.0f} times as long, by our clock.",
)
record.finish()
