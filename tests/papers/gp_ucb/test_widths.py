"""Widths of Theorems 2 and 3 against mpmath, the regret bound, and the lemmas of the proofs in
every round of a run.
"""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from dense import dense_posterior
from mpmath import mp, mpf
from refusing import refuses

from kbrepro.bandits.information import allocated_gain
from kbrepro.bandits.kernels import Linear, SquaredExponential, grid
from kbrepro.bandits.policies import UCB
from kbrepro.bandits.problems import Model, Trial, prior_draws
from kbrepro.papers.gp_ucb import widths
from kbrepro.papers.gp_ucb.widths import CompactArms, KnownNorm
from kbrepro.trials.simulation import rounds

COMPACT = CompactArms(delta=0.1, d=2, side=1.5, a=2.0, b=3.0)
KNOWN = KnownNorm(delta=0.1, max_gains=np.array([1.0, 2.0, 4.0]))


def asking(t, norm=2.0):
    return SimpleNamespace(t=t, model=Model(grid(3), Linear(), 0.1, norm=norm))


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_2(t):
    with mp.workdps(30):
        delta, d, r, a, b = mpf("0.1"), 2, mpf("1.5"), 2, 3
        root = mp.sqrt(mp.log(4 * d * a / delta))
        beta = 2 * mp.log(t**2 * 2 * mp.pi**2 / (3 * delta))
        beta += 2 * d * mp.log(mpf(t) ** 2 * d * b * r * root)
    fifth = replace(COMPACT, divide_beta_by=5)
    for width, divided in ((COMPACT, 1), (fifth, 5)):
        assert width(asking(t)) == pytest.approx(float(mp.sqrt(beta / divided)), rel=1e-13)


@pytest.mark.parametrize(("t", "gain"), [(1, 1), (2, 2), (3, 4)])
def test_theorem_3_takes_the_gain_of_its_round(t, gain):
    with mp.workdps(30):
        beta = 2 * 4 + 300 * gain * mp.log(t / mpf("0.1")) ** 3
    assert KNOWN(asking(t)) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)
    assert widths.over_rounds(KNOWN, asking(1).model, 3)[t - 1] == KNOWN(asking(t))


def test_bad_input_is_named():
    refuses(
        (lambda: replace(COMPACT, delta=1.0), r"delta = 1\.0 is not"),
        (lambda: KNOWN(asking(1, norm=None)), "norm = None"),
    )


def test_the_regret_bound_by_hand():
    """sqrt(8 / log(1 + 1/0.5) T beta_T gamma_T) with beta = 4, 9 and gamma = 1, 2."""
    bound = widths.regret_bound(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.5)
    np.testing.assert_allclose(bound**2, np.array([1 * 4 * 1, 2 * 9 * 2]) * 8 / math.log(3))


def test_slope_tail_bounds_the_slopes_of_draws_and_is_not_far_off():
    """Slopes of 2000 draws on a fine grid: the share above L is at most the bound, and at L = 10 a
    third of it.
    """
    rng, draw = np.random.default_rng(5), prior_draws(SquaredExponential(0.2), grid(200))
    slopes = np.array([np.abs(np.diff(draw(rng))).max() * 199 for _ in range(2000)])
    tail = widths.slope_tail(0.2)
    low, high = (tail["a"] * math.exp(-((L / tail["b"]) ** 2)) for L in (5, 10))
    assert (slopes > 5).mean() <= low and high / 3 < (slopes > 10).mean() <= high


# Runs of GP-UCB, as the proofs of Theorems 1 to 3 go through them, in dense algebra

SE, S2, DELTA, T = SquaredExponential(0.2), 0.025, 0.1, 60
GAMMA = allocated_gain(np.linalg.eigvalsh(SE(grid(50), grid(50))), S2, T)
THEOREMS = widths.theorems(DELTA, S2, n_arms=50, horizon=T)
FEW = np.arange(1, T + 1)


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize("seed", range(2))
def test_what_all_three_proofs_use(theorem, seed):
    """Lemma 5.3 is an identity; Lemmas 5.1, 5.6 and Theorem 6 are bands: 5.2, 5.4 and the theorems
    follow.
    """
    source, width, bound = THEOREMS[theorem]
    problem, arms, y, means, variances = source(Trial(seed, 0)), [], [], [], []
    policy = UCB(problem.model, T, width=width)
    for _, arm, observed in rounds(policy, problem, T, Trial(seed, 0).rng("noise")):
        mean, C = dense_posterior(SE, grid(50), S2, arms, y)
        means.append(mean)
        variances.append(C.diagonal())
        arms.append(arm)
        y.append(observed)
    at, more = widths.over_rounds(width, problem.model, T), (theorem == "Theorem 2") / FEW**2
    sds, variance = np.sqrt(np.clip(variances, 0, None)), np.array(variances)[FEW - 1, arms]
    regret = problem.regret(arms)
    gained = 0.5 * np.log1p(variance / S2).cumsum()
    determinant = np.linalg.slogdet(np.eye(T) + SE(grid(50)[arms], grid(50)[arms]) / S2)[1]
    assert gained[-1] == pytest.approx(0.5 * determinant, rel=1e-9)
    assert (gained <= GAMMA * (1 + 1e-9)).all()
    assert (abs(problem.expected_reward - means) <= at[:, None] * sds + more[:, None]).all()
    assert (regret <= 2 * at * np.sqrt(variance) + more + 1e-12).all()  # Lemmas 5.2 and 5.8
    squares = 8 / math.log1p(1 / S2) * at**2 * gained
    assert (((regret - more).clip(0) ** 2).cumsum() <= squares).all()  # Lemma 5.4
    np.testing.assert_allclose(
        bound, widths.regret_bound(at, GAMMA, S2) + 2 * (theorem == "Theorem 2")
    )
    assert (regret.cumsum() <= bound).all()
    # Lemma 7.1
    least = np.minimum(variance / S2, 0.25).cumsum() * math.log1p(0.25) / 0.5
    assert (least <= gained + 1e-12).all()
