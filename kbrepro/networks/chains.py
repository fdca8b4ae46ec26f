"""Random networks on which the algorithms are compared and their confidence sets tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Kernel, SquaredExponential, grid
from kbrepro.networks.functions import OperatorKernel, draw_layer, lipschitz
from kbrepro.networks.problem import NetworkProblem, compose
from kbrepro.problems import draw_from_prior

#: The domain [-5, 5]^2 and kernel of Li & Scarlett, L.1.
HALF_WIDTH = 5.0
KERNEL = SquaredExponential(1.0)


def chain_arms(side: int) -> Array:
    """Return the side x side grid on [-5, 5]^2, (side^2, 2)."""
    return grid(side, 2, -HALF_WIDTH, HALF_WIDTH)


def exact_chain(
    rng: np.random.Generator, side: int, norm: float = 2.0, depth: int = 3, centres: int = 12, later_centres: int = 4
) -> NetworkProblem:
    """Return a chain on [-5, 5]^2 whose layers have RKHS norm exactly `norm` and Lipschitz constant at most `norm`.

    Each layer interpolates a GP draw at uniform points and is scaled to its norm: `centres` points of [-5, 5]^2, then
    `later_centres` points of [-norm, norm], which holds all outputs of such a layer. A GP draw at n points has squared
    norm n on average, so with n = norm^2 = 4 points scaling changes little.
    """
    layers = [draw_layer(rng, KERNEL, rng.uniform(-HALF_WIDTH, HALF_WIDTH, (centres, 2)), 1, norm)]
    for _ in range(depth - 1):
        layers.append(draw_layer(rng, KERNEL, rng.uniform(-norm, norm, (later_centres, 1)), 1, norm))
    return compose(chain_arms(side), layers, [KERNEL] * depth, norm, lipschitz(KERNEL, norm))


def drawn_chain(rng: np.random.Generator, side: int, norm: float = 2.0, depth: int = 3) -> NetworkProblem:
    """Return a chain of draws from the GP prior, as L.1 says; B = L = `norm` is told to the policies but does not hold.

    The first layer is drawn at the arms, the others at points half a lengthscale apart on [-5, 5], smooth between.
    """
    arms = chain_arms(side)
    first = draw_from_prior(KERNEL, arms, rng)[:, None]
    points = np.linspace(-HALF_WIDTH, HALF_WIDTH, 21)[:, None]
    later = [draw_layer(rng, KERNEL, points, 1, None) for _ in range(depth - 1)]
    return compose(arms, [lambda x: first, *later], [KERNEL] * depth, norm, lipschitz(KERNEL, norm))


def numbered_chain(
    rng: np.random.Generator,
    trial: int,
    root: int,
    per_chain: int,
    side: int,
    drawn: bool = False,
    numbers: tuple[int, ...] = (),
    norm_bound: float = 2.0,
) -> NetworkProblem:
    """Return chain number trial // per_chain (or the entry of `numbers` in that place); nothing is drawn from `rng`.

    The policies are told `norm_bound` B; layers have norm 2 (or are draws, with `drawn`).
    """
    place = trial // per_chain
    own = np.random.default_rng([root, numbers[place] if numbers else place])
    return replace((drawn_chain if drawn else exact_chain)(own, side), norm_bound=norm_bound)


def maximum_gap(problem: NetworkProblem, distance: float = 2.0) -> float:
    """Return by how much the maximum exceeds every value farther than `distance` from its place, as share of the range.

    How obvious the maximiser is: near 1 a single peak, near 0 several places equally good.
    """
    checks.positive(distance=distance)
    g = problem.expected_reward
    far = np.linalg.norm(problem.arms - problem.arms[g.argmax()], axis=1) > distance
    return float((g.max() - g[far].max()) / problem.reward_range)


STRUCTURES = ("chain", "multi-output", "multi-output, mixed", "feed-forward")


def mixed_kernel(n_outputs: int) -> OperatorKernel:
    """Return a kernel with n x n values that is not diagonal: correlated at lengthscale 1, independent at 2.

    Gamma = 1/2 k_1 ((1 - c) I + c 11^T / n) + 1/2 k_2 I with c = 0.8; its size is at most 1.
    """
    together = 0.2 * np.eye(n_outputs) + 0.8 / n_outputs * np.ones((n_outputs, n_outputs))
    kernels = SquaredExponential(1.0), SquaredExponential(2.0)
    return OperatorKernel(kernels, (0.5 * together, 0.5 * np.eye(n_outputs)))


def layer_kernels(structure: str, widths: tuple[int, ...]) -> list[Kernel | OperatorKernel]:
    """Return the kernels of layers with these numbers of outputs; ValueError on an unknown structure."""
    checks.one_of(STRUCTURES, structure=structure)
    if structure == "multi-output":
        return [OperatorKernel((KERNEL,), (np.eye(n),)) for n in widths]
    if structure == "multi-output, mixed":
        return [mixed_kernel(n) for n in widths]
    return [KERNEL] * len(widths)


def random_network(
    rng: np.random.Generator,
    structure: str,
    *,
    arms: Array,
    widths: tuple[int, ...],
    norm: float,
    centres: int = 4,
    extra_dims: tuple[int, ...] = (),
) -> NetworkProblem:
    """Return a network whose layers have norm exactly `norm`, at any arms (A, d), with these numbers of outputs.

    L is certified: the largest `functions.lipschitz` of the layers, and at least 1. Centres are uniform on the arms'
    box and on [-reach, reach]^d, which holds what a layer can return.
    """
    kernels = layer_kernels(structure, widths)
    extra = extra_dims or (0,) * len(widths)
    first = arms.shape[1] - sum(extra)
    low, high, layers, used = arms.min(axis=0), arms.max(axis=0), [], first
    box_low, box_high = low[:first], high[:first]
    for i, (kernel, n) in enumerate(zip(kernels, widths, strict=True)):
        used_next = used + extra[i]
        box_low = np.concatenate([box_low, low[used:used_next]])
        box_high = np.concatenate([box_high, high[used:used_next]])
        used = used_next
        layers.append(draw_layer(rng, kernel, rng.uniform(box_low, box_high, (centres, len(box_low))), n, norm))
        box_low, box_high = np.full(n, -norm), np.full(n, norm)
    constant = max(1.0, *(lipschitz(kernel, norm) for kernel in kernels))
    return compose(arms, layers, kernels, norm, constant, extra)
