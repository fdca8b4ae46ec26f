"""Widths of Theorems 2 and 3 against mpmath, the regret bound, and what the proofs of Theorem 1 say of one run."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from kbrepro.confidence import Bayes
from kbrepro.information import allocated_gain
from kbrepro.kernels import Linear, SquaredExponential, grid
from kbrepro.papers.gp_ucb import widths
from kbrepro.papers.gp_ucb.widths import CompactArms, KnownNorm
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw, Model, Trial, draw_from_prior
from kbrepro.simulation import rounds

COMPACT = CompactArms(delta=0.1, d=2, side=1.0, a=1.0, b=3.0)
KNOWN = KnownNorm(delta=0.1, max_gains=np.full(10_000, 7.5))


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_2(t):
    with mp.workdps(30):
        delta, d, r, a, b = mpf("0.1"), 2, 1, 1, 3
        root = mp.sqrt(mp.log(4 * d * a / delta))
        beta = 2 * mp.log(t**2 * 2 * mp.pi**2 / (3 * delta)) + 2 * d * mp.log(mpf(t) ** 2 * d * b * r * root)
        assert COMPACT.at(t) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


def test_dividing_beta_divides_the_width_by_the_root():
    assert COMPACT.at(20) / replace(COMPACT, divide_beta_by=5).at(20) == pytest.approx(math.sqrt(5), rel=1e-13)


def test_a_width_reads_the_round_and_the_norm_off_the_policy():
    policy = SimpleNamespace(t=7, model=Model(grid(3), Linear(), 0.1, norm=2.0))
    assert COMPACT(policy) == COMPACT.at(7)
    assert KNOWN(policy) == KNOWN.at(7, norm=2.0)
    policy.model = replace(policy.model, norm=None)
    with pytest.raises(ValueError, match="norm = None"):
        KNOWN(policy)


@pytest.mark.parametrize(
    ("name", "value"),
    [("delta", 1.0), ("divide_beta_by", 0.0), ("d", 0), ("side", 0.0), ("b", math.nan), ("a", 0.0125)],
)
def test_bad_settings_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must"):
        replace(COMPACT, **{name: value})


def test_rounds_count_from_one():
    for ask in (COMPACT.at, lambda t: KNOWN.at(t, norm=2.0)):
        with pytest.raises(ValueError, match="t = 0"):
            ask(0)


def test_theorem_3_takes_the_gain_of_its_round():
    width = KnownNorm(0.1, np.array([1.0, 2.0, 4.0]))
    for t, gain in ((1, 1), (2, 2), (3, 4)):
        with mp.workdps(30):
            beta = 2 * 4 + 300 * gain * mp.log(t / mpf("0.1")) ** 3
        assert width.at(t, norm=2.0) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)
    with pytest.raises(ValueError, match="t = 4 is not allowed: max_gains holds 3 rounds"):
        width.at(4, norm=1.0)
    with pytest.raises(ValueError, match=r"norm = 0\.0 is not allowed"):
        width.at(1, norm=0.0)


def test_the_regret_bound_by_hand():
    """sqrt(8 / log(1 + 1/0.5) T beta_T gamma_T) with beta = 4, 9 and gamma = 1, 2."""
    bound = widths.regret_bound(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.5)
    C = 8 / math.log(3)
    np.testing.assert_allclose(bound, [math.sqrt(C * 1 * 4 * 1), math.sqrt(C * 2 * 9 * 2)], rtol=1e-13)
    with pytest.raises(ValueError, match="noise_variance"):
        widths.regret_bound(np.ones(1), np.ones(1), 0.0)


def test_widths_over_rounds_are_those_of_each_round():
    model = Model(grid(7), Linear(), 0.1)
    np.testing.assert_array_equal(widths.over_rounds(Bayes(0.1), model, 4), [Bayes(0.1).at(t, 7) for t in (1, 2, 3, 4)])
    np.testing.assert_array_equal(widths.over_rounds(COMPACT, model, 3), [COMPACT.at(t) for t in (1, 2, 3)])


def test_what_claim_1_r_says_of_its_first_rounds():
    """On 1000 arms of [0, 1] Theorem 2 is wider than Theorem 1 from round 4 on; D_t has as many points from 8 on."""
    tail = widths.slope_tail(0.2)
    wide, plain = CompactArms(0.1, d=1, side=1.0, **tail), Bayes(0.1)
    assert [wide.at(t) > plain.at(t, 1000) for t in range(1, 1001)] == [False] * 3 + [True] * 997
    points = [t**2 * tail["b"] * math.sqrt(math.log(4 * tail["a"] / 0.1)) for t in range(1, 1001)]
    assert [n >= 1000 for n in points] == [False] * 7 + [True] * 993


@pytest.mark.parametrize("L", [5.0, 10.0])
def test_slope_tail_bounds_the_slopes_of_draws_and_is_not_far_off(L):
    """Slopes of 2000 draws on a fine grid: the share above L is at most the bound, and at L = 10 a third of it."""
    rng, kernel = np.random.default_rng(5), SquaredExponential(0.2)
    slopes = np.array([np.abs(np.diff(draw_from_prior(kernel, grid(200), rng))).max() * 199 for _ in range(2000)])
    tail = widths.slope_tail(0.2)
    bound = tail["a"] * math.exp(-((L / tail["b"]) ** 2))
    assert (slopes > L).mean() <= bound
    assert L < 10 or (slopes > L).mean() > bound / 3


# One run of GP-UCB, as the proof of Theorem 1 goes through it


@pytest.fixture(scope="module")
def one_run():
    """Pulls of GP-UCB, their variances before each pull, and the problem."""
    problem, T = GPDraw(SquaredExponential(0.2), grid(60), 0.025)(Trial(11, 0)), 80
    policy, pulls, variances = UCB(problem.model, T, width=Bayes(0.1)), [], []
    for _, arm, _ in rounds(policy, problem, T, Trial(11, 0).rng("run")):
        pulls.append(arm)
        variances.append(policy.posterior.variance[arm])
    return problem, np.array(pulls), np.array(variances)


def test_lemma_5_4(one_run):
    """sum r_t^2 <= beta_T C1 I <= beta_T C1 gamma_T, and so R_T <= sqrt(C1 T beta_T gamma_T), in every round."""
    problem, pulls, variances = one_run
    regret = problem.regret(pulls)
    at = widths.over_rounds(Bayes(0.1), problem.model, 80)
    K = problem.model.kernel(problem.model.points, problem.model.points)
    gamma = allocated_gain(np.linalg.eigvalsh(K), 0.025, 80)
    C1, gain = 8 / math.log1p(1 / 0.025), 0.5 * np.cumsum(np.log1p(variances / 0.025))
    assert (regret <= 2 * at * np.sqrt(variances) + 1e-12).all()  # Lemma 5.2
    assert (np.cumsum(regret**2) <= at**2 * C1 * gain).all()
    assert (gain <= gamma * (1 + 1e-10)).all()
    assert (np.cumsum(regret) <= widths.regret_bound(at, gamma, 0.025)).all()
    assert np.cumsum(regret)[-1] ** 2 / 80 <= np.sum(regret**2)
