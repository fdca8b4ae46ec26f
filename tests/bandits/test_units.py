"""Rewards in any unit, at any level, points in any unit: rules whose formula allows it pull the
same arms.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbrepro.bandits.confidence import AbbasiYadkori2011, Constant, Flynn2024, Srinivas2010
from kbrepro.bandits.kernels import Independent, Matern, grid
from kbrepro.bandits.policies import (
    PIMS,
    UCB,
    ExpectedImprovement,
    MeanOnly,
    ProbabilityOfImprovement,
    ThompsonSampling,
    VarianceOnly,
)
from kbrepro.bandits.posterior import CovariancePosterior, LatticePosterior
from kbrepro.bandits.problems import Model
from kbrepro.papers.bkb.policy import BKB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.gp_ucb.since import GPEIMS, IRGPUCB
from kbrepro.papers.pi_gp_ucb.partition import PartitionedUCB
from kbrepro.papers.side_by_side.elimination import BPE
from kbrepro.papers.side_by_side.widths import FixedDesign

POINTS, ROUNDS = grid(5, 2), 10
F = np.sin(5 * POINTS[:, 0]) * np.cos(3 * POINTS[:, 1])
#: Rules that are the same in any unit of reward and of the points.
RULES = {
    **{
        f"GP-UCB, {width}": partial(UCB, width=width)
        for width in (Constant(2.0), Srinivas2010(0.1), AbbasiYadkori2011(0.1), Flynn2024(0.1))
    },
    "GP-UCB, covariance": partial(UCB, width=Constant(1.0), form=CovariancePosterior),
    "GP-UCB, lattice": partial(UCB, width=Constant(1.0), form=LatticePosterior),
    "EI": ExpectedImprovement,
    "EI, noisy incumbent": partial(ExpectedImprovement, incumbent="noisy_reward"),
    "MPI": ProbabilityOfImprovement,
    "GP-TS": partial(ThompsonSampling, width=Constant(1.0)),
    "GP-TS, lattice": partial(ThompsonSampling, width=Constant(1.0), form=LatticePosterior),
    "PIMS": PIMS,
    "GP-EIMS": GPEIMS,
    "IRGP-UCB": IRGPUCB,
    "mean only": MeanOnly,
    "variance only": VarianceOnly,
    "BPE": partial(BPE, width=FixedDesign(0.1)),
    "mini-GP-UCB": partial(MiniUCB, width=AbbasiYadkori2011(0.1), squared_c=2.0),
    "π-GP-UCB": partial(PartitionedUCB, delta=0.1, nu=1.5, width=AbbasiYadkori2011),
    "BKB": partial(BKB, width=AbbasiYadkori2011(0.1), qbar=4.0),
}
#: Margins in units of reward.
MARGINS = {"EI, noisy incumbent": 0.1, "MPI": 0.03}
KERNELS = {
    "Matérn": lambda a, b: Matern(0.3 * b, nu=1.5, variance=a**2),
    "independent arms, which tie": lambda a, b: Independent(a**2),
}
TAKE_NO_MEAN = {"BPE", "mini-GP-UCB", "π-GP-UCB", "BKB"}
#: Numbers are multiples of it, so that those of size 1 are exact beside 2^32.
STEP = 2.0**-20


def whole(numbers):
    """Numbers rounded to multiples of STEP."""
    return np.round(np.asarray(numbers) / STEP) * STEP


def played(rule, kernel="Matérn", a=1.0, b=1.0, constant=0.0, prior_mean=0.0, seed=4):
    """A policy after ROUNDS rounds: rewards in units of 1 / a, points of 1 / b, with `constant` in
    rewards and prior mean.
    """
    b = 1.0 if rule == "π-GP-UCB" else b  # whose cells divide the unit cube
    mean, expected = a * (prior_mean + constant), prior_mean + F
    model = Model(POINTS * b, KERNELS[kernel](a, b), 0.05 * a**2, norm=2.0, mean=mean)
    margin = {"margin": a * MARGINS[rule]} if rule in MARGINS else {}
    policy, noise = RULES[rule](model, ROUNDS, rng=3, **margin), np.random.default_rng(seed)
    for _ in range(ROUNDS):
        arm = policy.ask()
        reward = whole(expected[arm] + 0.2 * noise.standard_normal())
        policy.tell(arm, float(a * (reward + constant)))
    return policy


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", RULES)
def test_arms_are_the_same_in_the_smallest_and_the_largest_unit(rule, kernel):
    plain = played(rule, kernel)
    for a, b in ((2.0**-40, 2.0**40), (2.0**40, 2.0**-40)):
        assert played(rule, kernel, a, b).history.arms == plain.history.arms


# A constant in rewards and prior mean


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in TAKE_NO_MEAN])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    sign=st.sampled_from([-1.0, 1.0]),
    size=st.floats(0, 8.999),
    per_arm=st.booleans(),
    seed=st.integers(0, 99),
    unit=st.sampled_from([2.0**-40, 1.0, 2.0**40]),
)
@example(sign=1.0, size=8.999, per_arm=False, seed=0, unit=1.0)
def test_a_constant_of_up_to_1e9_prior_sds_changes_no_arm(rule, sign, size, per_arm, seed, unit):
    """Numbers are such that rewards are told without rounding: then all is equal to the last
    digit.
    """
    prior_mean, found = whole(np.linspace(-3, 1, len(F))) if per_arm else 0.5, []
    for constant in (0.0, whole(sign * 10**size)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            policy = played(rule, a=unit, constant=constant, prior_mean=prior_mean, seed=seed)
        rewards = unit * (constant + whole(F))
        band = policy.band_ratio(rewards) if hasattr(policy, "band_ratio") else None
        shown = policy.recommend(), policy.gap(Constant(2.0)), band, policy.index().tolist()
        found.append((policy.history.arms, shown))
    assert found[0] == found[1]


class Own(MeanOnly):
    """A rule of a user, whose index has the prior mean in it."""

    def index(self):
        return self.posterior.mean + 2 * self.posterior.sd


def test_an_index_that_has_the_constant_in_it_ties_no_more_arms():
    model = Model(POINTS, Matern(0.3, nu=1.5), 0.05, mean=1e9)
    policy = Own(model, rng=1)
    for _ in range(ROUNDS):
        arm = policy.ask()
        index = policy.index()
        assert index[arm] >= index.max() - 1e-6
        policy.tell(arm, 1e9 + float(F[arm]))


def test_beyond_1e9_prior_sds_one_line_warns_and_the_search_goes_on():
    model = Model(POINTS, Matern(0.3, nu=1.5, variance=1e-4), 1e-6, mean=1.7e9)
    with pytest.warns(
        UserWarning,
        match=r"^mean = 1.7e\+09 is more than 1e\+09 prior standard deviations \(0.01\)",
    ):
        policy = UCB(model, width=Constant(2.0))
    for _ in range(40):
        arm = policy.ask()
        policy.tell(arm, 1.7e9 + 0.01 * float(F[arm]))
    assert len(set(policy.history.arms)) > 5 and F[policy.recommend()] == pytest.approx(
        F.max(), abs=0.1
    )
