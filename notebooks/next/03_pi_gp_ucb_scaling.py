# %% [markdown]
# # π-GP-UCB and exact IGP-UCB at scale
#
# D. Janz, D. R. Burt, J. González: *Bandit optimisation of functions in the Matérn kernel RKHS*,
# AISTATS 2020, [arXiv 2001.10396](https://arxiv.org/abs/2001.10396).

# %% [markdown] tags=["checked"]
# ## What came out
#
# - **Cells lower the regret, as the paper says:** π-GP-UCB has 0.89, 0.77 and 0.84 times the regret
#   of IGP-UCB in one, two and three dimensions, and less on the four test functions that we guessed;
#   on Ackley's it has 5.1 times as much.
# - **Cells save much time in three dimensions. A fast IGP-UCB takes all of this away in one dimension,
#   and most in two:** with posteriors over the arms, or a lattice of them, IGP-UCB takes 0.9, 3.9 and
#   101 times the seconds of π-GP-UCB; in the paper 6.8, 73 and 62 times, with one that grows with the
#   pulls. So what the paper says of time is not judged yet.
# - **Two later proofs turn the order round:** with both, IGP-UCB has less regret than any π-GP-UCB in
#   one and two dimensions, and in three, where both rules get both, the two cannot be told apart.

# %% [markdown]
# ![Regret of both rules over that of uniform play in one, two and three dimensions, beside the
# printed means](../results/paper/03_pi_gp_ucb_scaling/figures/headline_table1.png)
#
# Table 1: a small dot is a run, a large one the mean, with a bar where the mean of 12 runs would lie
# in 95 % of cases; a hollow diamond is the mean that the paper prints. [All
# verdicts](../results/README.md#3-G).

# %% [markdown]
# ## The idea
#
# *IGP-UCB* (2017) tries the point that could be best by its confidence band. For rough functions
# the band widens so fast that no guarantee is left. *π-GP-UCB* covers the domain by cubes, fits a
# Gaussian process to each, and splits a cube once it holds enough data: narrow bands, cheap steps.
# Do cells pay off? And do they still, with what has been proved since?

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 1073037530  # root seed of every random stream
horizon: int = 10000  # rounds T of every run in one and two dimensions (paper: 10000)
horizon_d3: int = 10000  # rounds T of every run in three dimensions (paper: 10000)
trials: int = 100  # runs of Table 1 in one and two dimensions (paper: 12)
trials_d3: int = 24  # runs of Table 1 in three dimensions (paper: 12)
trials_more: int = 40  # runs of Figure 2, and of other rules in one and two dimensions (paper: 12)
trials_d3_timed: int = 12  # runs in three dimensions of which our seconds are kept (paper: 12)
coverage_trials: int = 100  # runs that check bands
replayed_trials: int = 3  # runs whose posterior is computed as in the paper, for its seconds
replayed_rounds: int = 10000  # at most so many rounds of these
delta: float = 0.1  # the confidence band may fail with this probability
results_dir: str = ""  # folder for figures and tables, from the root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd

from kbrepro import checks
from kbrepro.bandits.policies.base import best_arm
from kbrepro.bandits.problems import Trial
from kbrepro.batch.record import Record
from kbrepro.claims.estimates import estimated_mean
from kbrepro.papers import same_arms
from kbrepro.papers.pi_gp_ucb import measures, pictures, textbook
from kbrepro.papers.pi_gp_ucb.next.claims import POSTERIORS, PRINTED
from kbrepro.papers.pi_gp_ucb.next.experiments import (
    DIMENSIONS,
    GAIN_LIMITS,
    NU,
    NUMBERS,
    functions,
)
from kbrepro.papers.pi_gp_ucb.partition import UNIONS, PartitionedUCB, initial_side
from kbrepro.papers.pi_gp_ucb.problems import SURFACES
from kbrepro.trials.curve import final_average_regret

checks.non_negative_int(seed=seed)
checks.at_least(150, horizon=horizon, horizon_d3=horizon_d3, replayed_rounds=replayed_rounds)
checks.at_least(2, trials=trials, trials_d3=trials_d3, trials_more=trials_more)
checks.at_least(2, trials_d3_timed=trials_d3_timed, coverage_trials=coverage_trials)
checks.positive_int(replayed_trials=replayed_trials)
checks.probability(delta=delta)
record = Record("03_pi_gp_ucb_scaling", globals())

