"""What Li and Scarlett (2024) say of their experiments, as predicates on the tables behind their
figures.

The experiment is two chains drawn from the prior, g1 with several maximisers and g2 with an obvious
one, printed nowhere: a rerun draws one chain of each kind. A row is a chain: the mean of its ten
trials, ten orders of ties, regrets over the range of g. The authors call their experiments "only
intended to suggest the potential plausibility of our algorithms for practical use, rather than
being comprehensive or definitive".
"""

from collections import defaultdict
from functools import partial
from itertools import count, product, starmap

import numpy as np

from kbrepro.claims.judging import Outcome, claim, own_question, remark, tested, theorem, unchecked
from kbrepro.claims.tables import SECONDS, TOTAL, Names, Table
from kbrepro.claims.words import (
    LIMITS,
    always,
    best,
    better,
    cases,
    clearly_better,
    compared,
    indistinguishable,
    largest,
    near_optimal,
    similar,
    slightly_better,
    smallest,
    sometimes,
)
from kbrepro.papers.gpn_ucb import needle
from kbrepro.papers.gpn_ucb.experiments import EPSILON
from kbrepro.papers.gpn_ucb.experiments import PULLS as PULLS_OF_RATE
from kbrepro.papers.gpn_ucb.measures import joined, picked
from kbrepro.trials.curve import simple_regret

BLACK_BOX = ("GP-UCB", "EI")
GREY_BOX = ("cUCB", "OI")
LUCKY = ("cEI", "cUCB")
OURS = ("GPN-UCB", "NonAda")
POOL = ("GPN-UCB", "cEI", *GREY_BOX, *BLACK_BOX)
BASELINES = POOL[1:]
WITHOUT_CEI = POOL[2:]
#: Fig. 11 names its curves: OI is not among them.
IN_FIG_11 = ("cEI", "cUCB", *BLACK_BOX)
#: The numbers of pulls of NonAda, at which Fig. 12 compares simple regret; b of OI in Fig. 10 up to
#: 1.
PULLS = np.arange(2, 15) ** 2
OI_OF_SMALL_B = ("OI 0.0001", "OI 0.001", "OI 0.01", "OI 0.1", "OI 1")
OI_OF_LARGE_B = ("OI 10", "OI 100", "OI 1000", "OI 10000")
#: Statistics of a chain, the mean of its trials. NonAda's simple regret at 50 is that of 49 pulls.
#: EARLY: the share of its trials that are at a good point before GPN-UCB's, but near-optimal no
#: earlier. APART: the largest gap between mean curves. VARIANCE: that of R_T over its trials.
MEAN = "simple regret, mean over T"
CURVE = "simple regret, mean over rounds"
AT_50 = "simple regret at 50"
EARLY = "early in vain"
APART = "largest gap to cUCB"
VARIANCE = "variance of R_T"
#: Names of columns under another interpretation of ties, and of the first layer.
OWN, BARE = "own ties", "no envelope in layer 1"
PRINTED = {1.0: 0.958, 1.5: 0.939, 2.0: 0.934}  # Fig. 6
NEEDLES = ("needles, nu 1", "needles, nu 1.5")  # whose norm is at most B


# The tables


def statistics(traces, ranges, times):
    """What Figs. 10 to 12 plot of each rule, one number a chain: the mean over its `times`
    trials.
    """
    columns = {}
    for rule, trace in traces.items():
        scale = np.repeat(ranges, times)[: len(trace.arms)]
        curve = simple_regret(trace) / scale[:, None]
        numbers = {TOTAL: trace.regret.sum(axis=1) / scale, MEAN: curve[:, PULLS - 1].mean(axis=1)}
        numbers |= {
            AT_50: curve[:, 49],
            CURVE: curve.mean(axis=1),
            SECONDS: trace.seconds.sum(axis=1),
        }
        for name, trials in numbers.items():
            columns[rule, name] = trials.reshape(-1, times).mean(axis=1)
    return columns


def in_parts(kept, label):
    """The traces of `label 0`, `label 1`, ..., as far as they are planned, as one."""
    parts = []
    for part in count():
        try:
            kept.planned(f"{label} {part}")
        except KeyError:
            return joined(parts)
        parts.append(kept.traces(f"{label} {part}"))


def renamed(columns, name):
    """Columns of rules that play otherwise, under names of their own."""
    return {(f"{rule}, {name}", shown): of for (rule, shown), of in columns.items()}


def of_chains(columns, where):
    """The columns of those chains where it holds, as far as they go."""
    return {name: of[: len(where)][where[: len(of)]] for name, of in columns.items()}


