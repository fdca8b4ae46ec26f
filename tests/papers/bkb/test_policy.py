"""BKB: exact GP-UCB when everything is kept, its widths, its bound, its first arm, its draws, and errors."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare

from kbrepro.confidence import Constant, SelfNormalised
from kbrepro.kernels import Linear, Matern, SquaredExponential
from kbrepro.papers.bkb.policy import BKB, Authors, Budgeted, FourierUCB
from kbrepro.papers.bkb.sketch import random_features
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw, Model, Problem, Trial
from kbrepro.simulation import rounds

POINTS = np.random.default_rng(1).uniform(size=(60, 2))
LOGDET = SelfNormalised(0.1)
KNOWN = {"norm": 2.0, "noise_scale": 0.1, "noise_variance": 0.04}


def problem(kernel=None, points=POINTS, norm=2.0, noise_scale=0.1):
    drawn = GPDraw(kernel or SquaredExponential(0.3), points, 0.01)(Trial(2, 0))
    return Problem(replace(drawn.model, norm=norm, noise_scale=noise_scale), drawn.expected_reward)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kernel", [SquaredExponential(0.3), Matern(0.3, nu=2.5)])
def test_with_every_pull_kept_it_pulls_the_arms_of_exact_gp_ucb(kernel, streaming):
    given = problem(kernel)
    exact = UCB(given.model, 150, width=LOGDET)
    ours = BKB(given.model, 150, width=LOGDET, qbar=1e9, streaming=streaming)
    played = [list(rounds(policy, given, 150, np.random.default_rng(3))) for policy in (exact, ours)]
    assert played[0] == played[1]  # arms and observations
    assert len({arm for _, arm, _ in played[0]}) > 20


# Widths


def told(width, kernel=None):
    policy = BKB(problem(kernel, norm=1.5, noise_scale=0.3).model, 50, width=width, qbar=2)
    rng = np.random.default_rng(5)
    for _ in range(12):
        policy.tell(policy.ask(), rng.standard_normal())
    return policy


def published(policy, noise=0.3, alpha=3.0, root=2**0.5, inside=12.0, factor=2.0):
    """The paper's own beta~ on its own sigma~ (divided by sqrt(lambda)), from the counts."""
    scaled = policy.posterior.variance / 0.01
    summed = np.repeat(scaled, policy.posterior.counts).sum()
    beta = factor * noise * np.sqrt(alpha * np.log(inside) * summed + np.log(10)) + (1 + root) * np.sqrt(0.01) * 1.5
    return beta * np.sqrt(scaled)


@pytest.mark.parametrize(
    ("width", "kernel", "changes"),
    [
        (Budgeted(0.1), None, {}),
        (Budgeted(0.1), SquaredExponential(0.3, variance=4.0), {"inside": 48.0}),  # the largest prior variance
        (Authors(0.1), None, {"alpha": 1.0, "root": 0.0, "factor": 1.0}),
    ],
)
def test_the_width_is_the_published_radius(width, kernel, changes):
    policy = told(width, kernel)
    np.testing.assert_allclose(policy.width(policy) * policy.posterior.sd, published(policy, **changes))


def test_the_width_of_the_log_determinant():
    policy = told(LOGDET)
    p = policy.posterior
    V = (p._features.T * p.counts) @ p._features / 0.01 + np.eye(p.n_features)
    radius = 0.1 * 1.5 + 0.3 * np.sqrt(np.linalg.slogdet(V)[1] + 2 * np.log(10))  # on sigma~, of eq. 7
    np.testing.assert_allclose(policy.width(policy) * p.sd, radius * p.sd / 0.1)


def asking(summed_variance, pulls, variance=1.0):
    """What a width looks at."""
    posterior = SimpleNamespace(summed_variance=summed_variance)
    model = Model(POINTS, SquaredExponential(0.3, variance=variance), **KNOWN)
    return SimpleNamespace(model=model, posterior=posterior, t=pulls + 1)


@pytest.mark.parametrize("width", [Budgeted(0.1), Authors(0.1)])
def test_the_logarithm_is_that_of_at_least_two_pulls(width):
    assert width(asking(1.0, 0)) == width(asking(1.0, 1)) == width(asking(1.0, 2))
    assert width(asking(1.0, 3)) > width(asking(1.0, 2))


