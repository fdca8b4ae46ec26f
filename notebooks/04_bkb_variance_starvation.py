# %% [markdown]
# # BKB and variance starvation
#
# D. Calandriello, L. Carratino, A. Lazaric, M. Valko, L. Rosasco: *Gaussian Process Optimization
# with Adaptive Sketching: Scalable and No Regret*, COLT 2019, [arXiv
# 1903.05594](https://arxiv.org/abs/1903.05594).

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **BKB's accuracy hinges on $\bar q$, which the paper does not name for Fig. 1:** all variances
#   stay within a factor of three of the exact ones in 13.5 % of the runs at $\bar q = 1$, in 87.0 %
#   at 2, and in 99.5 % at 3.
# - **The radius decides the regret, not the sketch:** at $\bar q = 4$ and with the same radius BKB
#   incurs 1.001 times the regret of exact GP-UCB. With the printed radius of Theorem 2 it incurs 3.7
#   times, with three plain standard deviations, which nobody has proved, 0.20 times that regret.
# - **A step is cheaper than a refit, but in two dimensions not than an update:** BKB takes fewer
#   operations than a refit from round 74 on, and fewer than an update by rows in none of 5,000
#   rounds. The dictionary grows less than exponentially with the dimension now and then.
#
# The criteria of all verdicts were frozen before these trials were played. Those who wrote them knew
# the trials of an earlier edition ([what is frozen](../docs/claims.md#what-is-frozen-before-play)).

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 2694307529  # root seed of every random stream
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
from kbrepro.papers.bkb import claims, experiments, measures, pictures
from kbrepro.papers.bkb.experiments import BANDWIDTH, DISTINCT, FEATURES, LEFT_HALF, SHOWN_AT

checks.non_negative_int(seed=seed)
checks.positive_int(n_arms=n_arms, regret_arms=regret_arms, cost_arms=cost_arms)
checks.positive_int(size_arms=size_arms, size_horizon=size_horizon)
checks.at_least(2, seeds=seeds, ratio_runs=ratio_runs, own_runs=own_runs, trials=trials)
checks.at_least(2, reading_trials=reading_trials, cost_runs=cost_runs, size_runs=size_runs)
checks.at_least(2, coverage_runs=coverage_runs, reading_runs=reading_runs)
checks.at_least(20, coverage_horizon=coverage_horizon, ratio_horizon=ratio_horizon)
checks.at_least(100, cost_horizon=cost_horizon, horizon=horizon, fixed_horizon=fixed_horizon)
checks.positive(noise_variance=noise_variance, qbar=qbar)
checks.probability(delta=delta)
record = Record("04_bkb_variance_starvation", globals())

# %% [markdown]
# **Fig. 1 of the paper** shows BKB after 6, 63 and 215 observations, all in the shaded half. The
# panels here add three other approximations. Black lines are the mean ± 3 standard deviations of
# the exact posterior, a colour those of the approximation. Where the colour is narrower than the
# lines, the approximation is too certain. What leaves a panel is cut.

# %% tags=["experiment"]
draws = experiments.line(n_arms, noise_variance)
watched = measures.snapshots(
    draws,
    LEFT_HALF,
    at=SHOWN_AT,
    qbars=[3.0],
    n_features=FEATURES,
    trial=Trial(seed, 0),
    streaming=False,
)
shown = {"BKB": "qbar=3", "SoR": "", "RFF": "m=|S|", "QFF": "m=26"}
record.figure(pictures.strip(watched, shown), "headline_fig1_starvation")

