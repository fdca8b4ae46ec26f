"""Bounds on the largest gain: eq. 8, and Lemma 7.8 by every split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbrepro.bandits import information
from kbrepro.bandits.kernels import Linear, SquaredExponential, grid
from kbrepro.bandits.problems import Trial
from kbrepro.papers.gp_ucb import gain

E = 1 - np.exp(-1)


def test_the_bound_of_eq_8_is_the_best_allocation_over_what_greedy_pulls_reach():
    """That the allocation bounds every gain, and greedy ones are near, says test_information."""
    eigenvalues = np.array([3.0, 0.5, 0.1])
    allocated = information.allocated_gain(eigenvalues, 0.2, 7)
    np.testing.assert_allclose(gain.spectral_bound(eigenvalues, 0.2, 7), allocated / E, rtol=1e-12)


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
