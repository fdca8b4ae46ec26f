# %% [markdown]
# # BKB and variance starvation
#
# D. Calandriello, L. Carratino, A. Lazaric, M. Valko, L. Rosasco: *Gaussian Process Optimization
# with Adaptive Sketching: Scalable and No Regret*, COLT 2019, [arXiv
# 1903.05594](https://arxiv.org/abs/1903.05594).

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **BKB does not become certain of what it never saw, as the paper says:** in the setting of Fig.
#   1 BKB's band holds the function at 99.9 % of the unseen points, and that of SoR, from the same
#   dictionary, at 38.9 % of the unseen points.
# - **The sketch costs no regret, the radius does:** with the same radius BKB has 1.003 times the
#   regret of exact GP-UCB, with the radius of Theorem 2 4.8 times. A step in the derivation of
#   Theorem 2's radius is false for small $\lambda$; the radius held.
# - **A step is cheaper than a refit, not than an update:** on a thousand arms in two dimensions BKB
#   takes fewer operations than a refit from round 65 on, and fewer than an exact posterior updated
#   by rows in none of 5,000 rounds.

# %% [markdown]
# ![Bands of BKB and of three other approximations beside the exact one, after 6, 63 and 215
# observations in the left
# half](../results/paper/04_bkb_variance_starvation/figures/headline_fig1_starvation.png)
#
# Fig. 1: observed is the shaded half alone. Black lines are the band of the exact posterior; where
# a coloured band is narrower the approximation is too certain. [All
# verdicts](../results/README.md#4-AD).

# %% [markdown]
# ## The idea
#
# A Gaussian process slows down with every observation. Cheaper approximations of it tend to be
# certain of what they have never seen (*variance starvation*), and an algorithm that explores by
# uncertainty then stops exploring. *BKB* keeps a small *dictionary* of the arms pulled so far and
# draws it anew after every pull, each pull with a probability proportional to its posterior
# variance: the sketch is as large as the function explored is complex.

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 3724955949  # root seed of every random stream
seeds: int = 400  # functions behind Fig. 1
n_arms: int = 1000  # points of [0, 1] in Fig. 1 and Theorem 1
noise_variance: float = 0.01  # lambda, in all sections
ratio_runs: int = 20  # sequences of pulls behind Theorem 1, each design
ratio_horizon: int = 400  # pulls in each
own_runs: int = 40  # the same at the theorem's own qbar
trials: int = 80  # functions behind the regret
reading_trials: int = 40  # the same under other radii and with the dictionary of distinct arms
regret_arms: int = 1000  # random arms in the unit square
horizon: int = 750  # rounds T of the regret
qbar: float = 4.0  # BKB's constant where it is not tuned
cost_arms: int = 1000  # arms behind the operations of a step
cost_horizon: int = 5000  # rounds
cost_runs: int = 10  # functions
size_arms: int = 1000  # arms behind the dictionary by dimension
size_horizon: int = 1000  # rounds
size_runs: int = 16  # functions in each dimension
coverage_runs: int = 100  # runs behind Theorems 2 and 9
coverage_horizon: int = 300  # rounds of each
reading_runs: int = 40  # functions behind other interpretations of Fig. 1
fixed_trials: int = 60  # functions behind fixed numbers of features
fixed_horizon: int = 3000  # rounds T of these
delta: float = 0.1  # confidence bands may fail with this probability
results_dir: str = ""  # folder for figures and tables, from the root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.problems import Trial
from kbrepro.batch.record import Record
from kbrepro.papers import same_arms
from kbrepro.papers.bkb import measures, pictures
from kbrepro.papers.bkb.next import claims, experiments
from kbrepro.papers.bkb.next.experiments import DISTINCT, FEATURES, LEFT_HALF, SHOWN_AT

