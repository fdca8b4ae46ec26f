# %% [markdown]
# # Side by side: which rule, and which guarantee?
#
# A synthesis of five papers and of what followed them, not a replication. Its questions are our
# own, but for two remarks of papers that it tests.

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **Rules that explore little did well on most problems, not on all.** PIMS and EI incur at most
#   twice the lowest regret on @1@ and @2@ of 16 problems. On four test functions that we guessed,
#   such as Branin, PIMS incurs @3@ to @4@ times the lowest regret.
# - **What a guarantee costs depends on what it assumes.** The best rule with a guarantee incurs @5@
#   to @6@ times the lowest regret on draws from the prior. On functions of known norm it incurs @7@
#   to @8@ times the lowest regret.
# - **Near-optimal on paper did not pay.** After 31,623 rounds the best such rule incurs @9@ to @10@
#   times the regret of IGP-UCB with two later changes, whose proved rate is worse.
#
# The criteria of all verdicts were frozen before these trials were played. Those who wrote them knew
# the trials of an earlier edition ([what is frozen](../docs/claims.md#what-is-frozen-before-play)).

# %% [markdown]
# ![Rules ranked by regret, and their microseconds a round: PIMS, EI and GP-UCB/5 lead, rules that
# are near-optimal on paper are close to uniform
# play](../results/paper/06_side_by_side/figures/ranking.png)
#
# Every rule has constants that are proved or of its source. Left: regret over that of the best rule,
# median (dot) and quartiles (line) of 16 problems. Hollow dots are rules that need a Matérn kernel or
# a grid. Their medians are over fewer and other problems (number beside the name), and are no rank
# among the rules above. Right: the time of a round. [All verdicts](../results/README.md#6-B).
#
# ## The idea
#
# Papers prove ever better bounds on regret. Which rule should one use, and which guarantee is worth
# having? Here the rules of the five papers, and some later ones, play on the papers' problems. In a
# trial all rules meet the same function, noise and order of ties.

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 1256730530  # root seed of every random stream
trials: int = 40  # trials of every problem on which the assumptions of a theorem hold
other_trials: int = 20  # trials of every other problem
horizon: int = 1000  # rounds T of most problems
n_arms: int = 1000  # arms of one problem of draws, and of BKB's problem
long_horizon: int = 10000  # rounds of Table 1's functions
growth_trials: int = 20  # functions behind exponents
growth_horizon: int = 31623  # largest T of growth, the smallest is a hundredth
wrong_trials: int = 40  # functions under every wrong assumption
wrong_horizon: int = 500  # rounds there and behind coverage
simple_trials: int = 40  # functions of simple problems
qbar: float = 4.0  # BKB's constant, that of notebook 04
delta: float = 0.1  # confidence bands may fail with this probability
results_dir: str = ""  # folder for figures and tables, from the root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
from itertools import product

import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.problems import Trial
from kbrepro.batch.record import Record
from kbrepro.papers import same_arms
from kbrepro.papers.side_by_side import bench, elimination, measures, pictures
from kbrepro.papers.side_by_side.field import TUNED
from kbrepro.papers.side_by_side.next import claims, experiments

checks.non_negative_int(seed=seed)
checks.at_least(2, trials=trials, other_trials=other_trials, growth_trials=growth_trials)
checks.at_least(2, wrong_trials=wrong_trials, simple_trials=simple_trials)
checks.at_least(
    40, n_arms=n_arms, horizon=horizon, long_horizon=long_horizon, wrong_horizon=wrong_horizon
)
checks.at_least(300, growth_horizon=growth_horizon)
checks.positive(qbar=qbar)
checks.probability(delta=delta)
record = Record("06_side_by_side", globals())

