"""Arms within 1e-10 (1 + |max|) of the maximum are tied; the rank decides."""

import numpy as np
import pytest

from kbrepro.policies.base import TOLERANCE, best_arm


def test_the_largest_index_wins_whatever_the_rank():
    assert best_arm(np.array([0.0, 2.0, 1.0])) == 1
    assert best_arm(np.array([0.0, 2.0, 1.0]), np.array([0, 2, 1])) == 1


def test_ties_go_to_the_lowest_number_or_rank():
    index = np.array([1.0, 3.0, 3.0, 3.0])
    assert best_arm(index) == 1
    assert best_arm(index, np.array([0, 3, 1, 2])) == 2


@pytest.mark.parametrize("top", [0.0, 1.0, -1.0, 1e6, -1e6])
def test_the_tolerance_is_relative_to_one_plus_the_maximum(top):
    gap = TOLERANCE * (1 + abs(top))
    rank = np.array([0, 1])
    assert best_arm(np.array([top - 0.5 * gap, top]), rank) == 0
    assert best_arm(np.array([top - 2 * gap, top]), rank) == 1


def test_infinite_indices():
    rank = np.array([3, 2, 1, 0])
    assert best_arm(np.array([1.0, np.inf, np.inf, 0.0]), rank) == 2
    assert best_arm(np.full(4, -np.inf), rank) == 3
    assert best_arm(np.array([-np.inf, -5.0, -np.inf, -6.0]), rank) == 1


def test_an_integer_comes_back():
    assert type(best_arm(np.array([1.0, 2.0]))) is int
    assert type(best_arm(np.array([1.0, 2.0]), np.array([1, 0]))) is int


def test_nan_is_named():
    with pytest.raises(ValueError, match=r"index\[2\] = nan is not allowed"):
        best_arm(np.array([1.0, 0.0, np.nan, np.nan]))


def test_a_random_rank_makes_every_tied_arm_equally_likely():
    """Chi-square over 4 tied arms, 4000 draws, error level 1e-4 (critical value 21.1 at 3 degrees of freedom)."""
    rng = np.random.default_rng(1)
    index = np.array([1.0, 0.0, 1.0, 1.0, 1.0])
    counts = np.bincount([best_arm(index, rng.permutation(5)) for _ in range(4000)], minlength=5)
    assert counts[1] == 0
    assert ((counts[[0, 2, 3, 4]] - 1000) ** 2 / 1000).sum() < 21.1
