"""The self-normalised inequality against dense algebra, and Lemma 4 as a property."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.bandits.policies.base import Policy
from kbrepro.bandits.problems import Trial
from kbrepro.papers.igp_ucb.noise import noise_runs

KERNELS = {"SE": SquaredExponential(0.2), "Matérn": Matern(0.2, nu=2.5), "linear": Linear()}


class Given(Policy):
    """Pulls given arms."""

    pulls: tuple[int, ...] = ()

    def ask(self):
        return self.pulls[self.t - 1]


PULLS = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(PULLS, st.sampled_from([*KERNELS]), st.floats(0.1, 3))
@example(pulls=[0, 0], name="linear", R=1.0)
@example(pulls=[0] * 6, name="linear", R=1.0)
@settings(max_examples=30, deadline=None)
def test_both_numbers_are_the_theorems(pulls, name, R):
    """Theorem 1's left-hand side as printed, round by round; Lemma 4 by the Cholesky factor, and it
    holds.
    """
    kernel, points, eta = KERNELS[name], grid(10), 2 / len(pulls)
    Given.pulls, options = (
        pulls,
        {"noise_scale": R, "policies": {"given": Given}, "horizon": len(pulls)},
    )
    result = noise_runs(kernel, points, Trial(82, 0), **options)["given"]
    noise = R * Trial(82, 0).rng("noise").standard_normal(len(pulls))  # as a run draws it
    K, excess = kernel(points[pulls], points[pulls]), []
    for t in range(1, len(pulls) + 1):
        e, eye = noise[:t], np.eye(t)
        matrix = np.linalg.inv(np.linalg.inv(K[:t, :t] + eta * eye) + eye)
        excess.append(
            e @ matrix @ e / (2 * R**2) - 0.5 * np.linalg.slogdet((1 + eta) * eye + K[:t, :t])[1]
        )
    assert result.log_excess == pytest.approx(max(excess), rel=1e-6, abs=1e-6)
    # variance + lambda of every round
    left = np.linalg.cholesky(K + (1 + eta) * np.eye(len(pulls))).diagonal() ** 2
    variance = left - 1 - eta
    # at the point 0 it is rounding, on either side; elsewhere above 1e-4
    variance[np.abs(variance) < 1e-12] = 0
    gain = 0.5 * np.log1p(variance / (1 + eta)).sum()
    lemma_4 = np.sqrt(4 * (len(pulls) + 2) * gain)
    total = np.sqrt(variance).sum()
    assert result.sd_ratio == pytest.approx(total / lemma_4 if lemma_4 else 0.0, rel=1e-6, abs=1e-6)
    assert result.sd_ratio <= 1 + 1e-12
