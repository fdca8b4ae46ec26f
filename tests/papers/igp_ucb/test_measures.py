"""Names of rules, and the bound of Theorem 3 by hand; notebook 02 shows the tables of regret."""

import math

import numpy as np
import pytest

from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.bandits.problems import Model
from kbrepro.papers.igp_ucb import measures

KINDS = {"EI": ExpectedImprovement, "PI": ProbabilityOfImprovement}


def test_each_variant_of_ei_and_pi_has_the_incumbent_and_the_margin_of_its_name():
    rules = measures.improvement_rules(prior_sd=2.0)
    assert len(rules) == 10
    assert {*rules} == {name for pool in measures.POOLS.values() for name in pool[3:]}
    for name, rule in rules.items():
        margin = float(name.partition("margin ")[2] or 0) * 2
        incumbent = "noisy_reward" if "noisy" in name else "posterior_mean"
        assert rule.keywords == {"incumbent": incumbent, "margin": margin, "random_opening": True}
        assert rule.func is KINDS[name[:2]]


def test_theorem_3_bound_by_dense_algebra():
    """gamma_3 over two arms: the largest sum of log(1 + m eigenvalue / lambda) / 2 with m_1 + m_2 =
    3, tried out.
    """
    model = Model(grid(2), SquaredExponential(0.9), 1 + 2 / 3, noise_scale=0.7, norm=1.5)
    k = model.kernel(model.points, model.points)[0, 1]
    m = np.arange(4)
    gain = 0.5 * (np.log1p(m * (1 + k) / (5 / 3)) + np.log1p((3 - m) * (1 - k) / (5 / 3))).max()
    width = 1.5 + 0.7 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.1)))
    assert measures.theorem_3_bound(model, 3, 0.1) == pytest.approx(
        2 * width * math.sqrt(4 * 5 * gain)
    )
