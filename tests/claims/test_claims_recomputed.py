"""Claims, combined choices, findings and exclusions from the definition alone: nothing of
`kbrepro.claims` is used here.

Experiments of the paper's size are drawn from the kept trials, each at most once where at least
twice the paper's are kept, else from redraws of them, and the sentence is counted. The number must
be that of `claims.json` within the Monte Carlo error of both.
"""

import json
import re
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import kbrepro as kb

PAPER = Path(__file__).parents[2] / "results" / "paper"
REDRAWS, EXPERIMENTS, THEIRS = 100, 250, 100
POOL = ("IGP-UCB", "GP-TS", "GP-UCB", "EI", "PI")
IMPROVING, WHOLE, PARTS = POOL[3:], "IGP-UCB", "π-GP-UCB"
FIG_1, FIG_2 = (("Fig. 1 (a) SE", "Fig. 1 (b) Matérn"), ("Fig. 2 (a) SE", "Fig. 2 (b) Matérn"))
FIG_3 = ("Fig. 3 (a) Rosenbrock", "Fig. 3 (b) Hartmann-3")
FOUR = ("Branin", "six-hump camel", "Goldstein-Price", "Rosenbrock")
OTHERS = ("Ackley", "Beale", "Levy", "Rastrigin")

needs_results = pytest.mark.skipif(not PAPER.is_dir(), reason="there is no results folder")
played = cache(kb.played)


@cache
def total(paper, label, rule):
    """R_T of each kept trial."""
    results = played(paper, label)
    if isinstance(results, list):  # no curves are kept
        return np.array([run[rule][-1] for run in results])
    return results[rule].cumulative_regret[:, -1]


class Redraw:
    """Means of experiments from one redraw of the kept trials, or `once` from these themselves;
    columns of one deck are drawn together.
    """

    def __init__(self, number, rng, once):
        self.number, self.rng, self.once, self.decks = number, rng, once, {}

    def __call__(self, column, size, deck, of=np.mean):
        if deck not in self.decks and self.once:
            order = self.rng.random((EXPERIMENTS, len(column))).argsort(axis=1)
            self.decks[deck] = order[:, :size]
        elif deck not in self.decks:
            kept = self.rng.integers(len(column), size=len(column))
            self.decks[deck] = kept[self.rng.integers(len(kept), size=(EXPERIMENTS, size))]
        return of(column[self.decks[deck]], axis=1)

    def rows(self, rule):
        """2,000 of 2,400 rows of Fig. 5b, each once, in one of its four plays."""
        column = total("01", "Fig. 5b, last third", rule).reshape(2400, 4)
        if "rows" not in self.decks:
            order = self.rng.random((EXPERIMENTS, 2400)).argsort(axis=1)[:, :2000]
            self.decks["rows"] = order, self.rng.integers(4, size=order.shape)
        return column[self.decks["rows"]].mean(axis=1)


def enumerated(column, size, deck):
    """Every experiment of one row."""
    return column


# Paper 1


def on_all_functions(draw, rule, of=np.mean):
    return draw(total("01", "Fig. 5a", rule), 30, "functions", of)


def a_fifth_is_better(draw):
    return on_all_functions(draw, "GP-UCB/5") < on_all_functions(draw, "GP-UCB")


def at_most_twice_ei(draw, rule):
    """MPI and the naive rules never lead, so EI is the best rival."""
    return on_all_functions(draw, rule) <= 2 * on_all_functions(draw, "EI")


def on_par_with_ei(draw, rule):
    return on_all_functions(draw, rule) <= 1.2 * on_all_functions(draw, "EI")


def on_par_in_the_median(draw):
    ours, theirs = (on_all_functions(draw, rule, np.median) for rule in ("GP-UCB/5", "EI"))
    return ours <= 1.2 * theirs


def later_rules_are_on_par(draw):
    mean = {
        rule: draw(total("01", "Fig. 5a, other rules", rule), 30, "functions")
        for rule in ("GP-UCB/5", "PIMS", "GP-EIMS", "IRGP-UCB")
    }
    on_par = {rule: mean[rule] <= 1.2 * mean["GP-UCB/5"] for rule in mean}
    return on_par["PIMS"] & on_par["GP-EIMS"] & ~on_par["IRGP-UCB"]