# %% [markdown]
# The function is a draw of a Gaussian process on $[0, 1]$ with the kernel $\exp(-100 (x - x')^2)$.
# SoR has the dictionary of BKB. RFF has as many random Fourier features as BKB has members, QFF 26
# quadrature Fourier features. Ticks are members of the dictionary. [All
# verdicts](../results/README.md#4-AD).
#
# ## The idea
#
# A step on a Gaussian process slows down with every observation. Cheaper approximations tend to be
# certain of what they have never seen: their variance *starves*. An algorithm that explores by
# uncertainty then stops exploring. *BKB* keeps a small *dictionary* of the arms pulled so far. It
# draws the dictionary anew after every pull, each pull with a probability proportional to its
# posterior variance. So the sketch becomes as large as the function explored is complex.
#
# ## The problem
#
# In round $t = 1, \dots, T$ we pull one of $A$ *arms*, here points $x_t$, and observe its *expected
# reward* with noise of scale $\xi$, $y_t = f(x_t) + \varepsilon_t$. What counts is the *regret*
# $R_T = \sum_t f(x^*) - f(x_t)$ for not knowing the best arm $x^*$. With a kernel $k$, $\lambda =
# \xi^2$ and $K_t$ the kernel matrix of the pulls, mean and variance after $t$ pulls are
#
# $$\mu_t(x) = k_t(x)^\top (K_t + \lambda I)^{-1} y_t, \qquad
# \sigma_t^2(x) = k(x, x) - k_t(x)^\top (K_t + \lambda I)^{-1} k_t(x).$$
#
# GP-UCB pulls the arm of largest $\mu_t + \beta_t \sigma_t$. [Names and
# symbols](../docs/names.md) of the other papers.
#
# ## The algorithm (Algorithm 1)
#
# Replace the kernel by features $z(x) \in \mathbb R^m$ with $z(x)^\top z(x') \approx k(x, x')$, and
# let $V = \sum_s z(x_s) z(x_s)^\top + \lambda I$. The mean is $\tilde\mu = z^\top V^{-1} \sum_s
# z(x_s) y_s$. The variance has two forms, here divided by $\lambda$ as in the paper:
#
# $$\text{SoR: } z^\top V^{-1} z, \qquad
# \text{DTC: } \tilde\sigma^2 = z^\top V^{-1} z + \bigl(k(x, x) - \lVert z \rVert^2\bigr) /
# \lambda.$$
#
# Far from every member of the dictionary $z(x) \approx 0$. There the variance of SoR is near 0, as
# if $f$ were known. The second term of DTC gives back what the features cannot express. BKB has the
# variance of DTC:
#
# 1. Pull the arm of largest $\tilde\mu + \tilde\beta \tilde\sigma$, the first at random. For the
#    *radius* $\tilde\beta$ see *Does the sketch cost regret?*.
# 2. Give every pull so far the probability $\min(1, \bar q\, \tilde\sigma^2)$, with $\tilde\sigma$
#    from before the newest observation. Draw: the drawn pulls are the dictionary $S$.
# 3. The features are $z(x) = (K_S^{1/2})^+ k_S(x)$ (Nyström). Compute $\tilde\mu$ and
#    $\tilde\sigma^2$ (DTC), and go on with 1.


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
# ## Who is certain of what was never seen? (Fig. 1)
#
# The picture above shows one function, the table all runs:
#
# - *starved*: exact over approximate variance at the worst arm after the last pull, the median run;
# - *inflated*: approximate over exact variance at the worst arm of the three panels, the 95th
#   percentile of runs;
# - *covered*: the percentage of unseen points whose value lies within the mean ± 3 standard
#   deviations after the last pull.
#
# "Bandwidth 100" may mean two kernels. The last columns are for a smaller $\lambda$ and for the
# other kernel (*nan*: not played). SoR and $\lvert S \rvert$ refer to the dictionary at $\bar q =
# 2$.

# %% tags=["experiment"]
seen = measures.of_seeds(record.play("starvation"))
for reading in experiments.readings(n_arms, noise_variance):
    other = measures.of_seeds(record.play(f"Fig. 1, {reading}"))
    seen[f"covered, {reading}"] = other["covered"]
seen.drop("exact").map("{:.4g}".format)

# %% [markdown] tags=["checked"]
# **BKB does not become certain of what it never saw.** At $\bar q = 3$ its band covers the function
# at 99.6 % of the unseen points. The band of SoR covers it at 38.7 %.
#
# **A good variance needs the correction more than a good dictionary.** On three pulls as dictionary
# the exact variance is 2.4 times that of DTC at the worst arm. SoR starves by orders of
# magnitude on the far better dictionary of BKB.
#
# **How much random features starve depends on their number.** With as many as BKB has members the
# exact variance is 5.0 times theirs, with three hundred 1.5 times.
#
# **Under the other kernel SoR covers far more.** Its band there covers the function at 92.5 % of the
# unseen points. A function is then nearly a straight line, which few features express.

