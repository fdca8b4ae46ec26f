"""What Srinivas et al. (2010) say of their experiments, as predicates on the tables behind their figures.

The paper names neither which beta_t the GP-UCB of Fig. 5 has, nor the incumbent of EI and MPI, nor a margin of MPI (in
prior standard deviations): three choices, varied one at a time. The detectors on I-880 were never published, so Fig. 5c
has no table.
"""

import math
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro.claims import Checked, claim, own_question, remark, theorem, unchecked
from kbrepro.claims.tables import TOTAL, Table
from kbrepro.claims.words import better, clearly_better, competitive, on_par, similar
from kbrepro.confidence import Srinivas2010
from kbrepro.information import allocated_gain, gain_rate, greedy_gain, matern_exponent
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb import experiments, gain, widths
from kbrepro.problems import Model, prior_draws

OTHERS = ("MPI", "mean only", "variance only")
RIVALS = ("EI", *OTHERS)
MARGINS = ("0.03", "0.01", "0")
BETA = {"beta": {"divided by 5": {"GP-UCB": "GP-UCB/5"}, "as in Theorem 1": {}}}
NOISY = {rule: f"{rule}, noisy incumbent" for rule in ("EI", "MPI")}
INCUMBENT = {"incumbent": {"posterior mean": {}, "noisy reward": NOISY}}
MARGIN: dict[str, Any] = {"margin of MPI": {"0.1": {}} | {name: {"MPI": f"MPI, margin {name}"} for name in MARGINS}}
CHOICES = BETA | INCUMBENT | MARGIN
EARLIER = ("second third", "first third")
DAYS: dict[str, Any] = {"days": {"last third": {}} | {third: {"*": f"Fig. 5b, {third}"} for third in EARLIER}}
BEFORE = "Section 6: covariance of the first two-thirds, functions of the remaining third"
NOT_TESTED = dict.fromkeys(EARLIER, BEFORE)


def on_every_function(kept):
    """R_T of three rules on the functions of Fig. 5a and on those that were played for them alone."""
    labels, rules = ("Fig. 5a", "three rules, many"), ("GP-UCB", "GP-UCB/5", "EI")
    columns = {(rule, TOTAL): np.concatenate([kept.column(label, rule, TOTAL) for label in labels]) for rule in rules}
    return columns | {(NOISY["EI"], TOTAL): kept.column("Fig. 5a", NOISY["EI"], TOTAL)}


def stuck_on_a_lower_peak(kept):
    """1 for each trial of Fig. 5a that ends on the slope of a peak lower than the best one, else 0."""
    traces = {rule: kept.traces("Fig. 5a")[rule] for rule in ("GP-UCB", "GP-UCB/5", "mean only")}
    draw = prior_draws(SquaredExponential(0.2), grid(1000))
    return {(rule, "stuck"): of for rule, of in experiments.stuck_trials(traces, draw, kept.seed("Fig. 5a")).items()}


def growth_of_four_gains(kept):
    """How much the gain of greedy pulls and the bound of eq. 8 grow from T = 100 to 1000, on 100 arms of equal trace.

    `needed`: how many eigenvalues hold 99 % of the trace, which is less where the spectrum decays more rapidly.
    """
    columns = {}
    for name, (greedy, spectrum) in greedy_gains(kept).items():
        for what, gained in (("greedy", greedy), ("eq. 8", gain.spectral_bound(spectrum, S2, 1000))):
            columns[name, what] = np.array([gained[-1] - gained[99]])
        columns[name, "needed"] = np.array([(spectrum.cumsum() < 0.99 * spectrum.sum()).sum()])
    return columns


@cache
def greedy_gains(kept):
    """The greedy gain (1000,) and the spectrum of four kernels on 100 arms, by kernel."""
    line, unit = grid(100), experiments.unit_vectors(100, 4, kept.seed("Fig. 5a"))
    four = {"independent": (Independent(), line), "Matérn 2.5": (Matern(0.2, nu=2.5), line)}
    four |= {"SE": (SquaredExponential(0.2), line), "linear": (Linear(), unit)}
    return {
        name: (greedy_gain(kernel, points, S2, 1000)[0], eigvalsh(kernel(points, points))[::-1])
        for name, (kernel, points) in four.items()
    }