def clearly_lead_on_sensors(draw, mpi):
    others = [draw.rows(rule) for rule in (mpi, "mean only", "variance only")]
    leaders = [draw.rows(rule) for rule in ("GP-UCB/5", "EI")]
    return np.maximum(*leaders) * 1.2 < np.min(others, axis=0)


def alike_on_sensors(draw, rule):
    return alike(draw.rows(rule), draw.rows("EI"))


# Paper 2


def alike(a, b):
    return np.maximum(a, b) <= 1.2 * np.minimum(a, b)


def panel(draw, label, ending):
    """The means of a figure, with EI and PI of one reading."""
    names = {rule: rule + ending * (rule in IMPROVING) for rule in POOL}
    return {rule: draw(total("02", label, name), 25, label) for rule, name in names.items()}


def by_printed_norm(draw, label, ending):
    """The same with the norm of our rules as Section 6 prints it."""
    ours = {rule: draw(total("02", f"{label}, B printed", rule), 25, label) for rule in POOL[:3]}
    return panel(draw, label, ending) | ours


def igp_ucb_is_best(draw, ending):
    figures = [panel(draw, label, ending) for label in FIG_1]
    return np.all([np.min([*its.values()], axis=0) == its["IGP-UCB"] for its in figures], axis=0)


def order_is_that_of_fig_1(draw, ending):
    fine = []
    for labels in zip(FIG_1, FIG_2, strict=True):
        first, second = (panel(draw, label, ending) for label in labels)
        for a, b in combinations(POOL, 2):
            same = (first[a] < first[b]) == (second[a] < second[b])
            fine.append(same | alike(first[a], first[b]) | alike(second[a], second[b]))
    return np.all(fine, axis=0)


def thompson_is_competitive(draw, ending, panel=panel):
    figures = [panel(draw, label, ending) for label in FIG_1]
    best = [np.min([its[rule] for rule in POOL[2:]], axis=0) for its in figures]
    return np.all(
        [its["GP-TS"] <= 2 * least for its, least in zip(figures, best, strict=True)], axis=0
    )


def both_are_competitive(draw, ending, panel=panel):
    figures = [panel(draw, label, ending) for label in FIG_3]
    held = []
    for its in figures:
        held += [its[rule] <= 2 * np.minimum(its["EI"], its["PI"]) for rule in POOL[:2]]
    return np.all(held, axis=0)


def improvement_leads(draw, ending, panel=panel):
    figures = [panel(draw, label, ending) for label in FIG_3]
    worse = [np.maximum(its["EI"], its["PI"]) for its in figures]
    rest = [np.min([its[rule] for rule in POOL[:3]], axis=0) for its in figures]
    return np.all(np.less(worse, rest), axis=0)


def thompson_is_behind(draw):
    figures = [panel(draw, label, "") for label in (*FIG_1, *FIG_2, *FIG_3)]
    return np.all([its["IGP-UCB"] < its["GP-TS"] for its in figures], axis=0)


def one_play(draw, column):
    """The means of all rows, each in one of its four plays; the same for all columns of a set."""
    of_row = column.reshape(-1, 4)
    n = len(of_row)
    if n not in draw.decks:
        draw.decks[n] = draw.rng.integers(4, size=(EXPERIMENTS, n))
    return of_row[np.arange(n), draw.decks[n]].mean(axis=1)


def sensors(draw, label, ours="", t=1000):
    """Mean R_t of all rows, EI and PI over the noisy reward."""
    means = {}
    for rule in POOL:
        name = rule + ENDINGS["noisy reward"] * (rule in IMPROVING)
        regret = played("02", label + ours * (rule not in IMPROVING))[name].cumulative_regret
        means[rule] = one_play(draw, regret[:, t - 1])
    return means


def thompson_wins(draw, label="temperature", **choices):
    its = sensors(draw, label, **choices)
    return np.min([*its.values()], axis=0) == its["GP-TS"]


def bands_perform_the_same(draw, **choices):
    its = sensors(draw, "temperature", **choices)
    return alike(its["IGP-UCB"], its["GP-UCB"])