# %% [markdown]
# ## How large must $\bar q$ be? (Fig. 1, Section 3.1)
#
# The paper asks for $\bar q$ above 1 (or at least 1: our copy does not show which) and names none
# for Fig. 1. Left: the share of runs in which every variance of the three panels of Fig. 1 is
# within a factor of three of the exact one. Three is the factor $\alpha$ of Theorem 1. Right: the
# size of the dictionary after the last pull. The paper draws *each pull* (line), the later code of
# its authors *each distinct arm* (dashed).

# %% tags=["experiment"]
close, members = pd.DataFrame(), pd.DataFrame()
versions = {"each pull": "starvation", "each distinct arm": f"starvation, {DISTINCT}"}
for dictionary, label in versions.items():
    close[dictionary], members[dictionary] = measures.accuracy_by_qbar(record.play(label))
record.figure(pictures.accuracy(close, members), "accuracy_by_q")

# %% tags=["experiment"]
other_kernel = record.play(f"Fig. 1, {BANDWIDTH}")
percent = close.mul(100)
percent[BANDWIDTH] = 100 * measures.accuracy_by_qbar(other_kernel)[0]
by_qbar = percent.add_prefix("% within the factor, ")
by_qbar["members, each pull"] = members["each pull"]
by_qbar.round(1)

# %% [markdown]
# Other interpretations of Fig. 1, which the verdicts read: the $\bar q$ of Theorem 1, and distinct
# arms under the other kernel. In step 2 the variance is that from before the newest pull; the table
# shows the mean of the worst ratio without and with it.

# %% tags=["experiment"]
for setting in ("", f", {DISTINCT}", f", {BANDWIDTH}"):
    record.play(f"Fig. 1, own qbar{setting}")
record.play(f"Fig. 1, {BANDWIDTH}, {DISTINCT}")
newest = pd.DataFrame(record.play("newest pull")).mean()
newest.to_frame("worst ratio").T.round(3)

# %% [markdown] tags=["checked"]
# **The accuracy of BKB rises steeply with $\bar q$.** All variances are within a factor of three of
# the exact ones in 13.5 % of the runs at $\bar q = 1$. With $\bar q = 2$ these are 87.0 %, with
# $\bar q = 3$ they are 99.5 %, and under the other kernel 92.5 %
# ([verdict](../results/README.md#4-AD)). With a small $\bar q$ the dictionary loses a whole region
# in some runs. The dictionary has 24 members at $\bar q = 2$, and 34 at $\bar q = 3$.
#
# **The newest pull may be ignored, as the paper says.** Without it the worst ratio is 1.051 on
# average, with it 1.055.
#
# Fig. 1 draws BKB alone. The *both problems* that it is said to highlight are those of other
# methods, so that they cannot be seen in it.

# %% [markdown]
# ## How few members suffice? (Section 3.1)
#
# Three designs of pulls: uniform, a window that shrinks around one arm, uniform in two dimensions
# (*plane*). A step is *bad* if some variance leaves the factor of three. *Kept* is the share of
# pulls in the last dictionary. *Size* is its members over $\bar q d_\text{eff}$. Here
# $d_\text{eff} = \sum_s \sigma_t^2(x_s)/\lambda$ is the *effective dimension* of the pulls. The
# largest $\bar q$ is that of Theorem 1 for half as many pulls.

# %% tags=["experiment"]
designs = experiments.designs(n_arms, noise_variance)
runs = []
for design in designs:
    for label in (f"BKB, {design}", f"own qbar, {design}"):
        followed = measures.followed(record.play(label))
        runs.append(followed.assign(design=design))
runs = pd.concat(runs).round({"qbar": 0})
of_designs = runs.groupby(["qbar", "design"]).mean()
at_four = of_designs.loc[4]
of_designs.unstack().round(3)

# %% tags=["experiment"]
inflated = {}
for design in ("window", "uniform"):  # beside BKB's dictionary as many pulls drawn uniformly
    by_dictionary, by_pulls = np.log10(record.play(f"equal size, {design}")).mean(axis=0)
    inflated[design] = {"dictionary": by_dictionary, "uniform pulls": by_pulls}
