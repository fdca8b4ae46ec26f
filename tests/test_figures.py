"""The shared panels draw what they say."""

import io
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from colours import CONTRAST, TOLD_APART, ciede2000, confused, contrast_with_white, distance, lab
from kbrepro.verdicts import interpretations, pictures
from kbrepro.verdicts.claims import Claim, Part, Rules, load, read_rule
from kbrepro.verdicts.record import curve_quantiles
from matplotlib.colors import to_hex
from matplotlib.text import Text
from traces import trace_of

from kbrepro import figures, papers
from kbrepro.figures.style import CYCLE
from kbrepro.regret import Estimate, Regrets, kept_rounds, log_spaced

ROOT = Path(__file__).parents[1]


@pytest.fixture
def ax(styled):
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


# Looks


def test_the_measures_of_colour():
    assert ciede2000((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)  # Sharma, pair 1
    assert ciede2000((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387)) == pytest.approx(1.2644, abs=1e-4)
    assert ciede2000((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514)) == pytest.approx(0.9082, abs=1e-4)
    assert lab("white", "deuteranopia") == pytest.approx((100, 0, 0), abs=0.05)
    assert (contrast_with_white("black"), contrast_with_white("white")) == pytest.approx((21, 1))
    assert contrast_with_white("#f0e442") < 3  # yellow: pale
    red, green = ("#a02020", "-"), ("#4a6b00", "-")
    assert ciede2000(lab(red[0], "normal"), lab(green[0], "normal")) > 40
    assert confused({"red": red, "green": green}) == [("red", "green")]
    assert confused({"red": red, "green": (green[0], "--")}) == []


def test_kernels_states_and_other_curves_stand_out_from_white_and_are_told_apart():
    states = [colour for colour, _ in figures.STATE_LOOK.values()]
    colours = [*(colour for colour, _ in figures.KERNEL_LOOK.values()), *states, *CYCLE]
    assert min(map(contrast_with_white, colours)) >= CONTRAST
    assert confused(figures.KERNEL_LOOK) == []
    for its in (CYCLE, states):
        assert min(distance(*pair) for pair in combinations(its, 2)) > TOLD_APART


def test_the_hero_is_thick_and_a_readers_own_policy_has_a_colour_of_the_cycle():
    assert papers.looks() == figures.LOOK
    hero, other = list(figures.LOOK)[:2]
    assert figures.look(hero, hero)["linewidth"] > 1.5 * figures.look(other, hero)["linewidth"]
    assert "color" not in figures.look("my policy")


# House style


def test_figures_are_no_wider_than_a_page_and_svg_is_the_same_twice(styled):
    written = []
    for _ in range(2):
        figure, ax = plt.subplots()
        ax.plot([1, 2], [1, 2], label="EI")
        figures.label_ends(ax)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        written.append(file.getvalue())
        assert figure.get_size_inches()[0] == figures.WIDTH <= 7.2
        plt.close(figure)
    assert written[0] == written[1]


# Panels


def many(level, power, trials=30, horizon=2000, seed=5):
    """Traces of heavy-tailed regret that falls as a power of t."""
    scale = np.random.default_rng(seed).lognormal(0, 0.5, (trials, 1))
    regret = level * scale * np.arange(1.0, horizon + 1) ** (power - 1)
    return trace_of(regret)


def test_regret_on_log_axes_is_what_the_axis_says(ax):
    its = many(1.0, 0.5)
    figures.regret_quartiles(ax, {"EI": its, "mine": its}, unit="°C", hero="EI")
    rounds = log_spaced(2000)
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), rounds)
    low, middle, high = np.quantile(its.cumulative_regret[:, rounds - 1], [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(line.get_ydata(), middle)
    edges = ax.collections[0].get_paths()[0].vertices
    assert np.ptp(edges[edges[:, 0] == 2000, 1]) == pytest.approx(high[-1] - low[-1])
    assert all(said in ax.get_ylabel() for said in ("°C", "quartiles", "30 trials"))
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlim()) == ("log", "log", (1, 2000))
    assert to_hex(ax.lines[1].get_color()) == CYCLE[0]


def test_mean_and_interval_of_block_means(ax):
    its = many(1.0, 0.5)
    figures.regret_quartiles(ax, {"EI": its}, quantity="average", spread="mean and 95 % interval", block=3)
    final = its.average_regret[:, -1].reshape(10, 3).mean(axis=1)
    edges = ax.collections[0].get_paths()[0].vertices
    ends = edges[edges[:, 0] == 2000, 1]
    half = 1.96 * final.std(ddof=1) / np.sqrt(10)
    assert (ends.min(), ends.max()) == pytest.approx((final.mean() - half, final.mean() + half))
    with pytest.raises(ValueError, match="spread = 'sd'"):
        figures.regret_quartiles(ax, {"EI": its}, spread="sd")
    with pytest.raises(ValueError, match="quantity = 'none'"):
        figures.regret_quartiles(ax, {"EI": its}, quantity="none")


def test_what_is_kept_of_measured_data_is_drawn_and_tabulated_whole(ax):
    its, at = many(1.0, 0.5), kept_rounds(2000)
    traces = {"EI": its, "MPI": Regrets(at, its.cumulative_regret[:, at - 1])}
    figures.regret_quartiles(ax, traces, quantity="average")
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), ax.lines[1].get_xydata())
    table = curve_quantiles(traces)
    assert table.loc["EI"].equals(table.loc["MPI"]) and table.notna().all(axis=None)
    assert table.loc["EI"].index.tolist() == log_spaced(2000, 60).tolist()


