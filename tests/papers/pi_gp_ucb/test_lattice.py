"""The lattice kernel is the plain kernel, with exact ties."""

import itertools

import numpy as np
import pytest

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel, grid_indices


@pytest.mark.parametrize("kernel", [Matern(0.2, nu=1.5), Matern(0.3, nu=0.5, variance=2.0), SquaredExponential(0.4)])
@pytest.mark.parametrize(("n", "d"), [(30, 1), (9, 2), (5, 3), (2, 4)])
def test_the_values_are_those_of_the_plain_kernel(kernel, n, d):
    X = grid(n, d)
    np.testing.assert_allclose(LatticeKernel(kernel, n)(X, X[::2]), kernel(X, X[::2]), rtol=1e-12)
    np.testing.assert_array_equal(LatticeKernel(kernel, n).diag(X), kernel.diag(X))


def test_pairs_at_the_same_distance_tie_exactly():
    """By coordinates they do not: on 30 points a side thousands of equal distances differ in the last bits."""
    n, X = 30, grid(30, 2)
    places = np.array(list(itertools.product(range(n), repeat=2)))
    squared = ((places[:, None] - places[None]) ** 2).sum(axis=-1)
    kernel = LatticeKernel(Matern(0.2, nu=1.5), n)
    K, plain = kernel(X, X), Matern(0.2, nu=1.5)(X, X)
    for s in (1, 25, 50, 325):
        assert len(np.unique(K[squared == s])) == 1
    assert any(len(np.unique(plain[squared == s])) > 1 for s in (1, 25, 50, 325))


def test_grid_indices():
    np.testing.assert_array_equal(grid_indices(grid(4, 2), 4), list(itertools.product(range(4), repeat=2)))
    with pytest.raises(ValueError, match=r"points\[1, 0\] = 0.4 is not on the grid of 4 points a side"):
        grid_indices(np.array([[0.0], [0.4]]), 4)
    with pytest.raises(ValueError, match=r"points\[0, 1\] = 1.25 is not on the grid"):
        grid_indices(np.array([[0.0, 1.25]]), 5)
    with pytest.raises(ValueError, match="n = 1 is not allowed"):
        LatticeKernel(Matern(0.2, nu=1.5), 1)(grid(1), grid(1))