# %% [markdown]
# ## The problem
#
# In round $t = 1, \dots, T$ we pull one of the *arms*, here points $x_t$ of a grid on $[0, 1]^d$,
# and observe its *expected reward* $f(x_t)$ with noise that is $L$-sub-Gaussian. What counts is the
# *regret* for not knowing the best arm $x^*$,
#
# $$R_T = \sum_{t=1}^T \bigl( f(x^*) - f(x_t) \bigr).$$
#
# $f$ has norm at most $B$ in the Hilbert space (RKHS) of the Matérn kernel $k$ with smoothness
# $\nu$: the smaller $\nu$, the rougher $f$ may be. After pulls $A$ with observations $y_A$ the
# posterior mean and standard deviation are
#
# $$\mu(x) = k_A(x)^\top (K_A + \alpha I)^{-1} y_A, \qquad
# \sigma^2(x) = k(x, x) - k_A(x)^\top (K_A + \alpha I)^{-1} k_A(x),$$
#
# and $\gamma_A = \tfrac12 \log\det(I + \alpha^{-1} K_A)$ is the *information gain* of the pulls
# ([symbols](../docs/names.md)).
#
# ## The algorithms
#
# *IGP-UCB* (Chowdhury and Gopalan 2017) pulls the arm of largest $\mu_{t-1}(x) + \beta_t
# \sigma_{t-1}(x)$. Its *width* $\beta_t = B + L \sqrt{2(\gamma_{t-1} + 1 + \log(1/\delta))}$ grows
# with the gain of all pulls. *π-GP-UCB* does the same in each cell, with the pulls inside the
# cell:
#
# 1. Cover $[0, 1]^d$ by about $T^q$ cubes, $q = d(d+1) / (d(d+2) + 2\nu)$.
# 2. In every cell $A$ compute $\mu^A$, $\sigma^A$ and $\gamma^A$; $\delta / (4(t+1)^{bd})$ replaces
#    $\delta$, with $b = (d+1)/(d+2\nu)$. The width with this $\delta$ is $\hat\beta^A_t$.
# 3. Pull the arm whose best cell has the largest $\mu^A_{t-1}(x) + \hat\beta^A_t
#    \sigma^A_{t-1}(x)$.
# 4. A cell of side $\rho$ splits into $2^d$ once $\rho^{-1/b} < n_A + 1$ for its $n_A$ pulls; each
#    child inherits the pulls inside it.


# %% tags=["experiment"]
def within(X, corner, n):
    """Which arms lie in the cell of side 1 / n whose lowest point is corner / n."""
    above = corner / n <= X
    below = (corner + 1) / n >= X
    return (above & below).all(axis=1)


def in_cell(k, X, alpha, A, y, inside):
    """The arms of a cell with their means and standard deviations, and the gain, from the pulls
    inside it.
    """
    pulls = []
    rewards = []
    for arm, reward in zip(A, y, strict=True):
        if inside[arm]:
            pulls.append(arm)
            rewards.append(reward)
    Z = X[pulls]
    arms = np.flatnonzero(inside)
    across = k(Z, X[arms])
    of_pulls = k(Z, Z) + alpha * np.eye(len(pulls))
    weights = np.linalg.solve(of_pulls, across)
    variance = k.diag(X[arms]) - (across * weights).sum(axis=0)
    gain = 0.5 * np.linalg.slogdet(of_pulls / alpha)[1]
    return arms, rewards @ weights, np.sqrt(np.maximum(variance, 0)), gain


# %% tags=["experiment"]
def pi_gp_ucb(k, X, alpha, T, B, L, nu, pull, order):
    """The arms that π-GP-UCB pulls in T rounds; of arms that tie the first in a random order."""
    d = X.shape[1]
    b = (d + 1) / (d + 2 * nu)
    n = initial_side(T, d, nu)
    cells = [(np.array(corner), n) for corner in np.ndindex(*[n] * d)]
    A = []
    y = []
    for t in range(1, T + 1):
        log_cells = np.log(4 * (t + 1) ** (b * d) / delta)
        index = np.full(len(X), -np.inf)
        for cell in cells:
            arms, mu, sd, gain = in_cell(k, X, alpha, A, y, within(X, *cell))
            width = B + L * np.sqrt(2 * (gain + 1 + log_cells))
            index[arms] = np.maximum(index[arms], mu + width * sd)
        arm = best_arm(index, order)
        A.append(arm)
        y.append(pull(arm))
        cover = []
        for corner, n in cells:
            inside = within(X, corner, n)
            if inside[arm] and n ** (1 / b) < inside[A].sum() + 1:
                cover += [(2 * corner + half, 2 * n) for half in np.ndindex(*[2] * d)]
            else:
                cover.append((corner, n))
        cells = cover
    return A