def test_the_curves_of_a_figure_as_a_table(styled):
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([1, 2, 4], [3.0, np.nan, 5.0], label="EI")
    left.plot([1, 2, 3], [0, 0, 0])  # without a name
    left.axhline(1.0, label="allowed")
    right.plot([5, 6, 7], [1, 2, 3], label="PI")
    right.set_title("light")
    table = figures.curves(figure)
    assert list(table["panel"]) == [1] * 3 + ["light"] * 3 and list(table["curve"]) == ["EI"] * 3 + ["PI"] * 3
    assert list(table["x"]) == [1, 2, 4, 5, 6, 7] and list(table["y"].fillna(0)) == [3, 0, 5, 1, 2, 3]
    assert figures.curves(plt.figure()).empty


# Labels at the ends of curves


def test_labels_at_ends_lie_beside_their_curves_and_apart(ax, check_readable):
    names = [*list(figures.LOOK)[:9], "my own policy"]
    figures.regret_quartiles(ax, {name: many(1 + 0.1 * i, 0.5) for i, name in enumerate(names)}, hero=names[0])
    figures.label_ends(ax)
    labels = {text.get_text(): text for text in ax.texts}
    assert set(labels) == set(names) and not ax.figure.legends
    places = [labels[name].xyann[1] for name in names]
    assert places == sorted(places)  # as the curves end
    assert all(labels[line.get_label()].get_color() == line.get_color() for line in ax.lines)
    check_readable(ax.figure)
    assert min(Text.get_window_extent(text).x0 for text in labels.values()) > ax.get_window_extent().x1


def test_curves_that_coincide_are_labelled_together(ax):
    figures.regret_quartiles(ax, {"EI": many(1, 0.5), "MPI": many(1.001, 0.5), "GP-TS": many(1, 0.501)})
    ax.lines[2].set_ydata(ax.lines[0].get_ydata() * np.linspace(0.3, 1, len(ax.lines[0].get_xdata())))
    figures.label_ends(ax)
    places = {text.get_text(): text.xyann[1] for text in ax.texts}
    downwards = sorted(places, key=places.get, reverse=True)
    assert set(places) == {"EI", "= MPI", "GP-TS"}  # another way to the same end is another curve
    assert downwards.index("= MPI") == downwards.index("EI") + 1


