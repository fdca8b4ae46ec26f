"""The counterexamples of docs/found_on_the_way.md, each computed."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from kbrepro.information import greedy_gain
from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.bkb.sketch import FeaturePosterior, NystromPosterior, nystrom_features
from kbrepro.papers.gp_ucb.gain import spectral_bound, split_bound
from kbrepro.papers.gpn_ucb.layers import draw_layer
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior
from kbrepro.papers.igp_ucb.experiments import lemma_7_fails_below
from kbrepro.papers.pi_gp_ucb import covers
from kbrepro.papers.pi_gp_ucb.experiments import cover_too_large_until, regret_exponents
from kbrepro.papers.pi_gp_ucb.partition import initial_side, must_split, possible_cells, share_of_level, split_exponent
from kbrepro.posterior import RowPosterior


@pytest.mark.parametrize("noise_variance", [0.5, 0.9, 10.0])
def test_lemma_7_8_of_srinivas_et_al_is_negative_for_one_arm_and_noise_of_variance_10(noise_variance):
    """It is below the gain from 0.5 on; the lemma that it relaxes, with the same factor, holds."""
    gained = greedy_gain(SquaredExponential(1.0), np.zeros((1, 1)), noise_variance, 1)[0][0]
    bound = split_bound(np.ones(1), noise_variance, 1)
    assert gained == pytest.approx(0.5 * math.log1p(1 / noise_variance)) and gained > bound
    assert (bound < 0) == (noise_variance > 1)
    assert gained < spectral_bound(np.ones(1), noise_variance, 1)[0]


def printed_tail(beta):
    return math.exp(-(beta**2)) / (4 * math.sqrt(math.pi) * beta)


def test_lemma_7_of_chowdhury_and_gopalan_is_false_near_zero_and_true_where_it_is_used():
    assert lemma_7_fails_below() == pytest.approx(0.343, abs=5e-4)
    assert printed_tail(0.2) > norm.sf(0.2) and printed_tail(0.1) > 1
    needed = 1 / (4 * math.e * math.sqrt(math.pi))  # Lemma 8, for any theta up to 1
    assert (round(norm.sf(1.0), 3), round(needed, 3)) == (0.159, 0.052)


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


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n", [50, 200, 500])
def test_lemma_10_holds_for_sets_that_are_fixed_beforehand(kernel, n):
    for cells, inside in ((1, lambda arms, _: arms[:, 0] >= 0), (2, lambda arms, _: arms[:, 0] < 0.5)):
        sides = np.array([both_sides(kernel, n, run, inside) for run in range(40)])
        assert (sides[:, 0] <= sides[:, 1]).mean() >= 0.9, cells


def test_both_sides_of_lemma_10_by_the_printed_formula():
    rng = np.random.default_rng(3)
    arms, noise, eta = rng.random((7, 1)), rng.uniform(-1, 1, 7), 0.01
    S = KERNELS["matern"](arms, arms) + eta * np.eye(7)
    left = noise @ np.linalg.inv(np.eye(7) + np.linalg.inv(S)) @ noise
    right = 2 * math.log(math.sqrt(np.linalg.det(S + np.eye(7))) * 5 / 0.1)
    found = covers.lemma_10(KERNELS["matern"], arms, noise, count=5, delta=0.1, eta=eta)
    assert found == pytest.approx([left, right], rel=1e-8)


def reached(horizon, d, nu):
    """Levels of the cells that hold all pulls, where the rule of splitting is asked after each pull."""
    side, found = initial_side(horizon, d, nu), [1]
    for pulls in range(1, horizon + 1):
        if must_split(side, pulls, d, nu, "paper"):
            side, found = 2 * side, [*found, pulls + 1]
    return found


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_n_t_counts_all_cells_that_some_pulls_can_make(d, nu):
    for horizon in (1, 3, 10, 100, 1000, 10_000):
        first, levels = initial_side(horizon, d, nu), len(reached(horizon, d, nu))
        assert possible_cells(horizon, d, nu) == [(first * 2**level) ** d for level in range(levels)]


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
    assert sum(n * share_of_level(level, n) for level, n in enumerate(cells)) < 1
    endless = sum(2**level * share_of_level(level, 2**level) for level in range(1000))
    assert 0.999 < endless < 1


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("nu", [0.8, 1.5, 2.5, 10.0])
def test_the_exponent_of_janz_et_al_does_not_follow_from_their_eq_4(d, nu):
    by_eq_4 = 1 / 2 + d * (d + 1) / (d * (d + 1) + 2 * nu)
    assert by_eq_4 == pytest.approx((3 * d * (d + 1) + 2 * nu) / (2 * d * (d + 1) + 4 * nu))
    assert (by_eq_4 >= 1) == (2 * nu <= d * (d + 1))
    assert min(1.0, by_eq_4) >= regret_exponents(d, nu)["IGP-UCB, 2020"]
    assert by_eq_4 > (3 * d**2 + 2 * nu) / (2 * d**2 + 4 * nu)


def test_the_constants_of_calandriello_et_al_at_half():
    alpha = (1 + 0.5) / (1 - 0.5)
    assert (alpha / 0.5**2, (alpha / 0.5**2) ** 2) == (12, 144)


def test_the_log_determinant_of_two_far_pulls_exceeds_d_eff_log_kappa_t():
    points, lam, t = np.array([[0.0], [9.0]]), 0.01, 2
    K = SquaredExponential(0.2)(points, points)
    log_det = np.linalg.slogdet(K / lam + np.eye(t))[1]
    d_eff = np.trace(np.linalg.solve(K + lam * np.eye(t), K))
    assert (round(log_det, 1), round(d_eff * math.log(t), 1)) == (9.2, 1.4)
    assert d_eff * (1 + math.log(np.linalg.norm(K, 2) / lam + 1)) >= log_det  # Proposition 5


#: Pulls far apart of variance 1: K is the identity.
ORTHOGONAL = np.arange(1, 301)


@pytest.mark.parametrize(
    ("lam", "until", "mended_until"), [(0.01, 105, 0), (0.1, 13, 0), (1.0, 3, 3), (10.0, 2, 28), (100.0, 2, 273)]
)
def test_d_eff_log_kappa_t_fails_at_the_first_orthogonal_pulls(lam, until, mended_until):
    """So does its mend in version 0.2.0, d_eff log(kappa^2 t / lambda), kappa = 1; with both ones it holds."""
    log_det, d_eff = ORTHOGONAL * math.log(1 + 1 / lam), ORTHOGONAL / (1 + lam)
    assert ORTHOGONAL[d_eff * np.log(ORTHOGONAL) < log_det].tolist() == list(range(1, until + 1))
    if lam >= 1:
        mended = ORTHOGONAL[d_eff * np.log(ORTHOGONAL / lam) < log_det]
        assert mended.tolist() == list(range(1, mended_until + 1))
        t = ORTHOGONAL[1:]  # Theorem 2 has 4 log(t), which leaves room
        assert (4 * np.log(t) >= 1 + np.log(1 + t / lam)).all()
    assert (d_eff * (1 + np.log(1 + ORTHOGONAL / lam)) >= log_det).all()


@pytest.mark.parametrize("lam", np.geomspace(0.01, 100, 41))
def test_with_both_ones_the_bound_holds_for_any_number_of_orthogonal_pulls_and_without_either_it_does_not(lam):
    log_det, d_eff = ORTHOGONAL * math.log(1 + 1 / lam), ORTHOGONAL / (1 + lam)
    assert (d_eff * (1 + np.log(1 + ORTHOGONAL / lam)) >= log_det).all()
    assert (d_eff * np.log(ORTHOGONAL) < log_det)[0]  # kappa^2 t = 1: its logarithm is 0
    assert (d_eff * np.log1p(ORTHOGONAL / lam) < log_det)[0]  # the one before the logarithm is needed, too


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


def test_a_ball_of_eq_13_as_printed_misses_where_nothing_is_known():
    """One pull at z; the radius of z in the place of that of z' leaves out f(z')."""
    kernel, line, B = SquaredExponential(1.0), grid(20, 1, -2, 2), 2.0
    truth = draw_layer(np.random.default_rng(4), kernel, line[[2, 9, 17]], 1, B)(line)
    posterior = LayerPosterior(kernel, line, 1e-7, 1)
    posterior.update(line[4], truth[4])
    error = np.abs(truth - posterior.mean)[:, 0]
    assert error.max() > 0.3 > 0.01 > B * posterior.sd[4]
    assert (error <= B * posterior.sd).all()


@pytest.mark.parametrize("kernel", [SquaredExponential(1.0), Matern(0.5, nu=1.5)])
def test_eq_221_has_a_minus_sign(kernel):
    """g~ = L/2 (k(., u) - k(., -u)): its squared norm is c' K c."""
    L, u = 1.7, 0.5
    points, c = np.array([[u], [-u]]), np.array([1.7 / 2, -1.7 / 2])
    K = kernel(points, points)
    squared = c @ K @ c
    printed = (L / 2) ** 2 * (K[0, 0] + 2 * K[0, 1] + K[1, 1])
    right = (L / 2) ** 2 * (2 * K[0, 0] - 2 * kernel(points[:1], -points[:1])[0, 0])
    assert squared == pytest.approx(right) and squared < printed - 0.1
