"""The figures of the notebook on π-GP-UCB: readable, and what they draw is what they were given."""

import itertools

import numpy as np
import pytest
from traces import trace_of

from kbrepro.papers.pi_gp_ucb import pictures
from kbrepro.papers.pi_gp_ucb.experiments import CellRun, half_width
from kbrepro.papers.pi_gp_ucb.partition import cover_exponent
from kbrepro.papers.pi_gp_ucb.problems import SURFACES
from kbrepro.regret import Estimate

IGP, PI = BOTH = "IGP-UCB", "π-GP-UCB"
pytestmark = pytest.mark.usefixtures("styled")
PRINTED = dict(zip(itertools.product((1, 2, 3), BOTH), (0.11, 0.09, 0.71, 0.52, 0.97, 0.77), strict=True))
SHARES = {("usual", *case): value * np.linspace(0.9, 1.1, 25) for case, value in PRINTED.items()}
SHARES |= {("eq. 2", *case): 2 * SHARES["usual", *case] for case in list(PRINTED)[:4]}


def played(pi):
    """Traces whose mean regret a round is `pi`, and 1 for IGP-UCB."""
    return {
        rule: trace_of(np.tile(level * np.linspace(0.5, 1.5, 6)[:, None], 300)) for rule, level in ((IGP, 1), (PI, pi))
    }


def covers():
    runs = {(d, T): [CellRun(3 * T**0.5 * c, 2.0 + c, c * np.arange(1, T + 1) ** 0.05, 0.5, 0.0, np.ones(9))
                     for c in (0.9, 1.1)] for d, T in itertools.product((1, 2, 3), (10, 30, 100, 300))}  # fmt: skip
    return pictures.covers(runs, {d: cover_exponent(d, 1.5) for d in (1, 2, 3)}, np.arange(1, 301)[None] ** 0.3)


def since():
    values = {(change, d, rule): level + 0.1 * (rule == IGP) for d in (1, 2, 3) for rule in BOTH
              for change, level in zip(pictures.CHANGES, (0.7, 0.5, 0.6, 0.3), strict=True)}  # fmt: skip
    return pictures.since({case: Estimate(value, value - 0.05, value + 0.05) for case, value in values.items()})


FIGURES = {
    "theory": lambda: pictures.theory(
        {d: np.arange(1, 1001) ** (0.15 + 0.15 * d) for d in (1, 2)}, np.arange(1, 9), 1.5
    ),
    "table 1": lambda: pictures.table_1(SHARES, PRINTED),
    "figure 1": lambda: pictures.figure_1(played(0.8)),
    "surfaces": lambda: pictures.surfaces({name: played(0.5 + place) for place, name in enumerate(SURFACES)}),
    "covers": covers,
    "since": since,
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_readable(name, checked):
    checked(FIGURES[name]())


def test_a_printed_value_stands_beside_where_ours_would_lie():
    usual, other = FIGURES["table 1"]().axes
    assert [bar[0].get_ydata()[0] for bar in usual.containers] == pytest.approx([*PRINTED.values()])
    low, high = usual.containers[1][2][0].get_segments()[0][:, 1]
    half = half_width(SHARES["usual", 1, PI])
    assert (low, high) == pytest.approx((0.09 - half, 0.09 + half)) and len(other.containers) == 4


def test_regret_of_a_round_is_that_of_its_hundredth_of_the_run():
    _, centre, _ = FIGURES["figure 1"]().axes
    line = next(line for line in centre.lines if line.get_label() == PI)
    assert line.get_ydata() == pytest.approx(0.8) and line.get_xdata()[[0, -1]] == pytest.approx([2, 299])
