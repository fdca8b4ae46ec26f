"""Layers: norms, Lipschitz constants that hold; posteriors against dense algebra, with repeats; tables of them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.gpn_ucb.cascade_ei import _draw, _fine
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, largest_value, lipschitz, with_output
from kbrepro.papers.gpn_ucb.posterior import TABLE_POINTS, LayerPosterior, OperatorPosterior, interpolate, stencil
from kbrepro.papers.gpn_ucb.problems import independent_outputs, mixed_outputs

KERNEL = SquaredExponential(1.0)
LINE = grid(30, 1, -2, 2)


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


def test_bad_kernels_are_refused():
    with pytest.raises(ValueError, match="need not be Lipschitz"):
        lipschitz(Matern(1.0, nu=0.5), 1.0)
    for mixing in (np.array([[1.0, 0.5], [0.0, 1.0]]), np.diag([1.0, -1.0])):
        with pytest.raises(ValueError, match="symmetric and positive semidefinite"):
            OperatorKernel((KERNEL,), (mixing,))


# Posteriors


@pytest.mark.parametrize("noise_variance", [1e-7, 1e-2])
def test_the_layer_posterior_is_the_dense_one(dense, noise_variance):
    layer = draw_layer(rng(7), KERNEL, rng(8).uniform(-2, 2, (4, 1)), 2, 2.0)
    X, Z = rng(9).uniform(-2, 2, (40, 1)), np.linspace(-3, 3, 25)[:, None]
    posterior = LayerPosterior(KERNEL, Z, noise_variance, n_outputs=2)
    for x, y in zip(X, layer(X), strict=True):
        posterior.update(x, y)
    mean, variance = dense(KERNEL, X, layer(X), Z, noise_variance)
    np.testing.assert_allclose(posterior.mean, mean, atol=2e-6)
    np.testing.assert_allclose(posterior.variance, variance, atol=1e-9)
    elsewhere = np.array([[0.123], [1.7]])
    (here, sd), there = posterior.at(elsewhere), dense(KERNEL, X, layer(X), elsewhere, noise_variance)
    for found, expected in zip((here, sd**2), there, strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_the_band_holds_at_noise_variance_1e_7_and_many_repeats():
    layer = draw_layer(rng(10), KERNEL, rng(11).uniform(-5, 5, (12, 2)), 1, 2.0)
    arms = grid(20, 2, -5, 5)
    posterior = LayerPosterior(KERNEL, arms, 1e-7, 1)
    for arm in rng(12).integers(60, size=200):
        posterior.update(arms[arm], layer(arms[arm : arm + 1])[0])
    assert (np.abs(layer(arms) - posterior.mean)[:, 0] <= 2.0 * posterior.sd).all()


def test_the_operator_posterior_is_the_dense_one_and_its_band_holds(dense):
    kernel = mixed_outputs(2)
    layer = draw_layer(rng(13), kernel, rng(14).uniform(-2, 2, (5, 1)), 2, 1.0)
    X, Z = rng(15).uniform(-2, 2, (15, 1)), np.linspace(-2, 2, 11)[:, None]
    posterior = OperatorPosterior(kernel, Z, 1e-6)
    for x, y in zip(X, layer(X), strict=True):
        posterior.update(x, y)
    mean, variance = dense(kernel, with_output(X, 2), layer(X).ravel(), with_output(Z, 2), 1e-6)
    np.testing.assert_allclose(posterior.mean.ravel(), mean, atol=1e-6)
    np.testing.assert_allclose(np.einsum("pii->pi", posterior.covariance).ravel(), variance, atol=1e-8)
    there, sd = posterior.at(Z)
    np.testing.assert_allclose(there, posterior.mean, atol=1e-6)
    np.testing.assert_allclose(sd**2, posterior.sd**2, atol=1e-8)
    assert (np.linalg.norm(layer(Z) - posterior.mean, axis=1) <= posterior.sd + 1e-10).all()


def test_tables_keep_their_stated_errors():
    posterior = LayerPosterior(KERNEL, TABLE_POINTS, 1e-7, 1)
    layer = draw_layer(rng(29), KERNEL, rng(30).uniform(-2, 2, (4, 1)), 1, 2.0)
    for x in rng(31).uniform(-2, 2, (30, 1)):
        posterior.update(x, layer(x[None])[0])
    Z = rng(32).uniform(-3, 3, (500, 1))
    mean, sd = posterior.at(Z)
    found = [interpolate(column, stencil(Z[:, 0])) for column in (posterior.mean[:, 0], posterior.variance)]
    assert np.abs(found[0] - mean[:, 0]).max() <= 1e-6  # rounding of the solves, well above the 5e-9 of the cubics
    assert np.abs(found[1] - sd**2).max() <= 2e-8
    fine = _fine(posterior.mean[:, 0], posterior.variance)
    looked_up = _draw(fine, Z[:, 0].astype(np.float32), np.zeros(500, np.float32))
    assert np.abs(looked_up - mean[:, 0]).max() <= 2e-6


def test_a_posterior_without_noise_and_what_is_not_finite_are_refused():
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0 is not allowed"):
        LayerPosterior(KERNEL, LINE, 0.0, 1)
    with pytest.raises(ValueError, match="nan"):
        LayerPosterior(KERNEL, LINE, 1e-7, 1).update(LINE[3], np.array([np.nan]))