def nonadaptive(results, ranges):
    """NonAda's simple regret, from one regret for each of `PULLS`."""
    regrets = np.array(results) / ranges[:, None]
    return {
        ("NonAda", MEAN): regrets.mean(axis=1),
        ("NonAda", AT_50): regrets[:, list(PULLS).index(49)],
    }


def early(curves, ranges):
    """`EARLY` of every rule, from falling curves of simple regret by rule, trials in the same
    order, (n, T) each.
    """
    near = {}
    best_at = {}
    for rule, curve in curves.items():
        near[rule] = (curve > LIMITS["good point"] * ranges[:, None]).sum(axis=1)
        best_at[rule] = (curve > LIMITS["near-optimal"] * ranges[:, None]).sum(axis=1)
    columns = {}
    for rule in LUCKY:
        no_earlier = best_at[rule] >= best_at["GPN-UCB"]
        columns[rule, EARLY] = 1.0 * ((near[rule] < near["GPN-UCB"]) & no_earlier)
    return columns


def facts(kept, kind):
    """Gaps and ranges of the chains of a kind."""
    return np.transpose(kept.results(f"{kind}, facts"))


def with_several(gaps):
    """Which chains have several maximisers."""
    return gaps <= LIMITS["several maximisers"]


def with_an_obvious_one(gaps):
    """Which chains have an obvious maximiser."""
    return gaps >= LIMITS["obvious maximiser"]


#: By kind, which chains are of it: all that were chosen, until a limit is moved.
IS_OF = {"several": with_several, "obvious": with_an_obvious_one}


def both_figures(kept, kind):
    """The columns of Figs. 11 and 12 on the chains of a kind."""
    gaps, ranges = facts(kept, kind)
    times = kept.parameters["trials_per_chain"]
    columns = statistics(kept.traces(kind), ranges, times)
    columns |= renamed(statistics(kept.traces(f"{kind}, {BARE}"), ranges, times), BARE)
    columns |= renamed(statistics(kept.traces(f"{kind}, own ties"), ranges, times), OWN)
    few = kept.parameters["sampled_trials"]
    columns |= statistics(in_parts(kept, f"{kind}, cEI"), ranges, few)
    columns |= nonadaptive(kept.results(f"{kind}, NonAda"), ranges)
    return of_chains(columns, IS_OF[kind](gaps))


def by_trial(trace, times):
    """The falling simple regret of every trial of every chain, and its R_T, (chains, times, ...)
    each.
    """
    curves = simple_regret(trace)
    return curves.reshape(-1, times, curves.shape[1]), trace.regret.sum(axis=1).reshape(-1, times)


def ten_of(kept, kind):
    """The columns of those chains on which cEI plays as many trials as the paper."""
    gaps, ranges = facts(kept, kind)
    played = {}
    few, more = (kept.parameters[name] for name in ("sampled_trials", "more_trials"))
    first = in_parts(kept, f"{kind}, cEI")
    for rule, trace in in_parts(kept, f"{kind}, more of cEI").items():
        later = by_trial(trace, more)
        n = len(later[0])
        both_of = zip(by_trial(first[rule], few), later, strict=True)
        played[rule] = [np.concatenate([begin[:n], end], axis=1) for begin, end in both_of]
    n, times = played["cEI"][1].shape
    ranges = ranges[:n]

    def of_all(label, name=""):
        of_chain = kept.parameters["trials_per_chain"]
        for rule, trace in kept.traces(label).items():
            curves, totals = by_trial(trace, of_chain)
            played[rule + name] = curves[:n, :times], totals[:n, :times]

    of_all(kind)
    of_all(f"{kind}, {BARE}", f", {BARE}")
    of_all(f"{kind}, own ties", f", {OWN}")
    columns = {}
    for rule, (_, totals) in played.items():
        columns[rule, VARIANCE] = (totals / ranges[:, None]).var(axis=1, ddof=1)
    for ties, layer in product(("", f", {OWN}"), ("", f", {BARE}")):
        rules = {"cEI": "cEI", "cUCB": f"cUCB{ties}", "GPN-UCB": f"GPN-UCB{layer}"}
        curves = {rule: np.concatenate(played[name][0]) for rule, name in rules.items()}
        for (rule, _), in_vain in early(curves, np.repeat(ranges, times)).items():
            columns[rules[rule], EARLY + layer] = in_vain.reshape(n, times).mean(axis=1)
    return of_chains(columns, IS_OF[kind](gaps[:n]))


