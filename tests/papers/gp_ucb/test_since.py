"""Rules since the paper against dense algebra and brute force, on histories that the policies were told."""

import math

import numpy as np
import pytest
from dense import dense_posterior
from scipy.integrate import quad
from scipy.stats import kstest, norm

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.policies import PIMS
from kbrepro.problems import Model

TOLD = Model(grid(8), Matern(0.3, nu=2.5), 0.1)
HISTORY = [(0, 0.4), (3, -1.0), (0, 0.9), (6, 0.2)]
MEAN, COVARIANCE = dense_posterior(TOLD.kernel, TOLD.points, 0.1, *zip(*HISTORY, strict=True))
SD = np.sqrt(COVARIANCE.diagonal())


def told_history(rule, rng=0):
    policy = rule(TOLD, 10, rng=rng)
    for arm, observation in HISTORY:
        policy.tell(arm, observation)
    return policy


def test_irgp_ucb_adds_the_root_of_zeta_to_the_dense_posterior():
    index = told_history(IRGPUCB, 7).index()
    zeta = 2 * math.log(8 / 2) + np.random.default_rng(7).exponential(2.0)
    np.testing.assert_allclose(index, MEAN + math.sqrt(zeta) * SD, rtol=1e-9)


def test_zeta_is_the_bound_at_a_uniform_level_and_does_not_grow():
    """2 log(A / (2 U)), U uniform; a new one in every round, of the same law after a hundred rounds."""
    policy, zetas = IRGPUCB(TOLD, 200, rng=8), []
    for t in range(200):
        mean, sd = policy.posterior.mean, policy.posterior.sd
        zetas.append(((policy.index()[1] - mean[1]) / sd[1]) ** 2)
        policy.tell(t % 8, 0.1)
    for half in (zetas[:100], zetas[100:]):
        assert kstest(8 / 2 * np.exp(-np.array(half) / 2), "uniform").pvalue > 0.01
    assert np.unique(zetas).size == 200


def test_irgp_ucb_needs_two_arms():
    with pytest.raises(ValueError, match="n_arms = 1 is not allowed"):
        IRGPUCB(Model(grid(1), SquaredExponential(1.0), 0.1), 5)


def the_draw(rule, seed):
    """The draw that the policy makes from this seed."""
    policy = told_history(rule, seed)
    return policy.posterior.mean + policy.deviation()


@pytest.mark.parametrize("seed", range(5))
def test_pims_pulls_the_arm_most_likely_to_exceed_the_maximum_of_its_draw(seed):
    policy = told_history(PIMS, seed)
    probability = norm.sf(the_draw(PIMS, seed).max(), MEAN, SD)
    np.testing.assert_allclose(norm.cdf(policy.index()), probability, rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_gp_eims_ranks_by_expected_improvement_over_the_maximum_of_its_draw(seed):
    policy = told_history(GPEIMS, seed)
    g = the_draw(GPEIMS, seed).max()
    expected = [
        quad(lambda f, m=m, s=s: (f - g) * norm.pdf(f, m, s), g, max(g, m) + 12 * s, epsabs=0, epsrel=1e-10)[0]
        for m, s in zip(MEAN, SD, strict=True)
    ]
    np.testing.assert_allclose(np.exp(policy.index()), expected, rtol=1e-6)


@pytest.mark.parametrize("rule", [PIMS, GPEIMS])
def test_targets_have_the_law_of_the_maximum_of_dense_draws(rule):
    rng = np.random.default_rng(10)
    policy = told_history(rule, rng)
    ours = [policy.target() for _ in range(400)]
    assert kstest(ours, rng.multivariate_normal(MEAN, COVARIANCE, 400).max(axis=1)).pvalue > 0.01
