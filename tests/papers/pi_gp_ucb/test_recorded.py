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


def fed(policy, run, name):
    """The policy is told of the recorded pulls, each of which has the largest index of ours."""
    for arm, noise in zip(run[name]["arms"], run["noise"], strict=False):
        index = policy.index() if name == "igp_ucb" else slots(policy)
        assert index.max() - index[arm] < 1e-6
        policy.tell(arm, run["expected_reward"][arm] + noise)
    return policy


def slots(policy):
    """The largest index of each arm over its cells."""
    best = np.full(len(policy.model.points), -np.inf)
    np.maximum.at(best, policy.slot_arm, policy.slot_mean + policy.widths()[policy.slot_cell] * policy.slot_sd)
    return best


def model_of(run):
    kernel = LatticeKernel(Matern(run["lengthscale"], nu=run["nu"]), run["side"])
    points = grid(run["side"], run["d"])
    np.testing.assert_allclose(points[:3], run["first_points"])
    return Model(points, kernel, run["noise_variance"], run["noise_scale"], run["norm"])


@every_run
def test_pi_gp_ucb(run):
    horizon, given = run["pi_gp_ucb"]["horizon"], {"delta": run["delta"], "nu": run["nu"], "variant": "thesis"}
    policy = fed(PartitionedUCB(model_of(run), horizon, **given), run, "pi_gp_ucb")
    assert len(set(policy.slot_cell.tolist())) == run["pi_gp_ucb"]["live_cells"]


@every_run
def test_igp_ucb(run):
    policy = fed(UCB(model_of(run), width=Chowdhury2017(run["delta"])), run, "igp_ucb")
    assert policy.posterior.gain == pytest.approx(run["igp_ucb"]["gain"], rel=1e-10)
