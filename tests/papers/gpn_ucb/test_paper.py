"""What the full-scale run of Li & Scarlett left is what its tables say."""

import numpy as np

from kbrepro.papers.gpn_ucb.paper import PAPER


def test_what_was_played_at_full_scale_has_the_committed_regret_to_six_digits(check_kept):
    """Three trials a chain, in shares of its range."""

    def ranges(played):
        return np.repeat([its[1] for its in played(PAPER.notebook, "chains, draws").results], 3)

    check_kept(PAPER.notebook, "draws", "draws", ranges)