pd.DataFrame(inflated).rename_axis("worst inflation, log10").round(2)

# %% [markdown] tags=["checked"]
# **The $\bar q$ of Theorem 1 keeps every pull here:** it is 647, and BKB is then the exact
# posterior. That this $\bar q$ serves other horizons, too, then asks nothing.
#
# **A far smaller $\bar q$ is enough on these designs.** At $\bar q = 4$ BKB keeps 15 % to 53 % of the
# pulls, by design, and no step of any run is bad. Which pulls are kept matters: in the closing
# window uniform pulls inflate the variance by 2.1 powers of ten, those of BKB by 0.0.

# %% [markdown]
# ## Does the sketch cost regret? (Section 3, Theorem 2)
#
# The paper has no experiment on regret; this one is ours. Random arms in the unit square, $l =
# 0.2$, functions of norm $F = 2$, Gaussian noise of scale $\xi = 0.1$. Four radii $\tilde\beta$,
# with $S_t = \sum_s \tilde\sigma_t^2(x_s)$:
#
# - *log-determinant*: $\sqrt\lambda F + \xi \sqrt{\log\det(V/\lambda) + 2 \log(1/\delta)}$, for
#   exact GP-UCB proved, for the sketch not. Eq. 7 has $2 \log\det$ there: ours is narrower;
# - *Theorem 2*: $2\xi\sqrt{\alpha \log(\kappa^2 t) S_t + \log(1/\delta)} +
#   (1 + 1/\sqrt{1-\varepsilon}) \sqrt\lambda F$;
# - *authors'*, that of their code: $\xi \sqrt{\log(t) S_t + \log(1/\delta)} + \sqrt\lambda F$;
# - *3 sd*: $\tilde\beta = 3 \sqrt\lambda$, as in Fig. 1. Nobody has proved it.
#
# Without a name the radius is the log-determinant. BKB has $\bar q = 4$ where none is named.
# Theorem 2's and the authors' radius were played on the first 40 functions, and are compared with
# exact GP-UCB on these.

# %% tags=["experiment"]
traces = record.play("regret") | record.play("regret, other radii")
compared = [rule for rule in traces if "qbar" not in rule or "qbar=4" in rule]
one_qbar = {rule.replace(", qbar=4", ""): traces[rule] for rule in compared}
record.figure(pictures.regret(one_qbar), "regret")
record.plan["regret"]

# %% tags=["experiment"]
regret = {rule: trace.regret.sum(axis=1) for rule, trace in one_qbar.items()}
table = pd.DataFrame(index=list(regret), columns=["mean R_T", "over exact"], dtype=float)
for rule, total in regret.items():
    same_functions = regret["exact"][: len(total)]
    table.loc[rule] = total.mean(), total.mean() / same_functions.mean()
over = table["over exact"]
table.round(3)

# %% [markdown]
# Regret over that of exact GP-UCB with the same radius, by $\bar q$ and dictionary:

# %% tags=["experiment"]
by_dictionary = {"each pull": traces, "each distinct arm": record.play(f"regret, {DISTINCT}")}
tuned = pd.DataFrame()
for dictionary, played in by_dictionary.items():
    for radius in ("", ", 3 sd"):
        exact = traces[f"exact{radius}"].regret.sum(axis=1)
        for q in experiments.TUNED_QBARS:
            total = played[f"BKB, qbar={q}{radius}"].regret.sum(axis=1)
            ratio = total.mean() / exact[: len(total)].mean()
            tuned.loc[q, f"{dictionary}{radius}"] = ratio
tuned.rename_axis("qbar").round(3)

# %% [markdown] tags=["checked"]
# **With the log-determinant radius the sketch costs no regret from $\bar q = 4$ on.** With the same
# radius BKB incurs 1.566 times the regret of exact GP-UCB at $\bar q = 2$, and 1.023 times at
# $\bar q = 3$. Both ratios still grow with $T$. With three plain standard deviations BKB incurs
# 1.031 times the regret of exact GP-UCB at $\bar q = 4$, and 1.002 times at $\bar q = 6$.
#
# **The printed radius costs a multiple, three plain standard deviations cost a fraction.** BKB
# incurs with the printed radius of Theorem 2 3.7 times the regret of exact GP-UCB with the proved
# log-determinant radius, with that of the authors' code 1.3 times. With three plain standard
# deviations, which nobody has proved, BKB incurs 0.20 times that regret.

