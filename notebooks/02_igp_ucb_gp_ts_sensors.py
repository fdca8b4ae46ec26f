# %% [markdown]
# # IGP-UCB and Thompson sampling
#
# S. R. Chowdhury, A. Gopalan: *On Kernelized Multi-armed Bandits*, ICML 2017, [arXiv
# 1704.00445](https://arxiv.org/abs/1704.00445).

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **Whether IGP-UCB beats expected improvement (EI) depends on the value that EI tries to exceed,
#   which the paper does not name.** In Fig. 1 EI over the largest noisy reward incurs 340 and 203
#   times the regret of IGP-UCB. Over the largest posterior mean, without a margin, it incurs 0.71
#   and 0.59 times that regret. A footnote of the paper contradicts this second choice.
# - **Where functions fit the kernel IGP-UCB improves much on GP-UCB; the norm $B$ that rules are
#   given decides how much.** In Figs. 1 and 2 GP-UCB incurs 181 to 940 times the regret of IGP-UCB.
#   With $B$ as the paper prints it, GP-UCB incurs 21 to 39 times the regret of IGP-UCB.
# - **On sensors GP-TS seldom wins.** It wins in the paper, which prints a $B$ that is no RKHS norm
#   and does not name the scale of the readings. Here GP-TS incurs the lowest regret under 1 of 10
#   combinations of both on temperature, and under 1 of 10 on light.

# %% [markdown]
# The criteria of all verdicts were frozen before these trials were played. Those who wrote them knew
# the trials of an earlier edition ([what is frozen](../docs/claims.md#what-is-frozen-before-play)).
# [What each sentence says, and how often it comes out](#verdicts-at-a-glance).
#
# ## The idea
#
# An algorithm looks at an unknown function, a noisy value at a time, and pays whenever the value
# could have been higher. A rule that looks where its confidence band reaches highest explores as
# long as the band is wide. *IGP-UCB* narrows the band of *GP-UCB* (2010) by a new inequality for
# noise. *GP-TS* draws a function from the band and looks where the draw is highest. Their rivals
# *EI* and *PI* have no band and no guarantee. They look where an improvement on a value, the
# *incumbent*, is expected or likely.
#
# Two choices that the paper leaves open decide what comes out. This notebook follows them: **the
# incumbent of EI and PI**, and **the norm $B$**, from which the bands start. Beside them stands the
# scale of sensor readings.
#
# ![EI over the best posterior mean, left, and over the best observation, right, in round 52 on the
# same function and noise, and their regret](../docs/pictures/igp_ucb.png)
#
# EI over the best posterior mean, left, and over the best observation, right, in round 52 on the
# same function. Dotted: the incumbent; an open dot: the last observation. On the right the
# incumbent lies above the function, so that EI leaves the best arms.

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 1585199786  # root seed of every random stream
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
train_days: list[str] = [
    "2004-02-28",
    "2004-02-29",
    "2004-03-01",
    "2004-03-02",
    "2004-03-03",
]  # temperature covariance, from half-hour means: the paper's own
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
from kbrepro.papers.igp_ucb import experiments, measures, pictures
from kbrepro.papers.igp_ucb.measures import GIVEN, OURS, POOLS
from kbrepro.papers.igp_ucb.problems import NORMS, PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.trials.curve import final_average_regret

checks.non_negative_int(seed=seed)
checks.at_least(2, trials=trials, kernel_trials=kernel_trials)
checks.at_least(40, rows=rows, horizon=horizon)
checks.positive_int(noise_trials=noise_trials, coverage_trials=coverage_trials, plays=plays)
checks.positive_int(arms_trials=arms_trials, theorem_horizon=theorem_horizon)
checks.positive_int(sensor_horizon=sensor_horizon, kernel_horizon=kernel_horizon)
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
# We know that $\lVert f \rVert_k \le B$. This norm, in the Hilbert space (RKHS) of the *kernel*
# $k(x, x')$, measures how much $f$ wiggles. After pulls $A$ with observations $y_A$, Gaussian
# process regression gives mean and variance
#
# $$\mu(x) = k_A(x)^\top (K_A + \lambda I)^{-1} y_A, \qquad
# \sigma^2(x) = k(x, x) - k_A(x)^\top (K_A + \lambda I)^{-1} k_A(x).$$
#
# The *information gain* of the pulls is $\hat\gamma = \tfrac12 \log\det(I + \lambda^{-1} K_A)$. The
# largest gain of any $t$ pulls is $\gamma_t$ ([symbols](../docs/names.md)).
#
# ## The algorithms (Algorithms 1 and 2)
#
# The *band* is $\mu(x) \pm w_t \sigma(x)$. *IGP-UCB* (Algorithm 1) has the *width*
#
# $$w_t = B + R\sqrt{2(\gamma_{t-1} + 1 + \ln(1/\delta))}$$
#
# and pulls where the band reaches highest. The band may fail with probability $\delta$. *GP-TS*
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
# constant. That is $(\ln t)^{d+1}$ for the squared exponential (SE) kernel in $d$ dimensions,
# $t^{d(d+1)/(2\nu + d(d+1))} \ln t$ for Matérn kernels, and 1 on sensors. The last lines compare
# the two bands after as many rounds.

