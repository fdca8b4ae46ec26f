"""What a form of the posterior assumes is declared or looked at; what is shown is a copy; little
noise.
"""

import pickle

import memory
import numpy as np
import pytest
from dense import FORMS, dense_posterior
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kbrepro.bandits import kernels
from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import PIMS, UCB, ThompsonSampling
from kbrepro.bandits.posterior import (
    AfterPending,
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
    exact_posterior,
    lattice_posterior,
)
from kbrepro.bandits.problems import GPDraw, Model, Trial
from kbrepro.papers.bkb.sketch import FeaturePosterior

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
    "must be positive semidefinite, but has the eigenvalue -": Changed(
        added=lambda X, Z: 1 - 2 * np.abs(X[:, None] - Z[None]).sum(axis=2) - MATERN(X, Z)
    ),
    r"diag.* must be the diagonal of kernel\(X, X\); they are 1 and 2 at arm 0": Changed(
        added=lambda X, Z: np.ones((len(X), len(Z)))
    ),
}


# Declared or looked at


def test_only_a_declared_kernel_gets_the_lattice(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.LATTICE_FROM", 40)
    for kernel in OWN.values():
        assert type(exact_posterior(kernel, grid(50), 0.1, 10)) is RowPosterior
        with pytest.raises(ValueError, match="its class must declare `stationary = True`"):
            LatticePosterior(kernel, grid(50), 0.1)
    assert lattice_posterior(MATERN, grid(50), 1e-6) is None  # too little noise for one


POINTS, NOISE = grid(5, 2), 0.05
A = len(POINTS)
arms = st.integers(0, A - 1)


@settings(max_examples=60, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    kernel=st.sampled_from([MATERN, *OWN.values()]),
    pulls=st.lists(
        st.tuples(arms, st.floats(-3, 3), st.sampled_from([0.01, NOISE, 0.7])),
        min_size=1,
        max_size=20,
    ),
    pending=st.lists(arms, min_size=1, max_size=4),
    mean=st.sampled_from([np.zeros(A), np.linspace(-2, 5, A)]),
)
def test_noise_prior_mean_and_pending_pulls_are_exact_in_every_form(kernel, pulls, pending, mean):
    pulled, rewards, noise = (np.array(column) for column in zip(*pulls, strict=True))
    deviation, C = dense_posterior(kernel, POINTS, noise, pulled, rewards - mean[pulled])
    noise_later = np.append(noise, np.full(len(pending), NOISE))
    pulled_later = np.append(pulled, pending)
    rewards_later = np.append(rewards - mean[pulled], deviation[pending])
    later = dense_posterior(kernel, POINTS, noise_later, pulled_later, rewards_later)
    X = POINTS[pulled]
    gain = np.linalg.slogdet(np.eye(len(X)) + kernel(X, X) / noise)[1] / 2
    precision = np.bincount(pulled, 1 / noise, A)
    f, z = np.random.default_rng(1).standard_normal((2, A))
    drawn = C @ (precision * f + np.sqrt(precision) * z)
    Model(POINTS, kernel, NOISE)  # is accepted
    for form in FORMS if kernel is MATERN else FORMS[:3]:
        posterior = form(kernel, POINTS, NOISE, mean=mean)
        for pull in pulls:
            posterior.update(*pull)
        after = AfterPending(posterior, pending)
        pairs = [
            (posterior.mean, mean + deviation),
            (posterior.variance, C.diagonal()),
            (posterior.gain, gain),
            (posterior.precision, precision),
            (posterior.covariance_with(3), C[3]),
            (after.variance, later[1].diagonal()),
            (after.covariance_with(3), later[1][3]),
            (after.precision, np.bincount(pulled_later, 1 / noise_later, A)),
            (after.counts, np.bincount(pulled_later, minlength=A)),
            # what is pending was told its own mean
            (after.mean, mean + later[0]),
        ]
        if hasattr(posterior, "mean_given"):
            pairs.append((posterior.mean_given(f, z), drawn))
        for ours, right in pairs:
            np.testing.assert_allclose(ours, right, rtol=1e-9, atol=1e-9)


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
    assert 0 <= posterior.variance.min() <= posterior.variance.max() < 1e-9


# What it costs


@pytest.fixture
def changes_early(monkeypatch):
    """So that a test need not pull 500 arms."""
    monkeypatch.setattr("kbrepro.bandits.posterior.FEW", 10)
    monkeypatch.setattr("kbrepro.bandits.policies.thompson.FEW", 10)


def test_one_row_a_distinct_arm_becomes_the_covariance_where_half_of_all_were_pulled(changes_early):
    """And is exact before and after, as the fuzz test says."""
    posterior = UCB(Model(SCATTERED[:40], MATERN, 0.04), 59, width=ONE).posterior
    for arm in [*range(20), *range(20)]:
        posterior.update(arm, 0.5)
        assert type(posterior) is DistinctPosterior
    posterior.update(20, 0.5)
    assert type(posterior) is CovariancePosterior


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
    words = (
        "form = <class 'kbrepro.bandits.posterior.RowPosterior'> is not allowed: form must be"
        " CovariancePosterior or LatticePosterior for a policy that draws"
    )
    with pytest.raises(ValueError, match=f"^{words}$"):
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
    "covariance for draws of 200 arms needs 0.00224 GB .* what fits is up to 73 arms off a lattice,"
    " or a policy that"
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
    (make, words), sizes, call = BIG[name], [], Matern.__call__
    memory.leave(monkeypatch, 3e5)
    monkeypatch.setattr(
        Matern, "__call__", lambda kernel, X, Z: sizes.append(len(X) * len(Z)) or call(kernel, X, Z)
    )
    with pytest.raises(MemoryError, match=words):
        make()
    assert max(sizes, default=0) <= 400


# What is shown


def features(kernel, points, noise_variance):
    return FeaturePosterior(np.random.default_rng(2).standard_normal((len(points), 5)), 0.1)


@pytest.mark.parametrize("form", [*FORMS, features])
@pytest.mark.parametrize("name", ["mean", "variance", "sd", "counts"])
def test_a_kept_array_stays_and_writing_to_it_is_harmless(form, name):
    posterior = form(MATERN, grid(20), 0.1)
    posterior.update(3, 1.0)
    kept = getattr(posterior, name)
    before = kept.copy()
    posterior.update(8, 1.0)
    np.testing.assert_array_equal(kept, before)
    getattr(posterior, name)[:] += 100
    assert getattr(posterior, name).max() < 100
