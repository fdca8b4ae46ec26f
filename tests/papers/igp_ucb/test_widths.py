"""Widths beside printed ones of other people's code, the original one by hand, and bands that cover."""

import json
import math
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro.confidence import SelfNormalised, Tighter
from kbrepro.kernels import Matern, SquaredExponential
from kbrepro.papers.igp_ucb.problems import OtherModel, PosteriorMean
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import UCB
from kbrepro.simulation import Experiment, run_trials

PRINTED = json.loads((Path(__file__).parents[2] / "recorded" / "fiedler2021.json").read_text(encoding="utf-8"))["cases"]


def mean_widths(case, noise_variance):
    """The classical width at four delta, the mean over 100 designs of 50 of 1,000 points; of lambda the gain has."""
    rng, points = np.random.default_rng(0), np.linspace(-1, 1, 1000)[:, None]
    size, lam = case["lengthscale"], case["lambda"]
    kernel = SquaredExponential(size) if case["kernel"] == "SE" else Matern(size, nu=1.5)
    designs = [points[rng.choice(1000, 50, replace=False)] for _ in range(100)]
    gains = np.array([0.5 * np.linalg.slogdet(np.eye(50) + kernel(x, x) / lam)[1] for x in designs])
    given = {"norm": case["B"], "noise_scale": case["R"], "noise_variance": noise_variance}
    return [SelfNormalised(delta).at(gains, **given).mean() for delta in (0.1, 0.01, 0.001, 0.0001)]


@pytest.mark.parametrize("case", PRINTED, ids=lambda case: f"{case['kernel']} {case['lengthscale']} {case['B']:.2f}")
def test_the_classical_width_is_that_of_fiedler_et_al(case):
    """To two digits, with R over lambda as their code has it; with its root, as all papers, it is another width."""
    assert mean_widths(case, case["lambda"] ** 2) == pytest.approx(case["printed"], abs=0.02)
    assert not np.isclose(mean_widths(case, case["lambda"]), case["printed"], atol=0.3).any()


def test_original_uses_the_gain_of_the_pulls_before_and_reads_round_and_norm_off_the_policy():
    width = Original(0.1, gain={2: 4.0}.__getitem__)
    policy = SimpleNamespace(t=3, model=SimpleNamespace(known_norm=2.0), posterior=SimpleNamespace(gain=99.0))
    by_hand = math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3)
    assert width(policy) == width.at(3, norm=2.0) == pytest.approx(by_hand)


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
