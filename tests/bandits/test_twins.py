"""What is mended at one door holds at its twins: masks, absurd numbers, what is given back, and
what went without a word.
"""

from dataclasses import replace
from functools import partial

import memory
import numpy as np
import pytest
from dense import FORMS
from refusing import refuses

import kbrepro as kb
from kbrepro.bandits.posterior import LatticePosterior
from kbrepro.bandits.problems import prior_draws
from kbrepro.papers.bkb.policy import BKB

KERNEL = kb.Matern(0.2, nu=2.5)
MODEL = kb.Model(kb.grid(30), KERNEL, 0.01)
UCB = partial(kb.UCB, width=kb.Constant(2.0))


def same(one, other):
    np.testing.assert_array_equal(one.posterior.mean, other.posterior.mean)
    np.testing.assert_array_equal(one.posterior.sd, other.posterior.sd)
    return one.history == other.history and one.t == other.t


# Masks


def test_zeros_and_ones_are_arms_of_pulls_and_from_ten_arms_on_warned_of():
    flags = [0, 1] * 15
    for take in (UCB(MODEL).tell, MODEL.fit):
        with pytest.warns(UserWarning, match="^arms are 30 zeros and ones: they count as arms 0"):
            take(flags, np.sin(flags) + np.linspace(-1, 1, 30))
    few = UCB(replace(MODEL, points=kb.grid(3)))
    few.tell([0, 1, 1], [0.1, 0.2, 0.3])
    assert few.history.arms == [0, 1, 1]


# Finite, and absurd


@pytest.mark.parametrize("form", [*FORMS, None])
def test_numbers_that_only_a_sentinel_has_are_refused_by_name_in_every_form(form):
    make = partial(UCB, form=form) if form else partial(BKB, width=kb.Constant(2.0), qbar=2.0)
    policy, plain = make(MODEL), make(MODEL)
    for one in (policy, plain):
        one.tell([3, 3, 7], [0.1, 0.2, 0.3])
    with pytest.warns(UserWarning), pytest.raises(ValueError, match=r"^observation = 1e\+160"):
        policy.tell(5, 1e160)
    if form:
        with pytest.raises(ValueError, match=r"^noise_variance = 1e\+160 .* at most 1e\+100 prior"):
            policy.tell([5, 6], [0.5, 0.6], noise_variance=[1.0, 1e160])
        for one in (policy, plain):
            one.tell(5, 0.5, noise_variance=1e99)
    assert same(policy, plain)
    with pytest.raises(ValueError, match="noise_variance"):
        make(replace(MODEL, noise_variance=1e160))


# What is given out can be given back


def test_a_history_can_be_told_and_fitted():
    policy, again = UCB(MODEL), UCB(MODEL)
    policy.tell([3, 12, 25], [0.1, -0.3, 0.2])
    assert MODEL.fit(*policy.history[:2]).kernel == MODEL.fit(*policy.history).kernel
    policy.tell(7, 0.5, noise_variance=0.001)
    again.tell(*policy.history)
    arms, rewards, noises = policy.history
    assert noises == [None, None, None, 0.001] and same(policy, again)
    known = MODEL.fit(arms, rewards, noise_variance=[0.01, 0.01, 0.01, 0.001])
    fit = MODEL.fit(*policy.history)
    assert fit.kernel == known.kernel and fit.noise_variance == MODEL.noise_variance


def test_more_rewards_than_arms_and_a_model_of_fewer_arms_are_refused():
    policy = UCB(MODEL)
    refuses(
        (lambda: policy.tell(3, [0.5, 0.6]), r"^rewards has shape \(2,\): it must be one number"),
        (
            lambda: policy.with_model(replace(MODEL, points=kb.grid(29))),
            "^model has 29 arms: it must have at least the 30",
        ),
    )


# A generator is one, a seed, or None


