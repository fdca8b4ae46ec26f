"""Problems on grids: the lattice kernel, sums of bumps with their norm, test surfaces."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses
from scipy.spatial.distance import cdist

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Trial, Uniform
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, Bumps, LatticeKernel, Surface, grid_indices

KERNEL = Matern(0.2, nu=1.5)
ON_30 = {"side": 30, "noise_variance": 1.0, "noise_bound": 0.5}


@pytest.mark.parametrize(("n", "d"), [(30, 1), (9, 2), (5, 3)])
def test_the_values_are_those_of_the_plain_kernel_and_pairs_at_the_same_distance_tie_exactly(n, d):
    X, squared = (
        grid(n, d),
        cdist(grid_indices(grid(n, d), n), grid_indices(grid(n, d), n), "sqeuclidean"),
    )
    for kernel in (KERNEL, Matern(0.3, nu=0.5, variance=2.0), SquaredExponential(0.4)):
        K = LatticeKernel(kernel, n)(X, X)
        np.testing.assert_allclose(K, kernel(X, X), rtol=1e-12)
        np.testing.assert_array_equal(LatticeKernel(kernel, n).diag(X), kernel.diag(X))
        assert all(len(np.unique(K[squared == s])) == 1 for s in np.unique(squared))


def test_points_off_the_grid_are_named():
    np.testing.assert_array_equal(grid_indices(grid(4, 2), 4), list(np.ndindex(4, 4)))
    between = r"points\[1, 0\] = 0.4 is not allowed: .* on the grid of 4 points a side"
    refuses(
        (lambda: grid_indices(np.array([[0.0], [0.4]]), 4), between),
        (
            lambda: grid_indices(np.array([[0.0, 1.25]]), 5),
            r"points\[0, 1\] = 1.25 is not allowed: .* grid",
        ),
        (
            lambda: grid_indices(np.array([[-0.25]]), 5),
            r"points\[0, 0\] = -0.25 is not allowed: .* grid",
        ),
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), d=st.integers(1, 3))
def test_function_and_norm_are_those_of_the_sum_of_bumps(seed, d):
    """From the centres and weights drawn again; |f|^2 is the sum of f at the centres, by the
    weights.
    """
    rng, problem = Trial(seed, 0).rng("function"), Bumps(KERNEL, d, 5, 1.0, 0.5)(Trial(seed, 0))
    centres, weights = rng.uniform(size=(30 * d, d)), rng.uniform(-1, 1, size=30 * d)

    def f(x):
        s = np.sqrt(3) * np.linalg.norm(x - centres, axis=1) / 0.2
        return weights @ ((1 + s) * np.exp(-s))

    np.testing.assert_allclose(problem.expected_reward, [f(x) for x in grid(5, d)], atol=1e-12)
    assert problem.model.norm**2 == pytest.approx(weights @ [f(c) for c in centres], rel=1e-10)


@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize(
    "make", [partial(Bumps, KERNEL, 2), partial(Surface, "Branin", KERNEL, norm=1.0)]
)
def test_policies_are_given_the_grid_alpha_and_the_noise_bound_or_another_noise_scale(make, scale):
    problem = make(**ON_30, noise_scale=scale)(Trial(1, 2))
    model = problem.model
    np.testing.assert_array_equal(model.points, grid(30, 2))
    assert (model.kernel, model.noise_variance, model.noise_scale) == (
        LatticeKernel(KERNEL, 30),
        1.0,
        scale or 0.5,
    )
    assert problem.noise == Uniform(0.5)


# Test surfaces: where the minima are and what they are, and a value elsewhere, from the library's
# pages and by hand

KNOWN = {
    "Branin": (
        0.397887,
        [(-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)],
        (0, 0),
        56 - 10 / (8 * np.pi),
    ),
    "six-hump camel": (
        -1.0316,
        [(0.0898, -0.7126), (-0.0898, 0.7126)],
        (1, 1),
        4 - 2.1 + 1 / 3 + 1,
    ),
    "Goldstein-Price": (3.0, [(0, -1)], (0, 0), (1 + 19) * 30),
    "Rosenbrock": (0.0, [(1, 1)], (0, 2), 401),
    "Ackley": (0.0, [(0, 0)], (1, 1), 20 - 20 * np.exp(-0.2)),
    "Rastrigin": (0.0, [(0, 0)], (0.5, 0), 20.25),
    "Levy": (0.0, [(1, 1)], (5, 1), 1 + 10 * np.sin(2 * np.pi + 1) ** 2),
    "Beale": (0.0, [(3, 0.5)], (1, 1), 1.5**2 + 2.25**2 + 2.625**2),
}


@pytest.mark.parametrize("name", SURFACES)
def test_a_surface_has_its_minima_and_the_reward_is_the_scaled_mirror_image(name):
    function, (low_x, high_x, low_y, high_y) = SURFACES[name]
    least, minima, at, value = KNOWN[name]
    assert function(*np.array(at, dtype=float)) == pytest.approx(value)
    assert function(*np.array(minima, dtype=float).T) == pytest.approx(least, abs=1e-4)
    problem, points = Surface(name, KERNEL, **ON_30, norm=1.0)(Trial(42, 3)), grid(30, 2)
    f = problem.expected_reward
    raw = function(low_x + (high_x - low_x) * points[:, 0], low_y + (high_y - low_y) * points[:, 1])
    assert (f.min(), f.max(), problem.model.norm) == (-1.0, 1.0, 1.0)
    assert raw[f.argmax()] == pytest.approx(raw.min()) and np.corrcoef(f, raw)[
        0, 1
    ] == pytest.approx(-1)
