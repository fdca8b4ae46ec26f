"""What Chowdhury and Gopalan (2017) say of their experiments, as predicates on the tables behind their figures.

The paper names neither the incumbent of EI and PI nor a margin. "EI and PI" is that choice: the largest noisy reward,
or the largest posterior mean with a margin in prior standard deviations. Footnote 11 describes the figures: a choice is
excluded from a figure if EI and PI cannot be told apart there in at most one experiment of ten.
"""

from itertools import combinations

import numpy as np
from scipy.special import ndtr

from kbrepro.claims import Checked, claim, theorem, unchecked
from kbrepro.claims.tables import TOTAL, Table
from kbrepro.claims.words import (
    always,
    best,
    better,
    clearly_better,
    competitive,
    indistinguishable,
    much_better,
    same_order,
    similar,
    slightly_better,
    typically,
)
from kbrepro.information import allocated_gain
from kbrepro.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.papers.igp_ucb.experiments import anti_concentration, log_exponent, theorem_3_bound, theorem_4_bound
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.problems import Trial, covariance_factor

OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
PROPOSED, IMPROVING = OURS[1:], ("EI", "PI")
EXISTING = ("GP-UCB", *IMPROVING)
POOL = (*OURS, *IMPROVING)
MARGIN = {f"margin {m:g}": {rule: f"{rule}, margin {m:g}" for rule in IMPROVING} for m in (0.01, 0.03, 0.1)}
NOISY = {"noisy reward": {rule: f"{rule}, noisy incumbent" for rule in IMPROVING}}
INCUMBENT = {"EI and PI": NOISY | MARGIN | {"no margin": {}}}
ALIKE = "GP-EI and PI perform similarly and thus are not separately distinguishable in the plots."
FOOTNOTE = {"no margin": f"footnote 11: {ALIKE}"}
FOOTNOTE_ON_LIGHT = dict.fromkeys(("margin 0.01", "margin 0.03", "no margin"), FOOTNOTE["no margin"])


def on(label):
    """The paper's own rules on another label."""
    return {rule: (label, rule) for rule in OURS}


def functions(label):
    """A panel of Figs. 1 to 3: the norm is exact or smoothed, or as Section 6 prints it, f'Kf."""
    norm = {"norm": {"as it is": {}, "as printed": on(f"{label}, B printed")}}
    return Table(label, label, 25, "function", POOL, INCUMBENT | norm, FOOTNOTE)


def rows(data, number, excluded, more):
    """A panel of Fig. 4: all test rows, under five norms of a row of readings."""
    kinds = ("cut-off 1e-3", "cut-off 1e-10", "printed", "one")
    norm = {"norm": {"smoothed": {}} | {kind: on(f"{data}, B {kind}") for kind in kinds}}
    return Table(f"Fig. 4, {data}", data, number, "row", POOL, INCUMBENT | norm | more, excluded, rows=number)


fig1a, fig1b = fig1 = functions("Fig. 1 (a) SE"), functions("Fig. 1 (b) Matérn")
fig2a, fig2b = fig2 = functions("Fig. 2 (a) SE"), functions("Fig. 2 (b) Matérn")
fig3 = functions("Fig. 3 (a) Rosenbrock"), functions("Fig. 3 (b) Hartmann-3")
scaling = {"readings": {"counts": {}, "standardised": {"*": "light, standardised"}}}
fig4a, fig4b = fig4 = rows("temperature", 120, FOOTNOTE, {}), rows("light", 192, FOOTNOTE_ON_LIGHT, scaling)
synthetic = (*fig1, *fig2, *fig3)
all_figures = (*synthetic, *fig4)


def over_best(fig, rule, rivals=POOL):
    """The mean R_T of a rule over that of the best rival."""
    return fig[rule] / np.min([fig[rival] for rival in rivals if rival != rule], axis=0)