# %% [markdown]
# ## Is a step cheap? (Section 3.2)
#
# A step of BKB is $O((A + D) m^2)$, whatever $t$, with $D$ distinct arms pulled and $m$ features,
# at most the distinct members. Four opponents, all exact, follow BKB's own pulls:
#
# - *refit* from scratch, $A t^2$, the opponent that the paper names;
# - *counts*, a refit with repeats of an arm as one point, $D^3 + A D^2$;
# - *rows*, the factor updated by a row a pull, $A t$;
# - *covariance*, that of all arms stored, $A^2$.
#
# Operations are the leading terms as printed, each with a constant of 1. Functions of norm 2 on
# random arms, $l = 0.2$, $\bar q = 4$, log-determinant radius. Sizes after the last pull, of one
# run:

# %% tags=["experiment"]
sizes = {}
for case in (on_line := "d = 1", in_plane := "d = 2"):
    sizes[case] = [pd.DataFrame(run).set_index("t") for run in record.play(f"sizes, {case}")]
at_end = pd.DataFrame({case: runs[0].iloc[-1] for case, runs in sizes.items()}).T
at_end.round(1)

# %% [markdown]
# BKB takes fewer operations than each opponent from this round on (median of runs; *inf*: from
# no round on):

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
# the $d_\text{eff}$ of the sketch, and says that this estimate is much smaller than the worst case
# over all pulls (Srinivas et al., eq. 8). Is it?

# %% tags=["experiment"]
ends = [run["d_eff"].iloc[-1] for run in sizes[in_plane]]
estimate = 3 * np.mean(ends) * np.log(cost_horizon)
plane = experiments.smooth(cost_arms, 2, noise_variance, seed)
worst = claims.worst_log_det(plane, cost_horizon)
of_worst = estimate / worst
print(f"two dimensions, alpha = 3: the estimate is {of_worst:.2f} times the worst case")

# %% [markdown] tags=["checked"]
# **Speed depends on the opponent.** On a thousand arms in two dimensions BKB takes fewer operations
# than a refit from round 74 on. An exact posterior can be updated instead. In one dimension BKB
# takes fewer operations than an update by rows from round 138 on. In two dimensions it has 135
# features, and takes fewer than an update by rows in none of 5,000 rounds.
#
# **In two dimensions BKB's estimate of the log determinant is above its worst case:** in two
# dimensions it is 1.48 times the worst case.

# %% [markdown]
# ## Does the dictionary grow exponentially with the dimension? (Section 5)
#
# The paper says, without a figure, that in practice it does not. Random arms in $[0, 1]^d$,
# lengthscale 1, $\bar q = 3$. *Growth* is the size over that in one dimension less. A dictionary
# with more than a third of the pulls is limited by their number, and is no case.

# %% tags=["experiment"]
by_dimension = pd.DataFrame()
for dictionary, ending in {"each pull": "", "each distinct arm": f", {DISTINCT}"}.items():
    for d in experiments.DIMENSIONS:
        ends = pd.DataFrame(record.play(f"sizes by d, d = {d}{ending}"))
        by_dimension.loc[d, f"members, {dictionary}"] = ends["members"].mean()
        by_dimension.loc[d, f"their median, {dictionary}"] = ends["members"].median()
        by_dimension.loc[d, f"left out, {dictionary}"] = ends["left out"].mean()
of_pulls = by_dimension["members, each pull"]
by_dimension["growth, each pull"] = growth = of_pulls / of_pulls.shift()
last = max(1, (of_pulls <= size_horizon / 3).sum())
print(f"cases: d = 1 to {last}")
in_one = sorted(run["members"] for run in record.play("sizes by d, d = 1"))
print(f"members in each run of d = 1: {in_one}")
medians = by_dimension["their median, each pull"]
by_dimension["growth of the median"] = steps = medians / medians.shift()
by_dimension.rename_axis("d").round(2)