# %% [markdown]
# The package conditions again only the cells that got a pull, and pulls the same arms:

# %% tags=["experiment"]
T = 60
trial = Trial(seed, 0)
problem = functions(1)(trial)
model = problem.model
rule = partial(PartitionedUCB, delta=delta, nu=NU)


def short(pull, rng):
    """The arms of the above on this problem."""
    order = rng.permutation(30)
    return pi_gp_ucb(model.kernel, model.points, 1.0, T, model.norm, 1.0, NU, pull, order)


print(same_arms(short, rule, problem, T, trial))

# %% [markdown]
# ## See it run: where do cells split?
#
# Two dimensions, 900 arms. Grey: the unknown function; light is high. The smallest cells lie where
# it is high; elsewhere the first, large cells stay.
#
# ![Cells over an unknown function in rounds 1, 300, 700 and 1,500](../docs/pictures/pi_gp_ucb.png)
#
# ## What could 2017 not promise? (eq. 1, eq. 4, Theorem 4)
#
# A bound on the regret says something only if its exponent of $T$ is below 1, that of uniform play.
# For IGP-UCB the paper states $(3d^2 + 2\nu)/(2d^2 + 4\nu)$, at most 1; for π-GP-UCB it proves (eq.
# 1)
#
# $$\frac{d(2d+3) + 2\nu}{d(2d+4) + 4\nu} < 1.$$
#
# No algorithm can be below $(d+\nu)/(d+2\nu)$. Two later results help IGP-UCB: the largest gain
# $\gamma_T$ grows more slowly than was known ([Vakili et al.
# 2021](https://arxiv.org/abs/2009.06966)), and $\alpha$ (there $\lambda$) may grow with $T$
# ([Whitehouse et al. 2023](https://arxiv.org/abs/2307.07539)).

# %% tags=["experiment"]
exponents = {d: measures.regret_exponents(d, NU) for d in range(1, 9)}
proved = pd.DataFrame(exponents).T
proved.rename_axis("d").round(2)

# %% [markdown] tags=["checked"]
# In 2020 the bound on the regret of IGP-UCB said nothing from $d = 2$ on. With a $\lambda$ that
# grows, its exponent is below that of π-GP-UCB from $d = 4$ on.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
says_nothing = proved.index[proved["IGP-UCB, 2020"] == 1]
below = proved.index[proved["IGP-UCB, lambda grows"] < proved["π-GP-UCB"]]
record.check(f"said nothing from $d = {says_nothing.min()}$ on", says_nothing.max() == 8)
record.check(f"is below that of π-GP-UCB from $d = {below.min()}$ on", below.max() == 8)

# %% [markdown]
# ## Do cells lower the regret? (Table 1)
#
# Each function is a sum of $30 d$ Matérn-3/2 bumps ($l = 0.2$) at random places, with weights
# uniform on $[-1, 1]$. The arms are the grid of 30 points a side on $[0, 1]^d$, and both algorithms
# know the norm. $\alpha = 1$, noise uniform on $[-1, 1]$, $L = 1$. Regret is divided by what
# uniform play is expected to lose.
#
# The spectral density that the paper prints (eq. 2), read literally, gives the lengthscale $l \sqrt
# 3$ where the usual Matérn formula has $l$. Both are played in one and two dimensions. How 27,000
# arms stay exact: [here](../docs/many_arms.md).

# %% tags=["experiment"]
labels = {}
for d in DIMENSIONS:
    labels["usual", d] = f"Table 1, d = {d}"
for d in (1, 2):
    labels["eq. 2", d] = f"Table 1, eq. 2, d = {d}"
table1 = {case: record.play(label) for case, label in labels.items()}
shares = measures.shares_of_uniform(record.plan, labels, table1)
record.plan["Table 1, d = 1"]

# %% [markdown]
# **Table 1 of the paper**, regret, as a picture. A small dot is a run, a large one their mean, and a
# mean of 12 runs, as in the paper, lies within the bar (the *half-width* of the table below) in 95 %
# of cases. Hollow diamonds: the printed means.

