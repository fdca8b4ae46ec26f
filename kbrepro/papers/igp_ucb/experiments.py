"""The rules that play in the notebook on IGP-UCB and GP-TS, and numbers of the theorems.

Rules of improvement are named by incumbent and margin: `EI` has the mean-based incumbent and margin 0, `EI, noisy
incumbent, margin 0.01` says what it has instead.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from kbrepro.confidence import Chowdhury2017
from kbrepro.information import allocated_gain
from kbrepro.kernels import Array, Linear, Matern, SquaredExponential
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.problems import Model

OURS = ("GP-UCB", "IGP-UCB", "GP-TS")
#: How EI and PI are named after incumbent and margin in prior standard deviations.
VARIANTS = {", noisy incumbent": ("noisy_reward", 0.0), "": ("posterior_mean", 0.0)}
VARIANTS |= {f", margin {margin:g}": ("posterior_mean", margin) for margin in (0.01, 0.03, 0.1)}
#: Variant -> the five rules of a figure.
POOLS = {variant: (*OURS, f"EI{variant}", f"PI{variant}") for variant in VARIANTS}
#: Panel of Fig. 1 -> the kernel of its functions, then wrong ones.
SE, MATERN = SquaredExponential, partial(Matern, nu=2.5)
GIVEN = {
    "(a) SE": (SE(0.2), SE(0.1), SE(0.4), MATERN(0.2)),
    "(b) Matérn": (MATERN(0.2), MATERN(0.1), MATERN(0.4), SE(0.2)),
}


def improvement_rules(prior_sd: float = 1.0) -> dict[str, Any]:
    """Return EI and PI by name, in each variant; the first arm is random."""
    rules = {}
    for variant, (incumbent, margin) in VARIANTS.items():
        for name, rule in (("EI", ExpectedImprovement), ("PI", ProbabilityOfImprovement)):
            settings: Any = {"incumbent": incumbent, "margin": margin * prior_sd, "random_opening": True}
            rules[name + variant] = partial(rule, **settings)
    return rules


# Theorems


def proved(T: int) -> dict[str, OtherModel]:
    """Return sources of functions of known norm whose policies have the lambda of the theorems, 1 + 2 / T."""
    sources = {
        "SE": PosteriorMean(SE(0.2), n_arms=100),
        "Matérn": PosteriorMean(MATERN(0.2), n_arms=100),
        "linear": PosteriorMean(Linear(1 / 3), n_arms=100, d=3),
    }
    return {name: OtherModel(source, noise_variance=1 + 2 / T) for name, source in sources.items()}


def max_gain(model: Model, T: int) -> float:
    """Return the spectral bound on gamma_T (nats)."""
    K = model.kernel(model.points, model.points)
    return float(allocated_gain(eigvalsh(K), model.noise_variance, T)[-1])


def theorem_3_bound(model: Model, horizon: int, delta: float) -> float:
    """Return 2 beta_T sqrt(4 (T + 2) gamma_T), gamma_T by the spectral bound (Chowdhury & Gopalan, Theorem 3)."""
    gain = max_gain(model, horizon)
    return 2 * Chowdhury2017(delta).of(model, gain) * math.sqrt(4 * (horizon + 2) * gain)


def theorem_4_bound(model: Model, horizon: int, delta: float, lipschitz: float = 5.0) -> float:
    """Return the bound on R_T with the constants of the proof, d = 1, r = 1 (Chowdhury & Gopalan, Theorem 4, App. E).

    `lipschitz` is the L of the paper, 1 over the lengthscale for the SE kernel.

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

    log = np.array(logs)
    original = np.sqrt(2 + 300 * log**power * (log - math.log(delta)) ** 3)  # `widths.Original`
    ratio = np.log(original / Chowdhury2017(delta).at(log**power, norm=1, noise_scale=1))
    return float((np.diff(ratio) / np.diff(np.log(log)))[0])


def anti_concentration(beta: Array | float) -> Array:
    """Return exp(-beta^2) / (4 sqrt(pi) beta), which Lemma 7 puts below P(Z > beta), same shape as beta > 0."""
    return np.exp(-(beta**2)) / (4 * math.sqrt(math.pi) * beta)
