"""Sources of random networks, and what is computed on them besides plain runs (for `simulation.map_trials`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kbrepro.kernels import Array, SquaredExponential, grid
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, lipschitz
from kbrepro.papers.gpn_ucb.network import NetworkProblem, NetworkTold, compose
from kbrepro.papers.gpn_ucb.policies import GPNUCB, composite_mean, uniform_design
from kbrepro.papers.gpn_ucb.sets import MODES
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput
from kbrepro.policies.base import best_arm
from kbrepro.problems import Trial, draw_from_prior
from kbrepro.simulation import rounds

#: The kernel of every layer, and half a side of the domain [-5, 5]^2 (Li & Scarlett, L.1).
KERNEL, HALF_WIDTH = SquaredExponential(1.0), 5.0


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """Source of networks whose layers have RKHS norm exactly `norm`, at any points (A, d), with these widths.

    Each layer interpolates a GP draw at uniform centres and is scaled to its norm: `first_centres` points of the arms'
    box, then 4 points of [-norm, norm]^d, which holds what a layer can return (kernels of size at most 1). L is
    certified: the largest `layers.lipschitz`, and at least 1. The B that is told is `norm_bound`, by default the norm.
    """

    structure: FeedForward | MultiOutput
    points: Array = field(repr=False)
    widths: tuple[int, ...]
    norm: float = 1.0
    first_centres: int = 4
    extra_dims: tuple[int, ...] = ()
    norm_bound: float | None = None

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng, kernels, norm = trial.rng("function"), self.structure.kernels(self.widths), self.norm
        constant, bound = max(1.0, *(lipschitz(kernel, norm) for kernel in kernels)), self.norm_bound
        bound = norm if bound is None else bound
        told = NetworkTold(self.points, self.structure, self.widths, bound, constant, extra_dims=self.extra_dims)
        layers, width = [], 0
        for i, (kernel, n) in enumerate(zip(kernels, self.widths, strict=True)):
            own = told.own_inputs(i)
            low = np.concatenate([np.full(width, -norm), own.min(axis=0)])
            high = np.concatenate([np.full(width, norm), own.max(axis=0)])
            centres = rng.uniform(low, high, (4 if i else self.first_centres, len(low)))
            layers.append(draw_layer(rng, kernel, centres, n, norm))
            width = n
        return compose(told, layers)


def exact_chain(side: int) -> RandomNetwork:
    """Return the source of chains of three layers of norm B = 2 on side x side points of [-5, 5]^2; L = 2 then holds.

    A GP draw at n points has squared norm n on average, so with n = 4 = B^2 scaling changes little.
    """
    points = grid(side, 2, -HALF_WIDTH, HALF_WIDTH)
    return RandomNetwork(FeedForward(KERNEL), points, (1, 1, 1), norm=2.0, first_centres=12)


@dataclass(frozen=True)
class DrawnChain:
    """Source of chains of three layers drawn from the GP prior, as L.1 says; B = L = 2 is told but does not hold.

    The first layer is drawn at the arms, the others at points half a lengthscale apart on [-5, 5], smooth between.
    """

    side: int

    def __call__(self, trial: Trial) -> NetworkProblem:
        rng = trial.rng("function")
        points, between = grid(self.side, 2, -HALF_WIDTH, HALF_WIDTH), grid(21, 1, -HALF_WIDTH, HALF_WIDTH)
        first = draw_from_prior(KERNEL, points, rng)[:, None]
        later = [draw_layer(rng, KERNEL, between, 1, None) for _ in range(2)]
        return compose(NetworkTold(points, FeedForward(KERNEL), (1, 1, 1), 2.0, 2.0), [lambda _: first, *later])


@dataclass(frozen=True)
class Repeated:
    """Source that gives every problem of another `times` trials in a row."""

    source: Callable[[Trial], NetworkProblem]
    times: int

    def __call__(self, trial: Trial) -> NetworkProblem:
        return self.source(Trial(trial.seed, trial.number // self.times))


def maximum_gap(problem: NetworkProblem) -> float:
    """Return by how much the maximum exceeds every value farther than 2 from its place, as share of the range.

    How obvious the maximiser is: near 1 a single peak, near 0 several places equally good.
    """
    g, points = problem.expected_reward, problem.told.points
    far = np.linalg.norm(points - points[g.argmax()], axis=1) > 2.0
    return float((g.max() - g[far].max()) / problem.reward_range)


def independent_outputs(n: int) -> OperatorKernel:
    """Return the paper's k I, n x n."""
    return OperatorKernel((KERNEL,), (np.eye(n),))


def mixed_outputs(n: int) -> OperatorKernel:
    """Return a kernel with n x n values that is not diagonal: correlated at lengthscale 1, independent at 2.

    Gamma = 1/2 k_1 ((1 - c) I + c 11^T / n) + 1/2 k_2 I with c = 0.8; its size is at most 1.
    """
    together = 0.2 * np.eye(n) + 0.8 / n * np.ones((n, n))
    return OperatorKernel((SquaredExponential(1.0), SquaredExponential(2.0)), (0.5 * together, 0.5 * np.eye(n)))


