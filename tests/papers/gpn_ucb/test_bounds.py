"""Rates of Table 2 at numbers that can be checked by hand, and their order."""

import pytest

from kbrepro.kernels import SquaredExponential
from kbrepro.papers.gpn_ucb.bounds import Rates
from kbrepro.papers.gpn_ucb.experiments import independent_outputs
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput

SCALAR, VECTOR = FeedForward(SquaredExponential(1.0)), MultiOutput(independent_outputs)


def test_rates_are_those_of_table_2():
    at = {"m": 4, "norm": 2.0, "lipschitz": 3.0, "d": 2}
    rates = Rates(SCALAR, nu=2.0, **at)
    assert rates.simple_upper(1.0) == 2.0**7 * 3.0**8
    assert rates.cumulative_upper(100.0) == 2**4 * 2 * 3**3
    assert Rates(SCALAR, nu=1.5, width=4, **at).cumulative_upper(16.0) == pytest.approx(2**4 * 8 * 2 * 3**3 * 16**0.625)
    assert Rates(VECTOR, nu=1.5, width=4, **at).cumulative_upper(16.0) == pytest.approx(5**4 * 2 * 3**3 * 16**0.625)
    for nu in (1.0, 1.5):
        rates = Rates(SCALAR, nu=nu, **at)
        assert rates.simple_lower(50.0) <= rates.simple_upper_restricted(50.0) <= rates.simple_upper(50.0)
        assert rates.cumulative_lower(1e4) <= rates.cumulative_upper(1e4)
