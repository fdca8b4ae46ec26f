"""The claims of the next edition: whose seconds judge them, and sets of test functions."""

from itertools import combinations, product

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


class Asked:
    """Notes the labels that a table asks for."""

    def __init__(self):
        self.labels = []

    def column(self, label, rule, statistic):
        self.labels.append(label)
        return np.ones(1)


def test_functions_and_horizons_of_fig_2_combine_to_all_labels_that_are_played_of_it():
    counts = ("trials", "trials_d3", "trials_more", "trials_timed", "coverage_trials")
    settings = dict.fromkeys(counts, 2) | {"replayed_trials": 1, "replayed_rounds": 150}
    plan = experiments.experiments(5, 2_000, 150, delta=0.1, **settings)
    asked = Asked()
    for table in claims.fig2:
        for functions, horizon in product(*table.readings.values()):
            reading = {"functions": functions, "horizon": horizon}
            table.under(asked, reading).column(claims.OURS, TOTAL)
            rounds = 1_000 if horizon == "1,000" else 2_000
            assert plan[asked.labels[-1]].experiment.horizon == rounds
    assert {*asked.labels} == {label for label in plan if label.startswith("Fig. 2")}
    assert len(asked.labels) == 16


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
