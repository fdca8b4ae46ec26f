"""Algorithm 1 against recorded runs of other people's code; notebook 02 has both algorithms in
dense algebra.
"""

import pytest
from recordings import recorded

from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.kernels import Matern, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Model

RECORDED = recorded("igp_ucb")["runs"]


@pytest.mark.parametrize("run", RECORDED, ids=lambda run: f"d = {run['d']}")
def test_igp_ucb_is_that_of_janz(run):
    """In every round the arm that his code pulled has our largest index, and at the end the gain is
    the same.
    """
    kernel, points = Matern(run["lengthscale"], nu=run["nu"]), grid(run["side"], run["d"])
    model = Model(points, kernel, run["noise_variance"], run["noise_scale"], run["norm"])
    policy = UCB(model, len(run["arms"]), width=Chowdhury2017(run["delta"]))
    for t, (arm, reward) in enumerate(zip(run["arms"], run["rewards"], strict=True)):
        index = policy.index()
        assert t == 0 or index[arm] >= index.max() - 1e-6  # his first arm is random
        policy.tell(arm, reward)
    assert policy.posterior.gain == pytest.approx(run["gain"], rel=1e-10)
