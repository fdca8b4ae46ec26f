"""What a form of the posterior assumes is declared or looked at; what is shown is a copy; little
noise.
"""

import pickle

import numpy as np
import psutil
import pytest
from dense import dense_posterior

from kbrepro.bandits import kernels
from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import PIMS, UCB, ThompsonSampling
from kbrepro.bandits.posterior import (
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
    exact_posterior,
    lattice_posterior,
)
from kbrepro.bandits.problems import GPDraw, Model, Trial
from kbrepro.papers.bkb.sketch import FeaturePosterior

FORMS = [RowPosterior, CovariancePosterior, DistinctPosterior, LatticePosterior]
MATERN = Matern(0.3, nu=1.5)


class Changed:
    """A stationary kernel that declares nothing, times `amplitude` at both points, plus what is
    added.
    """

    def __init__(self, amplitude=lambda X: np.ones(len(X)), added=lambda X, Z: 0.0):
        self.amplitude, self.added = amplitude, added

    def __call__(self, X, Z):
        return self.amplitude(X)[:, None] * MATERN(X, Z) * self.amplitude(Z) + self.added(X, Z)

    def diag(self, X):
        return self.amplitude(X) ** 2


class Rough(Matern):
    """A subclass with a `__call__` of its own, which must declare anew."""

    def __call__(self, X, Z):
        return 0.9 * super().__call__(X, Z) + 0.1 * Linear()(X, Z)

    def diag(self, X):
        return 0.9 + 0.1 * Linear().diag(X)


# no longer stationary there
CORNER = Changed(lambda X: np.where((np.asarray(X) > 0.9).all(axis=1), 3.0, 1.0))
OWN = {"plain": Changed(), "corner": CORNER, "rough": Rough(0.3, nu=1.5)}
WRONG = {
    "eigenvalue -.* must be positive semidefinite": Changed(
        added=lambda X, Z: 1 - 2 * np.abs(X[:, None] - Z[None]).sum(axis=2) - MATERN(X, Z)
    ),
    r"diag gives 1 and kernel\(X, X\) 2 at arm 0": Changed(
        added=lambda X, Z: np.ones((len(X), len(Z)))
    ),
    "it must be symmetric": Changed(added=lambda X, Z: 0.01 * (X[:, :1] - Z[:, :1].T)),
}


# Declared or looked at


