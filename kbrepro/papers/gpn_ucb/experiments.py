"""Repeated computations on networks other than plain runs, for `simulation.map_trials`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Kernel, SquaredExponential, grid
from kbrepro.papers.gpn_ucb.bounds import cumulative_factor, rounding_term, step_weights
from kbrepro.papers.gpn_ucb.boxes import NetworkSets
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, lipschitz
from kbrepro.papers.gpn_ucb.needle import needle_problem
from kbrepro.papers.gpn_ucb.network import NetworkProblem, compose
from kbrepro.papers.gpn_ucb.policies import GPNUCB, confidence_sets, recommend, simple_regrets
from kbrepro.problems import draw_from_prior
from kbrepro.simulation import Policy, run, stream

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


#: Small networks of three layers on [-2, 2]: arms (A, d), widths of the layers, and points a side of the layers' grids.
SMALL: dict[str, dict[str, Any]] = {
    "chain": {"arms": grid(100, 1, -2, 2), "widths": (1, 1, 1), "n_grid": 60},
    "multi-output": {"arms": grid(100, 1, -2, 2), "widths": (2, 2, 1), "n_grid": 11},
    "multi-output, mixed": {"arms": grid(100, 1, -2, 2), "widths": (2, 2, 1), "n_grid": 11},
    "feed-forward": {"arms": grid(10, 2, -2, 2), "widths": (2, 2, 1), "n_grid": 15},
    "extra inputs": {"arms": grid(10, 2, -2, 2), "widths": (1, 1), "n_grid": 60, "extra_dims": (0, 1)},
}
SMALL_NORM = 1.0


def small_network(rng: np.random.Generator, structure: str) -> tuple[NetworkProblem, int]:
    """Return a random small network of a structure of `SMALL`, and the points a side of its grids."""
    settings = dict(SMALL[structure])
    n_grid = settings.pop("n_grid")
    family = "chain" if structure == "extra inputs" else structure
    return random_network(rng, family, norm=SMALL_NORM, **settings), n_grid


def coverage(seed: int, trial: int, structure: str, horizon: int) -> dict[str, Array]:
    """Return for the modes `paper` and `outward`, after each pull, missed arms and median width, (2, horizon) a mode.

    Both see the pulls of GPN-UCB on `paper` sets. A miss is an arm with a layer's output outside its set or a reward
    outside [LCB, UCB]; the width is UCB - LCB, median over the arms, as a share of the range of the reward.
    """
    problem, n_grid = small_network(stream(seed, trial, "function"), structure)
    rng = stream(seed, trial, "run")
    sets = {
        mode: confidence_sets(problem, n_grid=n_grid, half_width=1.5 * SMALL_NORM, mode=mode)
        for mode in ("paper", "outward")
    }
    policy = GPNUCB(sets["paper"])
    found: dict[str, list] = {mode: [] for mode in sets}
    for _ in range(horizon):
        arm = policy.ask(rng)
        observation = problem.pull(arm, rng)
        policy.tell(arm, observation)
        sets["outward"].update(arm, observation)
        for mode, its in sets.items():
            lower, upper = its.bounds()
            found[mode].append((np.sum(~its.covers()), np.median(upper - lower) / problem.reward_range))
    return {mode: np.array(rows).T for mode, rows in found.items()}


#: Networks for the bounds: finer grids, two layers where the grids have two dimensions.
FINE: dict[str, dict[str, Any]] = {
    "chain": {"arms": grid(100, 1, -2, 2), "widths": (1, 1, 1), "n_grid": 401},
    "multi-output": {"arms": grid(100, 1, -2, 2), "widths": (2, 1), "n_grid": 21},
    "multi-output, mixed": {"arms": grid(100, 1, -2, 2), "widths": (2, 1), "n_grid": 21},
    "feed-forward": {"arms": grid(10, 2, -2, 2), "widths": (2, 1), "n_grid": 21},
}


def bound_ratios(seed: int, trial: int, structure: str, horizon: int, mode: str) -> Array:
    """Return r_t over its bound (eqs. 49, 67, 94) and R_t over that of Theorems 1-3, (2, horizon), for GPN-UCB.

    The sds are those of all layers at the true inputs of the arm pulled, before the pull; Sigma_t is the largest of
    their sums so far over the layers, so the theorems are asked for more than they say. In mode `outward` the bounds
    contain what rounding adds, and envelopes reach over the whole grid, as in the proofs.
    """
    settings = dict(FINE[structure])
    n_grid = settings.pop("n_grid")
    problem = random_network(stream(seed, trial, "function"), structure, norm=SMALL_NORM, **settings)
    radius = 1.0 if mode == "paper" else 10.0
    sets = confidence_sets(problem, n_grid=n_grid, half_width=SMALL_NORM, radius=radius, mode=mode)
    rng, policy = stream(seed, trial, "run"), GPNUCB(sets)
    sds, arms = [], []
    for _ in range(horizon):
        arm = policy.ask(rng)
        sds.append(sets.realised_sd(arm))
        arms.append(arm)
        policy.tell(arm, problem.pull(arm, rng))
    return _over_bounds(problem, problem.regret(np.array(arms)), np.array(sds), sets)


def _over_bounds(problem: NetworkProblem, regret: Array, sds: Array, sets: NetworkSets) -> Array:
    widths = [output.shape[1] for output in problem.outputs]
    known = problem.structure, widths, problem.norm_bound, problem.lipschitz
    added = 0.0
    if sets.outward:
        added = rounding_term(problem.structure, widths, problem.lipschitz, [c.half_diagonal for c in sets.cubes])
    step = sds @ step_weights(*known) + added
    total = cumulative_factor(*known) * np.cumsum(sds, axis=0).max(axis=1) + added * np.arange(1, len(regret) + 1)
    return np.stack([regret / step, np.cumsum(regret) / total])


def nonadaptive_regrets(
    seed: int,
    trial: int,
    problem: Callable[[np.random.Generator, int], NetworkProblem],
    sides: list[int],
    project: bool = False,
) -> Array:
    """Return the simple regret of non-adaptive sampling with per_side^d pulls, per_side in `sides`, (len(sides),)."""
    network = problem(stream(seed, trial, "function"), trial)
    _, policy_rng = stream(seed, trial, "run").spawn(2)  # ties as for the policies of this trial
    return simple_regrets(network, sides, policy_rng, project)


def needle_regrets(
    seed: int,
    trial: int,
    policies: Mapping[str, Callable[[NetworkProblem, int], Policy]],
    per_side: int,
    epsilon: float,
    horizon: int,
) -> dict[str, float]:
    """Return the simple regret of every policy, and of NonAda, after `horizon` pulls of needle number `trial`."""
    problem = needle_problem(trial, per_side, epsilon)
    found = {
        name: float(run(make(problem, horizon), problem, horizon, stream(seed, trial, "run")).regret.min())
        for name, make in policies.items()
    }
    _, policy_rng = stream(seed, trial, "run").spawn(2)
    chosen = recommend(problem, int(np.sqrt(horizon)), policy_rng)
    return found | {"NonAda": float(problem.regret(np.array(chosen)))}
