# %% [markdown]
# # Side by side: near-optimal on paper, and on the bench
#
# Five papers and their successors prove ever better bounds on regret. Which kernelized bandit
# should one use, and which guarantee is worth having? Here the rules that are *near-optimal on
# paper* play against those that are only *sublinear* and against the plain ones: on the problems of
# the five papers, with the same functions, noise and ties. This notebook is a synthesis, not a
# replication: all its statements answer our own questions.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.papers.side_by_side import bench, measures, pictures
from kbrepro.papers.side_by_side.elimination import BPE, squared_lengths
from kbrepro.papers.side_by_side.experiments import (
    COVERED,
    WRONG_BY,
    growth_horizons,
    simple_problems,
)
from kbrepro.papers.side_by_side.experiments import settings as settings_of
from kbrepro.papers.side_by_side.field import field
from kbrepro.papers.side_by_side.measures import BEST_PROVED, NEAR, over_best
from kbrepro.papers.side_by_side.widths import FixedDesign
from kbrepro.policies.base import best_arm
from kbrepro.problems import Trial
from kbrepro.record import Record
from kbrepro.simulation import rounds, run

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 1256730530  # root seed of every random stream of our own
seed_table1: int = 1073037530  # root seed of the functions of Table 1 (that of notebook 03)
seed_bkb: int = 3724955949  # root seed of BKB's problem (that of notebook 04)
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
checks.non_negative_int(seed=seed, seed_table1=seed_table1, seed_bkb=seed_bkb)
checks.at_least(
    2,
    trials=trials,
    growth_trials=growth_trials,
    wrong_trials=wrong_trials,
    simple_trials=simple_trials,
)
checks.at_least(
    40, n_arms=n_arms, horizon=horizon, long_horizon=long_horizon, wrong_horizon=wrong_horizon
)
checks.at_least(300, growth_horizon=growth_horizon)
checks.positive(qbar=qbar)
checks.probability(delta=delta)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record = Record("06_side_by_side", globals())

# %% [markdown]
# ## The problem: what is a proof of regret worth?
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
# Each rule plays with the constants that its source prints ([formulas](../docs/formulas.md)), but
# BPE with a narrower width that is proved, too. SupKernelUCB and BPE play once more *tuned*: with
# $\beta$, the square of the width, divided by 100, of seven round numbers up to 100 the best on two
# problems that are not scored (edition 0.3.0). Left out, since their steps could not be confirmed
# from two sources: GP-ThreDS and random exploration with domain shrinking.
#
# ## The algorithm: batches that look at no reward
#
# *BPE* (Li and Scarlett 2022) makes its band narrow by a trick. Within a batch it pulls the arm of
# largest posterior standard deviation, which depends on no reward. So the noise of a batch is
# independent of its arms, and the width $w = B + (R/\sqrt\lambda) \sqrt{2 \log(2 A n / \delta)}$
# for $n$ batches does without $\gamma_T$. After a batch it drops every arm whose upper bound lies
# below the largest lower bound, and forgets the data.


# %% tags=["experiment"]
def bpe(k, X, lam, T, w, pull, order):
    """The arms that BPE pulls in T rounds with w standard deviations; of arms that tie the first in
    a random order.
    """
    A, left, n = [], np.ones(len(X), dtype=bool), 1
    while len(A) < T:
        n = int(np.ceil(np.sqrt(T * n)))
        batch, y = [], []
        for _ in range(min(n, T - len(A))):
            G = np.linalg.solve(k(X[batch], X[batch]) + lam * np.eye(len(batch)), k(X[batch], X))
            variance = k.diag(X) - (k(X[batch], X) * G).sum(axis=0)
            batch.append(best_arm(np.where(left, variance, -np.inf), order))
            y.append(pull(batch[-1]))
        G = np.linalg.solve(k(X[batch], X[batch]) + lam * np.eye(len(batch)), k(X[batch], X))
        mean, sd = y @ G, np.sqrt(k.diag(X) - (k(X[batch], X) * G).sum(axis=0))
        left &= mean + w * sd >= (mean - w * sd)[left].max()
        A += batch
    return A


# %% [markdown]
# The package pulls the same arms:

