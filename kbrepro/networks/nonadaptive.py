"""Non-adaptive sampling (Li & Scarlett, Algorithm 2): pull a grid, compose the posterior means, take the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbrepro import checks
from kbrepro.kernels import Array
from kbrepro.networks.layer_posterior import layer_posterior
from kbrepro.networks.problem import NetworkProblem
from kbrepro.ties import best_arm


def uniform_design(arms: Array, per_side: int) -> NDArray[np.int64]:
    """Return the per_side^d arms nearest to the centres of per_side^d equal cells of the arms' bounding box.

    The fill distance is half a diagonal of a cell, of the order T^(-1/d), up to the spacing of the arms.
    """
    checks.positive_int(per_side=per_side)
    d = arms.shape[1]
    low, high = arms.min(axis=0), arms.max(axis=0)
    side = (np.arange(per_side) + 0.5) / per_side
    centres = np.stack(np.meshgrid(*[side] * d, indexing="ij"), axis=-1).reshape(-1, d)
    centres = low + centres * (high - low)
    return np.array([best_arm(-np.sum((arms - c) ** 2, axis=1)) for c in centres])


def composite_mean(problem: NetworkProblem, pulled: NDArray[np.int64], project: bool = False) -> Array:
    """Return the composed posterior means of the layers at every arm, (A,), after the pulls (eqs. 21, 166, 176-179).

    With `project` every mean is moved to the nearest point of the layer's known range, a box (Case 2, eq. 155).
    """
    z = problem.first_inputs
    shown = problem.first_inputs[pulled]
    for i, (kernel, output) in enumerate(zip(problem.kernels, problem.outputs, strict=True)):
        extras = problem.extras(i)
        posterior = layer_posterior(kernel, np.column_stack([z, extras]), problem.noise_variance, output.shape[1])
        for x, extra, y in zip(shown, extras[pulled], output[pulled], strict=True):
            posterior.update(np.concatenate([x, extra]), y)
        z, shown = posterior.mean, output[pulled]
        if project:
            z = np.clip(z, output.min(axis=0), output.max(axis=0))
    return z[:, 0]


def recommend(problem: NetworkProblem, per_side: int, rng: np.random.Generator, project: bool = False) -> int:
    """Return the arm of largest composite mean after T = per_side^d pulls; ties by the first permutation from `rng`."""
    rank = rng.permutation(len(problem.arms))
    return best_arm(composite_mean(problem, uniform_design(problem.arms, per_side), project), rank)


def simple_regrets(problem: NetworkProblem, sides: list[int], rng: np.random.Generator, project: bool = False) -> Array:
    """Return the regret of the recommended arm for every number of pulls a side, (len(sides),)."""
    state = rng.bit_generator.state
    chosen = []
    for per_side in sides:
        rng.bit_generator.state = state  # one permutation a trial, whatever T
        chosen.append(recommend(problem, per_side, rng, project))
    return problem.regret(np.array(chosen))
