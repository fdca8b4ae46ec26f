"""Function networks as bandit problems: what a policy is given, and the outputs of the layers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gpn_ucb.layers import OperatorKernel

#: What is added to the diagonal of every kernel matrix (Li & Scarlett, L.3): the bands stay valid, they only widen.
NOISE_VARIANCE = 1e-7


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """What a policy is given of a network: the arms' points (A, d), and of layers i = 0 .. m - 1 all but the outputs.

    `widths[i]` is the number of outputs of layer i, the last has 1, the reward. `structure` (one of `structures`) gives
    the kernels; `norm_bound` B bounds the RKHS norms of the layers, `lipschitz` L >= 1 their Lipschitz constants. The
    last sum(extra_dims) columns of the points are additional inputs, extra_dims[i] of them to layer i (K.1); the others
    are the input of layer 0. Raises ValueError on other widths or bounds.
    """

    points: Array = field(repr=False)
    structure: Any
    widths: tuple[int, ...]
    norm_bound: float
    lipschitz: float
    extra_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.positive(norm_bound=self.norm_bound, lipschitz=self.lipschitz)
        if self.lipschitz < 1:
            raise ValueError(f"lipschitz = {self.lipschitz} is not allowed: lipschitz must be at least 1")
        if self.widths[-1] != 1:
            raise ValueError(f"widths = {self.widths} is not allowed: the last layer has one output, the reward")
        if not self.extra_dims:
            object.__setattr__(self, "extra_dims", (0,) * self.depth)
        if len(self.extra_dims) != self.depth or self.extra_dims[0] != 0:
            raise ValueError(f"extra_dims = {self.extra_dims} is not allowed: one a layer, the first 0")

    @property
    def n_arms(self) -> int:
        """Number of arms A."""
        return len(self.points)

    @property
    def depth(self) -> int:
        """Number of layers m."""
        return len(self.widths)

    @property
    def kernels(self) -> tuple[Kernel | OperatorKernel, ...]:
        """The kernel of every layer."""
        return self.structure.kernels(self.widths)

    def own_inputs(self, layer: int) -> Array:
        """Return the inputs that a layer takes besides the output of the layer before, at every arm, (A, n)."""
        sizes = (self.points.shape[1] - sum(self.extra_dims), *self.extra_dims[1:])
        start = sum(sizes[:layer])
        return self.points[:, start : start + sizes[layer]]

    def steps(self, arm: int, observation: Sequence[Any]) -> Iterator[tuple[Array, Array]]:
        """Yield for every layer its input with its additional inputs (d_i,) and its output (n_i,) under `arm`.

        Raises IndexError on a bad arm, ValueError unless the observation holds an output of every layer.
        """
        checks.arm_index(arm, self.n_arms)
        outputs = [np.atleast_1d(np.asarray(output, dtype=float)) for output in observation]
        if (shapes := [output.shape for output in outputs]) != [(n,) for n in self.widths]:
            raise ValueError(f"observation has shapes {shapes}: the layers have {self.widths} outputs")
        for i, (z, output) in enumerate(pairwise([np.empty(0), *outputs])):
            yield np.concatenate([z, self.own_inputs(i)[arm]]), output


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """What policies are given (`model`), and what they do not see: the outputs of every layer.

    `outputs[i]` (A, n_i) are those of layer i, the last is the reward. Raises ValueError if the shapes disagree or an
    output is not finite.
    """

    model: NetworkModel
    outputs: tuple[Array, ...] = field(repr=False)

    def __post_init__(self) -> None:
        wanted = [(self.model.n_arms, n) for n in self.model.widths]
        if (shapes := [np.shape(output) for output in self.outputs]) != wanted:
            raise ValueError(f"outputs have shapes {shapes}: they must be {wanted}")
        for output in self.outputs:
            checks.finite_array(outputs=output)

    @property
    def expected_reward(self) -> Array:
        """The reward of every arm, (A,)."""
        return self.outputs[-1][:, 0]

    @property
    def reward_range(self) -> float:
        """Largest minus smallest reward over the arms."""
        return float(np.ptp(self.expected_reward))

    def pull(self, arm: int, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return the outputs (n_i,) of all layers at `arm`, the last as a number, the reward; nothing is drawn."""
        checks.arm_index(arm, self.model.n_arms)
        return *(output[arm] for output in self.outputs[:-1]), float(self.expected_reward[arm])

    def regret(self, arms: int | NDArray[np.integer]) -> Array:
        """Return the instantaneous regret of pulling `arms`, same shape, at least 0."""
        return self.expected_reward.max() - self.expected_reward[arms]


def compose(model: NetworkModel, layers: Sequence[Callable[[Array], Array]]) -> NetworkProblem:
    """Return the problem of feeding every layer with the output of the one before it and its own inputs."""
    z, outputs = np.empty((model.n_arms, 0)), []
    for i, layer in enumerate(layers):
        z = np.column_stack([z, model.own_inputs(i)])
        outputs.append(z := np.asarray(layer(z), dtype=float))
    return NetworkProblem(model, tuple(outputs))
