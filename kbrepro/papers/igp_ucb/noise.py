"""What noise alone does: the self-normalised inequality, and the sum of standard deviations.

With lambda the noise variance of the posterior (here 1 + 2 / T), K the kernel matrix of the pulls
and e the noise,

    |e|^2 in the norm of ((K + (lambda - 1) I)^-1 + I)^-1  =  e^T e - e^T (K + lambda I)^-1 e,

since A (A + I)^-1 = I - (A + I)^-1. A posterior that is given the noise gives the last term pull by
pull, as the sum of (e_t - mean(x_t))^2 / (variance(x_t) + lambda), and log det(K + lambda I) as
that of log(variance(x_t) + lambda).
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.problems import Model, Problem, Trial
from kbrepro.trials.simulation import rounds, start_policy
from kbrepro.typing import Array, Kernel


class NoiseRun(NamedTuple):
    """What a run on noise shows of Chowdhury & Gopalan, Theorem 1 and Lemma 4.

    `log_excess`: largest over rounds of |e|^2 / (2 R^2) - 1/2 log det(K + lambda I); the bound of
    Theorem 1 at delta is crossed if it exceeds log(1 / delta).

    `sd_ratio`: the sum of the standard deviations at the arms pulled, over sqrt(4 (T + 2) I_T) with
    I_T (nats) the gain of the pulls (Lemma 4 bounds it by 1 where k(x, x) <= 1).
    """

    log_excess: float
    sd_ratio: float


class RandomArms(Policy):
    """Pulls an arm at random in every round."""

    def choose(self) -> int:
        return self.any_arm()


def noise_runs(
    kernel: Kernel,
    points: Array,
    trial: Trial,
    *,
    noise_scale: float,
    policies: Mapping[str, Callable[..., Policy]],
    horizon: int,
) -> dict[str, NoiseRun]:
    """Return for every policy what a run on Gaussian noise, f = 0, at points (A, d) gives.

    lambda is 1 + 2 / horizon.
    """
    ridge = 1 + 2 / horizon
    model = Model(points, kernel, ridge, noise_scale)
    problem = Problem(model, np.zeros(len(points)))
    runs = {}
    for name, make in policies.items():
        policy = start_policy(make, model, horizon, trial)
        posterior = policy.posterior
        squared_norm = log_det = sum_of_sd = 0.0
        log_excess = -math.inf
        for _, arm, noise in rounds(policy, problem, horizon, trial.rng("noise")):
            variance = posterior.variance[arm]
            squared_norm += noise**2 - (noise - posterior.mean[arm]) ** 2 / (variance + ridge)
            log_det += math.log(variance + ridge)
            log_excess = max(log_excess, squared_norm / (2 * noise_scale**2) - log_det / 2)
            sum_of_sd += math.sqrt(variance)
        lemma_4 = math.sqrt(4 * (horizon + 2) * posterior.gain)
        # no gain: an arm of variance 0 throughout
        sd_ratio = sum_of_sd / lemma_4 if lemma_4 else 0.0
        runs[name] = NoiseRun(log_excess, sd_ratio)
    return runs
