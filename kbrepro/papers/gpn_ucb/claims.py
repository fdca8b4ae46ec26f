"""What Li and Scarlett (2024) say of their experiments, as predicates on the tables behind their figures.

The experiment is two chains drawn from the prior, g1 with several maximisers and g2 with an obvious one, printed
nowhere: a rerun draws one chain of each kind. A row is a chain: the mean of its trials, regrets over the range of g.
The authors call their experiments "only intended to suggest the potential plausibility of our algorithms for practical
use, rather than being comprehensive or definitive".
"""

from functools import lru_cache, partial

import numpy as np

from kbrepro import store
from kbrepro.claims import Checked, claim, theorem
from kbrepro.claims.tables import SECONDS, TOTAL, Table
from kbrepro.claims.words import (
    always,
    best,
    better,
    clearly_better,
    indistinguishable,
    near_optimal,
    similar,
    slightly_better,
    sometimes,
)
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.experiments import OBVIOUS, SEVERAL
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior, OperatorPosterior
from kbrepro.papers.gpn_ucb.problems import KERNEL, DrawnChain, independent_outputs
from kbrepro.problems import Trial
from kbrepro.regret import simple_regret

BLACK_BOX, GREY_BOX = ("GP-UCB", "EI"), ("cUCB", "OI")
OURS, POOL = ("GPN-UCB", "NonAda"), ("GPN-UCB", "cEI", *GREY_BOX, *BLACK_BOX)
LUCKY = ("cEI", "cUCB")
BASELINES, WITHOUT_CEI = POOL[1:], POOL[2:]
#: The numbers of pulls of NonAda, at which Fig. 12 compares simple regret; b of OI in Fig. 10 up to 1.
PULLS, SMALL_B = np.arange(2, 15) ** 2, (1e-4, 1e-3, 1e-2, 0.1, 1.0)
#: Statistics of a chain. NonAda's simple regret at 50 is that of 49 pulls. EARLY: whether the first trial is near
#: the best, within 20 % of the range, before GPN-UCB's, but near-optimal, within 5 %, no earlier.
MEAN, CURVE, AT_50 = "simple regret, mean over T", "simple regret, mean over rounds", "simple regret at 50"
PRINTED, EPSILON = {1.0: 0.958, 1.5: 0.939, 2.0: 0.934}, 0.15  # Fig. 6; of our needles of nu = 1 and 1.5
EARLY, REACHED = "early in vain", (0.2, 0.05)


# The tables


def statistics(traces, ranges, times=1):
    """What Figs. 10 to 12 plot of each rule, one number a chain: the mean over its `times` trials."""
    columns, scale = {}, np.repeat(ranges, times)
    for rule, trace in traces.items():
        curve = simple_regret(trace) / scale[:, None]
        numbers = {TOTAL: trace.regret.sum(axis=1) / scale, MEAN: curve[:, PULLS - 1].mean(axis=1)}
        numbers |= {AT_50: curve[:, 49], CURVE: curve.mean(axis=1), SECONDS: trace.seconds.sum(axis=1)}
        columns |= {(rule, name): trials.reshape(-1, times).mean(axis=1) for name, trials in numbers.items()}
    return columns


def nonadaptive(results, ranges):
    """NonAda's simple regret, from one regret for each of `PULLS`."""
    regrets = np.array(results) / ranges[:, None]
    return {("NonAda", MEAN): regrets.mean(axis=1), ("NonAda", AT_50): regrets[:, list(PULLS).index(49)]}


def early(curve, own):
    """`EARLY` of a rule beside GPN-UCB, from curves of simple regret, one trial a chain, (n, T) each."""
    (near, best_at), (own_near, own_best) = ([rounds_to(c, limit) for limit in REACHED] for c in (curve, own))
    return 1.0 * ((near < own_near) & (best_at >= own_best))


def rounds_to(curves, limit):
    """The first round after which simple regret (n, T) is at most `limit`, (n,); infinity where it never is."""
    below = curves <= limit
    return np.where(below.any(axis=1), below.argmax(axis=1) + 1.0, np.inf)


