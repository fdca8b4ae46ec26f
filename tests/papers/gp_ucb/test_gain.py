"""Bounds on the largest gain by exhaustion, eq. 8 and the best gain against every set of pulls, rates by hand."""

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from kbrepro import information
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb import gain

E = 1 - np.exp(-1)
TINY = {
    "SE": (SquaredExponential(0.3), grid(5)),
    "Matérn": (Matern(0.3, nu=2.5), grid(5)),
    "linear": (Linear(), np.random.default_rng(3).uniform(-1, 1, (5, 2))),
    "independent": (Independent(), grid(5)),
}


def best_gain(kernel, points, noise_variance, T):
    """gamma_T by trying every multiset of T pulls."""
    K = kernel(points, points)
    return max(
        0.5 * np.linalg.slogdet(np.eye(T) + K[np.ix_(pulls, pulls)] / noise_variance)[1]
        for pulls in combinations_with_replacement(range(len(points)), T)
    )


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_linear_bound_holds_and_is_attained_in_one_dimension(d):
    points = np.random.default_rng(d).standard_normal((30, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    greedy, _ = information.greedy_gain(Linear(), points, 0.1, 200)
    bound = gain.linear_bound(d, 0.1, np.arange(1, 201))
    assert (greedy <= bound * (1 + 1e-10)).all()
    assert (greedy[-1] == pytest.approx(bound[-1], rel=1e-10)) == (d == 1)
    assert gain.linear_bound(3, 0.5, 4.0) == pytest.approx(1.5 * np.log(9))


def test_rates_since_the_paper():
    """d = 1, nu = 2.5: T^(1/6) (log T)^(5/6); never above Theorem 5; the other kernels' rates stand."""
    T = np.array([100.0, 1e6])
    np.testing.assert_allclose(gain.rate_since("matern", T, 1), T ** (1 / 6) * np.log(T) ** (5 / 6))
    for d, larger in pairwise(range(1, 6)):
        since, before = gain.rate_since("matern", T, d), information.gain_rate("matern", T, d)
        assert (since < before).all() and (since < gain.rate_since("matern", T, larger)).all()
    for kernel in ("linear", "squared exponential"):
        np.testing.assert_array_equal(gain.rate_since(kernel, T, 2), information.gain_rate(kernel, T, 2))


@pytest.mark.parametrize("T", [1, 3, 25, 60])
@pytest.mark.parametrize("noise_variance", [0.025, 0.5])
def test_lemma_7_8_by_exhaustion(T, noise_variance):
    """Every split and every number r of pulls; and it is no smaller than the bound of eq. 8 that it relaxes."""
    kernel, points = SquaredExponential(0.2), grid(30)
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))[::-1].clip(0)
    r = np.arange(1, T + 1)
    worst = [
        (s * np.log(r * 30 / noise_variance) + (T - r) * eigenvalues[s:].sum() / noise_variance).max()
        for s in range(1, min(T, 30) + 1)
    ]
    bound = gain.split_bound(eigenvalues, noise_variance, T)
    assert bound == pytest.approx(0.5 / E * min(worst), rel=1e-9)
    assert bound >= gain.spectral_bound(eigenvalues, noise_variance, T)[-1] * (1 - 1e-12)


@pytest.mark.parametrize(("kernel", "tau"), [(SquaredExponential(0.2), 1.0), (Matern(0.2, nu=2.5), 5 / 7)])
@pytest.mark.parametrize("T", [5, 40])
def test_theorem_8_by_exhaustion(kernel, tau, T):
    spectrum = gain.operator_spectrum(kernel, 60)
    C = 2 * (2 * tau + 1)
    n, r = C * T**tau * np.log(T), np.arange(1, T + 1)
    worst = [
        (s * np.log(r * n / 0.1) + C / 0.1 * (1 - r / T) * np.log(T) * (T ** (tau + 1) * spectrum[s:].sum() + 1)).max()
        for s in range(1, min(60, int(n)) + 1)
    ]
    assert gain.operator_bound(spectrum, 0.1, T, tau) == pytest.approx(0.5 / E * min(worst), rel=1e-6)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Matern(0.2, nu=2.5)])
def test_the_operator_spectrum(kernel):
    """Sums to 1, falls, and is the limit of the spectrum of K / n on a fine regular grid (midpoints)."""
    spectrum = gain.operator_spectrum(kernel, 200)
    assert spectrum.sum() == pytest.approx(1, rel=1e-9) and (np.diff(spectrum) <= 0).all()
    midpoints = (grid(800, high=799.0) + 0.5) / 800
    fine = np.linalg.eigvalsh(kernel(midpoints, midpoints) / 800)[::-1]
    np.testing.assert_allclose(spectrum[:8], fine[:8], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", TINY)
def test_the_best_gain_is_that_of_all_multisets_and_below_eq_8(name):
    kernel, points = TINY[name]
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))
    eq_8 = gain.spectral_bound(eigenvalues, 0.1, 4)
    np.testing.assert_allclose(eq_8, information.allocated_gain(eigenvalues, 0.1, 4) / E, rtol=1e-12)
    for T in (1, 2, 4):
        best = best_gain(kernel, points, 0.1, T)
        assert gain.best_gain(kernel, points, 0.1, T) == pytest.approx(best) and best < eq_8[T - 1]
