# %% [markdown]
# # Side by side: near-optimal on paper, and on the bench
#
# A synthesis of five papers and what followed them, not a replication: but for two remarks that it
# tests (6-J, 6-K), its questions are our own.

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **Near-optimal on paper did not pay:** after 31,623 rounds the best such rule has 3.06 to 7.41
#   times the regret of IGP-UCB with both changes that were proved later.
# - **Rules that explore little did well on most problems, not on all:** PIMS, EI and GP-UCB/5 have
#   at most twice the least regret on 10, 12 and 10 of 16 problems; on four test functions PIMS has
#   3.4 to 9.0 times.
# - **What a guarantee cost depends on what it assumes:** on two problems that are draws from the
#   prior 1.00 to 1.07 times the least regret, on five of known norm 1.75 to 12.55 times.

# %% [markdown]
# ![Ranking of all rules by regret, and their microseconds a round: PIMS, EI and GP-UCB/5 lead, the
# near-optimal rules are close to uniform
# play](../results/paper/06_side_by_side/figures/ranking.png)
#
# All rules with the constants that their sources print: the median and quartiles of regret over
# that of the best rule, over the problems on which a rule is defined. These are all 16; of
# *IGP-UCB, both* 8, of BKB 15; of hollow marks 6. [All verdicts](../results/README.md#6-B).

# %% [markdown]
# ## The idea
#
# Papers prove ever better bounds on regret. Which kernelized bandit should one use, and which
# guarantee is worth having? Here rules that are *near-optimal on paper* play against those that are
# only *sublinear* and against plain ones, on the problems of the five papers, with the same
# functions, noise and ties.

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 1256730530  # root seed of every random stream of our own
seed_table1: int = 1073037530  # root seed of the functions of Table 1 (that of notebook 03)
seed_bkb: int = 3724955949  # root seed of BKB's problem (that of notebook 04 in edition 0.3.0)
trials: int = 40  # paired trials of every problem
horizon: int = 1000  # rounds T of most problems
n_arms: int = 1000  # arms of draws and of BKB's problem
long_horizon: int = 10000  # rounds of Table 1's functions
growth_trials: int = 20  # functions behind exponents
growth_horizon: int = 31623  # largest T of growth, the smallest is a hundredth
wrong_trials: int = 40  # functions under every wrong assumption
wrong_horizon: int = 500  # rounds there and behind coverage
simple_trials: int = 20  # functions of simple problems
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
from kbrepro.papers.side_by_side import bench, claims, elimination, experiments, measures, pictures

checks.non_negative_int(seed=seed, seed_table1=seed_table1, seed_bkb=seed_bkb)
checks.at_least(2, trials=trials, growth_trials=growth_trials)
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
# In round $t = 1, \dots, T$ a policy pulls one of $A$ *arms* and observes its reward with noise. It
# pays the *regret* $R_T = \sum_t f(x^*) - f(x_t)$ for not knowing the best arm $x^*$. Proofs bound
# $R_T$ in terms of the *information gain* $\gamma_T$, what $T$ pulls can tell about $f$ at most.
# There are three kinds, and rules without any:
#
# | kind | for | rules |
# | --- | --- | --- |
# | *near-optimal*: $\sqrt{T \gamma_T}$ up to logarithms; none is better | $f$ of known norm | SupKernelUCB, BPE |
# | *sublinear*: less than $T$, more than that | $f$ of known norm | IGP-UCB and what followed, π-GP-UCB, GP-TS, BKB |
# | *Bayesian* | $f$ drawn from the prior | GP-UCB, PIMS |
# | *no proof* | | EI, MPI, GP-UCB/5, mean only, variance only |
#
# Each rule plays with the constants that its source prints ([formulas](../docs/names.md)), but
# BPE with a narrower width that is proved, too (*tighter*). *IGP-UCB, both* has the two later
# changes of [notebook 03](03_pi_gp_ucb_scaling.ipynb), a tighter width and a $\lambda$ that grows;
# GP-UCB/5 a fifth of its $\beta$; EI improves on the best posterior mean. SupKernelUCB and BPE play
# once more *tuned*: with $\beta$, the square of the width, divided by 100, of seven round numbers
# up to 100 the best on two problems that are not scored (edition 0.3.0). Left out, since their
# steps could not be confirmed from two sources: GP-ThreDS and random exploration with domain
# shrinking.
#
# ## The algorithm: batches that look at no reward
#
# *BPE* (Li and Scarlett 2022) makes its band narrow by a trick. Within a batch it pulls the arm of
# largest posterior standard deviation, which depends on no reward. So the noise of a batch is
# independent of its arms, and the width $w = B + (R/\sqrt\lambda) \sqrt{2 \log(2 A n / \delta)}$
# for $n$ batches does without $\gamma_T$. *Tighter*, as it is played here, it is $w = \sqrt{B^2 +
# (2R^2/\lambda) \log(2 A n / \delta)}$. After a batch it drops every arm whose upper bound lies
# below the largest lower bound, and forgets the data.


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
trial = Trial(seed_table1, 0)
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
# ## See it run: how many arms are still in the race?
#
# One function of Table 1 of Janz et al. in one dimension and one in two: arms that each
# near-optimal rule has not yet excluded. A rule that excludes nothing plays like uniform play,
# however good its bound.

