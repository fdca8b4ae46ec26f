"""What Janz et al.'s Table 1 was played into is what its tables say."""

import pytest

from kbrepro.papers.pi_gp_ucb.paper import PAPER


@pytest.mark.parametrize("d", [1, 2])
def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(d, check_kept):
    check_kept(PAPER.notebook, f"Table 1, d = {d}", f"table1_d{d}")
