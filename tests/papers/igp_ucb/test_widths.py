"""The width of GP-UCB in this paper: by hand, what it reads off the policy, and how it compares with IGP-UCB's."""

import math
from types import SimpleNamespace

import pytest

from kbrepro.confidence import Improved
from kbrepro.information import GainByFormula
from kbrepro.papers.igp_ucb.widths import Original

SE = GainByFormula("squared exponential")


def test_original_uses_the_gain_of_the_pulls_before():
    width = Original(0.1, gain={2: 4.0}.__getitem__)
    assert width.at(3, norm=2.0) == pytest.approx(math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3))


def test_original_reads_round_and_norm_off_the_policy():
    policy = SimpleNamespace(t=3, told=SimpleNamespace(norm=2.0, noise_scale=0.5), posterior=SimpleNamespace(gain=99.0))
    assert Original(0.1, SE)(policy) == Original(0.1, SE).at(3, norm=2.0)


def test_the_improved_width_gains_on_the_original():
    """What the paper improves: the cube of the logarithm is gone, so the ratio of the widths grows."""
    old, new = Original(0.1, SE), Improved(0.1)
    ratios = [old.at(t, norm=1.0) / new.at(SE(t - 1), norm=1.0, noise_scale=1.0) for t in (10, 1000, 100_000)]
    assert ratios == sorted(ratios) and ratios[-1] > 100


@pytest.mark.parametrize(
    "bad", [{"norm": 0.0}, {"norm": -1.0}, {"norm": None}, {"delta": 0.0}, {"delta": 1.0}, {"t": 0}]
)
def test_bad_input_is_named(bad):
    ((name, value),) = bad.items()
    given = {"t": 1, "norm": 1.0, "delta": 0.1} | bad
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        Original(given["delta"], SE).at(given["t"], given["norm"])
