"""Makers of policies that open with a random arm and may be told the RKHS norm of the expected reward."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kbrepro.policies.base import BandPolicy, IndexPolicy
from kbrepro.policies.thompson import ThompsonSampling
from kbrepro.posterior import CovariancePosterior, exact_posterior
from kbrepro.problems import Problem


class RandomOpening:
    """A policy whose first arm is drawn uniformly from `rng`: the same for all policies of a trial."""

    def __init__(self, policy: IndexPolicy) -> None:
        self.policy = policy

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull."""
        if self.policy.t == 1:
            return int(rng.integers(self.policy.posterior.n_arms))
        return self.policy.ask(rng)

    def tell(self, arm: int, observation: float) -> None:
        """Take in the observed reward of `arm`."""
        self.policy.tell(arm, observation)

    def band_ratio(self, expected_reward: np.ndarray) -> float:
        """Return that of the policy, which must have a confidence band."""
        return self.policy.band_ratio(expected_reward)


def opening_at_random(policy: Callable[..., IndexPolicy], **settings: Any) -> Callable[[Problem, int], RandomOpening]:
    """Return a maker of `policy(posterior, **settings)` that opens with a random arm."""
    return partial(_opening_at_random, policy, **settings)


def told_norm(
    policy: type[BandPolicy], width: Callable[..., float], of_gain: bool = False
) -> Callable[[Problem, int], RandomOpening]:
    """Return a maker of a policy with a confidence band that opens with a random arm.

    `width(t, ...)`, or `width(gain, ...)` with `of_gain`, is told whichever of `norm` (the problem's RKHS norm),
    `noise_scale` (the standard deviation of its noise) and `noise_variance` (that of the posterior) it asks for.
    """
    return partial(_told_norm, policy, width=width, of_gain=of_gain)


def _opening_at_random(
    policy: Callable[..., IndexPolicy], problem: Problem, horizon: int, **settings: Any
) -> RandomOpening:
    # Thompson sampling needs the covariance, however short the horizon
    if policy is ThompsonSampling:
        posterior = CovariancePosterior(problem.kernel, problem.arms, problem.noise_variance)
    else:
        posterior = exact_posterior(problem.kernel, problem.arms, problem.noise_variance, horizon)
    return RandomOpening(policy(posterior, **settings))


def _told_norm(
    policy: type[BandPolicy], problem: Problem, horizon: int, width: Callable[..., float], of_gain: bool
) -> RandomOpening:
    known = {
        "norm": problem.norm,
        "noise_scale": problem.noise_sd,
        "noise_variance": problem.noise_variance,
    }
    asked = {name: value for name, value in known.items() if name in inspect.signature(width).parameters}
    return _opening_at_random(policy, problem, horizon, width=partial(width, **asked), of_gain=of_gain)
