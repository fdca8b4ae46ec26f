"""The widths against numbers by mpmath, what they read off the policy; docs/tighter_width.md step
by step.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from kbrepro.bandits.confidence import (
    AbbasiYadkori2011,
    Chowdhury2017,
    Constant,
    Flynn2024,
    Srinivas2010,
)
from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Model


def asking(t=3, gain=4.0, **told):
    """What a width looks at: 25 arms, round 3, a gain of 4 nats."""
    given = dict(
        points=grid(25),
        kernel=SquaredExponential(0.2),
        noise_variance=0.04,
        norm=1.5,
        noise_scale=0.3,
    )
    return SimpleNamespace(t=t, model=Model(**given | told), posterior=SimpleNamespace(gain=gain))


# Srinivas et al., Theorem 1


@pytest.mark.parametrize("t", [1, 10, 1000])
@pytest.mark.parametrize("factor", [1.0, 5])
def test_theorem_1(t, factor):
    with mp.workdps(30):
        beta = 2 * mp.log(1000 * mpf(t) ** 2 * mp.pi**2 / (6 * mpf("0.1")))
        width = float(mp.sqrt(beta / factor))
    policy = SimpleNamespace(t=t, model=SimpleNamespace(n_arms=1000))
    assert Srinivas2010(0.1, beta_scale=1 / factor)(policy) == pytest.approx(width, rel=1e-13)


# Widths of the gain


@pytest.mark.parametrize("gain", [0.0, 0.7, 40.0])
def test_widths_of_the_gain_by_their_formulas(gain):
    with mp.workdps(30):
        norm, R, ridge, log = mpf("1.5"), mpf("0.3"), mpf("0.04"), mp.log(10)
        formulas = {
            Chowdhury2017(0.1): norm + R * mp.sqrt(2 * (mpf(gain) + 1 + log)),
            AbbasiYadkori2011(0.1): norm + R / mp.sqrt(ridge) * mp.sqrt(2 * mpf(gain) + 2 * log),
            Flynn2024(0.1): mp.sqrt(norm**2 + 2 * R**2 / ridge * (mpf(gain) + log)),
        }
    for width, expected in formulas.items():
        assert width(asking(gain=gain)) == pytest.approx(float(expected), rel=1e-13)
        # the posterior's gain plays no part
        assert width.of(asking().model, gain) == width(asking(gain=gain))


@given(
    gain=st.floats(0, 1e4),
    known_norm=st.floats(1e-3, 1e3),
    noise_scale=st.floats(0, 1e2),
    noise_variance=st.floats(1e-4, 1e4),
    delta=st.floats(1e-9, 0.999),
)
@example(
    gain=4 - math.log(10), known_norm=2.0, noise_scale=1.0, noise_variance=2.0, delta=0.1
)  # the root of a half
@settings(max_examples=200, deadline=None)
def test_tighter_is_never_wider_and_at_least_the_root_of_a_half(gain, delta, **given):
    ratio = Flynn2024(delta).of(SimpleNamespace(**given), gain) / AbbasiYadkori2011(delta).of(
        SimpleNamespace(**given), gain
    )
    assert math.sqrt(0.5) * (1 - 1e-12) <= ratio <= 1 + 1e-12


def test_a_gain_by_formula_is_that_of_the_pulls_before():
    assert Constant(2.5)(asking()) == 2.5
    width = Chowdhury2017(0.1, gain={2: 4.0}.__getitem__)
    assert width(asking(gain=99.0)) == pytest.approx(
        1.5 + 0.3 * math.sqrt(2 * (4.0 + 1 + math.log(10)))
    )


# Where the tighter width comes from, docs/tighter_width.md, by dense algebra


class Instance:
    """At most 7 pulls of at most 10 arms; features from a Cholesky factor, f a combination of
    them.
    """

    def __init__(self, seed):
        rng = np.random.default_rng([seed, 41])
        n, self.t = rng.integers(2, 11), rng.integers(1, 8)
        arms = rng.uniform(size=(n, 1))
        K = (SquaredExponential(0.3), Matern(0.3, nu=1.5))[seed % 2](arms, arms) + 1e-6 * np.eye(n)
        self.features, pulls = np.linalg.cholesky(K), rng.integers(n, size=self.t)
        self.Phi, self.K = self.features[pulls], K[np.ix_(pulls, pulls)]
        self.R, self.ridge = rng.uniform(0.2, 2), rng.uniform(0.1, 3)
        self.c, self.A = self.R**2 / self.ridge, np.eye(self.t) + self.K / self.ridge
        self.f = rng.standard_normal(n)  # its weights; at the pulls it is Phi f
        self.y = self.Phi @ self.f + self.R * rng.standard_normal(self.t)
        self.V = self.Phi.T @ self.Phi + self.ridge * np.eye(n)
        self.mu = np.linalg.solve(self.V, self.Phi.T @ self.y)  # weights of the minimiser
        self.gain = np.linalg.slogdet(self.A)[1] / 2
        self.least = self.y @ np.linalg.solve(self.A, self.y)

    def squares(self, f):
        return ((self.y - self.Phi @ f) ** 2).sum()

    @property
    def log_mixture(self):
        return (self.squares(self.f) - self.least) / (2 * self.R**2) - self.gain


@pytest.fixture(params=range(20), scope="module")
def instance(request):
    return Instance(request.param)


def test_step_2_the_mixture_by_the_gaussian_formula(instance):
    """exp(-|y - g|^2 / 2 R^2) is a density in y but for (2 pi R^2)^(t / 2); averaged over g it is
    N(0, R^2 I + c K).
    """
    S = instance.R**2 * np.eye(instance.t) + instance.c * instance.K
    log_det, quadratic = (
        np.linalg.slogdet(2 * np.pi * S)[1],
        instance.y @ np.linalg.solve(S, instance.y),
    )
    log_mean = instance.squares(instance.f) / (2 * instance.R**2)
    log_mean += instance.t / 2 * np.log(2 * np.pi * instance.R**2) - (log_det + quadratic) / 2
    assert log_mean == pytest.approx(instance.log_mixture, rel=1e-9, abs=1e-9)


def test_step_4_the_ridge_objective_is_quadratic_above_its_least(instance):
    assert instance.squares(
        instance.mu
    ) + instance.ridge * instance.mu @ instance.mu == pytest.approx(instance.least)
    residual, off = instance.y - instance.Phi @ instance.mu, instance.f - instance.mu
    np.testing.assert_allclose(residual, np.linalg.solve(instance.A, instance.y), atol=1e-9)
    excess = (
        instance.squares(instance.f) + instance.ridge * instance.f @ instance.f - instance.least
    )
    assert excess == pytest.approx(off @ instance.V @ off, rel=1e-9, abs=1e-9)


def test_step_5_the_quadratic_forms_cancel(instance):
    """|f - mu|_V^2 = lambda |f|^2 + 2 R^2 (log M + gain), so the ellipsoid is left if and only
    if M reaches 1/delta.
    """
    off = instance.f - instance.mu
    right = instance.ridge * instance.f @ instance.f + 2 * instance.R**2 * (
        instance.log_mixture + instance.gain
    )
    assert off @ instance.V @ off == pytest.approx(right, rel=1e-9, abs=1e-9)


def test_step_6_one_arm(instance):
    """sd^2 = lambda |phi|^2 in the norm of V^-1, and |f - mu| <= |f - mu|_V |phi| in that norm; all
    arms.
    """
    k = instance.features @ instance.Phi.T
    ridge = instance.K + instance.ridge * np.eye(instance.t)
    variance = (instance.features**2).sum(axis=1) - (k * np.linalg.solve(ridge, k.T).T).sum(axis=1)
    inverse = (instance.features * np.linalg.solve(instance.V, instance.features.T).T).sum(axis=1)
    np.testing.assert_allclose(variance, instance.ridge * inverse, atol=1e-9)
    off = instance.f - instance.mu
    error = np.abs(instance.features @ off)
    assert (error <= np.sqrt(off @ instance.V @ off) * np.sqrt(inverse) + 1e-9).all()
    norm = np.linalg.norm(instance.f)
    model = SimpleNamespace(known_norm=norm, noise_scale=instance.R, noise_variance=instance.ridge)
    width = Flynn2024(0.1).of(model, instance.gain)
    radius = np.sqrt(instance.ridge * norm**2 + 2 * instance.R**2 * (instance.gain + np.log(10)))
    np.testing.assert_allclose(width * np.sqrt(variance), radius * np.sqrt(inverse), atol=1e-9)
