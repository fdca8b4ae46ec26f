"""Experiments of the notebook on GP-UCB: days in turn, trials that are stuck, growth, norms of draws."""

import numpy as np
import pytest
from scipy.stats import chi2
from traces import curve_of, trace_of

from kbrepro.information import gain_rate, greedy_gain
from kbrepro.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.papers.gp_ucb import experiments
from kbrepro.problems import Trial


def test_every_third_is_tested_once_and_never_learned_from():
    readings = np.arange(20.0).reshape(10, 2)
    turns = experiments.rotations(readings)
    assert [test[:, 0].tolist() for _, test in turns] == [[0, 2, 4], [6, 8, 10], [12, 14, 16]]
    for train, test in turns:
        assert sorted([*train[:, 0], *test[:, 0]]) == list(range(0, 18, 2))
    with pytest.raises(ValueError, match="rows_per_part = 1"):
        experiments.rotations(readings[:5])


def test_sensor_problems_take_mean_and_covariance_from_the_training_rows_alone():
    rng = np.random.default_rng(1)
    train, test = rng.normal(20, 2, (50, 3)), rng.normal(25, 1, (4, 3))
    source, prior_sd = experiments.sensor_problems(train, test, 0.5)
    covariance = (train - train.mean(axis=0)).T @ (train - train.mean(axis=0)) / 49
    problem = source(Trial(0, 2))
    np.testing.assert_allclose(problem.model.kernel.covariance, covariance)
    np.testing.assert_allclose(problem.expected_reward, test[2] - train.mean(axis=0))
    assert prior_sd == pytest.approx(np.sqrt(np.trace(covariance) / 3)) and problem.model.noise_variance == 0.5


def test_trials_that_are_stuck_and_trials_that_settled():
    """Peaks are arms 1 (lower) and 4 (best): stuck is who stays on a slope of the lower one."""
    f = np.array([0.0, 2, 1, 3, 5, 4])
    assert experiments.summits(f).tolist() == [1, 1, 4, 4, 4, 4]
    on_lower, near_best = np.full((3, 20), 1), np.full((3, 20), 3)
    on_lower[2, -1] = 0  # two arms in the last tenth: it has not settled
    runs = {"GP-UCB/5": near_best, "mean only": on_lower}
    traces = {rule: curve_of(arms, np.zeros((3, 6))) for rule, arms in runs.items()}
    assert experiments.settled_at(traces["mean only"]).tolist() == [1, 1, -1]
    drawn = []
    stuck = experiments.stuck_trials(traces, lambda rng: drawn.append(rng.random()) or f, 1)
    assert stuck["mean only"].tolist() == [1, 1, 0] and not stuck["GP-UCB/5"].any()
    assert drawn == [Trial(1, number).rng("function").random() for number in range(3)]


def test_exponents_of_growth():
    """sqrt(T): 1/2; allowed, sqrt(T (log T)^3) from 100 to 1000: 1/2 + 3/2 log10(3/2); sqrt(T T^(1/2)): 3/4."""
    curve = np.sqrt(np.arange(1, 1001.0))
    trace = trace_of([scale * np.diff(curve, prepend=0) for scale in (1, 2, 3)])
    assert experiments.growth_exponent(trace, 0) == pytest.approx((0.5, 0.5, 0.5), abs=1e-3)
    with pytest.raises(ValueError, match="horizon = 9"):
        experiments.growth_exponent(trace_of(np.ones((3, 9))), 0)
    exponent = experiments.allowed_exponent(gain_rate, "squared exponential", 1000, 2)
    assert exponent == pytest.approx(0.5 + 1.5 * np.log10(1.5))
    assert experiments.allowed_exponent(lambda kernel, T, d: T**0.5, "any", 1000, 1) == pytest.approx(0.75)


def test_points_and_the_gain_of_a_case():
    np.testing.assert_allclose(np.linalg.norm(experiments.unit_vectors(6, 3, seed=1), axis=1), 1)
    sizes = [len(experiments.grid_of(n, d)) for n, d in ((1000, 1), (1000, 2), (1000, 3), (1025, 2))]
    assert sizes == [1000, 1024, 1000, 1089]
    cases = [(Linear(), grid(4), 0.1, 3), (SquaredExponential(0.3), grid(9), 0.2, 6)]
    np.testing.assert_array_equal(experiments.gain_of_case(cases, Trial(0, 1)), greedy_gain(*cases[1])[0])


def test_squared_norms_of_interpolants_are_chi_square():
    """f^T K^-1 f of a draw f at n points is chi-square with n degrees of freedom; means within four standard errors."""
    sizes = [20, 60]
    norms = [experiments.interpolant_norms(Matern(0.2, nu=2.5), sizes, Trial(4, n)) * sizes for n in range(200)]
    means = np.mean(norms, axis=0)
    for n, mean in zip(sizes, means, strict=True):
        assert abs(mean - n) < 4 * chi2.std(n) / np.sqrt(200)
    assert (np.diff(norms) > 0).all()  # more points, a larger norm, for one and the same draw
