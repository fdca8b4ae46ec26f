"""What the full-scale run of Calandriello et al. left is what the pages and tables say."""

import pytest

from kbrepro.papers.bkb.paper import PAPER


@pytest.mark.parametrize("label", ["regret", "linear"])
def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(label, check_kept):
    check_kept(PAPER.notebook, label, label)
