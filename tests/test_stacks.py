"""Another kernel of the BLAS rounds otherwise: the arms of every algorithm are the same, functions
to 1e-6.
"""

import itertools
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

    (kernel,) = {pool["architecture"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    matrix = np.random.default_rng(1).standard_normal((300, 300))
    arms, draws, trial = {}, [], Trial(19, 0)
    for name, (make, problem) in POLICIES.items():
        policy = start_policy(make, problem.model, HORIZON, trial)
        arms[name] = run(policy, problem, HORIZON, trial.rng("noise")).arms.tolist()
    # where many arms mirror each other
    for prior, d in itertools.product((SquaredExponential(0.5), Matern(0.5, nu=2.5)), (1, 2, 3)):
        points = grid({1: 150, 2: 13, 3: 6}[d], d)
        draws += GPDraw(prior, points, 0.025)(trial).expected_reward.tolist()
    print(json.dumps([kernel, matrix.dot(matrix).tolist(), arms, draws]))


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="kernels of other processors have other names"
)
def test_arms_and_functions_are_the_same_with_another_kernel_that_rounds_otherwise():
    found = []
    for kernel in KERNELS:
        own = {"OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
        own["PYTHONPATH"] = f"{ROOT / 'tests'}:{ROOT / 'tests/bandits'}:{ROOT}"
        command = [sys.executable, "-c", "import test_stacks; test_stacks.played()"]
        output = subprocess.check_output(command, env=os.environ | own, text=True)
        found.append(json.loads(output))
    kernels, products, arms, draws = zip(*found, strict=True)
    assert kernels == KERNELS
    assert 0 < np.abs(np.subtract(*products)).max() < 1e-10
    assert {name for name in arms[0] if arms[0][name] != arms[1][name]} == set()
    np.testing.assert_allclose(*draws, atol=1e-6)
