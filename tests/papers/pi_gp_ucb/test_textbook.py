"""The textbook posterior against the package's in every round, its operations by dot products."""

from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.kernels import Matern
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Trial
from kbrepro.papers.pi_gp_ucb import textbook
from kbrepro.papers.pi_gp_ucb.measures import cells_of
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.trials.simulation import Experiment, Planned

TRIAL = Trial(7, 0)
RULES = {
    "IGP-UCB": partial(UCB, width=Chowdhury2017(0.1)),
    "π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5),
}
CASES = [("IGP-UCB", 1, 30, 40), ("π-GP-UCB", 1, 30, 150), ("π-GP-UCB", 2, 9, 60)]
both_forms = pytest.mark.parametrize("form", textbook.FORMS)
all_cases = pytest.mark.parametrize("case", CASES)


def bumps(d, side):
    return Bumps(Matern(0.2, nu=1.5), d, side, noise_variance=0.5, noise_bound=1.0)


def snapshot(policy):
    """What every cell that has not split knows: {(corner, side): (arms, mean, sd)}."""
    if isinstance(policy, UCB):
        everything = np.arange(policy.model.n_arms), policy.posterior.mean, policy.posterior.sd
        return {((0,) * policy.model.points.shape[1], 1): everything}
    live = [policy.cells[number] for number in np.unique(policy.slot_cell)]
    return {(cell.corner, cell.side): (cell.arms, cell.mean, cell.sd) for cell in live}


def name_of(cell):
    return tuple(cell.corner.tolist()), cell.side


def played(rule, d, side, horizon):
    """Model, arms and observations of a run, its cells, and a snapshot before each round and at
    the end.
    """
    problem = bumps(d, side)(TRIAL)
    policy = RULES[rule](problem.model, horizon, rng=TRIAL.rng("policy"))
    pulls, known = [], [snapshot(policy)]
    noise = TRIAL.rng("noise")
    for _ in range(horizon):
        arm = policy.ask()
        pulls.append((arm, problem.pull(arm, noise)))
        policy.tell(*pulls[-1])
        known.append(snapshot(policy))
    arms, observations = map(np.array, zip(*pulls, strict=True))
    whole = [textbook.whole(horizon, d)]
    cells = whole if rule == "IGP-UCB" else [*cells_of(arms, side, d, 1.5)]
    return problem.model, arms, observations, cells, known


@both_forms
@all_cases
def test_mean_and_sd_are_those_of_the_package_in_every_round_and_what_is_taken_in_counts(
    form, case
):
    _, _, side, horizon = case
    model, arms, observations, cells, known = played(*case)
    inside = {name_of(cell): textbook.arms_of(cell, side) for cell in cells}
    now = {}
    for name, own in inside.items():
        now[name] = np.zeros(len(own)), np.ones(len(own))
    takes = {t: [] for t in range(len(arms))}
    counted = np.zeros((horizon, 2))
    for cell in cells:
        before = 0
        for t, posterior in textbook.replayed(form, cell, model, side, arms, observations):
            takes[t].append((name_of(cell), posterior.mean.copy(), np.sqrt(posterior.variance)))
            pulls = np.array([before, posterior.t])
            counted[t, 0] += np.diff(pulls).item()
            counted[t, 1] += posterior.operations(len(posterior.points), pulls)[1]
            before = posterior.t
    np.testing.assert_allclose(textbook.counts(form, cells, side, horizon), counted)
    for t, live in enumerate(known[1:]):
        now.update((name, (mean, sd)) for name, mean, sd in takes[t])
        for name, (own, mean, sd) in live.items():
            np.testing.assert_array_equal(inside[name], own)
            np.testing.assert_allclose(now[name], (mean, sd), atol=1e-8)


# Lengths of the dot products that an algorithm makes, added up


def grown(n_arms, t):
    """Of a pull with t before it: by the rows and columns of the inverse factor, of itself, with
    the rows of all arms and of the rewards, then two products an arm.
    """
    triangle = sum(range(1, t + 1))
    return triangle + triangle + t + (n_arms + 1) * t + 2 * n_arms


