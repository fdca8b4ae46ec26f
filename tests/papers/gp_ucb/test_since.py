"""Rules since the paper against dense algebra and brute force, on a history."""

import math

import numpy as np
import pytest
from dense import dense_posterior
from scipy.integrate import quad
from scipy.stats import kstest, norm

from kbrepro.bandits.kernels import Matern, SquaredExponential, grid
from kbrepro.bandits.policies import PIMS
from kbrepro.bandits.problems import Model
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB

MODEL = Model(grid(8), Matern(0.3, nu=2.5), 0.1)
HISTORY = [(0, 0.4), (3, -1.0), (0, 0.9), (6, 0.2)]
MEAN, COVARIANCE = dense_posterior(MODEL.kernel, MODEL.points, 0.1, *zip(*HISTORY, strict=True))
SD = np.sqrt(COVARIANCE.diagonal())


def with_history(rule, rng):
    policy = rule(MODEL, 10, rng=rng)
    for arm, observation in HISTORY:
        policy.tell(arm, observation)
    return policy


def test_irgp_ucb_adds_the_root_of_zeta_to_the_dense_posterior():
    """zeta = 2 log(A / (2 U)), U uniform: a new one in every round, of the same law after a hundred
    rounds.
    """
    policy, zetas = with_history(IRGPUCB, 7), []
    zeta = 2 * math.log(8 / 2) + np.random.default_rng(7).exponential(2.0)
    np.testing.assert_allclose(policy.index(), MEAN + math.sqrt(zeta) * SD, rtol=1e-9)
    for t in range(200):
        mean, sd = policy.posterior.mean, policy.posterior.sd
        zetas.append(((policy.index()[1] - mean[1]) / sd[1]) ** 2)
        policy.tell(t % 8, 0.1)
    for half in (zetas[:100], zetas[100:]):
        assert kstest(8 / 2 * np.exp(-np.array(half) / 2), "uniform").pvalue > 0.01
    assert np.unique(zetas).size == 200
    with pytest.raises(ValueError, match="n_arms = 1 is not allowed"):
        IRGPUCB(Model(grid(1), SquaredExponential(1.0), 0.1), 5)


@pytest.mark.parametrize("seed", range(3))
def test_pims_and_gp_eims_look_at_the_maximum_of_their_draw(seed):
    """PIMS at the probability to exceed it, GP-EIMS at the logarithm of the expected excess."""
    pims, ei_ms, same = (with_history(rule, seed) for rule in (PIMS, GPEIMS, GPEIMS))
    g = (same.posterior.mean + same.deviation()).max()
    np.testing.assert_allclose(norm.cdf(pims.index()), norm.sf(g, MEAN, SD), rtol=1e-8)
    expected = [
        quad(
            lambda f, m=m, s=s: (f - g) * norm.pdf(f, m, s),
            g,
            max(g, m) + 12 * s,
            epsabs=0,
            epsrel=1e-10,
        )[0]
        for m, s in zip(MEAN, SD, strict=True)
    ]
    np.testing.assert_allclose(np.exp(ei_ms.index()), expected, rtol=1e-6)
