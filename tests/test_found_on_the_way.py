"""The counterexamples of docs/found_on_the_way.md, each computed."""

import math

import numpy as np
import pytest

from kbrepro.information import greedy_gain
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb.sketch import FeaturePosterior, NystromPosterior, nystrom_features
from kbrepro.papers.gp_ucb.gain import spectral_bound, split_bound
from kbrepro.papers.pi_gp_ucb import covers
from kbrepro.papers.pi_gp_ucb.experiments import cover_too_large_until
from kbrepro.papers.pi_gp_ucb.partition import initial_side, must_split, possible_cells, split_exponent
from kbrepro.posterior import RowPosterior


@pytest.mark.parametrize("noise_variance", [0.5, 0.9, 10.0])
def test_lemma_7_8_of_srinivas_et_al_is_negative_for_one_arm_and_noise_of_variance_10(noise_variance):
    """It is below the gain from 0.5 on; the lemma that it relaxes, with the same factor, holds."""
    gained = greedy_gain(SquaredExponential(1.0), np.zeros((1, 1)), noise_variance, 1)[0][0]
    bound = split_bound(np.ones(1), noise_variance, 1)
    assert gained == pytest.approx(0.5 * math.log1p(1 / noise_variance)) and gained > bound
    assert (bound < 0) == (noise_variance > 1)
    assert gained < spectral_bound(np.ones(1), noise_variance, 1)[0]


@pytest.mark.parametrize(("d", "until"), [(1, 29), (2, 18), (3, 10)])
def test_the_first_cover_of_janz_et_al_exceeds_lemma_6(d, until):
    assert cover_too_large_until(10_000, d, 1.5) == until
    side, b = initial_side(10_000, d, 1.5), split_exponent(d, 1.5)
    assert side**d > 4 * (until + 1) ** (b * d) and side**d <= 4 * (until + 2) ** (b * d)
    proof_holds_from = math.ceil(side ** (1 / b)) - 1  # (t + 1)^b rho_0 >= 1
    assert proof_holds_from > until


def both_sides(kernel, n, run, chosen_by):
    """Both sides of Lemma 10 after n distinct arms on a line; `chosen_by(arms, noise)` marks those in the set."""
    rng = np.random.default_rng([10, run])
    arms, noise = rng.permutation(n)[:, None] / n, rng.uniform(-1, 1, n)
    inside = chosen_by(arms, noise)
    return covers.lemma_10(kernel, arms[inside], noise[inside], count=2, delta=0.1)


def noise_was_positive(arms, noise):
    """One set, chosen from what came before the last pull."""
    return (noise > 0) & (np.arange(len(noise)) < len(noise) - 1)


KERNELS = {"constant": covers.One(), "se": SquaredExponential(0.2), "matern": Matern(0.2, nu=1.5)}


@pytest.mark.parametrize(
    ("n", "left", "right"),
    [(200, 25, (11, 20, 24)), (500, 64, (12, 25, 32)), (1000, 126, (12, 29, 40)), (2000, 250, (13, 34, 49))],
)
def test_lemma_10_of_janz_et_al_is_false_for_a_set_that_looks_at_the_noise(n, left, right):
    for kernel, its in zip(KERNELS.values(), right, strict=True):
        sides = np.array([both_sides(kernel, n, run, noise_was_positive) for run in range(20)])
        assert (sides[:, 0] > sides[:, 1]).all() or n == 200
        assert sides.mean(axis=0) == pytest.approx([left, its], abs=0.75)
        if n == 2000:
            fails = np.sqrt(sides[:, 0]) > sides[:, 1]  # without the square
            assert fails.all() if kernel is KERNELS["constant"] else not fails.any()


def reached(horizon, d, nu):
    """Levels of the cells that hold all pulls, where the rule of splitting is asked after each pull."""
    side, found = initial_side(horizon, d, nu), [1]
    for pulls in range(1, horizon + 1):
        if must_split(side, pulls, d, nu, "paper"):
            side, found = 2 * side, [*found, pulls + 1]
    return found


@pytest.mark.parametrize(("d", "too_small"), [(1, []), (2, [10, 1000]), (3, [3, 10, 1000])])
def test_the_printed_number_of_cells_is_too_small_for_some_horizons(d, too_small):
    printed = {T: 4 * (T + 1) ** (split_exponent(d, 1.5) * d) for T in (1, 3, 10, 100, 1000, 10_000)}
    assert [T for T, its in printed.items() if sum(possible_cells(T, d, 1.5)) > its] == too_small


def test_the_numbers_of_cells_that_the_page_names():
    assert [sum(possible_cells(10_000, d, 1.5)) for d in (1, 2, 3)] == [330, 196_560, 153_391_616]
    assert (sum(possible_cells(1000, 2, 1.5)), int(4 * 1001 ** (2 * split_exponent(2, 1.5)))) == (16_709, 15_943)


@pytest.mark.parametrize(("d", "total"), [(1, 5.4), (2, 20.6), (3, 43.6)])
def test_shares_of_the_printed_union_add_up_to_more_than_one_and_those_by_level_to_less(d, total):
    cells, b = possible_cells(10_000, d, 1.5), split_exponent(d, 1.5)
    first = reached(10_000, d, 1.5)
    assert sum(n / (4 * (t + 1) ** (b * d)) for n, t in zip(cells, first, strict=True)) == pytest.approx(
        total, abs=0.05
    )
    assert sum(6 / (math.pi * (level + 1)) ** 2 for level in range(len(cells))) < 1


def test_dtc_may_lie_below_the_exact_variance_and_the_subset_of_regressors_far_below_it():
    """Calandriello et al., Sections 1 and 3.2: three of many pulls as subset, near its edge and far from it."""
    kernel, line, noise_variance = SquaredExponential(math.sqrt(1 / 200)), grid(100), 0.01
    pulls = np.random.default_rng(1).integers(0, 50, 215)
    exact, dtc = RowPosterior(kernel, line, noise_variance), NystromPosterior(kernel, line, noise_variance)
    for arm in pulls:
        exact.update(arm, 0.0)
        dtc.update(arm, 0.0)
    dtc.use_dictionary(pulls[:3])
    features = nystrom_features(kernel(line[dtc.inducing], line), dtc.inducing)
    regressors = FeaturePosterior(features, noise_variance)
    for arm in pulls:
        regressors.update(arm, 0.0)
    assert 1.1 < (exact.variance / dtc.variance).max() < 10 < 1e6 < (exact.variance / regressors.variance).max()
