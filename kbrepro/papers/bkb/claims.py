"""What Calandriello et al. (2019) say, as predicates on tables, and their theorems with what runs say of them.

The paper ran one experiment, Fig. 1, which shows BKB alone: one function, one sequence of pulls. All else is proved,
argued or cited. A variance is *close* if neither it nor the exact one is more than alpha = 3 times the other (Theorem 1
at eps = 1/2, "a small constant factor"); one that falls short by more *starves*. Operations are the printed leading
terms of an algorithm, with constant 1 (`costs.operations`).
"""

import math
from functools import partial

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.stats import binom

from kbrepro import information, store
from kbrepro.claims import Checked, claim, theorem
from kbrepro.claims.tables import Table
from kbrepro.claims.words import indistinguishable, much_better, near_constant, on_par, similar, sometimes, typically
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.bkb.costs import operations
from kbrepro.papers.bkb.policy import ACCURACY, ALPHA, Budgeted
from kbrepro.problems import RKHSFunction, Trial

NOISE_VARIANCE, DELTA = 0.01, 0.1
PANELS = 6, 63, 215
DESIGNS = "uniform", "window", "plane"
QBARS = 4.0, 8.0, 3.0, 2.0, 1.0
OPPONENTS = "exact, refit", "exact, counts", "exact, rows", "exact, covariance"
percentile_95 = partial(np.quantile, q=0.95)


# Fig. 1: the worst ratio is the largest of exact over approximate variance (starved) and of its inverse (inflated)

#: Labels of Fig. 1 under other kernels and noise variances, which have no first panel, t = 6.
OTHERS = {
    "noise variance 0.0001": "Fig. 1, (0.0001, 'exp(-100 r^2)', 'uniform')",
    "exp(-r^2/200)": "Fig. 1, (0.01, 'exp(-r^2/200)', 'uniform')",
}


def seeds_of_figure_1(kept):
    """Per posterior and seed: starved, inflated and coverage of the unseen half at t pulls; the worst of all panels."""
    columns = {}
    for name, label in {"": "starvation", **OTHERS}.items():
        seeds = pd.concat(kept.results(label))
        seeds["worst"] = seeds[["starved", "inflated"]].max(axis=1)
        for (posterior, setting), of_one in seeds.groupby(["name", "setting"]):
            rule = ", ".join(filter(None, (posterior, setting, name)))
            columns[rule, "worst ratio"] = of_one.groupby("seed")["worst"].max().to_numpy()
            for t, at in of_one.groupby("t"):
                columns |= {(rule, f"{what}, t = {t}"): at[what].to_numpy() for what in ("starved", "inflated")}
                columns[rule, f"coverage, t = {t}"] = at["coverage"].to_numpy()
            columns[rule, "starves"] = (at["starved"].to_numpy() > ALPHA).astype(float)  # after the last pull
    at = np.array(PANELS) - 1
    columns["BKB, Theorem 1's", "worst ratio"] = worst_ratios(kept, "Fig. 1, own qbar")[:, at].max(axis=1)
    return columns


def worst_ratios(kept, label):
    """The larger of exact over BKB's variance and its inverse over all arms, (runs, T), of a label with one qbar."""
    ratios = [one for run in kept.results(label) for one in run.by_qbar.values()]
    return np.array([np.maximum(one.high, 1 / one.low) for one in ratios], dtype=float)


def under(name):
    """The posteriors of Fig. 1 in another setting."""
    return {"BKB": f"BKB, qbar=3, {name}", "SoR": f"SoR, {name}", "RFF": f"RFF, m=|S|, {name}"}


SETTINGS = {
    "qbar": {q: {"BKB": f"BKB, qbar={q}"} for q in "325"} | {"Theorem 1's": {"BKB": "BKB, Theorem 1's"}},
    "dictionary": {"drawn anew": {}, "incremental": {"BKB": "BKB, streaming, qbar=3"}},
    "features": {m: {"RFF": f"RFF, m={m}"} for m in ("|S|", "100")},
    "noise variance": {"0.01": {}, "0.0001, without t = 6": under("noise variance 0.0001")},
    "kernel": {"exp(-100 r^2)": {}, "exp(-r^2/200), without t = 6": under("exp(-r^2/200)")},
}
ALGORITHM_1 = {"incremental": "Algorithm 1: we start from an empty set and iterate over all pulls"}
fig1 = Table("Fig. 1", "", 1, "function and its pulls", ("BKB",), SETTINGS, ALGORITHM_1, seeds_of_figure_1)
seeds = Table("Fig. 1, our seeds", readings=SETTINGS, load=seeds_of_figure_1)