# %% tags=["experiment"]
small = Bumps(Matern(0.2, nu=2.5), d=1, side=30, noise_variance=1.0, noise_bound=1.0)(
    Trial(seed, 0)
)
trial = Trial(seed, 0)
policy = BPE(small.model, 80, width=FixedDesign(delta), rng=trial.rng("policy"))
trace = run(policy, small, 80, trial.rng("noise"))
noise, ties = trial.rng("noise"), trial.rng("policy")  # as the package draws them
w = small.model.norm + np.sqrt(2 * np.log(2 * 30 * len(squared_lengths(80)) / delta))
model, order = small.model, ties.permutation(30)
arms = bpe(model.kernel, model.points, 1.0, 80, w, pull=lambda x: small.pull(x, noise), order=order)
assert arms == trace.arms.tolist()
print(f"{len(arms)} of {len(arms)} pulls agree; the first five: {arms[:5]}")

# %% [markdown]
# ## See it run: how many arms are still in the race?
#
# One function of Table 1 of Janz et al., $d = 1$: arms that each near-optimal rule has not yet
# excluded. A rule that excludes nothing plays like uniform play, however good its bound.

# %% tags=["experiment"]
settings = settings_of(
    seed_table1, seed_bkb, trials, horizon, n_arms, long_horizon, record.readings_of
)
shown = settings["Table 1, d = 1"]
entries = field(delta, qbar=qbar)
trial = Trial(shown.seed, 0)
problem, left = shown.source(trial), {}
for name in NEAR:
    policy = entries[name].make(problem.model, long_horizon, rng=trial.rng("policy"))
    played = rounds(policy, problem, long_horizon, trial.rng("noise"))
    left[name] = [int(policy.left.sum()) for _ in played]

