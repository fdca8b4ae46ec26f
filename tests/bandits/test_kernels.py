"""Kernels against scikit-learn, and the errors of a bad covariance."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from refusing import refuses
from sklearn.gaussian_process import kernels as sk

from kbrepro.bandits.kernels import Empirical, Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Model

SCIKIT = [
    (SquaredExponential(0.3, variance=2.0), 2.0 * sk.RBF(0.3)),
    (Matern(0.4, nu=0.5, variance=2.0), 2.0 * sk.Matern(0.4, nu=0.5)),
    (Matern(0.4, nu=1.5), sk.Matern(0.4, nu=1.5)),
    (Matern(1.1, nu=2.5), sk.Matern(1.1, nu=2.5)),
    (Linear(variance=3.0), 3.0 * sk.DotProduct(sigma_0=0.0)),
]


@pytest.mark.parametrize(("ours", "theirs"), SCIKIT, ids=[repr(ours) for ours, _ in SCIKIT])
def test_scikit_learn_agrees(ours, theirs):
    rng = np.random.default_rng(2)
    X, Z = rng.uniform(-1, 1, (30, 3)), rng.uniform(-1, 1, (20, 3))
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.diag(X), theirs.diag(X), rtol=1e-12)


def test_independent_is_the_identity_where_points_differ():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(
        Independent(2.0)(X, X), 2.0 * np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    )
    np.testing.assert_array_equal(Independent(2.0).diag(X), [2.0, 2.0, 2.0])


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize(
    "kernel", [SquaredExponential(1.0), Matern(1.0, nu=0.5), Linear(), Independent()], ids=repr
)
def test_bad_parameters(kernel, value):
    for name in vars(kernel):
        refuses((partial(replace, kernel, **{name: value}), f"{name} = {value!r} is not allowed"))
    refuses((lambda: Matern(1.0, nu=2), "nu = 2 is not allowed: nu must be one of 0"))


@pytest.mark.parametrize("make", [SquaredExponential, partial(Matern, nu=2.5)])
def test_a_lengthscale_for_each_axis(make):
    """Its numbers are those of the fuzz test."""
    assert make([0.2, 0.2]) == make((0.2, 0.2))
    refuses(
        (lambda: Model(grid(3, 3), make((1.0, 2.0)), 0.1), "lengthscale = .* one for each of 3"),
        (lambda: make((1.0, -1.0)), r"lengthscale = -1\.0 is not allowed"),
    )


def test_grid():
    np.testing.assert_array_equal(grid(3), [[0], [0.5], [1]])
    np.testing.assert_array_equal(grid(2, 2, low=-1, high=3), [[-1, -1], [-1, 3], [3, -1], [3, 3]])
    np.testing.assert_array_equal(
        grid(2, bounds=[(0, 1), (10, 50)]), [[0, 10], [0, 50], [1, 10], [1, 50]]
    )
    np.testing.assert_array_equal(grid(4, bounds=[(-1, 3)] * 2), grid(4, 2, -1, 3))
    for bad in ([(0, 1, 2)], [1, 2], [(0, np.inf)], []):
        refuses((partial(grid, 3, bounds=bad), "bounds"))
    words = r"bounds = .* .* one \(low, high\) per axis, without d, low and high"
    refuses((lambda: grid(3, d=2, bounds=[(0, 1), (0, 1)]), words))


COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -0.5], [0.0, -0.5, 1.0]])


def test_empirical_gives_the_matrix_back_and_may_be_singular():
    kernel = Empirical(COVARIANCE)
    assert kernel(kernel.points[:0], kernel.points).shape == (0, len(COVARIANCE))
    np.testing.assert_array_equal(kernel(kernel.points, kernel.points), COVARIANCE)
    np.testing.assert_array_equal(kernel.diag(kernel.points), [2, 3, 1])
    np.testing.assert_array_equal(kernel(kernel.points[[2]], kernel.points[[1, 1]]), [[-0.5, -0.5]])
    V = np.random.default_rng(3).standard_normal((30, 4))
    assert Empirical(V @ V.T).points.shape == (30, 1)


def changed(place, value):
    K = COVARIANCE.copy()
    K[place] = value
    return K


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\): it must be square"),
        (changed((0, 1), np.nan), r"covariance\[0, 1\] = nan"),
        (changed((0, 2), 0.1), r"must be symmetric, but \[0, 2\] = 0\.1 and \[2, 0\] = 0\.0"),
        (np.zeros((2, 2)), "positive semidefinite"),
    ],
)
def test_bad_covariance(covariance, words):
    refuses((partial(Empirical, covariance), words))


@pytest.mark.parametrize("lengthscale", [0.3, (0.3, 7.0)])
def test_points_far_from_zero_have_the_covariance_of_their_differences(lengthscale):
    """Such as clocks in seconds: 1.7e9 has 23 binary digits after the point."""
    near, offset = (
        np.random.default_rng(5).integers(0, 2**20, (12, 2)) / 2**20,
        np.array([1.7e9, -1.7e9]),
    )
    for kernel in (SquaredExponential(lengthscale), Matern(lengthscale, nu=2.5)):
        np.testing.assert_allclose(
            kernel(near + offset, near + offset), kernel(near, near), rtol=1e-13
        )


@pytest.mark.parametrize("index", [-1, 3])
def test_arms_outside_the_covariance(index):
    for use in (Empirical(COVARIANCE).diag, partial(Empirical(COVARIANCE), np.array([[0]]))):
        words = f"arm = {index} is not allowed: arm must be an integer from 0 to 2"
        refuses((partial(use, np.array([[0.0], [index]])), words, IndexError))
