"""Names of rules, and formulas of the theorems, by brute force, by hand and as properties."""

import math

import numpy as np
import pandas as pd
import pytest

from kbrepro.bandits.kernels import SquaredExponential, grid
from kbrepro.bandits.policies import ExpectedImprovement, ProbabilityOfImprovement
from kbrepro.bandits.problems import Model
from kbrepro.papers.igp_ucb import measures


def test_each_variant_of_ei_and_pi_has_the_incumbent_and_the_margin_of_its_name():
    rules = measures.improvement_rules(prior_sd=2.0)
    assert {*rules} == {name for pool in measures.POOLS.values() for name in pool[3:]} and len(
        rules
    ) == 10
    for name, rule in rules.items():
        margin = float(name.partition("margin ")[2] or 0) * 2
        incumbent = "noisy_reward" if "noisy" in name else "posterior_mean"
        assert rule.keywords == {"incumbent": incumbent, "margin": margin, "random_opening": True}
        assert rule.func is (
            ExpectedImprovement if name.startswith("EI") else ProbabilityOfImprovement
        )


# Regret


def table_of(levels, **panels):
    """Mean regret: the number of each rule in `levels`, 100 if there is none; by label."""
    rules = dict.fromkeys(sum(measures.POOLS.values(), ()), 100.0)
    return pd.DataFrame({label: rules | levels | more for label, more in panels.items()})


def test_who_leads_is_told_by_the_worse_of_two_panels():
    levels = {"IGP-UCB": 2.0, "GP-TS": 6.0, "EI": 3.0, "PI": 5.0}
    mean = table_of(levels, a={}, b={"EI": 1.0}, c={}, d={"GP-TS": 12.0})
    leads = measures.leads(mean.set_axis(["Fig. 1 a", "Fig. 1 b", "Fig. 3 a", "Fig. 3 b"], axis=1))
    assert leads.loc["no margin"].tolist() == [2 / 1, 5 / 2, 12 / 3]
    assert leads.loc["margin 0.01"].tolist() == [2 / 6, 100 / 2, 12 / 100]
    assert len(leads) == len(measures.VARIANTS)


def test_sensitivity_is_a_ratio_of_geometric_means():
    inflation = pd.DataFrame(
        {
            "IGP-UCB": [2.0, 8.0],
            "GP-TS": [1.0, 1.0],
            "EI, noisy incumbent": [1.0, 1.0],
            "PI, noisy incumbent": [1.0, 1.0],
            "EI, margin 0.01": [4.0, 4.0],
            "PI, margin 0.01": [4.0, 4.0],
        }
    )
    found = measures.sensitivity(inflation)
    assert found == pytest.approx({"noisy incumbent": 2.0, "margin 0.01": 0.5})


def test_take_home_has_the_worst_panel_and_leaves_sensors_out():
    final = {
        "Fig. 1 a": pd.DataFrame({"one": [1.0, 1.0, 9.0], "two": [2.0, 3.0, 4.0]}),
        "Fig. 3 b": pd.DataFrame({"one": [8.0, 8.0, 8.0], "two": [2.0, 2.0, 3.0]}),
        "light": pd.DataFrame({"one": [900.0, 900.0, 900.0], "two": [1.0, 1.0, 1.0]}),
    }
    home = measures.take_home(final)
    assert home["typical"].to_dict() == {"one": 4.0, "two": 3.0}
    assert home["worst"].to_dict() == {"one": 9.0, "two": 4.0}
    assert measures.means(final)["light"].tolist() == np.array([900.0, 1.0]).tolist()


# Theorems


def test_theorem_3_bound_by_dense_algebra():
    """gamma_3 over two arms: the largest sum of log(1 + m eigenvalue / lambda) / 2 with m_1 + m_2 =
    3, tried out.
    """
    model = Model(grid(2), SquaredExponential(0.9), 1 + 2 / 3, noise_scale=0.7, norm=1.5)
    k = model.kernel(model.points, model.points)[0, 1]
    gains = [
        [0.5 * math.log(1 + m * (1 + k) / (5 / 3)), 0.5 * math.log(1 + (3 - m) * (1 - k) / (5 / 3))]
        for m in range(4)
    ]
    gain = max(map(sum, gains))
    width = 1.5 + 0.7 * math.sqrt(2 * (gain + 1 + math.log(1 / 0.1)))
    assert measures.theorem_3_bound(model, 3, 0.1) == pytest.approx(
        2 * width * math.sqrt(4 * 5 * gain)
    )
