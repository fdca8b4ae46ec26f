"""Tables of the notebook on panels known by hand, and its figures."""

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.side_by_side import measures, pictures
from kbrepro.papers.side_by_side.field import TUNED, field
from kbrepro.papers.side_by_side.measures import BEST_PROVED, UNIFORM, over_best

ENTRIES = field(0.1)
#: Mean regret: EI is best once, then 2.5 and 4 times the best; BPE is 10, 12, 30 times.
MEANS = pd.DataFrame(
    {
        "a": [2.0, 3.0, 20.0, np.nan, 100.0],
        "b": [5.0, 20.0, 60.0, 2.0, 100.0],
        "c": [8.0, 2.0, 60.0, np.nan, 100.0],
    },
    ["EI", "PIMS", "BPE, tighter", "IGP-UCB, tighter", UNIFORM],
)


def test_regret_over_that_of_the_best_and_the_ranking():
    factors = over_best(MEANS)
    assert factors["a"].dropna().to_dict() == pytest.approx(
        {"EI": 1, "PIMS": 1.5, "BPE, tighter": 10, UNIFORM: 50}
    )
    assert factors.loc["IGP-UCB, tighter"].isna().tolist() == [True, False, True]
    tiny = over_best(pd.DataFrame({"a": [0.0001, 1.5, 100.0]}, ["EI", "PIMS", UNIFORM]))
    assert tiny["a"].tolist() == pytest.approx([1, 1.5, 100])  # no less than a hundredth
    table = measures.ranking(factors)  # rules of few problems last
    assert table.index.tolist() == ["PIMS", "EI", "BPE, tighter", UNIFORM, "IGP-UCB, tighter"]
    assert table.loc["EI", ["factor", "within twice", "problems"]].tolist() == [2.5, 1, 3]


def test_exponents_that_are_proved():
    proved = measures.proved_exponents(2, 1.5)
    assert proved[BEST_PROVED] == pytest.approx(5.5 / 7) and proved[
        "BPE, tighter"
    ] == pytest.approx(0.7)
    assert proved["π-GP-UCB"] == pytest.approx(17 / 22) and proved["IGP-UCB"] == pytest.approx(0.9)


@pytest.mark.usefixtures("styled")
def test_figures_can_be_read_and_rules_are_ranked(checked):
    totals = {
        name: np.outer(np.linspace(0.9, 1.1, 20), np.sqrt([100, 1000, 10_000]))
        for name in pictures.SHOWN
    }
    assert checked(
        pictures.growth({(nu, d): totals for nu in (1.5, 2.5) for d in (1, 2)}, (1, 10, 100))
    )
    means = pd.DataFrame({"SE draws": {rule: 3.0 + place for place, rule in enumerate(ENTRIES)}})
    means.loc["EI"], means.loc[UNIFORM] = 1.0, 90.0
    figure = pictures.ranking(measures.ranking(over_best(means)), 1e-6 * means)
    assert checked(figure)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names[0] == "EI" and {*names} == {rule for rule in ENTRIES if not rule.endswith(TUNED)}
