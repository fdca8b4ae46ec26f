"""What is told is taken in whole or not at all, `ask` changes nothing, and what is shown is not
live.
"""

import copy
import inspect
import json
import pickle
import types
from functools import partial

import numpy as np
import pandas as pd
import pytest
from test_saved import POLICIES, goes_on, play

import kbrepro as kb
from kbrepro.bandits.policies import base
from kbrepro.bandits.posterior import (
    CovariancePosterior,
    DistinctPosterior,
    LatticePosterior,
    RowPosterior,
    Stack,
)
from kbrepro.bandits.posterior.lattice import Precision
from kbrepro.papers.bkb.since import CountedPosterior, MiniUCB
from kbrepro.papers.bkb.sketch import NystromPosterior
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior
from kbrepro.papers.pi_gp_ucb.partition import Cell
from kbrepro.papers.side_by_side.elimination import BPE
from kbrepro.papers.side_by_side.widths import FixedDesign

POINTS = kb.grid(6, 2)
A = len(POINTS)
MODEL = kb.Model(POINTS, kb.Matern(0.3, 2.5), 0.05, norm=2.0)
UCB = partial(kb.UCB, width=kb.Constant(2.0))
FORMS = [RowPosterior, CovariancePosterior, DistinctPosterior, LatticePosterior]


def told(make=UCB, model=MODEL, **settings):
    policy = make(model, **settings)
    policy.ask()
    policy.tell([3, 8, 3], [0.5, 0.7, 0.4])
    return policy


# Whole or not at all


def state(thing):
    """What an object shows in numbers, and what the objects in it do; its generator included."""
    if isinstance(thing, int | float | np.ndarray):
        return thing
    if isinstance(thing, tuple):
        return [state(each) for each in thing]
    if not type(thing).__module__.startswith("kbrepro"):
        return None
    rng = getattr(thing, "rng", None)
    shown = {name: state(its) for name, its in public(thing) if name not in ("model", "kernel")}
    return shown | {"drawn": rng and rng.bit_generator.state}


def assert_as_before(policy, before, problem, noise):
    """Both show the same, also of their posteriors, and go on with the same arms."""
    assert policy.history == before.history
    np.testing.assert_equal(state(policy), state(before))
    again = copy.deepcopy(noise)
    assert goes_on(policy, problem, 4, noise) == goes_on(before, problem, 4, again)


@pytest.mark.parametrize("name", POLICIES)
def test_a_list_is_told_whole_or_not_at_all_in_every_form(name, monkeypatch):
    policy, problem, noise, _ = play(name, 6)
    if hasattr(policy, "_arm"):  # takes only what it asked for
        pytest.skip("asks for an arm at a time")
    before, kind = copy.deepcopy(policy), type(getattr(policy, "policy", policy))
    arms = [3, 12, 3, 7]
    rewards = [problem.pull(arm, noise) for arm in arms]
    learn, calls = kind.learn, []

    def fails(self, *given):
        learn(self, *given)
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kind, "learn", fails)
        with pytest.raises(KeyboardInterrupt):
            policy.tell(arms, rewards)
    assert_as_before(policy, before, problem, noise)


#: What may not fit in the middle of one `tell`: the policy, the function, and which of its calls
#: fails.
HALF_WAY = {
    "rows": (UCB, Stack, "append", 1),
    "covariance": (partial(UCB, form=CovariancePosterior), CovariancePosterior, "_remember", 1),
    "distinct": (partial(UCB, form=DistinctPosterior), Precision, "add", 1),
    "distinct, its rows": (partial(UCB, form=DistinctPosterior), Stack, "make_room", 1),
    "lattice": (partial(UCB, form=LatticePosterior), Precision, "add", 1),
    "BKB": (POLICIES["BKB"][0], NystromPosterior, "use_dictionary", 1),
    "mini": (
        partial(MiniUCB, width=kb.Constant(2.0), squared_c=2.0),
        CountedPosterior,
        "update",
        1,
    ),
    "BPE": (partial(BPE, width=FixedDesign(0.1)), BPE, "_prior", 1),
    "cells": (POLICIES["π-GP-UCB"][0], Cell, "update", 2),
    "GPN-UCB": (POLICIES["GPN-UCB"][0], LayerPosterior, "update", 2),
}