def behind(*rules, rivals=POOL):
    """`over_best`, the largest of rules and panels; what it shows begins with BEHIND."""
    return lambda *panels: np.max([over_best(fig, rule, rivals) for fig in panels for rule in rules], axis=0)


def ahead(rule, of="GP-UCB"):
    """The mean R_T of another rule over that of a rule, the smallest of panels."""
    return lambda *panels: np.min([fig[of] / fig[rule] for fig in panels], axis=0)


BEHIND, AHEAD = "mean R_T over that of the best rival", "mean R_T of GP-UCB over that of IGP-UCB"
saving = ahead("IGP-UCB")


# Figs. 1 and 2: functions of the RKHS and of the prior


@claim("2-A", "Section 6, Fig. 1", effect=saving, shows=f"{AHEAD}, the smaller of two panels")
def improves_on_gp_ucb(*fig1):
    """We see a significant improvement in the performance of IGP-UCB over GP-UCB."""
    return always(*(clearly_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in fig1))


@claim("2-C", "Section 6, Fig. 1", effect=behind("IGP-UCB"), shows=f"{BEHIND}, IGP-UCB, the larger of two panels")
def igp_ucb_is_best(*fig1):
    """In fact IGP-UCB performs the best in the pool of competitors"""
    return always(*(best(fig, "IGP-UCB") for fig in fig1))


@claim(
    "2-E",
    "Section 6, Fig. 1",
    effect=behind("GP-TS", rivals=EXISTING),
    shows=f"{BEHIND} of GP-UCB, EI and PI, GP-TS, the larger of two panels",
)
def gp_ts_fares_well(*fig1):
    """while GP-TS also fares reasonably well compared to GP-UCB and GP-EI/GP-PI."""
    return always(*(competitive(fig, "GP-TS", EXISTING) for fig in fig1))


@claim(
    "2-F",
    "Section 6, footnote 11",
    effect=lambda *panels: np.max([np.abs(fig["EI"] - fig["PI"]) / fig.axis for fig in panels], axis=0),
    shows="largest gap between EI and PI in eight panels, as a share of the axis",
)
def ei_and_pi_are_alike(*all_figures):
    """GP-EI and PI perform similarly and thus are not separately distinguishable in the plots."""
    return always(*(indistinguishable(fig["EI"], fig["PI"], fig.axis) for fig in all_figures))


PAIRS = [pair for pair in combinations(POOL, 2) if pair != IMPROVING]


def turned(fig1a, fig1b, fig2a, fig2b):
    """How many pairs of rules, but EI with PI, change their order from Fig. 1 to Fig. 2."""
    both = [(one, two, a, b) for one, two in ((fig1a, fig2a), (fig1b, fig2b)) for a, b in PAIRS]
    return np.sum([(one[a] - one[b]) * (two[a] - two[b]) < 0 for one, two, a, b in both], axis=0)


@claim("2-G", "Section 6, Fig. 2", effect=turned, shows="pairs of rules, of eighteen, that change their order")
def same_order_on_draws(fig1a, fig1b, fig2a, fig2b):
    """The relative performance of all methods is similar to that in the previous experiment"""
    return always(same_order(fig1a, fig2a, combinations(POOL, 2)), same_order(fig1b, fig2b, combinations(POOL, 2)))


# Fig. 3: test functions


@claim(
    "2-H",
    "Section 6, Fig. 3",
    effect=behind(*IMPROVING, rivals=OURS),
    shows=f"{BEHIND} of the rest, EI or PI, the largest of two panels",
)
def ei_and_pi_lead(*fig3):
    """We see GP-EI/PI perform better than the rest"""
    return always(*(best(fig, rule, OURS) for fig in fig3 for rule in IMPROVING))


@claim(
    "2-I",
    "Section 6, Fig. 3",
    effect=behind(*PROPOSED, rivals=IMPROVING),
    shows=f"{BEHIND} of EI and PI, IGP-UCB or GP-TS, the largest of two panels",
)
def the_rest_is_competitive(*fig3):
    """while IGP-UCB and GP-TS show competitive performance."""
    return always(*(competitive(fig, rule, IMPROVING) for fig in fig3 for rule in PROPOSED))


