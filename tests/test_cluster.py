"""Trials on the workers of a dask scheduler: the same numbers as at home, also when a worker dies."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import MeanOnly
from kbrepro.problems import GPDraw, Trial
from kbrepro.simulation import Experiment, map_trials, run_trials

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as its:
        yield its.scheduler_address


@pytest.fixture
def cluster(scheduler, monkeypatch):
    monkeypatch.setenv("KBREPRO_SCHEDULER", scheduler)
    monkeypatch.delenv("KBREPRO_JOBS", raising=False)


def test_trials_of_a_cluster_are_those_of_one_process(cluster, monkeypatch):
    experiment = Experiment(GPDraw(SquaredExponential(0.2), grid(30), 0.025), {"mean only": MeanOnly}, horizon=20)
    ours = run_trials(experiment, 6, seed=3, block=2)["mean only"]
    monkeypatch.delenv("KBREPRO_SCHEDULER")
    monkeypatch.setenv("KBREPRO_JOBS", "1")
    home = run_trials(experiment, 6, seed=3, block=2)["mean only"]
    for part in ("arms", "gaps", "regret"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(home, part))


def draw_or_die(folder: Path, trial: Trial) -> float:
    """The first to play trial 3 dies of it."""
    if trial.number == 3 and not (folder / "died").exists():
        (folder / "died").touch()
        os._exit(1)
    return trial.rng("function").random()


def test_a_worker_that_dies_loses_nothing(cluster, tmp_path):
    found = map_trials(partial(draw_or_die, tmp_path), 8, seed=3)
    assert (tmp_path / "died").exists()
    assert found == [Trial(3, number).rng("function").random() for number in range(8)]
