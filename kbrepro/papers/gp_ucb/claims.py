"""What Srinivas et al. (2010) say of their experiments, as predicates on the tables behind their figures.

The paper names neither which beta_t the GP-UCB of Fig. 5 has, nor the incumbent of EI and MPI, nor a margin of MPI (in
prior standard deviations): three choices, varied one at a time. The detectors on I-880 were never published, so Fig. 5c
has no table.
"""

import math
from functools import cache, partial
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from kbrepro.claims import Checked, claim, theorem, unchecked
from kbrepro.claims.tables import TOTAL, Table
from kbrepro.claims.words import better, clearly_better, competitive, on_par, similar
from kbrepro.confidence import Bayes
from kbrepro.information import allocated_gain, gain_rate, greedy_gain, matern_exponent
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb import experiments, gain, widths
from kbrepro.problems import GPDraw, RKHSFunction, Trial, prior_draws
from kbrepro.simulation import observations

NAIVE = ("mean only", "variance only")
RIVALS = ("EI", "MPI", *NAIVE)
POOL = ("GP-UCB", *RIVALS)
NOISY = {rule: f"{rule}, noisy incumbent" for rule in ("EI", "MPI")}
CHOICES: dict[str, Any] = {
    "beta": {"divided by 5": {"GP-UCB": "GP-UCB/5"}, "as in Theorem 1": {}},
    "incumbent": {"posterior mean": {}, "noisy reward": NOISY},
    "margin of MPI": {"0.1": {}} | {name: {"MPI": f"MPI, margin {name}"} for name in ("0.03", "0.01", "0")},
}
THIRDS: dict[str, Any] = {"last third": {}} | {
    third: {"*": f"Fig. 5b, {third}"} for third in ("second third", "first third")
}
BEFORE = "Section 6: covariance of the first two-thirds, functions of the remaining third"
DAYS = {third: BEFORE for third in ("first third", "second third")}


def on_every_function(kept):
    """R_T of three rules on the functions of Fig. 5a and on those that were played for them alone."""
    labels, rules = ("Fig. 5a", "three rules, many"), ("GP-UCB", "GP-UCB/5", "EI")
    columns = {(rule, TOTAL): np.concatenate([kept.column(label, rule, TOTAL) for label in labels]) for rule in rules}
    return columns | {(NOISY["EI"], TOTAL): kept.column("Fig. 5a", NOISY["EI"], TOTAL)}


fig5a = Table("Fig. 5a", "Fig. 5a", 30, "function", POOL, CHOICES)
#: The same with more functions, for GP-UCB and EI alone.
fig5a_more = Table("Fig. 5a", size=30, pool=("GP-UCB", "EI"), readings=CHOICES, load=on_every_function)
fig5b = Table("Fig. 5b", "Fig. 5b, last third", 2000, "row", POOL, CHOICES | {"days": THIRDS}, DAYS, rows=2400)
#: Of GP-UCB with different beta_t nothing is left open.
betas = Table("Fig. 5a", size=30, pool=("GP-UCB", "GP-UCB/5"), load=on_every_function)
incumbents = Table("Fig. 5a", size=30, readings={"incumbent": CHOICES["incumbent"]}, load=on_every_function)
others = Table("Fig. 5a", "Fig. 5a", 30, readings={name: CHOICES[name] for name in ("incumbent", "margin of MPI")})


# Fig. 5a: functions of the prior


@claim(
    "1-P",
    "Section 6",
    effect=lambda incumbents: incumbents["GP-UCB"] / incumbents["EI"],
    shows="mean R_T of GP-UCB, beta as in Theorem 1, over that of EI",
)
def competitive_as_in_theorem_1(incumbents, others):
    """the choice of β_t as recommended by Theorem 1 leads to competitive performance of GP-UCB"""
    return competitive(incumbents, "GP-UCB", ["EI"]) & competitive(others, "GP-UCB", RIVALS[1:])