# Fig. 4: sensors


@claim(
    "2-J",
    "Section 6, Fig. 4 (a)",
    effect=behind("IGP-UCB", rivals=("GP-UCB",)),
    shows="mean R_T of IGP-UCB over that of GP-UCB",
)
def igp_ucb_equals_gp_ucb(fig4a):
    """From Figure 4, we see that IGP-UCB and GP-UCB performs the same"""
    return similar(fig4a["IGP-UCB"], fig4a["GP-UCB"])


@claim("2-K", "Section 6, Fig. 4 (a)", effect=behind("GP-TS"), shows=f"{BEHIND}, GP-TS")
def gp_ts_wins_on_temperature(fig4a):
    """while GP-TS outperforms all its competitors."""
    return best(fig4a, "GP-TS")


@claim("2-L", "Section 6, Fig. 4 (b)", effect=behind("GP-TS"), shows=f"{BEHIND}, GP-TS")
def gp_ts_wins_on_light(fig4b):
    """Here also GP-TS is found to perform better than the others"""
    return best(fig4b, "GP-TS")


@claim(
    "2-M", "Section 6, Fig. 4 (b)", effect=behind("IGP-UCB", rivals=IMPROVING), shows=f"{BEHIND} of EI and PI, IGP-UCB"
)
def igp_ucb_beats_ei_and_pi_on_light(fig4b):
    """with IGP-UCB performing better than GP-EI/PI (Figure 4)."""
    return best(fig4b, "IGP-UCB", IMPROVING)


# All figures


@claim(
    "2-Q",
    "Section 4.1",
    effect=lambda fig4a, fig4b: saving(fig4a, fig4b),
    shows=f"{AHEAD}, the smaller of two sensor sets",
)
def improves_everywhere(fig1a, fig1b, fig4a, fig4b):
    """we observe a significantly improved performance of IGP-UCB over GP-UCB, both on synthetically generated
    function, and on real-world sensor measurement data"""
    return always(*(clearly_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in (fig1a, fig1b, fig4a, fig4b)))


@claim(
    "2-S",
    "Section 4.2",
    effect=ahead("IGP-UCB", of="GP-TS"),
    shows="mean R_T of GP-TS over that of IGP-UCB, the smallest of six panels",
)
def gp_ts_is_behind_igp_ucb(*synthetic):
    """which is a multiplicative [...] factor away from the bound [...] obtained for IGP-UCB and similar behavior is
    reflected in our simulations on synthetic data."""
    return always(*(better(fig["IGP-UCB"], fig["GP-TS"]) for fig in synthetic))


@claim(
    "2-Z",
    "Section 3.1",
    effect=lambda *panels: np.median([fig["GP-UCB"] / fig["IGP-UCB"] for fig in panels], axis=0),
    shows=f"{AHEAD}, median of eight panels",
)
def much_better_than_gp_ucb(*all_figures):
    """this small but critical adjustment leads to much better theoretical and empirical performance compared to
    GP-UCB."""
    return typically(*(much_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in all_figures))


def gains(*panels):
    """Whether a proposed rule is better than an existing one: one case for each panel, proposed and existing rule."""
    return [better(fig[new], fig[old]) for fig in panels for new in PROPOSED for old in EXISTING]


@claim(
    "2-AA",
    "Abstract",
    effect=lambda *panels: np.mean(gains(*panels), axis=0),
    shows="share of 48 cases (panel, IGP-UCB or GP-TS, existing rule) in which the proposed rule is better",
)
def gains_in_many_cases(*all_figures):
    """that highlight the favorable gains of the proposed strategies in many cases."""
    return typically(*gains(*all_figures))


