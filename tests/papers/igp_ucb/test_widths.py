"""Widths beside printed ones of other people's code, and the original one by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from recordings import recorded

from kbrepro.bandits.confidence import AbbasiYadkori2011
from kbrepro.bandits.kernels import Matern, SquaredExponential
from kbrepro.papers.igp_ucb.widths import Original

PRINTED = recorded("fiedler2021")["cases"]


def mean_widths(case, noise_variance):
    """The classical width at four delta, the mean over 100 designs; the gain is at the lambda of
    the case.
    """
    rng, points = np.random.default_rng(0), np.linspace(-1, 1, 1000)[:, None]
    size, lam = case["lengthscale"], case["lambda"]
    kernel = SquaredExponential(size) if case["kernel"] == "SE" else Matern(size, nu=1.5)
    designs = [points[rng.choice(1000, 50, replace=False)] for _ in range(100)]
    gains = np.array([0.5 * np.linalg.slogdet(np.eye(50) + kernel(x, x) / lam)[1] for x in designs])
    model = SimpleNamespace(
        known_norm=case["B"], noise_scale=case["R"], noise_variance=noise_variance
    )
    return [
        AbbasiYadkori2011(delta).of(model, gains).mean() for delta in (0.1, 0.01, 0.001, 0.0001)
    ]


@pytest.mark.parametrize(
    "case", PRINTED, ids=lambda case: f"{case['kernel']} {case['lengthscale']} {case['B']:.2f}"
)
def test_the_classical_width_is_that_of_fiedler_et_al(case):
    """To two digits, with R over lambda as their code has it; with its root, as all papers, it is
    another width.
    """
    assert mean_widths(case, case["lambda"] ** 2) == pytest.approx(case["printed"], abs=0.02)
    assert not np.isclose(mean_widths(case, case["lambda"]), case["printed"], atol=0.3).any()


def test_original_uses_the_gain_of_the_pulls_before_and_reads_round_and_norm_off_the_policy():
    width = Original(0.1, gain={2: 4.0}.__getitem__)
    policy = SimpleNamespace(
        t=3, model=SimpleNamespace(known_norm=2.0), posterior=SimpleNamespace(gain=99.0)
    )
    by_hand = math.sqrt(2 * 2.0**2 + 300 * 4.0 * math.log(30) ** 3)
    assert width(policy) == pytest.approx(by_hand)
