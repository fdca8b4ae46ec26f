"""Function networks: norms, posteriors, confidence sets, policies, bounds - against brute force and dense algebra."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist
from scipy.special import kv

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.gpn_ucb import bounds, cascade_ei, needle, policies
from kbrepro.papers.gpn_ucb import posterior as of_layers
from kbrepro.papers.gpn_ucb.balls import BallSets
from kbrepro.papers.gpn_ucb.boxes import BoxSets, CubeGrid, box_indices, box_maxima, lower_envelope, neighbour_slopes
from kbrepro.papers.gpn_ucb.experiments import (
    KERNEL,
    SMALL,
    bound_ratios,
    coverage,
    drawn_chain,
    exact_chain,
    maximum_gap,
    mixed_kernel,
    needle_regrets,
    numbered_chain,
    random_network,
    small_network,
)
from kbrepro.papers.gpn_ucb.layers import OperatorKernel, draw_layer, largest_value, lipschitz, with_output
from kbrepro.papers.gpn_ucb.network import NetworkProblem, compose
from kbrepro.papers.gpn_ucb.policies import (
    GPNUCB,
    black_box_ei,
    black_box_ucb,
    composite_mean,
    gpn_ucb,
    simple_regrets,
    uniform_design,
)
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior, OperatorPosterior
from kbrepro.simulation import run

LINE = grid(30, 1, -2, 2)


def rng(*seed):
    return np.random.default_rng([57, *seed])


def chain(seed=0, side=8):
    return exact_chain(rng(seed), side)


def pulled(sets, problem, n, seed=0):
    for arm in rng(seed, 1).integers(len(problem.arms), size=n):
        sets.update(arm, problem.pull(arm, rng(0)))
    return sets


# Layers: norms and Lipschitz constants


@pytest.mark.parametrize("kernel", [SquaredExponential(0.7), Matern(1.2, nu=2.5), Matern(0.8, nu=1.5)])
def test_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel):
    layer = draw_layer(rng(1), kernel, rng(2).uniform(-2, 2, (6, 2)), 3, 1.7)
    K = kernel(layer.centres, layer.centres)
    for w in layer.weights.T:
        assert np.sqrt(w @ K @ w) == pytest.approx(1.7, rel=1e-9)
    X = rng(3).uniform(-3, 3, (300, 2))
    values, distance = layer(X), cdist(X, X)
    slopes = np.abs(values[:, None] - values[None])[distance > 0] / distance[distance > 0][:, None]
    assert slopes.max() <= lipschitz(kernel, 1.7)
    assert np.abs(values).max() <= largest_value(kernel, 1.7)


@pytest.mark.parametrize("kernel", [mixed_kernel(2), OperatorKernel((KERNEL,), (np.eye(2),))])
def test_vector_layers_have_their_norm_and_keep_their_lipschitz_constant(kernel):
    layer = draw_layer(rng(4), kernel, rng(5).uniform(-2, 2, (5, 1)), 2, 1.3)
    assert layer.norms == pytest.approx([1.3], rel=1e-9)
    X = np.linspace(-3, 3, 400)[:, None]
    steps = np.linalg.norm(np.diff(layer(X), axis=0), axis=1) / np.diff(X[:, 0])
    assert steps.max() <= lipschitz(kernel, 1.3)
    assert np.linalg.norm(layer(X), axis=1).max() <= largest_value(kernel, 1.3)


def test_the_constant_of_the_squared_exponential_is_norm_over_lengthscale_and_is_reached():
    assert lipschitz(SquaredExponential(0.5), 2.0) == pytest.approx(4.0)
    a, b = np.array([[-1e-3]]), np.array([[1e-3]])
    k = KERNEL(a, b)[0, 0]
    steepest = (1 - k) * 2 / np.sqrt(2 - 2 * k) / 2e-3  # f = (k_a - k_b) scaled to norm 1
    assert steepest == pytest.approx(lipschitz(KERNEL, 1.0), rel=1e-5)


def test_kernels_without_a_constant_are_refused():
    with pytest.raises(ValueError, match="need not be Lipschitz"):
        lipschitz(Matern(1.0, nu=0.5), 1.0)


def test_exact_chains_keep_what_they_promise():
    problem = chain(6, side=20)
    assert problem.structure == "chain" and problem.lipschitz == pytest.approx(2.0)
    assert max(np.abs(output).max() for output in problem.outputs) <= 2.0


# Posteriors


def dense(kernel, X, y, Z, noise_variance):
    factor = cho_factor(kernel(X, X) + noise_variance * np.eye(len(X)), lower=True)
    cross = kernel(Z, X)
    variance = kernel.diag(Z) - np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
    return cross @ cho_solve(factor, y), variance


@pytest.mark.parametrize("noise_variance", [1e-7, 1e-2])
def test_the_layer_posterior_is_the_dense_one(noise_variance):
    layer = draw_layer(rng(7), KERNEL, rng(8).uniform(-2, 2, (4, 1)), 2, 2.0)
    X, Z = rng(9).uniform(-2, 2, (40, 1)), np.linspace(-3, 3, 25)[:, None]
    posterior = LayerPosterior(KERNEL, Z, noise_variance, n_outputs=2)
    for x, y in zip(X, layer(X), strict=True):
        posterior.update(x, y)
    mean, variance = dense(KERNEL, X, layer(X), Z, noise_variance)
    np.testing.assert_allclose(posterior.mean, mean, atol=2e-6)
    np.testing.assert_allclose(posterior.variance, variance, atol=1e-9)
    elsewhere = np.array([[0.123], [1.7]])
    for here, there in zip(posterior.at(elsewhere), dense(KERNEL, X, layer(X), elsewhere, noise_variance), strict=True):
        np.testing.assert_allclose(here, there, atol=2e-6)


def test_the_band_holds_at_noise_variance_1e_7_and_many_repeats():
    layer = draw_layer(rng(10), KERNEL, rng(11).uniform(-5, 5, (12, 2)), 1, 2.0)
    arms = grid(20, 2, -5, 5)
    posterior = LayerPosterior(KERNEL, arms, 1e-7)
    for arm in rng(12).integers(60, size=200):
        posterior.update(arms[arm], layer(arms[arm : arm + 1])[0])
    assert (np.abs(layer(arms) - posterior.mean)[:, 0] <= 2.0 * posterior.sd).all()


def test_the_operator_posterior_is_the_dense_one_and_its_band_holds():
    kernel = mixed_kernel(2)
    layer = draw_layer(rng(13), kernel, rng(14).uniform(-2, 2, (5, 1)), 2, 1.0)
    X, Z = rng(15).uniform(-2, 2, (15, 1)), np.linspace(-2, 2, 11)[:, None]
    posterior = OperatorPosterior(kernel, Z, 1e-6)
    for x, y in zip(X, layer(X), strict=True):
        posterior.update(x, y)
    pairs = with_output(Z, 2)
    mean, variance = dense(kernel, with_output(X, 2), layer(X).ravel(), pairs, 1e-6)
    np.testing.assert_allclose(posterior.mean.ravel(), mean, atol=1e-6)
    np.testing.assert_allclose(np.einsum("pii->pi", posterior.covariance).ravel(), variance, atol=1e-8)
    np.testing.assert_allclose(posterior.at(Z)[1], posterior.sd**2, atol=1e-8)
    assert (np.linalg.norm(layer(Z) - posterior.mean, axis=1) <= posterior.sd + 1e-10).all()


# Envelopes and boxes


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 2), st.floats(0.5, 3), st.floats(0.1, 4))
def test_the_envelope_is_the_brute_force_one(seed, n, d, L, radius):
    points = CubeGrid(-1.0, 1.0, n, d).points
    values, Z = rng(seed).normal(size=(len(points), 2)), rng(seed, 1).uniform(-1, 1, (7, d))
    found = lower_envelope(values, neighbour_slopes(Z, points, L, radius))
    for z, row in zip(Z, found, strict=True):
        near = [(v, np.linalg.norm(z - p)) for v, p in zip(values, points, strict=True)]
        for j in range(2):
            allowed = [v[j] + L * r for v, r in near if r <= radius]
            assert row[j] == pytest.approx(min(allowed, default=np.inf))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 2))
def test_box_maxima_are_the_brute_force_ones(seed, n, d):
    cube = CubeGrid(-1.0, 1.0, n, d)
    values = rng(seed).normal(size=(n,) * d + (1,))
    low = rng(seed, 1).uniform(-1, 0.5, (20, d))
    high = low + rng(seed, 2).uniform(0, 1, (20, d))
    first, last = box_indices(cube, low, high, 0.0)
    maxima = box_maxima(values)
    for a, b, f, t in zip(low, high, first, last, strict=True):
        inside = ((cube.points >= a - 1e-9) & (cube.points <= b + 1e-9)).all(axis=1)
        assert inside.any() == (f <= t).all()
        if inside.any():
            assert maxima[tuple(np.stack([f, t], axis=1).ravel())] == values.reshape(-1)[inside].max()


# Confidence sets


@pytest.mark.parametrize(("mode", "half"), [("paper", 0.0), ("outward", 2 / 24)])
def test_the_interval_recursion_is_the_dense_search(mode, half):
    """Chains: every set from an own search over grid points, by the words of appendix L.2, or over whole cells."""
    problem = random_network(rng(16), "chain", arms=LINE, widths=(1, 1, 1), norm=1.0)
    sets = pulled(BoxSets(problem, n_grid=25, half_width=2.0, mode=mode), problem, 3)
    D, L = np.linspace(-2, 2, 25), problem.lipschitz

    def bars(i, z):
        near = np.abs(D - z) <= 1 + 1e-12
        mean, sd = sets.posteriors[i].mean[near, 0], sets.posteriors[i].sd[near]
        slope = L * np.abs(D[near] - z)
        return (mean - sd - slope).max() - L * half, (mean + sd + slope).min() + L * half

    regions = sets.regions()
    for arm in range(len(LINE)):
        mean, sd = sets.posteriors[0].mean[arm, 0], sets.posteriors[0].sd[arm]
        low, high = mean - sd, mean + sd
        for i in (1, 2):
            inside = [z for z in D if low - half - 1e-9 <= z <= high + half + 1e-9] or [low, high]
            ends = [bars(i, z) for z in inside]
            low, high = min(e[0] for e in ends), max(e[1] for e in ends)
            assert regions[i][0][arm, 0] == pytest.approx(low, abs=1e-9)
            assert regions[i][1][arm, 0] == pytest.approx(high, abs=1e-9)


def test_ball_sets_are_the_dense_search():
    problem = random_network(rng(17), "multi-output, mixed", arms=LINE[::3], widths=(2, 2, 1), norm=1.0)
    sets = pulled(BallSets(problem, n_grid=5, half_width=1.2, mode="outward"), problem, 4)
    first, second = sets.regions()
    grid_points, L, cell = sets.cubes[0].points, problem.lipschitz, sets.cubes[0].half_diagonal
    mean, sd = sets.posteriors[1].mean, sets.posteriors[1].sd

    def belongs(z, w):
        near = np.linalg.norm(grid_points - z, axis=1) <= 1 + 1e-12
        distance = np.linalg.norm(mean[near] - w, axis=1)
        return (distance <= sd[near] + L * (np.linalg.norm(grid_points[near] - z, axis=1) + cell) + cell + 1e-12).all()

    for arm in range(len(problem.arms)):
        ball = np.linalg.norm(grid_points - sets.posteriors[0].mean[arm], axis=1)
        np.testing.assert_array_equal(first[arm], ball <= sets.posteriors[0].sd[arm] + cell)
        for j, w in enumerate(grid_points):
            assert second[arm, j] == any(belongs(z, w) for z in grid_points[first[arm]])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(SMALL)))
def test_outward_rounded_sets_never_miss(seed, structure):
    """Random networks with exact norms on coarse grids; with plain rounding this goes red at once."""
    problem, n_grid = small_network(rng(seed), structure)
    kind = BallSets if problem.structure == "multi-output" else BoxSets
    sets = kind(problem, n_grid=max(5, n_grid // 2), half_width=1.5, mode="outward")
    for n in (0, 1, 3, 8):
        pulled(sets, problem, n, seed)
        assert sets.covers().all()


def test_plain_rounding_does_miss():
    missed = [coverage(1, trial, "chain", 8)["paper"][0].sum() for trial in range(3)]
    assert sum(missed) > 100


def told_larger_norm(norm_bound):
    """A chain of norm-1 layers, L = 1, whose policies are told a larger B."""
    return replace(random_network(rng(18), "chain", arms=LINE, widths=(1, 1, 1), norm=1.0), norm_bound=norm_bound)


def widths(problem, envelope, mode="outward"):
    sets = BoxSets(problem, n_grid=81, half_width=4.0, mode=mode, envelope=envelope)
    low, high = pulled(sets, problem, 4).bounds()
    return high - low


def test_the_envelope_narrows_the_sets_where_b_is_loose():
    problem = told_larger_norm(3.0)
    assert (widths(problem, True) <= widths(problem, False) + 1e-12).all()
    assert widths(problem, True).mean() < 0.7 * widths(problem, False).mean()


def test_the_envelope_adds_nothing_where_l_is_b_over_the_lengthscale():
    """Two functions within the band differ by what the norm allows: the band is all but Lipschitz with B / l itself."""
    problem = told_larger_norm(1.0)
    assert widths(problem, True).mean() > 0.97 * widths(problem, False).mean()


def test_a_feed_forward_network_of_width_one_is_a_chain():
    problem = random_network(rng(19), "feed-forward", arms=LINE, widths=(1, 1, 1), norm=1.0)
    vector = NetworkProblem(
        problem.arms, problem.outputs, [OperatorKernel((KERNEL,), (np.eye(1),))] * 3, 1.0, problem.lipschitz
    )
    assert problem.structure == "chain"
    box = pulled(BoxSets(problem, n_grid=41, half_width=1.5, mode="outward"), problem, 5)
    ball = pulled(BallSets(vector, n_grid=41, half_width=1.5, mode="outward"), vector, 5)
    for a, b in zip(box.bounds(), ball.bounds(), strict=True):
        np.testing.assert_allclose(a, b, atol=0.25)  # grid cells stand for intervals: a cell more or less a layer


def test_multi_output_with_the_identity_has_the_composite_means_of_a_feed_forward_network():
    wide = random_network(rng(20), "feed-forward", arms=LINE, widths=(2, 2, 1), norm=1.0)
    kernels = [OperatorKernel((KERNEL,), (np.eye(n),)) for n in (2, 2, 1)]
    vector = NetworkProblem(wide.arms, wide.outputs, kernels, 2.0, 2.0)
    chosen = uniform_design(LINE, 6)
    np.testing.assert_allclose(composite_mean(wide, chosen), composite_mean(vector, chosen), atol=1e-6)


# Policies


CHAIN_POLICIES = {
    "GPN-UCB": gpn_ucb,
    "cUCB": policies.cascade_ucb,
    "OI": policies.optimistic_improvement,
    "cEI": partial(cascade_ei.cascade_ei, samples=20),
    "cEI, exact": cascade_ei.cascade_ei,
    "GP-UCB": black_box_ucb,
    "EI": black_box_ei,
}


@pytest.mark.parametrize("make", CHAIN_POLICIES.values(), ids=CHAIN_POLICIES)
def test_every_policy_starts_at_the_same_random_arm_and_finds_good_ones(make):
    problem = chain(21)
    first = [make(problem, 40).ask(rng(s)) for s in range(5)]
    assert first == [int(rng(s).permutation(64).argmin()) for s in range(5)]
    trace = run(make(problem, 40), problem, 40, rng(22))
    assert trace.regret.min() <= 0.05 * problem.reward_range
    np.testing.assert_array_equal(trace.observations, problem.expected_reward[trace.arms])


def test_gpn_ucb_pulls_the_largest_upper_bound():
    problem = chain(23)
    policy = GPNUCB(pulled(BoxSets(problem), problem, 6))
    upper = policy.sets.bounds()[1]
    assert upper[policy.ask(rng(24))] >= upper.max() - 1e-9


def test_cascade_ucb_is_the_recursion_on_dense_posteriors():
    problem = chain(25)
    policy = policies.cascade_ucb(problem, 10)
    arms = [3, 17, 40, 62, 9]
    for arm in arms:
        policy.tell(arm, problem.pull(arm, rng(0)))
    z, spread, inputs = problem.arms, 0.0, problem.arms[arms]
    for output in problem.outputs:
        mean, variance = dense(KERNEL, inputs, output[arms], z, 1e-7)
        spread = np.sqrt(np.maximum(variance, 0)) + 2.0 * spread
        z, inputs = mean, output[arms]
    np.testing.assert_allclose(policy.index(rng(0)), z[:, 0] + 2.0 * spread, atol=1e-4)
    oi = policies.optimistic_improvement(problem, 10, b=0.7)
    for arm in arms:
        oi.tell(arm, problem.pull(arm, rng(0)))
    upper, lower = z[:, 0] + 2.0 * spread, z[:, 0] - 2.0 * spread
    expected = np.maximum(upper - lower.max(), 0.7 / (1 + np.log(5)) * spread)
    np.testing.assert_allclose(oi.index(rng(0)), expected, atol=1e-4)


@pytest.fixture(scope="module")
def told():
    """A chain after a few pulls, told to both forms of cEI."""
    problem = chain(26)
    policies = cascade_ei.cascade_ei(problem, 9), cascade_ei.cascade_ei(problem, 9, samples=40_000)
    for arm in (3, 30, 60, 25, 12):
        for policy in policies:
            policy.tell(arm, problem.pull(arm, rng(0)))
    return problem, *policies


def direct_samples(problem, pulls, n, generator):
    """Samples of every arm's reward straight from the posteriors, without tables."""
    layers = [LayerPosterior(KERNEL, problem.arms[:1] if i == 0 else np.zeros((1, 1)), 1e-7) for i in range(3)]
    for arm in pulls:
        z = problem.arms[arm]
        for layer, y in zip(layers, problem.split(problem.pull(arm, generator)), strict=True):
            layer.update(z, y)
            z = y
    z = np.repeat(problem.arms, n, axis=0)
    for layer in layers:
        mean, variance = layer.at(z)
        z = mean + np.sqrt(variance)[:, None] * generator.standard_normal((len(z), 1))
    return z.reshape(len(problem.arms), n)


