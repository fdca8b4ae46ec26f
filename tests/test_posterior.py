"""Both forms of the posterior against dense solves, scikit-learn and each other."""

import numpy as np
import pytest
from dense import dense_posterior
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from kbrepro.kernels import Empirical, Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.posterior import CovariancePosterior, RowPosterior, exact_posterior

FORMS = [RowPosterior, CovariancePosterior]
NOISE = 0.025
EMPIRICAL = Empirical(np.cov(np.random.default_rng(4).standard_normal((40, 12)), rowvar=False))
SETTINGS = [
    (SquaredExponential(0.2, variance=1.3), grid(50)),
    (Matern(0.3, nu=1.5), grid(7, 2)),
    (Linear(), np.random.default_rng(5).standard_normal((40, 4))),
    (Independent(2.0), grid(20)),
    (EMPIRICAL, EMPIRICAL.points),
]
NAMES = ["squared exponential", "matern", "linear", "independent", "empirical"]

both_forms = pytest.mark.parametrize("form", FORMS)
every_kernel = pytest.mark.parametrize(("kernel", "points"), SETTINGS, ids=NAMES)


def after(posterior, history):
    for arm, observation in history:
        posterior.update(arm, observation)
    return posterior


@every_kernel
def test_three_thousand_pulls_with_repeats_match_a_dense_solve_and_each_other(kernel, points):
    rng = np.random.default_rng(6)
    K, forms = kernel(points, points), [form(kernel, points, NOISE) for form in FORMS]
    arms, observations = (len(points) * rng.random(3000) ** 2).astype(int), rng.normal(0.5, 1.0, 3000)
    for t, (arm, observation) in enumerate(zip(arms, observations, strict=True), start=1):
        for posterior in forms:
            posterior.update(arm, observation)
        if t in (1, 2, 30, 300, 3000):
            mean, covariance = dense_posterior(kernel, points, NOISE, arms[:t], observations[:t])
            for posterior in forms:
                np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-9)
                np.testing.assert_allclose(posterior.variance, covariance.diagonal(), rtol=0, atol=1e-10)
                np.testing.assert_array_equal(posterior.counts, np.bincount(arms[:t], minlength=len(points)))
    rows, covariance = forms
    np.testing.assert_allclose(rows.mean, covariance.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(rows.variance, covariance.variance, rtol=0, atol=1e-11)
    assert rows.gain == pytest.approx(covariance.gain, rel=1e-11)
    np.testing.assert_array_equal(kernel(points, points), K)  # a given covariance is not written to


@both_forms
@pytest.mark.parametrize("noise_variance", [0.01, 0.5])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential(0.2), sk.RBF(0.2)),
        (Matern(0.3, nu=2.5, variance=2.0), 2.0 * sk.Matern(0.3, nu=2.5)),
        (Linear(), sk.DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")),
    ],
    ids=["squared exponential", "matern", "linear"],
)
def test_scikit_learn_agrees(form, ours, theirs, noise_variance):
    rng = np.random.default_rng(7)
    points = rng.uniform(-1, 1, (40, 2))
    history = [(int(rng.integers(40)), rng.standard_normal()) for _ in range(150)]
    posterior = after(form(ours, points, noise_variance), history)
    pulled, observed = map(np.array, zip(*history, strict=True))
    regressor = GaussianProcessRegressor(theirs, optimizer=None, alpha=noise_variance).fit(points[pulled], observed)
    mean, sd = regressor.predict(points, return_std=True)
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.sd, sd, rtol=0, atol=1e-8)


def test_the_factory_picks_rows_up_to_one_and_a_half_pulls_an_arm():
    kernel, points = SquaredExponential(0.2), grid(40)
    assert type(exact_posterior(kernel, points, NOISE, 60)) is RowPosterior
    assert type(exact_posterior(kernel, points, NOISE, 61)) is CovariancePosterior
    for name, its in (("horizon", (NOISE, 0)), ("noise_variance", (0.0, 5)), ("noise_variance", (np.nan, 5))):
        with pytest.raises(ValueError, match=f"{name} = "):
            exact_posterior(kernel, points, *its)


@both_forms
def test_variance_is_not_negative_where_noise_is_tiny(form):
    posterior = after(form(SquaredExponential(1.0), grid(30), 1e-12), [(arm % 30, 0.0) for arm in range(200)])
    assert (posterior.variance >= 0).all() and np.isfinite(posterior.sd).all()
    assert posterior.variance.max() < 1e-9
