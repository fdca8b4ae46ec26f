"""The widths against numbers worked out with mpmath, what they read off the policy, their shape and their coverage."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from kbrepro.confidence import Bayes, Constant, Improved, SelfNormalised
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.policies import UCB
from kbrepro.problems import Gaussian, Problem, Told
from kbrepro.simulation import rounds

GIVEN = dict(norm=1.5, noise_scale=0.3)
GAINS = [0.0, 0.7, 40.0]


def asking(t=3, gain=4.0, **told):
    """What a width looks at: 25 arms, round 3, a gain of 4 nats."""
    given = dict(points=grid(25), kernel=SquaredExponential(0.2), noise_variance=0.04, norm=1.5, noise_scale=0.3)
    return SimpleNamespace(t=t, told=Told(**given | told), posterior=SimpleNamespace(gain=gain))


# Srinivas et al., Theorem 1


@pytest.mark.parametrize("t", [1, 10, 1000])
def test_theorem_1(t):
    with mp.workdps(30):
        beta = 2 * mp.log(1000 * mpf(t) ** 2 * mp.pi**2 / (6 * mpf("0.1")))
        assert Bayes(0.1).at(t, n_arms=1000) == pytest.approx(float(mp.sqrt(beta)), rel=1e-13)


def test_theorem_1_by_hand():
    """2 log(1000 pi^2 / 0.6) = 2 * 9.7080407."""
    assert Bayes(0.1).at(1, 1000) ** 2 == pytest.approx(19.41608135, rel=1e-9)


def test_it_grows_with_the_round_and_with_a_smaller_delta():
    values = [Bayes(0.1).at(t, 1000) for t in (1, 2, 3, 10, 100, 10_000)]
    assert values == sorted(set(values))
    assert Bayes(0.01).at(5, 1000) > Bayes(0.1).at(5, 1000)


@pytest.mark.parametrize("factor", [5, 2.0, 0.5])
def test_dividing_beta_divides_the_width_by_the_root(factor):
    whole, divided = Bayes(0.1).at(20, 1000), Bayes(0.1, divide_beta_by=factor).at(20, 1000)
    assert whole / divided == pytest.approx(math.sqrt(factor), rel=1e-13)


@pytest.mark.parametrize(
    ("name", "value"), [("delta", 0.0), ("delta", 1.0), ("divide_beta_by", 0.0), ("divide_beta_by", -5)]
)
def test_bad_settings_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must"):
        Bayes(**{"delta": 0.1} | {name: value})


@pytest.mark.parametrize(("name", "value"), [("t", 0), ("t", -1), ("t", 1.0), ("n_arms", 0), ("n_arms", 10.0)])
def test_rounds_and_arms_count_from_one(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not allowed: {name} must"):
        Bayes(0.1).at(**{"t": 1, "n_arms": 10} | {name: value})


# Widths of the gain


@pytest.mark.parametrize("gain", GAINS)
def test_improved_width(gain):
    with mp.workdps(30):
        expected = mpf("1.5") + mpf("0.3") * mp.sqrt(2 * (mpf(gain) + 1 + mp.log(1 / mpf("0.1"))))
        assert Improved(0.1).at(gain, **GIVEN) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("gain", GAINS)
def test_self_normalised_width(gain):
    with mp.workdps(30):
        expected = mpf("1.5") + mpf("0.3") / mp.sqrt(mpf("0.04")) * mp.sqrt(2 * mpf(gain) + 2 * mp.log(10))
        found = SelfNormalised(0.1).at(gain, **GIVEN, noise_variance=0.04)
        assert found == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": 0.0}, "norm = 0.0"),
        ({"norm": -1.0}, "norm = -1.0"),
        ({"norm": None}, "norm = None"),
        ({"noise_scale": -0.1}, "noise_scale = -0.1"),
        ({"gain": -0.1}, r"gain = -0\.1"),
        ({"noise_variance": 0.0}, "noise_variance = 0.0"),
    ],
)
def test_widths_of_the_gain_name_what_is_wrong(change, message):
    given = {"gain": 1.0, **GIVEN} | change
    with pytest.raises(ValueError, match=message):
        SelfNormalised(0.1).at(**{"noise_variance": 0.04} | given)
    if "noise_variance" not in change:
        with pytest.raises(ValueError, match=message):
            Improved(0.1).at(**given)


@pytest.mark.parametrize("width", [Improved, SelfNormalised])
@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_delta_is_a_probability(width, delta):
    with pytest.raises(ValueError, match=f"delta = {delta}"):
        width(delta)


def test_an_array_of_gains_has_an_array_of_widths():
    width = Improved(0.1)
    assert width.at(np.array(GAINS), **GIVEN).tolist() == [width.at(gain, **GIVEN) for gain in GAINS]
    with pytest.raises(ValueError, match=r"gain = .*-0\.5"):
        width.at(np.array([1.0, -0.5]), **GIVEN)


# What a width reads off the policy


def test_a_width_reads_its_arguments_off_the_policy():
    assert Bayes(0.1, 5)(asking()) == Bayes(0.1, 5).at(3, n_arms=25)
    assert Improved(0.1)(asking()) == Improved(0.1).at(4.0, **GIVEN)
    assert SelfNormalised(0.1)(asking()) == SelfNormalised(0.1).at(4.0, **GIVEN, noise_variance=0.04)
    assert Constant(2.5)(asking()) == 2.5


def test_a_gain_by_formula_is_that_of_the_pulls_before():
    width = Improved(0.1, gain={2: 4.0}.__getitem__)
    assert width(asking(gain=99.0)) == pytest.approx(1.5 + 0.3 * math.sqrt(2 * (4.0 + 1 + math.log(10))))


@pytest.mark.parametrize("width", [Improved(0.1), SelfNormalised(0.1)])
def test_without_a_norm_widths_that_need_it_say_so(width):
    with pytest.raises(ValueError, match="norm = None"):
        width(asking(norm=None))


def test_a_constant_is_not_negative():
    assert Constant(0.0)(asking()) == 0.0
    with pytest.raises(ValueError, match=r"width = -1\.0"):
        Constant(-1.0)


def test_the_self_normalised_band_covers_at_a_small_regulariser():
    """20 functions of known norm on 25 arms, noise 0.3, posterior told 0.01: no run leaves the band (delta 1e-6)."""
    kernel, points = SquaredExponential(0.2), grid(25)
    K = kernel(points, points)
    for seed in range(20):
        weights = np.random.default_rng([31, seed]).standard_normal(25)
        f, norm = K @ weights, float(np.sqrt(weights @ K @ weights))
        problem = Problem(Told(points, kernel, 0.01, noise_scale=0.3, norm=norm), f, Gaussian(0.3))
        policy = UCB(problem.told, 60, width=Constant(3.0))
        for _ in rounds(policy, problem, 60, np.random.default_rng([32, seed])):
            half = SelfNormalised(1e-6)(policy) * policy.posterior.sd
            assert (np.abs(f - policy.posterior.mean) <= half + 1e-9).all()
