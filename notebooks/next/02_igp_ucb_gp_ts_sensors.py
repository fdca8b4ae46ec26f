# %% [markdown]
# # IGP-UCB and Thompson sampling
#
# S. R. Chowdhury, A. Gopalan: *On Kernelized Multi-armed Bandits*, ICML 2017,
# [arXiv 1704.00445](https://arxiv.org/abs/1704.00445).

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **On functions IGP-UCB improves much on GP-UCB, as the paper says:** in the first two figures GP-UCB
#   has 215 to 928 times the regret of IGP-UCB, 26 to 50 times with the norm as printed, and 120 to
#   440 times that with the width that is proved.
# - **Whether it beats expected improvement (EI) depends on EI's incumbent, which the paper does not
#   name:** in Fig. 1 EI over the largest noisy reward has 312 and 213 times the regret of IGP-UCB,
#   over the largest posterior mean, without a margin, 0.44 and 0.48 times.
# - **GP-TS, Thompson sampling, is not competitive on test functions:** it has up to 81 times the
#   regret of the better of EI and PI. **On sensors norm and scale decide who wins**, and the paper
#   states neither.

# %% [markdown]
# ![Cumulative regret on two kinds of functions, EI and PI with a noisy and with a mean-based
# incumbent](../results/paper/02_igp_ucb_gp_ts_sensors/figures/headline_fig1_rkhs.png)
#
# Fig. 1: medians and quartiles of 25 functions; PI is the probability of improvement. [All
# verdicts](../results/README.md#2-A).

# %% [markdown]
# ## The idea
#
# A rule that pulls where its confidence band reaches highest explores as long as the band is wide.
# *IGP-UCB* narrows the band of *GP-UCB* (2010) by a new inequality for noise; *GP-TS* draws from the
# band instead. Is less regret lost, and less than by rules without a band and without a guarantee?

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 3886061859  # root seed of every random stream
trials: int = 100  # test functions behind each panel of Figs. 1 to 3 (paper: 25)
horizon: int = 30000  # rounds T of Figs. 1 to 3 (paper: 30000)
rows: int = 192  # test rows of each sensor set in Fig. 4, or all if there are fewer (paper: all)
plays: int = 4  # plays of each test row, with noise and ties of their own (paper: 1)
sensor_horizon: int = 1000  # rounds T of Fig. 4 (the paper does not say)
noise_trials: int = 2000  # runs on pure noise behind Theorem 1 and Lemma 4
coverage_trials: int = 400  # runs behind Theorems 2 and 3
theorem_horizon: int = 500  # rounds T of the runs for the theorems
kernel_trials: int = 50  # test functions under every wrong kernel, and in every dimension
kernel_horizon: int = 10000  # rounds of those runs
arms_trials: int = 25  # runs of EI of which every arm is stored
delta: float = 0.1  # the confidence band may fail with this probability
train_days: list[str] = [  # temperature covariance, from half-hour means: the paper's own
    "2004-02-28",
    "2004-02-29",
    "2004-03-01",
    "2004-03-02",
    "2004-03-03",
]
substitute_days: list[str] = ["2004-03-06", "2004-03-07", "2004-03-08"]  # the same, from minutes
test_days: list[str] = ["2004-03-04", "2004-03-05"]  # temperature test rows: the paper's own
results_dir: str = ""  # folder for figures and tables, from the root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from kbrepro import checks
from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.policies import UCB, ThompsonSampling
from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.problems import Trial, covariance_factor
from kbrepro.batch.record import Record
from kbrepro.data import sets
from kbrepro.figures import live
from kbrepro.papers import same_arms
from kbrepro.papers.igp_ucb import measures, pictures
from kbrepro.papers.igp_ucb.measures import GIVEN, OURS, POOLS
from kbrepro.papers.igp_ucb.next.experiments import DIMENSIONS, GAINS, SE, noise_kernels
from kbrepro.papers.igp_ucb.problems import PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.trials.curve import final_average_regret

