"""The rules that play in the notebook on IGP-UCB and GP-TS, and numbers of the theorems.

Rules of improvement are named by incumbent and margin: `EI` has the mean-based incumbent and margin 0, `EI, noisy
incumbent, margin 0.01` says what it has instead.
"""

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product

import numpy as np
from scipy.linalg import eigvalsh
from scipy.optimize import brentq
from scipy.special import ndtr

from kbrepro.confidence import Improved
from kbrepro.information import allocated_gain
from kbrepro.kernels import Array
from kbrepro.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.policies.improvement import ImprovementPolicy
from kbrepro.problems import Model, Problem, Trial
from kbrepro.regret import Trace
from kbrepro.simulation import observations

#: How the rules file names the two incumbents -> how the policies do.
INCUMBENTS = {"noisy reward": "noisy_reward", "mean of pulled arms": "posterior_mean"}
OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
#: Part of a claim whose incumbent is a mean -> the margin of EI and PI that it is about.
_MARGINS = {"mean_0": 0.0, "mean_001": 0.01, "mean_003": 0.03, "mean_01": 0.1}
#: Part of a claim -> the incumbent and margin of EI and PI that it is about.
INTERPRETATIONS = {"noisy": ("noisy reward", 0.0)} | {part: ("mean of pulled arms", m) for part, m in _MARGINS.items()}


# Rules


def named(rule: str, incumbent: str, margin: float) -> str:
    """Return the name of EI or PI with an incumbent (as in INCUMBENTS) and a margin in prior standard deviations."""
    return rule + ", noisy incumbent" * (incumbent == "noisy reward") + f", margin {margin:g}" * (margin > 0)


def pool(incumbent: str, margin: float = 0.0) -> tuple[str, ...]:
    """Return the names of the paper's five rules, EI and PI with this incumbent and margin."""
    return (*OURS, named("EI", incumbent, margin), named("PI", incumbent, margin))


#: Incumbent and margin -> the five rules of a figure.
POOLS = {part: pool(*case) for part, case in INTERPRETATIONS.items()}
Cases = Iterable[tuple[str, float]]


def improvement_rules(cases: Cases, prior_sd: float = 1.0) -> dict[str, partial[ImprovementPolicy]]:
    """Return EI and PI by name, for each (incumbent, margin in prior standard deviations); the first arm is random."""
    found = {}
    both: dict[str, type[ImprovementPolicy]] = {"EI": ExpectedImprovement, "PI": ProbabilityOfImprovement}
    for (incumbent, margin), (name, rule) in product(cases, both.items()):
        made = partial(rule, incumbent=INCUMBENTS[incumbent], margin=margin * prior_sd, random_opening=True)
        found[named(name, incumbent, margin)] = made
    return found


# The incumbent


def excess_of_largest_reward(trace: Trace, source: Callable[[Trial], Problem], seed: int) -> Array:
    """Return how far the largest reward so far lies above the largest expected one, in noise scales, (n, T).

    The trace is that of trials 0 to n - 1 of `seed`, whose noise is drawn again.
    """
    found = []
    for number, arms in enumerate(trace.arms):
        trial = Trial(seed, number)
        problem = source(trial)
        rewards = observations(problem, arms, trial.rng("run"))
        found.append((np.maximum.accumulate(rewards) - problem.expected_reward.max()) / problem.model.noise_scale)
    return np.array(found)


def scales(source: Callable[[Trial], Problem], trial: Trial) -> tuple[float, float]:
    """Return the noise scale R and the norm B that the policies of a trial are given: a job for `map_trials`."""
    model = source(trial).model
    return model.noise_scale, model.known_norm


# Theorems


def theorem_3_bound(model: Model, horizon: int, delta: float) -> float:
    """Return 2 beta_T sqrt(4 (T + 2) gamma_T), gamma_T by the spectral bound (Chowdhury & Gopalan, Theorem 3)."""
    spectrum = eigvalsh(model.kernel(model.points, model.points))
    gain = allocated_gain(spectrum, model.noise_variance, horizon)[-1]
    return 2 * Improved(delta).of(model, gain) * math.sqrt(4 * (horizon + 2) * gain)


def theorem_4_bound(model: Model, horizon: int, delta: float, lipschitz: float) -> float:
    """Return the bound on R_T with the constants of the proof, d = 1, r = 1 (Chowdhury & Gopalan, Theorem 4, App. E).

    11 c_T / p sqrt(4 (T + 2) gamma_T) + (2 B + 1) pi^2 / 6 + (4 B + 11) c_T / p sqrt(2 T ln(2 / delta)), with
    c_T = v_T (1 + sqrt(4 ln T + 2 ln(B L T^2))), p = 1 / (4 e sqrt(pi)); gamma_T by the spectral bound.
    """
    B, T = model.known_norm, horizon
    gain = allocated_gain(eigvalsh(model.kernel(model.points, model.points)), model.noise_variance, T)[-1]
    c = Improved(delta / 2).of(model, gain) * (1 + math.sqrt(4 * math.log(T) + 2 * math.log(B * lipschitz * T**2)))
    by_p = 4 * math.e * math.sqrt(math.pi)
    widths = 11 * c * by_p * math.sqrt(4 * (T + 2) * gain)
    return widths + (2 * B + 1) * math.pi**2 / 6 + (4 * B + 11) * c * by_p * math.sqrt(2 * T * math.log(2 / delta))


def rate(rule: str, gain: float, T: int, *, norm: float, delta: float, d: int = 1) -> float:
    """Return the rate of R_T without its constant: Theorem 3 for IGP-UCB, Theorem 4 for GP-TS."""
    if rule == "IGP-UCB":
        return norm * math.sqrt(T * gain) + math.sqrt(T * gain * (gain + math.log(1 / delta)))
    return math.sqrt((gain + math.log(2 / delta)) * d * math.log(norm * d * T)) * (
        math.sqrt(T * gain) + norm * math.sqrt(T * math.log(2 / delta))
    )


def log_exponent(power: int, logs: tuple[float, float], *, norm: float, noise_scale: float, delta: float) -> float:
    """Return the exponent of ln t in the width of GP-UCB over that of IGP-UCB between two values of ln t.

    The gain is (ln t)^power. In logarithms, since the exponent settles far beyond any round that is played.
    """

    def log_ratio(log: float) -> float:
        original = math.sqrt(2 * norm**2 + 300 * log**power * (log - math.log(delta)) ** 3)  # `widths.Original`
        return math.log(original / Improved(delta).at(log**power, norm=norm, noise_scale=noise_scale))

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
