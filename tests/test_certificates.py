"""The statements about real numbers of docs/found_on_the_way.md, each on a range, by interval arithmetic.

`positive` proves a sign on all of a range. Beside each true statement stand wrong ones that it must not prove.
"""

import itertools
import math

import numpy as np
import pytest
from boxes import exact, positive

from kbrepro.kernels import Matern
from kbrepro.papers.igp_ucb.experiments import anti_concentration
from kbrepro.posterior import CovariancePosterior

flint = pytest.importorskip("flint", reason="python-flint has no wheel for this Python or machine")
arb = flint.arb


# Boxes themselves


def test_boxes_prove_refute_or_leave_open():
    assert positive(lambda x: x * x + 1, "-2", "2") is True
    assert positive(lambda x: x, "-1", "1") is False
    assert positive(lambda x: x * x - 2 * x + 1, "0", "3") is None  # a double zero at 1: neither


# Srinivas et al., Lemma 7.8, one arm and one pull


def excess(u, one=0):
    """Twice the gain less its bound at 1 / noise variance = u; `one` is missing in the printed logarithm."""
    return (1 + u).log() - (one + u).log() / (1 - (-arb(1)).exp())


def test_lemma_7_8_fails_for_one_arm_where_noise_is_large():
    assert positive(excess, "1", "2")  # below 1 the bound is at most 0, and the gain is positive
    assert positive(lambda u: -excess(u), "2.01", "1000")
    assert positive(excess, "1", "2.01") is False
    assert positive(lambda u: -excess(u, one=1), "0.001", "1000")  # with its 1


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


def test_lemma_7_fails_up_to_0_342_and_holds_from_0_343():
    assert positive(lambda b: printed(b) - tail(b), "0.25", "0.342")
    assert printed(arb(exact("0.25"))) > exact("0.5")  # below: it falls in beta, and the tail is at most 1/2
    assert positive(lambda b: tail(b) - printed(b), "0.343", "5")
    # above: Gordon's bound over the printed one is 2 sqrt(2) beta^2 / (1 + beta^2) exp(beta^2 / 2), and grows
    assert gordon(arb(1)) > printed(arb(1))
    assert positive(lambda b: (2 * b + 1 / b) * printed(b) - (-b * b / 2).exp() / 2, "0.342", "0.343")  # one crossing


def needed():
    """The p of Lemma 8."""
    return 1 / (4 * arb(1).exp() * arb.pi().sqrt())


def test_what_lemma_8_needs_holds_for_theta_up_to_1_62():
    assert positive(lambda theta: tail(theta) - needed(), "-1", "1.62")
    assert positive(lambda theta: tail(theta) - needed(), "-1", "1.63") is False
    assert positive(lambda b: tail(b) - gordon(b), "0.001", "5")  # what may be put in the place of Lemma 7
    assert positive(lambda b: tail(b) - gordon(b) * (1 + b * b) / (b * b), "0.001", "5") is False


# Chowdhury & Gopalan, proof of Lemma 10


def bracket(t):
    """p - 1 / t^2, by which the proof divides."""
    return needed() - 1 / t**2


def test_the_bracket_is_negative_up_to_round_4_and_large_enough_from_round_5():
    assert positive(lambda t: -bracket(t), "1", "4.38")
    assert positive(lambda t: 5 * bracket(t) - needed(), "4.91", "1000000")


def half(lam, pulls):
    """Whether the least sd after so many pulls, lambda / (lambda + pulls) squared, is at least a half."""
    return lam / (lam + pulls) >= exact("1/4")


def test_after_three_pulls_no_standard_deviation_is_below_a_half():
    lambdas = [exact(f"{n}/100") for n in range(100, 1000)]
    assert all(half(lam, pulls) for lam in lambdas for pulls in range(4))
    assert not half(exact("99/100"), 3) and not half(lambdas[0], 4)
    line = np.linspace(0, 1, 30)[:, None]
    for arms in itertools.combinations_with_replacement((0, 1, 5, 29), 3):
        posterior = CovariancePosterior(Matern(0.2, nu=1.5), line, 1.0)
        for arm in arms:
            posterior.update(arm, 0.0)
        assert posterior.sd.min() >= 0.5 - 1e-12


# Janz et al., Section 1: which functions the RKHS contains


def differences(n, power):
    """n^(3 - 2 power) times the sum of squares of the second differences of i^power, i = 2 to n - 1."""
    squares = ((arb(i + 1) ** power - 2 * arb(i) ** power + arb(i - 1) ** power) ** 2 for i in range(2, n))
    return arb(n) ** (3 - 2 * power) * sum(squares)


def grows(power, ends=(10, 100, 1000, 3000)):
    """Whether they exceed 9 / 16 log(n / 2), and with it every bound: no function of finite norm does that."""
    return all(differences(n, exact(power)) > exact("9/16") * (arb(n) / 2).log() for n in ends)


def test_second_differences_of_x_to_the_three_halves_grow_without_bound():
    assert grows("3/2")
    assert not grows("7/4") and not grows("2")  # their second derivatives are square-integrable


def squared_norm(values):
    """Least squared norm of the space of Matern 3/2, lengthscale 1, with these values on a grid of [0, 1]."""
    K = Matern(1.0, nu=1.5)(*[np.linspace(0, 1, len(values))[:, None]] * 2)
    return values @ np.linalg.solve(K, values)


@pytest.mark.parametrize("n", [5, 20, 60])
def test_a_norm_bounds_the_second_differences(n):
    """3 / (16 a^3 h^3) times the sum of their squares, a = sqrt(3), h the step; 4 times as much is refused."""
    line, rng = np.linspace(0, 1, n + 1), np.random.default_rng(n)
    shares = []
    for values in (line**1.5, line**2, np.sin(20 * line), np.cos(np.pi * np.arange(n + 1)), rng.normal(size=n + 1)):
        bound = 3 / (16 * 3**1.5) * n**3 * (np.diff(values, 2) ** 2).sum()
        shares.append(bound / squared_norm(values))
    assert max(shares) <= 1 < 4 * max(shares)


# Janz et al., Lemma 10


def left_less_right(n, part):
    """Lower bound of the left side less upper bound of the right one, noise of sum at least n part, eta <= 1 / n."""
    return n * n * part * part / (n + 1) - ((n + 2).log() + 1 + 2 * arb(20).log())


def test_lemma_10_fails_for_any_set_of_250_pulls_or_more():
    quarter = exact("1/4")
    assert positive(lambda n: left_less_right(n, quarter), "250", "1000000")
    m = arb(1000)  # pulls before the last one: chance of fewer than m / 4 in the set, or of a sum below a quarter
    assert (-m / 8).exp() + (-m / 32).exp() < exact("1/10000000000000")


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


@pytest.mark.parametrize("k", CORRELATIONS.values(), ids=CORRELATIONS)
def test_eq_221_as_printed_is_too_large_at_each_u(k):
    excess = lambda sign: lambda u: (2 + 2 * sign * k(2 * u)) - (2 - 2 * k(2 * u))  # noqa: E731
    assert positive(excess(1), "0", "3") and not positive(excess(-1), "0", "3")