def enveloped(kept, label, columns, ranges):
    """The columns of the first chains, on which GPN-UCB was also played with its first layer enveloped."""
    trace = kept.traces(label)[100, "enveloped", "two endpoints"]
    n = len(trace.arms)
    own = columns | statistics({"GPN-UCB": trace}, ranges[:n])
    return {(f"{rule}, enveloped", name): own[rule, name][:n] for rule, name in columns}


@lru_cache(maxsize=1)
def drawn(kept):
    """Gaps, ranges and columns of the drawn chains that cEI played."""
    gaps, ranges = np.transpose(kept.results("chains, draws"))
    traces, by_cei = kept.traces("draws"), kept.traces("draws, cEI")
    n, times = len(by_cei["cEI"].arms), len(traces["OI"].arms) // len(ranges)
    columns = statistics(traces, ranges, times) | nonadaptive(kept.results("NonAda, draws"), ranges)
    columns |= statistics(by_cei, ranges[:n])
    first = {rule: traces[rule].regret[::times][:n] for rule in ("GPN-UCB", "cUCB")} | {"cEI": by_cei["cEI"].regret}
    curves = {rule: np.minimum.accumulate(regret, axis=1) / ranges[:n, None] for rule, regret in first.items()}
    columns |= {(rule, EARLY): early(curves[rule], curves["GPN-UCB"]) for rule in LUCKY}
    return gaps[:n], ranges[:n], {key: column[:n] for key, column in columns.items()}


@lru_cache(maxsize=1)
def several(kept):
    """The columns of the drawn chains with several maximisers that cEI played."""
    gaps, ranges, columns = drawn(kept)
    apart = enveloped(kept, "interpretations, draws, B 2", columns, ranges)
    return {key: column[gaps[: len(column)] <= SEVERAL] for key, column in (columns | apart).items()}


@lru_cache(maxsize=1)
def obvious(kept):
    """The columns of the drawn chains with an obvious maximiser."""
    (numbers,), traces = kept.results("obvious ones, found"), kept.traces("obvious")
    ranges = np.array([DrawnChain(50)(Trial(seed_of(kept, "obvious"), int(number))).reward_range for number in numbers])
    columns = statistics(traces, ranges) | nonadaptive(kept.results("NonAda, obvious"), ranges)
    curves = {rule: simple_regret(traces[rule]) / ranges[:, None] for rule in ("GPN-UCB", "cUCB", "cEI")}
    columns |= {(rule, EARLY): early(curves[rule], curves["GPN-UCB"]) for rule in LUCKY}
    return columns | enveloped(kept, "interpretations, obvious, B 2", columns, ranges)


def sweep(kept, least, most):
    """The columns of Fig. 10 of the drawn chains whose gap is from `least` to `most`; `OI 0.01` is OI with b = 0.01."""
    gaps, ranges = np.transpose(kept.results("chains, draws"))
    traces = {f"OI {b:g}": trace for b, trace in kept.traces("OI, draws").items()} | kept.traces("cUCB, draws")
    chosen = (least <= gaps) & (gaps <= most)
    return {key: column[chosen] for key, column in statistics(traces, ranges).items()}


def all_drawn(kept):
    """The columns of all drawn chains that cEI played, whatever their maximisers."""
    return drawn(kept)[2]


def lipschitz(kept):
    """cUCB given L = 2 and 1, and the width of its bounds over that of GPN-UCB's after the same 20 pulls."""
    ranges = np.transpose(kept.results("chains, draws"))[1]
    given = {"L = 2": kept.traces("cUCB, draws")["cUCB"], "L = 1": kept.traces("L = 1")["cUCB"]}
    return statistics(given, ranges) | {("cUCB", "relative width"): np.array(kept.results("relative widths"))[:, 0]}


