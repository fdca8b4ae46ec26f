"""The figures of the notebook side by side: each can be read and fits, and its title follows what is drawn."""

import numpy as np
import pytest

from kbrepro.papers.side_by_side import measures, pictures
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, Setting
from kbrepro.papers.side_by_side.field import field

pytestmark = pytest.mark.usefixtures("styled")
ENTRIES = field(0.1)
RUNS = np.linspace(0.9, 1.1, 20)
ROUNDS = (100, 1000, 10_000)


def growth():
    level = dict.fromkeys(pictures.SHOWN, 2.0) | {measures.BEST_PROVED: 1.0}
    worse = level | {measures.BEST_PROVED: 3.0}
    curves = {
        case: {name: its[name] * np.outer(RUNS, np.sqrt(ROUNDS)) for name in pictures.SHOWN}
        for case, its in {(1.5, 1): level, (1.5, 2): level, (2.5, 1): worse, (2.5, 2): level}.items()
    }
    return pictures.growth(curves, ROUNDS, ENTRIES)


def heat():
    panel = {name: (3 + place) * RUNS for place, name in enumerate(ENTRIES)} | {"EI": RUNS, measures.UNIFORM: 90 * RUNS}
    panels = {"SE draws": panel, "light": {name: panel[name] for name in ("EI", "PIMS", measures.UNIFORM)}}
    bench = {"SE draws": Setting(lambda trial: None, 100, DRAWN), "light": Setting(lambda trial: None, 100, BOUNDED)}
    return pictures.heat(panels, bench, ENTRIES)


def price():
    held = {"IGP-UCB": 20, "IGP-UCB, tighter": 18, "GP-UCB": 12, "GP-UCB/5": 5}
    covered = {(problem, name): np.arange(20) < n for problem in ("a", "b") for name, n in held.items()}
    return pictures.price(covered, {case: RUNS * (1 + len(case[1])) for case in covered}, ENTRIES)


def wrong():
    factors = {"as it is": (1, 1), "lengthscale double": (0.5, 4), "noise three times": (2, 3)}
    its = {(p, case): dict(zip(("EI", "GP-TS"), (a * RUNS, b * RUNS), strict=True))
           for p in ("x", "y") for case, (a, b) in factors.items()}  # fmt: skip
    return pictures.wrong(its, ("EI", "GP-TS"), 1)


SAID = {
    growth: "Growth of the regret with the horizon",
    heat: "EI comes closest to the best rule",
    price: "in at least 90% of runs, the one without a proof in at most 25%",
    wrong: "By which factor a wrong assumption multiplies the regret",
}


@pytest.mark.parametrize("draw", SAID)
def test_a_figure_can_be_read_and_its_title_is_true(draw, checked):
    assert SAID[draw].replace("\n", " ") in checked(draw()).replace("\n", " ")


def test_intervals_of_coverage_and_regret_are_drawn_beside_each_other():
    left, right = price().axes
    assert len(left.lines) == len(right.lines) + 2 == 2 * 8 + 2  # an interval and a mark a case; two names of problems
    places = [line.get_ydata()[0] for line in left.lines[1:-2:2]]
    assert len(set(places)) == 8