# %% [markdown] tags=["checked"]
# **Less than exponential growth with the dimension comes out now and then**
# ([verdict](../results/README.md#4-AT)). The verdict reads mean sizes after the last round, and rests
# on one run. In one dimension 1 of 16 runs has a dictionary of 666 members, and the other runs have
# at most 18. So the mean falls in the step to two dimensions and then grows 2.6 times. The median
# grows in every step by a smaller factor than in the step before, as the paper says.
#
# Such a dictionary is a property of the algorithm at a small $\bar q$. Nearly all pulls are of the
# best arm, and in some rounds none of them is drawn. The variance there is then inflated, and the
# next dictionary holds most pulls. This happens in every run; here the last round is such a round.

# %% [markdown]
# ## Must the features grow? (Section 1.1)
#
# A dictionary adapts; a fixed number of features does not. All rules have 3 sd, on arms in one
# dimension.

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
# **Two fixed features are too few, twenty are enough here.** On two random features regret grows in
# the last decade as $t$ to the power of 0.97, nearly as fast as without learning. That of BKB grows
# as $t$ to the power of 0.25, that of twenty random features to the power of 0.24.

# %% [markdown]
# ## What to use today?
#
# *mini-GP-UCB* ([Calandriello et al. 2022](https://arxiv.org/abs/2201.12909)) needs no sketch. $n$
# pulls of one arm divide its variance by $1 + n\sigma^2/\lambda$, and that of any other arm by no
# more. So it stays with the chosen arm for $\lfloor (C^2 - 1) \lambda / \sigma^2 \rfloor$ rounds,
# in which no standard deviation falls by more than the factor $C$. Repeats of an arm are one row
# of an exact posterior. Here $C^2 = 2$ (ours). The width of exact GP-UCB has been tightened, too
# ([Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732),
# [derivation](../docs/tighter_width.md)). Both are in the table of regret above.

# %% [markdown] tags=["checked"]
# On a thousand arms take exact GP-UCB, updated, with the tighter width. It incurs 0.856 times the
# regret of the log-determinant radius. mini-GP-UCB chooses an arm less often, since it repeats the
# chosen one for several rounds. It incurs 1.089 times that regret. Three plain standard deviations
# incur the lowest regret in the table, but nobody has proved them.

# %% [markdown]
# ## Verdicts at a glance
#
# The paper's *observations* are those of Fig. 1 and of Section 5. *Remarks* are what it argues,
# expects or cites.

# %%
observed = "4-AD", "4-AT"
remarks = "4-B", "4-C", "4-AP", "4-AR", "4-AE", "4-P", "4-H", "4-O", "4-J", "4-K", "4-AQ", "4-AC"
questions = "4-AU", "4-N", "4-AS", "4-AN"
record.verdicts(*observed, *remarks, *questions)

