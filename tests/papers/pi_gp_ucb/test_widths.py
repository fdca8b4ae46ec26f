"""The width of GP-UCB against its formula, with the gain by a dense determinant."""

import numpy as np
import pytest

from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Model
from kbrepro.papers.pi_gp_ucb.widths import Srinivas2010Norm


def test_the_width_of_the_third_theorem_by_hand():
    kernel, points = Matern(0.2, nu=1.5), grid(7, 1)
    policy = UCB(Model(points, kernel, 0.5, norm=3.0), width=Srinivas2010Norm(0.1))
    pulled = [2, 5, 2, 0]
    for arm in pulled:
        policy.tell(arm, 1.0)
    X = points[pulled]
    gain = np.log(np.linalg.det(np.eye(4) + kernel(X, X) / 0.5)) / 2
    expected = np.sqrt(2 * 9 + 300 * gain * np.log(5 / 0.1) ** 3)
    assert policy.index() == pytest.approx(policy.posterior.mean + expected * policy.posterior.sd)
