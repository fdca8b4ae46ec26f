"""Fitted lengthscales, variance and noise against scikit-learn's likelihood and optimum."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import kbrepro as kb
from kbrepro.posterior import likelihood

POINTS = kb.grid(12, 2)
KERNELS = {
    "Matérn": (kb.Matern(0.4, nu=2.5), partial(sk.Matern, nu=2.5)),
    "squared exponential": (kb.SquaredExponential(0.4), sk.RBF),
    "one for each axis": (kb.Matern((0.2, 0.8), nu=1.5), partial(sk.Matern, nu=1.5)),
}


def pulls(kernel, n=100, noise_variance=0.04, seed=1):
    """Arms (n,), with repeats, and rewards (n,) of a function drawn from a GP of variance 2."""
    rng = np.random.default_rng(seed)
    problem = kb.GPDraw(replace(kernel, variance=2.0), POINTS, noise_variance)(kb.Trial(seed, 0))
    arms = rng.integers(len(POINTS), size=n)
    return arms, np.array([problem.pull(arm, rng) for arm in arms])


def theirs(name, lengthscale, variance, noise_variance):
    kernel = sk.ConstantKernel(variance, (1e-4, 1e4)) * KERNELS[name][1](lengthscale)
    return kernel + sk.WhiteKernel(noise_variance, (1e-4, 1e2))


@pytest.mark.parametrize("name", KERNELS)
def test_the_likelihood_is_scikit_learns(name):
    kernel, (arms, y) = KERNELS[name][0], pulls(KERNELS[name][0], 60)
    regressor = GaussianProcessRegressor(theirs(name, kernel.lengthscale, 1.0, 0.1), alpha=0.0, optimizer=None)
    regressor.fit(POINTS[arms], y)
    ours = likelihood.log_likelihood(kernel, 0.1, POINTS[arms], y)
    assert ours == pytest.approx(regressor.log_marginal_likelihood(regressor.kernel_.theta), rel=1e-10)


@pytest.mark.parametrize("name", ["Matérn", "one for each axis"])
def test_the_optimum_is_scikit_learns_where_data_outweigh_the_prior_and_the_penalised_one(name):
    kernel, (arms, y) = KERNELS[name][0], pulls(KERNELS[name][0])
    model = kb.Model(POINTS, kernel, 1.0, norm=3.0).fit(arms, y)
    regressor = GaussianProcessRegressor(theirs(name, kernel.lengthscale, 1.0, 0.1), alpha=0.0, n_restarts_optimizer=3)
    regressor.fit(POINTS[arms], y)
    variance, *lengthscale, noise_variance = np.exp(regressor.kernel_.theta)
    np.testing.assert_allclose(np.log(model.noise_variance / noise_variance), 0, atol=0.05)
    np.testing.assert_allclose(np.log(np.atleast_1d(model.kernel.lengthscale) / lengthscale), 0, atol=0.25)
    assert abs(np.log(model.kernel.variance / variance)) < 0.6
    assert (model.norm, model.noise_scale) == (None, np.sqrt(model.noise_variance)) and model.points.shape == (144, 2)

    def penalised(logs):
        """scikit-learn's likelihood less the prior: logs of lengthscales, variance, noise."""
        order = np.r_[logs[-2], logs[:-2], logs[-1]]
        square = np.log(np.mean(y**2))
        centre = np.r_[np.full(len(logs) - 2, np.log(0.3)), square, square + np.log(0.1)]
        sds = np.r_[np.ones(len(logs) - 2), 1.5, 2.0]
        return (((logs - centre) / sds) ** 2).sum() / 2 - regressor.log_marginal_likelihood(order)

    ours = np.log([*np.atleast_1d(model.kernel.lengthscale), model.kernel.variance, model.noise_variance])
    best = minimize(penalised, ours + 0.1, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8}).fun
    assert penalised(ours) == pytest.approx(best, abs=1e-4)


