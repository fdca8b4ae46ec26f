"""Names of rules, the largest reward, and formulas of the theorems, by brute force, by hand and as properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import norm

from kbrepro.confidence import Chowdhury2017
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.igp_ucb import experiments
from kbrepro.papers.igp_ucb.problems import PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import ExpectedImprovement, MeanOnly, ProbabilityOfImprovement
from kbrepro.problems import Model, Problem, Trial, covariance_factor
from kbrepro.simulation import Experiment, rounds, run_trials

SE = SquaredExponential(0.2)


def test_each_variant_of_ei_and_pi_has_the_incumbent_and_the_margin_of_its_name():
    rules = experiments.improvement_rules(prior_sd=2.0)
    assert {*rules} == {name for pool in experiments.POOLS.values() for name in pool[3:]} and len(rules) == 10
    for name, rule in rules.items():
        margin = float(name.partition("margin ")[2] or 0) * 2
        incumbent = "noisy_reward" if "noisy" in name else "posterior_mean"
        assert rule.keywords == {"incumbent": incumbent, "margin": margin, "random_opening": True}
        assert rule.func is (ExpectedImprovement if name.startswith("EI") else ProbabilityOfImprovement)


def test_excess_of_the_largest_reward_is_that_of_the_run_that_was_played():
    source, expected = PosteriorMean(SE, n_arms=20), []
    trace = run_trials(Experiment(source, {"mean only": MeanOnly}, 30), 2, 7)["mean only"]
    for trial in (Trial(7, 0), Trial(7, 1)):
        problem = source(trial)
        seen = [y for *_, y in rounds(MeanOnly(problem.model, 30), problem, 30, trial.rng("run"))]
        excess = np.maximum.accumulate(seen) - problem.expected_reward.max()
        expected.append(excess / problem.model.noise_scale)
        assert experiments.scales(source, trial) == (problem.model.noise_scale, problem.model.norm)
    np.testing.assert_array_equal(experiments.excess_of_largest_reward(trace, source, 7), expected)


# Theorems


def test_theorem_3_bound_by_dense_algebra():
    """gamma_3 over two arms: the largest sum of log(1 + m eigenvalue / lambda) / 2 with m_1 + m_2 = 3, tried out."""
    model = Model(grid(2), SquaredExponential(0.9), 1 + 2 / 3, noise_scale=0.7, norm=1.5)
    k = model.kernel(model.points, model.points)[0, 1]
    gains = [
        [0.5 * math.log(1 + m * (1 + k) / (5 / 3)), 0.5 * math.log(1 + (3 - m) * (1 - k) / (5 / 3))] for m in range(4)
    ]
    gain = max(map(sum, gains))
    width = 1.5 + 0.7 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.1)))
    assert experiments.theorem_3_bound(model, 3, 0.1) == pytest.approx(2 * width * math.sqrt(4 * 5 * gain))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_log_exponent_is_that_of_the_two_widths(power):
    """At rounds 1e3 and 1e9, from `widths.Original` and `Chowdhury2017`, whose gain here is (ln t)^power."""
    rounds, log_ratio = (10**3, 10**9), []
    for t in rounds:
        gain = math.log(t) ** power
        old = Original(0.1, lambda before, gain=gain: gain).at(t, norm=1)
        log_ratio.append(math.log(old / Chowdhury2017(0.1).at(gain, norm=1, noise_scale=1)))
    expected = (log_ratio[1] - log_ratio[0]) / math.log(math.log(rounds[1]) / math.log(rounds[0]))
    assert experiments.log_exponent(power, tuple(map(math.log, rounds))) == pytest.approx(expected, rel=1e-10)
    far = [abs(experiments.log_exponent(power, (x, 10 * x)) - 1.5) for x in (1e4, 1e12)]
    assert far[1] < 1e-4 < far[0]  # it tends to 3/2


def test_lemma_7_is_false_below_its_limit_alone_to_thirty_digits():
    limit = experiments.lemma_7_fails_below()
    with mp.workdps(30):
        for factor in (1 - 1e-9, 1 + 1e-9):
            beta = mpf(limit) * mpf(factor)
            tail, below = mp.erfc(beta / mp.sqrt(2)) / 2, mp.exp(-(beta**2)) / (4 * mp.sqrt(mp.pi) * beta)
            assert (tail >= below) == (factor > 1)
    for beta, holds in [(np.linspace(1e-3, limit - 1e-9, 5000), False), (np.linspace(limit + 1e-9, 30, 5000), True)]:
        assert ((norm.sf(beta) >= experiments.anti_concentration(beta)) == holds).all()


@given(st.integers(1, 6), st.lists(st.floats(-2, 2), min_size=4, max_size=4).filter(lambda a: max(map(abs, a)) > 0.1))
@settings(max_examples=20, deadline=None)
def test_discretisation_of_a_function_of_known_norm(t, weights):
    """f = sum a_i k(c_i, .), given at its centres; 3001 is prime: no test point lies halfway between two points.

    A tenth of the norm and a fifth of L make a set of two percent of the points.
    """
    centres, slope = np.array([[0.1], [0.35], [0.6], [0.95]]), 5.0  # L: 1 / lengthscale
    a, K = np.array(weights), SE(centres, centres)
    problem = Problem(Model(centres, SE, 0.1, norm=float(np.sqrt(a @ K @ a))), K @ a)
    said = experiments.discretisation(problem, slope, t, n_probes=3002)
    n = math.ceil(problem.model.norm * slope * t**2)
    x, midpoints = np.linspace(0, 1, 3002), (np.arange(n) + 0.5) / n
    nearest = midpoints[np.abs(x[:, None] - midpoints).argmin(axis=1)]
    error = np.abs((SE(x[:, None], centres) - SE(nearest[:, None], centres)) @ a).max()
    assert [*said.values()] == pytest.approx([n, error, 1 / t**2], rel=1e-5)
    assert error <= 0.5 / t**2 * (1 + 1e-6)  # |x - [x]| <= 1 / (2 n)


def test_the_bound_of_theorem_4_by_hand():
    """Independent arms of variance 1: the gain of T = 4 pulls of 2 arms is log(1 + 2 / lambda)."""
    model = Model(np.array([[0.0], [99.0]]), SquaredExponential(0.2), 1.5, noise_scale=0.3, norm=2.0)
    gain, T, delta = math.log(1 + 2 / 1.5), 4, 0.1
    v = 2 + 0.3 * math.sqrt(2 * (gain + 1 + math.log(2 / delta)))
    c = v * (1 + math.sqrt(4 * math.log(T) + 2 * math.log(2 * 5 * T**2)))
    p = 1 / (4 * math.e * math.sqrt(math.pi))
    expected = 11 * c / p * math.sqrt(4 * (T + 2) * gain) + 5 * math.pi**2 / 6
    expected += 19 * c / p * math.sqrt(2 * T * math.log(2 / delta))
    assert experiments.theorem_4_bound(model, T, delta, 5.0) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_lemma_1_both_norms_are_one(seed, n):
    """Of n pulls in twenty dimensions: e' (K^-1 + I)^-1 e = S' V^-1 S, S = Phi' e, V = I + Phi' Phi."""
    rng = np.random.default_rng(seed)
    phi, e = rng.standard_normal((n, 20)), rng.standard_normal(n)
    K, V, S = phi @ phi.T, np.eye(20) + phi.T @ phi, phi.T @ e
    assert e @ np.linalg.solve(np.linalg.inv(K) + np.eye(n), e) == pytest.approx(S @ np.linalg.solve(V, S), rel=1e-6)


@given(st.floats(1e-3, 20))
def test_lemma_2_a_factor_has_mean_at_most_1(c):
    """E exp(c e - c^2 / 2) for noise of two points +-1, and uniform on [-1, 1]."""
    factors = np.array([np.cosh(c), np.sinh(c) / c]) * np.exp(-(c**2) / 2)
    assert (factors <= 1).all() and not (factors * np.exp(c**2 / 2) <= 1).any()


def test_lemmas_5_8_and_11_at_random():
    """Draws that leave the band at t = 2: at most 1/4; P(Z > 1) >= p; sums of 500 signs above Azuma's bound: 1/10."""
    rng, factor = np.random.default_rng(0), covariance_factor(SE(grid(50), grid(50)))
    draws = rng.standard_normal((2000, factor.shape[1])) @ factor.T
    assert 0 < (abs(draws).max(axis=1) > np.sqrt(2 * np.log(50 * 2**2))).mean() <= 1 / 4
    assert norm.sf(1) >= 1 / (4 * math.e * math.sqrt(math.pi)) == pytest.approx(experiments.anti_concentration(1.0))
    assert 0 < (2 * rng.binomial(500, 0.5, 2000) - 500 > np.sqrt(2 * np.log(10) * 500)).mean() <= 1 / 10
