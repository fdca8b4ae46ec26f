"""BKB: exact GP-UCB when everything is kept, its radii, its first arm, its draws, and errors."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import chisquare

from kbrepro import simulation
from kbrepro.confidence import self_normalised
from kbrepro.kernels import Linear, Matern, SquaredExponential, grid
from kbrepro.papers.bkb.policy import bkb
from kbrepro.policies import UCB
from kbrepro.posterior import RowPosterior
from kbrepro.problems import Problem, gp_draw, rkhs_function

ARMS = np.random.default_rng(1).uniform(size=(60, 2))
KNOWN = {"norm": 2.0, "noise_scale": 0.1, "noise_variance": 0.01, "delta": 0.1}


def problem(kernel=None, arms=ARMS, noise_sd=None):
    kernel = kernel or SquaredExponential(0.3)
    drawn = gp_draw(np.random.default_rng(2), 0, kernel, arms, 0.01)
    return Problem(arms, drawn.expected_reward, 0.01, kernel, noise_sd)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kernel", [SquaredExponential(0.3), Matern(0.3, nu=2.5)])
def test_with_every_pull_kept_it_pulls_the_arms_of_exact_gp_ucb(kernel, streaming):
    given = problem(kernel)
    exact = UCB(RowPosterior(kernel, ARMS, 0.01), partial(self_normalised, **KNOWN), of_gain=True)
    ours = bkb(given, 150, qbar=1e9, norm=2.0, streaming=streaming)
    traces = [simulation.run(policy, given, 150, np.random.default_rng(3)) for policy in (exact, ours)]
    np.testing.assert_array_equal(traces[0].arms, traces[1].arms)
    np.testing.assert_array_equal(traces[0].observations, traces[1].observations)
    assert len(np.unique(traces[0].arms)) > 20


def test_a_small_dictionary_still_finds_the_best_arms():
    given = problem(arms=grid(20, 2))
    policy = bkb(given, 400, qbar=3, radius=2.0)
    trace = simulation.run(policy, given, 400, np.random.default_rng(4))
    uniform = given.regret(np.arange(400)).mean()
    assert trace.regret[-100:].mean() < 0.1 * uniform
    assert len(policy.posterior.dictionary) < 100  # of 400 pulls


# Radii


def told(radius, accuracy=0.5, noise_sd=0.3, kernel=None):
    policy, rng = bkb(problem(kernel, noise_sd=noise_sd), 50, qbar=2, radius=radius, norm=1.5, accuracy=accuracy), None
    rng = np.random.default_rng(5)
    for _ in range(12):
        policy.tell(policy.ask(rng), rng.standard_normal())
    return policy


def published(policy, noise=0.3, alpha=3.0, root=2**0.5, inside=12.0, factor=2.0):
    """The paper's own beta~ on its own sigma~ (divided by sqrt(lambda)), from the counts."""
    scaled = policy.posterior.variance / 0.01
    summed = np.repeat(scaled, policy.posterior.counts).sum()
    beta = factor * noise * np.sqrt(alpha * np.log(inside) * summed + np.log(10)) + (1 + root) * np.sqrt(0.01) * 1.5
    return beta * np.sqrt(scaled)


def test_the_radius_of_theorem_2():
    policy = told("paper")
    np.testing.assert_allclose(policy.width_in(13) * policy.posterior.sd, published(policy))
    sharper = told("paper", accuracy=0.1)
    np.testing.assert_allclose(
        sharper.width_in(13) * sharper.posterior.sd, published(sharper, alpha=1.1 / 0.9, root=1 / np.sqrt(0.9))
    )


def test_the_radius_knows_the_largest_prior_variance():
    policy = told("paper", kernel=SquaredExponential(0.3, variance=4.0))
    np.testing.assert_allclose(policy.width_in(13) * policy.posterior.sd, published(policy, inside=48.0))


def test_the_corrected_radius_has_its_lambda_back():
    policy = told("corrected")
    np.testing.assert_allclose(policy.width_in(13) * policy.posterior.sd, published(policy, inside=1200.0))


def test_the_radius_of_the_authors_code():
    policy = told("authors")
    np.testing.assert_allclose(
        policy.width_in(13) * policy.posterior.sd, published(policy, alpha=1.0, root=0.0, factor=1.0)
    )


