"""Fifteen claims from the definition alone: nothing of `kbrepro.claims` is used here.

Experiments of the paper's size are drawn from the kept trials, each at most once where at least
twice the paper's are kept, else from redraws of them, and the sentence is counted. The number must
be that of `claims.json` within the Monte Carlo error of both.
"""

import json
import re
from functools import cache, partial
from itertools import combinations
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
    return played(paper, label)[rule].cumulative_regret[:, -1]


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
        """2,000 of 2,400 rows of Fig. 5b, each once and as it was played: nothing is redrawn."""
        column = total("01", "Fig. 5b, last third", rule)
        return (column.sum() - column[left_out(self.number)].sum(axis=1)) / 2000


@cache
def left_out(number):
    """The other 400 rows in each experiment of one redraw."""
    rng = np.random.default_rng(number)
    return np.array([rng.choice(2400, 400, replace=False) for _ in range(EXPERIMENTS)])


def enumerated(column, size, deck):
    """Every experiment of one row."""
    return column


# Paper 1


def on_all_functions(draw, rule, of=np.mean):
    labels = ("Fig. 5a", "three rules, many")
    column = np.concatenate([total("01", label, rule) for label in labels])
    return draw(column, 30, "functions", of)


def a_fifth_is_better(draw):
    return on_all_functions(draw, "GP-UCB/5") < on_all_functions(draw, "GP-UCB")


def on_par_in_the_median(draw):
    ours, theirs = (on_all_functions(draw, rule, np.median) for rule in ("GP-UCB/5", "EI"))
    return ours <= 1.2 * theirs


def later_rules_are_on_par(draw):
    mean = {
        rule: draw(total("01", "Fig. 5a", rule), 30, "functions")
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


def improvement_leads(draw, ending):
    figures = [panel(draw, label, ending) for label in FIG_3]
    worse = [np.maximum(its["EI"], its["PI"]) for its in figures]
    rest = [np.min([its[rule] for rule in POOL[:3]], axis=0) for its in figures]
    return np.all(np.less(worse, rest), axis=0)


def thompson_is_behind(draw):
    figures = [panel(draw, label, "") for label in (*FIG_1, *FIG_2, *FIG_3)]
    return np.all([its["IGP-UCB"] < its["GP-TS"] for its in figures], axis=0)


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


def sketch_is_not_seen(draw):
    mean = {
        rule: draw(total("04", "regret", rule), 40, "runs") for rule in ("exact, 3 sd", "BKB, 3 sd")
    }
    ours, theirs = mean.values()
    return np.abs(ours - theirs) <= 0.02 * np.maximum(ours, theirs)


def envelope_helps(draw):
    label, ranges = "versions of GPN-UCB", np.array(played("05", "chains, draws"))[:, 1]
    share = {
        rule: total("05", label, rule) / ranges[: len(total("05", label, rule))]
        for rule in ("as in L.2", "no envelope")
    }
    plain, without = (draw(column, 2, "chains") for column in share.values())
    return plain < without


#: Claim, value of the reading, and whether an experiment prints the sentence.
CASES = [
    ("1-D", "", a_fifth_is_better),
    ("1-E", "", on_par_in_the_median),
    ("1-T", "", later_rules_are_on_par),
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
    ("3-J", "", lambda draw: times_as_fast(draw, 3) >= 30 * 60 / 29 / 3),
    ("3-R", "", lambda draw: times_as_fast(draw, 2) >= 118 * 60 / 97 / 3),
    ("3-O", "", partial(competitive_on, functions=FOUR)),
    ("3-O", "four others", partial(competitive_on, functions=OTHERS)),
    ("4-AD", "", partial(close_to_exact, qbar="qbar=3")),
    ("4-AD", "2", partial(close_to_exact, qbar="qbar=2")),
    ("4-H", "3 sd", sketch_is_not_seen),
    ("5-I", "", envelope_helps),
]


@needs_results
@pytest.mark.parametrize(("claim", "value", "printed"), CASES)
def test_the_number_is_that_of_the_definition(claim, value, printed):
    (folder,) = PAPER.glob(f"0{claim[0]}_*")
    claims = json.loads((folder / "claims.json").read_text(encoding="utf-8"))["claims"]
    (its,) = [each for each in claims if each["id"] == claim]
    (reading,) = [each for each in its["readings"] if each["value"] == value]
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


def test_they_are_fifteen_claims_of_five_papers_and_nothing_is_borrowed():
    assert len({claim for claim, _, _ in CASES}) == 15
    assert {claim[0] for claim, _, _ in CASES} == {*"12345"}
    code = Path(__file__).read_text(encoding="utf-8")
    imported = re.findall(r"^(?:from|import) (\S+)", code, flags=re.M)
    assert [name for name in imported if name.startswith("kbrepro")] == ["kbrepro"]