# %% tags=["experiment"]
usual = {case: shares["usual", *case] for case in PRINTED}
record.figure(pictures.table_1(usual, PRINTED), "headline_table1")

# %% tags=["experiment"]
rows = {}
for (lengthscale, d, rule), runs in shares.items():
    rows[lengthscale, d, rule] = [PRINTED[d, rule], runs.mean(), measures.half_width(runs)]
compared = pd.DataFrame(rows, ["printed", "ours", "half-width"]).T
compared = compared.rename_axis(["lengthscale", "d", "algorithm"])
record.table(compared, "table1_regret")
compared.round(3)

# %% [markdown]
# Who has less, and how far are the printed means from ours, in half-widths (*distance*)?

# %% tags=["experiment"]
mean = compared["ours"].unstack().loc[["usual", "eq. 2"]]
mean["ratio"] = mean["π-GP-UCB"] / mean["IGP-UCB"]
distance = (compared["printed"] - compared["ours"]) / compared["half-width"]
mean = mean.join(distance.unstack().add_suffix(", distance"))
mean.round(2)

# %% [markdown] tags=["checked"]
# π-GP-UCB has 0.89, 0.77 and 0.84 times the regret of IGP-UCB in one, two and three dimensions. In
# three dimensions IGP-UCB has 92 % of the regret of uniform play.
#
# Under the usual lengthscale the printed means of IGP-UCB in two and three dimensions lie 1.60 and
# 1.58 half-widths from ours: two of six lie outside our intervals (3-A). With eq. 2 read
# literally they lie 4.27 half-widths off in two dimensions, so that this interpretation does not
# count. It would turn the order in one dimension, where IGP-UCB learns faster and π-GP-UCB has 1.26
# times its regret, and make a tie of two dimensions.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
at = mean["ratio"]
times = [f"{ratio:.2f}" for ratio in at["usual"]]
record.check(f"has {times[0]}, {times[1]} and {times[2]} times the regret of IGP-UCB in one, two")
record.check(f"IGP-UCB has {100 * mean['IGP-UCB']['usual', 3]:.0f} % of the regret of uniform play")
far = mean["IGP-UCB, distance"]
record.check(f"lie {far['usual', 2]:.2f} and {far['usual', 3]:.2f} half-widths from ours")
outside = distance["usual"].abs() > 1
record.check("two of six lie outside our intervals (3-A)", outside.sum() == 2)
record.check(f"literally they lie {far['eq. 2', 2]:.2f} half-widths off in two dimensions")
words = f"learns faster and π-GP-UCB has {at['eq. 2', 1]:.2f} times its regret"
record.check(words, abs(at["eq. 2", 2] - 1) < 0.02)

# %%
record.verdicts("3-G", "3-AQ", "3-AH", "3-H", "3-AI", "3-A")

# %% [markdown]
# The paper says of IGP-UCB that it improves much on GP-UCB (2010). Regret over that of uniform play
# on the same functions, with the width of Theorem 3 of Srinivas et al.:

# %% tags=["experiment"]
classic = {}
for d in (1, 2):
    label = f"GP-UCB, d = {d}"
    runs = measures.shares_of_uniform(record.plan, {(): label}, {(): record.play(label)})
    improved = shares["usual", d, "IGP-UCB"][:trials_more]
    classic[d] = {"GP-UCB": runs["GP-UCB",].mean(), "IGP-UCB": improved.mean()}
pd.DataFrame(classic).T.rename_axis("d").round(3)

# %%
record.verdicts("3-AU")

# %% [markdown]
# ## Why do cells help? (Lemmas 1, 2 and 7, eq. 1)
#
# Lemma 1: the gain of a cell, and so its width, stays polylogarithmic. Lemma 2: of the order of
# $T^q$ cells are ever created, here counted from the pulls of Table 1.

# %% tags=["experiment"]
counts = {}
for d in DIMENSIONS:
    runs = table1["usual", d]["π-GP-UCB"].arms[:trials_more]
    counts[d] = measures.count_cells(runs, d, NU)
counts = pd.DataFrame(counts).T
counts.rename_axis("d").round(1)

# %% [markdown]
# Section 7 would split a cell by its actual gain. Here it splits once its gain exceeds a share of
# $\log T$; half of it is the gain of $T$ pulls of a single arm. Regret over that of the paper's
# π-GP-UCB on the same functions:

