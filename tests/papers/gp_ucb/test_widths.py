"""Widths of Theorems 2 and 3 against mpmath, the regret bound, and the lemmas of the proofs in every round of a run."""

import math
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
from dense import dense_posterior
from mpmath import mp, mpf

from kbrepro.confidence import Srinivas2010
from kbrepro.information import allocated_gain
from kbrepro.kernels import Linear, SquaredExponential, grid
from kbrepro.papers.gp_ucb import widths
from kbrepro.papers.gp_ucb.widths import CompactArms, KnownNorm
from kbrepro.policies import UCB
from kbrepro.problems import GPDraw, Model, RKHSFunction, Trial, prior_draws
from kbrepro.simulation import rounds

COMPACT = CompactArms(delta=0.1, d=2, side=1.0, a=1.0, b=3.0)
KNOWN = KnownNorm(delta=0.1, max_gains=np.array([1.0, 2.0, 4.0]))


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_2(t):
    with mp.workdps(30):
        delta, d, r, a, b = mpf("0.1"), 2, 1, 1, 3
        root = mp.sqrt(mp.log(4 * d * a / delta))
        beta = 2 * mp.log(t**2 * 2 * mp.pi**2 / (3 * delta)) + 2 * d * mp.log(mpf(t) ** 2 * d * b * r * root)
        assert COMPACT.at(t) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)
        assert replace(COMPACT, divide_beta_by=5).at(t) == pytest.approx(float(mp.sqrt(beta / 5)), rel=1e-13)


@pytest.mark.parametrize(("t", "gain"), [(1, 1), (2, 2), (3, 4)])
def test_theorem_3_takes_the_gain_of_its_round(t, gain):
    with mp.workdps(30):
        beta = 2 * 4 + 300 * gain * mp.log(t / mpf("0.1")) ** 3
    assert KNOWN.at(t, norm=2.0) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


def test_a_width_reads_the_round_and_the_norm_off_the_policy():
    policy = SimpleNamespace(t=3, model=Model(grid(7), Linear(), 0.1, norm=2.0))
    assert COMPACT(policy) == COMPACT.at(3) and KNOWN(policy) == KNOWN.at(3, norm=2.0)
    for width, at in ((Srinivas2010(0.1), partial(Srinivas2010(0.1).at, n_arms=7)), (COMPACT, COMPACT.at)):
        np.testing.assert_array_equal(widths.over_rounds(width, policy.model, 3), [at(t) for t in (1, 2, 3)])


SETTINGS = {"delta": 1.0, "divide_beta_by": 0.0, "d": 0, "side": 0.0, "b": math.nan, "a": 0.0125}
WRONG = {f"{name} = {value!r} is not": partial(replace, COMPACT, **{name: value}) for name, value in SETTINGS.items()}
WRONG |= {
    "t = 0": lambda: COMPACT.at(0),
    "t = 0 is": lambda: KNOWN.at(0, norm=2.0),
    "t = 4 is not allowed: max_gains holds 3 rounds": lambda: KNOWN.at(4, norm=1.0),
    "norm = None": lambda: KNOWN(SimpleNamespace(t=1, model=Model(grid(3), Linear(), 0.1))),
    "noise_variance": lambda: widths.regret_bound(np.ones(1), np.ones(1), 0.0),
}


@pytest.mark.parametrize("words", WRONG)
def test_bad_input_is_named(words):
    with pytest.raises(ValueError) as raised:
        WRONG[words]()
    assert words in str(raised.value)


def test_the_regret_bound_by_hand():
    """sqrt(8 / log(1 + 1/0.5) T beta_T gamma_T) with beta = 4, 9 and gamma = 1, 2."""
    bound = widths.regret_bound(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.5)
    C = 8 / math.log(3)
    np.testing.assert_allclose(bound, [math.sqrt(C * 1 * 4 * 1), math.sqrt(C * 2 * 9 * 2)], rtol=1e-13)


def test_slope_tail_bounds_the_slopes_of_draws_and_is_not_far_off():
    """Slopes of 2000 draws on a fine grid: the share above L is at most the bound, and at L = 10 a third of it."""
    rng, kernel, tail = np.random.default_rng(5), SquaredExponential(0.2), widths.slope_tail(0.2)
    slopes = np.array([np.abs(np.diff(prior_draws(kernel, grid(200))(rng))).max() * 199 for _ in range(2000)])
    share, bound = (
        {L: of(L) for L in (5, 10)}
        for of in (lambda L: (slopes > L).mean(), lambda L: tail["a"] * math.exp(-((L / tail["b"]) ** 2)))
    )
    assert share[5] <= bound[5] and bound[10] / 3 < share[10] <= bound[10]


# Runs of GP-UCB, as the proofs of Theorems 1 to 3 go through them, in dense algebra

SE, S2, DELTA, T = SquaredExponential(0.2), 0.025, 0.1, 60
GAMMA = allocated_gain(np.linalg.eigvalsh(SE(grid(50), grid(50))), S2, T)
TAIL = widths.slope_tail(0.2)
THEOREMS = {
    1: (GPDraw(SE, grid(50), S2), Srinivas2010(DELTA)),
    2: (GPDraw(SE, grid(50), S2), CompactArms(DELTA, d=1, side=1.0, **TAIL)),
    3: (RKHSFunction(SE, grid(50), S2, norm=1.0), KnownNorm(DELTA, GAMMA)),
}
FEW = np.arange(1, T + 1)


