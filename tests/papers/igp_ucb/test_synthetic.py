"""Test functions: their published maxima, found again by an optimiser, and shapes."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from kbrepro.papers.igp_ucb.problems import hartmann3, rosenbrock


def best(function, start):
    found = minimize(lambda x: -function(x[None])[0], start, bounds=[(0, 1)] * len(start), tol=1e-12)
    return found.x, -found.fun


def test_hartmann_has_its_published_maximum():
    """x* = (0.114614, 0.555649, 0.852547), value 3.86278, from many starts."""
    starts = np.random.default_rng(71).uniform(size=(20, 3))
    x, value = max((best(hartmann3, start) for start in starts), key=lambda pair: pair[1])
    assert value == pytest.approx(3.86278, abs=1e-5)
    assert x == pytest.approx([0.114614, 0.555649, 0.852547], abs=1e-3)


def test_rosenbrock_is_largest_at_its_corner():
    x = np.random.default_rng(72).uniform(size=(1000, 2))
    assert rosenbrock(np.array([[1.0, 1.0]]))[0] == 10.0 > rosenbrock(x).max()
    assert rosenbrock(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.25]])) == pytest.approx([-91.0, -90.0, 9.75])
    assert rosenbrock(x, offset=0.0) == pytest.approx(rosenbrock(x) - 10)


@pytest.mark.parametrize("function", [rosenbrock, hartmann3, partial(rosenbrock, offset=1.0)])
def test_points_of_another_dimension_are_refused(function):
    with pytest.raises(ValueError, match=r"X has shape \(5, 4\)"):
        function(np.zeros((5, 4)))