# %% tags=["experiment"]
left = {}
for d, rule in product((1, 2), measures.NEAR):
    experiment = record.plan[f"Table 1, d = {d}"].experiment
    left[f"d = {d}", rule] = measures.arms_left(experiment, rule, trial)
left = pd.DataFrame(left, range(1, long_horizon + 1))
parts = (1000, 100, 10, 1)
ends = [max(long_horizon // part, 1) for part in parts]
at_ends = left.loc[ends]
at_ends.rename_axis("round")

# %% [markdown]
# ## Do better exponents show? (growth)
#
# Functions of Janz et al. on grids of 30 points a side, Matérn, for the $\nu$ and $d$ that panels
# name. Each $T$ is a run of its own, as rules that know $T$ want it. Near-optimal means the
# exponent $(d+\nu)/(d+2\nu)$; with a $\lambda$ that grows (*both*) it is $(2d+\nu)/(2d+2\nu)$.

# %% tags=["experiment"]
horizons = experiments.growth_horizons(growth_horizon)

curves = {}
for nu, d in product((1.5, 2.5), (1, 2)):
    label = f"growth, ν = {nu}, d = {d}"
    curves[nu, d] = measures.at_horizons(record.play, label, horizons)
record.plan[f"growth, ν = 1.5, d = 1, T = {horizons[-1]}"]

# %% tags=["experiment"]
record.figure(pictures.growth(curves, horizons), "headline_growth")

# %% [markdown]
# Six of the rules; the exponents of all, measured by least squares and proved:

# %% tags=["experiment"]
exponents = measures.exponents(curves, horizons)
exponents.unstack([0, 1]).round(2)

# %% [markdown]
# The better near-optimal rule at the last horizon: its regret over that of IGP-UCB with both
# changes, and, if both grew as proved from there, the round (its power of ten) from which it would
# have less regret.

# %% tags=["experiment"]
leads = measures.leads(curves, growth_horizon)
leads.round(2)

# %% [markdown] tags=["checked"]
# Near-optimal on paper did not pay: after 31,623 rounds the best such rule has 3.06 to 7.41 times
# the regret of IGP-UCB with both changes. If both grew as proved from there, its better exponent
# would pay only after $10^{10}$ rounds.
#
# In one dimension the exponents of BPE are 0.62 and 0.61, where 0.62 and 0.58 are proved; in two
# they are 0.93 and 0.88, where 0.70 and 0.64 are proved. A likely cause, not tested: an exponent
# counts once arms have been excluded. Until then a rule that pulls by variance alone pays what
# uniform play pays, and its band, for all arms and batches at once, excludes late: in the runs above
# BPE had 5 of 30 arms left at the end, and 547 of 900.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
span = measures.span
times = leads["times the regret"]
record.check(f"{growth_horizon:,} rounds the best such rule has {span(times)} times the regret")
record.check(f"would pay only after $10^{{{leads['pays from 10^'].min():.0f}}}$ rounds")
words = "are {:.2f} and {:.2f}, where {:.2f} and {:.2f} are proved"
for d in (1, 2):
    of_bpe = exponents.xs(("BPE, tighter", d), level=("rule", "d"))
    record.check(words.format(*of_bpe["measured"], *of_bpe["proved"]))
last = left.xs("BPE, tighter", axis=1, level=1).loc[long_horizon]
record.check("BPE had {} of 30 arms left at the end, and {} of 900".format(*last))

# %%
record.verdicts("6-B")

# %% [markdown]
# ## Can SupKernelUCB fail on very simple problems? (Janz et al., Section 6)
#
# They say that it "fails to achieve empirically sublinear regret [...] even on very simple
# problems"; the paper that they cite for it has no such experiment. Exponents on three simple
# problems, with the constants of its proof and tuned, and the regret of the worst run over that of
# the median one at the last horizon:

# %% tags=["experiment"]
simple = pd.DataFrame()
largest = pd.DataFrame()
for name in experiments.simple_problems():
    panel = measures.at_horizons(record.play, f"simple, {name}", horizons)
    for rule, totals in panel.items():
        last = totals[:, -1]
        simple.loc[rule, name] = measures.slope(horizons, totals)
        largest.loc[rule, name] = last.max() / np.median(last)
both = pd.concat({"exponent": simple, "largest over median": largest}, axis=1)
both.round(2)

# %% [markdown] tags=["checked"]
# SupKernelUCB is sublinear on all three: its exponent is at most 0.44 on ten independent arms,
# twenty linear ones and twenty on a line. On functions of Janz et al. in two dimensions, above, it
# plays like uniform play up to the last round.
#
# Tuned, single runs lose much: the worst of twenty on a line has 32 times the regret of the median
# one. A likely cause, not tested: so narrow a band drops the best arm now and then.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check(f"its exponent is at most {simple.loc['SupKernelUCB'].max():.2f} on ten independent")
record.check(f"the worst of twenty on a line has {largest.max(axis=None):.0f} times")

# %%
record.verdicts("6-J", "6-K")

# %% [markdown]
# ## Who wins where? (every rule on every problem)
#
# These are the single-layer problems of the five papers. A rule that needs a Matérn kernel has no
# cell elsewhere, π-GP-UCB none off a grid; BKB takes 80 seconds a run on Table 1 in two dimensions,
# and is left out there. Where a paper gives no norm, rules are given a smoothed one, as Chowdhury
# and Gopalan have it; it bounds nothing. On sensors a trial is a row of readings, and rows resemble
# their neighbours: forty of them are fewer than forty trials.

# %% tags=["experiment"]
means = {}
seconds = {}
for label in record.plan:
    name = label.removeprefix("SIMULATED SUBSTITUTE for ")
    if name in claims.SETTINGS:
        traces = record.play(label)
        means[label] = measures.mean_totals(traces)
        seconds[label] = measures.seconds_a_round(traces)

# %% tags=["experiment"]
means = pd.DataFrame(means).rename_axis("rule")
seconds = pd.DataFrame(seconds)
factors = measures.over_best(means)
ranking = measures.ranking(factors)
record.table(factors, "bench")
record.table(ranking, "ranking")
record.figure(pictures.ranking(ranking, seconds), "ranking")

# %% [markdown]
# A hollow mark is the median of fewer than half of the problems. *factor*: regret over that of the
# best rule, median over the *problems* on which a rule is defined; those with few of them come
# last. Regret below a hundredth of that of uniform play counts as that hundredth, since ratios
# would be huge. *within twice*: on so many problems a rule has at most twice the regret of the
# best.

# %% tags=["experiment"]
names = ["factor", "within twice", "problems"]
ranking[names].round(2)

# %% [markdown]
# The same factor on each problem, of the rules that lead:

# %% tags=["experiment"]
leading = ranking.index[:8]
factors.loc[leading].T.round(1)

# %% [markdown] tags=["checked"]
# Three rules that explore little often did well: PIMS, EI and GP-UCB/5 have at most twice the least
# regret on 10, 12 and 10 of 16 problems. On four test functions that we guessed, such as Branin,
# PIMS has 3.4 to 9.0 times the least regret, and MPI the least.
#
# The near-optimal rules owe much of their place to wide bands: SupKernelUCB and BPE have 31.43 and
# 19.41 times the least regret in the median; tuned, without a proof, 2.72 and 3.13 times.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
few = ranking.loc[["PIMS", "EI", "GP-UCB/5"], "within twice"]
words = "PIMS, EI and GP-UCB/5 have at most twice the least regret on {}, {} and {} of {} problems"
record.check(words.format(*few, means.shape[1]))
guessed = factors.loc[:, "Branin":"Rosenbrock, 30 x 30"]
record.check(f"PIMS has {span(guessed.loc['PIMS'], 1)} times", (guessed.loc["MPI"] == 1).all())
factor = ranking["factor"].round(2)
record.check("{} and {} times the least regret in the".format(*factor[[*measures.NEAR]]))
tuned = [f"{rule}, tuned" for rule in measures.NEAR]
record.check("tuned, without a proof, {} and {} times".format(*factor[tuned]))

# %%
record.verdicts("6-E")

# %% [markdown]
# ## What does a guarantee cost?
#
# A guarantee is worth having where it costs little. On the problems on which the assumptions of a
# theorem hold: the best of the rules that it covers, and its regret over that of the best of all;
# beside it IGP-UCB of 2017, whose theorem wants $\lambda \ge 1$, as in Table 1 alone.

# %% tags=["experiment"]
rows = {}
for name, rules in zip(claims.SETTINGS, claims.PROVED, strict=True):
    if rules:
        proved = factors.loc[rules, name]
        holds = claims.SETTINGS[name].holds
        rows[name] = [holds, proved.idxmin(), proved.min()]
columns = ["f is", "best with a guarantee", "times"]
prices = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
prices["IGP-UCB"] = factors.loc["IGP-UCB"]
prices.round(2)

# %% [markdown]
# The narrower a band may be while it still holds, the less a guarantee costs. The share of runs in
# which each band held, and mean regret over the least of these rules:

# %% tags=["experiment"]
held = {}
lost = {}
for name in experiments.COVERED:
    traces = record.play(f"coverage, {name}")
    held[name] = measures.bands_held(traces)
    lost[name] = measures.mean_totals(traces)
held = pd.DataFrame(held)
lost = pd.DataFrame(lost)
lost /= lost.min()
both = pd.concat({"band held": held, "regret": lost}, axis=1)
both.round(2)

# %% [markdown] tags=["checked"]
# A guarantee cost little where functions are draws from the prior: PIMS has 1.00 to 1.07 times the
# least regret on our two such problems. On our five with a known norm the best rule that has one
# has 1.75 to 12.55 times. Seven problems are too few more. Of the two halves of our question
# below the one on draws fails in some reruns.
#
# IGP-UCB of 2017 has 1.06 to 1.60 times the least regret on the three problems of known norm where
# $\lambda$ is below one and its theorem says nothing, but 9.07 to 25.68 times where it is one: what
# is cheap there is not proved.
#
# Bands that are proved for a known norm held in every run. That of GP-UCB/5 held in at most 30 % of
# runs, and GP-UCB/5 has the least regret of these rules on all three problems.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
normed = prices[prices["f is"] == bench.BOUNDED]
drawn = prices["times"].drop(normed.index)
record.check(f"{span(drawn)} times the least regret")
record.check(f"{span(normed['times'])} times")
record.check(f"IGP-UCB of 2017 has {span(normed['IGP-UCB'][:3])} times the least regret on the")
record.check(f"but {span(normed['IGP-UCB'][3:])} times where it is one")
record.check(f"That of GP-UCB/5 held in at most {100 * held.loc['GP-UCB/5'].max():.0f} % of")
record.check("held in every run", held.drop(["GP-UCB", "GP-UCB/5"]).min().eq(1).all())
record.check("GP-UCB/5 has the least regret", (lost.loc["GP-UCB/5"] == 1).all())

# %%
record.verdicts("6-H")

# %% [markdown]
# ## Who breaks first? (wrong assumptions)
#
# Rules are given a lengthscale half or double the right one, a noise a third or three times the
# right one, or a third of the norm $B$, on two problems with 100 arms. By so many times that
# multiplies their regret, the geometric mean of both problems:

# %% tags=["experiment"]
totals = {}
for name, case in product(("SE draws", "SE, norm given"), experiments.WRONG_BY):
    traces = record.play(f"wrong, {name}, {case}")
    totals[case, name] = measures.mean_totals(traces)
logs = np.log(pd.DataFrame(totals)).T
mean_logs = logs.groupby(level=0, sort=False).mean()
right = mean_logs.loc["as it is"]
harm = np.exp(mean_logs - right).T.drop(columns="as it is")
harm.round(2)

# %% [markdown] tags=["checked"]
# On two problems, assuming three times the noise hurt rules with a theorem's width (GP-UCB,
# IGP-UCB, BPE and GP-TS) more than any other wrong assumption: they had 2.57 to 4.89 times their
# regret. With a third of it they had 0.38 to 0.64 times, and with a third of the norm the three
# that use it 0.47 to 0.89 times: a narrower band paid. EI, MPI and PIMS had 1.10 to 1.32 times with
# a third of the noise. A lengthscale twice too long hurt EI most: it had 3.97 times its regret.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
wide = harm.loc[["GP-UCB", "IGP-UCB, tighter", "BPE, tighter", "GP-TS"]]
record.check("than any other wrong", (wide.idxmax(axis=1) == "noise three times").all())
record.check(f"they had {span(wide['noise three times'])} times their regret")
record.check(f"they had {span(wide['noise a third'])} times, and with")
record.check(f"the three that use it {span(wide['B a third'][1:])} times")
light = harm.loc[["EI", "MPI", "PIMS"], "noise a third"]
record.check(f"EI, MPI and PIMS had {span(light)} times with a third of the noise", light.min() > 1)
record.check(f"EI most: it had {harm.loc['EI', 'lengthscale double']:.2f} times its")

# %% [markdown]
# ## What is left open
#
# | choice | here | what it could change |
# | --- | --- | --- |
# | constants of theorems | as printed; SupKernelUCB and BPE tuned, too | every rule tuned by problem |
# | horizons | 46 to 31,623 rounds | far longer ones favour better exponents |
# | arms | 30 to 1000 | more arms favour rules that use the kernel |
# | norms | given where known, else smoothed | too large a norm widens every band |
# | one tuned scale, 100 | the largest of seven tried | near-optimal rules may gain beyond it |
# | problems | those of five papers | they are no sample of all |
#
# A pilot of one trial of every problem, for times, was seen before the questions were written.

# %%
record.finish()
