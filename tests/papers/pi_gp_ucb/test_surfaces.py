"""Test surfaces: known minima, domains, scaling."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kbrepro.kernels import Matern, grid
from kbrepro.papers.pi_gp_ucb.problems import SURFACES, LatticeKernel, Surface
from kbrepro.problems import Trial, Uniform

#: Where the minima are and what they are, from the library's pages.
MINIMA = {
    "Branin": (0.397887, [(-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)]),
    "six-hump camel": (-1.0316, [(0.0898, -0.7126), (-0.0898, 0.7126)]),
    "Goldstein-Price": (3.0, [(0, -1)]),
    "Rosenbrock": (0.0, [(1, 1)]),
    "Ackley": (0.0, [(0, 0)]),
    "Rastrigin": (0.0, [(0, 0)]),
    "Levy": (0.0, [(1, 1)]),
    "Beale": (0.0, [(3, 0.5)]),
}
TOLD = dict(kernel=Matern(0.2, nu=1.5), side=30, noise_variance=1.0, noise_bound=0.1, norm=1.0)
every_surface = pytest.mark.parametrize("name", SURFACES)


@every_surface
def test_the_minima(name):
    function, (low_x, high_x, low_y, high_y) = SURFACES[name]
    value, places = MINIMA[name]
    for x, y in places:
        assert function(np.array(x), np.array(y)) == pytest.approx(value, abs=1e-4)
        found = minimize(lambda p: float(function(p[0], p[1])), [x, y], method="Nelder-Mead", options={"xatol": 1e-8})
        assert found.fun == pytest.approx(value, abs=1e-4)
    xs, ys = np.meshgrid(np.linspace(low_x, high_x, 500), np.linspace(low_y, high_y, 500))
    assert function(xs, ys).min() >= value - 1e-4


@pytest.mark.parametrize(
    ("name", "point", "value"),
    [
        ("Branin", (0, 0), 36 + 10 * (1 - 1 / (8 * np.pi)) + 10),
        ("six-hump camel", (1, 1), 4 - 2.1 + 1 / 3 + 1),
        ("Goldstein-Price", (0, 0), (1 + 19) * 30),
        ("Rosenbrock", (0, 2), 401),
        ("Ackley", (1, 1), 20 - 20 * np.exp(-0.2)),
        ("Rastrigin", (0.5, 0), 20.25),
        ("Levy", (5, 1), 0 + 1 * (1 + 10 * np.sin(2 * np.pi + 1) ** 2)),
        ("Beale", (1, 1), 1.5**2 + 2.25**2 + 2.625**2),
    ],
)
def test_values_by_hand(name, point, value):
    assert SURFACES[name][0](np.array(float(point[0])), np.array(float(point[1]))) == pytest.approx(value)


@every_surface
def test_the_reward_is_the_scaled_mirror_image(name):
    points = grid(30, 2)
    f = Surface(name, **TOLD)(Trial(42, 0)).expected_reward
    function, (low_x, high_x, low_y, high_y) = SURFACES[name]
    raw = function(low_x + (high_x - low_x) * points[:, 0], low_y + (high_y - low_y) * points[:, 1])
    assert (f.min(), f.max()) == (-1.0, 1.0) and raw[f.argmax()] == pytest.approx(raw.min())
    assert np.corrcoef(f, raw)[0, 1] == pytest.approx(-1)


def test_a_surface_as_a_problem():
    problem, later = (Surface("Branin", **TOLD)(Trial(42, number)) for number in (0, 3))
    np.testing.assert_array_equal(problem.expected_reward, later.expected_reward)
    np.testing.assert_array_equal(problem.model.points, grid(30, 2))
    model = problem.model
    assert (model.norm, model.noise_scale, model.noise_variance) == (1.0, 0.1, 1.0)
    assert model.kernel == LatticeKernel(Matern(0.2, nu=1.5), 30) and problem.noise == Uniform(0.1)
    tight = Surface("Branin", **TOLD, noise_scale=0.05)(Trial(42, 0))
    assert tight.model.noise_scale == 0.05 and tight.noise == Uniform(0.1)
    with pytest.raises(ValueError, match="name = 'Eggholder' is not allowed"):
        Surface("Eggholder", **TOLD)