@claim(
    "1-D",
    "Section 6, Fig. 5a",
    effect=lambda betas: betas["GP-UCB/5"] / betas["GP-UCB"],
    shows="mean R_T with beta divided by 5 over that with beta as in Theorem 1",
)
def a_fifth_of_beta_is_better(betas):
    """we find (using cross-validation) that the algorithm is improved by scaling β_t down by a factor 5."""
    return better(betas["GP-UCB/5"], betas["GP-UCB"])


@claim(
    "1-F",
    "Section 6, Fig. 5a",
    effect=lambda fig5a: (
        np.min([fig5a[f"MPI, margin {name}"] for name in ("0.03", "0.01", "0")] + [fig5a["MPI"]], axis=0) / fig5a["EI"]
    ),
    shows="mean R_T of MPI at its best margin over that of EI; synthetic alone, the traffic data was never published",
)
def mpi_does_equally_well(fig5a):
    """On synthetic and traffic data MPI does equally well."""
    return similar(fig5a["MPI"], fig5a["GP-UCB"]) & similar(fig5a["MPI"], fig5a["EI"])


# Fig. 5b: temperature


@claim(
    "1-H",
    "Section 6, Fig. 5b",
    effect=lambda fig5b: (
        np.min([fig5b[rule] for rule in RIVALS[1:]], axis=0) / np.maximum(fig5b["GP-UCB"], fig5b["EI"])
    ),
    shows="mean R_T of the best of MPI, mean only and variance only over the worse of GP-UCB and EI",
)
def gp_ucb_and_ei_lead(fig5b):
    """For temperature data, the GP-UCB algorithm and EI heuristic clearly outperform the others"""
    return np.all([clearly_better(fig5b[a], fig5b[b]) for a in ("GP-UCB", "EI") for b in RIVALS[1:]], axis=0)


@claim(
    "1-I",
    "Section 6, Fig. 5b",
    effect=lambda fig5b: fig5b["GP-UCB"] / fig5b["EI"],
    shows="mean R_T of GP-UCB over that of EI",
)
def gp_ucb_and_ei_are_alike(fig5b):
    """and do not exhibit significant difference between each other."""
    return similar(fig5b["GP-UCB"], fig5b["EI"])


@claim(
    "1-O",
    "Section 6, summary; Section 3 and abstract: compares favorably",
    effect=lambda fig5a_more: fig5a_more["GP-UCB"] / fig5a_more["EI"],
    shows="mean R_T of GP-UCB over that of EI, its best rival, on functions",
)
def on_par_with_all(fig5a_more, fig5a, fig5b):
    """In summary, GP-UCB performs at least on par with the existing approaches which are not equipped with regret
    bounds."""
    pairs = [(fig5a_more, "EI"), *((fig5a, rule) for rule in RIVALS[1:]), *((fig5b, rule) for rule in RIVALS)]
    return np.all([on_par(fig["GP-UCB"], fig[rival]) for fig, rival in pairs], axis=0)


@claim(
    "1-Y",
    "Section 7",
    effect=lambda fig5b: fig5b["GP-UCB"] / np.min([fig5b[rival] for rival in RIVALS], axis=0),
    shows="mean R_T of GP-UCB over that of its best rival, on sensors",
)
def on_par_on_sensors(fig5b):
    """Our experiments on real sensor network data indicate that GP-UCB performs at least on par with competing
    criteria for GP optimization, for which no regret bounds are known at present."""
    return np.all([on_par(fig5b["GP-UCB"], fig5b[rival]) for rival in RIVALS], axis=0)


# Remarks and own questions


def stuck_on_a_lower_peak(kept):
    """1 for each trial of Fig. 5a that ends on the slope of a peak lower than the best one, else 0."""
    traces = {rule: kept.traces("Fig. 5a")[rule] for rule in ("GP-UCB", "GP-UCB/5", "mean only")}
    draw = prior_draws(PRIOR.kernel, PRIOR.points)  # once, as PRIOR draws

    def source(trial):
        return SimpleNamespace(expected_reward=draw(trial.rng("function")))

    shares = experiments.stuck_trials(traces, source, kept.seed("Fig. 5a"))
    return {(rule, "stuck"): share for rule, share in shares.items()}


