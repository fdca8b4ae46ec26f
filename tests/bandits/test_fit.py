"""Fitted lengthscales, variance and noise against the likelihood of all rewards, written out."""

import memory
import numpy as np
import pytest
from scipy.optimize import minimize

import kbrepro as kb

POINTS = kb.grid(12, 2)


# The likelihood and the optimum of all rewards, written out


def repeated(noise_is_known):
    """Points of which two arms share one, 90 pulls of 15 arms, rewards, and variances in units of
    the noise.
    """
    rng, points = np.random.default_rng(4), POINTS.copy()
    arms = rng.choice(len(points), 15, replace=False)[rng.integers(0, 15, 90)]
    points[arms[0]] = points[arms[1]]
    variances = np.where(np.arange(90) % 2, 0.4, 1e-3) if noise_is_known else np.ones(90)
    noise = 0.5 * np.sqrt(variances) * rng.standard_normal(90)
    return points, arms, np.sin(points[arms] @ [6.0, 3.0]) + noise, variances


def of_all_rewards(points, arms, y, variances, logs):
    """The log likelihood by the n x n matrix, at the logs of one lengthscale or one for each axis,
    variance, and noise in units of variances.
    """
    *lengthscales, variance, noise = np.exp(logs)
    X = points[arms] / np.array(lengthscales)
    r = np.sqrt(5) * np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    K = variance * (1 + r + r**2 / 3) * np.exp(-r) + np.diag(noise * variances)
    return -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1] + len(y) * np.log(2 * np.pi))


@pytest.mark.parametrize(
    ("lengthscale", "noise_is_known"), [(0.5, False), (0.5, True), ((0.5, 0.5), False)], ids=str
)
def test_the_optimum_is_that_of_all_rewards_and_known_noise_is_not_fitted(
    lengthscale, noise_is_known
):
    points, arms, y, variances = repeated(noise_is_known)
    kernel = kb.Matern(lengthscale, nu=2.5)
    noise_variances = 0.25 * variances if noise_is_known else None
    model = kb.Model(points, kernel, 0.7, norm=3.0).fit(arms, y, noise_variances)
    scales, square = np.ravel(model.kernel.lengthscale), np.log(np.mean(y**2))
    fixed = [np.log(0.25)] if noise_is_known else []
    centre = np.r_[np.full(len(scales), np.log(0.3)), square, square + np.log(0.1)]
    sds = np.r_[np.ones(len(scales)), 1.5, 2.0]

    def loss(logs):
        off = (logs - centre[: len(logs)]) / sds[: len(logs)]
        return off @ off / 2 - of_all_rewards(points, arms, y, variances, np.r_[logs, fixed])

    ours = np.log(
        [*scales, model.kernel.variance, model.noise_variance][: len(sds) - noise_is_known]
    )
    best = minimize(loss, ours + 0.3, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    assert loss(ours) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(ours, best.x, atol=5e-3)
    assert model.norm is None and model.noise_scale == np.sqrt(model.noise_variance)
    assert model.noise_variance == 0.7 or not noise_is_known


def test_a_value_that_ends_at_a_bound_or_does_not_move_is_told_in_one_line():
    model, y = kb.Model(kb.grid(30), kb.Matern(0.2, nu=2.5), 0.01), np.sin(6 * kb.grid(30)[:, 0])
    with pytest.warns(
        UserWarning, match=r"^fit: noise_variance = 0\.01 ended at a bound$"
    ) as warned:
        model.fit(range(30), y, bounds={"noise_variance": (0.01, 1.0)})
    assert len(warned) == 1 and warned[0].filename == __file__
    words = "fit: lengthscale = 0.3 did not change, as the likelihood does not depend on it"
    with pytest.warns(UserWarning, match=rf"^{words}$"):
        model.fit([3, 3, 3], [1.0, 1.2, 0.7])
    model.fit(range(30), y, bounds={"noise_variance": (0.01, 0.01)})  # which is held: no warning


@pytest.mark.parametrize(
    "noise", [{"bounds": {"noise_variance": (1e-18, 1e-18)}}, {"noise_variance": 1e-18}]
)
def test_too_little_noise_for_a_fit_is_refused_with_the_least_that_is_allowed(noise):
    words = (
        r"noise_variance = 1e-18 of the mean .* not allowed in a fit: it must be at least"
        r" \d\.\d+e-15 for 30 arms"
    )
    with pytest.raises(ValueError, match=words):
        kb.Model(kb.grid(30), kb.SquaredExponential(0.2), 0.01).fit(
            range(30), np.sin(6 * kb.grid(30)[:, 0]), **noise
        )


def test_a_fit_that_does_not_fit_is_refused_in_gigabytes(monkeypatch):
    memory.leave(monkeypatch, 2e4)
    model = kb.Model(kb.grid(30), kb.Matern(0.2, nu=2.5), 0.01)
    rewards = np.random.default_rng(0).standard_normal(900)
    model.fit(np.arange(900) % 15, rewards)
    words = (
        r"arms: a fit of 30 arms needs 4.32e-05 GB .* 2e-05 GB are free: what fits is up to 20 arms"
    )
    with pytest.raises(MemoryError, match=words):
        model.fit(range(30), np.arange(30.0))


def test_it_is_the_same_in_any_unit_and_with_any_offset():
    points, arms, y, _ = repeated(noise_is_known=False)
    plain = kb.Model(points, kb.Matern(0.4, nu=2.5), 1.0).fit(arms, y)
    wide = kb.Model(1e3 * points, kb.Matern(400.0, nu=2.5), 1.0, mean=7e5)
    other = wide.fit(arms, 1e6 * y + 7e5)
    assert other.kernel.lengthscale == pytest.approx(1e3 * plain.kernel.lengthscale, rel=1e-3)
    assert other.kernel.variance == pytest.approx(1e12 * plain.kernel.variance, rel=1e-3)
    assert other.noise_variance == pytest.approx(1e12 * plain.noise_variance, rel=1e-3)
    assert other.mean == 7e5  # it is not fitted


def test_bounds_hold_and_equal_ones_keep_a_value():
    points, arms, y, _ = repeated(noise_is_known=False)
    model = kb.Model(points, kb.Matern((0.3, 0.3), nu=2.5), 1.0)
    with pytest.warns(UserWarning, match=r"^fit: (lengthscale = 0\.1 ended at a bound(; )?){2}$"):
        fit = model.fit(arms, y, bounds={"noise_variance": (0.3, 0.3), "lengthscale": (0.01, 0.1)})
    assert fit.noise_variance == pytest.approx(0.3) and max(fit.kernel.lengthscale) <= 0.1 + 1e-9
    # one pair for each axis
    with pytest.warns(UserWarning, match="^fit: lengthscale = 0.1 ended at a bound$"):
        held = model.fit(
            arms, y, bounds={"lengthscale": [(0.01, 0.1), (1.0, 1.0)]}
        ).kernel.lengthscale
    assert held[0] <= 0.1 + 1e-9 and held[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
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