# %% tags=["experiment"]
trial = Trial(seed, 0)
example = PosteriorMean(experiments.SE, n_arms=100)(trial)
model = example.model
gain = experiments.GAINS[experiments.SE]


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
for t in (10, 300):
    now = SimpleNamespace(t=t, model=model)
    wider = Original(delta, gain)(now) / Chowdhury2017(delta, gain)(now)
    print(f"round {t}: the band of GP-UCB is {wider:.0f} times as wide as that of IGP-UCB")

# %% [markdown]
# ## First choice: what must EI and PI exceed?
#
# - *Expected improvement* (EI) pulls the arm with the largest expected excess over an *incumbent*
#   plus a *margin*.
# - *Probability of improvement* (PI) pulls the arm that is most likely to exceed them.
#
# **The paper names neither incumbent nor margin.** We play two incumbents: the largest *reward
# observed* (noisy), and the largest *posterior mean* of an arm pulled. The second has four margins:
# 0, 0.01, 0.03 and 0.1 prior standard deviations. A plain "EI" below has the posterior mean and no
# margin.
#
# ### Is IGP-UCB the best rule? (Figs. 1 and 2)
#
# An experiment has 100 arms on $[0, 1]$. In Fig. 1 a draw $y \sim N(0, K)$ is smoothed to $f = K(K
# + \lambda_0 I)^{-1} y$, where $\lambda_0$ is 1 % of the range of $y$. So its norm is known. In
# Fig. 2 $f$ is itself a draw, with its exact norm. The noise $R^2$ is 1 % of the range of $f$, the
# lengthscale 0.2, and $\nu = 2.5$. The first arm of a trial is random, the same for all rules.
#
# **Figs. 1 and 2 of the paper**, once for each incumbent. Lines are medians over functions, bands
# quartiles, cut where they reach below the axis. Look where EI and PI lie beside IGP-UCB.


# %% tags=["experiment"]
final = {}  # R_T / T of every trial and rule, by label


def average_regret(label):
    """R_T / T of every trial and rule."""
    return pd.DataFrame(final_average_regret(record.play(label)))


def show(figure, panels, name):
    """Draw a figure, and keep the average regret in its panels."""
    traces = {}
    for panel in panels:
        label = f"{figure} {panel}"
        traces[panel] = record.play(label)
        final[label] = average_regret(label)
    record.figure(pictures.regrets(figure, traces), name)


kernels = ("(a) SE", "(b) Matérn")
show("Fig. 1", kernels, "headline_fig1_rkhs")
show("Fig. 2", kernels, "fig2_gp_draws")
record.plan["Fig. 1 (a) SE"]

# %% [markdown]
# Mean regret over that of IGP-UCB. The figures draw medians: a few functions on which EI sticks
# raise its mean.

# %% tags=["experiment"]
mean = measures.means(final)
over_igp = mean / mean.loc["IGP-UCB"]
variants = [f"EI{variant}" for variant in POOLS]
over_igp.loc[["GP-UCB", "GP-TS", *variants]].round(2)

# %% [markdown] tags=["checked"]
# **Whether IGP-UCB beats EI depends on EI's incumbent.** In Fig. 1 EI over the largest noisy reward
# incurs 340 and 203 times the regret of IGP-UCB. Over the largest posterior mean, without a margin,
# it incurs 0.71 and 0.59 times that regret. With a margin of 0.1 it incurs 60.8 and 41.8 times that
# regret.

# %% [markdown]
# ### Why does the incumbent decide? (our own question)
#
# Noise makes the largest *reward observed* grow for ever. After $t$ pulls near the top it lies
# about $R\sqrt{2 \ln t}$ above $\max f$, where no arm can reach it. So the best arm, once it is
# known well, is left again and again. The largest *posterior mean* converges to the value of the
# best arm found, so that EI can settle.
#
# The picture at the top is how this player opens. On GitHub only its words are left: it plays in
# JupyterLab and in the report that [`make report`](../README.md) builds.

# %% tags=["experiment"]
live.show("igp_ucb")

# %% tags=["experiment"]
pulls = record.play("Fig. 1 (a) SE, arms of EI")
at_best = pd.Series({rule: (trace.regret == 0).mean() for rule, trace in pulls.items()})
at_best.to_frame("share of rounds that pull the best arm").round(2)

# %% [markdown] tags=["checked"]
# With the posterior mean as incumbent EI pulls the best arm in 0.78 of the rounds, with the noisy
# reward in 0.17.

