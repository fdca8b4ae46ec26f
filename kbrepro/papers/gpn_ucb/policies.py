"""What all network policies share, GPN-UCB, and black-box policies that see the reward alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.papers.gpn_ucb.balls import BallSets
from kbrepro.papers.gpn_ucb.boxes import BoxSets, NetworkSets
from kbrepro.papers.gpn_ucb.network import NetworkProblem
from kbrepro.papers.gpn_ucb.posterior import (
    ChainPosterior,
    layer_posterior,
)
from kbrepro.policies.base import best_arm
from kbrepro.policies.improvement import ExpectedImprovement
from kbrepro.policies.ucb import UCB
from kbrepro.posterior import exact_posterior


def uniform_design(arms: Array, per_side: int) -> NDArray[np.int64]:
    """Return the per_side^d arms nearest to the centres of per_side^d equal cells of the arms' bounding box.

    The fill distance is half a diagonal of a cell, of the order T^(-1/d), up to the spacing of the arms.
    """
    checks.positive_int(per_side=per_side)
    d = arms.shape[1]
    low, high = arms.min(axis=0), arms.max(axis=0)
    side = (np.arange(per_side) + 0.5) / per_side
    centres = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1).reshape(-1, d)
    centres = low + centres * (high - low)
    return np.array([best_arm(-np.sum((arms - c) ** 2, axis=1)) for c in centres])


def composite_mean(problem: NetworkProblem, pulled: NDArray[np.int64], project: bool = False) -> Array:
    """Return the composed posterior means of the layers at every arm, (A,), after the pulls (eqs. 21, 166, 176-179).

    With `project` every mean is moved to the nearest point of the layer's known range, a box (Case 2, eq. 155).
    """
    z = problem.first_inputs
    shown = problem.first_inputs[pulled]
    for i, (kernel, output) in enumerate(zip(problem.kernels, problem.outputs, strict=True)):
        extras = problem.extras(i)
        posterior = layer_posterior(kernel, np.column_stack([z, extras]), problem.noise_variance, output.shape[1])
        for x, extra, y in zip(shown, extras[pulled], output[pulled], strict=True):
            posterior.update(np.concatenate([x, extra]), y)
        z, shown = posterior.mean, output[pulled]
        if project:
            z = np.clip(z, output.min(axis=0), output.max(axis=0))
    return z[:, 0]


def recommend(problem: NetworkProblem, per_side: int, rng: np.random.Generator, project: bool = False) -> int:
    """Return the arm of largest composite mean after T = per_side^d pulls; ties by the first permutation from `rng`."""
    rank = rng.permutation(len(problem.arms))
    return best_arm(composite_mean(problem, uniform_design(problem.arms, per_side), project), rank)


def simple_regrets(problem: NetworkProblem, sides: list[int], rng: np.random.Generator, project: bool = False) -> Array:
    """Return the regret of the recommended arm for every number of pulls a side, (len(sides),)."""
    state = rng.bit_generator.state
    chosen = []
    for per_side in sides:
        rng.bit_generator.state = state  # one permutation a trial, whatever T
        chosen.append(recommend(problem, per_side, rng, project))
    return problem.regret(np.array(chosen))


class NetworkPolicy:
    """Pulls the arm of largest `index(rng)`; ties fall by one permutation, the first thing drawn from `rng`."""

    def __init__(self, problem: NetworkProblem) -> None:
        self.problem = problem
        self.t = 1
        self._rank = None

    def index(self, rng: np.random.Generator) -> Array:
        """Return the index of every arm in round t, (A,)."""
        raise NotImplementedError

    def update(self, arm: int, observation: Array) -> None:
        """Take in the outputs of all layers at `arm`."""
        raise NotImplementedError

    def ask(self, rng: np.random.Generator) -> int:
        """Return the arm to pull."""
        if self._rank is None:
            self._rank = rng.permutation(len(self.problem.arms))
        return best_arm(self.index(rng), self._rank)

    def tell(self, arm: int, observation: Array) -> None:
        """Take in the outputs of all layers at `arm`; raises on a bad arm or a wrong number of outputs."""
        self.update(arm, observation)
        self.t += 1


class GPNUCB(NetworkPolicy):
    """GPN-UCB: the arm of largest upper confidence bound (Li & Scarlett, Algorithm 1)."""

    def __init__(self, sets: NetworkSets) -> None:
        super().__init__(sets.problem)
        self.sets = sets

    def index(self, rng: np.random.Generator) -> Array:
        return self.sets.bounds()[1]

    def update(self, arm: int, observation: Array) -> None:
        self.sets.update(arm, observation)


class BlackBox:
    """A policy that is shown the last entry of an observation only, the reward."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def ask(self, rng: np.random.Generator) -> int:
        return self.policy.ask(rng)

    def tell(self, arm: int, observation: Array) -> None:
        self.policy.tell(arm, float(observation[-1]))


