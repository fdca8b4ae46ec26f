"""The page of every figure and table: its rows name every claim and picture, and nothing else."""

from pathlib import Path

import pandas as pd

from kbrepro.batch import items
from kbrepro.claims import scorecard
from kbrepro.claims.judging import NOT, SOMETIMES

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/paper"
RUNS = scorecard.read(RESULTS)
OUTCOMES = {
    record["id"]: record.get("verdict", record.get("outcome"))
    for run in RUNS.values()
    for record in run["claims"] + run["theorems"]
}
ITEMS = pd.read_csv(ROOT / items.ITEMS, keep_default_na=False)
NAMED = ITEMS["outcome"].str.findall(r"\{(.+?)\}").explode()
PAGE = items.every_item(ROOT, RUNS)


def linked(column, folder):
    """Return the files that a column names, from a folder."""
    return {folder / name for name in column if name}


def test_every_claim_and_theorem_stands_at_an_item_and_no_other():
    assert {*NAMED.dropna()} == {*OUTCOMES}


def test_every_picture_table_and_notebook_is_linked_and_nothing_else():
    assert linked(ITEMS["picture"], RESULTS) == {*RESULTS.glob("0*/figures/*.png")}
    assert linked(ITEMS["table"], RESULTS) == {*RESULTS.glob("0*/tables/*.csv")}
    notebook, _, cell = ITEMS["notebook"].str.partition("#").to_numpy().T
    assert linked(notebook, ROOT / "notebooks") == {*ROOT.glob("notebooks/*.ipynb")}
    assert {*cell} <= {
        "",
        "the-algorithm-algorithm-1",
        "the-algorithms-algorithms-1-and-2",
        *OUTCOMES,
    }


def test_an_item_is_found_by_its_paper_and_number_and_says_what_was_done():
    anchors = ITEMS["anchor"]
    assert len(ITEMS) >= 107 and anchors.is_unique
    assert anchors.str.fullmatch("[a-z]+(-[a-z0-9]+)+").all()
    said = ITEMS["outcome"] + NAMED.map(OUTCOMES).fillna("").groupby(level=0).sum()
    for state, words in {"false": "(?i)false as printed", "not done": "Not done"}.items():
        assert ((ITEMS["state"] == state) == said.str.contains(words)).all()


def test_a_reason_stands_by_every_sentence_that_does_not_come_out_and_by_no_other():
    failed = [name for name, outcome in OUTCOMES.items() if outcome in (NOT, SOMETIMES)]
    assert [*pd.read_csv(ROOT / items.REASONS)["claim"]] == failed


def test_the_committed_page_is_that_of_the_committed_claims():
    """`kbrepro report` renews it."""
    assert (ROOT / "results/figures.md").read_text(encoding="utf-8") == PAGE


def test_verdicts_are_linked_and_printed_numbers_stand_beside_ours():
    for part in (
        '| <a id="srinivas-fig-5a"></a>**Fig. 5a**<br>average regret',
        "**comes out again** *(uncertain)*](README.md#1-D): dividing β by 5",
        "◇ **too few**](README.md#3-J)",
        "[**657 violations in 2,000 runs: 32.9%, 50% allowed**](README.md#2-N)",
        "| usual | 3 | IGP-UCB | 0.97 | 0.92 | ± 0.03 |",
        "| 3 | 62.1 | 101 |",
        "*Why:* The margin of MPI is not stated",
    ):
        assert part in PAGE


def test_a_notebook_that_was_not_run_is_named():
    assert "| not run: IGP-UCB improves" in items.every_item(ROOT, {})
