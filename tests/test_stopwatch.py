"""The stopwatch plays the run of `run_trials` and measures its parts."""

import time
from functools import partial

import numpy as np
import pytest

from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import bumps
from kbrepro.simulation import Experiment, run_trials, step_seconds


class Sleeper:
    """Pulls arms in turn, draws as it goes, sleeps from round 20 on, and writes down what it saw."""

    def __init__(self, problem, horizon, log):
        self.t, self.log = 0, log

    def ask(self, rng):
        self.t += 1
        self.log.append(rng.random())
        if self.t > 20:
            time.sleep(0.002)
        return self.t % 10

    def tell(self, arm, observation):
        self.log.append(observation)


def experiment(log, horizon=40):
    problem = partial(bumps, kernel=Matern(0.2, nu=1.5), d=1, side=10, noise_variance=1.0, noise_bound=1.0)
    return Experiment(problem, {"sleeper": partial(Sleeper, log=log)}, horizon)


def test_it_sees_which_part_is_slow():
    seconds = step_seconds(experiment([]), 4, 41, 0)["sleeper"]
    assert seconds.shape == (4,)
    assert (seconds[2:] >= 0.002).all() and (seconds[:2] < 0.002).all()


def test_it_plays_the_run_of_run_trials(monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    monkeypatch.setattr("kbrepro.source.modules_of", lambda settings: set())  # the sleeper is not of the package
    log = []
    step_seconds(experiment(log), 4, 41, 3)
    trace = run_trials(experiment([]), 4, 41)["sleeper"]
    np.testing.assert_array_equal(log[1::2], trace.observations[3])


def test_more_segments_than_rounds():
    assert step_seconds(experiment([], horizon=3), 50, 41, 0)["sleeper"].shape == (3,)
    with pytest.raises(ValueError, match="segments = 0 is not allowed"):
        step_seconds(experiment([]), 0, 41, 0)
