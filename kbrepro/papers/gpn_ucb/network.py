"""Function networks as bandit problems: what a policy is given, and the outputs of the layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.typing import Array

if TYPE_CHECKING:
    from kbrepro.papers.gpn_ucb.sets import FeedForward, MultiOutput

#: The outputs (n_i,) of all layers, the last as a number or an array of one: the reward.
Observation = Sequence[float | Array]
#: What is added to every kernel matrix's diagonal (Li & Scarlett, L.3): bands only widen.
NOISE_VARIANCE = 1e-7


@dataclass(frozen=True, eq=False)
class NetworkModel(checks.Checked):
    """What a policy is given of a network: points (A, d), and of layers all but the outputs.

    Layers are i = 0 .. m - 1; `widths[i]` is the number of outputs of layer i, the last has 1, the
    reward. `structure` (see `sets`) has the kernel of all layers; `norm_bound` B bounds their RKHS
    norms, `lipschitz` L >= 1 their Lipschitz constants. ValueError unless both are positive.
    """

    points: Array = field(repr=False)
    structure: FeedForward | MultiOutput
    widths: tuple[int, ...]
    norm_bound: float
    lipschitz: float
    checked = {"norm_bound": checks.positive, "lipschitz": checks.positive}

    @property
    def n_arms(self) -> int:
        """Number of arms A."""
        return len(self.points)

    def observed(self, observation: Observation) -> list[list[float] | float]:
        """Return an observation as lists of numbers, one a layer, and the reward, a number.

        Raises ValueError unless it is a list, or similar, of one finite output (n_i,) a layer.
        """
        *layers, reward = (output.tolist() for _, output in self.steps(0, observation))
        return [*layers, *reward]

    def steps(self, arm: int, observation: Observation) -> Iterator[tuple[Array, Array]]:
        """Yield for every layer its input (d_i,) and its output (n_i,) under `arm`.

        Raises IndexError on a bad arm, ValueError unless the observation has an output a layer.
        """
        checks.arm_index(arm, self.n_arms)
        if not isinstance(observation, list | tuple | np.ndarray):
            raise checks.refused(
                "observation", observation, f"a list of the outputs of {len(self.widths)} layers"
            )
        outputs = [np.atleast_1d(checks.array("observation", output)) for output in observation]
        shapes = [output.shape for output in outputs]
        if shapes != [(n,) for n in self.widths]:
            raise ValueError(
                f"observation has shapes {shapes}: the layers have {self.widths} outputs"
            )
        yield from pairwise([self.points[arm], *outputs])


@dataclass(frozen=True, eq=False)
class NetworkProblem(checks.Checked):
    """What policies are given (`model`), and what they do not see: the outputs of every layer.

    `outputs[i]` (A, n_i) are those of layer i, the last is the reward.
    """

    model: NetworkModel
    outputs: tuple[Array, ...] = field(repr=False)

    @property
    def expected_reward(self) -> Array:
        """The reward of every arm, (A,)."""
        return self.outputs[-1][:, 0]

    @property
    def reward_range(self) -> float:
        """Largest minus smallest reward over the arms."""
        return float(np.ptp(self.expected_reward))

    def pull(self, arm: int, rng: np.random.Generator) -> tuple[Array | float, ...]:
        """Return the outputs (n_i,) of all layers at `arm`, the last, the reward, as a number."""
        checks.arm_index(arm, self.model.n_arms)
        return *(output[arm] for output in self.outputs[:-1]), float(self.expected_reward[arm])

    def regret(self, arms: int | NDArray[np.integer]) -> Array:
        """Return the instantaneous regret of pulling `arms`, same shape, at least 0."""
        return self.expected_reward.max() - self.expected_reward[arms]


def compose(model: NetworkModel, layers: Sequence[Callable[[Array], Array]]) -> NetworkProblem:
    """Return the problem of feeding every layer with the output of the one before it."""
    outputs = accumulate(layers, lambda z, layer: layer(z), initial=model.points)
    return NetworkProblem(model, tuple(outputs)[1:])
