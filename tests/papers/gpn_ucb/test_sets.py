"""Confidence sets: envelopes, maxima, intervals and balls by dense search; sets that hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from kbrepro.bandits.kernels import grid
from kbrepro.bandits.problems import Trial
from kbrepro.papers.gpn_ucb.problems import SMALL, DrawnChain, RandomNetwork
from kbrepro.papers.gpn_ucb.sets import (
    KERNEL,
    BoxSets,
    FeedForward,
    arm_neighbours,
    inside_boxes,
    largest_inside,
    lower_envelope,
    neighbour_slopes,
)

CHAIN = RandomNetwork(FeedForward(KERNEL), grid(30, 1, -2, 2), (1, 1, 1))


def rng(*seed):
    return np.random.default_rng([57, *seed])


def pulled(sets, problem, n, seed=0):
    """Sets that were told of n random arms."""
    for arm in rng(seed, 1).integers(problem.model.n_arms, size=n):
        sets.update(arm, problem.pull(arm, None))
    return sets


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 9),
    st.integers(1, 2),
    st.floats(0.5, 3),
    st.floats(0.1, 4),
)
def test_envelopes_and_maxima_over_boxes_are_the_brute_force_ones(seed, n, d, L, radius):
    points, Z = grid(n, d, -1, 1), rng(seed, 1).uniform(-1, 0.5, (9, d))
    values, high = rng(seed).normal(size=(len(points), 2)), Z + rng(seed, 2).uniform(0, 1, (9, d))
    enveloped = lower_envelope(values, neighbour_slopes(Z, points, L, radius))
    largest = largest_inside(values, inside_boxes(points, Z, high))
    for z, end, low, most in zip(Z, high, enveloped, largest, strict=True):
        near = [
            v + L * r
            for v, p in zip(values, points, strict=True)
            if (r := np.linalg.norm(z - p)) <= radius
        ]
        inside = [
            v for v, p in zip(values, points, strict=True) if (z <= p).all() and (p <= end).all()
        ]
        np.testing.assert_allclose(low, np.min(near, axis=0) if near else np.inf)
        np.testing.assert_array_equal(
            most, np.max(inside, axis=0) if inside else [-np.inf, -np.inf]
        )
    near, slopes = arm_neighbours(points, L, radius)
    at_arms = lower_envelope(values[:, :1], neighbour_slopes(points, points, L, radius))
    np.testing.assert_allclose((values[near, 0] + slopes).min(axis=0), at_arms[:, 0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["chain", "feed-forward"]))
def test_outward_rounded_sets_never_miss(seed, structure):
    """Random networks with exact norms on coarse grids; with plain rounding this goes red at
    once.
    """
    network, n_grid = SMALL[structure]
    problem = network(Trial(57, seed))
    sets = BoxSets(problem.model, n_grid=n_grid // 2, half_width=1.5, outward=True)
    for n in (0, 1, 3, 8):
        pulled(sets, problem, n, seed)
        for (low, high), output in zip(sets.regions(), problem.outputs, strict=True):
            assert (low - 1e-10 <= output).all() and (output <= high + 1e-10).all()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.booleans(), st.booleans(), st.booleans())
def test_the_interval_recursion_is_the_dense_search(seed, n, outward, envelope, first):
    """Chains: every set from an own search over grid points, by the words of appendix L.2, or over
    whole cells.
    """
    problem, half = CHAIN(Trial(57, seed)), 2 / 24 if outward else 0.0
    problem = replace(problem, model=replace(problem.model, lipschitz=1.5))
    sets = BoxSets(
        problem.model, n_grid=25, half_width=2.0, outward=outward, envelope=envelope, first=first
    )
    pulled(sets, problem, n, seed)
    D, X, L = np.linspace(-2, 2, 25), problem.model.points[:, 0], 1.5

    def bars(i, z, points, enveloped):
        if not enveloped:  # the bounds at z itself
            (mean,), (sd,) = (values.ravel() for values in sets.posteriors[i].at(np.array([[z]])))
            return mean - sd, mean + sd
        near = np.abs(points - z) <= 1 + 1e-12
        mean, sd = sets.posteriors[i].mean[near, 0], sets.posteriors[i].sd[near]
        slope = L * np.abs(points[near] - z)
        return (mean - sd - slope).max(), (mean + sd + slope).min()

    regions = sets.regions()
    for arm in range(0, 30, 3):
        low, high = bars(0, X[arm], X, first)
        for i in (1, 2):
            np.testing.assert_allclose(
                [ends[arm, 0] for ends in regions[i - 1]], [low, high], atol=1e-7
            )
            inside = [z for z in D if low - half - 1e-9 <= z <= high + half + 1e-9]
            ends = np.array([bars(i, z, D, envelope) for z in inside or (low, high)])
            low, high = ends[:, 0].min() - L * half, ends[:, 1].max() + L * half
    np.testing.assert_allclose([bound[arm] for bound in sets.bounds()], [low, high], atol=1e-7)


def test_over_all_arms_the_first_layer_is_enveloped_as_in_equations_9_and_10():
    problem = DrawnChain(15)(Trial(57, 4))
    low, high = pulled(BoxSets(problem.model), problem, 8).regions()[0]
    slopes = 2 * cdist(problem.model.points, problem.model.points)
    upper, lower = (high.T + slopes).min(axis=1), (low.T - slopes).max(axis=1)
    near, whole = (
        pulled(BoxSets(problem.model, **how), problem, 8).regions()[0]
        for how in ({"first": True}, {"all_arms": True})
    )
    np.testing.assert_allclose(np.squeeze(whole), [lower, upper], atol=1e-12)
    assert np.abs(np.subtract(near, whole)).max() > 0.1


def test_ball_sets_are_the_dense_search():
    problem = replace(SMALL["multi-output"][0], points=grid(30, 1, -2, 2)[::3])(Trial(57, 17))
    sets = pulled(problem.model.structure.sets(problem.model, n_grid=5, half_width=1.2), problem, 4)
    first, second = sets.regions()
    points, L = sets.posteriors[1].points, problem.model.lipschitz
    mean, sd = sets.posteriors[1].mean, sets.posteriors[1].sd

    def excess(z, w):
        near = np.linalg.norm(points - z, axis=1) <= 1 + 1e-12
        slope = L * np.linalg.norm(points[near] - z, axis=1)
        return (np.linalg.norm(mean[near] - w, axis=1) - sd[near] - slope).max()

    upper, last = sets.bounds()[1], sets.posteriors[2]
    for arm in range(problem.model.n_arms):
        over = (
            np.linalg.norm(points - sets.posteriors[0].mean[arm], axis=1)
            - sets.posteriors[0].sd[arm]
        )
        inside = (over <= 1e-12) | (over == over.min()) * (over.min() > 0)
        np.testing.assert_array_equal(first[arm], inside)
        by_w = np.array([min(excess(z, w) for z in points[inside]) for w in points])
        inside = (by_w <= 1e-12) | (by_w == by_w.min()) * (by_w.min() > 0)
        np.testing.assert_array_equal(second[arm], inside)
        slope = [L * np.linalg.norm(points - w, axis=1) for w in points[inside]]
        near = [
            np.where(s <= L * (1 + 1e-12), last.mean[:, 0] + last.sd + s, np.inf).min()
            for s in slope
        ]
        assert upper[arm] == pytest.approx(max(near))


def test_a_grid_that_does_not_hold_what_layers_return_is_refused():
    model = CHAIN(Trial(57, 38)).model
    with pytest.raises(
        ValueError, match=r"half_width = 0\.9 is not allowed: half_width must be at least 1"
    ):
        model.structure.sets(model, half_width=0.9)