checks.non_negative_int(seed=seed)
checks.positive_int(n_arms=n_arms, regret_arms=regret_arms)
checks.at_least(2, seeds=seeds, ratio_runs=ratio_runs, own_runs=own_runs, trials=trials)
checks.at_least(2, reading_trials=reading_trials, size_runs=size_runs)
checks.at_least(2, coverage_runs=coverage_runs, reading_runs=reading_runs, cost_runs=cost_runs)
checks.at_least(20, coverage_horizon=coverage_horizon, ratio_horizon=ratio_horizon)
checks.at_least(100, cost_horizon=cost_horizon, horizon=horizon, fixed_horizon=fixed_horizon)
checks.positive_int(cost_arms=cost_arms, size_arms=size_arms, size_horizon=size_horizon)
checks.positive(noise_variance=noise_variance, qbar=qbar)
checks.probability(delta=delta)
record = Record("04_bkb_variance_starvation", globals())

# %% [markdown]
# ## The problem
#
# In round $t = 1, \dots, T$ we pull one of $A$ *arms*, here points $x_t$, and observe its *expected
# reward* with noise of scale $\xi$, $y_t = f(x_t) + \varepsilon_t$. What counts is the *regret*
# $R_T = \sum_t f(x^*) - f(x_t)$ for not knowing the best arm $x^*$. With a kernel $k$, $\lambda =
# \xi^2$ and $K_t$ the kernel matrix of the pulls, mean and standard deviation after $t$ pulls are
#
# $$\mu_t(x) = k_t(x)^\top (K_t + \lambda I)^{-1} y_t, \qquad
# \sigma_t^2(x) = k(x, x) - k_t(x)^\top (K_t + \lambda I)^{-1} k_t(x).$$
#
# GP-UCB pulls the arm of largest $\mu_t + \beta_t \sigma_t$. Names in the other papers:
# [notation](../docs/names.md).
#
# ## The algorithm (Algorithm 1)
#
# Replace the kernel by features $z(x) \in \mathbb R^m$ with $z(x)^\top z(x') \approx k(x, x')$, and
# let $V = \sum_s z(x_s) z(x_s)^\top + \lambda I$. Then $\tilde\mu = z^\top V^{-1} \sum_s z(x_s)
# y_s$, and for the variance there are two forms, here divided by $\lambda$ as the paper has it:
#
# $$\text{SoR: } z^\top V^{-1} z, \qquad
# \text{DTC: } \tilde\sigma^2 = z^\top V^{-1} z + \bigl(k(x, x) - \lVert z \rVert^2\bigr) /
# \lambda.$$
#
# Far from every member of a dictionary $z(x) \approx 0$. SoR's variance is then near 0, as if $f$
# were known there: it *starves*, and GP-UCB never looks there. The second term of DTC gives back
# what the features cannot express, up to the $k(x, x) / \lambda$ of the prior. BKB has the variance
# of DTC, and a dictionary that favours pulls of which little is known:
#
# 1. Pull the arm of largest $\tilde\mu + \tilde\beta \tilde\sigma$, the first at random. For the
#    *radius* $\tilde\beta$ see *Does the sketch cost regret?*.
# 2. Give every pull so far the probability $\min(1, \bar q\, \tilde\sigma^2)$, with $\tilde\sigma$
#    from before the newest observation. Draw: that is the dictionary $S$.
# 3. Features: $z(x) = (K_S^{1/2})^+ k_S(x)$ (Nyström). Compute $\tilde\mu$ and $\tilde\sigma^2$
#    (DTC); go on with 1.