def test_only_a_declared_kernel_gets_the_lattice(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.LATTICE_FROM", 40)
    assert type(exact_posterior(MATERN, grid(50), 0.1, 10)) is LatticePosterior
    for kernel in OWN.values():
        assert type(exact_posterior(kernel, grid(50), 0.1, 10)) is RowPosterior
        with pytest.raises(ValueError, match="its class must declare `stationary = True`"):
            LatticePosterior(kernel, grid(50), 0.1)
    assert lattice_posterior(MATERN, grid(50), 1e-6) is None  # too little noise for one


@pytest.mark.parametrize("kernel", [*OWN.values(), MATERN], ids=[*OWN, "Matérn"])
def test_all_forms_give_one_answer(kernel):
    points, rng = grid(12, 2), np.random.default_rng(1)
    Model(points, kernel, 0.01)  # accepted
    forms = [form(kernel, points, 0.01) for form in (FORMS if kernel is MATERN else FORMS[:3])]
    arms, observations = rng.integers(len(points), size=300), rng.standard_normal(300)
    for arm, observation in zip(arms, observations, strict=True):
        for form in forms:
            form.update(int(arm), observation)
    mean, covariance = dense_posterior(kernel, points, 0.01, arms, observations)
    for form in forms:
        np.testing.assert_allclose(form.mean, mean, atol=1e-10)
        np.testing.assert_allclose(form.variance, covariance.diagonal(), atol=1e-10)


@pytest.mark.parametrize(("problem", "kernel"), WRONG.items())
def test_a_kernel_that_is_no_covariance_is_refused(kernel, problem, monkeypatch):
    with pytest.raises(ValueError, match=f"kernel = Changed is not allowed: .*{problem}"):
        Model(grid(8, 2), kernel, 0.1)
    monkeypatch.setattr(kernels, "LOOKED_AT", 10)  # of many arms some are looked at
    with pytest.raises(ValueError, match="kernel = Changed is not allowed"):
        Model(grid(8, 2), kernel, 0.1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("observation", [float("nan"), float("inf"), np.float64("nan"), "1"])
def test_what_is_no_finite_number_is_refused_and_nothing_is_learned(form, observation):
    posterior = form(MATERN, grid(5), 0.1)
    with pytest.raises((ValueError, TypeError), match="observation"):
        posterior.update(0, observation)
    assert not posterior.mean.any()


@pytest.mark.parametrize("form", FORMS[:3])
def test_variance_is_not_negative_where_noise_is_tiny(form):
    posterior = form(SquaredExponential(1.0), grid(30), 1e-12)
    for arm in range(200):
        posterior.update(arm % 30, 0.0)
    assert (
        (posterior.variance >= 0).all()
        and posterior.variance.max() < 1e-9
        and np.isfinite(posterior.sd).all()
    )


# What it costs


@pytest.fixture
def changes_early(monkeypatch):
    """So that a test need not pull 500 arms."""
    monkeypatch.setattr("kbrepro.bandits.posterior.FEW", 10)
    monkeypatch.setattr("kbrepro.bandits.policies.thompson.FEW", 10)


def test_the_form_changes_by_counts_alone_and_stays_exact(changes_early):
    """One row a distinct arm, then the covariance where half of all arms were pulled."""
    rng, model = np.random.default_rng(3), Model(SCATTERED[:40], MATERN, 0.04)
    policies = UCB(model, 59, width=ONE), ThompsonSampling(model, width=ONE)
    covariance, shown = CovariancePosterior(MATERN, SCATTERED[:40], 0.04), policies[0].posterior
    f, z = rng.standard_normal((2, 40))
    for t in range(130):
        arm, reward = int(rng.integers(4 if t < 40 else 40)), rng.standard_normal()
        noise = np.exp(rng.uniform(-4, 0))
        covariance.update(arm, reward, noise)
        for policy in policies:
            policy.tell(arm, reward, noise_variance=noise)
            few = len(set(policy.history.arms)) <= 20
            assert type(policy.posterior) is (DistinctPosterior if few else CovariancePosterior)
            np.testing.assert_allclose(policy.posterior.mean, covariance.mean, atol=1e-12)
            np.testing.assert_allclose(policy.posterior.sd, covariance.sd, atol=1e-12)
        drawn = policies[1].posterior.mean_given(f, z)
        np.testing.assert_allclose(drawn, covariance.mean_given(f, z), atol=1e-11)
    assert not few and policies[0].posterior is shown


def test_a_pull_with_little_noise_takes_the_covariance_which_is_as_exact_as_ever(changes_early):
    smooth = SquaredExponential(0.2, variance=4.0)  # 1e-8 prior variances are 4e-8
    policy = UCB(Model(grid(20), smooth, 1e-3), 25, width=Constant(2.0))
    covariance = CovariancePosterior(smooth, grid(20), 1e-3)
    for arm, noise in [*[(each % 5, 1e-3) for each in range(30)], (7, 5e-8), (9, 3e-8), (7, 1e-3)]:
        kind = type(policy.posterior)
        policy.tell(arm, 0.3, noise_variance=noise)
        covariance.update(arm, 0.3, noise)
        if noise == 5e-8:
            assert kind is type(policy.posterior) is DistinctPosterior
    assert type(policy.posterior) is CovariancePosterior
    np.testing.assert_allclose(policy.posterior.mean, covariance.mean, atol=1e-9)
    np.testing.assert_allclose(policy.posterior.variance, covariance.variance, atol=4e-14)
    # with such noise it is not even begun
    little = exact_posterior(smooth, grid(20), 1e-9, 25)
    assert type(little) is RowPosterior


def test_a_rule_that_draws_refuses_a_form_that_cannot():
    told = (
        "form = <class 'kbrepro.bandits.posterior.RowPosterior'> is not allowed: form must be"
        " CovariancePosterior or LatticePosterior for a rule that draws"
    )
    with pytest.raises(ValueError, match=f"^{told}$"):
        ThompsonSampling(DENSE, 5, width=ONE, form=RowPosterior)


def test_a_policy_is_saved_without_the_room_that_its_horizon_needs():
    policy = UCB(Model(grid(1000), MATERN, 0.1), 1000, width=Constant(1.0))
    policy.tell([1, 2], [0.5, 0.6])
    assert len(pickle.dumps(policy)) < 200_000
    assert pickle.loads(pickle.dumps(policy)).ask() == policy.ask()


SCATTERED = np.random.default_rng(0).random((200, 2))
DENSE = Model(SCATTERED, MATERN, 0.1)
ONE = Constant(1.0)
OF_DRAWS = (
    "covariance and draws of 200 arms needs 0.00224 GB .* what fits is up to 73 arms off a lattice,"
    " or a rule that"
)
BIG = {
    "rows": (
        lambda: UCB(DENSE, 200, width=ONE),
        (
            "posterior of 200 arms over 200 pulls needs 0.00032 GB .* what fits is horizon = 187 or"
            " less"
        ),
    ),
    "many pulls": (
        lambda: UCB(DENSE, 999, width=ONE),
        (
            "posterior of 200 arms over 999 pulls needs 0.00192 GB .* what fits is horizon = 187 or"
            " less"
        ),
    ),
    "covariance": (
        lambda: CovariancePosterior(MATERN, SCATTERED, 0.1),
        "covariance of 200 arms needs 0.00192 GB .* what fits is up to 79 arms",
    ),
    "PIMS": (lambda: PIMS(DENSE), OF_DRAWS),
    "Thompson": (lambda: ThompsonSampling(DENSE, 5, width=ONE), OF_DRAWS),
    "a draw": (
        lambda: GPDraw(MATERN, SCATTERED, 0.1)(Trial(1, 0)),
        (
            "factor of the covariance of 200 arms needs .* what fits is up to 79 arms, or arms on a"
            " lattice"
        ),
    ),
    "a batch": (
        lambda: UCB(DENSE, 5, width=ONE).ask(190, pending=range(10)),
        "rows for 200 pulls of 200 arms needs 0.00032 GB .* what fits is up to 187 pulls",
    ),
    "a convolution": (
        lambda: LatticePosterior(MATERN, grid(60, 2), 0.1),
        r"convolution on a lattice of \(60, 60\) arms needs 0.000346 GB",
    ),
    "a draw on a lattice": (
        lambda: PIMS(Model(grid(20, 2), MATERN, 0.1), 300, form=LatticePosterior),
        "lattice with up to 300 arms pulled needs 0.00036 GB .* what fits is up to 273 of them",
    ),
}


@pytest.mark.parametrize("name", BIG)
def test_what_does_not_fit_is_refused_before_it_is_made_and_what_fits_is_named(name, monkeypatch):
    (make, told), sizes, call = BIG[name], [], Matern.__call__
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Free", (), {"available": 3e5}))
    monkeypatch.setattr(
        Matern, "__call__", lambda kernel, X, Z: sizes.append(len(X) * len(Z)) or call(kernel, X, Z)
    )
    with pytest.raises(MemoryError, match=told):
        make()
    assert max(sizes, default=0) <= 400


# What is shown


@pytest.mark.parametrize(
    "make",
    [
        *[lambda form=form: form(MATERN, grid(20), 0.1) for form in FORMS],
        lambda: FeaturePosterior(np.random.default_rng(2).standard_normal((20, 5)), 0.1),
    ],
    ids=["rows", "covariance", "distinct", "lattice", "features"],
)
def test_a_kept_array_stays_and_writing_to_it_is_harmless(make):
    ours, untouched = make(), make()
    names = ("mean", "variance", "sd", "counts")
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
