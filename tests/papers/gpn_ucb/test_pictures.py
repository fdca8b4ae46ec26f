"""The figures of the notebook on GPN-UCB: readable, and what they draw is what they were given."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import experiments, pictures
from kbrepro.papers.gpn_ucb.problems import DrawnChain, exact_chain
from kbrepro.problems import Trial
from kbrepro.regret import Estimate

RULES = ("GPN-UCB", "cUCB", "OI", "GP-UCB", "EI")
pytestmark = pytest.mark.usefixtures("styled")


def trace(level, end=0.0):
    """Regret `level` in the first half of 60 rounds, then `end`; trials differ by a few percent."""
    return trace_of(np.where(np.arange(60) < 30, level, end) * np.linspace(0.9, 1.1, 6)[:, None])


def interval():
    problem, pulls = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
    return pictures.interval(problem, *experiments.carried(problem, pulls, 13), pulls)


def chains():
    return pictures.chains({kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10)


def regrets(quantity="cumulative", nonada=None, hero=0.1):
    worse = {rule: trace(0.5 + 0.1 * i, end=0.01) for i, rule in enumerate(RULES)}
    panels = {title: worse | {"GPN-UCB": trace(hero)} for title in "abc"} | {"d": worse | {"EI": trace(0.01)}}
    return pictures.regrets("Fig. 11", panels, quantity=quantity, nonada=nonada)


def ratios():
    panel = {"GPN-UCB": np.ones(30), "EI": np.repeat([0.5, 1.0, 2.0], 10), "cUCB": np.full(30, 8.0)}
    return pictures.ratios({"30 draws": (panel, ["EI", "cUCB"]), "of norm 2": (panel, ["cUCB"])}, seed=1)


def within():
    dots = np.array([4, 9]), np.array([[0.5, 0.02], [0.5, 0.002]] * 3)
    return pictures.within({"GPN-UCB": trace(0.5, end=0.02), "EI": trace(0.5, end=0.001)}, dots)


def oi():
    swept = {0.1: trace(0.5, end=0.04), 100.0: trace(0.5, end=0.4)}
    return pictures.oi({"a": (swept, trace(0.5, end=0.01))})


def coverage():
    columns = {"missed, paper": [0.1, 0.7], "missed, outward": [0.0, 0.1]}
    columns |= {"width, paper": [0.2, 0.3], "width, outward": [0.5, 8.0]}
    return pictures.coverage(pd.DataFrame(columns, ["chain", "multi-output"]))


def versions():
    ends = {"as in L.2": np.zeros(25), "with the point itself": np.append(np.zeros(24), 0.9)}
    ends |= {"no envelope": np.full(25, -0.02), "400 points": np.ones(25)}
    lower_by = {"itself": (0.0, -0.1, 0.1), "none": (0.02, 0.01, 0.03), "finer": (-1.0, -1.0, -1.0)}
    return pictures.versions(ends, {part: Estimate(*its) for part, its in lower_by.items()})


def lower_bound():
    found = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in (1.0, 2.0)}
    return pictures.lower_bound(found, {1.0: 0.958, 2.0: 0.934})


@pytest.mark.parametrize(
    ("figure", "found"),
    [
        (interval, "rounded outward"),
        (chains, "drawn from the GP prior"),
        (regrets, "in 3 of 4 panels"),
        (ratios, "33% (30 draws); 100% (of norm 2)"),
        (within, "EI in 100% of trials, GPN-UCB in 0%"),
        (oi, "at most 3.0% of the range"),  # of b = 0.1 alone, at the end
        (coverage, "outward-rounded ones in 10%"),
        (versions, "as in L.2: no envelope"),
        (lower_bound, "below 1.30 ε"),
    ],
)
def test_a_figure_can_be_read_fits_a_page_and_says_what_it_found(figure, found, checked):
    assert found in checked(figure()).replace("\n", " ")


def curves(figure):
    return {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}


def test_simple_regret_of_zero_is_drawn_at_the_floor_and_nonada_as_dots():
    nonada = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6)))
    found = curves(regrets("simple", nonada, hero=0.0))
    assert found["GPN-UCB"].min() == pictures.FLOOR == found["NonAda"][1]
    assert found["NonAda"][0] == pytest.approx(0.2)


def test_shares_within_a_limit_are_those_of_the_trials():
    np.testing.assert_array_equal(curves(within())["EI"], [0] * 30 + [1] * 30)
    np.testing.assert_array_equal(curves(within())["NonAda"], [0, 0.5])


def test_an_interval_has_the_widths_of_its_three_kinds():
    problem, pulls = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
    rows = experiments.carried(problem, pulls, 13)[1]
    last = rows[rows["layer"] == 3].set_index("kind")
    grid, plain, outward = (f"{(last['high'] - last['low'])[kind]:.2f}" for kind in ("grid", "no envelope", "outward"))
    title = interval().get_suptitle().replace("\n", " ")
    assert f"{grid} wide with the envelope, {plain} without, {outward} rounded outward" in title