# %% tags=["experiment"]
def bkb(k, X, lam, T, qbar, sds, pull, order, rng):
    """The arms that BKB pulls in T rounds with `sds` standard deviations; of arms that tie the
    first in `order`.
    """
    A = []
    y = []
    mean = np.zeros(len(X))
    var = k.diag(X) / lam
    for _ in range(T):
        index = mean + sds * np.sqrt(lam * var)
        A.append(best_arm(index, order))
        y.append(pull(A[-1]))
        pulled, n = np.unique(A, return_counts=True)
        chance = np.minimum(1, qbar * var[pulled])
        S = pulled[rng.binomial(n, chance) > 0]  # an arm pulled n times has n chances
        if not len(S):
            S = A[-1:]
        K = k(X[S], X[S])
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-13 * values[-1]  # the pseudo-inverse
        roots = vectors[:, kept] / np.sqrt(values[kept])
        z = k(X, X[S]) @ roots
        seen = z[A]
        V = seen.T @ seen + lam * np.eye(z.shape[1])
        G = np.linalg.solve(V, z.T)
        mean = y @ seen @ G
        expressed = np.einsum("am,ma->a", z, G)
        rest = np.maximum(k.diag(X) - (z**2).sum(axis=1), 0)
        var = expressed + rest / lam
    return A


# %% [markdown]
# The package pulls the same arms:

# %% tags=["experiment"]
trial = Trial(seed, 0)
small = experiments.smooth(60, 2, noise_variance, seed)(trial)
model = small.model
rule = experiments.rules(delta, qbar)["BKB, 3 sd"]


def short(pull, rng):
    """The arms of the above on a small problem; a child of the stream draws dictionaries."""
    order = rng.permutation(60)
    child = rng.spawn(1)[0]
    return bkb(model.kernel, model.points, noise_variance, 80, qbar, 3.0, pull, order, child)


print(same_arms(short, rule, small, 80, trial))

# %% [markdown]
# ## See it run: who is certain of what was never seen? (Fig. 1)
#
# **Fig. 1 of the paper**, which shows BKB alone: a draw of a GP on $[0, 1]$, $k(x, x') = \exp(-100
# (x - x')^2)$, observed up to 215 times, only in the shaded half. SoR has BKB's own dictionary, RFF
# as many random Fourier features as BKB has members, QFF 26 quadrature Fourier features. What
# leaves a panel is cut.

# %% tags=["experiment"]
draws = experiments.line(n_arms, noise_variance)
shown = {"BKB": "qbar=2", "SoR": "", "RFF": "m=|S|", "QFF": "m=26"}
watched = measures.snapshots(
    draws,
    LEFT_HALF,
    at=SHOWN_AT,
    qbars=[2.0],
    n_features=FEATURES,
    trial=Trial(seed, 0),
    streaming=False,
)
record.figure(pictures.strip(watched, shown), "headline_fig1_starvation")

# %% tags=["experiment"]
far = draws.points[:, 0] > 0.6
unseen = pd.DataFrame(index=SHOWN_AT)
for name, setting in {"exact": "", **shown}.items():
    views = [watched.seen[name, setting, t] for t in SHOWN_AT]
    unseen[name] = [view.sd[far].mean() for view in views]
unseen.rename_axis("mean sd beyond 0.6, t").round(2)

# %% [markdown] tags=["checked"]
# Where nothing was observed BKB's band opens as the exact one does; SoR, from the same dictionary,
# is certain.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
opens = np.isclose(unseen["BKB"], unseen["exact"], rtol=0.02).all()
record.check("BKB's band opens as the exact one does", opens and unseen["SoR"].max() < 0.1)

# %% [markdown]
# ## Does starvation happen in every run? (Fig. 1, Sections 3.1 and 3.2)
#
# For every seed the largest ratio of variances over all arms, both ways: *starved* is exact over
# approximate (the median of seeds at $t = 215$), *inflated* approximate over exact (95 % of seeds,
# the worst $t$), of BKB after its dictionary lost a region. *Covered*: the percentage of unseen
# points at which the band of three standard deviations holds the function ($t = 215$), also with a
# smaller $\lambda$, and with $\exp(-r^2/200)$ instead of $\exp(-100 r^2)$: "bandwidth 100" may mean
# both. *nan*: not played.

# %% tags=["experiment"]
seen = measures.of_seeds(record.play("starvation"))
for setting in ("", f", {DISTINCT}", f", {experiments.BANDWIDTH}"):
    record.play(f"Fig. 1, own qbar{setting}")  # Theorem 1's own: every pull is kept
