"""The claims of paper 5: tables against loops over trials, predicates on small numbers."""

import numpy as np
import pytest
from tiny import Shown
from traces import trace_of

from kbrepro.papers.gpn_ucb import claims


class Played:
    """Kept trials of two chains of a kind, four trials each, of cEI two and one more."""

    parameters = {"trials_per_chain": 4, "sampled_trials": 2, "more_trials": 1}
    labels = {
        "several": ({"GPN-UCB", "cUCB", "OI", "GP-UCB", "EI"}, 8),
        "several, no envelope in layer 1": ({"GPN-UCB"}, 8),
        "several, own ties": ({"cUCB", "OI", "GP-UCB", "EI"}, 8),
        "several, cEI 0": ({"cEI", "cEI, exact"}, 2),
        "several, cEI 1": ({"cEI", "cEI, exact"}, 2),
        "several, more of cEI 0": ({"cEI", "cEI, exact"}, 2),
    }

    def __init__(self):
        rng = np.random.default_rng(1)
        self.regrets = {}
        for label, (rules, n) in self.labels.items():
            for rule in sorted(rules):
                regret = rng.choice([0.0, 0.3, 0.5, 3.0], (n, 200), p=[0.01, 0.03, 0.01, 0.95])
                self.regrets[label, rule] = regret

    def planned(self, label):
        return self.labels[label]

    def results(self, label):
        assert label == "several, facts"
        return [(0.01, 2.0), (0.03, 4.0)]

    def traces(self, label):
        rules, _ = self.labels[label]
        return {rule: trace_of(self.regrets[label, rule]) for rule in rules}


def early_in_vain(rule, gpn_ucb, height):
    """Whether a trial is within .2 of the range before GPN-UCB's, but within .05 no earlier."""

    def first(regret, share):
        below = np.flatnonzero(regret <= share * height)
        return below[0] if len(below) else len(regret)

    return first(rule, 0.2) < first(gpn_ucb, 0.2) and first(rule, 0.05) >= first(gpn_ucb, 0.05)


def test_a_chain_has_its_own_trials_of_cei_cucb_and_gpn_ucb():
    kept = Played()
    columns = claims.ten_of(kept, "several")
    of = kept.regrets
    cei = [
        [of["several, cEI 0", "cEI"][0], of["several, cEI 0", "cEI"][1]],
        [of["several, cEI 1", "cEI"][0], of["several, cEI 1", "cEI"][1]],
    ]
    more = of["several, more of cEI 0", "cEI"]
    seen = []
    for ties, layer in ((0, 0), (0, 1), (1, 0), (1, 1)):
        bare = ", no envelope in layer 1" * layer
        own = ", own ties" * ties
        for rule in ("cEI", "cUCB"):
            shares = []
            for chain, height in enumerate((2.0, 4.0)):
                trials = []
                for trial in range(3):
                    theirs = of["several" + own, "cUCB"][4 * chain + trial]
                    if rule == "cEI":
                        theirs = cei[chain][trial] if trial < 2 else more[chain]
                    ours = of["several" + bare, "GPN-UCB"][4 * chain + trial]
                    trials.append(early_in_vain(theirs, ours, height))
                shares.append(np.mean(trials))
            name = rule + own * (rule == "cUCB")
            assert columns[name, claims.EARLY + bare].tolist() == pytest.approx(shares)
            seen += shares
    assert len(set(seen)) > 1
    totals = [np.sum([*cei[chain], more[chain]], axis=1) for chain in range(2)]
    variances = [np.var(totals[0] / 2, ddof=1), np.var(totals[1] / 4, ddof=1)]
    assert columns["cEI", claims.VARIANCE].tolist() == pytest.approx(variances)


def test_what_is_mainly_by_sampling_is_at_most_half_by_ties():
    rules = ("GPN-UCB", *claims.GREY_BOX, *claims.BLACK_BOX)
    shown = {(rule, claims.VARIANCE): 1.0 for rule in rules}
    holds = claims.randomness_comes_from_sampling_and_ties.predicate
    for by_ties, mainly in ((0.9, True), (1.1, False)):
        cei = {("cEI", claims.VARIANCE): 2.0, ("cEI, exact", claims.VARIANCE): by_ties}
        assert holds(Shown(shown | cei), Shown(shown | cei)) == mainly
    assert not holds(Shown(shown | cei | {("OI", claims.VARIANCE): 0.0}))


def test_every_choice_that_counts_has_a_source():
    for name in ("both", "ten_trials", "swept"):
        for table in getattr(claims, name):
            values = [value for _, value in table.values()]
            mains = [next(iter(of_choice)) for of_choice in table.readings.values()]
            assert {*values, *mains} <= table.sources.keys()