def ablation(kept):
    """The versions of GPN-UCB on drawn chains."""
    traces = kept.traces("versions of GPN-UCB")
    ranges = np.transpose(kept.results("chains, draws"))[1][: len(traces["as in L.2"].arms)]
    end = {(rule, "end"): simple_regret(trace)[:, -1] / ranges for rule, trace in traces.items()}
    return statistics(traces, ranges) | end


def fig6(kept):
    """r_min / r_max of the layers of Fig. 6, by nu."""
    return {(nu, "ratio"): np.array([np.divide(*needle.slope_range(nu))]) for nu in PRINTED}


def seed_of(kept, label):
    """The seed of a kept label."""
    return store.opened(kept.folder, label)[0]["seed"]


LAYER_1 = {"plain": {}, "enveloped": {rule: f"{rule}, enveloped" for rule in (*OURS, *BASELINES)}}
#: L.2 names its shortcuts for layers i >= 2 and not what becomes of the first layer's envelope.
READINGS = {"first layer": LAYER_1}
g1, g2 = (
    Table(f"Figs. 11, 12, {name}", size=1, unit="chain", pool=POOL, load=load, readings=READINGS)
    for name, load in (("g1", several), ("g2", obvious))
)
#: The same for sentences that say nothing of GPN-UCB.
others1, others2 = (
    Table(f"Figs. 11, 12, {name}", size=1, unit="chain", pool=POOL, load=load)
    for name, load in (("g1", several), ("g2", obvious))
)
#: Ten trials, drawn from one trial on each chain: `EARLY` speaks of trials.
trials1, trials2 = (
    Table(f"ten trials, {name}", size=10, unit="trial", load=load) for name, load in (("g1", several), ("g2", obvious))
)
swept1, swept2 = (
    Table(f"Fig. 10, {name}", size=1, unit="chain", load=partial(sweep, least=least, most=most))
    for name, least, most in (("g1", -np.inf, SEVERAL), ("g2", OBVIOUS, np.inf))
)
draws = Table("two drawn chains, exact cEI", size=2, unit="chain", load=all_drawn)
slopes = Table("two drawn chains, cUCB", size=2, unit="chain", load=lipschitz)
ratios = Table("Fig. 6", size=1, unit="curve", load=fig6)
versions = Table("two drawn chains, versions of GPN-UCB", size=2, unit="chain", load=ablation)


def over_best(fig, rule, rivals, statistic=TOTAL):
    """A rule's R_T over that of the best rival."""
    return fig(rule, statistic) / np.min([fig(rival, statistic) for rival in rivals], axis=0)


def above_best(fig, rule, rivals, statistic=MEAN):
    """A rule's simple regret minus that of the best rival, in ranges of g."""
    return fig(rule, statistic) - np.min([fig(rival, statistic) for rival in rivals], axis=0)


def lower(fig, rule, rivals, statistic=MEAN):
    """A rule's simple regret is below that of every rival."""
    return np.all([better(fig(rule, statistic), fig(rival, statistic), 1.0) for rival in rivals], axis=0)


def outperformed(fig, rule, statistic):
    """A black box has less regret than a rule."""
    return np.any([better(fig(rival, statistic), fig(rule, statistic)) for rival in BLACK_BOX], axis=0)


# L.2, Fig. 10: OI and cUCB


@claim(
    "5-H",
    "L.2, Fig. 10",
    effect=lambda *figures: np.max(
        [np.abs(fig(f"OI {b:g}", CURVE) - fig("cUCB", CURVE)) for fig in figures for b in SMALL_B], axis=0
    ),
    shows="largest gap of mean simple regret between OI, b <= 1, and cUCB in two panels, in ranges of g",
)
def oi_is_similar_to_cucb(swept1, swept2):
    """The experimental results show that OI with [...] b ≤ 1 has similar performance to cUCB"""
    figures = swept1, swept2
    return always(*(similar(fig(f"OI {b:g}", CURVE), fig("cUCB", CURVE), 1.0) for fig in figures for b in SMALL_B))


