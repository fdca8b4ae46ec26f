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
#   language_info:
#     name: python
# ---

# %% [markdown]
# # BKB and variance starvation
#
# D. Calandriello, L. Carratino, A. Lazaric, M. Valko, L. Rosasco: *Gaussian Process Optimization with Adaptive
# Sketching: Scalable and No Regret*, COLT 2019, [arXiv 1903.05594](https://arxiv.org/abs/1903.05594).
#
# A Gaussian process slows down with every observation. Cheaper approximations of it tend to be certain of what they
# have never seen (*variance starvation*), and an algorithm that explores by uncertainty then stops exploring. *BKB*
# keeps a small *dictionary* of the arms pulled so far and draws it anew after every pull, each pull with a probability
# proportional to its posterior variance: the sketch is as large as the function explored is complex.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from kbrepro.verdicts.interpretations import cross, joint
from kbrepro.verdicts.pictures import claim_curve
from kbrepro.verdicts.record import Record

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from kbrepro import checks, information
from kbrepro.confidence import Constant, SelfNormalised, Tighter
from kbrepro.figures import live
from kbrepro.kernels import Linear, SquaredExponential, grid
from kbrepro.papers.bkb import costs, experiments, measures, pictures, starvation
from kbrepro.papers.bkb.policy import BKB, Authors, Budgeted, FourierUCB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.bkb.sketch import BudgetedPosterior, StreamingPosterior
from kbrepro.papers.bkb.starvation import shrinking_window, uniform_pulls
from kbrepro.policies import UCB
from kbrepro.policies.base import best_arm
from kbrepro.problems import GPDraw, RKHSFunction, Trial
from kbrepro.regret import exact
from kbrepro.simulation import Experiment, map_trials, run, run_trials, total_regrets

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 3724955949  # root seed of every random stream
seeds: int = 400  # functions behind Fig. 1
n_arms: int = 1000  # points of [0, 1] in Fig. 1 and Theorem 1
noise_variance: float = 0.01  # lambda, in all sections
ratio_runs: int = 20  # sequences of pulls behind Theorem 1, each design
ratio_horizon: int = 400  # pulls in each
own_runs: int = 40  # the same at the theorem's own qbar
trials: int = 40  # functions behind the regret
regret_arms: int = 1000  # random arms in the unit square
horizon: int = 1500  # rounds T of the regret
large_arms: list[int] = [4000, 10000]  # the same with more arms
qbar: float = 4.0  # BKB's constant for regret and costs
cost_arms: list[int] = [1000, 4000]  # numbers of arms of the cost of a step
cost_horizon: int = 5000  # rounds
cost_rounds: list[int] = [
    20,
    50,
    100,
    150,
    200,
    300,
    500,
    1000,
    1500,
    2000,
    3000,
    5000,
]  # rounds at which sizes are shown and refits are timed
cost_runs: int = 10  # functions behind counted operations, with more arms at most 3
coverage_runs: int = 100  # runs behind Theorems 2 and 9
coverage_horizon: int = 300  # rounds of each
fixed_trials: int = 240  # functions behind two features, a quarter of them behind other sizes
fixed_horizon: int = 3000  # rounds T of these
linear_trials: int = 40  # functions of the linear bandit
linear_horizon: int = 2000  # rounds T of the linear bandit
cross_runs: int = 20  # runs of every interpretation
cross_cases: int = 12  # combinations of noise variance, kernel and design that are played
cross_horizon: int = 300  # pulls in those of Theorem 1 and the regret
delta: float = 0.1  # confidence bands may fail with this probability
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
checks.positive_int(n_arms=n_arms, regret_arms=regret_arms)
checks.at_least(2, seeds=seeds, ratio_runs=ratio_runs, own_runs=own_runs, trials=trials)
checks.at_least(2, coverage_runs=coverage_runs, linear_trials=linear_trials, cross_runs=cross_runs)
checks.at_least(2, cost_runs=cost_runs, fixed_trials=fixed_trials)
checks.at_least(20, coverage_horizon=coverage_horizon, ratio_horizon=ratio_horizon, cross_horizon=cross_horizon)
checks.at_least(100, cost_horizon=cost_horizon, horizon=horizon, linear_horizon=linear_horizon,
                fixed_horizon=fixed_horizon)  # fmt: skip
checks.positive_ints(large_arms=large_arms, cost_arms=cost_arms, cost_rounds=cost_rounds)
checks.positive(noise_variance=noise_variance, qbar=qbar)
checks.probability(delta=delta)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
enough = {"horizon": horizon, "seeds": seeds, "runs at its own qbar": own_runs, "linear horizon": linear_horizon}
enough |= {"cost horizon": cost_horizon, "fixed horizon": fixed_horizon, "fixed trials": fixed_trials}
record = Record("04_bkb_variance_starvation", results_dir, has=enough)
record.banner()

# %% [markdown]
# ## At a glance

# %% jupyter={"source_hidden": true} tags=["at-a-glance", "full-scale", "hide-input", "nbval-ignore-output"]
record.at_a_glance()

