"""Constants and the log determinant of Calandriello et al., each on a range, by interval arithmetic.

As tests/test_certificates.py: beside each true statement stand wrong ones that `positive` must not prove.
"""

import math

import pytest
from boxes import exact, positive
from scipy.optimize import brentq

flint = pytest.importorskip("flint", reason="python-flint has no wheel for this Python or machine")
arb = flint.arb


def alpha(eps):
    return (1 + eps) / (1 - eps)


def test_three_log_t_is_right_for_eps_up_to_0_35_and_too_small_from_0_351():
    assert positive(lambda e: 3 - alpha(e) ** exact("3/2"), "0", "0.35")
    assert positive(lambda e: alpha(e) ** exact("3/2") - 3, "0.351", "0.99")
    assert positive(lambda e: 3 - alpha(e) ** exact("3/2"), "0", "0.5") is False
    assert positive(lambda e: 3 - alpha(e), "0", "0.49")  # without the power the sentence would be right
    assert abs(alpha(arb(exact("1/2"))) ** exact("3/2") - exact("5.2")) < exact("0.01")


def test_the_cost_of_a_step_grows_by_more_than_the_size_for_every_eps():
    by_size = lambda e: alpha(e) / e**2  # noqa: E731
    assert positive(lambda e: by_size(e) ** 2 - by_size(e), "0.01", "0.99")
    assert positive(lambda e: alpha(e) * by_size(e) - by_size(e), "0.01", "0.99")  # Theorem 1 has one more alpha
    assert positive(lambda e: by_size(e) - by_size(e) ** 2, "0.01", "0.99") is False
    half = arb(exact("1/2"))
    assert (by_size(half), by_size(half) ** 2, alpha(half) * by_size(half)) == (12, 144, 36)


def log_det(lam):
    """Of one of n orthogonal pulls, over its share 1 / (1 + lam) of d_eff: what a factor of d_eff must exceed."""
    return (1 + lam) * (1 + 1 / lam).log()


#: What may stand after d_eff, of n and lambda (kappa = 1). Only the last is true on all of the range.
FACTORS = {
    "printed": lambda n, lam: arb(n).log(),
    "appendix D": lambda n, lam: 2 * arb(n).log(),
    "version 0.2.0": lambda n, lam: (n / lam).log(),
    "without the outer one": lambda n, lam: (1 + n / lam).log(),
    "without the inner one": lambda n, lam: 1 + (n / lam).log(),
    "without lambda": lambda n, lam: 1 + (1 + arb(n)).log(),
    "Proposition 5": lambda n, lam: 1 + (1 + n / lam).log(),
}


def factor_is_enough(name, n, low="0.01", high="100"):
    return positive(lambda lam: FACTORS[name](n, lam) - log_det(lam), low, high)


def test_proposition_5_bounds_the_log_determinant():
    assert all(factor_is_enough("Proposition 5", n) for n in range(1, 301))


@pytest.mark.parametrize("name", [name for name in FACTORS if name != "Proposition 5"])
def test_no_other_form_bounds_it(name):
    assert factor_is_enough(name, 1) is False
    assert factor_is_enough("without lambda", 1, "1", "100")


def test_the_inequality_of_the_proof_of_proposition_5():
    """x / (1 + x) (1 + log(1 + x)) >= log(1 + x) for each eigenvalue x = mu / lambda, since log(1 + x) <= x."""
    assert positive(lambda x: x - (1 + x).log(), "0.01", "10000")
    assert positive(lambda x: x * (1 + (1 + x).log()) - (1 + x) * (1 + x).log(), "0.01", "10000")
    assert positive(lambda x: x * (1 + x).log() - (1 + x) * (1 + x).log(), "0.01", "10000") is False


def test_appendix_d_holds_for_lambda_from_1_and_kappa_squared_t_from_3_50():
    twice = lambda x: 2 * x.log() - 1 - (1 + x).log()  # noqa: E731
    assert positive(twice, "3.5", "1000000") and positive(lambda x: -twice(x), "1", "3.49")
    assert positive(twice, "3.4", "1000000") is False
    assert all(factor_is_enough("appendix D", n, "1", "100") for n in range(4, 301))
    assert not any(factor_is_enough("appendix D", n) for n in range(1, 11))  # lambda from 0.01 on
    assert all(factor_is_enough("appendix D", n) for n in range(11, 301))


def fails_on(n, low, high):
    return positive(lambda lam: log_det(lam) - FACTORS["printed"](n, lam), low, high)


def test_the_printed_bound_fails_exactly_for_few_pulls():
    """On all of [0.01, 100] but one part in a thousand on either side of the place where the two are equal."""
    assert fails_on(1, "0.01", "100") and fails_on(2, "0.01", "100")
    assert not fails_on(3, "0.01", "100")
    for n in range(3, 106):
        equal = brentq(lambda x, n=n: (1 + x) * math.log1p(1 / x) - math.log(n), 0.009, 1e4)
        below, above = (str(round(equal * by, 9)) for by in (0.999, 1.001))
        assert equal < 0.01001 or fails_on(n, "0.01", below)
        assert factor_is_enough("printed", n, above, "100")
    assert all(factor_is_enough("printed", n) for n in range(106, 301))


def test_theorem_2_has_room_from_two_pulls_on():
    """At lambda = 1, which is the worst of those from 1 on."""
    room = lambda t, times: times * t.log() - 1 - (1 + t).log()  # noqa: E731
    assert positive(lambda t: room(t, 4), "2", "1000000")
    assert positive(lambda t: room(t, 4), "1", "1000000") is False
    assert positive(lambda t: room(t, 2), "2", "1000000") is False


# Proposition 8


def beyond_three_times(d, each=100):
    """Log of the chance that 100 d events of probability 1 / 100 each happen more than 3 d times, a ball."""
    n, first = each * d, 3 * d + 1
    chance = term = arb(math.comb(n, first)) * arb(each - 1) ** (n - first) / arb(each) ** n
    for k in range(first, n):
        term *= arb(n - k) / ((k + 1) * (each - 1))
        chance += term
    return chance.log()


def test_proposition_8_fails_from_5_to_100_and_chernoff_holds():
    for d in range(1, 101):
        chance = beyond_three_times(d)
        assert (chance > -2 * d) == (d >= 5)
        assert (chance > -3 * d * (3 * d - (3 * arb(d)).log() - 1)) == (d >= 2)
        assert chance <= -d * (3 * arb(3).log() - 2)
    assert beyond_three_times(100) > -exact("1.37") * 100  # so no rate is much above 3 log 3 - 2 = 1.296


def test_three_to_the_power_of_a_sum_proves_the_bound():
    """E 3^q = 1 + 2 p <= e^(2 p) for each term."""
    assert positive(lambda p: (2 * p).exp() - 1 - 2 * p, "0.01", "1")
    assert positive(lambda p: p.exp() - 1 - 2 * p, "0.01", "1") is False


def test_six_times_that_rate_is_enough_for_lambda_up_to_7_kappa_squared():
    rate = lambda lam: 6 * (3 * arb(3).log() - 2) / lam - 1  # noqa: E731
    assert positive(rate, "0.01", "7") and positive(rate, "0.01", "8") is False
