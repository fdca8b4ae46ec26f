"""Function networks as bandit problems: a pull shows the output of every layer, without noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, largest_value

#: What is added to the diagonal of every kernel matrix (Li & Scarlett, L.3): the bands stay valid, they only widen.
NOISE_VARIANCE = 1e-7


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """Arms (A, d), the outputs of every layer at every arm, and what the policies are told of the layers.

    `outputs[i]` (A, n_i) is the output of layer i = 0 .. m - 1, the last (A, 1) is the reward. `kernels` holds one
    kernel a layer, `norm_bound` B bounds their RKHS norms, `lipschitz` L >= 1 their Lipschitz constants. The last
    sum(extra_dims) columns of the arms are additional inputs, extra_dims[i] of them to layer i (Li & Scarlett, K.1);
    the others are the input of layer 0. Raises ValueError on other shapes or bounds.
    """

    arms: Array
    outputs: tuple[Array, ...] = field(repr=False)
    kernels: tuple[Kernel | OperatorKernel, ...]
    norm_bound: float
    lipschitz: float
    noise_variance: float = NOISE_VARIANCE
    extra_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.positive(norm_bound=self.norm_bound, lipschitz=self.lipschitz)
        checks.non_negative(noise_variance=self.noise_variance)
        if self.lipschitz < 1:
            raise ValueError(f"lipschitz = {self.lipschitz} is not allowed: lipschitz must be at least 1")
        if not self.extra_dims:
            object.__setattr__(self, "extra_dims", (0,) * len(self.kernels))
        if not len(self.outputs) == len(self.kernels) == len(self.extra_dims) or self.extra_dims[0] != 0:
            raise ValueError(f"{len(self.outputs)} outputs, {len(self.kernels)} kernels, extra_dims {self.extra_dims}")
        for i, output in enumerate(self.outputs):
            if np.ndim(output) != 2 or len(output) != len(self.arms):
                raise ValueError(f"outputs[{i}] has shape {np.shape(output)}: it must be ({len(self.arms)}, n)")
            checks.finite_array(outputs=output)
        if self.outputs[-1].shape[1] != 1:
            raise ValueError(f"the last layer has {self.outputs[-1].shape[1]} outputs: it must have one, the reward")

    @property
    def depth(self) -> int:
        """Number of layers m."""
        return len(self.kernels)

    @property
    def structure(self) -> str:
        """`multi-output` with operator-valued kernels, else `chain`; `feed-forward` where a layer is wider than 1."""
        if isinstance(self.kernels[0], OperatorKernel):
            return "multi-output"
        return "chain" if all(output.shape[1] == 1 for output in self.outputs) else "feed-forward"

    @property
    def kernel(self) -> Kernel:
        """The kernel of the first layer, which black-box policies use for the whole network."""
        return self.kernels[0]

    @property
    def expected_reward(self) -> Array:
        """The reward of every arm, (A,)."""
        return self.outputs[-1][:, 0]

    @property
    def reward_range(self) -> float:
        """Largest minus smallest reward over the arms."""
        return float(np.ptp(self.expected_reward))

    @property
    def first_inputs(self) -> Array:
        """The input of layer 0 at every arm, (A, d_1)."""
        return self.arms[:, : self.arms.shape[1] - sum(self.extra_dims)]

    def extras(self, layer: int) -> Array:
        """Return the additional inputs of a layer at every arm, (A, extra_dims[layer])."""
        start = self.first_inputs.shape[1] + sum(self.extra_dims[:layer])
        return self.arms[:, start : start + self.extra_dims[layer]]

    def reach(self, layer: int) -> float:
        """Return B sqrt(k(x, x)), which no output of this layer exceeds in absolute value (Euclidean norm)."""
        return largest_value(self.kernels[layer], self.norm_bound)

    def pull(self, arm: int, rng: np.random.Generator) -> Array:
        """Return the outputs of all layers at `arm`, one after the other, the reward last; nothing is drawn."""
        checks.arm_index(arm, len(self.arms))
        return np.concatenate([output[arm] for output in self.outputs])

    def split(self, observation: Array) -> list[Array]:
        """Return what `pull` returned as one array a layer, (n_i,)."""
        ends = np.cumsum([output.shape[1] for output in self.outputs])
        if np.shape(observation) != (ends[-1],):
            raise ValueError(f"observation has shape {np.shape(observation)}: it must be ({ends[-1]},)")
        return np.split(np.asarray(observation, dtype=float), ends[:-1])

    def regret(self, arms: np.ndarray) -> Array:
        """Return the instantaneous regret of pulling `arms`, same shape, at least 0."""
        return self.expected_reward.max() - self.expected_reward[arms]


def compose(
    arms: Array,
    layers: Sequence[Callable[[Array], Array]],
    kernels: Sequence[Kernel | OperatorKernel],
    norm_bound: float,
    lipschitz: float,
    extra_dims: tuple[int, ...] = (),
    noise_variance: float = NOISE_VARIANCE,
) -> NetworkProblem:
    """Return the problem of feeding every layer with the output of the one before it.

    Raises ValueError if a layer that knows its centres (`functions.Layer`) is given inputs of another dimension.
    """
    extra = extra_dims or (0,) * len(layers)
    first, outputs = arms.shape[1] - sum(extra), []
    z, start = arms[:, :first], first
    for i, layer in enumerate(layers):
        stop = start + extra[i]
        z = np.column_stack([z, arms[:, start:stop]])
        start = stop
        wanted = layer.centres.shape[1] if hasattr(layer, "centres") else z.shape[1]
        if z.shape[1] != wanted:
            raise ValueError(f"layer {i} takes {wanted} inputs and is given {z.shape[1]}: dimensions must chain")
        z = np.asarray(layer(z), dtype=float)
        outputs.append(z)
    return NetworkProblem(arms, tuple(outputs), tuple(kernels), norm_bound, lipschitz, noise_variance, extra)