# %% [markdown]
# ## The problem
#
# In round $t = 1, \dots, T$ a rule pulls one of $A$ *arms* and observes its reward with noise. It
# pays the *regret* $R_T = \sum_t f(x^*) - f(x_t)$ for not knowing the best arm $x^*$. After each
# round a Gaussian process gives every arm a mean and a standard deviation (sd). The *band* of an
# arm is its mean ± *width* × sd; proofs say how wide it must be. The *information gain*
# $\gamma_T$ is the most that $T$ pulls can tell about $f$. There are three kinds of proofs:
#
# | proof | assumes | says of $R_T$ |
# | --- | --- | --- |
# | *near-optimal* | $f$ has a known norm | $\sqrt{T \gamma_T}$ up to logarithms; no rate is better |
# | *sublinear* | $f$ has a known norm | less than $T$, more than that |
# | *Bayesian* | $f$ is drawn from the prior | $\sqrt{T \gamma_T}$ up to logarithms |
#
# ## The rules
#
# | rule | what it pulls | proof |
# | --- | --- | --- |
# | PIMS | the arm most likely to exceed the largest value of a random draw of $f$ | Bayesian |
# | GP-UCB | the arm of largest upper end of a band, width of 2010 | Bayesian |
# | GP-UCB/5 | like GP-UCB, its squared width $\beta$ divided by five | none |
# | EI | the arm expected to improve most on the best posterior mean | none |
# | EI, noisy incumbent | the arm expected to improve most on the best reward observed | none |
# | MPI | the arm most likely to improve by a tenth of the prior's sd | none |
# | IGP-UCB | like GP-UCB, width of 2017 | sublinear |
# | IGP-UCB, tighter | like GP-UCB, [narrower width of 2024](../docs/tighter_width.md) | sublinear |
# | IGP-UCB, both | the same, and a noise variance $\lambda$ that grows with $T$ | sublinear |
# | GP-TS | the best arm of a random draw, as wide as IGP-UCB's band | sublinear |
# | π-GP-UCB | like IGP-UCB, one Gaussian process for each cell of a grid | a gap |
# | π-GP-UCB, tighter | the same with the width of 2024 | sublinear |
# | BKB | like GP-UCB, on a sketch of few pulls, radius of the exact posterior | a gap |
# | SupKernelUCB | the arm of widest band, level by level (below) | near-optimal |
# | BPE, tighter | the arm of largest sd, in batches (below) | near-optimal |
# | mean only, variance only, uniform play | what their names say | none |
#
# SupKernelUCB and BPE play once more *tuned*, with a tenth of their width. This tenth is the best
# of seven round numbers on two problems that are not scored (edition 0.3.0), and nobody has proved
# it. [Formulas](../docs/names.md).

# %% [markdown]
# ## Which rule should I take? (every rule on every problem)
#
# The problems are those of the five papers that have one layer:
#
# | $f$ | problems |
# | --- | --- |
# | *drawn from the prior* | SE draws, Matérn draws |
# | *norm given* | the same kernels with smoothed functions, BKB's problem, Table 1 of Janz et al. |
# | *neither* | Rosenbrock and Hartmann-3, four test functions, three sets of sensors |
#
# Where a paper gives no norm, rules get a smoothed one, as Chowdhury and Gopalan compute it; it
# bounds nothing. BKB is left out of Table 1 in two dimensions, where it takes 80 seconds a run.

# %% tags=["experiment"]
means, seconds, kinds = {}, {}, {}
for label in record.plan:
    name = label.removeprefix("SIMULATED SUBSTITUTE for ")
    if name in claims.SETTINGS:
        traces = record.play(label)
        means[label] = measures.mean_totals(traces)
        seconds[label] = measures.seconds_a_round(traces)
        kinds[label] = claims.SETTINGS[name].holds
record.plan["Table 1, d = 2"]

# %% tags=["experiment"]
means = pd.DataFrame(means).rename_axis("rule")
factors = measures.over_best(means)
ranking = measures.ranking(factors)
record.table(factors, "bench")
record.table(ranking, "ranking")
record.figure(pictures.ranking(ranking, pd.DataFrame(seconds)), "ranking")

