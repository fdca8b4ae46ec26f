"""Chains by their number, coverage of plain sets, regret within its bounds."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.papers.gpn_ucb.experiments import (
    FINE,
    SMALL,
    DrawnChain,
    Repeated,
    bound_ratios,
    coverage,
    exact_chain,
    maximum_gap,
)
from kbrepro.problems import Trial


def rng(*seed):
    return np.random.default_rng([57, *seed])


def test_exact_chains_keep_what_they_promise():
    problem = exact_chain(20)(Trial(57, 6))
    assert problem.told.widths == (1, 1, 1) and problem.told.lipschitz == pytest.approx(2.0)
    assert max(np.abs(output).max() for output in problem.outputs) <= 2.0


def test_every_chain_is_met_several_times_and_depends_on_seed_and_number_alone():
    chains = Repeated(exact_chain(6), 3)
    same = [chains(Trial(5, t)).expected_reward for t in range(4)]
    np.testing.assert_array_equal(same[0], same[2])
    assert not np.allclose(same[0], same[3])
    assert 0 <= maximum_gap(chains(Trial(5, 0))) <= 1


def test_another_norm_bound_may_be_told():
    plain, loose = (source(Trial(5, 1)) for source in (exact_chain(6), replace(exact_chain(6), norm_bound=4.0)))
    np.testing.assert_array_equal(plain.expected_reward, loose.expected_reward)
    assert (loose.told.norm_bound, loose.told.lipschitz) == (4.0, plain.told.lipschitz)


def test_drawn_chains_are_told_what_does_not_hold():
    told = DrawnChain(6)(Trial(57, 35)).told
    assert (told.widths, told.norm_bound, told.lipschitz) == ((1, 1, 1), 2.0, 2.0)


def test_plain_rounding_does_miss():
    missed = [coverage(*SMALL["chain"], 8, Trial(1, trial))["paper"][0].sum() for trial in range(3)]
    assert sum(missed) > 100


@pytest.mark.parametrize("structure", ["chain", "multi-output, mixed", "feed-forward"])
def test_regret_stays_within_the_bounds(structure):
    assert bound_ratios(*FINE[structure], 12, Trial(3, 0), mode="outward").max() <= 1
