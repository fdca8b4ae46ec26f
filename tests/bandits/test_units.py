"""Rewards in any unit, at any level, points in any unit: rules whose formula allows it pull the
same arms.
"""

import warnings
from dataclasses import replace
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
#: Rules that are the same in any unit of reward and of the points, made for a unit a of rewards.
RULES = {
    **{
        f"GP-UCB, {width}": lambda a, width=width: partial(UCB, width=width)
        for width in (Constant(2.0), Srinivas2010(0.1), AbbasiYadkori2011(0.1), Flynn2024(0.1))
    },
    "GP-UCB, covariance": lambda a: partial(UCB, width=Constant(1.0), form=CovariancePosterior),
    "GP-UCB, lattice": lambda a: partial(UCB, width=Constant(1.0), form=LatticePosterior),
    "EI": lambda a: ExpectedImprovement,
    "EI, noisy incumbent": lambda a: partial(
        ExpectedImprovement, incumbent="noisy_reward", margin=0.1 * a
    ),
    "MPI": lambda a: partial(ProbabilityOfImprovement, margin=0.03 * a),
    "GP-TS": lambda a: partial(ThompsonSampling, width=Constant(1.0)),
    "GP-TS, lattice": lambda a: partial(
        ThompsonSampling, width=Constant(1.0), form=LatticePosterior
    ),
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


# A constant in rewards and prior mean

#: Numbers are multiples of it, so that those of size 1 are exact beside 2^32.
STEP = 2.0**-20
TAKE_A_MEAN = [rule for rule in RULES if rule not in ("BPE", "mini-GP-UCB", "π-GP-UCB", "BKB")]


def whole(numbers):
    """Numbers rounded to multiples of STEP."""
    return np.round(np.asarray(numbers) / STEP) * STEP


def raised(rule, constant, prior_mean, seed, unit):
    """Arms with `constant` in rewards and prior mean; at the end recommended arm, gap, band,
    index.
    """
    model = Model(POINTS, Matern(0.3, nu=1.5, variance=unit**2), 0.05 * unit**2, norm=2.0)
    model = replace(model, mean=unit * (prior_mean + constant))
    policy, noise, pulled = RULES[rule](unit)(model, ROUNDS, rng=3), np.random.default_rng(seed), []
    for _ in range(ROUNDS):
        pulled.append(policy.ask())
        reward = (
            (prior_mean + np.zeros(len(F)))[pulled[-1]]
            + F[pulled[-1]]
            + 0.2 * noise.standard_normal()
        )
        policy.tell(pulled[-1], float(unit * (whole(reward) + constant)))
    band = policy.band_ratio(unit * (constant + whole(F))) if hasattr(policy, "band_ratio") else 0.0
    return pulled, policy.recommend(), policy.gap(Constant(2.0)), band, policy.index().tolist()


@pytest.mark.parametrize("rule", TAKE_A_MEAN)
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
    constant = whole(sign * 10**size)
    prior_mean = whole(np.linspace(-3, 1, len(F))) if per_arm else 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert raised(rule, constant, prior_mean, seed, unit) == raised(
            rule, 0.0, prior_mean, seed, unit
        )


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
    pulled = []
    for _ in range(40):
        pulled.append(policy.ask())
        policy.tell(pulled[-1], 1.7e9 + 0.01 * float(F[pulled[-1]]))
    assert len(set(pulled)) > 5 and F[policy.recommend()] == pytest.approx(F.max(), abs=0.1)