def sweep(kept, kind):
    """The columns of Fig. 10 on the chains of a kind; `OI 0.01` is OI with b = 0.01."""
    gaps, ranges = facts(kept, kind)
    times = kept.parameters["trials_per_chain"]
    traces = kept.traces(kind)
    traces = {"cUCB": traces["cUCB"], "OI 1": traces["OI"]}
    for b, trace in kept.traces(f"{kind}, OI").items():
        traces[f"OI {b:g}"] = trace
    of_own = {f"cUCB, {OWN}": kept.traces(f"{kind}, own ties")["cUCB"]}
    columns = statistics(traces | of_own, ranges, times)
    means = {rule: by_trial(trace, times)[0].mean(axis=1) for rule, trace in traces.items()}
    (of_own,) = (by_trial(trace, times)[0].mean(axis=1) for trace in of_own.values())
    for rule, curve in means.items():
        for name, other in ((APART, means["cUCB"]), (f"{APART}, {OWN}", of_own)):
            columns[rule, name] = np.abs((curve - other) / ranges[:, None]).max(axis=1)
    if kind == "several":
        large = {f"OI {b:g}": trace for b, trace in kept.traces("several, large b").items()}
        columns |= statistics(large, ranges, kept.parameters["sampled_trials"])
    return of_chains(columns, IS_OF[kind](gaps))


def where_true(kept, kind):
    """The columns of Fig. 11 on chains of norm 2, for which B = 2 is true."""
    gaps, ranges = facts(kept, f"norm 2, {kind}")
    times = kept.parameters["norm_2_trials"]
    columns = statistics(kept.traces(f"norm 2, {kind}"), ranges, times)
    columns |= statistics(kept.traces(f"norm 2, {kind}, cEI"), ranges, 1)
    return of_chains(columns, IS_OF[kind](gaps))


def versions_of(kept, kind):
    """The versions of GPN-UCB; cUCB given L = 2 and 1, and how many times as wide its bounds are as
    GPN-UCB's. One trial a chain.
    """
    gaps, ranges = facts(kept, kind)
    first = picked(kept.traces(kind), slice(None, None, kept.parameters["trials_per_chain"]))
    traces = {"as in L.2": first["GPN-UCB"], "L = 2": first["cUCB"]}
    traces |= {"L = 1": kept.traces(f"{kind}, L = 1")["cUCB"]}
    columns = statistics(traces | kept.traces(f"{kind}, versions"), ranges, 1)
    columns["cUCB", "relative width"] = np.array(kept.results(f"{kind}, relative widths"))
    return of_chains(columns, IS_OF[kind](gaps))


def fig6(kept):
    """r_min / r_max of the layers of Fig. 6, by nu."""
    return {(nu, "ratio"): np.array([np.divide(*needle.slope_range(nu))]) for nu in PRINTED}


