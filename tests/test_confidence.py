"""The widths of Theorems 1 to 3 against numbers worked out with mpmath, and their shape."""

import math
from functools import partial

import numpy as np
import pytest
from mpmath import mp, mpf

from kbrepro import confidence
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers import gp_ucb
from kbrepro.papers.bkb import policy
from kbrepro.posterior import exact_posterior

COMPACT = dict(d=2, side=1.0, a=1.0, b=3.0, delta=0.1)
GAINS = np.full(10_000, 7.5)
RKHS = dict(squared_norm=4.0, max_gains=GAINS, delta=0.1)
FINITE = dict(n_arms=1000, delta=0.1)
WIDTHS = [(confidence.finite_arms, FINITE), (gp_ucb.compact_arms, COMPACT), (gp_ucb.rkhs, RKHS)]
NAMES = ["theorem 1", "theorem 2", "theorem 3"]
every_theorem = pytest.mark.parametrize(("width", "settings"), WIDTHS, ids=NAMES)


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_1(t):
    with mp.workdps(30):
        beta = 2 * mp.log(1000 * mpf(t) ** 2 * mp.pi**2 / (6 * mpf("0.1")))
        assert confidence.finite_arms(t, **FINITE) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_2(t):
    with mp.workdps(30):
        delta, d, r, a, b = mpf("0.1"), 2, 1, 1, 3
        root = mp.sqrt(mp.log(4 * d * a / delta))
        beta = 2 * mp.log(t**2 * 2 * mp.pi**2 / (3 * delta)) + 2 * d * mp.log(mpf(t) ** 2 * d * b * r * root)
        assert gp_ucb.compact_arms(t, **COMPACT) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_3(t):
    with mp.workdps(30):
        beta = 2 * 4 + 300 * mpf("7.5") * mp.log(t / mpf("0.1")) ** 3
        assert gp_ucb.rkhs(t, **RKHS) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


def test_numbers_worked_out_by_hand():
    """2 log(1000 pi^2 / 0.6) = 2 * 9.7080407; 2 * 1 + 300 * 2 * log(2)^3 = 2 + 600 * 0.33302465."""
    assert confidence.finite_arms(1, **FINITE) ** 2 == pytest.approx(19.41608135, rel=1e-9)
    assert gp_ucb.rkhs(1, squared_norm=1.0, max_gains=[2.0], delta=0.5) ** 2 == pytest.approx(201.8147912, rel=1e-9)
    # 2 log(2 pi^2 / 0.3) + 2 log(sqrt(log 40)) = 8.37315951 + 1.30532274
    simple = gp_ucb.compact_arms(1, d=1, side=1.0, a=1.0, b=1.0, delta=0.1)
    assert simple**2 == pytest.approx(9.67848225, rel=1e-8)


@every_theorem
def test_the_width_grows_with_the_round(width, settings):
    values = [width(t, **settings) for t in (1, 2, 3, 10, 100, 10_000)]
    assert values == sorted(set(values))


@every_theorem
@pytest.mark.parametrize("factor", [5, 2.0, 0.5])
def test_dividing_beta_divides_the_width_by_the_root(width, settings, factor):
    whole, divided = width(20, **settings), width(20, **settings, divide_beta_by=factor)
    assert whole / divided == pytest.approx(math.sqrt(factor), rel=1e-13)


@every_theorem
def test_a_smaller_delta_widens_the_band(width, settings):
    assert width(5, **settings | {"delta": 0.01}) > width(5, **settings)