# %% [markdown]
# *factor*: regret over that of the best rule, the median over the *problems* on which a rule is
# defined. *within twice*: on so many problems a rule incurs at most twice the lowest regret. Rules
# that are defined on at most half of the problems come last.

# %% tags=["experiment"]
names = ["factor", "within twice", "problems"]
ranking[names].round(2)

# %% [markdown]
# The ranking mixes all problems. Take the row of your case: the same factor, the median over the
# problems of each kind.

# %% tags=["experiment"]
kind = pd.Series(kinds, name="f is")
advised = ["PIMS", "IGP-UCB, tighter", "EI", "EI, noisy incumbent", "MPI"]
by_problem = factors.loc[advised].T
by_kind = by_problem.groupby(kind, sort=False).median()
by_kind["problems"] = kind.value_counts()
by_kind.round(2)

# %% [markdown] tags=["checked"]
# **Is $f$ like a draw from your Gaussian process? Take PIMS.** It incurs @11@ to @12@ times the
# lowest regret on our two problems of draws, and has a Bayesian proof.
#
# **Does $f$ have a known norm, and do you need a guarantee? Take IGP-UCB with the tighter width.**
# It incurs @13@ to @14@ times the lowest regret on our five problems of known norm. With a Matérn
# kernel and a known horizon let $\lambda$ grow. On the three such problems IGP-UCB with both
# changes incurs @15@ to @16@ times the regret of IGP-UCB with the tighter width alone.
#
# **Is $f$ anything else? Take EI over the best posterior mean.** In the median of our nine other
# problems it incurs @17@ times the lowest regret, over the best noisy reward @18@ times. MPI incurs
# @19@ times there, but @20@ times on functions of known norm.

# %% [markdown]
# **And in other cases?** These are not played here:
#
# | your case | what to do |
# | --- | --- |
# | no noise | take the same rules with a noise variance of 1e-8 prior variances ([recipe](../docs/recipes.md#noise-free-functions-and-costs)) |
# | a batch of points at a time | take GP-UCB/5 or PIMS, `policy.ask(4)` ([recipe](../docs/recipes.md#batch-of-points-several-workers-and-late-results)) |
# | an unknown kernel | take EI, and fit the kernel every ten pulls ([recipe](../docs/recipes.md#unknown-kernel-fit-lengthscales-variance-and-noise)) |
# | 10,000 arms or more on a grid | take the same rules; the posterior changes its form by itself ([page](../docs/many_arms.md)) |
# | layers whose outputs are seen | look into [notebook 05](05_gpn_ucb_chains.ipynb) |
#
# ## Where do the leaders lose?
#
# The same factor of the eight rules that lead, on each problem:

# %% tags=["experiment"]
leading = ranking.index[:8]
factors.loc[leading].T.round(1)

# %% [markdown] tags=["checked"]
# **No rule leads everywhere.** PIMS and EI incur at most twice the lowest regret on @1@ and @2@ of
# 16 problems. GP-UCB/5 does so on @21@. On four test functions that we guessed for Fig. 2 of Janz
# et al. PIMS incurs @3@ to @4@ times the lowest regret, and MPI incurs the lowest.
#
# **Rules that are near-optimal on paper owe much of their place to wide bands.** In the median
# SupKernelUCB and BPE incur @22@ and @23@ times the lowest regret. Tuned, without a proof, they
# incur @24@ and @25@ times the lowest regret.

# %% [markdown]
# ## What does a guarantee cost?
#
# On each problem on which the assumptions of a theorem hold: the best of the rules that it covers,
# and its regret over that of the best of all rules. Beside it IGP-UCB of 2017, whose theorem asks
# for $\lambda \ge 1$, as in Table 1 alone.

# %% tags=["experiment"]
rows = {}
for name, rules in zip(claims.SETTINGS, claims.PROVED, strict=True):
    if rules:
        proved = factors.loc[rules, name]
        rows[name] = [kinds[name], proved.idxmin(), proved.min()]