@pytest.mark.parametrize("size", [(7.2, 2.0), (3.4, 4.4)])
def test_without_room_one_legend_below_names_the_curves_of_all_panels(styled, size, check_readable):
    figure, axes = plt.subplots(1, 2, figsize=size, sharey=True)
    names = list(figures.LOOK)[:11]
    for ax, its in zip(axes, (names, names[4:]), strict=True):
        figures.regret_quartiles(ax, {name: many(1 + i, 0.5) for i, name in enumerate(its)})
        ax.set_ylabel("")
        figures.label_ends(ax)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == names and len(figure.legends) == 1
    assert not axes[1].texts
    check_readable(figure)


# What verdicts rest on


def test_pairs_show_every_dot_the_estimate_and_the_rule(ax, check_readable):
    rows = {"cUCB": (np.array([2.0, 4.0, 1.0]), Estimate(2.0, 1.5, 3.0)), "EI": (np.ones(2), Estimate(1, 0.5, 1.5))}
    ax.set_xscale("log")
    pictures.pairs(ax, rows, rule=read_rule("> 1"), what="ratio", dot="chain", centre="median")
    dots, interval, value = ax.lines[:3]
    assert [list(drawn.get_xdata()) for drawn in (dots, interval, value)] == [[1, 2, 4], [1.5, 3], [2]]
    assert max(interval.get_ydata()) < min(dots.get_ydata())  # above the dots, not on them
    assert value.get_color() == figures.STATE_LOOK["holds"][0]
    assert ax.lines[5].get_color() == figures.STATE_LOOK["undecided"][0]
    assert [text.get_text() for text in ax.texts] == ["2 of 3", "0 of 2"]  # 1 is not above 1
    shaded = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (shaded.x0, shaded.x1) == pytest.approx((1, ax.get_xlim()[1]))
    check_readable(ax.figure)


def specification(part, sizes):
    """What interpretations of choices with those numbers of values might give."""
    choices = {f"choice {i}": [f"value {j}" for j in range(size)] for i, size in enumerate(sizes)}
    values = iter(np.random.default_rng(1).normal(1, 0.4, int(np.prod(sizes))))
    found = [
        (interpretation, Estimate(v, v - 0.2, v + 0.2))
        for interpretation, v in zip(interpretations.cross(choices), values, strict=True)
    ]
    return interpretations.specification(part, found), choices


@pytest.mark.parametrize("sizes", [(2, 2), (5, 5, 4)], ids=["4 interpretations", "100 interpretations"])
def test_a_specification_curve_shows_every_interpretation(styled, sizes, check_readable):
    part = Part("ratio", "R_T of EI over that of IGP-UCB", read_rule("> 1"), show=".2f °C")
    table, choices = specification(part, sizes)
    figure = pictures.specification_curve(table, choices | {"not played": ["a", "b"]}, part)
    above, below = figure.axes
    drawn = {line.get_label(): line for line in above.lines if not line.get_label().startswith("_")}
    for state in figures.STATE_LOOK:
        np.testing.assert_array_equal(drawn[state].get_ydata(), table["value"][table["state"] == state])
    record = table.index[table["main"]][0]
    assert (drawn["main"].get_xdata(), drawn["main"].get_ydata()) == ([record], [table["value"][record]])
    labels = below.get_yticklabels()
    assert len(labels) == sum(1 + size for size in sizes) and "not played:" not in map(Text.get_text, labels)
    assert [its.get_text() for its in labels if its.get_fontweight() == "bold"] == ["value 0"] * len(sizes)
    assert sum(len(line.get_xdata()) for line in below.lines[:-1]) == len(table) * len(sizes)  # the last: the main one
    check_readable(figure)


