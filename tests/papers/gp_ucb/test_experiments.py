"""Experiments of the notebook on GP-UCB: days in turn, and trials that are stuck."""

import numpy as np
import pytest
from traces import curve_of

from kbrepro.papers.gp_ucb import experiments
from kbrepro.problems import Trial


def test_every_third_is_tested_once_and_never_learned_from():
    turns = experiments.rotations(np.arange(20.0).reshape(10, 2))
    assert [test[:, 0].tolist() for _, test in turns] == [[0, 2, 4], [6, 8, 10], [12, 14, 16]]
    for train, test in turns:
        assert sorted([*train[:, 0], *test[:, 0]]) == list(range(0, 18, 2))


def test_sensor_problems_take_mean_and_covariance_from_the_training_rows_alone():
    rng = np.random.default_rng(1)
    train, test = rng.normal(20, 2, (50, 3)), rng.normal(25, 1, (4, 3))
    source, prior_sd = experiments.sensor_problems(train, test, 0.5)
    covariance = (train - train.mean(axis=0)).T @ (train - train.mean(axis=0)) / 49
    problem = source(Trial(0, 2))
    np.testing.assert_allclose(problem.model.kernel.covariance, covariance)
    np.testing.assert_allclose(problem.expected_reward, test[2] - train.mean(axis=0))
    assert prior_sd == pytest.approx(np.sqrt(np.trace(covariance) / 3)) and problem.model.noise_variance == 0.5


def test_trials_that_are_stuck_and_trials_that_settled():
    """Peaks are arms 1 (lower) and 4 (best): stuck is who stays on a slope of the lower one."""
    f = np.array([0.0, 2, 1, 3, 5, 4])
    assert experiments.summits(f).tolist() == [1, 1, 4, 4, 4, 4]
    on_lower, near_best = np.full((3, 20), 1), np.full((3, 20), 3)
    on_lower[2, -1] = 0  # two arms in the last tenth: it has not settled
    runs = {"GP-UCB/5": near_best, "mean only": on_lower}
    traces = {rule: curve_of(arms, np.zeros((3, 6))) for rule, arms in runs.items()}
    assert experiments.settled_at(traces["mean only"]).tolist() == [1, 1, -1]
    drawn = []
    stuck = experiments.stuck_trials(traces, lambda rng: drawn.append(rng.random()) or f, 1)
    assert stuck["mean only"].tolist() == [1, 1, 0] and not stuck["GP-UCB/5"].any()
    assert drawn == [Trial(1, number).rng("function").random() for number in range(3)]
