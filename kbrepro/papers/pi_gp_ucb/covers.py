"""How many cells a cover can have, and why sets that look at the noise are not covered by Lemma 10.

The proofs stand in docs/adaptive_covers.md; the cells are those of `partition`, variant `paper`.
"""

import math
from collections.abc import Callable

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.papers.pi_gp_ucb.partition import initial_side, must_split


def possible_cells(horizon: int, d: int, nu: float, whole: Callable[[float], int] = round) -> list[int]:
    """Return how many cells of each level some T = `horizon` pulls can create, the first cover (level 0) included.

    Level i + 1 is reached where one cell of level i that holds all pulls splits. The sum is N_T of Proposition 1.
    """
    side, levels = initial_side(horizon, d, nu, whole), []
    while True:
        levels.append(side**d)
        if not must_split(side, horizon, d, nu, "paper"):
            return levels
        side *= 2


def share_of_level(level: int, cells: int) -> float:
    """Return the share 6 / (pi^2 (level + 1)^2 cells) of delta for each of the `cells` of a level (Proposition 2)."""
    checks.positive_int(cells=cells, level=level + 1)
    return 6 / (math.pi**2 * (level + 1) ** 2 * cells)


def lemma_10(kernel: Kernel, points: Array, noise: Array, *, count: float, delta: float, eta: float = 1e-6) -> Array:
    """Return both sides of Lemma 10, (2,), for one set that holds the pulls `points` (n, d) with `noise` (n,).

    Left: noise' (I + S^-1)^-1 noise, S = K + eta I; right: 2 log(det(S + I)^(1/2) count / delta), `count` the lemma's
    N_t. (Janz et al., appendix A; their norm has no square, the theorem of Chowdhury & Gopalan behind it has.)
    """
    checks.positive(count=count, eta=eta)
    checks.probability(delta=delta)
    root = np.linalg.cholesky(kernel(points, points) + (1 + eta) * np.eye(len(points)))
    white = np.linalg.solve(root, noise)
    left = noise @ noise - white @ white  # (I + S^-1)^-1 = I - (S + I)^-1
    return np.array([left, 2 * (np.log(np.diag(root)).sum() + math.log(count / delta))])
