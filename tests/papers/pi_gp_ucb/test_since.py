"""IGP-UCB by epochs that double, against posteriors made anew from all data in every round."""

import math

import numpy as np
import pytest
from dense import dense_posterior

from kbrepro.kernels import Matern
from kbrepro.papers.pi_gp_ucb.problems import Bumps
from kbrepro.papers.pi_gp_ucb.since import DoublingUCB, growing_variance
from kbrepro.policies.base import best_arm
from kbrepro.problems import Trial
from kbrepro.simulation import rounds


@pytest.mark.parametrize("d", [1, 2])
def test_every_pull_is_that_of_dense_solves_with_the_lambda_of_the_epoch(d):
    problem = Bumps(Matern(0.2, nu=1.5), d, 6, 1.0, 1.0)(Trial(1, 0))
    model, pulled, seen = problem.model, [], []
    policy = DoublingUCB(model, 40, delta=0.1, nu=1.5)
    rank = np.random.default_rng(7).spawn(2)[1].permutation(model.n_arms)
    for t, arm, observation in rounds(policy, problem, 40, np.random.default_rng(7)):
        epoch = int(math.log2(t))
        lam = 2 ** ((epoch + 1) * d / (3 + 2 * d))
        X = model.points[pulled].reshape(-1, d)
        mean, C = dense_posterior(model.kernel, model.points, lam, pulled, seen)
        gain = 0.5 * np.linalg.slogdet(np.eye(len(pulled)) + model.kernel(X, X) / lam)[1]
        log = math.log((math.pi * (epoch + 1)) ** 2 / 0.6)
        width = math.sqrt(model.norm**2 + 2 * model.noise_scale**2 / lam * (gain + log))
        assert policy.width(policy) == pytest.approx(width)
        assert arm == best_arm(mean + width * np.sqrt(C.diagonal()), rank), t
        pulled, seen = [*pulled, arm], [*seen, observation]


def test_the_shares_of_the_epochs_add_up_to_delta_and_lambda_is_that_of_the_theorem():
    assert sum(6 / (math.pi * (k + 1)) ** 2 for k in range(10_000)) == pytest.approx(1, abs=1e-4)
    assert [round(growing_variance(10_000, d, 1.5), 1) for d in (1, 2, 3)] == [6.3, 13.9, 21.5]
    with pytest.raises(ValueError, match="horizon = 0 is not allowed"):
        growing_variance(0, 1, 1.5)