# %% tags=["experiment"]
by_gain = {}
for d in (1, 2):
    label = f"split by gain, d = {d}"
    runs = measures.shares_of_uniform(record.plan, {(): label}, {(): record.play(label)})
    by_pulls = shares["usual", d, "π-GP-UCB"][:trials_more].mean()
    for limit in GAIN_LIMITS.values():
        by_gain[limit, d] = runs[limit,].mean() / by_pulls
by_gain = pd.Series(by_gain).unstack()
by_gain.loc[[*GAIN_LIMITS.values()]].rename_axis(columns="d").round(2)

# %%
record.verdicts("3-M", "3-AW")

# %% [markdown]
# ## What do cells cost? (Fig. 1, Table 1)
#
# Regret: a cell without data usually has the largest index, so π-GP-UCB first visits every cell.
# Time: IGP-UCB uses all pulls and arms, π-GP-UCB those of one cell.
#
# The paper updates "the inverse of a kernel matrix $K_t$" (Section 3), of all pulls or of those in a
# cell. So the seconds here are those of that posterior: what every run counts, times the seconds of
# a pull and of an operation, from runs that are replayed. *Grown*: the inverse grows by a row in
# each round. *Refitted*: it is computed anew in each round.
#
# **Fig. 1 of the paper**: regret and time in two dimensions.

# %% tags=["experiment"]
of_posterior = {}
for d in DIMENSIONS:
    replays = {form: record.play(f"{form}, d = {d}") for form in POSTERIORS}
    of_posterior[d] = textbook.timed(table1["usual", d], 30, d, NU, replays)
record.figure(pictures.figure_1(of_posterior[2]["grown"]), "fig1")

# %% tags=["experiment"]
own = table1["usual", 2]["π-GP-UCB"]
exact = table1["usual", 2]["IGP-UCB"]
tour = initial_side(horizon, 2, NU) ** 2
source = record.plan["Table 1, d = 2"].experiment.problem
uniform = measures.uniform_regret(source, trials, seed)
lost = own.regret[:, :tour].mean(axis=1) / uniform
ahead = measures.ahead_from(own, exact)
print(f"first tour: {tour} rounds, {lost.mean():.3f} of the regret of uniform play")
print(f"less regret than IGP-UCB from round {ahead:,} on")

# %% [markdown]
# Seconds of a run, the **other half of Table 1**:

# %% tags=["experiment"]
printed = pd.Series([82 / 12, 118 * 60 / 97, 30 * 60 / 29], DIMENSIONS)
seconds = {}
for form, d in product(POSTERIORS, DIMENSIONS):
    seconds[form, d] = measures.seconds(of_posterior[d][form])
paper = pd.DataFrame(seconds).T.rename_axis(["posterior", "d"])
paper["ratio"] = paper["IGP-UCB"] / paper["π-GP-UCB"]
paper["printed ratio"] = paper.index.get_level_values("d").map(printed)
record.table(paper, "table1_seconds")
paper.map("{:.3g}".format)

# %% [markdown]
# The same with our posterior, over the arms or a lattice of them, and seconds of late rounds over
# early ones:

# %% tags=["experiment"]
over_arms = {d: record.play(f"over the arms, d = {d}") for d in DIMENSIONS}
seconds = {d: measures.seconds(over_arms[d]) for d in DIMENSIONS}
runtime = pd.DataFrame(seconds).T.rename_axis("d")
runtime["ratio"] = runtime["IGP-UCB"] / runtime["π-GP-UCB"]
runtime["printed ratio"] = printed
record.table(runtime, "table1_seconds_over_arms")
exact = [over_arms[d]["IGP-UCB"] for d in DIMENSIONS]
runtime["IGP-UCB, late over early"] = [measures.late_over_early(runs) for runs in exact]
runtime.map("{:.3g}".format)

# %% [markdown]
# What the inverses of all cells cost, over one of all pulls, counted from the pulls of Table 1; a cell
# that is made inverts anew:

# %% tags=["experiment"]
spent = {}
for d in DIMENSIONS:
    runs = table1["usual", d]["π-GP-UCB"].arms
    spent[d] = measures.inverses(runs, d, NU).mean(axis=0)
spent = pd.DataFrame(spent, ["operations", "numbers"]).T
spent.rename_axis("d").round(3)

