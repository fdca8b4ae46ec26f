"""BKB: GP-UCB on a dictionary that is drawn anew after every pull (Calandriello et al., Alg. 1).

Its widths: `Budgeted` is that of Theorem 2, `Authors` that of the authors' code.
`confidence.AbbasiYadkori2011` on BKB is the width of exact GP-UCB with the log-determinant of the
sketch; for the sketch it is not proved.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.bandits.confidence import Probable
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.policies.base import learns
from kbrepro.bandits.problems import Model
from kbrepro.papers.bkb import sketch
from kbrepro.typing import Array

#: eps of Theorem 1.
ACCURACY = 0.5
#: (1 + eps) / (1 - eps): the theorem keeps every variance within this factor of the exact one.
ALPHA = 3.0


class BKB(UCB):
    """UCB on a `BudgetedPosterior`.

    The first arm is drawn uniformly. Dictionaries are drawn by a child of `rng`: to go on later the
    policy must be saved. Raises ValueError unless qbar >= 1.
    """

    takes: tuple[str, ...] = ("allowed",)
    posterior: sketch.BudgetedPosterior
    drawn_anew: type[sketch.BudgetedPosterior] = sketch.BudgetedPosterior

    def __init__(
        self, model: Model, horizon: int | None = None, *, qbar: float, **settings: Any
    ) -> None:
        self.qbar = qbar
        super().__init__(model, horizon, **settings)

    def prior(self, horizon: int | None) -> sketch.BudgetedPosterior:
        model = self.model
        child = self.rng.spawn(1)[0]
        prior = model.kernel, model.points, model.noise_variance
        return self.drawn_anew(*prior, self.qbar, child)

    @learns("posterior", "t", "_farthest")
    def learn(self, arm: int, observation: float, noise_variance: float | None = None) -> None:
        super().learn(arm, observation)

    def index(self) -> Array:
        # ties fall at random: one common value makes the first arm uniform whatever the kernel
        return np.zeros(self.model.n_arms) if self.t == 1 else super().index()


class ArmwiseBKB(BKB):
    """BKB on an `ArmwisePosterior`: the dictionary of the authors' later code."""

    drawn_anew = sketch.ArmwisePosterior


class FourierUCB(UCB):
    """UCB on a fixed number of random Fourier features, drawn once.

    Calandriello et al., Section 1.1, say that it may suffer linear regret. They are drawn by a
    child of `rng`: to go on later the policy must be saved. The kernel is the squared
    exponential.
    """

    takes: tuple[str, ...] = ("allowed",)
    posterior: sketch.FeaturePosterior

    def __init__(
        self, model: Model, horizon: int | None = None, *, n_features: int, **settings: Any
    ) -> None:
        self.n_features = n_features
        super().__init__(model, horizon, **settings)

    def prior(self, horizon: int | None) -> sketch.FeaturePosterior:
        model = self.model
        child = self.rng.spawn(1)[0]
        features = sketch.random_features(model.kernel, model.points, self.n_features, child)
        return sketch.FeaturePosterior(features, model.noise_variance)


@dataclass(frozen=True)
class Budgeted(Probable):
    """beta~ / sqrt(lambda) of Calandriello et al., Theorem 2; lambda is the noise variance.

    beta~ = 2 noise_scale sqrt(alpha log(squared_kappa pulls) S + log(1 / delta))
            + (1 + 1 / sqrt(1 - eps)) sqrt(lambda) norm

    S is the sum of variance / lambda over the pulls so far, squared_kappa the largest prior
    variance; the logarithm counts at least 2 pulls. It assumes rewards in units in which
    squared_kappa is about 1: another unit changes the arms. The paper divides sigma~ by
    sqrt(lambda); here the width is divided instead.
    """

    def __call__(self, policy: BKB) -> float:
        """Return the width of this round; ValueError on an unknown norm or a negative logarithm."""
        model = policy.model
        squared_kappa = float(model.kernel.diag(model.points).max())
        largest = squared_kappa * max(policy.t - 1, 2)
        if largest < 1:
            raise checks.refused("squared_kappa", squared_kappa, "at least 1 / pulls")
        grown = ALPHA * math.log(largest) * policy.posterior.summed_variance
        inside = grown + math.log(1 / self.delta)
        noise = 2 * model.noise_scale * math.sqrt(inside) / math.sqrt(model.noise_variance)
        return noise + (1 + 1 / math.sqrt(1 - ACCURACY)) * model.known_norm

    def smallest_qbar(self, horizon: int) -> float:
        """Return 6 alpha log(4 T / delta) / eps^2, the least for Theorem 1, T = `horizon`."""
        return 6 * ALPHA * math.log(4 * horizon / self.delta) / ACCURACY**2

    def regret_bound(self, model: Model, effective_dimension: float, horizon: int) -> float:
        """Return the bound of Theorem 2 on the regret of T = `horizon` >= 2 rounds.

        2 (2 alpha)^(3/2) sqrt(T) (noise_scale d log T + sqrt(lambda norm^2 d log T) + noise_scale
        log(1 / delta)), d the `effective_dimension` of the pulls. Holds with probability 1 - delta,
        for kernels of variance 1.
        """
        growth = effective_dimension * math.log(horizon)
        bias = model.known_norm * math.sqrt(model.noise_variance * growth)
        terms = model.noise_scale * growth + bias
        terms += model.noise_scale * math.log(1 / self.delta)
        return 2 * (2 * ALPHA) ** 1.5 * math.sqrt(horizon) * terms


@dataclass(frozen=True)
class Authors(Probable):
    """norm + noise_scale / sqrt(lambda) sqrt(log(pulls) S + log(1 / delta)).

    The width in the code of the authors of BKB: without the factor 2, alpha, and the terms in
    epsilon and kappa; S and lambda as in `Budgeted`. The logarithm counts at least 2 pulls.
    """

    def __call__(self, policy: BKB) -> float:
        """Return the width of this round; ValueError on an unknown norm."""
        model = policy.model
        grown = math.log(max(policy.t - 1, 2)) * policy.posterior.summed_variance
        noise = model.noise_scale * math.sqrt(grown + math.log(1 / self.delta))
        return model.known_norm + noise / math.sqrt(model.noise_variance)