# %% [markdown]
# ## The problem: which arm next, when the posterior grows too large?
#
# In round $t = 1, \dots, T$ we pull one of $A$ *arms*, here points $x_t$, and observe $y_t = f(x_t) + \varepsilon_t$,
# its *expected reward* with noise of scale $\xi$. What counts is the *regret* $R_T = \sum_t f(x^*) - f(x_t)$ for not
# knowing the best arm $x^*$. With a kernel $k$, $\lambda = \xi^2$ and $K_t$ the kernel matrix of the pulls, mean and
# standard deviation after $t$ pulls are
#
# $$\mu_t(x) = k_t(x)^\top (K_t + \lambda I)^{-1} y_t, \qquad
# \sigma_t^2(x) = k(x, x) - k_t(x)^\top (K_t + \lambda I)^{-1} k_t(x).$$
#
# GP-UCB pulls the arm of largest $\mu_t + \beta_t \sigma_t$. Names in the other papers:
# [notation](../docs/notation.md).
#
# ## The algorithm
#
# Replace the kernel by features $z(x) \in \mathbb R^m$ with $z(x)^\top z(x') \approx k(x, x')$, and let $V = \sum_s
# z(x_s) z(x_s)^\top + \lambda I$. Then $\tilde\mu = z^\top V^{-1} \sum_s z(x_s) y_s$, and for the variance there are
# two forms, here divided by $\lambda$ as the paper has it:
#
# $$\text{SoR: } z^\top V^{-1} z, \qquad
# \text{DTC: } \tilde\sigma^2 = z^\top V^{-1} z + \bigl(k(x, x) - \lVert z \rVert^2\bigr) / \lambda.$$
#
# Far from every member of a dictionary $z(x) \approx 0$. SoR's variance is then near 0, as if $f$ were known there: it
# *starves*, and GP-UCB never looks there. The second term of DTC gives back what the features cannot express, up to the
# $k(x, x) / \lambda$ of the prior. BKB has the variance of DTC, and a dictionary that favours pulls of which little is
# known:
#
# 1. Pull the arm of largest $\tilde\mu + \tilde\beta \tilde\sigma$, the first at random. For the *radius*
#    $\tilde\beta$ see *Does the sketch cost regret?*.
# 2. Give every pull so far the probability $\min(1, \bar q\, \tilde\sigma^2)$, with $\tilde\sigma$ from before the
#    newest observation. Draw: that is the dictionary $S$.
# 3. Features: $z(x) = (K_S^{1/2})^+ k_S(x)$ (Nyström). Compute $\tilde\mu$ and $\tilde\sigma^2$ (DTC); go on with 1.


# %% tags=["experiment"]
def bkb(k, X, lam, T, qbar, sds, pull, order, rng):
    """The arms that BKB pulls in T rounds with `sds` standard deviations; of arms that tie the first in `order`."""
    A, y, mean, var = [], [], np.zeros(len(X)), k.diag(X) / lam
    for _ in range(T):
        A.append(best_arm(mean + sds * np.sqrt(lam * var), order))
        y.append(pull(A[-1]))
        pulled, n = np.unique(A, return_counts=True)
        S = pulled[rng.binomial(n, np.minimum(1, qbar * var[pulled])) > 0]  # an arm pulled n times has n chances
        S = S if len(S) else np.array(A[-1:])
        values, vectors = np.linalg.eigh(k(X[S], X[S]))
        kept = values > 1e-13 * values[-1]  # the pseudo-inverse
        z = k(X, X[S]) @ (vectors[:, kept] / np.sqrt(values[kept]))
        V = z[A].T @ z[A] + lam * np.eye(z.shape[1])
        G = np.linalg.solve(V, z.T)
        mean = y @ z[A] @ G
        var = np.einsum("am,ma->a", z, G) + np.maximum(k.diag(X) - (z**2).sum(axis=1), 0) / lam
    return A


# %% [markdown]
# The package pulls the same arms:

# %% tags=["experiment"]
F = 2.0


def smooth(n, d=2, length=0.2, lam=noise_variance):
    """Functions of norm F on n random arms in [0, 1]^d, noise uniform on +- sqrt(lam)."""
    points = np.random.default_rng([seed, n, d]).uniform(size=(n, d))
    return RKHSFunction(SquaredExponential(length), points, lam, norm=F)


sketched = partial(BKB, width=SelfNormalised(delta), qbar=qbar)
small = smooth(60)(Trial(seed, 0))
trace = run(partial(sketched, width=Constant(3.0))(small.model, 80), small, 80, Trial(seed, 0).rng("run"))
noise, streams = Trial(seed, 0).rng("run").spawn(2)  # as the package draws them
arms = bkb(
    *(small.model.kernel, small.model.points, noise_variance, 80, qbar, 3.0),
    pull=lambda x: small.pull(x, noise),
    order=streams.permutation(60),
    rng=streams.spawn(1)[0],
)
assert arms == trace.arms.tolist()
print(f"{len(arms)} of {len(arms)} pulls agree; the first five: {arms[:5]}")

# %% [markdown]
# ## See it run: who is certain of what was never seen? (Fig. 1)
#
# A draw of a GP on $[0, 1]$, $k(x, x') = \exp(-100 (x - x')^2)$, observed up to 215 times, only in the shaded half;
# the paper shows BKB alone. SoR has BKB's own dictionary, RFF as many random Fourier features as BKB has members,
# QFF 26 quadrature Fourier features.

