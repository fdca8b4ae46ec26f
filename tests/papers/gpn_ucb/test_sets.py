"""Confidence sets: envelopes, maxima, intervals and balls by dense search; what the envelope does; sets that hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.problems import SMALL, RandomNetwork, exact_chain, mixed_outputs
from kbrepro.papers.gpn_ucb.sets import (
    BallSets,
    BoxSets,
    inside_boxes,
    largest_inside,
    lower_envelope,
    neighbour_slopes,
)
from kbrepro.papers.gpn_ucb.structures import FeedForward, MultiOutput
from kbrepro.problems import Trial

CHAIN = RandomNetwork(FeedForward(SquaredExponential(1.0)), grid(30, 1, -2, 2), (1, 1, 1))


def rng(*seed):
    return np.random.default_rng([57, *seed])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 2), st.floats(0.5, 3), st.floats(0.1, 4))
def test_the_envelope_is_the_brute_force_one(seed, n, d, L, radius):
    points = grid(n, d, -1, 1)
    values, Z = rng(seed).normal(size=(len(points), 2)), rng(seed, 1).uniform(-1, 1, (7, d))
    found = lower_envelope(values, neighbour_slopes(Z, points, L, radius))
    for z, row in zip(Z, found, strict=True):
        near = [(v, np.linalg.norm(z - p)) for v, p in zip(values, points, strict=True)]
        for j in range(2):
            allowed = [v[j] + L * r for v, r in near if r <= radius]
            assert row[j] == pytest.approx(min(allowed, default=np.inf))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(SMALL)))
def test_outward_rounded_sets_never_miss(pulled, seed, structure):
    """Random networks with exact norms on coarse grids; with plain rounding this goes red at once."""
    network, n_grid = SMALL[structure]
    problem = network(Trial(57, seed))
    model = problem.model
    sets = model.structure.sets(model, n_grid=max(5, n_grid // 2), half_width=1.5, mode="outward")
    for n in (0, 1, 3, 8):
        pulled(sets, problem, n, seed)
        assert sets.covers(problem.outputs).all()


# Boxes and balls


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 2))
def test_maxima_over_boxes_are_the_brute_force_ones(seed, n, d):
    points = grid(n, d, -1, 1)
    values = rng(seed).normal(size=(len(points), 2))
    low = rng(seed, 1).uniform(-1, 0.5, (20, d))
    high = low + rng(seed, 2).uniform(0, 1, (20, d))
    largest = largest_inside(values, inside_boxes(points, low, high))
    for a, b, found in zip(low, high, largest, strict=True):
        inside = [v for v, p in zip(values, points, strict=True) if (a <= p).all() and (p <= b).all()]
        np.testing.assert_array_equal(found, np.max(inside, axis=0) if inside else [-np.inf, -np.inf])


def test_grid_points_on_the_border_of_a_box_lie_inside_whatever_the_rounding():
    points = grid(11, 1, -0.1, 0.1)
    assert inside_boxes(points, points + 1e-12, points - 1e-12).sum() == 11


@pytest.mark.parametrize(("mode", "half"), [("paper", 0.0), ("outward", 2 / 24)])
def test_the_interval_recursion_is_the_dense_search(pulled, mode, half):
    """Chains: every set from an own search over grid points, by the words of appendix L.2, or over whole cells."""
    problem = CHAIN(Trial(57, 16))
    sets = pulled(BoxSets(problem.model, n_grid=25, half_width=2.0, mode=mode), problem, 3)
    D, L = np.linspace(-2, 2, 25), problem.model.lipschitz

    def bars(i, z):
        near = np.abs(D - z) <= 1 + 1e-12
        mean, sd = sets.posteriors[i].mean[near, 0], sets.posteriors[i].sd[near]
        slope = L * np.abs(D[near] - z)
        return (mean - sd - slope).max() - L * half, (mean + sd + slope).min() + L * half

    regions = sets.regions()
    for arm in range(problem.model.n_arms):
        mean, sd = sets.posteriors[0].mean[arm, 0], sets.posteriors[0].sd[arm]
        low, high = mean - sd, mean + sd
        for i in (1, 2):
            inside = [z for z in D if low - half - 1e-9 <= z <= high + half + 1e-9] or [low, high]
            ends = [bars(i, z) for z in inside]
            low, high = min(e[0] for e in ends), max(e[1] for e in ends)
            assert regions[i][0][arm, 0] == pytest.approx(low, abs=1e-9)
            assert regions[i][1][arm, 0] == pytest.approx(high, abs=1e-9)


def widths(pulled, norm_bound, envelope):
    """Widths of the bounds on a chain of norm-1 layers, L = 1, of which a B is told."""
    problem = CHAIN(Trial(57, 18))
    problem = replace(problem, model=replace(problem.model, norm_bound=norm_bound))
    sets = BoxSets(problem.model, n_grid=81, half_width=4.0, mode="outward", envelope=envelope)
    low, high = pulled(sets, problem, 4).bounds()
    return high - low


def test_the_envelope_narrows_the_sets_where_b_is_loose(pulled):
    with_it, without = (widths(pulled, 3.0, envelope) for envelope in (True, False))
    assert (with_it <= without + 1e-12).all()
    assert with_it.mean() < 0.7 * without.mean()


def test_the_envelope_adds_nothing_where_l_is_b_over_the_lengthscale(pulled):
    """Two functions within the band differ by what the norm allows: the band is all but Lipschitz with B / l itself."""
    assert widths(pulled, 1.0, True).mean() > 0.97 * widths(pulled, 1.0, False).mean()


# What L.2 leaves open

DRAW = exact_chain(7)


def told(pulled, n=9, **settings):
    problem = DRAW(Trial(57, 4))
    return problem, pulled(BoxSets(problem.model, **settings), problem, n)


def test_with_the_point_itself_an_arm_that_was_pulled_has_its_reward_as_bound(pulled):
    problem, plain = told(pulled)
    _, itself = told(pulled, itself=True)
    arms = np.random.default_rng([57, 0, 1]).integers(49, size=9)
    for sets, off in ((plain, (0.01, 0.1)), (itself, (0.0, 0.003))):
        error = np.abs(sets.bounds()[1][arms] - problem.expected_reward[arms]).max()
        assert off[0] <= error <= off[1]


def test_an_empty_set_may_be_stood_for_by_the_nearest_grid_point(pulled):
    _, sets = told(pulled, empty="nearest point", n_grid=41)
    low, high = sets.regions()[0]
    D, found = np.linspace(-5, 5, 41), sets._through(1, low, high)
    posterior = sets.posteriors[1]
    both = np.column_stack([posterior.mean[:, 0] + 2 * posterior.sd, 2 * posterior.sd - posterior.mean[:, 0]])
    for arm in range(49):
        if not ((low[arm] - 1e-9 <= D) & (high[arm] + 1e-9 >= D)).any():
            z = D[np.abs(D - (low[arm] + high[arm]) / 2).argmin()]
            near = np.abs(D - z) <= 1 + 1e-12
            expected = (both[near] + 2 * np.abs(D[near] - z)[:, None]).min(axis=0)
            np.testing.assert_allclose(found[arm], expected, atol=1e-9)
            break
    else:
        pytest.fail("no set without a grid point: the case is not tested")


def test_the_first_layer_may_have_an_envelope_over_the_arms(pulled):
    problem, sets = told(pulled, 3, first=True, radius=2.0)
    points, posterior = problem.model.points, sets.posteriors[0]
    low, high = sets.regions()[0]
    for arm in range(0, 49, 6):
        distance = np.linalg.norm(points - points[arm], axis=1)
        near = distance <= 2.0
        upper = posterior.mean[near, 0] + 2 * posterior.sd[near] + 2 * distance[near]
        lower = posterior.mean[near, 0] - 2 * posterior.sd[near] - 2 * distance[near]
        assert high[arm, 0] == pytest.approx(upper.min()) and low[arm, 0] == pytest.approx(lower.max())


def test_ball_sets_are_the_dense_search(pulled):
    network = RandomNetwork(MultiOutput(mixed_outputs), grid(30, 1, -2, 2)[::3], (2, 2, 1))
    problem = network(Trial(57, 17))
    sets = pulled(BallSets(problem.model, n_grid=5, half_width=1.2, mode="outward"), problem, 4)
    first, second = sets.regions()
    grid_points, L, cell = sets.posteriors[1].points, problem.model.lipschitz, sets.half_diagonals[0]
    mean, sd = sets.posteriors[1].mean, sets.posteriors[1].sd

    def belongs(z, w):
        near = np.linalg.norm(grid_points - z, axis=1) <= 1 + 1e-12
        distance = np.linalg.norm(mean[near] - w, axis=1)
        return (distance <= sd[near] + L * (np.linalg.norm(grid_points[near] - z, axis=1) + cell) + cell + 1e-12).all()

    for arm in range(problem.model.n_arms):
        ball = np.linalg.norm(grid_points - sets.posteriors[0].mean[arm], axis=1)
        np.testing.assert_array_equal(first[arm], ball <= sets.posteriors[0].sd[arm] + cell)
        for j, w in enumerate(grid_points):
            assert second[arm, j] == any(belongs(z, w) for z in grid_points[first[arm]])


def test_bad_sets_are_refused():
    model = CHAIN(Trial(57, 38)).model
    with pytest.raises(ValueError, match=r"half_width = 0\.9 is not allowed: layer 0 returns up to 1"):
        model.structure.sets(model, half_width=0.9)
    with pytest.raises(ValueError, match="mode = 'inward' is not allowed"):
        model.structure.sets(model, half_width=1.0, mode="inward")
    with pytest.raises(ValueError, match="n_grid = 1 is not allowed"):
        model.structure.sets(model, n_grid=1)
    with pytest.raises(ValueError, match="empty = 'middle' is not allowed"):
        model.structure.sets(model, empty="middle")
