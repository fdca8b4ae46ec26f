"""The arguments of ask and tell against direct solves, and against the plain call where they must
be equal to it.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbrepro as kb
from kbrepro.bandits.posterior import (
    AfterPending,
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
)
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE
from kbrepro.papers.side_by_side.field import UniformPlay
from kbrepro.papers.side_by_side.widths import FixedDesign

KERNEL, POINTS, NOISE = kb.Matern(0.3, nu=1.5, variance=1.3), kb.grid(5, 2), 0.05
A = len(POINTS)
WIDTH = kb.Constant(1.5)
FORMS = [RowPosterior, CovariancePosterior, DistinctPosterior, LatticePosterior]
UCB = partial(kb.UCB, width=WIDTH)
BATCHES = {"UCB": UCB, "EI": kb.ExpectedImprovement, "variance": kb.VarianceOnly}
DRAWS = {"TS": partial(kb.ThompsonSampling, width=WIDTH), "PIMS": kb.PIMS}
OTHERS = {
    "mean": kb.MeanOnly,
    "PI": partial(kb.ProbabilityOfImprovement, margin=0.1),
    "IRGP-UCB": IRGPUCB,
}
NONE = {
    "cells": partial(PartitionedUCB, horizon=30, delta=0.1, nu=1.5),
    "mini": partial(MiniUCB, width=WIDTH, squared_c=2.0),
    "BPE": partial(BPE, horizon=30, width=FixedDesign(0.1)),
}
few = settings(max_examples=30, deadline=None, derandomize=True)
arms = st.integers(0, A - 1)
history = st.lists(
    st.tuples(arms, st.floats(-3, 3), st.sampled_from([0.01, NOISE, 0.7])), max_size=12
)


def model(**given):
    return kb.Model(POINTS, KERNEL, NOISE, norm=2.0, **given)


def dense(told, mean=0.0):
    """Mean (A,), covariance (A, A) and gain by one solve, of (arm, reward, noise variance)."""
    pulled, y, noise = (
        (np.array(column) for column in zip(*told, strict=True))
        if told
        else (np.empty(0, int),) * 3
    )
    K, mean = KERNEL(POINTS, POINTS), np.zeros(A) + mean
    S = K[np.ix_(pulled, pulled)] + np.diag(noise)
    solved = np.linalg.solve(S, np.c_[y - mean[pulled], K[pulled]])
    gain = 0.5 * np.linalg.slogdet(S)[1] - 0.5 * np.log(noise).sum()
    return mean + K[:, pulled] @ solved[:, 0], K - K[:, pulled] @ solved[:, 1:], gain


def told(make, pulls, of=None, **settings):
    policy = make(of or model(), **settings)
    for arm, reward, noise in pulls:
        policy.tell(arm, reward, noise_variance=noise)
    return policy


# Posterior


@few
@given(
    pulls=history,
    pending=st.lists(arms, max_size=4),
    mean=st.sampled_from([0.0, 7.0, np.linspace(-2, 5, A)]),
)
def test_noise_prior_mean_and_pending_pulls_are_exact_in_every_form(pulls, pending, mean):
    expected, C, gain = dense(pulls, mean)
    later = dense([*pulls, *((arm, expected[arm], NOISE) for arm in pending)], mean)
    precision = (
        np.bincount([p[0] for p in pulls], [1 / p[2] for p in pulls], A) if pulls else np.zeros(A)
    )
    for form in FORMS:
        posterior = form(KERNEL, POINTS, NOISE, mean=mean)
        for pull in pulls:
            posterior.update(*pull)
        after = AfterPending(posterior, pending)
        np.testing.assert_allclose(posterior.mean, expected, atol=1e-9)
        np.testing.assert_allclose(posterior.variance, C.diagonal(), atol=1e-9)
        np.testing.assert_allclose(posterior.gain, gain, atol=1e-9)
        np.testing.assert_allclose(posterior.precision, precision)
        np.testing.assert_allclose(posterior.covariance_with(3), C[3], atol=1e-9)
        np.testing.assert_allclose(after.variance, later[1].diagonal(), atol=1e-9)
        np.testing.assert_allclose(after.covariance_with(3), later[1][3], atol=1e-9)
        waits = np.bincount(pending, minlength=A) if pending else np.zeros(A)
        np.testing.assert_allclose(after.precision, precision + waits / NOISE)
        # what is pending was told its own mean
        np.testing.assert_allclose(later[0], after.mean, atol=1e-9)
        assert after.counts.sum() == len(pulls) + len(pending)
        if hasattr(posterior, "mean_given"):
            f, z = np.random.default_rng(1).standard_normal((2, A))
            told_f = C @ (precision * f + np.sqrt(precision) * z)
            np.testing.assert_allclose(posterior.mean_given(f, z), told_f, atol=1e-9)


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
    assert plain.history[:2] == full.history[:2]


def test_a_batch_of_a_rule_that_draws_is_of_independent_draws():
    """Thompson: those of plain calls. PIMS: each with the sd that is left after the arms before."""
    pulls = [(3, 1.0, NOISE), (20, 0.5, NOISE)]
    policy, alone = (told(DRAWS["TS"], pulls, rng=4) for _ in "12")
    asked = policy.ask(20, pending=[3])
    assert asked == [alone.ask() for _ in range(20)] and len(set(asked)) > 3
    policy, draws = (told(kb.PIMS, pulls, rng=4) for _ in "12")
    (mean, C, _), pending = dense(pulls), [3]
    for arm in policy.ask(5, pending=pending):
        left = dense([*pulls, *((arm, 0.0, NOISE) for arm in pending)])[1].diagonal()
        z = (mean - draws.target()) / np.sqrt(left)
        assert z[arm] == pytest.approx(z.max(), abs=1e-9)
        pending = [*pending, arm]
    assert len(set(pending)) > 3 and C.diagonal()[3] > left[3]


@pytest.mark.parametrize("make", [UniformPlay, partial(UCB, random_opening=True)])
def test_arms_at_random_are_drawn_from_the_allowed_ones(make):
    policy = make(model())
    assert {policy.ask(allowed=[2, 7]) for _ in range(30)} == {2, 7}


# Tell, recommend, history


@few
@given(pulls=history)
def test_the_gap_is_the_most_that_the_recommended_arm_loses_while_the_band_holds(pulls):
    policy = told(UCB, pulls)
    mean, C, _ = dense(pulls)
    best, gap = policy.recommend(), policy.gap()
    worst = mean + 1.5 * np.sqrt(C.diagonal()) * np.where(np.arange(A) == best, -1, 1)
    assert mean[best] == pytest.approx(mean.max())
    assert gap == pytest.approx(worst.max() - worst[best], abs=1e-9)
    assert told(kb.PIMS, pulls).gap(WIDTH) == pytest.approx(gap) and policy.gap(allowed=[best]) == 0


@pytest.mark.parametrize("name", BATCHES | DRAWS | OTHERS)
def test_another_model_is_told_the_history_and_the_same_one_goes_on(name):
    make = (BATCHES | DRAWS | OTHERS)[name]
    policy, rng = make(model(), rng=5), np.random.default_rng(6)
    for _ in range(6):
        policy.tell(policy.ask(), rng.standard_normal(), noise_variance=0.3)
    again, other = (
        policy.with_model(policy.model),
        policy.with_model(kb.Model(kb.grid(6, 2), kb.Linear(), 0.2)),
    )
    assert [again.ask(allowed=range(20)) for _ in "123"] == [
        policy.ask(allowed=range(20)) for _ in "123"
    ]
    np.testing.assert_array_equal(again.ties(), policy.ties())
    assert again.history == policy.history == other.history and other.posterior.n_arms == 36
    assert other.ask() in range(36) and type(other) is type(policy)


def test_one_warning_where_rewards_do_not_fit_the_prior():
    policy = UCB(model())
    with pytest.warns(
        UserWarning,
        match=(
            r"reward 100 of arm 3 lies 86.1 standard .* mean 0: give Model a `mean` .model.fit"
            r" keeps it"
        ),
    ) as seen:
        policy.tell([3, 4], [100.0, 101.0])
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UCB(model(mean=95.0)).tell(3, 100.0)


# Refused by name


@pytest.mark.parametrize(
    ("make", "argument", "call"),
    [
        (kb.MeanOnly, "n = 3", lambda p: p.ask(3)),
        (kb.MeanOnly, r"pending = \[1\]", lambda p: p.ask(pending=[1])),
        (partial(BKB, width=WIDTH, qbar=2), "n = 2", lambda p: p.ask(2)),
        *[(make, r"allowed = \[1\]", lambda p: p.ask(allowed=[1])) for make in NONE.values()],
        *[
            (make, "noise_variance = 0.1", lambda p: p.tell(1, 0.0, noise_variance=0.1))
            for make in NONE.values()
        ],
        (UCB, "n = 0", lambda p: p.ask(0)),
        (UCB, r"allowed = \[\]", lambda p: p.ask(allowed=[])),
        (UCB, r"allowed\[0\] = 1.5", lambda p: p.ask(allowed=[1.5])),
        (UCB, r"allowed\[1\] = 25 is", lambda p: p.ask(allowed=[0, 25])),
        (UCB, r"pending\[0\] = -1 is", lambda p: p.ask(pending=[-1])),
        (UCB, r"arms\[1\] = 25 is", lambda p: p.tell([0, 25], [0.0, 1.0])),
        (UCB, r"arms\[0\] = 25 is", lambda p: p.tell(25, 99.0)),
        (UCB, "rewards = ", lambda p: p.tell([0, 1], [1.0])),
        (UCB, "rewards = nan", lambda p: p.tell(2, np.nan)),
        (UCB, "rewards = inf", lambda p: p.tell(2, np.inf)),
        (
            UCB,
            r"noise_variance\[0\] = 0.0",
            lambda p: p.tell([0, 1], [1.0, 2.0], noise_variance=[0.0, 1.0]),
        ),
        (
            partial(UCB, form=LatticePosterior),
            "noise_variance = 1e-06",
            lambda p: p.tell(0, 0.0, noise_variance=1e-6),
        ),
        (kb.PIMS, "width = None", lambda p: p.gap()),
    ],
)
def test_what_is_not_taken_is_refused_by_name_and_changes_nothing(make, argument, call):
    policy = make(model())
    with pytest.raises((ValueError, IndexError), match=f"{argument}.* not allowed"):
        call(policy)
    assert policy.t == 1 and policy.history.arms == []
    assert policy.ask() == make(model()).ask()


@pytest.mark.parametrize("make", [partial(BKB, width=WIDTH, qbar=2), *NONE.values()])
def test_a_prior_mean_that_a_rule_does_not_take_is_refused(make):
    with pytest.raises(ValueError, match=r"mean = .* is not allowed: .* takes no mean"):
        make(model(mean=1.0))
    with pytest.raises(
        ValueError, match=r"mean has shape \(3,\): it must be a number or \(25,\), one for each"
    ):
        model(mean=[1.0, 2.0, 3.0])