LAYER_1: dict[str, dict[str, Names]] = {
    "first layer": {
        "with envelope": {},
        "without envelope": {"GPN-UCB": f"GPN-UCB, {BARE}", EARLY: f"{EARLY}, {BARE}"},
    }
}
TIES: dict[str, dict[str, Names]] = {
    "ties": {
        "common": {},
        "independent": {rule: f"{rule}, {OWN}" for rule in (*GREY_BOX, *BLACK_BOX)},
    }
}
SOURCES = {
    "with envelope": (
        "Section 3.1, eqs. 9 and 10: in every layer, over all inputs; the shortcuts of L.2 are for"
        " i in {2, ..., m}"
    ),
    "without envelope": (
        "L.2, GPN-UCB, read narrowly: it describes envelopes for i in {2, ..., m} alone, so that"
        " the first layer has the bounds of Lemma 1"
    ),
    "common": (
        "L.3, first paragraph, does not say whether the rules of a trial break ties alike; as for"
        " all papers here they do"
    ),
    "independent": (
        'L.3, first paragraph, "10 independent trials", read as independent rules, too: cUCB, OI,'
        " GP-UCB and EI break ties on their own; GPN-UCB and cEI, which draws its samples, have"
        " the same first arm"
    ),
    "1,000 samples": "L.2, cEI: the sample size S = 1000",
}
#: What the authors say of their experiments, beside every row.
INTENDED = (
    'the authors call these experiments "only intended to suggest the potential plausibility of'
    ' our algorithms for practical use, rather than being comprehensive or definitive" (L)'
)
one_chain = partial(Table, size=1, unit="chain", pool=POOL, sources=SOURCES)
of_both_figures = partial(
    one_chain,
    readings=LAYER_1 | TIES | {"cEI": {"1,000 samples": {}}},
    caveat=f"trials a chain: 10, as in the paper; cEI 2; {INTENDED}",
)
g1, g2 = both = (
    of_both_figures("Figs. 11, 12, g1", load=partial(both_figures, kind="several")),
    of_both_figures("Figs. 11, 12, g2", load=partial(both_figures, kind="obvious")),
)
of_ten_trials = partial(
    one_chain,
    readings=LAYER_1 | TIES | {"cEI": {"1,000 samples": {}}},
    caveat=f"trials a chain: 10, as in the paper, also of cEI; {INTENDED}",
)
ten_trials = (
    of_ten_trials("trials of Figs. 11, 12, g1", load=partial(ten_of, kind="several")),
    of_ten_trials("trials of Figs. 11, 12, g2", load=partial(ten_of, kind="obvious")),
)
#: APART is of a rule and cUCB.
TIES_OF_FIG_10 = {"common": {}, "independent": {"cUCB": f"cUCB, {OWN}", APART: f"{APART}, {OWN}"}}
of_fig_10 = partial(
    one_chain,
    readings={"ties": TIES_OF_FIG_10},
    sources=SOURCES
    | {
        "independent": (
            'L.2, cUCB and OI, "10 independent trials", read as independent rules, too: cUCB'
            " breaks ties on its own, OI alike for all b"
        )
    },
)
swept1, _ = swept = (
    of_fig_10(
        "Fig. 10, g1",
        load=partial(sweep, kind="several"),
        caveat=f"trials a chain: 10, as in the paper; OI with b > 1: 2; {INTENDED}",
    ),
    of_fig_10(
        "Fig. 10, g2",
        load=partial(sweep, kind="obvious"),
        caveat=f"trials a chain: 10, as in the paper; {INTENDED}",
    ),
)
versions_on = partial(Table, size=1, unit="chain", caveat=f"one trial a chain; {INTENDED}")
versions = (
    versions_on("versions of GPN-UCB and cUCB, g1", load=partial(versions_of, kind="several")),
    versions_on("versions of GPN-UCB and cUCB, g2", load=partial(versions_of, kind="obvious")),
)
of_norm_2 = partial(
    one_chain, sources={}, caveat="chains of norm 2, not of the paper; trials a chain: 2; cEI 1"
)
where_b_is_true = (
    of_norm_2("chains of norm 2, g1", load=partial(where_true, kind="several")),
    of_norm_2("chains of norm 2, g2", load=partial(where_true, kind="obvious")),
)
#: No chance in it.
ratios = Table("Fig. 6", size=1, unit="curve", load=fig6, rows=1)


def behind(rules, rivals):
    """Simple regret minus that of the best rival, the largest of rules and panels; what it shows
    begins with GAP.
    """
    return lambda *panels: np.max(compared(np.subtract, panels, rules, rivals, MEAN), axis=0)


def over(rule, other):
    """The mean R_T of a rule over that of another, the larger ratio of the panels."""
    return largest(lambda fig: fig[rule] / fig[other])


def on_both(panels, rule, statistic=TOTAL):
    """A statistic of a rule, summed over the panels."""
    return np.sum([fig(rule, statistic) for fig in panels], axis=0)


def over_on_both(rule, other):
    """R_T of a rule over that of another, summed over the panels."""
    return lambda *panels: on_both(panels, rule) / on_both(panels, other)


def lower(fig, rules, rivals):
    """The simple regret of every rule is below that of every rival."""
    return always(*compared(partial(better, axis=1.0), [fig], rules, rivals, MEAN))


def outperformed(fig, rule, statistic, rivals=BLACK_BOX):
    """One of the black boxes has less regret than a rule."""
    axis = 1.0 if statistic == MEAN else None  # simple regret: ranges of g
    return sometimes(*compared(partial(better, axis=axis), [fig], rivals, [rule], statistic))


def at_50(panels, rules):
    """Simple regret at T = 50 of each rule on each panel."""
    return np.array([fig(rule, AT_50) for fig, rule in product(panels, rules)])


GAP = "mean simple regret, as a share of the range of g:"


# L.2, Fig. 10: OI and cUCB


@claim(
    "5-H",
    "L.2, Fig. 10",
    effect=lambda *panels: np.max(
        np.abs(compared(np.subtract, panels, OI_OF_SMALL_B, ["cUCB"], CURVE)), axis=0
    ),
    shows=(
        "largest gap in mean simple regret between OI with b ≤ 1 and cUCB in two panels, as a"
        " share of the range of g"
    ),
)
def oi_is_similar_to_cucb(*swept):
    """The experimental results show that OI with [b ≤ 1] has similar performance to cUCB"""
    alike = partial(similar, axis=1.0)
    return always(*compared(alike, swept, OI_OF_SMALL_B, ["cUCB"], CURVE))