# What is proved


def test_the_regret_bound_and_the_smallest_qbar_by_hand():
    """d = 4, T = 50, alpha = 3: 2 * 6^1.5 sqrt(50) (0.1 d log 50 + sqrt(0.04 * 4 * d log 50) + 0.1 log 10)."""
    growth = 4 * np.log(50)
    bound = 2 * 6**1.5 * np.sqrt(50) * (0.1 * growth + np.sqrt(0.04 * 4 * growth) + 0.1 * np.log(10))
    assert Budgeted(0.1).regret_bound(Model(POINTS, SquaredExponential(0.3), **KNOWN), 4.0, 50) == pytest.approx(bound)
    assert Budgeted(0.1).smallest_qbar(1000) == pytest.approx(763, abs=0.5)


# Draws


@pytest.mark.parametrize("kernel", [SquaredExponential(0.3), Linear()])
def test_the_first_arm_is_uniformly_at_random(kernel):
    """Also where prior variances differ; chi-square test at 1e-4."""
    given = problem(kernel, points=POINTS[:6]).model
    first = [BKB(given, 10, width=LOGDET, qbar=2, rng=seed).ask() for seed in range(600)]
    assert chisquare(np.bincount(first, minlength=6)).pvalue > 1e-4


@pytest.mark.parametrize("streaming", [False, True])
def test_the_dictionary_is_drawn_after_every_pull_from_all_pulls(streaming):
    """Dropped pulls come back, but not in the streaming form."""
    policy, rng = BKB(problem().model, 200, width=Constant(2.0), qbar=1, streaming=streaming), np.random.default_rng(9)
    sizes, came_back, before = set(), False, np.zeros(60)
    for _ in range(100):
        arm = policy.ask()
        policy.tell(arm, rng.standard_normal())
        now = np.bincount(policy.posterior.dictionary, minlength=60)
        came_back |= (now > before + (np.arange(60) == arm)).any()
        sizes.add(len(policy.posterior.dictionary))
        before = now
    assert came_back != streaming and len(sizes) > 10


# Errors


def test_a_negative_logarithm_is_named():
    with pytest.raises(ValueError, match=r"squared_kappa = 0\.1 is not allowed: times the pulls it must be at least 1"):
        Budgeted(0.1)(asking(1.0, 2, variance=0.1))


def test_an_unknown_norm_is_named():
    policy = BKB(problem(norm=None).model, 10, width=LOGDET, qbar=2)
    policy.tell(policy.ask(), 0.0)
    for width in (Budgeted(0.1), Authors(0.1), LOGDET):
        with pytest.raises(ValueError, match="norm = None is not allowed"):
            width(policy)


@pytest.mark.parametrize("rule", [partial(BKB, qbar=2), partial(FourierUCB, n_features=6)])
def test_an_observation_that_was_not_asked_for_is_named(rule):
    with pytest.raises(ValueError, match="was not asked"):
        rule(problem().model, 10, width=LOGDET).tell(3, 0.0)


# Fixed features


def test_fixed_features_are_a_gp_on_these_features():
    """Against a dense solve with the features that a child of the same generator draws."""
    given = problem()
    policy = FourierUCB(given.model, 20, width=Constant(2.0), n_features=6, rng=3)
    pulls = [policy.ask()]
    for observation in (1.0, -0.5, 0.3):
        policy.tell(pulls[-1], observation)
        pulls.append(policy.ask())
    Z = random_features(given.model.kernel, POINTS, 6, np.random.default_rng(3).spawn(1)[0])
    V = Z[pulls[:3]].T @ Z[pulls[:3]] + 0.01 * np.eye(6)
    mean = Z @ np.linalg.solve(V, Z[pulls[:3]].T @ [1.0, -0.5, 0.3])
    variance = 0.01 * np.einsum("ij,ji->i", Z, np.linalg.solve(V, Z.T))
    np.testing.assert_allclose(policy.index(), mean + 2 * np.sqrt(variance))
    assert pulls[3] == (mean + 2 * np.sqrt(variance)).argmax()