@pytest.mark.parametrize(
    ("width", "settings", "name", "value"),
    [
        (width, settings, name, value)
        for width, settings in WIDTHS
        for name, value in [("delta", 0.0), ("delta", 1.0), ("divide_beta_by", 0.0), ("divide_beta_by", -5)]
    ]
    + [
        (confidence.finite_arms, FINITE, "n_arms", 0),
        (confidence.finite_arms, FINITE, "n_arms", 10.0),
        (gp_ucb.compact_arms, COMPACT, "d", 0),
        (gp_ucb.compact_arms, COMPACT, "side", 0.0),
        (gp_ucb.compact_arms, COMPACT, "b", math.nan),
        (gp_ucb.compact_arms, COMPACT, "a", 0.0125),
        (gp_ucb.rkhs, RKHS, "squared_norm", 0.0),
    ],
)
def test_bad_settings_are_named(width, settings, name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must"):
        width(1, **settings | {name: value})


@every_theorem
@pytest.mark.parametrize("t", [0, -1, 1.0])
def test_rounds_count_from_one(width, settings, t):
    with pytest.raises(ValueError, match="t = "):
        width(t, **settings)


def test_theorem_3_takes_the_gain_of_its_round():
    gains = np.array([1.0, 2.0, 4.0])
    for t in (1, 2, 3):
        square = 2 * 1.0 + 300 * gains[t - 1] * math.log(t / 0.1) ** 3
        assert gp_ucb.rkhs(t, squared_norm=1.0, max_gains=gains, delta=0.1) ** 2 == pytest.approx(square, rel=1e-13)
    with pytest.raises(ValueError, match="t = 4 is not allowed: max_gains holds 3 rounds"):
        gp_ucb.rkhs(4, squared_norm=1.0, max_gains=gains, delta=0.1)


def test_the_regret_bound_by_hand():
    """sqrt(8 / log(1 + 1/0.5) T beta_T gamma_T) with beta = 4, 9 and gamma = 1, 2."""
    bound = gp_ucb.regret_bound(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.5)
    C = 8 / math.log(3)
    np.testing.assert_allclose(bound, [math.sqrt(C * 1 * 4 * 1), math.sqrt(C * 2 * 9 * 2)], rtol=1e-13)
    with pytest.raises(ValueError, match="noise_variance"):
        gp_ucb.regret_bound(np.ones(1), np.ones(1), 0.0)


@pytest.mark.parametrize("gain", [0.0, 0.7, 40.0])
def test_improved_rkhs_width(gain):
    with mp.workdps(30):
        expected = mpf("1.5") + mpf("0.3") * mp.sqrt(2 * (mpf(gain) + 1 + mp.log(1 / mpf("0.1"))))
        found = confidence.improved_rkhs(gain, norm=1.5, noise_scale=0.3, delta=0.1)
        assert found == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("gain", [0.0, 0.7, 40.0])
def test_self_normalised_width(gain):
    with mp.workdps(30):
        expected = mpf("1.5") + mpf("0.3") / mp.sqrt(mpf("0.04")) * mp.sqrt(2 * mpf(gain) + 2 * mp.log(10))
        found = confidence.self_normalised(gain, norm=1.5, noise_scale=0.3, noise_variance=0.04, delta=0.1)
        assert found == pytest.approx(float(expected), rel=1e-13)


def test_the_self_normalised_band_covers_at_a_small_regulariser():
    """20 functions of known norm on 25 arms, noise 0.3, posterior told 0.01: no run leaves the band (delta 1e-6)."""
    kernel, arms = SquaredExponential(0.2), grid(25)
    for seed in range(20):
        rng = np.random.default_rng([31, seed])
        weights = rng.standard_normal(25)
        K = kernel(arms, arms)
        f, norm = K @ weights, float(np.sqrt(weights @ K @ weights))
        posterior = exact_posterior(kernel, arms, 0.01, 60)
        for _ in range(60):
            settings = dict(norm=norm, noise_scale=0.3, noise_variance=0.01, delta=1e-6)
            width = confidence.self_normalised(posterior.gain, **settings)
            assert (np.abs(f - posterior.mean) <= width * posterior.sd + 1e-9).all()
            arm = int((f + 3 * posterior.sd).argmax())
            posterior.update(arm, f[arm] + 0.3 * rng.standard_normal())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": 0.0}, "norm = 0.0"),
        ({"norm": -1.0}, "norm = -1.0"),
        ({"delta": 1.0}, "delta = 1.0"),
        ({"delta": 0.0}, "delta = 0.0"),
        ({"noise_scale": -0.1}, "noise_scale = -0.1"),
        ({"noise_variance": 0.0}, "noise_variance = 0.0"),
    ],
)
def test_widths_of_the_gain_name_what_is_wrong(change, message):
    settings = dict(norm=1.0, noise_scale=0.3, noise_variance=0.04, delta=0.1) | change
    with pytest.raises(ValueError, match=message):
        confidence.self_normalised(1.0, **settings)
    if "noise_variance" not in change:
        del settings["noise_variance"]
        with pytest.raises(ValueError, match=message):
            confidence.improved_rkhs(1.0, **settings)