@claim(
    "5-AC",
    "Fig. 10 (a)",
    effect=lambda swept1: swept1("OI 0.0001", APART),
    shows=(
        "largest gap between the simple regret curves of OI with b = 0.0001 and cUCB, as a share"
        " of the range of g"
    ),
)
def oi_and_cucb_are_indistinguishable(swept1):
    """The curves of OI with [b = 0.0001] and cUCB for [g_1] are indistinguishable."""
    return indistinguishable(swept1("OI 0.0001", APART), 0.0, 1.0)


@remark(
    "5-AQ",
    "L.2, Fig. 10 (a)",
    effect=lambda swept1: (
        swept1("OI 1", CURVE)
        - np.min([swept1(rule, CURVE) for rule in OI_OF_SMALL_B[:-1] + OI_OF_LARGE_B], axis=0)
    ),
    shows=(
        "mean simple regret of OI with b = 1 minus that with the best other b, several maximisers,"
        " as a share of the range of g"
    ),
)
def one_is_the_best_choice(swept1):
    """To find the best choice of [b] for OI, we conduct experiments for OI [...] and we will use
    OI with [b] = 1 as one of the baselines in the following section.
    """
    others = OI_OF_SMALL_B[:-1] + OI_OF_LARGE_B
    clearly = compared(partial(clearly_better, axis=1.0), [swept1], others, ["OI 1"], CURVE)
    return ~sometimes(*clearly)


# L.3, Fig. 11: cumulative regret


@claim(
    "5-A",
    "L.3, Fig. 11",
    effect=largest(lambda fig: fig.over("GPN-UCB", IN_FIG_11)),
    shows=(
        "mean cumulative regret R_T after T rounds of GPN-UCB over that of its best rival, the"
        " larger ratio of two panels"
    ),
)
def gpn_ucb_is_best(*both):
    """In terms of cumulative regret, GPN-UCB outperforms all of the baselines."""
    return always(*cases(best, both, ["GPN-UCB"], IN_FIG_11))


@own_question(
    "5-AR",
    "L.3, Fig. 11",
    effect=over("GPN-UCB", "cEI, exact"),
    shows=(
        "mean regret R_T of GPN-UCB over that of cEI with its expectation computed, the larger"
        " ratio of two panels"
    ),
)
def gpn_ucb_beats_exact_cei(*both):
    """Does GPN-UCB incur lower cumulative regret than cEI whose expectation is computed, not
    sampled?
    """
    return always(*compared(better, both, ["GPN-UCB"], ["cEI, exact"]))


@own_question(
    "5-AS",
    "L.3, Fig. 11",
    effect=largest(lambda fig: fig.over("GPN-UCB", IN_FIG_11)),
    shows=(
        "mean regret R_T of GPN-UCB over that of its best rival on chains for which B is true, the"
        " larger ratio of two panels"
    ),
)
def gpn_ucb_is_best_where_b_is_true(*where_b_is_true):
    """Where B is true, does GPN-UCB incur lower cumulative regret than all other rules of Fig. 11,
    cEI with its 1,000 samples among them?
    """
    return always(*cases(best, where_b_is_true, ["GPN-UCB"], IN_FIG_11))


@own_question(
    "5-AT",
    "L.3, Fig. 11",
    effect=over("GPN-UCB", "cEI, exact"),
    shows=(
        "mean regret R_T of GPN-UCB over that of cEI with its expectation computed on chains for"
        " which B is true, the larger ratio of two panels"
    ),
)
def gpn_ucb_beats_exact_cei_where_b_is_true(*where_b_is_true):
    """Where B is true, does GPN-UCB incur lower cumulative regret than cEI whose expectation is
    computed, not sampled?
    """
    return always(*compared(better, where_b_is_true, ["GPN-UCB"], ["cEI, exact"]))


# L.3, Fig. 12: simple regret


@claim(
    "5-D",
    "L.3, Fig. 12",
    effect=lambda *panels: at_50(panels, OURS).max(axis=0),
    shows=(
        "simple regret at T = 50 (49 for NonAda), the largest of two rules and two panels, as a"
        " share of the range of g"
    ),
    finding="near-optimal",
)
def both_are_near_optimal_by_50(*both):
    """The experimental results show that both algorithms are able to locate a near-optimal point in
    a short time (by [T = 50]).
    """
    return always(*near_optimal(at_50(both, OURS)))


@claim(
    "5-F",
    "L.3, Fig. 12 (b)",
    effect=behind(["NonAda"], BASELINES),
    shows=f"{GAP} that of NonAda minus that of the best baseline",
    finding="obvious",
)
def nonada_is_best_where_one_is_obvious(g2):
    """In terms of simple regret, for [g_2] with an "obvious" maximizer, NonAda outperforms all the
    baselines
    """
    return lower(g2, ["NonAda"], BASELINES)


