"""The textbook posterior against the package's in every round, its operations against plain loops
that count.
"""

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
def test_mean_and_sd_are_those_of_the_package_in_every_round(form, case):
    _, _, side, _ = case
    model, arms, observations, cells, known = played(*case)
    inside = {name_of(cell): textbook.arms_of(cell, side) for cell in cells}
    now = {}
    for name, own in inside.items():
        now[name] = np.zeros(len(own)), np.ones(len(own))
    takes = {t: [] for t in range(len(arms))}
    for cell in cells:
        for t, posterior in textbook.replayed(form, cell, model, side, arms, observations):
            takes[t].append((name_of(cell), posterior.mean.copy(), np.sqrt(posterior.variance)))
    for t, live in enumerate(known[1:]):
        now.update((name, (mean, sd)) for name, mean, sd in takes[t])
        for name, (own, mean, sd) in live.items():
            np.testing.assert_array_equal(inside[name], own)
            np.testing.assert_allclose(now[name], (mean, sd), atol=1e-8)


@both_forms
@all_cases
def test_counts_are_those_of_the_cells_that_take_in_something(form, case):
    """Each cell of the pull, and each that is born, of the pulls that it inherits."""
    _, _, side, horizon = case
    _, arms, _, cells, known = played(*case)
    expected = np.zeros((horizon, 2))
    for t in range(horizon):
        for name, (own, *_) in (known[t] | known[t + 1]).items():
            pulls = np.isin(arms[: t + 1], own)
            before = pulls[:t].sum() if name in known[t] else 0
            if before < pulls.sum():
                both = np.array([before, pulls.sum()])
                operations = textbook.FORMS[form].operations(len(own), both)[1]
                expected[t] += pulls.sum() - before, operations
    np.testing.assert_allclose(textbook.counts(form, cells, side, horizon), expected)


class Counting:
    """Both algorithms in plain loops, which count multiplications."""

    def __init__(self):
        self.count = 0

    def dot(self, a, b):
        self.count += len(a)
        return sum(x * y for x, y in zip(a, b, strict=True))

    def grown(self, K, rows, y):
        inverse, white_rows, white = [], [], []
        mean, variance = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        for t in range(len(K)):
            part = [self.dot(inverse[i], K[t, : i + 1]) for i in range(t)]
            scale = np.sqrt(K[t, t] - self.dot(part, part))
            below = [[inverse[i][j] for i in range(j, t)] for j in range(t)]
            inverse.append([-self.dot(part[j:], below[j]) / scale for j in range(t)] + [1 / scale])
            columns = np.array(white_rows).reshape(t, -1).T if t else [[]] * len(mean)
            own = [self.dot(part, column) for column in columns]
            new = (y[t] - self.dot(part, white)) / scale
            white_rows.append((rows[t] - own) / scale)
            white.append(new)
            for arm, value in enumerate(white_rows[-1]):
                mean[arm] += self.dot([value], [new])
                variance[arm] -= self.dot([value], [value])
        return mean, variance

    def refitted(self, K, rows, y):
        n = len(K)
        factor = np.zeros((n, n))
        for j in range(n):
            for i in range(j, n):
                left = K[i, j] - self.dot(factor[i, :j], factor[j, :j])
                factor[i, j] = np.sqrt(left) if i == j else left / factor[j, j]
        solved = np.zeros((n, rows.shape[1] + 1))
        for column, right in enumerate([*rows.T, y]):
            for i in range(n):
                left = right[i] - self.dot(factor[i, :i], solved[:i, column])
                solved[i, column] = left / factor[i, i]
        arms, white = solved[:, :-1].T, solved[:, -1]
        mean = [self.dot(arm, white) for arm in arms]
        return np.array(mean), 1 - np.array([self.dot(arm, arm) for arm in arms])


@both_forms
@pytest.mark.parametrize("n_arms", [1, 4])
def test_operations_are_counted_in_plain_loops(form, n_arms):
    rng = np.random.default_rng(n_arms)
    model = bumps(1, 30)(TRIAL).model
    own, places, y = rng.choice(30, n_arms), rng.integers(n_arms, size=7), rng.normal(size=7)
    rows = model.kernel(model.points[own][places], model.points[own])
    posterior = textbook.FORMS[form](model, own, 7)
    took = []
    for t in range(1, 8):
        posterior.take(places[t - 1 : t], y[t - 1 : t])
        counting = Counting()
        K = rows[:t, places[:t]] + 0.5 * np.eye(t)
        found = getattr(counting, form)(K, rows[:t], y[:t])
        np.testing.assert_allclose(found, (posterior.mean, posterior.variance), atol=1e-12)
        took.append(counting.count)
    took = np.diff(took, prepend=0) if form == "grown" else np.array(took)
    counted = textbook.FORMS[form].operations(n_arms, np.arange(1, 8))
    assert counted.tolist() == took.tolist()


@both_forms
def test_a_replay_is_of_the_run_that_is_played(form):
    """The first 60 rounds of 150: some cells split before, some after. A plan can keep it."""
    job = partial(textbook.replays, Experiment(bumps(1, 30), RULES, 150), form, 1.5, 60)
    planned = Planned(job, trials=1, seed=TRIAL.seed)
    assert planned.job("textbook").settings
    (measured,) = planned.play("textbook")
    for rule in RULES:
        *_, cells, _ = played(rule, 1, 30, 150)
        counted = textbook.counts(form, cells, 30, 150).cumsum(axis=0)[:60]
        np.testing.assert_allclose(measured[rule]["counts"], counted)
        assert len(measured[rule]["seconds"]) == 60
        assert (np.diff(measured[rule]["seconds"], prepend=0) >= 0).all()
    assert any(0 <= cell.born < 60 for cell in cells) and any(cell.born > 60 for cell in cells)


def test_seconds_are_those_of_pulls_and_operations_and_of_neither_less_than_0():
    counts = np.array([[10.0, 1e3], [20.0, 9e4], [40.0, 8e6]])
    replay = {"counts": counts, "seconds": counts @ [2e-5, 3e-9]}
    few = {"counts": counts[:1], "seconds": replay["seconds"][:1]}
    assert textbook.seconds_each([replay, few]) == pytest.approx([2e-5, 3e-9])
    falling = replay | {"seconds": counts @ [2e-5, -1e-11]}
    assert textbook.seconds_each([falling])[1] == 0