def test_both_forms_of_cascade_ei_agree_with_direct_sampling(told):
    problem, exact, sampled = told
    n = 4000
    gains = np.maximum(direct_samples(problem, (3, 30, 60, 25, 12), n, rng(27)) - exact.best_reward, 0)
    error = gains.std(axis=1) / np.sqrt(n) + 1e-4
    assert (np.abs(exact.expected_improvement() - gains.mean(axis=1)) <= 5 * error).all()
    many = sampled.expected_improvement(rng(28))
    assert (np.abs(exact.expected_improvement() - many) <= 5 * error * np.sqrt(n / 40_000) + 1e-4).all()


def test_the_quadrature_is_the_brute_force_sum(told):
    """Nodes far closer than any feature of the integrands, no smoothing."""
    _, exact, _ = told
    nodes = np.arange(-6.5, 6.5, 0.01)
    weights = np.exp(-0.5 * nodes**2) / np.exp(-0.5 * nodes**2).sum()
    last = exact.posterior.table(2)
    value = cascade_ei.expected_excess(last[:, 0], np.sqrt(last[:, 1]), exact.best_reward)
    middle = exact.posterior.table(1)
    for mean, sd in ((middle[:, 0], np.sqrt(middle[:, 1])), exact.posterior.first()):
        z = mean[:, None] + sd[:, None] * nodes
        value = of_layers.interpolate(value[:, None], z)[..., 0] @ weights
    np.testing.assert_allclose(exact.expected_improvement(), np.maximum(value, 0), atol=1e-4 * value.max())