@claim(
    "5-AC",
    "Fig. 10 (a)",
    effect=lambda swept1: np.abs(swept1("OI 0.0001", CURVE) - swept1("cUCB", CURVE)),
    shows="gap of mean simple regret between OI, b = 0.0001, and cUCB, in ranges of g",
)
def oi_and_cucb_are_indistinguishable(swept1):
    """The curves of OI with [...] and cUCB for [...] are indistinguishable."""
    return indistinguishable(swept1("OI 0.0001", CURVE), swept1("cUCB", CURVE), 1.0)


# L.3, Fig. 11: cumulative regret


@claim(
    "5-A",
    "L.3, Fig. 11",
    effect=lambda g1, g2: np.max([over_best(fig, "GPN-UCB", BASELINES) for fig in (g1, g2)], axis=0),
    shows="mean R_T of GPN-UCB over that of its best rival, the larger of two panels",
)
def gpn_ucb_is_best(g1, g2):
    """In terms of cumulative regret, GPN-UCB outperforms all of the baselines."""
    return best(g1, "GPN-UCB") & best(g2, "GPN-UCB")


# L.3, Fig. 12: simple regret


@claim(
    "5-D",
    "L.3, Fig. 12",
    effect=lambda g1, g2: np.max([fig(rule, AT_50) for fig in (g1, g2) for rule in OURS], axis=0),
    shows="simple regret at T = 50 (NonAda 49), the largest of two rules and two panels, in ranges of g",
)
def both_are_near_optimal_by_50(g1, g2):
    """The experimental results show that both algorithms are able to locate a near-optimal point in a short time (by
    T=50 [...])."""
    return always(*(near_optimal(fig(rule, AT_50)) for fig in (g1, g2) for rule in OURS))


@claim(
    "5-F",
    "L.3, Fig. 12 (b)",
    effect=lambda others2: above_best(others2, "NonAda", BASELINES),
    shows="mean simple regret of NonAda minus that of its best rival, in ranges of g",
)
def nonada_is_best_where_one_is_obvious(others2):
    """In terms of simple regret, for [...] with an "obvious" maximizer, NonAda outperforms all the baselines"""
    return lower(others2, "NonAda", BASELINES)


@claim(
    "5-N",
    "L.3, Fig. 12 (b)",
    effect=lambda g2: g2("GPN-UCB", MEAN) - g2("cEI", MEAN),
    shows="mean simple regret of GPN-UCB minus that of cEI, in ranges of g",
)
def gpn_ucb_equals_cei_where_one_is_obvious(g2):
    """and GPN-UCB has very similar performance to cEI."""
    return indistinguishable(g2("GPN-UCB", MEAN), g2("cEI", MEAN), 1.0)


@claim(
    "5-O",
    "L.3, Fig. 12 (a)",
    effect=lambda g1: np.max([g1(rule, MEAN) for rule in OURS], axis=0) - g1("cEI", MEAN),
    shows="mean simple regret of GPN-UCB or NonAda minus that of cEI, the larger, in ranges of g",
)
def cei_is_slightly_ahead(g1):
    """For [...] with several potential maximizers, our algorithms are slightly outperformed by cEI"""
    return always(*(slightly_better(g1("cEI", MEAN), g1(rule, MEAN), 1.0) for rule in OURS))


@claim(
    "5-E",
    "L.3, Fig. 12 (a)",
    effect=lambda g1: np.max([above_best(g1, rule, WITHOUT_CEI) for rule in OURS], axis=0),
    shows="mean simple regret of GPN-UCB or NonAda minus that of the best baseline but cEI, the larger, in ranges of g",
)
def both_surpass_other_baselines(g1):
    """but still surpass other baselines."""
    return always(*(lower(g1, rule, WITHOUT_CEI) for rule in OURS))


# L.3: both figures


