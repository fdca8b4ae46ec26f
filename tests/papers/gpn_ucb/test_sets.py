"""Confidence sets: envelopes by brute force, and networks on which the sets hold or miss."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.gpn_ucb.problems import SMALL, RandomNetwork, independent_outputs
from kbrepro.papers.gpn_ucb.sets import lower_envelope, neighbour_slopes
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


def test_a_feed_forward_network_of_width_one_is_a_chain_of_vectors_of_one(pulled):
    problem = CHAIN(Trial(57, 19))
    vector = replace(problem, model=replace(problem.model, structure=MultiOutput(independent_outputs)))
    box, ball = (
        pulled(its.model.structure.sets(its.model, n_grid=41, half_width=1.5, mode="outward"), its, 5)
        for its in (problem, vector)
    )
    for a, b in zip(box.bounds(), ball.bounds(), strict=True):
        np.testing.assert_allclose(a, b, atol=0.25)  # grid cells stand for intervals: a cell more or less a layer


def test_bad_sets_are_refused():
    model = CHAIN(Trial(57, 38)).model
    with pytest.raises(ValueError, match=r"half_width = 0\.9 is not allowed: layer 0 returns up to 1"):
        model.structure.sets(model, half_width=0.9)
    with pytest.raises(ValueError, match="mode = 'inward' is not allowed"):
        model.structure.sets(model, half_width=1.0, mode="inward")
    with pytest.raises(ValueError, match=r"half_width = 0\.0 is not allowed"):
        model.structure.sets(model, half_width=0.0)
    with pytest.raises(ValueError, match="n_grid = 1 is not allowed"):
        model.structure.sets(model, n_grid=1)