S2 = 0.025
fig5a = Table("Fig. 5a", "Fig. 5a", 30, "function", ("GP-UCB", *RIVALS), CHOICES)
#: The same with more functions, for GP-UCB and EI alone; of GP-UCB with different beta_t nothing is left open.
fig5a_more = Table("Fig. 5a", size=30, pool=("GP-UCB", "EI"), readings=CHOICES, load=on_every_function)
betas = Table("Fig. 5a", size=30, pool=("GP-UCB", "GP-UCB/5"), load=on_every_function)
incumbents = Table("Fig. 5a", size=30, readings=INCUMBENT, load=on_every_function)
others = Table("Fig. 5a", "Fig. 5a", 30, readings=INCUMBENT | MARGIN)
fig5b = Table("Fig. 5b", "Fig. 5b, last third", 2000, "row", fig5a.pool, CHOICES | DAYS, NOT_TESTED, rows=2400)
peaks = Table("Fig. 5a", size=30, readings=BETA, load=stuck_on_a_lower_peak)
fig3 = Table("Fig. 3", "", 1, "figure", ("independent", "Matérn 2.5", "SE", "linear"), load=growth_of_four_gains)
later = Table("Fig. 5a", "Fig. 5a", 30)
divisors = Table("divisors of beta", "divisors of beta", 30)


def over(rule, *rivals):
    """The mean R_T of a rule over that of its best rival, on the one table of a claim."""
    return lambda figure: figure[rule] / np.min([figure[rival] for rival in rivals], axis=0)


# Fig. 5a: functions of the prior


@claim(
    "1-P",
    "Section 6",
    effect=lambda incumbents: incumbents["GP-UCB"] / incumbents["EI"],
    shows="mean R_T of GP-UCB, beta as in Theorem 1, over that of EI",
)
def competitive_as_in_theorem_1(incumbents, others):
    """the choice of β_t as recommended by Theorem 1 leads to competitive performance of GP-UCB"""
    return competitive(incumbents, "GP-UCB", ["EI"]) & competitive(others, "GP-UCB", OTHERS)


FIFTH = "mean R_T with beta divided by 5 over that with beta as in Theorem 1"


@claim("1-D", "Section 6, Fig. 5a", effect=over("GP-UCB/5", "GP-UCB"), shows=FIFTH)
def a_fifth_of_beta_is_better(betas):
    """we find (using cross-validation) that the algorithm is improved by scaling β_t down by a factor 5."""
    return better(betas["GP-UCB/5"], betas["GP-UCB"])


def best_mpi(figure):
    """The mean R_T of MPI at its best margin over that of EI."""
    return (
        np.min([figure[rule] for rule in ("MPI", *(f"MPI, margin {name}" for name in MARGINS))], axis=0) / figure["EI"]
    )


SYNTHETIC = "mean R_T of MPI at its best margin over that of EI; synthetic alone, the traffic data was never published"


@claim("1-F", "Section 6, Fig. 5a", effect=best_mpi, shows=SYNTHETIC)
def mpi_does_equally_well(fig5a):
    """On synthetic and traffic data MPI does equally well."""
    return similar(fig5a["MPI"], fig5a["GP-UCB"]) & similar(fig5a["MPI"], fig5a["EI"])


# Fig. 5b: temperature


@claim(
    "1-H",
    "Section 6, Fig. 5b",
    effect=lambda fig5b: np.min([fig5b[rule] for rule in OTHERS], axis=0) / np.maximum(fig5b["GP-UCB"], fig5b["EI"]),
    shows="mean R_T of the best of MPI, mean only and variance only over the worse of GP-UCB and EI",
)
def gp_ucb_and_ei_lead(fig5b):
    """For temperature data, the GP-UCB algorithm and EI heuristic clearly outperform the others"""
    return np.all([clearly_better(fig5b[a], fig5b[b]) for a in ("GP-UCB", "EI") for b in OTHERS], axis=0)