def igp_ucb_beats_improvement(draw, label="light"):
    its = sensors(draw, label)
    return its["IGP-UCB"] < np.minimum(its["EI"], its["PI"])


#: The incumbents of EI and PI, by what they are called.
ENDINGS = {"noisy reward": ", noisy incumbent", "no margin": ""}
ENDINGS |= {f"margin {margin}": f", margin {margin}" for margin in ("0.01", "0.03", "0.1")}


def told_apart(ending):
    """Whether EI and PI with an incumbent can be told apart in a panel: their gap is at most 2 % of
    the axis in at most one experiment of ten.
    """
    for label in (*FIG_1, *FIG_2, *FIG_3, "light"):
        names = {rule: rule + ending * (rule in IMPROVING) for rule in POOL}
        columns = {rule: total("02", label, name) for rule, name in names.items()}
        draw = Redraw(0, np.random.default_rng(0), once=True)
        if label == "light":
            means = {rule: one_play(draw, column) for rule, column in columns.items()}
        else:
            means = {rule: draw(column, 25, label) for rule, column in columns.items()}
        axis = np.max([*means.values()], axis=0)
        if np.mean(np.abs(means["EI"] - means["PI"]) <= 0.02 * axis) <= 0.1:
            return True
    return False


# Paper 3


def competitive_on(draw, functions):
    """Runs differ by noise and ties alone: each algorithm is drawn apart."""
    held = []
    for function in functions:
        label = f"Fig. 2, usual, {function}"
        ours, theirs = (draw(total("03", label, r), 12, (label, r)) for r in (PARTS, WHOLE))
        held.append(ours <= 2 * theirs)
    return np.all(held, axis=0)


def times_as_fast(draw, d):
    label = f"Table 1, d = {d}"
    slow, fast = (
        draw(played("03", label)[rule].seconds.sum(axis=1), 12, label) for rule in (WHOLE, PARTS)
    )
    return slow / fast


# Papers 4 to 6


def close_to_exact(draw, qbar):
    """One seed: no arm's variance is over three times, or under a third of, the exact one, after 6,
    63 and 215 pulls.
    """
    worst = []
    for seed in played("04", "starvation"):
        its = (seed["name"] == "BKB") & (seed["setting"] == qbar)
        worst.append(max(seed["starved"][its].max(), seed["inflated"][its].max()))
    return draw(np.array(worst), 1, "seeds") <= 3


def tunings(draw):
    """Mean R_T of BKB at each qbar with 3 sd, and of exact GP-UCB."""
    rules = ("exact, 3 sd", *(f"BKB, qbar={q}, 3 sd" for q in range(2, 7)))
    return np.array([draw(total("04", "regret", rule), 20, "runs") for rule in rules])


def sketch_is_not_seen(draw):
    """At one qbar, since each is clearly cheaper than refits: of 1,000 arms few are pulled."""
    exact, *sketched = mean = tunings(draw)
    return (np.abs(sketched - exact) <= 0.02 * mean.max(axis=0)).any(axis=0)


def dictionary_grows_less_and_less(draw):
    """With each dimension, while it has at most a third of the 1,000 pulls."""
    sizes = []
    for d in range(1, 7):
        runs = played("04", f"sizes by d, d = {d}")
        sizes.append(draw(np.array([run["members"] for run in runs]), 8, "runs"))
    sizes = np.array(sizes)
    factors = sizes[1:] / sizes[:-1]
    free = np.logical_and.accumulate(sizes <= 1000 / 3)[2:]
    return ((factors[1:] < factors[:-1]) | ~free).all(axis=0) & free[0]


def envelope_helps(draw):
    """All pairs of a chain of each kind, the first of its ten trials."""
    gains = []
    for kind in ("several", "obvious"):
        bare = total("05", f"{kind}, versions", "no envelope")
        first = total("05", kind, "GPN-UCB")[::10][: len(bare)]
        ranges = np.array(played("05", f"{kind}, facts"))[: len(bare), 1]
        gains.append(draw((bare - first) / ranges, 1, kind))
    one, other = gains
    return one[:, None] + other > 0


