"""The widths by hand, what they read off the policy, how they compare, and docs/tighter_width.md step by step."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from kbrepro.confidence import Improved, SelfNormalised, Tighter
from kbrepro.information import GainByFormula
from kbrepro.kernels import Matern, SquaredExponential
from kbrepro.papers.igp_ucb.problems import PosteriorMean, Retold
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import UCB
from kbrepro.simulation import Experiment, run_trials

SE = GainByFormula("squared exponential")
GIVEN = {"norm": 2.0, "noise_scale": 0.5, "noise_variance": 0.2}


def test_original_uses_the_gain_of_the_pulls_before():
    width = Original(0.1, gain={2: 4.0}.__getitem__)
    assert width.at(3, norm=2.0) == pytest.approx(math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3))


def test_original_reads_round_and_norm_off_the_policy():
    policy = SimpleNamespace(t=3, told=SimpleNamespace(norm=2.0, noise_scale=0.5), posterior=SimpleNamespace(gain=99.0))
    assert Original(0.1, SE)(policy) == Original(0.1, SE).at(3, norm=2.0)


def test_the_improved_width_gains_on_the_original():
    """What the paper improves: the cube of the logarithm is gone, so the ratio of the widths grows."""
    old, new = Original(0.1, SE), Improved(0.1)
    ratios = [old.at(t, norm=1.0) / new.at(SE(t - 1), norm=1.0, noise_scale=1.0) for t in (10, 1000, 100_000)]
    assert ratios == sorted(ratios) and ratios[-1] > 100


@pytest.mark.parametrize(
    "bad", [{"norm": 0.0}, {"norm": -1.0}, {"norm": None}, {"delta": 0.0}, {"delta": 1.0}, {"t": 0}]
)
def test_bad_input_is_named(bad):
    ((name, value),) = bad.items()
    given = {"t": 1, "norm": 1.0, "delta": 0.1} | bad
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        Original(given["delta"], SE).at(given["t"], given["norm"])


# Tighter


def test_tighter_by_hand():
    """sqrt(2^2 + 2 0.25 / 0.2 (3 + log 10)) = sqrt(4 + 2.5 5.302585) = 4.154...; without noise it is the norm."""
    assert Tighter(0.1).at(3.0, **GIVEN) == pytest.approx(math.sqrt(17.256462732485115), rel=1e-14)
    assert Tighter(0.1).at(3.0, **GIVEN | {"noise_scale": 0.0}) == 2.0


@given(
    gain=st.floats(0, 1e4),
    norm=st.floats(1e-3, 1e3),
    noise_scale=st.floats(0, 1e2),
    noise_variance=st.floats(1e-4, 1e4),
    delta=st.floats(1e-9, 0.999),
)
@settings(max_examples=200, deadline=None)
def test_tighter_is_never_wider_and_at_least_the_root_of_a_half(gain, delta, **given):
    ratio = Tighter(delta).at(gain, **given) / SelfNormalised(delta).at(gain, **given)
    assert math.sqrt(0.5) * (1 - 1e-12) <= ratio <= 1 + 1e-12


def test_the_root_of_a_half_is_reached_where_norm_and_noise_are_equal():
    """norm = R sqrt(2 (gain + log 10) / lambda) with R = 1, lambda = 2, gain = 4 - log 10."""
    given = {"norm": 2.0, "noise_scale": 1.0, "noise_variance": 2.0}
    ratio = Tighter(0.1).at(4 - math.log(10), **given) / SelfNormalised(0.1).at(4 - math.log(10), **given)
    assert ratio == pytest.approx(math.sqrt(0.5), rel=1e-14)


def test_tighter_reads_told_and_posterior():
    policy = SimpleNamespace(t=3, told=SimpleNamespace(**GIVEN), posterior=SimpleNamespace(gain=3.0))
    assert Tighter(0.1)(policy) == Tighter(0.1).at(3.0, **GIVEN)


@pytest.mark.parametrize(
    "bad",
    [
        *({"delta": value} for value in (0.0, 1.0)),
        *({"norm": value} for value in (0.0, None)),
        *({"noise_variance": value} for value in (0.0, -1.0)),
        {"gain": -1.0},
        {"noise_scale": -0.5},
    ],
)
def test_bad_input_of_tighter_is_named(bad):
    ((name, value),) = bad.items()
    given = {"gain": 3.0, "delta": 0.1} | GIVEN | bad
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        Tighter(given.pop("delta")).at(given.pop("gain"), **given)


# The derivation, docs/tighter_width.md, by dense algebra


class Instance:
    """At most 7 pulls of at most 10 arms; features from a Cholesky factor, f a combination of them."""

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


def test_step_1_a_fixed_rival_gains_nothing_on_gaussian_noise():
    """E exp((2 h e - h^2) / 2 R^2) by quadrature: 1 for Gaussian noise, less for the uniform law on [-R, R]."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    uniform, uniform_weights = np.polynomial.legendre.leggauss(60)
    for h, R in [(0.7, 0.5), (-1.3, 1.0), (0.01, 2.0)]:
        gaussian = weights @ np.exp((2 * h * R * nodes - h**2) / (2 * R**2)) / weights.sum()
        bounded = uniform_weights @ np.exp((2 * h * R * uniform - h**2) / (2 * R**2)) / 2
        assert gaussian == pytest.approx(1, rel=1e-9)
        assert bounded < 1