# %% [markdown]
# ### Do EI and PI win on functions that the kernel does not know? (Fig. 3)
#
# Rosenbrock's function, $10 - 100 (y - x^2)^2 - (1 - x)^2$, has 200 random arms in $[0, 1]^2$, and
# Hartmann's in three dimensions has 300. All rules assume an SE kernel of lengthscale 0.2. $B$ is
# $\sqrt{a^\top K a}$, $a = (K + 10^{-6} I)^{-1} f$.
#
# **Fig. 3 of the paper**, once for each incumbent. Lines are medians over trials, bands quartiles.
# A trial draws the arms.

# %% tags=["experiment"]
del pulls
show("Fig. 3", ("(a) Rosenbrock", "(b) Hartmann-3"), "fig3_test_functions")

# %% [markdown]
# Mean regret of one rule over another's, the larger of two panels, for each incumbent and margin. A
# rule below 1 leads. $B$ is exact, or as Section 6 prints it
# ([second choice](#second-choice-how-is-the-norm-b-set)):

# %% tags=["experiment"]
mean = measures.means(final)
leads = measures.leads(mean)
printed = {}
for label in final:
    totals = pd.DataFrame(record.play(f"{label}, B printed"))
    printed[label] = totals.map(np.sum).mean() / horizon
by_print = mean.copy()
by_print.update(pd.DataFrame(printed))
leads_printed = measures.leads(by_print)
on_rosenbrock, on_hartmann = mean.filter(like="Fig. 3").T.to_dict("records")
both = on_hartmann["EI"], on_hartmann["PI"]
ei_alone, pi_alone = np.array(both) / min(on_hartmann[rule] for rule in OURS)
print(f"Hartmann, no margin: EI {ei_alone:.2f}, PI {pi_alone:.1f} times the best rule with a band")
pd.concat({"exact": leads, "as printed": leads_printed}, names=["norm"]).round(2)

# %% [markdown] tags=["checked"]
# **EI and PI lead in Fig. 3, as the paper says, with a small margin, or with $B$ as printed.** With
# the exact norm IGP-UCB is first in Fig. 1, and EI and PI lead in Fig. 3, only with a margin of
# 0.01 or 0.03, which a footnote excludes. With $B$ as printed both hold with a margin of 0.1.
# Without a margin EI leads on Hartmann's function, too: PI is what fails there.
#
# **GP-TS is not competitive in Fig. 3, whatever the incumbent.** On Rosenbrock's function it incurs
# 4.6 times the regret of the better of EI and PI over the noisy reward. Over the posterior mean it
# is up to 74 times in one of the panels. The standard deviation of its draws is half the width of
# the band, so that it explores longer.

# %% [markdown]
# ### Which incumbent fits the paper's plots? (footnote 11)
#
# "GP-EI and PI perform similarly and thus are not separately distinguishable in the plots." We ask
# for means that differ by at most 2 % of the axis, which ends at the largest mean. The gap between
# EI and PI, in percent of the axis:

# %% tags=["experiment"]
final["light"] = average_regret("light")
mean = measures.means(final)
gap = pd.DataFrame()
for variant, pool in POOLS.items():
    *_, ei, pi = pool
    axis = mean.loc[[*pool]].max()
    name = variant.removeprefix(", ") or "no margin"
    gap[name] = 100 * (mean.loc[ei] - mean.loc[pi]).abs() / axis
gap.round(2)

# %% [markdown] tags=["checked"]
# **The footnote fits the noisy reward, and a margin of 0.1.** EI and PI are then at most 0.4 and
# 0.3 % of the axis apart. Without a margin the gap reaches 96 %. On functions a margin of 0.03
# fits, too; light alone excludes it. What the footnote excludes does not count in the verdicts. So
# EI over the posterior mean without a margin, which beats IGP-UCB in Fig. 1, does not count there.

# %% [markdown]
# ### What does a wrong kernel cost? (Section 6)
#
# The paper *conjectures* that rules with a band and Thompson sampling are "somewhat less robust on
# the choice of kernel than EI/PI". Here they play Fig. 1 with other kernels: of half and double the
# lengthscale, and of the other kind. The table has mean regret over that with the right kernel. The
# line above it has by how much more a wrong kernel raises the regret of GP-UCB, IGP-UCB and GP-TS
# than that of EI and PI.

# %% tags=["experiment"]
inflation = {}
for panel, assumed in GIVEN.items():
    under = {kernel: average_regret(f"Fig. 1 {panel} told {kernel}").mean() for kernel in assumed}
    right, *wrong = assumed
    for kernel in wrong:
        name = f"{type(kernel).__name__}({kernel.lengthscale})"
        inflation[panel, name] = under[kernel] / under[right]