@claim(
    "4-AD",
    "Section 3.2, Fig. 1",
    effect=lambda fig1: np.max([fig1("BKB", f"inflated, t = {t}", percentile_95) for t in PANELS], axis=0),
    shows="BKB's variance over the exact one at the worst arm, 95th percentile of seeds, the largest of three panels",
)
def bkb_is_close_in_figure_1(fig1):
    """Both problems, and BKB's accuracy, are highlighted in Figure 1 using a benchmark experiment proposed by Wang et
    al. (2018)."""
    return fig1("BKB", "worst ratio") <= ALPHA


@claim(
    "4-B",
    "Section 3.1",
    kind="remark",
    effect=lambda fig1: fig1("SoR", "coverage, t = 215"),
    shows="share of the unseen half of Fig. 1 inside SoR's mean ± 3 sd, on BKB's dictionary",
)
def sor_starves(fig1):
    """Using [...] is known to cause variance starvation, as it can severely underestimate the variance of a test point
    [...] when it is far from the points in [...]"""
    return much_better(1, fig1("SoR", "starved, t = 215"))


@claim(
    "4-C",
    "Section 5",
    kind="remark",
    effect=lambda seeds: seeds("RFF", "starved, t = 215", np.median),
    shows="exact variance over that of |S| random features at the worst arm, median of seeds",
)
def random_features_starve(seeds):
    """GP-UCB with standard RFF is not low-regret as RFF are suffer from variance starvation (Wang et al., 2018) and
    unfeasibly large RFF embeddings are necessary to prevent it."""
    return seeds("RFF", "starves") > 0.5


# Theorem 1 below its own qbar


