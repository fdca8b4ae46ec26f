"""The statements about real numbers of docs/errors.md, each on a range, by interval arithmetic.

`positive` proves a sign on all of a range. Beside each true statement stand wrong ones that it must
not prove.
"""

import itertools
import math

import numpy as np
import pytest
from boxes import exact, positive
from scipy.optimize import brentq

from kbrepro.bandits.kernels import Matern
from kbrepro.bandits.posterior import CovariancePosterior
from kbrepro.papers.igp_ucb.measures import anti_concentration

flint = pytest.importorskip("flint", reason="python-flint has no wheel for this Python or machine")
arb = flint.arb


def test_boxes_prove_refute_or_leave_open():
    assert positive(lambda x: x * x + 1, "-2", "2") is True
    assert positive(lambda x: x, "-1", "1") is False
    assert positive(lambda x: x * x - 2 * x + 1, "0", "3") is None  # a double zero at 1: neither


# Srinivas et al., Lemma 7.8, one arm and one pull


def excess(u, one=0):
    """Twice the gain less its bound at 1 / noise variance = u; `one` is missing in the printed
    logarithm.
    """
    return (1 + u).log() - (one + u).log() / (1 - (-arb(1)).exp())


def test_lemma_7_8_fails_for_one_arm_where_noise_is_large():
    assert positive(excess, "1", "2")  # below 1 the bound is at most 0, and the gain is positive
    assert positive(lambda u: -excess(u), "2.01", "1000")
    assert positive(excess, "1", "2.01") is False
    assert positive(lambda u: -excess(u, one=1), "0.001", "1000")  # with its 1


# Chowdhury & Gopalan, Lemma 7, and the p of Lemma 8, by which the proof of Lemma 10 divides


def tail(beta):
    return (beta / arb(2).sqrt()).erfc() / 2


def printed(beta):
    return (-beta * beta).exp() / (4 * arb.pi().sqrt() * beta)


def gordon(beta):
    return beta / (1 + beta * beta) * (-beta * beta / 2).exp() / (2 * arb.pi()).sqrt()


def needed():
    return 1 / (4 * arb(1).exp() * arb.pi().sqrt())


def test_lemma_7_fails_up_to_0_342_and_holds_from_0_343():
    # the package's
    assert float(printed(arb(0.5)).mid()) == pytest.approx(float(anti_concentration(0.5)))
    assert positive(lambda b: printed(b) - tail(b), "0.25", "0.342")
    # below: it falls in beta, and the tail is at most 1/2
    assert printed(arb(exact("0.25"))) > exact("0.5")
    assert positive(lambda b: tail(b) - printed(b), "0.343", "5")
    # above: Gordon's bound over the printed one is 2 sqrt(2) beta^2 / (1 + beta^2) exp(beta^2 / 2),
    # and grows
    assert gordon(arb(1)) > printed(arb(1))
    # one crossing
    assert positive(
        lambda b: (2 * b + 1 / b) * printed(b) - (-b * b / 2).exp() / 2, "0.342", "0.343"
    )


def test_what_lemma_8_needs_holds_for_theta_up_to_1_62():
    assert positive(lambda theta: tail(theta) - needed(), "-1", "1.62")
    assert positive(lambda theta: tail(theta) - needed(), "-1", "1.63") is False
    # what may be put in the place of Lemma 7
    assert positive(lambda b: tail(b) - gordon(b), "0.001", "5")
    assert positive(lambda b: tail(b) - gordon(b) * (1 + b * b) / (b * b), "0.001", "5") is False


def test_the_bracket_is_negative_up_to_round_4_and_large_enough_from_round_5():
    bracket = lambda t: needed() - 1 / t**2  # noqa: E731
    assert positive(lambda t: -bracket(t), "1", "4.38")
    assert positive(lambda t: 5 * bracket(t) - needed(), "4.91", "1000000")


def test_after_three_pulls_no_standard_deviation_is_below_a_half():
    """The least variance after n pulls is lambda / (lambda + n)."""
    large_enough = lambda lam, pulls: lam / (lam + pulls) >= exact("1/4")  # noqa: E731
    lambdas = [exact(f"{n}/100") for n in range(100, 1000)]
    assert all(large_enough(lam, pulls) for lam in lambdas for pulls in range(4))
    assert not large_enough(exact("99/100"), 3) and not large_enough(lambdas[0], 4)
    for arms in itertools.combinations_with_replacement((0, 1, 5, 29), 3):
        posterior = CovariancePosterior(Matern(0.2, nu=1.5), np.linspace(0, 1, 30)[:, None], 1.0)
        for arm in arms:
            posterior.update(arm, 0.0)
        assert posterior.sd.min() >= 0.5 - 1e-12


# Janz et al., Section 1: which functions the RKHS contains


