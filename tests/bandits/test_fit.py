"""Fitted lengthscales, variance and noise against scikit-learn's likelihood and optimum."""

from dataclasses import replace
from functools import partial

import numpy as np
import psutil
import pytest
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import kbrepro as kb
from kbrepro.bandits.posterior import likelihood

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
    regressor = GaussianProcessRegressor(
        theirs(name, kernel.lengthscale, 1.0, 0.1), alpha=0.0, optimizer=None
    )
    regressor.fit(POINTS[arms], y)
    ours = likelihood.log_likelihood(kernel, 0.1, likelihood.pulls_of(POINTS[arms], y, np.ones(60)))
    assert ours == pytest.approx(
        regressor.log_marginal_likelihood(regressor.kernel_.theta), rel=1e-10
    )


@pytest.mark.parametrize("name", ["Matérn", "one for each axis"])
def test_the_optimum_is_scikit_learns_where_data_outweigh_the_prior_and_the_penalised_one(name):
    kernel, (arms, y) = KERNELS[name][0], pulls(KERNELS[name][0])
    model = kb.Model(POINTS, kernel, 1.0, norm=3.0).fit(arms, y)
    regressor = GaussianProcessRegressor(
        theirs(name, kernel.lengthscale, 1.0, 0.1), alpha=0.0, n_restarts_optimizer=3
    )
    regressor.fit(POINTS[arms], y)
    variance, *lengthscale, noise_variance = np.exp(regressor.kernel_.theta)
    np.testing.assert_allclose(np.log(model.noise_variance / noise_variance), 0, atol=0.05)
    np.testing.assert_allclose(
        np.log(np.atleast_1d(model.kernel.lengthscale) / lengthscale), 0, atol=0.25
    )
    assert abs(np.log(model.kernel.variance / variance)) < 0.6
    assert (model.norm, model.noise_scale) == (
        None,
        np.sqrt(model.noise_variance),
    ) and model.points.shape == (144, 2)

    def penalised(logs):
        """scikit-learn's likelihood less the prior: logs of lengthscales, variance, noise."""
        order = np.r_[logs[-2], logs[:-2], logs[-1]]
        square = np.log(np.mean(y**2))
        centre = np.r_[np.full(len(logs) - 2, np.log(0.3)), square, square + np.log(0.1)]
        sds = np.r_[np.ones(len(logs) - 2), 1.5, 2.0]
        return (((logs - centre) / sds) ** 2).sum() / 2 - regressor.log_marginal_likelihood(order)

    ours = np.log(
        [*np.atleast_1d(model.kernel.lengthscale), model.kernel.variance, model.noise_variance]
    )
    best = minimize(
        penalised, ours + 0.1, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8}
    ).fun
    assert penalised(ours) == pytest.approx(best, abs=1e-4)


def repeated(known):
    """Points of which two arms share one, 90 pulls of 15 arms, rewards, and variances in units of
    the noise.
    """
    rng, points = np.random.default_rng(4), POINTS.copy()
    arms = rng.choice(len(points), 15, replace=False)[rng.integers(0, 15, 90)]
    points[arms[0]] = points[arms[1]]
    variances = np.where(np.arange(90) % 2, 0.4, 1e-3) if known else np.ones(90)
    return (
        points,
        arms,
        np.sin(6 * points[arms, 0]) + np.sqrt(variances) * 0.5 * rng.standard_normal(90),
        variances,
    )


def of_all_rewards(points, arms, y, variances, logs):
    """The log likelihood by the n x n matrix, at the logs of lengthscale, variance, and noise in
    units of variances.
    """
    K = kb.Matern(np.exp(logs[0]), nu=2.5, variance=np.exp(logs[1]))(points[arms], points[arms])
    K += np.diag(np.exp(logs[2]) * variances)
    return -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1] + len(y) * np.log(2 * np.pi))


@pytest.mark.parametrize("known", [False, True], ids=["one noise", "a variance each"])
def test_distinct_points_have_the_likelihood_of_all_rewards(known):
    points, arms, y, variances = repeated(known)
    pulls = likelihood.pulls_of(points[arms], y, 1 / variances)
    assert len(pulls.mean) == 14
    for lengthscale, variance, noise in [(0.3, 1.0, 0.25), (0.05, 4.0, 1e-3), (2.0, 0.5, 3.0)]:
        ours = likelihood.log_likelihood(
            kb.Matern(lengthscale, nu=2.5, variance=variance), noise, pulls
        )
        theirs = of_all_rewards(points, arms, y, variances, np.log([lengthscale, variance, noise]))
        assert ours == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("known", [False, True], ids=["one noise", "a variance each"])
