"""The count of question 6-E by hand; kept trials are those of the papers' own notebooks."""

import numpy as np
from kept_trials import kept_in, view
from tiny import Columns

from kbrepro.claims.tables import TOTAL, Table
from kbrepro.papers.side_by_side import claims


def test_a_rule_is_within_twice_of_the_least_by_hand():
    """EI is on all problems but the first, PIMS on the first two; nothing counts as less than a
    hundredth of 50.
    """
    problems = []
    for ei, pims in [(30.0, 10.0), (0.1, 1.0), (10.0, 21.0), (10.0, 21.0)]:
        kept = Columns(one={"EI": [ei], "PIMS": [pims], "uniform play": [50.0]})
        problems.append(view(Table("one", "one", pool=("EI", "PIMS", "uniform play")), kept))
    assert claims.within_twice(*problems) == 2 and claims.within_twice(*problems[:1]) == 0


def test_trials_of_table_1_are_those_of_its_own_notebook():
    for rule in ("IGP-UCB", "π-GP-UCB"):
        ours = kept_in("06").column("Table 1, d = 1", rule, TOTAL)
        theirs = kept_in("03").column("Table 1, d = 1", rule, TOTAL)
        n = min(len(ours), len(theirs))
        # without arms R_t is kept as float32
        np.testing.assert_allclose(ours[:n], theirs[:n], rtol=2**-23)
