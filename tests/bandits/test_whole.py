"""What is told is taken in whole or not at all, `ask` changes nothing, and what is shown is not
live.
"""

import copy
import json
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from dense import FORMS
from refusing import refuses
from test_saved import POLICIES, play, public

import kbrepro as kb
from kbrepro.bandits.policies import base

POINTS = kb.grid(6, 2)
A = len(POINTS)
MODEL = kb.Model(POINTS, kb.Matern(0.3, 2.5), 0.05, norm=2.0)
UCB = partial(kb.UCB, width=kb.Constant(2.0))


def told(make=UCB, model=MODEL, **settings):
    policy = make(model, **settings)
    policy.ask()
    policy.tell([3, 8, 3], [0.5, 0.7, 0.4])
    return policy


# Whole or not at all


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
        refuses((call, rf"^({name}|arm|rewards)\b", (ValueError, IndexError)))
    np.testing.assert_array_equal(policy.posterior.mean, before)
    assert policy.history.arms == [3, 8, 3] and policy.t == 4
    assert policy.rng.bit_generator.state == drawn


def test_what_a_network_shows_is_kept_as_pythons_and_refused_whole():
    policy, problem, noise, _ = play("GPN-UCB, balls", 3)
    json.dumps(policy.history)
    good = problem.pull(3, noise)
    *layers, _ = good
    for bad in (good[:1], dict(enumerate(good)), 0.5, (*layers, np.nan), (*layers, "x"), None):
        refuses(
            (partial(policy.tell, [2, 3], [good, bad]), "^observation"),
            (partial(policy.tell, 3, bad), "^observation"),
        )
    assert policy.t == 4 and len(policy.history.arms) == 3
    policy.tell([2, 3], [problem.pull(2, noise), good])
    assert policy.t == 6 and json.loads(json.dumps(policy.history.rewards[-1]))[-1] == good[-1]


@pytest.mark.parametrize("kind", [float, "Int64"])
def test_zeros_and_ones_of_a_table_are_a_mask_if_there_is_one_for_each_arm(kind):
    """Of arrays and lists the fuzz test draws them."""
    mask = POINTS[:, 0] > 0.5
    policy, zeros_and_ones = told(), pd.Series(mask).astype(kind)
    assert policy.recommend(allowed=zeros_and_ones) == policy.recommend(allowed=mask)
    with pytest.raises(ValueError, match=r"allowed = .* not empty"):
        policy.ask(allowed=[0] * A)
    assert policy.ask(allowed=[1, 0, 1]) in (0, 1)  # not one for each arm
    two = UCB(kb.Model([[0.0], [1.0]], MODEL.kernel, 0.1))
    assert [two.ask(allowed=[0]), two.ask(allowed=[1])] == [0, 1]


def test_an_arm_that_is_allowed_twice_is_not_drawn_more_often():
    policy = kb.MeanOnly(MODEL, random_opening=True)
    drawn = [policy.ask(allowed=[5] * 50 + [6]) for _ in range(100)]
    assert 30 < drawn.count(6) < 70
    assert policy.recommend(allowed=[9, 4, 9, 7]) == 4  # of tied arms the lowest


def test_integers_that_floats_cannot_tell_apart_are_refused_by_name():
    ticks = np.array([[1_700_000_000_000_000_000], [1_700_000_000_000_000_100]])
    words = "points = .* distinct in float64, .* subtract an offset"
    for points in (ticks, ticks.astype(np.uint64), ticks.tolist(), [[10**20], [10**20 + 1]]):
        refuses((partial(kb.Model, points, kb.Matern(50.0, 2.5), 0.01), words))
    assert kb.Model(ticks - ticks[0], kb.Matern(50.0, 2.5), 0.01).points[1, 0] == 100
    assert kb.Model(1024 * ticks, kb.Matern(50.0, 2.5), 0.01).n_arms == 2


def test_points_that_are_as_far_apart_as_floats_can_be_are_not_correlated():
    far = np.array([[0.0], [1e200], [-1e308]])
    for kernel in (kb.SquaredExponential(1.0), *(kb.Matern(1.0, nu) for nu in (0.5, 1.5, 2.5))):
        np.testing.assert_array_equal(kernel(far, far), np.eye(3))


# Ask changes nothing


@pytest.mark.parametrize("form", FORMS)
def test_while_a_batch_is_chosen_a_width_reads_the_posterior_and_others_see_the_policy_as_it_is(
    form,
):
    seen = []

    def shown():
        return policy.gap(kb.Constant(2.0)), policy.posterior.counts.tolist()

    def width(asking):
        seen.append(shown())
        posterior = asking.posterior
        assert posterior.covariance_with(3).shape == posterior.precision.shape == (A,)
        assert (posterior.noise_variance, posterior.level, posterior.gain >= 0) == (0.05, 0.0, True)
        return 2.0

    policy = told(form=form)
    asked, before = policy.ask(3, pending=[1, 2], allowed=range(20)), shown()
    policy.width = width
    assert policy.ask(3, pending=[1, 2], allowed=range(20)) == asked
    assert len(seen) >= 3 and all(each == before for each in seen)


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


def live(thing, seen):
    """Attributes of an object of ours, and of what it shows, through which it can be changed."""
    if (
        id(thing) in seen
        or not type(thing).__module__.startswith("kbrepro")
        or isinstance(thing, type)
    ):
        return
    seen[id(thing)] = thing
    for name, value in public(thing):
        same = getattr(thing, name) is value
        if name in ("checked", "policies"):  # of the class; a copy of what was given
            continue
        for part in value if isinstance(value, tuple) else [value]:
            writeable = isinstance(part, np.ndarray) and part.flags.writeable
            if same and (writeable or isinstance(part, list | dict | set)):
                yield f"{type(thing).__name__}.{name}"
            yield from live(part, seen)


@pytest.mark.parametrize("name", POLICIES)
def test_nothing_that_a_policy_or_its_problem_shows_can_be_written_into(name):
    policy, problem, *_ = play(name, 6)
    seen = {}
    found = [*live(policy, seen), *live(problem, seen)]
    again = [*live(pickle.loads(pickle.dumps(problem)), seen)]  # a pickle forgets what is read-only
    assert found == again == [] and len(seen) > 3


def test_nothing_that_curves_sources_and_kernels_show_can_be_written_into():
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
        UserWarning, match=r"this UCB was saved by kbrepro .*; kbrepro 9.9.9 .* policy.with_model"
    ):
        later = pickle.loads(saved)
    assert later.with_model(later.model).ask() == policy.ask()
    monkeypatch.setattr(kb.Policy, "__getstate__", lambda self: dict(vars(self)))  # as before 0.4
    with pytest.raises(
        ValueError, match=r"this UCB was saved by kbrepro 0.3.0 or earlier; .* its history"
    ):
        pickle.loads(pickle.dumps(policy))


def test_a_pickle_from_before_the_classes_moved_is_read():
    """They were `kbrepro.policies.ucb.UCB` and so on: it must not fail on a module's name."""
    policy = told()
    moved = pickle.dumps(policy, protocol=0).replace(b"kbrepro.bandits.", b"kbrepro.")
    assert b"kbrepro.policies" in moved
    assert pickle.loads(moved).ask() == policy.ask()
