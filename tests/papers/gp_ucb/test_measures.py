"""What is measured in runs, by hand, and problems from readings of sensors."""

from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.confidence import Srinivas2010
from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import GPDraw, Trial
from kbrepro.papers.gp_ucb import gain, measures
from kbrepro.trials.simulation import run


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


def test_what_is_watched_is_the_run_that_is_played():
    trial = Trial(3, 0)
    problem = GPDraw(SquaredExponential(0.2), grid(20), 0.1)(trial)
    rule = partial(UCB, problem.model, 5, width=Srinivas2010(0.1))
    frames = measures.watched(rule(rng=trial.rng("policy")), problem, 5, trial.rng("noise"))
    arms = run(rule(rng=trial.rng("policy")), problem, 5, trial.rng("noise")).arms
    first = frames[frames["round"] == 1]
    assert (first["mean"] == 0).all() and np.ptp(first["half"]) == 0
    pulled = frames.groupby("round")["pulled"].first()
    np.testing.assert_array_equal(pulled, problem.model.points[arms, 0])
    # what is pulled has the highest edge of the band
    for _, now in frames.groupby("round"):
        edge = now["mean"] + now["half"]
        assert edge[now["x"] == now["pulled"].iloc[0]].item() == pytest.approx(edge.max())


def test_the_exponents_of_fig_1_for_matern():
    """T^((nu + d (d + 1)) / (2 nu + d (d + 1))) in the paper, since with d for d (d + 1)."""
    for d, nu in ((1, 2.5), (3, 1.5), (8, 2.5)):
        found = gain.matern_regret_exponents(d, nu)
        assert found["the paper"] == pytest.approx((nu + d * (d + 1)) / (2 * nu + d * (d + 1)))
        assert found["since"] == pytest.approx(1 - nu / (2 * nu + d))