columns = ["f is", "best with a guarantee", "times"]
prices = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
prices["IGP-UCB"] = factors.loc["IGP-UCB"]
prices.round(2)

# %% [markdown]
# The narrower a band may be while it still holds, the less a guarantee costs. *band held*: the
# share of runs in which each band held in all rounds. *regret*: mean regret over the lowest of
# these rules. Three problems of known norm, 500 rounds.

# %% tags=["experiment"]
held, totals = {}, {}
for name in experiments.COVERED:
    traces = record.play(f"coverage, {name}")
    held[name] = measures.bands_held(traces)
    totals[name] = measures.mean_totals(traces)
held, totals = pd.DataFrame(held), pd.DataFrame(totals)
lost = totals / totals.min()
pd.concat({"band held": held, "regret": lost}, axis=1).round(2)

# %% [markdown] tags=["checked"]
# **A guarantee costs little where functions are draws from the prior.** The best rule with a
# guarantee incurs @5@ to @6@ times the lowest regret on draws from the prior. On functions of known
# norm it incurs @7@ to @8@ times the lowest regret. Our seven problems are a list, not a sample.
#
# **What is cheap is not proved.** On three problems of known norm $\lambda$ is below one, and the
# theorem on IGP-UCB of 2017 says nothing. There it incurs @26@ to @27@ times the lowest regret. On
# the two where $\lambda$ is one it incurs @28@ to @29@ times the lowest regret.
#
# **Bands that are proved for a known norm are wider than need be.** They held in every run. The
# band of GP-UCB/5 held in at most @30@ % of runs, and GP-UCB/5 incurs the lowest regret of these
# rules on all three problems.

# %% [markdown]
# ## Does a better rate pay? (growth)
#
# Functions of Table 1 of Janz et al. on grids of 30 points a side, Matérn kernels of smoothness
# $\nu$, in $d$ dimensions. Each $T$ is a run of its own, since some rules need to know $T$. Regret
# of a *near-optimal* rule grows at most like $T$ to the exponent $(d+\nu)/(d+2\nu)$, that of
# IGP-UCB with both changes to the worse exponent $(2d+\nu)/(2d+2\nu)$.
#
# Lines are means of 20 functions, bands 95 % intervals. To see: the blue lines, near-optimal rules,
# stay above IGP-UCB with both changes up to the end.

# %% tags=["experiment"]
horizons = experiments.growth_horizons(growth_horizon)
curves = {}
for nu, d in product((1.5, 2.5), (1, 2)):
    label = f"growth, ν = {nu}, d = {d}"
    curves[nu, d] = measures.at_horizons(record.play, label, horizons)
record.figure(pictures.growth(curves, horizons), "headline_growth")

# %% [markdown]
# The exponents, measured by least squares and proved:

# %% tags=["experiment"]
exponents = measures.exponents(curves, horizons)
exponents.unstack([0, 1]).round(2)

# %% [markdown]
# The better near-optimal rule at the last horizon, and its regret over that of IGP-UCB with both
# changes. *Pays from*: if both grew as proved from there, the round (its power of ten) from which
# its regret would be lower.

# %% tags=["experiment"]
leads = measures.leads(curves, growth_horizon)
leads.round(2)

# %% [markdown] tags=["checked"]
# **Near-optimal on paper did not pay.** After 31,623 rounds the best such rule incurs @9@ to @10@
# times the regret of IGP-UCB with both changes. If both grew as proved from there, the better
# exponent would pay only after $10^{@31@}$ rounds.
#
# **In two dimensions BPE's exponents do not show yet:** they are @32@ and @33@, where @34@ and @35@
# are proved.

# %% [markdown]
# ## Why not? Batches that look at no reward
#
# *BPE* (Li and Scarlett 2022) makes its band narrow by a trick. Within a batch it pulls the arm of
# largest sd, which depends on no reward. So the noise of a batch is independent of its arms, and
# for $n$ batches the width $w = B + (R/\sqrt\lambda) \sqrt{2 \log(2 A n / \delta)}$ does without
# $\gamma_T$. Here $B$ is the norm of $f$ and $R$ the scale of the noise. *Tighter*, as it plays
# here, it is $w = \sqrt{B^2 + (2R^2/\lambda) \log(2 A n / \delta)}$. After a batch BPE drops every
# arm whose upper end lies below the largest lower end, and forgets the data.


