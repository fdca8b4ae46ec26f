"""Tables of the notebook on panels known by hand; a wrong rival, side or floor gives another number."""

import numpy as np
import pandas as pd
import pytest

from kbrepro.papers.side_by_side import experiments
from kbrepro.papers.side_by_side.bench import BOUNDED, DRAWN, NEITHER, Setting
from kbrepro.papers.side_by_side.experiments import BEST_PROVED, UNIFORM, over_best
from kbrepro.papers.side_by_side.field import TUNED, field

ENTRIES = field(0.1)
NAN = np.nan
#: Mean regret: EI is best once, then 2.5 and 4 times the best; BPE is 10, 12, 30 times.
MEANS = pd.DataFrame(
    {"a": [2.0, 3.0, 20.0, NAN, 100.0], "b": [5.0, 20.0, 60.0, 2.0, 100.0], "c": [8.0, 2.0, 60.0, NAN, 100.0]},
    ["EI", "PIMS", "BPE", "IGP-UCB, tighter", UNIFORM],
)


def test_regret_over_that_of_the_best():
    factors = over_best(MEANS)
    assert factors["a"].dropna().to_dict() == pytest.approx({"EI": 1, "PIMS": 1.5, "BPE": 10, UNIFORM: 50})
    assert factors.loc["IGP-UCB, tighter"].isna().tolist() == [True, False, True]
    tiny = over_best(pd.DataFrame({"a": [0.0001, 1.5, 100.0]}, ["EI", "PIMS", UNIFORM]))
    assert tiny["a"].tolist() == pytest.approx([1, 1.5, 100])  # no less than a hundredth


def test_the_ranking_puts_rules_of_few_problems_last():
    table = experiments.ranking(over_best(MEANS), ENTRIES | {UNIFORM: ENTRIES[UNIFORM]})
    assert table.index.tolist() == ["PIMS", "EI", "BPE", UNIFORM, "IGP-UCB, tighter"]
    assert table.loc["EI", ["factor", "within twice", "within five times", "problems"]].tolist() == [2.5, 1, 3, 3]


def test_the_table_of_the_bench_says_whose_proof_holds_where():
    bench = {problem: Setting(None, 10, holds) for problem, holds in zip("abc", (DRAWN, BOUNDED, NEITHER), strict=True)}
    table = experiments.bench_table(MEANS, bench, dict.fromkeys("abc", ENTRIES))
    assert len(table) == 13
    assert table.loc[("b", "BPE")].tolist() == pytest.approx([0.6, 30, "near-optimal", "met"])
    assert [table.loc[(problem, "PIMS"), "assumptions"] for problem in "abc"] == ["met", "not met", "not met"]
    assert table.loc[("a", "EI"), "assumptions"] == "none"


def test_advice_names_rules_as_printed_that_play_on_all_problems_of_a_situation():
    factors = pd.concat([over_best(MEANS), pd.DataFrame(1.0, ["BPE" + TUNED], ["a", "b", "c"])])
    table = experiments.advice(factors, {"one": ["a"], "all": ["a", "b", "c"]})
    assert table.loc["one"].tolist() == ["EI (1.0)", "PIMS (1.5)", "BPE (10.0)"]
    assert table.loc["all"].tolist() == ["EI (2.2)", "PIMS (2.5)", "BPE (20.8)"]  # cube roots of 10, 15, 9,000


def test_a_sweep_is_a_geometric_mean_over_problems():
    two = {"EI / 1": [2.0, 4.0], "EI / 5": [1.0, 2.0], "BPE / 1": [6.0], UNIFORM: [10.0]}
    table = experiments.sweep({"a": two, "b": {"EI / 1": [1.2], "EI / 5": [0.6], UNIFORM: [6.0]}})
    assert table.loc["EI"].tolist() == pytest.approx([np.sqrt(0.06), np.sqrt(0.015)])
    assert table.loc["BPE", 1.0] == pytest.approx(0.6) and np.isnan(table.loc["BPE", 5.0])


def test_exponents_that_are_proved():
    proved = experiments.proved_exponents(2, 1.5)
    assert proved[BEST_PROVED] == pytest.approx(5.5 / 7) and proved["BPE"] == pytest.approx(0.7)
    assert proved["π-GP-UCB"] == pytest.approx(17 / 22) and proved["IGP-UCB"] == pytest.approx(0.9)


def test_factors_of_wrong_assumptions():
    wrong = {
        ("p", "as it is"): {"EI": [2.0, 2.0], "PIMS": [1.0]},
        ("q", "as it is"): {"EI": [1.0], "PIMS": [1.0]},
        ("p", "noise a third"): {"EI": [6.0, 10.0], "PIMS": [9.0]},
        ("q", "noise a third"): {"EI": [1.0], "PIMS": [4.0]},
    }
    table = experiments.wrong_factors(wrong, ["EI", "PIMS"])
    assert [*table] == ["noise a third"] and table["noise a third"].tolist() == pytest.approx([2, 6])