def growth_of_four_gains(kept):
    """How much the gain of greedy pulls and the bound of eq. 8 grow from T = 100 to 1000, on 100 arms of equal trace.

    `needed`: how many eigenvalues hold 99 % of the trace, which is less where the spectrum decays more rapidly.
    """
    columns = {}
    for name, (greedy, spectrum) in greedy_gains(kept).items():
        for what, gained in (("greedy", greedy), ("eq. 8", eq_8(spectrum, 1000))):
            columns[name, what] = np.array([gained[-1] - gained[99]])
        columns[name, "needed"] = np.array([(spectrum.cumsum() < 0.99 * spectrum.sum()).sum()])
    return columns


def four_kernels(kept, n):
    """The kernels of Fig. 3 with n arms each."""
    line = grid(n)
    kernels = {"independent": Independent(), "Matérn 2.5": Matern(0.2, nu=2.5), "SE": SquaredExponential(0.2)}
    directions = experiments.unit_vectors(n, 4, kept.seed("Fig. 5a"))
    return {name: (kernel, line) for name, kernel in kernels.items()} | {"linear": (Linear(), directions)}


def eq_8(spectrum, T):
    """The bound of eq. 8 on gamma_1 .. gamma_T, (T,)."""
    return gain.spectral_bound(spectrum, S2, T)


def over_slower(fig3, what):
    """How much a gain grows, over that of a kernel whose spectrum decays less rapidly, for each such pair."""
    pairs = permutations(fig3.pool, 2)
    return [fig3(a, what) / fig3(b, what) for a, b in pairs if (fig3(a, "needed") < fig3(b, "needed")).all()]


S2 = 0.025
PRIOR = GPDraw(SquaredExponential(0.2), grid(1000), S2)
peaks = Table("Fig. 5a", size=30, readings={"beta": CHOICES["beta"]}, load=stuck_on_a_lower_peak)
fig3 = Table(
    "Fig. 3", size=1, unit="figure", pool=("independent", "Matérn 2.5", "SE", "linear"), load=growth_of_four_gains
)
later = Table("Fig. 5a", "Fig. 5a", 30)
divisors = Table("divisors of beta", "divisors of beta", 30)


@claim(
    "1-Q",
    "Section 3",
    kind="remark",
    effect=lambda peaks: peaks("mean only", "stuck") - peaks("GP-UCB", "stuck"),
    shows="share of trials in which mean only ends on a lower peak, minus that of GP-UCB",
)
def the_mean_alone_gets_stuck(peaks):
    """However, this rule is too greedy too soon and tends to get stuck in shallow local optima."""
    return better(peaks("GP-UCB", "stuck"), peaks("mean only", "stuck"))


@claim(
    "1-G",
    "Section 3",
    kind="remark",
    effect=lambda fig5a: fig5a["variance only"] / fig5a["GP-UCB"],
    shows="mean R_T of variance only over that of GP-UCB",
)
def the_variance_alone_is_wasteful(fig5a):
    """For sequential optimization, the ED rule (4) can be wasteful"""
    return better(fig5a["GP-UCB"], fig5a["variance only"])


@claim(
    "1-X",
    "Section 5.1, Fig. 3",
    kind="remark",
    effect=lambda fig3: np.max(over_slower(fig3, "greedy"), axis=0),
    shows="growth of the greedy gain from T = 100 to 1000 over that of a kernel that decays less rapidly, the largest",
)
def rapid_decay_slow_growth(fig3):
    """The more rapidly the spectrum of [...] decays, the slower the growth of [...]. Figure 3 illustrates this
    intuition."""
    return np.all([ratio < 1 for what in ("greedy", "eq. 8") for ratio in over_slower(fig3, what)], axis=0)