def test_a_played_claim_says_how_often_it_holds_and_what_decides(styled):
    its = Part("gap", "a number", read_rule("> 0"), scale=1.0, curve=("gap (m)",))
    found = [({"incumbent": name, "margin": m}, Estimate(v, v, v)) for name, v in (("a", 1), ("b", -1)) for m in (0, 1)]
    claim = Claim("9-A", "", "own question", "", {"gap": its}, "")
    rules = Rules("09", {"9-A": claim}, {"incumbent": ["a", "b"], "margin": [0, 1], "days": ["none"]}, "")
    figure = pictures.claim_curve(interpretations.specification(its, found), rules, "9-A", "light")
    assert "2 of 4" in figures.said(figure) and "incumbent" in figures.said(figure)


PLAYED = [
    (path.stem, claim_id)
    for path in sorted((ROOT / "notebooks" / "claims").glob("*.yaml"))
    for claim_id, claim in load(path).claims.items()
    if any(part.curve for part in claim.parts.values())
]


@pytest.mark.parametrize(("notebook", "claim_id"), PLAYED)
def test_the_curve_of_every_played_claim_is_readable(styled, check_readable, notebook, claim_id):
    """With the choices that its paper leaves open, near its rule and far from it."""
    rules = load(ROOT / "notebooks" / "claims" / f"{notebook}.yaml")
    part, (name, values) = rules.claims[claim_id].played, next(iter(rules.interpretations.items()))
    sizes = [part.rule.nearest_scale or part.scale, 30 * (part.scale or part.rule.nearest_scale)]
    found = [({name: v}, Estimate(s, 0.9 * s, 1.1 * s)) for v, s in zip(values, sizes, strict=False)]
    table = interpretations.specification(part, found)
    check_readable(pictures.claim_curve(table, rules, claim_id, "SIMULATED SUBSTITUTE for light"))


def found(rule, value, low, high, state, **more):
    its = {"is": "size", "scale": 1.0, "rule": rule, "value": value, "low": low, "high": high, "state": state}
    return its | more


PARTS = {
    "above": found("> 1", 1.5, 1.2, 2.0, "holds"),
    "below": found("< 0.6", 0.9, 0.5, 1.2, "undecided", scale=0.6, control=True),
    "between": found(">= -0.2, <= 0.2", 0.1, -0.1, 0.15, "holds", scale=0.2),
    "far": found("> 0", -9.0, -9.5, -1.0, "fails"),
    "later": {"is": "what comes later", "rule": "> 0", "scale": 1.0},
}


def test_all_parts_lie_by_their_distance_to_the_rule(styled, check_readable):
    figure = pictures.all_parts([{"id": "1-A", "counts_as": "experiment", "parts": PARTS}])
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1-A size"] * 4 + ["1-A what comes later"]
    intervals = {line.get_ydata()[0]: line.get_xdata() for line in ax.lines if line.get_linewidth() == 1.8}
    wanted = {0: [0.2, 1.0], 1: [-1.0, 1 / 6], 2: [0.25, 1.0], 3: [-2.0, -1.0]}
    assert list(intervals) == list(wanted)
    for place, ends in wanted.items():  # at 2 the interval holds 0, halfway between the limits: the distance there is 1
        assert intervals[place] == pytest.approx(ends)
    values = {line.get_ydata()[0]: line for line in ax.lines if line.get_marker() in {"o", "X", "D"}}
    assert values[0].get_xdata()[0] == pytest.approx(0.5) and values[3].get_xdata()[0] == -2  # clipped, with an arrow
    assert [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "<"] == [3]
    assert [place for place, line in values.items() if line.get_markerfacecolor() == "white"] == [1]
    assert values[3].get_color() == figures.STATE_LOOK["fails"][0]
    check_readable(figure)


def test_totals_have_a_bar_a_paper_and_say_how_many_claims_stand(styled, check_readable):
    def records(*verdicts):
        return [{"verdict": verdict, "counts_as": "experiment"} for verdict in verdicts]

    own = {"verdict": "reproduced", "counts_as": "own question"}
    papers = {"One 2001": [*records("reproduced", "partly"), own], "Two 2002": records("no violation found", "depends")}
    figure = pictures.totals(papers)
    assert figure.get_suptitle() == "2 of 4 claims of the papers stand"
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(papers)
    check_readable(figure)