inflation = pd.DataFrame(inflation).T.rename_axis(["functions", "kernel"])
cost = measures.sensitivity(inflation, OURS, ("noisy incumbent", "margin 0.1"))
print({variant: round(factor, 2) for variant, factor in cost.items()})
inflation.round(2)

# %% [markdown] tags=["checked"]
# A wrong kernel raises the regret of rules with a band by 1.23 times the factor for EI and PI over
# the noisy reward. Over the posterior mean with a margin it is 1.23 times that factor. Most of it
# is one cell: IGP-UCB with twice the lengthscale, 10.4 times. GP-UCB, whose band is wide under
# every kernel, incurs at most 1.02 times. So the conjecture does not come out for each rule.

# %% [markdown]
# ## Second choice: how is the norm $B$ set?
#
# Section 2 lets $B$ bound the RKHS norm, whose square at the arms is $f^\top K^{-1} f$. Section 6
# prints $B^2 = f^\top K f$, which is not this norm. GP-UCB, IGP-UCB and GP-TS play with both. EI
# and PI do not use $B$.
#
# ### By how much does IGP-UCB improve on GP-UCB? (Figs. 1 to 3)
#
# The width of IGP-UCB is proved for $\lambda = 1 + 2/T$, but the experiments use $\lambda = R^2$.
# Two others are proved for any $\lambda$. The *classical* width (in figures: *gain of the pulls*)
# is $B + (R/\sqrt\lambda) \sqrt{2(\hat\gamma_{t-1} + \ln(1/\delta))}$. Its proof adds two bounds
# where one suffices. The *tighter* one of [Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732),
# by up to $\sqrt 2$ narrower ([derivation](../docs/tighter_width.md)), is
#
# $$\sqrt{B^2 + \frac{2R^2}{\lambda} \bigl(\hat\gamma_{t-1} + \ln(1/\delta)\bigr)}.$$
#
# *Classical* and *tighter* below are IGP-UCB with these widths. Mean regret of one rule over
# another's:

# %% tags=["experiment"]
functions = mean.filter(like="Fig.").T
printed = by_print.filter(like="Fig.").T
classical = functions["IGP-UCB, gain of the pulls"]
widths = pd.DataFrame({"GP-UCB over IGP-UCB": functions["GP-UCB"] / functions["IGP-UCB"]})
widths["the same, B as printed"] = printed["GP-UCB"] / printed["IGP-UCB"]
widths["GP-UCB over classical"] = functions["GP-UCB"] / classical
widths["tighter over classical"] = functions["IGP-UCB, tighter"] / classical
widths.round(2)

# %% [markdown] tags=["checked"]
# **Where functions fit the kernel IGP-UCB improves much on GP-UCB, with both norms.** In Figs. 1
# and 2 GP-UCB incurs 181 to 940 times the regret of IGP-UCB. With $B$ as the paper prints it,
# GP-UCB incurs 21 to 39 times the regret of IGP-UCB. With the classical width, which is proved,
# GP-UCB incurs 98 to 424 times the regret of IGP-UCB. The tighter width incurs 0.55 to 0.72
# times the regret of the classical one there.

# %% [markdown]
# ### Do IGP-UCB and GP-UCB perform the same on temperature? (Fig. 4 a)
#
# Sensors are the arms. The covariance of training rows is the kernel matrix, and each test row,
# less the training means, is one function. $R^2$ is 5 % of the mean variance, $\gamma_t = 1$, and
# $N(0, R^2)$ noise is added. The paper sets parameters "similarly as in the previous experiment",
# without a number. We play five norms:
#
# - *smoothed*, the main one: $\sqrt{a^\top K a}$ with $a = (K + \lambda I)^{-1} f$;
# - *cut-off 1e-3* and *cut-off 1e-10*: $\sqrt{f^\top K^{-1} f}$ without eigenvalues below that
#   share of the largest;
# - *printed*: $\sqrt{f^\top K f}$; and *one*: 1.
#
# Light is the paper's own set: 41 sensors, in Lux, 192 test rows. Temperature is tested, as in the
# paper, on 4 and 5 March from 8 to 9 am, 120 minutes. The paper learned from the five days before.
# We had no copy of their minutes, but half-hour means of 41 sensors. Other interpretations
# learn from the half hours from 8 to 9 am alone, or from minutes of three later days (*substitute
# days*). Each row is played four times. Rows are the same in every rerun, and the noise is new.
#
# **Fig. 4 of the paper**, smoothed norm, once for each incumbent. Lines are medians over rows and
# plays, bands quartiles.

# %% tags=["experiment"]
lab = record.readings_of("temperature", [*substitute_days, *test_days], sets.REPORTING)
data = {"temperature": lab, "light": record.readings_of("light")}
fields = {name: record.play(name) for name in data}
record.figure(pictures.sensors(fields, data), "fig4_sensors")