_LINE, _SQUARE = grid(100, 1, -2, 2), grid(10, 2, -2, 2)
_SCALAR, _VECTOR, _MIXED = FeedForward(KERNEL), MultiOutput(independent_outputs), MultiOutput(mixed_outputs)

#: Small networks of three layers on [-2, 2] with norm 1, and the points a side of the layers' grids.
SMALL: dict[str, tuple[RandomNetwork, int]] = {
    "chain": (RandomNetwork(_SCALAR, _LINE, (1, 1, 1)), 60),
    "multi-output": (RandomNetwork(_VECTOR, _LINE, (2, 2, 1)), 11),
    "multi-output, mixed": (RandomNetwork(_MIXED, _LINE, (2, 2, 1)), 11),
    "feed-forward": (RandomNetwork(_SCALAR, _SQUARE, (2, 2, 1)), 15),
    "extra inputs": (RandomNetwork(_SCALAR, _SQUARE, (1, 1), extra_dims=(0, 1)), 60),
}

#: Networks for the bounds: finer grids, two layers where the grids have two dimensions.
FINE: dict[str, tuple[RandomNetwork, int]] = {
    "chain": (RandomNetwork(_SCALAR, _LINE, (1, 1, 1)), 401),
    "multi-output": (RandomNetwork(_VECTOR, _LINE, (2, 1)), 21),
    "multi-output, mixed": (RandomNetwork(_MIXED, _LINE, (2, 1)), 21),
    "feed-forward": (RandomNetwork(_SCALAR, _SQUARE, (2, 1)), 21),
}


def coverage(network: RandomNetwork, n_grid: int, horizon: int, trial: Trial) -> dict[str, Array]:
    """Return for the modes `paper` and `outward`, after each pull, missed arms and median width, (2, horizon) a mode.

    Both see the pulls of GPN-UCB on `paper` sets. A miss is an arm with a layer's output outside its set or a reward
    outside [LCB, UCB]; the width is UCB - LCB, median over the arms, as a share of the range of the reward.
    """
    problem = network(trial)
    settings = {"n_grid": n_grid, "half_width": 1.5 * network.norm}
    sets = {mode: problem.told.structure.sets(problem.told, mode=mode, **settings) for mode in MODES}
    found = {mode: np.empty((2, horizon)) for mode in MODES}
    policy = GPNUCB(problem.told, horizon, **settings)
    for t, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        for mode, its in sets.items():
            its.update(arm, observation)
            lower, upper = its.bounds()
            found[mode][0, t - 1] = np.sum(~its.covers(problem.outputs))
            found[mode][1, t - 1] = np.median(upper - lower) / problem.reward_range
    return found


def bound_ratios(network: RandomNetwork, n_grid: int, horizon: int, trial: Trial, *, mode: str) -> Array:
    """Return r_t over its bound (eqs. 49, 67, 94) and R_t over that of Theorems 1-3, (2, horizon), for GPN-UCB.

    The sds are those of all layers at the true inputs of the arm pulled, before the pull; Sigma_t is the largest of
    their sums so far over the layers, so the theorems are asked for more than they say. In mode `outward` the bounds
    contain what rounding adds, and envelopes reach over the whole grid, as in the proofs.
    """
    problem = network(trial)
    told, outward = problem.told, mode == "outward"
    radius = 10.0 if outward else 1.0
    policy = GPNUCB(told, horizon, n_grid=n_grid, half_width=network.norm, radius=radius, mode=mode)
    arms, sds = [], []
    for _, arm, observation in rounds(policy, problem, horizon, trial.rng("run")):
        arms.append(arm)
        layers = zip(policy.posterior.posteriors, told.steps(arm, observation), strict=True)
        sds.append([posterior.at(z[None, :])[1][0] for posterior, (z, _) in layers])
    regret, structure = problem.regret(np.array(arms)), told.structure
    half_diagonals = policy.posterior.half_diagonals
    added = structure.rounding_term(told.widths, told.lipschitz, half_diagonals) if outward else 0.0
    known = told.widths, told.norm_bound, told.lipschitz
    step = np.array(sds) @ structure.step_weights(*known) + added
    sums = np.cumsum(sds, axis=0).max(axis=1)
    total = structure.cumulative_factor(*known) * sums + added * np.arange(1, horizon + 1)
    return np.stack([regret / step, np.cumsum(regret) / total])


def nonadaptive_regrets(
    source: Callable[[Trial], NetworkProblem], sides: Sequence[int], trial: Trial, *, project: bool = False
) -> Array:
    """Return the simple regret of non-adaptive sampling with per_side^d pulls, per_side in `sides`, (len(sides),).

    With `project` the ranges of the layers are known to it.
    """
    problem = source(trial)
    told, rng = problem.told, trial.rng("run")
    rank = rng.spawn(2)[1].permutation(told.n_arms)  # ties fall as for the policies of this trial
    ranges = [(output.min(axis=0), output.max(axis=0)) for output in problem.outputs] if project else None
    regrets = []
    for per_side in sides:
        design = uniform_design(told.points, per_side)
        mean = composite_mean(told, design, [problem.pull(arm, rng) for arm in design], ranges)
        regrets.append(float(problem.regret(best_arm(mean, rank))))
    return np.array(regrets)