@claim(
    "2-AB",
    "Section 7",
    effect=behind(*PROPOSED, rivals=EXISTING),
    shows=f"{BEHIND} of GP-UCB, EI and PI, IGP-UCB or GP-TS, the largest of eight panels",
)
def proposed_rules_perform_well(*all_figures):
    """The proposed algorithms perform well in practice both on synthetic and real-world data."""
    return always(*(competitive(fig, rule, EXISTING) for fig in all_figures for rule in PROPOSED))


# A conjecture


#: Panel of Fig. 1 -> the right kernel, then the wrong ones.
SE, MATERN = "SquaredExponential(lengthscale={:g}, variance=1.0)", "Matern(lengthscale={:g}, nu=2.5, variance=1.0)"
GIVEN = {
    "(a) SE": [SE.format(0.2), SE.format(0.1), SE.format(0.4), MATERN.format(0.2)],
    "(b) Matérn": [MATERN.format(0.2), MATERN.format(0.1), MATERN.format(0.4), SE.format(0.2)],
}
LABELS = [[f"Fig. 1 {panel} told {kernel}" for kernel in kernels] for panel, kernels in GIVEN.items()]
TOLD = [(right, wrong) for right, *others in LABELS for wrong in others]


def by_kernel(kept):
    """R_T of a rule at the kernel that it is given: the same functions and noise under every kernel."""
    return {
        (rule, label): kept.column(label, rule, TOTAL)
        for panel in LABELS
        for label in panel
        for rule in kept.traces(label)
    }


FEW = {name: INCUMBENT["EI and PI"][name] for name in ("noisy reward", "margin 0.01")}
kernels = Table("Fig. 1, kernels", size=25, pool=POOL, readings={"EI and PI": FEW}, load=by_kernel)


def growth(fig, rules):
    """By which factor mean R_T grows under a wrong kernel: geometric mean over rules and six kernels."""
    logs = [np.log(fig(rule, wrong) / fig(rule, right)) for right, wrong in TOLD for rule in rules]
    return np.exp(np.mean(logs, axis=0))


@claim(
    "2-R",
    "Section 6, after Fig. 3",
    kind="remark",
    effect=lambda kernels: growth(kernels, PROPOSED) / growth(kernels, IMPROVING),
    shows="how many times mean R_T grows under a wrong kernel, IGP-UCB and GP-TS over EI and PI, T = 10,000",
)
def somewhat_less_robust(kernels):
    """hence we conjecture that the UCB- and TS- based algorithms are somewhat less robust on the choice of kernel than
    EI/PI."""
    return slightly_better(growth(kernels, IMPROVING), growth(kernels, PROPOSED))


# Own questions

WIDTH = {
    "width": {
        "gain of the pulls (proved)": {"IGP-UCB": "IGP-UCB, gain of the pulls"},
        "as printed": {},
        "tighter (since the paper)": {"IGP-UCB": "IGP-UCB, tighter"},
    }
}
mean_based = tuple(Table(fig.what, fig.label, 25) for fig in fig1)
widths = tuple(Table(fig.what, fig.label, 25, readings=WIDTH) for fig in (*fig1, *fig2))
DIMENSIONS = (1, 2, 3, 4)
dimensions = tuple(Table(f"d = {d}", f"d = {d}", 25) for d in DIMENSIONS)


@claim(
    "2-D",
    "Fig. 1",
    kind="own question",
    effect=behind("IGP-UCB", rivals=("EI",)),
    shows="mean R_T of IGP-UCB over that of EI, the larger of two panels",
)
def igp_ucb_beats_ei_without_a_margin(*mean_based):
    """IGP-UCB has less regret than EI over the posterior mean without a margin."""
    return always(*(better(fig["IGP-UCB"], fig["EI"]) for fig in mean_based))


@claim(
    "2-AC",
    "d = 1 to 4",
    kind="own question",
    effect=lambda *panels: power_of_d(*panels),
    shows="exponent of d in mean R_T of GP-TS over that of IGP-UCB (the bounds: 0.5)",
)
def gap_rises_with_d(*dimensions):
    """The regret of GP-TS over that of IGP-UCB rises with d, under one kernel."""
    return better(np.zeros(1), power_of_d(*dimensions), axis=1.0)