def ratios_by_qbar(kept):
    """Per qbar and run: worst ratio in the first tenth of the pulls and in all, and share of bad steps, of designs."""
    columns = {}
    for q in QBARS:
        for design in DESIGNS:
            ratios = [run.by_qbar[q] for run in kept.results(f"BKB, {design}")]
            worst = np.array([np.maximum(one.high, 1 / one.low) for one in ratios], dtype=float)
            columns[f"qbar = {q:g}", f"worst, {design}"] = worst.max(axis=1)
            columns[f"qbar = {q:g}", f"worst of a tenth, {design}"] = worst[:, : worst.shape[1] // 10].max(axis=1)
            columns[f"qbar = {q:g}", f"bad, {design}"] = np.array([bad_steps(one).mean() for one in ratios])
    return columns


def bad_steps(ratios):
    """Whether some arm's ratio is outside [1 / alpha, alpha] after each pull, (T,)."""
    return (ratios.low < 1 / ALPHA) | (ratios.high > ALPHA)


QBAR = {"qbar": {f"{q:g}": {"BKB": f"qbar = {q:g}"} for q in QBARS}}
pulls = Table("pulls of Theorem 1, 400 each", size=1, unit="sequence of pulls", readings=QBAR, load=ratios_by_qbar)


@claim(
    "4-AE",
    "Section 3.2",
    kind="remark",
    effect=lambda pulls: np.max(
        [worst(pulls, d, np.max) / worst(pulls, d, np.max, " of a tenth") for d in DESIGNS], axis=0
    ),
    shows="worst ratio in 400 pulls over that in 40 of all runs, at one qbar, the largest of three designs",
)
def one_qbar_serves_ten_horizons(pulls):
    """Note that although [...] must satisfy the condition of Theorem 1 for the result to hold, it is quite robust to
    uncertainty on the desired horizon"""
    return np.all(
        [on_par(worst(pulls, design), worst(pulls, design, part=" of a tenth")) for design in DESIGNS], axis=0
    )


def worst(pulls, design, of=None, part=""):
    """The worst ratio of BKB's variance in a design."""
    return pulls("BKB", f"worst{part}, {design}", of)


@claim(
    "4-F",
    "Theorem 1",
    kind="own question",
    effect=lambda pulls: np.mean([pulls("BKB", f"bad, {design}") for design in DESIGNS], axis=0),
    shows="share of steps in which some variance is more than 3 times too large or too small, mean of three designs",
)
def theorem_1_holds_at_a_small_qbar(pulls):
    """What Theorem 1 proves of a qbar of several hundred holds at qbar = 4."""
    return np.all([worst(pulls, design) <= ALPHA for design in DESIGNS], axis=0)


def equal_sizes(kept):
    """Worst inflation by BKB's dictionary and by as many pulls drawn uniformly, and its decades, by design."""
    inflation = {design: np.array(kept.results(f"equal size, {design}")) for design in ("window", "uniform")}
    columns = {(f"{rule}, {d}", "total"): its[:, i] for d, its in inflation.items() for i, rule in enumerate(FORMS)}
    return columns | {(rule, "decades"): np.log10(ratio) for (rule, _), ratio in columns.items()}


FORMS = "BKB", "DTC"
ON = {design: {form: f"{form}, {design}" for form in FORMS} for design in ("window", "uniform")}
dictionaries = Table("dictionaries of one size", readings={"pulls": ON}, load=equal_sizes)


@claim(
    "4-P",
    "Section 3.1",
    kind="remark",
    effect=lambda dictionaries: dictionaries("DTC", "decades") - dictionaries("BKB", "decades"),
    shows="decades by which as many uniform pulls inflate the variance more than BKB's dictionary, in a closing window",
)
def the_choice_of_points_matters(dictionaries):
    """Moreover, even for a fixed m, the quality of the embedding greatly depends on which inducing points are
    included."""
    return much_better(dictionaries["BKB"], dictionaries["DTC"])


# Regret: the paper has no such run; [0, 1]^2, 1000 arms, T = 1500, norm 2, qbar = 4


def short(label, q=4):
    """BKB and exact GP-UCB in 300 rounds on 400 arms."""
    return {"BKB": (label, (q, "drawn anew")), "exact": (label, "exact")}


CHOICES = {
    "radius": {"log-determinant": {}, "3 sd": {"BKB": "BKB, 3 sd", "exact": "exact, 3 sd"}},
    "dictionary": {"drawn anew": {}, "incremental": {"BKB": "BKB, streaming"}},
    "arms": {"1000": {}, "4000": {"*": "A = 4000"}, "10000": {"*": "A = 10000"}},
    "qbar": {"4": {}} | {f"{q}, 300 rounds": short("regret, (0.01, 0.2)", q) for q in (2, 3, 4, 5)},
    "noise variance": {"0.01": {}, "0.0001, 300 rounds": short("regret, (0.0001, 0.2)")},
    "lengthscale": {"0.2": {}, "0.1, 300 rounds": short("regret, (0.01, 0.1)")},
    "kernel": {"squared exponential": {}, "linear": {"*": "linear"}},
}
regret = Table("regret", "regret", pool=("exact", "BKB"), readings=CHOICES, excluded=ALGORITHM_1)
#: The same functions and noise in the main setting alone.
radii = Table("regret by radius", "regret", pool=("exact", "BKB"))


@claim(
    "4-H",
    "Section 3",
    kind="remark",
    effect=lambda regret: regret["BKB"] / regret["exact"] - 1,
    shows="mean R_T of BKB over that of exact GP-UCB with the same radius, minus 1",
)
def the_sketch_costs_no_regret(regret):
    """BKB can be tuned to significantly reduce the complexity of GP-UCB with a negligible impact on the regret."""
    return indistinguishable(regret["BKB"], regret["exact"], regret.axis)


@claim(
    "4-N",
    "Theorem 2",
    kind="own question",
    effect=lambda radii: radii["BKB, Theorem 2's radius"] / radii["exact"] - 1,
    shows="mean R_T of BKB with Theorem 2's radius over that of exact GP-UCB with the log-determinant one, minus 1",
)
def the_radius_decides(radii):
    """The radius decides the regret, not the sketch."""
    wide, sketched = radii["BKB, Theorem 2's radius"], radii["BKB"]
    return much_better(sketched, wide) & indistinguishable(sketched, radii["exact"], radii.axis)


def fixed_sizes(kept):
    """R_T after 3000 rounds and after 300 on a fixed number of random features, 3 sd, d = 1."""
    traces = kept.traces("two features") | kept.traces("more features")
    curves = {rule: trace.cumulative_regret for rule, trace in traces.items()}
    columns = {(rule, "total"): curve[:, -1] for rule, curve in curves.items()}
    return columns | {(rule, "first tenth"): curve[:, curve.shape[1] // 10 - 1] for rule, curve in curves.items()}


FIXED = tuple(f"RFF, {m} features" for m in (2, 4, 10, 20))
fixed = Table("fixed numbers of features", pool=FIXED, load=fixed_sizes)


@claim(
    "4-O",
    "Section 1.1",
    kind="remark",
    effect=lambda fixed: np.log10(fixed[FIXED[0]] / fixed(FIXED[0], "first tenth")),
    shows="exponent of t in the mean regret from T / 10 to T = 3000, GP-UCB on two random features",
)
def some_fixed_scheme_has_linear_regret(fixed):
    """This is crucial to achieve low regret, since fixed approximation schemes may suffer linear regret."""
    return sometimes(*(similar(fixed[rule], 10 * fixed(rule, "first tenth")) for rule in FIXED))


# Sizes and cost: 1000 arms, T = 5000, qbar = 4


def steps_of_runs(d, kept):
    """Operations of the last step and of that after a fifth of the rounds; space; log det as BKB estimates it."""
    label = f"A = 1000, d = {d}"
    sizes = [kept.results(f"cost, {label}")[0]["sizes"], *kept.results(f"sizes, {label}")]
    steps = [
        operations(of_run, 1000).assign(kept=(1000 + of_run["distinct"]) * of_run["distinct"] ** 2) for of_run in sizes
    ]
    T = len(sizes[0])
    columns = {(rule, "total"): np.array([step[rule].iloc[-1] for step in steps]) for rule in steps[0]}
    columns |= {(rule, "at a fifth"): np.array([step[rule].iloc[T // 5 - 1] for step in steps]) for rule in steps[0]}
    columns["BKB", "space"] = np.array([1000.0 * of_run["features"].iloc[-1] for of_run in sizes])
    columns["kept", "space"] = np.array([1000.0 * of_run["distinct"].iloc[-1] for of_run in sizes])
    columns["exact, refit", "space"] = np.full(len(sizes), 1000.0 * T)
    columns["BKB", "log det"] = np.array([of_run["d_eff"].iloc[-1] * math.log(T) for of_run in sizes])
    columns["BKB, with alpha", "log det"] = ALPHA * columns["BKB", "log det"]
    points = np.random.default_rng([seed_of(kept, f"sizes, {label}"), 1000, d]).uniform(size=(1000, d))
    columns["worst case", "log det"] = np.full(len(sizes), worst_log_det(points, T))
    return columns


def seed_of(kept, label):
    """The root seed of a label's problem."""
    return store.opened(kept.folder, label)[0]["seed"]


def worst_log_det(points, horizon):
    """The bound of Srinivas et al., eq. 8, on log det of any T pulls at points (A, d), from the kernel's spectrum."""
    spectrum = np.linalg.eigvalsh(SquaredExponential(0.2)(points, points))
    return 2 * information.allocated_gain(spectrum, NOISE_VARIANCE, horizon)[-1] / (1 - math.exp(-1))


COSTS = {
    "opponent": {name.removeprefix("exact, "): {"exact": name} for name in OPPONENTS},
    "members": {"qbar = 4": {}, "every distinct arm, as Theorem 1's qbar": {"BKB": "kept"}},
    "estimate": {"without alpha": {"estimate": "BKB"}, "with alpha, as in the radius": {"estimate": "BKB, with alpha"}},
}
line, plane = (Table(f"cost, d = {d}", readings=COSTS, load=partial(steps_of_runs, d)) for d in (1, 2))


@claim(
    "4-I",
    "Abstract",
    kind="remark",
    effect=lambda plane: exponent(plane),
    shows="exponent of t in the operations of a step from T / 5 to T = 5000, d = 2",
)
def a_step_is_near_constant(line, plane):
    """achieves near-optimal regret (and hence near-optimal convergence rate) with near-constant per-iteration
    complexity"""
    return near_constant(exponent(line)) & near_constant(exponent(plane))


def exponent(cost):
    """The exponent of t in the mean operations of BKB's step, last four fifths of the rounds."""
    return np.log(cost["BKB"] / cost("BKB", "at a fifth")) / math.log(5)


@claim(
    "4-J",
    "Section 1.1",
    kind="remark",
    effect=lambda line, plane: np.min(
        [cost("exact, refit", "space") / cost("BKB", "space") for cost in (line, plane)], axis=0
    ),
    shows="space of exact GP-UCB over BKB's after 5000 pulls, the smaller of d = 1 and 2",
)
def a_step_is_much_cheaper_than_a_refit(line, plane):
    """inducing points results in an algorithm with [...] per-step runtime and [...] space, a significant improvement
    over the [...] time and [...] space cost of GP-UCB."""
    return np.all(
        [
            much_better(cost("BKB", what), cost("exact, refit", what))
            for cost in (line, plane)
            for what in ("total", "space")
        ],
        axis=0,
    )


@claim(
    "4-K",
    "Section 1.1",
    kind="remark",
    effect=lambda line, plane: np.min([cost["exact"] / cost["BKB"] for cost in (line, plane)], axis=0),
    shows="operations of exact GP-UCB's step over BKB's after 5000 pulls, the smaller of d = 1 and 2",
)
def a_step_is_drastically_cheaper(line, plane):
    """achieving near-optimal regret with a computational complexity drastically smaller than GP-UCB."""
    return np.all([much_better(cost["BKB"], cost["exact"], word="drastically") for cost in (line, plane)], axis=0)


@claim(
    "4-AC",
    "Section 4",
    kind="remark",
    effect=lambda plane: plane("estimate", "log det") / plane("worst case", "log det"),
    shows="BKB's estimate of the log determinant over its worst case by Srinivas et al., eq. 8, d = 2, T = 5000",
)
def the_estimate_is_far_below_the_worst_case(line, plane):
    """While this is up to log [...] larger than the exact log det, it is data adaptive and much smaller than the known
    worst case upper bounds."""
    return np.all(
        [much_better(cost("estimate", "log det"), cost("worst case", "log det")) for cost in (line, plane)], axis=0
    )


def dimensions(kept):
    """d_eff of BKB's pulls over T = 500 by lengthscale, d = 2; over d = 20 inputs of a linear kernel."""
    columns = {
        (f"lengthscale {length}", "total"): [run["d_eff"] / 500 for run in kept.results(f"lengthscale {length}")]
        for length in LENGTHS
    }
    directions = np.random.default_rng([seed_of(kept, "linear"), 20]).standard_normal((500, 20)) * 0.8 ** np.arange(20)
    points = directions / np.linalg.norm(directions, axis=1).max()
    grams = (points[arms].T @ points[arms] for arms in kept.traces("linear")["BKB"].arms[:10])
    spectra = np.array([np.linalg.eigvalsh(gram) for gram in grams])
    columns["linear", "total"] = (spectra / (spectra + NOISE_VARIANCE)).sum(axis=1) / 20
    return {name: np.array(values) for name, values in columns.items()}


LENGTHS = 0.1, 0.2, 0.4, 0.8
spaces = Table("d_eff over t, and over d of a linear kernel", load=dimensions)


@claim(
    "4-S",
    "Abstract",
    kind="remark",
    effect=lambda spaces: spaces["linear"],
    shows="d_eff over d, linear kernel on 20 inputs",
)
def d_eff_is_small(spaces):
    """is the effective dimension of the explored space, which is typically much smaller than both d and"""
    return much_better(spaces["linear"], 1) & typically(*(much_better(spaces[f"lengthscale {a}"], 1) for a in LENGTHS))


def whole_runs(kept):
    """Operations of a whole run, T = 1500, d = 1 and 2 together."""
    runs = [run["operations"] for d in (1, 2) for run in kept.results(f"whole runs, d = {d}")]
    return {(rule, "total"): np.array([run[rule] for run in runs]) for rule in runs[0]}


whole = Table("whole runs", load=whole_runs)


@claim(
    "4-Y",
    "since the paper: Calandriello et al. 2022",
    kind="own question",
    effect=lambda radii: radii["mini-GP-UCB"] / radii["exact"] - 1,
    shows="mean R_T of mini-GP-UCB over that of exact GP-UCB with the same radius, minus 1",
)
def mini_gp_ucb_is_cheap_and_good(radii, whole):
    """mini-GP-UCB has as little regret as exact GP-UCB, for far fewer operations."""
    return on_par(radii["mini-GP-UCB"], radii["exact"]) & much_better(whole["mini-GP-UCB"], whole["exact"])


# Theorems. Theorem 1's own qbar keeps nearly every pull at this scale; where runs have a smaller one, the row says so


def within_alpha(kept, *labels):
    """Count runs in which some arm of some step leaves [1 / alpha, alpha]; room: worst ratio over alpha."""
    worst = np.concatenate([worst_ratios(kept, label).max(axis=1) for label in labels])
    return Checked(int((worst > ALPHA).sum()), len(worst), DELTA, float(worst.max() / ALPHA))


@theorem("4-A", "Section 3.2", "all arms and steps of Fig. 1, 215 pulls, at Theorem 1's qbar, alpha = 3")
def variance_is_close(kept):
    """Another important consequence of Theorem 1 is that BKB's variance estimate is always close to the exact one up
    to a small constant factor."""
    return within_alpha(kept, "Fig. 1, own qbar")


@theorem(
    "4-E",
    "Theorem 1",
    "all arms and steps, 200 pulls in three designs, the theorem's qbar (every pull is kept), alpha = 3, delta = 0.1",
)
def theorem_1_accuracy(kept):
    """If we run BKB with [...] then with probability 1 - [...] for all [...] and for all [...], we have [...]"""
    return within_alpha(kept, *(f"own qbar, {design}" for design in DESIGNS))


@theorem(
    "4-G", "Theorem 1", "all steps, three designs, at the theorem's qbar and at 1, 2, 3, 4, 8: members over the bound"
)
def theorem_1_size(kept):
    """then with probability 1 - [...] for all [...] and for all [...], we have [...]"""
    shares = []
    for label in (f"{form}, {design}" for form in ("own qbar", "BKB") for design in DESIGNS):
        for run in kept.results(label):
            bounds = {q: 3 * (1 + 1 / NOISE_VARIANCE) * ALPHA * q * run.dimension for q in run.by_qbar}
            shares += [1 / float((bounds[q] / one.members).min()) for q, one in run.by_qbar.items()]
    return Checked(int((np.array(shares) > 1).sum()), len(shares), DELTA, max(shares))


def dimension(kernel, points, counts):
    """d_eff of pulls by how often each point (A, d) was pulled: `information.effective_dimension`, sooner."""
    weights = np.sqrt(counts)
    spectrum = np.maximum(np.linalg.eigvalsh(weights[:, None] * kernel(points, points) * weights), 0.0)
    return (spectrum / (spectrum + NOISE_VARIANCE)).sum()


@theorem("4-M", "Theorem 2", "R_T over the bound, T = 300, 100 arms, lengthscale 0.1, the theorem's qbar, delta = 0.1")
def theorem_2(kept):
    """then, with probability of at least 1 - [...] the regret [...] of BKB is bounded as [...]"""
    source = RKHSFunction(SquaredExponential(0.1), grid(100), NOISE_VARIANCE, norm=2.0)
    model, trace = (
        source(Trial(seed_of(kept, "Theorem 9, own qbar"), 0)).model,
        kept.traces("Theorem 9, own qbar")["BKB"],
    )
    d_eff = [dimension(source.kernel, source.points, np.bincount(arms, minlength=100)) for arms in trace.arms]
    bounds = np.array([Budgeted(DELTA).regret_bound(model, d, trace.horizon) for d in d_eff])
    shares = trace.regret.sum(axis=1) / bounds
    return Checked(int((shares > 1).sum()), len(shares), DELTA, float(shares.max()))


@theorem("4-AF", "Theorem 9", "error of the mean over Theorem 2's width, all arms and kept rounds, same runs")
def theorem_9(kept):
    """Under the same assumptions as Theorem 2 with probability at least 1 - [...] and for all"""
    ratios = kept.traces("Theorem 9, own qbar")["BKB"].band_ratio.max(axis=1)
    return Checked(int((ratios > 1).sum()), len(ratios), DELTA, float(ratios.max()))


@theorem(
    "4-AG",
    "Corollary 3",
    "eigenvalues of the sketched design matrix relative to the exact one after 300 pulls, three designs, qbar = 4",
)
def corollary_3(kept):
    """Under the same conditions as Theorem 2, for all [...] we have"""
    found = [run for design in DESIGNS for run in kept.results(f"Proposition 4, {design}")]
    ratios = np.array([max(run.high, 1 / run.low) for run in found])
    return Checked(int((ratios > ALPHA).sum()), len(ratios), DELTA, float(ratios.max() / ALPHA))


def excess(kept, what, tolerance=1e-9):
    """Count runs whose largest relative violation is more than rounding; room: one plus the largest."""
    found = [getattr(run, what) for design in DESIGNS for run in kept.results(f"Proposition 4, {design}")]
    return Checked(int((np.array(found) > tolerance).sum()), len(found), 0.0, 1 + max(found))


@theorem(
    "4-V",
    "Proposition 4",
    "all arms, steps and runs of 300 pulls, three designs: a variance falls, by the factor 1 + sigma^2 at most",
)
def proposition_4(kept):
    """For the posterior variance, we have that [...] the others are are by Calandriello et al., 2017a."""
    return excess(kept, "variance")


@theorem("4-AH", "Section 4.1", "log det of the sketch over the exact one, all steps, same runs, qbar = 4")
def log_det_of_the_sketch(kept):
    """In other words, restricting the problem to [...] acts as a regularization and reduces the variance of the
    martingale."""
    return excess(kept, "determinant")


def chains(kept):
    """The four quantities of Proposition 5 by run and step, (runs, T, 4)."""
    return np.concatenate([np.array(kept.results(f"Proposition 5, {design}")) for design in DESIGNS])


@theorem(
    "4-L",
    "Proposition 5",
    "three inequalities, all steps of 300 pulls, three designs (the first is an equality at t = 1)",
)
def proposition_5(kept):
    """The effective dimension [...] is upperbounded as [...] Inequality (1) is due to Proposition 4, inequality (2) is
    due to Hazan et al. (2006), and Inequality (3) is due to Calandriello et al. (2017b)."""
    quantities = chains(kept)
    shares = (quantities[..., :-1] / quantities[..., 1:]).max(axis=(1, 2))
    return Checked(int((shares > 1 + 1e-9).sum()), len(shares), 0.0, float(shares.max()))


@theorem(
    "4-T",
    "Section 4.1",
    "log det(K / lambda + I) over d_eff log(kappa^2 t), t = 2 to 300, three designs, lambda = 0.01, kappa = 1",
)
def log_det_by_d_eff(kept):
    """to compute so we first bound it with [...] and then we bound [...] which can be computed efficiently."""
    quantities = chains(kept)[:, 1:]
    t = np.arange(2, quantities.shape[1] + 2)
    shares = (quantities[..., 2] / (quantities[..., 0] * np.log(t))).max(axis=1)
    return Checked(int((shares > 1 + 1e-9).sum()), len(shares), 0.0, float(shares.max()))


@theorem("4-U", "Section 4", "all arms pulled in 300 rounds, BKB at qbar = 10^9 and exact GP-UCB")
def everything_kept_is_exact(kept):
    """in the worst case we will include all arms selected so far [...] Therefore, even in this case BKB's runtime does
    not grow unbounded, but BKB transforms back into exact GP-UCB."""
    alike = kept.traces("everything kept")
    differs = (alike["exact"].arms != alike["BKB"].arms).any(axis=1)
    return Checked(int(differs.sum()), len(differs))


@theorem(
    "4-AA",
    "Section 3.2",
    "space over qbar A d_eff, all operations over qbar^2 times what is printed; T = 5000, d = 1 and 2 (constants ours)",
)
def cost_by_d_eff(kept):
    """As a result, the per-step complexity is of order [...] Space-wise, we only need to store the embedded arms and V
    matrix, which takes at most"""
    shares, qbar = [], 4
    for n, d in ((1000, 1), (1000, 2), (4000, 2)):
        label = f"A = {n}, d = {d}"
        for sizes in [kept.results(f"cost, {label}")[0]["sizes"], *kept.results(f"sizes, {label}")]:
            t, d_eff, spent = sizes.index.to_numpy(float), sizes["d_eff"], operations(sizes, n)["BKB"].cumsum()
            space = (sizes["features"] / d_eff).max() / qbar
            shares.append(max(space, (spent / (t * n * d_eff**2 + np.minimum(t, n) * d_eff**3)).max() / qbar**2))
    return Checked(int((np.array(shares) > 1).sum()), len(shares), 0.0, float(max(shares)))


@theorem("4-AI", "Section 4", "alpha^(3/2) at eps = 1/2, by which Theorem 2's bound grows beside log T, over 3")
def factor_of_the_regret(kept):
    """setting [...] results in a bound only 3log T times larger"""
    return Checked(int(ALPHA**1.5 > 3), 1, 0.0, ALPHA**1.5 / 3)


@theorem("4-AJ", "Section 4", "(alpha / eps^2)^2 at eps = 1/2, by which m^2 grows with qbar, over 12")
def factor_of_the_cost(kept):
    """only accounts for a constant factor 12 in the per-step computational complexity"""
    return Checked(int((ALPHA / ACCURACY**2) ** 2 > 12), 1, 0.0, (ALPHA / ACCURACY**2) ** 2 / 12)


def accurate_dictionaries(n_runs=300):
    """Design matrix A, pulls Phi (n, d) and projection P of eps-accurate dictionaries, eps = 1/2, lambda = 1."""
    for number in range(n_runs):
        rng = np.random.default_rng([4, number])
        Phi = rng.standard_normal((100, 30)) * 0.5 ** np.arange(30)
        A = Phi.T @ Phi + np.eye(30)
        chance = np.minimum(1, 4 * np.einsum("ij,ij->i", Phi @ np.linalg.inv(A), Phi))
        drawn = rng.random(100) < chance
        error = (Phi[drawn].T / chance[drawn]) @ Phi[drawn] - Phi.T @ Phi
        if np.abs(eigh(error, A, eigvals_only=True)).max() <= ACCURACY:
            yield A, Phi, np.linalg.pinv(Phi[drawn]) @ Phi[drawn]


@theorem(
    "4-AK",
    "Lemma 6",
    "eigenvalues of the sketched design matrix relative to the exact one, the accurate ones of 300 dictionaries",
)
def lemma_6(kept):
    """is e-accurate w.r.t. [...] then"""
    values = [eigh(P @ Phi.T @ Phi @ P + np.eye(30), A, eigvals_only=True) for A, Phi, P in accurate_dictionaries()]
    shares = np.array([max(value[-1], 1 / value[0]) / ALPHA for value in values])
    return Checked(int((shares > 1).sum()), len(shares), 0.0, float(shares.max()))


@theorem("4-AL", "Proposition 7", "quoted from Tropp (2015), for any operators")
def proposition_7(kept):
    """be a sequence of independent self-adjoint random operators"""
    return Checked(0, 0)


@theorem(
    "4-AM",
    "Proposition 8",
    "chance that 100 d coins of chance 1/100 show more than 3 d heads over exp(-2 d), d = 1 to 100, exactly",
)
def proposition_8(kept):
    """be independent Bernoulli random variables, each with success probability"""
    d = np.arange(1, 101)
    excesses = binom.logsf(3 * d, 100 * d, 0.01) + 2 * d
    return Checked(int((excesses > 0).sum()), len(d), 0.0, float(np.exp(excesses.max())))


@theorem(
    "4-AN", "Proposition 10", "(I - P) over lambda / (1 - eps) A^-1, largest eigenvalue; the dictionaries of Lemma 6"
)
def proposition_10(kept):
    """by Theorem 10, we have that"""
    values = [
        eigh(np.eye(30) - P, np.linalg.inv(A) / (1 - ACCURACY), eigvals_only=True)[-1]
        for A, _, P in accurate_dictionaries()
    ]
    return Checked(int((np.array(values) > 1 + 1e-9).sum()), len(values), 0.0, float(max(values)))


@theorem(
    "4-AO",
    "Proposition 11",
    "noise in the norm of the proof over its bound, 200 runs of 60 pulls on 50 arms, Gaussian noise, delta = 0.1",
)
def proposition_11(kept):
    """with probability at least [...] for all"""
    K, shares = SquaredExponential(0.2)(grid(50), grid(50)), []
    for number in range(200):
        rng = np.random.default_rng([11, number])
        arms, noise = rng.integers(50, size=60), rng.standard_normal(60) * math.sqrt(NOISE_VARIANCE)
        of_run = []
        for t in range(4, 61, 4):
            k = K[np.ix_(arms[:t], arms[:t])] + NOISE_VARIANCE * np.eye(t)
            held = noise[:t] @ noise[:t] - NOISE_VARIANCE * noise[:t] @ np.linalg.solve(k, noise[:t])
            log_det = np.linalg.slogdet(k / NOISE_VARIANCE)[1]
            of_run.append(held / (2 * NOISE_VARIANCE * (log_det - math.log(DELTA))))
        shares.append(max(of_run))
    return Checked(int((np.array(shares) > 1).sum()), len(shares), DELTA, float(max(shares)))