@claim("1-I", "Section 6, Fig. 5b", effect=over("GP-UCB", "EI"), shows="mean R_T of GP-UCB over that of EI")
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
    pairs = [(fig5a_more, "EI"), *((fig5a, rule) for rule in OTHERS), *((fig5b, rule) for rule in RIVALS)]
    return np.all([on_par(fig["GP-UCB"], fig[rival]) for fig, rival in pairs], axis=0)


ON_SENSORS = "mean R_T of GP-UCB over that of its best rival, on sensors"


@claim("1-Y", "Section 7", effect=over("GP-UCB", *RIVALS), shows=ON_SENSORS)
def on_par_on_sensors(fig5b):
    """Our experiments on real sensor network data indicate that GP-UCB performs at least on par with competing
    criteria for GP optimization, for which no regret bounds are known at present."""
    return np.all([on_par(fig5b["GP-UCB"], fig5b[rival]) for rival in RIVALS], axis=0)


# Remarks and own questions


@remark(
    "1-Q",
    "Section 3",
    effect=lambda peaks: peaks("mean only", "stuck") - peaks("GP-UCB", "stuck"),
    shows="share of trials in which mean only ends on a lower peak, minus that of GP-UCB",
)
def the_mean_alone_gets_stuck(peaks):
    """However, this rule is too greedy too soon and tends to get stuck in shallow local optima."""
    return better(peaks("GP-UCB", "stuck"), peaks("mean only", "stuck"))


@remark(
    "1-G", "Section 3", effect=over("variance only", "GP-UCB"), shows="mean R_T of variance only over that of GP-UCB"
)
def the_variance_alone_is_wasteful(fig5a):
    """For sequential optimization, the ED rule (4) can be wasteful"""
    return better(fig5a["GP-UCB"], fig5a["variance only"])


def over_slower(fig3, what):
    """How much a gain grows, over that of a kernel whose spectrum decays less rapidly, for each such pair."""
    pairs = permutations(fig3.pool, 2)
    return [fig3(a, what) / fig3(b, what) for a, b in pairs if (fig3(a, "needed") < fig3(b, "needed")).all()]


@remark(
    "1-X",
    "Section 5.1, Fig. 3",
    effect=lambda fig3: np.max(over_slower(fig3, "greedy"), axis=0),
    shows="growth of the greedy gain from T = 100 to 1000 over that of a kernel that decays less rapidly, the largest",
)
def rapid_decay_slow_growth(fig3):
    """The more rapidly the spectrum of [...] decays, the slower the growth of [...]. Figure 3 illustrates this
    intuition."""
    return np.all([ratio < 1 for what in ("greedy", "eq. 8") for ratio in over_slower(fig3, what)], axis=0)


@own_question(
    "1-E",
    "Fig. 5a",
    effect=lambda fig5a_more: fig5a_more("GP-UCB", of=np.median) / fig5a_more("EI", of=np.median),
    shows="median R_T of GP-UCB over that of EI (their means: 1-O)",
)
def on_par_with_ei_in_the_median(fig5a_more):
    """Is GP-UCB/5 on par with EI in the median of its functions, too?"""
    return on_par(fig5a_more("GP-UCB", of=np.median), fig5a_more("EI", of=np.median))


TAKENO, PIMS = "since the paper: Takeno et al. 2023, 2024, 2025", "mean R_T of PIMS over that of GP-UCB/5"


@own_question("1-T", TAKENO, effect=over("PIMS", "GP-UCB/5"), shows=PIMS)
def the_divisor_can_go(later):
    """Are PIMS and GP-EIMS, which have proofs and nothing to tune, on par with GP-UCB/5, and IRGP-UCB not?"""
    pims, ei_ms, irgp = (on_par(later[rule], later["GP-UCB/5"]) for rule in ("PIMS", "GP-EIMS", "IRGP-UCB"))
    return pims & ei_ms & ~irgp