# %% [markdown] tags=["checked"]
# On its first tour of all cells, 144 rounds in two dimensions, π-GP-UCB has 1.00 times the regret
# of uniform play. From round 1,910 on it has less regret than IGP-UCB.
#
# IGP-UCB takes 0.9, 3.9 and 101 times the seconds of π-GP-UCB; in the paper 6.8, 73 and 62 times.
# In one and two dimensions our IGP-UCB is fast: its posterior is that of at most 900 arms, so late
# rounds take at most 1.0 times as long as early ones. The paper updates "the inverse of a kernel
# matrix $K_t$" (Section 3), which grows with the pulls; in three dimensions ours is on a lattice. So
# what it says of time is not judged by these seconds; two questions of our own ask what they do to the
# advantage.
#
# The inverses of all cells take at most 0.10 times the operations of one inverse of all pulls, and at
# most 0.23 times the numbers.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check(f"{tour} rounds in two dimensions, π-GP-UCB has {lost.mean():.2f} times the regret")
record.check(f"From round {ahead:,} on it has less regret than IGP-UCB", ahead < horizon)
ours, printed = runtime["ratio"], runtime["printed ratio"]
record.check(f"takes {ours[1]:.1f}, {ours[2]:.1f} and {ours[3]:.0f} times the seconds of π-GP-UCB")
record.check(f"in the paper {printed[1]:.1f}, {printed[2]:.0f} and {printed[3]:.0f} times")
record.check(f"its posterior is that of at most {source(Trial(seed, 0)).model.n_arms} arms")
late = runtime["IGP-UCB, late over early"]
record.check(f"late rounds take at most {late[[1, 2]].max():.1f} times as long as early ones")
record.check(f"take at most {spent['operations'].max():.2f} times the operations of one inverse")
record.check(f"at most {spent['numbers'].max():.2f} times the numbers", (spent < 1).all(axis=None))

# %%
record.verdicts("3-I", "3-J", "3-R", "3-K", "3-AJ", "3-AK", "3-AL", "3-S", "3-AR", "3-AS", "3-AT")

# %% [markdown]
# ## Does the band hold in every cell? (Lemmas 5, 6 and 10, Theorem 3)
#
# With probability $1 - \delta$ the band $|f - \mu^A_{t-1}| \le \hat\beta^A_t \sigma^A_{t-1}$ should
# hold in all rounds, cells and arms (Lemma 5, for $\alpha = 1 + 2/T$). Then the regret is at most
# the sum of $2 \hat\beta^A_t \sigma^A_{t-1}(x_t)$ (Theorem 3).
#
# The proof spreads $\delta$ over $4(t+1)^{bd}$ cells (Lemma 6), too few in the first rounds. Lemma
# 10 bounds the summed noise over any set of arms, even one chosen after seeing the noise: those
# with positive noise break it, with the square that its proof has, and without, as printed. Two
# repaired unions [can be proved](../docs/adaptive_covers.md), with the same rate: over all cells
# that $T$ pulls can make (*horizon*), and with a share of $\delta$ for each level. The first is
# played (*horizon*).

# %% tags=["experiment"]
rows = {}
for d, union in product((1, 2), UNIONS):
    runs = pd.DataFrame(record.play(f"Lemma 5, d = {d}, {union}"))
    multiplier = runs["ratio"].quantile(1 - delta)
    rows[d, union] = [runs["band"].mean(), multiplier, runs["regret"].mean()]
bands = pd.DataFrame(rows, ["band holds", "multiplier", "mean regret"]).T
bands.rename_axis(["d", "union"]).round(2)

# %% [markdown]
# *Multiplier*: the smallest by which the width could be scaled and still cover in 90 % of runs.
# Below, for the noise $\varepsilon$ and the kernel matrix $K$ of the pulls in the set, Lemma 10
# with the square:
#
# $$\varepsilon^\top (I + K^{-1})^{-1} \varepsilon \le 2 \log \bigl( \det(K + I)^{1/2} N_t / \delta \bigr).$$

# %% tags=["experiment"]
sides = np.mean(record.play("Lemma 10"), axis=0)
lemma_10 = pd.DataFrame(sides, NUMBERS, ["left side", "right side"])
lemma_10.rename_axis("pulls").round(0)

# %% [markdown]
# Until which round is the first cover larger than the count of cells?

# %% tags=["experiment"]
larger = {}
for d in DIMENSIONS:
    larger[d] = measures.cover_too_large_until(table1["usual", d]["π-GP-UCB"].horizon, d, NU)
last_round = pd.Series(larger, name="last round")
last_round.rename_axis("d").to_frame()