checks.non_negative_int(seed=seed)
checks.at_least(2, trials=trials, kernel_trials=kernel_trials)
checks.at_least(40, rows=rows)
checks.at_least(30, horizon=horizon)
checks.positive_int(noise_trials=noise_trials, coverage_trials=coverage_trials)
checks.positive_int(plays=plays, arms_trials=arms_trials)
checks.positive_int(
    sensor_horizon=sensor_horizon, theorem_horizon=theorem_horizon, kernel_horizon=kernel_horizon
)
checks.probability(delta=delta)
checks.texts(train_days=train_days, substitute_days=substitute_days, test_days=test_days)
record = Record("02_igp_ucb_gp_ts_sensors", globals())

# %% [markdown]
# ## The problem
#
# In round $t = 1, \dots, T$ we pull one of finitely many *arms*, points $x_t$, and observe its
# *expected reward* $f(x_t)$ with noise of scale $R$. What counts is the *regret* for not knowing
# the best arm $x^*$:
#
# $$R_T = \sum_{t=1}^T \bigl( f(x^*) - f(x_t) \bigr).$$
#
# $\lVert f \rVert_k \le B$: the norm in the Hilbert space (RKHS) of the *kernel* $k(x, x')$
# measures how much $f$ wiggles. After pulls $A$ with observations $y_A$, Gaussian process
# regression gives mean and variance
#
# $$\mu(x) = k_A(x)^\top (K_A + \lambda I)^{-1} y_A, \qquad
# \sigma^2(x) = k(x, x) - k_A(x)^\top (K_A + \lambda I)^{-1} k_A(x).$$
#
# The *information gain* of the pulls is $\hat\gamma = \tfrac12 \log\det(I + \lambda^{-1} K_A)$;
# $\gamma_t$ is the largest of any $t$ pulls ([symbols](../docs/names.md)).
#
# ## The algorithms (Algorithms 1 and 2)
#
# The *band* is $\mu(x) \pm w_t \sigma(x)$. *IGP-UCB* (Algorithm 1) has the *width*
#
# $$w_t = B + R\sqrt{2(\gamma_{t-1} + 1 + \ln(1/\delta))}$$
#
# and pulls where the band reaches highest; the band may fail with probability $\delta$. *GP-TS*
# (Algorithm 2), Thompson sampling, draws a function from the posterior with standard deviations
# $w_t \sigma(x)$, with $\delta/2$, and pulls where it is largest. *GP-UCB* has the width
# $\sqrt{2B^2 + 300\, \gamma_{t-1} \ln^3(t/\delta)}$.


# %% tags=["experiment"]
def igp_ucb_or_gp_ts(k, X, s2, T, width, pull, rng, thompson):
    """The arms that Algorithm 1, or 2, pulls in T rounds; of arms that tie the first in a random
    order.
    """
    K = k(X, X)
    A = []
    y = []
    order = rng.permutation(len(X))
    F = covariance_factor(K)  # F F' = K: draws from the prior are F w
    for t in range(1, T + 1):
        G = np.linalg.solve(K[np.ix_(A, A)] + s2 * np.eye(len(A)), K[A])
        mu = y @ G
        C = K - K[:, A] @ G
        if thompson:
            g = F @ rng.standard_normal(len(X))[: F.shape[1]]
            z = rng.standard_normal(len(X))
            n = np.bincount(A, None, len(X))  # pulls of each arm
            around = g - C @ (n / s2 * g + np.sqrt(n / s2) * z)  # a draw, less what they see of it
        else:
            around = np.sqrt(np.maximum(np.diag(C), 0))
        arm = best_arm(mu + width(t) * around, order)
        A.append(arm)
        y.append(pull(arm))
    return A


# %% [markdown]
# The package pulls the same arms. As in the paper's experiments, $\gamma_t$ is its rate without a
# constant: $(\ln t)^{d+1}$ for the squared exponential (SE) kernel in $d$ dimensions,
# $t^{d(d+1)/(2\nu + d(d+1))} \ln t$ for Matérn kernels, 1 on sensors.

