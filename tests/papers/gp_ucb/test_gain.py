"""Bounds on the largest gain by exhaustion: eqs. 5 and 8 against every set of pulls, Lemma 7.8 by every split."""

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbrepro import information
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb import gain

E = 1 - np.exp(-1)
KERNELS = (SquaredExponential(0.3), Matern(0.3, nu=2.5), Linear(), Independent())


def best_gain(kernel, points, noise_variance, T):
    """gamma_T by trying every multiset of T pulls."""
    K = kernel(points, points)
    return max(
        0.5 * np.linalg.slogdet(np.eye(T) + K[np.ix_(pulls, pulls)] / noise_variance)[1]
        for pulls in combinations_with_replacement(range(len(points)), T)
    )


@given(st.sampled_from(KERNELS), st.integers(0, 2**32 - 1), st.floats(0.02, 2), st.integers(1, 4))
def test_the_best_gain_lies_between_the_greedy_one_and_its_bounds(kernel, seed, noise_variance, T):
    """Eq. 5: greedy pulls gain at least 1 - 1/e of the best; eq. 8, by eigenvalues, bounds the best."""
    points = np.random.default_rng(seed).random((5, 2))
    best = best_gain(kernel, points, noise_variance, T)
    greedy = information.greedy_gain(kernel, points, noise_variance, T)[0][-1]
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))
    eq_8 = gain.spectral_bound(eigenvalues, noise_variance, T)
    assert E * best * (1 - 1e-9) <= greedy <= best * (1 + 1e-9)
    assert best <= eq_8[-1] * (1 + 1e-9)
    np.testing.assert_allclose(eq_8, information.allocated_gain(eigenvalues, noise_variance, T) / E, rtol=1e-12)


@given(st.integers(1, 60), st.floats(0.02, 3))
def test_lemma_7_8_by_exhaustion(T, noise_variance):
    """Every split and every number r of pulls; with its missing 1 it is no smaller than eq. 8, which it relaxes."""
    kernel, points = SquaredExponential(0.2), grid(30)
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))[::-1].clip(0)
    r = np.arange(1, T + 1)
    worst, mended = (
        [
            (s * np.log(one + r * 30 / noise_variance) + (T - r) * eigenvalues[s:].sum() / noise_variance).max()
            for s in range(1, min(T, 30) + 1)
        ]
        for one in (0, 1)
    )
    assert gain.split_bound(eigenvalues, noise_variance, T) == pytest.approx(0.5 / E * min(worst), rel=1e-9)
    assert 0.5 / E * min(mended) >= gain.spectral_bound(eigenvalues, noise_variance, T)[-1] * (1 - 1e-12)


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
    T = np.geomspace(1e2, 1e8, 30)
    np.testing.assert_allclose(gain.rate_since("matern", T, 1), T ** (1 / 6) * np.log(T) ** (5 / 6))
    for d, larger in pairwise(range(1, 6)):
        since, before = gain.rate_since("matern", T, d), information.gain_rate("matern", T, d)
        assert (since < before).all() and (since < gain.rate_since("matern", T, larger)).all()
    for kernel in ("linear", "squared exponential"):
        np.testing.assert_array_equal(gain.rate_since(kernel, T, 2), information.gain_rate(kernel, T, 2))