@pytest.mark.parametrize("name", HALF_WAY)
def test_one_reward_is_told_whole_or_not_at_all_where_memory_ends_half_way(name, monkeypatch):
    make, owner, function, which = HALF_WAY[name]
    problem = POLICIES["GPN-UCB" if owner is LayerPosterior else "π-GP-UCB"][1]
    if owner is Cell:  # some arms of which lie in several
        problem = kb.RKHSFunction(kb.Matern(0.3, 1.5), kb.grid(7, 2), 0.05, 2.0)(kb.Trial(5, 0))
    policy, noise, failed = make(problem.model, 30), np.random.default_rng(5), 0
    for _ in range(30):
        arm = policy.ask()
        reward = problem.pull(arm, noise)
        before, real, calls = copy.deepcopy(policy), getattr(owner, function), []

        def fails(*given, real=real, calls=calls):
            calls.append(given)
            if len(calls) == which:
                raise MemoryError
            return real(*given)

        with monkeypatch.context() as patch:
            patch.setattr(owner, function, fails)
            try:
                policy.tell(arm, reward)
            except MemoryError:
                failed += 1
                assert_as_before(copy.deepcopy(policy), before, problem, copy.deepcopy(noise))
                patch.undo()
                policy.tell(arm, reward)
    assert failed > 1


def test_a_warning_that_is_an_error_leaves_the_policy_as_it_was():
    policy = told()
    before = policy.posterior.mean
    with pytest.raises(UserWarning, match="standard deviations"):  # pytest makes errors of warnings
        policy.tell([1, 2], [0.5, 1e3])
    np.testing.assert_array_equal(policy.posterior.mean, before)
    assert len(policy.history.arms) == 3 and policy.warn


def test_a_rule_of_ones_own_that_fails_is_put_back_too():
    class Mine(kb.MeanOnly):
        def learn(self, arm, observation, noise_variance=None):
            super().learn(arm, observation, noise_variance)
            self.rng.random()
            raise RuntimeError("no disk")

    policy = Mine(MODEL)
    drawn = policy.rng.bit_generator.state
    with pytest.raises(RuntimeError, match="no disk"):
        policy.tell(3, 0.5)
    assert policy.t == 1 and policy.posterior.counts.sum() == 0 and policy.history.arms == []
    assert policy.rng.bit_generator.state == drawn


# One door for each kind

