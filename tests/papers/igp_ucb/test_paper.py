"""What the full-scale run of Chowdhury & Gopalan left is what the pages and tables say."""

import pytest

from kbrepro.papers.igp_ucb.paper import PAPER

TABLES = {"Fig. 1 (a) SE": "fig1_a", "temperature": "fig4_temperature", "light": "fig4_light"}


@pytest.mark.parametrize("label", TABLES)
def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(label, check_kept):
    check_kept(PAPER.notebook, label, TABLES[label])
