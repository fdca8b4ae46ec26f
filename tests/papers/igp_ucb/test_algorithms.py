"""Algorithms 1 and 2 against recorded runs of other people's code, and as the paper prints them in dense algebra."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from dense import dense_posterior

from kbrepro.confidence import Chowdhury2017
from kbrepro.information import GainByFormula
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import UCB
from kbrepro.problems import Model, Trial
from kbrepro.simulation import rounds

RECORDED = json.loads((Path(__file__).parents[2] / "recorded" / "igp_ucb.json").read_text(encoding="utf-8"))["runs"]


@pytest.mark.parametrize("run", RECORDED, ids=lambda run: f"d = {run['d']}")
def test_igp_ucb_is_that_of_janz(run):
    """In every round the arm that his code pulled has our largest index, and at the end the gain is the same."""
    kernel, points = Matern(run["lengthscale"], nu=run["nu"]), grid(run["side"], run["d"])
    model = Model(points, kernel, run["noise_variance"], run["noise_scale"], run["norm"])
    policy = UCB(model, len(run["arms"]), width=Chowdhury2017(run["delta"]))
    for t, (arm, reward) in enumerate(zip(run["arms"], run["rewards"], strict=True)):
        index = policy.index()
        assert t == 0 or index[arm] >= index.max() - 1e-6  # his first arm is random
        policy.tell(arm, reward)
    assert policy.posterior.gain == pytest.approx(run["gain"], rel=1e-10)


SOURCE = OtherModel(PosteriorMean(SquaredExponential(0.2), n_arms=20), noise_variance=0.3)  # unlike R^2
GAIN = GainByFormula("squared exponential")
WIDTHS = {  # of round t > 1, at delta = 0.1
    "GP-UCB": lambda t, B, R: np.sqrt(2 * B**2 + 300 * np.log(t - 1) ** 2 * np.log(t / 0.1) ** 3),
    "IGP-UCB": lambda t, B, R: B + R * np.sqrt(2 * (np.log(t - 1) ** 2 + 1 + np.log(1 / 0.1))),
}
POLICIES = {
    "GP-UCB": partial(UCB, width=Original(0.1, GAIN), random_opening=True),
    "IGP-UCB": partial(UCB, width=Chowdhury2017(0.1, GAIN), random_opening=True),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_upper_bounds_pull_the_arms_of_dense_algebra(name):
    for number in range(3):
        problem = SOURCE(Trial(91, number))
        model, pulled, observed = problem.model, [], []
        for t, arm, observation in rounds(POLICIES[name](model, 40), problem, 40, Trial(91, number).rng("run")):
            if t > 1:
                mean, C = dense_posterior(model.kernel, model.points, 0.3, pulled, observed)
                bound = mean + WIDTHS[name](t, model.norm, model.noise_scale) * np.sqrt(C.diagonal())
                assert bound[arm] >= bound.max() - 1e-8
            pulled.append(arm)
            observed.append(observation)
