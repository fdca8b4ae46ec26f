"""Problems from readings of sensors."""

import numpy as np
import pytest

from kbrepro.papers.gp_ucb import measures
from kbrepro.problems import Trial


def test_sensor_problems_take_mean_and_covariance_from_the_training_rows_alone():
    rng = np.random.default_rng(1)
    train, test = rng.normal(20, 2, (50, 3)), rng.normal(25, 1, (4, 3))
    source, prior_sd = measures.sensor_problems(train, test, 0.5)
    covariance = (train - train.mean(axis=0)).T @ (train - train.mean(axis=0)) / 49
    problem = source(Trial(0, 2))
    np.testing.assert_allclose(problem.model.kernel.covariance, covariance)
    np.testing.assert_allclose(problem.expected_reward, test[2] - train.mean(axis=0))
    assert (
        prior_sd == pytest.approx(np.sqrt(np.trace(covariance) / 3))
        and problem.model.noise_variance == 0.5
    )
