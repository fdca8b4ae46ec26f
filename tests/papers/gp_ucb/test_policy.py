"""The first arm of rules whose index ties."""

from functools import partial

import numpy as np
import pytest

from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import MeanOnly, ProbabilityOfImprovement
from kbrepro.bandits.problems import Model, Rows, Trial
from kbrepro.papers.gp_ucb.policy import MeanOnlyVaried, MPIVaried

VARIANCES = np.array([1.0, 3.0, 9.0, 2.0])
SENSORS = Rows(np.diag(VARIANCES) + 0.5, np.zeros((1, 4)), 0.5)(Trial(0, 0)).model
EQUAL = Model(grid(4), SquaredExponential(0.2), 0.5)
RULES = [
    (MeanOnlyVaried, MeanOnly),
    (partial(MPIVaried, margin=0.0), partial(ProbabilityOfImprovement, margin=0.0)),
]


@pytest.mark.parametrize(("varied", "usual"), RULES, ids=("mean only", "MPI"))
def test_the_first_arm_has_the_largest_variance_and_where_that_ties_too_is_the_usual_one(
    varied, usual
):
    seeds = range(12)
    assert {varied(SENSORS, rng=seed).ask() for seed in seeds} == {2}
    assert len({usual(SENSORS, rng=seed).ask() for seed in seeds}) > 2
    first = [varied(EQUAL, rng=seed).ask() for seed in seeds]
    assert first == [usual(EQUAL, rng=seed).ask() for seed in seeds]
    policy = varied(SENSORS)
    policy.tell([0, 3, 2], [5.0, 1.0, -4.0])
    assert policy.ask() == 0


def test_arms_that_still_tie_follow_in_the_order_of_their_variance():
    """Arms without correlation: bad news of one says nothing of the others."""
    alone = Rows(np.diag(VARIANCES), np.zeros((1, 4)), 0.5)(Trial(0, 0)).model
    policy = MeanOnlyVaried(alone, rng=3)
    arms = []
    for _ in VARIANCES:
        arms.append(policy.ask())
        policy.tell(arms[-1], -1.0)
    assert arms == [2, 1, 3, 0]