def power_of_d(*panels):
    """The exponent of d in the ratio of GP-TS to IGP-UCB, by least squares."""
    x = np.log(DIMENSIONS) - np.mean(np.log(DIMENSIONS))
    return x @ np.log([fig["GP-TS"] / fig["IGP-UCB"] for fig in panels]) / (x @ x)


@claim("2-AD", "Figs. 1 and 2", kind="own question", effect=saving, shows=f"{AHEAD}, the smallest of four panels")
def much_better_with_a_proved_width(*widths):
    """IGP-UCB has much less regret than GP-UCB also with a width that is proved at λ = R²."""
    return always(*(much_better(fig["IGP-UCB"], fig["GP-UCB"]) for fig in widths))


# Theorems and lemmas

DELTA, T = 0.1, 500
SOURCES = {
    "SE": PosteriorMean(SquaredExponential(0.2), n_arms=100),
    "Matérn": PosteriorMean(Matern(0.2, nu=2.5), n_arms=100),
    "linear": PosteriorMean(Linear(1 / 3), n_arms=100, d=3),
}
#: The label of runs at lambda = 1 + 2 / T -> their problems.
PROVED = {f"{name}, proved: λ = 1 + 2/T": OtherModel(its, noise_variance=1 + 2 / T) for name, its in SOURCES.items()}


def below(kept, bound, label, rule, source, *more):
    """Whether R_T of each run is at most its bound, and the median of R_T over the median of the bound."""
    total = kept.column(label, rule, TOTAL)
    bounds = [bound(source(Trial(kept.seed(label), n)).model, T, DELTA, *more) for n in range(len(total))]
    return total <= bounds, np.median(total) / np.median(bounds)


@theorem(
    "2-N",
    "Theorem 1",
    "runs that cross the bound in any of 500 rounds, SE kernel, Gaussian noise: of four ways to choose arms "
    "and delta = 0.05, 0.1, 0.5 the case with most crossings for its delta, whose share over delta is the "
    "room",
)
def crossings(kept):
    """Theorem 1 represents a self-normalized concentration inequality"""
    runs = kept.results("Theorem 1, SE")
    excess = {rule: np.array([run[rule].log_excess for run in runs]) for rule in runs[0]}
    cases = [(np.sum(its > np.log(1 / delta)), delta) for its in excess.values() for delta in (0.05, 0.1, 0.5)]
    crossed, delta = max(cases, key=lambda case: case[0] / case[1])
    return Checked(int(crossed), len(runs), delta, crossed / len(runs) / delta)


@theorem(
    "2-O",
    "Theorem 2",
    "runs of IGP-UCB whose band fails for any arm in any of 500 rounds, lambda = 1 + 2/T, delta = 0.1, SE, "
    "Matérn and linear kernel; room: the multiplier of the width with which it holds in nine of ten runs",
)
def bands(kept):
    """Our next result shows that how the posterior mean is concentrated around the unknown reward"""
    worst = [kept.traces(label)["IGP-UCB"].band_ratio.max(axis=1) for label in PROVED]
    return Checked(int(np.sum(np.array(worst) > 1)), np.size(worst), DELTA, max(np.quantile(worst, 1 - DELTA, axis=1)))


@theorem(
    "2-U",
    "Theorem 3",
    "runs of IGP-UCB above 2 beta_T sqrt(4 (T + 2) gamma_T), T = 500, lambda = 1 + 2/T, delta = 0.1, three "
    "kernels; room: median R_T over the median bound, the largest of three",
)
def regret_of_igp_ucb(kept):
    """More precisely, with probability at least [...] 1-δ, [...] R_{T}=O"""
    held, room = zip(
        *(below(kept, theorem_3_bound, label, "IGP-UCB", its) for label, its in PROVED.items()), strict=True
    )
    return Checked(int(np.sum(~np.array(held))), np.size(held), DELTA, max(room))