@claim(
    "5-N",
    "L.3, Fig. 12 (b)",
    effect=behind(["GPN-UCB"], ["cEI"]),
    shows=f"{GAP} that of GPN-UCB minus that of cEI",
    finding="obvious",
)
def gpn_ucb_equals_cei_where_one_is_obvious(g2):
    """and GPN-UCB has very similar performance to cEI."""
    return indistinguishable(g2("GPN-UCB", MEAN), g2("cEI", MEAN), 1.0)


@claim(
    "5-O",
    "L.3, Fig. 12 (a)",
    effect=behind(OURS, ["cEI"]),
    shows=f"{GAP} the larger of GPN-UCB's and NonAda's minus cEI's",
    finding="several",
)
def cei_is_slightly_ahead(g1):
    """For [g_1] with several potential maximizers, our algorithms are slightly outperformed by
    cEI
    """
    return always(*compared(partial(slightly_better, axis=1.0), [g1], ["cEI"], OURS, MEAN))


@claim(
    "5-E",
    "L.3, Fig. 12 (a)",
    effect=behind(OURS, WITHOUT_CEI),
    shows=f"{GAP} the larger of GPN-UCB's and NonAda's minus that of the best baseline except cEI",
    finding="several",
)
def both_surpass_other_baselines(g1):
    """but still surpass other baselines."""
    return lower(g1, OURS, WITHOUT_CEI)


# L.3: both figures


@claim(
    "5-X",
    "L.3",
    effect=smallest(lambda fig: fig("cEI", SECONDS) / fig("GPN-UCB", SECONDS)),
    shows="run time of cEI over that of GPN-UCB on one core, the smaller ratio of two panels",
)
def cei_costs_more(*both):
    """However, it should be noted that the slightly better performance of cEI requires
    significantly higher computation resources due to the large sample size.
    """
    return always(*compared(clearly_better, both, ["GPN-UCB"], ["cEI"], SECONDS))


@claim(
    "5-G",
    "L.3, Figs. 11, 12",
    effect=behind(GREY_BOX, BLACK_BOX),
    shows=(
        f"{GAP} that of OI or cUCB minus that of the better black-box rule, the largest difference"
    ),
    finding="boxes",
)
def grey_boxes_sometimes_lose(*both):
    """Perhaps unexpectedly, we found that the grey-box OI and cUCB algorithms (but not GPN-UCB and
    cEI) are sometimes outperformed by the black-box GP-UCB and EI algorithms, at least in this
    simple setting
    """
    # what the figures draw of each: OI in Fig. 12 alone
    drawn = [*product(("cUCB",), both, (TOTAL, MEAN)), *product(("OI",), both, (MEAN,))]
    cases_of = defaultdict(list)  # by either box
    for rival, (rule, fig, statistic) in product(BLACK_BOX, drawn):
        lost = outperformed(fig, rule, statistic, [rival])
        cases_of[rule].append(lost)
        cases_of[rival].append(lost)
    return always(*starmap(sometimes, cases_of.values()))


@claim(
    "5-Q",
    "L.3, Figs. 11, 12",
    effect=behind(("GPN-UCB", "cEI"), BLACK_BOX),
    shows=(
        f"{GAP} that of GPN-UCB or cEI minus that of the better black-box rule, the largest"
        " difference"
    ),
    finding="boxes",
)
def gpn_ucb_and_cei_never_lose(*both):
    """(but not GPN-UCB and cEI) are sometimes outperformed by the black-box GP-UCB and EI
    algorithms
    """
    drawn = product(both, ("GPN-UCB", "cEI"), (TOTAL, MEAN))
    return ~sometimes(*starmap(outperformed, drawn))


@claim(
    "5-AD",
    "L.3, Figs. 11, 12",
    effect=lambda *panels: np.minimum.reduce(
        [np.mean([fig(rule, EARLY) for fig in panels], axis=0) for rule in LUCKY]
    ),
    shows=(
        "share of trials that query a good point before GPN-UCB's trial but a near-optimal one no"
        " earlier, the smaller of cEI and cUCB"
    ),
)
def early_luck_does_not_always_help(*ten_trials):
    """although some trials of cEI and cUCB query a good point at an early time (due to randomness),
    this does not always help them find the near-optimal point earlier.
    """
    return always(*(sometimes(*(fig(rule, EARLY) > 0 for fig in ten_trials)) for rule in LUCKY))


