"""Layers: norms, Lipschitz constants that hold; posteriors against dense algebra, with repeats; tables of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kbrepro.kernels import Matern, SquaredExponential
from kbrepro.papers.gpn_ucb.cascade_ei import _draw, _fine
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, largest_value, lipschitz, with_output
from kbrepro.papers.gpn_ucb.posterior import TABLE_POINTS, LayerPosterior, OperatorPosterior, interpolate, stencil

KERNEL = SquaredExponential(1.0)
KERNELS = [SquaredExponential(0.7), Matern(1.2, nu=2.5), Matern(0.8, nu=1.5), OperatorKernel(KERNEL, 2)]


def rng(*seed):
    return np.random.default_rng([57, *seed])


def conditioned(posterior, X, y):
    for x, value in zip(X, y, strict=True):
        posterior.update(x, value)
    return posterior


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KERNELS), st.integers(0, 10**6), st.floats(0.5, 3.0))
def test_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel, seed, norm):
    layer = draw_layer(rng(seed), kernel, rng(seed, 1).uniform(-2, 2, (5, 2)), 2, norm)
    X, apart, centres, weights = rng(seed, 2).uniform(-3, 3, (200, 2)), 2, layer.centres, layer.weights
    if isinstance(kernel, OperatorKernel):
        apart, centres, weights = 0, with_output(layer.centres, 2), layer.weights.reshape(-1, 1)
    np.testing.assert_allclose(np.sqrt(np.diag(weights.T @ kernel(centres, centres) @ weights)), norm, rtol=1e-6)
    values, distance = layer(X), cdist(X, X) + np.eye(200)
    steps = np.abs(values[:, None] - values[None]).max(axis=2) if apart else cdist(values, values)
    sizes = np.abs(values).max(axis=1) if apart else np.linalg.norm(values, axis=1)
    assert (steps <= lipschitz(kernel, norm) * distance + 1e-9).all() and sizes.max() <= largest_value(kernel, norm)


def test_the_constants_are_reached():
    """By k_a - k_b of norm 1 for two points close together, and by k_a."""
    for kernel in (SquaredExponential(0.5), Matern(2.0, nu=2.5), Matern(1.0, nu=1.5, variance=4.0)):
        k0, k = float(kernel.diag(np.zeros((1, 1)))[0]), kernel(np.array([[0.0]]), np.array([[1e-3]]))[0, 0]
        assert (k0 - k) * 2 / np.sqrt(2 * k0 - 2 * k) / 1e-3 == pytest.approx(lipschitz(kernel, 1.0), rel=2e-3)
        assert largest_value(kernel, 3.0) == pytest.approx(3 * np.sqrt(k0))
    with pytest.raises(ValueError, match="need not be Lipschitz"):
        lipschitz(Matern(1.0, nu=0.5), 1.0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1e-7, 1e-2]))
def test_the_layer_posterior_is_the_dense_one(dense, seed, pulls, noise_variance):
    layer = draw_layer(rng(seed), KERNEL, rng(seed, 1).uniform(-2, 2, (4, 1)), 2, 2.0)
    X, Z = rng(seed, 2).integers(-9, 10, (pulls, 1)) / 4.5, np.linspace(-3, 3, 25)[:, None]  # with repeats
    posterior = conditioned(LayerPosterior(KERNEL, Z, noise_variance, n_outputs=2), X, layer(X))
    mean, variance = dense(KERNEL, X, layer(X), Z, noise_variance)
    again, sd = posterior.at(Z)
    np.testing.assert_allclose([posterior.mean, again], [mean, mean], atol=1e-5)
    np.testing.assert_allclose([posterior.variance, sd**2], [np.maximum(variance, 0)] * 2, atol=1e-8)
    assert (np.abs(layer(Z) - posterior.mean) <= 2.0 * posterior.sd[:, None] + 1e-10).all()  # Lemma 1


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_the_operator_posterior_is_the_scalar_one_of_every_output_and_its_band_holds(dense, seed):
    """Lemma 4: the covariance is the scalar variance times I; Lemma 2, the band in Euclidean norm."""
    kernel = OperatorKernel(KERNEL, 2)
    layer = draw_layer(rng(seed), kernel, rng(seed, 1).uniform(-2, 2, (5, 1)), 2, 1.0)
    X, Z = rng(seed, 2).uniform(-2, 2, (12, 1)), np.linspace(-2, 2, 11)[:, None]
    posterior = conditioned(OperatorPosterior(kernel, Z, 1e-6), X, layer(X))
    mean, variance = dense(KERNEL, X, layer(X), Z, 1e-6)
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-5)
    np.testing.assert_allclose(posterior.sd**2, variance, atol=1e-7)
    assert (np.linalg.norm(layer(Z) - posterior.mean, axis=1) <= posterior.sd + 1e-10).all()


def test_tables_keep_their_stated_errors():
    layer = draw_layer(rng(29), KERNEL, rng(30).uniform(-2, 2, (4, 1)), 1, 2.0)
    X, Z = rng(31).uniform(-2, 2, (30, 1)), rng(32).uniform(-3, 3, (500, 1))
    posterior = conditioned(LayerPosterior(KERNEL, TABLE_POINTS, 1e-7, 1), X, layer(X))
    mean, sd = posterior.at(Z)
    at_z, variance_at_z = (interpolate(c, stencil(Z[:, 0])) for c in (posterior.mean[:, 0], posterior.variance))
    assert np.abs(at_z - mean[:, 0]).max() <= 1e-6  # rounding of the solves, well above the 5e-9 of the cubics
    assert np.abs(variance_at_z - sd**2).max() <= 2e-8
    fine, normal = _fine(posterior.mean[:, 0], posterior.variance), rng(33).standard_normal(500).astype(np.float32)
    drawn = _draw(fine, Z[:, 0].astype(np.float32), normal)
    assert np.abs(drawn - mean[:, 0] - sd * normal).max() <= 1e-3
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0 is not allowed"):
        LayerPosterior(KERNEL, Z, 0.0, 1)
    with pytest.raises(ValueError, match="nan"):
        posterior.update(np.zeros(1), np.array([np.nan]))
