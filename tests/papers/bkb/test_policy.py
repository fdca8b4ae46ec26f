"""BKB: exact GP-UCB when everything is kept; its widths and bound by hand; its draws; mini-GP-UCB;
errors.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refuses

from kbrepro.bandits.confidence import AbbasiYadkori2011, Constant
from kbrepro.bandits.kernels import Linear, Matern, SquaredExponential
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.posterior import RowPosterior
from kbrepro.bandits.problems import GPDraw, Model, Problem, Trial
from kbrepro.papers.bkb.policy import BKB, ArmwiseBKB, Authors, Budgeted, FourierUCB
from kbrepro.papers.bkb.since import MiniUCB
from kbrepro.papers.bkb.sketch import (
    ArmwisePosterior,
    BudgetedPosterior,
    FeaturePosterior,
    random_features,
)
from kbrepro.trials.simulation import rounds

POINTS = np.random.default_rng(1).uniform(size=(60, 2))
SE, LOGDET = SquaredExponential(0.3), AbbasiYadkori2011(0.1)
few = settings(max_examples=40, deadline=None, derandomize=True)


def problem(kernel=SE, points=POINTS, norm=2.0):
    drawn = GPDraw(kernel, points, 0.01)(Trial(2, 0))
    return Problem(replace(drawn.model, norm=norm, noise_scale=0.1), drawn.expected_reward)


@pytest.mark.parametrize("kernel", [SE, Matern(0.3, nu=2.5)])
def test_with_every_pull_kept_it_pulls_the_arms_of_exact_gp_ucb(kernel):
    drawn = problem(kernel)
    policies = partial(BKB, qbar=1e9), UCB
    ours, exact = (
        [*rounds(make(drawn.model, width=LOGDET), drawn, 150, np.random.default_rng(3))]
        for make in policies
    )
    assert ours == exact  # arms and observations
    assert len({arm for _, arm, _ in exact}) > 20


# Widths: the paper's beta~ times its sigma~, which is divided by sqrt(lambda)


def asking(summed_variance, pulls, variance=1.0, norm=1.5, noise_scale=0.3):
    """What a width looks at."""
    kernel = SquaredExponential(0.3, variance=variance)
    model = Model(POINTS, kernel, 0.01, norm=norm, noise_scale=noise_scale)
    posterior = SimpleNamespace(summed_variance=summed_variance)
    return SimpleNamespace(model=model, posterior=posterior, t=pulls + 1)


@few
@given(
    st.floats(0.1, 50),
    st.integers(0, 500),
    st.floats(0.5, 4),
    st.floats(0.1, 9),
    st.floats(0, 1),
    st.floats(0.01, 1, exclude_max=True),
)
def test_the_widths_are_the_published_radii(summed, pulls, variance, norm, noise, delta):
    """beta~ in the paper's words, eps = 1/2; the logarithm is that of at least two pulls."""
    policy, t, root = asking(summed, pulls, variance, norm, noise), max(pulls, 2), np.sqrt(0.01)
    theorem = 2 * noise * np.sqrt(3 * np.log(variance * t) * summed + np.log(1 / delta))
    theorem += (1 + 2**0.5) * root * norm
    assert Budgeted(delta)(policy) * root == pytest.approx(theorem)
    authors = noise * np.sqrt(np.log(t) * summed + np.log(1 / delta)) + root * norm
    assert Authors(delta)(policy) * root == pytest.approx(authors)


def test_the_regret_bound_and_the_smallest_qbar_by_hand():
    """d = 4, T = 50, alpha = 3: 2 * 6^1.5 sqrt(50) (0.1 d log 50 + sqrt(0.04 * 4 * d log 50) + 0.1
    log 10).
    """
    growth = 4 * np.log(50)
    bound = (
        2 * 6**1.5 * np.sqrt(50) * (0.1 * growth + np.sqrt(0.04 * 4 * growth) + 0.1 * np.log(10))
    )
    model = Model(POINTS, SE, 0.04, norm=2.0, noise_scale=0.1)
    assert Budgeted(0.1).regret_bound(model, 4.0, 50) == pytest.approx(bound)
    assert Budgeted(0.1).smallest_qbar(1000) == pytest.approx(763, abs=0.5)


