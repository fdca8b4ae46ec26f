"""What all network policies share, GPN-UCB, and black-box policies that see the reward alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kbrepro.kernels import Array
from kbrepro.networks.ball_sets import BallSets
from kbrepro.networks.problem import NetworkProblem
from kbrepro.networks.sets import BoxSets, NetworkSets
from kbrepro.policies.improvement import ExpectedImprovement
from kbrepro.policies.ucb import UCB
from kbrepro.posterior import exact_posterior
from kbrepro.ties import best_arm


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