for reading in experiments.readings(n_arms, noise_variance):
    other = measures.of_seeds(record.play(f"Fig. 1, {reading}"))
    seen[f"covered, {reading}"] = other["covered"]
record.play(f"Fig. 1, {experiments.BANDWIDTH}, {DISTINCT}")
record.play("newest pull")  # drawn by the exact variance before it, and after it
seen.drop("exact").map("{:.4g}".format)

# %% [markdown]
# **How large must $\bar q$ be?** The share of seeds in which every variance of the three panels is
# within the factor $\alpha = 3$ of the exact one, and the size of the dictionary after the last
# pull, for a dictionary of pulls (the paper) and of distinct arms (the authors' later code).

# %% tags=["experiment"]
close, members = pd.DataFrame(), pd.DataFrame()
for name, label in {
    "each pull": "starvation",
    "each distinct arm": f"starvation, {DISTINCT}",
}.items():
    close[name], members[name] = measures.accuracy_by_qbar(record.play(label))
record.figure(pictures.accuracy(close, members), "accuracy_by_q")
close.round(3)

# %% [markdown] tags=["checked"]
# **How close BKB's variance is depends on $\bar q$,** which the paper does not name for Fig. 1.
# Fig. 1 draws BKB alone, so that of *both problems* nothing can be seen in it.
# With three it is at most 1.003 times the exact one in 95 % of the seeds; with two the dictionary
# loses a region in some, and it is up to 7.6 times the exact one.
#
# **DTC under-estimates little.** Section 1 says that it starves where the subset covers the space
# badly. With three pulls as dictionary the exact variance is 2.4 times its own at the worst arm;
# SoR, on a far better dictionary, is worse by many orders of magnitude.
#
# **How much random features starve is a question of their number.** With as many as BKB has
# members the exact variance is 5.1 times theirs, with three hundred 1.5 times theirs.
#
# **Under one of two kernels SoR hardly starves.** Under the first its band holds the function at
# 38.9 % of the unseen points, under the other at 93.4 %: there a function is nearly a straight
# line, which few features express.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ratio, inflated, covered = seen["starved"], seen["inflated"], seen["covered"]
record.check(f"is at most {inflated['BKB', 'qbar=3']:.3f} times the exact one in 95 % of the seeds")
record.check(f"it is up to {inflated['BKB', 'qbar=2']:.1f} times the exact one")
record.check(f"is {ratio['DTC, uniform', '3 pulls']:.1f} times its own", ratio["SoR", ""] > 1e6)
record.check(f"{ratio['RFF', 'm=|S|']:.1f} times theirs, with three hundred")
record.check(f"three hundred {ratio['RFF', 'm=300']:.1f} times theirs")
record.check(f"band holds the function at {covered['BKB', 'qbar=2']:.1f} % of the unseen points")
record.check(f"at {covered['SoR', '']:.1f} % of the unseen points")
record.check(f"under the other at {other['covered']['SoR', '']:.1f} %", other["covered"].min() > 80)

# %%
record.verdicts("4-AD", "4-B", "4-C", "4-AP", "4-AR")

# %% [markdown]
# ## How large must the dictionary be? (Theorem 1)
#
# Theorem 1 keeps the variance within a factor $\alpha = 3$ of the exact one if $\bar q$ is several
# hundred. How small may it be? Designs: uniform pulls, a window that shrinks around one arm,
# uniform pulls in two dimensions (*plane*). A step is *bad* if some arm leaves that interval;
# *kept* is the share of pulls in the last dictionary, and *size* its members over $\bar q
# d_\text{eff}$.
#
# <details><summary>The theorem in full</summary>
#
# For $\bar q \ge 6 \alpha \log(4T/\delta)/\varepsilon^2$, $\alpha =
# (1+\varepsilon)/(1-\varepsilon)$, with probability $1 - \delta$ all arms and steps keep
# $\sigma^2/\alpha \le \lambda \tilde\sigma^2 \le \alpha \sigma^2$ and
#
# $$|S| \le 3 (1 + \kappa^2/\lambda)\, \alpha \bar q\, d_\text{eff}, \qquad
# d_\text{eff} = \sum_s \sigma_t^2(x_s)/\lambda,$$
#
# the *effective dimension* of the pulls; $\kappa^2 = \max_x k(x, x)$ is 1 here, and $\delta = 0.1$.
# With the accuracy $\varepsilon = 1/2$ that is $\alpha = 3$ and a $\bar q$ of several hundred. How
# small may it be? Designs: uniform pulls, a window that shrinks around one arm, uniform pulls in
# two dimensions. A step is *bad* if some arm leaves the interval.
#
# </details>

