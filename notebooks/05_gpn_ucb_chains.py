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
# # GPN-UCB: bandits that see the layers
#
# Z. Li, J. Scarlett: *Regret Bounds for Noise-Free Cascaded Kernelized Bandits*, TMLR 2024, [arXiv
# 2211.05430](https://arxiv.org/abs/2211.05430).
#
# The reward is a chain of unknown functions, such as the steps of a production line. A pull shows every output, without
# noise. Does it pay to look inside?

# %% jupyter={"source_hidden": true} tags=["parameters", "hide-input"]
seed: int = 126453921  # root seed of every random stream
side: int = 50  # arms a side of [-5, 5]^2 (paper: 50)
horizon: int = 200  # rounds T (paper: 200)
samples: int = 1000  # samples S of cEI (paper: 1000)
chains: int = 48  # chains drawn from the prior, on which claims are judged
trials_per_chain: int = 3  # trials on each of them
sampled_chains: int = 40  # of these chains, how many cEI plays, one trial each
obvious_chains: int = 40  # chains with an obvious maximiser
figure_trials: int = 4  # trials on each of the two chains of the figures (paper: 10)
norm_2_chains: int = 40  # chains of norm 2, for which B is true
ablation_chains: int = 40  # chains under changed versions of GPN-UCB
explorations: list[float] = [
    0.0001,
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
    100.0,
    1000.0,
    10000.0,
]  # values b of OI (paper: 1e-4 to 1e4)
networks: int = 100  # small networks of each structure for the theorems
network_horizon: int = 20  # pulls on each of them
needle_side: int = 10  # needles a side, M of them is its square
cross_chains: int = 15  # chains under every interpretation
results_dir: str = ""  # folder for figures and tables, relative to the project's root; empty: write nothing

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from kbrepro.verdicts.record import Record

record = Record("05_gpn_ucb_chains", results_dir)
record.banner()

# %% [markdown]
# ## At a glance

# %% jupyter={"source_hidden": true} tags=["at-a-glance", "full-scale", "hide-input", "nbval-ignore-output"]
record.at_a_glance()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from dataclasses import replace
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from kbrepro.verdicts.interpretations import cross, joint
from kbrepro.verdicts.pictures import claim_curve

from kbrepro import checks
from kbrepro.figures import live
from kbrepro.kernels import Matern, grid
from kbrepro.papers.gpn_ucb import curves, experiments, measures, needle, pictures
from kbrepro.papers.gpn_ucb.cascade_ei import ExactCascadeEI, SampledCascadeEI
from kbrepro.papers.gpn_ucb.experiments import OBVIOUS, SEVERAL, find_chains, scaled
from kbrepro.papers.gpn_ucb.measures import WITHOUT_CEI, simple_at, totals
from kbrepro.papers.gpn_ucb.policies import GPNUCB, CascadeUCB, OptimisticImprovement, black_box_ei, black_box_ucb
from kbrepro.papers.gpn_ucb.problems import FINE, KERNEL, SMALL, DrawnChain, RandomNetwork, Repeated, exact_chain
from kbrepro.papers.gpn_ucb.structures import FeedForward, rate_gap
from kbrepro.problems import Trial
from kbrepro.regret import estimated_mean, simple_regret
from kbrepro.simulation import Experiment, map_trials, run, run_trials

# %% jupyter={"source_hidden": true} tags=["checks", "hide-input"]
checks.at_least(2, chains=chains, sampled_chains=sampled_chains, norm_2_chains=norm_2_chains, networks=networks)
checks.at_least(2, ablation_chains=ablation_chains, figure_trials=figure_trials, needle_side=needle_side)
checks.at_least(2, obvious_chains=obvious_chains, cross_chains=cross_chains)
checks.positive_int(trials_per_chain=trials_per_chain)
checks.positive_int(samples=samples, network_horizon=network_horizon)
checks.at_least(10, side=side)
checks.at_least(50, horizon=horizon)  # claims speak of T = 50
assert max(sampled_chains, ablation_chains) <= chains, "cEI and the versions of GPN-UCB play some of the chains"
assert min(explorations) <= 1 and max(explorations) >= 100, "claim 5-H compares b <= 1 with b >= 100"

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.has |= {"horizon": horizon, "samples": samples, "explorations": len(explorations)}

# %% [markdown]
# ## The problem
#
# A *chain* is $g = f^{(m)} \circ \dots \circ f^{(1)}$. In round $t$ we pull an *arm* $x_t$ and see what every layer
# returns, the reward $g(x_t)$ last. What counts is what is lost on the way, the *cumulative regret*, or by how much
# the best arm found falls short, the *simple regret*:
#
# $$R_T = \sum_{t=1}^T \bigl( g(x^*) - g(x_t) \bigr), \qquad r^*_T = \min_{t \le T} \bigl( g(x^*) - g(x_t) \bigr).$$
#
# Each layer is promised a norm of at most $B$ in the space of a *kernel* $k$, and to change by at most $L |z - z'|$.
# After observations $y_A$ at inputs $z_A$ the first promise makes certain (Lemma 1; there is no noise)
#
# $$\mu(z) = k_A(z)^\top K_A^{-1} y_A, \quad \sigma^2(z) = k(z, z) - k_A(z)^\top K_A^{-1} k_A(z),
# \quad |f(z) - \mu(z)| \le B \sigma(z).$$
#
# ## Why is a best guess not enough?
#
# Twelve arms of a chain were pulled. For another arm, layer 1 returns something in the interval drawn.

