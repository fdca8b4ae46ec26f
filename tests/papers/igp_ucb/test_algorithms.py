"""Algorithms 1 and 2 against recorded runs of other people's code, and as the paper prints them in dense algebra."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from dense import dense_posterior
from scipy.stats import norm

from kbrepro.confidence import Chowdhury2017
from kbrepro.information import GainByFormula
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import UCB, ThompsonSampling
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
    "GP-TS": lambda t, B, R: B + R * np.sqrt(2 * (np.log(t - 1) ** 2 + 1 + np.log(2 / 0.1))),
}
POLICIES = {
    "GP-UCB": partial(UCB, width=Original(0.1, GAIN), random_opening=True),
    "IGP-UCB": partial(UCB, width=Chowdhury2017(0.1, GAIN), random_opening=True),
    "GP-TS": partial(ThompsonSampling, width=Chowdhury2017(0.1 / 2, GAIN), random_opening=True),
}


@pytest.mark.parametrize("name", ["GP-UCB", "IGP-UCB"])
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


def test_thompson_sampling_pulls_arms_as_often_as_draws_by_cholesky():
    """4000 draws each after five pulls, 20 arms: each share within 4.9 standard errors, error level 2e-5 in all."""
    model = SOURCE(Trial(92, 0)).model
    pulled, observed = [3, 3, 11, 17, 8], [1.0, 0.6, -0.5, 0.2, 0.9]
    rng, n = np.random.default_rng(93), 4000
    policy = POLICIES["GP-TS"](model, 10, rng=rng)
    for arm, observation in zip(pulled, observed, strict=True):
        policy.tell(arm, observation)
    mean, C = dense_posterior(model.kernel, model.points, 0.3, pulled, observed)
    draws = rng.standard_normal((n, 20)) @ np.linalg.cholesky(C + 1e-12 * np.eye(20)).T
    values = mean + WIDTHS["GP-TS"](6, model.norm, model.noise_scale) * draws
    expected = np.bincount(values.argmax(axis=1), minlength=20) / n
    asked = np.bincount([policy.ask() for _ in range(n)], minlength=20) / n
    share = np.maximum((expected + asked) / 2, 1 / n)
    assert (np.abs(asked - expected) < norm.isf(5e-7) * np.sqrt(2 * share * (1 - share) / n)).all()
    assert np.count_nonzero(asked > 0.01) > 3  # it explores


def test_the_first_arm_is_random_and_common_to_all_rules():
    first = {name: [] for name in POLICIES}
    for number in range(20):
        problem = SOURCE(Trial(94, number))
        for name, make in POLICIES.items():
            policy = make(problem.model, 1)
            first[name] += [arm for _, arm, _ in rounds(policy, problem, 1, Trial(94, number).rng("run"))]
    assert first["GP-UCB"] == first["IGP-UCB"] == first["GP-TS"]
    assert len(set(first["GP-TS"])) > 8
