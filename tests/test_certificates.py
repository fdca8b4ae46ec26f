"""The statements about real numbers of docs/found_on_the_way.md, each on a range, by interval arithmetic.

`positive` proves a sign on all of a range. Beside each true statement stand wrong ones that it must not prove.
"""

import itertools
import math

import numpy as np
import pytest
from boxes import exact, positive
from scipy.integrate import quad

from kbrepro.kernels import Matern, SquaredExponential
from kbrepro.papers.gpn_ucb.posterior import LayerPosterior
from kbrepro.papers.igp_ucb.experiments import anti_concentration
from kbrepro.papers.pi_gp_ucb import covers

flint = pytest.importorskip("flint", reason="python-flint has no wheel for this Python or machine")
arb, fmpq_mat = flint.arb, flint.fmpq_mat


# Boxes themselves


def test_boxes_prove_refute_or_leave_open():
    assert positive(lambda x: x * x + 1, "-2", "2") is True
    assert positive(lambda x: x, "-1", "1") is False
    assert positive(lambda x: x * x - 2 * x + 1, "0", "3") is None  # a double zero at 1: neither


# Chowdhury & Gopalan, Lemma 7


def tail(beta):
    return (beta / arb(2).sqrt()).erfc() / 2


def printed(beta, four=4):
    return (-beta * beta).exp() / (four * arb.pi().sqrt() * beta)


def gordon(beta):
    return beta / (1 + beta * beta) * (-beta * beta / 2).exp() / (2 * arb.pi()).sqrt()


def test_these_are_the_tail_and_the_bound_that_the_package_computes():
    for beta in (0.1, 0.5, 2.0):
        assert float(printed(arb(beta)).mid()) == pytest.approx(float(anti_concentration(beta)))
        assert float(tail(arb(beta)).mid()) == pytest.approx(math.erfc(beta / math.sqrt(2)) / 2)


def test_lemma_7_fails_on_all_of_0_to_0_342_and_holds_on_all_from_0_343():
    assert positive(lambda b: printed(b) - tail(b), "0.25", "0.342")
    assert printed(arb(exact("0.25"))) > exact("0.5")  # below: it falls in beta, and the tail is at most 1/2
    assert positive(lambda b: tail(b) - printed(b), "0.343", "5")
    # above: Gordon's bound over the printed one is 2 sqrt(2) beta^2 / (1 + beta^2) exp(beta^2 / 2), and grows
    assert gordon(arb(1)) > printed(arb(1))
    assert positive(lambda b: (2 * b + 1 / b) * printed(b) - (-b * b / 2).exp() / 2, "0.342", "0.343")  # one crossing


@pytest.mark.parametrize(("four", "low", "high"), [(4, "0.3", "5"), (4, "0.342", "0.4"), (1, "0.343", "5")])
def test_a_larger_range_or_another_constant_is_refuted_for_lemma_7(four, low, high):
    assert positive(lambda b: tail(b) - printed(b, four), low, high) is False


def test_what_lemma_8_needs_holds_for_every_theta_up_to_one_and_no_further_than_1_63():
    needed = 1 / (4 * arb(1).exp() * arb.pi().sqrt())
    assert positive(lambda theta: tail(theta) - needed, "-1", "1.62")
    assert positive(lambda theta: tail(theta) - needed, "-1", "1.63") is False
    assert positive(lambda b: tail(b) - gordon(b), "0.001", "5")  # what may be put in the place of Lemma 7
    assert positive(lambda b: tail(b) - gordon(b) * (1 + b * b) / (b * b), "0.001", "5") is False


# Janz et al., Section 2


def variance(arms, x, lam):
    """Exact posterior variance at x of the Brownian kernel min(x, y), by determinants."""

    def determinant(points, own):
        entries = [[min(a, b) + (lam if i == j and own[i] else 0) for j, b in enumerate(points)] for i, a in
                   enumerate(points)]  # fmt: skip
        return fmpq_mat(entries).det() if points else exact(1)

    noisy = [True] * len(arms)
    return determinant([*arms, x], [*noisy, False]) / determinant(arms, noisy)


def never_grows(sequence):
    return all(later <= earlier for earlier, later in itertools.pairwise(sequence))


@pytest.mark.parametrize("lam", ["1/100", "1", "100"])
def test_a_variance_falls_by_covariance_squared_and_never_grows(lam):
    arms, lam = [exact(f"{k}/7") for k in (3, 3, 6, 1, 5)], exact(lam)
    for x in (exact(f"{k}/20") for k in range(1, 21)):
        seen = [variance(arms[:t], x, lam) for t in range(6)]
        assert never_grows(seen) and not never_grows(seen[::-1])
        # the rule of the page, with the covariance c of x and the first arm a
        a, c = arms[0], min(arms[0], x)
        assert seen[0] - seen[1] == c * c / (lam + a)


