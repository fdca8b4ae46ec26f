"""The figures of the notebook on GPN-UCB: readable, and what they draw is what they were given."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import curves, experiments, pictures
from kbrepro.papers.gpn_ucb.needle import Needles
from kbrepro.papers.gpn_ucb.problems import DrawnChain, exact_chain
from kbrepro.problems import Trial
from kbrepro.regret import Estimate

RULES = ("GPN-UCB", "cUCB", "OI", "GP-UCB", "EI")
pytestmark = pytest.mark.usefixtures("styled")


def trace(level, end=0.0):
    """Regret `level` in the first half of 60 rounds, then `end`; trials differ by a few percent."""
    return trace_of(np.where(np.arange(60) < 30, level, end) * np.linspace(0.9, 1.1, 6)[:, None])


PROBLEM, ARMS = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
LAYERS, ROWS = experiments.carried(PROBLEM, ARMS, 13)
GRID = ROWS[ROWS["kind"] == "grid"].set_index("layer")[["low", "high", "true"]]


def step(true=None):
    its = GRID if true is None else GRID.assign(true=true)
    return pictures.step(PROBLEM, LAYERS[0], its, ARMS)


def kinds():
    return pictures.kinds(ROWS)


def chains():
    return pictures.chains({kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several", "obvious"))}, 10)


def regrets(quantity="cumulative", nonada=None, hero=0.1):
    worse = {rule: trace(0.5 + 0.1 * i, end=0.01) for i, rule in enumerate(RULES)}
    panels = {title: worse | {"GPN-UCB": trace(hero)} for title in "abc"} | {"d": worse | {"EI": trace(0.01)}}
    return curves.regrets("Fig. 11", panels, quantity=quantity, nonada=nonada)


def oi():
    swept = {0.1: trace(0.5, end=0.04), 100.0: trace(0.5, end=0.4)}
    return curves.oi({"a": (swept, trace(0.5, end=0.01))})


def coverage():
    columns = {"missed, paper": [0.1, 0.7], "missed, outward": [0.0, 0.1]}
    columns |= {"width, paper": [0.2, 0.3], "width, outward": [0.5, 8.0]}
    columns |= {"lower, paper": [0.1, 0.2], "lower, outward": [0.4, 7.0], "error, paper": [0.05, 0.1]}
    columns |= {"upper, paper": [0.3, 0.5], "upper, outward": [0.6, 9.0], "error, outward": [0.0, 0.05]}
    return pictures.coverage(pd.DataFrame(columns, ["chain", "multi-output"]))


def versions():
    ends = {"as in L.2": np.zeros(25), "with the point itself": np.append(np.zeros(24), 0.9)}
    ends |= {"no envelope": np.full(25, -0.02), "400 points": np.ones(25)}
    lower_by = {"itself": (0.0, -0.1, 0.1), "none": (0.02, 0.01, 0.03), "finer": (-1.0, -1.0, -1.0)}
    return pictures.versions(ends, {part: Estimate(*its) for part, its in lower_by.items()})


def misses():
    kinds = ["draws", "draws, obvious maximiser", "norm 2", "draws"]
    ends = {"outside": [0.5, 1.0, -1.0, -0.5], "end": [0.2, 0.7, 0.01, 0.06]}
    return pictures.misses(pd.DataFrame({"kind": kinds} | ends), 2.0)


def lower_bound():
    found = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in (1.0, 2.0)}
    return pictures.lower_bound(found, {nu: Needles(4, 0.15, depth=3, nu=nu) for nu in found})


@pytest.mark.parametrize(
    ("figure", "found"),
    [
        (step, f"values {GRID.loc[2, 'high'] - GRID.loc[2, 'low']:.2f} apart"),
        (kinds, "does not grow in every layer: 5.93 wide at first, 8.01 in the end"),
        (chains, "drawn from the GP prior"),
        (regrets, "cumulative regret of each rule, median of trials"),
        (oi, "OI and cUCB part (ends at most 3.0% of the range apart)"),  # of b = 0.1 alone, at the end
        (coverage, "Outward-rounded ones do in 10%. They say nothing for 1 of 2"),
        (misses, "On 2 of the 3 chains"),
        (versions, "as in L.2: no envelope"),
        (lower_bound, "No rule tried beats the lower bound ε: the best is at 1.30 ε"),
    ],
)
def test_a_figure_can_be_read_fits_a_page_and_says_what_it_found(figure, found, checked):
    assert found in checked(figure()).replace("\n", " ")


def drawn(figure):
    return {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}


def test_simple_regret_of_zero_is_drawn_at_the_floor_and_nonada_as_dots():
    nonada = dict.fromkeys("abcd", (np.array([4, 9]), np.array([[0.2, 0.0]] * 6)))
    found = drawn(regrets("simple", nonada, hero=0.0))
    assert found["GPN-UCB"].min() == curves.FLOOR == found["NonAda"][1]
    assert found["NonAda"][0] == pytest.approx(0.2)


def test_only_the_bands_of_gpn_ucb_and_cei_are_drawn_and_what_may_be_zero_says_so():
    figure = regrets("simple")
    assert [len(ax.collections) for ax in figure.axes] == [1] * 4
    figure.draw_without_rendering()
    assert "≤ 0.0001" in [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_a_title_says_that_gpn_ucb_gets_stuck_or_leads_only_if_it_does_in_every_panel():
    """Stuck: above the floor in the end, and no nearer than halfway."""
    stuck, falling = np.array([1.0, 0.5, 0.2, 0.2]), np.array([1.0, 0.5, 0.3, 0.2])
    panels = [{"EI": falling, "GPN-UCB": stuck}, {"EI": stuck + 0.1, "GPN-UCB": falling}]
    assert "stuck" not in curves.stuck(panels) and "gets stuck on each" in curves.stuck(panels[:1])
    assert "lowest" in curves.lowest(panels) and "lowest" not in curves.lowest([{"EI": stuck, "GPN-UCB": stuck + 0.1}])


def test_neighbouring_b_that_do_the_same_in_every_panel_share_a_curve():
    one, other = np.array([1.0, 0.5]), np.array([1.0, 0.4])
    panels = [{0.1: one, 1.0: one, 10.0: one}, {0.1: one, 1.0: one + 5e-5, 10.0: other}]
    assert curves.alike(panels) == [[0.1, 1.0], [10.0]]


def test_what_the_middle_alone_says_of_the_truth_is_compared():
    """Its bounds, not those of the whole interval."""
    layer = LAYERS[0].loc[(LAYERS[0]["z"] - GRID.loc[1, ["low", "high"]].mean()).abs().idxmin()]
    inside = (layer["raw_low"] + layer["raw_high"]) / 2
    assert "seems certain of it" in step(true=inside).get_suptitle()
    assert "misses the truth" in step(true=layer["raw_high"] + 0.01).get_suptitle()


def test_an_interval_that_grows_is_said_to_grow_and_no_miss_is_said_to_be_none():
    growing = ROWS.assign(high=ROWS["low"] + ROWS["layer"])
    assert "grows from layer to layer: 1.00 wide at first, 3.00" in pictures.kinds(growing).get_suptitle()
    near = pd.DataFrame({"kind": ["draws"], "outside": [0.5], "end": [0.04]})
    assert pictures.misses(near, 2.0).get_suptitle() == "GPN-UCB ends within 5% of the best arm on every chain"