def grows(power, ends=(10, 100, 1000, 3000)):
    """Whether n^(3 - 2 power) times the sum of squares of the second differences of i^power, i = 2
    to n - 1, exceeds 9 / 16 log(n / 2), and with it every bound: no function of finite norm does
    that.
    """
    power = exact(power)
    for n in ends:
        squares = (
            (arb(i + 1) ** power - 2 * arb(i) ** power + arb(i - 1) ** power) ** 2
            for i in range(2, n)
        )
        if not arb(n) ** (3 - 2 * power) * sum(squares) > exact("9/16") * (arb(n) / 2).log():
            return False
    return True


def test_second_differences_of_x_to_the_three_halves_grow_without_bound():
    assert grows("3/2")
    assert not grows("7/4") and not grows("2")  # their second derivatives are square-integrable


@pytest.mark.parametrize("n", [5, 60])
def test_a_norm_bounds_the_second_differences(n):
    """Squared norms of Matern 3/2, lengthscale 1, are at least 3 / (16 a^3 h^3) times the sum of
    their squares, a = sqrt(3), h the step; 4 times as much is refused.
    """
    line, rng, shares = np.linspace(0, 1, n + 1), np.random.default_rng(n), []
    K = Matern(1.0, nu=1.5)(line[:, None], line[:, None])
    for values in (
        line**1.5,
        line**2,
        np.sin(20 * line),
        np.cos(np.pi * np.arange(n + 1)),
        rng.normal(size=n + 1),
    ):
        bound = 3 / (16 * 3**1.5) * n**3 * (np.diff(values, 2) ** 2).sum()
        shares.append(bound / (values @ np.linalg.solve(K, values)))
    assert max(shares) <= 1 < 4 * max(shares)


# Janz et al., Lemma 10


def test_lemma_10_fails_for_any_set_of_250_pulls_or_more():
    """Lower bound of the left side, noise of sum at least n / 4, less upper bound of the right one,
    eta <= 1 / n.
    """
    gap = lambda n: n * n / (16 * (n + 1)) - ((n + 2).log() + 1 + 2 * arb(20).log())  # noqa: E731
    assert positive(gap, "250", "1000000") and positive(gap, "100", "1000000") is False
    # pulls before the last one: chance of fewer than m / 4 in the set, or of a sum below a quarter
    m = arb(1000)
    assert (-m / 8).exp() + (-m / 32).exp() < exact("1/10000000000000")


# Calandriello et al.: constants


def alpha(eps):
    return (1 + eps) / (1 - eps)


def test_three_log_t_is_right_for_eps_up_to_0_35_and_too_small_from_0_351():
    assert positive(lambda e: 3 - alpha(e) ** exact("3/2"), "0", "0.35")
    assert positive(lambda e: alpha(e) ** exact("3/2") - 3, "0.351", "0.99")
    # without the power the sentence would be right
    assert positive(lambda e: 3 - alpha(e), "0", "0.49")
    assert abs(alpha(arb(exact("1/2"))) ** exact("3/2") - exact("5.2")) < exact("0.01")


def test_the_cost_of_a_step_grows_by_more_than_the_size_for_every_eps():
    by_size, half = lambda e: alpha(e) / e**2, arb(exact("1/2"))
    assert positive(lambda e: by_size(e) ** 2 - by_size(e), "0.01", "0.99")
    # Theorem 1 has one more alpha
    assert positive(lambda e: alpha(e) * by_size(e) - by_size(e), "0.01", "0.99")
    assert positive(lambda e: by_size(e) - by_size(e) ** 2, "0.01", "0.99") is False
    assert (by_size(half), by_size(half) ** 2, alpha(half) * by_size(half)) == (12, 144, 36)


# Calandriello et al.: the log determinant


def log_det(lam):
    """Of one of n orthogonal pulls, over its share 1 / (1 + lam) of d_eff: what a factor of d_eff
    must exceed.
    """
    return (1 + lam) * (1 + 1 / lam).log()


#: What may stand after d_eff, of n and lambda (kappa = 1). Only the last is true on all of the
#: range.
FACTORS = {
    "printed": lambda n, lam: arb(n).log(),
    "appendix D": lambda n, lam: 2 * arb(n).log(),
    "without the outer one": lambda n, lam: (1 + n / lam).log(),
    "without the inner one": lambda n, lam: 1 + (n / lam).log(),
    "without lambda": lambda n, lam: 1 + (1 + arb(n)).log(),
    "Proposition 5": lambda n, lam: 1 + (1 + n / lam).log(),
}


def is_enough(name, n, low="0.01", high="100"):
    return positive(lambda lam: FACTORS[name](n, lam) - log_det(lam), low, high)


def test_proposition_5_bounds_the_log_determinant():
    """And x / (1 + x) (1 + log(1 + x)) >= log(1 + x) for each eigenvalue x = mu / lambda, since
    log(1 + x) <= x.
    """
    assert all(is_enough("Proposition 5", n) for n in range(1, 301))
    assert not any(is_enough(name, 1) for name in FACTORS if name != "Proposition 5")
    assert is_enough("without lambda", 1, "1", "100")
    assert positive(lambda x: x * (1 + (1 + x).log()) - (1 + x) * (1 + x).log(), "0.01", "10000")
    assert positive(lambda x: x * (1 + x).log() - (1 + x) * (1 + x).log(), "0.01", "10000") is False


