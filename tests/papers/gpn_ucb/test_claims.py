"""The claims of paper 5: theorems on numbers small enough to count by hand. What the
tables hold is committed (claims/test_rejudge).
"""

import numpy as np
import pytest
from traces import curve_of

from kbrepro.papers.gpn_ucb import claims


class Few:
    """Kept trials of which every label has these results, and every rule this regret."""

    def __init__(self, *results, regret=()):
        self.results = lambda label: list(results)
        self.traces = lambda label: {"rule": curve_of(np.array([[0, 1]]), np.array([regret]))}


def test_theorems_count_the_runs_that_violate_them():
    steps = [(0.2, 0.5, 0.01), (1.2, 0.5, 0.04), (0.2, 1.1, 0.04), (9.0, 9.0, 0.06)]
    rows = [dict(zip(("step", "total", "slack"), row, strict=True)) for row in steps]
    assert claims.theorem_1.check(Few(*rows)) == (2, 3, 0.0, 1.2)
    rows = [{"error": e, "regret": r} for e, r in ((0.2, 1.4), (1.2, 0.1), (0.3, 0.9))]
    assert claims.theorems_4_7_and_8.check(Few(*rows)) == (6, 9, 0.0, 1.4)
    for exponent, violations in ((1.6, 0), (1.4, 1)):
        checked = claims.theorem_4_rate.check(
            Few(np.array([4, 6, 9, 13, 18, 25, 36, 50.0]) ** -exponent)
        )
        assert checked[:2] == (violations, 1) and checked.room == pytest.approx(1.5 / exponent)
    wrong = (0.14, 0.3), 0.16, 2
    for regret, nonada, violations in (((0.16, 0.2), 0.16, 0), wrong, ((0.16, 0.2), 0.14, 2)):
        assert claims.theorems_5_and_6.check(Few(nonada, regret=regret))[:2] == (violations, 4)