@claim(
    "1-E",
    "Fig. 5a",
    kind="own question",
    effect=lambda fig5a_more: fig5a_more("GP-UCB", of=np.median) / fig5a_more("EI", of=np.median),
    shows="median R_T of GP-UCB over that of EI (their means: 1-O)",
)
def on_par_with_ei_in_the_median(fig5a_more):
    """Is GP-UCB/5 on par with EI in the median of its functions, too?"""
    return on_par(fig5a_more("GP-UCB", of=np.median), fig5a_more("EI", of=np.median))


@claim(
    "1-T",
    "since the paper: Takeno et al. 2023, 2024, 2025",
    kind="own question",
    effect=lambda later: later["PIMS"] / later["GP-UCB/5"],
    shows="mean R_T of PIMS over that of GP-UCB/5",
)
def the_divisor_can_go(later):
    """Are PIMS and GP-EIMS, which have proofs and nothing to tune, on par with GP-UCB/5, and IRGP-UCB not?"""
    pims, ei_ms, irgp = (on_par(later[rule], later["GP-UCB/5"]) for rule in ("PIMS", "GP-EIMS", "IRGP-UCB"))
    return pims & ei_ms & ~irgp


@claim(
    "1-Z",
    "Section 6",
    kind="own question",
    effect=lambda divisors: divisors["beta / 10"] / divisors["beta / 5"],
    shows="mean R_T with beta divided by 10 over that with beta divided by 5",
)
def a_tenth_of_beta_is_better(divisors):
    """Is a tenth of beta better than the fifth that was found by cross-validation?"""
    return better(divisors["beta / 10"], divisors["beta / 5"])


# Theorems and lemmas, with delta = 0.1, s2 = 0.025, on the 1,000 arms of Fig. 5a; gamma_T by the sum of eq. 8

DELTA, T = 0.1, np.arange(1, 1001)
FEW, FIVE = T[:300], (10, 30, 100, 300, 1000)
BOUNDED = RKHSFunction(SquaredExponential(0.2), grid(1000), S2, norm=1.0)
THEOREM_2 = widths.CompactArms(DELTA, d=1, side=1.0, **widths.slope_tail(0.2))
ALL, SOME = "200 runs, T up to 1,000; room: ", "40 runs, T up to 300; room: "


@cache
def max_gains():
    """Upper bounds on gamma_1 .. gamma_1000."""
    return allocated_gain(eigvalsh(PRIOR.kernel(PRIOR.points, PRIOR.points)), S2, len(T))


@cache
def width(number):
    """The root of beta_t of Theorem 1, 2 or 3, (1000,)."""
    norm_1 = partial(widths.KnownNorm(DELTA, max_gains()).at, norm=1.0)
    at = {1: partial(Bayes(DELTA).at, n_arms=1000), 2: THEOREM_2.at, 3: norm_1}[number]
    return np.array([at(int(t)) for t in T])


@cache
def walks(kept, label):
    """40 kept runs of 300 rounds, with what the posterior said of the arm of each round before it was pulled.

    `spread`: its variance over s2; `gained`: the gain of the pulls so far; `error`: the noise over its sd; `factor`: L
    of K + s2 I; `whitened`: L^-1 y.
    """
    source, runs = BOUNDED if label == "Theorem 3" else PRIOR, []
    for number in range(40):
        trial = Trial(kept.seed(label), number)
        problem, arms = source(trial), kept.traces(label)["GP-UCB"].arms[number, :300]
        y, x, f = np.array(observations(problem, arms, trial.rng("run"))), PRIOR.points[arms], problem.expected_reward
        L = cholesky(PRIOR.kernel(x, x) + S2 * np.eye(len(x)), lower=True)
        whitened, variance = solve_triangular(L, y, lower=True), L.diagonal() ** 2 - S2
        run = {"arms": arms, "f": f[arms], "regret": problem.regret(arms), "mean": y - L.diagonal() * whitened}
        run |= {"sd": np.sqrt(variance), "spread": variance / S2, "gained": 0.5 * np.log1p(variance / S2).cumsum()}
        run |= {"error": (y - f[arms]) / math.sqrt(S2), "factor": L, "whitened": whitened, "function": f}
        runs.append(SimpleNamespace(**run))
    return runs