# %% [markdown]
# Mean regret of GP-UCB over that of IGP-UCB, by norm. In *standardised* rows every sensor is
# divided by its standard deviation; *nan* was not played. The lines above have $\gamma_t = 1$,
# which the paper found by cross-validation, over the information gain of the pulls.

# %% tags=["experiment"]
days = ("temperature", "temperature, 8 to 9 am", "temperature, substitute days")
totals = {}
for label in [f"{name}{scale}" for name in (*days, "light") for scale in ("", ", standardised")]:
    own = record.play(label)
    for kind in NORMS:
        name = label if kind == "smoothed" else f"{label}, B {kind}"
        if name in record.plan:
            curves = own | record.play(name)  # EI and PI do not use B
            for t in {*experiments.SENSOR_ROUNDS, sensor_horizon} & {*curves["GP-TS"].at}:
                so_far = {rule: curve.cumulative_regret[:, t - 1] for rule, curve in curves.items()}
                totals[label, t, kind] = pd.DataFrame(so_far).mean()
totals = pd.DataFrame(totals).T.rename_axis(["readings", "t", "norm"]).sort_index()
pool = totals[[*POOLS[", noisy incumbent"]]]
ratios = pd.DataFrame({"GP-UCB over IGP-UCB": pool["GP-UCB"] / pool["IGP-UCB"]})
ratios["GP-TS over its closest rival"] = pool["GP-TS"] / pool.drop(columns="GP-TS").min(axis=1)
ratios["IGP-UCB over the better of EI and PI"] = pool["IGP-UCB"] / pool.iloc[:, 3:].min(axis=1)
at_end = ratios.xs(sensor_horizon, level="t").unstack("norm")
smoothed = totals.xs((sensor_horizon, "smoothed"), level=("t", "norm"))
of_gains = smoothed["IGP-UCB"] / smoothed["IGP-UCB, gain of the pulls"]
for label, over_gain in of_gains.items():
    print(f"{label}: IGP-UCB, gain 1 over gain of the pulls: {over_gain:.2f}")
over_new_band = at_end["GP-UCB over IGP-UCB"][[*NORMS]]
on_raw = over_new_band.loc["temperature"]
alike = on_raw.between(1 / 1.2, 1.2).sum()
print(f"raw temperature: within a factor of 1.2 under {alike} of {len(NORMS)} norms")
over_new_band.round(2)

# %% [markdown] tags=["checked"]
# **The paper says that the two perform the same on temperature. Here the norm decides.** On raw
# temperature GP-UCB incurs 1.0 to 76.5 times the regret of IGP-UCB, by norm. The two are within a
# factor of 1.2 under 1 of 5 norms. On the substitute days it is 1.0 to 3.5 times.
#
# **Whether the paper's constant does better than the information gain depends on the data.** On raw
# temperature IGP-UCB with $\gamma_t = 1$ incurs 0.45 times the regret of IGP-UCB with the
# information gain of its pulls, on the substitute days 1.10 times. On raw light it is 6.80 times,
# on standardised light 0.58.

# %% [markdown]
# ## Beside them: does the scale of the readings matter? (Fig. 4)
#
# The width adds unlike things: $B$ is a pure number, and $R$ has the unit of the readings. So the
# unit decides which of them counts. The paper takes the covariance of the *measurements*, so raw
# readings are the main interpretation. Its first author's later code standardises the light set.
#
# Mean regret of GP-TS over that of its closest rival, by norm, with the noisy incumbent:

# %% tags=["experiment"]
over_rival = at_end["GP-TS over its closest rival"][[*NORMS]]
wins = (over_rival < 1).groupby(lambda label: label.removesuffix(", standardised")).sum()
won = wins.sum(axis=1)
print(won.to_frame("GP-TS has the lowest regret, combinations"))
over_rival.round(2)

# %% [markdown]
# Mean regret of IGP-UCB over that of the better of EI and PI, by norm, with the noisy incumbent:

# %% tags=["experiment"]
over_improving = at_end["IGP-UCB over the better of EI and PI"][[*NORMS]]
over_improving.round(2)

# %% [markdown]
# The paper names no horizon of Fig. 4, so that $T = 100$ and 305, a stored round near 300, count,
# too. GP-TS over its closest rival, the lowest of the norms:

# %% tags=["experiment"]
lowest = ratios["GP-TS over its closest rival"].groupby(["readings", "t"]).min()
lowest.unstack().round(2)

# %% [markdown] tags=["checked"]
# **GP-TS wins under few combinations of norm and scale.** GP-TS incurs the lowest regret under 1 of
# 10 combinations of both on temperature, and under 1 of 10 on light. In both, $B$ = 1 and readings
# are standardised.
#
# **On light the scale decides whether IGP-UCB beats EI and PI over the noisy reward.** By norm it
# incurs 1.13 to 3.36 times the regret of the better of the two on raw readings, and 0.05 to 0.78
# times on standardised ones.