@claim(
    "5-X",
    "L.3",
    effect=lambda g1, g2: np.min([fig("cEI", SECONDS) / fig("GPN-UCB", SECONDS) for fig in (g1, g2)], axis=0),
    shows="seconds of a run of cEI over those of GPN-UCB, one core, the smaller of two panels",
)
def cei_costs_more(g1, g2):
    """However, it should be noted that the slightly better performance of cEI requires significantly higher
    computation resources due to the large sample size."""
    return always(*(clearly_better(fig("GPN-UCB", SECONDS), fig("cEI", SECONDS)) for fig in (g1, g2)))


@claim(
    "5-G",
    "L.3, Figs. 11, 12",
    effect=lambda others1, others2: np.max(
        [above_best(fig, rule, BLACK_BOX) for fig in (others1, others2) for rule in GREY_BOX], axis=0
    ),
    shows="mean simple regret of OI or cUCB minus that of the better black box, the largest, in ranges of g",
)
def grey_boxes_sometimes_lose(others1, others2):
    """Perhaps unexpectedly, we found that the grey-box OI and cUCB algorithms (but not GPN-UCB and cEI) are sometimes
    outperformed by the black-box GP-UCB and EI algorithms, at least in this simple setting"""
    figures = others1, others2
    cucb = [outperformed(fig, "cUCB", statistic) for fig in figures for statistic in (TOTAL, MEAN)]
    return sometimes(*cucb) & sometimes(*(outperformed(fig, "OI", MEAN) for fig in figures))  # OI: in Fig. 12 alone


@claim(
    "5-Q",
    "L.3, Figs. 11, 12",
    effect=lambda g1, g2: np.max(
        [above_best(fig, rule, BLACK_BOX) for fig in (g1, g2) for rule in ("GPN-UCB", "cEI")], axis=0
    ),
    shows="mean simple regret of GPN-UCB or cEI minus that of the better black box, the largest, in ranges of g",
)
def gpn_ucb_and_cei_never_lose(g1, g2):
    """(but not GPN-UCB and cEI) are sometimes outperformed by the black-box GP-UCB and EI algorithms"""
    cases = [(fig, rule, kind) for fig in (g1, g2) for rule in ("GPN-UCB", "cEI") for kind in (TOTAL, MEAN)]
    return always(*(~outperformed(*case) for case in cases))


@claim(
    "5-AD",
    "L.3, Figs. 11, 12",
    effect=lambda trials1, trials2: np.min([trials1(rule, EARLY) + trials2(rule, EARLY) for rule in LUCKY], axis=0) / 2,
    shows="share of trials that are near the best before GPN-UCB but near-optimal no earlier, the smaller of two rules",
)
def early_luck_does_not_always_help(trials1, trials2):
    """although some trials of cEI and cUCB query a good point at an early time (due to randomness), this does not
    always help them find the near-optimal point earlier."""
    vain = {rule: [fig(rule, EARLY, np.max) > 0 for fig in (trials1, trials2)] for rule in LUCKY}
    return always(*(sometimes(*cases) for cases in vain.values()))


@claim(
    "5-AE",
    "Section 3.1",
    effect=lambda g1, g2: np.min([fig("GPN-UCB", AT_50) for fig in (g1, g2)], axis=0),
    shows="simple regret of GPN-UCB at T = 50, the smaller of two panels, in ranges of g",
)
def gpn_ucb_can_be_effective(g1, g2):
    """In Appendix L, we show that such a practical variant can be effective, at least in simple experimental
    scenarios."""
    return sometimes(*(near_optimal(fig("GPN-UCB", AT_50)) for fig in (g1, g2)))


@claim(
    "5-L",
    "H.5, Fig. 6",
    effect=lambda ratios: np.max([np.abs(ratios(nu, "ratio") - value) for nu, value in PRINTED.items()], axis=0),
    shows="largest difference from the three printed numbers",
)
def ratios_are_as_printed(ratios):
    """close to 1; with [...] we get this ratio being 0.958, 0.939, and 0.934 for [...] and 2 respectively."""
    return always(*(np.abs(ratios(nu, "ratio") - value) <= 0.0005 for nu, value in PRINTED.items()))


# What the paper argues


