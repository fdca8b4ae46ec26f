"""Posteriors of layers against dense algebra, at noise variance 1e-7 and with repeats, and tables of them."""

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.layers import draw_layer, with_output
from kbrepro.papers.gpn_ucb.posterior import TABLE_POINTS, LayerPosterior, OperatorPosterior, interpolate, stencil
from kbrepro.papers.gpn_ucb.problems import mixed_outputs

KERNEL = SquaredExponential(1.0)
LINE = grid(30, 1, -2, 2)


def rng(*seed):
    return np.random.default_rng([57, *seed])


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


def test_a_posterior_without_noise_and_what_is_not_finite_are_refused():
    with pytest.raises(ValueError, match=r"noise_variance = 0\.0 is not allowed"):
        LayerPosterior(KERNEL, LINE, 0.0, 1)
    with pytest.raises(ValueError, match="nan"):
        LayerPosterior(KERNEL, LINE, 1e-7, 1).update(LINE[3], np.array([np.nan]))
