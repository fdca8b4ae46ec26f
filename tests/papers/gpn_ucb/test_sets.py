"""Confidence sets: envelopes, maxima, intervals and balls by dense search; what the envelope does; sets that hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.problems import SMALL, RandomNetwork
from kbrepro.papers.gpn_ucb.sets import (
    BallSets,
    BoxSets,
    FeedForward,
    inside_boxes,
    largest_inside,
    lower_envelope,
    neighbour_slopes,
)
from kbrepro.problems import Trial

CHAIN = RandomNetwork(FeedForward(SquaredExponential(1.0)), grid(30, 1, -2, 2), (1, 1, 1))


def rng(*seed):
    return np.random.default_rng([57, *seed])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 2), st.floats(0.5, 3), st.floats(0.1, 4))
def test_envelopes_and_maxima_over_boxes_are_the_brute_force_ones(seed, n, d, L, radius):
    points, Z = grid(n, d, -1, 1), rng(seed, 1).uniform(-1, 0.5, (9, d))
    values, high = rng(seed).normal(size=(len(points), 2)), Z + rng(seed, 2).uniform(0, 1, (9, d))
    enveloped = lower_envelope(values, neighbour_slopes(Z, points, L, radius))
    largest = largest_inside(values, inside_boxes(points, Z, high))
    for z, end, low, most in zip(Z, high, enveloped, largest, strict=True):
        near = [v + L * r for v, p in zip(values, points, strict=True) if (r := np.linalg.norm(z - p)) <= radius]
        inside = [v for v, p in zip(values, points, strict=True) if (z <= p).all() and (p <= end).all()]
        np.testing.assert_allclose(low, np.min(near, axis=0) if near else np.inf)
        np.testing.assert_array_equal(most, np.max(inside, axis=0) if inside else [-np.inf, -np.inf])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(SMALL)))
def test_outward_rounded_sets_never_miss(pulled, seed, structure):
    """Random networks with exact norms on coarse grids; with plain rounding this goes red at once."""
    network, n_grid = SMALL[structure]
    problem = network(Trial(57, seed))
    sets = problem.model.structure.sets(problem.model, n_grid=max(5, n_grid // 2), half_width=1.5, mode="outward")
    for n in (0, 1, 3, 8):
        pulled(sets, problem, n, seed)
        assert sets.covers(problem.outputs).all()


# Boxes


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.sampled_from(["paper", "outward"]), st.booleans(), st.booleans())
def test_the_interval_recursion_is_the_dense_search(pulled, seed, n, mode, itself, first):
    """Chains: every set from an own search over grid points, by the words of appendix L.2, or over whole cells."""
    problem, half = CHAIN(Trial(57, seed)), 2 / 24 if mode == "outward" else 0.0
    problem = replace(problem, model=replace(problem.model, lipschitz=1.5))
    sets = BoxSets(problem.model, n_grid=25, half_width=2.0, mode=mode, itself=itself, first=first)
    pulled(sets, problem, n, seed)
    D, X, L = np.linspace(-2, 2, 25), problem.model.points[:, 0], 1.5

    def bars(i, z, points, extra):
        near = np.abs(points - z) <= 1 + 1e-12
        mean, sd = sets.posteriors[i].mean[near, 0], sets.posteriors[i].sd[near]
        slope = L * np.abs(points[near] - z)
        low, high = (mean - sd - slope).max(), (mean + sd + slope).min()
        if extra:  # the bounds at z itself
            (mean,), (sd,) = (values.ravel() for values in sets.posteriors[i].at(np.array([[z]])))
            low, high = max(low, mean - sd), min(high, mean + sd)
        return low, high

    regions = sets.regions()
    for arm in range(0, 30, 3):
        mean, sd = sets.posteriors[0].mean[arm, 0], sets.posteriors[0].sd[arm]
        low, high = bars(0, X[arm], X, False) if first else (mean - sd, mean + sd)
        for i in (1, 2):
            np.testing.assert_allclose([ends[arm, 0] for ends in regions[i - 1]], [low, high], atol=1e-9)
            inside = [z for z in D if low - half - 1e-9 <= z <= high + half + 1e-9]
            ends = np.array([bars(i, z, D, itself and not inside) for z in inside or (low, high)])
            low, high = ends[:, 0].min() - L * half, ends[:, 1].max() + L * half
    np.testing.assert_allclose([bound[arm] for bound in sets.bounds()], [low, high], atol=1e-9)


# Balls


@pytest.mark.parametrize("mode", ["paper", "outward"])
def test_ball_sets_are_the_dense_search(pulled, mode):
    network = replace(SMALL["multi-output"][0], points=grid(30, 1, -2, 2)[::3])
    problem = network(Trial(57, 17))
    sets = pulled(BallSets(problem.model, n_grid=5, half_width=1.2, mode=mode), problem, 4)
    first, second = sets.regions()
    points, L = sets.posteriors[1].points, problem.model.lipschitz
    cell = 0.6 / np.sqrt(2) if mode == "outward" else 0.0
    mean, sd = sets.posteriors[1].mean, sets.posteriors[1].sd

    def excess(z, w):
        near = np.linalg.norm(points - z, axis=1) <= 1 + 1e-12
        slope = L * (np.linalg.norm(points[near] - z, axis=1) + cell)
        return (np.linalg.norm(mean[near] - w, axis=1) - sd[near] - slope).max()

    upper, last = sets.bounds()[1], sets.posteriors[2]
    for arm in range(problem.model.n_arms):
        over = np.linalg.norm(points - sets.posteriors[0].mean[arm], axis=1) - sets.posteriors[0].sd[arm]
        inside = (over <= cell + 1e-12) | (over == over.min()) * (over.min() > cell)
        np.testing.assert_array_equal(first[arm], inside)
        by_w = np.array([min(excess(z, w) for z in points[inside]) for w in points])
        inside = (by_w <= cell + 1e-12) | (by_w == by_w.min()) * (by_w.min() > cell)
        np.testing.assert_array_equal(second[arm], inside)
        slope = [L * np.linalg.norm(points - w, axis=1) for w in points[inside]]
        near = [np.where(s <= L * (1 + 1e-12), last.mean[:, 0] + last.sd + s, np.inf).min() for s in slope]
        assert upper[arm] == pytest.approx(max(near) + L * cell)


def test_bad_sets_are_refused():
    model = CHAIN(Trial(57, 38)).model
    with pytest.raises(ValueError, match=r"half_width = 0\.9 is not allowed: layer 0 returns up to 1"):
        model.structure.sets(model, half_width=0.9)
    with pytest.raises(ValueError, match="mode = 'inward' is not allowed"):
        model.structure.sets(model, half_width=1.0, mode="inward")