# %% [markdown]
# ## Do the theorems hold? (Theorems 1, 2 and 9, Section 4)
#
# Theorem 1 keeps the variance within the factor $\alpha = 3$ if $\bar q$ is several hundred.
# Theorem 2 bounds the regret with its radius, and Theorem 9 is the band behind it. For its radius
# Section 4.1 bounds the log determinant by $d_\text{eff} \log(\kappa^2 t)$.
#
# <details><summary>The formulas, and the false step</summary>
#
# Theorem 1: for $\bar q \ge 6 \alpha \log(4T/\delta)/\varepsilon^2$, $\alpha =
# (1+\varepsilon)/(1-\varepsilon)$, with probability $1 - \delta$ all arms and steps keep
# $\sigma^2/\alpha \le \lambda \tilde\sigma^2 \le \alpha \sigma^2$ and
# $|S| \le 3 (1 + \kappa^2/\lambda)\, \alpha \bar q\, d_\text{eff}$. Here $\kappa^2 = \max_x k(x,
# x)$ is 1, $\delta = 0.1$ and the accuracy $\varepsilon = 1/2$, so that $\alpha = 3$.
#
# Proposition 5, with variances divided by $\lambda$ and taken after the point's own observation:
#
# $$d_\text{eff} \le \sum_s \sigma_s^2(x_s) \le \log\det(K/\lambda + I)
# \le d_\text{eff} (1 + \log(\lVert K \rVert/\lambda + 1)).$$
#
# Section 4.1 has the last of these (eq. 6) with $\lVert K \rVert / \lambda \le \kappa^2 t /
# \lambda$, and writes $d_\text{eff} \log(\kappa^2 t)$. That step is false: it loses $1/\lambda$ and
# both ones. What follows is $d_\text{eff} (1 + \log(1 + \kappa^2 t / \lambda))$.
#
# Theorem 9: $f$ stays within $\tilde\beta\tilde\sigma$ of $\tilde\mu$ for all arms and rounds.
# Theorem 2, with $L = \log(\kappa^2 T)$:
#
# $$R_T \le 2 (2\alpha)^{3/2} \sqrt T \bigl(\xi d_\text{eff} L + \sqrt{\lambda F^2 d_\text{eff} L} +
# \xi \log(1/\delta)\bigr).$$
#
# The paper says that $\varepsilon = 1/2$ costs a factor "$3 \log T$" in regret and "12" in time. By
# its own formulas the first is $\alpha^{3/2} = 5.2$ times $\log T$. The second multiplies $m$, and
# the time goes as $m^2$.
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
# **A step in the derivation of Theorem 2's radius is false for small $\lambda$; the radius held.**
# The printed bound falls to 0.15 of the log determinant that it stands for. What follows from eq. 6
# stays above the log determinant. The error of the mean is at most 0.29 of the radius, whose other
# constants are far too wide.

# %%
proved = "4-E", "4-G", "4-M", "4-AF", "4-AG", "4-V", "4-U", "4-T", "4-AM", "4-AJ", "4-AO", "4-AA"
record.verdicts(*proved)

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here |
# | --- | --- | --- |
# | kernel of Fig. 1 | "bandwidth $\sigma^2 = 100$" | $\exp(-100 r^2)$; $\exp(-r^2/200)$ |
# | $\lambda = \xi^2$ of Fig. 1 | not said | 0.01; 0.0001 |
# | $\bar q$ of Fig. 1 | not said | 3; 1.5; 2; 5; that of Theorem 1 |
# | dictionary | each pull, drawn anew; incremental left open | that; each distinct arm |
# | features of RFF | not said | $\lvert S \rvert$; 100 |
# | pulls of Fig. 1 | uniform in $[0, 0.5]$ | the same |
# | band of Fig. 1 | ± 3 $\tilde\sigma$ (eq. 4 divides by $\lambda$) | ± 3 $\sqrt\lambda \tilde\sigma$ |
# | probabilities above 1; empty $S$ | not said | 1; the newest pull |
# | $\log(\kappa^2 t)$ at $t = 1$ | 0 | that of $t = 2$ |
# | regret, costs | no experiment | all settings ours |