@claim(
    "5-R",
    "L.3",
    kind="remark",
    effect=lambda slopes: slopes["L = 1"] / slopes["L = 2"],
    shows="mean R_T of cUCB given L = 1 over that given L = 2",
)
def loose_bounds_cost_regret(slopes):
    """This may be caused by the large uncertainty in (283) when [...] L > 1, which makes the
    confidence bounds loose."""
    return (slopes("cUCB", "relative width") > 1) & better(slopes["L = 1"], slopes["L = 2"])


@claim(
    "5-I",
    "L.3",
    kind="remark",
    effect=lambda versions: versions["no envelope"] / versions["as in L.2"],
    shows="mean R_T of GPN-UCB without the envelope over that with it",
)
def envelope_saves_regret(versions):
    """provides some justification for our envelope technique in constructing confidence bounds."""
    return better(versions["as in L.2"], versions["no envelope"])


@claim(
    "5-Y",
    "Section 3.1",
    kind="remark",
    effect=lambda versions: versions["over all of D"] / versions["as in L.2"] - 1,
    shows="mean R_T if the envelope reaches over all of D over that if it reaches 1, minus 1",
)
def distant_points_have_no_impact(versions):
    """sufficiently close to [...] (since distant ones should have no impact)"""
    near, far = versions["as in L.2"], versions["over all of D"]
    return indistinguishable(near, far, np.maximum(near, far))


# Questions of our own


@claim(
    "5-C",
    "L.3, Fig. 11",
    kind="own question",
    effect=lambda draws: draws["cEI"] / draws["cEI, exact"],
    shows="mean R_T of cEI with 1,000 samples over that of exact cEI",
)
def gpn_ucb_beats_exact_cei(draws):
    """GPN-UCB outperforms cEI also where the expectation of cEI is exact."""
    return better(draws["GPN-UCB"], draws["cEI, exact"])


@claim(
    "5-Z",
    "L.2",
    kind="own question",
    effect=lambda versions: versions("as in L.2", "end") - versions("with the point itself", "end"),
    shows="simple regret at T = 200 as in L.2 minus that with the point itself, in ranges of g",
)
def the_point_itself_helps(versions):
    """GPN-UCB's simple regret ends lower if the envelope at a point uses the bounds at the point itself, not those at
    points of D alone."""
    return better(versions("with the point itself", "end"), versions("as in L.2", "end"), 1.0)


# Theorems


def within(ratios, kept=slice(None)):
    """Runs in which what a theorem bounds is at most its bound, from ratios of the two (n,), and the largest."""
    some = np.asarray(ratios)[kept]
    return Checked(int((some > 1).sum()), len(some), room=float(np.max(some, initial=0)) if len(some) else np.nan)


def missed(kept, structures, kind="band"):
    """Networks with an arm outside its bounds after any of 20 pulls."""
    counts = [result[kind].sum() for structure in structures for result in kept.results(f"sets, {structure}")]
    return Checked(int(np.count_nonzero(counts)), len(counts))


def bounded(kept, structures):
    """R_T over its bound, in networks where the rounding of the grid adds less than 5 % of the range."""
    rows = [row for structure in structures for row in kept.results(f"{structure}, outward") if row["slack"] < 0.05]
    return within([max(row["total"], row["step"]) for row in rows])


def composed(kept, structure):
    """Error and simple regret of NonAda over their bounds."""
    return within([max(row["error"], row["regret"]) for row in kept.results(f"Appendix G, {structure}")])


def needles(kept, statistic, nonada=False):
    """The bound of every rule over its regret, averaged over the needles of nu = 1 and 1.5 whose epsilon is 0.15."""
    ratios = []
    for nu in ("1", "1.5"):
        for trace in kept.traces(f"needles, nu {nu}").values():
            ratios.append(EPSILON / statistic(trace.regret).mean())
        if nonada:
            ratios.append(EPSILON / np.mean(kept.results(f"needles, NonAda, nu {nu}")))
    return within(ratios)


UNCHECKED = Checked(0, 0)
ASYMPTOTIC = "nothing: an order as T grows, with constants that are not given"