# %% tags=["experiment"]
trial = Trial(seed, 0)
example = PosteriorMean(SE, n_arms=100)(trial)
model = example.model
gain = GAINS[SE]


def width_of(fail):
    """The width of Algorithm 1, by round, whose band may fail with this probability."""
    log = np.log(1 / fail)
    return lambda t: model.norm + model.noise_scale * np.sqrt(2 * (gain(t - 1) + 1 + log))


for name, rule, fail in (("IGP-UCB", UCB, delta), ("GP-TS", ThompsonSampling, delta / 2)):
    short = partial(
        igp_ucb_or_gp_ts,
        model.kernel,
        model.points,
        model.noise_variance,
        30,
        width_of(fail),
        thompson=name == "GP-TS",
    )
    of_package = partial(rule, width=Chowdhury2017(fail, gain))
    print(f"{name}: {same_arms(short, of_package, example, 30, trial)}")

# %% [markdown]
# ## See it run: how wide is the band?
#
# The experiments use $\lambda = R^2$, for which this width is not proved. Proved for any $\lambda$ is
# the *classical* width (in figures: *gain of the pulls*), $B + (R/\sqrt\lambda)
# \sqrt{2(\hat\gamma_{t-1} + \ln(1/\delta))}$, and since 2024 a *tighter* one.

# %% tags=["experiment"]
for t in (10, 300):
    now = SimpleNamespace(t=t, model=model)
    wider = Original(delta, gain)(now) / Chowdhury2017(delta, gain)(now)
    print(f"round {t}: the band of GP-UCB is {wider:.0f} times as wide as that of IGP-UCB")

# %% [markdown]
# ![EI over the best posterior mean, left, and over the best observation, right, in round 52 on the
# same function and noise, and their regret](../docs/pictures/igp_ucb.png)
#
# As the player below opens; the open dot is the last observation. On GitHub only its words are left:
# it plays in JupyterLab and in the report that [`make report`](../README.md) builds.

# %% tags=["experiment"]
live.show("igp_ucb")

# %% [markdown]
# ## Part one: functions
#
# ### Is IGP-UCB the best rule? (Fig. 1)
#
# 100 arms on $[0, 1]$; a draw $y \sim N(0, K)$ is smoothed to $f = K(K + \lambda_0 I)^{-1} y$,
# $\lambda_0$ 1 % of the range of $y$, so that its norm is known. Noise: $R^2$ is 1 % of the range
# of $f$. Lengthscale 0.2, $\nu = 2.5$. Two rivals:
#
# - *expected improvement* (EI): the arm with the largest expected excess over an *incumbent* plus a
#   *margin*;
# - *probability of improvement* (PI): the arm most likely to exceed it.
#
# **The paper names neither incumbent nor margin.** Two incumbents play: the largest *reward
# observed* (noisy), and the largest *posterior mean* of an arm pulled, with four margins, in prior
# standard deviations. "EI" alone has the latter and margin 0. The first arm of a trial is random,
# the same for all.


# %% tags=["experiment"]
final = {}  # R_T / T of every trial and rule, by label
as_printed = {}  # R_T with the norm as printed


def show(figure, panels, name):
    """Play the panels of a figure, the norm exact and as printed, and draw them."""
    traces = {}
    for panel in panels:
        label = f"{figure} {panel}"
        totals = pd.DataFrame(record.play(f"{label}, B printed"))
        as_printed[label] = totals.map(np.sum)
        traces[panel] = record.play(label)
        final[label] = pd.DataFrame(final_average_regret(traces[panel]))
    record.figure(pictures.regrets(figure, traces), name)


record.plan["Fig. 1 (a) SE"]

# %% [markdown]
# **Fig. 1 of the paper**, once for each incumbent. Bands are cut where they reach below
# the axis.

# %% tags=["experiment"]
kernels = ("(a) SE", "(b) Matérn")
show("Fig. 1", kernels, "headline_fig1_rkhs")

# %% [markdown]
# Mean regret over that of IGP-UCB:

