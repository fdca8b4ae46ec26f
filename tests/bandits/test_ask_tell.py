"""The arguments of ask and tell against direct solves, and against the plain call where they must
be equal to it.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from dense import dense_posterior

import kbrepro as kb
from kbrepro.bandits.posterior import LatticePosterior
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE
from kbrepro.papers.side_by_side.widths import FixedDesign

KERNEL, POINTS, NOISE = kb.Matern(0.3, nu=1.5, variance=1.3), kb.grid(5, 2), 0.05
A = len(POINTS)
WIDTH = kb.Constant(1.5)
UCB = partial(kb.UCB, width=WIDTH)
BATCHES = {"UCB": UCB, "EI": kb.ExpectedImprovement, "variance": kb.VarianceOnly}
DRAWS = {"TS": partial(kb.ThompsonSampling, width=WIDTH), "PIMS": kb.PIMS}


class Own(kb.Policy):
    """It takes no generator."""

    def __init__(self, model, weight=0.1):
        super().__init__(model)
        self.weight = weight

    def index(self):
        return self.posterior.mean + self.weight * self.posterior.sd


OTHERS = {
    "mean": kb.MeanOnly,
    "own": partial(Own, weight=3.0),
    "PI": partial(kb.ProbabilityOfImprovement, margin=0.1),
    "IRGP-UCB": IRGPUCB,
}
NONE = {
    "cells": partial(PartitionedUCB, horizon=30, delta=0.1, nu=1.5),
    "mini": partial(MiniUCB, width=WIDTH, squared_c=2.0),
    "BPE": partial(BPE, horizon=30, width=FixedDesign(0.1)),
}


def model(**given):
    return kb.Model(POINTS, KERNEL, NOISE, norm=2.0, **given)


# Ask


@pytest.mark.parametrize("name", BATCHES | DRAWS)
def test_one_arm_all_arms_and_nothing_pending_is_the_plain_call(name):
    make, rng = (BATCHES | DRAWS)[name], np.random.default_rng(1)
    plain, full = make(model(), rng=2), make(model(), rng=2)
    for _ in range(15):
        arm, reward = plain.ask(), rng.standard_normal()
        assert full.ask(1, allowed=np.ones(A, dtype=bool), pending=[]) == arm
        plain.tell(arm, reward)
        full.tell([arm], [reward], noise_variance=NOISE)
    np.testing.assert_array_equal(plain.posterior.mean, full.posterior.mean)


def test_a_batch_of_a_rule_that_draws_is_of_independent_draws():
    """Thompson: those of plain calls. PIMS: each with the sd that is left after the arms before."""
    policies = [make(model(), rng=4) for make in (DRAWS["TS"], DRAWS["TS"], kb.PIMS, kb.PIMS)]
    for policy in policies:
        policy.tell([3, 20], [1.0, 0.5])
    thompson, alone, policy, draws = policies
    asked = thompson.ask(20, pending=[3])
    assert asked == [alone.ask() for _ in range(20)] and len(set(asked)) > 3
    pending = [3]
    for arm in policy.ask(5, pending=pending):
        pulled = [3, 20, *pending]
        left = dense_posterior(KERNEL, POINTS, NOISE, pulled, np.zeros(len(pulled)))[1].diagonal()
        z = (draws.posterior.mean - draws.target()) / np.sqrt(left)
        assert z[arm] == pytest.approx(z.max(), abs=1e-9)
        pending = [*pending, arm]
    assert len(set(pending)) > 3


# Tell, recommend, history


def test_the_gap_is_by_default_that_of_the_policys_own_width():
    """What a gap is, the fuzz test says."""
    policy = UCB(model())
    policy.tell([3, 20], [1.0, 0.5])
    assert policy.gap() == policy.gap(WIDTH) != policy.gap(kb.Constant(2.0))


@pytest.mark.parametrize("name", BATCHES | DRAWS | OTHERS)
def test_told_the_history_anew_the_same_model_goes_on_and_another_is_of_the_same_rule(name):
    make = (BATCHES | DRAWS | OTHERS)[name]
    policy, rng = make(model()), np.random.default_rng(6)
    for _ in range(6):
        policy.tell(policy.ask(), rng.standard_normal(), noise_variance=0.3)
    again = policy.with_model(policy.model)
    other = policy.with_model(kb.Model(kb.grid(6, 2), kb.Linear(), 0.2))
    asked = [[one.ask(allowed=range(20)) for _ in "123"] for one in (again, policy)]
    assert asked[0] == asked[1]
    np.testing.assert_array_equal(again.ties(), policy.ties())
    assert other.ask() in range(36) and type(other) is type(policy)
    assert other.history == policy.history


def test_one_warning_where_rewards_do_not_fit_the_prior():
    policy = UCB(model())
    with pytest.warns(
        UserWarning,
        match=(
            r"reward 100 of arm 3 lies 86.1 standard .* mean 0: set `mean` of Model .model.fit"
            r" does not"
        ),
    ) as seen:
        policy.tell([3, 4], [100.0, 101.0])
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UCB(model(mean=95.0)).tell(3, 100.0)


# Refused by name


#: A policy, what is refused, and the call that it is refused in.
REFUSED = [
    (kb.MeanOnly, "n = 3", "ask", {"n": 3}),
    (kb.MeanOnly, r"pending = \[1\]", "ask", {"pending": [1]}),
    (partial(BKB, width=WIDTH, qbar=2), "n = 2", "ask", {"n": 2}),
    *[(make, r"allowed = \[1\]", "ask", {"allowed": [1]}) for make in NONE.values()],
    *[
        (make, "noise_variance = 0.1", "tell", {"arms": 1, "rewards": 0.0, "noise_variance": 0.1})
        for make in NONE.values()
    ],
    (UCB, "n = 0", "ask", {"n": 0}),
    (UCB, r"allowed = \[\]", "ask", {"allowed": []}),
    (UCB, r"allowed\[0\] = 1.5", "ask", {"allowed": [1.5]}),
    (UCB, r"pending\[0\] = -1 is", "ask", {"pending": [-1]}),
    (UCB, r"arms\[1\] = 25 is", "tell", {"arms": [0, 25], "rewards": [0.0, 1.0]}),
    (UCB, r"arms\[0\] = True", "tell", {"arms": True, "rewards": 0.5}),
    (UCB, r"arms\[0\] = 25 is", "tell", {"arms": 25, "rewards": 99.0}),
    (UCB, "rewards = nan", "tell", {"arms": 2, "rewards": np.nan}),
    (UCB, "rewards = inf", "tell", {"arms": 2, "rewards": np.inf}),
    (
        UCB,
        r"noise_variance\[0\] = 0.0",
        "tell",
        {"arms": [0, 1], "rewards": [1.0, 2.0], "noise_variance": [0.0, 1.0]},
    ),
    (
        partial(UCB, form=LatticePosterior),
        "noise_variance = 1e-06",
        "tell",
        {"arms": 0, "rewards": 0.0, "noise_variance": 1e-6},
    ),
    (kb.PIMS, "width = None", "gap", {}),
]


@pytest.mark.parametrize(("make", "words", "method", "arguments"), REFUSED)
def test_what_is_not_taken_is_refused_by_name_and_changes_nothing(make, words, method, arguments):
    policy = make(model())
    with pytest.raises((ValueError, IndexError), match=f"{words}.* not allowed"):
        getattr(policy, method)(**arguments)
    assert policy.t == 1 and policy.history.arms == []
    assert policy.ask() == make(model()).ask()


@pytest.mark.parametrize("make", [partial(BKB, width=WIDTH, qbar=2), *NONE.values()])
def test_a_prior_mean_that_a_rule_does_not_take_is_refused(make):
    with pytest.raises(ValueError, match=r"^mean = .* is not allowed: .* takes no such"):
        make(model(mean=1.0))