@theorem(
    "5-J",
    "Lemma 1",
    "scalar layers of exact norm, all arms, after each of 20 pulls: chains, feed-forward, extra inputs",
)
def lemma_1(kept):
    r"""Then, it holds for all [...] that [...] |f [...] \leq B\sigma_{t}"""
    return missed(kept, ("chain", "feed-forward", "extra inputs"))


@theorem(
    "5-AF",
    "Lemma 2",
    "vector-valued layers of exact norm, all arms, after each of 20 pulls: kernel k I and one that is not diagonal",
)
def lemma_2(kept):
    """the following lemma provides a deterministic confidence region. Lemma 2."""
    return missed(kept, ("multi-output", "multi-output, mixed"))


@theorem("5-AG", "Lemma 3", "nothing: cited, with noise, of which the paper uses the limit without")
def lemma_3(kept):
    """given a sequence of points [...] and their noisy observations"""
    return UNCHECKED


@theorem(
    "5-AH",
    "Lemma 4",
    "largest difference of the two sides, 1e-6 of the prior's allowed: k I, n = 3, after 8 random points in the plane",
)
def lemma_4(kept):
    """denote the posterior variance (matrix) for"""
    gaps = []
    for number in range(50):
        rng = np.random.default_rng(number)
        points, outputs = rng.uniform(-2, 2, (20, 2)), rng.standard_normal((8, 3))
        scalar = LayerPosterior(KERNEL, points, 1e-7, 3)
        vector = OperatorPosterior(independent_outputs(3), points, 1e-7)
        for z, y in zip(points[:8], outputs, strict=True):
            scalar.update(z, y)
            vector.update(z, y)
        gaps.append(np.abs(vector.covariance - scalar.variance[:, None, None] * np.eye(3)).max())
    return Checked(int((np.array(gaps) > 1e-6).sum()), len(gaps))  # no room: rounding alone is left


@theorem("5-AI", "Lemma 5", ASYMPTOTIC)
def lemma_5(kept):
    """Theorem 5.4) For the Matérn kernel with smoothness [...] a hyperrectangular domain"""
    return UNCHECKED


@theorem(
    "5-K",
    "Theorem 1, eq. 49",
    "steps and sums of 20, chains of two layers of exact norm, sets rounded outward, the rounding in the bound; "
    "room: of a step",
)
def theorem_1(kept):
    """and a chain [...] Algorithm 1 achieves [...] R_{T} ≤ 2^{m+1}BL^{m-1}Σ_{T},"""
    return bounded(kept, ("chain",))


@theorem(
    "5-V",
    "Theorem 2",
    "nothing: in two dimensions rounding the sets outward adds 205 % of the range to the bound, median over networks",
)
def theorem_2(kept):
    """and a multi-output chain [...] Algorithm 1 achieves [...] R_{T} ≤ 5^{m}BL^{m-1}Σ^{Γ}_{T},"""
    return bounded(kept, ("multi-output", "multi-output, mixed"))


@theorem("5-AJ", "Theorem 3", "nothing: as Theorem 2")
def theorem_3(kept):
    """Theorem 3 (GPN-UCB for feed-forward networks). Under the setup of Section 2, given"""
    return bounded(kept, ("feed-forward",))


@theorem(
    "5-P",
    "Theorem 4, eqs. 131, 132, 136",
    "error of the composite mean and simple regret over the sums that its proof bounds, all arms, T = 4 to 49, m = 3",
)
def theorem_4(kept):
    """Theorem 4 (Non-adaptive sampling method for chains). Under the setup"""
    return composed(kept, "chain")


