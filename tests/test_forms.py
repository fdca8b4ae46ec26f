"""What a form of the posterior assumes is declared or looked at; what is shown is a copy; little noise."""

from dataclasses import dataclass

import numpy as np
import pytest
from dense import dense_posterior

from kbrepro import kernels
from kbrepro.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.papers.bkb.sketch import FeaturePosterior
from kbrepro.posterior import CovariancePosterior, LatticePosterior, RowPosterior, exact_posterior, lattice_posterior
from kbrepro.problems import Model

FORMS = [RowPosterior, CovariancePosterior, LatticePosterior]
MATERN = Matern(0.3, nu=1.5)


@dataclass(frozen=True)
class Plain:
    """A stationary kernel that declares nothing."""

    def __call__(self, X, Z):
        return MATERN(X, Z)

    def diag(self, X):
        return MATERN.diag(X)


class Corner(Plain):
    """No longer stationary in a corner."""

    def amplitude(self, X):
        return np.where((np.asarray(X) > 0.9).all(axis=1), 3.0, 1.0)

    def __call__(self, X, Z):
        return self.amplitude(X)[:, None] * MATERN(X, Z) * self.amplitude(Z)

    def diag(self, X):
        return self.amplitude(X) ** 2


class Distance(Plain):
    """The distance: symmetric, but no covariance."""

    def __call__(self, X, Z):
        return 1 - 2 * np.abs(X[:, None] - Z[None]).sum(axis=2)


class WrongDiagonal(Plain):
    def diag(self, X):
        return np.full(len(X), 2.0)


class Skew(Plain):
    def __call__(self, X, Z):
        return MATERN(X, Z) + 0.01 * (X[:, :1] - Z[:, :1].T)


class Rough(Matern):
    """A subclass with a `__call__` of its own, which must declare anew."""

    def __call__(self, X, Z):
        return 0.9 * super().__call__(X, Z) + 0.1 * Linear()(X, Z)

    def diag(self, X):
        return 0.9 + 0.1 * Linear().diag(X)


# Declared or looked at


def test_only_a_declared_kernel_gets_the_lattice(monkeypatch):
    monkeypatch.setattr("kbrepro.posterior.LATTICE_FROM", 40)
    assert type(exact_posterior(MATERN, grid(50), 0.1, 10)) is LatticePosterior
    for kernel in (Plain(), Corner(), Rough(0.3, nu=1.5)):
        assert type(exact_posterior(kernel, grid(50), 0.1, 10)) is RowPosterior
        with pytest.raises(ValueError, match="its class must declare `stationary = True`"):
            LatticePosterior(kernel, grid(50), 0.1)


@pytest.mark.parametrize("kernel", [Plain(), Corner(), Rough(0.3, nu=1.5), MATERN], ids=lambda its: type(its).__name__)
def test_all_forms_give_one_answer(kernel):
    points, rng = grid(12, 2), np.random.default_rng(1)
    Model(points, kernel, 0.01)  # accepted
    forms = [form(kernel, points, 0.01) for form in (FORMS if kernel is MATERN else FORMS[:2])]
    arms, observations = rng.integers(len(points), size=60), rng.standard_normal(60)
    for arm, observation in zip(arms, observations, strict=True):
        for form in forms:
            form.update(int(arm), observation)
    mean, covariance = dense_posterior(kernel, points, 0.01, arms, observations)
    for form in forms:
        np.testing.assert_allclose(form.mean, mean, atol=1e-10)
        np.testing.assert_allclose(form.variance, covariance.diagonal(), atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        (Distance(), "eigenvalue -.* must be positive semidefinite"),
        (WrongDiagonal(), r"diag gives 2 and kernel\(X, X\) 1 at arm 0"),
        (Skew(), "it must be symmetric"),
    ],
    ids=lambda its: type(its).__name__,
)
def test_a_kernel_that_is_no_covariance_is_refused(kernel, problem, monkeypatch):
    with pytest.raises(ValueError, match=f"kernel = {type(kernel).__name__} is not allowed: .*{problem}"):
        Model(grid(8, 2), kernel, 0.1)
    monkeypatch.setattr(kernels, "LOOKED_AT", 10)  # of many arms some are looked at
    with pytest.raises(ValueError, match=f"kernel = {type(kernel).__name__} is not allowed"):
        Model(grid(8, 2), kernel, 0.1)


# What is shown


@pytest.mark.parametrize(
    "make",
    [
        *[lambda form=form: form(MATERN, grid(20), 0.1) for form in FORMS],
        lambda: FeaturePosterior(np.random.default_rng(2).standard_normal((20, 5)), 0.1),
    ],
    ids=["rows", "covariance", "lattice", "features"],
)
def test_a_kept_array_stays_and_writing_to_it_is_harmless(make):
    ours, untouched = make(), make()
    names = [name for name in ("mean", "variance", "sd", "counts", "prior_variance") if hasattr(ours, name)]
    for arm in (3, 8, 3):
        kept = {name: getattr(ours, name) for name in names}
        before = {name: its.copy() for name, its in kept.items()}
        for posterior in (ours, untouched):
            posterior.update(arm, 1.0)
        for name, its in kept.items():
            np.testing.assert_array_equal(its, before[name])
            its += 100
            getattr(ours, name)[:] += 7
    for name in names:
        np.testing.assert_array_equal(getattr(ours, name), getattr(untouched, name))


# Little noise


@pytest.mark.parametrize("kernel", [MATERN, SquaredExponential(0.3)], ids=["Matérn", "squared exponential"])
@pytest.mark.parametrize("noise_variance", [1e-2, 1e-5, 1e-8, 1e-12])
def test_with_little_noise_the_lattice_is_as_exact_as_rows_or_is_not_chosen(kernel, noise_variance, monkeypatch):
    monkeypatch.setattr("kbrepro.posterior.LATTICE_FROM", 100)
    points, rng = grid(200), np.random.default_rng(4)
    chosen, rows = exact_posterior(kernel, points, noise_variance, 300), RowPosterior(kernel, points, noise_variance)
    assert (type(chosen) is LatticePosterior) == (noise_variance >= 1e-5)
    arms = np.concatenate([rng.choice(200, 30, replace=False), rng.integers(0, 5, 15)])
    observations = np.sin(6 * points[arms, 0]) + np.sqrt(noise_variance) * rng.standard_normal(len(arms))
    for arm, observation in zip(arms, observations, strict=True):
        for posterior in (chosen, rows):
            posterior.update(int(arm), float(observation))
    np.testing.assert_allclose(chosen.mean, rows.mean, atol=1e-9)
    np.testing.assert_allclose(chosen.variance, rows.variance, atol=1e-11)


def test_too_little_noise_for_a_lattice_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"noise_variance = 1e-06 is not allowed: noise_variance must be at least 4e-05"
    ):
        LatticePosterior(Matern(0.3, nu=1.5, variance=4.0), grid(20), 1e-6)
    assert lattice_posterior(MATERN, grid(100, 2), 1e-6) is None