# %% tags=["experiment"]
def posterior(k, X, lam, arms, y):
    """Mean and variance of f at all points, after pulls of `arms` gave `y`."""
    Z = X[arms]
    across = k(Z, X)
    of_pulls = k(Z, Z) + lam * np.eye(len(arms))
    weights = np.linalg.solve(of_pulls, across)
    variance = k.diag(X) - (across * weights).sum(axis=0)
    return y @ weights, variance


def bpe(k, X, lam, T, w, pull, order):
    """The arms that BPE pulls in T rounds with w standard deviations; of arms that tie the first in
    a random order.
    """
    A = []
    left = np.ones(len(X), dtype=bool)
    n = 1
    while len(A) < T:
        n = int(np.ceil(np.sqrt(T * n)))
        batch = []
        y = []
        for _ in range(min(n, T - len(A))):
            variance = posterior(k, X, lam, batch, y)[1]
            index = np.where(left, variance, -np.inf)
            arm = best_arm(index, order)
            batch.append(arm)
            y.append(pull(arm))
        mean, variance = posterior(k, X, lam, batch, y)
        half = w * np.sqrt(variance)
        largest_lower = (mean - half)[left].max()
        left &= mean + half >= largest_lower
        A += batch
    return A


# %% [markdown]
# The package pulls the same arms:

# %% tags=["experiment"]
T = 300
trial = Trial(seed, 0)
experiment = record.plan["Table 1, d = 1"].experiment
problem = experiment.problem(trial)
model = problem.model
events = 30 * len(elimination.squared_lengths(T))
w = np.sqrt(model.norm**2 + 2 * np.log(2 * events / delta))


def short(pull, rng):
    """The arms of the above on this problem."""
    order = rng.permutation(30)
    return bpe(model.kernel, model.points, 1.0, T, w, pull, order)


print(same_arms(short, experiment.policies["BPE, tighter"], problem, T, trial))

# %% [markdown]
# A better rate helps a rule once it has dropped arms. Until then it pulls all arms by their sd
# alone, and its regret is close to that of uniform play. How many arms are left in a round, on one
# function of Table 1 in one dimension and one in two?

# %% tags=["experiment"]
left = {}
for d in (1, 2):
    (counts,) = record.play(f"arms left, d = {d}")
    for rule in measures.NEAR:
        left[f"d = {d}", rule] = counts[rule]
left = pd.DataFrame(left, experiments.shown_rounds(long_horizon))
left.rename_axis("round")

# %% [markdown] tags=["checked"]
# **Such rules drop arms late.** After 10,000 rounds in two dimensions BPE has @36@ of 900 arms
# left, SupKernelUCB @37@. That this is why better exponents do not show is likely, not tested.

# %% [markdown]
# ## Does SupKernelUCB fail on very simple problems? (Janz et al., Section 6)
#
# Janz et al. say that it "fails to achieve empirically sublinear regret even on very simple
# problems", and cite a paper that has no such experiment. SupKernelUCB (Valko et al. 2013) sorts
# its pulls into levels. On a level it pulls the arm of widest band, until all bands are narrower
# than the level asks; then it drops arms and goes on to the next.
#
# Three simple problems of ours. *grows*: regret over that of runs a tenth as long. At 10 regret is
# linear, and we call it linear from 10 / 1.2 = 8.3 on. *worst*: the regret of the worst run over that
# of the median one.

# %% tags=["experiment"]
short_run, long_run = experiments.tenfold(growth_horizon)
grows, worst = pd.DataFrame(), pd.DataFrame()
for name in experiments.simple_problems():
    panel = measures.at_horizons(record.play, f"simple, {name}", [short_run, long_run])
    for rule, totals in panel.items():
        tenth, last = totals.T
        grows.loc[rule, name] = last.mean() / tenth.mean()
        worst.loc[rule, name] = last.max() / np.median(last)