# %% tags=["experiment"]
mean = measures.means(final)
over_igp = mean / mean.loc["IGP-UCB"]
over_igp.loc[["GP-UCB", "GP-TS", "EI, noisy incumbent", "EI", "EI, margin 0.01"]].round(2)

# %% [markdown] tags=["checked"]
# **Whether IGP-UCB beats EI depends on EI's incumbent.** EI over the largest noisy reward has 312
# and 213 times the regret of IGP-UCB, over the largest posterior mean, without a margin, 0.44 and
# 0.48 times. But then EI and PI could be told apart in the plots, which a footnote denies.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
a, b = over_igp.loc["EI, noisy incumbent"]
record.check(f"noisy reward has {a:.0f} and {b:.0f} times the regret of IGP-UCB, over", b > 10)
a, b = over_igp.loc["EI"]
record.check(f"without a margin, {a:.2f} and {b:.2f} times", max(a, b) < 1)

# %%
record.verdicts("2-A", "2-C", "2-E")

# %% [markdown]
# ### Why does the incumbent decide? (our own question)
#
# Noise makes the largest *reward observed* grow for ever: after $t$ pulls near the top it lies
# about $R\sqrt{2 \ln t}$ above $\max f$, where no arm can reach it. So the best arm, once it is
# known well, is left again and again. The largest *posterior mean* converges to the value of the
# best arm found, so EI can settle.

# %% tags=["experiment"]
traces = record.play("Fig. 1 (a) SE, arms of EI")
at_best = {rule: (traces[rule].regret == 0).mean() for rule in ("EI", "EI, noisy incumbent")}
pd.Series(at_best).to_frame("share of rounds that pull the best arm").round(2)

# %% [markdown] tags=["checked"]
# EI pulls the best arm in 0.84 of the rounds with the posterior mean as incumbent, in 0.15 with the
# noisy reward.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
settles, leaves = at_best.values()
record.check(
    f"in {settles:.2f} of the rounds with the posterior mean as incumbent, in {leaves:.2f}"
)

# %%
record.verdicts("2-D")

# %% [markdown]
# ### Does the order change on draws from the prior? (Fig. 2)
#
# The same, but $f$ is itself a draw from the prior, with its exact norm. **Fig. 2 of the paper**:

# %% tags=["experiment"]
del traces
show("Fig. 2", kernels, "fig2_gp_draws")

# %%
record.verdicts("2-G", "2-AO")

# %% [markdown]
# ### Who wins on functions that the kernel does not know? (Fig. 3)
#
# Rosenbrock's function, $10 - 100 (y - x^2)^2 - (1 - x)^2$, on 200 random arms in $[0, 1]^2$, and
# Hartmann's in three dimensions on 300. The kernel is SE with lengthscale 0.2, $B$ is $\sqrt{a^\top
# K a}$, $a = (K + 10^{-6} I)^{-1} f$. **Fig. 3 of the
# paper**:

# %% tags=["experiment"]
show("Fig. 3", ("(a) Rosenbrock", "(b) Hartmann-3"), "fig3_test_functions")

# %% [markdown]
# <details><summary>How the margin 0.01 was chosen</summary>
#
# After a pilot of six trials at $T = 30000$, with mean $R_T$ of 67069, 9971, 23415 (Rosenbrock) and
# 5738, 3486, 2134 (Hartmann-3) for IGP-UCB, EI and PI with that margin. So it lifts no verdict on
# Fig. 3.
#
# </details>

# %% [markdown]
# Below, for each incumbent and margin, mean regret of one rule over another's, the larger of two
# panels; who is below 1 leads:

# %% tags=["experiment"]
leads = measures.leads(measures.means(final))
leads.round(2)

# %% [markdown] tags=["checked"]
# Only the largest posterior mean with a margin of 0.01 or 0.03 has IGP-UCB first in Fig. 1 and EI and
# PI before the rest in Fig. 3.
#
# **GP-TS is not competitive in Fig. 3:** it has up to 81 times the regret of the better of EI and PI.
# Its draws stray from the mean as far as the whole band does, so it explores longer than IGP-UCB.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
igp_first, ei_first, behind = leads.T.to_numpy()
margins = leads.index[(igp_first < 1) & (ei_first < 1)]
names = " or ".join(margin.removeprefix("margin ") for margin in margins)
record.check(f"Only the largest posterior mean with a margin of {names} has IGP-UCB first")
record.check(f"it has up to {behind.max():.0f} times the regret of the better of EI and PI")

