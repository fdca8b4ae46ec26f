"""What the full-scale run of Janz et al. left is what the pages and tables say."""

import re
from pathlib import Path

import pandas as pd
import pytest

from kbrepro.papers.pi_gp_ucb.paper import PAPER

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = {"Table 1, d = 1": "table1_d1", "Table 1, d = 2": "table1_d2"}


@pytest.mark.parametrize("label", TABLES)
def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(label, check_kept):
    check_kept(PAPER.notebook, label, TABLES[label])


@pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="there is no results folder")
def test_the_tables_on_the_first_page_are_those_of_the_committed_run():
    """Shares of uniform regret with intervals, runs, seconds, and what later theory changes, from the run's tables."""
    tables = ROOT / "results" / "paper" / PAPER.notebook / "tables"
    shares = pd.read_csv(tables / "table1.csv").query("lengthscale == 'usual'").set_index(["d", "algorithm"])
    seconds = pd.read_csv(tables / "seconds.csv").set_index(["d", "algorithm"])["seconds a run"]
    since = pd.read_csv(tables / "since_the_paper.csv").set_index(["change", "d", "algorithm"])
    assert len(shares) == 6 and len(since) == 16

    def interval(value, low, high):
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"

    for (d, rule), row in shares.iterrows():
        start = rf"\| {d} \| {rule} \| 0\.\d\d \| "
        here = interval(row["mean of ratios"], row["low"], row["high"])
        end = rf" \| {row['runs']} \| [^|]+ \| {seconds[d, rule]:.2g} s \|"
        assert re.search(start + re.escape(here) + end, README), here
        changes = [(change, d, rule) for change in ("published", "tighter width", "both")]
        cells = [interval(*since.loc[change]) if change in since.index else "" for change in changes]
        assert "| " + " | ".join([str(d), rule, *cells]) + " |" in README, cells