# %% tags=["experiment"]
designs = experiments.designs(n_arms, noise_variance)
runs = []
for design in designs:
    for label in (f"BKB, {design}", f"own qbar, {design}"):
        followed = measures.followed(record.play(label))
        runs.append(followed.assign(design=design))
for design in ("window", "uniform"):  # beside BKB's dictionary as many pulls drawn uniformly
    record.play(f"equal size, {design}")
runs = pd.concat(runs).round({"qbar": 0})
by_qbar = runs.groupby(["qbar", "design"]).mean()
by_qbar.unstack().round(2)

# %% [markdown] tags=["checked"]
# The theorem's own $\bar q$ is 647 for two hundred pulls: every pull of every run is kept, and BKB
# is the exact posterior: that this $\bar q$ serves other horizons, too, then asks nothing. With
# $\bar q$ four, which the theorem does not cover, 15 % to 51 % of the
# pulls are kept, and no step of any run is bad.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
own, four = runs["qbar"].max(), by_qbar.loc[4]
record.check(f"is {own:.0f} for two hundred pulls: every", by_qbar.loc[own, "kept"].min() == 1)
kept = f"{100 * four['kept'].min():.0f} % to {100 * four['kept'].max():.0f} %"
record.check(f"{kept} of the pulls are kept", four["bad steps"].max() == 0)

# %%
record.verdicts("4-E", "4-G", "4-AE", "4-P")

# %% [markdown]
# ## Does the sketch cost regret? (Theorem 2)
#
# Random arms in the unit square, $l = 0.2$, norm $F = 2$, Gaussian noise of scale $\xi = 0.1$. Four
# radii $\tilde\beta$, with $S_t = \sum_s \tilde\sigma_t^2(x_s)$:
#
# - *log-determinant*: $\sqrt\lambda F + \xi \sqrt{\log\det(V/\lambda) + 2 \log(1/\delta)}$, for
#   exact GP-UCB proved, for the sketch not. Eq. 7 has $2 \log\det$ there: ours is narrower;
# - *Theorem 2*: $2\xi\sqrt{\alpha \log(\kappa^2 t) S_t + \log(1/\delta)} +
#   (1 + 1/\sqrt{1-\varepsilon}) \sqrt\lambda F$;
# - the *authors'* code: $\xi \sqrt{\log(t) S_t + \log(1/\delta)} + \sqrt\lambda F$;
# - *3 sd*: $\tilde\beta = 3 \sqrt\lambda$, as in Fig. 1. Nobody has proved it.
#
# *exact* and *BKB* without more have the log-determinant radius.
#
# The paper has no figure of regret; this one is ours.

# %% tags=["experiment"]
traces = record.play("regret") | record.play("regret, other radii")
record.play(f"regret, {DISTINCT}")
one_q = {"": "BKB, qbar=4", ", 3 sd": "BKB, qbar=4, 3 sd"}
others = [name for name in traces if "qbar" not in name]
shown = {name: traces[name] for name in others}
shown |= {f"BKB{radius}": traces[name] for radius, name in one_q.items()}
record.figure(pictures.regret(shown), "regret")
record.plan["regret"]

