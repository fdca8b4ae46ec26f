"""What distinguishes the structures of networks: kernels, confidence sets, constants of Theorems 1 to 3.

Symbols of Li & Scarlett: m layers, norm bound B, Lipschitz constant L >= 1; `widths` (m,) are the numbers of outputs of
the layers, D is the product of all but the last.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kbrepro.kernels import Array, Kernel
from kbrepro.papers.gpn_ucb.layers import OperatorKernel
from kbrepro.papers.gpn_ucb.sets import BallSets, BoxSets


@dataclass(frozen=True)
class FeedForward:
    """Every output of every layer is a function of its own, of one scalar kernel; a chain where all widths are 1."""

    kernel: Kernel
    sets = BoxSets  # the confidence sets of such a network: `structure.sets(model, **settings)`

    def kernels(self, widths: Sequence[int]) -> tuple[Kernel, ...]:
        """Return the kernels of layers with these numbers of outputs."""
        return (self.kernel,) * len(widths)

    def step_weights(self, widths: Sequence[int], norm: float, lipschitz: float) -> Array:
        """Return weights (m,): r_t is at most their product with the layers' sds at the true inputs of the arm pulled.

        Eq. 49 for chains, eq. 94 for feed-forward networks.
        """
        m = len(widths)
        later = [math.sqrt(math.prod(widths[i:-1])) for i in range(m)]
        return np.array([2 * norm * (2 * lipschitz) ** (m - 1 - i) * later[i] for i in range(m)])

    def rounding_term(self, widths: Sequence[int], lipschitz: float, half_diagonals: Sequence[float]) -> float:
        """Return what outward rounding adds to eqs. 49 and 94, from half a cell's diagonal h_i of every later layer.

        A grid point of a dilated box lies within its diameter + 2 h of the one next to the true input; moving a bound
        there costs L h for the mean and L h for B sd, and the rounding itself adds L h, on both sides: 10 L h_i,
        carried on like 2 B sd.
        """
        carried = self.step_weights(widths, 1.0, lipschitz)[1:] / 2
        return float(10 * lipschitz * carried @ np.asarray(half_diagonals))

    def cumulative_factor(self, widths: Sequence[int], norm: float, lipschitz: float) -> float:
        """Return the factor 2^(m+1) sqrt(D) B L^(m-1) of Sigma_T in Theorems 1 (D = 1) and 3."""
        return 2 ** (len(widths) + 1) * math.sqrt(math.prod(widths[:-1])) * norm * lipschitz ** (len(widths) - 1)


@dataclass(frozen=True)
class MultiOutput:
    """A chain of vector-valued functions; `kernel_of(n)` is the operator-valued kernel of a layer with n outputs."""

    kernel_of: Callable[[int], OperatorKernel]
    sets = BallSets

    def kernels(self, widths: Sequence[int]) -> tuple[OperatorKernel, ...]:
        """Return the kernels of layers with these numbers of outputs."""
        return tuple(self.kernel_of(n) for n in widths)

    def step_weights(self, widths: Sequence[int], norm: float, lipschitz: float) -> Array:
        """Return weights (m,) as for `FeedForward`, by eq. 67; sd means the root of the spectral norm."""
        before = [8 * norm * lipschitz * (5 * lipschitz) ** i for i in range(len(widths) - 1)]
        return np.array([*reversed(before), 2 * norm])

    def rounding_term(self, widths: Sequence[int], lipschitz: float, half_diagonals: Sequence[float]) -> float:
        """Return what outward rounding adds to eq. 67, as for `FeedForward`; ValueError unless there are two layers."""
        if len(widths) != 2:
            raise ValueError(f"widths = {tuple(widths)} is not allowed: a multi-output chain must have two layers here")
        return float(10 * lipschitz * half_diagonals[0])

    def cumulative_factor(self, widths: Sequence[int], norm: float, lipschitz: float) -> float:
        """Return the factor 5^m B L^(m-1) of Sigma_T in Theorem 2."""
        return 5 ** len(widths) * norm * lipschitz ** (len(widths) - 1)


Structure = FeedForward | MultiOutput