@cache
def walk(theorem, seed):
    """A run with what the posterior said of its arms before each pull, in dense algebra, (T,) each."""
    source, width = THEOREMS[theorem]
    problem, arms, y, said = source(Trial(seed, 0)), [], [], []
    for _, arm, observed in rounds(UCB(problem.model, T, width=width), problem, T, Trial(seed, 0).rng("run")):
        mean, C = dense_posterior(SE, grid(50), S2, arms, y) if arms else (np.zeros(50), SE(grid(50), grid(50)))
        said.append((mean[arm], C[arm, arm], mean, C.diagonal()))
        arms.append(arm)
        y.append(observed)
    mean, variance, all_means, all_variances = map(np.array, zip(*said, strict=True))
    run = {"arms": np.array(arms), "y": np.array(y), "f": problem.expected_reward, "regret": problem.regret(arms)}
    run |= {"mean": mean, "sd": variance**0.5, "all_means": all_means, "all_sds": all_variances.clip(0) ** 0.5}
    run |= {"at": widths.over_rounds(width, problem.model, T), "gained": 0.5 * np.log1p(variance / S2).cumsum()}
    return SimpleNamespace(**run)


@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize("seed", range(4))
def test_what_all_three_proofs_use(theorem, seed):
    """Lemma 5.3 is an identity; Lemmas 5.1, 5.6 and Theorem 6 are bands: 5.2, 5.4 and the theorems follow."""
    run = walk(theorem, seed)
    determinant = np.linalg.slogdet(np.eye(T) + SE(grid(50)[run.arms], grid(50)[run.arms]) / S2)[1]
    assert run.gained[-1] == pytest.approx(0.5 * determinant, rel=1e-9) and (run.gained <= GAMMA * (1 + 1e-9)).all()
    assert (abs(run.f - run.all_means) <= run.at[:, None] * run.all_sds + (theorem == 2) / FEW[:, None] ** 2).all()
    more = (theorem == 2) / FEW**2
    assert (run.regret <= 2 * run.at * run.sd + more + 1e-12).all()  # Lemmas 5.2 and 5.8
    squares = 8 / math.log1p(1 / S2) * run.at**2 * run.gained
    assert (((run.regret - more).clip(0) ** 2).cumsum() <= squares).all()  # Lemma 5.4
    bound = widths.regret_bound(run.at, GAMMA, S2) + 2 * (theorem == 2)
    assert (run.regret.cumsum() <= bound).all()
    cut = [np.minimum(run.sd**2 / S2, a).cumsum() * math.log1p(a) / (2 * a) for a in (0.25, 1.0)]
    assert (np.array(cut) <= run.gained + 1e-12).all()  # Lemma 7.1


@pytest.mark.parametrize("seed", range(4))
def test_lemmas_5_5_and_5_7(seed):
    """The band at the arm pulled, and at the nearest of the points D_t: for four runs that are known to hold."""
    run = walk(2, seed)
    pi_t = FEW**2 * math.pi**2 / 6
    assert (abs(run.f[run.arms] - run.mean) <= np.sqrt(2 * np.log(pi_t / DELTA)) * run.sd).all()
    root = TAIL["b"] * math.sqrt(math.log(2 * TAIL["a"] / DELTA))
    beta, gaps = 2 * np.log(2 * pi_t / DELTA) + 4 * np.log(FEW * root), np.ceil(FEW**2 * root) - 1
    best = run.f.argmax()
    for t in range(1, T):
        near = np.vstack([grid(50), np.round(grid(50)[best] * gaps[t]) / gaps[t]])
        mean, C = dense_posterior(SE, near, S2, run.arms[:t], run.y[:t])
        assert abs(run.f[best] - mean[-1]) <= np.sqrt(beta[t]) * np.sqrt(max(C[-1, -1], 0)) + 1 / (t + 1) ** 2


@pytest.mark.parametrize("seed", range(4))
def test_lemmas_7_2_and_7_3(seed):
    """Z_T = ||mu_T - f||^2 in the norm of the posterior grows by a martingale and a sum; the former is small."""
    run = walk(3, seed)
    e = (run.y - run.f[run.arms]) / math.sqrt(S2)
    spread = run.sd**2 / S2
    K, Z = SE(grid(50)[run.arms], grid(50)[run.arms]), []
    for t in FEW:
        Z.append(1 - run.y[:t] @ np.linalg.solve(K[:t, :t] + S2 * np.eye(t), run.y[:t]) + (e[:t] ** 2).sum())
    steps = 2 * e * (run.mean - run.f[run.arms]) / math.sqrt(S2) / (1 + spread)
    assert (np.array(Z) <= 1 + steps.cumsum() + (e**2 * spread / (1 + spread)).cumsum() + 1e-9).all()
    assert (steps.cumsum() <= run.at**2 / 2).all()