@theorem(
    "2-Y",
    "Theorem 4 and Lemma 13",
    "runs of GP-TS above the sum of Lemma 13, which prints = for <=, with Lemma 4: T = 500, SE kernel, d = "
    "1, all arms instead of the sets D_t, delta = 0.1; room: median R_T over the median bound",
)
def regret_of_gp_ts(kept):
    """with probability at least [...] the regret of GP-TS satisfies"""
    held, room = below(kept, theorem_4_bound, "Theorem 4", "GP-TS", next(iter(PROVED.values())), 1 / 0.2)
    return Checked(int(np.sum(~held)), len(held), DELTA, room)


@theorem(
    "2-V",
    "Section 3.1",
    "exponent of ln t in GP-UCB's width over IGP-UCB's from t = 1e100 to 1e200, SE and linear kernel, d = "
    "1: 3/2 within 0.1; room: the largest deviation over 0.1 (in Fig. 1, t = 300 to 30,000, it is 3.4)",
)
def ratio_of_widths(kept):
    """IGP-UCB (Algorithm 1) reduces the width of the confidence interval by a factor roughly"""
    logs = 100 * np.log(10), 200 * np.log(10)
    far = [abs(log_exponent(power, logs, norm=1, noise_scale=1, delta=DELTA) - 1.5) for power in (1, 2)]
    return Checked(sum(off > 0.1 for off in far), len(far), room=max(far) / 0.1)


@theorem(
    "2-AE",
    "Lemma 1",
    "both norms for 200 draws of ten feature vectors in twenty dimensions: equal to 1e-9; room: the largest "
    "relative difference over 1e-9",
)
def two_norms(kept):
    """helps provide an alternative, abstract, view of the self-normalized process"""
    rng, off = np.random.default_rng(0), []
    for _ in range(200):
        phi, noise = rng.standard_normal((10, 20)), rng.standard_normal(10)
        K, V, S = phi @ phi.T, np.eye(20) + phi.T @ phi, phi.T @ noise
        abstract = S @ np.linalg.solve(V, S)
        off.append(abs(noise @ np.linalg.solve(np.linalg.inv(K) + np.eye(10), noise) / abstract - 1) / 1e-9)
    return Checked(int(np.sum(np.array(off) > 1)), len(off), room=max(off))


@theorem(
    "2-AF",
    "Lemma 2, Appendix A",
    "one factor of the product, E exp(c e - R^2 c^2 / 2) <= 1, for two-point and uniform noise on [-R, R], "
    "R = 1, c = 0.01 to 5 (Gaussian noise: equal to 1); room: its largest value",
)
def one_factor(kept):
    """is a super-martingale with respect to the filtration"""
    c = np.arange(1, 501) / 100
    factor = np.array([np.cosh(c), np.sinh(c) / c]) * np.exp(-(c**2) / 2)
    return Checked(int(np.sum(factor > 1)), factor.size, room=factor.max())


@theorem(
    "2-AG",
    "Lemma 3",
    "gain of the pulls of IGP-UCB over the bound on gamma_T that is used above (spectral), T = 500, three "
    "kernels; room: the largest",
)
def gain_of_the_pulls(kept):
    """the maximum information gain [...] for the points chosen by Algorithm 1 and 2 satisfy"""
    ratio = []
    for label, source in PROVED.items():
        for n, arms in enumerate(kept.traces(label)["IGP-UCB"].arms[:40]):
            model = source(Trial(kept.seed(label), n)).model
            K, root = model.kernel(model.points, model.points), np.sqrt(np.bincount(arms, minlength=100))
            inside = np.eye(100) + root[:, None] * K * root / model.noise_variance
            most = allocated_gain(np.linalg.eigvalsh(K), model.noise_variance, T)[-1]
            ratio.append(np.linalg.slogdet(inside)[1] / 2 / most)
    return Checked(int(np.sum(np.array(ratio) > 1)), len(ratio), room=max(ratio))


