"""Rewards in any unit, points in any unit: rules whose formula is homogeneous pull the same arms."""

from functools import partial

import numpy as np
import pytest

from kbrepro.confidence import AbbasiYadkori2011, Constant, Flynn2024, Srinivas2010
from kbrepro.information import greedy_gain
from kbrepro.kernels import Independent, Matern, SquaredExponential, grid
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE, SupKernelUCB
from kbrepro.papers.side_by_side.widths import FixedDesign
from kbrepro.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    ThompsonSampling,
    VarianceOnly,
)
from kbrepro.posterior import CovariancePosterior, LatticePosterior
from kbrepro.problems import Model

POINTS, ROUNDS = grid(6, 2), 15
F = np.sin(5 * POINTS[:, 0]) * np.cos(3 * POINTS[:, 1])
#: Rules that are the same in any unit of reward and of the points, made for a unit a of rewards.
RULES = {
    **{
        f"GP-UCB, {width}": lambda a, width=width: partial(UCB, width=width)
        for width in (Constant(2.0), Srinivas2010(0.1), AbbasiYadkori2011(0.1), Flynn2024(0.1))
    },
    "GP-UCB, covariance": lambda a: partial(UCB, width=Constant(1.0), form=CovariancePosterior),
    "GP-UCB, lattice": lambda a: partial(UCB, width=Constant(1.0), form=LatticePosterior),
    "EI": lambda a: ExpectedImprovement,
    "EI, noisy incumbent": lambda a: partial(ExpectedImprovement, incumbent="noisy_reward", margin=0.1 * a),
    "MPI": lambda a: partial(ProbabilityOfImprovement, margin=0.03 * a),
    "GP-TS": lambda a: partial(ThompsonSampling, width=Constant(1.0)),
    "GP-TS, lattice": lambda a: partial(ThompsonSampling, width=Constant(1.0), form=LatticePosterior),
    "PIMS": lambda a: PIMS,
    "GP-EIMS": lambda a: GPEIMS,
    "IRGP-UCB": lambda a: IRGPUCB,
    "mean only": lambda a: MeanOnly,
    "variance only": lambda a: VarianceOnly,
    "BPE": lambda a: partial(BPE, width=FixedDesign(0.1)),
    "SupKernelUCB": lambda a: partial(SupKernelUCB, width=FixedDesign(0.1), unit=a),
    "mini-GP-UCB": lambda a: partial(MiniUCB, width=AbbasiYadkori2011(0.1), squared_c=2.0),
    "BKB": lambda a: partial(BKB, width=AbbasiYadkori2011(0.1), qbar=4.0),
}
KERNELS = {
    "Matérn": lambda a, b: Matern(0.3 * b, nu=1.5, variance=a**2),
    "squared exponential": lambda a, b: SquaredExponential(0.2 * b, variance=a**2),
    "independent arms, which tie": lambda a, b: Independent(a**2),
}


def arms(rule, kernel, a, b):
    """The arms of ROUNDS rounds with rewards in units of 1 / a and points in units of 1 / b."""
    model = Model(POINTS * b, KERNELS[kernel](a, b), 0.05 * a**2, norm=2.0)
    policy, noise = RULES[rule](a)(model, ROUNDS, rng=3), np.random.default_rng(4)
    pulled = []
    for _ in range(ROUNDS):
        pulled.append(policy.ask())
        policy.tell(pulled[-1], float(a * (F[pulled[-1]] + 0.2 * noise.standard_normal())))
    return pulled


@pytest.fixture(scope="module")
def plain():
    return {(rule, kernel): arms(rule, kernel, 1.0, 1.0) for rule in RULES for kernel in KERNELS}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", RULES)
def test_arms_are_the_same_in_the_smallest_and_the_largest_unit(rule, kernel, plain):
    for a, b in ((2.0**-40, 2.0**40), (2.0**40, 2.0**-40)):
        assert arms(rule, kernel, a, b) == plain[rule, kernel]


@pytest.mark.parametrize("width", [AbbasiYadkori2011, Flynn2024], ids=lambda width: width.__name__)
def test_cells_are_the_same_in_any_unit_of_reward(width):
    pulled = []
    for a in (1.0, 2.0**-40, 2.0**40):
        model = Model(POINTS, Matern(0.3, nu=1.5, variance=a**2), 0.05 * a**2, norm=2.0)
        policy = PartitionedUCB(model, ROUNDS, delta=0.1, nu=1.5, width=width, rng=3)
        pulled.append([])
        for _ in range(ROUNDS):
            pulled[-1].append(policy.ask())
            policy.tell(pulled[-1][-1], a * F[pulled[-1][-1]])
    assert pulled[0] == pulled[1] == pulled[2]


def test_greedy_pulls_are_the_same_in_any_unit():
    gains, pulled = greedy_gain(Matern(0.3, nu=1.5), POINTS, 0.05, 20)
    for a in (2.0**-40, 2.0**40):
        scaled = greedy_gain(Matern(0.3, nu=1.5, variance=a**2), POINTS, 0.05 * a**2, 20)
        np.testing.assert_array_equal(scaled[1], pulled)
        np.testing.assert_allclose(scaled[0], gains, rtol=1e-12)
