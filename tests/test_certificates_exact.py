"""The statements of docs/errors.md about whole numbers and fractions, on ranges, in exact
arithmetic.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from kbrepro.bandits.confidence import Chowdhury2017
from kbrepro.bandits.kernels import Matern
from kbrepro.bandits.problems import Model
from kbrepro.papers.pi_gp_ucb.measures import cover_too_large_until
from kbrepro.papers.pi_gp_ucb.partition import (
    Cell,
    initial_side,
    must_split,
    possible_cells,
    split_exponent,
)

HORIZONS = (10, 30, 100, 300, 1000, 3000, 10_000)
every_d = pytest.mark.parametrize("d", [1, 2, 3])


# Janz et al., Lemma 6


def at_most(cells, factor, t, d, nu):
    """Whether cells <= factor (t + 1)^(b d), b = (d + 1) / (d + 2 nu): both sides to the power d +
    2 nu.
    """
    power = d + int(2 * nu)
    return Fraction(cells) ** power <= Fraction(factor) ** power * (t + 1) ** (d * (d + 1))


def too_many(factor, horizon, d, nu):
    """Rounds in which some t pulls can make more cells, first cover included, than the first cover
    and the bound.
    """
    side = initial_side(horizon, d, nu)
    total, first, rounds = side**d, side**d, []
    for t in range(1, horizon + 1):
        while must_split(side, t, d, nu, "paper"):
            side *= 2
            total += side**d
        if total > first and not at_most(total, factor, t, d, nu):
            rounds.append(t)
    return rounds


@every_d
@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_the_repaired_lemma_6_holds_in_each_round_of_each_horizon(d, nu):
    """The larger of the first cover and 4^d / (2^d - 1) (t + 1)^(b d)."""
    assert not any(too_many(Fraction(4**d, 2**d - 1), horizon, d, nu) for horizon in HORIZONS)


@every_d
def test_the_larger_of_both_is_enough_in_one_dimension_only(d):
    """A cell is there because its parent split, one level higher up than the proof looks."""
    assert any(too_many(4, horizon, d, 1.5) for horizon in HORIZONS) == (d > 1)


@every_d
@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_the_first_cover_of_janz_et_al_exceeds_lemma_6(d, nu):
    """In the first rounds alone; the proof holds from (t + 1)^b rho_0 >= 1 on, which is later."""
    for horizon in HORIZONS:
        side = initial_side(horizon, d, nu)
        late = [t for t in range(1, horizon + 1) if not at_most(side**d, 4, t, d, nu)]
        assert late == list(range(1, cover_too_large_until(horizon, d, nu) + 1))
        assert side ** (1 / split_exponent(d, nu)) - 1 >= len(late)
    assert len(late) == {1: 29, 2: 18, 3: 10}[d] or nu == 2.5


# Janz et al., Section 3: which cells need a new maximiser

T = 10_000


def by_round(t):
    return 4 * (t + 1) ** split_exponent(1, 1.5)


def by_horizon(t):
    return sum(possible_cells(T, 1, 1.5))


def best_arms(count, t, distance):
    """The best of two arms of a cell with one pull, of the first arm, in rounds t and t + 1, union
    over `count(t)`.

    The reward is such that their upper bounds are equal at the mean of the two printed widths.
    """
    alpha = 1 + 2 / T
    model = Model(
        np.array([[0.0], [distance]]), Matern(0.2, nu=1.5), alpha, noise_scale=1.0, norm=1.0
    )
    cell = Cell((0,), 1, np.arange(2), model)
    cell.update(0, 1.0)
    width = lambda n: Chowdhury2017(0.1 / n).of(model, cell.gain)  # noqa: E731
    equal = (width(by_round(t)) + width(by_round(t + 1))) / 2
    # in proportion to the reward
    mean = cell.mean * equal * (cell.sd[1] - cell.sd[0]) / (cell.mean[0] - cell.mean[1])
    return [int(np.argmax(mean + width(count(s)) * cell.sd)) for s in (t, t + 1)]


def test_the_best_arm_of_an_unchanged_cell_moves_with_n_t_alone():
    places = [
        (t, distance)
        for t in (*range(1, 20), 100, 1000, T - 1)
        for distance in (0.01, 0.1, 0.5, 1.0)
    ]
    assert all(best_arms(by_round, t, distance) == [0, 1] for t, distance in places)
    assert not any(len(set(best_arms(by_horizon, t, distance))) > 1 for t, distance in places)


def spread(correlation, alpha):
    """Variance of the arm not pulled less that of the arm pulled: positive, so that the two lines
    cross once.
    """
    return (1 - correlation**2 / (1 + alpha)) - (1 - 1 / (1 + alpha))


def test_the_two_upper_bounds_cross_once_for_any_correlation_below_one():
    correlations = [Fraction(n, 100) for n in range(-99, 100)]
    for alpha in (Fraction(n, 10) for n in range(10, 31)):
        assert all(spread(c, alpha) > 0 for c in correlations)
        assert spread(Fraction(1), alpha) == 0 > spread(Fraction(11, 10), alpha)
    assert all(by_round(t + 1) > by_round(t) for t in range(1, T)) and math.isclose(
        by_round(1), 4 * 2**0.5
    )


# Janz et al., Section 1: exponents

RANGE = [(Fraction(d), Fraction(n, 10)) for d in range(1, 21) for n in range(1, 1000, 7)]


def exponent(a, nu):
    """Of gamma_T sqrt(T), gamma_T of order T^(a / (a + 2 nu)): at least 1 where 2 nu <= a."""
    return Fraction(1, 2) + a / (a + 2 * nu)


def stated(d, nu):
    return (3 * d**2 + 2 * nu) / (2 * d**2 + 4 * nu)


def test_the_stated_exponent_has_d_squared_for_d_times_d_plus_one():
    assert all(exponent(d**2, nu) == stated(d, nu) for d, nu in RANGE)
    assert not any(exponent(d * (d + 1), nu) == stated(d, nu) for d, nu in RANGE)
    assert all(
        (exponent(a, nu) >= 1) == (2 * nu <= a) for d, nu in RANGE for a in (d**2, d * (d + 1))
    )
    assert all(exponent(a, a / 2) == 1 for d, _ in RANGE[::100] for a in (d**2, d * (d + 1)))


def test_eq_4_gives_more_than_is_stated_and_the_gain_of_2021_no_more():
    assert all(exponent(d * (d + 1), nu) > stated(d, nu) >= exponent(d, nu) for d, nu in RANGE)
    # d + 1 > d^2 in one dimension
    assert not all(exponent(d + 1, nu) <= stated(d, nu) for d, nu in RANGE)
