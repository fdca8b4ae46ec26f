"""Another kernel of the BLAS rounds otherwise: the arms of every algorithm are the same."""

import json
import os
import platform
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from benchmarks import steps
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.problems import GPDraw, Trial
from kbrepro.simulation import run

#: Every algorithm with the arms and rounds that it plays.
JOBS = steps.JOBS | {
    "EI": steps.Job(ExpectedImprovement, steps.line),
    "MPI": steps.Job(partial(ProbabilityOfImprovement, margin=0.01), steps.line),
}
SIZES = {steps.line: (200, 200), steps.network: (100, 40)}
#: Draws from the prior on grids, where many arms mirror each other.
DRAWS = {
    f"{kernel!r}, d = {d}": GPDraw(kernel, grid(side, d), 0.025)
    for kernel in (SquaredExponential(0.5), Matern(0.5, nu=2.5))
    for d, side in ((1, 150), (2, 13), (3, 6))
}
#: Kernels that add in different orders: with fused products and without, in vectors of four and of two.
KERNELS = ("Haswell", "Nehalem")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="kernels of other processors have other names"),
]


def played():
    """Print the kernels in use, a product of matrices, and the arms of every algorithm."""
    kernels = {its["architecture"] for its in threadpool_info() if its["user_api"] == "blas"}
    matrix = np.random.default_rng(1).standard_normal((300, 300))
    found = {"kernels": sorted(kernels), "product": (matrix @ matrix).ravel().tolist(), "arms": {}, "draws": {}}
    for name, job in JOBS.items():
        n_arms, horizon = SIZES.get(job.source, (900, 400))
        problem = job.source(n_arms, horizon)(Trial(19, 0))
        found["arms"][name] = run(
            job.policy(problem.model, horizon), problem, horizon, Trial(19, 0).rng("run")
        ).arms.tolist()
    for name, source in DRAWS.items():
        found["draws"][name] = source(Trial(19, 0)).expected_reward.tolist()
    print(json.dumps(found))


@pytest.fixture(scope="module")
def by_kernel():
    """What was played with each kernel, in processes of their own."""
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent)])
    command = [sys.executable, "-c", "import test_stacks; test_stacks.played()"]
    done = {
        kernel: subprocess.run(
            command,
            env=os.environ | {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        for kernel in KERNELS
    }
    return {kernel: json.loads(its.stdout) for kernel, its in done.items()}


def test_the_kernels_are_others_and_round_otherwise(by_kernel):
    one, other = by_kernel.values()
    assert [its["kernels"] for its in by_kernel.values()] == [[kernel] for kernel in KERNELS]
    assert 0 < np.abs(np.subtract(one["product"], other["product"])).max() < 1e-10


@pytest.mark.parametrize("name", JOBS)
def test_arms_are_the_same_with_another_kernel(name, by_kernel):
    one, other = (by_kernel[kernel]["arms"][name] for kernel in KERNELS)
    assert len(set(one)) > 5
    assert one == other


@pytest.mark.parametrize("name", DRAWS)
def test_functions_are_the_same_with_another_kernel(name, by_kernel):
    one, other = (by_kernel[kernel]["draws"][name] for kernel in KERNELS)
    np.testing.assert_allclose(one, other, atol=1e-6)
