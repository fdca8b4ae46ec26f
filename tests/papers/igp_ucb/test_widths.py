"""Widths by formula: numbers worked out by hand, the clamp at t = 1, and bad input."""

import math
from functools import partial

import pytest

from kbrepro.papers.igp_ucb.theory import gain_by_formula, improved, original

SE = partial(gain_by_formula, kernel="squared exponential")


def test_gain_by_formula():
    assert gain_by_formula(100, kernel="squared exponential", d=1) == pytest.approx(math.log(100) ** 2)
    assert gain_by_formula(100, kernel="squared exponential", d=3) == pytest.approx(math.log(100) ** 4)
    assert gain_by_formula(100, kernel="matern", d=1) == pytest.approx(100 ** (2 / 7) * math.log(100))
    assert gain_by_formula(100, kernel="linear", d=3) == pytest.approx(3 * math.log(100))
    assert gain_by_formula(0, kernel="constant") == gain_by_formula(9, kernel="constant") == 1.0
    assert gain_by_formula(100, kernel="matern", factor=0.1) == pytest.approx(10 ** (4 / 7 - 1) * math.log(100))


def test_logarithms_start_at_zero_not_below():
    assert SE(0) == SE(1) == 0.0 < SE(2)


def test_improved_uses_the_gain_of_the_pulls_before():
    width = improved(3, gain={2: 4.0}.__getitem__, norm=2.0, noise_scale=0.5, delta=0.1)
    assert width == pytest.approx(2.0 + 0.5 * math.sqrt(2 * (4.0 + 1 + math.log(10))))


def test_original_uses_the_gain_of_the_pulls_before():
    width = original(3, gain={2: 4.0}.__getitem__, norm=2.0, delta=0.1)
    assert width == pytest.approx(math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3))


def test_the_improved_width_gains_on_the_original():
    """What the paper improves: the cube of the logarithm is gone, so the ratio of the widths grows."""
    widths = [(original(t, gain=SE, norm=1, delta=0.1), improved(t, gain=SE, norm=1, noise_scale=1, delta=0.1))
              for t in (10, 1000, 100_000)]  # fmt: skip
    ratios = [old / new for old, new in widths]
    assert ratios == sorted(ratios) and ratios[-1] > 100


@pytest.mark.parametrize("bad", [{"norm": 0.0}, {"norm": -1.0}, {"delta": 0.0}, {"delta": 1.0}, {"t": 0}])
@pytest.mark.parametrize("width", [partial(improved, noise_scale=1.0), original])
def test_bad_input_is_named(width, bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} = "):
        width(**{"t": 1, "gain": SE, "norm": 1.0, "delta": 0.1} | bad)


def test_unknown_formula_says_what_is_allowed():
    with pytest.raises(ValueError, match=r"kernel = 'cubic'.*'constant', 'linear'"):
        gain_by_formula(3, kernel="cubic")