pd.concat({"grows": grows, "worst": worst}, axis=1).round(2)

# %% [markdown] tags=["checked"]
# **SupKernelUCB is sublinear on all three.** With the constants of its proof its regret grows @38@
# to @39@ times as the horizon grows tenfold. On functions of Janz et al. in two dimensions it fails:
# its regret grows @40@ and @41@ times, for $\nu = 1.5$ and 2.5.
#
# **Tuned, single runs lose much.** The worst of 40 runs on a line incurs @42@ times the regret of
# the median one. A likely cause, not tested: so narrow a band sometimes drops the best arm.

# %% [markdown]
# ## Who breaks first? (wrong assumptions)
#
# Rules are given half or double the right lengthscale, a third or three times the right noise, or a
# third of the norm $B$. Two problems have 100 arms each. The table shows by how many times a wrong
# assumption multiplies regret, the geometric mean of both problems:

# %% tags=["experiment"]
totals = {}
for name, case in product(("SE draws", "SE, norm given"), experiments.WRONG_BY):
    traces = record.play(f"wrong, {name}, {case}")
    totals[case, name] = measures.mean_totals(traces)
logs = np.log(pd.DataFrame(totals)).T
mean_logs = logs.groupby(level=0, sort=False).mean()
harm = np.exp(mean_logs - mean_logs.loc["as it is"]).T.drop(columns="as it is")
harm.round(2)

# %% [markdown] tags=["checked"]
# **Too much noise hurts rules with a theorem's width most.** With three times the noise GP-UCB,
# IGP-UCB with the tighter width, BPE and GP-TS incur @43@ to @44@ times their regret. With a third of
# the noise they incur @45@ to @46@ times their regret: a narrower band paid.
#
# **EI, MPI and PIMS suffer from too little noise, and EI from too long a lengthscale.** With a
# third of the noise the three incur @47@ to @48@ times their regret. With double the lengthscale EI
# incurs @49@ times its regret, the largest factor of all rules there.

# %% [markdown]
# ## Verdicts at a glance
#
# The questions are ours; *remarks* are what two papers say of SupKernelUCB. On the problems of the
# papers a rerun has 20 trials of each; for growth and the simple problems it has as many as we
# stored. Even where all reruns agree, a verdict may read *(uncertain)*: a rerun draws at least half
# of the stored trials, and these may lack rarer ones that would change it.

# %%
record.verdicts("6-B", "6-E", "6-H", "6-I", "6-J", "6-K")