# %% [markdown]
# ## Does GP-TS fall behind in more dimensions? (Section 4.2)
#
# The bound of GP-TS has a further factor $\sqrt d$. Section 4.2 sees "similar behavior" in Figs. 1
# to 3, most of which have $d = 1$. We play functions as in Fig. 1 (a) on $100 d$ random arms in
# $[0, 1]^d$. Mean regret:

# %% tags=["experiment"]
by_dimension = {}
for d in experiments.DIMENSIONS:
    planned = record.plan[f"SE, d = {d}"]
    lost = pd.DataFrame(record.play(f"SE, d = {d}")).map(np.sum).mean().to_dict()
    drawn = [planned.experiment.problem(Trial(planned.seed, n)) for n in range(planned.trials)]
    of_arms = [problem.regret(np.arange(problem.model.n_arms)).mean() for problem in drawn]
    by_dimension[d] = lost | {"uniform play": planned.experiment.horizon * np.mean(of_arms)}
by_dimension = pd.DataFrame(by_dimension).T.rename_axis("d")
over_uniform = by_dimension.loc[4] / by_dimension.loc[4, "uniform play"]
print(f"d = 4, over uniform play: {over_uniform.round(2).to_dict()}")
behind = by_dimension["GP-TS"] / by_dimension["IGP-UCB"]
by_dimension["GP-TS over IGP-UCB"] = behind
by_dimension.round(2)

# %% [markdown] tags=["checked"]
# **GP-TS does not fall behind steadily.** It incurs 4.4, 8.3, 3.3 and 1.1 times the regret of
# IGP-UCB in one to four dimensions. In four neither learns much: IGP-UCB incurs 0.84 and GP-TS 0.96
# times the regret that uniform play is expected to incur.

# %% [markdown]
# ## Which rule to take?
#
# *Typical* is the median regret, *worst* the largest of all trials, both over the best rule's
# median. Of the six panels of Figs. 1 to 3 the largest ratio is shown:

# %% tags=["experiment"]
home = measures.take_home(final)
record.table(home.rename_axis("rule"), "take_home")
home.loc[["EI", "EI, margin 0.01", "IGP-UCB", "IGP-UCB, tighter", "GP-TS", "GP-UCB"]].round(1)

# %% [markdown] tags=["checked"]
# **If you need a guarantee, take IGP-UCB with the tighter width.** You have to know $B$.
#
# **If you want a default, take EI over the largest posterior mean.** Its median regret is at most
# 2.9 times the best rule's, that of IGP-UCB at most 14.6 times. But its largest regret is larger,
# 167 against 34 times that median. With a margin of 0.01 the largest is 21 times, but the median
# regret is up to 11.3 times.

# %% [markdown]
# ## Verdicts at a glance
#
# A rerun draws 25 functions a panel, as the paper did. On sensors it takes each test row once, with
# new noise. We ask whether its result would support the sentence. We store four times as many
# trials. That leaves the interval of each number wide, so that all verdicts are uncertain. Each row
# has its own link: [all interpretations of each
# sentence](../results/claims/02_igp_ucb_gp_ts_sensors.md).

# %%
record.verdicts(
    *("2-A", "2-C", "2-E", "2-G", "2-H", "2-I", "2-F", "2-J", "2-K", "2-L", "2-M", "2-S", "2-Q"),
    *("2-AF", "2-Z", "2-AA", "2-AG", "2-AB", "2-AO", "2-R", "2-AP", "2-D", "2-AE", "2-AD", "2-AQ"),
)

# %% [markdown]
# ## Do the theorems hold?
#
# **Noise stays below its bound (Theorem 1, Lemmas 1 to 4).** However arms are chosen, noise should
# stay below a bound with probability $1 - \delta$. Of four ways to choose them here two seek its
# extremes, the largest variance and the largest mean. The table has the percentage of runs that
# cross the bound. The row below has the worst of three $\delta$.
#
# <details><summary>The formulas</summary>
#
# With $\lambda = 1 + \eta$ the noise $\varepsilon$ satisfies for all $t$
#
# $$\varepsilon^\top ((K_t + \eta I)^{-1} + I)^{-1} \varepsilon
# \le 2R^2 \ln \frac{\sqrt{\det(\lambda I + K_t)}}{\delta}.$$
#
# Lemma 4: the standard deviations at the arms pulled sum to at most $\sqrt{4(T+2)\gamma_T}$. We
# take the gain of the pulls for $\gamma_T$, which is sharper.
#
# </details>

# %% tags=["experiment"]
crossed = pd.DataFrame()
for name in experiments.noise_kernels():
    runs = pd.DataFrame(record.play(f"Theorem 1, {name}"))
    excess = runs.map(lambda run: run.log_excess)
    crossed[name] = 100 * (excess > np.log(1 / delta)).mean()
