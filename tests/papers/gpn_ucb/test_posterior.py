"""Layers: norms, Lipschitz constants that hold; posteriors against dense algebra, with repeats;
tables of them.
"""

import numpy as np
import pytest
from dense import dense_at
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kbrepro.bandits.kernels import Matern, SquaredExponential
from kbrepro.papers.gpn_ucb.cascade_ei import _draw, _fine
from kbrepro.papers.gpn_ucb.posterior import TABLE_POINTS, LayerPosterior, interpolate, stencil
from kbrepro.papers.gpn_ucb.problems import KERNEL, draw_layer, lipschitz

KERNELS = [SquaredExponential(0.7), Matern(1.2, nu=2.5), Matern(0.8, nu=1.5)]


def rng(*seed):
    return np.random.default_rng([57, *seed])


def drawn(seed, norm=2.0, whole=False, kernel=KERNEL, d=1):
    """A layer with two outputs, and its centres."""
    centres = rng(seed, 1).uniform(-2, 2, (4, d))
    return draw_layer(rng(seed), kernel, centres, 2, norm, whole), centres


def conditioned(posterior, X, y):
    for x, value in zip(X, y, strict=True):
        posterior.update(x, value)
    return posterior


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KERNELS), st.integers(0, 10**6), st.floats(0.5, 3.0), st.booleans())
def test_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel, seed, norm, whole):
    layer, centres = drawn(seed, norm, whole, kernel, 2)
    values = layer(centres)
    squared = np.einsum("in,in->n", values, np.linalg.solve(kernel(centres, centres), values))
    np.testing.assert_allclose(np.sqrt(squared.sum() if whole else squared), norm, rtol=1e-5)
    X = rng(seed, 2).uniform(-3, 3, (200, 2))
    values, distance = layer(X), cdist(X, X)
    steps = cdist(values, values) if whole else np.abs(values[:, None] - values[None]).max(axis=2)
    assert (steps <= lipschitz(kernel, norm) * distance + 1e-9).all() and np.abs(
        values
    ).max() <= norm


def test_the_constants_are_reached():
    """By k_a - k_b of norm 1 for two points close together."""
    for kernel in (SquaredExponential(0.5), Matern(2.0, nu=2.5), Matern(1.0, nu=1.5, variance=4.0)):
        k0, k = kernel.variance, kernel(np.array([[0.0]]), np.array([[1e-3]]))[0, 0]
        assert (k0 - k) * 2 / np.sqrt(2 * k0 - 2 * k) / 1e-3 == pytest.approx(
            lipschitz(kernel, 1.0), rel=2e-3
        )
    with pytest.raises(ValueError, match="need not be Lipschitz"):
        lipschitz(Matern(1.0, nu=0.5), 1.0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1e-7, 1e-2]))
def test_the_layer_posterior_is_the_dense_one(seed, pulls, noise_variance):
    layer, _ = drawn(seed)
    # with repeats
    X, Z = (rng(seed, 2).integers(-9, 10, (pulls, 1)) / 4.5, np.linspace(-3, 3, 25)[:, None])
    posterior = conditioned(LayerPosterior(KERNEL, Z, 2, noise_variance), X, layer(X))
    mean, variance = dense_at(KERNEL, X, layer(X), Z, noise_variance)
    again, sd = posterior.at(Z)
    np.testing.assert_allclose([posterior.mean, again], [mean, mean], atol=1e-5)
    np.testing.assert_allclose(
        [posterior.variance, sd**2], [np.maximum(variance, 0)] * 2, atol=1e-8
    )
    # Lemma 1
    assert (np.abs(layer(Z) - posterior.mean) <= 2.0 * posterior.sd[:, None] + 1e-10).all()


def test_one_vector_valued_function_has_the_posterior_of_its_outputs_and_its_band_holds():
    """Lemma 4: with k I the covariance of the outputs is the scalar variance times I; Lemma 2: the
    Euclidean band.
    """
    for seed in range(10):
        layer, _ = drawn(seed, norm=1.0, whole=True)
        X, Z, eye = rng(seed, 2).uniform(-2, 2, (12, 1)), np.linspace(-2, 2, 11)[:, None], np.eye(2)
        posterior = conditioned(LayerPosterior(KERNEL, Z, 2, 1e-6), X, layer(X))
        K, cross = np.kron(KERNEL(X, X) + 1e-6 * np.eye(12), eye), np.kron(KERNEL(Z, X), eye)
        np.testing.assert_allclose(
            posterior.mean.ravel(), cross @ np.linalg.solve(K, layer(X).ravel()), atol=1e-5
        )
        covariance = np.kron(KERNEL(Z, Z), eye) - cross @ np.linalg.solve(K, cross.T)
        blocks = np.einsum("ikil->ikl", covariance.reshape(11, 2, 11, 2))
        np.testing.assert_allclose(blocks, np.multiply.outer(posterior.variance, eye), atol=1e-7)
        assert (np.linalg.norm(layer(Z) - posterior.mean, axis=1) <= posterior.sd + 1e-10).all()


def test_tables_keep_their_stated_errors():
    layer, _ = drawn(29)
    X, Z = rng(31).uniform(-2, 2, (30, 1)), rng(32).uniform(-3, 3, (500, 1))
    posterior = conditioned(LayerPosterior(KERNEL, TABLE_POINTS, 2), X, layer(X))
    mean, sd = posterior.at(Z)
    at_z, variance_at_z = (
        interpolate(c, stencil(Z[:, 0])) for c in (posterior.mean[:, 0], posterior.variance)
    )
    # rounding of the solves, well above the 5e-9 of the cubics
    assert np.abs(at_z - mean[:, 0]).max() <= 1e-6
    assert np.abs(variance_at_z - sd**2).max() <= 2e-8
    fine, normal = (
        _fine(posterior.mean[:, 0], posterior.variance),
        rng(33).standard_normal(500).astype(np.float32),
    )
    random = _draw(fine, Z[:, 0].astype(np.float32), normal)
    assert np.abs(random - mean[:, 0] - sd * normal).max() <= 1e-3
    with pytest.raises(ValueError, match="nan"):
        posterior.update(np.zeros(1), np.array([np.nan, 0.0]))