def test_tables_keep_their_stated_errors():
    posterior = LayerPosterior(KERNEL, of_layers.table_points(), 1e-7)
    layer = draw_layer(rng(29), KERNEL, rng(30).uniform(-2, 2, (4, 1)), 1, 2.0)
    for x in rng(31).uniform(-2, 2, (30, 1)):
        posterior.update(x, layer(x[None])[0])
    Z = rng(32).uniform(-3, 3, (500, 1))
    mean, variance = posterior.at(Z)
    found = of_layers.interpolate(np.column_stack([posterior.mean[:, 0], posterior.variance]), Z[:, 0])
    assert np.abs(found[:, 0] - mean[:, 0]).max() <= 1e-6  # rounding of the solves, well above the 5e-9 of the cubics
    assert np.abs(found[:, 1] - variance).max() <= 2e-8
    fine = cascade_ei._fine(np.column_stack([posterior.mean[:, 0], posterior.variance]))
    looked_up = cascade_ei._draw(fine, Z[:, 0].astype(np.float32), np.zeros(500, np.float32))
    assert np.abs(looked_up - mean[:, 0]).max() <= 2e-6


def test_nonadaptive_sampling_finds_the_maximum_when_it_sees_everything():
    problem = chain(33)
    assert len(set(uniform_design(problem.arms, 8))) == 64
    plain, projected = (simple_regrets(problem, [2, 8], rng(34), project) for project in (False, True))
    assert plain[1] <= 1e-3 and projected[1] <= 1e-3


