"""Bounds on the largest gain by exhaustion: eqs. 5 and 8 against every set of pulls, Lemma 7.8 by
every split.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbrepro.bandits import information
from kbrepro.bandits.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.problems import Trial
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
    """Eq. 5: greedy pulls gain at least 1 - 1/e of the best; eq. 8, by eigenvalues, bounds the
    best.
    """
    points = np.random.default_rng(seed).random((5, 2))
    best = best_gain(kernel, points, noise_variance, T)
    greedy = information.greedy_gain(kernel, points, noise_variance, T)[0][-1]
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))
    eq_8 = gain.spectral_bound(eigenvalues, noise_variance, T)
    assert E * best * (1 - 1e-9) <= greedy <= best * (1 + 1e-9)
    assert best <= eq_8[-1] * (1 + 1e-9)
    np.testing.assert_allclose(
        eq_8, information.allocated_gain(eigenvalues, noise_variance, T) / E, rtol=1e-12
    )


@given(st.integers(1, 60), st.floats(0.02, 3))
def test_lemma_7_8_by_exhaustion(T, noise_variance):
    """Every split and every number r of pulls; with its missing 1 it is no smaller than eq. 8,
    which it relaxes.
    """
    kernel, points = SquaredExponential(0.2), grid(30)
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))[::-1].clip(0)
    r = np.arange(1, T + 1)
    worst, mended = (
        [
            (
                s * np.log(one + r * 30 / noise_variance)
                + (T - r) * eigenvalues[s:].sum() / noise_variance
            ).max()
            for s in range(1, min(T, 30) + 1)
        ]
        for one in (0, 1)
    )
    assert gain.split_bound(eigenvalues, noise_variance, T) == pytest.approx(
        0.5 / E * min(worst), rel=1e-9
    )
    assert 0.5 / E * min(mended) >= gain.spectral_bound(eigenvalues, noise_variance, T)[-1] * (
        1 - 1e-12
    )


def test_points_the_gain_of_a_case_and_exponents():
    """Allowed by sqrt(T (log T)^3) from 100 to 1000: 1/2 + 3/2 log10(3/2)."""
    np.testing.assert_allclose(np.linalg.norm(gain.unit_vectors(6, 3, seed=1), axis=1), 1)
    sizes = [len(gain.grid_of(n, d)) for n, d in ((1000, 1), (1000, 2), (1000, 3), (1025, 2))]
    assert sizes == [1000, 1024, 1000, 1089]
    cases = [(Linear(), grid(4), 0.1, 3), (SquaredExponential(0.3), grid(9), 0.2, 6)]
    np.testing.assert_array_equal(
        gain.gain_of_case(cases, Trial(0, 1)), information.greedy_gain(*cases[1])[0]
    )
    exponent = gain.allowed_exponent("squared exponential", 1000, 2)
    assert exponent == pytest.approx(0.5 + 1.5 * np.log10(1.5))