# Checks: functions of the kept trials


def counted(shares, allowed=0.0):
    """How many runs exceed 1 somewhere, and the largest share; shares of a bound (runs, ...)."""
    worst = np.array([np.max(share) for share in shares])
    return Checked(int((worst > 1 + 1e-9).sum()), len(worst), allowed, float(worst.max()))


def each_run(number, share, allowed=DELTA):
    """A check of 40 kept runs of Theorem 1, 2 or 3: `share(run)` is what is bounded over its bound, (300,)."""
    return lambda kept: counted([share(run) for run in walks(kept, f"Theorem {number}")], allowed)


def regret_bound(number, more=0):
    """A check of the regret bound of a theorem in all rounds of its runs; the bound is larger by `more`."""

    def check(kept):
        bound = widths.regret_bound(width(number), max_gains(), S2) + more
        return counted(kept.traces(f"Theorem {number}")["GP-UCB"].cumulative_regret / bound, DELTA)

    return check


def band(number):
    """A check that no arm leaves the band of a theorem; the room is the share of the width that nine of ten need."""

    def check(kept):
        worst = kept.traces(f"Theorem {number}")["GP-UCB"].band_ratio.max(axis=1)
        return Checked(int((worst > 1).sum()), len(worst), DELTA, float(np.quantile(worst, 0.9)))

    return check


def two_forms_of_the_gain(kept):
    gaps = []
    for arms in (run.arms[:100] for run in walks(kept, "Theorem 1")[:10]):
        K, total = PRIOR.kernel(PRIOR.points[arms], PRIOR.points[arms]), 0.0
        for t in range(len(arms)):  # eq. 2, round by round
            k = K[:t, t]
            total += 0.5 * math.log1p((K[t, t] - k @ np.linalg.solve(K[:t, :t] + S2 * np.eye(t), k)) / S2)
        gaps.append(abs(total / (0.5 * np.linalg.slogdet(np.eye(len(arms)) + K / S2)[1]) - 1))
    return Checked(int(np.sum(np.array(gaps) > 1e-9)), len(gaps))


def squares_over_bound(run):
    return (run.regret**2).cumsum() / (8 / math.log1p(1 / S2) * width(1)[:300] ** 2 * run.gained)


def nearest_point_over_bound(run):
    root = THEOREM_2.b * math.sqrt(math.log(2 * THEOREM_2.a / DELTA))
    beta = 2 * np.log(2 * FEW**2 * math.pi**2 / (6 * DELTA)) + 4 * np.log(FEW * root)
    gaps = np.ceil(FEW**2 * root) - 1  # between the points of D_t
    best_arm = int(run.function.argmax())
    near = np.round(PRIOR.points[best_arm] * gaps) / gaps
    v = np.triu(solve_triangular(run.factor, PRIOR.kernel(PRIOR.points[run.arms], near[:, None]), lower=True), 1)
    mean, sd = run.whitened @ v, np.sqrt(np.maximum(1 - (v**2).sum(axis=0), 0))
    return abs(run.function[best_arm] - mean) / (np.sqrt(beta) * sd + 1 / FEW**2)


def cut_variances_over_bound(run):
    return [np.minimum(run.spread, a).cumsum() * math.log1p(a) / (2 * a * run.gained) for a in (0.25, 1.0)]


def martingale(run):
    """Of a run with f of norm 1: Z_T, and the martingale's steps 2 e (mean - f) / (1 + sd^2)."""
    steps = 2 * run.error * (run.mean - run.f) / math.sqrt(S2) / (1 + run.spread)
    return 1 - (run.whitened**2).cumsum() + (run.error**2).cumsum(), steps


def growth_over_bound(run):
    Z, steps = martingale(run)
    return Z / (1 + steps.cumsum() + (run.error**2 * run.spread / (1 + run.spread)).cumsum())


