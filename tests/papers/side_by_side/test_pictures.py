"""The figures of the notebook side by side: each can be read and fits."""

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.side_by_side import experiments, pictures
from kbrepro.papers.side_by_side.field import field

pytestmark = pytest.mark.usefixtures("styled")
ENTRIES = field(0.1)
RUNS = np.linspace(0.9, 1.1, 20)
ROUNDS = (100, 1000, 10_000)


def growth():
    level = dict.fromkeys(pictures.SHOWN, 2.0) | {experiments.BEST_PROVED: 1.0}
    worse = level | {experiments.BEST_PROVED: 3.0}
    curves = {
        case: {name: its[name] * np.outer(RUNS, np.sqrt(ROUNDS)) for name in pictures.SHOWN}
        for case, its in {(1.5, 1): level, (1.5, 2): level, (2.5, 1): worse, (2.5, 2): level}.items()
    }
    return pictures.growth(curves, ROUNDS, ENTRIES)


MEANS = pd.DataFrame({"SE draws": {rule: 3.0 + place for place, rule in enumerate(ENTRIES)}})
MEANS["light"] = MEANS["SE draws"].loc[["EI", "PIMS", experiments.UNIFORM]]
MEANS.loc["EI", "SE draws"], MEANS.loc[experiments.UNIFORM] = 1.0, 90.0


def ranking():
    table = experiments.ranking(experiments.over_best(MEANS), ENTRIES)
    return pictures.ranking(table, 1e-6 * MEANS, ENTRIES)


def price():
    held = {"IGP-UCB": 20, "IGP-UCB, tighter": 18, "GP-UCB": 12, "GP-UCB/5": 5}
    covered = {(problem, name): np.arange(20) < n for problem in ("a", "b") for name, n in held.items()}
    return pictures.price(covered, {case: RUNS * (1 + len(case[1])) for case in covered}, ENTRIES)


def wrong():
    return pictures.wrong(pd.DataFrame({"lengthscale double": [0.5, 4], "noise three times": [2, 3]}, ["EI", "GP-TS"]))


@pytest.mark.parametrize("draw", [growth, ranking, price, wrong])
def test_a_figure_can_be_read(draw, checked):
    assert checked(draw())


def test_rules_are_ranked_and_hollow_where_they_play_on_few_problems():
    left = ranking().axes[0]
    names = [label.get_text() for label in left.get_yticklabels()]
    assert names[0] == "EI" and set(names) == {*ENTRIES}
    faces = [line.get_markerfacecolor() for line in left.lines[: len(names)]]
    assert faces.count("white") == 0  # one of two problems is half


def test_intervals_of_coverage_and_regret_are_drawn_beside_each_other():
    left, right = price().axes
    assert len(left.lines) == len(right.lines) + 2 == 2 * 8 + 2  # an interval and a mark a case; two names of problems
    places = [line.get_ydata()[0] for line in left.lines[1:-2:2]]
    assert len(set(places)) == 8