# %%
record.verdicts("2-H", "2-I")

# %% [markdown]
# ### What does a wrong kernel cost? (Section 6)
#
# The paper *conjectures* that UCB and Thompson rules are "somewhat less robust on the choice of
# kernel": here they play Fig. 1 with others, of half and double the lengthscale and of the other
# kind.


# %% tags=["experiment"]
def regret_told(panel, kernel):
    """Mean regret by rule in a panel of Fig. 1 whose rules are given this kernel, its gain by
    formula, the same B.
    """
    return pd.DataFrame(final_average_regret(record.play(f"Fig. 1 {panel} told {kernel}"))).mean()


inflation = {}
for panel, (right, *wrong) in GIVEN.items():
    own = regret_told(panel, right)
    for kernel in wrong:
        name = f"{type(kernel).__name__}({kernel.lengthscale})"
        inflation[panel, name] = regret_told(panel, kernel) / own
inflation = pd.DataFrame(inflation).T.rename_axis(["functions", "kernel"])
inflation.round(2)

# %% tags=["experiment"]
cost = measures.sensitivity(inflation, OURS, ("noisy incumbent", "margin 0.1"))
pd.Series(cost).to_frame("cost to rules with a band over that to EI and PI").round(2)

# %% [markdown] tags=["checked"]
# A wrong kernel costs IGP-UCB and GP-TS 1.1 times as much as EI and PI over the noisy reward, 0.7
# times as much as over the posterior mean with a small margin.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
a, b = cost.values()
record.check(f"{a:.1f} times as much as EI and PI over the noisy reward, {b:.1f} times", a > 1 > b)

# %%
record.verdicts("2-R")

# %% [markdown]
# ### Does GP-TS fall behind in more dimensions? (our own question)
#
# The bound of GP-TS has a further factor $\sqrt d$. Functions as in Fig. 1 (a) on $100 d$ random arms
# in $[0, 1]^d$, mean regret:

# %% tags=["experiment"]
by_dimension = {}
for d in DIMENSIONS:
    by_dimension[d] = pd.DataFrame(record.play(f"SE, d = {d}")).map(np.sum).mean()
by_dimension = pd.DataFrame(by_dimension).T.rename_axis("d")
by_dimension["GP-TS over IGP-UCB"] = by_dimension["GP-TS"] / by_dimension["IGP-UCB"]
by_dimension.round(2)

# %%
record.verdicts("2-AQ")

# %% [markdown]
# ## Part two: sensors
#
# ### Who wins on temperature and light? (Fig. 4)
#
# Sensors are the arms, the covariance of training rows is the kernel matrix, and each test row,
# less the training means, is one function; $R^2$ is 5 % of the mean variance, $\gamma_t = 1$, and
# $N(0, R^2)$ noise is added. The paper states no norm: $B$ is a *smoothed* one, $\sqrt{a^\top K a}$
# with $a = (K + \lambda I)^{-1} f$.
#
# Light is the paper's own set: 41 sensors, in Lux. Each of its 192 test rows is played four times.
# Temperature is tested, as in the paper, on 4 and 5 March from 8 to 9 am, 120 minutes. The paper
# learned from the five days before, of which no minutes are available, but half-hour means of 41
# sensors.
#
# **Fig. 4 of the paper**, once for each incumbent:

# %% tags=["experiment"]
lab = record.readings_of("temperature", [*substitute_days, *test_days], sets.REPORTING)
data = {"temperature": lab, "light": record.readings_of("light")}
fields = {name: record.play(name) for name in data}
titles = {"temperature": "temperature, learned from half-hour means", "light": "light"}
record.figure(pictures.sensors(fields, data, titles), "fig4_sensors")

