"""Trials that are played together have the arms that each has alone."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

import kbrepro as kb
from kbrepro.bandits.confidence import AbbasiYadkori2011, Chowdhury2017, Constant, Flynn2024
from kbrepro.bandits.information import GainByFormula
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.trials import simulation, together
from kbrepro.trials.simulation import Experiment, Planned, play_trial, regrets_at
from kbrepro.trials.store.flat import flat, leaf_differences

SEED, T = 79, 150
GAIN = GainByFormula("squared exponential")
EI, PI = kb.ExpectedImprovement, kb.ProbabilityOfImprovement
RULES = {
    "a constant width": partial(kb.UCB, width=Constant(2.0)),
    "a width of all arms": partial(kb.UCB, width=kb.Srinivas2010(0.1)),
    "a width by formula": partial(kb.UCB, width=Chowdhury2017(0.1, GAIN), random_opening=True),
    "a width of the pulls": partial(kb.UCB, width=AbbasiYadkori2011(0.1)),
    "a tighter width": partial(kb.UCB, width=Flynn2024(0.1), random_opening=True),
    "draws": partial(kb.ThompsonSampling, width=Constant(1.0)),
    "draws after a random arm": partial(
        kb.ThompsonSampling, width=Chowdhury2017(0.1, GAIN), random_opening=True
    ),
    "EI": EI,
    "EI, noisy": partial(EI, incumbent="noisy_reward", margin=0.1, random_opening=True),
    "PI": partial(PI, margin=0.1),
    "PI, noisy": partial(PI, incumbent="noisy_reward", margin=0.0, random_opening=True),
}
GRID, SCATTERED = kb.grid(10, 2), np.random.default_rng(5).uniform(size=(40, 1))


@dataclass(frozen=True, eq=False)
class Draws:
    """Source of functions, with a norm, whose number of arms may grow with the trial."""

    kernel: object
    points: np.ndarray
    grows: bool = False

    def __call__(self, trial):
        points = self.points[: len(self.points) - 9 + trial.number] if self.grows else self.points
        problem = kb.GPDraw(self.kernel, points, 0.04)(trial)
        return replace(problem, model=replace(problem.model, norm=1.0 + trial.number))


SOURCES = {
    "one axis": Draws(kb.SquaredExponential(0.2), SCATTERED),
    "ties on a grid": Draws(kb.Matern(0.3, nu=2.5, variance=4.0), GRID),
}


class Other(kb.UCB):
    """A rule of somebody else."""


def own_width(policy):
    return 2.0


#: What is not known, and how many arms would be.
UNKNOWN = {
    "a rule": (partial(Other, width=Constant(2.0)), SOURCES["one axis"]),
    "a width": (partial(kb.UCB, width=own_width), SOURCES["one axis"]),
    "a form": (partial(EI, form=RowPosterior), SOURCES["one axis"]),
    "other numbers of arms": (EI, replace(SOURCES["one axis"], grows=True)),
    "many arms": (EI, Draws(kb.SquaredExponential(0.2), kb.grid(301))),
}


def trials_of(n):
    return [kb.Trial(SEED, number) for number in range(n)]


def begun(experiment, n=6):
    """The first trials of a block, begun."""
    return simulation._begun(partial(play_trial, experiment, arms=False), trials_of(n))


def assert_alone(experiment, numbers):
    """Assert that a block keeps what trials that are played alone do."""
    job = partial(play_trial, experiment, arms=False)
    for number, leaves, seconds in simulation._run_block(job, SEED, numbers):
        alone = flat(job(kb.Trial(SEED, number)))
        assert not leaf_differences(alone, leaves) and seconds > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("source", SOURCES)
def test_arms_are_those_of_each_trial_alone_whatever_the_block(source, rule):
    experiment = Experiment(SOURCES[source], {rule: RULES[rule]}, T)
    ahead = [trial for trial in begun(experiment) if trial.curves]
    assert len(ahead) >= 4
    for trial in ahead:
        alone = simulation._runs(experiment, kb.Trial(SEED, trial.number))[rule]
        np.testing.assert_array_equal(trial.curves[rule].arms, alone.arms)
        np.testing.assert_array_equal(trial.curves[rule].regret, alone.regret)
    for numbers in (range(6), range(2, 4), [5]):
        assert_alone(experiment, numbers)


class WithoutNoise(together.Together):
    def learn(self, arms, rewards):
        noise = self.model.noise_variance
        self.model.noise_variance = noise * 0.9
        super().learn(arms, rewards)
        self.model.noise_variance = noise


class Forgetting(together.Together):
    """Pulls that wait are forgotten."""

    def learn(self, arms, rewards):
        super().learn(arms, rewards)
        self._waiting = 0


class Narrow(together.Together):
    """The width is too small."""

    @property
    def widths(self):
        return 0.99 * super().widths


def lowest(index, ranks, *others):
    """Tied arms go to the lowest number."""
    return BEST(index, np.broadcast_to(np.arange(ranks.shape[1]), ranks.shape), *others)


BEST = together._best_arms
WRONG = {
    "without noise": ("EI", "Together", WithoutNoise),
    "forgetting": ("a width of all arms", "Together", Forgetting),
    "narrow": ("a width of all arms", "Together", Narrow),
    "lowest": ("EI", "_best_arms", lowest),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_rule_that_has_other_arms_than_alone_is_played_alone_and_says_so(wrong, monkeypatch):
    rule, *change = WRONG[wrong]
    experiment = Experiment(SOURCES["ties on a grid"], {"it": RULES[rule]}, T)
    monkeypatch.setattr(together, *change)
    with pytest.warns(UserWarning, match="it: played alone, other arms in Trial"):
        ahead = begun(experiment)
    assert not any(trial.curves for trial in ahead)
    with pytest.warns(UserWarning, match="it: played alone"):
        assert_alone(experiment, range(3))


def test_where_rounding_may_decide_a_trial_is_played_alone(monkeypatch):
    experiment = Experiment(SOURCES["one axis"], {"EI": EI}, T)
    index_of, most, _ = together.RULES[EI]
    monkeypatch.setitem(together.RULES, EI, (index_of, most, 1e9))
    assert not any(trial.curves for trial in begun(experiment))
    assert_alone(experiment, range(4))


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_not_known_is_played_alone(what):
    rule, source = UNKNOWN[what]
    experiment = Experiment(source, {what: rule, "known": RULES["EI"]}, 20)
    ahead = begun(experiment)
    assert not any(what in getattr(trial, "curves", ()) for trial in ahead)
    assert_alone(experiment, range(4))


def test_one_trial_and_what_keeps_arms_or_a_band_begins_nothing():
    experiment = Experiment(SOURCES["one axis"], {"UCB": RULES["a constant width"]}, 20)
    alone = trials_of(3)
    assert simulation._begun(partial(play_trial, experiment), alone) is alone
    assert begun(replace(experiment, record_band=True), 3) == alone
    assert begun(experiment, 1) == alone[:1]
    assert simulation._begun(partial(max, 1), alone) is alone
    measured = replace(experiment, measured="a checksum")
    ahead = simulation._begun(partial(play_trial, measured), alone)
    assert all(trial.curves for trial in ahead)


def test_a_source_that_returns_no_problem_is_named_in_a_block_as_for_one_trial():
    experiment = Experiment(lambda trial: None, {"EI": EI}, 20)
    for n in (1, 4):
        with pytest.raises(ValueError, match=r"problem = None is not allowed: .* a source, whose"):
            simulation._run_block(partial(play_trial, experiment, arms=False), SEED, range(n))


def test_a_block_builds_the_problem_of_every_trial_once():
    built = []

    def source(trial):
        built.append(trial.number)
        return SOURCES["one axis"](trial)

    experiment = Experiment(source, {"EI": EI, "mean": kb.MeanOnly}, 20)
    simulation._run_block(partial(play_trial, experiment, arms=False), SEED, range(4))
    assert built == [0, 1, 2, 3]


def test_a_block_of_a_plan_gives_the_regret_of_single_trials():
    experiment = Experiment(SOURCES["one axis"], {"EI": EI, "PI": RULES["PI"]}, 60)
    job = partial(regrets_at, experiment, [30, 60])
    together_, alone = (Planned(job, 5, SEED, block=n).play("it") for n in (4, 1))
    for one, other in zip(together_, alone, strict=True):
        for rule in experiment.policies:
            np.testing.assert_array_equal(one[rule], other[rule])