# %% jupyter={"source_hidden": true} tags=["hide-input"]
at = [max(long_horizon // n, 1) for n in (1000, 100, 10, 1)]
pd.DataFrame(
    {name: [counts[t - 1] for t in at] for name, counts in left.items()},
    [f"round {t:,}" for t in at],
)

# %% [markdown]
# ## Part one: do better exponents show? (growth)
#
# Functions of Janz et al. on grids of 30 points a side, Matérn, for the $\nu$ and $d$ that panels
# name. Each $T$ is a run of its own, as rules that know $T$ want it. Near-optimal means the
# exponent $(d+\nu)/(d+2\nu)$; with a $\lambda$ that grows (*both*) it is $(2d+\nu)/(2d+2\nu)$.

# %% tags=["experiment"]
horizons = growth_horizons(growth_horizon)


def at_horizons(label):
    """R_T of every rule, (trials, horizons): each horizon is a run of its own."""
    of = [pd.DataFrame(record.play(f"{label}, T = {T}")) for T in horizons]
    return {rule: np.stack([np.ravel([*each[rule]]) for each in of], axis=1) for rule in of[0]}


curves = {
    (nu, d): at_horizons(f"growth, ν = {nu}, d = {d}") for nu, d in product((1.5, 2.5), (1, 2))
}
record.plan[f"growth, ν = 1.5, d = 1, T = {horizons[-1]}"]

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.growth(curves, horizons, entries)
record.figure(fig, "headline_growth")
plt.show()


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def slope(totals):
    """The exponent of mean R_T in T, by least squares."""
    return np.polyfit(np.log(horizons), np.log(totals.mean(axis=0)), 1)[0]


slopes = {
    (*case, name): slope(totals) for case, panel in curves.items() for name, totals in panel.items()
}
proved = {(nu, d, name): measures.proved_exponents(d, nu)[name] for nu, d, name in slopes}
table = pd.DataFrame({"measured": slopes, "proved": proved}).rename_axis(["ν", "d", "rule"])
table.unstack([0, 1]).round(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.verdicts("6-B")

# %% [markdown]
# ### Can SupKernelUCB fail on very simple problems? (Janz et al., Section 6)
#
# They say that it "fails to achieve empirically sublinear regret [...] even on very simple
# problems"; the paper that they cite for it has no such experiment. Three simple problems, with the
# constants of its proof and tuned:

# %% tags=["experiment"]
on_simple = {}  # the slopes of each rule
for name in simple_problems():
    panel = at_horizons(f"simple, {name}")
    on_simple[name] = {rule: slope(totals) for rule, totals in panel.items()}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
on_simple = pd.DataFrame(on_simple)
on_simple.round(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.verdicts("6-J", "6-K")

# %% [markdown]
# ## Part two: who wins where? (every rule on every problem)
#
# These are the single-layer problems of the five papers. A rule that needs a Matérn kernel has no
# cell elsewhere, π-GP-UCB none off a grid; BKB takes 80 seconds a run on Table 1 in two dimensions,
# and is left out there. Where a paper gives no norm, rules are given a smoothed one, as Chowdhury
# and Gopalan have it; it bounds nothing. On sensors a trial is a row of readings, and rows resemble
# their neighbours: forty of them are fewer than forty trials.

# %% tags=["experiment"]
means, seconds = {}, {}
for name, setting in settings.items():
    traces = record.play(name)
    means[name] = {rule: trace.totals[:, -1].mean() for rule, trace in traces.items()}
    seconds[name] = {
        rule: np.median(trace.seconds.sum(axis=1)) / setting.horizon
        for rule, trace in traces.items()
    }

# %% jupyter={"source_hidden": true} tags=["hide-input"]
factors = over_best(pd.DataFrame(means).rename_axis("rule"))
record.table(factors, "bench")
ranking = measures.ranking(factors)
record.table(ranking, "ranking")
fig = pictures.ranking(ranking, pd.DataFrame(seconds), entries)
record.figure(fig, "ranking")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ranking.head(8).drop(columns=["q25", "q75"]).round(2)

# %% [markdown]
# *factor*: regret over that of the best rule, median over problems. *within twice*: on so many of
# its problems a rule has at most twice the regret of the best. The same factor on each problem, of
# the rules that lead:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
factors.loc[ranking.index[:8]].T.round(1)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.verdicts("6-E")

# %% [markdown]
# ## What does a guarantee cost?
#
# A guarantee is worth having where it costs little. The share of runs in which each band held, and
# mean regret over the least of these rules. Proved bands hold in every run, and the narrower a band
# may be while it still holds, the less the guarantee costs.

# %% tags=["experiment"]
covered, lost = {}, {}
for name in COVERED:
    traces = record.play(f"coverage, {name}")
    covered[name] = {
        rule: np.mean(trace.band_ratio.max(axis=1) <= 1) for rule, trace in traces.items()
    }
    lost[name] = {rule: trace.totals[:, -1].mean() for rule, trace in traces.items()}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lost = pd.DataFrame(lost)
pd.concat({"band held": pd.DataFrame(covered), "regret": lost / lost.min()}, axis=1).round(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.verdicts("6-H")

# %% [markdown]
# ## Part three: who breaks first? (wrong assumptions)
#
# Rules are given a lengthscale half or double the right one, a noise a third or three times the
# right one, or a third of the norm $B$, on two problems with 100 arms. By so many times that
# multiplies their regret:

# %% tags=["experiment"]
misled = ("SE draws", "SE, norm given")
wrong = {}  # problem, case -> mean R_T of each rule
for name, case in product(misled, WRONG_BY):
    traces = record.play(f"wrong, {name}, {case}")
    wrong[name, case] = {rule: trace.totals[:, -1].mean() for rule, trace in traces.items()}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
wrong = pd.DataFrame(wrong)
logs = [np.log(wrong[name].div(wrong[name, "as it is"], axis=0)) for name in misled]
# the geometric mean of two problems
factor = np.exp(sum(logs) / len(logs)).drop(columns="as it is")
factor.round(2)

# %% [markdown]
# ## What would change this
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
#
# ## What did not come out, and why

# %% jupyter={"source_hidden": true} tags=["hide-input"]
leads, excess = {}, {}
for (nu, d), panel in curves.items():
    last = {name: totals[:, -1].mean() for name, totals in panel.items()}
    best = min(NEAR, key=last.__getitem__)
    leads[nu, d], excess[nu, d] = (
        last[best] / last[BEST_PROVED],
        slopes[nu, d, best] - proved[nu, d, best],
    )
record.say(
    min(leads.values()) > 1,
    "**Near-optimal rules do not show their exponents.** A likely cause, not tested: an exponent"
    " counts once arms have been excluded. Until then a rule that pulls by variance alone pays what"
    " uniform play pays, and its band, for all arms and batches at once, excludes late.",
)
record.say(
    all((slope > 0.2) if d == 2 else (abs(slope) < 0.05) for (nu, d), slope in excess.items()),
    "**In one dimension the best of them grows about as proved, in two it does not yet.** Thirty"
    " arms are few: a rule excludes most of them within the horizon. Of 900 it excludes hardly"
    " any.",
)
largest = on_simple.drop("IGP-UCB").max(axis=None)
record.say(
    largest < 0.9,
    f"**SupKernelUCB is sublinear on simple problems:** its exponent is at most {largest:.2f} on"
    " ten independent arms, twenty linear ones and twenty on a line. On functions of Janz et al."
    " in two dimensions it plays like uniform play up to the last round.",
)

# %% [markdown]
# ## What to take home

# %% jupyter={"source_hidden": true} tags=["hide-input"]
least = np.floor(10 * min(leads.values())) / 10
pays_from = [  # log10 of the round in which the better exponent would pay
    np.log10(growth_horizon)
    + np.log10(lead) / (proved[*case, BEST_PROVED] - proved[*case, NEAR[0]])
    for case, lead in leads.items()
]
record.say(
    least > 2 and min(pays_from) > 9,
    f"Near-optimal on paper did not pay on our bench: after {growth_horizon:,} rounds the best such"
    f" rule has at least {least:.1f} times the regret of IGP-UCB with two later changes. If both"
    " grew as proved from there, its better exponent would pay only after more than a billion"
    " rounds.",
)
frugal = factors.loc[["PIMS", "EI", "GP-UCB/5"]]
surfaces = [
    name for name, setting in settings.items() if setting.grid and setting.holds == bench.NEITHER
]
within, farthest = (frugal <= 2).sum(axis=1).min(), factors.loc["PIMS", surfaces].min()
record.say(
    within >= len(settings) / 2 and farthest > 3,
    "Three rules that explore little often did well: PIMS, EI with the posterior mean, and GP-UCB"
    f" with its width scaled down. Each has at most twice the least regret on at least {within} of"
    f" our {len(settings)} problems. On the four test functions that we guessed, such as Branin,"
    f" PIMS has at least {np.floor(farthest):.0f} times the least regret.",
)
drawn_price, norm_price = (
    np.median([min(factors.loc[rule, name] for rule,
       entry in setting.rules(delta).items() if setting.met(entry))
               for name, setting in settings.items() if setting.holds == kind])
    for kind in (bench.DRAWN, bench.BOUNDED)
)  # fmt: skip
record.say(
    drawn_price < 1.2 and norm_price > 2,
    "A guarantee cost little where functions are draws from the prior: on our two such problems"
    f" the best rule that has one, such as PIMS, has {drawn_price:.1f} times the regret of the best"
    f" of all. On our five with a known norm it has {norm_price:.0f} times. Seven problems are too"
    " few to say more.",
)
tuned, printed = (
    ranking.loc[[f"{rule}{suffix}" for rule in NEAR], "factor"] for suffix in (", tuned", "")
)
record.say(
    tuned.max() < 5 < 15 < printed.min(),
    "The near-optimal rules owe much of their place to wide bands: with β divided by 100, chosen"
    f" on other problems and without a proof, SupKernelUCB has {tuned.iloc[0]:.1f} instead of"
    f" {printed.iloc[0]:.0f} times the least regret in the median, and BPE {tuned.iloc[1]:.1f}"
    f" instead of {printed.iloc[1]:.0f} times.",
)
of_theory, light_rules = (
    ["GP-UCB", "IGP-UCB, tighter", "BPE, tighter", "GP-TS"],
    ["EI", "MPI", "PIMS"],
)
record.say(
    factor.loc[of_theory].idxmax(axis=1).eq("noise three times").all()
    and factor.loc[of_theory, "noise a third"].max()
    < 1
    < factor.loc[light_rules, "noise a third"].min()
    and factor["lengthscale double"].idxmax() == "EI",
    "On two problems, assuming too much noise hurt rules with a theorem's width more than any"
    " other wrong assumption; too little helped them, and hurt EI, MPI and PIMS. A lengthscale"
    f" twice too long hurt EI most: it had {factor.loc['EI', 'lengthscale double']:.1f} times its"
    " regret.",
)
record.finish()
