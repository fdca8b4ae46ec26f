"""Names of rules, the largest reward, and numbers of the theorems, against brute force and cases made by hand."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm

from kbrepro.confidence import Improved
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.igp_ucb import experiments
from kbrepro.papers.igp_ucb.problems import PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import MeanOnly
from kbrepro.problems import Model, Problem, Trial
from kbrepro.simulation import Experiment, rounds, run_trials

SE = SquaredExponential(0.2)

# Rules


NAMES = {
    ("mean of pulled arms", 0.0): "EI",
    ("mean of pulled arms", 0.03): "EI, margin 0.03",
    ("noisy reward", 0.0): "EI, noisy incumbent",
    ("noisy reward", 0.1): "EI, noisy incumbent, margin 0.1",
}


# The incumbent


def test_excess_of_the_largest_reward_is_that_of_the_run_that_was_played():
    source, seen = PosteriorMean(SE, n_arms=20), []
    its = run_trials(Experiment(source, {"mean only": MeanOnly}, 30), 2, 7)["mean only"]
    for number in range(2):
        trial = Trial(7, number)
        problem = source(trial)
        seen.append([y for *_, y in rounds(MeanOnly(problem.model, 30), problem, 30, trial.rng("run"))])
    models = [source(Trial(7, n)).model for n in range(2)]
    tops = [[source(Trial(7, n)).expected_reward.max()] for n in range(2)]
    scales = [[model.noise_scale] for model in models]
    expected = (np.maximum.accumulate(seen, axis=1) - tops) / np.array(scales)
    np.testing.assert_array_equal(experiments.excess_of_largest_reward(its, source, 7), expected)
    assert experiments.scales(source, Trial(7, 1)) == (models[1].noise_scale, models[1].norm)


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


def test_rates_by_hand():
    """Theorem 3: B sqrt(T gamma) + sqrt(T gamma (gamma + ln 1/delta)); Theorem 4 as it is printed."""
    log, given = math.log, {"norm": 2.0, "delta": 0.1}
    theorem_3 = 2 * math.sqrt(500) + math.sqrt(500 * (5 + log(10)))
    theorem_4 = math.sqrt((5 + log(20)) * 3 * log(600)) * (math.sqrt(500) + 2 * math.sqrt(100 * log(20)))
    assert experiments.rate("IGP-UCB", 5.0, 100, **given) == pytest.approx(theorem_3)
    assert experiments.rate("GP-TS", 5.0, 100, **given, d=3) == pytest.approx(theorem_4)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_log_exponent_is_that_of_the_two_widths(power):
    """At rounds 1e3 and 1e9, from `widths.Original` and `Improved`, whose gain here is (ln t)^power."""
    rounds, log_ratio = (10**3, 10**9), []
    for t in rounds:
        gain = math.log(t) ** power
        old = Original(0.1, lambda before, gain=gain: gain).at(t, norm=1.3)
        log_ratio.append(math.log(old / Improved(0.1).at(gain, norm=1.3, noise_scale=0.6)))
    expected = (log_ratio[1] - log_ratio[0]) / math.log(math.log(rounds[1]) / math.log(rounds[0]))
    logs = tuple(math.log(t) for t in rounds)
    found = experiments.log_exponent(power, logs, norm=1.3, noise_scale=0.6, delta=0.1)
    assert found == pytest.approx(expected, rel=1e-10)
    far = [
        abs(experiments.log_exponent(power, (x, 10 * x), norm=1, noise_scale=1, delta=0.1) - 1.5) for x in (1e4, 1e12)
    ]
    assert far[1] < 1e-4 < far[0]  # it tends to 3/2


def test_lemma_7_is_false_below_its_limit_alone_to_thirty_digits():
    """P(Z > 1) = 0.15866 against exp(-1) / (4 sqrt(pi)) = 0.05189; below the limit the lemma's sign is wrong."""
    assert experiments.anti_concentration(1.0) == pytest.approx(0.05188844, rel=1e-6)
    limit = experiments.lemma_7_fails_below()
    assert limit == pytest.approx(0.343, abs=5e-4)
    with mp.workdps(30):
        for factor in (1 - 1e-9, 1 + 1e-9):
            beta = mpf(limit) * mpf(factor)
            tail, below = mp.erfc(beta / mp.sqrt(2)) / 2, mp.exp(-(beta**2)) / (4 * mp.sqrt(mp.pi) * beta)
            assert (tail >= below) == (factor > 1)
    for beta, holds in [(np.linspace(1e-3, limit - 1e-9, 5000), False), (np.linspace(limit + 1e-9, 30, 5000), True)]:
        assert ((norm.sf(beta) >= experiments.anti_concentration(beta)) == holds).all()


SLOPE = 5.0  # L of this kernel: the root of its mixed second derivative, 1 / lengthscale


def expansion():
    """f = sum a_i k(c_i, .), its norm known, told at its own centres."""
    centres = np.array([[0.1], [0.35], [0.6], [0.95]])
    a, K = np.array([1.0, -2.0, 1.5, 0.5]), SE(centres, centres)
    return Problem(Model(centres, SE, 0.1, norm=float(np.sqrt(a @ K @ a))), K @ a), centres, a


@pytest.mark.parametrize("t", [1, 3, 6])
def test_discretisation_of_a_function_of_known_norm(t):
    problem, centres, a = expansion()
    found = experiments.discretisation(problem, SLOPE, t, n_probes=3002)
    n = math.ceil(problem.model.norm * SLOPE * t**2)
    assert found["points of D_t"] == n and found["1 / t^2"] == 1 / t**2
    x = np.linspace(0, 1, 3002)  # 3001 is prime: no test point lies halfway between two points
    midpoints = (np.arange(n) + 0.5) / n
    nearest = midpoints[np.abs(x[:, None] - midpoints).argmin(axis=1)]
    error = np.abs((SE(x[:, None], centres) - SE(nearest[:, None], centres)) @ a).max()
    assert found["largest |f(x) - f([x])|"] == pytest.approx(error, rel=1e-6)
    assert 0.1 / t**2 < found["largest |f(x) - f([x])|"] <= 0.5 / t**2 * (1 + 1e-6)  # |x - [x]| <= 1 / (2 n)


def test_a_norm_that_is_too_small_breaks_the_bound():
    """A tenth of the norm and a fifth of L: the set is too coarse, and the function says so."""
    problem, _, _ = expansion()
    lying = Problem(Model(problem.model.points, SE, 0.1, norm=problem.model.norm / 10), problem.expected_reward)
    found = experiments.discretisation(lying, SLOPE / 5, 6, n_probes=3002)
    assert found["largest |f(x) - f([x])|"] > found["1 / t^2"]


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