def stopped_martingale_over_bound(run):
    beta, (Z, steps) = width(3)[1:301] ** 2, martingale(run)
    inside = np.minimum.accumulate(np.concatenate([[True], (beta >= Z)[:-1]]))  # E of the round before
    return 2 * (steps * inside).cumsum() / beta


def greedy_of_few(kept):
    shares = []
    for kernel, _ in four_kernels(kept, 2).values():
        for case in range(5):
            few = np.random.default_rng([kept.seed("Fig. 5a"), case]).random((8, 1))
            greedy = greedy_gain(kernel, few, S2, 5)[0]
            shares += [(1 - math.exp(-1)) * gain.best_gain(kernel, few, S2, t) / greedy[t - 1] for t in range(1, 6)]
    return counted(shares)


@cache
def greedy_gains(kept):
    """The greedy gain (1000,) and the spectrum of four kernels on 100 arms, by kernel."""
    return {
        name: (greedy_gain(kernel, points, S2, 1000)[0], eigvalsh(kernel(points, points))[::-1])
        for name, (kernel, points) in four_kernels(kept, 100).items()
    }


def below_eq_8(kept):
    return counted([greedy / eq_8(spectrum, 1000) for greedy, spectrum in greedy_gains(kept).values()])


def below_the_split(kept):
    gains = greedy_gains(kept).values()
    return counted([greedy[t - 1] / gain.split_bound(spectrum, S2, t) for greedy, spectrum in gains for t in FIVE])


def below_the_operator_bound(kept):
    shares = []
    for name, tau in (("SE", 1.0), ("Matérn 2.5", 5 / 7)):
        greedy, operator = greedy_gains(kept)[name][0], gain.operator_spectrum(four_kernels(kept, 100)[name][0], 300)
        shares += [greedy[t - 1] / gain.operator_bound(operator, S2, t, tau) for t in FIVE]
    return counted(shares)


def kept_gains(kept):
    """The kept greedy gains (T,) by kernel and d."""
    cases = [("linear", d) for d in (1, 2, 4, 8)]
    cases += [(kernel, d) for d in (1, 2, 3) for kernel in ("squared exponential", "matern")]
    return dict(zip(cases, kept.results("growth of the gain"), strict=True))


def slope(x, y, rounds):
    """The slope of log y on x over the last decade of rounds, by least squares."""
    return np.polyfit(x(rounds), np.log(y[rounds - 1]), 1)[0]


def below_the_linear_bound(kept):
    gains = {d: gained for (kernel, d), gained in kept_gains(kept).items() if kernel == "linear"}
    return counted([gained / gain.linear_bound(d, S2, np.arange(1.0, len(gained) + 1)) for d, gained in gains.items()])


def exponents_of_the_gain(kept):
    shares = []
    for (kernel, d), gained in kept_gains(kept).items():
        rounds = np.unique(np.geomspace(len(gained) / 10, len(gained), 20).astype(int))
        if kernel == "squared exponential":
            shares.append(slope(lambda t: np.log(np.log(t)), gained, rounds) / (d + 1))
        elif kernel == "matern":
            shares.append(slope(np.log, gained, rounds) / matern_exponent(d, 2.5))
    return counted(shares)


def exponents_of_the_regret(kept):
    rounds, shares = np.unique(np.geomspace(100, 1000, 10).astype(int)), []
    for kernel, d in product(("linear", "squared exponential", "matern"), (1, 2, 3)):
        curve = kept.traces(f"growth, {kernel}, d = {d}")["GP-UCB"].cumulative_regret.mean(axis=0)
        shares.append(slope(np.log, curve, rounds) / experiments.allowed_exponent(gain_rate, kernel, 1000, d))
    return counted(shares)


def growing_norms(kept):
    norms = np.array(kept.results("norms of draws")) * (50, 100, 200, 400)
    grows = np.all(np.diff(norms, axis=1) > 0, axis=1)
    return Checked(int((~grows).sum()), len(grows), 0.0, float(8 / (norms[:, -1] / norms[:, 0]).mean()))