def test_step_2_the_mixture_by_the_gaussian_formula(instance):
    """exp(-|y - g|^2 / 2 R^2) is a density in y but for (2 pi R^2)^(t / 2); averaged over g it is N(0, R^2 I + c K)."""
    S = instance.R**2 * np.eye(instance.t) + instance.c * instance.K
    log_det, quadratic = np.linalg.slogdet(2 * np.pi * S)[1], instance.y @ np.linalg.solve(S, instance.y)
    log_mean = instance.squares(instance.f) / (2 * instance.R**2)
    log_mean += instance.t / 2 * np.log(2 * np.pi * instance.R**2) - (log_det + quadratic) / 2
    assert log_mean == pytest.approx(instance.log_mixture, rel=1e-9, abs=1e-9)


def test_step_2_the_mixture_by_draws():
    """200000 rivals of a mild instance; the closed form lies within 4.9 standard errors of their mean."""
    instance = min(map(Instance, range(20)), key=lambda instance: instance.gain)
    draws = np.random.default_rng(42).standard_normal((200_000, len(instance.f))) * np.sqrt(instance.c)
    squares = ((instance.y - draws @ instance.Phi.T) ** 2).sum(axis=1)
    logs = (instance.squares(instance.f) - squares) / (2 * instance.R**2)
    estimate = np.exp(logsumexp(logs) - np.log(len(logs)))
    error = np.exp(logs).std() / np.sqrt(len(logs))
    assert error < 0.01 * estimate
    assert abs(estimate - np.exp(instance.log_mixture)) < 4.9 * error


def test_step_4_the_least_ridge_objective(instance):
    assert instance.squares(instance.mu) + instance.ridge * instance.mu @ instance.mu == pytest.approx(instance.least)
    residual = instance.y - instance.Phi @ instance.mu
    np.testing.assert_allclose(residual, np.linalg.solve(instance.A, instance.y), atol=1e-9)


def test_step_4_the_objective_is_quadratic(instance):
    off = instance.f - instance.mu
    excess = instance.squares(instance.f) + instance.ridge * instance.f @ instance.f - instance.least
    assert excess == pytest.approx(off @ instance.V @ off, rel=1e-9, abs=1e-9)


def test_step_5_the_quadratic_forms_cancel(instance):
    """|f - mu|_V^2 = lambda |f|^2 + 2 R^2 (log M + gain), so the ellipsoid is left if and only if M reaches 1/delta."""
    off = instance.f - instance.mu
    right = instance.ridge * instance.f @ instance.f + 2 * instance.R**2 * (instance.log_mixture + instance.gain)
    assert off @ instance.V @ off == pytest.approx(right, rel=1e-9, abs=1e-9)


def test_step_6_one_arm(instance):
    """sd^2 = lambda |phi|^2 in the norm of V^-1, and |f - mu| <= |f - mu|_V |phi| in that norm; all arms."""
    k = instance.features @ instance.Phi.T
    ridge = instance.K + instance.ridge * np.eye(instance.t)
    variance = (instance.features**2).sum(axis=1) - (k * np.linalg.solve(ridge, k.T).T).sum(axis=1)
    inverse = (instance.features * np.linalg.solve(instance.V, instance.features.T).T).sum(axis=1)
    np.testing.assert_allclose(variance, instance.ridge * inverse, atol=1e-9)
    off = instance.f - instance.mu
    error = np.abs(instance.features @ off)
    assert (error <= np.sqrt(off @ instance.V @ off) * np.sqrt(inverse) + 1e-9).all()
    norm = np.linalg.norm(instance.f)
    width = Tighter(0.1).at(instance.gain, norm=norm, noise_scale=instance.R, noise_variance=instance.ridge)
    radius = np.sqrt(instance.ridge * norm**2 + 2 * instance.R**2 * (instance.gain + np.log(10)))
    np.testing.assert_allclose(width * np.sqrt(variance), radius * np.sqrt(inverse), atol=1e-9)


SMOOTH = PosteriorMean(SquaredExponential(0.2), n_arms=30)
HORIZON = 100
SOURCES = {"lambda = R^2": SMOOTH, "lambda = 1 + 2 / T": Retold(SMOOTH, noise_variance=1 + 2 / HORIZON)}


def covered(source, width):
    experiment = Experiment(source, {"UCB": partial(UCB, width=width)}, HORIZON, record_band=True)
    trace = run_trials(experiment, 60, 62)["UCB"]
    return (trace.band_ratio <= 1).all(axis=1).sum(), trace.band_ratio.max()


@pytest.mark.parametrize("name", SOURCES)
def test_the_tighter_band_covers(name):
    """60 runs on 30 arms: 1 - delta = 0.9 promised; fewer than 46 would have probability below 1e-3 at 0.9."""
    runs, largest = covered(SOURCES[name], Tighter(0.1))
    assert runs >= 46
    assert largest > 0.1  # and is a band, not everything


def without_norm(policy):
    return math.sqrt(Tighter(0.1)(policy) ** 2 - policy.told.norm**2)


def norm_alone(policy):
    return policy.told.norm


@pytest.mark.parametrize(("name", "wrong"), [("lambda = 1 + 2 / T", without_norm), ("lambda = R^2", norm_alone)])
def test_a_band_that_lacks_either_term_does_not_cover(name, wrong):
    """A large ridge makes the norm count, a small one the noise: each test above would notice its loss."""
    assert covered(SOURCES[name], wrong)[0] < 46