# %% [markdown] tags=["checked"]
# Each band holds in every run, and 0.48 times the width would still cover in 90 % of them. The
# repaired band costs nothing: it has less regret on average.
#
# Two lemmas and one remark are false as printed. The count of cells leaves out the first cover,
# which is larger until round 29, 18 and 10 in one, two and three dimensions. Lemma 10 allows sets
# that look at the noise. The best arm of an unchanged cell can move, since the width depends on $t$:
# [proofs](../docs/errors.md).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check("Each band holds in every run", (bands["band holds"] == 1).all())
record.check(f"{bands['multiplier'].max():.2f} times the width would still cover in")
record.check(f"cover in {100 * (1 - delta):.0f} % of them")
regret = bands["mean regret"].unstack()
record.check("it has less regret on average", (regret["horizon"] < regret["printed"]).all())
record.check(
    f"until round {larger[1]}, {larger[2]} and {larger[3]} in one, two and three dimensions"
)
record.check("Lemma 10 allows sets that look at the noise", sides[-1, 0] > sides[-1, 1])

# %%
record.verdicts("3-P", "3-Q", "3-AD")

# %% [markdown]
# ## Does it work on functions outside the model? (Fig. 2)
#
# Test functions for optimisation, turned upside down and scaled to $[-1, 1]$; noise uniform on
# $[-0.1, 0.1]$, $L = 0.1$, and $B = 1$. The paper does not name its four: our first four are a
# guess.
#
# **Fig. 2 of the paper**: the first row is our guess, the second are four others, which have no source
# and do not count.

# %% tags=["experiment"]
surfaces = {name: record.play(f"Fig. 2, usual, {name}") for name in SURFACES}
record.figure(pictures.surfaces(surfaces), "fig2_test_functions")

# %% tags=["experiment"]
over = {}
for name, curves in surfaces.items():
    average = final_average_regret(curves)
    over[name] = average["π-GP-UCB"].mean() / average["IGP-UCB"].mean()
over = pd.Series(over)
over.round(2).to_frame("regret of π-GP-UCB over that of IGP-UCB")

# %% [markdown] tags=["checked"]
# Another four could turn this: π-GP-UCB has less regret than IGP-UCB on all that we guessed; of the
# others, on Ackley's it has 5.1 times as much, and 1.9 times on Rastrigin's. Of the 70 sets of four of
# these eight the paper's sentence (3-O) holds for 35, those without Ackley.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.check("π-GP-UCB has less regret than IGP-UCB on all that we guessed", (over[:4] < 1).all())
record.check(f"on Ackley's it has {over['Ackley']:.1f} times as much")
record.check(f"and {over['Rastrigin']:.1f} times on Rastrigin's")
sets = [*combinations(over.index, 4)]
holds = [four for four in sets if (over[[*four]] <= 2).all()]
words = f"Of the {len(sets)} sets of four of these eight the paper's sentence (3-O) holds for"
without = [four for four in sets if "Ackley" not in four]
record.check(f"{words} {len(holds)}, those without Ackley", holds == without)

# %%
record.verdicts("3-O", "3-AV")

# %% [markdown]
# ## Since the paper: what do two later proofs change?
#
# Two changes of the width have been proved for Gaussian processes that see all data:
#
# - a *tighter width* ([Flynn and Reeb 2024](https://arxiv.org/abs/2403.12732),
#   [derivation](../docs/tighter_width.md)): $\sqrt{B^2 + (2L^2/\lambda)(\gamma_{t-1} +
#   \log(1/\delta))}$, for any $\lambda$;
# - *lambda grows* ([Whitehouse et al. 2023](https://arxiv.org/abs/2307.07539)): $\lambda =
#   T^{d/(2\nu+2d)}$, with the width $B + L \sqrt{(2/\lambda) (\gamma_{t-1} + \log(1/\delta))}$. The
#   theorem leaves its constant open (1 here).
#
# Here $\lambda$ is the $\alpha$ of above. *Both* is the first width with the second's $\lambda$,
# and has the rate of the second. Nobody proposed a growing $\lambda$ for π-GP-UCB.

# %% tags=["experiment"]
changes = ("tighter width", "lambda grows", "both")
labels = {}
for d in DIMENSIONS:
    labels["published", d] = f"Table 1, d = {d}"
for change, d in product(changes, DIMENSIONS):
    if (change, d) != ("lambda grows", 3):
        labels[change, d] = f"{change}, d = {d}"
