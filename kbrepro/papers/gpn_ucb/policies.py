"""GPN-UCB, non-adaptive sampling, policies that see the reward alone, and rivals: cUCB and OI."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kbrepro.bandits.kernels import grid
from kbrepro.bandits.policies import UCB, ExpectedImprovement
from kbrepro.bandits.policies.base import AskTell, IndexPolicy, Seed, best_arm
from kbrepro.bandits.problems import Model
from kbrepro.papers.gpn_ucb.network import NOISE_VARIANCE, NetworkModel, NetworkProblem, Observation
from kbrepro.papers.gpn_ucb.posterior import ChainPosterior, LayerPosterior
from kbrepro.papers.gpn_ucb.sets import BallSets, BoxSets
from kbrepro.typing import Array, Integers


class GPNUCB(IndexPolicy):
    """GPN-UCB: the arm with the largest upper confidence bound (Li & Scarlett, Algorithm 1).

    `settings` are those of its sets. The outputs of the layers are in a unit in which kernels have
    variance 1, as in all rules for networks. Bounds tie often: to go on later in the same order of
    ties it must be saved.
    """

    model: NetworkModel
    posterior: BoxSets | BallSets

    def __init__(
        self, model: NetworkModel, horizon: int | None = None, *, rng: Seed = 0, **settings: Any
    ) -> None:
        self._settings = settings
        super().__init__(model, horizon, rng=rng)

    def prior(self, horizon: int | None) -> BoxSets | BallSets:
        return self.model.structure.sets(self.model, **self._settings)

    def index(self) -> Array:
        return self.posterior.bounds()[1]


def uniform_design(points: Array, per_side: int) -> Integers:
    """Return the arms nearest to the centres of per_side^d equal cells of the points' (A, d) box.

    The fill distance is half a cell's diagonal, of the order T^(-1/d), up to the arms' spacing.
    """
    low = points.min(axis=0)
    high = points.max(axis=0)
    half = 0.5 / per_side
    centres = low + grid(per_side, points.shape[1], half, 1 - half) * (high - low)
    return np.array([best_arm(-np.sum((points - c) ** 2, axis=1)) for c in centres])


def nonadaptive(problem: NetworkProblem, per_side: int) -> tuple[Array, list[Array]]:
    """Return the composite mean (A,) after pulls of a uniform design, and the layers' sds (A,).

    Non-adaptive sampling (Li & Scarlett, Algorithm 2) recommends the arm where the mean is largest.
    Mean and sd of a layer are taken at the composed means of the layers before it (eqs. 21, 166,
    176-179); the sd of a vector-valued one is the root of its spectral norm (eq. 124).
    """
    model = problem.model
    unused = np.random.default_rng(0)
    design = uniform_design(model.points, per_side)
    pulls = [list(model.steps(arm, problem.pull(arm, unused))) for arm in design]
    mean: Array = model.points
    sds = []
    for i, n in enumerate(model.widths):
        posterior = LayerPosterior(model.structure.kernel, mean, n)
        for steps in pulls:
            posterior.update(*steps[i])
        mean = posterior.mean
        sds.append(posterior.sd)
    return mean[:, 0], sds


def with_own_ties(
    model: NetworkModel, horizon: int | None, *, rule: Callable[..., Any], key: int, rng: Seed = 0
) -> Any:
    """Return a rule whose order of ties is not that of a trial's other rules.

    It draws from a stream of its own, by the `key` and the trial's generator.
    """
    drawn = int(np.random.default_rng(rng).integers(2**63))
    return rule(model, horizon, rng=np.random.default_rng([key, drawn]))


class BlackBox(AskTell):
    """A policy, made by `policy(model, horizon, rng=rng)`, that sees only the reward.

    That is the last entry of an observation, treated like the first layer's (eqs. 289-291).
    """

    def __init__(
        self, model: NetworkModel, horizon: int, *, policy: Callable[..., AskTell], rng: Seed = 0
    ) -> None:
        self.start(model, rng)
        seen = Model(model.points, model.structure.kernel, NOISE_VARIANCE, norm=model.norm_bound)
        self.policy = policy(seen, horizon, rng=self.rng)

    def choose(self) -> int:
        return self.policy.ask()

    def learn(self, arm: int, observation: Observation) -> None:
        self.policy.learn(arm, observation[-1])


def norm_width(policy: UCB) -> float:
    """Return the norm bound, as width: without noise |f - mean| <= B sd."""
    return policy.model.known_norm


#: GP-UCB with the width B (eq. 289).
black_box_ucb = partial(BlackBox, policy=partial(UCB, width=norm_width))
#: EI whose incumbent is the largest reward seen (eqs. 290-291).
black_box_ei = partial(BlackBox, policy=partial(ExpectedImprovement, incumbent="noisy_reward"))


class ChainPolicy(IndexPolicy):
    """A rule for chains, with the posteriors of all layers."""

    model: NetworkModel
    posterior: ChainPosterior

    def prior(self, horizon: int | None) -> ChainPosterior:
        return ChainPosterior(self.model)


class CascadeUCB(ChainPolicy):
    """cUCB (eqs. 278-284): the arm with the largest mean~ + B sd~.

    Means are fed forward, and sd~_i = sd_i(mean~_(i-1)) + L sd~_(i-1).
    """

    def fed_forward(self) -> tuple[Array, Array]:
        """Return mean~ and sd~ of the whole chain, each (A,)."""
        mean, spread = self.posterior.first()
        for i in range(1, len(self.model.widths)):
            mean, sd = self.posterior.at(i, mean)
            spread = sd + self.model.lipschitz * spread
        return mean, spread

    def index(self) -> Array:
        mean, spread = self.fed_forward()
        return mean + self.model.norm_bound * spread


class OptimisticImprovement(CascadeUCB):
    """OI (eq. 285): the larger of UCB - max LCB and eta_t sd~, eta_t = b / (1 + log t)."""

    def __init__(
        self, model: NetworkModel, horizon: int | None = None, *, b: float = 1.0, rng: Seed = 0
    ) -> None:
        super().__init__(model, horizon, rng=rng)
        self.b = b

    def index(self) -> Array:
        mean, spread = self.fed_forward()
        half = self.model.norm_bound * spread
        eta = self.b / (1 + math.log(max(self.t - 1, 1)))
        return np.maximum(mean + half - (mean - half).max(), eta * spread)
