"""Deterministic IDS against a dense solve, and what its ratio promises; a tuned scale."""

import numpy as np
import pytest

from kbrepro.confidence import Constant, Flynn2024
from kbrepro.kernels import Empirical, Matern, grid
from kbrepro.papers.side_by_side.directed import DirectedSampling
from kbrepro.papers.side_by_side.widths import Scaled
from kbrepro.policies import UCB
from kbrepro.problems import Gaussian, Model, Problem, RKHSFunction, Trial
from kbrepro.simulation import run


def source(noise_variance=0.01):
    return RKHSFunction(Matern(0.2, nu=2.5), grid(20), noise_variance, norm=1.0, n_centres=5)


def by_hand(model, mean, covariance, width):
    """Return gap^2 over the gain of one pull of each arm, the gain as half the log of a ratio of determinants."""
    sd, one = np.sqrt(np.diag(covariance)), np.eye(len(mean))
    gap = max(mean + width * sd) - (mean - width * sd)
    gain = [0.5 * np.linalg.slogdet(one + covariance @ np.outer(e, e) / model.noise_variance)[1] for e in one]
    return gap**2 / np.array(gain)


@pytest.mark.parametrize("noise_variance", [1e-4, 1.0])
def test_pulls_the_arm_of_least_ratio(noise_variance):
    problem = source(noise_variance)(Trial(2, 0))
    model, rng = problem.model, np.random.default_rng(3)
    policy, K, arms, seen = DirectedSampling(model, 40, width=Flynn2024(0.1)), None, [], []
    K = model.kernel(model.points, model.points)
    for _ in range(40):
        width = policy.width(policy)
        G = np.linalg.solve(K[np.ix_(arms, arms)] + noise_variance * np.eye(len(arms)), K[arms]) if arms else None
        mean = np.array(seen) @ G if arms else np.zeros(20)
        ratio = by_hand(model, mean, K - K[arms].T @ G if arms else K, width)
        arm = policy.ask()
        assert ratio[arm] <= ratio.min() * (1 + 1e-6)
        arms.append(arm)
        seen.append(problem.pull(arm, rng))
        policy.tell(arm, seen[-1])


def test_an_arm_that_tells_nothing_is_pulled_only_where_it_is_the_best_for_certain():
    model = Model(np.arange(3.0)[:, None], Empirical(np.diag([0.0, 1.0, 1.0])), 0.1, norm=1.0)
    assert DirectedSampling(model, 5, width=Constant(1.0)).ask() in (1, 2)
    assert DirectedSampling(model, 5, width=Constant(0.0)).ask() in (0, 1, 2)  # no band: none loses anything


def test_scale_multiplies_a_width():
    model = Model(grid(5), Matern(0.2, nu=2.5), 0.1, norm=1.0)
    policy = UCB(model, 9, width=Scaled(Flynn2024(0.1), 0.25))
    assert policy.width(policy) == pytest.approx(Flynn2024(0.1)(policy) / 4)
    problem = Problem(model, np.linspace(0, 1, 5), Gaussian(0.1))
    plain = run(UCB(model, 30, width=Flynn2024(0.1)), problem, 30, np.random.default_rng(1), record_band=True)
    same = run(
        UCB(model, 30, width=Scaled(Flynn2024(0.1), 1.0)), problem, 30, np.random.default_rng(1), record_band=True
    )
    np.testing.assert_array_equal(plain.arms, same.arms)
    with pytest.raises(ValueError, match="scale = 0"):
        Scaled(Flynn2024(0.1), 0)