print(f"{100 * delta:.0f} % may cross")
crossed.round(1)

# %% [markdown]
# **Band and regret stay below their bounds (Theorems 2 and 3).** With $\lambda = 1 + 2/T$ the band
# holds for all arms and rounds with probability $1 - \delta$ (Theorem 2). So the regret of IGP-UCB
# stays below a bound (Theorem 3). The table has the share of the width that $1 - \delta$ of the
# runs need. The bound of GP-TS (Theorem 4) is above $2BT$, the largest regret possible, up to $T$ =
# 4,000,000: no run can check it.

# %% tags=["experiment"]
needed = {}
for name in measures.proved(theorem_horizon):
    worst = record.play(f"{name}, proved: λ = 1 + 2/T")["IGP-UCB"].band_ratio.max(axis=1)
    needed[name] = np.quantile(worst, 1 - delta)
pd.Series(needed).to_frame("share of the width").round(2)

# %% [markdown]
# **Lemma 7 is false as printed.** For a standard normal $Z$ and "any $\beta > 0$" the paper has
# $P(Z > \beta) \ge e^{-\beta^2} / (4 \sqrt\pi\, \beta)$.

# %% tags=["experiment"]
beta = np.array([0.01, 0.34, 0.35, 1])
lemma = {"the bound": measures.anti_concentration(beta), "P(Z > β)": ndtr(-beta)}
lemma = pd.DataFrame(lemma, beta).rename_axis("β")
false = lemma.index[lemma["the bound"] > lemma["P(Z > β)"]]
lemma.round(3)

# %% [markdown] tags=["checked"]
# Lemma 7 is false up to $\beta$ = 0.34, and harmless ([errors in the papers](../docs/errors.md)).
# Its right-hand side grows without bound as $\beta$ falls to zero, which no probability does. The
# proof of Theorem 4 needs it at one, where it holds.