# %% [markdown]
# ## What is left open
#
# | choice | here | what it could change |
# | --- | --- | --- |
# | constants | are proved or those of the sources; SupKernelUCB and BPE play tuned, too | every rule could be tuned by problem |
# | tuned scale | is the largest of seven tried | near-optimal rules may gain beyond it |
# | horizons | are 46 to 31,623 rounds | longer ones favour better exponents |
# | arms | are 10 to 1,000 | more arms favour rules that use the kernel |
# | norms | are given where they are known, else smoothed | too large a norm widens every band |
# | problems | are those of five papers | they are no sample of all |
# | GP-ThreDS, random exploration with domain shrinking | are left out: two sources did not confirm their steps | they are near-optimal on paper, too |
#
# Sensors: a trial is a row of readings, and rows resemble their neighbours. Twenty rows say less
# than twenty functions. They are of the same recordings as in edition 0.3.0: two to four of each
# twenty are the same rows, and the others lie between rows of then. Random numbers are new for noise
# and ties only there.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
span, n = measures.span, means.shape[1]
pims, ei, fifth = ranking.loc[["PIMS", "EI", "GP-UCB/5"], "within twice"]
guessed = factors.loc[:, "Branin":"Rosenbrock, 30 x 30"].T
draws, known, others = (by_problem[kind == case] for case in by_kind.index)
cost = prices.groupby("f is", sort=False)["times"]
on_draws, on_known = (span(cost.get_group(case)) for case in by_kind.index[:2])
usual, noisy, mpi = others[["EI", "EI, noisy incumbent", "MPI"]].median()
both = factors.loc["IGP-UCB, both", known.index].dropna() / known["IGP-UCB, tighter"]
near, tuned = (ranking["factor"][[rule + end for rule in measures.NEAR]] for end in ("", TUNED))
of_2017 = prices.loc[known.index, "IGP-UCB"]
cheap, dear = of_2017.iloc[:3], of_2017.iloc[3:]
behind, pays = leads["times the regret"], leads["pays from 10^"].min()
slopes = exponents.xs(("BPE, tighter", 2), level=("rule", "d"))
late = (slopes["measured"] - slopes["proved"]).min()
sup_left, bpe_left = left["d = 2"].iloc[-1][[*measures.NEAR]]
printed = grows.loc["SupKernelUCB"]
grown = [np.divide(*curves[nu, 2]["SupKernelUCB"].mean(axis=0)[[4, 2]]) for nu in (1.5, 2.5)]
of_tuned = worst.loc["SupKernelUCB, tuned"]
on_line = of_tuned.idxmax() == "SE, d = 1"
wide = harm.loc[["GP-UCB", "IGP-UCB, tighter", "BPE, tighter", "GP-TS"]]
loud, quiet, double = "noise three times", "noise a third", "lengthscale double"
light, ei_double = harm.loc[["EI", "MPI", "PIMS"], quiet], harm.loc["EI", double]
for words, holds in {
    f"at most twice the lowest regret on {pims} and {ei} of {n} problems": min(pims, ei) >= n / 2,
    f"PIMS incurs {span(guessed['PIMS'], 1)} times the lowest": guessed["PIMS"].min() > 2,
    f"incurs {on_draws} times the lowest regret on draws": cost.max()[bench.DRAWN] < 1.2,
    f"norm it incurs {on_known} times": cost.median()[bench.BOUNDED] > 2,
    f"After {growth_horizon:,} rounds the best such rule incurs {span(behind)}": behind.min() > 1,
    f"It incurs {span(draws['PIMS'])} times the lowest regret on our two": draws["PIMS"].max() < 2,
    f"It incurs {span(known['IGP-UCB, tighter'])} times the lowest regret on our five": True,
    f"both changes incurs {span(both)} times the regret of IGP-UCB with the": both.max() < 1,
    f"it incurs {usual:.2f} times the lowest regret, over the best noisy": usual < noisy,
    f"noisy reward {noisy:.2f} times. MPI": usual < others["PIMS"].median(),
    f"MPI incurs {mpi:.2f} times there, but {known['MPI'].median():.2f} times": mpi < usual,
    f"GP-UCB/5 does so on {fifth}.": max(pims, ei, fifth) < n,
    "and MPI incurs the lowest.": guessed["MPI"].max() == 1,
    "SupKernelUCB and BPE incur {:.2f} and {:.2f} times".format(*near): near.min() > 5,
    "proof, they incur {:.2f} and {:.2f} times".format(*tuned): tuned.max() < near.min() / 3,
    f"There it incurs {span(cheap)} times": cheap.max() < 2,
    f"is one it incurs {span(dear)} times": dear.min() > 5,
    "They held in every run": held.drop(["GP-UCB", "GP-UCB/5"]).min(axis=None) == 1,
    f"GP-UCB/5 held in at most {100 * held.loc['GP-UCB/5'].max():.0f} % of runs": True,
    "GP-UCB/5 incurs the lowest regret of these": lost.loc["GP-UCB/5"].max() == 1,
    f"would pay only after $10^{{{pays:.0f}}}$ rounds": True,
    "are {:.2f} and {:.2f}, where {:.2f} and {:.2f}".format(*slopes.T.to_numpy().flat): late > 0.1,
    f"After {long_horizon:,} rounds in two dimensions BPE has {bpe_left} of 900": bpe_left > 90,
    f"of 900 arms left, SupKernelUCB {sup_left}.": sup_left > 90,
    f"its regret grows {span(printed)} times": printed.max() < 5,
    "fails: its regret grows {:.1f} and {:.1f} times, for".format(*grown): min(grown) >= 10 / 1.2,
    f"worst of {simple_trials} runs on a line incurs {of_tuned.max():.0f} times": on_line,
    f"GP-TS incur {span(wide[loud])} times their": wide.idxmax(axis=1).eq(loud).all(),
    f"noise they incur {span(wide[quiet])} times": wide[quiet].max() < 1,
    f"the three incur {span(light)} times their regret": light.min() > 1,
    f"EI incurs {ei_double:.2f} times its regret": harm[double].idxmax() == "EI",
}.items():
    record.check(words, holds)