def gpn_ucb_is_best(draw):
    """All pairs of a chain of each kind, ten trials on it, two of cEI."""
    leads = []
    for kind in ("several", "obvious"):
        parts = [total("05", f"{kind}, cEI {part}", "cEI") for part in range(3)]
        rivals = [np.concatenate(parts).reshape(-1, 2).mean(axis=1)]
        for rule in ("cUCB", "GP-UCB", "EI"):
            rivals.append(total("05", kind, rule).reshape(-1, 10).mean(axis=1))
        ours = total("05", kind, "GPN-UCB").reshape(-1, 10).mean(axis=1)
        leads.append(draw(np.min(rivals, axis=0) - ours, 1, kind))
    one, other = leads
    return (one[:, None] > 0) & (other > 0)


#: Claim, value of the reading, and whether an experiment prints the sentence.
CASES = [
    ("1-D", "", a_fifth_is_better),
    ("1-E", "", on_par_in_the_median),
    ("1-T", "", later_rules_are_on_par),
    ("1-P", "", partial(at_most_twice_ei, rule="GP-UCB")),
    ("1-AS", "as in Theorem 1", partial(at_most_twice_ei, rule="GP-UCB")),
    ("1-O", "", partial(on_par_with_ei, rule="GP-UCB/5")),
    ("1-O", "as in Theorem 1", partial(on_par_with_ei, rule="GP-UCB")),
    ("1-H", "", partial(clearly_lead_on_sensors, mpi="MPI")),
    ("1-H", "0.03", partial(clearly_lead_on_sensors, mpi="MPI, margin 0.03")),
    ("1-I", "", partial(alike_on_sensors, rule="GP-UCB/5")),
    ("1-I", "as in Theorem 1", partial(alike_on_sensors, rule="GP-UCB")),
    ("2-C", "margin 0.01", partial(igp_ucb_is_best, ending=", margin 0.01")),
    ("2-C", "no margin", partial(igp_ucb_is_best, ending="")),
    ("2-G", "margin 0.03", partial(order_is_that_of_fig_1, ending=", margin 0.03")),
    ("2-G", "no margin", partial(order_is_that_of_fig_1, ending="")),
    ("2-H", "margin 0.01", partial(improvement_leads, ending=", margin 0.01")),
    ("2-S", "", thompson_is_behind),
    (
        "2-E",
        "margin 0.1 × as printed",
        partial(thompson_is_competitive, ending=", margin 0.1", panel=by_printed_norm),
    ),
    (
        "2-H",
        "margin 0.1 × as printed",
        partial(improvement_leads, ending=", margin 0.1", panel=by_printed_norm),
    ),
    ("2-J", "as printed", partial(bands_perform_the_same, ours=", B printed")),
    ("2-J", "as printed × 305", partial(bands_perform_the_same, ours=", B printed", t=305)),
    ("2-K", "one", partial(thompson_wins, ours=", B one")),
    ("2-K", "one × 305", partial(thompson_wins, ours=", B one", t=305)),
    ("2-L", "standardised", partial(thompson_wins, label="light, standardised")),
    ("2-M", "standardised", partial(igp_ucb_beats_improvement, label="light, standardised")),
    ("3-J", "", lambda draw: times_as_fast(draw, 3) >= 30 * 60 / 29 / 3),
    ("3-R", "", lambda draw: times_as_fast(draw, 2) >= 118 * 60 / 97 / 3),
    ("3-O", "", partial(competitive_on, functions=FOUR)),
    ("3-O", "four others", partial(competitive_on, functions=OTHERS)),
    ("4-AD", "", partial(close_to_exact, qbar="qbar=3")),
    ("4-AD", "2", partial(close_to_exact, qbar="qbar=2")),
    ("4-H", "3 sd", sketch_is_not_seen),
    ("4-AT", "", dictionary_grows_less_and_less),
    ("5-A", "", gpn_ucb_is_best),
    ("5-I", "", envelope_helps),
]