def test_an_array_of_gains_has_an_array_of_widths():
    settings = dict(norm=1.5, noise_scale=0.3, delta=0.1)
    gains = np.array([0.0, 0.7, 40.0])
    widths = confidence.improved_rkhs(gains, **settings)
    assert widths.tolist() == [confidence.improved_rkhs(gain, **settings) for gain in gains.tolist()]
    with pytest.raises(ValueError, match=r"gain = .*-0\.5"):
        confidence.improved_rkhs(np.array([1.0, -0.5]), **settings)


@pytest.mark.parametrize("width", [confidence.improved_rkhs, partial(confidence.self_normalised, noise_variance=0.04)])
def test_a_negative_gain_is_refused(width):
    with pytest.raises(ValueError, match=r"gain = -0\.1"):
        width(-0.1, norm=1.0, noise_scale=0.3, delta=0.1)


# Calandriello et al.

BUDGETED = {"norm": 2.0, "noise_scale": 0.1, "noise_variance": 0.04, "delta": 0.1}


def test_budgeted_by_hand():
    """beta~ of Theorem 2 divided by sqrt(lambda) = 0.2, S = 5 after 100 pulls: eps = 1/2, alpha = 3."""
    beta = 2 * 0.1 * np.sqrt(3 * np.log(100) * 5 + np.log(10)) + (1 + np.sqrt(2)) * 0.2 * 2
    assert policy.budgeted(5.0, 100, **BUDGETED) == pytest.approx(beta / 0.2)
    beta = 2 * 0.1 * np.sqrt(3 * np.log(2500) * 5 + np.log(10)) + (1 + np.sqrt(2)) * 0.2 * 2
    assert policy.budgeted(5.0, 100, **BUDGETED, corrected=True) == pytest.approx(beta / 0.2)
    beta = 0.1 * np.sqrt(np.log(100) * 5 + np.log(10)) + 0.2 * 2
    assert policy.budgeted_authors(5.0, 100, **BUDGETED) == pytest.approx(beta / 0.2)


def test_budgeted_takes_the_logarithm_of_at_least_two_pulls():
    for width in (policy.budgeted, policy.budgeted_authors):
        assert width(1.0, 0, **BUDGETED) == width(1.0, 1, **BUDGETED) == width(1.0, 2, **BUDGETED)
        assert width(1.0, 3, **BUDGETED) > width(1.0, 2, **BUDGETED)


def test_the_regret_bound_of_bkb_by_hand():
    """d = 4, T = 50, alpha = 3: 2 * 6^1.5 sqrt(50) (0.1 d log 50 + sqrt(0.04 * 4 * d log 50) + 0.1 log 10)."""
    growth = 4 * np.log(50)
    bound = 2 * 6**1.5 * np.sqrt(50) * (0.1 * growth + np.sqrt(0.04 * 4 * growth) + 0.1 * np.log(10))
    assert policy.budgeted_regret_bound(4.0, 50, **BUDGETED) == pytest.approx(bound)


def test_the_smallest_qbar():
    assert policy.smallest_qbar(1000, delta=0.1) == pytest.approx(763, abs=0.5)
    assert policy.smallest_qbar(1000, delta=0.1, accuracy=0.1) == pytest.approx(7771, abs=1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"accuracy": 1.0}, r"accuracy = 1\.0 is not allowed"),
        ({"delta": 0.0}, r"delta = 0\.0 is not allowed"),
        ({"norm": -1.0}, r"norm = -1\.0 is not allowed"),
        ({"squared_kappa": 0.1}, r"squared_kappa = 0\.1 is not allowed: its product with the pulls must exceed 1"),
    ],
)
def test_bad_constants_of_bkb(changed, message):
    with pytest.raises(ValueError, match=message):
        policy.budgeted(1.0, 2, **(BUDGETED | changed))