record.finish()
# Remove what follows when the numbers are filled in. `@1@` and so on stand for numbers: run the
# notebook, and the cell above prints each sentence as the results say it. Its `does not hold` means
# that a sentence turned. Then its condition there changes with it:
#
# - PIMS or EI is within twice on fewer than eight problems (6-E does not come out): "**Rules that
#   explore little did well on some problems.**" PIMS stays within twice on the four test functions:
#   the sentence on them goes, here and in "Where do the leaders lose?".
# - The best rule with a guarantee incurs at most twice the lowest regret on half of the five
#   problems of known norm (6-H does not come out): "**A guarantee cost little.**", and the numbers
#   stay. On draws it incurs 1.2 times or more (6-I does not come out): "**A guarantee costs on draws,
#   too.**"
# - A near-optimal rule leads at 31,623 rounds in some panel: "**Near-optimal on paper paid in n of
#   four cases.**", and "Why not?" becomes "How? Batches that look at no reward".
# - PIMS incurs twice or more on a problem of draws: "Take PIMS" gives way to the rule of lowest
#   median in the table by kind, there and in README.
# - IGP-UCB with both changes is not below the tighter width on all three problems: "... incurs @15@
#   to @16@ times the regret ..., so that the change pays on some of them alone."
# - PIMS has a lower median than EI on the nine other problems: "Take PIMS" there, too. EI over the
#   noisy reward is no worse: its sentence says "@18@ times, no more". MPI is as good on known
#   norms: "MPI incurs @19@ times there, and on functions of known norm @20@ times."
# - MPI is not the best on each test function: "..., and MPI the lowest on n of them".
# - SupKernelUCB or BPE incurs at most five times in the median: the bold words on wide bands go;
#   tuned rules that are not below a third: "Tuned, they are no better".
# - IGP-UCB of 2017 above twice where nothing is proved: "**What is not proved is not cheap
#   either.**"
# - A proved band failed in some run: say in how many, of which rule; delta allows 10 % of runs.
#   GP-UCB/5 is not the lowest on all three: "... on n of the three problems".
# - BPE's exponents in two dimensions come within .1 of the proved ones: "**In two dimensions BPE's
#   exponent begins to show.**" BPE has at most 90 of 900 arms left: "**Arms are dropped in time.**"
# - SupKernelUCB grows five times or more on a simple problem: "sublinear, but barely"; ten or more:
#   6-J comes out, and the sentence says so. In two dimensions it grows less than 8.3 times for one
#   $\nu$ or both. More than 7 times for both: "in two dimensions it comes close to failing: its
#   regret grows ...". Seven times or less: "There, too, it is sublinear". One $\nu$ on each side: "it
#   fails for $\nu = ...$ alone". The check then asks for what the sentence says.
# - The worst tuned run is on another problem than "SE, d = 1": name that.
# - Another wrong assumption than three times the noise hurts one of the four most: name it. A third
#   of the noise hurts one of them, or helps one of the three: "some of them". Another rule than EI
#   suffers most from double the lengthscale: name it.