# Chains, bounds and needles


def test_numbered_chains_depend_on_their_number_alone():
    make = partial(numbered_chain, root=5, per_chain=3, side=6)
    same = [make(rng(t), t).expected_reward for t in range(4)]
    np.testing.assert_array_equal(same[0], same[2])
    assert not np.allclose(same[0], same[3])
    assert drawn_chain(rng(35), 6).structure == "chain"
    assert 0 <= maximum_gap(make(None, 0)) <= 1


def test_step_weights_are_the_equations_written_out():
    B, L = 3.0, 2.0
    np.testing.assert_allclose(bounds.step_weights("chain", (1, 1, 1), B, L), 2 * B * np.array([16, 4, 1]))
    wide = 2 * B * np.array([16 * np.sqrt(6), 4 * np.sqrt(3), 1])
    np.testing.assert_allclose(bounds.step_weights("feed-forward", (2, 3, 1), B, L), wide)
    vector = [2 * L * 5 * L * 4 * B, 2 * L * 4 * B, 2 * B]
    np.testing.assert_allclose(bounds.step_weights("multi-output", (2, 2, 1), B, L), vector)
    assert bounds.cumulative_factor("feed-forward", (2, 3, 1), B, L) == pytest.approx(16 * np.sqrt(6) * B * 4)
    assert bounds.simple_upper_rate(1.0, m=4, norm=2.0, lipschitz=3.0, nu=2.0, d=2) == 2.0**7 * 3.0**8


