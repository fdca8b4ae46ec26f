"""What the full-scale run of Srinivas et al. left is what the pages and tables say."""

import pytest

from kbrepro.papers.gp_ucb.paper import PAPER

TABLES = {"Fig. 5a": "fig5a", "Fig. 5b, first third": "fig5b_first_third"}


@pytest.mark.parametrize("label", TABLES)
def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(label, check_kept):
    check_kept(PAPER.notebook, label, TABLES[label])