# %% [markdown]
# $B$ set in other ways: $\sqrt{f^\top K^{-1} f}$ without eigenvalues below a share (the *cut-off*)
# of the largest; $\sqrt{f^\top K f}$, as the paper prints it; 1. And every sensor divided by its
# standard deviation. And the covariance of temperature from other readings: half hours from 8 to 9
# am of the same days; minutes from 8 to 9 am of three days after the test days.

# %% tags=["experiment"]
KINDS = ("cut-off 1e-3", "cut-off 1e-10", "one", "printed")
TRAINED = ("temperature", "temperature, 8 to 9 am", "temperature, substitute days", "light")


def average_regret(label):
    """R_T / T of every trial and rule."""
    return pd.DataFrame(final_average_regret(record.play(label)))


by_norm = {}
for trained in TRAINED:
    final[trained] = average_regret(trained)
    final[f"{trained}, standardised"] = average_regret(f"{trained}, standardised")
    for kind in KINDS:
        by_norm[trained, kind] = average_regret(f"{trained}, B {kind}")
for name in data:
    scaled = f"{name}, standardised"
    for kind in KINDS:
        by_norm[scaled, kind] = average_regret(f"{scaled}, B {kind}")

# %% [markdown]
# With the noisy incumbent and $B$ smoothed; the last column has $\gamma_t = 1$ over the information
# gain of the pulls:

# %% tags=["experiment"]
mean = measures.means(final)[[label for label in final if label.startswith((*data,))]]
pool = mean.loc[[*POOLS[", noisy incumbent"]]]
improving = pool.iloc[3:]
behind = pool.loc["GP-TS"] / pool.drop("GP-TS").min()
sensors = behind.to_frame("GP-TS over its closest rival")
sensors["IGP-UCB over the better of EI and PI"] = pool.loc["IGP-UCB"] / improving.min()
gain_of_pulls = mean.loc["IGP-UCB, gain of the pulls"]
sensors["IGP-UCB, gain 1 over gain of the pulls"] = pool.loc["IGP-UCB"] / gain_of_pulls
sensors.round(2)

# %% [markdown]
# GP-TS over its closest rival with $B$ set in other ways, with the noisy incumbent:

# %% tags=["experiment"]
closest = {}
for (label, kind), lost in by_norm.items():
    rivals = pd.concat([lost.mean().drop("GP-TS"), improving[label]])
    closest[label, kind] = lost.mean()["GP-TS"] / rivals.min()
pd.Series(closest).unstack()[[*KINDS]].round(2)

# %% [markdown] tags=["checked"]
# **Norm and scale decide.** With counts as they are, on light GP-TS has 2.6 times the regret of its
# closest rival: the width adds unlike things, $B$ is a pure number, $R$ has the unit of the
# readings. On standardised light IGP-UCB beats EI and PI, as in the paper: it has 0.06 times the
# regret of the better. Other norms on standardised readings, which could put GP-TS first, are not
# played yet. On temperature IGP-UCB and GP-UCB perform the same, as in the paper, only with the norm
# that is cut off at 1e-10.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
light = behind["light"]
scaled = sensors.loc["light, standardised", "IGP-UCB over the better of EI and PI"]
record.check(f"GP-TS has {light:.1f} times the regret of its closest rival", light > 1.2)
record.check(f"it has {scaled:.2f} times the regret of the better", scaled < 1)
norms = measures.means(by_norm | {("temperature", "smoothed"): final["temperature"]})["temperature"]
ratios = norms.loc["GP-UCB"] / norms.loc["IGP-UCB"]
alike = " or ".join(ratios.index[ratios.between(1 / 1.2, 1.2)])
record.check(f"only with the norm that is {alike.replace('cut-off', 'cut off at')}")

# %%
record.verdicts("2-J", "2-K", "2-L", "2-M", "2-AP")

# %% [markdown]
# ### What do all figures say together?
#
# Sentences of the abstract, of Sections 1, 3.1, 4.1 and 4.2, of footnote 11 and of the conclusion.