def test_the_optimum_is_that_of_all_rewards_and_known_noise_is_not_fitted(known):
    points, arms, y, variances = repeated(known)
    given = {"noise_variance": 0.25 * variances} if known else {}
    model = kb.Model(points, kb.Matern(0.5, nu=2.5), 0.7).fit(arms, y, **given)
    spans, square = np.log(0.3 * np.ptp(points, axis=0).max()), np.log(np.mean(y**2))

    def loss(logs):
        logs = np.r_[logs, np.log(0.25)] if known else logs
        off = (logs - np.array([spans, square, square + np.log(0.1)])) / [1.0, 1.5, 2.0]
        return (off[:2] @ off[:2] + (0 if known else off[2] ** 2)) / 2 - of_all_rewards(
            points, arms, y, variances, logs
        )

    ours = np.log([model.kernel.lengthscale, model.kernel.variance, model.noise_variance])[
        : 3 - known
    ]
    best = minimize(loss, ours + 0.3, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    assert loss(ours) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(ours, best.x, atol=5e-3)
    if known:
        assert (model.noise_variance, model.noise_scale) == (0.7, np.sqrt(0.7))


class Seen(kb.Matern):
    """Remembers the largest number of points that it was called with."""

    most = 0

    def __call__(self, X, Z):
        Seen.most = max(Seen.most, len(X))
        return super().__call__(X, Z)


def test_the_cost_is_that_of_the_distinct_points():
    arms = np.random.default_rng(0).integers(0, 20, 600)
    model = kb.Model(kb.grid(20), Seen(0.2, nu=2.5), 0.01)
    Seen.most = 0
    model.fit(
        arms,
        np.sin(6 * model.points[arms, 0]) + 0.1 * np.random.default_rng(1).standard_normal(600),
    )
    assert Seen.most == 20


def test_a_value_that_ends_at_a_bound_or_does_not_move_is_told_in_one_line():
    model, y = kb.Model(kb.grid(30), kb.Matern(0.2, nu=2.5), 0.01), np.sin(6 * kb.grid(30)[:, 0])
    with pytest.warns(UserWarning, match=r"^fit: noise_variance = 0\.01 ended at a bound$") as said:
        model.fit(range(30), y, bounds={"noise_variance": (0.01, 1.0)})
    assert len(said) == 1 and said[0].filename == __file__
    told = "fit: lengthscale = 0.3 did not move, as the rewards do not depend on it"
    with pytest.warns(UserWarning, match=rf"^{told}$"):
        model.fit([3, 3, 3], [1.0, 1.2, 0.7])
    model.fit(range(30), y, bounds={"noise_variance": (0.01, 0.01)})  # which is held: no warning


@pytest.mark.parametrize(
    "noise", [{"bounds": {"noise_variance": (1e-18, 1e-18)}}, {"noise_variance": 1e-18}]
)
def test_too_little_noise_for_a_fit_is_refused_with_the_least_that_is_allowed(noise):
    told = (
        r"noise_variance = 1e-18 of the mean .* not allowed in a fit: it must be at least"
        r" \d\.\d+e-15 for 30 arms"
    )
    with pytest.raises(ValueError, match=told):
        kb.Model(kb.grid(30), kb.SquaredExponential(0.2), 0.01).fit(
            range(30), np.sin(6 * kb.grid(30)[:, 0]), **noise
        )


def test_a_fit_that_does_not_fit_is_refused_in_gigabytes(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Free", (), {"available": 2e4}))
    model = kb.Model(kb.grid(30), kb.Matern(0.2, nu=2.5), 0.01)
    rewards = np.random.default_rng(0).standard_normal(900)
    model.fit(np.arange(900) % 15, rewards)
    told = (
        r"arms: a fit of 30 arms needs 4.32e-05 GB .* 2e-05 GB are free: what fits is up to 20 arms"
    )
    with pytest.raises(MemoryError, match=told):
        model.fit(range(30), np.arange(30.0))


def test_it_is_the_same_in_any_unit_and_with_any_offset():
    kernel, (arms, y) = KERNELS["Matérn"][0], pulls(KERNELS["Matérn"][0], 60)
    plain = kb.Model(POINTS, kernel, 1.0).fit(arms, y)
    wide = replace(kernel, lengthscale=1e3 * kernel.lengthscale)
    other = kb.Model(1e3 * POINTS, wide, 1.0, mean=7e5).fit(arms, 1e6 * y + 7e5)
    assert other.kernel.lengthscale == pytest.approx(1e3 * plain.kernel.lengthscale, rel=1e-3)
    assert other.kernel.variance == pytest.approx(1e12 * plain.kernel.variance, rel=1e-3)
    assert other.noise_variance == pytest.approx(1e12 * plain.noise_variance, rel=1e-3)


def test_bounds_hold_and_equal_ones_keep_a_value():
    arms, y = pulls(KERNELS["Matérn"][0], 60)
    model = kb.Model(POINTS, kb.Matern((0.3, 0.3), nu=2.5), 1.0)
    with pytest.warns(UserWarning, match=r"^fit: (lengthscale = 0\.1 ended at a bound(; )?){2}$"):
        fit = model.fit(arms, y, bounds={"noise_variance": (0.3, 0.3), "lengthscale": (0.01, 0.1)})
    assert fit.noise_variance == pytest.approx(0.3) and max(fit.kernel.lengthscale) <= 0.1 + 1e-9
    # one pair for each axis
    with pytest.warns(UserWarning, match="^fit: lengthscale = 0.1 ended at a bound$"):
        held = model.fit(
            arms, y, bounds={"lengthscale": [(0.01, 0.1), (1.0, 1.0)]}
        ).kernel.lengthscale
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
        (
            {"mean": 1.0},
            {"rewards": [1.0, 1.0]},
            "mean square of rewards - mean = 0.0 is not allowed",
        ),
        (
            {},
            {"noise_variance": [0.1, 0.0]},
            r"noise_variance\[1\] = 0.0 is not allowed: .* above 0",
        ),
        ({}, {"noise_variance": [0.1]}, r"noise_variance has shape \(1,\): .* or \(2,\)"),
        (
            {},
            {"noise_variance": 0.1, "bounds": {"noise_variance": (1, 2)}},
            "bounds = .* is not allowed: .* with names of lengthscale, variance$",
        ),
        (
            {},
            {"bounds": {"length": (1, 2)}},
            "bounds = .* is not allowed: bounds must be a mapping",
        ),
        (
            {},
            {"bounds": {"variance": (2, 1)}},
            r"bounds\['variance'\] = \(2, 1\) is not allowed: .* low <= high",
        ),
        (
            {},
            {"bounds": {"lengthscale": [(1, 2), (1, 2)]}},
            "bounds.* not allowed: .* one pair for each lengthscale",
        ),
        (
            {"kernel": kb.Linear()},
            {},
            "kernel = Linear.* is not allowed: kernel must be one with lengthscale and variance",
        ),
    ],
)
def test_bad_input_is_named(change, given, message):
    model = kb.Model(
        **{"points": POINTS, "kernel": kb.Matern(0.3, nu=2.5), "noise_variance": 0.1} | change
    )
    with pytest.raises((ValueError, IndexError), match=message):
        model.fit(**{"arms": [0, 1], "rewards": [1.0, 2.0]} | given)


@pytest.mark.parametrize("kernel", [kb.Matern, kb.SquaredExponential])
def test_a_lengthscale_for_each_axis_is_that_of_divided_points(kernel):
    given = {"nu": 2.5} if kernel is kb.Matern else {}
    X, Z = np.random.default_rng(2).random((2, 9, 3))
    scales = np.array([0.2, 1.0, 5.0])
    np.testing.assert_allclose(
        kernel(scales, **given)(X, Z), kernel(1.0, **given)(X / scales, Z / scales), rtol=1e-12
    )
    assert kernel([0.2, 0.2], **given) == kernel((0.2, 0.2), **given)
    with pytest.raises(ValueError, match=r"lengthscale = .* is not allowed: .* one for each of 3"):
        kb.Model(X, kernel((1.0, 2.0), **given), 0.1)
    with pytest.raises(ValueError, match=r"lengthscale = -1\.0 is not allowed"):
        kernel((1.0, -1.0), **given)