def refitted(n_arms, t):
    """Of a fit to t pulls: a factor, a solve for each arm and the rewards, two products an arm."""
    factor = sum(j * (t - j) for j in range(t))
    return factor + (n_arms + 1) * sum(range(t)) + 2 * n_arms * t


@pytest.mark.parametrize("n_arms", [1, 4])
def test_operations_are_the_lengths_of_all_dot_products(n_arms):
    pulls = np.arange(1, 8)
    for form, took in (
        ("grown", [grown(n_arms, t - 1) for t in pulls]),
        ("refitted", [refitted(n_arms, t) for t in pulls]),
    ):
        counted = textbook.FORMS[form].operations(n_arms, pulls)
        assert counted.tolist() == took


@both_forms
def test_a_replay_is_of_the_run_that_is_played(form):
    """The first 60 rounds of 150: some cells split before, some after. A plan can keep it."""
    until = {"IGP-UCB": 50, "π-GP-UCB": 60}
    job = partial(textbook.replays, Experiment(bumps(1, 30), RULES, 150), form, 1.5, until)
    planned = Planned(job, trials=1, seed=TRIAL.seed)
    assert planned.job("textbook").settings
    (measured,) = planned.play("textbook")
    for rule in RULES:
        *_, cells, _ = played(rule, 1, 30, 150)
        counted = textbook.counts(form, cells, 30, 150).cumsum(axis=0)[: until[rule]]
        np.testing.assert_allclose(measured[rule]["counts"], counted)
        assert len(measured[rule]["seconds"]) == until[rule]
        assert (np.diff(measured[rule]["seconds"], prepend=0) >= 0).all()
    assert any(0 <= cell.born < 60 for cell in cells) and any(cell.born > 60 for cell in cells)


def test_seconds_are_those_of_pulls_and_operations_and_of_neither_less_than_0():
    counts = np.array([[10.0, 1e3], [20.0, 9e4], [40.0, 8e6]])
    replay = {"counts": counts, "seconds": counts @ [2e-5, 3e-9]}
    few = {"counts": counts[:1], "seconds": replay["seconds"][:1]}
    assert textbook.seconds_each([replay, few]) == pytest.approx([2e-5, 3e-9])
    falling = replay | {"seconds": counts @ [2e-5, -1e-11]}
    assert textbook.seconds_each([falling])[1] == 0


def test_runs_are_timed_by_what_each_counts_in_every_hundredth():
    """A pull of IGP-UCB takes a second, one of π-GP-UCB two and three for each operation."""
    spent = {"IGP-UCB": [1.0, 0.0], "π-GP-UCB": [2.0, 3.0]}
    counts = np.array([[10.0, 1e2], [20.0, 9e4], [40.0, 8e6]])
    replay = {rule: {"counts": counts, "seconds": counts @ spent[rule]} for rule in RULES}
    curves = Planned(Experiment(bumps(1, 30), RULES, 200), 2, TRIAL.seed).play("textbook")
    counted = textbook.counted(curves, 30, 1, 1.5)
    timed = textbook.timed(curves, counted, {"grown": [replay]})["grown"]
    assert timed["IGP-UCB"].seconds == pytest.approx(np.full((2, 100), 2.0))
    for run, seconds in zip(curves["π-GP-UCB"].arms, timed["π-GP-UCB"].seconds, strict=True):
        expected = np.zeros(200)
        for cell in cells_of(run, 30, 1, 1.5):
            n_arms = len(textbook.arms_of(cell, 30))
            for t in range(len(cell.rounds)):
                cost = 2 + 3 * grown(n_arms, t)
                expected[max(cell.born, cell.rounds[t])] += cost
        assert seconds == pytest.approx(expected.reshape(100, 2).sum(axis=1))
    np.testing.assert_array_equal(timed["π-GP-UCB"].regret, curves["π-GP-UCB"].regret)
