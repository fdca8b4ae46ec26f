"""Thompson sampling: deviations have exactly the posterior's covariance, without a factorisation in
a round.
"""

import memory
import numpy as np
import pytest
from dense import dense_posterior

from kbrepro.bandits.confidence import Constant
from kbrepro.bandits.kernels import Empirical, Matern, SquaredExponential, grid
from kbrepro.bandits.policies import ThompsonSampling
from kbrepro.bandits.problems import Model

HISTORY = [(0, 0.4), (3, -1.0), (0, 0.9), (4, 0.2), (0, 0.1)]
KERNELS = {
    "Matérn": (Matern(0.3, nu=2.5), grid(6)),
    "SE, nearly singular": (SquaredExponential(2.0), grid(6)),
    "rank 2": (Empirical(np.outer(np.arange(6), np.arange(6)) + 1.0), np.arange(6.0)[:, None]),
}


def sampler(kernel, points, history=HISTORY, noise_variance=0.1, width=2.0):
    """A policy that was told the pulls of a history."""
    policy = ThompsonSampling(Model(points, kernel, noise_variance), 10, width=Constant(width))
    for arm, observation in history:
        policy.tell(arm, observation)
    return policy


class Standard:
    """In the place of a generator: hands out the given normals."""

    def __init__(self, *arrays):
        self.arrays = list(arrays)

    def standard_normal(self, n):
        return self.arrays.pop(0)


def deviation(policy, rng):
    policy.rng = rng
    return policy.deviation()


def exact_covariance(policy):
    """The covariance of `deviation`, column by column of the linear map from its standard
    normals.
    """
    A = policy.posterior.n_arms
    units = np.eye(2 * A).reshape(2 * A, 2, A)  # first those of the prior, then those of the noise
    columns = np.array([deviation(policy, Standard(*unit)) for unit in units])
    return columns.T @ columns


@pytest.mark.parametrize("name", KERNELS)
def test_the_deviation_has_exactly_the_posterior_covariance(name):
    kernel, arms = KERNELS[name]
    policy = sampler(kernel, arms)
    _, C = dense_posterior(kernel, arms, 0.1, *zip(*HISTORY, strict=True))
    np.testing.assert_allclose(exact_covariance(policy), C, atol=2e-11 * kernel.diag(arms).max())


def test_where_the_covariance_does_not_fit_smooth_kernels_are_asked_for_columns(monkeypatch):
    """Of 100 scattered arms, whose matrix takes 480,000 bytes on the way; rough ones are not."""
    arms, sizes, call = np.random.default_rng(3).random((100, 2)), [], SquaredExponential.__call__
    kernel = SquaredExponential(2.0)
    _, C = dense_posterior(kernel, arms, 0.1, *zip(*HISTORY, strict=True))

    def counted(kernel, X, Z):
        sizes.append(len(X) * len(Z))
        return call(kernel, X, Z)

    monkeypatch.setattr("kbrepro.bandits.policies.thompson.FEW", 10)
    monkeypatch.setattr("kbrepro.bandits.problems.MOST_COLUMNS", 50)
    memory.leave(monkeypatch, 3e5)
    monkeypatch.setattr(SquaredExponential, "__call__", counted)
    policy = sampler(kernel, arms)
    np.testing.assert_allclose(exact_covariance(policy), C, atol=2e-11)
    assert max(sizes) == 100
    told = (
        r"^points: a factor of the covariance of 100 .* a kernel so smooth that 50 columns suffice$"
    )
    with pytest.raises(MemoryError, match=told):
        sampler(Matern(0.2, nu=0.5), arms)


def test_the_width_multiplies_the_deviation_not_the_mean():
    """With width 0 the arm of largest mean; with a huge one that of the largest deviation."""
    kernel, arms = KERNELS["Matérn"]
    mean, _ = dense_posterior(kernel, arms, 0.1, *zip(*HISTORY, strict=True))
    still, wide = sampler(kernel, arms, width=0.0), sampler(kernel, arms, width=1e9)
    assert {still.ask() for _ in range(20)} == {int(mean.argmax())}
    wide.ask()  # draws the order of ties
    for seed in range(50):
        wide.rng = np.random.default_rng([46, seed])
        assert wide.ask() == deviation(wide, np.random.default_rng([46, seed])).argmax()
