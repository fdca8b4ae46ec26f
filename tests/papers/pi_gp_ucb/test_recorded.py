"""Ours beside recorded runs of the first author's thesis code: the arm that it pulled has the largest index of ours.

Its variant of π-GP-UCB and its exact IGP-UCB, fed with the recorded arms and rewards. The code itself is not here.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from kbrepro.confidence import Chowdhury2017
from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.pi_gp_ucb.problems import LatticeKernel
from kbrepro.policies import UCB
from kbrepro.problems import Model

RUNS = json.loads((Path(__file__).parents[2] / "recorded" / "pi_gp_ucb.json").read_text(encoding="utf-8"))
every_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: f"d = {run['d']}, norm {run['norm']:.1f}")


def shortfalls(policy, run, arms, index_of):
    """How far the recorded arm's index lies below the largest, round by round."""
    for t, arm in enumerate(arms):
        yield index_of(policy, slice(None)).max() - index_of(policy, arm).max()
        policy.tell(arm, run["expected_reward"][arm] + run["noise"][t])


def model_of(run):
    kernel = LatticeKernel(Matern(run["lengthscale"], nu=run["nu"]), run["side"])
    points = grid(run["side"], run["d"])
    np.testing.assert_allclose(points[:3], run["first_points"])
    return Model(points, kernel, run["noise_variance"], run["noise_scale"], run["norm"])


@every_run
def test_pi_gp_ucb(run):
    def index_of(policy, arm):
        index = policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd
        return index[policy.slot_arm == arm] if isinstance(arm, int) else index

    recorded = run["pi_gp_ucb"]
    policy = PartitionedUCB(model_of(run), recorded["horizon"], delta=run["delta"], nu=run["nu"], variant="thesis")
    assert max(shortfalls(policy, run, recorded["arms"], index_of)) < 1e-6
    assert len(set(policy.slot_cell.tolist())) == recorded["live_cells"]


@every_run
def test_igp_ucb(run):
    def index_of(policy, arm):
        return (policy.posterior.mean + policy.checked_width() * policy.posterior.sd)[arm]

    recorded = run["igp_ucb"]
    policy = UCB(model_of(run), recorded["horizon"], width=Chowdhury2017(run["delta"]))
    assert max(shortfalls(policy, run, recorded["arms"], index_of)) < 1e-6
    assert policy.posterior.gain == pytest.approx(recorded["gain"], rel=1e-10)