def confidence_sets(problem: NetworkProblem, **settings: Any) -> NetworkSets:
    """Return the confidence sets that fit the structure of the network."""
    kind: Callable[..., NetworkSets] = BallSets if problem.structure == "multi-output" else BoxSets
    return kind(problem, **settings)


def gpn_ucb(problem: NetworkProblem, horizon: int, **settings: Any) -> GPNUCB:
    """Return GPN-UCB for a network problem; settings as for `BoxSets` or `BallSets`."""
    return GPNUCB(confidence_sets(problem, **settings))


def _black_box_posterior(problem: NetworkProblem, horizon: int) -> Any:
    return exact_posterior(problem.kernel, problem.arms, problem.noise_variance, horizon)


def black_box_ucb(problem: NetworkProblem, horizon: int) -> BlackBox:
    """Return GP-UCB on the reward alone, with the width B and the kernel of the first layer (eq. 289)."""
    return BlackBox(UCB(_black_box_posterior(problem, horizon), width=lambda t: problem.norm_bound))


def black_box_ei(problem: NetworkProblem, horizon: int) -> BlackBox:
    """Return EI on the reward alone; the incumbent is the largest reward seen (eqs. 290-291)."""
    return BlackBox(ExpectedImprovement(_black_box_posterior(problem, horizon), incumbent="noisy_reward"))


class ChainPolicy(NetworkPolicy):
    """A policy on the posteriors of all layers of a chain."""

    def __init__(self, problem: NetworkProblem) -> None:
        super().__init__(problem)
        self.posterior = ChainPosterior(problem)
        self.best_reward = -math.inf

    def update(self, arm: int, observation: Array) -> None:
        self.posterior.update(arm, observation)
        self.best_reward = max(self.best_reward, float(observation[-1]))


class CascadeUCB(ChainPolicy):
    """cUCB (eqs. 278-284): means fed forward, sd~_i = sd_i(mean~_(i-1)) + L sd~_(i-1), index mean~ + B sd~."""

    def fed_forward(self) -> tuple[Array, Array]:
        """Return mean~ and sd~ of the whole chain, each (A,)."""
        mean, spread = self.posterior.first()
        for i in range(1, self.problem.depth):
            mean, sd = self.posterior.at(i, mean)
            spread = sd + self.problem.lipschitz * spread
        return mean, spread

    def index(self, rng: np.random.Generator) -> Array:
        mean, spread = self.fed_forward()
        return mean + self.problem.norm_bound * spread


class OptimisticImprovement(CascadeUCB):
    """OI (eq. 285): the larger of UCB - max LCB and eta_t sd~, eta_t = b / (1 + log t), eta_0 = eta_1; b > 0."""

    def __init__(self, problem: NetworkProblem, b: float = 1.0) -> None:
        super().__init__(problem)
        checks.positive(b=b)
        self.b = b

    def index(self, rng: np.random.Generator) -> Array:
        mean, spread = self.fed_forward()
        half = self.problem.norm_bound * spread
        eta = self.b / (1 + math.log(max(self.t - 1, 1)))
        return np.maximum(mean + half - (mean - half).max(), eta * spread)


def cascade_ucb(problem: NetworkProblem, horizon: int) -> CascadeUCB:
    """Return cUCB for a chain."""
    return CascadeUCB(problem)


def optimistic_improvement(problem: NetworkProblem, horizon: int, b: float = 1.0) -> OptimisticImprovement:
    """Return OI with parameter b for a chain."""
    return OptimisticImprovement(problem, b)
