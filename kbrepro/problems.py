"""Bandit problems: arms, the expected reward of each, the noise, and the kernel that the policies are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpstrf

from kbrepro import checks
from kbrepro.kernels import Array, Empirical, Kernel

#: Pivoted Cholesky stops when no arm has more than this share of the largest variance left.
FACTOR_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Problem:
    """Arms (A, d), expected reward (A,), Gaussian noise, and what the policies are told of them.

    The policies' posterior uses `kernel` and `noise_variance`, which need not be the variance of the noise that is
    added: that has the scale `noise_sd`, by default the root of `noise_variance`. `norm` bounds the RKHS norm of the
    expected reward, where that is known: for policies whose width is made from it.

    Raises ValueError if the shapes disagree, a reward is not finite or the noise variance not positive.
    """

    arms: Array
    expected_reward: Array
    noise_variance: float
    kernel: Kernel
    noise_sd: float | None = None
    norm: float | None = None

    def __post_init__(self) -> None:
        checks.positive(noise_variance=self.noise_variance)
        if self.noise_sd is None:
            object.__setattr__(self, "noise_sd", float(np.sqrt(self.noise_variance)))
        checks.non_negative(noise_sd=self.noise_sd)
        if self.norm is not None:
            checks.positive(norm=self.norm)
        if np.ndim(self.arms) != 2 or np.shape(self.expected_reward) != (len(self.arms),):
            shapes = f"arms {np.shape(self.arms)}, expected_reward {np.shape(self.expected_reward)}"
            raise ValueError(f"the shapes disagree: {shapes}; they must be (A, d) and (A,)")
        checks.finite_array(arms=self.arms, expected_reward=self.expected_reward)

    def pull(self, arm: int, rng: np.random.Generator) -> float:
        """Return the reward of `arm` with noise drawn from `rng`; IndexError on a bad arm."""
        checks.arm_index(arm, len(self.arms))
        return float(self.expected_reward[arm] + self.noise_sd * rng.standard_normal())

    def regret(self, arms: np.ndarray) -> Array:
        """Return the instantaneous regret of pulling `arms`, same shape, at least 0."""
        return self.expected_reward.max() - self.expected_reward[arms]


def covariance_factor(K: Array) -> Array:
    """Return F (A, r) with F F^T = K (A, A) up to FACTOR_TOLERANCE max(diag K), by pivoted Cholesky.

    Smooth kernels are numerically singular (rank 19 for 1000 points of the squared exponential, lengthscale 0.2),
    and K is never inverted.
    """
    c, pivots, rank, _ = dpstrf(K, tol=FACTOR_TOLERANCE * K.diagonal().max(), lower=1)
    factor = np.zeros((len(K), rank))
    factor[pivots - 1] = np.tril(c)[:, :rank]
    return factor


def draw_from_prior(kernel: Kernel, arms: Array, rng: np.random.Generator) -> Array:
    """Return one draw (A,) of f ~ GP(0, kernel) at the arms (A, d)."""
    factor = covariance_factor(kernel(arms, arms))
    return factor @ rng.standard_normal(len(arms))[: factor.shape[1]]


def gp_draw(rng: np.random.Generator, trial: int, kernel: Kernel, arms: Array, noise_variance: float) -> Problem:
    """Return a problem whose expected reward is a draw from the prior that the policies are told (any `trial`)."""
    return Problem(arms, draw_from_prior(kernel, arms, rng), noise_variance, kernel)


def sensor_field(
    rng: np.random.Generator, trial: int, covariance: Array, fields: Array, noise_variance: float
) -> Problem:
    """Return the problem of trial number `trial`: row `trial` of fields (n, A) is the expected reward.

    `covariance` (A, A) is the kernel matrix. Nothing is drawn from `rng`. Raises IndexError past the last field.
    """
    if not 0 <= trial < len(fields):
        raise IndexError(f"trial = {trial} is not allowed: there are {len(fields)} fields, 0 to {len(fields) - 1}")
    kernel = Empirical(covariance)
    return Problem(kernel.points, fields[trial], noise_variance, kernel)


class BoundedNoiseProblem(Problem):
    """A problem whose noise is uniform on [-noise_sd, noise_sd]."""

    def pull(self, arm: int, rng: np.random.Generator) -> float:
        checks.arm_index(arm, len(self.arms))
        return float(self.expected_reward[arm] + self.noise_sd * rng.uniform(-1, 1))


def rkhs_function(
    rng: np.random.Generator,
    trial: int,
    kernel: Kernel,
    arms: Array,
    noise_variance: float,
    squared_norm: float,
    n_centres: int = 20,
) -> Problem:
    """Return a problem with bounded noise whose expected reward has exactly this squared RKHS norm (any `trial`).

    f = sum_i a_i k(c_i, .) with n_centres arms drawn without replacement as centres and normal weights a, scaled so
    that a^T K a = squared_norm.
    """
    checks.positive(squared_norm=squared_norm)
    checks.positive_int(n_centres=n_centres)
    centres = arms[rng.choice(len(arms), n_centres, replace=False)]
    weights = rng.standard_normal(n_centres)
    weights *= np.sqrt(squared_norm / (weights @ kernel(centres, centres) @ weights))
    return BoundedNoiseProblem(arms, kernel(arms, centres) @ weights, noise_variance, kernel)
