"""What noise alone does to a posterior: the self-normalised inequality, and the sum of standard deviations.

With lambda the noise variance of the posterior (here 1 + 2 / T), K the kernel matrix of the pulls and e the noise,

    |e|^2 in the norm of ((K + (lambda - 1) I)^-1 + I)^-1  =  e^T e - e^T (K + lambda I)^-1 e,

since A (A + I)^-1 = I - (A + I)^-1. A posterior that is told the noise gives the last term pull by pull, as the sum of
(e_t - mean(x_t))^2 / (variance(x_t) + lambda), and 1/2 log det(K + lambda I) as its gain + (t / 2) log lambda.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from kbrepro import checks, information
from kbrepro.confidence import improved_rkhs
from kbrepro.kernels import Array, Kernel
from kbrepro.policies.base import IndexPolicy
from kbrepro.problems import Problem
from kbrepro.simulation import Policy, stream

FORMULAS = ("constant", "linear", "squared exponential", "matern")


def gain_by_formula(t: int, *, kernel: str, d: int = 1, nu: float = 2.5, factor: float = 1.0) -> float:
    """Return factor times the rate of gamma_t (nats) without its constant, at least at t = 1, where logarithms are 0.

    1 for `constant` (Chowdhury & Gopalan's sensors), else as `information.gain_rate` (Srinivas et al., Theorem 5).
    """
    checks.one_of(FORMULAS, kernel=kernel)
    checks.non_negative(factor=factor)
    return factor if kernel == "constant" else factor * float(information.gain_rate(kernel, max(t, 1), d, nu))


def improved(t: int, *, gain: Callable[[int], float], norm: float, noise_scale: float, delta: float) -> float:
    """Return norm + noise_scale sqrt(2 (gain(t - 1) + 1 + log(1 / delta))).

    Chowdhury & Gopalan, Algorithm 1 (IGP-UCB); GP-TS, Algorithm 2, has delta / 2 in the place of delta.
    """
    checks.positive_int(t=t)
    return improved_rkhs(gain(t - 1), norm=norm, noise_scale=noise_scale, delta=delta)


def original(t: int, *, gain: Callable[[int], float], norm: float, delta: float) -> float:
    """Return sqrt(2 norm^2 + 300 gain(t - 1) log^3(t / delta)).

    The GP-UCB of Chowdhury & Gopalan, Section 3: Theorem 3 of Srinivas et al. with gamma_{t-1} for gamma_t.
    """
    checks.positive_int(t=t)
    checks.positive(norm=norm)
    checks.probability(delta=delta)
    return math.sqrt(2 * norm**2 + 300 * gain(t - 1) * math.log(t / delta) ** 3)


class NoiseRun(NamedTuple):
    """`log_excess`: largest over rounds of |e|^2 / (2 R^2) - 1/2 log det(K + lambda I); the bound of Chowdhury &
    Gopalan, Theorem 1, at delta is crossed if it exceeds log(1 / delta).

    `sd_ratio`: the sum of the standard deviations at the arms pulled, over sqrt(4 (T + 2) I_T) with I_T (nats) the gain
    of the pulls (Lemma 4 bounds it by 1 where k(x, x) <= 1).
    """

    log_excess: float
    sd_ratio: float


class RandomArms(IndexPolicy):
    """Pulls an arm at random in every round."""

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull."""
        return int(rng.integers(self.posterior.n_arms))


def noise_runs(
    seed: int,
    trial: int,
    kernel: Kernel,
    arms: Array,
    noise_scale: float,
    horizon: int,
    rules: Mapping[str, Callable[[Problem, int], Policy]],
) -> dict[str, NoiseRun]:
    """Return for every rule of choosing arms what a run on Gaussian noise, f = 0, gives; lambda = 1 + 2 / horizon.

    `rules` are makers of policies that keep a `posterior`; a function for `simulation.map_trials`.
    """
    problem = Problem(arms, np.zeros(len(arms)), 1 + 2 / horizon, kernel, noise_scale)
    return {
        name: noise_run(make(problem, horizon), problem, horizon, stream(seed, trial, "run"))
        for name, make in rules.items()
    }


def noise_run(policy: Policy, problem: Problem, horizon: int, rng: np.random.Generator) -> NoiseRun:
    """Return what one policy's run of `horizon` pulls of a problem with expected reward 0 gives."""
    noise_rng, policy_rng = rng.spawn(2)
    posterior, ridge = policy.posterior, problem.noise_variance
    squared_norm = sum_of_sd = 0.0
    log_excess = -math.inf
    for t in range(1, horizon + 1):
        arm = policy.ask(policy_rng)
        noise = problem.pull(arm, noise_rng)
        variance = posterior.variance[arm]
        squared_norm += noise**2 - (noise - posterior.mean[arm]) ** 2 / (variance + ridge)
        sum_of_sd += math.sqrt(variance)
        policy.tell(arm, noise)
        half_log_det = posterior.gain + t / 2 * math.log(ridge)
        log_excess = max(log_excess, squared_norm / (2 * problem.noise_sd**2) - half_log_det)
    lemma_4 = math.sqrt(4 * (horizon + 2) * posterior.gain)
    return NoiseRun(log_excess, sum_of_sd / lemma_4 if lemma_4 else 0.0)  # no gain: an arm of variance 0 throughout
