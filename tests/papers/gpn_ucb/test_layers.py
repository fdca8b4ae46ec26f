"""Layers: their norms, and Lipschitz constants that hold and are reached."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kbrepro.kernels import Matern, SquaredExponential
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, largest_value, lipschitz, with_output
from kbrepro.papers.gpn_ucb.problems import independent_outputs, mixed_outputs

KERNEL = SquaredExponential(1.0)


def rng(*seed):
    return np.random.default_rng([57, *seed])


@pytest.mark.parametrize("kernel", [SquaredExponential(0.7), Matern(1.2, nu=2.5), Matern(0.8, nu=1.5)])
def test_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel):
    layer = draw_layer(rng(1), kernel, rng(2).uniform(-2, 2, (6, 2)), 3, 1.7)
    K = kernel(layer.centres, layer.centres)
    for w in layer.weights.T:
        assert np.sqrt(w @ K @ w) == pytest.approx(1.7, rel=1e-9)
    X = rng(3).uniform(-3, 3, (300, 2))
    values, distance = layer(X), cdist(X, X)
    slopes = np.abs(values[:, None] - values[None])[distance > 0] / distance[distance > 0][:, None]
    assert slopes.max() <= lipschitz(kernel, 1.7)
    assert np.abs(values).max() <= largest_value(kernel, 1.7)


@pytest.mark.parametrize("kernel", [mixed_outputs(2), independent_outputs(2)])
def test_vector_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel):
    layer = draw_layer(rng(4), kernel, rng(5).uniform(-2, 2, (5, 1)), 2, 1.3)
    pairs, weights = with_output(layer.centres, 2), layer.weights.ravel()
    assert np.sqrt(weights @ kernel(pairs, pairs) @ weights) == pytest.approx(1.3, rel=1e-9)
    X = np.linspace(-3, 3, 400)[:, None]
    steps = np.linalg.norm(np.diff(layer(X), axis=0), axis=1) / np.diff(X[:, 0])
    assert steps.max() <= lipschitz(kernel, 1.3)
    assert np.linalg.norm(layer(X), axis=1).max() <= largest_value(kernel, 1.3)


def test_the_constant_of_the_squared_exponential_is_norm_over_lengthscale_and_is_reached():
    assert lipschitz(SquaredExponential(0.5), 2.0) == pytest.approx(4.0)
    a, b = np.array([[-1e-3]]), np.array([[1e-3]])
    k = KERNEL(a, b)[0, 0]
    steepest = (1 - k) * 2 / np.sqrt(2 - 2 * k) / 2e-3  # f = (k_a - k_b) scaled to norm 1
    assert steepest == pytest.approx(lipschitz(KERNEL, 1.0), rel=1e-5)


def test_kernels_without_a_constant_are_refused():
    with pytest.raises(ValueError, match="need not be Lipschitz"):
        lipschitz(Matern(1.0, nu=0.5), 1.0)


@pytest.mark.parametrize("mixings", [(np.array([[1.0, 0.5], [0.0, 1.0]]),), (np.diag([1.0, -1.0]),)])
def test_mixings_are_symmetric_and_positive_semidefinite(mixings):
    with pytest.raises(ValueError, match="symmetric and positive semidefinite"):
        OperatorKernel((KERNEL,), mixings)