changed = {case: record.play(label) for case, label in labels.items()}
record.plan["both, d = 2"]

# %% tags=["experiment"]
shares = measures.shares_of_uniform(record.plan, labels, changed)
rows = {case: estimated_mean(share, seed) for case, share in shares.items()}
since = pd.DataFrame(rows, ["share", "low", "high"]).T
since = since.rename_axis(["change", "d", "algorithm"])
record.table(since, "since_the_paper")
by_change = since["share"].unstack([1, 2])
by_change.loc[["published", *changes]].round(2)

# %% [markdown]
# <details><summary>The first author's code for his thesis (2022) changes π-GP-UCB itself</summary>
#
# One cell at the start, a cell splits when $n > \rho^{-2\nu}$, children start without data, and the
# union counts $4(T+1)^{d/2\nu}$ cells.
#
# </details>

# %% tags=["experiment"]
played = {(): record.play("thesis")}
thesis = measures.shares_of_uniform(record.plan, {(): "thesis"}, played)
published = since["share"]["published", 2, "π-GP-UCB"]
thesis_over_paper = thesis["π-GP-UCB, thesis",].mean() / published
print(f"{thesis_over_paper:.2f} times the regret of the paper's π-GP-UCB, d = 2")

# %% [markdown]
# IGP-UCB with both changes against π-GP-UCB with each: the ratio of regrets by $d$.

# %% tags=["experiment"]
exact = since["share"][:, :, "IGP-UCB"].unstack()
cells = since["share"][:, :, "π-GP-UCB"].unstack()
over = (exact.loc["both"] / cells.loc[[*changes]]).T
gap = estimated_mean(shares["both", 3, "IGP-UCB"] - shares["both", 3, "π-GP-UCB"], seed)
clock = measures.seconds(changed["both", 3])
longer = clock["IGP-UCB"] / clock["π-GP-UCB"]
print(f"both, d = 3: difference {gap.low:.2f} to {gap.high:.2f}; {longer:.0f} times the seconds")
over.round(2)

# %% [markdown] tags=["checked"]
# In one and two dimensions π-GP-UCB does best with the tighter width alone, IGP-UCB with both
# changes. IGP-UCB with both then has 0.82 times the regret of π-GP-UCB with the tighter width in two
# dimensions, 0.96 times in three; if π-GP-UCB gets both, too, the two cannot be told apart in three.
#
# To choose today, on functions as in Table 1: in one and two dimensions IGP-UCB with both changes.
# In three it takes 39 times as long as π-GP-UCB with both.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
first = [1, 2]
record.check("with the tighter width alone", (cells[first].idxmin() == "tighter width").all())
record.check("IGP-UCB with both changes", (exact[first].idxmin() == "both").all())
tighter = over["tighter width"]
less = (over.loc[first] < 1).all(axis=None)
record.check(f"with both then has {tighter[2]:.2f} times the regret of π-GP-UCB with the tighter")
record.check(f"width in two dimensions, {tighter[3]:.2f} times in three")
record.check("the two cannot be told apart", gap.low < 0 < gap.high)
record.check("with both, IGP-UCB has less regret than any π-GP-UCB in one and two", less)
record.check(f"In three it takes {longer:.0f} times as long as π-GP-UCB with both", less)

# %%
record.verdicts("3-W")

# %% [markdown]
# ## What the paper leaves open
#
# | setting | the paper | here, the main interpretation first |
# | --- | --- | --- |
# | lengthscale | eq. 2, read literally $l \sqrt 3$ | the usual convention; eq. 2 |
# | $L$ | "sub-Gaussian" | 1; in Fig. 2 0.1 (Hoeffding) |
# | $\alpha$ | $1 + 2/T$; experiments 1 | 1 |
# | first cover | "about $T^q$" cells | a whole number a side, rounded |
# | average of 12 runs | not said | mean of shares; ratio of means |
# | gain in the width | eq. 3 has $\gamma_t$ | $\gamma_{t-1}$, known when $x_t$ is chosen |
# | Fig. 2: functions, $T$, runs | "four common" ones; not said | a guess, and four more; 10,000; 40 |
# | posterior, for its seconds | "updating the inverse of a kernel matrix $K_t$" | the inverse grows by a row; refitted in each round; ours, over the arms, is excluded |
# | function and noise shared | not said | shared by both algorithms, ties too |

# %%
record.finish()
