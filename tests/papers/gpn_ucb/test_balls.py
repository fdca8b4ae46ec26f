"""Sets of balls by dense search."""

import numpy as np

from kbrepro.kernels import grid
from kbrepro.papers.gpn_ucb.problems import RandomNetwork, mixed_outputs
from kbrepro.papers.gpn_ucb.sets import BallSets
from kbrepro.papers.gpn_ucb.structures import MultiOutput
from kbrepro.problems import Trial


def test_ball_sets_are_the_dense_search(pulled):
    network = RandomNetwork(MultiOutput(mixed_outputs), grid(30, 1, -2, 2)[::3], (2, 2, 1))
    problem = network(Trial(57, 17))
    sets = pulled(BallSets(problem.model, n_grid=5, half_width=1.2, mode="outward"), problem, 4)
    first, second = sets.regions()
    grid_points, L, cell = sets.posteriors[1].points, problem.model.lipschitz, sets.half_diagonals[0]
    mean, sd = sets.posteriors[1].mean, sets.posteriors[1].sd

    def belongs(z, w):
        near = np.linalg.norm(grid_points - z, axis=1) <= 1 + 1e-12
        distance = np.linalg.norm(mean[near] - w, axis=1)
        return (distance <= sd[near] + L * (np.linalg.norm(grid_points[near] - z, axis=1) + cell) + cell + 1e-12).all()

    for arm in range(problem.model.n_arms):
        ball = np.linalg.norm(grid_points - sets.posteriors[0].mean[arm], axis=1)
        np.testing.assert_array_equal(first[arm], ball <= sets.posteriors[0].sd[arm] + cell)
        for j, w in enumerate(grid_points):
            assert second[arm, j] == any(belongs(z, w) for z in grid_points[first[arm]])
