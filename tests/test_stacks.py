"""Another kernel of the BLAS rounds otherwise: the arms of every algorithm are the same, functions
to 1e-6.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import GPDraw, Trial
from kbrepro.trials.simulation import run, start_policy

ROOT, HORIZON = Path(__file__).parents[1], 30
#: Kernels that add in different orders: with fused products and without, in vectors of four and of
#: two.
KERNELS = ("Haswell", "Nehalem")


def played():
    """Print the kernel in use, a product of matrices, the arms of every algorithm, and draws on
    grids.
    """
    from test_saved import POLICIES

    (kernel,) = {each["architecture"] for each in threadpool_info() if each["user_api"] == "blas"}
    matrix = np.random.default_rng(1).standard_normal((300, 300))
    arms, trial = {}, Trial(19, 0)
    for name, (make, problem) in POLICIES.items():
        policy = start_policy(make, problem.model, HORIZON, trial)
        arms[name] = run(policy, problem, HORIZON, trial.rng("noise")).arms.tolist()
    # where many arms mirror each other
    draws = [
        GPDraw(prior, grid(side, d), 0.025)(Trial(19, 0)).expected_reward.tolist()
        for prior in (SquaredExponential(0.5), Matern(0.5, nu=2.5))
        for d, side in ((1, 150), (2, 13), (3, 6))
    ]
    print(
        json.dumps(
            {"kernel": kernel, "product": matrix.dot(matrix).tolist(), "arms": arms, "draws": draws}
        )
    )


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="kernels of other processors have other names"
)
def test_arms_and_functions_are_the_same_with_another_kernel_that_rounds_otherwise():
    found = []
    for kernel in KERNELS:
        own = {
            "OPENBLAS_CORETYPE": kernel,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'tests/bandits'}:{ROOT}",
        }
        command = [sys.executable, "-c", "import test_stacks; test_stacks.played()"]
        done = subprocess.run(
            command, env=os.environ | own, capture_output=True, text=True, check=True
        )
        found.append(json.loads(done.stdout))
    one, other = found
    assert [one["kernel"], other["kernel"]] == [*KERNELS]
    assert 0 < np.abs(np.subtract(one["product"], other["product"])).max() < 1e-10
    assert {name for name in one["arms"] if one["arms"][name] != other["arms"][name]} == set()
    for draw, again in zip(one["draws"], other["draws"], strict=True):
        np.testing.assert_allclose(draw, again, atol=1e-6)
