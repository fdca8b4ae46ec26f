"""Bump functions: the norm is exact, the kernel that of the function."""

from dataclasses import replace

import numpy as np
import pytest

from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.problems import Bumps, LatticeKernel
from kbrepro.problems import Trial, Uniform

KERNEL = Matern(0.2, nu=1.5)


def draw(seed, d=2, side=30):
    return Bumps(KERNEL, d=d, side=side, noise_variance=1.0, noise_bound=0.5)(Trial(seed, 0))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_arms_kernel_and_noise(d):
    problem = draw(38, d, side=8)
    np.testing.assert_array_equal(problem.model.points, grid(8, d))
    assert problem.model.kernel == LatticeKernel(KERNEL, 8) and problem.model.noise_variance == 1.0
    assert problem.noise == Uniform(0.5) and problem.model.noise_scale == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_the_norm_is_that_of_the_sum_of_bumps(seed):
    """From the centres and weights drawn again, by a double loop."""
    rng = Trial(seed, 0).rng("function")
    centres, weights = rng.uniform(size=(60, 2)), rng.uniform(-1, 1, size=60)
    total = 0.0
    for a, c in zip(weights, centres, strict=True):
        for b, e in zip(weights, centres, strict=True):
            s = np.sqrt(3) * np.linalg.norm(c - e) / 0.2
            total += a * b * (1 + s) * np.exp(-s)
    assert draw(seed).model.norm == pytest.approx(np.sqrt(total), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_norm_bounds_the_function_s_interpolant_and_nearly_equals_it(seed):
    """The interpolant on the arms has the least norm of all functions through the values."""
    problem = draw(seed, d=1, side=400)
    K = problem.model.kernel(problem.model.points, problem.model.points)
    least = np.sqrt(problem.expected_reward @ np.linalg.solve(K, problem.expected_reward))
    assert 0.98 * problem.model.norm < least <= problem.model.norm * (1 + 1e-8)


def test_another_noise_scale_may_be_told():
    source = Bumps(KERNEL, d=1, side=8, noise_variance=1.0, noise_bound=1.0)
    plain, smaller = source(Trial(1, 2)), replace(source, noise_scale=0.6)(Trial(1, 2))
    assert (plain.model.noise_scale, smaller.model.noise_scale) == (1.0, 0.6)
    assert plain.noise == smaller.noise == Uniform(1.0)
    np.testing.assert_array_equal(plain.expected_reward, smaller.expected_reward)