# %%
record.verdicts("2-N", "2-P", "2-O", "2-U", "2-Y", "2-X")

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here |
# | --- | --- | --- |
# | incumbent of EI, PI | names none | noisy reward; largest posterior mean of pulled arms |
# | margin of EI, PI | names none | 0; 0.01, 0.03, 0.1 prior sd, over the posterior mean |
# | $B$ | prints $B^2 = f^\top K f$, no RKHS norm | exact or smoothed norm; as printed; on sensors also two cut-offs and 1 |
# | scale of sensors | says nothing | raw; every sensor over its standard deviation |
# | $\lambda$ | takes $R^2$; theorems $1 + 2/T$ | $R^2$ |
# | $T$ on sensors | names none | 1,000; 100 and 305 from the same runs |
# | $\gamma_t$ | takes "theoretical upper bounds"; 1 on sensors | rates without constants; gain of the pulls |
# | $\lambda_0$ of Fig. 1 | names none | 1 % of the range of $y$ |
# | noise | says nothing | normal; GP-UCB's theorem wants it bounded |
# | Rosenbrock's constant, dimension | names none | 10, as we recall the cited source; 2 |
# | temperature | learns from five days before | half-hour means of these days, all or from 8 to 9 am; minutes of three days after |
# | added noise, centring of sensors | says nothing | $N(0, R^2)$; training means removed |
# | first arm | says nothing | at random, the same for all rules of a trial |
#
# Where two are named both are played in full: an *interpretation*. Those that count are combined in
# pairs, and scale, $B$ and incumbent all at once. The margin 0.01 was chosen for an earlier edition
# after a pilot of six trials of Fig. 3. No main interpretation has it.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
(a, b), (c, d), *_, (e, f) = over_igp.loc[variants].iloc[:, :2].to_numpy()
settles, leaves = at_best[["EI", "EI, noisy incumbent"]]
igp_first, ei_first, (by_noisy, *by_mean) = leads.T.to_numpy()
small = " or ".join(leads.index[(igp_first < 1) & (ei_first < 1)].str.removeprefix("margin "))
by_reward, by_plain, *_, by_margin = gap.max()
noisy_cost, margin_cost = cost.values()
most = inflation.loc[("(a) SE", "SquaredExponential(0.4)"), "IGP-UCB"]
least = inflation["GP-UCB"].max()
*spans, tighter = widths.iloc[:4].agg(["min", "max"]).T.to_numpy()
exact, printed, proved = ("incurs {:.0f} to {:.0f} times".format(*span) for span in spans)
on_lab_days, later, on_lux, scaled_lux = of_gains[
    ["temperature", "temperature, substitute days", "light", "light, standardised"]
]
on_lab, on_light = won[["temperature", "light"]]
raw, scaled = (
    over_improving.loc[["light", "light, standardised"]].agg(["min", "max"], axis=1).to_numpy()
)
on_later_days = over_new_band.loc["temperature, substitute days"]
with_one = over_rival["one"].filter(like="standardised").dropna()
(ei, ei_worst), (igp, igp_worst), (wary, less) = home.loc[
    ["EI", "IGP-UCB", "EI, margin 0.01"]
].to_numpy()
for words, holds in {
    f"noisy reward incurs {a:.0f} and {b:.0f} times the regret of IGP-UCB": min(a, b) > 1,
    f"without a margin, it incurs {c:.2f} and {d:.2f} times that regret": max(c, d) < 1,
    f"With a margin of 0.1 it incurs {e:.1f} and {f:.1f} times that regret": min(e, f) > 1,
    f"arm in {settles:.2f} of the rounds, with the noisy reward in {leaves:.2f}": settles > leaves,
    f"lead in Fig. 3, only with a margin of {small}, which": True,
    "both hold with a margin of 0.1": leads_printed.loc["margin 0.1"].iloc[:2].max() < 1,
    "Without a margin EI leads on Hartmann's function, too: PI is what fails": ei_alone
    < 1
    < pi_alone,
    f"On Rosenbrock's function it incurs {by_noisy:.1f} times the regret of the better of EI and PI"
    f" over the noisy reward. Over the posterior mean it is up to {max(by_mean):.0f} times": min(
        by_noisy, *by_mean
    )
    > 2,
    "margin of 0.03 fits, too; light alone": gap["margin 0.03"].idxmax() == "light"
    and gap["margin 0.03"].drop("light").max() <= 2 < gap["margin 0.03"]["light"],
    f"IGP-UCB with twice the lengthscale, {most:.1f} times. GP-UCB, whose band is wide under every"
    f" kernel, incurs at most {least:.2f} times": least < 1.05,
    f"a margin of 0.1. EI and PI are then at most {by_reward:.1f} and {by_margin:.1f} % of the axis"
    f" apart. Without a margin the gap reaches {by_plain:.0f} %": max(by_reward, by_margin) <= 2,
    f"by {noisy_cost:.2f} times the factor for EI and PI over the noisy reward. Over the"
    f" posterior mean with a margin it is {margin_cost:.2f} times": noisy_cost > 1,
    f"In Figs. 1 and 2 GP-UCB {exact} the regret of IGP-UCB. With $B$ as the paper prints it,"
    f" GP-UCB {printed} the regret of IGP-UCB": np.min(spans) > 3,
    f"which is proved, GP-UCB {proved} the regret of IGP-UCB": True,
    "width incurs {:.2f} to {:.2f} times the".format(*tighter): max(tighter) < 1,
    f"GP-UCB incurs {on_raw.min():.1f} to {on_raw.max():.1f} times the regret of IGP-UCB, by norm."
    f" The two are within a factor of 1.2 under {alike} of 5 norms": 0 < alike < 5,
    f"with $\\gamma_t = 1$ incurs {on_lab_days:.2f} times the regret of IGP-UCB with the"
    f" information gain of its pulls, on the substitute days {later:.2f} times. On raw light it is"
    f" {on_lux:.2f}"
    f" times, on standardised light {scaled_lux:.2f}": on_lab_days < 1 < min(later, on_lux),
    f"GP-TS incurs the lowest regret under {on_lab} of 10 combinations of both on temperature, and"
    f" under {on_light} of 10 on light": max(on_lab, on_light) <= 2,
    f"incurs {raw[0]:.2f} to {raw[1]:.2f} times the regret of the better of the two on raw"
    f" readings, and {scaled[0]:.2f} to {scaled[1]:.2f} times on standardised": scaled[1]
    < 1
    < raw[0],
    f"days it is {on_later_days.min():.1f} to {on_later_days.max():.1f} times": True,
    "In both, $B$ = 1 and readings are standardised": (with_one < 1).all(),
    "incurs {:.1f}, {:.1f}, {:.1f} and {:.1f} times the regret of IGP-UCB in one to four".format(
        *behind
    ): behind[4] < behind[1] < behind[2],
    f"IGP-UCB incurs {over_uniform['IGP-UCB']:.2f} and GP-TS {over_uniform['GP-TS']:.2f} times"
    " the regret that uniform": True,
    f"at most {ei:.1f} times the best rule's, that of IGP-UCB at most {igp:.1f} times": ei < igp,
    f"its largest regret is larger, {ei_worst:.0f} against {igp_worst:.0f} times that median. With"
    f" a margin of 0.01 the largest is {less:.0f} times, but the median regret is up to {wary:.1f}"
    " times": max(igp_worst, less) < ei_worst and ei < wary,
    f"false up to $\\beta$ = {false.max()}, and harmless": false.max() < 1,
}.items():
    record.check(words, holds)
record.finish()