# The rows, in the order of the paper

theorem_1 = theorem(
    "1-L",
    "Theorem 1",
    "R_T below its bound in all rounds; " + ALL + "largest R_T over its bound",
    "we obtain a regret bound of [...] with high probability. Precisely,",
)(regret_bound(1))
lemma_5_1 = theorem(
    "1-AA",
    "Lemma 5.1",
    "all arms inside; " + ALL + "share of the width that nine of ten runs need",
    "Pick δ ∈ (0, 1) and set β_t = 2 log(|D| π_t / δ)",
)(band(1))
lemma_5_2 = theorem(
    "1-AB",
    "Lemma 5.2",
    "every round; " + SOME + "largest regret over its bound",
    "then the regret r_t is bounded by 2β_t^{1/2} σ_{t-1}(x_t).",
)(each_run(1, lambda run: run.regret / (2 * width(1)[:300] * run.sd), allowed=0.0))
lemma_5_3 = theorem(
    "1-AC",
    "Lemma 5.3",
    "the sum of each run's variances against its determinant, 1e-9 of it allowed; 10 runs, T up to 100; room: none",
    "The information gain for the points selected can be expressed in terms of the predictive",
)(two_forms_of_the_gain)
lemma_5_4 = theorem(
    "1-AD",
    "Lemma 5.4",
    "sum of r_t^2 against C_1 beta_T I; " + SOME + "largest sum over its bound",
    "let β_t be defined as in Lemma 5.1. Then, the following holds with probability",
)(each_run(1, squares_over_bound))
theorem_2 = theorem(
    "1-R",
    "Theorem 2",
    "R_T against the best of 1,000 arms of [0, 1], below its bound; " + ALL + "as Theorem 1",
    "The smoothness assumption on k( x, x') disqualifies GPs with highly erratic sample paths.",
)(regret_bound(2, more=2))
lemma_5_5 = theorem(
    "1-AE",
    "Lemma 5.5",
    "the arms pulled; " + SOME + "largest |f - mean| over its bound",
    "Pick δ ∈ (0, 1) and set β_t = 2 log(π_t / δ), where",
)(each_run(1, lambda run: abs(run.f - run.mean) / (np.sqrt(2 * np.log(FEW**2 * math.pi**2 / (6 * DELTA))) * run.sd)))
lemma_5_6 = theorem(
    "1-AF",
    "Lemma 5.6",
    "all of 1,000 arms inside the band of Theorem 2; " + ALL + "as Lemma 5.1",
    "except now we use D_t at each timestep.",
)(band(2))
lemma_5_7 = theorem(
    "1-AG",
    "Lemma 5.7",
    "x* the best of 1,000 arms, D_t equispaced; " + SOME + "largest |f - mean| over its bound",
    "Let [ x^* ]_t denotes the closest point in D_t to x^*. Hence, Then,",
)(each_run(2, nearest_point_over_bound))
PROBABLY = "Then, with probability greater than 1 - δ, for all t ∈ N, the regret is bounded as follows:"
lemma_5_8 = theorem(
    "1-AH", "Lemma 5.8", "beta_t of Theorem 2, which is smaller; " + SOME + "largest regret over its bound", PROBABLY
)(each_run(2, lambda run: run.regret / (2 * width(2)[:300] * run.sd + 1 / FEW**2)))
theorem_3 = theorem(
    "1-M",
    "Theorem 3",
    "norm 1, uniform noise; R_T below its bound; " + ALL + "as Theorem 1",
    "and that the noise ε_t has zero mean conditioned on the history and is bounded by σ almost",
)(regret_bound(3))
theorem_6 = theorem(
    "1-AI",
    "Theorem 6",
    "norm 1, uniform noise; all arms inside; " + ALL + "as Lemma 5.1",
    "Assume the noise variables ε_t are uniformly bounded by σ.",
)(band(3))
theorem_7 = unchecked(
    "1-AJ", "Theorem 7", "nothing: cited, and holds for every martingale", "Theorem 7 (Freedman) Suppose"
)
lemma_7_1 = theorem(
    "1-AK",
    "Lemma 7.1",
    "alpha = 1/4 and 1, the gain of the pulls for gamma_T; " + SOME + "largest sum over its bound",
    "The statement follows from Lemma 5.3.",
)(each_run(1, cut_variances_over_bound, allowed=0.0))
lemma_7_2 = theorem(
    "1-AL",
    "Lemma 7.2",
    "Z_T by the closed form of the proof; norm 1; " + SOME + "largest Z_T over its bound",
    "The next lemma bounds the growth of Z_T.",
)(each_run(3, growth_over_bound, allowed=0.0))
lemma_7_3 = theorem(
    "1-AM",
    "Lemma 7.3",
    "norm 1, uniform noise; " + SOME + "largest sum over its bound",
    "Given δ ∈ (0, 1) and β_t as defined in in Theorem 6, we have that",
)(each_run(3, stopped_martingale_over_bound))
eq_5 = theorem(
    "1-W",
    "Section 2, eq. 5",
    "four kernels, five random sets of 8 arms, T = 1 to 5, repeats allowed, by trying all; room: of (1 - 1/e) best",
    "at least a constant fraction of the optimal information gain value.",
)(greedy_of_few)
lemma_7_6 = theorem(
    "1-AN",
    "eq. 8 and Lemma 7.6",
    "greedy gain of four kernels on 100 arms, T up to 1,000; room: of the bound, its factor 1 / (1 - 1/e) is to spare",
    "We can upper-bound the information gain by considering the worst-case allocation",
)(below_eq_8)
lemma_7_8 = theorem(
    "1-AO",
    "Theorem 4 and Lemma 7.8",
    "Lemma 7.8, which has the constants: greedy gain of four kernels on 100 arms, the best T_*, T = 10 to 1,000; room: "
    "of the bound",
    "We split the right hand side in Lemma 7.6 at",
)(below_the_split)
lemma_7_5 = unchecked(
    "1-AP", "Lemmas 7.4 and 7.5", "nothing: no constant is given", "is uniformly Lipschitz-continuous in each component"
)
lemma_7_7 = unchecked(
    "1-AQ", "Lemma 7.7", "nothing: that a set exists no run can refute", "There exists a discretization [...] of size"
)
theorem_8 = theorem(
    "1-AR",
    "Theorem 8",
    "without its O-term, SE and Matérn 2.5: greedy gain on 100 arms of [0, 1], T = 10 to 1,000; room: of the bound",
    "for which the additional assumption of Theorem 2 holds. Moreover, let",
)(below_the_operator_bound)
theorem_5_1 = theorem(
    "1-B",
    "Theorem 5.1, Appendix C.3",
    "(d/2) log(1 + T/s2), which the proof gives: greedy gain, d = 1, 2, 4, 8, T up to 10,000; room: of the bound",
    "The largest eigenvalue [...] is O(T), so that",
)(below_the_linear_bound)
theorem_5_2 = theorem(
    "1-C",
    "Theorem 5.2 and 5.3",
    "the rate's exponent against that of the greedy gain in the last decade, d = 1, 2, 3, T up to 100,000; room: of it",
    "2. Exponential spectral decay. For the Squared Exponential kernel:",
)(exponents_of_the_gain)
fig_1 = theorem(
    "1-N",
    "Theorems 1 to 5, Fig. 1",
    "the exponent of T in the mean regret of 200 runs, T = 100 to 1,000, three kernels, d = 1, 2, 3; room: of Fig. 1's",
    "this result guarantees sublinear regret of GP-UCB for any dimension",
)(exponents_of_the_regret)
norms_of_draws = theorem(
    "1-S",
    "Section 4, after Theorem 3",
    "squared norm of a draw's interpolant, Matérn 2.5, larger at 400 than at 50 points; room: of its growth by 8",
    "almost surely (Wahba, 1990): sample paths are rougher than RKHS functions.",
)(growing_norms)