def test_seeds_and_generators_are_the_same_everywhere():
    samples = np.random.default_rng(3).normal(size=(2, 30))
    problem = kb.Problem(MODEL, np.sin(6 * MODEL.points[:, 0]))
    found = []
    for rng in (lambda: 4, partial(np.random.default_rng, 4)):
        estimate = kb.bootstrap(kb.mean_difference, *samples, rng=rng())
        found.append((estimate, [*kb.rounds(UCB(MODEL, rng=1), problem, 5, rng())]))
    assert found[0] == found[1]
    assert kb.bootstrap(kb.mean_difference, *samples, rng=None).low < 0.5
    orders = {tuple(UCB(MODEL, rng=None).ties()) for _ in range(3)}
    assert len(orders) == 3


# What went without a word


def test_a_lattice_that_was_lost_says_why(monkeypatch):
    monkeypatch.setattr("kbrepro.bandits.posterior.LATTICE_FROM", 100)
    monkeypatch.setattr("kbrepro.bandits.problems.LATTICE_FROM", 100)
    plane = kb.grid(12, d=2)
    assert type(UCB(kb.Model(plane, KERNEL, 0.01)).posterior) is LatticePosterior
    first_axis_fastest = plane[:, ::-1]
    for points in (plane.astype(np.float32), plane.round(6), first_axis_fastest):
        with pytest.warns(
            UserWarning, match="^points are not a lattice, see axis 0: each axis must"
        ):
            UCB(kb.Model(points, KERNEL, 0.01))
    UCB(kb.Model(np.random.default_rng(0).random((144, 2)), KERNEL, 0.01))  # not meant as one
    memory.leave(monkeypatch, 1e4)
    with pytest.raises(
        MemoryError, match=r"or arms on a lattice \(points are not a lattice, see axis"
    ):
        prior_draws(KERNEL, plane.round(6))


def test_arms_that_tell_nothing_of_each_other_are_warned_of():
    wide = kb.grid(20, d=2, high=1000.0)
    with pytest.warns(
        UserWarning, match="^kernel = Matern.* lengthscale and points must be in the same"
    ):
        kb.Model(wide, KERNEL, 0.01)
    kb.Model(wide, kb.Independent(), 0.01)
    kb.Model(wide[:9], KERNEL, 0.01)
    kb.Model(np.concatenate([wide, wide[-1:] + 0.1]), KERNEL, 0.01)  # one has a neighbour


def test_rewards_far_from_the_mean_of_a_fit_are_warned_of():
    arms = np.arange(0, 30, 2)
    rewards = np.sin(6 * MODEL.points[arms, 0]) + 0.2 * np.random.default_rng(0).normal(size=15)
    with pytest.warns(UserWarning, match=r"^fit: rewards lie 49.* from mean = 0.0, .*: set it$"):
        MODEL.fit(arms, 50 + rewards)
    replace(MODEL, mean=50.0).fit(arms, 50 + rewards)


def test_rewards_a_thousand_times_too_small_are_warned_of_once():
    rewards = 1e-4 * np.sin(np.arange(40))
    policy = UCB(MODEL)
    policy.tell(np.arange(9), rewards[:9])
    with pytest.warns(UserWarning, match="^10 rewards lie within .* standard deviations of their"):
        policy.tell(10, rewards[9])
    policy.tell(np.arange(20), rewards[:20])
    UCB(MODEL).tell(np.arange(20), np.zeros(20))  # a needle may lie elsewhere


@pytest.mark.filterwarnings("ignore:kernel = .* has no correlation")
@pytest.mark.parametrize(
    "kernel", [kb.Matern(0.001, nu=0.5), kb.SquaredExponential(0.02), kb.Linear(1e-101)], ids=repr
)
def test_numpy_told_to_raise_what_is_too_small_stops_nothing_and_changes_nothing(kernel):
    """At usual sizes the fuzz test does that."""
    points, shown = kb.grid(200), []
    for way in ("ignore", "raise"):
        with np.errstate(all=way):
            problem = kb.GPDraw(kernel, points, 0.01)(kb.Trial(1, 0))
            policy = kb.PIMS(problem.model)
            policy.tell([3, 8, 3], [0.5, 0.7, 0.4])
            rewards = kb.RKHSFunction(kernel, points, 0.01, 1.0)(kb.Trial(1, 0)).expected_reward
            posterior = policy.posterior
            shown.append([policy.ask(3), problem.expected_reward, rewards, posterior.sd])
    np.testing.assert_equal(*shown)