@remark(
    "5-AU",
    "L.3",
    effect=largest(lambda fig: fig("cEI, exact", VARIANCE) / fig("cEI", VARIANCE)),
    shows=(
        "variance over trials of the regret R_T of cEI without sampling, whose randomness is its"
        " ties, over that of cEI, the larger ratio of two panels"
    ),
)
def randomness_comes_from_sampling_and_ties(*ten_trials):
    """Note that the randomness of cEI mainly comes from sampling Gaussian random variables, and the
    randomness of other algorithms comes from random tie-breaking in the argmax operation.
    """
    mainly = [better(fig("cEI, exact", VARIANCE), fig("cEI", VARIANCE) / 2) for fig in ten_trials]
    others = product(ten_trials, ("GPN-UCB", *GREY_BOX, *BLACK_BOX))
    by_ties = [better(0.0, fig(rule, VARIANCE)) for fig, rule in others]
    return always(*mainly, *by_ties)


@claim(
    "5-AE",
    "Section 3.1",
    effect=lambda *panels: at_50(panels, ["GPN-UCB"]).min(axis=0),
    shows=(
        "simple regret of GPN-UCB at T = 50, the smaller of two panels, as a share of the range of"
        " g"
    ),
    finding="near-optimal",
)
def gpn_ucb_can_be_effective(*both):
    """In Appendix L, we show that such a practical variant can be effective, at least in simple
    experimental scenarios.
    """
    return sometimes(*near_optimal(at_50(both, ["GPN-UCB"])))


def off(ratios):
    """The largest difference from a printed ratio."""
    return np.max([np.abs(ratios(nu, "ratio") - value) for nu, value in PRINTED.items()], axis=0)


@remark(
    "5-AP",
    "Section 1.2",
    effect=lambda *panels: np.max([at_50(panels, [rule]).min(axis=0) for rule in OURS], axis=0),
    shows=(
        "simple regret at T = 50 on the better of two panels, the larger of GPN-UCB's and"
        " NonAda's, as a share of the range of g"
    ),
)
def both_can_be_effective(*both):
    """While the goals of this paper are essentially entirely theoretical, we show in Appendix L
    that (slight variations of) our algorithms can be effective in at least simple experimental
    scenarios.
    """
    return always(*(sometimes(*near_optimal(at_50(both, [rule]))) for rule in OURS))


@claim("5-L", "H.5, Fig. 6", effect=off, shows="largest difference from the three printed ratios")
def ratios_are_as_printed(ratios):
    """close to 1; with [u = 0.5, v = 0.3] we get this ratio being 0.958, 0.939, and 0.934 for
    [ν = 1, 1.5] and 2 respectively.
    """
    return off(ratios) <= 0.0005


# What the paper argues


@remark(
    "5-R",
    "L.3",
    effect=over_on_both("L = 1", "L = 2"),
    shows="mean regret R_T of cUCB with L = 1 over that with L = 2, two panels together",
)
def loose_bounds_cost_regret(*versions):
    """This may be caused by the large uncertainty in (283) when [L > 1], which makes the
    confidence bounds loose."""
    loose = always(*(clearly_better(1.0, fig("cUCB", "relative width")) for fig in versions))
    return loose & better(on_both(versions, "L = 1"), on_both(versions, "L = 2"))


@remark(
    "5-I",
    "L.3",
    effect=over_on_both("no envelope", "as in L.2"),
    shows=("mean regret R_T of GPN-UCB without envelopes over that with them, two panels together"),
)
def envelope_saves_regret(*versions):
    """provides some justification for our envelope technique in constructing confidence bounds."""
    return better(on_both(versions, "as in L.2"), on_both(versions, "no envelope"))


@remark(
    "5-Y",
    "Section 3.1",
    effect=lambda *panels: over_on_both("over all of D", "as in L.2")(*panels) - 1,
    shows=(
        "mean regret R_T of GPN-UCB with envelopes over all of D over that with envelopes up to"
        " distance 1 in the later layers, minus 1, two panels together"
    ),
)
def distant_points_have_no_impact(*versions):
    """sufficiently close to [z] (since distant ones should have no impact)"""
    near = on_both(versions, "as in L.2")
    far = on_both(versions, "over all of D")
    return indistinguishable(near, far, np.maximum(near, far))


# Theorems


@theorem(
    "5-K",
    "Theorem 1, eq. 49",
    "regret of each step and of 20 steps over its bound: chains of two layers of exact norm, sets"
    " rounded outward, with the rounding (under 5 % of the range) in the bound",
)
def theorem_1(kept):
    """For a chain of m layers of norm at most B and Lipschitz constant at most L, Algorithm 1
    achieves R_T ≤ 2^(m+1) B L^(m-1) Σ_T, where Σ_T is the largest sum of T posterior standard
    deviations of a layer.
    """
    return Outcome.of(
        (row["total"], row["step"]) for row in kept.results("chain, outward") if row["slack"] < 0.05
    )