# %%
record.verdicts("2-F", "2-Q", "2-AF", "2-S", "2-Z", "2-AA", "2-AG", "2-AB", "2-AE")

# %% [markdown]
# ## Do the theorems hold?
#
# ### Does noise stay below its bound? (Theorem 1, Lemmas 1 to 4)
#
# However arms are chosen, noise should stay below a bound with probability $1 - \delta$. Of four
# ways to choose them here, two seek its extremes.
#
# <details><summary>The formulas</summary>
#
# With $\lambda = 1 + \eta$ the noise $\varepsilon$ satisfies for all $t$
#
# $$\varepsilon^\top ((K_t + \eta I)^{-1} + I)^{-1} \varepsilon
# \le 2R^2 \ln \frac{\sqrt{\det(\lambda I + K_t)}}{\delta}.$$
#
# Lemma 4: the standard deviations at the arms pulled sum to at most $\sqrt{4(T+2)\gamma_T}$; here
# with the gain of the pulls, which is sharper.
#
# </details>

# %% tags=["experiment"]
for name in noise_kernels():
    record.play(f"Theorem 1, {name}")

# %%
record.verdicts("2-N", "2-P")

# %% [markdown]
# ### Do the band and the regret bounds hold? (Theorems 2 to 4, Lemmas 5 to 13)
#
# With $\lambda = 1 + 2/T$ the band holds for all arms and rounds with probability $1 - \delta$
# (Theorem 2), so the regret of IGP-UCB stays below a bound (Theorem 3). That of GP-TS (Theorem 4)
# is above $2BT$, the largest regret possible, up to $T$ = 4,000,000: no run can check it.

# %% tags=["experiment"]
for name in measures.proved(theorem_horizon):
    record.play(f"{name}, proved: λ = 1 + 2/T")

# %%
record.verdicts("2-O", "2-U", "2-Y")

# %% [markdown]
# ### Is the formula right? (Lemma 7)
#
# For a standard normal $Z$ and "any $\beta > 0$" the paper has $P(Z > \beta) \ge e^{-\beta^2} / (4
# \sqrt\pi\, \beta)$.

# %% tags=["experiment"]
beta = np.array([0.01, 0.34, 0.35, 1])
lemma = pd.DataFrame(
    {"the bound": measures.anti_concentration(beta), "P(Z > β)": ndtr(-beta)}, beta
)
lemma.rename_axis("β").round(3)

# %% [markdown] tags=["checked"]
# **Lemma 7 is false up to 0.34, and harmless** ([found on the way](../docs/errors.md)): its
# right-hand side grows without bound as β falls to zero, which no probability does. The proof needs
# it at β = 1, where it holds.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
false = lemma.index[lemma["the bound"] > lemma["P(Z > β)"]]
record.check(f"is false up to {false.max()}, and harmless")
record.check("The proof needs it at β = 1, where it holds", false.max() < 1)

# %%
record.verdicts("2-X")

# %% [markdown]
# ## Since the paper: what does a tighter width save?
#
# The proof of Theorem 2 adds two bounds where one suffices. [Flynn and Reeb
# 2024](https://arxiv.org/abs/2403.12732) have, for any $\lambda$ fixed beforehand,
#
# $$|f(x) - \mu_{t-1}(x)| \le \sigma_{t-1}(x)
# \sqrt{B^2 + \frac{2R^2}{\lambda} \bigl(\hat\gamma_{t-1} + \ln(1/\delta)\bigr)},$$
#
# narrower than the classical width by up to $\sqrt 2$ ([derivation](../docs/tighter_width.md)).

# %% tags=["experiment"]
mean = measures.means(final)
classical = mean.loc["IGP-UCB, gain of the pulls"]
widths = pd.DataFrame({"GP-UCB over IGP-UCB": mean.loc["GP-UCB"] / mean.loc["IGP-UCB"]})
printed_norm = measures.means(as_printed)
widths["with the norm as printed"] = printed_norm.loc["GP-UCB"] / printed_norm.loc["IGP-UCB"]
widths["GP-UCB over classical"] = mean.loc["GP-UCB"] / classical
widths["tighter over classical"] = mean.loc["IGP-UCB, tighter"] / classical
widths.round(2)