def test_it_is_the_same_in_any_unit_and_with_any_offset():
    kernel, (arms, y) = KERNELS["Matérn"][0], pulls(KERNELS["Matérn"][0], 60)
    plain = kb.Model(POINTS, kernel, 1.0).fit(arms, y)
    other = kb.Model(1e3 * POINTS, kernel, 1.0, mean=7e5).fit(arms, 1e6 * y + 7e5)
    assert other.kernel.lengthscale == pytest.approx(1e3 * plain.kernel.lengthscale, rel=1e-3)
    assert other.kernel.variance == pytest.approx(1e12 * plain.kernel.variance, rel=1e-3)
    assert other.noise_variance == pytest.approx(1e12 * plain.noise_variance, rel=1e-3)


def test_bounds_hold_and_equal_ones_keep_a_value():
    arms, y = pulls(KERNELS["Matérn"][0], 60)
    model = kb.Model(POINTS, kb.Matern((0.3, 0.3), nu=2.5), 1.0)
    fit = model.fit(arms, y, bounds={"noise_variance": (0.3, 0.3), "lengthscale": (0.01, 0.1)})
    assert fit.noise_variance == pytest.approx(0.3) and max(fit.kernel.lengthscale) <= 0.1 + 1e-9
    held = model.fit(arms, y, bounds={"lengthscale": [(0.01, 0.1), (1.0, 1.0)]}).kernel.lengthscale  # one for each axis
    assert held[0] <= 0.1 + 1e-9 and held[1] == pytest.approx(1.0)


def test_the_mean_is_kept():
    arms, y = pulls(KERNELS["Matérn"][0], 60)
    fit = kb.Model(POINTS, KERNELS["Matérn"][0], 1.0, mean=3.0).fit(arms, y)
    assert fit.mean == 3.0 and "The mean is not fitted" in fit.fit.__doc__


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({}, {"rewards": [1.0, np.nan]}, r"rewards\[1\] = nan is not allowed"),
        ({}, {"rewards": [1.0]}, r"rewards has shape \(1,\): it must be \(2,\), one for each arm"),
        ({"mean": 1.0}, {"rewards": [1.0, 1.0]}, "mean square of rewards - mean = 0.0 is not allowed"),
        ({}, {"bounds": {"length": (1, 2)}}, "bounds = .* is not allowed: bounds must be a mapping"),
        ({}, {"bounds": {"variance": (2, 1)}}, r"bounds\['variance'\] = \(2, 1\) is not allowed: .* low <= high"),
        ({}, {"bounds": {"lengthscale": [(1, 2), (1, 2)]}}, "bounds.* not allowed: .* one pair for each lengthscale"),
        (
            {"kernel": kb.Linear()},
            {},
            "kernel = Linear.* is not allowed: kernel must be one with lengthscale and variance",
        ),
    ],
)
def test_bad_input_is_named(change, given, message):
    model = kb.Model(**{"points": POINTS, "kernel": kb.Matern(0.3, nu=2.5), "noise_variance": 0.1} | change)
    with pytest.raises((ValueError, IndexError), match=message):
        model.fit(**{"arms": [0, 1], "rewards": [1.0, 2.0]} | given)


@pytest.mark.parametrize("kernel", [kb.Matern, kb.SquaredExponential])
def test_a_lengthscale_for_each_axis_is_that_of_divided_points(kernel):
    given = {"nu": 2.5} if kernel is kb.Matern else {}
    X, Z = np.random.default_rng(2).random((2, 9, 3))
    scales = np.array([0.2, 1.0, 5.0])
    np.testing.assert_allclose(kernel(scales, **given)(X, Z), kernel(1.0, **given)(X / scales, Z / scales), rtol=1e-12)
    assert kernel([0.2, 0.2], **given) == kernel((0.2, 0.2), **given)
    with pytest.raises(ValueError, match=r"lengthscale = .* is not allowed: .* one for each of 3"):
        kb.Model(X, kernel((1.0, 2.0), **given), 0.1)
    with pytest.raises(ValueError, match=r"lengthscale = -1\.0 is not allowed"):
        kernel((1.0, -1.0), **given)