def test_appendix_d_holds_for_lambda_from_1_and_kappa_squared_t_from_3_50():
    twice = lambda x: 2 * x.log() - 1 - (1 + x).log()  # noqa: E731
    assert positive(twice, "3.5", "1000000") and positive(lambda x: -twice(x), "1", "3.49")
    assert all(is_enough("appendix D", n, "1", "100") for n in range(4, 301))
    assert not any(is_enough("appendix D", n) for n in range(1, 11))  # lambda from 0.01 on
    assert all(is_enough("appendix D", n) for n in range(11, 301))


def test_the_printed_bound_fails_exactly_for_few_pulls():
    """On all of [0.01, 100] but one part in a thousand on either side of the place where the two
    are equal.
    """

    def fails(n, low, high):
        return positive(lambda lam: log_det(lam) - FACTORS["printed"](n, lam), low, high)

    assert fails(1, "0.01", "100") and fails(2, "0.01", "100") and not fails(3, "0.01", "100")
    for n in range(3, 106):
        equal = brentq(lambda x, n=n: (1 + x) * math.log1p(1 / x) - math.log(n), 0.009, 1e4)
        below, above = (str(round(equal * by, 9)) for by in (0.999, 1.001))
        assert equal < 0.01001 or fails(n, "0.01", below)
        assert is_enough("printed", n, above, "100")
    assert all(is_enough("printed", n) for n in range(106, 301))


def test_theorem_2_has_room_from_two_pulls_on():
    """At lambda = 1, which is the worst of those from 1 on."""
    room = lambda t, times: times * t.log() - 1 - (1 + t).log()  # noqa: E731
    assert positive(lambda t: room(t, 4), "2", "1000000")
    assert positive(lambda t: room(t, 4), "1", "1000000") is False
    assert positive(lambda t: room(t, 2), "2", "1000000") is False


# Calandriello et al., Proposition 8


def beyond_three_times(d, odds=100):
    """Log of the chance that 100 d events of probability 1 / 100 each happen more than 3 d times, a
    ball.
    """
    n, first = odds * d, 3 * d + 1
    chance = term = arb(math.comb(n, first)) * arb(odds - 1) ** (n - first) / arb(odds) ** n
    for k in range(first, n):
        term *= arb(n - k) / ((k + 1) * (odds - 1))
        chance += term
    return chance.log()


def test_proposition_8_fails_from_5_to_100_and_chernoff_holds():
    """Chernoff: E 3^q = 1 + 2 p <= e^(2 p) for each term."""
    for d in range(1, 101):
        chance = beyond_three_times(d)
        assert (chance > -2 * d) == (d >= 5)
        assert (chance > -3 * d * (3 * d - (3 * arb(d)).log() - 1)) == (d >= 2)
        assert chance <= -d * (3 * arb(3).log() - 2)
    assert chance > -exact("1.37") * 100  # so no rate is much above 3 log 3 - 2 = 1.296
    assert positive(lambda p: (2 * p).exp() - 1 - 2 * p, "0.01", "1")
    assert positive(lambda p: p.exp() - 1 - 2 * p, "0.01", "1") is False


def test_six_times_that_rate_is_enough_for_lambda_up_to_7_kappa_squared():
    rate = lambda lam: 6 * (3 * arb(3).log() - 2) / lam - 1  # noqa: E731
    assert positive(rate, "0.01", "7") and positive(rate, "0.01", "8") is False


# Li & Scarlett, eqs. 13 and 221

CORRELATIONS = {
    "se": lambda r: (-r * r / 2).exp(),
    "matern": lambda r: (1 + arb(3).sqrt() * r) * (-arb(3).sqrt() * r).exp(),
}


@pytest.mark.parametrize("k", CORRELATIONS.values(), ids=CORRELATIONS)
def test_eq_13_as_printed_leaves_out_every_other_point_once_z_is_pulled(k):
    """f = B (k(., w) - r k(., z)) / sqrt(1 - r^2), r = k(z, w): norm B, f(z) = 0, so the mean is 0;
    f(w) is below.
    """
    missed = lambda share: positive(lambda d: (1 - share) * (1 - k(d) ** 2).sqrt(), "0.01", "5")  # noqa: E731
    assert missed(0)  # printed: the radius at z, none of that at w
    assert missed(exact("0.999"))  # the right one cannot be any smaller
    assert missed(1) is not True and missed(exact("1.001")) is False


@pytest.mark.parametrize("k", CORRELATIONS.values(), ids=CORRELATIONS)
def test_eq_221_as_printed_is_too_large_at_each_u(k):
    excess = lambda sign: lambda u: (2 + 2 * sign * k(2 * u)) - (2 - 2 * k(2 * u))  # noqa: E731
    assert positive(excess(1), "0", "3") and not positive(excess(-1), "0", "3")