# %% jupyter={"source_hidden": true} tags=["hide-input"]
same, wide, theirs = over[["BKB", "BKB, Theorem 2's radius", "BKB, authors' radius"]]
plain, tighter, repeated = over[["BKB, 3 sd", "exact, tighter width", "mini-GP-UCB"]]
within = percent["each pull"]
shares = *within[[1, 2, 3]], percent.loc[3, BANDWIDTH]
one, two, three, line_like = (f"{share:.1f} %" for share in shares)
covered, starved, pulled = seen["covered"], seen["starved"], tuned["each pull"]
by_sd = tuned["each pull, 3 sd"]
under_other = seen.loc[("SoR", ""), f"covered, {BANDWIDTH}"]
size_at, kept, proved = members["each pull"], 100 * at_four["kept"], of_designs.index[-1][0]
refits, in_line, none = refit[in_plane], rows[on_line], rows[in_plane] == np.inf
alike = 1 / 1.2 < newest["without"] / newest["with"] < 1.2
for words, holds in {
    f"ones in {one} of the runs at $\\bar q = 1$, in {two} at 2, and in {three} at 3": within[2]
    < 95,
    f"in {one} of the runs at $\\bar q = 1$. With $\\bar q = 2$ these are {two}": True,
    f"with $\\bar q = 3$ they are {three}, and under the other kernel {line_like}": within[3] > 95,
    f"worst ratio is {newest['without']:.3f} on average, with it {newest['with']:.3f}": alike,
    f"at $\\bar q = 4$ and with the same radius BKB incurs {same:.3f} times": 0.98 < same < 1.02,
    f"radius of Theorem 2 it incurs {wide:.1f} times": wide > 3,
    f"with the printed radius of Theorem 2 {wide:.1f} times": wide > 3,
    f"which nobody has proved, {plain:.2f} times that regret": plain < 1 / 3,
    f"which nobody has proved, BKB incurs {plain:.2f} times that regret": plain < 1 / 3,
    f"fewer operations than a refit from round {refits:.0f} on": refits < cost_horizon,
    f"fewer than an update by rows in none of {cost_horizon:,} rounds": none,
    "The dictionary grows less than exponentially with the dimension now and then": growth[2]
    < 1
    < growth[3],
    f"At $\\bar q = 3$ its band covers the function at {covered['BKB', 'qbar=3']:.1f} %": True,
    f"The band of SoR covers it at {covered['SoR', '']:.1f} %": starved["SoR", ""] > 1e6,
    f"variance is {starved['DTC, uniform', '3 pulls']:.1f} times that of DTC": True,
    f"{starved['RFF', 'm=|S|']:.1f} times theirs, with three hundred {starved['RFF', 'm=300']:.1f}"
    " times": True,
    f"there covers the function at {under_other:.1f} %": under_other > 80,
    f"{size_at[2]:.0f} members at $\\bar q = 2$, and {size_at[3]:.0f} at $\\bar q = 3$": True,
    f"it is {proved:.0f}, and BKB is then the exact": of_designs.loc[proved, "kept"].min() == 1,
    f"At $\\bar q = 4$ BKB keeps {kept.min():.0f} % to {kept.max():.0f} % of the pulls, by design,"
    " and no step": at_four["bad steps"].max() == 0,
    f"uniform pulls inflate the variance by {inflated['window']['uniform pulls']:.1f} powers": True,
    f"those of BKB by {inflated['window']['dictionary']:.1f}.": True,
    "With the log-determinant radius the sketch costs no regret from $\\bar q = 4$ on": pulled[
        pulled.index >= 4
    ].max()
    < 1.02,
    f"{by_sd[4]:.3f} times the regret of exact GP-UCB at $\\bar q = 4$, and {by_sd[6]:.3f} times at"
    " $\\bar q = 6$": True,
    f"same radius BKB incurs {pulled[2]:.3f} times the regret of exact GP-UCB at $\\bar q = 2$, and"
    f" {pulled[3]:.3f} times at $\\bar q = 3$": True,
    f"with that of the authors' code {theirs:.1f} times": True,
    f"takes fewer operations than an update by rows from round {in_line:.0f} on": True,
    f"it has {at_end.loc[in_plane, 'features']:.0f} features": True,
    f"in two dimensions it is {of_worst:.2f} times the worst case": of_worst > 1,
    f"1 of {len(in_one)} runs has a dictionary of {in_one[-1]} members, and the other runs have at"
    f" most {in_one[-2]}.": True,
    f"falls in the step to two dimensions and then grows {growth[3]:.1f} times": growth[2] < 1,
    "The median grows in every step by a smaller factor": steps.dropna().is_monotonic_decreasing,
    f"decade as $t$ to the power of {exponent['RFF, 2 features']:.2f}, nearly": True,
    f"That of BKB grows as $t$ to the power of {exponent['BKB, 3 sd']:.2f}, that of twenty random"
    f" features to the power of {exponent['RFF, 20 features']:.2f}": True,
    "Two fixed features are too few, twenty are enough here": exponent["RFF, 20 features"] < 0.5,
    f"It incurs {tighter:.3f} times the regret of the log-determinant": tighter < 1,
    f"It incurs {repeated:.3f} times that regret": repeated > 1,
    "incur the lowest regret in the table": over.idxmin() == "exact, 3 sd",
    f"falls to {printed:.2f} of the log determinant that it stands for": printed < 1 < mended,
    f"The error of the mean is at most {band:.2f} of the radius": band <= 1,
}.items():
    record.check(words, holds)
record.finish()
