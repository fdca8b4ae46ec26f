"""The shared panels draw what they say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from traces import trace_of

from kbrepro import figures, papers
from kbrepro.figures import verdicts
from kbrepro.figures.style import CYCLE
from kbrepro.trials.curve import log_spaced


@pytest.fixture
def ax(styled):
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


# Looks


def test_the_hero_is_thick_and_a_readers_own_policy_has_a_colour_of_the_cycle(styled):
    assert papers.looks() == figures.LOOK
    hero, other = list(figures.LOOK)[:2]
    assert figures.look(hero, hero)["linewidth"] > 1.5 * figures.look(other, hero)["linewidth"]
    assert "color" not in figures.look("my policy")
    assert figures.look(other, "", {other: ("red", ":")})["color"] == "red"


# Panels


def many(level, power, trials=30, horizon=2000, seed=5):
    """Traces of heavy-tailed regret that falls as a power of t."""
    scale = np.random.default_rng(seed).lognormal(0, 0.5, (trials, 1))
    regret = level * scale * np.arange(1.0, horizon + 1) ** (power - 1)
    return trace_of(regret)


def test_regret_on_log_axes_is_what_the_axis_says(ax):
    traces = many(1.0, 0.5)
    figures.regret_quartiles(ax, {"EI": traces, "mine": traces.regret}, unit="°C", hero="EI")
    rounds = log_spaced(2000)
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), rounds)
    low, middle, high = np.quantile(
        traces.cumulative_regret[:, rounds - 1], [0.25, 0.5, 0.75], axis=0
    )
    np.testing.assert_allclose(line.get_ydata(), middle)
    edges = ax.collections[0].get_paths()[0].vertices
    assert np.ptp(edges[edges[:, 0] == 2000, 1]) == pytest.approx(high[-1] - low[-1])
    assert all(said in ax.get_ylabel() for said in ("°C", "quartiles", "30 trials"))
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlim()) == ("log", "log", (1, 2000))
    assert to_hex(ax.lines[1].get_color()) == CYCLE[0]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), line.get_ydata())  # of a plain array


def test_mean_and_interval_of_block_means(ax):
    traces = many(1.0, 0.5)
    figures.regret_quartiles(
        ax, {"EI": traces}, quantity="average", spread="mean and 95 % interval", block=3
    )
    final = traces.average_regret[:, -1].reshape(10, 3).mean(axis=1)
    edges = ax.collections[0].get_paths()[0].vertices
    ends = edges[edges[:, 0] == 2000, 1]
    half = 1.96 * final.std(ddof=1) / np.sqrt(10)
    assert (ends.min(), ends.max()) == pytest.approx((final.mean() - half, final.mean() + half))
    with pytest.raises(ValueError, match="spread = 'sd'"):
        figures.regret_quartiles(ax, {"EI": traces}, spread="sd")
    with pytest.raises(ValueError, match="quantity = 'none'"):
        figures.regret_quartiles(ax, {"EI": traces}, quantity="none")


# Labels at the ends of curves


def test_labels_at_ends_lie_beside_their_curves_and_apart(ax, check_readable):
    names = [*list(figures.LOOK)[:9], "my own policy"]
    figures.regret_quartiles(
        ax, {name: many(1 + 0.1 * i, 0.5) for i, name in enumerate(names)}, hero=names[0]
    )
    figures.label_ends(ax)
    labels = {text.get_text(): text for text in ax.texts}
    assert set(labels) == set(names) and not ax.figure.legends
    places = [labels[name].xyann[1] for name in names]
    assert places == sorted(places)  # as the curves end
    assert all(labels[line.get_label()].get_color() == line.get_color() for line in ax.lines)
    check_readable(ax.figure)
    assert (
        min(Text.get_window_extent(text).x0 for text in labels.values()) > ax.get_window_extent().x1
    )


# Verdicts of all papers


def sentence(verdict, values, uncertain=False, agree=0, how="redrawn"):
    """A judged sentence; `values` of its interpretations, all of which count."""
    readings = [{"probability": {"value": value, "how": how}, "counts": True} for value in values]
    record = {"kind": "observation", "id": "9-A", "quote": "A wins.", "verdict": verdict}
    counted = {"agree": agree or len(values), "counted": len(values), "uncertain": uncertain}
    return record | counted | {"readings": readings}


SENTENCES = [
    sentence("does not", [0.05, 0.7], agree=1),
    sentence("comes out again", [0.95, 0.99], uncertain=True),
    sentence("comes out again", [1.0], how="nothing redrawn"),
    sentence("too few", [1.0], uncertain=True),
    sentence("comes out again", [1.0]) | {"kind": "remark"},
]
RUNS = {"09_toy": {"claims": SENTENCES}, "06_own": {"claims": SENTENCES[-1:]}}
TITLES = {"09_toy": "Toy, 2026", "06_own": "Own"}


def test_a_square_is_strong_pale_hatched_or_white_by_its_verdict(styled):
    figure = verdicts.squares(RUNS, TITLES)
    looks = [(to_hex(one.get_facecolor()), bool(one.get_hatch())) for one in figure.axes[0].patches]
    again, fails, _, few = verdicts.COLOURS.values()
    assert looks[:2] == [(again, False), (again, True)] and looks[3] == (few, False)
    (pale, hatched) = looks[2]
    assert pale not in verdicts.COLOURS.values() and pale[1:3] > fails[1:3] and not hatched
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    named = ["2 come out again", "1 do not, an open choice reverses it", "1 too few"]
    assert said == [*named, "hatched: 2 uncertain", "dot: 1 played once, not rerun"]
    dots = [line.get_xdata() for line in figure.axes[0].lines]
    assert [place for place in dots if len(place)] == [[0.5]]


def test_a_dot_lies_at_the_main_interpretation_and_its_line_spans_all_that_count(styled):
    figure = verdicts.ranges(RUNS, TITLES)
    spans, dots = figure.axes[0].lines[::2], figure.axes[0].lines[1::2]
    assert [(*span.get_xdata(),) for span in spans[:2]] == [(0.05, 0.7), (0.95, 0.99)]
    assert [dot.get_xdata()[0] for dot in dots] == [0.05, 0.95, 1.0, 1.0]
    assert [dot.get_marker() for dot in dots] == ["o", "o", "s", "o"]
    hollow = [dot.get_markerfacecolor() == "white" for dot in dots]
    assert hollow == [False, True, False, True]
