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

from kbrepro.kernels import Array, Kernel
from kbrepro.policies.index import IndexPolicy
from kbrepro.problems import Problem
from kbrepro.simulation import Policy, stream


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
