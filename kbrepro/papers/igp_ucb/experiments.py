"""The rules that play in the notebook on IGP-UCB and GP-TS, and numbers of the theorems.

Rules of improvement are named by incumbent and margin: `EI` has the mean-based incumbent and margin 0, `EI, noisy
incumbent, margin 0.01` says what it has instead.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.optimize import brentq
from scipy.special import ndtr

from kbrepro.confidence import Chowdhury2017
from kbrepro.information import allocated_gain
from kbrepro.kernels import Array
from kbrepro.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.problems import Model, Problem, Trial
from kbrepro.regret import Curve
from kbrepro.simulation import observations

OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
MARGINS = (0.0, 0.01, 0.03, 0.1)
MARGINS = (0.0, 0.01, 0.03, 0.1)
#: How EI and PI are named after incumbent and margin in prior standard deviations.
VARIANTS = {", noisy incumbent": ("noisy_reward", 0.0)}
VARIANTS |= {f", margin {margin:g}" if margin else "": ("posterior_mean", margin) for margin in MARGINS}
#: Variant -> the five rules of a figure.
POOLS = {variant: (*OURS, f"EI{variant}", f"PI{variant}") for variant in VARIANTS}


def improvement_rules(prior_sd: float = 1.0) -> dict[str, Any]:
    """Return EI and PI by name, in each variant; the first arm is random."""
    rules = {}
    for variant, (incumbent, margin) in VARIANTS.items():
        for name, rule in (("EI", ExpectedImprovement), ("PI", ProbabilityOfImprovement)):
            settings: Any = {"incumbent": incumbent, "margin": margin * prior_sd, "random_opening": True}
            rules[name + variant] = partial(rule, **settings)
    return rules


# The incumbent


def excess_of_largest_reward(trace: Curve, source: Callable[[Trial], Problem], seed: int) -> Array:
    """Return how far the largest reward so far lies above the largest expected one, in noise scales, (n, T).

    The trace is that of trials 0 to n - 1 of `seed`, whose noise is drawn again.
    """
    excess = []
    for number, arms in enumerate(trace.arms):
        trial = Trial(seed, number)
        problem = source(trial)
        rewards = observations(problem, arms, trial.rng("run"))
        excess.append((np.maximum.accumulate(rewards) - problem.expected_reward.max()) / problem.model.noise_scale)
    return np.array(excess)


def scales(source: Callable[[Trial], Problem], trial: Trial) -> tuple[float, float]:
    """Return the noise scale R and the norm B that the policies of a trial are given: a job for `map_trials`."""
    model = source(trial).model
    return model.noise_scale, model.known_norm


# Theorems


def max_gain(model: Model, T: int) -> float:
    """Return the spectral bound on gamma_T (nats)."""
    K = model.kernel(model.points, model.points)
    return float(allocated_gain(eigvalsh(K), model.noise_variance, T)[-1])


def theorem_3_bound(model: Model, horizon: int, delta: float) -> float:
    """Return 2 beta_T sqrt(4 (T + 2) gamma_T), gamma_T by the spectral bound (Chowdhury & Gopalan, Theorem 3)."""
    gain = max_gain(model, horizon)
    return 2 * Chowdhury2017(delta).of(model, gain) * math.sqrt(4 * (horizon + 2) * gain)


def theorem_4_bound(model: Model, horizon: int, delta: float, lipschitz: float) -> float:
    """Return the bound on R_T with the constants of the proof, d = 1, r = 1 (Chowdhury & Gopalan, Theorem 4, App. E).

    11 c_T / p sqrt(4 (T + 2) gamma_T) + (2 B + 1) pi^2 / 6 + (4 B + 11) c_T / p sqrt(2 T ln(2 / delta)), with
    c_T = v_T (1 + sqrt(4 ln T + 2 ln(B L T^2))), p = 1 / (4 e sqrt(pi)); gamma_T by the spectral bound.
    """
    B, T, gain = model.known_norm, horizon, max_gain(model, horizon)
    c = Chowdhury2017(delta / 2).of(model, gain) * (1 + math.sqrt(4 * math.log(T) + 2 * math.log(B * lipschitz * T**2)))
    by_p = 4 * math.e * math.sqrt(math.pi)
    widths = 11 * c * by_p * math.sqrt(4 * (T + 2) * gain)
    return widths + (2 * B + 1) * math.pi**2 / 6 + (4 * B + 11) * c * by_p * math.sqrt(2 * T * math.log(2 / delta))


def log_exponent(power: int, logs: tuple[float, float], delta: float = 0.1) -> float:
    """Return the exponent of ln t in the width of GP-UCB over that of IGP-UCB between two values of ln t; B = R = 1.

    The gain is (ln t)^power. In logarithms, since the exponent settles far beyond any round that is played.
    """

    def log_ratio(log: float) -> float:
        original = math.sqrt(2 + 300 * log**power * (log - math.log(delta)) ** 3)  # `widths.Original`
        return math.log(original / Chowdhury2017(delta).at(log**power, norm=1, noise_scale=1))

    return (log_ratio(logs[1]) - log_ratio(logs[0])) / math.log(logs[1] / logs[0])


def anti_concentration(beta: Array | float) -> Array:
    """Return exp(-beta^2) / (4 sqrt(pi) beta), which Lemma 7 puts below P(Z > beta), same shape as beta > 0."""
    return np.exp(-(beta**2)) / (4 * math.sqrt(math.pi) * beta)


def lemma_7_fails_below() -> float:
    """Return the beta below which P(Z > beta) is less than `anti_concentration`, the only one where they are equal."""
    return float(brentq(lambda beta: ndtr(-beta) - anti_concentration(beta), 0.1, 1))


def discretisation(problem: Problem, lipschitz: float, t: int, n_probes: int = 20_001) -> dict[str, float]:
    """Return size, largest |f(x) - f([x])| and the allowed 1 / t^2 of the set D_t on [0, 1] (Theorem 4).

    f is the kernel expansion through the arms' expected rewards, [x] the nearest of B L t^2 equispaced points,
    `lipschitz` the L of the paper: B L bounds the slope of f.
    """
    model, x = problem.model, np.linspace(0, 1, n_probes)[:, None]
    K = model.kernel(model.points, model.points)
    weights = np.linalg.solve(K + 1e-10 * np.eye(len(K)), problem.expected_reward)
    n = math.ceil(model.known_norm * lipschitz * t**2)
    nearest = (np.clip(np.round(x * n - 0.5), 0, n - 1) + 0.5) / n
    error = np.abs((model.kernel(x, model.points) - model.kernel(nearest, model.points)) @ weights).max()
    return {"points of D_t": n, "largest |f(x) - f([x])|": float(error), "1 / t^2": 1 / t**2}
