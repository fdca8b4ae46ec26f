"""Little or no noise: what is accepted is right, against 60 digits; what is not is refused by
name.
"""

from functools import cache, partial

import numpy as np
import pytest
from dense import FORMS
from mpmath import mp, mpf
from refusing import refuses

from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.information import effective_dimension, greedy_gain
from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.policies import PIMS, UCB, ExpectedImprovement, ThompsonSampling
from kbrepro.bandits.posterior import (
    DRAWS,
    LEAST_NOISE,
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
)
from kbrepro.bandits.problems import Model
from kbrepro.papers.bkb.policy import BKB, FourierUCB

POINTS = grid(20)
F = np.sin(6 * POINTS[:, 0])
KERNELS = [
    SquaredExponential(0.2),
    SquaredExponential(1.0),
    *(Matern(0.2, nu=nu) for nu in (0.5, 1.5, 2.5)),
]
#: How far off draws, and on a lattice the mean, may be.
TO = {CovariancePosterior: 1e-7, DistinctPosterior: 1e-7, LatticePosterior: 2e-10}


@pytest.fixture(autouse=True)
def one_row_a_distinct_arm_to_the_end(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.DISTINCT", 1.0)


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
every_form = pytest.mark.parametrize("form", FORMS)


def history(noise_variance, repeats, seed=0):
    """17 arms, then `repeats` pulls of five, and rewards of F and noise."""
    rng = np.random.default_rng(seed)
    arms = np.concatenate([rng.permutation(20)[:17], rng.integers(0, 5, repeats)])
    return arms, F[arms] + np.sqrt(noise_variance) * rng.standard_normal(len(arms))


@cache
@mp.workdps(60)
def covariance(kernel):
    """The prior covariance in 60 digits."""
    exp, places = np.frompyfunc(mp.exp, 1, 1), np.array([mpf(x) for x in POINTS[:, 0].tolist()])
    r = abs(places[:, None] - places) / mpf(kernel.lengthscale)
    if isinstance(kernel, SquaredExponential):
        return exp(-r * r / 2)
    s = mp.sqrt(2 * mpf(kernel.nu)) * r
    return {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[kernel.nu] * exp(-s)


@mp.workdps(60)
def exact(kernel, noise_variance, arms, rewards):
    """Mean, covariance and gain of a posterior in 60 digits, from the means of each arm's
    rewards.
    """
    C, n = covariance(kernel), len(POINTS)
    mean, gain, pulls = np.full(n, mpf(0)), mpf(0), np.bincount(arms, minlength=n).tolist()
    for arm in set(arms.tolist()):
        of_arm = [mpf(reward) for reward in rewards[arms == arm].tolist()]
        column, total = C[:, arm], C[arm, arm] + mpf(noise_variance) / pulls[arm]
        gain += mp.log(1 + pulls[arm] * C[arm, arm] / mpf(noise_variance)) / 2
        mean = mean + column * ((mp.fsum(of_arm) / pulls[arm] - mean[arm]) / total)
        C = C - np.outer(column, column / total)
    return mean, C, float(gain)


def numbers(column):
    return np.array([float(x) for x in column])


# What is accepted is right


@every_form
@every_kernel
def test_with_the_least_noise_that_is_allowed_a_posterior_is_right(kernel, form):
    noise = LEAST_NOISE[DRAWS if form is DistinctPosterior else form.use]
    arms, rewards = history(noise, repeats=75)
    posterior = form(kernel, POINTS, noise)
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        posterior.update(arm, reward)
    mean, C, gain = exact(kernel, noise, arms, rewards)
    to = TO[form] if form is LatticePosterior else 2e-6
    np.testing.assert_allclose(posterior.mean, numbers(mean), rtol=0, atol=to)
    # one row a distinct arm: 1e-14 to 2e-14 off, by which of six BLAS kernels adds
    to = 1e-13 if form is DistinctPosterior else 1e-14
    variance = numbers(C[i, i] for i in range(20))
    np.testing.assert_allclose(posterior.variance, variance, rtol=0, atol=to)
    assert posterior.gain == pytest.approx(gain, rel=1e-4)


@pytest.mark.parametrize("repeats", [75, 400])
@pytest.mark.parametrize("form", [CovariancePosterior, DistinctPosterior, LatticePosterior])
@every_kernel
@mp.workdps(60)
def test_with_the_least_noise_that_is_allowed_draws_are_right(kernel, form, repeats):
    """Once the lattice took a difference of numbers of n / s2: draws were off by 0.1 after 400
    pulls of five arms.
    """
    noise = LEAST_NOISE[form.use if form is LatticePosterior else DRAWS]
    arms, rewards = history(noise, repeats)
    posterior = form(kernel, POINTS, noise)
    for arm in arms.tolist():
        posterior.update(arm, 0.0)
    f, z = F, np.random.default_rng(1).standard_normal(20)
    C, pulls = exact(kernel, noise, arms, rewards)[1], np.bincount(arms, minlength=20)
    shares = pulls.astype(object) / mpf(noise)
    weighted = shares * f + np.frompyfunc(mp.sqrt, 1, 1)(shares) * z
    np.testing.assert_allclose(
        posterior.mean_given(f, z), numbers(C @ weighted), rtol=0, atol=TO[form]
    )


def test_many_pulls_of_known_arms_are_right_or_refused():
    """Every pull of an arm whose reward is known adds rounding: without an end means were off by 80
    and infinite.
    """
    kernel, noise = SquaredExponential(1.0), 1e-12
    arms, rewards = history(noise, repeats=4000)
    policy = UCB(Model(POINTS, kernel, noise), form=RowPosterior, width=Constant(1.0))
    with pytest.raises(
        ValueError,
        match=r"^noise_variance = 1e-12 .* must be at least 1e-12 for 1\d\d\d pulls like",
    ):
        for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
            policy.tell(arm, reward)
    n = len(policy.history.arms)
    mean, _, _ = exact(kernel, noise, arms[:n], rewards[:n])
    assert n == policy.t - 1 == policy.posterior.counts.sum()
    np.testing.assert_allclose(policy.posterior.mean, numbers(mean), rtol=0, atol=1e-4)
    policy.tell(arms[n], rewards[n], noise_variance=1e-6)  # as small as it needs to be


def test_one_row_a_distinct_arm_is_as_exact_as_the_covariance():
    """With the residual that a lattice allows its means were off by 1e-11; now by 3e-13 at most
    under each of six BLAS kernels.
    """
    kernel, rng = Matern(0.2, nu=2.5), np.random.default_rng(1)
    forms = [form(kernel, grid(100), 0.02) for form in (CovariancePosterior, DistinctPosterior)]
    for arm in rng.integers(0, 100, 400).tolist():
        reward = rng.standard_normal()
        for form in forms:
            form.update(arm, reward)
    covariance, distinct = forms
    np.testing.assert_allclose(distinct.mean, covariance.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(distinct.variance, covariance.variance, rtol=0, atol=4e-15)


# What is refused


USES = {
    "rows": (partial(UCB, width=Constant(1.0), form=RowPosterior), 4e-12, "a posterior"),
    "covariance": (
        partial(UCB, width=Constant(1.0), form=CovariancePosterior),
        4e-12,
        "a posterior",
    ),
    "lattice": (
        partial(UCB, width=Constant(1.0), form=LatticePosterior),
        4e-5,
        "a posterior on a lattice",
    ),
    "EI": (ExpectedImprovement, 4e-12, "a posterior"),
    "TS": (partial(ThompsonSampling, width=Constant(1.0)), 4e-8, "draws from a posterior"),
    "PIMS": (PIMS, 4e-8, "draws from a posterior"),
    "TS on a lattice": (
        partial(ThompsonSampling, width=Constant(1.0), form=LatticePosterior),
        4e-5,
        "a posterior on a lattice",
    ),
    "features": (partial(FourierUCB, n_features=40, width=Constant(1.0)), 4e-12, "a posterior"),
    "sketch": (partial(BKB, width=Constant(1.0), qbar=2), 4e-12, "a posterior"),
}


@pytest.mark.parametrize(("make", "least", "use"), USES.values(), ids=USES)
def test_less_noise_is_refused_with_the_least_that_is_allowed(make, least, use):
    kernel = SquaredExponential(0.2, variance=4.0)
    policy = make(Model(POINTS, kernel, least * (1 + 1e-9)))
    for noise in (0.99 * least, 1e-20, 1e-300):
        match = (
            f"noise_variance = {noise!r} is not allowed: noise_variance must be at least"
            f" {least:.3g} for {use}$"
        )
        with pytest.raises(ValueError, match=match):
            make(Model(POINTS, kernel, noise))
        if "noise_variance" in policy.takes:
            with pytest.raises(ValueError, match=match):
                policy.tell(3, 0.5, noise_variance=noise)
            assert policy.t == 1 and policy.history.arms == [] and not policy.posterior.mean.any()


def test_information_of_pulls_almost_without_noise_is_refused():
    kernel = SquaredExponential(0.2)
    words = "noise_variance = 1e-11 .* at least 8.46e-10 for an effective dimension"
    refuses(
        (
            lambda: greedy_gain(kernel, POINTS, 1e-13, 5),
            "noise_variance = 1e-13 .* at least 1e-12 for a posterior",
        ),
        (lambda: effective_dimension(kernel, POINTS, 1e-11), words),
    )