def test_regret_stays_within_the_bounds():
    for structure in ("chain", "multi-output, mixed", "feed-forward"):
        assert bound_ratios(3, 0, structure, 12, "outward").max() <= 1


@pytest.mark.parametrize(("nu", "printed"), [(1.0, 0.958), (1.5, 0.939), (2.0, 0.934)])
def test_the_three_digits_of_figure_6(nu, printed):
    assert round(needle.slope_ratio(nu), 3) == printed
    assert needle.matern_profile(np.array(0.5), 1.0) == pytest.approx(np.sqrt(2) * 0.5 * kv(1, np.sqrt(2) * 0.5))


def test_the_amplifier_has_its_norm_and_raises_the_needle():
    kernel, scale = Matern(1.0, nu=1.5), needle.amplifier_scale(1.5)
    centres, weights = np.array([[0.5], [-0.5]]), np.array([scale / 2, -scale / 2])
    assert np.sqrt(weights @ kernel(centres, centres) @ weights) == pytest.approx(5.0)
    z = np.linspace(-1, 1, 9)
    np.testing.assert_allclose(needle.amplifier(z, 1.5), kernel(z[:, None], centres) @ weights, atol=1e-12)
    problem = needle.needle_problem(7, 4, 0.15)
    assert problem.expected_reward.max() == pytest.approx(0.3)
    assert np.sum(problem.expected_reward > 1e-9) <= 9


