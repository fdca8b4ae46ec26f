"""Names of rules, and formulas of the theorems, by brute force, by hand and as properties."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kbrepro.confidence import Chowdhury2017
from kbrepro.kernels import SquaredExponential, grid
from kbrepro.papers.igp_ucb import experiments
from kbrepro.papers.igp_ucb.widths import Original
from kbrepro.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.problems import Model

SE = SquaredExponential(0.2)


def test_each_variant_of_ei_and_pi_has_the_incumbent_and_the_margin_of_its_name():
    rules = experiments.improvement_rules(prior_sd=2.0)
    assert {*rules} == {name for pool in experiments.POOLS.values() for name in pool[3:]} and len(rules) == 10
    for name, rule in rules.items():
        margin = float(name.partition("margin ")[2] or 0) * 2
        incumbent = "noisy_reward" if "noisy" in name else "posterior_mean"
        assert rule.keywords == {"incumbent": incumbent, "margin": margin, "random_opening": True}
        assert rule.func is (ExpectedImprovement if name.startswith("EI") else ProbabilityOfImprovement)


# Theorems


def test_theorem_3_bound_by_dense_algebra():
    """gamma_3 over two arms: the largest sum of log(1 + m eigenvalue / lambda) / 2 with m_1 + m_2 = 3, tried out."""
    model = Model(grid(2), SquaredExponential(0.9), 1 + 2 / 3, noise_scale=0.7, norm=1.5)
    k = model.kernel(model.points, model.points)[0, 1]
    gains = [
        [0.5 * math.log(1 + m * (1 + k) / (5 / 3)), 0.5 * math.log(1 + (3 - m) * (1 - k) / (5 / 3))] for m in range(4)
    ]
    gain = max(map(sum, gains))
    width = 1.5 + 0.7 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.1)))
    assert experiments.theorem_3_bound(model, 3, 0.1) == pytest.approx(2 * width * math.sqrt(4 * 5 * gain))


@pytest.mark.parametrize("power", [1, 2, 3])
def test_log_exponent_is_that_of_the_two_widths(power):
    """At rounds 1e3 and 1e9, from `widths.Original` and `Chowdhury2017`, whose gain here is (ln t)^power."""
    log_ratio, logs = [], np.log([1e3, 1e9])
    for log in logs:
        policy = SimpleNamespace(t=round(np.exp(log)), model=SimpleNamespace(known_norm=1))
        old = Original(0.1, lambda before, gain=log**power: gain)(policy)
        log_ratio.append(math.log(old / Chowdhury2017(0.1).at(log**power, norm=1, noise_scale=1)))
    expected = (log_ratio[1] - log_ratio[0]) / math.log(logs[1] / logs[0])
    assert experiments.log_exponent(power, tuple(logs)) == pytest.approx(expected, rel=1e-10)
    far = [abs(experiments.log_exponent(power, (x, 10 * x)) - 1.5) for x in (1e4, 1e12)]
    assert far[1] < 1e-4 < far[0]  # it tends to 3/2


def test_the_bound_of_theorem_4_by_hand():
    """Independent arms of variance 1: the gain of T = 4 pulls of 2 arms is log(1 + 2 / lambda)."""
    model = Model(np.array([[0.0], [99.0]]), SquaredExponential(0.2), 1.5, noise_scale=0.3, norm=2.0)
    gain, T, delta = math.log(1 + 2 / 1.5), 4, 0.1
    v = 2 + 0.3 * math.sqrt(2 * (gain + 1 + math.log(2 / delta)))
    c = v * (1 + math.sqrt(4 * math.log(T) + 2 * math.log(2 * 5 * T**2)))
    p = 1 / (4 * math.e * math.sqrt(math.pi))
    expected = 11 * c / p * math.sqrt(4 * (T + 2) * gain) + 5 * math.pi**2 / 6
    expected += 19 * c / p * math.sqrt(2 * T * math.log(2 / delta))
    assert experiments.theorem_4_bound(model, T, delta) == pytest.approx(expected)
