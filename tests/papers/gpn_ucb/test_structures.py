"""The constants of Theorems 1 to 3 against the equations written out."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential
from kbrepro.papers.gpn_ucb.problems import independent_outputs
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput

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
