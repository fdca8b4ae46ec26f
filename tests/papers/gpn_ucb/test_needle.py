"""The hard functions of the lower bound: the layers, and the needle (Theorem 9)."""

import numpy as np
import pytest
from scipy.special import j0

from kbrepro.bandits.kernels import Matern
from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb import needle


def test_the_kernel_and_the_later_layers_are_the_closed_forms_where_there_are_some():
    X, Z = np.random.default_rng(57).normal(size=(2, 7, 2))
    for nu in (0.5, 1.5, 2.5):
        np.testing.assert_allclose(needle.AnyMatern(nu)(X, Z), Matern(1.0, nu)(X, Z), atol=1e-10)
    assert needle.AnyMatern(2.0)(X, X).diagonal() == pytest.approx(needle.AnyMatern(2.0).diag(X))
    assert min(np.divide(*needle.slope_range(nu)) for nu in (1.0, 1.5, 2.0)) > 0.93  # Remark 3
    kernel, centres, z = Matern(1.0, nu=1.5), np.array([[0.5], [-0.5]]), np.linspace(-1, 1, 9)
    weights = np.linalg.solve(kernel(centres, centres), needle.amplifier(centres[:, 0], 1.5))
    assert np.sqrt(weights @ kernel(centres, centres) @ weights) == pytest.approx(5.0)  # norm B
    np.testing.assert_allclose(
        needle.amplifier(z, 1.5), kernel(z[:, None], centres) @ weights, atol=1e-12
    )


def bump_norm(radius, nu):
    """The RKHS norm, lengthscale 1, of the bump of height 1 and a radius in the plane.

    Its square is the integral over frequencies of the squared transform over that of the kernel, 4
    pi nu (2 nu)^nu (2 nu + |omega|^2)^-(nu + 1), divided by (2 pi)^2. The transform of a radial
    function is an integral with a Bessel function; beyond 600 over the radius nothing is left of
    it.
    """
    (r, dr), (s, ds) = map(np.polynomial.legendre.leggauss, (300, 1000))
    r, s = (r + 1) / 2, 300 * (s + 1)  # s: frequencies times radius
    transform = np.pi * j0(np.outer(s, r)) @ (dr * needle.bump(r) * r)
    density = 4 * np.pi * nu * (2 * nu) ** nu * (2 * nu + (s / radius) ** 2) ** -(nu + 1)
    return float(np.sqrt(300 * ds @ (transform**2 / density * s) * radius**2 / (2 * np.pi)))


@pytest.mark.parametrize(("nu", "norm"), [(1.0, 0.0925862), (1.5, 0.7745981)])
def test_needles_are_as_theorem_9_says(nu, norm):
    """Norm at most B, slopes at most L, maximum 2 epsilon, and 0 at least a radius away."""
    source, number = needle.Needles(10, 0.15, depth=3, nu=nu), 37
    problem = source(Trial(1, number))
    points, g, L = problem.model.points, problem.expected_reward, problem.model.lipschitz
    assert source.low * bump_norm(source.radius, nu) / needle.NORM == pytest.approx(norm, rel=1e-6)
    assert g.max() == pytest.approx(0.3) and points[g.argmax()] == pytest.approx([0.35, 0.75])
    assert not g[np.linalg.norm(points - points[g.argmax()], axis=1) >= source.radius].any()
    r, z = np.linspace(0, source.radius, 100_001), np.linspace(0, needle.REACH, 100_001)
    first = np.abs(np.diff(source.low * needle.bump(r / source.radius)) / np.diff(r)).max()
    later = (np.diff(needle.amplifier(z, nu)) / np.diff(z)).max()
    assert max(first, later) == pytest.approx(L, rel=1e-4)
    with pytest.raises(ValueError, match="different signs"):  # too high for the later layers
        needle.Needles(4, 4.5, depth=2, nu=nu).low  # noqa: B018
