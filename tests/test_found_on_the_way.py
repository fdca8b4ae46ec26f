"""The counterexamples of docs/found_on_the_way.md, each computed."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from kbrepro.kernels import Matern, SquaredExponential, grid
from kbrepro.papers.gpn_ucb.layers import draw_layer
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior
from kbrepro.papers.igp_ucb.experiments import lemma_7_fails_below
from kbrepro.papers.pi_gp_ucb.experiments import cover_too_large_until, regret_exponents
from kbrepro.papers.pi_gp_ucb.partition import initial_side, split_exponent


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