def test_the_first_arm_is_random_also_where_prior_variances_differ():
    model = problem(Linear(), points=POINTS[:6]).model
    assert {BKB(model, width=LOGDET, qbar=2, rng=seed).ask() for seed in range(40)} == set(range(6))


def fourier(draws):
    return FeaturePosterior(random_features(SE, POINTS, 6, draws), 0.01)


@pytest.mark.parametrize(
    ("rule", "form"),
    [
        (partial(BKB, qbar=1.5), partial(BudgetedPosterior, SE, POINTS, 0.01, 1.5)),
        (partial(ArmwiseBKB, qbar=1.5), partial(ArmwisePosterior, SE, POINTS, 0.01, 1.5)),
        (partial(FourierUCB, n_features=6), fourier),
    ],
)
def test_dictionaries_and_features_are_those_that_a_child_of_the_generator_draws(rule, form):
    policy = rule(problem().model, width=Constant(2.0), rng=3)
    posterior = form(np.random.default_rng(3).spawn(1)[0])
    for observation in 50 * (1.0, -0.5, 0.3, 0.2):
        posterior.update(arm := policy.ask(), observation)
        policy.tell(arm, observation)
    np.testing.assert_allclose(policy.index(), posterior.mean + 2 * posterior.sd)


# mini-GP-UCB


@pytest.mark.parametrize("squared_c", [1.21, 2.0])
def test_mini_gp_ucb_stays_as_long_as_no_standard_deviation_falls_by_more_than_c(squared_c):
    """Unless a single pull does; and one pull more would go beyond C at the arm itself. A row for
    each choice is exact.
    """
    policy = MiniUCB(problem().model, width=Constant(2.0), squared_c=squared_c)
    exact, choices, stays = RowPosterior(SE, POINTS, 0.01), 0, []
    for _, arm, observation in rounds(policy, problem(), 300, np.random.default_rng(3)):
        if policy.choices != choices:
            before, chosen, n, choices = exact.variance, arm, 0, policy.choices
            ours = policy.posterior
            np.testing.assert_allclose(ours.variance, before, atol=1e-9)
            np.testing.assert_allclose(ours.mean, exact.mean, atol=1e-9)
            np.testing.assert_array_equal(ours.counts, exact.counts)
            assert ours.gain == pytest.approx(exact.gain) and len(ours._rows()) == choices - 1
        exact.update(arm, observation)
        n += 1
        assert arm == chosen and (
            (before / exact.variance).max() <= squared_c * (1 + 1e-6) or n == 1
        )
        if policy._stays == 1:  # it is told of this pull next, and then chooses
            stays.append(n)
            assert 1 + (n + 1) * before[arm] / 0.01 > squared_c
    assert policy.choices < 250 and max(stays) > 3


# Errors


def test_bad_settings_are_named():
    model = problem().model
    small = asking(1.0, 2, variance=0.1)
    refuses(
        (lambda: Budgeted(0.1)(small), "squared_kappa = 0.1 is not allowed: .* at least 1 / pulls"),
        (lambda: Authors(0.1)(asking(1.0, 2, norm=None)), "norm = None is not allowed"),
        (lambda: BKB(model, width=LOGDET, qbar=0.9), "qbar = 0.9 .* qbar must be at least 1"),
        (lambda: MiniUCB(model, width=LOGDET, squared_c=1.0), r"squared_c = 1\.0 is not allowed"),
    )


def test_mini_gp_ucb_is_told_of_the_arms_that_it_asked_for():
    mini = MiniUCB(problem().model, width=LOGDET, squared_c=2.0)
    refuses((lambda: mini.tell(3, 1.0), "arm = 3 is not allowed: arm must be what `ask`"))
    arm = mini.ask()
    refuses((lambda: mini.tell(arm, float("nan")), r"rewards.* = nan is not allowed"))
    while mini._stays:
        mini.tell(arm, 0.0)
    # it would choose anew
    refuses((lambda: mini.tell(arm, 0.0), "arm must be what `ask` returned last"))
