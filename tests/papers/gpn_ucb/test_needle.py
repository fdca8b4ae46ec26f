"""The hard functions of the lower bound: Fig. 6, the layers, and the needle (Theorem 9)."""

import numpy as np
import pytest
from scipy.optimize import brentq

from kbrepro.kernels import Matern
from kbrepro.papers.gpn_ucb import needle
from kbrepro.problems import Trial


def test_the_kernel_and_the_later_layers_are_the_closed_forms_where_there_are_some():
    X, Z = np.random.default_rng(57).normal(size=(2, 7, 2))
    for nu in (0.5, 1.5, 2.5):
        np.testing.assert_allclose(needle.AnyMatern(nu)(X, Z), Matern(1.0, nu)(X, Z), atol=1e-10)
    assert needle.AnyMatern(2.0)(X, X).diagonal() == pytest.approx(needle.AnyMatern(2.0).diag(X))
    kernel, scale = Matern(1.0, nu=1.5), needle.amplifier_scale(1.5)
    centres, weights = np.array([[0.5], [-0.5]]), np.array([scale / 2, -scale / 2])
    assert np.sqrt(weights @ kernel(centres, centres) @ weights) == pytest.approx(5.0)  # norm B
    z = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(needle.amplifier(z, 1.5), kernel(z[:, None], centres) @ weights, atol=1e-12)


def test_the_norm_of_the_bump_is_that_of_interpolants_in_the_limit():
    """Interpolants have the smallest norm: with more points it rises to that of the bump, never above."""
    for nu, radius, far in ((1.5, 0.3, 1.2), (2.0, 0.3, 1.5)):
        norms = []
        for side in (9, 17, 33):
            x = np.linspace(-2 * radius, 2 * radius, side)
            points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
            y = needle.bump(np.linalg.norm(points, axis=1) / radius)
            K = needle.AnyMatern(nu)(points, points) + 1e-12 * np.eye(len(points))
            norms.append(float(np.sqrt(y @ np.linalg.solve(K, y))))
        assert norms[0] < norms[1] < norms[2] < needle.bump_norm(radius, nu) < far * norms[2]


@pytest.mark.parametrize(("nu", "norm"), [(1.0, 0.0925862), (1.5, 0.7745981)])
def test_needles_are_as_theorem_9_says(nu, norm):
    """Norm at most B, slopes at most L, maximum 2 epsilon, and 0 at least a radius away."""
    source, number = needle.Needles(10, 0.15, depth=3, nu=nu), 37
    problem = source(Trial(1, number))
    points, g, L = problem.model.points, problem.expected_reward, problem.model.lipschitz
    assert source.first_norm() / needle.NORM == pytest.approx(norm, rel=1e-6)
    assert g.max() == pytest.approx(0.3) and points[g.argmax()] == pytest.approx([0.35, 0.75])
    assert not g[np.linalg.norm(points - points[g.argmax()], axis=1) >= source.radius].any()
    r, z = np.linspace(0, source.radius, 100_001), np.linspace(0, needle.REACH, 100_001)
    first = np.abs(np.diff(source.low * needle.bump(r / source.radius)) / np.diff(r)).max()
    later = (np.diff(needle.amplifier(z, nu)) / np.diff(z)).max()
    assert max(first, later) == pytest.approx(L, rel=1e-4)
    with pytest.raises(ValueError, match="different signs"):  # too high for the later layers
        needle.Needles(4, 4.5, depth=2, nu=nu).low  # noqa: B018


def one_minus_c(monkeypatch, nu, shrink):
    """1 - c of a chain of three layers (H.5): c = L~ r_min / max(L', L~ r_max), with u and u~ of Fig. 6 shrunk."""
    monkeypatch.setattr(needle, "PLACE", 0.5 * shrink)
    monkeypatch.setattr(needle, "REACH", 0.3 * shrink)
    low, high = needle.slope_range(nu)
    height = brentq(lambda z: float(needle.amplifier(z, nu)) - needle.REACH, 0, needle.REACH, xtol=1e-16)
    log_radius = brentq(lambda log: height * needle.bump_norm(np.exp(log), nu) - needle.NORM, -25.0, 3.0)
    return 1 - low / max(height / np.exp(log_radius) * needle.steepest(needle.bump, 1.0, 4001), high)


def test_c_comes_close_to_1_for_smooth_kernels_alone(monkeypatch):
    """Remark 3: 1 - c falls like s^(2 (nu - 1)) as u and u~ shrink by s; for rough kernels it does not fall."""
    left = {s: one_minus_c(monkeypatch, 1.5, s) for s in (1, 1 / 16, 1 / 64)}
    assert np.log2(left[1 / 16] / left[1 / 64]) / 2 == pytest.approx(1, abs=0.2)
    assert left[1 / 64] / left[1] == pytest.approx(0.026377, rel=1e-3)
    assert one_minus_c(monkeypatch, 0.75, 1 / 64) > one_minus_c(monkeypatch, 0.75, 1)
    assert one_minus_c(monkeypatch, 0.5, 1) > 0.9  # where the needle is the steeper