def test_no_policy_beats_the_lower_bound():
    M, searching = 9, partial(needle_regrets, policies={"GPN-UCB": gpn_ucb, "EI": black_box_ei}, per_side=3)
    found = [searching(1, j, epsilon=0.15, horizon=3) for j in range(M)]
    for name in found[0]:
        assert np.mean([f[name] for f in found]) >= 0.15


# Errors


def test_bad_networks_are_refused():
    layers = [draw_layer(rng(36), KERNEL, rng(37).normal(size=(3, d)), 1, 1.0) for d in (1, 2)]
    with pytest.raises(ValueError, match="layer 1 takes 2 inputs and is given 1: dimensions must chain"):
        compose(LINE, layers, [KERNEL] * 2, 1.0, 1.0)
    good = random_network(rng(38), "chain", arms=LINE, widths=(1, 1), norm=1.0)
    with pytest.raises(ValueError, match=r"lipschitz = 0\.5 is not allowed: lipschitz must be at least 1"):
        NetworkProblem(good.arms, good.outputs, good.kernels, 1.0, 0.5)
    with pytest.raises(ValueError, match=r"norm_bound = 0\.0 is not allowed"):
        NetworkProblem(good.arms, good.outputs, good.kernels, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"the grid \[-0\.9, 0\.9\] misses outputs of the layer"):
        BoxSets(good, half_width=0.9)
    with pytest.raises(ValueError, match=r"observation has shape \(3,\)"):
        BoxSets(good, half_width=1.0).update(0, np.zeros(3))
    with pytest.raises(ValueError, match="mode = 'inward' is not allowed"):
        BoxSets(good, half_width=1.0, mode="inward")
    wide = random_network(rng(39), "feed-forward", arms=LINE, widths=(2, 1), norm=1.0)
    with pytest.raises(ValueError, match="rivals take plain chains only"):
        policies.cascade_ucb(wide, 5)


def test_repeated_points_without_noise_are_refused():
    posterior = LayerPosterior(KERNEL, LINE, 0.0)
    posterior.update(LINE[3], np.array([0.5]))
    with pytest.raises(ValueError, match="noise_variance = 0 is not allowed with repeated points"):
        posterior.update(LINE[3], np.array([0.5]))


def test_shapes_are_checked_at_the_door():
    posterior = LayerPosterior(KERNEL, LINE, 1e-7)
    with pytest.raises(ValueError, match="the shapes disagree"):
        posterior.update(LINE[3], np.zeros((1, 1)))
    with pytest.raises(ValueError, match="the shapes disagree"):
        posterior.update(np.zeros(2), np.zeros(1))
    assert posterior.n_pulls == 0