def test_the_log_determinant_radius():
    policy = told("logdet")
    p = policy.posterior
    V = (p._features.T * p.counts) @ p._features / 0.01 + np.eye(p.n_features)
    radius = 0.1 * 1.5 + 0.3 * np.sqrt(np.linalg.slogdet(V)[1] + 2 * np.log(10))  # on sigma~, of eq. 7
    np.testing.assert_allclose(policy.width_in(13) * p.sd, radius * p.sd / 0.1)


def test_a_fixed_number_of_standard_deviations():
    policy = told(2.5)
    np.testing.assert_allclose(policy.index(13), policy.posterior.mean + 2.5 * policy.posterior.sd)


def test_the_printed_chain_loses_its_lambda():
    """lambda = 0.01, t = 2: log det exceeds 2 log(t) d_eff, the bound in the proof; with t / lambda it does not."""
    K = SquaredExponential(0.3)(np.array([[0.0], [5.0]]), np.array([[0.0], [5.0]])) / 0.01
    log_determinant = np.linalg.slogdet(np.eye(2) + K)[1]
    dimension = np.trace(K @ np.linalg.inv(K + np.eye(2)))
    assert 2 * np.log(2) * dimension < log_determinant < 2 * np.log(2 / 0.01) * dimension


# Draws


@pytest.mark.parametrize("kernel", [SquaredExponential(0.3), Linear()])
def test_the_first_arm_is_uniformly_at_random(kernel):
    """Also where prior variances differ; chi-square test at 1e-4."""
    given = problem(kernel, arms=ARMS[:6])
    first = [bkb(given, 10, qbar=2).ask(np.random.default_rng(seed)) for seed in range(600)]
    assert chisquare(np.bincount(first, minlength=6)).pvalue > 1e-4


def test_the_same_streams_give_the_same_run_and_others_another():
    given = rkhs_function(np.random.default_rng(6), 0, SquaredExponential(0.2), ARMS, 0.01, 4.0)
    runs = [
        simulation.run(bkb(given, 60, qbar=1, norm=2.0), given, 60, np.random.default_rng(seed)).arms
        for seed in (7, 7, 8)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


def test_the_dictionary_is_drawn_after_every_pull_from_all_pulls():
    """Dropped pulls come back, unlike in the streaming form."""
    policy, rng, sizes, came_back = bkb(problem(), 200, qbar=1, radius=2.0), np.random.default_rng(9), set(), False
    before = np.zeros(60)
    for _ in range(100):
        arm = policy.ask(rng)
        policy.tell(arm, rng.standard_normal())
        now = np.bincount(policy.posterior.dictionary, minlength=60)
        came_back |= (now > before + (np.arange(60) == arm)).any()
        sizes.add(len(policy.posterior.dictionary))
        before = now
    assert came_back and len(sizes) > 10


# Errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"qbar": 0.5}, "qbar = 0.5 is not allowed: qbar must be at least 1"),
        ({"qbar": 2, "radius": "theorem"}, "radius = 'theorem' is not allowed: radius must be one of 'paper'"),
        ({"qbar": 2, "radius": -1.0}, "radius = -1.0 is not allowed"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        bkb(problem(), 10, **settings)


def test_bad_pulls_are_named():
    policy = bkb(problem(), 10, qbar=2)
    with pytest.raises(ValueError, match="rng = None"):
        policy.tell(3, 0.0)  # before it was asked
    policy.ask(np.random.default_rng(10))
    for arm, observation, error in ((60, 0.0, IndexError), (1, float("nan"), ValueError)):
        with pytest.raises(error, match="is not allowed"):
            policy.tell(arm, observation)
    assert policy.t == 1


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("radius", ["paper", "corrected", "authors", "logdet", 2.0])
def test_it_runs_and_records_its_band(radius, streaming):
    given = problem()
    policy = bkb(given, 30, qbar=2, radius=radius, streaming=streaming)
    trace = simulation.run(policy, given, 30, np.random.default_rng(11), record_band=True)
    assert np.isfinite(trace.band_ratio).all() and (trace.regret >= 0).all()
