"""Rewards in any unit, points in any unit: rules whose formula is homogeneous pull the same arms."""

from functools import partial

import numpy as np
import pytest

from kbrepro.confidence import AbbasiYadkori2011, Constant, Flynn2024, Srinivas2010
from kbrepro.kernels import Independent, Matern, grid
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE
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

POINTS, ROUNDS = grid(5, 2), 10
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
    "mini-GP-UCB": lambda a: partial(MiniUCB, width=AbbasiYadkori2011(0.1), squared_c=2.0),
    "π-GP-UCB": lambda a: partial(PartitionedUCB, delta=0.1, nu=1.5, width=AbbasiYadkori2011),
    "BKB": lambda a: partial(BKB, width=AbbasiYadkori2011(0.1), qbar=4.0),
}
KERNELS = {
    "Matérn": lambda a, b: Matern(0.3 * b, nu=1.5, variance=a**2),
    "independent arms, which tie": lambda a, b: Independent(a**2),
}


def arms(rule, kernel, a, b):
    """The arms of ROUNDS rounds with rewards in units of 1 / a and points in units of 1 / b."""
    b = 1.0 if rule == "π-GP-UCB" else b  # whose cells divide the unit cube
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