@theorem(
    "2-P",
    "Lemma 4",
    "the sum over 500 pulls over sqrt(4 (T + 2) I_T), I_T <= gamma_T the gain of the pulls, lambda = 1 + "
    "2/T, four ways to choose arms, SE, Matérn and linear kernel; room: the largest",
)
def sum_of_deviations(kept):
    """The sum of predictive standard deviation at those points can be expressed in terms of the maximum"""
    runs = [run for name in SOURCES for run in kept.results(f"Theorem 1, {name}")]
    ratio = np.array([its.sd_ratio for run in runs for its in run.values()])
    return Checked(int(np.sum(ratio > 1)), len(ratio), room=ratio.max())


@theorem(
    "2-AH",
    "Lemma 5, Appendix E",
    "draws of f_t at fifty points, SE kernel, t = 2, that leave the band for any point: at most 1/4; room: "
    "the share over 1/4",
)
def draws_leave_the_band(kept):
    """For any [...] and any finite subset"""
    points, t = grid(50), 2
    factor = covariance_factor(SquaredExponential(0.2)(points, points))
    draws = np.random.default_rng(0).standard_normal((2000, factor.shape[1])) @ factor.T
    out = int(np.sum(np.abs(draws).max(axis=1) > np.sqrt(2 * np.log(len(points) * t**2))))
    return Checked(out, len(draws), 1 / t**2, out / len(draws) * t**2)


@theorem(
    "2-X",
    "Lemma 7, Appendix E",
    "beta = 0.01 to 3 in steps of 0.01: false up to 0.34; Lemma 8 uses it at beta <= 1, where its p stands; "
    "room: the largest bound over the probability",
)
def anti_concentration_of_a_normal(kept):
    """(Gaussian Anti-concentration) For a Gaussian random variable"""
    beta = np.arange(1, 301) / 100
    ratio = anti_concentration(beta) / ndtr(-beta)
    return Checked(int(np.sum(ratio > 1)), len(beta), room=ratio.max())


@theorem(
    "2-AI",
    "Lemma 8, Appendix E",
    "P(Z > theta) >= p = 1 / (4 e sqrt(pi)) for theta = -1 to 1, all that the band allows; room: p over the smallest",
)
def optimism(kept):
    """For any filtration [...] such that [...] is true, [...] for any [...] where"""
    probability = ndtr(-np.linspace(-1, 1, 201))
    p = anti_concentration(1.0)
    return Checked(int(np.sum(probability < p)), len(probability), room=p / probability.min())


@theorem(
    "2-AJ",
    "Lemma 11, Appendix E",
    "sums of 500 fair signs above sqrt(2 ln(1 / delta) T), delta = 0.1; room: the share over delta",
)
def azuma(kept):
    """(Azuma-Hoeffding Inequality) If a super-martingale"""
    sums = 2 * np.random.default_rng(0).binomial(T, 0.5, size=2000) - T
    out = int(np.sum(sums > np.sqrt(2 * np.log(1 / DELTA) * T)))
    return Checked(out, len(sums), DELTA, out / len(sums) / DELTA)


events = unchecked(
    "2-AK",
    "Lemma 6, Appendix E",
    "nothing of its own: Theorem 2 at delta / 2 and Lemma 5",
    "Given any [...] and for all possible filtrations",
)
unsaturated = unchecked(
    "2-AL",
    "Lemma 9, Appendix E",
    "nothing: it bounds a probability given the history",
    "At round [...] our algorithm chooses the point",
)
expected_regret = unchecked(
    "2-AM",
    "Lemma 10, Appendix E",
    "nothing: it bounds a mean given the history",
    "is the instantaneous regret at round",
)
super_martingale = unchecked(
    "2-AN",
    "Lemma 12, Appendix E",
    "nothing: it bounds a mean given the history",
    "is a super-martingale process with respect to filtration",
)
