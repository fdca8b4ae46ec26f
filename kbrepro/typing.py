"""Types that many rooms name: arrays, and the least that a kernel, a posterior, a policy and a
problem have.
"""

from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[np.floating]
Integers = NDArray[np.integer]
Bools = NDArray[np.bool_]


class Kernel(Protocol):
    """Any covariance function: one of `kbrepro.bandits.kernels`, or your own."""

    def __call__(self, X: Array, Z: Array) -> Array: ...
    def diag(self, X: Array) -> Array: ...


class Conditioned(Protocol):
    """The least a posterior has: `update` takes in what a pull of an arm gave."""

    def update(self, arm: int, observation: Any, /) -> None: ...


class Posterior(Conditioned, Protocol):
    """What widths and rules ask of a posterior: mean and standard deviation of every arm, (A,), and
    the information gain of the pulls so far (nats).
    """

    @property
    def mean(self) -> Array: ...
    @property
    def sd(self) -> Array: ...
    @property
    def gain(self) -> float: ...


class Player(Protocol):
    """The least a policy has: `ask` returns the arm to pull, `tell` takes in the observation."""

    def ask(self) -> int: ...
    def tell(self, arm: int, observation: object, /) -> None: ...


class Playable(Protocol):
    """The least a problem has to be played: a model, what a pull shows, and what arms lose.

    Expected rewards (A,) are asked for where bands are recorded.
    """

    @property
    def model(self) -> Any: ...
    @property
    def expected_reward(self) -> Array: ...
    def pull(self, arm: int, rng: Generator, /) -> object: ...
    def regret(self, arms: NDArray[np.integer], /) -> Array: ...