@theorem(
    "5-AA",
    "Theorem 4, the rate",
    "exponent of T in the error, at least 3/2 promised: its mean over networks of two Matérn-3/2 layers, d = 1, T = 4 "
    "to 50; room: 3/2 over the exponent",
)
def theorem_4_rate(kept):
    """we propose a simple non-adaptive sampling based method (see Algorithm 2) for each structure, and provide the
    corresponding theoretical simple regret for the Matérn kernel."""
    errors = np.array(kept.results("rate of NonAda"))
    exponent = -np.polyfit(np.log([4, 6, 9, 13, 18, 25, 36, 50]), np.log(errors.mean(axis=0)), 1)[0]
    return Checked(int(exponent < 1.5), len(errors), room=float(1.5 / exponent))


@theorem(
    "5-M",
    "Theorem 5, H.4",
    "the bound of its proof, epsilon: simple regret of 7 rules averaged over 100 needles, T = 49, nu = 1 and 1.5",
)
def theorem_5(kept):
    """meaning that the average simple regret is at least"""
    return needles(kept, lambda regret: regret.min(axis=1), nonada=True)


@theorem(
    "5-S",
    "Theorem 6",
    "the bound of its proof, epsilon T: R_T of 6 rules averaged over 100 needles, T = 49, nu = 1 and 1.5",
)
def theorem_6(kept):
    """Theorem 6 (Lower bound on cumulative regret). Fix sufficiently large"""
    return needles(kept, lambda regret: regret.mean(axis=1))


@theorem("5-AK", "Theorem 7, G.3", "as 5-P, multi-output chains, kernel k I")
def theorem_7(kept):
    """Theorem 7 (Non-adaptive sampling method for multi-output chains)."""
    return composed(kept, "multi-output")


@theorem("5-AL", "Theorem 8, G.4", "as 5-P, feed-forward networks")
def theorem_8(kept):
    """Theorem 8 (Non-adaptive sampling method for feed-forward networks)."""
    return composed(kept, "feed-forward")


@theorem(
    "5-T",
    "Theorem 9",
    "norm over B and slope over L of the needle, its maximum 2 epsilon and 0 elsewhere: nu = 1 and 1.5, m = 3, "
    "M = 100, epsilon = .15; room: of the norm",
)
def theorem_9(kept):
    """Theorem 9 (Hard function for chains)."""
    kept_promises, norms = [], []
    for nu in (1.0, 1.5):
        source, trial = needle.Needles(10, EPSILON, depth=3, nu=nu), Trial(0, 0)
        problem, norm = source(trial), source.first_norm() / needle.NORM
        slope = max(source.needle_slope(), needle.steepest(nu)) / problem.model.lipschitz
        top = abs(problem.expected_reward.max() / (2 * EPSILON) - 1)
        kept_promises.append(max(norm, slope) <= 1 + 1e-6 and top <= 1e-6 and not source.outside(trial))
        norms.append(norm)
    return Checked(kept_promises.count(False), len(norms), room=max(norms))


@theorem(
    "5-AM", "Theorems 10, 11", "nothing: the needles of Theorem 9 with more outputs, all but one of them 0; not built"
)
def theorems_10_and_11(kept):
    """Theorem 10 (Hard function for multi-output chains)."""
    return UNCHECKED


@theorem("5-AN", "Corollaries 1 to 3", ASYMPTOTIC)
def corollaries(kept):
    """Corollary 1 (Chains)."""
    return UNCHECKED


@theorem(
    "5-U",
    "Remark 3, H.5",
    "c rises as u, u~ and the needle shrink 64-fold, nu = 1.5 and 2, m = 3; room: what is left of 1 - c",
)
def remark_3(kept):
    """this ensures that [...] can be arbitrarily close to one when [...] ν>1 and [...] is small."""
    left = [(1 - needle.least_c(nu, 1 / 64)) / (1 - needle.least_c(nu, 1.0)) for nu in (1.5, 2.0)]
    return within(left)


@theorem("5-AO", "Remark 3", "r_min / r_max above .93 at (u, u~) = (.5, .3), nu = 1, 1.5 and 2")
def remark_3_moderate(kept):
    """demonstrate cases where [...] is not too small (e.g., [...] > 0.93 [...] even when"""
    return within([0.93 / np.divide(*needle.slope_range(nu)) for nu in PRINTED])