# %% tags=["experiment"]
columns = ["mean R_T", "distinct arms", "over exact"]
table = pd.DataFrame(index=list(traces), columns=columns, dtype=float)
exact = traces["exact"].regret.sum(axis=1)
for name, trace in traces.items():
    distinct = [len(set(arms)) for arms in trace.arms]
    total = trace.regret.sum(axis=1)
    of_exact = total.mean() / exact[: len(total)].mean()  # on the same functions
    table.loc[name] = total.mean(), np.mean(distinct), of_exact
over = table["over exact"]
table.round(3)

# %% [markdown] tags=["checked"]
# The wider the radius, the larger the regret: with the same radius BKB has 1.003 times the regret
# of exact GP-UCB, with the radius of Theorem 2 4.8 times. With three plain standard deviations,
# unproved, it has 0.15 times that regret.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
same = over["BKB, qbar=4"]
record.check(f"with the same radius BKB has {same:.3f} times the", 1 < same < 1.01)
wide = over["BKB, Theorem 2's radius"]
record.check(f"with the radius of Theorem 2 {wide:.1f} times")
record.check(f"unproved, it has {over['BKB, qbar=4, 3 sd']:.2f} times that regret")

# %%
record.verdicts("4-H", "4-N", "4-AS")

# %% [markdown]
# ## Is a step cheap? (Section 3.2)
#
# A step of BKB is $O((A + D) m^2)$, whatever $t$, with $D$ distinct arms pulled and $m$ features,
# at most the distinct members. Four opponents, all exact, follow BKB's own pulls: *refit* from
# scratch ($A t^2$, as the paper has it), *counts* (refit with repeats of an arm as one
# point, $D^3 + A D^2$), *rows* (the factor updated by a row a pull, $A t$), *covariance* (that of
# all arms kept, $A^2$). These operations decide: the leading terms as printed, each with a constant
# of 1. Functions of norm 2 on random arms, $l = 0.2$, $\bar q = 4$, log-determinant radius. Sizes
# after the last pull, of one run:

# %% tags=["experiment"]
sizes = {}
for case in (on_line := "d = 1", in_plane := "d = 2"):
    sizes[case] = [pd.DataFrame(run).set_index("t") for run in record.play(f"sizes, {case}")]
at_end = pd.DataFrame({case: runs[0].iloc[-1] for case, runs in sizes.items()}).T
at_end.round(1)

# %% [markdown]
# BKB takes fewer operations than each opponent from this round on (median of runs; *inf*: in no
# round):

# %% tags=["experiment"]
fewer = pd.DataFrame()
for case, runs_of_case in sizes.items():
    steps = [measures.operations(run, cost_arms) for run in runs_of_case]
    fewer[case] = pd.DataFrame(map(measures.cheaper_from, steps)).median()
refit = fewer.loc["exact, refit"]
rows = fewer.loc["exact, rows"]
fewer.round(0)

# %% [markdown]
# The paper bounds $\log\det$, on which the radius depends, by $\alpha\, d_\text{eff} \log t$ with
# the $d_\text{eff}$ of the sketch. How far is that below the worst case over all pulls?

# %% tags=["experiment"]
ends = [run["d_eff"].iloc[-1] for run in sizes[in_plane]]
estimate = 3 * np.mean(ends) * np.log(cost_horizon)
plane = experiments.smooth(cost_arms, 2, noise_variance, seed)
worst = claims.worst_log_det(plane, cost_horizon)
of_worst = estimate / worst
print(f"two dimensions, alpha = 3: the estimate is {of_worst:.2f} times the worst case")

# %% [markdown] tags=["checked"]
# **Speed depends on the opponent.** The paper compares with a refit in every step: on a thousand
# arms in two dimensions BKB takes fewer operations than a refit from round 65 on. An exact
# posterior can be updated: BKB takes fewer operations than an update by rows in one dimension from
# round 191 on, but fewer than an exact posterior updated by rows in none of 5,000 rounds in two
# dimensions, where it has 129 features.
#
# **BKB's estimate of the log determinant is not smaller than its worst case:** in two dimensions it
# is 1.48 times that.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
none, features = rows[in_plane] == np.inf, at_end.loc[in_plane, "features"]
record.check(f"operations than a refit from round {refit[in_plane]:.0f} on")
record.check(f"an update by rows in one dimension from round {rows[on_line]:.0f} on")
record.check(f"exact posterior updated by rows in none of {cost_horizon:,} rounds", none)
record.check(f"where it has {features:.0f} features")
record.check(f"in two dimensions it is {of_worst:.2f} times that", of_worst > 1)