# %% tags=["experiment"]
line = GPDraw(SquaredExponential(np.sqrt(1 / 200)), grid(n_arms), noise_variance)
left_half = partial(uniform_pulls, upto=0.5)
shown_at = [6, 63, 215]
fig1 = line, left_half, shown_at, [2.0, 3.0, 5.0], {"RFF": [100, 300], "QFF": [26, 50, 100]}  # qbar, features
shown = {"exact": "", "BKB": "qbar=2", "SoR": "", "RFF": "m=|S|", "QFF": "m=26"}
steps_at = np.unique(np.geomspace(1, 215, 24).astype(int)).tolist()
every = sorted({*steps_at, *shown_at})
watched = starvation.snapshots(line, left_half, every, *fig1[3:], Trial(seed, 0))
frames = starvation.frames(watched, shown, every=max(1, n_arms // 200))
record.table(frames.set_index(["t", "name"]), "frames_starvation")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
x = line.points[:, 0]
observed = {t: (x[watched.pulls[:t]], watched.observations[:t]) for t in shown_at}
sizes = {(name, t): watched.seen[name, shown[name], t].n_features for name, t in product(list(shown)[1:], shown_at)}
fig = pictures.strip(frames, observed, sizes)
record.figure(fig, "headline_fig1_starvation")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
unseen = {t: {name: watched.seen[name, its, t].sd[x > 0.6].mean() for name, its in shown.items()} for t in shown_at}
record.expect(
    all(its["SoR"] < 0.5 * its["exact"] < its["BKB"] for its in unseen.values()),
    "Where nothing was observed BKB's band opens as the exact one does; SoR, from the same dictionary, is certain.",
)
pd.DataFrame(unseen).rename_axis("mean sd beyond 0.6").rename(columns="t = {}".format).round(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
live.show("bkb")

# %% [markdown]
# ## Is a step cheap? (Section 3.2)
#
# A step of BKB is $O((A + D) m^2)$, whatever $t$, with $D$ distinct arms pulled and $m$ distinct members. Four
# opponents, all exact, follow BKB's own pulls: *refit* from scratch ($t^3 + A t^2$, the paper's opponent), *counts*
# (refit with repeats of an arm as one point, $D^3 + A D^2$), *rows* (the factor updated by a row a pull, $A t$),
# *covariance* (that of all arms kept, $A^2$). These operations decide: the leading terms as printed, each with
# constant 1; the seconds of our programs stand beside them. Functions of norm 2 on random arms, $l = 0.2$,
# $\bar q = 4$, log-determinant radius (below).

# %% tags=["experiment"]
cases = {f"A = {cost_arms[0]}, d = 1": (cost_arms[0], 1)} | {f"A = {n}, d = 2": (n, 2) for n in cost_arms}
at = [t for t in cost_rounds if t <= cost_horizon]
mini = partial(MiniUCB, width=SelfNormalised(delta), squared_c=2.0)
played = {"BKB": sketched, "exact": partial(UCB, width=SelfNormalised(delta)), "mini-GP-UCB": mini}
measured, sizes_of, operations, whole = {}, {}, {}, []
for case, (n, d) in cases.items():
    job = partial(costs.cost_of_steps, smooth(n, d), sketched, cost_horizon, at)
    (its,) = map_trials(job, 1, seed, label=f"cost, {case}")
    measured[case] = its["seconds"], its["sizes"]
    job = partial(costs.sizes_of_steps, smooth(n, d), sketched, cost_horizon)
    more = (cost_runs if n == cost_arms[0] else min(cost_runs, 3)) - 1
    sizes_of[case] = [its["sizes"], *map_trials(job, more, seed, first=1, label=f"sizes, {case}")]
    operations[case] = [costs.operations(sizes, n) for sizes in sizes_of[case]]
for d in (1, 2):
    job = partial(costs.cost_of_runs, smooth(cost_arms[0], d), played, horizon)
    whole.append(map_trials(job, cost_runs, seed, label=f"whole runs, d = {d}"))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.operations_per_step(operations)
record.figure(fig, "operations_per_step")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["full-scale", "nbval-ignore-output", "hide-output"]
fig = pictures.cost_per_step(measured)
record.figure(fig, "cost_per_step")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
one_size = dict(list(measured.items())[:2])
fig = pictures.scaling(one_size, qbar)
record.figure(fig, "scaling")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
kept = pd.concat({case: its.loc[at].astype(int) for case, (_, its) in measured.items()}, names=["case", "t"])
record.table(kept, "cost_dictionaries")
line_members, plane_members = (its["members"].iloc[-1] for _, its in one_size.values())
record.expect(
    line_members < 0.5 * plane_members,
    "In one dimension BKB needs less than half of the dictionary that it needs in two.",
)
kept.groupby("case").tail(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
in_operations = {case: costs_of[0] for case, costs_of in operations.items()}
record.table(pd.concat({case: its.loc[at] for case, its in in_operations.items()}, names=["case"]), "cost_operations")
seconds = {case: its for case, (its, _) in measured.items()}
ms = pd.concat({case: measures.milliseconds(its).loc[at] for case, its in seconds.items()}, names=["case"])
record.table(ms, "cost_milliseconds_per_step", kind="seconds")
never = 2 * cost_horizon
by_clock = {case: measures.cheaper_than(ms.loc[case], at, never) for case in seconds}
cheaper = pd.DataFrame(by_clock).rename_axis("cheaper_than")
record.table(cheaper, "cost_cheaper_from", kind="seconds")
updated = measures.claim_4_K(operations, seed)
record.judge("4-J", **measures.claim_4_J(operations, seed))
record.judge("4-K", **updated)
record.judge("4-W", **measures.claim_4_W([[run["operations"] for run in runs] for runs in whole], seed))
record.judge("4-AA", **measures.claim_4_AA(sizes_of, operations, [n for n, _ in cases.values()]))
worst = {d: measures.worst_log_det(smooth(cost_arms[0], d), cost_horizon) for d in (1, 2)}
record.judge("4-AC", **measures.claim_4_AC(sizes_of, worst, seed))
counted = {case: measures.cheaper_than(its.loc[at], at, never) for case, its in in_operations.items()}
counted = pd.DataFrame(counted).rename_axis("cheaper_than")
record.table(counted, "cost_fewer_operations_from")
counted.map(lambda t: f"from t = {t:.0f} on" if t < never else "never").rename_axis("fewer operations than")

# %% [markdown]
# The first run; 4-K has the median. By our clock:

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["full-scale", "nbval-ignore-output", "hide-output"]
told = cheaper.map(lambda t: "not timed" if np.isnan(t) else f"from t = {t:.0f} on" if t < never else "never")
told.rename_axis("faster than")

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-J", "4-K", "4-AA", "4-AC")

# %% jupyter={"source_hidden": true} tags=["full-scale", "nbval-ignore-output", "hide-input"]
on_line, in_plane = list(cases)[:2]
record.expect(
    updated["rows_d1"].value < cost_horizon < updated["rows_d2"].value,
    "Against the row form BKB pays off in one dimension, and in two not within the rounds played.",
)
record.expect(
    cheaper.loc["exact, covariance", [on_line, in_plane]].min() == never > updated["covariance_d1"].value,
    f"By operations BKB's step is cheaper than keeping the covariance of {cost_arms[0]} arms up to date, in one "
    "dimension; by our clock it never is, since a product of two large arrays is quicker than many small steps.",
)
ms.groupby("case").tail(1).round(2).astype(object).fillna("not kept")

# %% [markdown]
# ## Does starvation happen in every run? (Sections 3.1 and 3.2)
#
# For every seed the largest ratio of variances over all arms, both ways: *starved* is exact over approximate,
# *inflated* approximate over exact (of BKB after its dictionary lost a region). Coverage is the share of the unseen
# half where $f$ is inside mean ± 3 sd. Folded below the figure: medians over seeds at $t = 215$, cut at 10000.

# %% tags=["experiment"]
runs = map_trials(partial(starvation.starvation, *fig1, 0.5), seeds, seed, label="starvation")
starved = pd.concat(runs, ignore_index=True)
record.table(starved.set_index("seed"), "starvation")
compared = {f"BKB, $\\bar q$ = {q}": ("BKB", f"qbar={q}") for q in (2, 3, 5)}
compared |= {"streaming, $\\bar q$ = 3": ("BKB, streaming", "qbar=3"), "DTC, as many pulls": ("DTC, uniform", ""),
             "DTC, 3 pulls": ("DTC, uniform", "3 pulls"), "SoR": ("SoR", "")}  # fmt: skip
compared |= {f"RFF, {m}": ("RFF", m) for m in ("m=|S|", "m=100", "m=300")}
compared |= {f"QFF, {m}": ("QFF", m) for m in ("m=26", "m=50", "m=100")}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.starvation(starved, compared)
record.figure(fig, "starvation_over_seeds")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig1_qbar = Budgeted(delta).smallest_qbar(max(shown_at))  # Theorem 1's own: every pull is kept
job = partial(experiments.variance_ratios, line, left_half, max(shown_at), [fig1_qbar], BudgetedPosterior)
of_theorem = map_trials(job, min(seeds, 40), seed, label="Fig. 1, own qbar")
close = measures.claim_4_A(starved, of_theorem, seed)
record.judge("4-A", **close)
record.judge("4-B", **measures.claim_4_B(starved, seed))
record.judge("4-D", **measures.claim_4_D(starved, seed))
dtc = measures.claim_4_Q(starved, seed)
record.judge("4-Q", **dtc)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table = starved[starved["t"] == 215].groupby(["name", "setting"], sort=False).median(numeric_only=True)
table[["starved", "inflated", "coverage", "features", "members"]].clip(upper=1e4).map("{:.3g}".format).astype(float)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-A", "4-B", "4-D", "4-Q")

# %% [markdown]
# ## How large must the dictionary be? (Theorem 1)
#
# <details><summary>The theorem in full</summary>
#
# For $\bar q \ge 6 \alpha \log(4T/\delta)/\varepsilon^2$, $\alpha = (1+\varepsilon)/(1-\varepsilon)$, with probability
# $1 - \delta$ all arms and steps keep $\sigma^2/\alpha \le \lambda \tilde\sigma^2 \le \alpha \sigma^2$ and
#
# $$|S| \le 3 (1 + \kappa^2/\lambda)\, \alpha \bar q\, d_\text{eff}, \qquad
# d_\text{eff} = \sum_s \sigma_t^2(x_s)/\lambda,$$
#
# the *effective dimension* of the pulls; $\kappa^2 = \max_x k(x, x)$ is 1 here, and $\delta = 0.1$. With the accuracy
# $\varepsilon = 1/2$ that is $\alpha = 3$ and a $\bar q$ of several hundred. How small may it be? Designs: uniform
# pulls, a window that shrinks around one arm, uniform pulls in two dimensions. A step is *bad* if some arm leaves the
# interval. *Streaming*: members are dropped, never drawn again, which the paper leaves open (Section 3.2).
#
# </details>

# %% tags=["experiment"]
plane = GPDraw(SquaredExponential(0.2), grid(int(np.sqrt(n_arms)), 2), noise_variance)
designs = {"uniform": (line, uniform_pulls), "window": (line, shrinking_window), "plane": (plane, uniform_pulls)}
forms = {"BKB": BudgetedPosterior, "BKB, streaming": StreamingPosterior}
qbars, found, own = [1.0, 2.0, 3.0, 4.0, 8.0], {}, {}
for (design, setting), (name, form) in product(designs.items(), forms.items()):
    job = partial(experiments.variance_ratios, *setting, ratio_horizon, qbars, form)
    runs = map_trials(job, ratio_runs, seed, label=f"{name}, {design}")
    found[name, design] = measures.dictionaries(runs, noise_variance)
own_horizon = ratio_horizon // 2
own_qbar = Budgeted(delta).smallest_qbar(own_horizon)
for design, setting in designs.items():
    job = partial(experiments.variance_ratios, *setting, own_horizon, [own_qbar], BudgetedPosterior)
    runs = map_trials(job, own_runs, seed, label=f"own qbar, {design}")
    own[design] = measures.dictionaries(runs, noise_variance)
found, own = pd.concat(found, names=["dictionary", "design"]).reset_index(), pd.concat(own, names=["design"])

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.transition(found, main=4.0)
record.figure(fig, "theorem1_transition")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
theorem_1 = measures.claim_4_E(own, found, seed)
record.judge("4-E", **theorem_1)
record.judge("4-F", **measures.claim_4_F(found, seed))
record.judge("4-G", **measures.claim_4_G(found, seed))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.expect(
    own["kept"].min() == 1,
    f"The theorem's own $\\bar q$ is {own_qbar:.0f} for $T$ = {own_horizon}: $\\bar q \\tilde\\sigma^2 \\ge 1$ at all "
    "pulls, so every pull of every run is kept, and BKB is the exact posterior.",
)
by_case = found.groupby(["dictionary", "design", "qbar"], sort=False)
table = by_case[["bad", "kept", "size", "bound"]].mean().assign(bound=by_case["bound"].min())
kept = table.loc["BKB"].xs(4.0, level="qbar")["kept"]
record.expect(
    kept.min() < 1,
    f"At $\\bar q = 4$, which the theorem does not cover, {kept.min():.0%} to {kept.max():.0%} of the "
    f"pulls are kept (by design). At most {theorem_1['four'].value:.2%} of the steps are bad.",
)
table.columns = ["share of bad steps", "share of pulls kept", "members / (qbar d_eff)", "bound / members"]
record.table(table, "theorem1_dictionaries")

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.loc["BKB"].round(2)

# %% [markdown]
# DTC on as many pulls drawn *uniformly*, $\bar q = 4$:

# %% tags=["experiment"]
equal = {}
for design in ("window", "uniform"):
    job = partial(experiments.equal_size, *designs[design], ratio_horizon, 4.0)
    equal[design] = np.array(map_trials(job, own_runs, seed, label=f"equal size, {design}"))
record.judge("4-P", **measures.claim_4_P(equal, seed))

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-E", "4-F", "4-G", "4-P")

# %% [markdown]
# ## Does the sketch cost regret? (Theorem 2)
#
# Random arms in the unit square, $l = 0.2$, norm $F = 2$, noise bounded by $\xi = 0.1$. Four radii $\tilde\beta$,
# with $S_t = \sum_s \tilde\sigma_t^2(x_s)$:
#
# - *log-determinant*: $\sqrt\lambda F + \xi \sqrt{\log\det(V/\lambda) + 2 \log(1/\delta)}$, for exact GP-UCB proved,
#   for the sketch not. Eq. 7 has $2 \log\det$ there: ours is narrower;
# - *Theorem 2*: $2\xi\sqrt{\alpha \log(\kappa^2 t) S_t + \log(1/\delta)} +
#   (1 + 1/\sqrt{1-\varepsilon}) \sqrt\lambda F$;
# - the *authors'* code: $\xi \sqrt{\log(t) S_t + \log(1/\delta)} + \sqrt\lambda F$;
# - *3 sd*: $\tilde\beta = 3 \sqrt\lambda$, as in Fig. 1. Nobody has proved it.
#
# *exact* and *BKB* without more have the log-determinant radius.

# %% tags=["experiment"]
logdet, three = SelfNormalised(delta), Constant(3.0)
rules = {
    "exact": partial(UCB, width=logdet),
    "BKB": sketched,
    "BKB, streaming": partial(sketched, streaming=True),
    "BKB, authors' radius": partial(sketched, width=Authors(delta)),
    "BKB, Theorem 2's radius": partial(sketched, width=Budgeted(delta)),
    "exact, 3 sd": partial(UCB, width=three),
    "BKB, 3 sd": partial(sketched, width=three),
    "exact, tighter width": partial(UCB, width=Tighter(delta)),
    "mini-GP-UCB": mini,
}
square = smooth(regret_arms)
traces = run_trials(Experiment(square, rules, horizon), trials, seed, label="regret")
record.traces(traces, "regret")


def totals(traces):
    """R_T of every trial, by rule."""
    return {name: trace.regret.sum(axis=1) for name, trace in traces.items()}


finals = totals(traces)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
of_paper = [name for name in rules if not name.startswith(("mini", "exact, t"))]
fig = pictures.regret({name: traces[name] for name in of_paper}, "median and quartiles")
record.figure(fig, "regret")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
pairs = [*((name, "exact") for name in of_paper[1:6]), ("BKB, 3 sd", "exact, 3 sd")]
fig = pictures.beside_exact(finals, pairs, seed)
record.figure(fig, "regret_beside_exact")
plt.show()

# %% tags=["experiment"]
more_arms = []
for n in large_arms:
    both = Experiment(smooth(n), {name: rules[name] for name in ("exact", "BKB")}, horizon)
    more_arms.append(totals(run_trials(both, min(trials, 3), seed, label=f"A = {n}")))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("4-H", **measures.claim_4_H(finals, more_arms, seed))
wide_arms = traces["BKB, Theorem 2's radius"].arms
record.judge("4-I", **measures.claim_4_I(operations, sizes_of, cost_arms[0], wide_arms, seed))
record.judge("4-N", **measures.claim_4_N(finals, seed))
record.judge("4-X", **measures.claim_4_X(found, finals, seed))
table = pd.DataFrame({"mean R_T": {name: its.mean() for name, its in finals.items()}})
table["over exact"] = table["mean R_T"] / table.loc["exact", "mean R_T"]
table["distinct arms"] = [np.mean([len(set(arms)) for arms in trace.arms]) for trace in traces.values()]
narrow, wide = table.loc[["exact, 3 sd", "BKB, Theorem 2's radius"], "over exact"]
record.expect(
    narrow < 1 < wide,
    f"The wider the radius, the larger the regret here. Three sd have {narrow:.2f} times the "
    f"mean regret of exact GP-UCB with the log-determinant radius, BKB with Theorem 2's radius {wide:.1f} times.",
)
record.table(table, "regret")
table.round(2)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-H", "4-I", "4-N", "4-X")

# %% [markdown]
# ## Must the features grow? (Sections 1.1 and 5)
#
# A dictionary adapts; a fixed number of features does not. All rules use 3 sd, on arms in one dimension. We
# chose two features in a pilot, then tested them on new functions.

# %% tags=["experiment"]
few = {f"RFF, {m} features": partial(FourierUCB, width=three, n_features=m) for m in (2, 4, 10, 20)}
named_before = {"RFF, 2 features": few.pop("RFF, 2 features")}
others, interval = {"BKB, 3 sd": rules["BKB, 3 sd"]} | few, smooth(regret_arms, d=1)
two = run_trials(Experiment(interval, named_before, fixed_horizon), fixed_trials, seed, label="two features")
n_others = max(2, fixed_trials // 4)
sized = run_trials(Experiment(interval, others, fixed_horizon), n_others, seed, label="more features")
record.traces(two, "two_features")
record.traces(sized, "more_features")
exponents = measures.claim_4_O(two | sized, seed)
record.judge("4-O", **exponents)
rff = measures.claim_4_C(starved, sized["RFF, 20 features"], seed)
record.judge("4-C", **rff)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.regret({name: trace.first(n_others) for name, trace in (two | sized).items()})
record.figure(fig, "fixed_features")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
pd.DataFrame(exponents, index=["exponent", "low", "high"]).rename(columns={"linear": "two"}).T.round(2)

# %% [markdown]
# How the dictionary adapts: the same with the log-determinant radius, for four lengthscales.

# %% tags=["experiment"]
short, grown = horizon // 3, {}
for length in (0.1, 0.2, 0.4, 0.8):
    job = partial(experiments.grown, smooth(regret_arms, length=length), sketched, short)
    grown[length] = pd.DataFrame(map_trials(job, min(trials, 10), seed, label=f"lengthscale {length}"))


def dimensions(source, arms):
    """The effective dimension of every trial's pulls."""
    return np.array([information.effective_dimension(source.kernel, source.points[a], noise_variance) for a in arms])


grown = pd.concat(grown, names=["lengthscale"])
spent = dimensions(square, traces["BKB"].arms[:10]) / horizon

# %% jupyter={"source_hidden": true} tags=["hide-input"]
table = grown.groupby("lengthscale").mean()
record.expect(
    table.loc[0.1, "members"] > table.loc[0.8, "members"], "The rougher the functions, the larger the dictionary."
)
record.table(table, "lengthscales")
table.rename_axis(f"after {short} pulls").round(1)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-C", "4-O")

# %% [markdown]
# ## Does the proof hold? (Propositions 4 and 5, Theorems 2 and 9)
#
# <details><summary>The formulas</summary>
#
# Proposition 5, with variances divided by $\lambda$ and taken after the point's own observation:
#
# $$d_\text{eff} \le \sum_s \sigma_s^2(x_s) \le \log\det(K/\lambda + I)
# \le d_\text{eff} (1 + \log(\lVert K \rVert/\lambda + 1)).$$
#
# For its radius Section 4.1 needs a bound on the log determinant. It has the last of these (eq. 6) with $\lVert K
# \rVert / \lambda \le \kappa^2 t / \lambda$, and writes $d_\text{eff} \log(\kappa^2 t)$: that step fails (4-T). It
# loses $1/\lambda$ and both ones; what follows is $d_\text{eff} (1 + \log(1 + \kappa^2 t / \lambda))$. Theorem 9: $f$
# stays within $\tilde\beta\tilde\sigma$ of $\tilde\mu$ for all arms and rounds; Theorem 2, with $L = \log(\kappa^2 T)$:
#
# $$R_T \le 2 (2\alpha)^{3/2} \sqrt T \bigl(\xi d_\text{eff} L + \sqrt{\lambda F^2 d_\text{eff} L}
# + \xi \log(1/\delta)\bigr).$$
#
# </details>

# %% tags=["experiment"]
chains, broken = {}, []
for design, setting in designs.items():
    job = partial(experiments.dimension_chain, *setting, min(ratio_horizon, 300))
    chains[design] = np.array(map_trials(job, ratio_runs, seed, label=f"Proposition 5, {design}"))
    job = partial(experiments.violations, *setting, min(ratio_horizon, 300), 4.0)
    broken += map_trials(job, ratio_runs, seed, label=f"Proposition 4, {design}")
few_arms = RKHSFunction(SquaredExponential(0.1), grid(100), noise_variance, norm=F)
own_qbars = {"own": Budgeted(delta).smallest_qbar(coverage_horizon), "four": 4.0}
bands, bounds = {}, {}
for label, q in own_qbars.items():
    rule = {"BKB": partial(BKB, width=Budgeted(delta), qbar=q)}
    experiment = Experiment(few_arms, rule, coverage_horizon, record_band=True)
    bands[label] = run_trials(experiment, coverage_runs, seed, label=f"Theorem 9, {label} qbar")["BKB"]
    bounds[label] = np.array([Budgeted(delta).regret_bound(few_arms(Trial(seed, 0)).model, d, coverage_horizon)
                              for d in dimensions(few_arms, bands[label].arms)])  # fmt: skip
kept_all = {"exact": rules["exact"], "BKB": partial(sketched, qbar=1e9)}
alike = run_trials(Experiment(smooth(200), kept_all, min(horizon, 300)), trials, seed, label="everything kept")

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
fig = pictures.proposition_5(chains)
record.figure(fig, "proposition5")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
in_its_place = measures.claim_4_T(chains, noise_variance)
record.judge("4-L", **measures.claim_4_L(chains))
record.judge("4-T", **in_its_place)
record.judge("4-U", other=exact((alike["exact"].arms != alike["BKB"].arms).sum()))
record.judge("4-V", **measures.claim_4_V(broken))
record.judge("4-M", **measures.claim_4_M(bands, bounds, delta, seed))
pd.DataFrame(in_its_place, index=["value", "low", "high"]).round(3)

# %% [markdown]
# The *multiplier* is the smallest by which the width could be scaled and still cover in 90 % of the runs, from round 10
# on. The paper says that $\varepsilon = 1/2$ costs a factor "$3 \log T$" in regret and "12" in time; by its own
# formulas the first is $\alpha^{3/2} = 5.2$ times $\log T$; the second multiplies $m$, and the time goes as $m^2$.

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-L", "4-M", "4-T", "4-U", "4-V")

# %% [markdown]
# ## Does it work for linear bandits, too? (Section 5)
#
# With the linear kernel BKB is a linear bandit on the span of its dictionary. 500 random arms in 20 dimensions, of
# which few matter. Its opponent is exact linear UCB (OFUL).

# %% tags=["experiment"]
directions = np.random.default_rng([seed, 20]).standard_normal((500, 20)) * 0.8 ** np.arange(20)
points = directions / np.linalg.norm(directions, axis=1).max()
linear = RKHSFunction(Linear(), points, noise_variance, norm=1.0)
linear_rules = {name: rules[name] for name in ("exact", "BKB", "BKB, streaming")}
on_a_plane = run_trials(Experiment(linear, linear_rules, linear_horizon), linear_trials, seed, label="linear")
record.traces(on_a_plane, "linear")
record.judge("4-R", **measures.claim_4_R(totals(on_a_plane), seed))
of_linear = dimensions(linear, on_a_plane["BKB"].arms[:10])
record.judge("4-S", **measures.claim_4_S(spent, of_linear, points.shape[1], grown, short, seed))

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
fig = pictures.regret(on_a_plane)
record.figure(fig, "linear_bandit")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
pd.DataFrame(totals(on_a_plane)).describe().loc[["mean", "std"]].round(1)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-R", "4-S")

# %% [markdown]
# ## Since the paper
#
# *mini-GP-UCB* ([Calandriello et al. 2022](https://arxiv.org/abs/2201.12909)) needs no sketch. $n$ pulls of one arm
# divide its variance by $1 + n\sigma^2/\lambda$, and that of any other arm by no more; so it stays with the chosen arm
# for $\lfloor (C^2 - 1) \lambda / \sigma^2 \rfloor$ rounds, in which no standard deviation falls by
# more than the factor $C$. Repeats of an arm are one row of an exact posterior. Here $C^2 = 2$ (ours). And the width of
# exact GP-UCB has been tightened ([Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732),
# [derivation](../docs/tighter_width.md)). Same functions and noise as above.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("4-Y", **measures.claim_4_Y(finals, seed))
record.judge("4-Z", **measures.claim_4_Z(finals, seed))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
pairs = [(name, "exact") for name in ("BKB", *list(rules)[-2:])]
fig = pictures.beside_exact(finals, pairs, seed)
record.figure(fig, "since_the_paper")
plt.show()

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("4-W", "4-Y", "4-Z")

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here | what it changes |
# | --- | --- | --- | --- |
# | kernel of Fig. 1 | "bandwidth $\sigma^2 = 100$" | $\exp(-100 r^2)$; $\exp(-r^2/200)$ | played below |
# | $\lambda = \xi^2$ of Fig. 1 | not said | 0.01; 0.0001 | played below |
# | $\bar q$ of Fig. 1 | not said; the theorem's keeps all | 3; 2; 4; 5 (regret: 4); its own in 4-A | played below |
# | dictionary | drawn anew; incremental left open | both | played below |
# | pulls of Fig. 1 | uniform in $[0, 0.5]$ | also a window, a shrinking one (ours) | played below |
# | features of RFF | not said | $\lvert S \rvert$; 100; 300 (ours) | played below |
# | band of Fig. 1 | ± 3 $\tilde\sigma$ (eq. 4 divides by $\lambda$) | ± 3 $\sqrt\lambda \tilde\sigma$ | none played |
# | probabilities above 1; empty $S$ | not said | 1; the newest pull | none played |
# | $\log(\kappa^2 t)$ at $t = 1$ | 0 | that of $t = 2$ | none played |
# | regret, costs | no experiment | all settings ours | lengthscale played |
#
# Every combination that bears on a claim is one *interpretation*, played on common random numbers with fewer runs.

# %% tags=["experiment"]
choices = record.rules.interpretations
kernels = dict(zip(choices["kernel"], (line.kernel, SquaredExponential(10.0)), strict=True))
named = dict(zip(choices["dictionary"], forms, strict=True))  # "BKB", "BKB, streaming"
half_designs = {"uniform": left_half, "window": partial(uniform_pulls, above=0.2, upto=0.3),
                "shrinking": partial(shrinking_window, upto=0.5)}  # fmt: skip
figure_1, followed, regrets, common = {}, {}, {}, ("noise variance", "kernel", "design")
qbars = sorted(map(float, choices["qbar"]))  # the first, 2, is that of the dictionary S
for case in cross({name: choices[name] for name in common}, at_most=cross_cases, seed=seed):
    lam, kernel, design = key = tuple(case.values())
    setting = GPDraw(kernels[kernel], grid(min(n_arms, 400)), lam), half_designs[design]
    job = partial(starvation.starvation, *setting, shown_at[1:], qbars, {"RFF": [100, 300], "QFF": []}, 0.5)
    figure_1[key] = pd.concat(map_trials(job, cross_runs, seed, label=f"Fig. 1, {key}"))
    for name, form in zip(choices["dictionary"], forms.values(), strict=True):
        job = partial(experiments.variance_ratios, *setting, cross_horizon, qbars, form)
        runs = map_trials(job, max(2, cross_runs // 2), seed, label=f"Theorem 1, {key}, {name}")
        followed[*key, name] = measures.dictionaries(runs, lam).set_index("qbar")

# %% tags=["experiment"]
for key in product(choices["noise variance"], choices["lengthscale"]):
    its = {(q, name): partial(sketched, qbar=float(q), streaming=name == "streaming")
           for q, name in product(choices["qbar"], choices["dictionary"])} | {"exact": rules["exact"]}  # fmt: skip
    source = smooth(min(regret_arms, 400), lam=key[0], length=key[1])
    experiment = Experiment(source, its, cross_horizon)
    its = total_regrets(experiment, [cross_horizon], max(2, cross_runs // 2), seed, label=f"regret, {key}")
    regrets[key] = its[cross_horizon]


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def common_of(case):
    return tuple(case.get(name, choices[name][0]) for name in common)


def of_seeds(case):
    return figure_1[common_of(case)]


def steps(case):
    return followed[*common_of(case), case["dictionary"]].loc[case["qbar"], "bad"]


def less_regret(case):
    its = regrets[case["noise variance"], case["lengthscale"]]
    return measures.beside(its, (case["qbar"], case["dictionary"]), "exact", seed)


# %% jupyter={"source_hidden": true} tags=["experiment", "hide-input"]
stated = common[:-1]  # the paper states the design; others are our own question
from_four = choices | {"qbar": sorted(choices["qbar"], key=lambda q: q != 4)}
plays = {
    "4-A": (lambda its: measures.worst_95(
                of_seeds(its), "inflated", named[its["dictionary"]], f"qbar={its['qbar']}", seed),
            choices, ("qbar", "dictionary", *stated)),
    "4-B": (lambda its: measures.coverage(of_seeds(its), "SoR", "", seed), choices, common),
    "4-C": (lambda its: measures.starved(of_seeds(its), "RFF", f"m={its['random features']}", seed),
            choices, ("random features", *stated)),
    "4-E": (lambda its: measures.mean_share(steps(its).to_numpy(), seed), from_four, ("qbar", "dictionary", *common)),
    "4-H": (less_regret, from_four, ("qbar", "dictionary", "noise variance", "lengthscale")),
}  # fmt: skip
specified = {}
for claim_id, (estimate, of, names) in plays.items():
    there = [case for case in cross({name: of[name] for name in names})
             if claim_id == "4-H" or common_of(case) in figure_1]  # fmt: skip
    specified[claim_id] = record.play(claim_id, [(case, estimate(case)) for case in there])

# %% [markdown]
# At $\bar q \le 5$, which Theorem 1 does not cover, failures of 4-E are our own question.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = claim_curve(specified["4-A"], record.rules, "4-A")
record.figure(fig, "interpretations_4-A")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
for claim_id in list(specified)[1:]:
    fig = claim_curve(specified[claim_id], record.rules, claim_id)
    record.figure(fig, f"interpretations_{claim_id}")
    plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
shared = ("qbar", "dictionary", *stated)
settings = joint(specified, shared, {"random features": "|S|", "lengthscale": 0.2, "design": "uniform"})
record.table(settings, "joint_settings")
together = settings[settings["holds"] == len(specified)]
record.expect(
    len(together) and together["kernel"].nunique() == 1,
    f"All of them hold at once in {len(together)} of {len(settings)} joint settings. The kernel of these is one: "
    f"{' / '.join(together['kernel'].unique())}.",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
settings.groupby(["kernel", "qbar"], sort=False)["holds"].agg(["min", "median", "max", "size"])

# %% [markdown]
# ## What did not come out, and why
#
# Each line opens; one that does not hold in its run is crossed out.

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
record.explain(
    ["4-T"],
    in_its_place["bound"].value < 1 <= in_its_place["mended"].value,
    "The radius of Theorem 2 is derived from a bound that fails (4-T)",
    r"$d_\text{eff} \log(\kappa^2 t)$ falls below the log determinant that it stands for: from eq. 6 follows "
    r"$d_\text{eff} (1 + \log(1 + \kappa^2 t / \lambda))$.",
    "The radius itself held in the runs for Theorem 9 all the same (4-M), since its other constants are far too wide.",
)
record.explain(
    ["4-A"],
    close["inflated_3"].high <= 3 < close["inflated_2"].value,
    r"How close BKB's variance is (4-A) depends on q̄",
    r"The paper names none for Fig. 1. In the main setting the worst ratio stays below $\alpha$ at $\bar q$ = 3; at 2 "
    "the dictionary loses a region in some seeds, and the variance is far too large there.",
)
record.explain(
    ["4-Q"],
    dtc["starves"].high < 10 < 1000 < measures.starved(starved, "SoR", "", seed).value,
    "DTC under-estimates little (4-Q)",
    "Section 1 says that it starves where the subset covers the space badly, Section 3.2 that it avoids "
    "under-estimation until the subset is drawn anew.",
    "With three pulls as dictionary its worst ratio is below ten (median over seeds), that of SoR on a far better "
    "dictionary above a thousand.",
)
record.explain(
    ["4-C"],
    rff["starved"].low > 2 > rff["starved_300"].high and rff["regret"].high < 0.9,
    "How much random features starve (4-C) is a question of their number",
    "With as many as BKB has members they do, by our limit of a factor of two; with 300 they do not.",
    "Starving need not mean linear regret: on twenty features it is far from linear.",
)
smooth_cases = specified["4-C"][specified["4-C"]["kernel"] == choices["kernel"][1]]["state"]
only_rough = {choices["kernel"][0]} == set(specified["4-B"].query("state == 'holds'")["kernel"])
record.explain(
    ["4-B", "4-C"],
    only_rough and "holds" not in set(smooth_cases),
    "Under one of two kernels no low-rank form starves on average (4-B, 4-C)",
    'Fig. 1 has "bandwidth 100", which may be $\\exp(-100 r^2)$ or $\\exp(-r^2/200)$.',
    "With the second a function is nearly a straight line on the interval, which few features express. For random "
    f"features it is open in {(smooth_cases == 'undecided').sum()} of {len(smooth_cases)} cases.",
)
record.explain(
    ["4-O"],
    exponents["linear"].low > 0.9 > exponents["twenty"].high,
    "A fixed scheme may suffer linear regret (4-O) if it is small enough",
    f"With two random features the regret grows as t to the {exponents['linear'].value:.2f}, with twenty as t to the "
    f"{exponents['twenty'].value:.2f}.",
)
record.explain(
    ["4-K"],
    updated["rows_d1"].value < cost_horizon < updated["rows_d2"].value,
    "Speed (4-K) depends on the opponent",
    "The paper compares with a refit in every step.",
    "An exact posterior can be updated, for $A t$ or $A^2$ operations a step beside BKB's $(A + D) m^2$: in two "
    "dimensions $m^2$ is larger than every $t$ played.",
)

# %% [markdown]
# ## What to take home

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
of_parts = ("4-H", "theory"), ("4-N", "theorem"), ("4-B", "sor"), ("4-Y", "two"), ("4-W", "rows")
sketch, wider, covered, dearer, spared = (record.value(*at) for at in of_parts)
record.finding(
    ["4-B", "4-C"],
    record.verdict("4-B") == "reproduced" and record.verdict("4-C") == "depends" and covered < 0.6
    and only_rough and {*smooth_cases} == {"fails", "undecided"},
    "Cheap approximations of a Gaussian process do become certain of what they never saw: the band of the subset of "
    f"regressors, three standard deviations, holds the function at {covered:.0%} of unseen points. The figure's "
    "caption allows a second kernel; under it they do not, on average (random features: partly open).",
)  # fmt: skip
large_enough = specified["4-A"][specified["4-A"]["qbar"] != choices["qbar"][1]]["state"]
record.finding(
    ["4-A"],
    close["inflated_3"].high <= 3 < close["inflated_2"].value and {*large_enough} == {"holds", "undecided"},
    "BKB, which redraws a small dictionary of its pulls in every round, does not starve in our main setting: its "
    "variance stays close to the exact one if its constant $\\bar q$ is 3 or more, but can be several times too large "
    "at 2. Some other settings are open.",
)
record.finding(
    ["4-H", "4-N"],
    record.verdict("4-H") == record.verdict("4-N") == "reproduced",
    f"The sketch costs little regret in our main setting: with the same radius BKB has {sketch:.1%} more than exact "
    f"GP-UCB. The radius decides: with the paper's own it has {1 + wider:.1f} times that regret, with three plain "
    "standard deviations, unproved, less than half.",
)
record.finding(
    ["4-J", "4-K"],
    record.verdict("4-J") == "reproduced"
    and updated["rows_d2"].value > cost_horizon > updated["rows_d1"].value
    and cheaper.loc["exact, covariance", [on_line, in_plane]].min() == never,
    "By counted operations BKB beats computing the exact posterior anew, but beats updating it in one dimension only. "
    "By our clock the quickest update is as fast even there.",
)
record.finding(
    ["4-W", "4-Y", "4-Z"],
    record.verdict("4-W") == record.verdict("4-Z") == "reproduced" and dearer < 0.3,
    "So on a thousand arms take exact GP-UCB, updated, with the tighter width proved since. mini-GP-UCB, which repeats "
    f"one arm for several rounds, needs one operation where updating by rows needs {spared:.0f} or more, for "
    f"{dearer:.0%} more regret at the same radius.",
)
record.finish()
