"""Repeated computations on networks other than plain runs, for `simulation.map_trials`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kbrepro.kernels import Array, grid
from kbrepro.networks.chains import random_network
from kbrepro.networks.needle import needle_problem
from kbrepro.networks.nonadaptive import recommend, simple_regrets
from kbrepro.networks.policies import GPNUCB, confidence_sets
from kbrepro.networks.problem import NetworkProblem
from kbrepro.networks.regret_bounds import cumulative_factor, rounding_term, step_weights
from kbrepro.networks.sets import NetworkSets
from kbrepro.simulation import Policy, run, stream

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