# %% [markdown] tags=["checked"]
# Where the norm is known, in the first two figures GP-UCB has 215 to 928 times the regret of IGP-UCB,
# 26 to 50 times with the norm as printed, and 120 to 440 times that with the width that is proved.
# The tighter width has 0.53 to 0.76 times the regret of the classical one there; on temperature,
# with a norm that is smoothed, more.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
printed, other_norm, proved, tighter = widths.iloc[:4].agg(["min", "max"]).T.to_numpy()
record.check("GP-UCB has {:.0f} to {:.0f} times the regret of IGP-UCB,".format(*printed))
record.check("{:.0f} to {:.0f} times with the norm as printed".format(*other_norm))
record.check("{:.0f} to {:.0f} times that with the width that is proved".format(*proved))
record.check("has {:.2f} to {:.2f} times the regret of the classical".format(*tighter))
record.check("on temperature, with a norm", widths.loc["temperature"].iloc[3] > 1)

# %%
record.verdicts("2-AD")

# %% [markdown]
# ### Which rule to take today?
#
# *Typical*: median regret, *worst*: largest regret, both over the best rule's median, in the worst
# panel of Figs. 1 to 3.

# %% tags=["experiment"]
home = measures.take_home(final)
record.table(home.rename_axis("rule"), "take_home")
home.loc[["EI", "EI, margin 0.01", "IGP-UCB", "IGP-UCB, tighter", "GP-TS", "GP-UCB"]].round(1)

# %% [markdown] tags=["checked"]
# Whoever needs a guarantee takes IGP-UCB with the tighter width. Whoever wants a default takes EI
# with the largest posterior mean: its median regret is at most 2.5 times the best rule's, IGP-UCB's
# up to 12.5 times. But its worst trials are worse, 53.3 against 29.8; a margin of 0.01 makes them
# 18.3, and raises the median to 10.7.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
(ei, ei_worst), (igp, igp_worst) = home.loc[["EI", "IGP-UCB"]].to_numpy()
record.check(
    f"is at most {ei:.1f} times the best rule's, IGP-UCB's up to {igp:.1f} times", ei < igp
)
record.check(f"its worst trials are worse, {ei_worst:.1f} against {igp_worst:.1f}")
typical, worst = home.loc["EI, margin 0.01"]
record.check(f"a margin of 0.01 makes them {worst:.1f}, and raises the median to {typical:.1f}")

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here |
# | --- | --- | --- |
# | incumbent of EI, PI | not named | noisy reward; largest mean of pulled arms |
# | margin of EI, PI | not named | 0; 0.01, 0.03, 0.1 prior sd |
# | $B$ | $B^2 = f^\top K f$, no RKHS norm | exact or smoothed norm; as printed; on sensors also cut-offs and 1 |
# | scale of sensors | not said | raw; every sensor over its standard deviation |
# | $\lambda$ | $R^2$; theorems $1 + 2/T$ | $R^2$ |
# | sensor horizon | not said | 1000; 100 and 305 from the same runs |
# | $\gamma_t$ | "theoretical upper bounds"; 1 on sensors | rates without constants; gain of the pulls |
# | $\lambda_0$ of Fig. 1 | not said | 1 % of the range of $y$ |
# | noise | not said | normal; GP-UCB's theorem wants it bounded |
# | Rosenbrock's constant, dimension | not said | 10, as we recall the cited source; 2 |
# | temperature | samples of five days before | half-hour means of these days, all or from 8 to 9 am; minute means of three days after |
# | added noise, centring of sensors | not said | $N(0, R^2)$; training means removed |
# | first arm | not said | at random, the same for all rules of a trial |
#
# Where two are named both are played in full: an *interpretation*; those that count are combined in
# pairs, and scale, $B$ and incumbent all at once. Footnote 11 says that EI and PI cannot be told
# apart in the plots, which excludes the margins with which they can.

# %%
record.finish()
