"""Lemma 10 of Janz et al., on which their union over cells rests, and a set chosen by the noise, for which it fails.

docs/adaptive_covers.md says why, and what holds instead.
"""

import math
from collections.abc import Sequence

import numpy as np

from kbrepro import checks
from kbrepro.kernels import Array, Kernel
from kbrepro.problems import Trial


class One:
    """The constant kernel: 1 between any two points."""

    def __call__(self, X: Array, Z: Array) -> Array:
        return np.ones((len(X), len(Z)))

    def diag(self, X: Array) -> Array:
        return np.ones(len(X))


def lemma_10(kernel: Kernel, points: Array, noise: Array, *, count: float, delta: float, eta: float = 1e-6) -> Array:
    """Return both sides of Lemma 10, (2,), for one set that holds the pulls `points` (n, d) with `noise` (n,).

    Left: noise' (I + S^-1)^-1 noise, S = K + eta I; right: 2 log(det(S + I)^(1/2) count / delta), `count` the lemma's
    N_t (Janz et al., appendix A). Their norm has no square, unlike that of the theorem of Chowdhury & Gopalan on which
    the lemma rests.
    """
    checks.positive(count=count, eta=eta)
    checks.probability(delta=delta)
    root = np.linalg.cholesky(kernel(points, points) + (1 + eta) * np.eye(len(points)))
    white = np.linalg.solve(root, noise)
    left = noise @ noise - white @ white  # (I + S^-1)^-1 = I - (S + I)^-1
    return np.array([left, 2 * (np.log(np.diag(root)).sum() + math.log(count / delta))])


def counterexample(kernel: Kernel, at: Sequence[int], delta: float, trial: Trial) -> Array:
    """Return both sides of Lemma 10 (m, 2) after each number of pulls `at`, for the pulls whose noise was positive.

    Distinct arms on a line in a random order, noise uniform on [-1, 1]; the set is chosen before the last pull, and it
    is the only one (count 2).
    """
    rng, n = trial.rng("run"), max(at)
    arms, noise, sides = rng.permutation(n)[:, None] / n, rng.uniform(-1, 1, n), []
    for t in at:
        inside = noise[: t - 1] > 0
        sides.append(lemma_10(kernel, arms[: t - 1][inside], noise[: t - 1][inside], count=2, delta=delta))
    return np.array(sides)
