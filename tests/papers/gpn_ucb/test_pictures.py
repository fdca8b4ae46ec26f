"""The figures of the notebook on GPN-UCB: what they draw, and titles that follow it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from traces import trace_of

from kbrepro.papers.gpn_ucb import experiments, needle, pictures
from kbrepro.papers.gpn_ucb.problems import DrawnChain, exact_chain
from kbrepro.problems import Trial
from kbrepro.regret import Estimate
from kbrepro.verdicts.claims import read_rule

RULES = ("GPN-UCB", "cUCB", "OI", "GP-UCB", "EI")
TIMES = 6

pytestmark = pytest.mark.usefixtures("styled")


@pytest.fixture
def checked(checked):
    """As everywhere, with the title on one line."""
    return lambda figure: checked(figure).replace("\n", " ")


def trace(level, horizon=60, end=0.0):
    """Regret `level` in the first half of the rounds, then `end`; trials differ by a few percent."""
    regret = np.where(np.arange(horizon) < horizon // 2, level, end) * np.linspace(0.9, 1.1, TIMES)[:, None]
    return trace_of(regret)


def traces(**levels):
    return {rule: trace(levels.get(rule.replace("-", "_"), 0.5 + 0.1 * i), end=0.01) for i, rule in enumerate(RULES)}


def test_an_interval_is_drawn_with_its_widths_in_the_title(checked):
    problem, pulls = replace(exact_chain(10), norm_bound=4.0)(Trial(1, 0)), [3, 30, 60, 12, 80]
    layers, rows = experiments.carried(problem, pulls, 13)
    figure = pictures.interval(problem, layers, rows, pulls)
    title, last = checked(figure), rows[rows["layer"] == 3].set_index("kind")
    width = last["high"] - last["low"]
    for kind, told in (("grid", "wide with the envelope"), ("no envelope", "without"), ("outward", "rounded outward")):
        assert f"{width[kind]:.2f} {told}" in title
    assert title.endswith("no layer")
    rows.loc[(rows["kind"] == "grid") & (rows["layer"] == 2), "true"] = 99.0
    assert checked(pictures.interval(problem, layers, rows, pulls)).endswith("layer 2")


def test_two_chains_have_a_row_each(checked):
    problems = {kind: DrawnChain(10)(Trial(1, n)) for n, kind in enumerate(("several maximisers", "an obvious one"))}
    figure = pictures.chains(problems, 10)
    assert "Fig. 9" in checked(figure) and len(figure.axes) == 8 + 4  # with the scales of colour
    assert [ax.get_title() for ax in figure.axes[:3]] == ["layer 1", "layer 2", "layer 3"]


def test_regrets_name_the_smallest_median_of_every_panel(checked):
    panels = {"a": traces(GPN_UCB=0.1), "b": traces(EI=0.05)}
    assert checked(pictures.regrets("Fig. 11", panels, quantity="cumulative")).endswith("end: GPN-UCB (a); EI (b)")
    alike = {"a": traces(EI=0.01), "b": traces(EI=0.02)}
    assert checked(pictures.regrets("Fig. 11", alike, quantity="cumulative")).endswith("end: EI")


def test_simple_regret_of_zero_is_drawn_at_the_floor_and_nonada_as_dots(checked):
    panel = {rule: trace(0.5, end=0.0) for rule in RULES}
    nonada = {"a": (np.array([4, 9]), np.array([[0.2, 0.0]] * TIMES))}
    figure = pictures.regrets("Fig. 12", {"a": panel}, quantity="simple", nonada=nonada)
    checked(figure)
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert lines["GPN-UCB"].min() == pictures.FLOOR == lines["NonAda"][1]
    assert lines["NonAda"][0] == pytest.approx(0.2)


def test_ratios_tell_in_how_many_chains_every_rival_has_more_regret(checked):
    own, worse = np.ones(30), np.full(30, 8.0)
    panel = {"GPN-UCB": own, "EI": np.repeat([0.5, 1.0, 2.0], 10), "cUCB": worse}
    panels = {"30 draws": (panel, ["EI", "cUCB"]), "of norm 2": (panel, ["cUCB"])}
    assert checked(pictures.ratios(panels, seed=1)).endswith("every rival shown: 33% (30 draws); 100% (of norm 2)")


def test_shares_within_a_limit_are_those_of_the_trials(checked):
    values = np.array([[0.5, 0.02], [0.5, 0.002]] * 3)
    traces, design = {"GPN-UCB": trace(0.5, end=0.02), "EI": trace(0.5, end=0.001)}, (np.array([4, 9]), values)
    assert checked(pictures.within(traces, design, at=8)) == "Within 1% at T = 8: GPN-UCB 0%, GPN-UCB 0%, NonAda 0%"
    figure = pictures.within(traces, design, at=60)
    assert checked(figure) == "Within 1% at T = 60: EI 100%, GPN-UCB 0%, NonAda 50%"
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_array_equal(curves["EI"], [0] * 30 + [1] * 30)


def test_oi_is_compared_at_the_end_for_small_b_only(checked):
    swept = {0.1: trace(0.5, end=0.04), 100.0: trace(0.5, end=0.4)}
    title = checked(pictures.oi({"a": (swept, trace(0.5, end=0.01))}))
    assert title.endswith("of the range: 3.0% (a)")  # means of trials: 0.04 - 0.01


def test_coverage_tells_misses_and_silent_sets(checked):
    table = pd.DataFrame(
        {"missed, paper": [0.1, 0.7], "missed, outward": [0.0, 0.0], "width, paper": [0.2, 0.3],
         "width, outward": [0.5, 8.0]}, ["chain", "multi-output"],
    )  # fmt: skip
    title = checked(pictures.coverage(table))
    assert "10.0% to 70%" in title and "never miss" in title and "1 of 2 structures" in title
    table["missed, outward"] = [0.0, 0.1]
    assert "miss too" in checked(pictures.coverage(table))


def test_differences_are_drawn_in_percent_and_none_is_out_of_sight(checked):
    rows = {"no envelope": (np.append(np.zeros(24), -0.9), Estimate(0.001, -0.002, 0.004))}
    figure = pictures.differences(rows, what="difference", rule=read_rule("> 0"), title="a title")
    assert checked(figure) == "a title"
    assert figure.axes[0].xaxis.get_major_formatter()(0.01, 0) == "1%"
    assert figure.axes[0].get_xlim()[0] < -0.9


def test_the_lower_bound_draws_every_nu_and_names_the_least(checked):
    sources = {nu: needle.Needles(4, 0.02, depth=3, nu=nu) for nu in (1.0, 2.0)}
    found = {nu: pd.DataFrame({"GPN-UCB": [1.2, 1.4], "NonAda": [2.0, 1.0 + nu]}) for nu in sources}
    figure = pictures.lower_bound(found, sources, {1.0: 0.958, 2.0: 0.934})
    assert checked(figure) == "No algorithm gets below 1.30 ε, and the bound is ε"
    solid = [line.get_ydata().max() for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    assert solid == pytest.approx([1, 1], abs=1e-3)