#: Claims that are one finding, and whether an experiment prints them all, in the main reading.
NOISY = ENDINGS["noisy reward"]
FINDINGS = [
    (
        "1-H 1-I",
        lambda draw: clearly_lead_on_sensors(draw, "MPI") & alike_on_sensors(draw, "GP-UCB/5"),
    ),
    ("2-C 2-E", lambda draw: igp_ucb_is_best(draw, NOISY) & thompson_is_competitive(draw, NOISY)),
    ("2-H 2-I", lambda draw: improvement_leads(draw, NOISY) & both_are_competitive(draw, NOISY)),
    ("2-J 2-K", lambda draw: bands_perform_the_same(draw) & thompson_wins(draw)),
    ("2-L 2-M", lambda draw: thompson_wins(draw, "light") & igp_ucb_beats_improvement(draw)),
]


@cache
def page(notebook):
    (folder,) = PAPER.glob(f"{notebook}_*")
    return json.loads((folder / "claims.json").read_text(encoding="utf-8"))


@needs_results
def test_gp_ucb_and_ei_lead_alike_on_temperature_where_two_choices_are_combined():
    """1-H and 1-I, the one finding, on the means of all plays: beta as in Theorem 1 and a smaller
    margin of MPI, neither alone.
    """

    def mean(rule):
        return total("01", "Fig. 5b, last third", rule).mean()

    turned = []
    for beta, noisy, margin in product(("GP-UCB/5", "GP-UCB"), (False, True), ("", "0.01", "0")):
        ending = ", noisy incumbent" * noisy + f", margin {margin}" * bool(margin)
        ours, ei = mean(beta), mean("EI" + ", noisy incumbent" * noisy)
        others = min(map(mean, (f"MPI{ending}", "mean only", "variance only")))
        if 1.2 * max(ours, ei) < others and alike(ours, ei):
            turned.append((beta, noisy, margin))
    assert turned == [("GP-UCB", False, "0.01"), ("GP-UCB", False, "0")]
    (finding,) = [found for found in page("01")["findings"] if "1-H" in found["ids"]]
    assert finding["verdict"] == "does not"
    assert "beta × margin of MPI" in finding["depends_on"]


@needs_results
@pytest.mark.parametrize(("claim", "value", "printed"), CASES)
def test_the_number_is_that_of_the_definition(claim, value, printed):
    (its,) = [each for each in page(f"0{claim[0]}")["claims"] if each["id"] == claim]
    (reading,) = [each for each in its["readings"] if each["value"] == value]
    is_that_of_the_definition(reading, printed)


@needs_results
@pytest.mark.parametrize(("claims", "printed"), FINDINGS)
def test_a_finding_is_that_all_its_sentences_are_printed_at_once(claims, printed):
    findings = page(f"0{claims[0]}")["findings"]
    (its,) = [each for each in findings if " ".join(each["ids"]) == claims]
    is_that_of_the_definition(its["readings"][0], printed)


@needs_results
def test_footnote_11_excludes_the_same_incumbents_of_all_panels_but_of_itself():
    out = {value for value, ending in ENDINGS.items() if told_apart(ending)}
    assert out == {"margin 0.01", "margin 0.03", "no margin"}
    for claim in page("02")["claims"]:
        for reading in claim["readings"]:
            if reading["choice"] == "EI and PI":
                excluded = reading["value"] in out and claim["id"] != "2-F"
                assert bool(reading["excluded_by"]) == excluded, claim["id"]


def is_that_of_the_definition(reading, printed):
    theirs = reading["probability"]["value"]
    if reading["drawn"] == 1:
        held = printed(enumerated)
        ours, error = held.mean(), held.std() / np.sqrt(len(held) * THEIRS)
    else:
        rng = np.random.default_rng(0)
        once = reading["kept"] >= 2 * reading["drawn"]
        shares = [printed(Redraw(number, rng, once)).mean() for number in range(REDRAWS)]
        ours, error = np.mean(shares), np.std(shares) * np.sqrt(1 / REDRAWS + 1 / THEIRS)
    assert theirs == pytest.approx(ours, abs=4 * error + 0.001)


def test_they_are_claims_of_five_papers_and_nothing_is_borrowed():
    assert len({claim for claim, _, _ in CASES}) >= 15
    assert {claim[0] for claim, _, _ in CASES} == {*"12345"}
    code = Path(__file__).read_text(encoding="utf-8")
    imported = re.findall(r"^(?:from|import) (\S+)", code, flags=re.M)
    assert [name for name in imported if name.startswith("kbrepro")] == ["kbrepro"]
