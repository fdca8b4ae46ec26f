"""Widths of Theorems 2 and 3 against mpmath, the regret bound, and bounds on the gain by exhaustion."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from kbrepro import information
from kbrepro.kernels import Independent, Linear, Matern, SquaredExponential, grid
from kbrepro.papers import gp_ucb
from kbrepro.papers.gp_ucb import CompactArms, KnownNorm
from kbrepro.problems import Told

E = 1 - np.exp(-1)
COMPACT = CompactArms(delta=0.1, d=2, side=1.0, a=1.0, b=3.0)
KNOWN = KnownNorm(delta=0.1, max_gains=np.full(10_000, 7.5))
every_theorem = pytest.mark.parametrize(
    ("width", "known"), [(COMPACT, {}), (KNOWN, {"norm": 2.0})], ids=["theorem 2", "theorem 3"]
)

# Widths


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_2(t):
    with mp.workdps(30):
        delta, d, r, a, b = mpf("0.1"), 2, 1, 1, 3
        root = mp.sqrt(mp.log(4 * d * a / delta))
        beta = 2 * mp.log(t**2 * 2 * mp.pi**2 / (3 * delta)) + 2 * d * mp.log(mpf(t) ** 2 * d * b * r * root)
        assert COMPACT.at(t) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_3(t):
    with mp.workdps(30):
        beta = 2 * 4 + 300 * mpf("7.5") * mp.log(t / mpf("0.1")) ** 3
        assert KNOWN.at(t, norm=2.0) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


def test_numbers_worked_out_by_hand():
    """2 * 1 + 300 * 2 * log(2)^3 = 2 + 600 * 0.33302465; 2 log(2 pi^2 / 0.3) + 2 log(sqrt(log 40)) = 8.37 + 1.31."""
    assert KnownNorm(0.5, [2.0]).at(1, norm=1.0) ** 2 == pytest.approx(201.8147912, rel=1e-9)
    simple = CompactArms(0.1, d=1, side=1.0, a=1.0, b=1.0)
    assert simple.at(1) ** 2 == pytest.approx(8.37315951 + 1.30532274, rel=1e-8)


@every_theorem
def test_the_width_grows_with_the_round_and_with_a_smaller_delta(width, known):
    values = [width.at(t, **known) for t in (1, 2, 3, 10, 100, 10_000)]
    assert values == sorted(set(values))
    assert replace(width, delta=0.01).at(5, **known) > width.at(5, **known)


@pytest.mark.parametrize("factor", [5, 2.0, 0.5])
def test_dividing_beta_divides_the_width_by_the_root(factor):
    assert COMPACT.at(20) / replace(COMPACT, divide_beta_by=factor).at(20) == pytest.approx(
        math.sqrt(factor), rel=1e-13
    )


def test_a_width_reads_the_round_and_the_norm_off_the_policy():
    policy = SimpleNamespace(t=7, told=Told(grid(3), Linear(), 0.1, norm=2.0))
    assert COMPACT(policy) == COMPACT.at(7)
    assert KNOWN(policy) == KNOWN.at(7, norm=2.0)
    policy.told = replace(policy.told, norm=None)
    with pytest.raises(ValueError, match="norm = None"):
        KNOWN(policy)


@pytest.mark.parametrize(
    ("width", "name", "value"),
    [
        *((width, "delta", value) for width in (COMPACT, KNOWN) for value in (0.0, 1.0)),
        (COMPACT, "divide_beta_by", 0.0),
        (COMPACT, "divide_beta_by", -5),
        (COMPACT, "d", 0),
        (COMPACT, "side", 0.0),
        (COMPACT, "b", math.nan),
        (COMPACT, "a", 0.0125),
    ],
)
def test_bad_settings_are_named(width, name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must"):
        replace(width, **{name: value})


@every_theorem
@pytest.mark.parametrize("t", [0, -1, 1.0])
def test_rounds_count_from_one(width, known, t):
    with pytest.raises(ValueError, match="t = "):
        width.at(t, **known)


def test_theorem_3_takes_the_gain_of_its_round():
    width = KnownNorm(0.1, np.array([1.0, 2.0, 4.0]))
    for t, gain in ((1, 1.0), (2, 2.0), (3, 4.0)):
        square = 2 * 1.0 + 300 * gain * math.log(t / 0.1) ** 3
        assert width.at(t, norm=1.0) ** 2 == pytest.approx(square, rel=1e-13)
    with pytest.raises(ValueError, match="t = 4 is not allowed: max_gains holds 3 rounds"):
        width.at(4, norm=1.0)
    with pytest.raises(ValueError, match=r"norm = 0\.0 is not allowed"):
        width.at(1, norm=0.0)


def test_the_regret_bound_by_hand():
    """sqrt(8 / log(1 + 1/0.5) T beta_T gamma_T) with beta = 4, 9 and gamma = 1, 2."""
    bound = gp_ucb.regret_bound(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.5)
    C = 8 / math.log(3)
    np.testing.assert_allclose(bound, [math.sqrt(C * 1 * 4 * 1), math.sqrt(C * 2 * 9 * 2)], rtol=1e-13)
    with pytest.raises(ValueError, match="noise_variance"):
        gp_ucb.regret_bound(np.ones(1), np.ones(1), 0.0)


# Bounds on the gain


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (SquaredExponential(0.2), grid(30)),
        (Matern(0.2, nu=2.5), grid(6, 2)),
        (Linear(), np.random.default_rng(12).standard_normal((25, 4))),
        (Independent(), grid(30)),
    ],
    ids=["squared exponential", "matern", "linear", "independent"],
)
def test_greedy_allocated_and_bound_are_ordered_at_every_horizon(kernel, points):
    greedy, _ = information.greedy_gain(kernel, points, 0.025, 200)
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))
    allocated = information.allocated_gain(eigenvalues, 0.025, 200)
    bound = gp_ucb.spectral_bound(eigenvalues, 0.025, 200)
    np.testing.assert_allclose(bound, allocated / E, rtol=1e-12)
    assert (greedy <= allocated * (1 + 1e-10)).all() and (allocated < bound).all()
    assert (np.diff(greedy) > 0).all() and (np.diff(greedy, 2) <= 1e-9).all()


@pytest.mark.parametrize("T", [1, 3, 25, 60])
@pytest.mark.parametrize("noise_variance", [0.025, 0.5])
def test_lemma_7_8_by_exhaustion(T, noise_variance):
    """Every split and every number r of pulls; and it is no smaller than the bound of eq. 8 that it relaxes."""
    kernel, points = SquaredExponential(0.2), grid(30)
    eigenvalues = np.linalg.eigvalsh(kernel(points, points))[::-1].clip(0)
    r = np.arange(1, T + 1)
    worst = [
        (s * np.log(r * 30 / noise_variance) + (T - r) * eigenvalues[s:].sum() / noise_variance).max()
        for s in range(1, min(T, 30) + 1)
    ]
    bound = gp_ucb.split_bound(eigenvalues, noise_variance, T)
    assert bound == pytest.approx(0.5 / E * min(worst), rel=1e-9)
    assert bound >= gp_ucb.spectral_bound(eigenvalues, noise_variance, T)[-1] * (1 - 1e-12)


@pytest.mark.parametrize(("kernel", "tau"), [(SquaredExponential(0.2), 1.0), (Matern(0.2, nu=2.5), 5 / 7)])
@pytest.mark.parametrize("T", [5, 40])
def test_theorem_8_by_exhaustion(kernel, tau, T):
    spectrum = gp_ucb.operator_spectrum(kernel, 60)
    C = 2 * (2 * tau + 1)
    n, r = C * T**tau * np.log(T), np.arange(1, T + 1)
    worst = [
        (s * np.log(r * n / 0.1) + C / 0.1 * (1 - r / T) * np.log(T) * (T ** (tau + 1) * spectrum[s:].sum() + 1)).max()
        for s in range(1, min(60, int(n)) + 1)
    ]
    assert gp_ucb.operator_bound(spectrum, 0.1, T, tau) == pytest.approx(0.5 / E * min(worst), rel=1e-6)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.2), Matern(0.2, nu=2.5)])
def test_the_operator_spectrum(kernel):
    """Sums to 1, falls, and is the limit of the spectrum of K / n on a fine regular grid (midpoints)."""
    spectrum = gp_ucb.operator_spectrum(kernel, 200)
    assert spectrum.sum() == pytest.approx(1, rel=1e-9) and (np.diff(spectrum) <= 0).all()
    midpoints = (grid(800, high=799.0) + 0.5) / 800
    fine = np.linalg.eigvalsh(kernel(midpoints, midpoints) / 800)[::-1]
    np.testing.assert_allclose(spectrum[:8], fine[:8], rtol=1e-3, atol=1e-6)