TENTH = "mean R_T with beta divided by 10 over that with beta divided by 5"


@own_question("1-Z", "Section 6", effect=over("beta / 10", "beta / 5"), shows=TENTH)
def a_tenth_of_beta_is_better(divisors):
    """Is a tenth of beta better than the fifth that was found by cross-validation?"""
    return better(divisors["beta / 10"], divisors["beta / 5"])


# Theorems and lemmas, with delta = 0.1, s2 = 0.025, on the 1,000 arms of Fig. 5a; gamma_T by the sum of eq. 8

DELTA = 0.1


@cache
def regret_bounds():
    """What Theorems 1, 2 and 3 bound R_1 .. R_1000 by, (1000,) each."""
    model = Model(grid(1000), SquaredExponential(0.2), S2, norm=1.0)
    gains = allocated_gain(eigvalsh(model.kernel(model.points, model.points)), S2, 1000)
    compact = widths.CompactArms(DELTA, d=1, side=1.0, **widths.slope_tail(0.2))
    three = (Srinivas2010(DELTA), compact, widths.KnownNorm(DELTA, gains))
    first, second, third = (widths.regret_bound(widths.over_rounds(each, model, 1000), gains, S2) for each in three)
    return {1: first, 2: second + 2, 3: third}


def regret_and_band(number):
    """A check of Theorem 1, 2 or 3 in all rounds of its kept runs: R_T, whose share is the room, and the band."""

    def check(kept):
        trace = kept.traces(f"Theorem {number}")["GP-UCB"]
        share = (trace.cumulative_regret / regret_bounds()[number]).max(axis=1)
        failed = (share > 1) | (trace.band_ratio.max(axis=1) > 1)
        return Checked(int(failed.sum()), len(failed), DELTA, float(share.max()))

    return check


BOTH = "R_T below its bound, all arms inside the band; 200 runs, T up to 1,000; room: largest R_T over its bound"
theorem_1 = theorem(
    "1-L", "Theorem 1, Lemmas 5.1 to 5.4", BOTH, "we obtain a regret bound of [...] with high probability. Precisely,"
)(regret_and_band(1))
theorem_2 = theorem(
    "1-R",
    "Theorem 2, Lemmas 5.5 to 5.8",
    f"against the best of 1,000 arms of [0, 1]: {BOTH}",
    "The smoothness assumption on k( x, x') disqualifies GPs with highly erratic sample paths.",
)(regret_and_band(2))
theorem_3 = theorem(
    "1-M",
    "Theorems 3 and 6, Lemmas 7.1 to 7.3",
    f"norm 1, uniform noise: {BOTH}",
    "and that the noise ε_t has zero mean conditioned on the history and is bounded by σ almost",
)(regret_and_band(3))
cited = unchecked(
    "1-AP",
    "Theorems 7 and 8, Lemmas 7.4, 7.5 and 7.7",
    "nothing: cited, or without a constant, or that a set exists",
    "is uniformly Lipschitz-continuous in each component",
)
FOUR = "greedy gain of four kernels on 100 arms"


@theorem(
    "1-AN", "Eqs. 5 and 8, Lemma 7.6", f"{FOUR}, T up to 1,000; room: of the bound, whose 1 / (1 - 1/e) is to spare"
)
def below_eq_8(kept):
    """We can upper-bound the information gain by considering the worst-case allocation"""
    gains = greedy_gains(kept).values()
    return Checked.of([greedy / gain.spectral_bound(spectrum, S2, 1000) for greedy, spectrum in gains])


SPLIT = f"the best T_*; {FOUR}, T = 10 to 1,000: below; one arm, noise variance 0.9: not, and this is the room"


