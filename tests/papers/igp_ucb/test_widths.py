"""The original width by hand, what it reads off the policy, and bands that cover where the paper's would."""

import math
from functools import partial
from types import SimpleNamespace

import pytest

from kbrepro.confidence import SelfNormalised, Tighter
from kbrepro.kernels import SquaredExponential
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import UCB
from kbrepro.simulation import Experiment, run_trials


def test_original_uses_the_gain_of_the_pulls_before_and_reads_round_and_norm_off_the_policy():
    width = Original(0.1, gain={2: 4.0}.__getitem__)
    policy = SimpleNamespace(t=3, model=SimpleNamespace(known_norm=2.0), posterior=SimpleNamespace(gain=99.0))
    assert (
        width(policy) == width.at(3, norm=2.0) == pytest.approx(math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3))
    )


# Bands: the classical one, and the tighter one of docs/tighter_width.md

SMOOTH = PosteriorMean(SquaredExponential(0.2), n_arms=30)
HORIZON = 100
SOURCES = {"lambda = R^2": SMOOTH, "lambda = 1 + 2 / T": OtherModel(SMOOTH, noise_variance=1 + 2 / HORIZON)}


def covered(source, width):
    experiment = Experiment(source, {"UCB": partial(UCB, width=width)}, HORIZON, record_band=True)
    trace = run_trials(experiment, 60, 62)["UCB"]
    return (trace.band_ratio <= 1).all(axis=1).sum(), trace.band_ratio.max()


@pytest.mark.parametrize("width", [Tighter(0.1), SelfNormalised(0.1)])
@pytest.mark.parametrize("name", SOURCES)
def test_the_band_covers(name, width):
    """60 runs on 30 arms: 1 - delta = 0.9 promised; fewer than 46 would have probability below 1e-3 at 0.9."""
    runs, largest = covered(SOURCES[name], width)
    assert runs >= 46
    assert largest > 0.1  # and is a band, not everything


def without_norm(policy):
    return math.sqrt(Tighter(0.1)(policy) ** 2 - policy.model.norm**2)


def norm_alone(policy):
    return policy.model.norm


@pytest.mark.parametrize(("name", "wrong"), [("lambda = 1 + 2 / T", without_norm), ("lambda = R^2", norm_alone)])
def test_a_band_that_lacks_either_term_does_not_cover(name, wrong):
    """A large ridge makes the norm count, a small one the noise: each test above would notice its loss."""
    assert covered(SOURCES[name], wrong)[0] < 46
