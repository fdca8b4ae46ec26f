"""Claims on BKB: the worst ratio, and the bound of the worst case. What the loads give is committed
(claims/test_rejudge).
"""

from types import SimpleNamespace

import numpy as np

from kbrepro.bandits import information
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.problems import RKHSFunction
from kbrepro.papers.bkb import claims


def test_worst_ratios_look_at_both_sides():
    ratios = SimpleNamespace(low=np.array([0.25, 0.34]), high=np.array([1.0, 2.9]))
    np.testing.assert_allclose(claims.worst_ratio(ratios), [4.0, 1 / 0.34])


def test_the_worst_case_bounds_the_log_determinant_of_any_pulls():
    source = RKHSFunction(SquaredExponential(0.2), grid(30), 0.01, norm=1.0)
    gains, _ = information.greedy_gain(source.kernel, source.points, 0.01, 40)
    assert 2 * gains[-1] <= claims.worst_log_det(source, 40) < 30 * np.log(1 + 40 / 0.01)
