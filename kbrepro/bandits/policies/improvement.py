"""The acquisition rules EI and PI, expected and (most) probable improvement, in forms that do not
underflow.

The papers do not state the incumbent, although it decides the outcome. Before the first pull it is
the largest prior mean; afterwards one of these:

- `posterior_mean`: the largest posterior mean among the arms pulled so far.
- `noisy_reward`: the largest reward observed so far.
"""

from typing import Any

import numpy as np
from scipy.special import erfcx

from kbrepro import checks
from kbrepro.bandits.kernels import quiet
from kbrepro.bandits.policies.base import EVERYTHING, Policy, learns
from kbrepro.bandits.posterior import ExactPosterior
from kbrepro.bandits.problems import Model
from kbrepro.typing import Array

INCUMBENTS = ("posterior_mean", "noisy_reward")

_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)


@quiet
def log_expected_excess(z: Array) -> Array:
    """Return log(phi(z) + z Phi(z)), the log of E[max(z + N(0, 1), 0)], without underflow for z ->
    -inf.
    """
    z = np.asarray(z, dtype=float)
    middle = np.clip(z, -1e5, 10.0)
    mills = np.sqrt(np.pi / 2) * erfcx(-middle / np.sqrt(2))  # Phi(z) / phi(z)
    log = -0.5 * middle**2 - _LOG_ROOT_2PI + np.log1p(middle * mills)
    if (far := z < -1e5).any():
        log = np.where(far, -0.5 * z**2 - _LOG_ROOT_2PI - 2 * np.log(-np.minimum(z, -1e5)), log)
    if (above := z > 10.0).any():  # z to all digits
        log = np.where(above, np.log(np.maximum(z, 10.0)), log)
    return log


@quiet
def z_score(mean: Array, sd: Array, target: float | Array) -> Array:
    """Return (mean - target) / sd of every arm (A,); if the sd is 0, +inf above the target and -inf
    otherwise.
    """
    excess = mean - target
    return np.divide(excess, sd, out=np.where(excess > 0, np.inf, -np.inf), where=sd > 0)


@quiet
def log_expected_improvement(
    mean: Array, sd: Array, target: float | Array, unit: float = 1.0
) -> Array:
    """Return log E[max(f - target, 0) / unit] of every arm (A,).

    That is the log of sd (phi(z) + z Phi(z)) / unit, z = (mean - target) / sd.
    """
    excess = mean - target
    uncertain, index = sd > 0, np.full(excess.shape, -np.inf)
    if uncertain.all():
        return np.log(sd / unit) + log_expected_excess(excess / sd)
    np.log(excess / unit, out=index, where=~uncertain & (excess > 0))
    index[uncertain] = np.log(sd[uncertain] / unit) + log_expected_excess(
        excess[uncertain] / sd[uncertain]
    )
    return index


class ImprovementPolicy(Policy):
    """An index of how far, or how likely, an arm exceeds incumbent + margin (margin >= 0, in units
    of reward).
    """

    posterior: ExactPosterior
    unit = 1.0  # of a logarithm and of a z score

    def __init__(
        self,
        model: Model,
        horizon: int | None = None,
        *,
        incumbent: str = "posterior_mean",
        margin: float = 0.0,
        **settings: Any,
    ) -> None:
        checks.one_of(INCUMBENTS, incumbent=incumbent)
        checks.non_negative(margin=margin)
        super().__init__(model, horizon, **settings)
        self.incumbent, self.margin = incumbent, margin
        self._best_reward = -np.inf

    @learns("posterior", "t", "_farthest", "_best_reward")
    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        super().learn(arm, observation, noise_variance)
        self._best_reward = max(self._best_reward, observation)

    def target(self) -> float:
        """Return incumbent + margin, less `level`."""
        mean, pulled = self.centred(), self.posterior.counts > 0
        if not pulled.any():
            return float(mean.max()) + self.margin
        if self.incumbent == "noisy_reward":
            return self._best_reward - self.level + self.margin
        return float(mean[pulled].max()) + self.margin


class ExpectedImprovement(ImprovementPolicy):
    """EI, ranked by its logarithm: E[max(f - target, 0)], target = incumbent + margin."""

    takes = EVERYTHING

    def index(self) -> Array:
        return log_expected_improvement(
            self.centred(), self.posterior.sd, self.target(), self.prior_sd
        )


class ProbabilityOfImprovement(ImprovementPolicy):
    """MPI, ranked by z = (mean - target) / sd, which orders the arms as Phi(z) does.

    The margin must be given: with 0 it stays with the first arms that it pulls, with 0.03 prior
    standard deviations it explores. With margin 0 and the largest posterior mean of all arms as
    incumbent it would be the mean-only rule.
    """

    def __init__(
        self, model: Model, horizon: int | None = None, *, margin: float, **settings: Any
    ) -> None:
        super().__init__(model, horizon, margin=margin, **settings)

    def index(self) -> Array:
        return z_score(self.centred(), self.posterior.sd, self.target())
