"""The constants of Theorems 1 to 3 against the equations written out; rates at numbers that can be checked by hand."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential
from kbrepro.papers.gpn_ucb.problems import independent_outputs
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput, rates

SCALAR, VECTOR = FeedForward(SquaredExponential(1.0)), MultiOutput(independent_outputs)
B, L = 3.0, 2.0


def test_step_weights_are_the_equations_written_out():
    np.testing.assert_allclose(SCALAR.step_weights((1, 1, 1), B, L), 2 * B * np.array([16, 4, 1]))
    wide = 2 * B * np.array([16 * np.sqrt(6), 4 * np.sqrt(3), 1])
    np.testing.assert_allclose(SCALAR.step_weights((2, 3, 1), B, L), wide)
    vector = [2 * L * 5 * L * 4 * B, 2 * L * 4 * B, 2 * B]
    np.testing.assert_allclose(VECTOR.step_weights((2, 2, 1), B, L), vector)


def test_factors_of_the_theorems_are_written_out():
    assert SCALAR.cumulative_factor((1, 1, 1), B, L) == pytest.approx(16 * B * 4)
    assert SCALAR.cumulative_factor((2, 3, 1), B, L) == pytest.approx(16 * np.sqrt(6) * B * 4)
    assert VECTOR.cumulative_factor((2, 2, 1), B, L) == pytest.approx(125 * B * 4)


def test_rounding_is_carried_on_like_the_sds():
    assert SCALAR.rounding_term((1, 1, 1), L, [0.1, 0.2]) == pytest.approx(10 * L * (2 * L * 0.1 + 0.2))
    assert VECTOR.rounding_term((2, 1), L, [0.1]) == pytest.approx(10 * L * 0.1)
    with pytest.raises(ValueError, match="a multi-output chain must have two layers here"):
        VECTOR.rounding_term((2, 2, 1), L, [0.1, 0.1])


def test_rates_are_those_of_table_2():
    at = {"m": 4, "norm": 2.0, "lipschitz": 3.0, "d": 2}
    assert rates(SCALAR, 1.0, nu=2.0, **at)["upper simple"] == 2.0**7 * 3.0**8
    assert rates(SCALAR, 100.0, nu=2.0, **at)["upper R_T"] == 2**4 * 2 * 3**3
    wide, vector = (rates(its, 16.0, nu=1.5, width=4, **at)["upper R_T"] for its in (SCALAR, VECTOR))
    assert wide == pytest.approx(2**4 * 8 * 2 * 3**3 * 16**0.625)
    assert vector == pytest.approx(5**4 * 2 * 3**3 * 16**0.625)


@pytest.mark.parametrize("nu", [1.0, 1.5, 2.5])
def test_lower_rates_lie_below_upper_ones(nu):
    for T in (50.0, np.array([1e4, 1e5])):
        its = rates(SCALAR, T, m=4, norm=2.0, lipschitz=3.0, d=2, nu=nu)
        assert {np.shape(rate) for rate in its.values()} == {np.shape(T)}
        assert (its["lower simple"] <= its["upper simple, restricted"]).all()
        assert (its["upper simple, restricted"] <= its["upper simple"]).all()
        assert (its["lower R_T"] <= its["upper R_T"]).all()


def test_norm_and_lipschitz_constant_of_rates_are_positive():
    with pytest.raises(ValueError, match=r"norm = 0\.0 is not allowed"):
        rates(SCALAR, 10.0, m=2, norm=0.0, lipschitz=1.0, nu=1.5, d=1)