# Janz et al., Lemma 10


def left_less_right(n, part):
    """Lower bound of the left side less upper bound of the right one, noise of sum at least n part, eta <= 1 / n."""
    return n * n * part * part / (n + 1) - ((n + 2).log() + 1 + 2 * arb(20).log())


def test_lemma_10_fails_for_any_number_of_pulls_in_the_set_from_250():
    quarter = exact("1/4")
    assert positive(lambda n: left_less_right(n, quarter), "250", "1000000")
    m = arb(1000)  # pulls before the last one: chance of fewer than m / 4 in the set, or of a sum below a quarter
    assert (-m / 8).exp() + (-m / 32).exp() < exact("1/10000000000000")


@pytest.mark.parametrize(("part", "low"), [("0", "250"), ("1/4", "50"), ("1/10", "250")])
def test_noise_of_mean_zero_few_pulls_or_a_small_sum_do_not_refute_lemma_10(part, low):
    assert positive(lambda n: left_less_right(n, exact(part)), low, "1000000") is False


@pytest.mark.parametrize("n", [3, 30, 300])
def test_the_lines_on_lemma_10_bound_both_sides_of_the_printed_formula(n):
    noise = np.random.default_rng(n).uniform(0, 1, n)
    for eta in (1e-6, 1 / n):
        left, right = covers.lemma_10(
            lambda a, b: np.ones((len(a), len(b))), np.zeros((n, 1)), noise, count=2, delta=0.1, eta=eta
        )
        assert left >= noise.sum() ** 2 / (n + 1) - 1e-6
        assert right <= math.log(n + 2) + 1 + 2 * math.log(20)


# Li & Scarlett, eqs. 13 and 221

CORRELATIONS = {
    "se": lambda r: (-r * r / 2).exp(),
    "matern": lambda r: (1 + arb(3).sqrt() * r) * (-arb(3).sqrt() * r).exp(),
}


@pytest.mark.parametrize("k", CORRELATIONS.values(), ids=CORRELATIONS)
def test_eq_13_as_printed_leaves_out_every_other_point_once_z_is_pulled(k):
    """f = B (k(., w) - r k(., z)) / sqrt(1 - r^2), r = k(z, w): norm B, f(z) = 0, so the mean is 0; f(w) is below."""
    missed = lambda share: positive(lambda d: (1 - share) * (1 - k(d) ** 2).sqrt(), "0.01", "5")  # noqa: E731
    assert missed(0)  # printed: the radius at z, none of that at w
    assert missed(exact("0.999"))  # the right one cannot be any smaller
    assert missed(1) is not True and missed(exact("1.001")) is False


@pytest.mark.parametrize("kernel", [SquaredExponential(1.0), Matern(1.0, nu=1.5)])
def test_the_layers_of_the_package_have_that_radius(kernel):
    line, B = np.linspace(0, 5, 26)[:, None], 2.0
    posterior = LayerPosterior(kernel, line, 1e-7, 1)
    posterior.update(line[0], np.zeros(1))
    K = kernel(line, line)
    for w in range(1, 26):
        f = B * (K[:, w] - K[0, w] * K[:, 0]) / math.sqrt(1 - K[0, w] ** 2)
        assert (np.abs(f - posterior.mean[:, 0]) <= B * posterior.sd + 1e-9).all()
        assert f[w] > 0.99 * B * posterior.sd[w] > 100 * B * posterior.sd[0]


@pytest.mark.parametrize("k", CORRELATIONS.values(), ids=CORRELATIONS)
def test_eq_221_as_printed_is_too_large_at_each_u(k):
    excess = lambda sign: lambda u: (2 + 2 * sign * k(2 * u)) - (2 - 2 * k(2 * u))  # noqa: E731
    assert positive(excess(1), "0", "3") and not positive(excess(-1), "0", "3")


def slope_norm(u):
    """Squared norm of e^(-|x - u|) - e^(-|x + u|) in the space of e^(-|x - y|): half the integral of f^2 + f'^2."""

    def integrand(x):
        a, b = math.exp(-abs(x - u)), math.exp(-abs(x + u))
        return ((a - b) ** 2 + (math.copysign(a, u - x) + math.copysign(b, x + u)) ** 2) / 2

    return sum(quad(integrand, low, high)[0] for low, high in itertools.pairwise((-40, -u, u, 40)))


@pytest.mark.parametrize("u", [0.1, 0.5, 1.0, 2.0])
def test_an_integral_has_the_minus_sign_of_eq_221(u):
    assert slope_norm(u) == pytest.approx(2 - 2 * math.exp(-2 * u))
    assert slope_norm(u) != pytest.approx(2 + 2 * math.exp(-2 * u))