SECONDS = np.array([1, 2], dtype="m8[s]")
#: What is no list of two numbers.
NO_NUMBERS = {
    "one NaN": [0.5, np.nan], "missing": pd.array([1, None], dtype="Int64"),
    "durations": SECONDS, "a list of durations": list(SECONDS), "a dictionary": {0: 0.5, 1: 0.7},
    "a set": {0.5, 0.7}, "a table": pd.DataFrame([[0.5], [0.7]]),
    "bytes": b"57", "memory": memoryview(b"57"), "text": "57", "texts": ["5", "7"],
    "hidden": np.ma.array([0.5, 0.7], mask=[0, 1]), "one hidden": [0.5, np.ma.masked],
    "complex": [1 + 2j, 1.0], "a generator": (y for y in [0.5, 0.7]),
    "three": [0.1, 0.2, 0.3], "one": [0.1], "a number": 0.5, "ragged": [[1, 2], [3]],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
@pytest.mark.parametrize("what", NO_NUMBERS)
def test_what_is_no_list_of_numbers_is_refused_by_name_and_told_and_fitted_alike(what):
    policy, value = told(), NO_NUMBERS[what]
    calls = [
        ("rewards", lambda: policy.tell([1, 2], value)),
        ("rewards", lambda: MODEL.fit([1, 2], value)),
        ("arms", lambda: policy.tell(value, [0.5, 0.7])),
        ("arms", lambda: MODEL.fit(value, [0.5, 0.7])),
        ("allowed", lambda: policy.ask(allowed=value)),
        ("allowed", lambda: policy.recommend(allowed=value)),
        ("pending", lambda: policy.ask(pending=value)),
    ]
    if what != "a number":
        calls += [
            ("noise_variance", lambda: policy.tell([1, 2], [0.5, 0.7], noise_variance=value)),
            ("mean", lambda: kb.Model(POINTS, MODEL.kernel, 0.1, mean=value)),
        ]
    before, drawn = policy.posterior.mean, policy.rng.bit_generator.state
    for name, call in calls:
        with pytest.raises((ValueError, IndexError), match=rf"^({name}|arm|rewards)\b"):
            call()
    np.testing.assert_array_equal(policy.posterior.mean, before)
    assert policy.history.arms == [3, 8, 3] and policy.t == 4
    assert policy.rng.bit_generator.state == drawn


NO_ARMS = [np.timedelta64(3, "s"), np.timedelta64("NaT", "s"), pd.Timedelta(3, "s"), True, [3], 2.0]


@pytest.mark.parametrize("duration", NO_ARMS)
def test_a_duration_a_truth_a_list_and_a_float_are_no_arm(duration):
    policy = told()
    with pytest.raises(
        (IndexError, ValueError), match=r"^(arms|rewards)(\[0\])? (= .* not allowed|has shape)"
    ):
        policy.tell(duration, 0.5)
    assert policy.t == 4


TWO = np.array([1.0, 0.0])
NUMBERS = [
    TWO, tuple(TWO), TWO.astype(np.float16), TWO.astype(bool), pd.Series(TWO, index=[7, 3]),
    pd.array([1, 0], dtype="Int64"), np.ma.array(TWO, mask=[0, 0]), [np.float32(1), False],
]  # fmt: skip


@pytest.mark.parametrize(
    "rewards", NUMBERS, ids=lambda its: getattr(its, "dtype", type(its).__name__)
)
def test_numbers_in_any_form_are_told_as_pythons(rewards):
    policy = UCB(MODEL)
    policy.tell(
        pd.array([4, 30], dtype="Int64"), rewards, noise_variance=np.array([1, 2], dtype=np.uint8)
    )
    policy.tell(
        np.array(5), rewards[0] if isinstance(rewards, list) else np.array(1, dtype=np.int8)
    )
    assert json.loads(json.dumps(policy.history)) == [[4, 30, 5], [1.0, 0.0, 1.0], [1.0, 2.0, None]]
    assert {type(each) for column in policy.history for each in column} == {int, float, type(None)}
    fitted = MODEL.fit([4, 30], rewards)
    assert fitted.kernel == MODEL.fit([4, 30], [1.0, 0.0]).kernel


def test_what_a_network_shows_is_kept_as_pythons_and_refused_whole():
    policy, problem, noise, _ = play("GPN-UCB, balls", 3)
    json.dumps(policy.history)
    good = problem.pull(3, noise)
    *layers, _ = good
    for bad in (good[:1], dict(enumerate(good)), 0.5, (*layers, np.nan), (*layers, "x"), None):
        with pytest.raises(ValueError, match=r"^observation"):
            policy.tell([2, 3], [good, bad])
        with pytest.raises(ValueError, match=r"^observation"):
            policy.tell(3, bad)
    assert policy.t == 4 and len(policy.history.arms) == 3
    policy.tell([2, 3], [problem.pull(2, noise), good])
    assert policy.t == 6 and json.loads(json.dumps(policy.history.rewards[-1]))[-1] == good[-1]


@pytest.mark.parametrize("kind", [int, float, np.uint8, "Int64"])
def test_zeros_and_ones_for_every_arm_are_a_mask_of_what_is_allowed(kind):
    mask = POINTS[:, 0] > 0.5
    policy, given = told(), pd.Series(mask).astype(kind)
    for value in (given, given.tolist()):
        assert policy.ask(allowed=value) == policy.ask(allowed=mask)
        assert policy.recommend(allowed=value) == policy.recommend(allowed=mask)
        assert policy.gap(allowed=value) == policy.gap(allowed=mask)
        assert policy.ask(3, pending=value) == policy.ask(3, pending=np.flatnonzero(mask))
    with pytest.raises(ValueError, match=r"allowed = .* not empty"):
        policy.ask(allowed=[0] * A)
    assert policy.ask(allowed=[1, 0, 1]) in (0, 1)  # not one for each arm
    two = UCB(kb.Model([[0.0], [1.0]], MODEL.kernel, 0.1))
    assert [two.ask(allowed=[0]), two.ask(allowed=[1])] == [0, 1] and two.ask(allowed=[0, 1]) in (
        0,
        1,
    )


def test_an_arm_that_is_allowed_twice_is_not_drawn_more_often():
    policy = kb.MeanOnly(MODEL, random_opening=True)
    drawn = [policy.ask(allowed=[5] * 50 + [6]) for _ in range(100)]
    assert 30 < drawn.count(6) < 70
    assert policy.recommend(allowed=[9, 4, 9, 7]) == 4  # of tied arms the lowest


def test_integers_that_floats_cannot_tell_apart_are_refused_by_name():
    ticks = np.array([[1_700_000_000_000_000_000], [1_700_000_000_000_000_100]])
    for points in (ticks, ticks.astype(np.uint64), ticks.tolist(), [[10**20], [10**20 + 1]]):
        with pytest.raises(
            ValueError, match=r"points = .* distinct in float64, .* take an offset off"
        ):
            kb.Model(points, kb.Matern(50.0, 2.5), 0.01)
    assert kb.Model(ticks - ticks[0], kb.Matern(50.0, 2.5), 0.01).points[1, 0] == 100
    assert kb.Model(1024 * ticks, kb.Matern(50.0, 2.5), 0.01).n_arms == 2


@pytest.mark.filterwarnings("ignore:kernel = .* has no correlation")
@pytest.mark.parametrize("form", FORMS)
def test_whatever_numpy_says_of_what_is_too_small_the_numbers_are_the_same(form):
    for kernel in (kb.SquaredExponential(0.02), kb.Matern(0.001, 2.5), kb.Linear(1e-101)):
        if form is LatticePosterior and not getattr(kernel, "stationary", False):
            continue
        played = []
        for said in ("ignore", "raise"):
            with np.errstate(all=said):
                model = kb.Model(POINTS, kernel, 0.01)
                policy = told(model=model, form=form)
                policy.tell([0, 1], [0.5, 0.25])
                played.append((policy.ask(3), policy.gap(), policy.posterior.sd.tolist()))
        assert played[0] == played[1]
    with np.errstate(all="raise"):
        MODEL.fit([3, 4, 9], [0.5, 0.7, -0.2])


def test_points_that_are_as_far_apart_as_floats_can_be_are_not_correlated():
    far = np.array([[0.0], [1e200], [-1e308]])
    for kernel in (kb.SquaredExponential(1.0), *(kb.Matern(1.0, nu) for nu in (0.5, 1.5, 2.5))):
        np.testing.assert_array_equal(kernel(far, far), np.eye(3))


# Ask changes nothing


@pytest.mark.parametrize("form", FORMS)
def test_while_a_batch_is_chosen_others_see_and_tell_the_policy_as_it_is(form):
    seen = []

    def width(asking):
        if policy and asking is not policy:
            seen.append(
                (policy.gap(kb.Constant(2.0)), policy.recommend(), policy.posterior.counts.sum())
            )
            if len(seen) == 2:
                policy.tell(7, 0.5)
        return 2.0

    policy = None
    policy = told(partial(kb.UCB, width=width), form=form)
    before = policy.gap(kb.Constant(2.0)), policy.recommend(), 3
    arms = policy.ask(3, pending=[1, 2], allowed=range(20))
    assert seen[:2] == [before, before] and seen[2][2] == 4 and len(arms) == 3
    assert policy.history.arms == [3, 8, 3, 7] and policy.t == 5
    other = told(form=form)
    other.tell(7, 0.5)
    np.testing.assert_array_equal(policy.posterior.mean, other.posterior.mean)
    np.testing.assert_array_equal(policy.posterior.variance, other.posterior.variance)
    assert policy.ask() == other.ask()


@pytest.mark.parametrize("form", FORMS)
def test_a_width_of_ones_own_reads_the_posterior_in_batches_too(form):
    def width(policy):
        its = policy.posterior
        assert its.covariance_with(3).shape == its.precision.shape == (its.n_arms,)
        assert (its.noise_variance, its.level, its.gain >= 0) == (0.05, 0.0, True)
        return 2.0

    policy, plain = told(partial(kb.UCB, width=width), form=form), told(form=form)
    assert policy.ask(3, pending=[1]) == plain.ask(3, pending=[1])


TS = partial(kb.ThompsonSampling, width=kb.Constant(1))


@pytest.mark.parametrize("make", [UCB, kb.ExpectedImprovement, kb.PIMS, TS])
def test_the_first_arms_at_random_are_distinct_in_a_batch_and_one_by_one(make):
    for seed in range(20):
        batch, single = (make(MODEL, rng=seed, random_opening=True) for _ in "12")
        pending = []
        for _ in range(6):
            pending.append(single.ask(pending=pending, allowed=range(8)))
        assert (
            batch.ask(6, allowed=range(8)) == pending
            and len(set(pending)) == 6
            and max(pending) < 8
        )
        assert len(batch.ask(3, allowed=[1, 2])) == 3  # more than there are


def test_what_a_rule_of_ones_own_keeps_when_it_chooses_stays_in_batches():
    class Mine(kb.UCB):
        asked = 0

        def choose(self):
            self.asked += 1
            return super().choose()

    policy = told(partial(Mine, width=kb.Constant(2.0)))
    policy.ask(3)
    policy.ask(allowed=[1, 2])
    assert policy.asked == 5


# What is shown is not live


def public(thing):
    """Names and values of attributes that are no functions."""
    functions = types.FunctionType, classmethod, staticmethod
    for name in (name for name in dir(thing) if not name.startswith("_")):
        if not isinstance(inspect.getattr_static(type(thing), name, None), functions):
            try:
                yield name, getattr(thing, name)
            except (ValueError, AttributeError):  # no norm, no reward yet
                continue


def live(thing, seen):
    """Attributes of an object of ours, and of what it shows, through which it can be changed."""
    if (
        id(thing) in seen
        or not type(thing).__module__.startswith("kbrepro")
        or isinstance(thing, type)
    ):
        return
    seen[id(thing)] = thing
    for name, its in public(thing):
        same = getattr(thing, name) is its
        if name in ("checked", "policies"):  # of the class; a copy of what was given
            continue
        for each in its if isinstance(its, tuple) else [its]:
            writeable = isinstance(each, np.ndarray) and each.flags.writeable
            if same and (writeable or isinstance(each, list | dict | set)):
                yield f"{type(thing).__name__}.{name}"
            yield from live(each, seen)


@pytest.mark.parametrize("name", POLICIES)
def test_nothing_that_a_policy_or_its_problem_shows_can_be_written_into(name):
    policy, problem, *_ = play(name, 6)
    seen = {}
    found = [*live(policy, seen), *live(problem, seen)]
    again = [*live(pickle.loads(pickle.dumps(problem)), seen)]  # a pickle forgets what is read-only
    assert found == again == [] and len(seen) > 3


def test_nothing_that_curves_sources_and_kernels_show_can_be_written_into(monkeypatch):
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    problem, policies = POLICIES["GP-UCB"][1], {"mean": kb.MeanOnly}
    experiment = kb.Experiment(kb.Known(problem), policies, 5)
    policies["other"] = None
    curve = kb.run_trials(experiment, 2, 1)["mean"]
    rows, kernel = kb.Rows(np.eye(3), np.ones((2, 3)), 0.1), kb.Empirical(np.eye(3))
    one = kb.run(kb.MeanOnly(MODEL), problem, 5, np.random.default_rng(0))
    seen = {}
    for thing in (experiment, curve, curve.first(1), one, rows, kernel, problem):
        assert [*live(thing, seen)] == [*live(copy.deepcopy(thing), seen)] == []


def test_a_history_that_is_changed_changes_nothing():
    policy = told()
    policy.history.rewards[0] = 5.0
    policy.history.arms.append(77)
    np.testing.assert_array_equal(policy.with_model(MODEL).posterior.mean, policy.posterior.mean)


def test_a_pickle_says_what_version_it_is_of_when_it_is_loaded(monkeypatch):
    policy = told()
    saved = pickle.dumps(policy)
    assert pickle.loads(saved).history == policy.history
    monkeypatch.setattr(base, "_version", lambda: "9.9.9")
    with pytest.warns(
        UserWarning, match=r"this UCB was saved by kbrepro .* this is 9.9.9, .* policy.with_model"
    ):
        later = pickle.loads(saved)
    assert later.with_model(later.model).ask() == policy.ask()
    monkeypatch.setattr(kb.Policy, "__getstate__", lambda self: dict(vars(self)))  # as before 0.4
    with pytest.raises(
        ValueError, match=r"this UCB was saved by kbrepro 0.3.0 or earlier, .* its history"
    ):
        pickle.loads(pickle.dumps(policy))


def test_a_pickle_from_before_the_classes_moved_is_read():
    """They were `kbrepro.policies.ucb.UCB` and so on: it must not fail on a module's name."""
    policy = told()
    moved = pickle.dumps(policy, protocol=0).replace(b"kbrepro.bandits.", b"kbrepro.")
    assert b"kbrepro.policies" in moved
    assert pickle.loads(moved).ask() == policy.ask()