@theorem("1-AO", "Theorem 4 and Lemma 7.8", SPLIT)
def below_the_split(kept):
    """We split the right hand side in Lemma 7.6 at"""
    gains, rounds = greedy_gains(kept).values(), (10, 30, 100, 300, 1000)
    shares = [greedy[t - 1] / gain.split_bound(spectrum, S2, t) for greedy, spectrum in gains for t in rounds]
    return Checked.of([*shares, 0.5 * math.log1p(1 / 0.9) / gain.split_bound(np.ones(1), 0.9, 1)])


def kept_gains(kept):
    """The kept greedy gains (T,) by kernel and d."""
    cases = [("linear", d) for d in (1, 2, 4, 8)]
    cases += [(kernel, d) for d in (1, 2, 3) for kernel in ("squared exponential", "matern")]
    return dict(zip(cases, kept.results("growth of the gain"), strict=True))


def slope(x, y, rounds):
    """The slope of log y on x over the last decade of rounds, by least squares."""
    return np.polyfit(x(rounds), np.log(y[rounds - 1]), 1)[0]


LINEAR = "(d/2) log(1 + T/s2), which the proof gives: greedy gain, d = 1, 2, 4, 8, T up to 10,000; room: of the bound"


@theorem("1-B", "Theorem 5.1, Appendix C.3", LINEAR)
def below_the_linear_bound(kept):
    """The largest eigenvalue [...] is O(T), so that"""
    gains = {d: gained for (kernel, d), gained in kept_gains(kept).items() if kernel == "linear"}
    return Checked.of([g / gain.linear_bound(d, S2, np.arange(1.0, len(g) + 1)) for d, g in gains.items()])


EXPONENT = "the rate's exponent against that of the greedy gain in the last decade, d = 1, 2, 3, T up to 100,000; "


@theorem("1-C", "Theorem 5.2 and 5.3", f"{EXPONENT}room: of it")
def exponents_of_the_gain(kept):
    """2. Exponential spectral decay. For the Squared Exponential kernel:"""
    shares = []
    for (kernel, d), gained in kept_gains(kept).items():
        rounds = np.unique(np.geomspace(len(gained) / 10, len(gained), 20).astype(int))
        if kernel == "squared exponential":
            shares.append(slope(lambda t: np.log(np.log(t)), gained, rounds) / (d + 1))
        elif kernel == "matern":
            shares.append(slope(np.log, gained, rounds) / matern_exponent(d, 2.5))
    return Checked.of(shares)


FIG_1 = (
    "the exponent of T in the mean regret of 200 runs, T = 100 to 1,000, three kernels, d = 1, 2, 3; room: of Fig. 1's"
)


@theorem("1-N", "Theorems 1 to 5, Fig. 1", FIG_1)
def exponents_of_the_regret(kept):
    """this result guarantees sublinear regret of GP-UCB for any dimension"""
    rounds, shares = np.unique(np.geomspace(100, 1000, 10).astype(int)), []
    for kernel, d in product(("linear", "squared exponential", "matern"), (1, 2, 3)):
        curve = kept.traces(f"growth, {kernel}, d = {d}")["GP-UCB"].cumulative_regret.mean(axis=0)
        shares.append(slope(np.log, curve, rounds) / experiments.allowed_exponent(gain_rate, kernel, 1000, d))
    return Checked.of(shares)


INTERPOLANTS = (
    "squared norm of a draw's interpolant, Matérn 2.5, larger at 400 than at 50 points; room: of its growth by 8"
)


@theorem("1-S", "Section 4, after Theorem 3", INTERPOLANTS)
def growing_norms(kept):
    """almost surely (Wahba, 1990): sample paths are rougher than RKHS functions."""
    norms = np.array(kept.results("norms of draws")) * (50, 100, 200, 400)
    grows = np.all(np.diff(norms, axis=1) > 0, axis=1)
    return Checked(int((~grows).sum()), len(grows), 0.0, float(8 / (norms[:, -1] / norms[:, 0]).mean()))
