"""Chains by their number, coverage of plain sets, regret within its bounds."""

import numpy as np
import pytest

from kbrepro.papers.gpn_ucb.experiments import (
    FINE,
    SMALL,
    DrawnChain,
    Numbered,
    bound_ratios,
    coverage,
    exact_chain,
    maximum_gap,
)
from kbrepro.problems import Trial


def rng(*seed):
    return np.random.default_rng([57, *seed])


def test_exact_chains_keep_what_they_promise():
    problem = exact_chain(20).draw(rng(6))
    assert problem.told.widths == (1, 1, 1) and problem.told.lipschitz == pytest.approx(2.0)
    assert max(np.abs(output).max() for output in problem.outputs) <= 2.0


def test_numbered_chains_depend_on_seed_and_number_alone():
    chains = Numbered(exact_chain(6), per_chain=3)
    same = [chains(Trial(5, t)).expected_reward for t in range(4)]
    np.testing.assert_array_equal(same[0], same[2])
    assert not np.allclose(same[0], same[3])
    one = Numbered(exact_chain(6), number=1, norm_bound=4.0)(Trial(5, 0))
    np.testing.assert_array_equal(one.expected_reward, same[3])
    assert (one.told.norm_bound, one.told.lipschitz) == (4.0, 2.0)
    assert 0 <= maximum_gap(chains(Trial(5, 0))) <= 1


def test_drawn_chains_are_told_what_does_not_hold():
    told = DrawnChain(6).draw(rng(35)).told
    assert (told.widths, told.norm_bound, told.lipschitz) == ((1, 1, 1), 2.0, 2.0)


def test_plain_rounding_does_miss():
    missed = [coverage(*SMALL["chain"], 8, Trial(1, trial))["paper"][0].sum() for trial in range(3)]
    assert sum(missed) > 100


@pytest.mark.parametrize("structure", ["chain", "multi-output, mixed", "feed-forward"])
def test_regret_stays_within_the_bounds(structure):
    assert bound_ratios(*FINE[structure], 12, Trial(3, 0), mode="outward").max() <= 1