@theorem(
    "5-P",
    "Theorems 4, 7 and 8, eqs. 131, 132, 136",
    "error of the composite mean, and simple regret, over their bounds (sums in the proofs), all"
    " arms, T = 4 to 49, m = 3: chains, multi-output chains (kernel k I), feed-forward networks",
)
def theorems_4_7_and_8(kept):
    """|g - composite mean| ≤ the sum over layers of B L^(m-i) sd_i (131, 132), where sd_i is the
    posterior standard deviation of layer i; so the simple regret of Algorithm 2 is at most 2 B
    times the sum of L^(m-i) max sd_i (136).
    """
    networks = []
    for structure in ("chain", "multi-output", "feed-forward"):
        networks += kept.results(f"Appendix G, {structure}")
    return Outcome.of((row["error"], row["regret"]) for row in networks)


@theorem(
    "5-AA",
    "Theorem 4, the rate",
    "exponent of 1/T in the mean error of 100 networks of two Matérn-3/2 layers, d = 1, T = 4 to"
    " 50; at least 3/2 is promised (share of the bound: 3/2 over the exponent)",
    slopes=True,
)
def theorem_4_rate(kept):
    """Given B = Θ(L), for Matérn kernels with ν > 1 the simple regret of Algorithm 2 is, up to
    logarithms, at most of order max(B L^((m-1)ν) T^(-ν/d), B^(1 + ν + ... + ν^(m-2)) L^(ν^(m-1))
    T^(-ν²/d)).
    """
    errors = np.array(kept.results("rate of NonAda"))
    exponent = -np.polyfit(np.log(PULLS_OF_RATE), np.log(errors.mean(axis=0)), 1)[0]
    return Outcome(int(exponent < 1.5), 1, room=float(1.5 / exponent))


@theorem(
    "5-M",
    "Theorems 5, 6 and 9, H.4",
    "the bounds of the proof, ε and εT, over simple regret of 7 rules and R_T of 6, averaged over"
    " 100 needles, T = 49, ν = 1 and 1.5; a unit test checks that needles are as Theorem 9 says",
)
def theorems_5_and_6(kept):
    """If T ≤ M/2 - 1, the average simple regret over the M needles (functions with one hidden peak)
    is at least ε, and R_T at least ε T: simple regret ε takes T = Ω((B (cL)^(m-1) / ε)^(d/ν)).
    """
    shares = []
    for label in NEEDLES:
        shares.append(EPSILON / np.mean(kept.results(label.replace(",", ", NonAda,"))))
        for trace in kept.traces(label).values():
            simple = trace.regret.min(axis=1).mean()
            mean = trace.regret.mean()
            shares.append(EPSILON / np.array([simple, mean]))
    return Outcome.of(shares)


bands = tested(
    "5-J",
    "Lemmas 1, 2 and 4",
    "whether bands hold for layers of exact norm, scalar and vector-valued, after up to 40 pulls;"
    " Lemma 4 is an identity",
    "For f of norm at most B, without noise: |f(z) - μ_t(z)| ≤ B σ_t(z) for all z and t (Lemma 1);"
    " the same for vectors, in their norm (Lemma 2); the identity behind it (Lemma 4).",
)
remark_3 = tested(
    "5-AO",
    "Remark 3, H.5",
    "whether r_min / r_max exceeds 0.93 at (u, ũ) = (0.5, 0.3), ν = 1, 1.5 and 2",
    "c > 0.93 at (u, ũ) = (0.5, 0.3), where c = r_min / r_max, for ν = 1, 1.5 and 2.",
)
orders = unchecked(
    "5-V",
    "Lemmas 3, 5; Theorems 2, 3, 10, 11; Corollaries 1 to 3",
    "no run can check them: Lemma 3 is cited, for noise; Lemma 5 and the corollaries are orders"
    " without constants; in two dimensions outward rounding adds 205 % of the range to the bounds"
    " of Theorems 2 and 3 (median); Theorems 10 and 11 add outputs that are all 0 to the needles"
    " of Theorem 9",
    "Algorithm 1 achieves R_T ≤ 5^m B L^(m-1) Σ_T^Γ on multi-output chains (Theorem 2), and 2^(m+1)"
    " sqrt(d_2 ... d_m) B L^(m-1) Σ_T on feed-forward networks (Theorem 3); lower bounds for both"
    " (Theorems 10, 11);"
    " rates (Lemma 5, Corollaries); the band with noise (Lemma 3).",
)
