"""Ties, and what every policy shares; that arms are those of the formulas, the fuzz test says."""

from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import (
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    VarianceOnly,
)
from kbrepro.bandits.policies.base import TOLERANCE, best_arm
from kbrepro.bandits.problems import Model

TOLD = Model(grid(30), SquaredExponential(0.2), 0.025)
POLICIES = {
    "GP-UCB": partial(UCB, width=Srinivas2010(delta=0.1)),
    "EI": ExpectedImprovement,
    "MPI": partial(ProbabilityOfImprovement, margin=0.1),
    "mean only": MeanOnly,
    "variance only": VarianceOnly,
}
every_policy = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)

# Ties: arms within 1e-10 (1 + |max|) of the maximum; the rank decides


def test_the_largest_index_wins_whatever_the_rank_and_ties_go_to_the_lowest_number_or_rank():
    index = np.array([1.0, 3.0, 3.0, 3.0])
    arm, ranked = best_arm(index), best_arm(index, np.array([0, 3, 1, 2]))
    assert (arm, ranked) == (1, 2)
    assert type(arm) is int is type(ranked)
    with pytest.raises(ValueError, match=r"index\[2\] = nan is not allowed"):
        best_arm(np.array([1.0, 0.0, np.nan, np.nan]))


def test_the_tolerance_is_relative_to_one_plus_the_maximum_and_infinite_indices_tie():
    for top in (0.0, 1.0, -1.0, 1e6, -1e6):
        gap, rank = TOLERANCE * (1 + abs(top)), np.array([0, 1])
        assert best_arm(np.array([top - 0.5 * gap, top]), rank) == 0
        assert best_arm(np.array([top - 2 * gap, top]), rank) == 1
    rank = np.array([3, 2, 1, 0])
    assert best_arm(np.array([1.0, np.inf, np.inf, 0.0]), rank) == 2
    assert best_arm(np.full(4, -np.inf), rank) == 3


# What every policy shares


@every_policy
def test_the_same_random_arm_comes_first_under_every_policy(make):
    """A stationary prior makes every arm tie in round 1; one permutation decides, the first and
    only thing drawn.
    """
    first, rngs = [], [np.random.default_rng(seed) for seed in range(30)]
    for rng in rngs:
        policy = make(TOLD, 10, rng=rng)
        first.append(policy.ask())
        policy.ask()
    fresh = [np.random.default_rng(seed) for seed in range(30)]
    assert first == [int(rng.permutation(30).argmin()) for rng in fresh] and len(set(first)) > 10
    assert [rng.random() for rng in rngs] == [rng.random() for rng in fresh]


@every_policy
def test_a_random_opening_is_uniform_draws_no_permutation_and_then_the_index_decides(make):
    first = [make(TOLD, 10, random_opening=True, rng=seed).ask() for seed in range(20)]
    assert first == [int(np.random.default_rng(seed).integers(30)) for seed in range(20)]
    opened, plain = (make(TOLD, 10, random_opening=its) for its in (True, False))
    for policy in (opened, plain):
        policy.tell(7, 1.0)
    assert opened.ask() == plain.ask()
