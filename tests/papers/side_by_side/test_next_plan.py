"""The next plan: trials of problems, the rules and horizons that questions read, one seed."""

from functools import partial

import pytest

from kbrepro.bandits.problems import Trial
from kbrepro.data.store import load
from kbrepro.papers.side_by_side.bench import NEITHER
from kbrepro.papers.side_by_side.field import field
from kbrepro.papers.side_by_side.measures import BEST_PROVED, NEAR
from kbrepro.papers.side_by_side.next import claims, experiments

planned = partial(
    experiments.experiments,
    trials=4,
    other_trials=2,
    horizon=60,
    n_arms=50,
    long_horizon=80,
    growth_trials=3,
    growth_horizon=320,
    wrong_trials=3,
    wrong_horizon=50,
    simple_trials=5,
    qbar=4.0,
    delta=0.1,
    load=load,
)


@pytest.fixture(scope="module")
def plan():
    return planned(seed=5)


def test_a_problem_on_which_a_theorem_holds_has_more_trials_and_every_rule_that_is_compared(plan):
    played = {label.removeprefix("SIMULATED SUBSTITUTE for "): what for label, what in plan.items()}
    for (name, setting), table in zip(claims.SETTINGS.items(), claims.bench, strict=True):
        what = played[name]
        assert what.trials == (2 if setting.holds == NEITHER else 4)
        assert {*what.experiment.policies} == {*table.pool}
    assert len(field(0.1)) == 20


def test_regret_is_played_at_the_horizons_that_questions_read(plan):
    for panel in claims.PANELS:
        assert {*NEAR, BEST_PROVED} <= {*plan[f"growth, {panel}, T = 320"].experiment.policies}
    for name in experiments.simple_problems():
        assert [plan[f"simple, {name}, T = {T}"].trials for T in (32, 320)] == [5, 5]


def test_all_random_numbers_follow_from_one_seed(plan):
    other = planned(seed=6)
    assert {what.seed for what in plan.values()} == {5}
    assert {what.seed for what in other.values()} == {6}
    arms = [
        one["BKB's problem"].experiment.problem(Trial(5, 0)).model.points for one in (plan, other)
    ]
    assert (arms[0] != arms[1]).any()
