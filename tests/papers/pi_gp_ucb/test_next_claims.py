"""The claims of the next edition: whose seconds judge them, and sets of test functions."""

from itertools import combinations

import numpy as np

from kbrepro.claims.judging import Claim
from kbrepro.claims.tables import TOTAL, Draw, Table, Trials, View, all_kept
from kbrepro.papers.pi_gp_ucb.next import claims, experiments


def views(ratios):
    """Test functions with this regret of π-GP-UCB over that of IGP-UCB, one run each."""
    made = []
    for ratio in ratios:
        columns = {(claims.RIVAL, TOTAL): np.ones(1), (claims.OURS, TOTAL): np.array([ratio])}
        table = Table("a", pool=claims.RULES, load=lambda kept, columns=columns: columns)
        trials = Trials(table, KEPT, {}, [])
        made.append(View(trials, Draw(all_kept)))
    return made


class KEPT:
    """Loads without a store."""

    @staticmethod
    def loaded(load):
        return load(None)


def test_sets_of_four_are_those_in_which_each_function_is_at_most_twice():
    ratios = [0.7, 1.9, 2.1, 1.0, 5.0, 0.9, 1.2, 0.1]
    by_hand = sum(max(four) <= 2 for four in combinations(ratios, 4))
    assert claims.sets_of_four(*views(ratios)) == [by_hand] == [15]
    assert claims.sets_of_four(*views([3.0] * 5 + [1.0] * 3)) == [0]


def test_seconds_of_a_posterior_over_the_arms_judge_no_sentence_of_the_paper():
    """Questions of our own may ask of ours."""
    for claim in vars(claims).values():
        if isinstance(claim, Claim) and claim.kind != "own question":
            for table in claim.tables():
                assert not table.label.startswith(claims.OVER_ARMS)
                values = [*table.readings.get("posterior", ())]
                assert values[:1] in ([], [claims.POSTERIORS["grown"]])
                assert {*values} - {*table.sources} <= {*table.excluded}


def test_cells_split_at_the_limits_that_are_played():
    assert (*experiments.GAIN_LIMITS.values(),) == claims.GAINS
