"""The widths by their formulas, what they read off the policy; docs/tighter_width.md step
by step.
"""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

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
    beta = 2 * math.log(1000 * t**2 * math.pi**2 / 0.6)
    policy = SimpleNamespace(t=t, model=SimpleNamespace(n_arms=1000))
    width = Srinivas2010(0.1, beta_scale=1 / factor)(policy)
    assert width == pytest.approx(math.sqrt(beta / factor), rel=1e-13)


# Widths of the gain


@pytest.mark.parametrize("gain", [0.0, 0.7, 40.0])
def test_widths_of_the_gain_by_their_formulas(gain):
    norm, R, ridge, log = 1.5, 0.3, 0.04, math.log(10)
    formulas = {
        Chowdhury2017(0.1): norm + R * math.sqrt(2 * (gain + 1 + log)),
        AbbasiYadkori2011(0.1): norm + R / math.sqrt(ridge) * math.sqrt(2 * gain + 2 * log),
        Flynn2024(0.1): math.sqrt(norm**2 + 2 * R**2 / ridge * (gain + log)),
    }
    for width, expected in formulas.items():
        assert width(asking(gain=gain)) == pytest.approx(expected, rel=1e-13)
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
    model = SimpleNamespace(**given)
    ratio = Flynn2024(delta).of(model, gain) / AbbasiYadkori2011(delta).of(model, gain)
    assert math.sqrt(0.5) * (1 - 1e-12) <= ratio <= 1 + 1e-12


def test_a_gain_by_formula_is_that_of_the_pulls_before():
    assert Constant(2.5)(asking()) == 2.5
    width = Chowdhury2017(0.1, gain={2: 4.0}.__getitem__)
    assert width(asking(gain=99.0)) == pytest.approx(
        1.5 + 0.3 * math.sqrt(2 * (4.0 + 1 + math.log(10)))
    )


# Where the tighter width comes from, docs/tighter_width.md, by dense algebra


@pytest.mark.parametrize("seed", range(20))
def test_every_step_of_the_page_by_dense_algebra(seed):
    """At most 7 pulls of at most 10 arms; features from a Cholesky factor, f a combination of
    them.
    """
    rng = np.random.default_rng([seed, 41])
    n, t = rng.integers(2, 11), rng.integers(1, 8)
    arms, kernel = (
        rng.uniform(size=(n, 1)),
        (SquaredExponential(0.3), Matern(0.3, nu=1.5))[seed % 2],
    )
    K_arms = kernel(arms, arms) + 1e-6 * np.eye(n)
    features, pulls = np.linalg.cholesky(K_arms), rng.integers(n, size=t)
    Phi, K = features[pulls], K_arms[np.ix_(pulls, pulls)]
    R, ridge = rng.uniform(0.2, 2), rng.uniform(0.1, 3)
    f = rng.standard_normal(n)  # its weights; at the pulls it is Phi f
    y = Phi @ f + R * rng.standard_normal(t)
    A, V = np.eye(t) + K / ridge, Phi.T @ Phi + ridge * np.eye(n)
    mu = np.linalg.solve(V, Phi.T @ y)  # weights of the minimiser
    gain, least = np.linalg.slogdet(A)[1] / 2, y @ np.linalg.solve(A, y)
    squares, off = ((y - Phi @ f) ** 2).sum(), f - mu
    log_mixture = (squares - least) / (2 * R**2) - gain
    near = partial(pytest.approx, rel=1e-9, abs=1e-9)

    # 2: exp(-|y - g|^2 / 2 R^2) is a density in y but for (2 pi R^2)^(t / 2); averaged over g it is
    # N(0, R^2 I + c K)
    log_density = multivariate_normal.logpdf(y, cov=R**2 * np.eye(t) + R**2 / ridge * K)
    log_constant = t / 2 * np.log(2 * np.pi * R**2)
    assert squares / (2 * R**2) + log_constant + log_density == near(log_mixture)

    # 4: the ridge objective is quadratic above its least
    residual = y - Phi @ mu
    assert residual @ residual + ridge * mu @ mu == near(least)
    np.testing.assert_allclose(residual, np.linalg.solve(A, y), atol=1e-9)
    assert squares + ridge * f @ f - least == near(off @ V @ off)

    # 5: the quadratic forms cancel, so the ellipsoid is left if and only if M reaches 1/delta
    assert off @ V @ off == near(ridge * f @ f + 2 * R**2 * (log_mixture + gain))

    # 6: sd^2 = lambda |phi|^2 in the norm of V^-1, and |f - mu| <= |f - mu|_V |phi| in that norm
    cross = Phi @ features.T
    solved = np.linalg.solve(K + ridge * np.eye(t), cross)
    variance = (features**2).sum(axis=1) - (cross * solved).sum(axis=0)
    inverse = (features.T * np.linalg.solve(V, features.T)).sum(axis=0)
    np.testing.assert_allclose(variance, ridge * inverse, atol=1e-9)
    error = np.abs(features @ off)
    assert (error <= np.sqrt(off @ V @ off) * np.sqrt(inverse) + 1e-9).all()
    norm = np.linalg.norm(f)
    model = SimpleNamespace(known_norm=norm, noise_scale=R, noise_variance=ridge)
    radius = np.sqrt(ridge * norm**2 + 2 * R**2 * (gain + np.log(10)))
    half = Flynn2024(0.1).of(model, gain) * np.sqrt(variance)
    np.testing.assert_allclose(half, radius * np.sqrt(inverse), atol=1e-9)
