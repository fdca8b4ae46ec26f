"""Expected and probable improvement: the index, its incumbents and its tails."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm

from kbrepro.bandits.kernels import Empirical, Independent, SquaredExponential, grid
from kbrepro.bandits.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.bandits.policies.improvement import log_expected_excess
from kbrepro.bandits.problems import Model

TOLD = Model(grid(30), SquaredExponential(0.2), 0.025)
HISTORY = [(3, 0.4), (20, -1.0), (3, 0.9), (11, 0.2)]
PI = partial(ProbabilityOfImprovement, margin=0.0)
both = pytest.mark.parametrize("make", [ExpectedImprovement, PI])


def at(make, mean, sd, counts, **settings):
    """The policy with this posterior in the place of its own."""
    policy = make(Model(grid(len(mean)), Independent(), 0.1), 10, **settings)
    policy.posterior = SimpleNamespace(
        mean=np.array(mean), sd=np.array(sd), counts=np.array(counts)
    )
    return policy


def pulled(policy, history=HISTORY):
    for arm, observation in history:
        policy.tell(arm, observation)
    return policy


def exact_log_excess(z):
    """log(phi(z) + z Phi(z)) with enough digits to survive its cancellation."""
    with mp.workdps(350):
        z = mpf(float(z))
        if z > -30:
            return mp.log(mp.npdf(z) + z * mp.erfc(-z / mp.sqrt(2)) / 2)
        # phi(z) / z^2 (1 - 3/z^2 + 15/z^4 - ...): twenty terms, relative error below 1e-30
        series = sum((-1) ** k * mp.fac2(2 * k + 1) / z ** (2 * k) for k in range(20))
        return -(z**2) / 2 - mp.log(2 * mp.pi) / 2 - 2 * mp.log(-z) + mp.log(series)


# The excess of a normal variable, by its logarithm


Z = [
    5.0,
    0.3,
    -0.5,
    -0.999999,
    -1.0,
    -1.000001,
    -5.0,
    -38.0,
    -150.0,
    -1e4,
    -99_999.0,
    -1e5,
    -100_001.0,
    -1e6,
]


@pytest.mark.parametrize("z", Z)
def test_log_expected_excess(z):
    assert float(log_expected_excess(z)) == pytest.approx(
        float(exact_log_excess(z)), rel=2e-13, abs=1e-13
    )


# Incumbents


@both
def test_the_mean_incumbent_looks_at_arms_pulled_only(make):
    policy = at(make, [0.2, 3.0, 0.7, -1.0], [1, 1, 1, 1], [2, 0, 1, 5], margin=0.1)
    assert policy.target() == pytest.approx(0.8)


@both
def test_the_noisy_incumbent_is_the_largest_reward_seen(make):
    policy = pulled(make(TOLD, 10, incumbent="noisy_reward", margin=0.25), [*HISTORY, (5, -7.0)])
    assert policy.target() == pytest.approx(0.9 + 0.25)
    assert pulled(make(TOLD, 10, incumbent="noisy_reward"), [(0, -5.0), (1, -4.0)]).target() == -4.0


@both
@pytest.mark.parametrize("incumbent", ["posterior_mean", "noisy_reward"])
def test_before_the_first_pull_the_incumbent_is_the_largest_prior_mean(make, incumbent):
    policy = at(make, [0.0, 0.0, 0.0], [1.0, 2.0, 0.5], [0, 0, 0], incumbent=incumbent, margin=0.2)
    assert policy.target() == pytest.approx(0.2)
    assert policy.ask() == 1  # the most uncertain arm


def test_bad_settings_are_named():
    with pytest.raises(
        ValueError, match=r"incumbent = 'best' .* must be one of 'posterior_mean', 'noisy_reward'"
    ):
        PI(TOLD, 10, incumbent="best")


# Tails and certain arms


@pytest.mark.filterwarnings("ignore:reward")
@pytest.mark.parametrize("lead", [60.0, 1e5])
def test_ei_ranks_the_arms_when_the_incumbent_is_far_above(lead):
    """phi(z) underflows for every arm below z = -39: a plain EI would be 0 everywhere and pull arm
    0.
    """
    kernel = Empirical(np.diag([1.0, 1.2, 4.0, 0.9, 2.0]))
    policy = ExpectedImprovement(Model(kernel.points, kernel, 0.1), 5, incumbent="noisy_reward")
    state, index = pulled(policy, [(3, lead), (1, -0.4), (4, 0.3)]).posterior, policy.index()
    # in units of the largest prior sd, 2
    exact = [
        float(mp.log(s / 2) + exact_log_excess((m - lead) / s))
        for m, s in zip(state.mean, state.sd, strict=True)
    ]
    np.testing.assert_allclose(index, exact, rtol=1e-12)
    assert policy.ask() == np.argmax(exact) != 0


def test_certain_arms():
    """sd 0: EI is the plain excess where there is one and 0 (log: -inf) elsewhere; MPI is certain
    either way.
    """
    state = [1.0, 3.0, 0.5, 1.0], [0.0, 0.0, 1.0, 0.5], [1, 0, 0, 2]
    expected, probable = at(ExpectedImprovement, *state), at(PI, *state)
    ei, mpi = expected.index(), probable.index()
    assert (ei[0], ei[1]) == (-np.inf, pytest.approx(np.log(2.0)))
    np.testing.assert_allclose(
        np.exp(ei[2:]), norm.pdf([-0.5, 0]) * [1, 0.5] + [-0.5 * norm.cdf(-0.5), 0]
    )
    assert mpi.tolist() == [-np.inf, np.inf, -0.5, 0.0]
    assert expected.ask() == 1
    assert probable.ask() == 1