# %% tags=["experiment"]
shown_chain = replace(exact_chain(30), norm_bound=4.0)(Trial(seed, 0))  # layers of norm 2; B = 4 and L = 2 are given
pulled = run(GPNUCB(shown_chain.model, 12), shown_chain, 12, Trial(seed, 0).rng("run")).arms.tolist()
others = np.setdiff1d(np.arange(900), pulled)
points = shown_chain.model.points
near = others[np.linalg.norm(points[others] - points[pulled[-1]], axis=1).argmin()]  # next to the last pull
layers, rows = experiments.carried(shown_chain, pulled, int(near))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.table(rows.set_index(["layer", "kind"]), "interval_of_one_arm")
its = rows[rows["kind"] == "grid"].set_index("layer")[["low", "high", "true"]]
fig = pictures.step(shown_chain, layers[0], its, pulled)
record.figure(fig, "idea_interval")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
at = layers[0].loc[(layers[0]["z"] - its.loc[1, ["low", "high"]].mean()).abs().idxmin()]
off = np.abs((at["raw_low"] + at["raw_high"]) / 2 - its.loc[2, "true"])
record.expect(
    off > (at["raw_high"] - at["raw_low"]) / 2,
    f"The middle's answer is off by {off:.2f}, though the layer itself is known there to within "
    f"{(at['raw_high'] - at['raw_low']) / 2:.1g}: the error comes from the input.",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
its.round(2)

# %% [markdown]
# One guess gives the cross; all that is possible gives the red bar, an interval that goes into layer 3. So *sets*
# travel through the chain, and the last bounds the reward.
#
# ## The algorithm
#
# GPN-UCB (Algorithm 1) for chains, as the paper runs it (Appendix L.2), looks at inputs of layers $i \ge 2$ on a grid
# $\mathcal D$ only:
#
# 1. The first layer's interval for arm $x$ is $\mu^{(1)}(x) \pm B \sigma^{(1)}(x)$.
# 2. A later layer has bounds $\mu^{(i)} \pm B \sigma^{(i)}$ on $\mathcal D$. Its *envelope* also uses the slope $L$:
#    no point may exceed the bound of a neighbour by more than $L$ times their distance (eqs. 9, 10).
# 3. The next interval reaches from the lowest to the highest envelope over the points of $\mathcal D$ in the arm's
#    interval, or over its two ends if it holds none (eq. 11).
# 4. Pull the arm whose last interval reaches highest; see the outputs of all layers.
#
# *NonAda*, the paper's second rule, pulls a fixed grid and trusts the composed posterior means.


# %% tags=["experiment"]
def band(k, Z, y, at, B):
    """mean - B sd and mean + B sd at some points, after observations y at inputs Z."""
    G = np.linalg.solve(k(Z, Z) + 1e-7 * np.eye(len(Z)), k(Z, at))
    mean, sd = y @ G, np.sqrt(np.maximum(k.diag(at) - np.sum(k(Z, at) * G, axis=0), 0))
    return mean - B * sd, mean + B * sd


# %% tags=["experiment"]
def next_interval(low, high, lcb, ucb, D, L):
    """Steps 2 and 3: intervals [low, high] of all arms, and a layer's bounds on D, give the next intervals."""

    def envelope(z):
        distance = np.abs(z[:, None] - D[:, 0])
        cone = np.where(distance <= 1 + 1e-12, L * distance, np.inf)
        return (lcb - cone).max(axis=1), (ucb + cone).min(axis=1)

    on_D, ends = envelope(D[:, 0]), [envelope(low), envelope(high)]
    inside = (low[:, None] - 1e-10 <= D[:, 0]) & (D[:, 0] <= high[:, None] + 1e-10)
    some, least = inside.any(axis=1), np.where(inside, on_D[0], np.inf).min(axis=1)
    most = np.where(inside, on_D[1], -np.inf).max(axis=1)
    return (
        np.where(some, least, np.minimum(ends[0][0], ends[1][0])),
        np.where(some, most, np.maximum(ends[0][1], ends[1][1])),
    )


# %% tags=["experiment"]
def gpn_ucb(k, X, pull, m, B, L, D, T, order):
    """The arms that GPN-UCB pulls in T rounds on a chain of m layers; of arms that tie the first in a random order."""
    arms, outputs = [], np.empty((0, m))
    for _ in range(T):
        low, high = band(k, X[arms], outputs[:, 0], X, B)
        for i in range(1, m):
            lcb, ucb = band(k, outputs[:, i - 1 : i], outputs[:, i], D, B)
            low, high = next_interval(low, high, lcb, ucb, D, L)
        tied = np.flatnonzero(high >= high.max() - 1e-10 * (1 + abs(high.max())))
        arms.append(int(tied[order[tied].argmin()]))
        outputs = np.vstack([outputs, np.concatenate([np.ravel(y) for y in pull(arms[-1])])])
    return arms


# %% [markdown]
# The package pulls the same arms:

# %% tags=["experiment"]
example = DrawnChain(12)(Trial(seed, 0))
trace = run(GPNUCB(example.model, 20), example, 20, Trial(seed, 0).rng("run"))
arms = gpn_ucb(
    *(KERNEL, example.model.points, lambda arm: example.pull(arm, None), 3, 2.0, 2.0, grid(100, 1, -5, 5), 20),
    order=Trial(seed, 0).rng("run").spawn(2)[1].permutation(144),  # as the package draws it
)
assert arms == trace.arms.tolist()
print(f"{len(arms)} of {len(arms)} pulls agree; the first five: {arms[:5]}")

# %% [markdown]
# ## See it run: one arm through three layers

# %% jupyter={"source_hidden": true} tags=["hide-input"]
live.show("gpn_ucb")

# %% [markdown]
# The arm from above: its interval by the paper's *grid* sets, without envelope, and by sets *rounded outward* (ours),
# which must hold between the points of $\mathcal D$, too.

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
fig = pictures.kinds(rows)
record.figure(fig, "idea_kinds_of_sets")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
width = (rows["high"] - rows["low"]).groupby([rows["kind"], rows["layer"]]).last().unstack("layer")
record.expect(
    width.loc["grid", 3] < width.loc["no envelope", 3] and (width.loc["outward"] >= width.loc["grid"] - 1e-9).all(),
    f"The envelope narrows this arm's last interval by {1 - width.loc['grid', 3] / width.loc['no envelope', 3]:.0%}; "
    f"certainty between the points widens it by {width.loc['outward', 3] / width.loc['grid', 3] - 1:.0%}.",
)
width.add_prefix("layer ").rename_axis(columns=None).round(2)

# %% [markdown]
# ## What are the chains? (Fig. 9)
#
# Three layers, squared exponential kernel of lengthscale 1, $B = L = 2$; at full scale 2,500 arms on a grid of $[-5,
# 5]^2$ and $T = 200$ rounds. The paper draws two chains from a Gaussian process and prints neither: one has "several
# potential maximisers" (here: another peak within 5 % of the range of $g$ below the best), one an "obvious" one (no
# other within 25 %). We draw many: a verdict says what is typical.
#
# Draws break the promise: over a continuum their norm is not finite. So we also build *chains of norm 2*, whose layers
# have norm exactly 2.

# %% tags=["experiment"]
draws, norm_2 = DrawnChain(side), exact_chain(side)
facts = {name: np.array(map_trials(partial(experiments.chain_facts, source), n, seed, label=f"chains, {name}")).T
         for name, source, n in (("draws", draws, chains), ("norm 2", norm_2, norm_2_chains))}  # fmt: skip
(gaps, ranges), (gaps_2, ranges_2) = facts["draws"], facts["norm 2"]
(found,) = map_trials(partial(find_chains, draws, obvious_chains, True), 1, seed, label="obvious ones, found")
((first,),) = map_trials(partial(find_chains, draws, 1, False), 1, seed, label="the first of several, found")
obvious = tuple(found.tolist())
pair = {"several maximisers": int(first), "an obvious maximiser": obvious[0]}
print(f"chains of the figures: {pair}; tried: 0 to {max(pair.values())}; obvious ones: {obvious}")

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
record.has["obvious"] = len(obvious)
several = gaps <= SEVERAL


def many_of(n):
    """Which of the first n draws have several maximisers; all of them where that are fewer than two (short runs)."""
    return several[:n] if several[:n].sum() > 1 else np.ones(n, dtype=bool)


fig = pictures.chains({kind: draws(Trial(seed, number)) for kind, number in pair.items()}, side)
record.figure(fig, "fig9_chains")
plt.show()
kinds = {name: {"chains": len(g), "several maximisers": (g <= SEVERAL).mean(), "obvious": (g >= OBVIOUS).mean()}
         for name, (g, _) in facts.items()}  # fmt: skip

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
pd.DataFrame(kinds).T.round(2)

# %% [markdown]
# ## Does GPN-UCB lose less on the way? (Fig. 11)
#
# Its rivals:
#
# - *GP-UCB* and *EI*, which see the reward alone (*black box*);
# - *cUCB*, which feeds means through the chain and adds up the $\sigma$ of all layers, earlier ones times $L$ (eq.
#   283); *OI*, optimistic improvement, which scores an arm by the larger of two numbers: its upper bound less the best
#   lower bound, and $b \sigma$;
# - *cEI*, the expected improvement of the reward, which sends $S$ random samples through the layers; *exact* (ours)
#   computes it by quadrature.

# %% tags=["experiment"]
rules = {
    "GPN-UCB": GPNUCB,
    "cUCB": CascadeUCB,
    "OI": OptimisticImprovement,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
}
by_cei = {"cEI": partial(SampledCascadeEI, samples=samples), "cEI, exact": ExactCascadeEI}
beside = {name: rules[name] for name in rules} | {"no envelope": partial(GPNUCB, envelope=False)}
times = trials_per_chain

# %% tags=["experiment"]
traces = run_trials(Experiment(Repeated(draws, times), rules, horizon), chains * times, seed, label="draws")
traces = scaled(traces, np.repeat(ranges, times))  # regrets are shares of the range of g
of_cei = run_trials(Experiment(draws, by_cei, horizon), sampled_chains, seed, label="draws, cEI")
of_cei = scaled(of_cei, ranges[:sampled_chains])
of_norm_2 = run_trials(Experiment(norm_2, beside, horizon), norm_2_chains, seed, label="norm 2")
of_norm_2 = scaled(of_norm_2, ranges_2)
on_pair = {}
for kind, number in pair.items():
    experiment = Experiment(Repeated(draws, figure_trials, (number,)), rules | {"cEI": by_cei["cEI"]}, horizon)
    its = run_trials(experiment, figure_trials, seed, label=f"figures, {kind}")
    range_of = draws(Trial(seed, number)).reward_range
    on_pair[kind] = scaled(its, np.full(figure_trials, range_of))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for name, its in (("draws", traces), ("draws_cei", of_cei), ("norm_2", of_norm_2)):
    record.traces(its, name)
for kind, its in on_pair.items():
    record.traces(its, f"fig11_{kind.replace(' ', '_')}")
panels = {f"{kind}, {figure_trials} trials": its for kind, its in on_pair.items()}
panels[f"{chains} draws"] = {name: trace for name, trace in traces.items()} | of_cei
panels[f"{norm_2_chains} chains of norm 2 (cEI not run)"] = {name: of_norm_2[name] for name in rules}
fig = curves.regrets("Fig. 11", panels, quantity="cumulative")
record.figure(fig, "headline_fig11_cumulative_regret")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
total, total_cei = totals(traces, times), totals(of_cei, 1)
some = {name: values[:sampled_chains] for name, values in total.items()} | total_cei  # chains that cEI played
total_2 = totals(of_norm_2, 1)
record.judge("5-A", **measures.claim_5_A(total, total_2, seed))
record.judge("5-B", **measures.claim_5_B(some, seed))
against_exact = measures.claim_5_C(some, seed)
record.judge("5-C", **against_exact)
record.judge("5-Q", **measures.claim_5_Q(total, some, seed))
of_some = pd.DataFrame(some)
lower = of_some.gt(of_some["GPN-UCB"] + measures.ROUNDING, axis=0).mean()
table = pd.DataFrame({"mean R_T": of_some.mean(), "median": of_some.median(), "GPN-UCB is lower in": lower})
record.table(table.rename_axis("rule"), "regret_on_draws")
nearest = of_some[[*WITHOUT_CEI]].mean().min()
record.expect(
    of_some["GPN-UCB"].mean() < min(nearest, of_some["cEI"].mean()),
    "On the draws that cEI played GPN-UCB has on average "
    f"{1 - of_some['GPN-UCB'].mean() / nearest:.0%} less regret than the best of four rules without samples, and "
    f"{1 - of_some['GPN-UCB'].mean() / of_some['cEI'].mean():.0%} less than sampled cEI. 5-A and 5-Q judge it on all "
    f"{chains} draws, {chains * times} trials.",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.rename_axis(f"in ranges of g, {sampled_chains} draws").round(2)

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
counted = measures.operations(horizon, side**2, 3, 100, samples)
record.judge("5-X", **measures.claim_5_X(counted, traces | of_cei))
record.show("5-A", "5-B", "5-C", "5-Q", "5-X")

# %% [markdown]
# ## Does it find the best arm? (Fig. 12)
#
# By $T = 50$, the paper says, both of its rules do. We compare simple regret on average over $T = 2^2, \dots, 14^2$,
# the numbers of pulls of NonAda.

# %% tags=["experiment"]
sides = [side for side in range(2, 15) if side**2 <= horizon]
pulls = np.array(sides) ** 2


def nonada(source, n, ranges, label):
    """Simple regret of NonAda on n chains for all sides, (n, len(sides)), in shares of the range."""
    job = partial(experiments.nonadaptive_regrets, source, sides)
    return np.array(map_trials(job, n, seed, label=f"NonAda, {label}")) / ranges[:, None]


of_nonada = nonada(draws, chains, ranges, "draws")
clear = Repeated(draws, 1, obvious)
clear_ranges = np.array([draws(Trial(seed, number)).reward_range for number in obvious])
on_clear = run_trials(Experiment(clear, rules | {"cEI": by_cei["cEI"]}, horizon), len(obvious), seed, label="obvious")
on_clear = scaled(on_clear, clear_ranges)
nonada_clear = nonada(clear, len(obvious), clear_ranges, "obvious")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.traces(on_clear, "obvious")
nonada_pair = {
    f"{kind}, {figure_trials} trials": nonada(
        Repeated(draws, 2, (number,)), 2, np.full(2, draws(Trial(seed, number)).reward_range), kind
    )
    for kind, number in pair.items()
}
all_draws, clear_ones = f"{chains} draws", f"{len(obvious)} draws, obvious maximiser"
shown = {title: panels[title] for title in nonada_pair} | {all_draws: traces | of_cei, clear_ones: on_clear}
designs = nonada_pair | {all_draws: of_nonada, clear_ones: nonada_clear}
dots = {title: (pulls, values) for title, values in designs.items()}
fig = curves.regrets("Fig. 12", shown, quantity="simple", nonada=dots)
record.figure(fig, "fig12_simple_regret")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
early = sides.index(7)  # 49 pulls
many, many_top = many_of(chains), many_of(sampled_chains)
simple = measures.over_pulls(traces, pulls, times) | {"NonAda": of_nonada.mean(axis=1)}
beside_cei = measures.of_chains(simple, slice(sampled_chains)) | measures.over_pulls(of_cei, pulls)
simple_clear = measures.over_pulls(on_clear, pulls) | {"NonAda": nonada_clear.mean(axis=1)}
trials_50 = simple_regret(traces["GPN-UCB"])[:, 49]
near_optimal = measures.claim_5_D(trials_50, of_nonada[:, early], times, seed)
record.judge("5-D", **near_optimal)
record.judge("5-E", **measures.claim_5_E(measures.of_chains(simple, many), seed))
record.judge("5-O", **measures.claim_5_O(measures.of_chains(beside_cei, many_top), seed))
record.judge("5-F", **measures.claim_5_F(simple_clear, seed))
record.judge("5-AB", **measures.claim_5_AB(simple_clear, seed))
record.judge("5-N", **measures.claim_5_N(simple_clear, seed))
gpn, cucb = (simple_regret(traces[rule])[::times][:sampled_chains] for rule in ("GPN-UCB", "cUCB"))
record.judge("5-AD", **measures.claim_5_AD(gpn, {"cei": simple_regret(of_cei["cEI"]), "cucb": cucb}))
columns = {
    f"several maximisers ({many_top.sum()} draws)": measures.of_chains(beside_cei, many_top),
    f"obvious maximiser ({len(obvious)} draws)": simple_clear,
}
table = pd.DataFrame({name: {rule: 100 * v.mean() for rule, v in its.items()} for name, its in columns.items()})
record.table(table.rename_axis("simple regret, mean over T (%)"), "simple_regret")
ends_of = {rule: simple_regret(trace)[:, -1] for rule, trace in on_clear.items()}
record.expect(
    (ends_of["GPN-UCB"] > 0.05).mean() > (ends_of["cEI"] > 0.05).mean(),
    f"GPN-UCB misses {(ends_of['GPN-UCB'] > 0.05).mean():.0%} of the obvious maximisers, cEI "
    f"{(ends_of['cEI'] > 0.05).mean():.0%}. A miss ends more than 5% of the range below.",
)
means = {rule: values.mean() for rule, values in simple_clear.items()}
farther = [rule for rule in means if means[rule] > means["NonAda"]]
record.expect(
    {*means} - {*farther} == {"NonAda", "cEI"},
    f"There NonAda is on average nearer than {len(farther)} of {len(means) - 1} other rules, all but cEI (5-F, 5-AB).",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.rename_axis("% of the range, mean over T").round(1).astype(object).fillna("not run")

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-D", "5-E", "5-O", "5-F", "5-AB", "5-N", "5-AD")

# %% [markdown]
# ## Why does GPN-UCB miss the best arm?
#
# Its bounds are certain *if $B$ is true*. A draw's norm exceeds $B = 2$. The bounds then fail, most likely at an
# obvious maximiser: where the first layer lies outside $\mu \pm B\sigma$ the arm looks worse than it is, for ever.


# %% tags=["experiment"]
def outside(source, number, arms):
    """How far the first layer of the best arm lies outside mean +- B sd after pulls of `arms`; negative: inside."""
    chain, arms = source(Trial(seed, number)), np.unique(arms)
    points, first, best = chain.model.points, chain.outputs[0][:, 0], chain.expected_reward.argmax()
    low, high = band(KERNEL, points[arms], first[arms], points[[best]], chain.model.norm_bound)
    return max(first[best] - high[0], low[0] - first[best])


played_on = {
    "other draws": (draws, range(chains), traces["GPN-UCB"], times),
    "draws, obvious maximiser": (draws, obvious, on_clear["GPN-UCB"], 1),
    "norm 2": (norm_2, range(norm_2_chains), of_norm_2["GPN-UCB"], 1),
}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
missed = pd.DataFrame(
    [
        (kind, number, outside(source, number, arms), end)
        for kind, (source, numbers, trace, step) in played_on.items()
        for number, arms, end in zip(numbers, trace.arms[::step], simple_regret(trace)[::step, -1], strict=True)
    ],
    columns=["kind", "number", "outside", "end"],
)
missed = missed[~((missed["kind"] == "other draws") & missed["number"].isin(obvious))]  # a chain counts once
record.table(missed.set_index(["kind", "number"]), "missed_best_arms")
fig = pictures.misses(missed, draws.norm_bound)
record.figure(fig, "why_simple_regret_norm", tables=["missed_best_arms"])
plt.show()

# %% [markdown]
# Can a player notice? No function of norm at most $B$ passes through outputs with $y_A^\top K_A^{-1} y_A > B^2$.


# %% tags=["experiment"]
def refuted_after(source, number, arms):
    """The round after which no first layer of norm B fits all that was seen; infinity if one still does."""
    chain = source(Trial(seed, number))
    for t in range(1, len(arms) + 1):
        seen = np.unique(arms[:t])
        Z, y = chain.model.points[seen], chain.outputs[0][seen, 0]
        if y @ np.linalg.solve(KERNEL(Z, Z) + 1e-7 * np.eye(len(seen)), y) > chain.model.norm_bound**2 + 1e-6:
            return t
    return np.inf


# %% jupyter={"source_hidden": true} tags=["hide-input"]
refuted = {
    kind: np.array([refuted_after(source, *its) for its in zip(numbers, trace.arms[::step], strict=True)])
    for kind, (source, numbers, trace, step) in played_on.items()
}
rounds_to = refuted["draws, obvious maximiser"]
record.expect(
    np.isfinite(rounds_to).mean() > 0.9 and np.isinf(refuted["norm 2"]).all(),
    f"The first layer's outputs refute the paper's B on {np.isfinite(rounds_to).mean():.0%} of draws with an obvious "
    f"maximiser, in the median after round {np.median(rounds_to):.0f}. They do so on "
    f"{np.isfinite(refuted['other draws']).mean():.0%} of draws of any kind, and on no chain of norm 2.",
)

# %% [markdown]
# A smaller reason (5-Z): the interval of an arm already pulled holds no point of $\mathcal D$, so L.2 bounds it from
# neighbours, too high, and pulls it again.

# %% tags=["experiment"]
versions = {
    "as in L.2": GPNUCB,
    "with the point itself": partial(GPNUCB, itself=True),
    "no envelope": partial(GPNUCB, envelope=False),
    "400 points": partial(GPNUCB, n_grid=400),
    "over all of D": partial(GPNUCB, radius=10.0),
}
ablated = run_trials(Experiment(draws, versions, horizon), ablation_chains, seed, label="versions of GPN-UCB")
ablated = scaled(ablated, ranges[:ablation_chains])
end = simple_at(ablated, horizon, 1)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
again = {name: np.mean([1 - len(set(row)) / len(row) for row in trace.arms[:, horizon // 2 :]])
         for name, trace in ablated.items()}  # fmt: skip
lower_by = measures.claim_5_Z(end, seed)
sums = totals(ablated)
record.judge("5-Z", **lower_by)
record.judge("5-I", **measures.claim_5_I(sums, total_2, seed))
record.judge("5-Y", **measures.claim_5_Y(ablated, seed))
columns = {"mean R_T": sums, "simple regret at T (%)": {n: 100 * v for n, v in end.items()}}
table = pd.DataFrame({name: {n: v.mean() for n, v in its.items()} for name, its in columns.items()})
table["pulls of the second half spent again"] = again
record.table(table.rename_axis("version"), "versions_of_gpn_ucb")
fig = pictures.versions(end, lower_by)
record.figure(fig, "why_simple_regret")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.round(2)

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
moved = end["400 points"] - end["as in L.2"]
worst = np.abs(moved).argmax()
record.expect(
    np.median(np.abs(moved)) < 0.01 < np.abs(moved[worst]),
    "Grid sets may mislead as well: with four times the points most chains end the same, but one ends "
    f"with a simple regret {np.abs(moved[worst]):.0%} of the range {'higher' if moved[worst] > 0 else 'lower'}.",
)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-I", "5-Y", "5-Z")

# %% [markdown]
# ## Why do other rules that see the layers lose? (Fig. 10)
#
# cUCB and OI, which see the layers, sometimes lose to GP-UCB and EI, which do not. The paper suspects eq. 283, which
# multiplies by $L > 1$ at every layer. We lower $L$ there, and sweep OI's $b$.

# %% tags=["experiment"]
sweep = {b: partial(OptimisticImprovement, b=b) for b in explorations}
swept = run_trials(Experiment(draws, sweep, horizon), chains, seed, label="OI, draws")
swept = scaled(swept, ranges)
one_each = run_trials(Experiment(draws, {"cUCB": CascadeUCB}, horizon), chains, seed, label="cUCB, draws")
of_cucb = scaled(one_each, ranges)["cUCB"]
fig10 = {}
for kind, number in pair.items():
    experiment = Experiment(Repeated(draws, figure_trials, (number,)), sweep, horizon)
    its = run_trials(experiment, figure_trials, seed, label=f"Fig. 10, {kind}")
    width = np.full(figure_trials, draws(Trial(seed, number)).reward_range)
    fig10[kind] = scaled(its, width), on_pair[kind]["cUCB"]
low_l = run_trials(
    Experiment(replace(draws, lipschitz=1.0), {"cUCB": CascadeUCB}, horizon), chains, seed, label="L = 1"
)
job = partial(experiments.relative_widths, draws, 20, (2.0, 1.0, 0.5))
relative = np.array(map_trials(job, chains, seed, label="relative widths"))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = curves.oi(fig10)
record.figure(fig, "fig10_oi")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
ends = {b: simple_regret(trace)[:, -1] for b, trace in swept.items()}
record.judge("5-G", **measures.claim_5_G(total, simple_at(traces, 50, times), seed))
record.judge("5-H", **measures.claim_5_H(swept, of_cucb, seed))
curves_of = [simple_regret(trace)[many] for trace in (swept[min(explorations)], of_cucb)]
versus, of_figure = fig10["several maximisers"]
curves_of += [simple_regret(trace) for trace in (versus[min(explorations)], of_figure)]
record.judge("5-AC", **measures.claim_5_AC(*curves_of))
of_widths = measures.claim_5_R(relative, low_l["cUCB"].scaled(ranges), of_cucb, total, seed)
record.judge("5-R", **of_widths)
table = pd.DataFrame({"simple regret at T (%)": {f"b = {b:g}": 100 * ends[b].mean() for b in explorations}})
table["within 1 % of cUCB"] = [(np.abs(ends[b] - simple_regret(of_cucb)[:, -1]) <= 0.01).mean() for b in explorations]
record.table(table.rename_axis("OI"), "fig10_oi")
record.expect(
    of_widths["looser"].value > 1 > of_widths["regret"].value,
    "The suspicion is right: after the same pulls cUCB's bounds are "
    f"{of_widths['looser'].value:.0f} times as wide as GPN-UCB's, and with half the $L$ cUCB has "
    f"{1 - of_widths['regret'].value:.0%} less regret.",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.iloc[::2].round(1)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-G", "5-H", "5-AC", "5-R")

# %% [markdown]
# ## Do the bounds and sets hold? (Lemmas 1 and 2)
#
# Now $B$ and $L$ are true, on small networks of exact norm. The lemmas cover the bounds, and sets that are taken over
# all inputs, such as the outward-rounded ones; no theorem covers the grid sets of L.2. We count misses of each.

# %% tags=["experiment"]
covered = {}
for structure, (network, n_grid) in SMALL.items():
    job = partial(experiments.coverage, network, n_grid, network_horizon)
    covered[structure] = map_trials(job, networks, seed, block=5, label=f"sets, {structure}")
misses = measures.coverage(covered, 100)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.table(misses.rename_axis("structure"), "coverage")
fig = pictures.coverage(misses)
record.figure(fig, "lemmas_1_and_2_coverage")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("5-J", **measures.claim_5_J(misses, networks * network_horizon * 100))
record.expect(
    misses["missed, paper"].max() > 0.2 and not misses["missed, outward"].any() and not misses["band"].any(),
    "What the lemmas cover never misses. Grid sets miss in "
    f"{misses.loc['chain', 'missed, paper']:.0%} of cases on chains and in up to "
    f"{misses['missed, paper'].max():.0%} elsewhere.",
)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
misses.rename(columns=lambda name: name.replace("paper", "grid")).round(2)

# %% [markdown]
# NonAda's error keeps its bound (Appendix G, 5-P) with room to spare.

# %% tags=["experiment"]
composed = {}
for structure, (network, _) in SMALL.items():
    job = partial(experiments.composed_errors, network, [2, 3, 4, 5, 6, 7])
    composed[structure] = pd.DataFrame(map_trials(job, networks, seed, block=5, label=f"Appendix G, {structure}")).max()
composed = pd.DataFrame(composed).T
layers_32, by_pulls = (
    RandomNetwork(FeedForward(Matern(1.0, nu=1.5)), grid(100, 1, -2, 2), (1, 1)),
    [4, 6, 9, 13, 18, 25, 36, 50],
)
job = partial(experiments.design_errors, layers_32, by_pulls)
errors = np.array(map_trials(job, networks, seed, block=5, label="rate of NonAda"))

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
record.judge("5-P", **measures.claim_5_P(composed))
rate = measures.claim_5_AA(errors, by_pulls, 1.5, seed)
record.judge("5-AA", **rate)
record.table(composed.rename_axis("structure"), "appendix_g")
composed.round(3)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.expect(
    rate["rate"].value < 0,
    f"It falls like T to the power {rate['rate'].value - 1.5:.2f} for two layers of smoothness 1.5; promised is -1.5.",
)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-J", "5-P", "5-AA")

# %% [markdown]
# ## Are the regret bounds right? (Theorems 1 to 3)
#
# For chains $r_t \le 2B \sum_i (2L)^{m-i} \sigma^{(i)}_{t-1}(x_t^{(i)})$ (eq. 49). Theorem 1 sums it over rounds:
# $R_T \le 2^{m+1} B L^{m-1} \Sigma_T$, where $\Sigma_T$ is the largest sum of a layer's $\sigma$ at its inputs.
# Rounding outward adds to a bound: too much in two dimensions, little only on chains of two layers with 2001 points.
#
# <details><summary>The rates (Tables 1 and 2)</summary>
#
# | what | network | rate |
# | --- | --- | --- |
# | GPN-UCB, $R_T$, $d_{\max} > \nu$ | chain | $2^m B L^{m-1} T^{1 - \nu/d}$ |
# | | multi-output | $5^m B L^{m-1} T^{1 - \nu/d_{\max}}$ |
# | | feed-forward | $2^m \sqrt D B L^{m-1} T^{1 - \nu/d_{\max}}$ |
# | lower bound, $R_T$, $d > \nu$ | all | $\min(T,\ B (cL)^{m-1} T^{1 - \nu/d})$ |
# | NonAda, $r^*_T$, $\nu \le 1$ | chain | $B L^{m-1} T^{-\nu^m/d}$; feed-forward $\sqrt D$ times that |
# | NonAda, $r^*_T$, $\nu > 1$ | chain | larger of $B L^{(m-1)\nu} T^{-\nu/d}$ and the next row |
# | | | $B^{1 + \nu + \dots + \nu^{m-2}} L^{\nu^{m-1}} T^{-\nu^2/d}$ (Table 2 misses the dots) |
# | the same, known ranges | chain | $B L^{(m-1)\max(\nu, 1)} T^{-\nu/d}$ |
# | lower bound, $r^*_T$ | all | $B (cL)^{m-1} T^{-\nu/d}$ |
# | $\nu$, $d$, $c < 1$ | | smoothness (Matérn), inputs, a constant; logarithms dropped |
# | $D$, $d_{\max}$ | | product of the layers' widths, largest number of inputs |
#
# </details>

# %% tags=["experiment"]
ratios = {}
for (structure, (network, n_grid)), mode in product(FINE.items(), ("outward", "paper")):
    size = n_grid if mode == "outward" else min(n_grid, 100)
    job = partial(experiments.bound_ratios, network, size, network_horizon, mode=mode)
    ratios[structure, mode] = pd.DataFrame(map_trials(job, networks, seed, block=5, label=f"{structure}, {mode}"))
ratios = pd.concat(ratios, names=["structure", "sets"]).reset_index(["structure", "sets"])

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
of_sets = [ratios[ratios["sets"] == mode].set_index("structure") for mode in ("outward", "paper")]
record.judge("5-K", **measures.claim_5_K(*(its.loc["chain"] for its in of_sets)))
of_others = measures.claim_5_K(*(its.drop("chain") for its in of_sets))
record.judge("5-V", **of_others)
table = ratios.groupby(["structure", "sets"], sort=False).max()
record.table(table, "theorems_1_to_3")
table.rename({"paper": "grid"}, level="sets").round(2)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
structures = {name: (network.structure, 1 if name == "chain" else 2) for name, (network, _) in FINE.items()}
known = {"norm": 2.0, "lipschitz": 2.0, "nu": 1.5, "d": 2}
gap = {
    name: {f"m = {m}": rate_gap(structure, 1e4, m=m, width=width, **known) for m in (2, 3, 4)}
    for name, (structure, width) in structures.items()
}
pd.DataFrame(gap).T.round(0).rename_axis("upper over lower rate")

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-K", "5-V")

# %% [markdown]
# ## Can anyone do better? (Theorems 5, 6 and 9, Fig. 6)
#
# A *needle*, a first layer that is 0 but for one small peak, hides in one of $M$ cells; later layers raise it to a
# reward of $2\epsilon$, almost at full slope. Until it is hit all needles look alike, so with fewer than $M/2$ pulls at
# least half are missed: on average simple regret is at least $\epsilon$, and $R_T$ at least $\epsilon T$.

# %% tags=["experiment"]
printed = {1.0: 0.958, 1.5: 0.939, 2.0: 0.934}
slopes = {nu: np.divide(*needle.slope_range(nu)) for nu in printed}  # r_min / r_max: 1 if the layers are straight
epsilon, cells, T = {1.0: 0.15, 1.5: 0.15, 2.0: 0.02}, needle_side**2, needle_side**2 // 2 - 1
needles = {nu: needle.Needles(needle_side, epsilon[nu], depth=3, nu=nu) for nu in printed}
found, summed = {}, {}
for nu, source in needles.items():
    its = run_trials(
        Experiment(source, rules | {"cEI, exact": ExactCascadeEI}, T), cells, seed, label=f"needles, nu {nu:g}"
    )
    found[nu] = pd.DataFrame({name: trace.regret.min(axis=1) for name, trace in its.items()}) / epsilon[nu]
    summed[nu] = pd.DataFrame(totals(its)) / (epsilon[nu] * T)
    job = partial(experiments.nonadaptive_regrets, source, [int(np.sqrt(T))])
    found[nu]["NonAda"] = np.ravel(map_trials(job, cells, seed, label=f"needles, NonAda, nu {nu:g}")) / epsilon[nu]
    record.table(found[nu].rename_axis("needle"), f"theorem5_needles_nu_{nu:g}")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = pictures.lower_bound(found, needles)
record.figure(fig, "fig6_and_theorem5")
plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("5-L", **measures.claim_5_L(slopes, printed))
record.judge("5-M", **measures.claim_5_M(found))
record.judge("5-S", **measures.claim_5_M(summed))
record.judge("5-T", **measures.claim_5_T(needles, Trial(seed, 0)))
record.judge("5-U", **measures.claim_5_U())

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
pd.DataFrame({"computed": slopes, "printed": printed}).rename_axis("nu").round(4)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-L", "5-M", "5-S", "5-T", "5-U")

# %% [markdown]
# ## Does it work on other networks?
#
# The paper has no experiment on *multi-output chains*, whose layers return vectors, and *feed-forward networks*. Small
# ones, after 49 pulls:

# %% tags=["experiment"]
regrets_of = {}
for structure in ("multi-output", "feed-forward"):
    network, n_grid = SMALL[structure]
    width = np.array([network(Trial(seed, number)).reward_range for number in range(networks)])
    its = {"GPN-UCB": partial(GPNUCB, n_grid=n_grid, half_width=1.5)}
    trace = run_trials(Experiment(network, its, 49), networks, seed, block=5, label=f"regret, {structure}")["GPN-UCB"]
    by_design = partial(experiments.nonadaptive_regrets, network, [7 if network.points.shape[1] == 2 else 49])
    design = map_trials(by_design, networks, seed, block=5, label=f"NonAda, {structure}")
    regrets_of[structure] = {"GPN-UCB": trace.regret.min(axis=1) / width, "NonAda": np.ravel(design) / width}
    regrets_of[structure]["R_T, GPN-UCB"] = trace.regret.sum(axis=1) / width

# %% jupyter={"source_hidden": true} tags=["hide-input"]
record.judge("5-W", **measures.claim_5_W(regrets_of))
near = {name: pd.DataFrame(its)[["GPN-UCB", "NonAda"]].le(0.05).mean() for name, its in regrets_of.items()}
table = pd.DataFrame(near).T.add_suffix(", within 5 %")
table["mean R_T, GPN-UCB"] = [its["R_T, GPN-UCB"].mean() for its in regrets_of.values()]
record.table(table.rename_axis("structure"), "other_structures")
table.round(2)

# %% tags=["full-scale", "nbval-ignore-output"]
record.show("5-W")

# %% [markdown]
# ## Since the paper
#
# The rates for $R_T$ rest on a conjecture: that a sum of posterior standard deviations without noise stays small.
# [Iwazaki 2025](https://arxiv.org/abs/2502.19006) proves a nearly optimal bound for GP-UCB on one function without
# noise, *constant* for the squared exponential kernel (we read abstract and introduction only); on layers it is silent.
# If regret is constant, little of it falls into the second half:

# %% tags=["experiment"]
flat = replace(norm_2, widths=(1,))
one_layer = run_trials(Experiment(flat, {"GP-UCB": black_box_ucb}, horizon), norm_2_chains, seed, label="one layer")
one_layer = scaled(one_layer, np.array([flat(Trial(seed, number)).reward_range for number in range(norm_2_chains)]))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lines = one_layer | {"GPN-UCB": of_norm_2["GPN-UCB"]}
growth = {name: trace.regret[:, horizon // 2 :].sum(axis=1) / trace.regret.sum(axis=1) for name, trace in lines.items()}
shares = {name: estimated_mean(its, seed) for name, its in growth.items()}
record.expect(
    shares["GP-UCB"].high < 0.5,
    f"On one layer {shares['GP-UCB'].value:.0%} of GP-UCB's regret falls into the second half, on chains "
    f"{shares['GPN-UCB'].value:.0%} of GPN-UCB's.",
)
table = {name: {"mean R_T": its.regret.sum(axis=1).mean(), "of it in the second half": growth[name].mean()}
         for name, its in lines.items()}  # fmt: skip
table = pd.DataFrame(table).T.rename({"GP-UCB": "GP-UCB, one layer", "GPN-UCB": "GPN-UCB, chains of norm 2"})
record.table(table.rename_axis("rule"), "since_the_paper")
table.round(2)

# %% [markdown]
# ## What the paper leaves open
#
# Every combination of open choices is one *interpretation*, played on the first chains of each kind only. Stated are
# $B = 2$, $T = 50$ and 100 points; other values ($B = 4$ shown, 200 points kept) count for no verdict.
#
# <details><summary>All settings that the paper does not fix</summary>
#
# | setting | the paper | here | what it changes |
# | --- | --- | --- | --- |
# | chains | drawn from the GP prior, not published; $B = 2$ | draws; layers of norm 2 | played below, without cEI |
# | $\mathcal D$ | 100 points of $[-5, 5]$ | 100; 200 | 200 kept, does not count |
# | envelope of layer 1 | shortcuts named for $i \ge 2$ | none; over the arms | played below |
# | interval without a point of $\mathcal D$ | its two endpoints | endpoints; nearest point | played below |
# | $B$ | 2 | 2; 4 | shown below, 4 does not count |
# | $T$ of simple regret | 50 | 50 | stated |
# | draws beyond the arms' grid | not said | layers 2, 3: smooth between points half a lengthscale apart | none played |
# | kernel of the black box | not said | the first layer's | none played |
# | first arm, ties | random tie-breaking | one random order a trial, common to all rules | none on average |
# | samples of cEI | 1000 | fresh in every round, for every arm | none played |
# | $\eta_0$ of OI | not said | $\eta_1$ | none played |
# | placement of NonAda | any with small fill distance | centres of equal squares | none played |
#
# </details>

# %% tags=["experiment"]
choices = record.rules.interpretations
given = {("draws", B): replace(draws, norm_bound=float(B)) for B in choices["B"]}
given |= {("norm 2", B): replace(norm_2, norm_bound=float(B)) for B in choices["B"]}
sets_of = list(product(choices["points"], choices["first layer"], choices["empty set"]))
n = min(cross_chains, chains, sampled_chains, norm_2_chains, len(obvious))


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def version(points, first, empty):
    return partial(GPNUCB, n_grid=points, first=first == "enveloped", empty=empty)


def play(source, ranges, label):
    """{GPN-UCB's sets or a rival's name: trace} on the first chains of a source."""
    its = {case: version(*case) for case in sets_of} | {name: rules[name] for name in WITHOUT_CEI}
    count = len(ranges)
    return scaled(run_trials(Experiment(source, its, horizon), count, seed, label=f"interpretations, {label}"), ranges)


# %% tags=["experiment"]
of_kind = {"draws": ranges[:n], "norm 2": ranges_2[:n]}
played = {key: play(source, of_kind[key[0]], f"{key[0]}, B {key[1]}") for key, source in given.items()}
clear_of = {B: Repeated(given["draws", B], 1, obvious[:n]) for B in choices["B"]}
on_obvious = {B: play(source, clear_ranges[:n], f"obvious, B {B}") for B, source in clear_of.items()}


# %% jupyter={"source_hidden": true} tags=["hide-input"]
def traces_of(case, source=None):
    """The traces of GPN-UCB and its rivals under an interpretation."""
    its = played[case["chains"], case["B"]] if source is None else source[case["B"]]
    own = its[case["points"], case["first layer"], case["empty set"]]
    return {"GPN-UCB": own} | {name: its[name] for name in WITHOUT_CEI}


def at(case):
    return min(case["T"], horizon)


# %% jupyter={"source_hidden": true} tags=["hide-input"]
kind_of = {"draws": many_of(n), "norm 2": gaps_2[:n] <= SEVERAL}
cei_total = totals(of_cei)["cEI"][:n]


def surpasses(case):
    its = kind_of[case["chains"]]
    panel = measures.of_chains(measures.over_pulls(traces_of(case), pulls), its if its.sum() > 1 else slice(None))
    return measures.more(panel, "GPN-UCB", WITHOUT_CEI, seed)["mean"]


def of_clear(case, rule, rivals):
    first = {"cEI": on_clear["cEI"].first(n)}
    panel = measures.over_pulls(traces_of(case, on_obvious) | first, pulls) | {"NonAda": nonada_clear[:n].mean(axis=1)}
    return measures.more(panel, rule, rivals, seed)["mean"]


def cumulative(case, rivals):
    return measures.more(totals(traces_of(case)) | {"cEI": cei_total}, "GPN-UCB", rivals, seed)["mean"]


ours = ["first layer", "empty set"]  # points of D, B and T are stated
asked = {
    "5-A": (["chains", *ours], lambda c: cumulative(c, WITHOUT_CEI)),
    "5-B": (ours, lambda c: cumulative(c, ["cEI"])),
    "5-D": (["chains", *ours], lambda c: measures.within(simple_at(traces_of(c), at(c))["GPN-UCB"])),
    "5-E": (["chains", *ours], surpasses),
    "5-G": (["chains"], lambda c: measures.behind(totals(traces_of(c)), "cUCB")),
    "5-N": (ours, lambda c: of_clear(c, "GPN-UCB", ["cEI"])),
}

# %% jupyter={"source_hidden": true} tags=["hide-input"]
main, specified = {name: values[0] for name, values in choices.items()}, {}
for claim_id, (names, estimate) in asked.items():
    cases = cross({name: choices[name] for name in names})  # what a claim does not depend on is as in the main one
    specified[claim_id] = record.play(claim_id, [(case, estimate(main | case)) for case in cases])

# %% jupyter={"source_hidden": true} tags=["hide-input"]
fig = claim_curve(specified["5-B"], record.rules, "5-B", f"{n} chains")
ways = f"in {(specified['5-B']['state'] == 'holds').sum()} of {len(specified['5-B'])} interpretations"
fig.axes[0].set_title(f"With the paper's B, GPN-UCB has clearly less regret than cEI {ways}")
record.figure(fig, "interpretations_5-B")
plt.show()

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
for claim_id, table in specified.items():
    if claim_id != "5-B":
        fig = claim_curve(table, record.rules, claim_id, f"{n} chains")
        record.figure(fig, f"interpretations_{claim_id}")
        plt.show()

# %% jupyter={"source_hidden": true} tags=["hide-input"]
plain = choices["points"][0], choices["first layer"][0], choices["empty set"][0]
against_cei = {B: totals(traces_of(main | {"B": B}))["GPN-UCB"].mean() / cei_total.mean() for B in choices["B"]}
lost = {B: int((simple_regret(on_obvious[B][plain])[:, -1] > 0.05).sum()) for B in choices["B"]}
smaller, larger = choices["B"]
record.expect(
    against_cei[smaller] < 1 < against_cei[larger],
    f"Given B = {larger}, GPN-UCB has on the first draws {against_cei[larger] - 1:.0%} more cumulative regret than "
    f"sampled cEI. With the paper's B it has {1 - against_cei[smaller]:.0%} less there.",
)
on_both = {
    "mean R_T, draws": {B: totals(traces_of(main | {"B": B}))["GPN-UCB"].mean() for B in choices["B"]},
    "over that of cEI": against_cei,
    "mean R_T, norm 2": {B: totals(played["norm 2", B])[plain].mean() for B in choices["B"]},
    f"missed, of {n} obvious maximisers": lost,
}
table = pd.DataFrame(on_both).rename_axis(f"B, {n} chains each")
record.table(table, "given_b")

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
table.round(2)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
held = {claim_id: table["state"].value_counts() for claim_id, table in specified.items()}
pd.DataFrame(held).T.fillna(0).astype(int).rename_axis("interpretations", axis=0).rename_axis(None, axis=1)

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["hide-input", "hide-output"]
together = {claim_id: specified[claim_id] for claim_id in ("5-A", "5-B", "5-E", "5-N")}
settings = joint(together, ours, {"chains": "draws"})
record.table(settings, "joint_settings")
settings.head(8)

# %% [markdown]
# ## What did not come out, and why

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
of_peaks = missed[missed["kind"] == "draws, obvious maximiser"]
far = of_peaks["end"] > 0.05
excluded = (of_peaks["outside"][far] > 0).mean()
record.explain(
    ["5-N"],
    excluded > 0.8 and lost[larger] < lost[smaller],
    "GPN-UCB misses obvious maximisers because B is too small for them (5-N)",
    f"On {excluded:.0%} of the {far.sum()} draws whose obvious maximiser GPN-UCB misses, the bounds with B = 2 exclude "
    "its true value in the first layer.",
)
top = measures.of_chains(simple, many)
levels = [top[rule].mean() for rule in ("GPN-UCB", *WITHOUT_CEI)]
record.explain(
    ["5-E"],
    max(levels) - min(levels) < 0.02,
    "With several maximisers simpler rules come as near (5-E)",
    f"On {many.sum()} draws GPN-UCB and its four rivals without samples come equally near, on average within "
    f"{max(levels) - min(levels):.1%} of the range of each other.",
)
finest = (of_nonada[:, -1] <= 0.05).mean()
record.explain(
    ["5-D", "5-AB", "5-O"],
    near_optimal["nonada"].value < finest,
    "NonAda comes near only when its grid is finer than a lengthscale (5-D, 5-AB, 5-O)",
    f"With 49 pulls they lie {10 / 7:.1f} lengthscales apart; with {pulls[-1]} {10 / sides[-1]:.1f} apart, and "
    f"it is near-optimal in {finest:.0%} of draws.",
)
record.explain(
    ["5-C"],
    against_exact["noise"].low > 1 and against_exact["mean"].high > 0,
    "GPN-UCB leads cEI because cEI's samples are noisy (5-C)",
    f"On {sampled_chains} draws sampled cEI has {against_exact['noise'].value:.1f} times the regret of the exact one, "
    "which GPN-UCB does not clearly beat.",
)
record.explain(
    ["5-V"],
    of_others["slack"].value > 0.05,
    "Not testable, for rounding adds more than any regret (5-V)",
    f"In two dimensions rounding adds {of_others['slack'].value:.0%} of the range to the bound.",
)

# %% [markdown]
# ## What to take home: how to choose B
#
# Too small a $B$ rules the best arm out for ever; too large a one costs pulls. Start from what is known of the layers,
# and raise $B$ if outputs refute it (not played).

# %% jupyter={"outputs_hidden": true, "source_hidden": true} tags=["full-scale", "hide-output", "nbval-ignore-output"]
mean = of_some.mean()
record.finding(
    ["5-A"],
    mean["GPN-UCB"] < nearest,
    "Looking inside can pay: GPN-UCB, which carries intervals from layer to layer, has "
    f"{1 - mean['GPN-UCB'] / nearest:.0%} less cumulative regret than the best of four rules, of which cUCB and OI see "
    f"the layers, too, on average over {sampled_chains} chains of three unknown functions.",
)
record.finding(
    ["5-B"],
    record.verdict("5-B") == "reproduced" and against_cei[smaller] < 1 < against_cei[larger],
    f"As the paper says, GPN-UCB has less regret, by {1 - mean['GPN-UCB'] / mean['cEI']:.0%}, than cEI, the expected "
    "improvement that samples the layers. That may depend on the paper's B, which bounds the norm of a layer: with "
    f"twice that B, on fewer chains, it has {against_cei[larger] - 1:.0%} more (not judged).",
)
record.finding(
    ["5-D", "5-N"],
    near_optimal["nonada"].high < 0.9 and record.verdict("5-D") == "not reproduced",
    "After a quarter of the rounds, by when the paper has both of its rules near the best arm, GPN-UCB is near it in "
    f"{near_optimal['gpn'].value:.0%} of trials, but NonAda, a fixed grid, in {near_optimal['nonada'].value:.0%} of "
    "chains.",
)
record.finding(
    ["5-N", "5-J"],
    excluded > 0.8 and lost[larger] < lost[smaller] and far.mean() > (ends_of["cEI"] > 0.05).mean(),
    f"Where one peak stands out GPN-UCB ends more than 5% short of it in {far.mean():.0%} of drawn chains. A "
    "likely reason, found after the run: drawn chains exceed the paper's B, so its bounds can rule the best arm out; "
    f"with twice that B, played on a part of them, it missed {'none' if not lost[larger] else 'fewer'}.",
)
undecided = against_exact["mean"].low < 0 < against_exact["mean"].high
which = "which has less regret is open" if undecided else "which then has less regret"
record.finding(
    ["5-C"],
    against_exact["mean"].high > 0 and (ends_of["cEI"] > 0.05).mean() < far.mean(),
    "Use GPN-UCB if you trust a bound B and the regret of every pull matters, else cEI with its expectation computed, "
    f"not sampled; {which}.",
)

# %% jupyter={"source_hidden": true} tags=["full-scale", "hide-input", "nbval-ignore-output"]
record.finish()