# %%
record.verdicts("4-J", "4-K", "4-AN", "4-AQ", "4-AC", "4-AA")

# %% [markdown]
# ## Does the dictionary grow exponentially with the dimension? (Section 5)
#
# Random arms in $[0, 1]^d$, lengthscale 1, $\bar q = 3$. A dictionary with more than a third of
# the pulls is limited by their number, and no case.

# %% tags=["experiment"]
by_dimension = pd.DataFrame()
for dictionary in ("", f", {DISTINCT}"):
    for d in experiments.DIMENSIONS:
        ends = pd.DataFrame(record.play(f"sizes by d, d = {d}{dictionary}"))
        by_dimension[f"d = {d}{dictionary}"] = ends.mean()
by_dimension.round(1)

# %%
record.verdicts("4-AT", "4-AU")

# %% [markdown]
# ## Must the features grow? (Section 1.1)
#
# A dictionary adapts; a fixed number of features does not. All rules use 3 sd, on arms in one
# dimension. We chose two features in a pilot, then tested them on new functions.

# %% tags=["experiment"]
fixed = record.play("fixed features")
exponent = {}
for name, trace in fixed.items():
    curve = trace.cumulative_regret.mean(axis=0)
    before = curve[fixed_horizon // 10 - 1]
    exponent[name] = np.log10(curve[-1] / before)
exponent = pd.Series(exponent, name="regret grows in the last decade as t to the")
exponent.round(2).to_frame()

# %% [markdown] tags=["checked"]
# On two random features regret grows in the last decade as $t$ to the power of 0.98, nearly as fast
# as without learning, that of BKB as $t$ to the power of 0.23.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check(f"grows in the last decade as $t$ to the power of {exponent['RFF, 2 features']:.2f}")
record.check(f"that of BKB as $t$ to the power of {exponent['BKB, 3 sd']:.2f}")

# %%
record.verdicts("4-O")

# %% [markdown]
# ## Does the proof hold? (Theorems 2 and 9)
#
# <details><summary>The formulas</summary>
#
# Proposition 5, with variances divided by $\lambda$ and taken after the point's own observation:
#
# $$d_\text{eff} \le \sum_s \sigma_s^2(x_s) \le \log\det(K/\lambda + I)
# \le d_\text{eff} (1 + \log(\lVert K \rVert/\lambda + 1)).$$
#
# For its radius Section 4.1 needs a bound on the log determinant. It has the last of these (eq. 6)
# with $\lVert K \rVert / \lambda \le \kappa^2 t / \lambda$, and writes $d_\text{eff} \log(\kappa^2
# t)$: that step is false. It loses $1/\lambda$ and both ones; what follows is $d_\text{eff} (1 +
# \log(1 + \kappa^2 t / \lambda))$. Theorem 9: $f$ stays within $\tilde\beta\tilde\sigma$ of
# $\tilde\mu$ for all arms and rounds; Theorem 2, with $L = \log(\kappa^2 T)$:
#
# $$R_T \le 2 (2\alpha)^{3/2} \sqrt T \bigl(\xi d_\text{eff} L + \sqrt{\lambda F^2 d_\text{eff} L} +
# \xi \log(1/\delta)\bigr).$$
#
# </details>

# %% tags=["experiment"]
chains = [record.play(f"Proposition 5, {design}") for design in designs]
band = record.play("Theorem 9, own qbar")["BKB"].band_ratio.max()
chain = np.concatenate(chains)[:, 1:]
d_eff = chain[..., 0]
log_det = chain[..., 2]
t = np.arange(2, log_det.shape[1] + 2)
bound = d_eff * np.log(t)
repaired = d_eff * (1 + np.log(1 + t / noise_variance))
printed = (bound / log_det).min()
mended = (repaired / log_det).min()
print(f"over the log determinant, at least: printed {printed:.2f}, from eq. 6 {mended:.2f}")
print(f"error of the mean over the radius of Theorem 2, at most: {band:.2f}")
record.plan["Theorem 9, own qbar"]

# %% [markdown] tags=["checked"]
# **A step in the derivation of Theorem 2's radius is false for small $\lambda$; the radius held:**
# what is printed, $d_\text{eff} \log(\kappa^2 t)$, falls to 0.13 of the log determinant that it stands for; what follows from eq.
# 6 stays above it. The radius itself held in all runs, the error is at most 0.25 of it, since its
# other constants are far too wide.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check(rf"\log(\kappa^2 t)$, falls to {printed:.2f} of the log", printed < 1 < mended)
record.check(f"held in all runs, the error is at most {band:.2f} of it", band <= 1)

# %%
record.verdicts("4-M", "4-AF", "4-AG", "4-V", "4-U", "4-T", "4-AM", "4-AJ", "4-AO")

# %% [markdown]
# The paper says that $\varepsilon = 1/2$ costs a factor "$3 \log T$" in regret and "12" in time; by
# its own formulas the first is $\alpha^{3/2} = 5.2$ times $\log T$; the second multiplies $m$, and
# the time goes as $m^2$.
#
# ## Since the paper
#
# *mini-GP-UCB* ([Calandriello et al. 2022](https://arxiv.org/abs/2201.12909)) needs no sketch. $n$
# pulls of one arm divide its variance by $1 + n\sigma^2/\lambda$, and that of any other arm by no
# more; so it stays with the chosen arm for $\lfloor (C^2 - 1) \lambda / \sigma^2 \rfloor$ rounds,
# in which no standard deviation falls by more than the factor $C$. Repeats of an arm are one row
# of an exact posterior. Here $C^2 = 2$ (ours). And the width of exact GP-UCB has been tightened
# ([Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732),
# [derivation](../docs/tighter_width.md)). Both are in the table of regret above.

# %% [markdown] tags=["checked"]
# To choose today, on a thousand arms: exact GP-UCB, updated, with the tighter width, which has
# 0.839 times the regret of the log-determinant radius. mini-GP-UCB, which repeats one arm for
# several rounds and so needs fewer operations, has 1.165 times that regret.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
tighter, repeated = over["exact, tighter width"], over["mini-GP-UCB"]
record.check(f"which has {tighter:.3f} times the regret of the log-determinant", tighter < 1)
record.check(f"has {repeated:.3f} times that regret", repeated > 1)

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here |
# | --- | --- | --- |
# | kernel of Fig. 1 | "bandwidth $\sigma^2 = 100$" | $\exp(-100 r^2)$; $\exp(-r^2/200)$ |
# | $\lambda = \xi^2$ of Fig. 1 | not said | 0.01; 0.0001 |
# | $\bar q$ of Fig. 1 | not said; the theorem's keeps all | 3; 1.5; 2; 5; the theorem's |
# | dictionary | each pull, drawn anew; incremental left open | that; each distinct arm |
# | features of RFF | not said | $\lvert S \rvert$; 100 |
# | pulls of Fig. 1 | uniform in $[0, 0.5]$ | the same |
# | band of Fig. 1 | ± 3 $\tilde\sigma$ (eq. 4 divides by $\lambda$) | ± 3 $\sqrt\lambda \tilde\sigma$ |
# | probabilities above 1; empty $S$ | not said | 1; the newest pull |
# | $\log(\kappa^2 t)$ at $t = 1$ | 0 | that of $t = 2$ |
# | regret, costs | no experiment | all settings ours |

# %%
record.finish()
