"""The structures of networks: the kernels of their layers, and the confidence sets that are carried through them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbrepro.kernels import Kernel
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


@dataclass(frozen=True)
class MultiOutput:
    """A chain of vector-valued functions; `kernel_of(n)` is the operator-valued kernel of a layer with n outputs."""

    kernel_of: Callable[[int], OperatorKernel]
    sets = BallSets

    def kernels(self, widths: Sequence[int]) -> tuple[OperatorKernel, ...]:
        """Return the kernels of layers with these numbers of outputs."""
        return tuple(self.kernel_of(n) for n in widths)


Structure = FeedForward | MultiOutput
